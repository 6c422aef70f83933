#include "text/pattern/pattern_parser.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace loom::text {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::uint32_t kMaxRepeat = 1000;
constexpr std::size_t kMaxPatternBytes = 1 << 16;
// Ranges that sets are put together from and sets that are compared, of the whole pattern. Two
// bytes (\W) ask for 800 ranges.
constexpr std::size_t kMaxWork = 1 << 19, kWorkOfClass = 1024, kWorkOfFolding = 128;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<PatternTree> parse() {
    if (text_.size() > kMaxPatternBytes) return refuse("longer than 65536 bytes");
    if (!utf8_valid(text_)) return Status(Code::corrupt, "pattern: not valid UTF-8");
    LOOM_ASSIGN(tree_.root, choice(0));
    if (at_ != text_.size()) return malformed("')' without '('");
    return std::move(tree_);
  }

 private:
  using Kind = PatternNode::Kind;
  using Node = Result<std::int32_t>;

  Status refuse(std::string_view what) const { return at_place(Code::unsupported, what); }
  Status malformed(std::string_view what) const { return at_place(Code::corrupt, what); }
  Status at_place(Code code, std::string_view what) const {
    return Status(code, "pattern offset " + std::to_string(at_) + ": " + std::string(what));
  }

  bool end() const { return at_ >= text_.size(); }
  bool starts(std::string_view word) const {
    return text_.substr(at_).substr(0, word.size()) == word;
  }
  bool take(std::string_view word) {
    if (!starts(word)) return false;
    at_ += word.size();
    return true;
  }
  char32_t next() { return utf8_next(text_, at_); }

  std::int32_t add(PatternNode node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<std::int32_t>(tree_.nodes.size() - 1);
  }
  bool too_much() const { return work_ > kMaxWork; }
  Status refuse_work() const {
    return refuse("too large: its character classes take more than " + std::to_string(kMaxWork) +
                  " steps to put together");
  }
  std::int32_t set_index(CharSet set) {
    work_ += tree_.sets.size();
    for (std::size_t i = 0; i < tree_.sets.size(); ++i)
      if (tree_.sets[i] == set) return static_cast<std::int32_t>(i);
    tree_.sets.push_back(std::move(set));
    return static_cast<std::int32_t>(tree_.sets.size() - 1);
  }
  std::int32_t set_node(CharSet set) {
    return add({.kind = Kind::set, .set = set_index(std::move(set))});
  }
  // The class of an escape, by its letter and the categories of \p. Patterns name the same few many
  // times, so each is put together once.
  const CharSet* class_of(char letter, std::uint32_t categories, bool negated) {
    work_ += kWorkOfClass;
    const auto [at, first] = classes_.try_emplace({letter, categories, negated});
    CharSet& set = at->second;
    if (!first) return &set;
    switch (letter) {
      case 's': set = CharSet::whitespace(); break;
      case 'd': set = CharSet::with_attributes(*category_bits("Nd"), 0); break;
      case 'w': set = CharSet::with_attributes(0, kPatternWord); break;
      case 'h':
        set.add('0', '9');
        set.add('A', 'F');
        set.add('a', 'f');
        break;
      default: set = CharSet::with_attributes(categories, 0);
    }
    if (negated) set = set.complement();
    return &set;
  }
  CharSet folded(CharSet set) {
    if (!fold_) return set;
    work_ += kWorkOfFolding;
    return set.with_case_variants();
  }

  Node choice(int depth) {
    if (depth > kMaxDepth) return refuse("groups nested deeper than 64");
    const bool outer_fold = fold_;
    std::vector<std::int32_t> options;
    do {
      LOOM_ASSIGN(options.emplace_back(), sequence(depth));
    } while (take("|"));
    fold_ = outer_fold;  // (?i) holds to the end of its group
    if (options.size() == 1) return options[0];
    return add({.kind = Kind::choice, .children = std::move(options)});
  }

  Node sequence(int depth) {
    std::vector<std::int32_t> items;
    while (!end() && text_[at_] != '|' && text_[at_] != ')') {
      if (too_much()) return refuse_work();
      LOOM_ASSIGN(const std::int32_t item, atom(depth));
      LOOM_ASSIGN(items.emplace_back(), quantified(item));
    }
    if (items.size() == 1) return items[0];
    return add({.kind = Kind::sequence, .children = std::move(items)});
  }

  Node quantified(std::int32_t item) {
    for (int depth = 0;; ++depth) {
      std::uint32_t min = 0, max = 0;
      bool counted = false;
      if (take("?")) {
        max = 1;
      } else if (take("*")) {
        max = kUnbounded;
      } else if (take("+")) {
        min = 1;
        max = kUnbounded;
      } else {
        LOOM_ASSIGN(counted, counts(&min, &max));
        if (!counted) return item;
      }
      if (depth == kMaxDepth) return refuse("more than 64 quantifiers in a row");
      // In Oniguruma's syntax a '+' after {m,n} repeats the whole; after the others it is
      // possessive.
      if (starts("+") && !counted) return refuse("possessive quantifier");
      const bool lazy = take("?");
      item =
          add({.kind = Kind::repeat, .greedy = !lazy, .children = {item}, .min = min, .max = max});
    }
  }

  // {m} {m,} {,n} {m,n}; anything else that begins with '{' is a literal brace.
  Result<bool> counts(std::uint32_t* min, std::uint32_t* max) {
    if (!starts("{")) return false;
    std::size_t i = at_ + 1;
    bool any = false, overflow = false;
    const auto number = [&](std::uint32_t* out) {
      const std::size_t first = i;
      *out = 0;
      for (; i < text_.size() && text_[i] >= '0' && text_[i] <= '9'; ++i) {
        *out = *out * 10 + static_cast<std::uint32_t>(text_[i] - '0');
        if (*out > kMaxRepeat) {
          overflow = true;
          *out = kMaxRepeat;
        }
      }
      any = any || i != first;
      return i != first;
    };
    number(min);
    *max = *min;
    if (i < text_.size() && text_[i] == ',') {
      ++i;
      if (!number(max)) *max = kUnbounded;
    }
    if (!any || i >= text_.size() || text_[i] != '}') return false;
    if (overflow) return refuse("a repetition count above 1000");
    if (*min > *max) return malformed("a repetition with its larger count first");
    at_ = i + 1;
    return true;
  }

  Node atom(int depth) {
    if (take("(")) return group(depth);
    if (starts("[")) {
      ++at_;
      LOOM_ASSIGN(CharSet set, bracket(0));
      return set_node(std::move(set));
    }
    if (take(".")) return set_node(CharSet('\n', '\n').complement());
    if (take("$"))
      return add({.kind = Kind::look, .accepts_end = true, .set = set_index(CharSet('\n', '\n'))});
    if (take("\\z"))
      return add({.kind = Kind::look, .accepts_end = true, .set = set_index(CharSet())});
    if (starts("\\")) {
      LOOM_ASSIGN(const Escape e, escape());
      if (e.set) return set_node(*e.set);
      return set_node(folded(CharSet(e.point, e.point)));
    }
    if (starts("^")) return refuse("the anchor ^");
    if (starts("*") || starts("+") || starts("?"))
      return malformed("a quantifier without something to repeat");
    const char32_t c = next();
    return set_node(folded(CharSet(c, c)));
  }

  Node group(int depth) {
    if (take("?")) {
      if (take("=")) return look(depth, false);
      if (take("!")) return look(depth, true);
      if (starts("<=") || starts("<!")) return refuse("lookbehind");
      if (starts(">")) return refuse("atomic group");
      if (starts("<") || starts("P") || starts("'")) return refuse("named group");
      const bool outer = fold_;
      bool on = true;
      for (;; ++at_) {
        if (end()) return malformed("a group without an end");
        const char c = text_[at_];
        if (c == '-') on = false;
        else if (c == 'i') fold_ = on;
        else break;
      }
      if (take(")")) return add({.kind = Kind::sequence});  // (?i): until the group around it ends
      if (!take(":")) return refuse("a group option other than i");
      LOOM_ASSIGN(std::int32_t node, closed(depth));
      fold_ = outer;
      return node;
    }
    return closed(depth);
  }

  Node closed(int depth) {
    LOOM_ASSIGN(std::int32_t node, choice(depth + 1));
    if (!take(")")) return malformed("a group without an end");
    return node;
  }

  Node look(int depth, bool negative) {
    LOOM_ASSIGN(std::int32_t node, closed(depth));
    // One class, or a choice of classes such as (?!\r|\n).
    CharSet set;
    const PatternNode top = tree_.nodes[static_cast<std::size_t>(node)];
    for (const std::int32_t option :
         top.kind == Kind::choice ? top.children : std::vector<std::int32_t>{node}) {
      const PatternNode& leaf = tree_.nodes[static_cast<std::size_t>(option)];
      if (leaf.kind != Kind::set) return refuse("lookahead at more than one character");
      gather(tree_.sets[static_cast<std::size_t>(leaf.set)], set);
      if (too_much()) return refuse_work();
    }
    set.normalize();
    if (negative) set = set.complement();
    return add({.kind = Kind::look, .accepts_end = negative, .set = set_index(std::move(set))});
  }

  void gather(const CharSet& from, CharSet& into) {
    work_ += from.ranges().size();
    into.add(from);
  }

  struct Escape {
    const CharSet* set = nullptr;  // of a class; null: a code point
    char32_t point = 0;
  };

  Result<Escape> escape() {
    ++at_;
    if (end()) return malformed("a backslash at the end");
    const char32_t c = next();
    const auto point = [](char32_t p) { return Escape{nullptr, p}; };
    switch (c) {
      case 'n': return point('\n');
      case 'r': return point('\r');
      case 't': return point('\t');
      case 'f': return point('\f');
      case 'v': return point('\v');
      case 'a': return point('\a');
      case 'e': return point(27);
      case 's':
      case 'd':
      case 'w':
      case 'h': return Escape{class_of(static_cast<char>(c), 0, false)};
      case 'S':
      case 'D':
      case 'W':
      case 'H': return Escape{class_of(static_cast<char>(c - 'A' + 'a'), 0, true)};
      case 'p':
      case 'P': return property(c == 'P');
      case 'x': {
        LOOM_ASSIGN(const char32_t p,
                    take("{") ? hexadecimal(1, 8, true) : hexadecimal(1, 2, false));
        return point(p);
      }
      case 'u': {
        LOOM_ASSIGN(const char32_t p, hexadecimal(4, 4, false));
        return point(p);
      }
      default: break;
    }
    if (c < 0x80 && (attributes(c) & kPatternWord) != 0 && c != '_')
      return refuse("escape \\" + std::string(1, static_cast<char>(c)));
    return point(c);
  }

  Result<char32_t> hexadecimal(int min, int max, bool braced) {
    char32_t value = 0;
    int digits = 0;
    for (; digits < max && !end(); ++digits, ++at_) {
      const char c = text_[at_];
      const int d = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
      if (d < 0) break;
      value = value * 16 + static_cast<char32_t>(d);
    }
    if (digits < min || value > kLastPoint || (braced && !take("}")))
      return malformed("a code point in hexadecimal is wrong");
    return value;
  }

  Result<Escape> property(bool negated) {
    std::string_view name;
    if (take("{")) {
      const std::size_t close = text_.find('}', at_);
      if (close == std::string_view::npos) return malformed("\\p{ without }");
      name = text_.substr(at_, close - at_);
      at_ = close + 1;
      if (!name.empty() && name[0] == '^') {
        negated = !negated;
        name.remove_prefix(1);
      }
    } else if (!end()) {
      name = text_.substr(at_++, 1);
    }
    static constexpr std::pair<std::string_view, std::string_view> kLongNames[] = {
        {"Letter", "L"},
        {"Mark", "M"},
        {"Number", "N"},
        {"Punctuation", "P"},
        {"Symbol", "S"},
        {"Separator", "Z"},
        {"Other", "C"},
        {"Uppercase_Letter", "Lu"},
        {"Lowercase_Letter", "Ll"},
        {"Decimal_Number", "Nd"}};
    for (const auto& [full, brief] : kLongNames)
      if (name == full) name = brief;
    const auto bits = category_bits(name);
    if (!bits) return refuse("property \\p{" + std::string(name) + "}");
    return Escape{class_of('p', *bits, negated)};
  }

  // After '['.
  Result<CharSet> bracket(int depth) {
    if (depth > kMaxDepth) return refuse("classes nested deeper than 64");
    const bool negated = take("^");
    // Of the part up to the next &&, put in order at its end. (?i) folds `letters` alone, no
    // classes.
    CharSet all, set, letters;
    std::vector<const CharSet*> classes;  // gathered in the part: again they would add nothing
    bool intersecting = false, first = true;
    const auto close_part = [&] {
      letters.normalize();
      gather(folded(std::move(letters)), set);
      set.normalize();
      work_ += set.ranges().size() + all.ranges().size();
      all = intersecting ? all.intersected(set) : std::move(set);
      set = letters = CharSet();
      classes.clear();
    };
    for (;; first = false) {
      if (too_much()) return refuse_work();
      if (end()) return malformed("a class without ]");
      if (starts("]") && !first) {
        ++at_;
        break;
      }
      if (take("&&")) {
        close_part();
        intersecting = true;
        continue;
      }
      if (starts("[:")) return refuse("POSIX class");
      if (take("[")) {
        LOOM_ASSIGN(const CharSet inner, bracket(depth + 1));
        gather(inner, set);
        continue;
      }
      LOOM_ASSIGN(const Escape low, class_point());
      if (low.set) {
        if (std::find(classes.begin(), classes.end(), low.set) != classes.end()) continue;
        classes.push_back(low.set);
        gather(*low.set, set);
        continue;
      }
      char32_t last = low.point;
      if (starts("-") && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        const std::size_t dash = at_++;
        if (starts("[")) {
          at_ = dash;
        } else {
          LOOM_ASSIGN(const Escape high, class_point());
          if (high.set) return refuse("a range that ends in a class");
          if (high.point < low.point) return malformed("a range with its larger end first");
          last = high.point;
        }
      }
      letters.add(low.point, last);
    }
    close_part();
    return negated ? all.complement() : all;
  }

  Result<Escape> class_point() {
    if (starts("\\")) {
      if (starts("\\b")) {
        at_ += 2;
        return Escape{nullptr, '\b'};
      }
      return escape();
    }
    return Escape{nullptr, next()};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool fold_ = false;
  std::size_t work_ = 0;
  std::map<std::tuple<char, std::uint32_t, bool>, CharSet> classes_;  // class_of()
  PatternTree tree_;
};

}  // namespace

Result<PatternTree> parse_pattern(std::string_view pattern) { return Parser(pattern).parse(); }

}  // namespace loom::text
