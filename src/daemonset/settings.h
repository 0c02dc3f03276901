#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ctkit::daemonset {

/// Whose names and defaults count: ours (`ctkit run`), or those of NVIDIA's installer, whose names ours are then.
enum class Dialect { own, nvidia };

/// The usual place of the readiness file, on the host.
inline constexpr std::string_view kReadyFile = "/run/nvidia/toolkit/ctkit-ready";

/// What the life cycle was asked for. Each member has its rows in setting_rows.cpp; "" is "not said". Paths are those
/// of our own files, unless it says "on the host".
struct Settings {
  // The life cycle.
  bool no_daemon = false;         ///< end after the first pass
  bool foreground = false;        ///< a node without the operator: host root "/", no file to wait for
  bool debug = false;             ///< log all settings, and every look at the node
  bool ignore_errors = false;     ///< hold although the first pass failed
  std::string on_drift = {};      ///< repair, report
  long debounce = 0;              ///< milliseconds of quiet after a change before we look
  long resync = 0;                ///< seconds after which we look although nothing happened; 0: never
  long repair_limit = 0;          ///< repairs within `repair_window`; more are only reported
  long repair_window = 0;         ///< seconds
  long driver_timeout = 0;        ///< seconds we wait for the driver at the start
  std::string driver_ready = {};  ///< the operator's file that names the driver's place
  std::string ready_file = {};    ///< on the host: there while everything is verified
  std::string metrics_file = {};  ///< on the host; "": none
  std::string listen = {};        ///< address:port of the HTTP answers; "": none
  std::string pid_file = {};      ///< on the host: the lock that NVIDIA's installer takes too
  std::string host_root = {};     ///< where we see the host

  // The daemon.
  std::string runtime = {};            ///< containerd, crio, docker; "": found
  bool no_runtime_config = false;      ///< install and watch, change no config
  std::string config = {};             ///< top-level config; "": that of the running daemon
  std::string drop_in = {};            ///< our file
  std::string drop_in_host_path = {};  ///< our file, on the host
  std::string socket = {};
  std::string restart_mode = {};  ///< signal, systemd, auto, always: as we do it; none
  std::string unit = {};
  std::string release = {};       ///< of the daemon; "": it says so itself
  std::string defaults = {};      ///< file with its `config default`
  std::string state_folder = {};  ///< on the host
  std::string on_conflict = {};   ///< restore, keep, refuse
  std::string trust = {};         ///< neither, dump, prediction
  long confirm_timeout = 0;       ///< seconds
  std::string runtime_name = {};  ///< of the first handler
  bool set_as_default = false;
  std::string enable_cdi_in_runtime = {};  ///< true, false; "": as `cdi_enabled`
  std::string runtime_type = {};
  std::vector<std::string> handlers = {};  ///< name=binary[,type=…]; none: the three usual ones
  std::string hooks_folder = {};           ///< of CRI-O; "": a usual one
  std::string hook_file_name = {};
  std::string crio_config_mode = {};  ///< config, hook

  // The toolkit's files.
  std::string install_folder = {};       ///< on the host, and ours: the files go to `toolkit` in it
  std::string source_root = {};          ///< "": below /artifacts
  std::string package_type = {};         ///< deb, rpm, auto
  std::string create_device_nodes = {};  ///< control, none

  // The toolkit's own config.toml; "": NVIDIA's default.
  std::string runtime_debug = {};
  std::string runtime_log_level = {};
  std::string runtime_mode = {};
  std::string default_kind = {};
  std::vector<std::string> annotation_prefixes = {};         ///< that the toolkit's runtime looks at
  std::vector<std::string> passed_annotation_prefixes = {};  ///< that the daemon passes to it
  std::vector<std::string> low_level_runtimes = {};
  bool skip_mode_detection = false;
  std::string cli_debug = {};
  bool accept_envvar_when_unprivileged = false;
  bool accept_volume_mounts = false;
  std::vector<std::string> features = {};

  // The driver and CDI.
  std::string driver_root = {};  ///< on the host
  std::string driver_root_ctr_path = {};
  std::string dev_root = {};           ///< on the host; "": the driver root
  std::string dev_root_ctr_path = {};  ///< "": where the driver root is
  bool cdi_enabled = false;
  std::string cdi_folder = {};  ///< "": no spec
  std::string cdi_kind = {};

  // NVIDIA's NRI plugin, which we don't have.
  bool nri_plugin = false;
  long nri_index = 0;

  bool operator==(const Settings&) const = default;
};

}  // namespace ctkit::daemonset
