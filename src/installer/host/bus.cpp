#include "installer/host/bus.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "installer/host/deadline.h"
#include "installer/host/unique_fd.h"
#include "installer/host/unix_socket.h"
#include "installer/systemd_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::Result;

namespace {

using namespace std::literals;

constexpr const char* kProperties = "org.freedesktop.DBus.Properties";

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

// As sd-bus takes it; 0 would be its own default.
std::uint64_t microseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(std::max(time, 1ms).count()) * 1000;
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

}  // namespace

Error make_bus_error(int result) {
  return make_dbus_error("", "", -result);
}

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

Result<Bus> connect(const RootFolder& root, const Systemd::Patience& patience) {
  auto bus = connect_to(root, kSystemBus, patience);
  if (bus) return bus;
  auto direct = connect_to(root, kPrivate, patience);
  if (direct) return direct;
  Error error = bus.error().with_context("cannot reach systemd");
  error.hint = "its own socket " + std::string(kPrivate.socket) + " failed too: " + direct.error().message;
  return std::unexpected(error);
}

Result<Message> make_request(const Bus& bus, const Method& method) {
  sd_bus_message* made = nullptr;
  const int result =
      sd_bus_message_new_method_call(bus.handle.get(), &made, kService, method.object, method.interface, method.name);
  Message request(made);
  if (result < 0) return std::unexpected(make_bus_error(result));
  return request;
}

Result<Message> send(const Bus& bus, const Message& request) {
  BusError error;
  sd_bus_message* reply = nullptr;
  const int result = sd_bus_call(bus.handle.get(), request.get(), microseconds(bus.call_time), error.out(), &reply);
  if (result < 0) return std::unexpected(make_dbus_error(error.name(), error.message(), -result));
  return Message(reply);
}

Error strange_answer() {
  return {.message = "systemd's answer isn't what we know"};
}

Result<std::string> read_path(const Message& reply) {
  const char* path = nullptr;
  if (sd_bus_message_read(reply.get(), "o", &path) < 0) return std::unexpected(strange_answer());
  return path;
}

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

}  // namespace ctkit::installer::host
