// Registered layers: gradients in f64, threads, formats, and programs that name them.
#include "conformance/support.h"
#include "exec/session.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

template <class T>
T* row(const CallArray& a, std::int64_t r) {
  return static_cast<T*>(a.data) + r * a.stride;
}

// y[i] = g[i] * x[i] * x[(i + 1) mod n] + b[i]: no rows, no columns alone.
struct Swirl final : CustomLayer {
  Swirl() {
    name = "acme.swirl";
    f64 = differentiable = true;
  }
  Result<std::string> plan(const std::string& request) const override {
    LOOM_ASSIGN(const Json json, Json::parse(request));
    std::int64_t n = 1;
    for (const Json& d : json.find("dims")->as_array()) n *= d.as_integer();
    const std::string cols = std::to_string(n);
    return R"({"out":)" + json.find("dims")->dump() + R"(,"params":[{"role":"g","cols":)" + cols +
           R"(,"init":"ones"},{"role":"b","cols":)" + cols + "}]}";
  }
  Status forward(const CallArrays& a) const override {
    return a.f64 ? ahead<double>(a) : ahead<float>(a);
  }
  Status backward(const CallArrays& a) const override {
    return a.f64 ? back<double>(a) : back<float>(a);
  }
  bool same(const CustomLayer& other) const override { return this == &other; }

  template <class T>
  static Status ahead(const CallArrays& a) {
    const std::int64_t n = a.x.cols;
    const T *g = row<T>(a.params[0], 0), *b = row<T>(a.params[1], 0);
    for (std::int64_t r = 0; r < a.x.rows; ++r)
      for (std::int64_t i = 0; i < n; ++i)
        row<T>(a.y, r)[i] = g[i] * row<T>(a.x, r)[i] * row<T>(a.x, r)[(i + 1) % n] + b[i];
    return {};
  }
  template <class T>
  static Status back(const CallArrays& a) {
    const std::int64_t n = a.x.cols;
    const T* g = row<T>(a.params[0], 0);
    T *gg = row<T>(a.gparams[0], 0), *gb = row<T>(a.gparams[1], 0);
    std::fill_n(gg, n, T(0));
    std::fill_n(gb, n, T(0));
    for (std::int64_t r = 0; r < a.x.rows; ++r) {
      const T *x = row<T>(a.x, r), *gy = row<T>(a.gy, r);
      T* gx = row<T>(a.gx, r);
      std::fill_n(gx, n, T(0));
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t j = (i + 1) % n;
        gx[i] += gy[i] * g[i] * x[j];
        gx[j] += gy[i] * g[i] * x[i];
        gg[i] += gy[i] * x[i] * x[j];
        gb[i] += gy[i];
      }
    }
    return {};
  }
};

class CustomLayers : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(register_custom_layer(std::make_shared<Swirl>()).ok()); }
  void TearDown() override {
    EXPECT_TRUE(unregister_custom_layer("acme.swirl", 1).ok());  // no network has it any more
  }
};

const std::string kSwirl = R"("type":"custom","layer":"acme.swirl","dtype":"f64")";
std::string dense(int out) {
  return R"("type":"dense","dtype":"f64","out":)" + std::to_string(out);
}

TEST_F(CustomLayers, Gradients) {
  check_gradients(chain(R"({"width":4})", {dense(5), kSwirl, dense(3)}, 2), false);
  check_gradients(chain(R"({"width":4})", {kSwirl, dense(3)}, 2), true);
}

TEST_F(CustomLayers, GradientsOfSharedOnesAddUp) {
  const std::string run = R"("links":[{"run":[0,0,0,1]}])";
  check_gradients(chain(R"({"width":4})", {dense(4), kSwirl, run, dense(3)}, 2), false);
}

TEST_F(CustomLayers, InContainers) {
  const auto inside = [](const std::string& rest) {
    return rest + ",\"dtype\":\"f64\",\"layers\":[{" + kSwirl + "}";
  };
  check_gradients(
      chain(R"({"width":4})",
            {dense(4), inside(R"("type":"sequential")") + R"(,{"type":"residual"}])", dense(3)}, 2),
      false);
  check_gradients(
      chain(R"({"width":4})",
            {dense(4), inside(R"("type":"parallel")") + ",{" + dense(2) + "}]", dense(3)}, 2),
      false);
  check_gradients(chain(R"({"dims":[3,4]})",
                        {dense(4), inside(R"("type":"time_distributed","count":3)") + "]",
                         R"("type":"flatten","dtype":"f64")", dense(3)},
                        2),
                  false);
}

TEST_F(CustomLayers, RecomputationGivesTheSame) {
  check_gradients(chain(R"({"width":4})", {dense(5), kSwirl, dense(3)}, 2), Loss::mse, 3, 1,
                  [](Network&, LearnerOptions& options) { options.recompute = true; });
}

TEST_F(CustomLayers, ProgramsNameThem) {
  Network network = test::network_of(
      chain(R"({"width":4})", {R"("type":"custom","layer":"acme.swirl","config":{"k":2})"}, 2));
  ThreadPool pool(3);
  auto session = Session::create(network, pool, {});
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  const Program& program = session->program();
  ASSERT_EQ(program.calls.size(), 1u);
  const std::string bytes = program.encode();
  const auto again = Program::decode(bytes);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->calls, program.calls);
  EXPECT_EQ(again->hash(), program.hash());
  Program other = program;
  other.calls[0].config = R"({"k":3})";
  EXPECT_NE(other.hash(), program.hash());
  other.calls[0].dims = {5};
  EXPECT_EQ(verify(other).code(), Code::corrupt) << verify(other).to_string();
  other = program;
  other.code[0].ints[0] = 1;
  EXPECT_EQ(verify(other).code(), Code::corrupt);
  other = program;
  other.calls[0].version = 7;
  EXPECT_EQ(Program::decode(other.encode()).status().code(), Code::not_found);
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(Program::decode(bytes.substr(0, n)).ok());
}

TEST_F(CustomLayers, ADeviceRefusesThemByName) {
  Network network =
      test::network_of(chain(R"({"width":4})", {R"("type":"custom","layer":"acme.swirl")"}, 2));
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {});
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  const LoweredProgram lowered = lower(session->program());
  const webgpu::MatrixLookup none = [](BufferId) { return webgpu::Matrix{}; };
  const auto refused = webgpu::launches_of(lowered, lowered.code[0], none, {});
  ASSERT_EQ(refused.status().code(), Code::unsupported);
  EXPECT_NE(refused.status().message().find("acme.swirl@1"), std::string::npos)
      << refused.status().to_string();
}

}  // namespace
}  // namespace loom
