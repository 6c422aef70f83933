// Networks as ONNX graphs: cells become nodes, named by their paths, and parameters become
// initializers. What ONNX cannot express is refused by path and layer type. The graph computes what
// the network computes in evaluation: nothing drops, batch norms take their running statistics.
#pragma once

#include <string>

#include "base/json/json.h"
#include "formats/onnx/onnx.h"
#include "grid/network.h"

namespace loom::onnx {

inline constexpr std::int64_t kMinExportOpset = 21, kMaxExportOpset = 26;

struct ExportOptions {
  std::int64_t opset = kMinExportOpset;
  std::string as;  // dtype of the matrices in the file: "f16", "i8"; "": each as it is
  // A language model with its keys and values as inputs and outputs, under the names that
  // transformers.js and Optimum know.
  bool decoder = false;
  // Products of 4 and 8 bits by com.microsoft.MatMulNBits, which other runtimes than ONNX Runtime
  // do not have.
  bool matmul_nbits = false;
};

struct ExportedGraph {
  Model model;  // tensors borrow the values of the network's parameters, which it keeps alive
  Json report;  // `opset`, `inputs`, `outputs`, `nodes`, `parameters`, `dtypes`
};

// The first dimension of inputs and outputs is "batch", open; where rows of the network are
// positions of sequences, the second is "sequence". An input of ids is int64. Inputs and outputs
// that are several operands have their names, others are "input" and "output". A decoder has
// `input_ids`, `attention_mask`, `position_ids` and for its n-th attention
// `past_key_values.n.key` and `.value` [batch, kv_heads, past_sequence, head_dim], and gives
// `logits` and `present.n.key` and `.value`: those of the past with the new ones. Changing the
// network's values changes a model that is not written yet. Errors: invalid_argument for options;
// unsupported, by path, for layers, settings and dtypes that ONNX does not have.
Result<ExportedGraph> export_network(const Network& network, const ExportOptions& options = {});

}  // namespace loom::onnx
