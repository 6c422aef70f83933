// Cells that rules of several files write.
#pragma once

#include "base/borrowed_call.h"
#include "onnx/graph.h"

namespace loom::onnx {

// {"type": type}; a list of numbers.
Json typed(std::string_view type);
Json list_of(const Dims& dims);

// Numbers that f32 rounds are not compared, rounded or ranked: a last digit would decide.
Status exact_types(StepCall& c);

// The dimensions in order with this one last, and the order that brings them back; dims in an
// order.
Dims with_last(std::size_t rank, std::size_t last);
Dims order_back(const Dims& order);
Dims permuted(const Dims& dims, const Dims& order);
// A place of the index in each dimension.
using OfPlace = BorrowedCall<std::int64_t(const Dims&)>;
// f of all places of a shape, row by row.
std::vector<std::int64_t> for_each_place(const Dims& dims, OfPlace f);

// One layer on each of the first dimension's items of x, which are of shape `item`; `child` says
// where its parameters lie.
struct Each {
  Ref y;
  std::string child;
};
Each each(StepCall& c, const Ref& x, const Dims& item, Json layer, const Dims& out);

// What convolutions and pools have in common, for each of one to three dimensions of space.
struct Space {
  Dims kernel, strides, dilations, begin, end;  // begin, end: padding
};
// As the node's attributes have it for input 0.
Result<Space> space_of(StepCall& c, const Dims& kernel_of_weights);
inline Dims item_of(const Dims& dims) { return Dims(dims.begin() + 1, dims.end()); }

struct Filters {
  std::int64_t count = 0, groups = 1;
  std::vector<float> weight, bias;  // in the layer's order; the bias may be none
};
// x [N, C, space] to `out` [N, filters, space]; transposed where there is an output padding.
Ref convolved(StepCall& c, const Ref& x, const Space& s, Filters filters, const Dims& out,
              const Dims* output_padding = nullptr);

// Whether input i is made by the graph, from what a run brings.
bool is_computed(const StepCall& c, std::size_t i);
// Gather, GatherElements and GatherND where their indices are.
Status gather_computed(StepCall& c, std::size_t axis);
Status gather_elements_computed(StepCall& c, std::size_t axis);
Status gather_nd_computed(StepCall& c, std::size_t batch_dims);

}  // namespace loom::onnx
