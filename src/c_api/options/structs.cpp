#include "c_api/options/structs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "base/escape.h"

namespace loom::c_api {
namespace {

using Member = OptionStruct::Member;
using Kind = OptionStruct::Kind;

// The bytes of a struct that ends behind its member at this offset.
template <class T>
constexpr std::size_t size_of_version(std::size_t end) {
  return (end + alignof(T) - 1) / alignof(T) * alignof(T);
}

constexpr bool ascending(std::span<const std::size_t> sizes) {
  return std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) == sizes.end();
}

// No struct will be as large: a size above it is no size, and no byte behind it is read.
constexpr std::size_t kMaxSize = 4096;

Status refused(const std::string& what, Code code = Code::invalid_argument) {
  return Status(code, "options: " + what);
}

template <class T>
T read(const std::byte* from, std::size_t offset) {
  T value;
  std::memcpy(&value, from + offset, sizeof value);
  return value;
}

// The struct as this library has it: what an older caller lacks is as the initializer has it.
Result<std::vector<std::byte>> present(const OptionStruct& s, const void* given) {
  const std::size_t own = s.sizes.back();
  const auto* from = static_cast<const std::byte*>(given);
  const auto size = read<std::size_t>(from, 0);
  const bool older = std::find(s.sizes.begin(), s.sizes.end(), size) != s.sizes.end();
  if (!older && (size < own || size > kMaxSize))
    return refused(std::string(s.name) + " has the size " + std::to_string(size) +
                   ", and no version of it had that: begin with " + s.initializer +
                   ", whose size is " + std::to_string(own));
  const auto* initial = static_cast<const std::byte*>(s.initial);
  std::vector<std::byte> bytes(initial, initial + own);
  std::copy_n(from, std::min(size, own), bytes.begin());
  if (std::any_of(from + std::min(size, own), from + size,
                  [](std::byte b) { return b != std::byte{0}; }))
    return refused(std::string(s.name) + " has " + std::to_string(size) +
                       " bytes, this version of the library knows " + std::to_string(own) +
                       " of them, and a member behind those is set",
                   Code::unsupported);
  return bytes;
}

// Whether a member is as the initializer has it.
bool is_initial(const OptionStruct& s, const Member& m, const std::byte* from) {
  const auto* initial = static_cast<const std::byte*>(s.initial);
  const auto same = [&]<class T>(T) {
    return std::memcmp(from + m.offset, initial + m.offset, sizeof(T)) == 0;
  };
  switch (m.kind) {
    case Kind::integer: return same(std::int64_t{});
    case Kind::number: return same(double{});
    case Kind::flag: return same(std::int32_t{});
    case Kind::text: return read<const char*>(from, m.offset) == nullptr;
    case Kind::texts:
    case Kind::ids: break;
  }
  return read<const void*>(from, m.offset) == nullptr && read<std::size_t>(from, m.count) == 0;
}

// A text of the caller's, which JSON wants in UTF-8.
Result<Json> text_of(const char* text, const std::string& name) {
  if (text == nullptr) return refused("\"" + name + "\" is NULL");
  if (!is_utf8(text)) return refused("\"" + name + "\" is no UTF-8");
  return Json(text);
}

Result<Json> list_of(const Member& m, const std::byte* from) {
  const std::string name = std::string("\"") + m.name + "\"";
  const auto count = read<std::size_t>(from, m.count);
  const auto* data = read<const void*>(from, m.offset);
  if (data == nullptr && count > 0)
    return refused(name + " is NULL with a count of " + std::to_string(count));
  if (count > PTRDIFF_MAX / sizeof(void*))
    return refused(name + ": a count of " + std::to_string(count) + " is too large",
                   Code::out_of_range);
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    if (m.kind == Kind::ids) {
      list.push(std::int64_t{static_cast<const std::int32_t*>(data)[i]});
      continue;
    }
    LOOM_ASSIGN(Json text, text_of(static_cast<const char* const*>(data)[i],
                                   std::string(m.name) + "[" + std::to_string(i) + "]"));
    list.push(std::move(text));
  }
  return list;
}

Result<Json> value_of(const Member& m, const std::byte* from) {
  const std::string name = std::string("\"") + m.name + "\"";
  switch (m.kind) {
    case Kind::integer: return Json(read<std::int64_t>(from, m.offset));
    case Kind::number: {
      const auto value = read<double>(from, m.offset);
      if (!std::isfinite(value)) return refused(name + " must be finite");
      return Json(value);
    }
    case Kind::flag: {
      const auto value = read<std::int32_t>(from, m.offset);
      if (value != 0 && value != 1)
        return refused(name + " must be 0 or 1, got " + std::to_string(value));
      return Json(value != 0);
    }
    case Kind::text: return text_of(read<const char*>(from, m.offset), m.name);
    case Kind::texts:
    case Kind::ids: break;
  }
  return list_of(m, from);
}

void set(Json& into, const Member& m, Json value) {
  if (*m.outer == '\0') {
    into.set(m.key, std::move(value));
    return;
  }
  const Json* found = into.find(m.outer);
  Json object = found ? *found : Json::object();
  object.set(m.key, std::move(value));
  into.set(m.outer, std::move(object));
}

}  // namespace

#include "c_api/options/structs.inc"

Result<Json> json_of(const OptionStruct& s, const void* given) {
  Json json = Json::object();
  if (given == nullptr) return json;
  LOOM_ASSIGN(const std::vector<std::byte> bytes, present(s, given));
  for (const Member& m : s.members) {
    if (is_initial(s, m, bytes.data())) continue;
    LOOM_ASSIGN(Json value, value_of(m, bytes.data()));
    set(json, m, std::move(value));
  }
  return json;
}

}  // namespace loom::c_api
