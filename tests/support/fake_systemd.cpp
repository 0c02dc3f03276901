#include "support/fake_systemd.h"

#include <cerrno>
#include <memory>
#include <poll.h>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <systemd/sd-bus.h>

namespace ctkit::test {

using installer::UnitState;

namespace {

constexpr const char* kManagerObject = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";
constexpr const char* kUnitObject = "/org/freedesktop/systemd1/unit/containerd_2eservice";
constexpr const char* kMissingObject = "/org/freedesktop/systemd1/unit/missing_2eservice";
constexpr const char* kJob = "/org/freedesktop/systemd1/job/7";
constexpr const char* kOtherJob = "/org/freedesktop/systemd1/job/77";
constexpr std::string_view kUnit = "containerd.service";

struct UnrefBus {
  void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
};

}  // namespace

struct FakeSystemd::Session {
  FakeSystemd& systemd;
  sd_bus* bus = nullptr;
  bool job_ends = false;
  bool hangs_up = false;

  [[nodiscard]] const SystemdScript& script() const { return systemd.script_; }
  [[nodiscard]] const UnitState& unit() const {
    return systemd.restarted_ ? systemd.script_.after : systemd.script_.before;
  }

  void record(std::string call) const {
    const std::scoped_lock lock(systemd.mutex_);
    systemd.calls_.push_back(std::move(call));
  }

  void end_job(const char* job, const char* result) const {
    sd_bus_emit_signal(bus, kManagerObject, kManager, "JobRemoved", "uoss", 7U, job, kUnit.data(), result);
  }

  void end_jobs() const {
    if (script().other_jobs) {
      end_job("/org/freedesktop/systemd1/job/6", "failed");
      end_job(kOtherJob, "canceled");
    }
    end_job(kJob, script().job_result.c_str());
  }

  static Session& of(void* user_data) { return *static_cast<Session*>(user_data); }

  static int refuse(const std::string& name, sd_bus_error* error) {
    return sd_bus_error_set(error, name.c_str(), "in systemd's words");
  }

  static int on_load(sd_bus_message* message, void* user_data, sd_bus_error* error) {
    const char* name = nullptr;
    sd_bus_message_read(message, "s", &name);
    const Session& session = of(user_data);
    session.record("LoadUnit " + std::string(name));
    if (!session.script().load_error.empty()) return refuse(session.script().load_error, error);
    return sd_bus_reply_method_return(message, "o", name == kUnit ? kUnitObject : kMissingObject);
  }

  static int on_find(sd_bus_message* message, void* user_data, sd_bus_error* error) {
    std::uint32_t pid = 0;
    sd_bus_message_read(message, "u", &pid);
    const Session& session = of(user_data);
    session.record("GetUnitByPID " + std::to_string(pid));
    if (pid != session.script().pid) return refuse("org.freedesktop.systemd1.NoUnitForPID", error);
    return sd_bus_reply_method_return(message, "o", kUnitObject);
  }

  static int on_subscribe(sd_bus_message* message, void* user_data, sd_bus_error* /*error*/) {
    of(user_data).record("Subscribe");
    return sd_bus_reply_method_return(message, "");
  }

  static int on_reset(sd_bus_message* message, void* user_data, sd_bus_error* error) {
    const char* name = nullptr;
    sd_bus_message_read(message, "s", &name);
    const Session& session = of(user_data);
    session.record("ResetFailedUnit " + std::string(name));
    if (!session.script().reset_error.empty()) return refuse(session.script().reset_error, error);
    return sd_bus_reply_method_return(message, "");
  }

  static int on_restart(sd_bus_message* message, void* user_data, sd_bus_error* error) {
    using enum SystemdScript::Answer;
    const char* name = nullptr;
    const char* mode = nullptr;
    sd_bus_message_read(message, "ss", &name, &mode);
    Session& session = of(user_data);
    session.record("RestartUnit " + std::string(name) + " " + mode);
    if (!session.script().restart_error.empty()) return refuse(session.script().restart_error, error);
    session.systemd.restarted_ = true;
    const auto answer = session.script().answer;
    if (answer == silent) return 1;
    session.hangs_up = answer == hang_up || answer == hang_up_later;
    if (answer == hang_up) return 1;
    if (answer == before_the_reply) session.end_jobs();
    session.job_ends = answer == after_the_reply;
    return sd_bus_reply_method_return(message, "o", kJob);
  }

  static int on_stop(sd_bus_message* message, void* user_data, sd_bus_error* error) {
    const char* name = nullptr;
    const char* mode = nullptr;
    sd_bus_message_read(message, "ss", &name, &mode);
    const Session& session = of(user_data);
    session.record("StopUnit " + std::string(name));
    if (!session.script().stop_error.empty()) return refuse(session.script().stop_error, error);
    return sd_bus_reply_method_return(message, "o", kJob);
  }

  // The names of the units with their properties; of the command each word.
  static int on_transient(sd_bus_message* message, void* user_data, sd_bus_error* /*error*/) {
    const char* timer = nullptr;
    const char* mode = nullptr;
    sd_bus_message_read(message, "ss", &timer, &mode);
    std::string call = "StartTransientUnit " + std::string(timer) + " " + mode;
    sd_bus_message_enter_container(message, 'a', "(sv)");
    while (sd_bus_message_enter_container(message, 'r', "sv") > 0) {
      const char* key = nullptr;
      sd_bus_message_read(message, "s", &key);
      call += " " + std::string(key);
      if (std::string_view(key) == "TimersMonotonic") {
        const char* base = nullptr;
        std::uint64_t time = 0;
        sd_bus_message_read(message, "v", "a(st)", 1, &base, &time);
        call += "=" + std::string(base) + " " + std::to_string(time);
      } else {
        sd_bus_message_skip(message, "v");
      }
      sd_bus_message_exit_container(message);
    }
    sd_bus_message_exit_container(message);
    sd_bus_message_enter_container(message, 'a', "(sa(sv))");
    while (sd_bus_message_enter_container(message, 'r', "sa(sv)") > 0) {
      const char* service = nullptr;
      sd_bus_message_read(message, "s", &service);
      call += ", " + std::string(service);
      sd_bus_message_enter_container(message, 'a', "(sv)");
      while (sd_bus_message_enter_container(message, 'r', "sv") > 0) {
        const char* key = nullptr;
        sd_bus_message_read(message, "s", &key);
        call += " " + std::string(key);
        if (std::string_view(key) == "ExecStart") {
          call += "=" + read_command(message);
        } else {
          sd_bus_message_skip(message, "v");
        }
        sd_bus_message_exit_container(message);
      }
      sd_bus_message_exit_container(message);
      sd_bus_message_exit_container(message);
    }
    of(user_data).record(call);
    return sd_bus_reply_method_return(message, "o", kJob);
  }

  static std::string read_command(sd_bus_message* message) {
    const char* program = nullptr;
    sd_bus_message_enter_container(message, 'v', "a(sasb)");
    sd_bus_message_enter_container(message, 'a', "(sasb)");
    sd_bus_message_enter_container(message, 'r', "sasb");
    sd_bus_message_read(message, "s", &program);
    std::string words = std::string(program) + ":";
    sd_bus_message_enter_container(message, 'a', "s");
    const char* word = nullptr;
    while (sd_bus_message_read(message, "s", &word) > 0)
      words += " " + std::string(word);
    sd_bus_message_exit_container(message);
    sd_bus_message_skip(message, "b");
    for (int open = 0; open < 3; ++open)
      sd_bus_message_exit_container(message);
    return words;
  }

  static int on_hello(sd_bus_message* message, void* user_data, sd_bus_error* /*error*/) {
    of(user_data).record("Hello");
    return sd_bus_reply_method_return(message, "s", ":1.1");
  }

  static int on_match(sd_bus_message* message, void* /*user_data*/, sd_bus_error* /*error*/) {
    return sd_bus_reply_method_return(message, "");
  }

  static int give_text(sd_bus* /*bus*/,
                       const char* object,
                       const char* /*interface*/,
                       const char* property,
                       sd_bus_message* reply,
                       void* user_data,
                       sd_bus_error* /*error*/) {
    const std::string_view name = property;
    const UnitState& unit = of(user_data).unit();
    std::string text = unit.result;
    if (name == "Id") text = kUnit;
    if (name == "LoadState") text = object == std::string_view(kMissingObject) ? "not-found" : unit.load_state;
    if (name == "ActiveState") text = unit.active_state;
    if (name == "SubState") text = unit.sub_state;
    return sd_bus_message_append(reply, "s", text.c_str());
  }

  static int give_number(sd_bus* /*bus*/,
                         const char* /*object*/,
                         const char* /*interface*/,
                         const char* property,
                         sd_bus_message* reply,
                         void* user_data,
                         sd_bus_error* /*error*/) {
    const std::string_view name = property;
    const UnitState& unit = of(user_data).unit();
    if (name == "MainPID") return sd_bus_message_append(reply, "u", static_cast<std::uint32_t>(unit.main_pid));
    if (name == "NRestarts") {
      return sd_bus_message_append(reply, "u", static_cast<std::uint32_t>(unit.automatic_restarts));
    }
    if (name == "NeedDaemonReload") return sd_bus_message_append(reply, "b", unit.needs_daemon_reload ? 1 : 0);
    if (name == "ActiveEnterTimestamp") {
      return sd_bus_message_append(reply, "t", static_cast<std::uint64_t>(unit.active_since));
    }
    return sd_bus_message_append(reply, "t", static_cast<std::uint64_t>(unit.main_started));
  }

  // The script's id is hexadecimal already; its text as bytes is different for different ids, and
  // that is all.
  static int give_invocation(sd_bus* /*bus*/,
                             const char* /*object*/,
                             const char* /*interface*/,
                             const char* /*property*/,
                             sd_bus_message* reply,
                             void* user_data,
                             sd_bus_error* /*error*/) {
    const std::string& id = of(user_data).unit().invocation_id;
    return sd_bus_message_append_array(reply, 'y', id.data(), id.size());
  }

  // A type that the client has no use for.
  static int give_array(sd_bus*,
                        const char* /*object*/,
                        const char* /*interface*/,
                        const char* /*property*/,
                        sd_bus_message* reply,
                        void* /*user_data*/,
                        sd_bus_error* /*error*/) {
    return sd_bus_message_append(reply, "a(ss)", 1, "one", "two");
  }
};

namespace {

constexpr std::uint64_t kAnybody = SD_BUS_VTABLE_UNPRIVILEGED;

}  // namespace

void FakeSystemd::serve(const ServedClient& client) {
  using enum SystemdScript::Manners;
  if (script_.manners == turns_away) return;
  if (script_.manners == mute) {
    static_cast<void>(client.wait(0));  // until the client hangs up
    return;
  }
  const sd_bus_vtable manager[] = {
      SD_BUS_VTABLE_START(0),
      SD_BUS_METHOD("LoadUnit", "s", "o", Session::on_load, kAnybody),
      SD_BUS_METHOD("GetUnitByPID", "u", "o", Session::on_find, kAnybody),
      SD_BUS_METHOD("Subscribe", "", "", Session::on_subscribe, kAnybody),
      SD_BUS_METHOD("ResetFailedUnit", "s", "", Session::on_reset, kAnybody),
      SD_BUS_METHOD("RestartUnit", "ss", "o", Session::on_restart, kAnybody),
      SD_BUS_METHOD("StopUnit", "ss", "o", Session::on_stop, kAnybody),
      SD_BUS_METHOD("StartTransientUnit", "ssa(sv)a(sa(sv))", "o", Session::on_transient, kAnybody),
      SD_BUS_SIGNAL("JobRemoved", "uoss", 0),
      SD_BUS_VTABLE_END,
  };
  const sd_bus_vtable unit[] = {
      SD_BUS_VTABLE_START(0),
      SD_BUS_PROPERTY("Id", "s", Session::give_text, 0, 0),
      SD_BUS_PROPERTY("Conditions", "a(ss)", Session::give_array, 0, 0),
      SD_BUS_PROPERTY("LoadState", "s", Session::give_text, 0, 0),
      SD_BUS_PROPERTY("ActiveState", "s", Session::give_text, 0, 0),
      SD_BUS_PROPERTY("SubState", "s", Session::give_text, 0, 0),
      SD_BUS_PROPERTY("InvocationID", "ay", Session::give_invocation, 0, 0),
      SD_BUS_PROPERTY("ActiveEnterTimestamp", "t", Session::give_number, 0, 0),
      SD_BUS_PROPERTY("NeedDaemonReload", "b", Session::give_number, 0, 0),
      SD_BUS_VTABLE_END,
  };
  const sd_bus_vtable service[] = {
      SD_BUS_VTABLE_START(0),
      SD_BUS_PROPERTY("Result", "s", Session::give_text, 0, 0),
      SD_BUS_PROPERTY("MainPID", "u", Session::give_number, 0, 0),
      SD_BUS_PROPERTY("NRestarts", "u", Session::give_number, 0, 0),
      SD_BUS_PROPERTY("ExecMainStartTimestamp", "t", Session::give_number, 0, 0),
      SD_BUS_VTABLE_END,
  };
  const sd_bus_vtable driver[] = {
      SD_BUS_VTABLE_START(0),
      SD_BUS_METHOD("Hello", "", "s", Session::on_hello, kAnybody),
      SD_BUS_METHOD("AddMatch", "s", "", Session::on_match, kAnybody),
      SD_BUS_METHOD("RemoveMatch", "s", "", Session::on_match, kAnybody),
      SD_BUS_VTABLE_END,
  };

  sd_bus* bus = nullptr;
  sd_bus_new(&bus);
  const std::unique_ptr<sd_bus, UnrefBus> owner(bus);
  const int copy = ::dup(client.fd);  // the bus closes what it gets
  sd_bus_set_fd(bus, copy, copy);
  sd_bus_set_server(bus, 1, {});
  sd_bus_set_sender(bus, "org.freedesktop.systemd1");
  Session session{.systemd = *this, .bus = bus};
  sd_bus_add_object_vtable(bus, nullptr, kManagerObject, kManager, manager, &session);
  for (const char* object : {kUnitObject, kMissingObject}) {
    sd_bus_add_object_vtable(bus, nullptr, object, "org.freedesktop.systemd1.Unit", unit, &session);
    sd_bus_add_object_vtable(bus, nullptr, object, "org.freedesktop.systemd1.Service", service, &session);
  }
  if (script_.is_bus) {
    sd_bus_add_object_vtable(bus, nullptr, "/org/freedesktop/DBus", "org.freedesktop.DBus", driver, &session);
  }
  int result = sd_bus_start(bus);
  while (result >= 0) {
    result = sd_bus_process(bus, nullptr);
    if (result != 0) continue;
    if (session.hangs_up) return;
    if (std::exchange(session.job_ends, false)) {
      session.end_jobs();
      continue;
    }
    if (!client.wait(static_cast<short>(sd_bus_get_events(bus)))) return;
  }
}

FakeSystemd::FakeSystemd(const std::string& socket, SystemdScript script)
    : script_(std::move(script)), server_(socket, [this](const ServedClient& client) { serve(client); }) {}

std::vector<std::string> FakeSystemd::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

}  // namespace ctkit::test
