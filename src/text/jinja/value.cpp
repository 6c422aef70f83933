#include "text/jinja/value.h"

#include <algorithm>
#include <utility>

#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace loom::jinja {
namespace {

constexpr char32_t plain(char32_t c) { return c & ~kTyped; }

}  // namespace

Value::Value(Text text) : Value(Kind::string) { object->text = std::move(text); }
Value::Value(Kind of) : kind(of) {
  if (of >= Kind::string && of != Kind::macro) object = new Object;
}
Value::Value(const Value& other) : kind(other.kind), number(other.number), object(other.object) {
  if (object) ++object->references;
}
Value::Value(Value&& other) noexcept
    : kind(other.kind), number(other.number), object(std::exchange(other.object, nullptr)) {}
Value& Value::operator=(Value other) noexcept {
  kind = other.kind;
  number = other.number;
  std::swap(object, other.object);
  return *this;
}
Value::~Value() {
  if (!object || --object->references > 0) return;
  if (object->live) *object->live -= object->text.size();
  delete object;
}
const Text& Value::text() const { return object->text; }
std::vector<Value>& Value::items() const { return object->items; }
std::vector<Value>& Value::keys() const { return object->keys; }

const Value* Value::find(const Value& key) const {
  for (std::size_t i = 0; i < keys().size(); ++i)
    if (equal(keys()[i], key)) return &items()[i];
  return nullptr;
}

void Value::set(Value key, Value value) const {
  for (std::size_t i = 0; i < keys().size(); ++i)
    if (equal(keys()[i], key)) {
      items()[i] = std::move(value);
      return;
    }
  keys().push_back(std::move(key));
  items().push_back(std::move(value));
}

Text decode(std::string_view utf8, char32_t mark) {
  std::string storage;
  utf8 = text::utf8_lossy(utf8, storage);
  Text out;
  for (std::size_t at = 0; at < utf8.size();) out.push_back(text::utf8_next(utf8, at) | mark);
  return out;
}

std::string encode(const Text& text) {
  std::string out;
  for (const char32_t c : text) text::utf8_append(out, plain(c));
  return out;
}

bool is_space(char32_t character) {
  const char32_t c = plain(character);
  return text::is_whitespace(c) || (c >= 0x1C && c <= 0x1F);
}

int compare(const Text& a, const Text& b) {
  const std::size_t both = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < both; ++i)
    if (plain(a[i]) != plain(b[i])) return plain(a[i]) < plain(b[i]) ? -1 : 1;
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

bool equal(const Value& a, const Value& b, std::size_t* work) {
  using Kind = Value::Kind;
  const auto number = [](const Value& v) { return v.is(Kind::boolean) || v.is(Kind::integer); };
  if (number(a) && number(b)) return a.number == b.number;  // True == 1 in Python
  if (a.kind != b.kind) return false;
  if (a.is(Kind::string)) {
    if (work) *work += std::min(a.text().size(), b.text().size()) / 16;
    return compare(a.text(), b.text()) == 0;
  }
  if (a.is(Kind::macro)) return a.number == b.number;
  if (!a.object || a.object == b.object) return true;
  if (a.generator() || b.generator()) return false;
  if (a.items().size() != b.items().size()) return false;
  if (work) *work += a.items().size();
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    const Value* other = &b.items()[i];
    if (a.has_keys()) other = b.find(a.keys()[i]);
    if (!other || !equal(a.items()[i], *other, work)) return false;
  }
  return true;
}

std::size_t find(const Text& text, const Text& part, std::size_t from) {
  const auto same = [](char32_t a, char32_t b) { return plain(a) == plain(b); };
  if (from > text.size()) return Text::npos;
  const auto at = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(),
                              part.begin(), part.end(), same);
  return at == text.end() && !part.empty() ? Text::npos
                                           : static_cast<std::size_t>(at - text.begin());
}

bool truth(const Value& value) {
  switch (value.kind) {
    case Value::Kind::undefined:
    case Value::Kind::none: return false;
    case Value::Kind::boolean:
    case Value::Kind::integer: return value.number != 0;
    case Value::Kind::string: return !value.text().empty();
    case Value::Kind::list:
    case Value::Kind::dict: return value.generator() || !value.items().empty();
    case Value::Kind::name_space:
    case Value::Kind::macro: return true;
  }
  return false;
}

std::string_view kind_name(const Value& value) {
  static constexpr std::string_view kNames[] = {
      "an undefined value", "None",   "a bool", "an integer", "a string", "a list", "a dict",
      "a namespace",        "a macro"};
  return value.generator() ? "a generator" : kNames[static_cast<std::size_t>(value.kind)];
}

Value from_json(const Json& json, char32_t mark) {
  switch (json.type()) {
    case Json::Type::null: return Value(Value::Kind::none);
    case Json::Type::boolean: return json.as_bool();
    case Json::Type::integer: return json.as_integer();
    case Json::Type::real: return {};
    case Json::Type::string: return decode(json.as_string(), mark);
    case Json::Type::array: {
      const Value list(Value::Kind::list);
      for (const Json& item : json.as_array()) list.items().push_back(from_json(item, mark));
      return list;
    }
    case Json::Type::object: {
      const Value dict(Value::Kind::dict);
      for (const auto& [key, item] : json.as_object()) dict.set(decode(key), from_json(item, mark));
      return dict;
    }
  }
  return {};
}

}  // namespace loom::jinja
