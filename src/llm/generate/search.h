// Sequences that an encoder-decoder gives for its sources: by the most probable next id, by
// drawing, or the best of a beam (as in Sutskever et al., arXiv 1409.3215, section 3.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "exec/seq2seq.h"
#include "llm/generate/sampler.h"

namespace loom {

struct SearchOptions {
  std::vector<std::int64_t> start;  // ids that every sequence begins with
  std::int64_t end = -1;            // the id that ends one; -1: none
  std::int64_t max_tokens = 0;      // ids that are found; 0: as many as there are positions for
  std::int64_t beams = 1;
  double length_penalty = 1;
  SamplerOptions sampling;  // of one beam
};

struct Found {
  std::vector<std::int32_t> ids;  // behind `start`, `end` included
  double score = 0;               // logarithm of their probability
  bool finished = false;          // by `end`
};

// For each of `rows` sources the sequences found, the best first: as many as there are beams. The
// answers of the network are logits, or what a softmax or log_softmax at its end makes of them.
// Errors: fewer lanes than rows x beams; a row of answers without a number.
Result<std::vector<std::vector<Found>>> search(Seq2Seq& network, std::span<const double> sources,
                                               std::int64_t rows, const SearchOptions& options);

}  // namespace loom
