// What a conversion did to each tensor.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/status.h"

namespace loom::cli {

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

struct Report {
  struct Row {
    std::string name, shape, from, to;
    std::uint64_t bytes_before = 0, bytes_after = 0;
    ErrorSum error;
  };
  std::vector<Row> rows;
};

// Loads a model, merges an adapter into it ("": none), morphs its matrices to `dtype` ("": as they
// are) and saves it with its tokenizer, unless that is to be left out. A tokenizer that cannot be
// read is an error.
Status convert_to_entity(const std::string& in, const std::string& out, const std::string& dtype,
                         const std::string& adapter, bool tokenizer, Report& report);

}  // namespace loom::cli
