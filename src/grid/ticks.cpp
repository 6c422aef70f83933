// A network as it runs by ticks.
#include <utility>

#include "base/message.h"
#include "grid/network.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

// Rows of `ticks` times what was a row.
Result<Shape> repeated(const Shape& row, std::int64_t ticks) {
  std::vector<std::int64_t> dims{ticks};
  if (!row.dims.empty()) dims.insert(dims.end(), row.dims.begin(), row.dims.end());
  else dims.push_back(row.width);
  return Shape::of(std::move(dims), Axis::steps);
}

}  // namespace

Network Network::shared() const {
  Network n;
  n.version_ = version_;
  n.depth_ = depth_, n.rows_ = rows_, n.cols_ = cols_, n.layers_ = layers_;
  n.input_ = input_, n.nodes_ = nodes_, n.outputs_ = outputs_;
  n.step_mesh = step_mesh, n.head = head, n.outputs_by_name = outputs_by_name;
  return n;
}

Result<Network> Network::over_ticks(std::int64_t ticks, Answers answers) const {
  if (version_ == 1) return bad("step mesh: networks of version 1 have no ticks");
  if (ticks < 1) return bad(message("step mesh: ticks must be at least 1, got ", ticks));
  if (head >= 0) return bad("step mesh: a network with a \"head\" does not run by ticks");
  if (input_.ids > 0 && ticks > 1)
    return Status(Code::unsupported,
                  message("step mesh: rows of ", input_.to_string(),
                          " for several ticks: ids arrive at one tick at a time"));
  const Shape& out = outputs_.back();
  if (out.ids > 0) return bad("step mesh: no layer gives anything but ids at its end");
  for (const Shape* several : {&input_, &out})
    if (!several->parts.empty())
      return Status(Code::unsupported,
                    message("step mesh: several ", several == &out ? "outputs, " : "inputs, ",
                            several->to_string(), ": one runs by ticks"));
  if (answers == Answers::every_tick && out.axis == Axis::channels && out.dims.size() > 1)
    return Status(Code::unsupported, message("step mesh: an output of ", out.to_string(),
                                             " after every tick: put a flatten behind it"));
  Network n = shared();
  n.ticks_ = ticks;
  n.answers_ = answers;
  n.ticks_input_ = input_;
  n.ticks_output_ = out;
  const auto repeat = [&](Shape& row) -> Status {
    auto all = repeated(row, ticks);
    if (!all.ok()) return all.status().at("step mesh: " + std::to_string(ticks) + " ticks");
    row = std::move(*all);
    return {};
  };
  if (input_.ids == 0) LOOM_TRY(repeat(n.ticks_input_));
  if (answers == Answers::every_tick) LOOM_TRY(repeat(n.ticks_output_));
  return n;
}

}  // namespace loom
