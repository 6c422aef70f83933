#include "files/npy.h"

#include <cstring>

namespace loom::cli {
namespace {

std::string header(const std::vector<std::int64_t>& shape, bool wide) {
  std::string text = "\x93NUMPY\x01", dims;
  text.append(3, '\0');  // minor version, header length
  for (const std::int64_t d : shape) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
  text += std::string("{'descr': '<f") + (wide ? '8' : '4') +
          "', 'fortran_order': False, 'shape': (" + dims + (shape.size() == 1 ? "," : "") + "), }";
  // NumPy leaves room for the first dimension to grow to 21 digits, and begins values at 64.
  text.append(21 - std::to_string(shape[0]).size(), ' ');
  text.resize((text.size() + 1 + 63) / 64 * 64 - 1, ' ');
  text += '\n';
  const std::size_t size = text.size() - 10;
  text[8] = static_cast<char>(size & 255);
  text[9] = static_cast<char>(size >> 8);
  return text;
}

}  // namespace

NpyFile::NpyFile(const std::vector<std::int64_t>& shape, bool wide) : wide_(wide) {
  const std::string begin = header(shape, wide);
  std::uint64_t count = wide ? sizeof(double) : sizeof(float);
  for (const std::int64_t d : shape) count *= static_cast<std::uint64_t>(d);
  begin_ = begin.size();
  bytes_ = Bytes::create(begin_ + count);
  std::memcpy(bytes_.span().data(), begin.data(), begin_);
}

void NpyFile::set(std::size_t i, double value) {
  std::byte* const at = bytes_.span().data() + begin_;
  const auto narrow = static_cast<float>(value);
  if (wide_) std::memcpy(at + i * sizeof value, &value, sizeof value);
  else std::memcpy(at + i * sizeof narrow, &narrow, sizeof narrow);
}

std::span<float> NpyFile::values() const {
  const auto all = bytes_.span().subspan(begin_);
  return {reinterpret_cast<float*>(all.data()), all.size() / sizeof(float)};
}

}  // namespace loom::cli
