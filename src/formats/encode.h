// Tensors whose bytes are made while they are written: values in another type, rows in another
// order. What is written never lies in memory as a whole. Values and errors are counted once each,
// so a source made here is read once, from one thread.
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/tensor_file.h"
#include "numeric/packed/packed_matrix.h"

namespace loom {

struct ErrorSum {
  double squares = 0, error_squares = 0, largest = 0;
  void add(double before, double after) {
    const double error = std::fabs(after - before);
    squares += before * before;
    error_squares += error * error;
    if (!(error <= largest)) largest = error;
  }
  void add(const ErrorSum& part) {
    squares += part.squares;
    error_squares += part.error_squares;
    if (!(part.largest <= largest)) largest = part.largest;
  }
  // Root mean square of the error, as a share of that of the values.
  double relative() const {
    return squares > 0 ? std::sqrt(error_squares / squares) : std::sqrt(error_squares);
  }
};

// Elements [first, first + out.size()).
using ReadValues = std::function<Status(std::uint64_t first, std::span<double> out)>;
ReadValues values_of(const TensorInfo& tensor);
// Row-major, decoded row by row.
ReadValues values_of(const PackedMatrix& matrix);

// Whether encoded_tensor makes it: f64, f32, f16, bf16, q8_0 and q4_0.
bool can_encode(StorageType type);

// A tensor of `type` whose values come from `read`, in whole blocks. `error`, unless null, learns
// what is lost when it is read: it must stay where it is until then. Errors on reading:
// out_of_range for a finite value that the type cannot hold, invalid_argument for NaN and infinity
// in blocks.
TensorInfo encoded_tensor(std::string name, std::vector<std::int64_t> shape, StorageType type,
                          ReadValues read, ErrorSum* error);

// The rows of a matrix (or the elements of a vector) within groups of `group` rows, in another
// order: row g * group + i is row g * group + order[i] of `from`. `order` has `group` numbers.
TensorInfo reordered_rows(const TensorInfo& from, std::vector<std::int64_t> order);

}  // namespace loom
