#include "base/json/json.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace loom {

Json::Json(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(INT64_MAX)) {
    type_ = Type::integer;
    integer_ = static_cast<std::int64_t>(value);
  } else {
    type_ = Type::real;
    real_ = static_cast<double>(value);
  }
}
Json::Json(std::string text) : type_(Type::string) { string_ = new std::string(std::move(text)); }
Json::Json(Array items) : type_(Type::array) { array_ = new Array(std::move(items)); }
Json::Json(Object members) : type_(Type::object) { object_ = new Object(std::move(members)); }

Json::Json(const Json& other) : type_(other.type_) {
  switch (type_) {
    case Type::string: string_ = new std::string(*other.string_); break;
    case Type::array: array_ = new Array(*other.array_); break;
    case Type::object: object_ = new Object(*other.object_); break;
    case Type::boolean: boolean_ = other.boolean_; break;
    case Type::real: real_ = other.real_; break;
    default: integer_ = other.integer_;
  }
}

Json::Json(Json&& other) noexcept : type_(other.type_), integer_(other.integer_) {
  other.type_ = Type::null;
}

Json& Json::operator=(Json other) noexcept {
  // `other` is ours to empty: swap representations through the widest member.
  std::swap(type_, other.type_);
  std::swap(integer_, other.integer_);
  return *this;
}

Json::~Json() { release(); }

void Json::release() {
  switch (type_) {
    case Type::string: delete string_; break;
    case Type::array: delete array_; break;
    case Type::object: delete object_; break;
    default: break;
  }
  type_ = Type::null;
}

const Json* Json::find(std::string_view key) const {
  if (type_ != Type::object) return nullptr;
  for (const Member& m : *object_)
    if (m.first == key) return &m.second;
  return nullptr;
}

Json::Json(const char* text) : Json(std::string(text)) {}
Json::Json(std::string_view text) : Json(std::string(text)) {}
Json Json::object() { return Json(Object{}); }
Json Json::array() { return Json(Array{}); }

Json& Json::set(std::string_view key, Json value) {
  for (Member& m : *object_)
    if (m.first == key) return m.second = std::move(value);
  return object_->emplace_back(key, std::move(value)).second;
}

namespace {
Status wrong_type(std::string_view key, std::string_view expected) {
  return Status(Code::invalid_argument,
                "\"" + std::string(key) + "\": expected " + std::string(expected));
}
}  // namespace

Result<std::int64_t> Json::get_integer(std::string_view key, std::int64_t fallback) const {
  const Json* v = find(key);
  if (!v || v->is_null()) return fallback;
  if (!v->is_integer()) return wrong_type(key, "an integer");
  return v->as_integer();
}
Result<double> Json::get_number(std::string_view key, double fallback) const {
  const Json* v = find(key);
  if (!v || v->is_null()) return fallback;
  if (!v->is_number()) return wrong_type(key, "a number");
  return v->as_number();
}
Result<bool> Json::get_bool(std::string_view key, bool fallback) const {
  const Json* v = find(key);
  if (!v || v->is_null()) return fallback;
  if (!v->is_bool()) return wrong_type(key, "true or false");
  return v->as_bool();
}
Result<std::string> Json::get_string(std::string_view key, std::string_view fallback) const {
  const Json* v = find(key);
  if (!v || v->is_null()) return std::string(fallback);
  if (!v->is_string()) return wrong_type(key, "a string");
  return v->as_string();
}

namespace {

// Bytes of the character at the front of `text`, which is not ASCII; 0 where it is no UTF-8
// (Unicode 15, table 3-7): a byte that begins nothing, a cut or overlong sequence, a surrogate, or
// beyond U+10FFFF.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first >= 0xC2 && first <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF)
    return within(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) &&
                   within(2, 0x80, 0xBF)
               ? 3
               : 0;
  if (first >= 0xF0 && first <= 0xF4)
    return within(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) &&
                   within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF)
               ? 4
               : 0;
  return 0;
}

class Parser {
 public:
  Parser(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  Result<Json> document() {
    if (text_.size() > limits_.max_bytes)
      return Status(Code::out_of_range, "JSON: has " + std::to_string(text_.size()) +
                                            " bytes, more than the limit of " +
                                            std::to_string(limits_.max_bytes));
    if (text_.substr(0, 3) == "\xEF\xBB\xBF")
      at_ = 3;  // RFC 8259 section 8.1 lets parsers ignore a byte order mark
    Json value;
    space();
    LOOM_TRY(parse(&value, 0));
    space();
    if (at_ != text_.size()) return error("expected the end of the text");
    return value;
  }

 private:
  Status error(std::string_view what) const {
    std::size_t line = 1, column = 1;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      if (text_[i] == '\n') {
        ++line;
        column = 1;
      } else {
        ++column;
      }
    }
    return Status(Code::corrupt, "JSON line " + std::to_string(line) + " column " +
                                     std::to_string(column) + " (offset " + std::to_string(at_) +
                                     "): " + std::string(what));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Status parse(Json* out, std::size_t depth) {
    if (at_ >= text_.size()) return error("unexpected end of the text");
    switch (text_[at_]) {
      case '{': return object(out, depth);
      case '[': return array(out, depth);
      case '"': {
        std::string s;
        LOOM_TRY(string(&s));
        *out = Json(std::move(s));
        return {};
      }
      case 't':
        if (take("true")) {
          *out = Json(true);
          return {};
        }
        break;
      case 'f':
        if (take("false")) {
          *out = Json(false);
          return {};
        }
        break;
      case 'n':
        if (take("null")) {
          *out = Json();
          return {};
        }
        break;
      default:
        if (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9')) return number(out);
    }
    return error("expected a value");
  }

  Status object(Json* out, std::size_t depth) {
    if (depth >= limits_.max_depth)
      return error("nested deeper than " + std::to_string(limits_.max_depth));
    ++at_;
    Json::Object members;
    space();
    if (peek() == '}') {
      ++at_;
      *out = Json(std::move(members));
      return {};
    }
    for (;;) {
      space();
      if (peek() != '"') return error("expected a member name");
      auto& member = members.emplace_back();
      LOOM_TRY(string(&member.first));
      space();
      if (peek() != ':') return error("expected ':'");
      ++at_;
      space();
      LOOM_TRY(parse(&member.second, depth + 1));
      space();
      if (peek() == ',') {
        ++at_;
        continue;
      }
      if (peek() == '}') {
        ++at_;
        break;
      }
      return error("expected ',' or '}'");
    }
    LOOM_TRY(unique(members));
    *out = Json(std::move(members));
    return {};
  }

  Status unique(const Json::Object& members) const {
    auto twice = [&](std::string_view key) {
      return error("the key \"" + std::string(key) + "\" stands twice");
    };
    if (members.size() <= 16) {
      for (std::size_t i = 1; i < members.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (members[i].first == members[j].first) return twice(members[i].first);
      return {};
    }
    std::unordered_set<std::string_view> seen;
    seen.reserve(members.size());
    for (const auto& m : members)
      if (!seen.insert(m.first).second) return twice(m.first);
    return {};
  }

  Status array(Json* out, std::size_t depth) {
    if (depth >= limits_.max_depth)
      return error("nested deeper than " + std::to_string(limits_.max_depth));
    ++at_;
    Json::Array items;
    space();
    if (peek() == ']') {
      ++at_;
      *out = Json(std::move(items));
      return {};
    }
    for (;;) {
      space();
      LOOM_TRY(parse(&items.emplace_back(), depth + 1));
      space();
      if (peek() == ',') {
        ++at_;
        continue;
      }
      if (peek() == ']') {
        ++at_;
        break;
      }
      return error("expected ',' or ']'");
    }
    *out = Json(std::move(items));
    return {};
  }

  Status hex4(std::uint32_t* out) {
    if (text_.size() - at_ < 4) return error("a \\u escape needs four hexadecimal digits");
    std::uint32_t v = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[at_ + i];
      const int d = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
      if (d < 0) return error("a \\u escape needs four hexadecimal digits");
      v = v * 16 + static_cast<std::uint32_t>(d);
    }
    at_ += 4;
    *out = v;
    return {};
  }

  static void append_utf8(std::string* s, std::uint32_t c) {
    auto put = [s](std::uint32_t b) { s->push_back(static_cast<char>(b)); };
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xC0 | c >> 6);
      put(0x80 | (c & 63));
    } else if (c < 0x10000) {
      put(0xE0 | c >> 12);
      put(0x80 | (c >> 6 & 63));
      put(0x80 | (c & 63));
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 63));
      put(0x80 | (c >> 6 & 63));
      put(0x80 | (c & 63));
    }
  }

  Status string(std::string* out) {
    ++at_;
    for (;;) {
      const std::size_t start = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20) {
        const std::size_t bytes =
            static_cast<unsigned char>(text_[at_]) < 0x80 ? 1 : character_bytes(text_.substr(at_));
        if (bytes == 0) return error("a string that is not UTF-8");
        at_ += bytes;
      }
      out->append(text_.substr(start, at_ - start));
      if (at_ >= text_.size()) return error("a string without an end");
      if (text_[at_] == '"') {
        ++at_;
        return {};
      }
      if (text_[at_] != '\\') return error("a control character in a string: escape it");
      ++at_;
      const char c = peek();
      ++at_;
      switch (c) {
        case '"':
        case '\\':
        case '/': out->push_back(c); break;
        case 'b': out->push_back('\b'); break;
        case 'f': out->push_back('\f'); break;
        case 'n': out->push_back('\n'); break;
        case 'r': out->push_back('\r'); break;
        case 't': out->push_back('\t'); break;
        case 'u': {
          std::uint32_t u = 0;
          LOOM_TRY(hex4(&u));
          if (u >= 0xDC00 && u < 0xE000) return error("a low surrogate without a high one");
          if (u >= 0xD800 && u < 0xDC00) {
            std::uint32_t low = 0;
            if (!take("\\u")) return error("a high surrogate without a low one");
            LOOM_TRY(hex4(&low));
            if (low < 0xDC00 || low >= 0xE000) return error("a high surrogate without a low one");
            u = 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00);
          }
          append_utf8(out, u);
          break;
        }
        default: --at_; return error("an unknown escape");
      }
    }
  }

  Status number(Json* out) {
    const std::size_t start = at_;
    auto digits = [&] {
      const std::size_t first = at_;
      while (peek() >= '0' && peek() <= '9') ++at_;
      return at_ - first;
    };
    if (peek() == '-') ++at_;
    const bool zero = peek() == '0';
    const std::size_t whole = digits();
    if (whole == 0) return error("expected a digit");
    if (zero && whole > 1) return error("a number must not start with 0");
    bool real = false;
    if (peek() == '.') {
      real = true;
      ++at_;
      if (digits() == 0) return error("expected a digit after '.'");
    }
    if (peek() == 'e' || peek() == 'E') {
      real = true;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (digits() == 0) return error("expected a digit in the exponent");
    }
    const std::string_view text = text_.substr(start, at_ - start);
    if (!real) {
      std::int64_t v;
      const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
      if (ec == std::errc() && text != "-0") {
        *out = Json(v);
        return {};
      }
    }
    double v;
    if (!parse_double(text, &v)) {
      at_ = start;
      return error("a number beyond the range of a double");
    }
    *out = Json(v);
    return {};
  }

  std::string_view text_;
  JsonLimits limits_;
  std::size_t at_ = 0;
};

void dump_string(std::string* out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out->push_back('"');
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      // What is no text (a name in a file) is written as messages write it: JSON is UTF-8.
      const std::size_t bytes = character_bytes(text.substr(i));
      if (bytes > 0) out->append(text.substr(i, bytes));
      else *out += {'\\', '\\', 'x', kHex[c >> 4 & 15], kHex[c & 15]};
      i += std::max<std::size_t>(bytes, 1) - 1;
      continue;
    }
    switch (c) {
      case '"': *out += "\\\""; break;
      case '\\': *out += "\\\\"; break;
      case '\n': *out += "\\n"; break;
      case '\r': *out += "\\r"; break;
      case '\t': *out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          *out += "\\u00";
          out->push_back(kHex[c >> 4 & 15]);
          out->push_back(kHex[c & 15]);
        } else out->push_back(c);
    }
  }
  out->push_back('"');
}

void dump_value(std::string* out, const Json& v, int indent, int level) {
  auto line = [&](int l) {
    if (indent > 0) {
      out->push_back('\n');
      out->append(static_cast<std::size_t>(indent * l), ' ');
    }
  };
  switch (v.type()) {
    case Json::Type::null: *out += "null"; break;
    case Json::Type::boolean: *out += v.as_bool() ? "true" : "false"; break;
    case Json::Type::integer: *out += std::to_string(v.as_integer()); break;
    case Json::Type::real:  // JSON has no text for NaN and infinity
      *out += v.as_number() - v.as_number() == 0 ? format_double(v.as_number()) : "null";
      break;
    case Json::Type::string: dump_string(out, v.as_string()); break;
    case Json::Type::array: {
      out->push_back('[');
      bool first = true;
      for (const Json& item : v.as_array()) {
        if (!first) out->push_back(',');
        first = false;
        line(level + 1);
        dump_value(out, item, indent, level + 1);
      }
      if (!first) line(level);
      out->push_back(']');
      break;
    }
    case Json::Type::object: {
      out->push_back('{');
      bool first = true;
      for (const auto& [key, item] : v.as_object()) {
        if (!first) out->push_back(',');
        first = false;
        line(level + 1);
        dump_string(out, key);
        *out += indent > 0 ? ": " : ":";
        dump_value(out, item, indent, level + 1);
      }
      if (!first) line(level);
      out->push_back('}');
    }
  }
}

}  // namespace

Result<Json> Json::parse(std::string_view text, const JsonLimits& limits) {
  return Parser(text, limits).document();
}

std::string Json::dump(int indent) const {
  std::string out;
  dump_value(&out, *this, indent, 0);
  return out;
}

}  // namespace loom
