#include "text/jinja/machine.h"

#include <algorithm>

namespace loom::jinja {
namespace {

// Steps, characters written, and characters kept, of a short conversation. A unit takes some 10 to
// 100 ns, whatever the template spends it on.
constexpr std::size_t kWork = std::size_t{1} << 21;
constexpr std::size_t kWorkPerCharacter = 64;
constexpr std::size_t kWorkOfRound = 64;  // of a loop, which has names of its own
constexpr std::size_t kWorkOfItem = 16;   // a character that becomes a string

std::size_t size_of(const Value& value) {
  if (value.is(Value::Kind::string)) return value.text().size();
  std::size_t sum = 1;
  if (value.object)
    for (const Value& item : value.items()) sum += size_of(item);
  return sum;
}

}  // namespace

Result<Template> Template::parse(std::string_view source) {
  LOOM_ASSIGN(std::vector<Node> nodes, jinja::parse(source));
  return Template(std::move(nodes));
}

Result<Text> Template::render(Variables variables) const {
  Machine machine(nodes_, std::move(variables));
  machine.run();
  if (!machine.status().ok()) return machine.status();
  return machine.take();
}

std::vector<std::string_view> Template::names() const {
  std::vector<std::string_view> out;
  for (const Node& node : nodes_)
    if (node.op == Op::name) out.push_back(node.name);
  return out;
}

Machine::Machine(const std::vector<Node>& nodes, Variables variables)
    : nodes_(nodes), limit_(kWork) {
  for (const auto& [name, value] : variables) limit_ += kWorkPerCharacter * size_of(value);
  frames_.push_back({false, std::move(variables)});
}

void Machine::run() { execute(static_cast<int>(nodes_.size()) - 1); }

Value Machine::fail(std::string_view what, Code code) {
  if (status_.ok()) status_ = error_at(line_, what, code);
  return {};
}
Value Machine::refuse(const Arguments& a, std::string_view why, Code code) {
  return fail({"the ", a.kind, " '", a.name, "'", a.of, why}, code);
}
Value Machine::fail(Words what, Code code) {
  std::string text;
  for (const std::string_view word : what) text += word;
  return fail(text, code);
}

void Machine::spend(std::size_t work) {
  work_ += work;
  if (work_ > limit_)
    fail("the template does more than this conversation calls for", Code::out_of_range);
}

// Dicts are lists of pairs, and short.
const Value* Machine::member(const Value& dict, const Value& key) {
  spend(dict.keys().size() / 8);
  return dict.find(key);
}

bool Machine::same(const Value& a, const Value& b) {
  std::size_t work = 0;
  const bool out = equal(a, b, &work);
  spend(work);
  return out;
}

// At worst every character up to where the part is found is compared with every one of the part.
std::size_t Machine::search(const Text& text, const Text& part, std::size_t from) {
  const auto cost = [&](std::size_t characters) { return characters / 64 * part.size(); };
  if (cost(text.size() - from) > limit_) spend(limit_);
  if (!status_.ok()) return Text::npos;
  const std::size_t found = jinja::find(text, part, from);
  spend(cost(std::min(found, text.size()) - from));
  return found;
}

void Machine::execute(int number) {
  if (number < 0 || !status_.ok() || leave_ != Leave::no) return;
  const Node& node = nodes_[static_cast<std::size_t>(number)];
  line_ = node.line;
  spend(kWorkOfNode);
  if (++depth_ > kMaxNesting) fail("macros or blocks too deep", Code::out_of_range);
  switch (node.op) {
    case Op::data:
      out_ += node.value.text();
      spend(node.value.text().size());
      break;
    case Op::print: write(evaluate(node.kids[0])); break;
    case Op::body:
      for (const int kid : node.kids) execute(kid);
      break;
    case Op::if_else: if_else(node); break;
    case Op::for_each: for_each(node); break;
    case Op::set: assign(node, evaluate(node.kids[0])); break;
    case Op::set_block: assign(node, filtered(node.kids[1], captured(node.kids[0]))); break;
    case Op::filter_block: write(filtered(node.kids[1], captured(node.kids[0]))); break;
    case Op::scope:
      frames_.push_back({false, {}});
      execute(node.kids[0]);
      frames_.pop_back();
      break;
    case Op::macro: {
      Value macro(Kind::macro);
      macro.number = number;
      frames_.back().variables.emplace_back(node.name, macro);
      break;
    }
    case Op::break_loop: leave_ = Leave::loop; break;
    case Op::continue_loop: leave_ = Leave::next; break;
    default: fail("an expression stands where a statement belongs", Code::internal);
  }
  --depth_;
}

void Machine::write(const Value& value) {
  const Text text = text_of(value);
  spend(text.size());
  out_ += text;
}

void Machine::if_else(const Node& node) {
  std::size_t i = 0;
  for (; i + 1 < node.kids.size(); i += 2)
    if (truth(evaluate(node.kids[i]))) return execute(node.kids[i + 1]);
  if (i < node.kids.size()) execute(node.kids[i]);
}

bool Machine::bind(const Node& node, const Value& item) {
  Variables& variables = frames_.back().variables;
  if (node.names.size() == 1) {
    variables.emplace_back(node.names[0], item);
    return true;
  }
  if (!item.is(Kind::list) || item.items().size() != node.names.size()) {
    fail({"an item of the loop is not ", std::to_string(node.names.size()), " values"},
         Code::invalid_argument);
    return false;
  }
  for (std::size_t i = 0; i < node.names.size(); ++i)
    variables.emplace_back(node.names[i], item.items()[i]);
  return true;
}

void Machine::for_each(const Node& node) {
  std::vector<Value> items = iterate(evaluate(node.kids[0]));
  if (node.kids[3] >= 0) {
    std::vector<Value> chosen;
    for (const Value& item : items) {
      frames_.push_back({false, {}});
      if (bind(node, item) && truth(evaluate(node.kids[3]))) chosen.push_back(item);
      frames_.pop_back();
    }
    items = std::move(chosen);
  }
  if (items.empty()) {
    frames_.push_back({false, {}});
    execute(node.kids[2]);
    frames_.pop_back();
  }
  iterate_over(node, items);
}

void Machine::iterate_over(const Node& node, const std::vector<Value>& items) {
  const auto size = static_cast<std::int64_t>(items.size());
  std::vector<Value> names;
  for (const char32_t* name :
       {U"index", U"index0", U"first", U"last", U"length", U"revindex", U"revindex0"})
    names.push_back(Text(name));
  const Value previous = Text(U"previtem"), next = Text(U"nextitem");
  for (std::int64_t i = 0; i < size && status_.ok(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    spend(kWorkOfRound);
    const Value loop(Kind::dict);
    loop.keys().reserve(9);
    loop.items().reserve(9);
    loop.keys() = names;
    loop.items() = {i + 1, i, i == 0, i + 1 == size, size, size - i, size - i - 1};
    const auto add = [&](const Value& key, const Value& value) {
      loop.keys().push_back(key);
      loop.items().push_back(value);
    };
    if (i > 0) add(previous, items[at - 1]);
    if (i + 1 < size) add(next, items[at + 1]);
    frames_.push_back({false, {{"loop", loop}}});
    if (bind(node, items[at])) execute(node.kids[1]);
    frames_.pop_back();
    const bool stop = leave_ == Leave::loop;
    leave_ = Leave::no;
    if (stop) return;
  }
}

void Machine::assign(const Node& node, Value value) {
  if (!status_.ok()) return;
  if (!node.names.empty()) {
    Value* space = find(node.name);
    if (!space || !space->is(Kind::name_space)) {
      fail({"{% set %} of an attribute of '", node.name, "', which is no namespace"},
           Code::invalid_argument);
      return;
    }
    check_nesting(value);  // a namespace that held itself would never be given back
    spend(space->keys().size() / 8);
    if (status_.ok()) space->set(decode(node.names[0]), std::move(value));
    return;
  }
  Variables& variables = frames_.back().variables;
  spend(variables.size() / 8);
  for (auto& [name, old] : variables)
    if (name == node.name) {
      old = std::move(value);
      return;
    }
  variables.emplace_back(node.name, std::move(value));
}

Text Machine::captured(int body) {
  Text outer;
  outer.swap(out_);
  execute(body);
  outer.swap(out_);
  return outer;
}

Value Machine::filtered(int filters, Text text) {
  if (filters < 0) return made(std::move(text));
  piped_ = made(std::move(text));
  return evaluate(filters);
}

Value* Machine::find(std::string_view name) {
  spend(frames_.size() / 8);
  for (std::size_t i = frames_.size(); i-- > 0;) {
    Variables& variables = frames_[i].variables;
    spend(variables.size() / 8);
    // What was set last hides what was set before it, such as a loop's own name.
    for (std::size_t k = variables.size(); k-- > 0;)
      if (variables[k].first == name) return &variables[k].second;
    if (frames_[i].opaque) i = i > 0 ? 1 : 0;
  }
  return nullptr;
}

std::vector<Value> Machine::iterate(const Value& value) {
  std::vector<Value> out;
  if (value.generator() && value.object->used) fail("a generator that is read twice");
  if (value.generator()) value.object->used = true;
  if (value.is(Kind::list)) out = value.items();
  else if (value.is(Kind::dict)) out = value.keys();
  else if (value.is(Kind::string)) {
    spend(kWorkOfItem * value.text().size());
    for (std::size_t i = 0; i < value.text().size() && status_.ok(); ++i)
      out.push_back(Value(Text(1, value.text()[i])));
  } else if (!value.is(Kind::undefined))
    fail({"a loop over ", kind_name(value)}, Code::invalid_argument);
  spend(out.size());
  return out;
}

// Lists in lists are few deep, and none holds itself: a namespace cannot be in one.
void Machine::check_nesting(const Value& value) {
  std::vector<const Value*> level{&value}, next;
  for (int depth = 0; !level.empty(); ++depth) {
    if (depth > 70) fail("lists too deep in one another", Code::out_of_range);
    if (!status_.ok()) return;
    next.clear();
    for (const Value* v : level) {
      if (v->is(Kind::name_space)) fail("a namespace inside of another value");
      if (!v->is(Kind::list) && !v->is(Kind::dict)) continue;
      spend(v->items().size());
      if (!status_.ok()) return;  // before a short list of one long list becomes many pointers
      for (const Value& item : v->items()) next.push_back(&item);
    }
    level.swap(next);
  }
}

Value Machine::list(std::vector<Value> items) {
  const Value out(Kind::list);
  out.items() = std::move(items);
  spend(out.items().size());
  check_nesting(out);
  return out;
}

Value Machine::generator(std::vector<Value> items) {
  Value out = list(std::move(items));
  out.number = 1;
  return out;
}

// Copies are quick, and templates that append to one text make many: memory is counted apart.
Value Machine::made(Text text) {
  spend(1 + text.size() / 16);
  live_ += text.size();
  if (live_ > limit_)
    fail("the template keeps more text than this conversation calls for", Code::out_of_range);
  Value out(std::move(text));
  out.object->live = &live_;
  return out;
}

Text Machine::text_of(const Value& value) {
  switch (value.kind) {
    case Kind::undefined: return {};
    case Kind::none: return U"None";
    case Kind::boolean: return value.number ? U"True" : U"False";
    case Kind::integer: return decode(std::to_string(value.number));
    case Kind::string: spend_on(value.text()); return value.text();
    default: fail({"writes ", kind_name(value), " as text"});
  }
  return {};
}

bool Machine::take(const Arguments& arguments, std::size_t min, std::size_t max,
                   std::string_view name) {
  if (!status_.ok()) return false;
  for (const std::string& given : arguments.names)
    if (given != name) {
      refuse(arguments, " with the argument '" + given + "'");
      return false;
    }
  const std::size_t count = arguments.positional();
  if (count >= min && count <= max) return true;
  refuse(arguments, " with " + std::to_string(count) + " arguments");
  return false;
}

const Value* Machine::Arguments::named(std::string_view name) const {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return &values[positional() + i];
  return nullptr;
}

}  // namespace loom::jinja
