// Registered layers: arithmetic that a program's host brings, in its own language, and the op
// `call` runs. Process-wide, by name and version. Every error names the layer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom {

inline constexpr std::size_t kMaxCallParams = 4;

// A call of a registered layer, as programs have it: encoded, printed and hashed with them.
struct Call {
  std::string name;
  std::int32_t version = 1;
  std::string config;              // JSON
  std::vector<std::int64_t> dims;  // of a row that arrives
  // The path of the cell that calls, for errors; no part of the program.
  std::string path{};
  friend bool operator==(const Call& a, const Call& b) {
    return a.name == b.name && a.version == b.version && a.config == b.config && a.dims == b.dims;
  }
  std::string to_string() const { return name + "@" + std::to_string(version); }
};

struct CallParam {
  std::string role, init;  // init: zeros, ones, normal
  std::int64_t rows = 1, cols = 0;
  double std = 0;
};
struct CallPlan {
  std::vector<std::int64_t> out;  // dimensions of a row that the layer gives
  std::int64_t width = 0;         // their product
  std::vector<CallParam> params;
};

// Row r of an array begins `stride` values behind row r - 1.
struct CallArray {
  void* data = nullptr;
  std::int64_t rows = 0, cols = 0, stride = 0;
};
// What a function of a layer works on: f32 or f64 values, all of one type.
struct CallArrays {
  std::string_view config, path;
  bool f64 = false;
  std::size_t param_count = 0;
  CallArray x, y, gy, gx;  // gy, gx: of backward alone
  std::array<CallArray, kMaxCallParams> params{}, gparams{};
};

class CustomLayer {
 public:
  virtual ~CustomLayer() = default;
  // JSON {"config", "dims"} -> JSON {"out": [dims], "params": [{"role", "rows", "cols", ...}]}.
  virtual Result<std::string> plan(const std::string& request) const = 0;
  virtual Status forward(const CallArrays& arrays) const = 0;
  virtual Status backward(const CallArrays& arrays) const = 0;
  // Whether registering this one beside `other` changes nothing.
  virtual bool same(const CustomLayer& other) const = 0;

  std::string name;
  std::int32_t version = 1;
  bool f32 = true, f64 = false;  // what it computes in
  bool row_dependent = false;    // a row that it gives depends on other rows
  bool differentiable = false;
};
using CustomLayerPtr = std::shared_ptr<const CustomLayer>;

// Refused where another layer has the name and version.
Status register_custom_layer(CustomLayerPtr layer);
// Refused while networks or sessions have the layer.
Status unregister_custom_layer(std::string_view name, std::int32_t version);
Result<CustomLayerPtr> find_custom_layer(std::string_view name, std::int32_t version);
// What the layer says of this call, checked.
Result<CallPlan> plan_call(const CustomLayer& layer, const Call& call);
// What it throws becomes a Status; what it wrote is then as instructions store it (rule 8).
Status run_call(const CustomLayer& layer, const CallArrays& arrays, bool backward) noexcept;
// "custom(acme.swirl@1)" where a program calls layers, else what is said `otherwise`.
std::string custom_numerics(const std::vector<Call>& calls, std::string_view otherwise);
// Whether this thread is in a function of a registered layer, which may not call back: Code::busy.
Status outside_of_calls();

}  // namespace loom
