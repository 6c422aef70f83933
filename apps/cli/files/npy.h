// NumPy's file of an array of f32 or f64, as numpy.save writes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/client.h"

namespace loom::cli {

class NpyFile {
 public:
  // A matrix of f32.
  NpyFile(std::int64_t rows, std::int64_t cols) : NpyFile({rows, cols}, false) {}
  // `wide`: of f64.
  NpyFile(const std::vector<std::int64_t>& shape, bool wide);
  // The values of f32 in the order of C, to be filled.
  std::span<float> values() const;
  // Value i in the type of the file.
  void set(std::size_t i, double value);
  // The path has the old content or the new, never a part.
  void save(const std::string& path) const { bytes_.save(path); }

 private:
  Bytes bytes_;
  std::size_t begin_;
  bool wide_;
};

}  // namespace loom::cli
