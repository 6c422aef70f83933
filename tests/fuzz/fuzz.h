// What the fuzz targets share: a check that stops the fuzzer, a limit of CPU time for each input,
// sources over its bytes, and the promises every reader of tensors makes.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "formats/tensor_file.h"

#define FUZZ_CHECK(condition)                                                            \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (0)

// The body of LLVMFuzzerTestOneInput, under the limit of CPU time.
#define FUZZ_TARGET(data, size)                                                              \
  static void fuzz_input(const std::uint8_t* data, std::size_t size);                        \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t input_size) { \
    const loom::fuzz::CpuLimit limit;                                                        \
    fuzz_input(input, input_size);                                                           \
    return 0;                                                                                \
  }                                                                                          \
  static void fuzz_input(const std::uint8_t* data, std::size_t size)

namespace loom::fuzz {

// No input takes more than a second of CPU time of all threads, sanitizers included. Time on the
// wall would blame an input for what else the machine does. The first input also pays for tables
// that are made once.
class CpuLimit {
 public:
  CpuLimit() : begin_(milliseconds()) {}
  ~CpuLimit() {
    static constexpr std::int64_t kMax = 1000;
    static bool first = true;
    const std::int64_t taken = milliseconds() - begin_;
    if (taken > kMax && !first)
      std::fprintf(stderr, "took %lld ms of CPU time\n", static_cast<long long>(taken));
    FUZZ_CHECK(taken <= kMax || first);
    first = false;
  }

 private:
  static std::int64_t milliseconds() {
    timespec t{};
    FUZZ_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
    return std::int64_t{1000} * t.tv_sec + t.tv_nsec / 1'000'000;
  }
  const std::int64_t begin_;
};

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
  FUZZ_CHECK(code == Code::corrupt || code == Code::truncated || code == Code::unsupported ||
             code == Code::out_of_range);
  FUZZ_CHECK(status.message().find("input") != std::string::npos);
  FUZZ_CHECK(status.message().size() < 2000);
}

// Every tensor lies in the file, has the size of its shape, and decodes to the same bits with and
// without a view.
inline void check_tensors(const std::vector<TensorInfo>& mapped,
                          const std::vector<TensorInfo>& called, std::size_t size) {
  FUZZ_CHECK(mapped.size() == called.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    const TensorInfo& tensor = mapped[i];
    FUZZ_CHECK(tensor.name == called[i].name && tensor.shape == called[i].shape &&
               tensor.offset == called[i].offset);
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
