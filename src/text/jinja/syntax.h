// The tree of a template. Internal to the interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/jinja/value.h"

namespace loom::jinja {

struct Token {
  enum class Type : std::uint8_t {
    data,      // what stands between tags
    variable,  // {{
    block,     // {%
    close,     // }} or %}
    name,
    string,
    integer,
    op,
    end
  };
  Type type = Type::end;
  int line = 0;
  std::string word;  // name, integer, op
  Text text;         // data, string
};
// White space as with trim_blocks and lstrip_blocks, which chat templates are written for.
Result<std::vector<Token>> tokens_of(std::string_view source);

// `kids` are nodes by number, -1 where a part is left out; `name` and `names` as said.
enum class Op : std::uint8_t {
  // Statements
  data,          // `value`
  print,         // [expression]
  body,          // statements
  if_else,       // [condition, body]..., [body]
  for_each,      // [list, body, else, condition]; names: targets
  set,           // [expression]; name, or name and names[0]: an attribute of a namespace
  set_block,     // [body, filters]; as set
  filter_block,  // [body, filters]
  scope,         // [body]: what it sets is gone behind it
  macro,         // [body, defaults of the last parameters...]; names: parameters
  break_loop,
  continue_loop,
  // Expressions
  constant,   // `value`
  name,       // name
  list,       // kids
  dict,       // [key, value]...
  attribute,  // [object]; name
  item,       // [object, key]
  slice,      // [object, from, to, step]
  call,       // [callee, arguments...]; names: keywords, of the last arguments
  method,     // [object, arguments...]; name; names as call
  filter,     // as method; the object may be -1: what the block wrote
  test,       // as method
  negative,
  not_true,
  both,        // and
  either,      // or
  arithmetic,  // name: + - * // % ~
  comparison,  // name: == != < <= > >= in
  choice,      // [condition, value, other]
};
struct Node {
  Op op = Op::body;
  int line = 0;
  Value value;
  std::string name;
  std::vector<std::string> names;
  std::vector<int> kids;
};

// Nodes, the last of them the template's body. Errors: unsupported, naming what this build lacks;
// corrupt where the text is no template.
Result<std::vector<Node>> parse(std::string_view source);
Status error_at(int line, std::string_view what, Code code = Code::unsupported);

}  // namespace loom::jinja
