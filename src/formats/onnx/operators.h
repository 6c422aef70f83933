// What is true of operators besides their rules: the traits of operators.def, and the files with
// rules.
#pragma once

namespace loom::onnx {

// Bit flags; behind them a bit for each of the first 8 inputs.
enum Trait : unsigned {
  kOfShape = 1 << 0,          // the result needs no elements of the input: its shape is known
  kMoreOutputs = 1 << 1,      // the mapping makes outputs behind the first
  kFirstOptional = 1 << 2,    // the first output may be left out
  kCasts = 1 << 3,            // what the output's type does not hold is infinite
  kLikeSecond = 1 << 4,       // the second input gives its type alone
  kMoves = 1 << 5,            // values are cast, scaled and moved: types not computed with are fine
  kIntegerSettings = 1 << 6,  // inputs behind the first are read as integers, however large
  kSettings = 1 << 7,         // inputs behind the first are settings: constants may be empty
  kFirstIsSetting = 1 << 8,   // the first as well
  kMayBeEmpty = 1 << 9,       // all inputs may be without elements
  kReadsAll = 1 << 10,        // folding reads more elements than it makes
  kSlow = 1 << 11,            // folding takes exact functions for each element
  kEach = 1 << 12,   // the first numbers along any axis of a result follow from those of its inputs
  kSizes = 1 << 13,  // settings are sizes and axes, which the shape of the result tells
};
// Input i may be without elements.
constexpr unsigned empty_input(unsigned i) { return 1u << (16 + i); }
constexpr bool may_be_empty(unsigned traits, unsigned long i) {
  return (traits & kMayBeEmpty) != 0 || (i < 8 && (traits >> (16 + i) & 1) != 0);
}

// The files of infer/ and of src/onnx/rules that have rows of operators.def.
#define LOOM_SHAPE_FILES(X) X(elementwise) X(layout) X(makers) X(window) X(layers) X(signal)
// clang-format off: a list
#define LOOM_MAP_FILES(X) \
  X(attention) X(choice) X(circular) X(einsum) X(elementwise) X(integers) X(layers) \
  X(linear_attention) X(losses) X(places) X(recurrent) X(resample) X(signal) X(types) \
  X(windows)
// clang-format on

}  // namespace loom::onnx
