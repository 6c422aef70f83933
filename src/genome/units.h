// A layer's weights as units, decoded: what the comparison works on. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grid/network.h"
#include "numeric/weight_format.h"

namespace loom::genome {

// A weighted layer of a network.
struct Layer {
  std::string path;
  Coordinate at;
  Node* node = nullptr;
  std::vector<Param*> params;  // its own: not those that are tied to earlier ones
  std::int64_t values = 0;
  // Its outputs are units that may stand in any order: dense, conv and embedding.
  bool permutable = false;
  bool by_columns = false;   // a unit is a column: of an embedding, whose rows are ids
  std::int64_t units = 0;    // of permutable ones
  std::int64_t source = -1;  // index of the permutable layer whose units it reads; -1: none
};

// In path order of the grid.
std::vector<Layer> weighted_layers(Network& network);

// units x features, row-major. Feature order: the matrix's columns, then the unit's bias.
struct Units {
  std::int64_t units = 0, features = 0;
  std::int64_t inputs = 0;  // features that are the matrix's: they follow the source's units
  std::vector<float> values;
  const float* row(std::int64_t unit) const {
    return values.data() + static_cast<std::size_t>(unit * features);
  }
};

// Decoded values; gains, which begin as ones, minus 1. Where `as` says so, matrices are first
// encoded in that format. Errors: invalid_argument for a value that is not finite, unsupported for
// a format that nothing encodes.
Result<Units> units_of(const Layer& layer, const WeightFormat* as = nullptr);
// Of one parameter, as the network sees them.
Result<std::vector<float>> values_of(const Layer& layer, const Param& param,
                                     const WeightFormat* as = nullptr);
// The format of the first matrix that is stored in the cell's format; else f32.
WeightFormat format_of(const Layer& layer);

// Sums in a fixed order: eight chains, added at the end.
double dot(const float* a, const float* b, std::int64_t count);

}  // namespace loom::genome
