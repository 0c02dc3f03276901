#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <dlfcn.h>

#include <systemd/sd-bus.h>

// libsystemd's functions, as far as systemd.cpp calls them: the library is loaded with the first call, not with the
// program. It brings six more libraries with it, and start-up took 2.5 ms of 9.4 for them (`effective` on a node's
// config), while the reading verbs never talk to systemd. Where it isn't installed, every call says -ELIBACC.

namespace {

void* library() {
  // Stays loaded: what it made may still be in use. A program linked with it finds its own copy.
  static void* const handle = ::dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  return handle;
}

/// The library's function of that name, of the type of ours; null without the library.
template <typename Function>
Function* find(const char* name) {
  return library() ? reinterpret_cast<Function*>(::dlsym(library(), name)) : nullptr;  // NOLINT: dlsym's own way
}

/// Calls it; `absent` without the library.
template <typename Function, typename Absent, typename... Arguments>
auto forward(const char* name, Absent absent, Arguments... arguments) {
  Function* const function = find<Function>(name);
  using Answer = decltype(function(arguments...));
  return function ? function(arguments...) : static_cast<Answer>(absent);
}

}  // namespace

// The names are theirs.
// NOLINTBEGIN
#define FORWARD(name, absent, ...) return forward<decltype(name)>(#name, absent __VA_OPT__(, ) __VA_ARGS__)

extern "C" {

int sd_bus_new(sd_bus** bus) {
  FORWARD(sd_bus_new, -ELIBACC, bus);
}
int sd_bus_set_fd(sd_bus* bus, int in, int out) {
  FORWARD(sd_bus_set_fd, -ELIBACC, bus, in, out);
}
int sd_bus_set_bus_client(sd_bus* bus, int yes) {
  FORWARD(sd_bus_set_bus_client, -ELIBACC, bus, yes);
}
int sd_bus_set_method_call_timeout(sd_bus* bus, uint64_t usec) {
  FORWARD(sd_bus_set_method_call_timeout, -ELIBACC, bus, usec);
}
int sd_bus_start(sd_bus* bus) {
  FORWARD(sd_bus_start, -ELIBACC, bus);
}
int sd_bus_is_ready(sd_bus* bus) {
  FORWARD(sd_bus_is_ready, -ELIBACC, bus);
}
int sd_bus_process(sd_bus* bus, sd_bus_message** message) {
  FORWARD(sd_bus_process, -ELIBACC, bus, message);
}
int sd_bus_wait(sd_bus* bus, uint64_t usec) {
  FORWARD(sd_bus_wait, -ELIBACC, bus, usec);
}
sd_bus* sd_bus_close_unref(sd_bus* bus) {
  FORWARD(sd_bus_close_unref, nullptr, bus);
}
int sd_bus_call(sd_bus* bus, sd_bus_message* message, uint64_t usec, sd_bus_error* error, sd_bus_message** reply) {
  FORWARD(sd_bus_call, -ELIBACC, bus, message, usec, error, reply);
}
int sd_bus_match_signal(sd_bus* bus,
                        sd_bus_slot** slot,
                        const char* sender,
                        const char* path,
                        const char* interface,
                        const char* member,
                        sd_bus_message_handler_t handler,
                        void* data) {
  FORWARD(sd_bus_match_signal, -ELIBACC, bus, slot, sender, path, interface, member, handler, data);
}
sd_bus_slot* sd_bus_slot_unref(sd_bus_slot* slot) {
  FORWARD(sd_bus_slot_unref, nullptr, slot);
}
int sd_bus_message_new_method_call(sd_bus* bus,
                                   sd_bus_message** message,
                                   const char* destination,
                                   const char* path,
                                   const char* interface,
                                   const char* member) {
  FORWARD(sd_bus_message_new_method_call, -ELIBACC, bus, message, destination, path, interface, member);
}
sd_bus_message* sd_bus_message_unref(sd_bus_message* message) {
  FORWARD(sd_bus_message_unref, nullptr, message);
}
int sd_bus_message_open_container(sd_bus_message* message, char type, const char* contents) {
  FORWARD(sd_bus_message_open_container, -ELIBACC, message, type, contents);
}
int sd_bus_message_close_container(sd_bus_message* message) {
  FORWARD(sd_bus_message_close_container, -ELIBACC, message);
}
int sd_bus_message_enter_container(sd_bus_message* message, char type, const char* contents) {
  FORWARD(sd_bus_message_enter_container, -ELIBACC, message, type, contents);
}
int sd_bus_message_exit_container(sd_bus_message* message) {
  FORWARD(sd_bus_message_exit_container, -ELIBACC, message);
}
int sd_bus_message_peek_type(sd_bus_message* message, char* type, const char** contents) {
  FORWARD(sd_bus_message_peek_type, -ELIBACC, message, type, contents);
}
int sd_bus_message_skip(sd_bus_message* message, const char* types) {
  FORWARD(sd_bus_message_skip, -ELIBACC, message, types);
}
int sd_bus_message_read_basic(sd_bus_message* message, char type, void* value) {
  FORWARD(sd_bus_message_read_basic, -ELIBACC, message, type, value);
}
int sd_bus_message_read_array(sd_bus_message* message, char type, const void** bytes, size_t* size) {
  FORWARD(sd_bus_message_read_array, -ELIBACC, message, type, bytes, size);
}
void sd_bus_error_free(sd_bus_error* error) {
  if (auto* const function = find<decltype(sd_bus_error_free)>("sd_bus_error_free")) function(error);
}

int sd_bus_message_append(sd_bus_message* message, const char* types, ...) {
  auto* const function = find<decltype(sd_bus_message_appendv)>("sd_bus_message_appendv");
  std::va_list arguments;
  va_start(arguments, types);
  const int result = function ? function(message, types, arguments) : -ELIBACC;
  va_end(arguments);
  return result;
}
int sd_bus_message_read(sd_bus_message* message, const char* types, ...) {
  auto* const function = find<decltype(sd_bus_message_readv)>("sd_bus_message_readv");
  std::va_list arguments;
  va_start(arguments, types);
  const int result = function ? function(message, types, arguments) : -ELIBACC;
  va_end(arguments);
  return result;
}
}
// NOLINTEND
