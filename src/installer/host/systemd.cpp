#include "installer/host/systemd.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include <systemd/sd-bus.h>

#include "installer/host/deadline.h"
#include "installer/host/unique_fd.h"
#include "installer/host/unix_socket.h"
#include "installer/systemd_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

using namespace std::literals;

constexpr const char* kService = "org.freedesktop.systemd1";
constexpr const char* kManagerObject = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";
constexpr const char* kProperties = "org.freedesktop.DBus.Properties";

struct CloseBus {
  // Unlike flushing, closing never waits; nothing of ours is left to be sent.
  void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
};
struct UnrefMessage {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
struct UnrefSlot {
  void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};
using Message = std::unique_ptr<sd_bus_message, UnrefMessage>;
using Slot = std::unique_ptr<sd_bus_slot, UnrefSlot>;

// A connection, signed in.
struct Bus {
  std::unique_ptr<sd_bus, CloseBus> handle = {};
  std::chrono::milliseconds call_time = {};
};

class BusError {
 public:
  BusError() = default;
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;
  BusError(BusError&&) = delete;
  BusError& operator=(BusError&&) = delete;
  ~BusError() { sd_bus_error_free(&error_); }

  sd_bus_error* out() { return &error_; }
  [[nodiscard]] std::string_view name() const { return error_.name ? error_.name : ""; }
  [[nodiscard]] std::string_view message() const { return error_.message ? error_.message : ""; }

 private:
  sd_bus_error error_{};
};

// What a negative result of sd-bus itself means.
Error make_bus_error(int result) {
  return make_dbus_error("", "", -result);
}

// As sd-bus takes it; 0 would be its own default.
std::uint64_t microseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(std::max(time, 1ms).count()) * 1000;
}

// Handles one thing that has come, else waits for one. False once the deadline has passed, however
// much comes.
Result<bool> pump(sd_bus* bus, Moment deadline) {
  const std::chrono::milliseconds left(milliseconds_until(deadline));
  if (left == 0ms) return false;
  const int handled = sd_bus_process(bus, nullptr);
  if (handled < 0) return std::unexpected(make_bus_error(handled));
  if (handled > 0) return true;
  const int waited = sd_bus_wait(bus, microseconds(left));
  if (waited < 0 && waited != -EINTR) return std::unexpected(make_bus_error(waited));
  return true;
}

// Until signed in: sd-bus would do that by itself in the first call, with a limit of its own, 90
// seconds.
Result<void> await_ready(sd_bus* bus, Moment deadline) {
  while (sd_bus_is_ready(bus) <= 0) {
    const auto going = pump(bus, deadline);
    if (!going) return std::unexpected(going.error());
    if (!*going) return std::unexpected(make_bus_error(-ETIMEDOUT));
  }
  return {};
}

struct Address {
  const char* socket = "";
  bool is_bus = false;  // one says hello to a message bus, and not to systemd itself
};

constexpr Address kSystemBus{.socket = "/run/dbus/system_bus_socket", .is_bus = true};
constexpr Address kPrivate{.socket = "/run/systemd/private", .is_bus = false};

// By descriptor and not by D-Bus address: the kernel resolves the path inside the host root,
// nothing is to be escaped.
Result<Bus> sign_in(UniqueFd fd, const Address& address, const Systemd::Patience& patience, Moment deadline) {
  sd_bus* handle = nullptr;
  int result = sd_bus_new(&handle);
  Bus bus{.handle = std::unique_ptr<sd_bus, CloseBus>(handle), .call_time = patience.call};
  if (result >= 0) result = sd_bus_set_fd(handle, fd.get(), fd.get());
  if (result >= 0) static_cast<void>(fd.release());  // the bus closes it
  if (result >= 0) result = sd_bus_set_bus_client(handle, address.is_bus);
  if (result >= 0) result = sd_bus_set_method_call_timeout(handle, microseconds(patience.call));
  if (result >= 0) result = sd_bus_start(handle);
  if (result < 0) return std::unexpected(make_bus_error(result));
  if (auto ready = await_ready(handle, deadline); !ready) return std::unexpected(ready.error());
  return bus;
}

Result<Bus> connect_to(const RootFolder& root, const Address& address, const Systemd::Patience& patience) {
  const Moment deadline = Moment::clock::now() + patience.sign_in;
  auto fd = connect_below(root, address.socket, deadline);
  if (!fd) return std::unexpected(fd.error());
  auto bus = sign_in(std::move(*fd), address, patience, deadline);
  if (!bus) bus.error().where = address.socket;
  return bus;
}

// systemd turns callers on its own socket away if it can't see their pid; dbus-daemon doesn't mind.
Result<Bus> connect(const RootFolder& root, const Systemd::Patience& patience) {
  auto bus = connect_to(root, kSystemBus, patience);
  if (bus) return bus;
  auto direct = connect_to(root, kPrivate, patience);
  if (direct) return direct;
  Error error = bus.error().with_context("cannot reach systemd");
  error.hint = "its own socket " + std::string(kPrivate.socket) + " failed too: " + direct.error().message;
  return std::unexpected(error);
}

struct Method {
  const char* object = kManagerObject;
  const char* interface = kManager;
  const char* name = "";
};

template <typename... Arguments>
Result<Message> call(const Bus& bus, const Method& method, const char* types, Arguments... arguments) {
  sd_bus_message* made = nullptr;
  int result =
      sd_bus_message_new_method_call(bus.handle.get(), &made, kService, method.object, method.interface, method.name);
  const Message request(made);
  if constexpr (sizeof...(arguments) > 0) {
    if (result >= 0) result = sd_bus_message_append(made, types, arguments...);
  }
  if (result < 0) return std::unexpected(make_bus_error(result));
  BusError error;
  sd_bus_message* reply = nullptr;
  result = sd_bus_call(bus.handle.get(), made, microseconds(bus.call_time), error.out(), &reply);
  if (result < 0) return std::unexpected(make_dbus_error(error.name(), error.message(), -result));
  return Message(reply);
}

Error strange_answer() {
  return {.message = "systemd's answer isn't what we know"};
}

// The object path that is all of the answer.
Result<std::string> read_path(const Message& reply) {
  const char* path = nullptr;
  if (sd_bus_message_read(reply.get(), "o", &path) < 0) return std::unexpected(strange_answer());
  return path;
}

// A property of one of the types we need; an array of bytes as hexadecimal text.
struct Property {
  std::string text = {};
  std::int64_t number = 0;
};
using Properties = std::map<std::string, Property, std::less<>>;

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
  constexpr auto kDigits = "0123456789abcdef"sv;
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

// Reads the value inside a variant; false: of a type we don't need, skipped.
Result<bool> read_value(sd_bus_message* message, std::string_view type, Property& property) {
  int result = 0;
  if (type == "s") {
    const char* text = nullptr;
    result = sd_bus_message_read(message, "s", &text);
    if (result >= 0) property.text = text;
  } else if (type == "u" || type == "b") {
    std::uint32_t number = 0;
    result = sd_bus_message_read_basic(message, type.front(), &number);
    property.number = number;
  } else if (type == "t") {
    std::uint64_t number = 0;
    result = sd_bus_message_read(message, "t", &number);
    property.number = static_cast<std::int64_t>(number);  // systemd's "infinity" is -1 here
  } else if (type == "ay") {
    const void* bytes = nullptr;
    std::size_t count = 0;
    result = sd_bus_message_read_array(message, 'y', &bytes, &count);
    if (result >= 0) property.text = hexadecimal({static_cast<const std::uint8_t*>(bytes), count});
  } else {
    result = sd_bus_message_skip(message, std::string(type).c_str());
    if (result >= 0) return false;
  }
  if (result < 0) return std::unexpected(strange_answer());
  return true;
}

Result<void> read_entry(sd_bus_message* message, Properties& properties) {
  const char* name = nullptr;
  const char* type = nullptr;
  if (sd_bus_message_read(message, "s", &name) < 0 || sd_bus_message_peek_type(message, nullptr, &type) < 0 ||
      sd_bus_message_enter_container(message, 'v', type) < 0) {
    return std::unexpected(strange_answer());
  }
  Property property;
  const auto kept = read_value(message, type, property);
  if (!kept) return std::unexpected(kept.error());
  if (*kept) properties.insert_or_assign(name, std::move(property));
  if (sd_bus_message_exit_container(message) < 0) return std::unexpected(strange_answer());
  return {};
}

// All of the object's properties, of every interface (that is what "" asks for), as they are at one
// moment.
Result<Properties> read_properties(const Bus& bus, const std::string& object) {
  const Method get_all{.object = object.c_str(), .interface = kProperties, .name = "GetAll"};
  const auto reply = call(bus, get_all, "s", "");
  if (!reply) return std::unexpected(reply.error());
  sd_bus_message* message = reply->get();
  if (sd_bus_message_enter_container(message, 'a', "{sv}") < 0) return std::unexpected(strange_answer());
  Properties properties;
  int entered = 0;
  while ((entered = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
    if (auto read = read_entry(message, properties); !read) return std::unexpected(read.error());
    if (sd_bus_message_exit_container(message) < 0) return std::unexpected(strange_answer());
  }
  if (entered < 0) return std::unexpected(strange_answer());
  return properties;
}

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
  sd_bus_message* made = nullptr;
  int result =
      sd_bus_message_new_method_call(bus.handle.get(), &made, kService, kManagerObject, kManager, "StartTransientUnit");
  Message request(made);
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

Result<void> send(const Bus& bus, const Message& request) {
  BusError error;
  sd_bus_message* answered = nullptr;
  const int result = sd_bus_call(bus.handle.get(), request.get(), microseconds(bus.call_time), error.out(), &answered);
  const Message reply(answered);
  if (result < 0) return std::unexpected(make_dbus_error(error.name(), error.message(), -result));
  return {};
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
