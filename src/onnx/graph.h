// What rules write a network with: each call appends one cell. Values are whole rows or parts of
// them, or constants.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "formats/onnx/infer/infer.h"
#include "formats/onnx/operators.h"
#include "onnx/import.h"

namespace loom::onnx {

inline std::int64_t elements(const Dims& dims) {
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return n;
}
std::string text_of(const Dims& dims);
// Values that a rule lists one by one (places, masks, constants): a short file asks for no more
// memory than these take.
inline constexpr std::int64_t kMaxListed = std::int64_t{1} << 26;
inline constexpr std::int64_t kMaxMade =
    std::int64_t{1}
    << 29;  // numbers of one graph that its file does not hold: parameters that rules make
// What files of any size may ask for, of both, and how much more for each byte: ONNX's own tests
// make the weights of VGG19 by files of 9 KB.
inline constexpr std::uint64_t kAlwaysJustified = std::uint64_t{1} << 21, kListedPerByte = 64,
                               kMadePerByte = std::uint64_t{1} << 16;
inline constexpr std::int64_t kMaxCells = std::int64_t{1} << 20;  // of a network
inline constexpr double kMaxWhole = 16777216;  // whole numbers below it are exact in f32

// A value while a graph is built: columns of a cell's output, or numbers that are known.
struct Ref {
  int cell = -1;           // -1: a constant
  std::int64_t first = 0;  // column
  Dims dims;
  std::vector<float> data;  // of a constant
  bool rounded = false;     // integers among them that f32 does not hold
  double max =
      0;  // of computed integers: none is beyond it in magnitude; 0 where that is not known
  bool constant() const { return cell < 0; }
};

class GraphBuilder {
 public:
  // `file_bytes`: of the file that asks for all this; 0: there is none.
  explicit GraphBuilder(std::int64_t input_width, std::uint64_t file_bytes = 0);

  // Cells. `config` is the cell's JSON without place and links; values arrive side by side.
  Ref add(Json config, const std::vector<Ref>& in, Dims out);
  struct ParamFill {
    int cell;
    std::string child;  // "/1/0" of a layer inside of the cell
    std::string role;
    std::vector<float> values;
  };
  void fill(const Ref& of, std::string child, std::string role, std::vector<float> values) {
    fills_.push_back({of.cell, std::move(child), std::move(role), std::move(values)});
  }

  // Functions of values, shapes as NumPy has them.
  Ref unary(const Ref& x, std::string_view op, double a = 0, double b = 0);
  Ref activation(const Ref& x, std::string_view kind);
  Ref binary(const Ref& a, const Ref& b, std::string_view op);
  Ref reduce(const Ref& x, std::string_view op, const Dims& axes, bool keep);
  Ref permute(const Ref& x, const Dims& order);
  // Value j of the result is value places[j] of x; -1: `fill`.
  Ref index_select(const Ref& x, std::span<const std::int64_t> places, Dims dims, double fill = 0);
  static Ref reshape(Ref x, Dims dims);
  static Ref number(double value);
  // x as a value of a cell: constants become one.
  Ref value(const Ref& x);

  // c ? a : b, with broadcasting.
  Ref select(const Ref& c, const Ref& a, const Ref& b);
  // Side by side along a dimension; operands that hold nothing are left out.
  Ref concat(const std::vector<Ref>& parts, std::int64_t axis);
  // a [..., M, K] times b [..., K, N], outer dimensions spread.
  Ref matmul(const Ref& a, const Ref& b, Dims out);
  // Distributions over the last dimension; a row of -inf alone gives zeros.
  Ref softmax(const Ref& x);
  // (x - mean) / sqrt(variance + eps) over the axes.
  Ref normalized(const Ref& x, const Dims& axes, double eps);
  static Ref constant(Dims dims, std::vector<float> values);

  // What did not fit since it was asked last: operands that do not spread to each other, and the
  // like.
  Status fault() { return std::exchange(fault_, Status()); }
  void note(Status fault) { fault_ = std::move(fault); }
  // Counts parameters that a rule makes; unsupported beyond kMaxMade, and beyond what the file
  // justifies.
  Status makes(std::int64_t count);
  // Counts values that a rule lists one by one; unsupported beyond kMaxListed at once, and beyond
  // what the file justifies.
  Status lists(std::int64_t count);
  // Whether these are numbers that are known, or columns that its cell has.
  bool holds(const Ref& x) const;

  // The last cell: the outputs side by side; their first columns.
  Result<Network> finish(const std::vector<Ref>& outputs, std::vector<std::int64_t>* firsts);

 private:
  Ref whole(const Ref& x);
  Ref infinities(const Ref& x);
  Dims spread(const Dims& a, const Dims& b);
  bool takes(const Dims& out);
  bool settled(double setting);
  Json cells_ = Json::array();
  std::int64_t input_width_;
  std::vector<std::int64_t> widths_;
  std::vector<ParamFill> fills_;
  Status fault_;
  Status justified(std::int64_t all, std::uint64_t per_byte, std::string_view what,
                   std::int64_t count) const;
  std::int64_t made_ = 0, listed_ = 0;
  std::uint64_t file_bytes_;
  int zero_ = -1;
};

struct StepCall;
using Rule = Status (*)(StepCall&);
// Of a row of operators.def, what the import needs.
struct Operator {
  const char* name;
  Rule rule;
  const char* cell;
  unsigned traits;
  bool is(Trait trait) const { return (traits & trait) != 0; }
};
// nullptr where the operator is not mapped.
const Operator* find_operator(const Node& node);

// The tables, one per file of rules.
#define LOOM_MAP_FILE(file) std::span<const Operator> file##_mappings();
LOOM_MAP_FILES(LOOM_MAP_FILE)
#undef LOOM_MAP_FILE

// A step while it is mapped. (infer has another Call in this namespace.)
struct StepCall {
  GraphBuilder& graph;
  const Plan& plan;
  const Step& step;
  std::vector<Ref>& refs;  // by value id
  const std::vector<std::vector<std::string>>&
      sources;  // by value id: the graph inputs it comes from
  std::vector<std::string>* wanted;
  const std::vector<bool>& used;  // by value id: something takes it
  const Operator* op = nullptr;   // nullptr where it is not mapped
  const Ref* length = nullptr;    // of all rows, where steps are an open dimension (opened.h)

  const Node& node() const { return *step.node; }
  std::size_t inputs() const { return step.inputs.size(); }
  bool has(std::size_t i) const { return i < step.inputs.size() && step.inputs[i] >= 0; }
  // An input that is left out is a fault, and nothing.
  const Value& value(std::size_t i) const;
  const Value& result(std::size_t i = 0) const {
    return plan.values[static_cast<std::size_t>(step.outputs[i])];
  }
  const Dims& dims(std::size_t i = 0) const { return value(i).dims; }
  const Ref& in(std::size_t i = 0) const;
  void set(Ref r, std::size_t i = 0);  // nothing where the output is left out
  // Whether the result is only an output of the graph, where the runner checks that f32 held it
  // exactly.
  bool final() const;
  bool wants(std::size_t i) const {
    return i < step.outputs.size() && step.outputs[i] >= 0 &&
           used[static_cast<std::size_t>(step.outputs[i])];
  }
  // A constant input; a graph input that is none is noted as wanted.
  Result<std::vector<float>> floats(std::size_t i) const;
  Result<std::vector<std::int64_t>> ints(std::size_t i) const;
  // Those of input i where there is one, else of the attribute: as inference reads what moved from
  // one to the other.
  Result<std::vector<std::int64_t>> ints_or(std::size_t i, std::string_view attribute,
                                            Dims fallback = {}) const;
  Status need_constant(std::size_t i) const;
  [[gnu::cold]] static Status refuse(const std::string& what) {
    return Status(Code::unsupported, what);
  }
  Status lists(std::int64_t count) const { return graph.lists(count); }
};

// The range of an integer type.
std::pair<double, double> range_of(Type t);

// Row-major steps of dimensions; an axis counted from 0.
std::vector<std::int64_t> steps_of(const Dims& dims);
inline std::int64_t axis_of(std::int64_t axis, const Dims& dims) {
  return axis < 0 ? axis + static_cast<std::int64_t>(dims.size()) : axis;
}
// What lies `index`-th of equal parts of a value that is no constant.
Ref part_of(const Ref& x, std::int64_t index, Dims dims);
// 1 where an index (of shape `dims`, then a new dimension of n at `axis`) names its place, else 0.
// Negative ones count from the end where `wraps`.
Ref one_hot(StepCall& c, const Ref& index, std::int64_t n, std::int64_t axis, bool wraps);
// What makes a value NaN where an index named no place: 0 where one of `hits` along the axis is 1,
// else NaN.
Ref poison(StepCall& c, const Ref& hits, std::int64_t axis, bool keep);
// Rows of a known table [n, width] by ids that are values. An id outside of the table gives NaN.
Result<Ref> rows_by_id(StepCall& c, const Ref& ids, std::span<const float> table, std::int64_t n,
                       std::int64_t width, const Dims& out);
// gain * x + bias, either may be left out.
Ref scaled(StepCall& c, Ref x, const Ref* gain, const Ref* bias);

// x [..., k] times a known matrix of n rows, plus a known bias (or none), of shape `out`: a dense
// layer.
Ref known_product(StepCall& c, const Ref& x, std::int64_t k, std::int64_t n,
                  std::vector<float> weight_nk, std::vector<float> bias, const Dims& out);

}  // namespace loom::onnx
