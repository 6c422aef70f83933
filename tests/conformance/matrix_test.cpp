// The matrix: every layer type that is registered, so a new folder under src/layers is covered the moment it exists, against what every
// layer promises: gradients, the same bits however it is run, all classes of weights, and both file forms.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "checkpoint/entity.h"
#include "conformance/support.h"
#include "exec/session.h"
#include "ops/cpu/isa.h"

namespace loom {
namespace {

constexpr std::int64_t kRows = 6;

// A cell of this type inside a chain that fits it.
struct Sample {
  std::string input, cell;
};

// Settings that make small layers of the usual kinds: a type takes what it knows of them and the rest fails to parse.
// The first that plans is the sample.
const std::vector<std::string>& settings() {
  static const std::vector<std::string> kAll = {"", R"(,"out":8)", R"(,"hidden":8)", R"(,"heads":2)", R"(,"layers":[{"type":"dense","out":8}])",
                                                R"(,"out":8,"hidden":8)", R"(,"heads":2,"hidden":8)", R"(,"heads":2,"out":8)"};
  return kAll;
}

std::string topology_of(const Sample& s, const std::string& dtype) {
  const std::string f = R"(,"dtype":")" + dtype + "\"", dense = R"("type":"dense")" + f;
  const std::string first = s.input == R"({"width":8})" ? dense + R"(,"out":8,"activation":"tanh")" : R"("name":"ids go straight in")";
  return test::chain(s.input, {first, s.cell + f, dense + R"(,"out":5)"});
}

// Tries values, then ids, then a place inside of a sequential; or says what the planner had against each.
Result<Sample> sample_of(const LayerType& type) {
  std::string refusals;
  const std::string name = R"("type":")" + std::string(type.name()) + "\"";
  for (const char* input : {R"({"width":8})", R"({"ids":8})"}) {
    for (const std::string& s : settings()) {
      for (const bool nested : {false, true}) {
        const std::string cell = nested ? R"("type":"sequential","layers":[{"type":"dense","out":8},{)" + name + s + "}]" : name + s;
        const Sample sample{input, cell};
        const auto network = Network::from_json(std::string_view(topology_of(sample, "f32")));
        if (network.ok()) return sample;
        refusals += "\n  {" + cell + "} of " + input + ": " + network.status().message();
      }
    }
  }
  return Status(Code::unsupported, "no sample settings plan a " + std::string(type.name()) + ": add some that do to settings()" + refusals);
}

Network make(const Sample& sample, const std::string& dtype) {
  auto n = Network::from_json(std::string_view(topology_of(sample, "f32")));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(7).ok());
  std::uint64_t stream = 100;
  for (auto& p : n->params()) {  // zeros and ones hide mistakes
    const RandomStream random(3, stream++);
    auto m = p.param->store->mutable_master();
    for (std::size_t i = 0; i < m.size(); ++i) m[i] += 0.3f * (random.uniform(i) - 0.5f);
    p.param->store->touch();
  }
  const auto format = parse_weight_format(dtype);
  EXPECT_TRUE(format.ok());
  const Status s = n->morph(*format);
  EXPECT_TRUE(s.ok()) << dtype << ": " << s.to_string();
  return std::move(*n);
}

struct How {
  int threads = 1;
  std::int64_t rows_per_run = kRows;
  std::string isa;
};

// All rows of one sequence, with unwritten memory poisoned.
std::vector<float> run(Network& n, const How& how) {
  ThreadPool pool(how.threads);
  auto s = Session::create(n, pool, {.max_rows = kRows, .max_positions = 64, .isa = how.isa, .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  if (!s.ok()) return {};
  Executor& e = s->executor();
  const Program& p = s->program();
  const bool ids = n.input().ids > 0;
  const BufferId x = p.find(BufferKind::input, "", ids ? "ids" : "x"), positions = p.find(BufferKind::input, "", "positions"), sequences = p.find(BufferKind::input, "", "sequences");
  const RandomStream random(11, 1);
  std::vector<float> y;
  for (std::int64_t at = 0; at < kRows; at += how.rows_per_run) {
    const std::int64_t count = std::min(how.rows_per_run, kRows - at);
    EXPECT_TRUE(e.set(p.find_register("R"), static_cast<std::uint32_t>(count)).ok());
    for (std::int64_t r = 0; r < count; ++r) {
      const auto row = static_cast<std::uint64_t>(at + r);
      if (ids) e.row<std::uint32_t>(x, r)[0] = static_cast<std::uint32_t>(row * 3 % 8);
      else for (std::uint64_t c = 0; c < 8; ++c) e.row<float>(x, r)[c] = 2 * random.uniform(row * 8 + c) - 1;
      if (positions != kNone) e.row<std::uint32_t>(positions, r)[0] = static_cast<std::uint32_t>(row);
      if (sequences != kNone) e.row<std::uint32_t>(sequences, r)[0] = 0;
    }
    const Status status = e.run();
    EXPECT_TRUE(status.ok()) << status.to_string();
    for (std::int64_t r = 0; r < count; ++r)
      for (float v : s->output(r)) y.push_back(v);
  }
  for (float v : y) EXPECT_TRUE(v - v == 0) << "not finite: something is read that was not written";
  return y;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && !a.empty() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class Matrix : public testing::TestWithParam<const LayerType*> {
 protected:
  void SetUp() override {
    auto sample = sample_of(*GetParam());
    ASSERT_TRUE(sample.ok()) << sample.status().message();
    sample_ = std::move(*sample);
  }
  Sample sample_;
};

TEST_P(Matrix, GradientsEqualFiniteDifferences) {
  const bool ids = sample_.input != R"({"width":8})";
  test::check_gradients(topology_of(sample_, "f64"), ids, 2, 3);
}

// One format of every arithmetic class, and the smallest codes.
TEST_P(Matrix, EveryRunGivesTheSameBits) {
  for (const char* dtype : {"f32", "f64", "bf16", "i8", "i4", "ternary", "binary", "fp8e4m3"}) {
    SCOPED_TRACE(dtype);
    Network n = make(sample_, dtype);
    const std::vector<float> y = run(n, {.isa = "generic"});
    for (std::string_view isa : cpu::available_isas()) EXPECT_TRUE(same_bits(run(n, {.isa = std::string(isa)}), y)) << isa;
    for (int threads : {2, 3}) EXPECT_TRUE(same_bits(run(n, {.threads = threads}), y)) << threads << " threads";
    for (std::int64_t cut : {1, 2, 4}) EXPECT_TRUE(same_bits(run(n, {.threads = 2, .rows_per_run = cut}), y)) << cut << " rows per run";
  }
}

TEST_P(Matrix, ReadsBackFromItsTopologyAndItsFile) {
  const std::string path = testing::TempDir() + "loom_matrix_" + std::string(GetParam()->name()) + ".entity";
  for (const char* dtype : {"f32", "f64", "i4"}) {
    SCOPED_TRACE(dtype);
    Network n = make(sample_, dtype);
    const std::string topology = n.to_json().dump();
    const auto again = Network::from_json(std::string_view(topology));
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_EQ(again->to_json().dump(), topology);
    ASSERT_TRUE(save_network(path, n).ok());
    auto source = open_source(path);
    ASSERT_TRUE(source.ok());
    auto entity = Entity::open(*source);
    ASSERT_TRUE(entity.ok()) << entity.status().to_string();
    auto loaded = load_network(*entity);
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    EXPECT_EQ(loaded->to_json().dump(), topology);
    EXPECT_TRUE(same_bits(run(*loaded, {}), run(n, {})));
    std::filesystem::remove(path);
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Matrix, testing::ValuesIn(layer_types()), [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace loom
