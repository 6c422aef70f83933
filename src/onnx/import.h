// ONNX graphs as networks: every operator becomes cells of the grid, links carry the values. What
// cannot be mapped is refused with the name of its node; nothing is guessed. Constants become
// parameters, so what is imported can be morphed, trained and saved like any network.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "formats/onnx/infer/infer.h"
#include "grid/network.h"

namespace loom::onnx {

// Where an input or output of the graph lies in the network's row.
struct Port {
  std::string name;
  Type type = Type::f32;
  Dims dims;
  std::int64_t first = 0;  // column
  bool cast = false;  // of an output: a cast made it, and what its type does not hold is infinite
  std::int64_t count() const;
};

struct ImportedGraph {
  Network network;
  std::vector<Port> inputs,
      outputs;                      // of the graph, those without inputs that were bound to values
  std::vector<std::string> report;  // a line for each node: what it became
};

// What open dimensions of inputs are, by their dim_name: sizes, and the largest length of one.
struct OpenDims {
  Json dims = Json::object(), max = Json::object();
};

// The network computes in f32 (f64 and f16 tensors too, which the report says). `bindings` as
// infer() takes them. An input of which the first dimension alone is left open by `open` gets 1
// there, and so does that name elsewhere: rows of the network are the batch. With a maximum, the
// last input is "lengths", how long each row is; outputs are 0 behind it. Errors: what infer()
// says; invalid_argument for what is not open in the graph or no size; unsupported for operators,
// types and attributes that no layer has, by node. An input that must be known before the run
// (weights, indices) is unsupported as well; its name is then put into `wanted`.
Result<ImportedGraph> import_graph(const Model& model, const std::vector<Binding>& bindings = {},
                                   std::vector<std::string>* wanted = nullptr,
                                   const OpenDims& open = {});

// A tensor of these values in memory, each rounded to the type. Errors: unsupported for types
// without numbers, invalid_argument where the count differs, out_of_range for what an integer type
// does not hold.
Result<Tensor> make_tensor(std::string name, Type type, Dims dims, std::span<const double> values);

// A graph that runs on tensors, one run at a time; others wait. It is imported for the shapes of
// the first run, and again where they change, or a value that must be known before a run (weights
// that are inputs, indices) does.
class Runner {
 public:
  struct Input {
    std::string name;
    Tensor tensor;
  };
  struct Output {
    std::string name;
    Type type = Type::f32;
    Dims dims;
    std::vector<double> values;
  };
  // `cancel`: where it is set, a run ends as cancelled.
  explicit Runner(Model model, const std::atomic<bool>* cancel = nullptr);
  Runner(Runner&&) noexcept;
  ~Runner();
  // Errors: those of import_graph; invalid_argument for a missing or unknown input; out_of_range
  // for integers that f32 does not hold.
  Result<std::vector<Output>> run(const std::vector<Input>& inputs) const;
  const Model& model() const { return model_; }
  // In a child of fork(), before anything else: a run of the parent's that was going on does not
  // end here, and all are refused.
  void forked();

 private:
  struct Ready;
  Status prepare(const std::vector<Input>& inputs) const;
  Status missing(const std::string& input) const;
  Model model_;
  const std::atomic<bool>* cancel_;
  std::unique_ptr<Ready> ready_;
};

}  // namespace loom::onnx
