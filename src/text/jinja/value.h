// Values of a template while it runs. Internal to the interpreter; not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace loom::jinja {

// Characters, each with a bit that says whether a message brought it. The bit goes wherever the
// character goes, and comparisons do not see it.
using Text = std::u32string;
constexpr char32_t kTyped = 0x80000000;

struct Object;
struct Value {
  enum class Kind : std::uint8_t {
    undefined,
    none,
    boolean,
    integer,
    string,
    list,  // `number` is not 0: what a filter gives one by one, once, as a generator of Python
    dict,
    name_space,  // a dict whose members {% set %} may change
    macro,       // `number` is its node
  };

  Value() = default;
  Value(bool value) : kind(Kind::boolean), number(value) {}          // NOLINT
  Value(std::int64_t value) : kind(Kind::integer), number(value) {}  // NOLINT
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(Value other) noexcept;
  ~Value();
  Value(Text text);         // NOLINT
  explicit Value(Kind of);  // empty where it has parts

  bool is(Kind k) const { return kind == k; }
  bool generator() const { return kind == Kind::list && number != 0; }
  bool has_keys() const { return kind == Kind::dict || kind == Kind::name_space; }
  const Text& text() const;                   // of a string
  std::vector<Value>& items() const;          // of a list; the values of a dict
  std::vector<Value>& keys() const;           // of a dict
  const Value* find(const Value& key) const;  // of a dict
  void set(Value key, Value value) const;

  Kind kind = Kind::undefined;
  std::int64_t number = 0;
  Object* object = nullptr;  // counted; no object holds itself, see Machine::check_nesting
};
struct Object {
  std::size_t references = 1;
  std::size_t* live = nullptr;  // counts the characters of such texts that are there
  Text text;
  bool used = false;  // of a generator
  std::vector<Value> keys, items;
};

// `mark`: 0 or kTyped. Bytes that are no UTF-8 become U+FFFD.
Text decode(std::string_view utf8, char32_t mark = 0);
std::string encode(const Text& text);
bool is_space(char32_t character);  // as Python's str.isspace
// As Python compares text: by code points.
int compare(const Text& a, const Text& b);
// `work`: grows by what was looked at.
bool equal(const Value& a, const Value& b, std::size_t* work = nullptr);
std::size_t find(const Text& text, const Text& part, std::size_t from = 0);
bool truth(const Value& value);
std::string_view kind_name(const Value& value);
// A number with a fraction becomes undefined: templates of this build have none.
Value from_json(const Json& json, char32_t mark);

}  // namespace loom::jinja
