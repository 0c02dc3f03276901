#pragma once

#include <string_view>

namespace ctkit::toolkit {

/// Names below the install folder.
inline constexpr std::string_view kToolkit = "toolkit";
inline constexpr std::string_view kVersions = ".toolkit";
inline constexpr std::string_view kStaged = "staged";  ///< below kVersions
inline constexpr std::string_view kNextLink = "next";  ///< below kVersions

/// Below the toolkit folder.
inline constexpr std::string_view kConfigFile = ".config/nvidia-container-runtime/config.toml";
inline constexpr std::string_view kWrittenConfig = ".config/nvidia-container-runtime/written-config.toml";

}  // namespace ctkit::toolkit
