// The grammar as a graph: compiled from text, walked by generator, recognizer and counter alike.
// Internal to the module.
//
// The text has three kinds of blocks, separated by blank lines ('#' starts a comment line):
//
//   table people name full he            rows of facts that belong together, a column each
//   Pip | Pip the rabbit | he
//
//   rule day                             alternatives that plots share, used as <day>
//   * One day
//   | One (sunny|fine) morning
//
//   plot lost hero:people friend:people!hero toy:toys     slots, each a row of a table; '!' asks
//   for another row than that slot's
//   * {Hero} had {a toy}.                a beat that is always there, and its first wording
//   | {His} best toy was {a toy}.        another wording of the same beat
//   ? {He} was glad.                     a beat that may be left out
//
// Inside a wording: (x|y|) is a choice, <rule> a rule, {slot.column} the text of a slot's row in
// that column, {slot} its first column, {column} that of the slot hero, {a slot} with its article,
// {Slot} with a capital. A slot takes its row where it is first used and keeps it to the end of the
// story: that is the whole mechanism of consistency.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom::stories {

inline constexpr int kMaxSlots = 8;   // of one plot
inline constexpr int kMaxRows = 255;  // of one table

// The row each slot has taken, a byte each.
class Bindings {
 public:
  static constexpr std::uint32_t kFree = 0xff;
  std::uint32_t row(std::uint32_t slot) const {
    return static_cast<std::uint32_t>(rows_ >> (8 * slot)) & 0xff;
  }
  void bind(std::uint32_t slot, std::uint32_t row) {
    rows_ = (rows_ & ~(std::uint64_t{0xff} << (8 * slot))) | (std::uint64_t{row} << (8 * slot));
  }
  // Whether a slot in the mask `apart` already has this row.
  bool taken(std::uint32_t row, std::uint8_t apart) const {
    for (std::uint32_t slot = 0; slot < kMaxSlots; ++slot)
      if ((apart >> slot & 1) != 0 && this->row(slot) == row) return true;
    return false;
  }
  std::uint64_t packed() const { return rows_; }

 private:
  std::uint64_t rows_ = ~std::uint64_t{0};
};

struct Node {
  enum class Kind : std::uint8_t { end, text, slot, fork };
  Kind kind = Kind::end;
  std::uint8_t slot = 0;    // slot: which
  std::uint8_t apart = 0;   // slot: mask of the slots that must have other rows
  std::uint32_t index = 0;  // text: of texts; slot: of forms; fork: of the first of its edges
  std::uint32_t count = 0;  // fork: number of edges
  std::uint32_t next =
      0;  // text, slot: the node after it; always smaller than the node's own number
};

// Acyclic; node 0 is the end of every story.
struct Graph {
  std::vector<Node> nodes;
  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> forms;  // per way of writing a column: its text in each row
  std::vector<std::uint32_t> edges;
  std::uint32_t start = 0;

  // The rows that the slot of `node` may take now, in order.
  template <class LayerContext>
  void each_free_row(const Node& node, const Bindings& bindings, LayerContext visit) const {
    for (std::uint32_t row = 0; row < forms[node.index].size(); ++row)
      if (!bindings.taken(row, node.apart)) visit(row);
  }
};

// Errors name the line of the text.
Result<Graph> compile(std::string_view grammar);

// The project's own grammar, compiled once.
const Graph& grammar();

// The story of a sequence of choices: choose(n) returns a number below n, once per fork and per
// slot that takes a row.
template <class Choose>
std::string expand(const Graph& graph, Choose choose) {
  std::string story;
  Bindings bindings;
  for (std::uint32_t at = graph.start; at != 0;) {
    const Node& node = graph.nodes[at];
    if (node.kind == Node::Kind::fork) {
      at = graph.edges[node.index + choose(node.count)];
      continue;
    }
    if (node.kind == Node::Kind::text) {
      story += graph.texts[node.index];
    } else {
      if (bindings.row(node.slot) == Bindings::kFree) {
        std::array<std::uint8_t, kMaxRows> free;
        std::uint32_t count = 0;
        graph.each_free_row(node, bindings, [&](std::uint32_t row) {
          free[count++] = static_cast<std::uint8_t>(row);
        });
        bindings.bind(node.slot, free[choose(count)]);
      }
      story += graph.forms[node.index][bindings.row(node.slot)];
    }
    at = node.next;
  }
  return story;
}

// What a search for the derivation of a text finds.
struct Parse {
  bool accepted = false;
  std::vector<std::uint32_t> choices;  // accepted: expand() makes the text of them
  std::size_t offset = 0;              // refused: the furthest byte reached
  std::vector<std::string>
      expected;  // refused: what could have stood there, at most kExpected of them
  static constexpr std::size_t kExpected = 4;
};
Parse parse(const Graph& graph, std::string_view story);

// The number of derivations.
double count_derivations(const Graph& graph);

// The grammar's text.
extern const std::string_view kWorld;  // tables and shared rules
extern const std::string_view kPlots;

}  // namespace loom::stories
