// What runs a template. Internal to the interpreter.
//
// Errors are sticky: after the first one every value is undefined and no statement runs, so that
// only the caller of the whole looks at status().
#pragma once

#include <span>

#include "text/jinja/jinja.h"

namespace loom::jinja {

class Machine {
 public:
  Machine(const std::vector<Node>& nodes, Variables variables);
  void run();
  const Status& status() const { return status_; }
  Text take() { return std::move(out_); }

 private:
  using Kind = Value::Kind;
  static constexpr int kMaxNesting = 150;  // of nodes in evaluation, macros included
  static constexpr std::size_t kWorkOfNode = 8, kWorkOfCall = 16;
  struct Frame {
    bool opaque;  // a macro's: below it only the first frame is seen
    Variables variables;
  };
  // Arguments of a call. `names` are those of the last values.
  struct Arguments {
    std::string_view kind, name, of;  // "filter", "trim", ""; "method", "strip", " of a string"
    std::vector<Value> values;
    std::span<const std::string> names;

    std::size_t positional() const { return values.size() - names.size(); }
    const Value* named(std::string_view name) const;
  };

  // Statements (machine.cpp)
  void execute(int node);
  void write(const Value& value);
  void if_else(const Node& node);
  void for_each(const Node& node);
  void iterate_over(const Node& node, const std::vector<Value>& items);
  bool bind(const Node& node, const Value& item);
  void assign(const Node& node, Value value);
  Text captured(int body);
  Value filtered(int filters, Text text);

  // Expressions (expressions.cpp)
  Value evaluate(int node);
  Value name(const Node& node);
  Value parts(const Node& node);
  Value attribute(const Value& object, const std::string& name);
  Value item(const Value& object, const Value& key);
  Value slice(const Node& node);
  Value arithmetic(const Node& node);
  Value comparison(const Node& node);
  bool contains(const Value& container, const Value& value);
  Value call(const Node& node);
  Value call_macro(const Node& macro, const Arguments& arguments);
  Value range(const Arguments& arguments);
  Value date(const Arguments& arguments);
  Arguments arguments(const Node& node, std::string_view kind, std::string_view name,
                      std::string_view of = {});

  // Filters, tests and methods (filters.cpp)
  Value filter(const Node& node);
  Value text_filter(const std::string& name, const Value& value, const Arguments& arguments);
  Value list_filter(const std::string& name, const Value& value, const Arguments& arguments);
  Value sorted(const Value& pairs);
  Value select(const std::string& name, const Value& value, const Arguments& arguments);
  Value join(const Value& value, const Arguments& arguments);
  bool test(const std::string& name, const Value& value, std::span<const Value> arguments);
  Value method(const Node& node);
  Value text_method(const std::string& name, const Text& text, const Arguments& arguments);
  Value dict_method(const std::string& name, const Value& dict, const Arguments& arguments);
  Value split(const Text& text, const Arguments& arguments);
  Value cased(const std::string& name, Text text);
  Value replaced(const Text& text, const Text& from, const Text& to);
  static void escape(char32_t character, Text& out);  // as JSON has it in a string
  void to_json(const Value& value, Text& out);

  Value* find(std::string_view name);
  std::vector<Value> iterate(const Value& value);
  Value list(std::vector<Value> items);
  Value generator(std::vector<Value> items);
  Value made(Text text);  // a string, its time and memory counted
  Text text_of(const Value& value);
  bool take(const Arguments& arguments, std::size_t min, std::size_t max,
            std::string_view name = {});
  void check_nesting(const Value& value);
  void spend(std::size_t work);
  void spend_on(const Text& text) { spend(text.size() / 16); }  // looked at or copied
  const Value* member(const Value& dict, const Value& key);
  bool same(const Value& a, const Value& b);
  std::size_t search(const Text& text, const Text& part, std::size_t from = 0);
  Value refuse(const Arguments& arguments, std::string_view why,
               Code code = Code::unsupported);  // "the filter 'trim'" and why
  using Words = std::initializer_list<std::string_view>;
  Value fail(std::string_view what, Code code = Code::unsupported);
  Value fail(Words what, Code code = Code::unsupported);  // put together

  const std::vector<Node>& nodes_;
  std::size_t live_ = 0;  // characters of what made() gave and is still there; outlives all values
  std::vector<Frame> frames_;
  Text out_;
  Value piped_;  // what the first filter of a block gets
  Status status_;
  std::size_t work_ = 0, limit_ = 0;
  int depth_ = 0, line_ = 0;
  enum class Leave : std::uint8_t { no, next, loop } leave_ = Leave::no;
};

}  // namespace loom::jinja
