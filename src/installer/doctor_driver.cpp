#include <algorithm>
#include <string>
#include <string_view>

#include "installer/doctor_gates.h"

// The driver: its module, its libraries, its device nodes.
namespace ctkit::installer {

namespace {

constexpr std::string_view kDriverPod =
    "; where a driver container brings the driver, look at the pod of the driver DaemonSet";

bool has_node(const DriverFacts& driver, std::string_view name) {
  return std::ranges::find(driver.nodes, name) != driver.nodes.end();
}

bool is_gpu(std::string_view name) {
  constexpr std::string_view kPrefix = "nvidia";
  return name.size() > kPrefix.size() && name.find_first_not_of("0123456789", kPrefix.size()) == std::string_view::npos;
}

}  // namespace

Gate module_gate(const DoctorFacts& facts) {
  const DriverFacts& driver = facts.driver;
  Gate gate{.name = "module"};
  if (driver.module_loaded) {
    gate.found = driver.module_version.empty() ? "loaded" : driver.module_version;
  } else if (driver.kernel_seen) {
    gate.found = "not loaded";
    gate.fail("the nvidia kernel module is not loaded",
              "`modprobe nvidia`, then `dmesg` for why it isn't (Secure Boot, a kernel without its headers, nouveau or "
              "vfio-pci on the GPU)" +
                  std::string(kDriverPod));
  } else {
    gate.state = GateState::unseen;
    gate.found = "this tree has no /proc of a running kernel";
  }
  return gate;
}

Gate libraries_gate(const DoctorFacts& facts) {
  const DriverFacts& driver = facts.driver;
  Gate gate{.name = "libraries", .found = driver.library_version};
  if (driver.library_version.empty()) {
    gate.found = "none in '" + driver.root + "'";
    if (!driver.kernel_seen && !facts.validator.driver_ready) {
      gate.state = GateState::unseen;
      gate.found = "this tree has no driver";
    } else if (!driver.root_there || driver.root_empty) {
      gate.fail("the driver root '" + driver.root + "' is " + (driver.root_there ? "empty" : "not there") +
                    ": the driver's container is between its stop and its start, or never came up",
                "look at the pod of the driver DaemonSet; until it is up there is nothing to do for the toolkit");
    } else {
      gate.fail(
          "there are no driver libraries (libnvidia-ml.so.1, libcuda.so.1) in '" + driver.root + "'",
          "install the driver, or say where it is: --driver-root here, hostPaths.driverInstallDir for the operator");
    }
    return gate;
  }
  if (driver.root != "/") gate.found += " in '" + driver.root + "'";
  if (!driver.module_version.empty() && driver.module_version != driver.library_version) {
    gate.fail("the libraries in '" + driver.root + "' are " + driver.library_version + ", the loaded module is " +
                  driver.module_version + ": nvidia-smi says \"Driver/library version mismatch\"",
              "the driver was updated under the running module: drain the node and reboot it, or unload and load the "
              "modules; then restart the device plugin, whose spec still names the old libraries");
  }
  return gate;
}

Gate devices_gate(const DoctorFacts& facts) {
  const DriverFacts& driver = facts.driver;
  Gate gate{.name = "devices"};
  const auto gpus = std::ranges::count_if(driver.nodes, is_gpu);
  gate.found = std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs");
  if (!driver.devices_seen) {
    gate.state = GateState::unseen;
    gate.found = "this tree has no device nodes";
    return gate;
  }
  if (gpus == 0) {
    gate.fail("there is no /dev/nvidia0",
              "`nvidia-smi` as root makes the nodes if the driver sees a GPU; `lspci` tells "
              "whether the node does");
  }
  if (!has_node(driver, "nvidiactl")) {
    gate.fail("there is no /dev/nvidiactl", "`nvidia-modprobe` or `nvidia-smi` as root makes it");
  }
  if (!has_node(driver, "nvidia-uvm")) {
    gate.fail("there is no /dev/nvidia-uvm, which every CUDA program opens",
              "`nvidia-modprobe -u -c=0` as root makes it");
  }
  if (gate.state == GateState::passed && !driver.nodes_without_link.empty()) {
    gate.mention("/dev/char has no link to " + driver.nodes_without_link.front() +
                     (driver.nodes_without_link.size() > 1 ? " and others" : "") +
                     ": where systemd manages cgroups, the next `systemctl daemon-reload` takes the GPU from running "
                     "containers (\"Failed to initialize NVML: Unknown Error\")",
                 "`nvidia-ctk system create-dev-char-symlinks --create-all`");
  }
  return gate;
}

}  // namespace ctkit::installer
