// Host side of calls.def: shapes, devices, calls.
#include <algorithm>

#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

// The parameters from operand `first` on, which are those of the plan.
bool params_fit(OpCheck& c, const CallPlan& plan, int first) {
  for (int i = 0; i < static_cast<int>(kMaxCallParams); ++i) {
    const auto n = static_cast<std::size_t>(i);
    const bool wanted = n < plan.params.size();
    if (!c.require(c.has(first + i) == wanted, "parameters are not those of the layer's plan"))
      return false;
    if (!wanted) continue;
    const CallParam& p = plan.params[n];
    if (!c.require(c.one_type({0, first + i}) && c.cols(first + i) == p.cols &&
                       c.cols(first + i) == c.of(first + i).cols &&
                       c.constant_rows(first + i) == p.rows,
                   "a parameter has another size than in the layer's plan"))
      return false;
  }
  return true;
}

bool call_fits(OpCheck& c, int y) {
  const CallPlan* plan = c.call_plan(c.integer(0));
  if (!c.require(plan != nullptr, "call is none of the program's calls")) return false;
  const Call& call = c.program.calls[static_cast<std::size_t>(c.integer(0))];
  std::int64_t width = 1;
  for (const std::int64_t d : call.dims) width *= d;
  return c.require(
      c.one_type({0, y}) && c.rows_equal(0, y) && c.cols(0) == width && c.cols(y) == plan->width,
      "x and y are not rows of the layer's plan");
}

bool call_shape(OpCheck& c) {
  return call_fits(c, 5) && params_fit(c, *c.call_plan(c.integer(0)), 1);
}
bool call_back_shape(OpCheck& c) {
  if (!call_fits(c, 1)) return false;
  if (!c.require(c.alike({1, 2}) && c.alike({0, 7}),
                 "a gradient must have the shape of what it is of"))
    return false;
  const CallPlan& plan = *c.call_plan(c.integer(0));
  return params_fit(c, plan, 3) && params_fit(c, plan, 8);
}

Status no_call(webgpu::Launches& l) {
  const std::string& path = l.program.calls[static_cast<std::size_t>(l.integer(0))].path;
  const std::string of = path.empty() ? "" : " at " + path;
  return Status(Code::unsupported,
                "the custom layer " +
                    l.program.calls[static_cast<std::size_t>(l.integer(0))].to_string() + of +
                    " runs on the CPU alone: use the device cpu");
}

using Four = std::array<View, kMaxCallParams>;
Four four(std::span<const View> views) {
  Four out{};
  std::copy(views.begin(), views.end(), out.begin());
  return out;
}

}  // namespace

std::int64_t ProgramBuilder::add_call(const Call& call) {
  const auto at = std::find_if(p_.calls.begin(), p_.calls.end(), [&](const Call& other) {
    return other == call && other.path == call.path;
  });
  if (at != p_.calls.end()) return at - p_.calls.begin();
  p_.calls.push_back(call);
  return static_cast<std::int64_t>(p_.calls.size()) - 1;
}
View ProgramBuilder::call(std::int64_t call, View x, std::span<const View> params,
                          std::int64_t out) {
  const View y = like(x, out);
  const Four p = four(params);
  append(Op::call, {x, p[0], p[1], p[2], p[3], y}, {call});
  return y;
}
View ProgramBuilder::call_back(std::int64_t call, View x, View y, View gy,
                               std::span<const View> params, std::span<const View> gradients) {
  const View gx = like(x, x.cols);
  const Four p = four(params), g = four(gradients);
  append(Op::call_back, {x, y, gy, p[0], p[1], p[2], p[3], gx, g[0], g[1], g[2], g[3]}, {call});
  return gx;
}

#define LOOM_FAMILY calls
#define LOOM_FAMILY_ROWS "ops/calls/calls.def"
#include "ops/op_rows.h"

}  // namespace loom
