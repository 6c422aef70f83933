// NumPy's file of a matrix of f32, as numpy.save writes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "support/client.h"

namespace loom::cli {

class NpyFile {
 public:
  NpyFile(std::int64_t rows, std::int64_t cols);
  // The matrix, row by row, to be filled.
  std::span<float> values() const;
  // The path has the old content or the new, never a part.
  void save(const std::string& path) const { bytes_.save(path); }

 private:
  Bytes bytes_;
  std::size_t begin_;
};

}  // namespace loom::cli
