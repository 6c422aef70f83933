// Which cells come before which: what arrives where, and cycles.
#include <algorithm>
#include <set>

#include "base/message.h"
#include "grid/network.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

}  // namespace

std::vector<std::vector<std::int64_t>> Network::arrivals() const {
  std::vector<std::vector<std::int64_t>> list(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const bool reads = std::any_of(node.links.begin(), node.links.end(),
                                   [](const Link& l) { return l.kind == LinkKind::read; });
    if (!reads || node.keep_previous) list[i].push_back(static_cast<std::int64_t>(i) - 1);
    for (const Link& link : node.links)
      if (link.kind == LinkKind::read)
        list[i].push_back(static_cast<std::int64_t>(index(link.cell)));
  }
  // Sends come after all that a cell takes itself.
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (const Link& link : nodes_[i].links)
      if (link.kind == LinkKind::send)
        list[index(link.cell)].push_back(static_cast<std::int64_t>(i));
  return list;
}

Result<std::vector<std::size_t>> Network::order() const {
  return order(std::vector<Shape>(nodes_.size()));
}

Result<std::vector<std::size_t>> Network::order(const std::vector<Shape>& given) const {
  const std::size_t n = nodes_.size();
  const auto arriving = arrivals();
  std::vector<int> missing(n, 0);
  std::vector<std::vector<std::size_t>> readers(n);
  for (std::size_t i = 0; i < n; ++i)
    for (const std::int64_t from : arriving[i])
      if (from >= 0 && given[static_cast<std::size_t>(from)] == Shape{}) {
        readers[static_cast<std::size_t>(from)].push_back(i);
        ++missing[i];
      }
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < n; ++i)
    if (missing[i] == 0) ready.insert(i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t i = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(i);
    for (std::size_t r : readers[i])
      if (--missing[r] == 0) ready.insert(r);
  }
  if (order.size() == n) return order;
  return cycle(arriving, missing);
}

// Follows unfinished arrivals backwards until a cell repeats.
Status Network::cycle(const std::vector<std::vector<std::int64_t>>& arriving,
                      const std::vector<int>& missing) const {
  std::size_t at = 0;
  while (missing[at] == 0) ++at;
  std::vector<std::size_t> trail;
  std::vector<bool> seen(nodes_.size(), false);
  while (!seen[at]) {
    trail.push_back(at);
    seen[at] = true;
    at = static_cast<std::size_t>(
        *std::find_if(arriving[at].begin(), arriving[at].end(), [&](std::int64_t from) {
          return from >= 0 && missing[static_cast<std::size_t>(from)] > 0;
        }));
  }
  std::string text = coordinate(at).to_string();
  for (std::size_t i = trail.size(); i-- > 0;) {
    text += " -> " + coordinate(trail[i]).to_string();
    if (trail[i] == at) break;
  }
  if (step_mesh)
    return bad(message("the links form a cycle in which no cell says what it gives: ", text,
                       ": give one of them a \"shape\", as in \"shape\": [8]"));
  return bad(message("the links form a cycle, which a plain pass cannot run: ", text,
                     ": with \"step_mesh\": true the cells run by ticks"));
}

// What a cell gives as far as that is said before it is known what arrives: by its "shape", or by
// its layer. Nothing: Shape{}.
Shape Network::declared(std::size_t cell) const {
  const Node& node = nodes_[cell];
  if (node.shape.size() == 1) return {node.shape[0]};
  if (!node.shape.empty()) {
    const auto shape = Shape::of(node.shape);
    return shape.ok() ? *shape : Shape{};
  }
  const Node& run = nodes_[executed(cell)];
  return passes(cell) ? Shape{} : Shape{run.type->width(*run.config)};
}

Status Network::as_declared(std::size_t cell, const Shape& given) const {
  const Shape& out = outputs_[cell];
  if (out.width == given.width && out.ids == given.ids && out.dims == given.dims) return {};
  const std::string what = coordinate(cell).to_string() + ": gives " + out.to_string();
  if (!nodes_[cell].shape.empty())
    return bad(message(what, ", and its \"shape\" says ", given.to_string()));
  return bad(message(what, ", and cells in a cycle took it to give ", given.to_string(),
                     ": say what it gives by \"shape\""));
}

}  // namespace loom
