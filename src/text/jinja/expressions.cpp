#include <algorithm>
#include <array>

#include "base/escape.h"
#include "text/jinja/machine.h"

namespace loom::jinja {
namespace {

constexpr std::string_view kFunctions[] = {"raise_exception", "namespace", "range"};

bool is_number(const Value& v) { return v.is(Value::Kind::integer) || v.is(Value::Kind::boolean); }

}  // namespace

Value Machine::evaluate(int number) {
  if (!status_.ok()) return {};
  if (number < 0) return piped_;
  const Node& node = nodes_[static_cast<std::size_t>(number)];
  line_ = node.line;
  spend(kWorkOfNode);
  if (++depth_ > kMaxNesting) fail("macros or expressions too deep", Code::out_of_range);
  Value out;
  switch (node.op) {
    case Op::constant: out = node.value; break;
    case Op::name: out = name(node); break;
    case Op::list:
    case Op::dict: out = parts(node); break;
    case Op::attribute: out = attribute(evaluate(node.kids[0]), node.name); break;
    case Op::item: {
      const Value object = evaluate(node.kids[0]);
      out = item(object, evaluate(node.kids[1]));
      break;
    }
    case Op::slice: out = slice(node); break;
    case Op::call: out = call(node); break;
    case Op::method: out = method(node); break;
    case Op::filter: out = filter(node); break;
    case Op::test: {
      const Value value = evaluate(node.kids[0]);
      const Arguments a = arguments(node, "test", node.name);
      out = test(node.name, value, a.values);
      break;
    }
    case Op::negative: {
      const Value value = evaluate(node.kids[0]);
      if (is_number(value)) out = -value.number;
      else fail({"the negative of ", kind_name(value)}, Code::invalid_argument);
      break;
    }
    case Op::not_true: out = !truth(evaluate(node.kids[0])); break;
    case Op::both:
    case Op::either:
      out = evaluate(node.kids[0]);
      if (truth(out) == (node.op == Op::both)) out = evaluate(node.kids[1]);
      break;
    case Op::arithmetic: out = arithmetic(node); break;
    case Op::comparison: out = comparison(node); break;
    case Op::choice:
      if (truth(evaluate(node.kids[0]))) out = evaluate(node.kids[1]);
      else if (node.kids[2] >= 0) out = evaluate(node.kids[2]);
      break;
    default: fail("a statement stands where an expression belongs", Code::internal);
  }
  --depth_;
  return status_.ok() ? out : Value();
}

Value Machine::name(const Node& node) {
  if (const Value* value = find(node.name)) return *value;
  if (std::find(std::begin(kFunctions), std::end(kFunctions), node.name) != std::end(kFunctions)) {
    Value function(Kind::macro);
    function.number = -1;
    return function;
  }
  // transformers gives all special tokens of the tokenizer.
  if (node.name.ends_with("_token") || node.name == "additional_special_tokens")
    return fail({"the variable '", node.name, "'"});
  return {};
}

Value Machine::parts(const Node& node) {
  if (node.op == Op::list) {
    std::vector<Value> items;
    for (const int kid : node.kids) items.push_back(evaluate(kid));
    return list(std::move(items));
  }
  const Value dict(Kind::dict);
  for (std::size_t i = 0; i + 1 < node.kids.size(); i += 2) {
    const Value key = evaluate(node.kids[i]);
    if (key.kind > Kind::string || key.is(Kind::undefined))
      return fail({"a dict with ", kind_name(key), " as a key"});
    spend(i / 16);
    dict.set(key, evaluate(node.kids[i + 1]));
  }
  check_nesting(dict);
  return dict;
}

Value Machine::attribute(const Value& object, const std::string& name) {
  if (object.is(Kind::undefined) && status_.ok())
    return fail({"reads '", name, "' of a value that is not there"}, Code::invalid_argument);
  if (!object.has_keys()) return {};
  const Value* found = member(object, decode(name));
  // Python finds the method of a dict first.
  for (const std::string_view method : {"items", "keys", "values", "get", "pop", "copy", "update"})
    if (object.is(Kind::dict) && name == method)
      return fail({"the method '", name, "', not called"});
  return found ? *found : Value();
}

Value Machine::item(const Value& object, const Value& key) {
  if (!status_.ok()) return {};
  if (object.generator() || object.is(Kind::undefined) || object.is(Kind::none))
    return fail({"reads an item of ", kind_name(object)}, Code::invalid_argument);
  if (object.has_keys()) {
    const Value* found = member(object, key);
    return found ? *found : Value();
  }
  if (!is_number(key) || !(object.is(Kind::list) || object.is(Kind::string))) return {};
  const std::size_t count = object.is(Kind::list) ? object.items().size() : object.text().size();
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t at = key.number < 0 ? key.number + size : key.number;
  if (at < 0 || at >= size) return {};
  const auto i = static_cast<std::size_t>(at);
  return object.is(Kind::list) ? object.items()[i] : Value(Text(1, object.text()[i]));
}

// As Python: what lies outside is cut off.
Value Machine::slice(const Node& node) {
  const Value object = evaluate(node.kids[0]);
  std::array<Value, 3> given;
  for (std::size_t i = 0; i < 3; ++i) {
    if (node.kids[i + 1] >= 0) given[i] = evaluate(node.kids[i + 1]);
    if (given[i].is(Kind::undefined) || given[i].is(Kind::none)) given[i] = Value(Kind::none);
    else if (!is_number(given[i])) return fail("a slice by no number", Code::invalid_argument);
  }
  if (!status_.ok()) return {};
  if (object.generator() || (!object.is(Kind::list) && !object.is(Kind::string)))
    return fail({"a slice of ", kind_name(object)}, Code::invalid_argument);
  const bool text = object.is(Kind::string);
  const auto size = static_cast<std::int64_t>(text ? object.text().size() : object.items().size());
  const std::int64_t step = given[2].is(Kind::none) ? 1 : given[2].number;
  if (step == 0) return fail("a slice with steps of 0", Code::invalid_argument);
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto bound = [&](const Value& v, std::int64_t otherwise) {
    if (v.is(Kind::none)) return otherwise;
    return std::clamp(v.number < 0 ? v.number + size : v.number, low, high);
  };
  const std::int64_t from = bound(given[0], step > 0 ? low : high);
  const std::int64_t to = bound(given[1], step > 0 ? high : low);
  Text characters;
  std::vector<Value> items;
  for (std::int64_t i = from; step > 0 ? i < to : i > to;) {
    if (text) characters.push_back(object.text()[static_cast<std::size_t>(i)]);
    else items.push_back(object.items()[static_cast<std::size_t>(i)]);
    if (step > size || step < -size) break;
    i += step;
  }
  return text ? made(std::move(characters)) : list(std::move(items));
}

Value Machine::arithmetic(const Node& node) {
  const Value a = evaluate(node.kids[0]), b = evaluate(node.kids[1]);
  if (!status_.ok()) return {};
  const std::string& op = node.name;
  if (op == "~") return made(text_of(a) + text_of(b));
  if (op == "+" && a.is(Kind::string) && b.is(Kind::string)) return made(a.text() + b.text());
  if (op == "+" && a.is(Kind::list) && b.is(Kind::list) && !a.generator() && !b.generator()) {
    std::vector<Value> items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    return list(std::move(items));
  }
  if (!is_number(a) || !is_number(b)) {
    const bool known = op == "*" || op == "%" || op == "/";  // strings have these, too
    return fail({kind_name(a), " ", op, " ", kind_name(b)},
                known ? Code::unsupported : Code::invalid_argument);
  }
  const std::int64_t x = a.number, y = b.number;
  constexpr std::int64_t kMax = std::int64_t{1} << 31;  // no product or sum of these overflows
  if (x > kMax || x < -kMax || y > kMax || y < -kMax) return fail("numbers over 31 bits");
  if (op == "+") return x + y;
  if (op == "-") return x - y;
  if (op == "*") return x * y;
  if (op == "/") return fail("numbers with a fraction");
  if (y == 0) return fail("a division by 0", Code::invalid_argument);
  const std::int64_t rest = (x % y + y) % y;  // of the sign of y, as in Python
  return op == "%" ? rest : (x - rest) / y;
}

Value Machine::comparison(const Node& node) {
  const Value a = evaluate(node.kids[0]), b = evaluate(node.kids[1]);
  if (!status_.ok()) return {};
  const std::string& op = node.name;
  if (op == "in") return contains(b, a);
  if (op == "==") return same(a, b);
  if (op == "!=") return !same(a, b);
  std::int64_t order = 0;
  if (a.is(Kind::string) && b.is(Kind::string)) {
    spend_on(a.text());
    order = compare(a.text(), b.text());
  } else if (is_number(a) && is_number(b)) order = a.number < b.number ? -1 : a.number > b.number;
  else return fail({kind_name(a), " ", op, " ", kind_name(b)}, Code::invalid_argument);
  const bool strict = op.size() == 1;
  return op[0] == '<' ? (strict ? order < 0 : order <= 0) : (strict ? order > 0 : order >= 0);
}

bool Machine::contains(const Value& container, const Value& value) {
  if (container.is(Kind::string) && value.is(Kind::string)) {
    spend(container.text().size());
    return search(container.text(), value.text()) != Text::npos;
  }
  if (container.is(Kind::dict)) return member(container, value) != nullptr;
  if (container.is(Kind::list)) {
    spend(container.items().size());
    return std::any_of(container.items().begin(), container.items().end(),
                       [&](const Value& item) { return same(item, value); });
  }
  if (!container.is(Kind::undefined))
    fail({kind_name(value), " in ", kind_name(container)}, Code::invalid_argument);
  return false;
}

Machine::Arguments Machine::arguments(const Node& node, std::string_view kind,
                                      std::string_view name, std::string_view of) {
  spend(kWorkOfCall);
  Arguments out{kind, name, of, {}, {}};
  for (std::size_t i = 1; i < node.kids.size(); ++i) out.values.push_back(evaluate(node.kids[i]));
  out.names = node.names;
  return out;
}

Value Machine::call(const Node& node) {
  const Node& callee = nodes_[static_cast<std::size_t>(node.kids[0])];
  if (callee.op != Op::name) return fail("a call of something that has no name");
  const Arguments a = arguments(node, "function", callee.name);
  if (!status_.ok()) return {};
  line_ = node.line;
  const Value* variable = find(callee.name);
  if (variable && variable->is(Kind::macro) && variable->number >= 0)
    return call_macro(nodes_[static_cast<std::size_t>(variable->number)], a);
  if (callee.name == "raise_exception" && take(a, 1, 1))
    return fail({"the template refuses this conversation: ", encode(text_of(a.values[0]))},
                Code::invalid_argument);
  if (callee.name == "range") return range(a);
  if (callee.name == "strftime_now") return date(a);
  if (callee.name != "namespace") return refuse(a, {});
  if (a.positional() > 0) return refuse(a, " of a dict");
  const Value space(Kind::name_space);
  for (std::size_t i = 0; i < a.names.size(); ++i) {
    check_nesting(a.values[i]);
    space.set(decode(a.names[i]), a.values[i]);
  }
  return space;
}

Value Machine::call_macro(const Node& macro, const Arguments& a) {
  const std::size_t parameters = macro.names.size(), given = a.positional();
  if (given > parameters) return refuse(a, " with too many arguments");
  for (const std::string& name : a.names)
    if (std::find(macro.names.begin() + static_cast<std::ptrdiff_t>(given), macro.names.end(),
                  name) == macro.names.end())
      return refuse(a, " with the argument '" + name + "'");
  Frame frame{true, {}};
  const std::size_t without = parameters - (macro.kids.size() - 1);  // those without a default
  for (std::size_t i = 0; i < parameters; ++i) {
    const Value* named = a.named(macro.names[i]);
    Value value;
    if (i < given) value = a.values[i];
    else if (named) value = *named;
    else if (i >= without) value = evaluate(macro.kids[i - without + 1]);
    frame.variables.emplace_back(macro.names[i], std::move(value));
  }
  frames_.push_back(std::move(frame));
  Text text = captured(macro.kids[0]);
  frames_.pop_back();
  return made(std::move(text));
}

Value Machine::range(const Arguments& a) {
  if (!take(a, 1, 3)) return {};
  constexpr std::int64_t kMax = std::int64_t{1} << 31;
  for (const Value& v : a.values)
    if (!is_number(v) || v.number > kMax || v.number < -kMax)
      return fail({"a range of ", kind_name(v)}, Code::invalid_argument);
  const bool one = a.values.size() == 1;
  const std::int64_t to = a.values[one ? 0 : 1].number;
  const std::int64_t step = a.values.size() == 3 ? a.values[2].number : 1;
  if (step == 0) return fail("a range with steps of 0", Code::invalid_argument);
  std::vector<Value> items;
  for (std::int64_t i = one ? 0 : a.values[0].number; step > 0 ? i < to : i > to; i += step) {
    spend(1);
    if (!status_.ok()) return {};
    items.emplace_back(i);
  }
  return list(std::move(items));
}

// The date that the caller gave, since results do not depend on a clock.
Value Machine::date(const Arguments& a) {
  const Value* today = find("strftime_now");
  if (!today)
    return fail(
        "the template writes today's date, and this build reads no clock: give the "
        "variable \"strftime_now\" as \"YYYY-MM-DD\"",
        Code::invalid_argument);
  if (!take(a, 1, 1)) return {};
  const std::string d = encode(text_of(*today));
  const auto part = [&](std::size_t from, std::size_t count) {
    int value = 0;
    for (std::size_t i = from; i < from + count; ++i)
      value = d[i] >= '0' && d[i] <= '9' && value >= 0 ? value * 10 + (d[i] - '0') : -1;
    return value;
  };
  const bool form = d.size() == 10 && d[4] == '-' && d[7] == '-' && part(0, 4) >= 0;
  const int month = form ? part(5, 2) : 0, day = form ? part(8, 2) : 0;
  if (month < 1 || month > 12 || day < 1 || day > 31)
    return fail({"strftime_now is ", quoted(d), ", expected \"YYYY-MM-DD\""},
                Code::invalid_argument);
  static constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                                 "May",       "June",     "July",     "August",
                                                 "September", "October",  "November", "December"};
  const std::string_view name = kMonths[month - 1];
  const std::string format = encode(text_of(a.values[0]));
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i] == '%' && i + 1 < format.size() ? format[++i] : '\0';
    if (c == '\0') out += format[i];
    else if (c == 'Y') out += d.substr(0, 4);
    else if (c == 'm') out += d.substr(5, 2);
    else if (c == 'd') out += d.substr(8, 2);
    else if (c == 'B') out += name;
    else if (c == 'b') out += name.substr(0, 3);
    else return fail({"%", std::string(1, c), " of a date"});
  }
  return made(decode(out));
}

}  // namespace loom::jinja
