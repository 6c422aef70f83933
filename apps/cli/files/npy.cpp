#include "files/npy.h"

#include <cstring>

namespace loom::cli {
namespace {

std::string header(std::int64_t rows, std::int64_t cols) {
  std::string text = "\x93NUMPY\x01";
  text.append(3, '\0');  // minor version, header length
  text += "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
          std::to_string(cols) + "), }";
  // NumPy leaves room for the first dimension to grow to 21 digits, and begins values at 64.
  text.append(21 - std::to_string(rows).size(), ' ');
  text.resize((text.size() + 1 + 63) / 64 * 64 - 1, ' ');
  text += '\n';
  const std::size_t size = text.size() - 10;
  text[8] = static_cast<char>(size & 255);
  text[9] = static_cast<char>(size >> 8);
  return text;
}

}  // namespace

NpyFile::NpyFile(std::int64_t rows, std::int64_t cols) {
  const std::string begin = header(rows, cols);
  begin_ = begin.size();
  bytes_ = Bytes::create(begin_ + static_cast<std::uint64_t>(rows * cols) * sizeof(float));
  std::memcpy(bytes_.span().data(), begin.data(), begin_);
}

std::span<float> NpyFile::values() const {
  const auto all = bytes_.span().subspan(begin_);
  return {reinterpret_cast<float*>(all.data()), all.size() / sizeof(float)};
}

}  // namespace loom::cli
