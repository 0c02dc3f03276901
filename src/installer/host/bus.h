#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <systemd/sd-bus.h>

#include "engine/result.h"
#include "installer/host/root_folder.h"
#include "installer/host/systemd.h"

// A conversation with systemd over D-Bus: connecting, calling, reading what comes back.
namespace ctkit::installer::host {

inline constexpr const char* kService = "org.freedesktop.systemd1";
inline constexpr const char* kManagerObject = "/org/freedesktop/systemd1";
inline constexpr const char* kManager = "org.freedesktop.systemd1.Manager";

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

/// A connection, signed in.
struct Bus {
  std::unique_ptr<sd_bus, CloseBus> handle = {};
  std::chrono::milliseconds call_time = {};
};

/// What a negative result of sd-bus itself means.
engine::Error make_bus_error(int result);

/// Handles one thing that has come, else waits for one. False once the deadline has passed, however much comes.
engine::Result<bool> pump(sd_bus* bus, Moment deadline);

/// To the system bus, else to systemd's own socket: systemd turns callers there away if it can't see their pid,
/// dbus-daemon doesn't mind.
engine::Result<Bus> connect(const RootFolder& root, const Systemd::Patience& patience);

struct Method {
  const char* object = kManagerObject;
  const char* interface = kManager;
  const char* name = "";
};

/// A call that is still without arguments.
engine::Result<Message> make_request(const Bus& bus, const Method& method);

/// The answer to it.
engine::Result<Message> send(const Bus& bus, const Message& request);

template <typename... Arguments>
engine::Result<Message> call(const Bus& bus, const Method& method, const char* types, Arguments... arguments) {
  auto request = make_request(bus, method);
  if (!request) return request;
  if constexpr (sizeof...(arguments) > 0) {
    const int result = sd_bus_message_append(request->get(), types, arguments...);
    if (result < 0) return std::unexpected(make_bus_error(result));
  }
  return send(bus, *request);
}

/// The object path that is all of the answer.
engine::Result<std::string> read_path(const Message& reply);

/// A property of one of the types we need; an array of bytes as hexadecimal text.
struct Property {
  std::string text = {};
  std::int64_t number = 0;
};
using Properties = std::map<std::string, Property, std::less<>>;

/// All of the object's properties, of every interface, as they are at one moment.
engine::Result<Properties> read_properties(const Bus& bus, const std::string& object);

/// What there is to say of an answer of another form than the one we know.
engine::Error strange_answer();

}  // namespace ctkit::installer::host
