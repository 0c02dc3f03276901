#include "installer/host/systemd.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "installer/host/bus.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

using namespace std::literals;

UnitState make_unit_state(const Properties& properties) {
  const auto find = [&](std::string_view name) {
    const auto found = properties.find(name);
    return found == properties.end() ? Property{} : found->second;
  };
  return {.load_state = find("LoadState").text,
          .active_state = find("ActiveState").text,
          .sub_state = find("SubState").text,
          .result = find("Result").text,
          .main_pid = find("MainPID").number,
          .invocation_id = find("InvocationID").text,
          .active_since = find("ActiveEnterTimestamp").number,
          .main_started = find("ExecMainStartTimestamp").number,
          .needs_daemon_reload = find("NeedDaemonReload").number != 0,
          .automatic_restarts = find("NRestarts").number};
}

Result<UnitState> read_state(const Bus& bus, const std::string& unit) {
  const auto reply = call(bus, {.name = "LoadUnit"}, "s", unit.c_str());
  if (!reply) return std::unexpected(reply.error());
  const auto object = read_path(*reply);
  if (!object) return std::unexpected(object.error());
  const auto properties = read_properties(bus, *object);
  if (!properties) return std::unexpected(properties.error());
  UnitState state = make_unit_state(*properties);
  if (state.load_state == "not-found") {
    return std::unexpected(Error{.code = ErrorCode::not_found, .message = "there is no such unit"});
  }
  return state;
}

struct RemovedJob {
  std::string path = {};
  std::string result = {};
};

int take_removed_job(sd_bus_message* message, void* user_data, sd_bus_error* /*error*/) {
  std::uint32_t id = 0;
  const char* path = nullptr;
  const char* unit = nullptr;
  const char* result = nullptr;
  if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) >= 0) {
    static_cast<std::vector<RemovedJob>*>(user_data)->push_back({.path = path, .result = result});
  }
  return 0;
}

// From now on every job that ends is added to `jobs`, as long as the slot lives.
Result<Slot> watch_jobs(const Bus& bus, std::vector<RemovedJob>& jobs) {
  sd_bus_slot* slot = nullptr;
  const int result = sd_bus_match_signal(
      bus.handle.get(), &slot, kService, kManagerObject, kManager, "JobRemoved", take_removed_job, &jobs);
  if (result < 0) return std::unexpected(make_bus_error(result));
  Slot watch(slot);
  if (auto subscribed = call(bus, {.name = "Subscribe"}, ""); !subscribed) return std::unexpected(subscribed.error());
  return watch;
}

// The job's result; empty if it isn't over by the deadline. It may be over before we even know its
// name.
Result<std::string> await_job(const Bus& bus,
                              const std::vector<RemovedJob>& jobs,
                              const std::string& job,
                              Moment deadline) {
  while (true) {
    const auto found = std::ranges::find(jobs, job, &RemovedJob::path);
    if (found != jobs.end()) return found->result;
    const auto going = pump(bus.handle.get(), deadline);
    if (!going) return std::unexpected(going.error());
    if (!*going) return "";
  }
}

// Once the job is queued, whatever goes wrong leaves open what came of it.
std::unexpected<Error> unsure(Error error) {
  error.code = ErrorCode::unreachable;
  return std::unexpected(std::move(error));
}

Result<RestartOutcome> restart_unit(const Bus& bus, const std::string& unit, Moment deadline) {
  const auto before = read_state(bus, unit);
  if (!before) return std::unexpected(before.error());
  std::vector<RemovedJob> jobs;
  const auto watch = watch_jobs(bus, jobs);
  if (!watch) return std::unexpected(watch.error());
  // Else the sixth restart within ten seconds leaves the unit dead. If it can't be, the restart
  // itself says why.
  [[maybe_unused]] const auto reset = call(bus, {.name = "ResetFailedUnit"}, "s", unit.c_str());
  const auto reply = call(bus, {.name = "RestartUnit"}, "ss", unit.c_str(), "replace");
  if (!reply) return std::unexpected(reply.error());
  const auto job = read_path(*reply);
  if (!job) return unsure(job.error());
  const auto result = await_job(bus, jobs, *job, deadline);
  if (!result) return unsure(result.error());
  const auto after = read_state(bus, unit);
  if (!after) return unsure(after.error());
  return RestartOutcome{.job = *result, .before = *before, .after = *after};
}

// A transient timer with the service it starts, as systemd-run sends them.
Result<Message> make_timer_request(const Bus& bus, const DeadMan& dead_man) {
  auto request = make_request(bus, {.name = "StartTransientUnit"});
  if (!request) return request;
  sd_bus_message* const made = request->get();
  int result = 0;
  const auto step = [&](auto append) {
    if (result >= 0) result = append();
  };
  const std::string timer = dead_man.name + ".timer";
  const std::string service = dead_man.name + ".service";
  const auto after = static_cast<std::uint64_t>(std::chrono::microseconds(dead_man.after).count());
  step([&] { return sd_bus_message_append(made, "ss", timer.c_str(), "replace"); });
  step([&] {
    return sd_bus_message_append(made,
                                 "a(sv)",
                                 4,
                                 "Description",
                                 "s",
                                 dead_man.description.c_str(),
                                 "TimersMonotonic",
                                 "a(st)",
                                 1,
                                 "OnActiveSec",
                                 after,
                                 "AccuracyUSec",
                                 "t",
                                 std::uint64_t{1'000'000},
                                 "RemainAfterElapse",
                                 "b",
                                 0);
  });
  step([&] { return sd_bus_message_open_container(made, 'a', "(sa(sv))"); });
  step([&] { return sd_bus_message_open_container(made, 'r', "sa(sv)"); });
  step([&] { return sd_bus_message_append(made, "s", service.c_str()); });
  step([&] { return sd_bus_message_open_container(made, 'a', "(sv)"); });
  step([&] {
    return sd_bus_message_append(
        made, "(sv)(sv)", "Description", "s", dead_man.description.c_str(), "Type", "s", "oneshot");
  });
  // ExecStart: the program, its words, and whether its failure is to be ignored.
  step([&] { return sd_bus_message_open_container(made, 'r', "sv"); });
  step([&] { return sd_bus_message_append(made, "s", "ExecStart"); });
  step([&] { return sd_bus_message_open_container(made, 'v', "a(sasb)"); });
  step([&] { return sd_bus_message_open_container(made, 'a', "(sasb)"); });
  step([&] { return sd_bus_message_open_container(made, 'r', "sasb"); });
  step([&] { return sd_bus_message_append(made, "s", dead_man.argv.front().c_str()); });
  step([&] { return sd_bus_message_open_container(made, 'a', "s"); });
  for (const std::string& word : dead_man.argv) {
    step([&] { return sd_bus_message_append(made, "s", word.c_str()); });
  }
  step([&] { return sd_bus_message_close_container(made); });
  step([&] { return sd_bus_message_append(made, "b", 0); });
  // The command, the list of them, the value, the property, the list of those, the service, the list of units.
  constexpr int kOpen = 7;
  for (int open = 0; open < kOpen; ++open) {
    step([&] { return sd_bus_message_close_container(made); });
  }
  if (result < 0) return std::unexpected(make_bus_error(result));
  return request;
}

Result<void> stop_units_of(const Bus& bus, const std::string& name) {
  for (const std::string& unit : {name + ".timer", name + ".service"}) {
    const auto stopped = call(bus, {.name = "StopUnit"}, "ss", unit.c_str(), "replace");
    if (!stopped && stopped.error().code != ErrorCode::not_found) return std::unexpected(stopped.error());
    // A transient unit that failed stays until it is forgotten.
    [[maybe_unused]] const auto reset = call(bus, {.name = "ResetFailedUnit"}, "s", unit.c_str());
  }
  return {};
}

Error about(const std::string& unit, std::string_view doing, const Error& error) {
  Error told = error.with_context("cannot " + std::string(doing) + " '" + unit + "'");
  told.where = unit;
  return told;
}

}  // namespace

Result<std::unique_ptr<Systemd>> Systemd::open(const std::string& folder, Patience patience) {
  auto root = RootFolder::open(folder);
  if (!root) return std::unexpected(root.error());
  return std::make_unique<Systemd>(std::move(*root), patience);
}

Result<std::string> Systemd::find_unit(std::int64_t pid) {
  const std::string process = "process " + std::to_string(pid);
  // systemd takes 0 as the caller.
  if (pid <= 0 || pid > UINT32_MAX) {
    return std::unexpected(Error{.code = ErrorCode::not_found, .message = "there is no " + process});
  }
  const auto bus = connect(root_, patience_);
  if (!bus) return std::unexpected(bus.error());
  const auto reply = call(*bus, {.name = "GetUnitByPID"}, "u", static_cast<std::uint32_t>(pid));
  if (!reply) return std::unexpected(about(process, "find the unit of", reply.error()));
  const auto object = read_path(*reply);
  if (!object) return std::unexpected(about(process, "find the unit of", object.error()));
  const auto properties = read_properties(*bus, *object);
  if (!properties) return std::unexpected(about(process, "find the unit of", properties.error()));
  const auto id = properties->find("Id");
  if (id == properties->end()) return std::unexpected(about(process, "find the unit of", strange_answer()));
  return id->second.text;
}

Result<UnitState> Systemd::state(const std::string& unit) {
  const auto bus = connect(root_, patience_);
  if (!bus) return std::unexpected(bus.error());
  auto state = read_state(*bus, unit);
  if (!state) return std::unexpected(about(unit, "look at", state.error()));
  return state;
}

Result<RestartOutcome> Systemd::restart(const std::string& unit, Moment deadline) {
  const auto bus = connect(root_, patience_);
  if (!bus) return std::unexpected(bus.error());
  auto outcome = restart_unit(*bus, unit, deadline);
  if (!outcome) return std::unexpected(about(unit, "restart", outcome.error()));
  return outcome;
}

Result<void> Systemd::arm(const DeadMan& dead_man) {
  const auto bus = connect(root_, patience_);
  if (!bus) return std::unexpected(bus.error());
  if (auto gone = stop_units_of(*bus, dead_man.name); !gone) {
    return std::unexpected(about(dead_man.name, "replace the timer", gone.error()));
  }
  const auto request = make_timer_request(*bus, dead_man);
  if (!request) return std::unexpected(about(dead_man.name, "set the timer", request.error()));
  if (auto sent = send(*bus, *request); !sent)
    return std::unexpected(about(dead_man.name, "set the timer", sent.error()));
  return {};
}

Result<void> Systemd::disarm(const std::string& name) {
  const auto bus = connect(root_, patience_);
  if (!bus) return std::unexpected(bus.error());
  if (auto gone = stop_units_of(*bus, name); !gone)
    return std::unexpected(about(name, "take away the timer", gone.error()));
  return {};
}

}  // namespace ctkit::installer::host
