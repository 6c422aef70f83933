// What stands behind a bar, behind "is" and behind a dot.
#include <algorithm>

#include "text/jinja/machine.h"

namespace loom::jinja {
namespace {

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// As str.strip: white space, or the characters of `set`.
Text stripped(const Text& text, const Text* set, bool left, bool right) {
  const auto goes = [&](char32_t c) {
    return set ? find(*set, Text(1, c)) != Text::npos : is_space(c);
  };
  std::size_t begin = 0, end = text.size();
  while (left && begin < end && goes(text[begin])) ++begin;
  while (right && begin < end && goes(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

}  // namespace

Value Machine::filter(const Node& node) {
  const Value value = evaluate(node.kids[0]);
  const Arguments a = arguments(node, "filter", node.name);
  if (!status_.ok()) return {};
  const std::string& name = node.name;
  if (one_of(name, {"trim", "string", "safe", "lower", "upper", "title", "capitalize", "replace",
                    "int", "tojson"}))
    return text_filter(name, value, a);
  if (one_of(name, {"length", "count", "first", "last", "list", "items", "dictsort", "map"}))
    return list_filter(name, value, a);
  if (one_of(name, {"select", "reject", "selectattr", "rejectattr"})) return select(name, value, a);
  if (name == "join") return join(value, a);
  if (!one_of(name, {"default", "d"})) return refuse(a, {});
  if (!take(a, 0, 2, "boolean")) return {};
  const Value* flag = a.positional() == 2 ? &a.values[1] : a.named("boolean");
  const bool there = flag && truth(*flag) ? truth(value) : !value.is(Kind::undefined);
  return there ? value : a.positional() > 0 ? a.values[0] : made({});
}

Value Machine::text_filter(const std::string& name, const Value& value, const Arguments& a) {
  if (name == "tojson") {
    if (!take(a, 0, 0, "ensure_ascii")) return {};
    if (const Value* ascii = a.named("ensure_ascii"); ascii && truth(*ascii))
      return refuse(a, " with ensure_ascii");
    Text out;
    to_json(value, out);
    return made(std::move(out));
  }
  if (name == "replace") {
    if (!take(a, 2, 2)) return {};
    return replaced(text_of(value), text_of(a.values[0]), text_of(a.values[1]));
  }
  if (!take(a, 0, name == "trim" ? 1 : 0)) return {};
  if (name == "int") {
    if (value.is(Kind::integer) || value.is(Kind::boolean)) return value.number;
    return refuse(a, " of no integer");
  }
  Text text = text_of(value);
  if (name == "string" || name == "safe") return made(std::move(text));
  if (name != "trim") return cased(name, std::move(text));
  const Text set = a.values.empty() ? Text() : text_of(a.values[0]);
  spend(text.size() / 64 * set.size());
  return made(stripped(text, a.values.empty() ? nullptr : &set, true, true));
}

Value Machine::cased(const std::string& name, Text text) {
  bool inside = false;
  for (char32_t& c : text) {
    const char32_t plain = c & ~kTyped, mark = c & kTyped;
    if (plain >= 128) return fail({"'", name, "' of letters that are not ASCII"});
    const bool small = plain >= 'a' && plain <= 'z', big = plain >= 'A' && plain <= 'Z';
    const bool up = name == "upper" || (name != "lower" && !inside);
    if (small && up) c = (plain - 32) | mark;
    if (big && !up) c = (plain + 32) | mark;
    inside = name == "capitalize" || (name == "title" && (small || big));
  }
  return made(std::move(text));
}

Value Machine::replaced(const Text& text, const Text& from, const Text& to) {
  if (from.empty()) return fail("a replacement of nothing");
  Text out;
  std::size_t at = 0;
  while (status_.ok()) {
    const std::size_t found = search(text, from, at);
    if (found == Text::npos) break;
    out.append(text, at, found - at);
    out += to;
    spend(to.size());
    at = found + from.size();
  }
  return made(out.append(text, at, Text::npos));
}

Value Machine::list_filter(const std::string& name, const Value& value, const Arguments& a) {
  if (name == "map") {
    const Value* key = a.named("attribute");
    if (!take(a, 0, 0, "attribute")) return {};
    if (!key || !key->is(Kind::string)) return refuse(a, " without an attribute");
    std::vector<Value> out;
    for (const Value& item : iterate(truth(value) ? value : Value())) {
      spend(kWorkOfNode);
      out.push_back(this->item(item, *key));
    }
    return generator(std::move(out));
  }
  if (!take(a, 0, 0)) return {};
  if (name == "items" || name == "dictsort") {
    if (name == "items" && value.is(Kind::undefined)) return generator({});
    if (!value.is(Kind::dict)) return fail({"the items of ", kind_name(value)});
    const Value pairs = dict_method("items", value, a);
    return name == "items" ? generator(pairs.items()) : sorted(pairs);
  }
  if (value.is(Kind::string) && (name == "length" || name == "count"))
    return static_cast<std::int64_t>(value.text().size());
  if (value.generator() && (name == "length" || name == "count" || name == "last"))
    return fail({"'", name, "' of a generator: it needs the filter 'list'"},
                Code::invalid_argument);
  std::vector<Value> items = iterate(value);
  if (name == "list") return list(std::move(items));
  if (name == "length" || name == "count") return static_cast<std::int64_t>(items.size());
  if (items.empty()) return {};
  return name == "first" ? items.front() : items.back();
}

// By the first of each pair, text without regard to case.
Value Machine::sorted(const Value& pairs) {
  if (!status_.ok()) return {};
  std::vector<Value> keys, out;
  for (const Value& pair : pairs.items()) {
    Value key = pair.items()[0];
    if (key.is(Kind::string)) key = cased("lower", key.text());
    std::size_t at = keys.size();
    if (key.kind < Kind::boolean || (at > 0 && key.kind != keys[0].kind))
      return fail({"an order of ", kind_name(key)});
    for (; at > 0; --at) {
      const bool text = key.is(Kind::string);
      if (text) spend_on(key.text());
      if (text ? compare(keys[at - 1].text(), key.text()) <= 0 : keys[at - 1].number <= key.number)
        break;
      spend(10);
    }
    const auto place = static_cast<std::ptrdiff_t>(at);
    keys.insert(keys.begin() + place, std::move(key));
    out.insert(out.begin() + place, pair);
    if (!status_.ok()) return {};
  }
  return list(std::move(out));
}

Value Machine::select(const std::string& name, const Value& value, const Arguments& a) {
  const bool by_attribute = name.ends_with("attr"), wanted = name.starts_with("select");
  if (!take(a, by_attribute ? 1 : 0, 3)) return {};
  for (std::size_t i = 0; i < std::min<std::size_t>(a.values.size(), 1 + by_attribute); ++i)
    if (!a.values[i].is(Kind::string)) return refuse(a, " by no name");
  if (by_attribute && a.values[0].text().find(U'.') != Text::npos) return refuse(a, " by a path");
  const std::span<const Value> rest = std::span(a.values).subspan(by_attribute);
  std::vector<Value> out;
  for (const Value& item : iterate(truth(value) ? value : Value())) {
    spend(kWorkOfNode);
    const Value v = by_attribute ? this->item(item, a.values[0]) : item;
    const bool holds = rest.empty() ? truth(v) : test(encode(rest[0].text()), v, rest.subspan(1));
    if (holds == wanted) out.push_back(item);
  }
  return generator(std::move(out));
}

Value Machine::join(const Value& value, const Arguments& a) {
  if (!take(a, 0, 1)) return {};
  const Text between = a.values.empty() ? Text() : text_of(a.values[0]);
  Text out;
  bool first = true;
  for (const Value& item : iterate(value)) {
    if (!first) out += between;
    first = false;
    const Text part = text_of(item);
    spend(between.size() + part.size());
    if (!status_.ok()) return {};
    out += part;
  }
  return made(std::move(out));
}

bool Machine::test(const std::string& name, const Value& value, std::span<const Value> arguments) {
  const bool compares = one_of(name, {"eq", "equalto", "==", "ne", "!=", "in"});
  if (status_.ok() && arguments.size() != (compares ? 1u : 0u))
    fail({"the test '", name, "' with ", std::to_string(arguments.size()), " arguments"});
  if (!status_.ok()) return false;
  if (name == "in") return contains(arguments[0], value);
  if (compares) return same(value, arguments[0]) == (name[0] != 'n' && name[0] != '!');
  const bool integer = value.is(Kind::integer);
  if (name == "defined") return !value.is(Kind::undefined);
  if (name == "undefined") return value.is(Kind::undefined);
  if (name == "none") return value.is(Kind::none);
  if (name == "string") return value.is(Kind::string);
  if (name == "mapping") return value.is(Kind::dict);
  // An undefined value of Jinja is an empty sequence.
  if (name == "iterable" || name == "sequence")
    return one_of(kind_name(value), {"a string", "a list", "a dict", "an undefined value"}) ||
           (value.generator() && name == "iterable");
  if (name == "boolean") return value.is(Kind::boolean);
  if (name == "true" || name == "false")
    return value.is(Kind::boolean) && (value.number != 0) == (name == "true");
  if (name == "integer") return integer;
  if (name == "number") return integer || value.is(Kind::boolean);
  if (integer && (name == "odd" || name == "even"))
    return (value.number % 2 != 0) == (name == "odd");
  fail({"the test '", name, "' of ", kind_name(value)});
  return false;
}

Value Machine::method(const Node& node) {
  const Value object = evaluate(node.kids[0]);
  const std::string of = " of " + std::string(kind_name(object));
  const Arguments a = arguments(node, "method", node.name, of);
  if (!status_.ok()) return {};
  line_ = node.line;
  if (object.is(Kind::undefined) || object.is(Kind::none))
    return refuse(a, {}, Code::invalid_argument);
  if (object.is(Kind::string)) return text_method(node.name, object.text(), a);
  if (object.is(Kind::dict)) return dict_method(node.name, object, a);
  return refuse(a, {});
}

Value Machine::text_method(const std::string& name, const Text& text, const Arguments& a) {
  spend_on(text);
  const bool bare = one_of(name, {"lower", "upper", "title", "capitalize"});
  const bool strips = one_of(name, {"strip", "lstrip", "rstrip"});
  const bool ends = one_of(name, {"startswith", "endswith"});
  if (!bare && !strips && !ends && !one_of(name, {"split", "replace", "join"}))
    return refuse(a, {});
  const std::size_t min = bare || strips ? 0 : name == "replace" ? 2 : 1;
  if (!take(a, min, bare ? 0 : name == "split" || name == "replace" ? 2 : 1)) return {};
  if (bare) return cased(name, text);
  if (name == "join") {
    Arguments between{a.kind, a.name, a.of, {made(text)}, {}};
    return join(a.values[0], between);
  }
  if (!a.values.empty() && !a.values[0].is(Kind::string)) return refuse(a, " by no text");
  const Text* by = a.values.empty() ? nullptr : &a.values[0].text();
  if (strips && by) spend(text.size() / 64 * by->size());
  if (strips) return made(stripped(text, by, name[0] != 'r', name[0] != 'l'));
  if (ends) {
    if (by->size() > text.size()) return false;
    const std::size_t from = name[0] == 's' ? 0 : text.size() - by->size();
    return compare(text.substr(from, by->size()), *by) == 0;
  }
  if (name == "split") return split(text, a);
  return replaced(text, *by, text_of(a.values[1]));
}

Value Machine::split(const Text& text, const Arguments& a) {
  const Text& by = a.values[0].text();
  if (by.empty()) return fail("a split by nothing", Code::invalid_argument);
  std::int64_t max = -1;
  if (a.values.size() == 2) {
    if (!a.values[1].is(Kind::integer)) return fail("a split into no number of parts");
    max = a.values[1].number;
  }
  std::vector<Value> out;
  std::size_t at = 0;
  for (; max != 0; --max) {
    const std::size_t found = search(text, by, at);
    if (found == Text::npos) break;
    out.push_back(made(text.substr(at, found - at)));
    at = found + by.size();
  }
  out.push_back(made(text.substr(at)));
  return list(std::move(out));
}

Value Machine::dict_method(const std::string& name, const Value& dict, const Arguments& a) {
  if (name == "get") {
    if (!take(a, 1, 2)) return {};
    const Value* found = member(dict, a.values[0]);
    return found ? *found : a.values.size() == 2 ? a.values[1] : Value(Kind::none);
  }
  if (!one_of(name, {"items", "keys", "values"})) return refuse(a, {});
  if (!take(a, 0, 0)) return {};
  if (name == "keys") return list(dict.keys());
  if (name == "values") return list(dict.items());
  std::vector<Value> pairs;
  for (std::size_t i = 0; i < dict.keys().size(); ++i)
    pairs.push_back(list({dict.keys()[i], dict.items()[i]}));
  return list(std::move(pairs));
}

void Machine::escape(char32_t character, Text& out) {
  static constexpr std::u32string_view kEscaped = U"\"\\\n\r\t\b\f", kAs = U"\"\\nrtbf";
  out += U'\\';
  if (const std::size_t i = kEscaped.find(character); i != kEscaped.npos) {
    out += kAs[i];
  } else {
    out += U"u00";
    out += U"01"[character / 16];
    out += U"0123456789abcdef"[character % 16];
  }
}

// As json.dumps with ensure_ascii=False.
void Machine::to_json(const Value& value, Text& out) {
  spend(value.is(Kind::string) ? 1 + value.text().size() : 1);
  if (!status_.ok()) return;  // one long string may stand in a list many times
  if (value.is(Kind::none)) out += U"null";
  else if (value.is(Kind::boolean)) out += value.number ? U"true" : U"false";
  else if (value.is(Kind::integer)) out += decode(std::to_string(value.number));
  else if (value.is(Kind::string)) {
    out += U'"';
    for (const char32_t c : value.text()) {
      const char32_t plain = c & ~kTyped;
      if (plain >= 32 && plain != U'"' && plain != U'\\') out += c;
      else escape(plain, out);
    }
    out += U'"';
  } else if (value.is(Kind::list) || value.is(Kind::dict)) {
    const bool dict = value.is(Kind::dict);
    out += dict ? U'{' : U'[';
    for (std::size_t i = 0; i < value.items().size() && status_.ok(); ++i) {
      if (i > 0) out += U", ";
      if (dict) {
        if (!value.keys()[i].is(Kind::string)) fail("JSON with keys that are no strings");
        to_json(value.keys()[i], out);
        out += U": ";
      }
      to_json(value.items()[i], out);
    }
    out += dict ? U'}' : U']';
  } else {
    fail({"JSON of ", kind_name(value)});
  }
}

}  // namespace loom::jinja
