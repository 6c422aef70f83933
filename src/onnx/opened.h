// An open dimension with a declared maximum. Each value is computed as long as the maximum, and
// what is behind a row's own length is anything: the numbers of ONNX's tensor are the first of each
// axis. Operators of single values stay as they are; from those that read over an open axis the
// padding is hidden; others are refused by node. The record:
// docs/decisions/0034-open-dimensions.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "onnx/graph.h"

namespace loom::onnx {

class Opened {
 public:
  Opened() = default;  // no dimension is open
  Opened(std::string name, std::int64_t max) : name_(std::move(name)), max_(max) {}
  bool any() const { return max_ > 0; }

  // Whether `at`, the plan of length n, has the steps of `plan`, that of the maximum, on values of
  // which the same axes are as long as the dimension. First for n = maximum - 1. Errors:
  // unsupported, by node.
  Status compare(const Plan& plan, const Plan& at, std::int64_t n);

  // The input with a row's length.
  void place(GraphBuilder& graph, const Ref& length);
  // Around the rule of a step; `before` may do its work, and then returns true.
  Result<bool> before(StepCall& call);
  Status after(StepCall& call);
  // Zeros behind the end; NaN for a length that is none.
  Ref output(GraphBuilder& graph, int id, const Ref& x) const;

 private:
  using Axes = std::vector<std::size_t>;
  Axes axes(int id, std::size_t first = 0) const;  // the open ones of a value, from one on
  bool open(const StepCall& c, std::size_t i, std::int64_t axis) const;
  Ref hidden(GraphBuilder& graph, const Ref& x, const Axes& axes, double fill) const;
  Ref along(const Ref& places, std::size_t rank, std::size_t axis) const;
  void hide_products(StepCall& c);
  void hide(StepCall& c, std::size_t i, const Axes& axes, double fill);
  Result<Axes> read(const StepCall& c, std::string_view how) const;
  Result<bool> gather(StepCall& c) const;
  Result<bool> slices_from_start(const StepCall& c) const;
  Status values_fit(const Step& step, std::size_t i, const Plan& plan, const Plan& at,
                    std::int64_t n) const;
  Status shape_fits(const Value& all, const Value& at, int id, std::int64_t n) const;
  Status refuse(const std::string& what) const;

  std::string name_;
  std::int64_t max_ = 0;
  std::vector<std::vector<bool>> open_;    // by value, then axis
  Ref length_, seen_, unknown_;            // [1], [max] with 1 at a row's places, [1] as 0 or NaN
  std::vector<std::pair<int, Ref>> kept_;  // what `before` replaced
  Ref factor_;                             // of the result; no dims: none
};

}  // namespace loom::onnx
