// Ids that a device picks by itself: those of the CPU for every setting, and little goes over the
// bus.
#include "llm/generate/generate.h"

#include <array>
#include <limits>

#include "gpu/test_device.h"
#include "ops/draw.h"
#include "ops/program_builder.h"
#include "support/places.h"

namespace loom {
namespace {

constexpr std::uint32_t kVocab = 600;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinity = std::numeric_limits<float>::infinity();

const SamplerOptions kSettings[] = {
    {},
    {.temperature = 1, .seed = 3},
    {.temperature = 0.7, .seed = 1ull << 40},
    {.temperature = 100, .seed = 5},
    {.temperature = 1e-30},
    {.temperature = 1e6, .top_k = 599},
    {.temperature = 1, .top_k = 1},
    {.temperature = 1, .top_k = 5, .seed = 6},
    {.temperature = 2, .top_k = 50, .top_p = 0.9, .seed = 7},
    {.temperature = 1, .top_p = 0.9},
    {.temperature = 1, .top_p = 0.5, .seed = 8},
    {.temperature = 5, .top_p = 0.999, .seed = 9},
    {.temperature = 1, .top_p = 1e-6},
    {.temperature = 1, .top_p = 1e-310},
    {.temperature = 1, .top_p = 1 - 0x1p-53, .seed = 10},
    {.temperature = 1, .min_p = 0.05, .seed = 11},
    {.temperature = 3, .min_p = 1},
    {.temperature = 3, .min_p = 1e-14, .seed = 12},
    {.temperature = 1.5, .top_k = 40, .top_p = 0.95, .min_p = 0.3, .seed = 13},
    {.temperature = 1.5, .top_p = 0.3, .min_p = 1e-3, .seed = 14},
    {.temperature = 1.5, .top_k = 3, .min_p = 1e-9, .seed = 15},
    {.repetition_penalty = 1.5},
    {.temperature = 1, .repetition_penalty = 1.3, .seed = 16},
    {.temperature = 2, .top_k = 30, .top_p = 0.9, .repetition_penalty = 0.7, .seed = 17},
    {.temperature = 2.5, .seed = 18},
    {.temperature = 1, .seed = 496},  // a draw of 0.9986 at 41: far below the top
};

// Ids before a text; some are none of the row.
constexpr std::array<std::int32_t, 9> kHistory{0, 3, 3, 31, 32, 599, 600, -1, 1 << 30};

// Logits of many kinds: the row of an id.
float logit(std::uint32_t row, std::uint32_t i) {
  const RandomStream random(row, 7);
  const float u = random.uniform(i);
  switch (row % 10) {
    case 0: return 8 * u;
    case 1: return -3.25f;                                           // all equal
    case 2: return i % 10 == 3 ? 1.0f : -50.0f;                      // 60 equal ones
    case 3: return 80 * u;                                           // one far above others
    case 4: return i % 3 == 0 ? kNan : i % 3 == 1 ? -kInfinity : u;  // holes
    case 5: return static_cast<float>(random.below(i, 21)) / 4;      // ties
    case 6: return 1 + 0x1p-20f * u;                                 // in few bins, or one
    case 7: return (u - 0.5f) * 0x1p120f;
    case 8: return i == 17 ? 12 : u / 20;  // many far below the top, in one bin
    default: return -0x1p-30f * u;
  }
}

// Row `id` of a table is what follows the id.
Program table_program(std::uint32_t vocab, std::uint32_t n) {
  Program program;
  ProgramBuilder emit(program);
  const Rows rows{1, emit.u32_register("R", 4), kNone};
  const View ids = emit.input("ids", ValueType::u32, rows, 1);
  emit.input("positions", ValueType::u32, rows, 1);
  const View y = emit.gather(emit.weight("e", "w", n, vocab, {}, ValueType::f32), ids);
  emit.copy_to(y, emit.output("y", ValueType::f32, rows, vocab));
  return program;
}

struct Side {
  Side(const Program& program, WeightStore& store, gpu::Device* device) {
    ExecutorOptions options;
    options.device = device;
    auto made = Executor::create(
        program, [&](std::string_view, std::string_view) { return &store; }, pool, options);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    e = std::move(*made);
    EXPECT_TRUE(e->set(e->program().find_register("R"), 1).ok());
  }
  void place(std::uint32_t id, std::uint32_t position) {
    e->row<std::uint32_t>(e->program().find(BufferKind::input, "", "ids"), 0)[0] = id;
    e->row<std::uint32_t>(e->program().find(BufferKind::input, "", "positions"), 0)[0] = position;
  }
  // Id after id as the sampler says; ~0 and id 0 next where it has none.
  std::vector<std::uint32_t> sampled(Sampler sampler, std::uint32_t id, std::uint32_t position,
                                     std::size_t n) {
    std::vector<std::uint32_t> list;
    std::vector<std::int32_t> seen(kHistory.begin(), kHistory.end());
    for (; list.size() < n; ++position) {
      seen.push_back(static_cast<std::int32_t>(id));
      place(id, position);
      EXPECT_TRUE(e->run().ok());
      const auto y = e->row<float>(e->program().find(BufferKind::output, "", "y"), 0);
      const auto picked = sampler.pick(y, seen, position + 1);
      list.push_back(picked.ok() ? static_cast<std::uint32_t>(*picked) : ~0u);
      id = picked.ok() ? list.back() : 0;
    }
    return list;
  }
  std::vector<std::uint32_t> ahead(const Sampler& sampler, std::uint32_t id, std::uint32_t position,
                                   std::size_t n) {
    std::vector<std::uint32_t> list(n);
    place(id, position);
    Draw draw = *sampler.draw();
    draw.history = kHistory;
    const Status ran = e->run_ahead(draw, list);
    EXPECT_TRUE(ran.ok()) << ran.to_string();
    return list;
  }
  ThreadPool pool{1};
  std::unique_ptr<Executor> e;
};

TEST(Generating, IdsAreThoseOfTheSampler) {
  LOOM_TEST_DEVICE(device);
  std::vector<float> table;
  for (std::uint32_t r = 0; r < kVocab; ++r)
    for (std::uint32_t i = 0; i < kVocab; ++i) table.push_back(logit(r, i));
  auto store = WeightStore::from_f32(kVocab, kVocab, table);
  ASSERT_TRUE(store.ok());
  const Program program = table_program(kVocab, kVocab);
  Side cpu(program, *store, nullptr), gpu(program, *store, device);
  EXPECT_FALSE(cpu.e->resident());
  ASSERT_TRUE(gpu.e->resident());
  for (const SamplerOptions& options : kSettings) {
    auto sampler = Sampler::create(options);
    ASSERT_TRUE(sampler.ok() && sampler->draw());
    for (const std::uint32_t id : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
      EXPECT_EQ(gpu.ahead(*sampler, id, 5 * id, 3), cpu.sampled(*sampler, id, 5 * id, 3))
          << "from " << id << " at " << options.temperature << ' ' << options.top_k << ' '
          << options.top_p << ' ' << options.min_p;
  }
}

// Of rows without a finite maximum none is picked.
TEST(Generating, SomeRowsAreLeftToTheHost) {
  LOOM_TEST_DEVICE(device);
  const auto row = [&](std::uint32_t vocab, float value, const SamplerOptions& options) {
    const Program program = table_program(vocab, 2);
    auto store = WeightStore::from_f32(2, vocab, std::vector<float>(2 * vocab, value));
    EXPECT_TRUE(store.ok());
    Side cpu(program, *store, nullptr), gpu(program, *store, device);
    auto sampler = Sampler::create(options);
    EXPECT_TRUE(sampler.ok());
    return std::pair(gpu.ahead(*sampler, 1, 3, 1), cpu.sampled(*sampler, 1, 3, 1));
  };
  const std::vector<std::uint32_t> none{~0u};
  for (const float value : {kNan, kInfinity, -kInfinity})
    for (const double temperature : {0.0, 1.0})
      EXPECT_EQ(row(70, value, {.temperature = temperature}), std::pair(none, none)) << value;
  const auto whole = row(9000, 1, {.temperature = 1, .top_k = 8500, .min_p = 0.5});
  EXPECT_EQ(whole.first, whole.second);
  EXPECT_LT(whole.first[0], 9000u);
  // Sums about and beyond 2^53, which f64 rounds.
  for (const std::uint32_t vocab : {8191, 8192, 9000, 16384, 40000})
    for (const double top_p : {0.5, 0.9, 1 - 0x1p-53}) {
      const auto large = row(vocab, 1, {.temperature = 1, .top_p = top_p});
      EXPECT_EQ(large.first, large.second) << vocab << ' ' << top_p;
      EXPECT_LT(large.first[0], vocab);
    }
}

// Rows that many workgroups read, whose ids lie in few bins or in many.
TEST(Generating, IdsOfALargeVocabulary) {
  LOOM_TEST_DEVICE(device);
  constexpr std::uint32_t kMany = 20011;
  std::vector<float> table;
  for (const float spread : {0.6f, 4.0f, 0.01f})
    for (std::uint32_t i = 0; i < kMany; ++i) {
      const RandomStream random(i, 9);
      table.push_back(spread * (random.uniform(0) + random.uniform(1) - random.uniform(2)));
    }
  auto store = WeightStore::from_f32(3, kMany, table);
  ASSERT_TRUE(store.ok());
  const Program program = table_program(kMany, 3);
  Side cpu(program, *store, nullptr), gpu(program, *store, device);
  for (const SamplerOptions& options : {SamplerOptions{.temperature = 0.8, .seed = 1},
                                        {.temperature = 0.8, .top_k = 9000, .seed = 2},
                                        {.temperature = 0.8, .top_k = 7000, .top_p = 0.9},
                                        {.temperature = 2, .top_p = 0.9, .seed = 4},
                                        {.temperature = 0.8, .min_p = 0.5, .seed = 3}})
    for (const std::uint32_t id : {0, 1, 2})
      for (const std::uint32_t position : {0, 1, 2, 3, 4})
        EXPECT_EQ(gpu.ahead(*Sampler::create(options), id, position, 1),
                  cpu.sampled(*Sampler::create(options), id, position, 1))
            << id << ' ' << position << ' ' << options.top_k << ' ' << options.min_p;
}

TEST(Generating, SubnormalTemperaturesAreNotForDevices) {
  EXPECT_FALSE(Sampler::create({.temperature = 1e-40})->draw());
  EXPECT_TRUE(Sampler::create({.temperature = 1e-50})->draw());  // 0 as f32: greedy
}

// Counts what goes over the bus.
class Counting final : public gpu::Device {
 public:
  explicit Counting(gpu::Device& device) : d_(device) {}
  std::uint64_t bytes = 0, dispatches = 0;

  const gpu::DeviceInfo& info() const override { return d_.info(); }
  const gpu::Limits& limits() const override { return d_.limits(); }
  Result<gpu::Handle> create_buffer(std::uint64_t size, std::string_view what) override {
    return d_.create_buffer(size, what);
  }
  void destroy_buffer(gpu::Handle buffer) override { d_.destroy_buffer(buffer); }
  Status write(gpu::Handle buffer, std::uint64_t at, std::span<const std::byte> data) override {
    bytes += data.size();
    return d_.write(buffer, at, data);
  }
  Result<gpu::Handle> pipeline(const gpu::PipelineSource& s) override { return d_.pipeline(s); }
  Result<gpu::Handle> bind(gpu::Handle p, std::span<const gpu::Binding> b) override {
    return d_.bind(p, b);
  }
  void destroy_bindings(gpu::Handle bindings) override { d_.destroy_bindings(bindings); }
  Status submit(std::span<const gpu::Dispatch> list) override {
    dispatches += list.size();
    return d_.submit(list);
  }
  Status flush() override { return d_.flush(); }
  Status read(std::span<const gpu::ReadRange> ranges) override {
    for (const gpu::ReadRange& r : ranges) bytes += r.out.size();
    return d_.read(ranges);
  }
  std::uint64_t allocated_bytes() const override { return d_.allocated_bytes(); }

 private:
  gpu::Device& d_;
};

// A language model with attention; two at once, as a text and its device's.
Result<Model> small_model() {
  LOOM_ASSIGN(
      Network network,
      Network::from_json(*Json::parse(
          R"({"format":"loom-topology","version":2,"layers_per_cell":1,"input":{"ids":700},"cells":[
      {"at":[0,0,0,0],"type":"sequential","layers":[{"type":"embedding","out":16},
      {"type":"attention","heads":2,"rope":true},{"type":"residual"},
      {"type":"dense","out":700}]}]})")));
  LOOM_TRY(network.initialize(3));
  ModelConfig config;
  config.vocab_size = 700, config.max_positions = 128;
  return make_model("small", std::move(network), Status(Code::not_found, "none"), config);
}

TEST(Generating, TextsAreThoseOfTheCpuInFewBytes) {
  LOOM_TEST_DEVICE(device);
  auto model = small_model();
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  Counting counting(*device);
  ThreadPool pool(1);
  auto cpu = Generator::create(*model, pool),
       gpu = Generator::create(*model, pool, {.device = &counting});
  ASSERT_TRUE(cpu.ok() && gpu.ok()) << gpu.status().to_string();
  const std::vector<std::int32_t> prompt{5, 6, 7, 600};
  for (const SamplerOptions& sampling : {SamplerOptions{},
                                         {.temperature = 1, .seed = 4},
                                         {.temperature = 0.8, .top_p = 0.9},
                                         {.temperature = 1, .top_k = 20, .min_p = 0.01},
                                         {.temperature = 1, .repetition_penalty = 1.2}}) {
    Generation list[2];
    std::uint64_t bytes = 0;  // of the last 16 ids: before them kernels take their parameters
    for (Generator* g : {&*cpu, &*gpu}) {
      ASSERT_TRUE(g->feed(prompt).ok());
      GenerateOptions options;
      options.sampling = sampling;
      options.max_tokens = 25;
      int n = 0;
      options.on_token = [&](std::int32_t) {
        if (++n == 9) bytes = counting.bytes;
      };
      ASSERT_TRUE(g->generate(options, &list[g == &*gpu]).ok());
      bytes = counting.bytes - bytes;
    }
    EXPECT_EQ(list[0].ids, list[1].ids) << sampling.temperature;
    EXPECT_EQ(list[1].ids.size(), 25u);
    EXPECT_GT(bytes, 0u);
    EXPECT_LE(bytes, 16u * 64) << sampling.temperature;
  }
}

}  // namespace
}  // namespace loom
