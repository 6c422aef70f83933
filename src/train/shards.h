// A step in shards: its batch is cut into `micro_batches` parts, each trainer of the same spec,
// network and data can compute any of them, and a trainer that has all parts makes the step. The
// weights are then those of one trainer that does the step alone, bit for bit, whoever computed
// what and in which order it came.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "train/trainer.h"

namespace loom {

// What a shard leaves: gradients of the sum of its losses, and the statistics of its batch norms.
struct Shard {
  std::string run;        // SHA-256 of the spec, the topology and the data of its trainer
  std::string weights;    // a checksum of the weights that it is of
  std::int64_t step = 0;  // from 1
  std::int64_t shard = 0, shards = 1;
  std::int64_t rows = 0, counted = 0;
  double loss = 0, weight = 0;
  std::vector<double> heads;
  std::vector<TrainingTensor> gradients, averages;

  // "LOOMGRAD", u32 version, u32 size of the JSON, the JSON (all but the numbers), then the numbers
  // little-endian, one tensor after the other, and the SHA-256 of all before it.
  std::vector<std::byte> to_bytes() const;
  // Errors: corrupt, where the bytes are not what to_bytes() makes.
  static Result<Shard> from_bytes(std::span<const std::byte> bytes);
};

}  // namespace loom
