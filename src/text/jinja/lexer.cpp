#include <algorithm>

#include "base/escape.h"
#include "text/jinja/syntax.h"
#include "text/unicode/utf8.h"

namespace loom::jinja {
namespace {

bool letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char32_t c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) {
    Text text = decode(source);
    for (std::size_t i = 0; i < text.size(); ++i) {  // Jinja counts every line end as one
      if (text[i] != '\r') text_ += text[i];
      else if (i + 1 == text.size() || text[i + 1] != '\n') text_ += U'\n';
    }
    if (text_.ends_with(U'\n')) text_.pop_back();  // and drops the last one
  }

  Result<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      const std::size_t open = next_tag();
      data(open);
      if (open >= text_.size()) break;
      at_ = open + 2;
      const char32_t kind = text_[open + 1];
      if (sign('-') || sign('+')) ++at_;
      if (kind == '#') LOOM_TRY(comment());
      else LOOM_TRY(tag(kind));
    }
    add(Token::Type::end);
    return std::move(tokens_);
  }

 private:
  char32_t peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0;
  }
  bool sign(char32_t c) const { return peek() == c; }
  Token& add(Token::Type type) {
    // Lines are counted as far as tokens go.
    for (; counted_ < std::min(at_, text_.size()); ++counted_) line_ += text_[counted_] == '\n';
    tokens_.push_back({type, line_, {}, {}});
    return tokens_.back();
  }
  std::size_t next_tag() const {
    for (std::size_t i = at_; i + 1 < text_.size(); ++i)
      if (text_[i] == '{' && (text_[i + 1] == '{' || text_[i + 1] == '%' || text_[i + 1] == '#'))
        return i;
    return text_.size();
  }

  // The text up to `open`, without the white space that the tag there takes away.
  void data(std::size_t open) {
    std::size_t end = open;
    const char32_t mark = open + 2 < text_.size() ? text_[open + 2] : 0;
    if (open < text_.size() && mark == '-') {
      while (end > at_ && is_space(text_[end - 1])) --end;
    } else if (open < text_.size() && mark != '+' && text_[open + 1] != '{') {
      std::size_t line = open;
      while (line > at_ && text_[line - 1] != '\n') --line;
      const bool begins = line > at_ || at_ == 0 || text_[at_ - 1] == '\n';
      if (begins && std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(line),
                                text_.begin() + static_cast<std::ptrdiff_t>(open), is_space))
        end = line;
    }
    if (end > at_) {
      Text text = text_.substr(at_, end - at_);
      add(Token::Type::data).text = std::move(text);
    }
  }

  // Behind the end of a tag: -%} takes all white space, %} one line end, }} nothing.
  void after(bool minus, bool plus, bool block) {
    if (minus) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    } else if (block && !plus && peek() == '\n') {
      ++at_;
    }
  }

  Status comment() {
    for (; at_ + 1 < text_.size(); ++at_)
      if (text_[at_] == '#' && text_[at_ + 1] == '}') {
        const char32_t before = text_[at_ - 1];
        at_ += 2;
        after(before == '-', before == '+', true);
        return {};
      }
    return error_at(line_, "a comment has no end", Code::corrupt);
  }

  Status tag(char32_t kind) {
    const bool block = kind == '%';
    const char32_t last = block ? U'%' : U'}';
    add(block ? Token::Type::block : Token::Type::variable);
    for (int depth = 0; at_ < text_.size();) {
      const bool signed_end =
          (sign('-') || (block && sign('+'))) && peek(1) == last && peek(2) == '}';
      if (depth == 0 && (signed_end || (peek() == last && peek(1) == '}'))) {
        const bool minus = sign('-'), plus = sign('+');
        add(Token::Type::close);
        at_ += signed_end ? 3 : 2;
        after(minus, plus, block);
        return {};
      }
      if (is_space(peek())) {
        ++at_;
        continue;
      }
      depth += peek() == '{' || peek() == '(' || peek() == '[';
      depth -= peek() == '}' || peek() == ')' || peek() == ']';
      LOOM_TRY(token());
    }
    return error_at(line_, "a tag has no end", Code::corrupt);
  }

  Status token() {
    const char32_t c = peek();
    if (c == '"' || c == '\'') return string(c);
    std::size_t end = at_ + 1;
    Token::Type type = Token::Type::op;
    if (letter(c) || digit(c)) {
      type = letter(c) ? Token::Type::name : Token::Type::integer;
      while (end < text_.size() && (letter(text_[end]) || digit(text_[end]))) ++end;
      if (digit(c) && (end - at_ > 18 ||
                       (end + 1 < text_.size() && text_[end] == '.' && digit(text_[end + 1]))))
        return error_at(line_, "numbers with a fraction or over 18 digits");
    } else {
      const char32_t next = peek(1);
      const bool pair = (next == '=' && (c == '=' || c == '!' || c == '<' || c == '>')) ||
                        (c == next && (c == '/' || c == '*'));
      if (pair) ++end;
      if (std::u32string_view(U"+-*/%~()[]{}.,:|=<>!").find(c) == std::u32string_view::npos)
        return error_at(line_, "the character " + quoted(encode(Text(1, c))), Code::corrupt);
    }
    Token& token = add(type);
    token.word = encode(text_.substr(at_, end - at_));
    if (digit(c) && !std::all_of(token.word.begin(), token.word.end(),
                                 [](char d) { return digit(static_cast<unsigned char>(d)); }))
      return error_at(line_, "the number " + quoted(token.word), Code::corrupt);
    at_ = end;
    return {};
  }

  // With Python's escapes; a backslash before another character stays.
  Status string(char32_t quote) {
    Text out;
    for (++at_; at_ < text_.size() && peek() != quote; ++at_) {
      if (peek() != '\\') {
        out += peek();
        continue;
      }
      const char32_t c = peek(1);
      static constexpr std::u32string_view kNames = U"ntrabfv\\'\"",
                                           kMeant = U"\n\t\r\a\b\f\v\\'\"";
      if (const std::size_t i = kNames.find(c); i != kNames.npos) {
        out += kMeant[i];
        ++at_;
      } else if (c == 'x' || c == 'u' || c == 'U') {
        LOOM_TRY(code_point(c == 'x' ? 2 : c == 'u' ? 4 : 8, out));
      } else if (c == '\n') {
        ++at_;
      } else if (digit(c) || c == 'N') {
        return error_at(line_, "octal and named escapes in strings");
      } else {
        out += U'\\';
      }
    }
    if (at_ >= text_.size()) return error_at(line_, "a string has no end", Code::corrupt);
    add(Token::Type::string).text = std::move(out);
    ++at_;
    return {};
  }
  Status code_point(std::size_t digits, Text& out) {
    char32_t point = 0;
    for (std::size_t i = 2; i < digits + 2; ++i) {
      const std::size_t value = std::u32string_view(U"0123456789abcdef").find(peek(i) | 32);
      if (value > 15 || peek(i) < '0')
        return error_at(line_, "an escape with too few digits", Code::corrupt);
      point = point << 4 | static_cast<char32_t>(value);
    }
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      return error_at(line_, "an escape that is no character");
    out += point;
    at_ += digits + 1;
    return {};
  }

  Text text_;
  std::size_t at_ = 0, counted_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view source) { return Lexer(source).run(); }

Status error_at(int line, std::string_view what, Code code) {
  return Status(code, "chat template, line " + std::to_string(line) + ": " + std::string(what));
}

}  // namespace loom::jinja
