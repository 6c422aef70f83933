// Which choices of the grammar make this text, if any: depth first, each fork once per position and
// rows taken so far. Few of these differ at one position, so the time grows with the length of the
// story.
#include <algorithm>
#include <set>
#include <utility>

#include "stories/grammar.h"

namespace loom::stories {
namespace {

class Search {
 public:
  Search(const Graph& graph, std::string_view story) : graph_(graph), story_(story) {}

  Parse run() {
    visit(graph_.start, 0, Bindings(), kRoot, 0);
    while (!open_.empty() && !parse_.accepted) {
      const std::uint32_t at = open_.back();
      open_.pop_back();
      step(at);
    }
    if (parse_.accepted) {
      parse_.offset = story_.size();
      parse_.expected.clear();
    }
    return std::move(parse_);
  }

 private:
  static constexpr std::uint32_t kRoot = ~std::uint32_t{0};
  static constexpr std::uint32_t kNoChoice = kRoot;

  struct State {
    Bindings bindings;
    std::size_t position;
    std::uint32_t node, parent, choice;  // choice: the one that led here from the parent
  };

  void visit(std::uint32_t node, std::size_t position, Bindings bindings, std::uint32_t parent,
             std::uint32_t choice) {
    const bool fork = graph_.nodes[node].kind == Node::Kind::fork;
    if (fork && !seen_.insert({{node, position}, bindings.packed()}).second) return;
    open_.push_back(static_cast<std::uint32_t>(states_.size()));
    states_.push_back({bindings, position, node, parent, choice});
  }

  void step(std::uint32_t at) {
    const State state = states_[at];
    const Node& node = graph_.nodes[state.node];
    switch (node.kind) {
      case Node::Kind::end:
        if (state.position == story_.size()) return accept(at);
        if (wanted(state.position)) expect("the end");
        return;
      case Node::Kind::text:
        if (matches(graph_.texts[node.index], state.position)) {
          visit(node.next, state.position + graph_.texts[node.index].size(), state.bindings, at,
                kNoChoice);
        }
        return;
      case Node::Kind::fork:
        for (std::uint32_t i = node.count; i-- > 0;)
          visit(graph_.edges[node.index + i], state.position, state.bindings, at, i);
        return;
      case Node::Kind::slot: {
        const auto& rows = graph_.forms[node.index];
        const std::uint32_t row = state.bindings.row(node.slot);
        if (row != Bindings::kFree) {
          if (matches(rows[row], state.position))
            visit(node.next, state.position + rows[row].size(), state.bindings, at, kNoChoice);
          return;
        }
        std::uint32_t choice = 0;
        graph_.each_free_row(node, state.bindings, [&](std::uint32_t free) {
          Bindings bindings = state.bindings;
          bindings.bind(node.slot, free);
          if (matches(rows[free], state.position))
            visit(node.next, state.position + rows[free].size(), bindings, at, choice);
          ++choice;
        });
      }
    }
  }

  bool matches(const std::string& text, std::size_t position) {
    const std::string_view rest = story_.substr(position);
    if (rest.starts_with(text)) return true;
    const std::size_t common =
        static_cast<std::size_t>(std::ranges::mismatch(text, rest).in1 - text.begin());
    if (wanted(position + common)) expect('"' + text.substr(common) + '"');
    return false;
  }

  // Whether a failure at this position is worth telling: none lies further.
  bool wanted(std::size_t position) {
    if (position > parse_.offset) parse_.expected.clear();
    parse_.offset = std::max(position, parse_.offset);
    return position == parse_.offset && parse_.expected.size() < Parse::kExpected;
  }

  void expect(const std::string& what) {
    if (std::ranges::find(parse_.expected, what) == parse_.expected.end())
      parse_.expected.push_back(what);
  }

  void accept(std::uint32_t at) {
    parse_.accepted = true;
    for (; at != kRoot; at = states_[at].parent)
      if (states_[at].parent != kRoot && states_[at].choice != kNoChoice)
        parse_.choices.push_back(states_[at].choice);
    std::ranges::reverse(parse_.choices);
  }

  const Graph& graph_;
  const std::string_view story_;
  Parse parse_;
  std::vector<State> states_;
  std::vector<std::uint32_t> open_;
  std::set<std::pair<std::pair<std::uint32_t, std::size_t>, std::uint64_t>> seen_;
};

}  // namespace

Parse parse(const Graph& graph, std::string_view story) { return Search(graph, story).run(); }

}  // namespace loom::stories
