// DNA of networks: what identifies each weighted layer, and how two networks relate layer by layer.
// The comparison is independent of dtypes, of the order of units and of widths, and its scores are
// corrected for chance; docs/reference/dna.md has the formulas. One thread, sums in a fixed order:
// equal results on every target.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/sha256.h"
#include "base/json/json.h"
#include "base/status.h"
#include "grid/network.h"

namespace loom {

inline constexpr std::size_t kDnaSketch = 256;

// One layer that has weights. A layer that runs another cell's weights by a `run` link, or whose
// only parameters are tied to earlier ones, is none.
struct DnaLayer {
  std::string path;  // "0.0.1.0", "0.0.1.0/2" for a nested layer
  Coordinate at;     // of its cell
  std::string type;
  std::string format;               // of its first matrix: "f32", "i4"
  std::int64_t rows = 0, cols = 0;  // of its first parameter
  std::int64_t values = 0;          // of all its parameters
  std::string sha256;               // of their decoded values, in f32
  double norm = 0;                  // of the decoded values, gains as gain - 1
  // Count sketch of the unit vector: the dot product of two sketches of layers of equal shape
  // estimates their cosine, with a standard error of at most 1/16.
  std::array<float, kDnaSketch> sketch{};
};

struct Dna {
  std::array<std::int64_t, 4> grid{};  // depth, rows, cols, layers per cell
  std::vector<DnaLayer> layers;        // in path order of the grid
};

struct DnaOptions {
  double shift = 0.8;        // a shift has a score above it
  std::int64_t values = 64;  // layers of fewer values never shift
  std::uint64_t seed = 1;    // of the shuffles that estimate chance
};

// Two layers, compared.
struct DnaPair {
  std::string from, to;  // their paths in a and b
  // Cosine in stored order. None where shapes differ.
  std::optional<double> cosine;
  // The same after the finer layer was encoded in the coarser format; `cosine` where formats are
  // equal. None where shapes differ, or where nothing encodes the coarser format (q4_k, q6_k).
  std::optional<double> encoded;
  double matched = 0;      // after that, and with units assigned one to one
  double chance = 0;       // what `matched` is, on average, for shuffled values: E0
  double score = 0;        // (matched - chance) / (1 - chance)
  double coverage = 1;     // share of the larger layer's values that have a partner
  std::int64_t moved = 0;  // units whose partner has another index
  bool small = false;      // fewer values than DnaOptions::values
};

struct DnaComparison {
  std::vector<DnaPair> layers;              // those at the same path in both, of one type
  std::vector<std::string> only_a, only_b;  // weighted layers without such a partner
  std::vector<DnaPair> shifts;  // layers of a found at another path of b, in the order of a
  double overlap = 0;  // mean cosine by coordinate, weighted by values; layers of other shapes: 0
  double similarity = 0;  // similarity index: mean score, weighted by values
};

// Reads every weight once. Errors: invalid_argument for a value that is not finite, by its layer.
Result<Dna> dna_of(Network& network);
// Networks are not changed; `a` and `b` may be the same. Memory: a few copies of two layers,
// decoded, and a matrix of units x units up to 2,048 units. Errors: as dna_of; invalid_argument for
// options out of range.
Result<DnaComparison> compare(Network& a, Network& b, const DnaOptions& options = {});

Json to_json(const Dna& dna);
Json to_json(const DnaComparison& comparison);

}  // namespace loom
