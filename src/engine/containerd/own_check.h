#pragma once

#include "engine/containerd/effective.h"
#include "engine/own_check.h"

namespace ctkit::engine::containerd {

/// By `containerd --config COPY config dump`.
///
/// 1. Every file that would be loaded is copied, with its patterns and literals of `imports` made absolute and led into
/// the
///    copy: what matches there is what matches in place.
/// 2. `imports` is what the copy must have otherwise; it is not compared.
class ContainerdOwnCheck : public OwnCheck {
 public:
  ContainerdOwnCheck(Daemon daemon, LoadRequest request) : daemon_(std::move(daemon)), request_(std::move(request)) {
    request_.as_dump = true;
  }

  [[nodiscard]] const std::string& config_path() const override { return request_.config_path; }
  [[nodiscard]] Result<std::vector<StagedFile>> stage(const FileReader& files,
                                                      const std::string& folder) const override;
  [[nodiscard]] Result<std::vector<Mismatch>> compare(const FileReader& files, std::string_view answer) const override;

 private:
  Daemon daemon_;
  LoadRequest request_;
};

}  // namespace ctkit::engine::containerd
