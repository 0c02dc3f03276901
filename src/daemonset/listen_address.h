#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/result.h"

namespace ctkit::daemonset {

/// One numeric address of this machine, and a port; 0: any that is free.
struct ListenAddress {
  bool is_six = false;
  std::array<unsigned char, 16> bytes = {};  ///< in network order; of IPv4 the first four
  std::uint16_t port = 0;
  std::string host = {};  ///< as it is written usually, IPv6 in brackets
  bool operator==(const ListenAddress&) const = default;
};

/// `address:port`, IPv6 in brackets; `usage` for anything else, and for every address at once, however it is written:
/// what we say is for who is on the node or reaches the pod, not for whoever reaches the machine.
engine::Result<ListenAddress> parse_listen(std::string_view text);

}  // namespace ctkit::daemonset
