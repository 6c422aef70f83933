// Calls of the C interface that are repeated with allocations failing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
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

// By name: what lasts over calls, what does not, and files.
using MakeScenario = std::function<Scenario*()>;
const std::map<std::string, MakeScenario>& lasting_scenarios();
const std::map<std::string, MakeScenario>& object_scenarios();
const std::map<std::string, MakeScenario>& file_scenarios();

// A file of tests/cases/data.
std::string file_text(const char* name);

}  // namespace loom::test

#define LOOM_TEXT(s) (s), std::strlen(s)

// In act(): one call of the interface.
#define LOOM_TRY_CALL(call)                     \
  do {                                          \
    const std::int32_t loom_code = (call);      \
    if (loom_code != LOOM_OK) return loom_code; \
  } while (0)

namespace loom::test {

// Text or bytes of a handle, which is released.
inline std::int32_t take(loom_bytes bytes, Taken& taken, loom_error& error) {
  void* data = nullptr;
  std::uint64_t size = 0;
  LOOM_TRY_CALL(loom_bytes_data(bytes, &data, &size, &error));
  taken.add(data, size);
  return loom_release(bytes, &error);
}

}  // namespace loom::test
