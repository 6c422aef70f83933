// A layer that cancels the run that it is in.
#pragma once

#include <algorithm>
#include <atomic>

#include "base/json/json.h"
#include "ops/calls/custom_layer.h"

namespace loom::test::stop {

inline std::atomic<bool> flag{false};
inline std::atomic<int> countdown{0};  // calls of a Stop until it sets the flag; 0: never
inline std::atomic<int> late{0};       // calls after that
inline std::atomic<int> calls{0};

// y = x. The n-th call of one cancels the run that it is in.
struct Stop final : CustomLayer {
  Stop() {
    name = "test.stop";
    differentiable = true;
  }
  Result<std::string> plan(const std::string& request) const override {
    LOOM_ASSIGN(const Json json, Json::parse(request));
    return R"({"out":)" + json.find("dims")->dump() + "}";
  }
  Status forward(const CallArrays& a) const override { return pass(a.x, a.y); }
  Status backward(const CallArrays& a) const override { return pass(a.gy, a.gx); }
  bool same(const CustomLayer& other) const override { return this == &other; }
  static Status pass(const CallArray& from, const CallArray& to) {
    late += flag;
    ++calls;
    if (countdown > 0 && --countdown == 0) flag = true;
    for (std::int64_t r = 0; r < from.rows; ++r)
      std::copy_n(static_cast<const float*>(from.data) + r * from.stride, from.cols,
                  static_cast<float*>(to.data) + r * to.stride);
    return {};
  }
};

}  // namespace loom::test::stop
