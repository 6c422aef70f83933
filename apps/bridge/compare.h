// Rows of values in and out of networks as JSON, and how far two of them are apart: EXACT, PASS
// (below 1e-5), DIFF.
#pragma once

#include <string>
#include <vector>

#include "bridge/library.h"

namespace loom::bridge {

struct Rows {
  Shape shape;  // the first counts rows
  std::vector<double> values;
};

// Lists in lists of numbers, all of one shape; null is NaN. Throws http::Refusal.
Rows inputs_of(const Json& lists);
// {"shape": [...], "outputs": lists in lists}; what is not finite is null.
Json outputs_json(const Rows& rows);
Json lists_of(const Rows& rows);

// What a network answers to rows of values, or of ids. Throws http::Refusal.
Rows outputs_of(const Network& network, const Rows& inputs);

struct Distance {
  double max = 0, mean = 0;
  bool exact = false, comparable = true;  // false: the numbers of values differ
};
Distance distance_of(const std::vector<double>& a, const std::vector<double>& b);
// "EXACT", "PASS", "DIFF"
const char* label_of(const Distance& distance);

// Of the body of a comparison: outputs and, where given, outputs of layers by path, beside those of
// two networks.
Json compared(const Json& body, const Network& streamed, const Network& reloaded,
              const Rows& inputs);

}  // namespace loom::bridge
