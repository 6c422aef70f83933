// Model files in another format, with what that did to each tensor.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"

namespace loom {

struct ErrorSum {
  double squares = 0, error_squares = 0, largest = 0;
  void add(double before, double after) {
    const double error = std::fabs(after - before);
    squares += before * before;
    error_squares += error * error;
    if (!(error <= largest)) largest = error;
  }
  // Root mean square of the error, as a share of that of the values.
  double relative() const {
    return squares > 0 ? std::sqrt(error_squares / squares) : std::sqrt(error_squares);
  }
};

struct ConvertOptions {
  std::string dtype;      // of the weights; "": as they are
  std::string adapter;    // a LoRA adapter to add to the weights: a folder
  bool tokenizer = true;  // false: it is left out of an .entity file, which then runs by ids
};

struct Conversion {
  struct Row {
    std::string name, shape, from, to;
    std::uint64_t bytes_before = 0, bytes_after = 0;
    ErrorSum error;
  };
  std::vector<Row> rows;
  std::vector<std::string> notes;  // what was left out, and what ONNX nodes became
  Json to_json() const;
};

// Writes the model of a folder, a .safetensors, .gguf, .onnx, .json or .entity file, or a name in
// the HuggingFace cache, as a file whose name ends in .safetensors or .entity. The path has the old
// content or the new. Errors: of the readers; invalid_argument: names and options that do not go
// together, an output that is the input.
Result<Conversion> convert(const std::string& in, const std::string& out,
                           const ConvertOptions& options);

// Its part that writes a language model as .entity.
Status convert_to_entity(const std::string& in, const std::string& out,
                         const ConvertOptions& options, Conversion& report);

}  // namespace loom
