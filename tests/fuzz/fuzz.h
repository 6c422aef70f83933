// What the fuzz targets share: a check that stops the fuzzer, sources over its bytes, and the promises every reader of tensors makes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "formats/tensor_file.h"

#define FUZZ_CHECK(condition)                                                       \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                 \
    }                                                                               \
  } while (0)

namespace loom::fuzz {

inline SourcePtr view_source(const std::uint8_t* data, std::size_t size) {
  return source_from_view({reinterpret_cast<const std::byte*>(data), size}, "input");
}

inline SourcePtr callback_source(const std::uint8_t* data, std::size_t size) {
  return source_from_callback(
      size,
      [data](std::uint64_t offset, std::span<std::byte> out) {
        std::memcpy(out.data(), data + offset, out.size());
        return Status();
      },
      "input");
}

// A refusal names the input and a reason, with a code that says it is the file's fault.
inline void check_refusal(const Status& status) {
  const Code code = status.code();
  FUZZ_CHECK(code == Code::corrupt || code == Code::truncated || code == Code::unsupported || code == Code::out_of_range);
  FUZZ_CHECK(status.message().find("input") != std::string::npos);
  FUZZ_CHECK(status.message().size() < 2000);
}

// Every tensor lies in the file, has the size of its shape, and decodes to the same bits with and without a view.
inline void check_tensors(const std::vector<TensorInfo>& mapped, const std::vector<TensorInfo>& called, std::size_t size) {
  FUZZ_CHECK(mapped.size() == called.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    const TensorInfo& tensor = mapped[i];
    FUZZ_CHECK(tensor.name == called[i].name && tensor.shape == called[i].shape && tensor.offset == called[i].offset);
    FUZZ_CHECK(tensor.offset <= size && tensor.size <= size - tensor.offset);
    FUZZ_CHECK(storage_bytes(tensor.type, *element_count(tensor.shape)) == tensor.size);
    total += tensor.size;
    std::vector<double> a(tensor.elements()), b(tensor.elements());
    FUZZ_CHECK(read_f64(tensor, 0, a).ok() && read_f64(called[i], 0, b).ok());
    FUZZ_CHECK(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
    float last;
    FUZZ_CHECK(a.empty() || read_f32(tensor, a.size() - 1, {&last, 1}).ok());
    FUZZ_CHECK(!read_f32(tensor, a.size(), {&last, 1}).ok());
  }
  FUZZ_CHECK(total <= size);  // no two tensors share bytes
}

}  // namespace loom::fuzz
