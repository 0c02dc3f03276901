#include "installer/pass_driver.h"

#include <utility>

#include "cdi/inventory.h"
#include "cdi/path.h"
#include "daemonset/driver_ready.h"
#include "daemonset/words.h"
#include "installer/cdi_commands.h"
#include "installer/pass_end.h"
#include "installer/pass_request.h"
#include "installer/watch_list.h"

namespace ctkit::installer {

using daemonset::PassReport;
using daemonset::Settings;
using daemonset::WatchItem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

WatchItem watch_here(const std::string& path) {
  WatchItem item = watch_of(path);
  item.on_host = false;
  return item;
}

}  // namespace

Result<Settings> find_driver(const PassOrder& order, const PassHost& host, PassReport& report) {
  const Settings& settings = order.resolved.settings;
  if (settings.foreground) return settings;
  report.watch.push_back(watch_here(settings.driver_ready));
  report.driver_ready_text = order.driver_ready;
  const auto text = host.here.read(settings.driver_ready);
  auto ready = daemonset::parse_driver_ready(text ? *text : "");
  if (ready.whole()) {
    report.driver_ready_text = *text;
    return with_driver_ready(order.resolved, ready);
  }
  // The validator removes the file when it is restarted itself: the driver is where it was.
  const auto known = daemonset::parse_driver_ready(order.driver_ready);
  if (known.whole()) return with_driver_ready(order.resolved, known);
  if (!daemonset::needs_driver_ready(order.resolved)) return settings;
  std::string what = "the driver: '" + settings.driver_ready + "' ";
  if (!text) {
    what += text.error().code == ErrorCode::not_found ? "is not there" : "can't be read: " + text.error().message;
  } else {
    what += "does not say yet:";
    for (const std::string& name : ready.missing)
      what += " " + name;
  }
  return std::unexpected(Error{.code = ErrorCode::not_found, .message = std::move(what)});
}

void watch_driver(const Settings& settings, PassReport& report) {
  const daemonset::DriverPlaces places = daemonset::driver_places(settings);
  for (const std::string_view folder : {"dev", "dev/nvidia-caps"}) {
    report.watch.push_back({.on_host = false, .folder = cdi::join(places.dev, folder), .prefix = "nvidia"});
  }
  for (const std::string_view folder : {"usr/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu"}) {
    for (const std::string_view library : {"libcuda.so", "libnvidia-ml.so"}) {
      report.watch.push_back(
          {.on_host = false, .folder = cdi::join(places.driver, folder), .prefix = std::string(library)});
    }
  }
  report.watch.push_back(watch_here(make_spec_request(settings).output));
}

bool make_nodes(const Settings& settings, const PassHost& host, PassReport& report) {
  if (!settings.cdi_enabled || settings.create_device_nodes != "control" || !host.make_device_nodes) return true;
  const auto made = host.make_device_nodes(daemonset::driver_places(settings).dev);
  // Whether the driver is there is for the spec to say.
  if (!made && made.error().code == ErrorCode::not_found) return true;
  if (!made) {
    end_failed(report, made.error().with_context("making the control device nodes"));
    return false;
  }
  for (const std::string& node : *made)
    host.say("made '" + node + "'");
  return true;
}

bool refresh_spec(const Settings& settings, bool writes, const PassHost& host, PassReport& report) {
  const auto module = host.here.read(cdi::kModuleVersionFile);
  report.looked_at_driver = true;
  report.driver_version = cdi::parse_module_version(module ? *module : "");
  if (!settings.cdi_enabled) {
    report.driver_ready = !report.driver_version.empty();
    return true;
  }
  CdiRequest request = make_spec_request(settings);
  if (!writes) request.output = "-";
  const auto done = run_cdi(request, HostRoot{.folder = "/"}, host.here, host.here, host.here_tree);
  if (!done && done.error().code == ErrorCode::not_found) {
    end_waiting(report, "the driver: " + in_words(done.error()));
    return false;
  }
  if (!done) {
    end_failed(report, done.error().with_context("writing the CDI spec"));
    return false;
  }
  report.driver_ready = true;
  report.spec_current = writes;
  if (writes && !done->messages.ends_with(": unchanged\n")) {
    report.written.push_back(request.output);
    for (const std::string_view line : daemonset::split_words(done->messages, '\n'))
      host.say(std::string(line));
  }
  return true;
}

}  // namespace ctkit::installer
