#include "c_api/call.h"

#include <algorithm>
#include <charconv>

#include "base/escape.h"
#include "base/files/bytes.h"
#include "base/message.h"

namespace loom::c_api {

namespace {

std::int32_t write(Code status, std::string_view message, loom_error* error) {
  const auto code = static_cast<std::int32_t>(status);
  if (!error) return code;
  error->code = code;
  // A message may have names from files in it.
  error->message[escape_into(message, {error->message, sizeof(error->message) - 1})] = '\0';
  return code;
}

}  // namespace

std::int32_t report(const Status& status, loom_error* error) {
  // Where an allocation fails in a callback there is no memory for a message.
  const bool none = !status.ok() && status.message().empty();
  return write(status.code(), none ? code_name(status.code()) : status.message(), error);
}

std::int32_t cancel_call(loom_handle handle, loom_error* error) {
  if (cancel(handle)) return report(Status(), error);
  char text[128], digits[24];
  std::size_t size = 0;
  const auto append = [&](std::string_view part) {
    for (const char c : part) text[size++] = c;
  };
  append("expects what runs a network, as a session or a trainer does");
  const char* const end = std::to_chars(digits, digits + sizeof digits, handle).ptr;
  append(", got the handle ");
  append({digits, static_cast<std::size_t>(end - digits)});
  append(", which is none");
  return write(Code::invalid_handle, {text, size}, error);
}

std::int32_t call(loom_error* error, Status (*body)(void* context), void* context) {
#if defined(__cpp_exceptions)
  try {
    return report(body(context), error);
  } catch (const std::bad_alloc&) {
    return write(Code::out_of_memory, "an allocation failed", error);
  } catch (const std::exception& e) {
    return write(Code::internal, e.what(), error);
  } catch (...) {
    return write(Code::internal, "an unknown exception", error);
  }
#else
  return report(body(context), error);
#endif
}

Status want_all(bool given) {
  return given ? Status() : Status(Code::invalid_argument, "a pointer for a result is NULL");
}

Result<std::string_view> text_argument(const char* data, std::size_t size, std::string_view what) {
  LOOM_ASSIGN(const std::span<const char> s, span(data, size, what));
  return s.empty() ? std::string_view() : std::string_view(s.data(), s.size());
}

Result<std::string> path_argument(const char* data, std::size_t size, std::string_view what) {
  LOOM_ASSIGN(const std::string_view s, text_argument(data, size, what));
  if (s.empty()) return Status(Code::invalid_argument, message(what, ": is empty"));
  if (s.find('\0') != std::string_view::npos)
    return Status(Code::invalid_argument, message(what, ": has a zero in it"));
  return std::string(s);
}

Result<Json> json_argument(const char* data, std::size_t size, std::string_view what) {
  LOOM_ASSIGN(const std::string_view s, text_argument(data, size, what));
  if (s.empty()) return Json::object();
  auto parsed = Json::parse(s);
  if (!parsed.ok())
    return Status(Code::invalid_argument, message(what, ": ", parsed.status().message()));
  return parsed;
}

Result<std::optional<WeightFormat>> format_argument(const char* data, std::size_t size) {
  LOOM_ASSIGN(const std::string_view s, text_argument(data, size, "format"));
  if (s.empty()) return std::optional<WeightFormat>();
  LOOM_ASSIGN(const WeightFormat f, parse_weight_format(s));
  return std::optional<WeightFormat>(f);
}

Result<std::vector<std::uint32_t>> unsigned_values(const std::int32_t* data, std::size_t count,
                                                   std::string_view what) {
  LOOM_ASSIGN(const std::span<const std::int32_t> in, span(data, count, what));
  for (std::size_t i = 0; i < in.size(); ++i)
    if (in[i] < 0)
      return Status(Code::out_of_range,
                    message(what, "[", i, "] is ", in[i], ", expected at least 0"));
  return std::vector<std::uint32_t>(in.begin(), in.end());
}

Status expect_count(std::string_view what, std::size_t got, std::int64_t expected) {
  if (expected >= 0 && got == static_cast<std::uint64_t>(expected)) return {};
  return Status(Code::invalid_argument,
                message(what, ": expects ", expected, " values, got ", got));
}

Result<std::int64_t> product(std::string_view what, std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0)
    return Status(Code::out_of_range,
                  message(what, ": a size must not be negative, got ", std::min(a, b)));
  const auto p = checked_mul(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
  if (!p || *p > INT64_MAX)
    return Status(Code::out_of_range, message(what, ": ", a, " x ", b, " values are too many"));
  return static_cast<std::int64_t>(*p);
}

void set_device(Json& info, const webgpu::Choice& device) {
  info.set("device", device.device ? Json(device.device->info().name) : Json());
  info.set("note", device.note);
}

loom_handle new_bytes(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  return add(std::make_shared<Bytes>(owner, owner->data(), owner->size()));
}

loom_handle new_text(std::string_view text) {
  const auto bytes = as_bytes(text);
  return new_bytes({bytes.begin(), bytes.end()});
}

loom_handle new_ids(std::span<const std::int32_t> ids) {
  const auto bytes = std::as_bytes(ids);
  return new_bytes({bytes.begin(), bytes.end()});
}

}  // namespace loom::c_api
