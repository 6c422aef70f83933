// A parser by recursive descent, with Jinja's precedences.
#include <algorithm>

#include "base/escape.h"
#include "text/jinja/syntax.h"

namespace loom::jinja {
namespace {

constexpr int kMaxDepth = 100;  // of expressions and blocks in one another

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<std::vector<Node>> run() {
    body({});
    if (status_.ok() && !at(Token::Type::end)) fail("a tag stands where none can");
    if (!status_.ok()) return status_;
    return std::move(nodes_);
  }

 private:
  using Names = std::initializer_list<std::string_view>;

  // After the first error everything reads as the end of the template.
  const Token& peek(std::size_t ahead = 0) const {
    return status_.ok() ? tokens_[std::min(at_ + ahead, tokens_.size() - 1)] : tokens_.back();
  }
  bool at(Token::Type type) const { return peek().type == type; }
  bool at_word(Token::Type type, std::string_view word) const {
    return at(type) && peek().word == word;
  }
  bool at_name(std::string_view word) const { return at_word(Token::Type::name, word); }
  bool at_op(std::string_view word) const { return at_word(Token::Type::op, word); }
  const Token& take() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool take_word(Token::Type type, std::string_view word) {
    return at_word(type, word) && (take(), true);
  }
  bool take_name(std::string_view word) { return take_word(Token::Type::name, word); }
  bool take_op(std::string_view word) { return take_word(Token::Type::op, word); }
  void expect(Token::Type type, std::string_view word) {
    if (!take_word(type, word)) wrong(quoted(word));
  }
  void expect_op(std::string_view word) { expect(Token::Type::op, word); }
  void expect_close() {
    if (at(Token::Type::close)) take();
    else wrong("the end of the tag");
  }
  const std::string& identifier() {
    if (!at(Token::Type::name)) wrong("a name");
    return take().word;
  }
  void wrong(std::string_view expected) {
    const Token& t = peek();
    const std::string found = at(Token::Type::string)  ? "a string"
                              : at(Token::Type::end)   ? "the end of the template"
                              : at(Token::Type::close) ? "the end of the tag"
                                                       : quoted(t.word);
    fail({"expected ", expected, ", found ", found}, Code::corrupt);
  }
  int fail(Names what, Code code = Code::unsupported) {
    std::string text;
    for (const std::string_view word : what) text += word;
    if (status_.ok()) status_ = error_at(peek().line, text, code);
    return -1;
  }
  int fail(std::string_view what, Code code = Code::unsupported) { return fail({what}, code); }
  void deeper() {
    if (++depth_ > kMaxDepth) fail("blocks and expressions over 100 deep");
  }

  Node node(Op op) const {
    Node n;
    n.op = op;
    n.line = peek().line;
    return n;
  }
  int add(Node n) {
    nodes_.push_back(std::move(n));
    return static_cast<int>(nodes_.size()) - 1;
  }
  int add(Op op, std::initializer_list<int> kids, std::string_view name = {}) {
    Node n = node(op);
    n.kids = std::move(kids);
    n.name = name;
    return add(std::move(n));
  }

  // Statements up to a block tag with one of these names, of which the name is read, too. An empty
  // list: up to the end.
  int body(const Names& ends) {
    Node n = node(Op::body);
    deeper();
    while (status_.ok() && !at(Token::Type::end)) {
      if (at(Token::Type::data)) {
        Node data = node(Op::data);
        data.value = Value(take().text);
        n.kids.push_back(add(std::move(data)));
      } else if (at(Token::Type::variable)) {
        take();
        n.kids.push_back(add(Op::print, {tuple()}));
        expect_close();
      } else {
        take();
        ended_by_ = identifier();
        if (std::find(ends.begin(), ends.end(), ended_by_) != ends.end()) break;
        n.kids.push_back(statement(ended_by_));
      }
    }
    if (status_.ok() && ends.size() > 0 && at(Token::Type::end))
      fail({"a block has no {% ", std::data(ends)[ends.size() - 1], " %}"}, Code::corrupt);
    --depth_;
    return add(std::move(n));
  }
  int whole_block(std::string_view end) {
    expect_close();
    const int b = body({end});
    expect_close();
    return b;
  }

  int statement(const std::string& name) {
    if (name == "if") return if_else();
    if (name == "for") return for_each();
    if (name == "set") return set();
    if (name == "macro") return macro();
    if (name == "generation") return add(Op::scope, {whole_block("endgeneration")});
    if (name == "break" || name == "continue") {
      if (!loops_) fail({"{% ", name, " %} outside of a loop"}, Code::corrupt);
      expect_close();
      return add(name == "break" ? Op::break_loop : Op::continue_loop, {});
    }
    if (name == "filter") {
      const int filters = filter(-1, true);
      return add(Op::filter_block, {whole_block("endfilter"), filters});
    }
    return fail({"the tag {% ", name,
                 " %}; known are if, for, set, macro, filter, break, continue "
                 "and generation"});
  }

  int if_else() {
    Node n = node(Op::if_else);
    do {
      n.kids.push_back(tuple());
      expect_close();
      n.kids.push_back(body({"elif", "else", "endif"}));
    } while (status_.ok() && ended_by_ == "elif");
    if (ended_by_ == "else") n.kids.push_back(whole_block("endif"));
    else expect_close();
    return add(std::move(n));
  }

  int for_each() {
    Node n = node(Op::for_each);
    do n.names.push_back(identifier());
    while (take_op(","));
    expect(Token::Type::name, "in");
    const int list = either();
    const int condition = take_name("if") ? either() : -1;
    if (at_name("recursive")) fail("recursive loops");
    expect_close();
    ++loops_;
    const int inside = body({"else", "endfor"});
    --loops_;
    const int other = ended_by_ == "else" ? whole_block("endfor") : -1;
    if (other < 0) expect_close();
    n.kids = {list, inside, other, condition};
    return add(std::move(n));
  }

  int set() {
    Node n = node(Op::set);
    n.name = identifier();
    if (take_op(".")) n.names.push_back(identifier());
    if (at_op(",")) fail("{% set %} of several names");
    if (take_op("=")) {
      n.kids = {tuple()};
      expect_close();
    } else {
      n.op = Op::set_block;
      const int filters = at_op("|") ? filter(-1, false) : -1;
      n.kids = {whole_block("endset"), filters};
    }
    return add(std::move(n));
  }

  int macro() {
    Node n = node(Op::macro);
    if (loops_ || macros_) fail("macros inside of loops and macros");
    n.name = identifier();
    n.kids.push_back(-1);
    expect_op("(");
    while (status_.ok() && !take_op(")")) {
      n.names.push_back(identifier());
      if (take_op("=")) n.kids.push_back(expression());
      else if (n.kids.size() > 1)
        fail("a parameter with a default before one without", Code::corrupt);
      if (!at_op(")")) expect_op(",");
    }
    ++macros_;
    n.kids[0] = whole_block("endmacro");
    --macros_;
    return add(std::move(n));
  }

  // What print, if and set take: an expression, or several with commas between, a tuple.
  int tuple() {
    const int first = expression();
    if (!at_op(",")) return first;
    Node n = node(Op::list);
    n.kids.push_back(first);
    while (take_op(",") && !at(Token::Type::close)) n.kids.push_back(expression());
    return add(std::move(n));
  }

  int expression() {
    deeper();
    int value = either();
    while (take_name("if")) {
      const int condition = either();
      const int other = take_name("else") ? expression() : -1;
      value = add(Op::choice, {condition, value, other});
    }
    --depth_;
    return value;
  }
  int either() {
    int left = both();
    while (take_name("or")) left = add(Op::either, {left, both()});
    return left;
  }
  int both() {
    int left = not_true();
    while (take_name("and")) left = add(Op::both, {left, not_true()});
    return left;
  }
  int not_true() {
    bool odd = false, any = false;
    for (; take_name("not"); any = true) odd = !odd;
    int value = comparison();
    if (any && !odd) value = add(Op::not_true, {value});
    return any ? add(Op::not_true, {value}) : value;
  }
  bool compares() const {
    return at_op("==") || at_op("!=") || at_op("<") || at_op("<=") || at_op(">") || at_op(">=");
  }
  int comparison() {
    const int left = sum();
    const bool op = compares();
    const bool negated =
        at_name("not") && peek(1).type == Token::Type::name && peek(1).word == "in";
    if (!op && !negated && !at_name("in")) return left;
    if (negated) take();
    const std::string& name = take().word;
    const int value = add(Op::comparison, {left, sum()}, name);
    if (at_name("in") || compares()) fail("comparisons in a row");
    return negated ? add(Op::not_true, {value}) : value;
  }
  int sum() {
    int left = joined();
    while (at_op("+") || at_op("-")) {
      const std::string& name = take().word;
      left = add(Op::arithmetic, {left, joined()}, name);
    }
    return left;
  }
  int joined() {
    int left = product();
    while (take_op("~")) left = add(Op::arithmetic, {left, product()}, "~");
    return left;
  }
  int product() {
    int left = unary(true);
    while (at_op("*") || at_op("/") || at_op("//") || at_op("%")) {
      const std::string& name = take().word;
      left = add(Op::arithmetic, {left, unary(true)}, name);
    }
    return left;
  }
  int unary(bool filters) {
    deeper();
    int value = -1;
    if (take_op("-")) value = add(Op::negative, {unary(false)});
    else if (take_op("+")) value = unary(false);
    else value = postfix(primary());
    --depth_;
    if (at_op("**")) fail("powers");
    return filters ? filter(value, false) : value;
  }

  int primary() {
    Node n = node(Op::constant);
    if (at(Token::Type::name)) {
      n.name = take().word;
      const std::string& word = n.name;
      if (word == "true" || word == "True") n.value = true;
      else if (word == "false" || word == "False") n.value = false;
      else if (word == "none" || word == "None") n.value = Value(Value::Kind::none);
      else n.op = Op::name;
      return add(std::move(n));
    }
    if (at(Token::Type::string)) {
      Text text = take().text;
      while (at(Token::Type::string)) text += take().text;
      n.value = std::move(text);
      return add(std::move(n));
    }
    if (at(Token::Type::integer)) {
      std::int64_t number = 0;
      for (const char digit : take().word) number = number * 10 + (digit - '0');
      n.value = number;
      return add(std::move(n));
    }
    if (take_op("[")) return items(Op::list, "]");
    if (take_op("{")) return items(Op::dict, "}");
    if (!take_op("(")) {
      wrong("a value");
      return -1;
    }
    if (at_op(")")) return items(Op::list, ")");
    const int first = expression();
    if (take_op(")")) return first;
    expect_op(",");
    const int rest = items(Op::list, ")");
    if (rest >= 0) {
      auto& kids = nodes_[static_cast<std::size_t>(rest)].kids;
      kids.insert(kids.begin(), first);
    }
    return rest;
  }
  int items(Op op, std::string_view end) {
    Node n = node(op);
    while (status_.ok() && !take_op(end)) {
      n.kids.push_back(expression());
      if (op == Op::dict) {
        expect_op(":");
        n.kids.push_back(expression());
      }
      if (!at_op(end)) expect_op(",");
    }
    return add(std::move(n));
  }

  int postfix(int value) {
    while (status_.ok()) {
      if (take_op(".")) {
        const bool number = at(Token::Type::integer);
        if (number) return fail("an index behind a dot");
        const std::string& name = identifier();
        if (take_op("(")) value = arguments(Op::method, value, name);
        else value = add(Op::attribute, {value}, name);
      } else if (take_op("[")) {
        value = subscript(value);
      } else if (take_op("(")) {
        value = arguments(Op::call, value, {});
      } else {
        break;
      }
    }
    return value;
  }
  int subscript(int value) {
    int part[3] = {-1, -1, -1};
    int count = 0;
    for (; status_.ok() && count < 3; ++count) {
      if (!at_op(":") && !at_op("]")) part[count] = expression();
      if (!take_op(":")) break;
    }
    expect_op("]");
    if (count > 0) return add(Op::slice, {value, part[0], part[1], part[2]});
    if (part[0] < 0) wrong("an index");
    return add(Op::item, {value, part[0]});
  }
  // Behind the opening parenthesis.
  int arguments(Op op, int first, std::string_view name) {
    Node n = node(op);
    n.name = name;
    n.kids.push_back(first);
    while (status_.ok() && !take_op(")")) {
      if (at_op("*") || at_op("**")) fail("arguments with a star");
      if (at(Token::Type::name) && peek(1).type == Token::Type::op && peek(1).word == "=") {
        n.names.push_back(identifier());
        take();
      } else if (!n.names.empty()) {
        fail("an argument without a name behind one with a name", Code::corrupt);
      }
      n.kids.push_back(expression());
      if (!at_op(")")) expect_op(",");
    }
    return add(std::move(n));
  }

  // `begun`: the first filter stands without its bar.
  int filter(int value, bool begun) {
    while (status_.ok()) {
      if (begun || take_op("|")) {
        begun = false;
        const std::string& name = identifier();
        if (take_op("(")) value = arguments(Op::filter, value, name);
        else value = add(Op::filter, {value}, name);
      } else if (take_name("is")) {
        const bool negated = take_name("not");
        const std::string& name = identifier();
        if (take_op("(")) value = arguments(Op::test, value, name);
        else if (at(Token::Type::string) || at(Token::Type::integer))
          value = add(Op::test, {value, primary()}, name);
        else value = add(Op::test, {value}, name);
        if (negated) value = add(Op::not_true, {value});
      } else {
        break;
      }
    }
    return value;
  }

  std::vector<Token> tokens_;
  std::vector<Node> nodes_;
  std::size_t at_ = 0;
  int depth_ = 0, loops_ = 0, macros_ = 0;
  std::string ended_by_;
  Status status_;
};

}  // namespace

Result<std::vector<Node>> parse(std::string_view source) {
  LOOM_ASSIGN(std::vector<Token> tokens, tokens_of(source));
  return Parser(std::move(tokens)).run();
}

}  // namespace loom::jinja
