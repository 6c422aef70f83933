// Encoder-decoders step by step give what they give for whole rows.
#include "exec/seq2seq.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/random.h"
#include "support/places.h"

namespace loom {
namespace {

Network network_of(const std::string& name, const WeightFormat& format = {}) {
  std::ifstream file(test::source_dir() + "/tests/conformance/seq2seq/" + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  auto n = Network::from_json(std::string_view(text.view()));
  EXPECT_TRUE(n.ok()) << name << ": " << n.status().to_string();
  EXPECT_TRUE(n->initialize(7).ok());
  // Zeros and ones hide mistakes.
  std::uint64_t stream = 100;
  for (auto& p : n->params()) {
    if (p.tied) continue;
    const RandomStream random(3, stream++);
    std::size_t i = 0;
    for (float& v : p.param->store->mutable_master())
      v += static_cast<float>(0.6 * (random.uniform(i++) - 0.5));
    p.param->store->touch();
  }
  EXPECT_TRUE(n->morph(format).ok());
  return std::move(*n);
}

// Rows of a network's input: ids, lengths from 1 on, values.
std::vector<float> rows_of(const Network& network, std::int64_t rows) {
  const RandomStream random(11, 1);
  std::vector<float> x;
  std::uint64_t at = 0;
  for (std::int64_t r = 0; r < rows; ++r)
    for (const Shape& part : network.input().parts)
      for (std::int64_t i = 0; i < part.count(); ++i) {
        const double u = random.uniform(at++);
        const bool full = part.name == "target_lengths";
        const double id = full ? static_cast<double>(part.ids - 1)
                          : part.dims.empty()
                              ? 1 + std::floor(u * static_cast<double>(part.ids - 1))
                              : std::floor(u * static_cast<double>(part.ids));
        x.push_back(static_cast<float>(part.ids > 0          ? id
                                       : part.name == "mask" ? (i > 0 && u < 0.4)
                                                             : 2 * u - 1));
      }
  return x;
}

struct Taken {
  std::vector<double> source, target;  // of all rows
};
// What encode takes, and the step `t` of the target.
Taken taken(const Network& network, std::span<const float> x, std::int64_t t) {
  Taken all;
  std::size_t at = 0;
  while (at < x.size())
    for (const Shape& part : network.input().parts) {
      const auto n = static_cast<std::size_t>(part.count());
      const std::size_t width =
          part.ids > 0 ? 1 : n / static_cast<std::size_t>(part.dims.empty() ? 1 : part.dims[0]);
      if (part.name == "target")
        for (std::size_t i = 0; i < width; ++i)
          all.target.push_back(x[at + static_cast<std::size_t>(t) * width + i]);
      else if (part.name != "target_lengths")
        all.source.insert(all.source.end(), x.begin() + static_cast<std::ptrdiff_t>(at),
                          x.begin() + static_cast<std::ptrdiff_t>(at + n));
      at += n;
    }
  return all;
}

std::vector<double> whole(Network& network, std::span<const float> x, std::int64_t rows) {
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {.max_rows = rows});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  const auto ran = session->run(x, rows);
  EXPECT_TRUE(ran.ok()) << ran.status().to_string();
  std::vector<double> y;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto wide = session->output_f64(r);
    const auto own = session->output(r);
    if (wide.empty()) y.insert(y.end(), own.begin(), own.end());
    else y.insert(y.end(), wide.begin(), wide.end());
  }
  return y;
}

// The largest difference of steps from whole rows.
double difference(const std::string& name, const WeightFormat& format, int threads) {
  Network network = network_of(name, format);
  constexpr std::int64_t kRows = 3;
  const std::vector<float> x = rows_of(network, kRows);
  const std::vector<double> expected = whole(network, x, kRows);
  ThreadPool pool(threads);
  auto s = Seq2Seq::create(network, pool, {.target = "target", .lanes = 4});
  EXPECT_TRUE(s.ok()) << name << ": " << s.status().to_string();
  if (!s.ok()) return 1e9;
  double max = 0;
  for (int twice = 0; twice < 2; ++twice) {
    const Status encoded = s->encode(taken(network, x, 0).source, kRows);
    EXPECT_TRUE(encoded.ok()) << encoded.to_string();
    const std::int64_t width = s->answer().width, steps = s->max_positions();
    for (std::int64_t t = 0; t < steps; ++t) {
      const Status ran = s->step(taken(network, x, t).target);
      EXPECT_TRUE(ran.ok()) << name << ": " << ran.to_string();
      if (!ran.ok()) return 1e9;
      for (std::int64_t r = 0; r < kRows; ++r)
        for (std::int64_t i = 0; i < width; ++i) {
          const auto k = static_cast<std::size_t>(i);
          const double got = s->output_f64(r).empty() ? s->output(r)[k] : s->output_f64(r)[k];
          EXPECT_TRUE(std::isfinite(got)) << name;
          max = std::max(
              max, std::abs(got - expected[static_cast<std::size_t>((r * steps + t) * width + i)]));
        }
    }
  }
  return max;
}

const char* const kNetworks[] = {"transformer", "shared_embedding", "states", "masked", "values"};

TEST(Seq2Seq, StepsGiveTheBitsOfWholeRows) {
  for (const char* name : kNetworks)
    for (const int threads : {1, 2}) {
      EXPECT_EQ(difference(name, {}, threads), 0) << name;
      EXPECT_EQ(difference(name, {.dtype = DType::f64}, threads), 0) << name;
    }
}
// Caches of attention keep 16 bits a value there.
TEST(Seq2Seq, StepsAreNearInFewBits) {
  for (const char* name : kNetworks)
    for (const DType dtype : {DType::i8, DType::bf16, DType::i4})
      EXPECT_LT(difference(name, default_format(dtype), 1), 2e-3) << name;
}

TEST(Seq2Seq, TheEncoderRunsOnce) {
  Network network = network_of("transformer");
  SessionOptions so;
  so.max_rows = so.sequences = 2;
  so.max_positions = 5;
  auto by_step = network.by_step("target");
  ASSERT_TRUE(by_step.ok()) << by_step.status().to_string();
  auto program = emit_program(*by_step, so);
  ASSERT_TRUE(program.ok());
  const View target{program->find(BufferKind::input, "", "x"), 7, 1};
  const Stages stages = split(*program, target);
  // The weights that each stage multiplies: keys and values of the encoder's answer in the first.
  const auto weights = [](const Program& p) {
    std::string all;
    for (const Buffer& b : p.buffers)
      if (b.kind == BufferKind::weight) all += b.path + ":" + b.role + " ";
    return all;
  };
  for (std::size_t i = 0; i < network.size(); ++i) {
    const Node& node = network.node(i);
    if (!node.type || node.type->name() != "cross_attention") continue;
    for (const char* role : {":k ", ":v "}) {
      EXPECT_NE(weights(stages.once).find(network.path(i) + role), std::string::npos);
      EXPECT_EQ(weights(stages.again).find(network.path(i) + role), std::string::npos);
    }
    for (const char* role : {":q ", ":o "}) {
      EXPECT_EQ(weights(stages.once).find(network.path(i) + role), std::string::npos);
      EXPECT_NE(weights(stages.again).find(network.path(i) + role), std::string::npos);
    }
  }
  // Nothing is multiplied in both.
  EXPECT_LT(stages.once.code.size() + stages.again.code.size(), program->code.size() + 8);
  EXPECT_TRUE(verify(stages.once).ok());
  EXPECT_TRUE(verify(stages.again).ok());
}

// x0 + 1 is read before its place is overwritten: what was once computed would be read too late.
TEST(Seq2Seq, NothingIsCutWhereAnOrderWouldBeLost) {
  for (const bool again : {false, true}) {
    Program program;
    ProgramBuilder emit(program);
    const Rows rows{1, emit.u32_register("R", 4), kNone};
    const View x = emit.input("x", ValueType::f32, rows, 2), early = ProgramBuilder::slice(x, 0, 1),
               late = ProgramBuilder::slice(x, 1, 1), a = emit.temp(ValueType::f32, rows, 1);
    emit.copy_to(emit.scale(early, 2), a);
    View y = emit.add(a, late);
    if (again) {
      emit.copy_to(emit.scale(early, 3), a);
      y = emit.add(y, a);
    }
    emit.copy_to(y, emit.output("y", ValueType::f32, rows, 1));
    const Stages stages = split(program, late);
    EXPECT_EQ(stages.once.code.empty(), again);
    EXPECT_EQ(stages.carried.size(), again ? 0u : 1u);
    EXPECT_EQ(stages.again.code.size() == program.code.size(), again);
    EXPECT_TRUE(verify(stages.once).ok() && verify(stages.again).ok());
  }
}

// Row i continues from row from[i]: what follows is what it would have been there.
TEST(Seq2Seq, RowsAreReordered) {
  for (const char* name : kNetworks) {
    Network network = network_of(name);
    const std::vector<float> x = rows_of(network, 3);
    ThreadPool pool(1);
    auto s = Seq2Seq::create(network, pool, {.target = "target", .lanes = 4});
    ASSERT_TRUE(s.ok());
    const std::vector<std::uint32_t> from{2, 0, 0, 1};
    const std::size_t width = s->target().count();
    const auto target = [&](std::int64_t t) { return taken(network, x, t).target; };
    std::vector<std::vector<float>> straight;
    ASSERT_TRUE(s->encode(taken(network, x, 0).source, 3).ok());
    for (int t = 0; t < 3; ++t) ASSERT_TRUE(s->step(target(t)).ok());
    for (std::int64_t r = 0; r < 3; ++r)
      straight.emplace_back(s->output(r).begin(), s->output(r).end());
    ASSERT_TRUE(s->encode(taken(network, x, 0).source, 3).ok());
    ASSERT_TRUE(s->step(target(0)).ok());
    ASSERT_TRUE(s->step(target(1)).ok());
    ASSERT_TRUE(s->reorder(from).ok());
    EXPECT_EQ(s->rows(), 4);
    std::vector<double> last;
    const std::vector<double> own = target(2);
    for (const std::uint32_t f : from)
      last.insert(last.end(), own.begin() + static_cast<std::ptrdiff_t>(f * width),
                  own.begin() + static_cast<std::ptrdiff_t>((f + 1) * width));
    ASSERT_TRUE(s->step(last).ok());
    for (std::int64_t r = 0; r < 4; ++r)
      EXPECT_EQ(std::vector<float>(s->output(r).begin(), s->output(r).end()),
                straight[from[static_cast<std::size_t>(r)]])
          << name << " row " << r;
  }
}

TEST(Seq2Seq, RefusesWhatItCannotRun) {
  const auto message = [](const char* name, const Seq2SeqOptions& options) {
    Network network = network_of(name);
    ThreadPool pool(1);
    const auto s = Seq2Seq::create(network, pool, options);
    return s.ok() ? std::string() : s.status().message();
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message("transformer", {.target = "tarjet"}), "no input is named \"tarjet\"");
  has(message("transformer", {.target = "source_lengths"}), "must be [steps] ids");
  has(message("transformer", {.target = "source"}), "attention at");  // not causal
  has(message("transformer", {.target = "target", .lanes = 0}), "lanes");
  has(message("states", {.target = "source"}), "return_state");
  Network network = network_of("transformer");
  ThreadPool pool(1);
  auto s = Seq2Seq::create(network, pool, {.target = "target", .lanes = 2});
  ASSERT_TRUE(s.ok());
  std::vector<double> id{1}, source{1, 2, 3, 4, 5, 6, 6};
  has(s->step(id).message(), "after encode");
  has(s->encode(source, 2).message(), "2 rows of 7 values");
  has(s->encode(source, 3).message(), "1 to 2 rows");
  source[2] = 9;
  has(s->encode(source, 1).message(), "source takes ids");
  source[2] = 8;
  ASSERT_TRUE(s->encode(source, 1).ok());
  id[0] = 9;
  has(s->step(id).message(), "target takes ids");
  id[0] = 0.5;
  has(s->step(id).message(), "target takes ids");
  id[0] = 3;
  for (int t = 0; t < 5; ++t) ASSERT_TRUE(s->step(id).ok());
  has(s->step(id).message(), "all 5 positions");
  const std::vector<std::uint32_t> beyond{0, 1};
  has(s->reorder(beyond).message(), "row 1 from row 1, there are 1");
}

}  // namespace
}  // namespace loom
