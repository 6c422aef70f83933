// What a module of a file is, by the names and shapes of its tensors, and what these do not tell.
#pragma once

#include <string>
#include <vector>

#include "convert/weights/modules.h"
#include "convert/weights/settings.h"

namespace loom {

// Something that names and shapes do not tell, and the setting that does.
struct Question {
  std::string key;   // of the cell: "stride"; "type", "layout", "order", ...
  std::string text;  // why, in words
  std::vector<std::string> choices;
};

enum class MatrixLayout : std::uint8_t { unknown, out_in, in_out };

struct FoundLayer {
  const WeightModule* module = nullptr;
  std::vector<std::string> types;             // that it can be; empty: no layer that is known
  std::string type;                           // the one that it is; "" where that is open
  Json cell = Json::object();                 // the settings that follow from names and shapes
  std::vector<std::string> certain, assumed;  // in words
  std::vector<Question> questions;            // those that the settings leave open
  std::int64_t in = 0, out = 0;               // features, or channels; 0: any, or not known
  int space = 0;                              // dimensions of space of a convolution
  MatrixLayout layout = MatrixLayout::unknown;
  std::string refused;  // why it is no layer
};

// Its possible types, and the layout of its matrix where a bias tells it.
FoundLayer recognize(const WeightModule& module);
// Its type, settings and questions, with what the caller says. Errors: invalid_argument for a type
// that it cannot be.
Status describe_layer(FoundLayer& layer, const WeightSettings& settings);

// Where the values of a parameter lie: part `part` of `parts` equal parts of a tensor.
struct ParameterSource {
  enum class Arrange : std::uint8_t { plain, transposed, conv_transposed };
  std::string role;  // of the layer's parameter
  const TensorInfo* tensor;
  std::int64_t part = 0, parts = 1;
  Arrange arrange = Arrange::plain;
  std::int64_t groups = 1;  // of conv_transposed
};
// Of a layer whose type is known; tensors that say nothing to it (num_batches_tracked) are in none.
std::vector<ParameterSource> sources_of(const WeightModule& module, std::string_view type,
                                        MatrixLayout layout, std::int64_t groups);
// A tensor that is no parameter: a counter, or a table that is computed.
bool is_bookkeeping(std::string_view role);

}  // namespace loom
