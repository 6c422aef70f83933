// Calls of the C interface that are repeated with allocations failing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <loom/loom.h>

namespace loom::test {

// What a scenario's calls give: bytes in a place of their own, since they are taken while nothing
// can be allocated.
struct Taken {
  unsigned char bytes[4096];
  std::size_t size = 0;
  void add(const void* data, std::size_t n) {
    n = n < sizeof bytes - size ? n : sizeof bytes - size;
    std::memcpy(bytes + size, data, n);
    size += n;
  }
  template <class T>
  void add(const T& value) {
    add(&value, sizeof value);
  }
  bool operator==(const Taken& o) const {
    return size == o.size && std::memcmp(bytes, o.bytes, size) == 0;
  }
};

// Handles that are released at the end, or one by one.
struct Handles {
  loom_handle list[16] = {};
  int count = 0;
  ~Handles() {
    while (count > 0) (void)loom_release(list[--count], nullptr);
  }
  loom_handle* next() { return &list[count++]; }
};

class Scenario {
 public:
  virtual ~Scenario() = default;
  // What lasts over all runs. Returns LOOM_OK or the error's code.
  virtual std::int32_t prepare(loom_error& error) = 0;
  // The calls, up to the first that fails. Allocates nothing itself.
  virtual std::int32_t act(Taken& taken, loom_error& error) = 0;
  // Whether what lasts is right, after a run that succeeded.
  virtual bool right(const Taken& taken, const Taken& expected) { return taken == expected; }
};

// The eight of docs: network, session, trainer, entity, safetensors, tokenizer, generator, onnx.
Scenario* make_scenario(const std::string& name);

}  // namespace loom::test

// In act(): one call of the interface.
#define LOOM_CALL(call)                         \
  do {                                          \
    const std::int32_t loom_code = (call);      \
    if (loom_code != LOOM_OK) return loom_code; \
  } while (0)
