#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/result.h"
#include "installer/daemon_status.h"
#include "installer/host/root_folder.h"

namespace ctkit::installer::host {

/// The daemon by its CRI socket: gRPC over HTTP/2, a new connection for each question.
class CriStatus : public DaemonStatus {
 public:
  CriStatus(RootFolder root, std::string socket) : root_(std::move(root)), socket_(std::move(socket)) {}

  /// On the socket at this path below the folder. The daemon need not be there.
  static engine::Result<std::unique_ptr<CriStatus>> open(const std::string& folder, std::string socket);

  [[nodiscard]] engine::Result<LoadedState> status(Moment deadline) override;
  [[nodiscard]] engine::Result<PeerProcess> peer() override;

 private:
  RootFolder root_;
  std::string socket_;
};

}  // namespace ctkit::installer::host
