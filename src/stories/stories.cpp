#include "stories/stories.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "base/random.h"
#include "stories/grammar.h"

namespace loom::stories {
namespace {

// Derivations from a node on depend only on which slots have rows: all rows of a table are alike to
// the count.
class Counter {
 public:
  explicit Counter(const Graph& graph) : graph_(graph) {}

  double from(std::uint32_t at, std::uint32_t bound) {
    if (at == 0) return 1;
    const auto key = std::make_pair(at, bound);
    if (const auto known = memo_.find(key); known != memo_.end()) return known->second;
    const Node& node = graph_.nodes[at];
    double count = 0;
    if (node.kind == Node::Kind::fork) {
      for (std::uint32_t i = 0; i < node.count; ++i)
        count += from(graph_.edges[node.index + i], bound);
    } else if (node.kind == Node::Kind::text || (bound >> node.slot & 1) != 0) {
      count = from(node.next, bound);
    } else {
      const std::size_t taken = static_cast<std::size_t>(std::popcount(bound & node.apart));
      count = static_cast<double>(graph_.forms[node.index].size() - taken) *
              from(node.next, bound | 1u << node.slot);
    }
    return memo_[key] = count;
  }

 private:
  const Graph& graph_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> memo_;
};

// For x >= 1: powers of ten, then a binary digit of the fraction per squaring. No libm, the same
// bits everywhere.
double log10(double x) {
  double log = 0;
  for (; x >= 10; x /= 10) log += 1;
  for (double digit = 0.5; digit > 1e-9; digit /= 2) {
    x *= x;
    if (x >= 10) {
      x /= 10;
      log += digit;
    }
  }
  return log;
}

bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\''; }

void add_words(std::string_view text, std::set<std::string>& words) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    std::string word(text.substr(i, end - i));
    i = std::max(end, i + 1);
    if (word.ends_with("'s")) word.resize(word.size() - 2);
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    if (!word.empty()) words.insert(word);
  }
}

}  // namespace

const Graph& grammar() {
  static const Graph graph = [] {
    auto compiled = compile(std::string(kWorld) + "\n\n" + std::string(kPlots));
    return compiled.ok() ? std::move(*compiled)
                         : Graph{{Node()}};  // a test compiles it and shows the error
  }();
  return graph;
}

std::string generate(std::uint64_t seed, std::uint64_t index) {
  const RandomStream random(seed, index);
  std::uint64_t draw = 0;
  return expand(grammar(), [&](std::uint32_t count) { return random.below(draw++, count); });
}

Verdict recognize(std::string_view story) {
  Parse found = parse(grammar(), story);
  Verdict verdict{found.accepted, "", found.offset};
  if (found.accepted) return verdict;
  verdict.reason = "expects ";
  for (std::size_t i = 0; i < found.expected.size(); ++i)
    verdict.reason += (i == 0 ? "" : " or ") + found.expected[i];
  const std::string_view rest = story.substr(found.offset, 24);
  verdict.reason += rest.empty() ? ", the story ends" : ", found \"" + std::string(rest) + '"';
  return verdict;
}

std::vector<std::string> vocabulary() {
  const Graph& graph = grammar();
  std::set<std::string> words;
  for (const auto& text : graph.texts) add_words(text, words);
  for (const auto& rows : graph.forms)
    for (const auto& row : rows) add_words(row, words);
  return {words.begin(), words.end()};
}

double count_derivations(const Graph& graph) { return Counter(graph).from(graph.start, 0); }

double log10_story_count() {
  static const double count = count_derivations(grammar());
  return log10(count);
}

}  // namespace loom::stories
