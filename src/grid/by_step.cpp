// A network as a decoder runs it: one step of its target at a time.
#include <algorithm>

#include "base/message.h"
#include "grid/network.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

// Whether a row of `step` is one of the `steps` of `whole`, or does not depend on them.
bool is_step(const Shape& whole, const Shape& step, std::int64_t steps) {
  if (whole.parts.size() != step.parts.size()) return false;
  for (std::size_t i = 0; i < whole.parts.size(); ++i)
    if (!is_step(whole.parts[i], step.parts[i], steps)) return false;
  if (!whole.parts.empty()) return true;
  if (step.axis != Axis::positions) return whole.dims == step.dims && whole.count() == step.count();
  return !whole.dims.empty() && whole.dims[0] == steps &&
         whole.dims.size() == (step.ids > 0 ? 1 : 2) && whole.count() == steps * step.count() &&
         whole.axis != Axis::channels;
}

Result<std::size_t> part_of(const Shape& input, std::string_view target) {
  std::vector<std::string_view> names;
  for (const Shape& part : input.parts) names.push_back(part.name);
  const auto at = std::find(names.begin(), names.end(), target);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  if (names.empty())
    return bad(message("an encoder-decoder has several inputs, and this network takes ",
                       input.to_string()));
  return bad(message("no input is named \"", target, "\", it has ", input.to_string(),
                     nearest(target, names)));
}

}  // namespace

Result<Network> Network::by_step(std::string_view target) const {
  if (version_ == 1) return bad("networks of version 1 have no steps in a row");
  if (step_mesh) return bad("a step mesh runs by ticks, not as a decoder");
  LOOM_ASSIGN(const std::size_t at, part_of(input_, target));
  const Shape whole = input_.parts[at];
  if (whole.dims.size() != (whole.ids > 0 ? 1 : 2) || whole.axis == Axis::channels)
    return bad(message("the target must be [steps] ids or [steps, features], got ", whole.name, " ",
                       whole.to_string()));
  if (!output().parts.empty())
    return Status(Code::unsupported,
                  message("several outputs, ", output().to_string(), ": a decoder gives one"));
  Network step = shared();
  step.head = -1;
  step.target_steps_ = whole.dims[0];
  // A cell that runs another's layer has its weights, on a row of its own: the encoder's embedding
  // of many ids, say, on one.
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::size_t other = executed(i);
    if (other == i || !nodes_[other].type) continue;
    Node node = nodes_[other];
    node.links = nodes_[i].links;
    std::erase_if(node.links, [](const Link& link) { return link.kind == LinkKind::run; });
    node.merge = nodes_[i].merge;
    node.keep_previous = nodes_[i].keep_previous;
    node.enabled = node.enabled && nodes_[i].enabled;
    step.nodes_[i] = std::move(node);
  }
  Shape& part = step.input_.parts[at];
  part.dims.clear();
  part.axis = Axis::positions;
  if (whole.ids == 0) part.width = whole.dims[1];
  step.input_.width += part.count() - whole.count();
  LOOM_TRY(step.plan());
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!is_step(outputs_[i], step.outputs_[i], step.target_steps_))
      return Status(Code::unsupported,
                    message(coordinate(i).to_string(), ": gives ", outputs_[i].to_string(),
                            ", which is not one row for each of the ", step.target_steps_,
                            " steps of ", whole.name));
  if (step.output().axis != Axis::positions)
    return bad(message("the output, ", output().to_string(), ", does not depend on the steps of ",
                       whole.name));
  return step;
}

}  // namespace loom
