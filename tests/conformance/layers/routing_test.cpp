// Rows that go to the best of several branches: the same sum as over all of them, gradients by
// finite differences, so many rows and no more, and a mixture that learns what none of its experts
// can.
#include <chrono>
#include <cstdio>

#include "conformance/support.h"
#include "exec/session.h"
#include "ops/cpu/executor.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

std::string dense(std::int64_t out, const char* activation = "tanh") {
  return R"({"type":"dense","out":)" + std::to_string(out) + R"(,"activation":")" + activation +
         "\"}";
}
std::string routed(int k, const std::string& settings, const std::string& branches) {
  return R"("type":"parallel","combine":"gated","top_k":)" + std::to_string(k) + settings +
         R"(,"layers":[)" + branches + "]";
}
const std::string kFirst = R"("type":"dense","out":6,"dtype":"f64","activation":"tanh")",
                  kLast = R"("type":"dense","out":3,"dtype":"f64")";

Result<Network> network(const std::string& input, const std::vector<std::string>& cells,
                        std::uint64_t seed) {
  LOOM_ASSIGN(Network n, Network::from_json(std::string_view(chain(input, cells))));
  LOOM_TRY(n.initialize(seed));
  return n;
}
std::vector<float> values(std::size_t count, std::uint64_t stream) {
  const RandomStream random(5, stream);
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = 2 * random.uniform(i) - 1;
  return v;
}
// All rows of the output.
std::vector<float> outputs(Network& n, std::span<const float> x, int threads = 1,
                           bool fuse = true) {
  ThreadPool pool(threads);
  const auto rows = static_cast<std::int64_t>(x.size()) / n.input().width;
  auto s = Session::create(n, pool, {.max_rows = rows, .fuse = fuse, .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  if (!s.ok() || !s->run(x, rows).ok()) return {};
  std::vector<float> y;
  for (std::int64_t r = 0; r < rows; ++r)
    y.insert(y.end(), s->output(r).begin(), s->output(r).end());
  return y;
}
// The rows that the branches of the last run computed, together.
std::int64_t rows_computed(Executor& executor) {
  std::int64_t rows = 0;
  const auto& registers = executor.program().registers;
  for (std::size_t i = 0; i < registers.size(); ++i)
    if (registers[i].type == RegisterType::dynamic_rows)
      rows += static_cast<cpu::Executor&>(executor).dynamic_rows(static_cast<RegisterId>(i));
  return rows;
}

// Multiplications with weights in a run of `rows` rows, of the products that its program has.
double multiplications(Executor& executor, std::uint32_t rows) {
  const Program& program = executor.program();
  std::vector<std::uint32_t> values(program.registers.size(), rows);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (program.registers[i].type == RegisterType::dynamic_rows)
      values[i] = static_cast<std::uint32_t>(
          static_cast<cpu::Executor&>(executor).dynamic_rows(static_cast<RegisterId>(i)));
  double sum = 0;
  for (const Instruction& instruction : program.code) {
    if (instruction.op != Op::matmul) continue;
    const Buffer& weight =
        program.buffers[static_cast<std::size_t>(instruction.operands[0].buffer)];
    sum += static_cast<double>(weight.rows.constant * weight.cols) *
           static_cast<double>(program.rows(instruction.operands[1].buffer, values));
  }
  return sum;
}

TEST(Routing, GradientsEqualFiniteDifferences) {
  const std::string equal = dense(4) + "," + dense(4, "sigmoid") + "," + dense(4, "silu"),
                    unequal = dense(4) + "," + dense(2) + "," + dense(7);
  for (int k = 1; k <= 3; ++k) {
    for (const char* input : {R"(,"dtype":"f64","input":"broadcast")",
                              R"(,"dtype":"f64","input":"split","temperature":0.5)"}) {
      SCOPED_TRACE(std::to_string(k) + input);
      check_gradients(chain(R"({"width":4})", {kFirst, routed(k, input, equal), kLast}), false, 7);
      check_gradients(
          chain(R"({"width":4})",
                {kFirst, routed(k, std::string(input) + R"(,"stitch":true)", unequal), kLast}),
          false, 7);
    }
  }
}

TEST(Routing, GradientsInsideOfOneAnother) {
  const std::string inner =
      "{" +
      routed(1, "",
             dense(4) + ",{" +
                 routed(2, "", dense(4) + "," + dense(4, "silu") + "," + dense(4, "sigmoid")) +
                 "}") +
      "}";
  const std::string norms =
      R"({"type":"sequential","layers":[{"type":"layer_norm"},{"type":"swiglu","hidden":5},{"type":"residual"},)" +
      dense(4) + "]}";
  const std::string topology =
      chain(R"({"width":4})",
            {kFirst, routed(2, R"(,"dtype":"f64")", inner + "," + norms + "," + dense(4)), kLast});
  check_gradients(topology, false, 9);
  check_gradients(topology, Loss::mse, 9, 1,
                  [](Network&, LearnerOptions& options) { options.recompute = true; });
  // Parts of a row go their own ways.
  check_gradients(
      chain(R"({"width":4})", {kFirst,
                               R"("type":"time_distributed","count":3,"dtype":"f64","layers":[{)" +
                                   routed(1, "", dense(3) + "," + dense(3)) + "}]",
                               kLast}),
      false, 5);
}

// In f32 the sum over all branches, a branch alone being one network and the shares a masked
// softmax over the scores of another.
TEST(Routing, IsTheSumOverTheBestBranches) {
  constexpr std::size_t kRows = 40, kWidth = 5, kOut = 6, kBranches = 4;
  auto made = network(
      R"({"width":5})",
      {routed(2, "", dense(kOut) + "," + dense(kOut) + "," + dense(kOut) + "," + dense(kOut))}, 4);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const std::vector<float> x = values(kRows * kWidth, 1);
  std::vector<std::vector<float>> parts;
  const auto copy = [&](const char* path, const char* role, Network& to, const char* to_role) {
    std::ranges::copy(made->find(path, role)->mutable_master(),
                      to.find("0.0.0.0", to_role)->mutable_master().begin());
  };
  for (std::size_t e = 0; e < kBranches; ++e) {
    auto one = network(R"({"width":5})", {R"("type":"dense","activation":"tanh","out":6)"}, 1);
    ASSERT_TRUE(one.ok());
    copy(("0.0.0.0/" + std::to_string(e)).c_str(), "weight", *one, "weight");
    parts.push_back(outputs(*one, x));
  }
  auto gate = network(R"({"width":5})", {R"("type":"dense","out":4)"}, 1);
  ASSERT_TRUE(gate.ok());
  copy("0.0.0.0", "gate", *gate, "weight");
  const std::vector<float> scores = outputs(*gate, x);
  std::vector<float> want(kRows * kOut, 0.0f);
  for (std::size_t r = 0; r < kRows; ++r) {
    std::vector<std::size_t> best = {0, 1, 2, 3};
    std::sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) {
      return scores[r * kBranches + a] > scores[r * kBranches + b];
    });
    std::string mask;
    for (std::size_t e = 0; e < kBranches; ++e)
      mask += std::string(e > 0 ? "," : "") + (e == best[0] || e == best[1] ? "1" : "0");
    auto shares_of =
        network(R"({"width":4})", {R"("type":"softmax","kind":"masked","mask":[)" + mask + "]"}, 1);
    ASSERT_TRUE(shares_of.ok());
    const std::vector<float> shares =
        outputs(*shares_of, std::span(scores).subspan(r * kBranches, kBranches));
    for (std::size_t e = 0; e < kBranches; ++e)
      for (std::size_t c = 0; c < kOut; ++c)
        want[r * kOut + c] += parts[e][r * kOut + c] * shares[e];
  }
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(outputs(*made, x, threads), want) << threads << " threads";
    EXPECT_EQ(outputs(*made, x, threads, false), want) << threads << " threads, not fused";
  }
}

TEST(Routing, ToAllBranchesIsTheMixtureOfAll) {
  const std::string branches = dense(6) + "," + dense(6, "silu") + "," + dense(6, "sigmoid");
  auto all = network(R"({"width":5})", {routed(3, "", branches)}, 4),
       mixture = network(R"({"width":5})",
                         {R"("type":"parallel","combine":"gated","layers":[)" + branches + "]"}, 4);
  ASSERT_TRUE(all.ok() && mixture.ok());
  const std::vector<float> x = values(100, 2);
  EXPECT_EQ(outputs(*all, x), outputs(*mixture, x));
}

// Equal scores: the branches before others; a NaN is above all, and comes out.
TEST(Routing, TiesGoToTheFirstBranches) {
  auto n = network(
      R"({"width":2})",
      {routed(2, "",
              R"({"type":"dense","out":1},{"type":"dense","out":1},{"type":"dense","out":1})")},
      4);
  ASSERT_TRUE(n.ok());
  std::ranges::fill(n->find("0.0.0.0", "gate")->mutable_master(), 0.0f);
  for (int e = 0; e < 3; ++e)
    std::ranges::fill(n->find("0.0.0.0/" + std::to_string(e), "weight")->mutable_master(),
                      static_cast<float>(e + 1));
  const std::vector<float> x = {1, 1, 3, 0};
  EXPECT_EQ(outputs(*n, x), (std::vector<float>{3, 4.5f}));
  const std::vector<float> strange = {1, __builtin_nanf(""), 3, 0};
  const std::vector<float> y = outputs(*n, strange);
  ASSERT_EQ(y.size(), 2u);
  EXPECT_TRUE(y[0] != y[0]);
  EXPECT_EQ(y[1], 4.5f);
}

// Top 2 of 8: a quarter of the rows of all branches, and with the gate's at most 0.4 of the
// products, as counted in the program with what the run measured. The time is printed: it says
// nothing on a busy machine.
TEST(Routing, TwoOfEightComputeAQuarterOfTheRows) {
  constexpr std::int64_t kRows = 256, kWidth = 256;
  std::string experts;
  for (int e = 0; e < 8; ++e)
    experts += (e > 0 ? "," : "") + std::string(R"({"type":"sequential","layers":[)") +
               dense(kWidth, "relu") + "," + dense(kWidth, "linear") + "]}";
  auto sparse = network(R"({"width":256})", {routed(2, "", experts)}, 4),
       whole = network(R"({"width":256})",
                       {R"("type":"parallel","combine":"gated","layers":[)" + experts + "]"}, 4);
  ASSERT_TRUE(sparse.ok() && whole.ok());
  ThreadPool pool(1);
  auto a = Session::create(*sparse, pool, {.max_rows = kRows}),
       b = Session::create(*whole, pool, {.max_rows = kRows});
  ASSERT_TRUE(a.ok() && b.ok()) << a.status().to_string();
  const std::vector<float> x = values(kRows * kWidth, 3);
  std::vector<double> ratios;
  for (int round = 0; round < 9; ++round) {
    const auto time = [&](Session& s) {
      const auto start = std::chrono::steady_clock::now();
      EXPECT_TRUE(s.run(x, kRows).ok());
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const double routed_time = time(*a);
    ratios.push_back(routed_time / time(*b));
  }
  EXPECT_EQ(rows_computed(a->executor()), 2 * kRows);
  const double all = multiplications(b->executor(), kRows);
  EXPECT_EQ(all, kRows * (8.0 * 2 * kWidth * kWidth + 8 * kWidth));
  EXPECT_LE(multiplications(a->executor(), kRows), 0.4 * all);
  EXPECT_GE(multiplications(a->executor(), kRows), 0.25 * all);
  std::sort(ratios.begin(), ratios.end());
  std::printf(
      "routing: top 2 of 8 experts of 256 x 256 on %lld rows: %lld of %lld rows of experts, median "
      "time %.3f of all experts'\n",
      static_cast<long long>(kRows), static_cast<long long>(rows_computed(a->executor())),
      static_cast<long long>(8 * kRows), ratios[ratios.size() / 2]);
  // Fewer rows in a run, and more again.
  ASSERT_TRUE(a->run(std::span(x).first(3 * kWidth), 3).ok());
  EXPECT_EQ(rows_computed(a->executor()), 6);
  ASSERT_TRUE(a->run(x, kRows).ok());
  EXPECT_EQ(rows_computed(a->executor()), 2 * kRows);
}

// A zigzag of eight straight pieces: an expert is a straight line.
TEST(Routing, AMixtureLearnsWhatNoExpertCan) {
  const auto loss_of = [](const std::string& cell) {
    auto n = network(R"({"width":1})", {cell}, 3);
    EXPECT_TRUE(n.ok()) << n.status().to_string();
    ThreadPool pool(1);
    LearnerOptions options;
    options.loss = Loss::mse;
    options.optimizer.kind = OptimizerKind::adamw;
    options.max_rows = 128;
    auto learner = Learner::create(*n, pool, options);
    EXPECT_TRUE(learner.ok()) << learner.status().to_string();
    std::vector<float> x, y;
    for (int i = 0; i < 128; ++i) {
      const float v = (static_cast<float>(i) + 0.5f) / 16 - 4;
      x.push_back(v);
      y.push_back(i / 32 % 2 == 0 ? v - static_cast<float>(i / 32 * 2 - 3)
                                  : static_cast<float>(i / 32 * 2 - 3) - v);
    }
    double loss = 0;
    constexpr std::int64_t kSteps = 3000;
    for (std::int64_t step = 1; step <= kSteps; ++step) {
      EXPECT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(y)).ok());
      EXPECT_TRUE(learner->accumulate().ok());
      loss = learner->loss_sum() / 128;
      EXPECT_TRUE(
          learner->update(0.03 * (1 - 0.9 * static_cast<double>(step) / kSteps), 128, step).ok());
    }
    return loss;
  };
  const std::string line = R"({"type":"dense","out":1})";
  std::string lines = line;
  for (int e = 1; e < 8; ++e) lines += "," + line;
  const double alone = loss_of(R"("type":"dense","out":1)"), mixed = loss_of(routed(2, "", lines));
  std::printf("routing: mean squared error of one expert %.4f, of the best 2 of 8 %.4f\n", alone,
              mixed);
  EXPECT_GT(alone, 0.25);
  EXPECT_LT(mixed, 0.1 * alone);
}

TEST(Routing, LayersThatSeeOtherRowsAreRefused) {
  const auto error = [](const std::string& settings, const std::string& branches,
                        const std::string& input = R"({"width":6})") {
    const auto n = Network::from_json(std::string_view(
        chain(input, {R"("type":"parallel",)" + settings + R"(,"layers":[)" + branches + "]"})));
    EXPECT_EQ(n.status().code(), Code::invalid_argument);
    return n.ok() ? std::string() : n.status().message();
  };
  const std::string top = R"("combine":"gated","top_k":1)";
  const auto refused = [&](const std::string& layer, const std::string& what,
                           const std::string& input = R"({"width":6})") {
    const std::string message =
        error(top, dense(6) + R"(,{"type":"sequential","layers":[)" + dense(6) + "," + layer + "]}",
              input);
    EXPECT_NE(message.find("parallel at 0.0.0.0: branch 1: " + what), std::string::npos) << message;
  };
  refused(R"({"type":"attention","heads":3})", "attention at 0.0.0.0/1/1 attends to other rows");
  refused(R"({"type":"batch_norm"})", "batch_norm at 0.0.0.0/1/1 takes statistics of all rows");
  refused(R"({"type":"dropout"})", "dropout at 0.0.0.0/1/1 draws its noise by a row's place");
  refused(R"({"type":"softmax","kind":"gumbel"})", "softmax at 0.0.0.0/1/1 draws");
  refused(R"({"type":"gru","hidden":6,"stateful":true})",
          "gru at 0.0.0.0/1/1 goes on from a state");
  EXPECT_NE(error(R"("combine":"gated","top_k":3)", dense(6) + "," + dense(6))
                .find("\"top_k\" must be 1 to the 2 branches"),
            std::string::npos);
  EXPECT_NE(error(R"("combine":"gated","top_k":-1)", dense(6)).find("\"top_k\" must be"),
            std::string::npos);
  EXPECT_NE(
      error(R"("combine":"add","top_k":1)", dense(6)).find("\"top_k\" goes with \"combine\" gated"),
      std::string::npos);
}

// A program in which rows are routed, and what a verifier must see in it.
class RoutedProgram : public testing::Test {
 protected:
  void SetUp() override {
    const Rows all{1, emit.u32_register("R", 9), kNone};
    const View x = emit.input("x", ValueType::f32, all, 3);
    places = emit.route_rows(ProgramBuilder::slice(x, 0, 1));
    rows = emit.gather_rows(x, places);
    y = emit.temp(ValueType::f32, all, 3);
    emit.fill(y, 0);
    emit.scatter_add(rows, {}, places, y);
    emit.copy_to(y, emit.output("y", ValueType::f32, all, 3));
  }
  // Instructions: 0 route_rows, 1 gather_rows, 2 fill, 3 scatter_add, 4 copy.
  void refuse(const std::string& what) {
    const Status s = verify(program);
    EXPECT_EQ(s.code(), Code::corrupt);
    EXPECT_NE(s.message().find(what), std::string::npos) << s.to_string();
  }
  Buffer& of(View v) { return program.buffers[static_cast<std::size_t>(v.buffer)]; }

  Program program;
  ProgramBuilder emit{program};
  View places, rows, y;
};

TEST_F(RoutedProgram, Verifies) {
  EXPECT_TRUE(verify(program).ok()) << verify(program).to_string();
  const auto again = Program::decode(program.encode());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->encode(), program.encode());
  EXPECT_NE(program.to_text().find("dynamic max 9"), std::string::npos);
}
TEST_F(RoutedProgram, RowsBeforeTheyAreMeasured) {
  std::swap(program.code[0], program.code[1]);
  refuse("has rows that are not counted yet");
}
TEST_F(RoutedProgram, CountsMeasuredTwice) {
  program.code.insert(program.code.begin() + 1, program.code[0]);
  refuse("count must be written once");
}
TEST_F(RoutedProgram, MoreRowsThanTheMaximum) {
  program.registers[1].max = 8;
  refuse("its maximum hold all rows of share");
}
TEST_F(RoutedProgram, CountsThatTheHostSets) {
  program.registers[1].type = RegisterType::u32;
  refuse("register count is missing or of another type");
}
TEST_F(RoutedProgram, RowCountsOfOtherTypes) {
  program.registers[1].type = RegisterType::f32;
  refuse("which is no row count");
}
TEST_F(RoutedProgram, MeasuredRowsOfAnOutput) {
  of(rows).kind = BufferKind::output;
  refuse("dynamic rows are those of a temporary");
}
TEST_F(RoutedProgram, PlacesOfOtherRows) {
  of(y).rows.constant = 2;
  refuse("x, index and y do not agree");
}
TEST_F(RoutedProgram, PlacesThatNobodyMade) {
  program.code[3].operands[2] = emit.input("index", ValueType::u32, of(rows).rows, 1);
  refuse("dynamic rows are those of a temporary");
  of(program.code[3].operands[2]).rows = of(y).rows;
  refuse("x, index and y do not agree");
}
TEST_F(RoutedProgram, AddingToNothing) {
  program.code.erase(program.code.begin() + 2);
  refuse("y is added to before it is written");
}
TEST_F(RoutedProgram, SharesThatAreNoColumn) {
  program.code[0].operands[0].cols = 2;
  refuse("share must be a column");
}
TEST_F(RoutedProgram, MoreThanThereAre) {
  const View x{0, 0, 3};
  (void)emit.top_k(x, 4);
  refuse("k is not 1 to their columns");
}
TEST_F(RoutedProgram, TheHostCannotSetACount) {
  ThreadPool pool(1);
  auto executor = cpu::Executor::create(
      program, [](std::string_view, std::string_view) -> WeightStore* { return nullptr; }, pool);
  ASSERT_TRUE(executor.ok()) << executor.status().to_string();
  EXPECT_EQ((*executor)->set(1, 1).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace loom
