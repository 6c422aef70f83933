// Findings A10, B3, B4, B5, B6, B11 and what stands behind them: shapes that carry their axes,
// layers that work on the last dimension, and sequences in a row. The other answers: finite
// differences in f64, and the form of topology version 1 in which positions are rows, which PyTorch
// judges (tests/parity).
#include <cstring>

#include "conformance/support.h"
#include "exec/session.h"

namespace loom {
namespace {

using test::check_gradients;

std::string chain(const std::string& input, const std::vector<std::string>& cells) {
  return test::chain(input, cells, 2);
}

Result<Network> network_of(const std::string& topology) {
  LOOM_ASSIGN(Network n, Network::from_json(std::string_view(topology)));
  LOOM_TRY(n.initialize(3));
  return n;
}

std::string error_of(const std::string& topology) {
  const auto n = Network::from_json(std::string_view(topology));
  return n.ok() ? "none" : n.status().message();
}

void expect_error(const std::string& topology, std::string_view part) {
  const std::string error = error_of(topology);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

std::vector<float> values(std::size_t count) {
  const RandomStream random(5, 9);
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = 2 * random.uniform(i) - 1;
  return x;
}

bool same(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

const std::string kDense3 = R"("type":"dense","out":3,"dtype":"f64")";

TEST(Findings, B3_LayersWorkOnTheLastDimension) {
  const auto n = network_of(chain(
      R"({"dims":[5,8]})",
      {R"("type":"lstm","hidden":4)", R"("type":"layer_norm")", R"("type":"swiglu","hidden":6)",
       R"("type":"lstm","hidden":3)", R"("type":"dense","out":2)"}));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_EQ(n->output().dims, (std::vector<std::int64_t>{5, 2}));
  EXPECT_EQ(n->output().to_string(), "[B, T=5, 2]");
  Network& net = const_cast<Network&>(*n);
  EXPECT_EQ(net.find("0.0.0.1", "gain")->cols(), 4);
  EXPECT_EQ(net.find("0.0.0.2", "gate")->cols(), 4);
  EXPECT_EQ(net.find("0.0.0.3", "weight_ih_l0")->cols(), 4);
  EXPECT_EQ(net.find("0.0.0.4", "weight")->cols(), 3);
  // What a file of version 1 says stays: there they took the row as one.
  const auto old = network_of(test::chain(
      R"({"dims":[5,8]})", {R"("type":"lstm","hidden":4)", R"("type":"dense","out":2)"}));
  ASSERT_TRUE(old.ok()) << old.status().to_string();
  EXPECT_EQ(const_cast<Network&>(*old).find("0.0.0.1", "weight")->cols(), 20);
  EXPECT_NE(old->to_json().dump().find("\"version\":1"), std::string::npos);
}

TEST(Findings, B3_GradientsOverSequencesInARow) {
  const std::string attention = R"("type":"attention","dtype":"f64","heads":3,)";
  for (
      const std::string& cells :
      {attention + R"("causal":false)",
       attention + R"("kv_heads":1,"head_dim":4,"qkv_bias":true,"window":3)",
       attention + R"("rope":false,"qk_norm":true)",
       std::string(R"("type":"gru","dtype":"f64","hidden":6,"bidirectional":true)"),
       std::string(
           R"("type":"sequential","dtype":"f64","layers":[{"type":"layer_norm"},{"type":"attention","heads":3},{"type":"residual"},{"type":"swiglu","hidden":5},{"type":"residual"}])")}) {
    SCOPED_TRACE(cells);
    check_gradients(
        chain(R"({"dims":[5,4]})",
              {R"("type":"dense","out":6,"dtype":"f64","activation":"tanh")", cells, kDense3}),
        false, 2);
    check_gradients(
        chain(R"({"ids":9,"dims":[4]})",
              {R"("type":"embedding","out":6,"std":0.5,"dtype":"f64")", cells, kDense3}),
        true, 2);
  }
}

TEST(Findings, D_ClassForEveryStepAndEveryPixel) {
  check_gradients(
      chain(R"({"dims":[2,4,3]})", {R"("type":"conv2d","filters":3,"padding":1,"dtype":"f64")"}),
      true);
  const auto steps =
      network_of(chain(R"({"dims":[6,4]})", {R"("type":"rnn","hidden":5)", kDense3}));
  ASSERT_TRUE(steps.ok());
  EXPECT_EQ(steps->class_axis().places, 6);
  EXPECT_EQ(steps->class_axis().classes, 3);
  EXPECT_FALSE(steps->class_axis().first);
  ThreadPool pool(1);
  Network& net = const_cast<Network&>(*steps);
  ASSERT_TRUE(net.morph({}).ok());
  LearnerOptions options;
  options.heads = {{"a", 9, Loss::mse, 1, 1}, {"b", 9, Loss::mse, 1, 1}};
  EXPECT_NE(Learner::create(net, pool, options)
                .status()
                .message()
                .find("heads are parts of a row of values, the network gives [B, T=6, 3]"),
            std::string::npos);
}

// The same weights over a sequence in a row, and over one whose positions are rows: equal bits.
TEST(Findings, A10_AttentionSeesTheStepsOfARow) {
  constexpr std::int64_t kSteps = 70, kWidth = 6;
  for (const char* settings :
       {R"("heads":3)", R"("heads":3,"causal":false)",
        R"("heads":3,"kv_heads":1,"window":66,"rope_scaling":"linear","rope_factor":2)"}) {
    SCOPED_TRACE(settings);
    const std::string cell = R"("type":"attention",)" + std::string(settings);
    auto in_row = network_of(chain(R"({"dims":[70,6]})", {cell}));
    auto by_rows = network_of(test::chain(R"({"width":6})", {cell}));
    ASSERT_TRUE(in_row.ok() && by_rows.ok()) << in_row.status().to_string();
    ThreadPool pool(2);
    SessionOptions options;
    options.max_rows = 3;
    auto session = Session::create(*in_row, pool, options);
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    options = {};
    options.max_rows = kSteps;
    options.max_positions = 128;
    options.whole_sequences = true;
    auto whole = Session::create(*by_rows, pool, options);
    ASSERT_TRUE(whole.ok()) << whole.status().to_string();
    const std::vector<float> x = values(3 * kSteps * kWidth);
    ASSERT_TRUE(session->run(x, 3).ok());
    std::vector<std::uint32_t> positions(kSteps), sequences(kSteps, 0);
    for (std::uint32_t p = 0; p < kSteps; ++p) positions[p] = p;
    for (std::int64_t r = 0; r < 3; ++r) {
      ASSERT_TRUE(whole
                      ->run(std::span(x).subspan(static_cast<std::size_t>(r * kSteps * kWidth),
                                                 kSteps * kWidth),
                            sequences, positions)
                      .ok());
      const std::span<const float> y = session->output(r);
      for (std::int64_t p = 0; p < kSteps; ++p)
        EXPECT_TRUE(same(y.subspan(static_cast<std::size_t>(p * kWidth), kWidth), whole->output(p)))
            << "row " << r << ", step " << p;
    }
  }
}

TEST(Findings, A10_AttentionLearnsOverSteps) {
  auto n =
      network_of(chain(R"({"dims":[8,4]})", {R"("type":"attention","heads":2)",
                                             R"("type":"flatten")", R"("type":"dense","out":2)"}));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  ThreadPool pool(1);
  LearnerOptions options;
  options.max_rows = 3;
  auto learner = Learner::create(*n, pool, options);
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  const std::vector<float> x = values(3 * 32), y = values(6);
  ASSERT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(y)).ok());
  ASSERT_TRUE(learner->accumulate().ok());
  for (const auto& g : learner->gradients()) {
    float sum = 0;
    for (std::int64_t r = 0; r < g.rows; ++r)
      for (const float v : learner->executor().row<float>(g.value.buffer, r)) sum += v * v;
    EXPECT_GT(sum, 0) << g.path << ":" << g.role;
  }
}

// One id per row: a recurrent layer goes from row to row, in training and in sessions.
TEST(Findings, A9_RecurrenceOverRows) {
  const std::vector<std::string> layers[] = {
      {R"("type":"embedding","out":6,"std":0.5)", R"("type":"lstm","hidden":5,"num_layers":2)",
       R"("type":"dense","out":9)"},
      {R"("type":"embedding","out":6,"std":0.5)", R"("type":"gru","hidden":6)",
       R"("type":"attention","heads":3)", R"("type":"dense","out":9)"},
      {R"("type":"embedding","out":6,"std":0.5)", R"("type":"rnn","hidden":4)",
       R"("type":"dense","out":9)"}};
  for (const std::vector<std::string>& cells : layers) {
    SCOPED_TRACE(cells[1]);
    auto by_rows = network_of(chain(R"({"ids":9})", cells)),
         in_row = network_of(chain(R"({"ids":9,"dims":[7]})", cells));
    ASSERT_TRUE(by_rows.ok() && in_row.ok()) << by_rows.status().to_string();
    EXPECT_EQ(by_rows->output().to_string(), "[T, 9]");
    ThreadPool pool(2);
    auto whole = Session::create(*in_row, pool);
    SessionOptions options;
    options.sequences = 2;
    options.max_rows = 16;
    auto session = Session::create(*by_rows, pool, options);
    ASSERT_TRUE(whole.ok() && session.ok())
        << whole.status().to_string() << session.status().to_string();
    const std::vector<std::uint32_t> ids = {1, 2, 3, 4, 5, 6, 7,
                                            8, 0, 3, 3, 1, 2, 7};  // two rows of seven
    ASSERT_TRUE(whole->run_ids(ids).ok());
    const auto expect = [&](std::int64_t output, std::size_t row, std::size_t step) {
      EXPECT_TRUE(same(session->output(output),
                       whole->output(static_cast<std::int64_t>(row)).subspan(step * 9, 9)))
          << "row " << row << ", step " << step;
    };
    // Five steps of both sequences, one mixed into the other; then two of each, one by one.
    std::vector<std::uint32_t> some, sequences, positions;
    for (std::uint32_t p = 0; p < 5; ++p)
      for (std::uint32_t s = 0; s < 2; ++s)
        some.push_back(ids[7 * s + p]), sequences.push_back(s), positions.push_back(p);
    ASSERT_TRUE(session->run_tokens(some, sequences, positions, {}).ok());
    for (std::size_t i = 0; i < some.size(); ++i)
      expect(static_cast<std::int64_t>(i), sequences[i], positions[i]);
    for (std::uint32_t p = 5; p < 7; ++p)
      for (std::uint32_t s = 0; s < 2; ++s) {
        ASSERT_TRUE(
            session->run_tokens(std::span(ids).subspan(7 * s + p, 1), {&s, 1}, {&p, 1}, {}).ok());
        expect(0, s, p);
      }
    const std::uint32_t zero = 0, three = 3;
    EXPECT_NE(session->run_tokens({&three, 1}, {&zero, 1}, {&three, 1}, {})
                  .message()
                  .find("a recurrent state cannot go back but to 0"),
              std::string::npos);
    std::vector<std::string> f64 = cells;
    for (std::string& c : f64) c += R"(,"dtype":"f64")";
    check_gradients(chain(R"({"ids":9})", f64), Loss::cross_entropy, 3, 5,
                    [](Network&, LearnerOptions& o) { o.max_positions = 6; });
  }
  expect_error(chain(R"({"ids":9})", {R"("type":"embedding","out":6)",
                                      R"("type":"lstm","hidden":5,"bidirectional":true)"}),
               "has one direction");
}

// An id that is none stops a run before a state has moved: the right one goes on.
TEST(Findings, A9_AnErrorLeavesStatesWhereTheyWere) {
  auto n = network_of(
      chain(R"({"ids":9})", {R"("type":"embedding","out":6)", R"("type":"gru","hidden":5)"}));
  ASSERT_TRUE(n.ok());
  ThreadPool pool(1);
  auto session = Session::create(*n, pool), other = Session::create(*n, pool);
  ASSERT_TRUE(session.ok() && other.ok());
  const std::uint32_t wrong[] = {1, 2, 9}, ids[] = {1, 2, 3}, sequences[] = {0, 0, 0},
                      positions[] = {0, 1, 2};
  ASSERT_TRUE(other->run_tokens(ids, sequences, positions, {}).ok());
  const Status status = session->run_tokens(wrong, sequences, positions, {});
  EXPECT_EQ(status.code(), Code::out_of_range);
  EXPECT_NE(status.message().find("ids[2] is 9, the limit is 9"), std::string::npos)
      << status.message();
  for (std::uint32_t p = 0; p < 3; ++p)
    ASSERT_TRUE(session->run_tokens({ids + p, 1}, {sequences, 1}, {positions + p, 1}, {}).ok());
  EXPECT_TRUE(same(session->output(0), other->output(2)));
}

// The positions of steps are part of the program: saved, hashed and verified with it.
TEST(Findings, A10_ProgramsKeepTheirSteps) {
  auto n = network_of(chain(R"({"dims":[5,4]})", {R"("type":"attention","heads":2)"}));
  ASSERT_TRUE(n.ok());
  const auto program = emit_program(*n, {});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  auto read = Program::decode(program->encode());
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->hash(), program->hash());
  bool found = false;
  for (Buffer& b : read->buffers)
    if (steps_of(b) == 5) found = true, b.constant.reals[0] = 4;  // does not divide the rows
  ASSERT_TRUE(found);
  EXPECT_FALSE(Program::decode(read->encode()).ok());
}

TEST(Findings, A11_NoPositionIsPassedOver) {
  auto n = network_of(
      chain(R"({"ids":9})", {R"("type":"embedding","out":6)", R"("type":"attention","heads":3)"}));
  ASSERT_TRUE(n.ok());
  ThreadPool pool(1);
  auto session = Session::create(*n, pool);
  ASSERT_TRUE(session.ok());
  const std::uint32_t id = 1, sequence = 0, five = 5;
  const Status status = session->run_tokens({&id, 1}, {&sequence, 1}, {&five, 1}, {});
  EXPECT_EQ(status.code(), Code::out_of_range);
  EXPECT_NE(status.message().find("positions[0] is 5, and sequence 0 has 0 so far"),
            std::string::npos)
      << status.message();
  for (std::uint32_t p = 0; p < 3; ++p)
    EXPECT_TRUE(session->run_tokens({&id, 1}, {&sequence, 1}, {&p, 1}, {}).ok());
  const std::uint32_t back = 1;  // goes on from there again
  EXPECT_TRUE(session->run_tokens({&id, 1}, {&sequence, 1}, {&back, 1}, {}).ok());
}

TEST(Findings, B4_ChannelsAreNoSteps) {
  const std::string conv = R"("type":"conv1d","filters":8)";
  expect_error(chain(R"({"dims":[3,50]})", {conv, R"("type":"lstm","hidden":16)"}),
               "the first dimension of [B, C=8, 48] is channels: put a permute before it");
  EXPECT_EQ(error_of(chain(R"({"dims":[3,50]})", {conv, R"("type":"permute","order":[1,0])",
                                                  R"("type":"lstm","hidden":16)"})),
            "none");
  expect_error(chain(R"({"dims":[3,50]})", {conv, R"("type":"attention")"}), "got [B, C=8, 48]");
  expect_error(chain(R"({"dims":[3,50]})", {conv, R"("type":"dense","out":4)"}),
               "put a flatten before it");
  expect_error(chain(R"({"ids":9,"dims":[5]})", {R"("type":"embedding","out":6)", conv}),
               "the first dimension of [B, T=5, 6] is steps: put a permute before it");
  expect_error(chain(R"({"dims":[5,8],"axis":"channels"})", {R"("type":"gru","hidden":2)"}),
               "[B, C=5, 8]");
}

TEST(Findings, B5_AttentionThatIsNotCausalRuns) {
  auto n = network_of(
      chain(R"({"ids":9,"dims":[5]})",
            {R"("type":"embedding","out":6)", R"("type":"attention","heads":3,"causal":false)"}));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  ThreadPool pool(1);
  auto session = Session::create(*n, pool);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  const std::vector<std::uint32_t> ids = {1, 2, 3, 4, 5};
  ASSERT_TRUE(session->run_ids(ids).ok());
  const std::vector<float> y(session->output(0).begin(), session->output(0).end());
  std::vector<std::uint32_t> other = ids;
  other.back() = 8;  // the first step sees the last
  ASSERT_TRUE(session->run_ids(other).ok());
  EXPECT_NE(y[0], session->output(0)[0]);
  EXPECT_FALSE(session->run_ids(std::span(ids).first(3)).ok());
}

TEST(Findings, B6_AttentionInEach) {
  EXPECT_EQ(
      error_of(chain(R"({"dims":[3,5,8]})",
                     {R"("type":"time_distributed","layers":[{"type":"attention","heads":2}])"})),
      "none");
  auto n =
      network_of(chain(R"({"dims":[5,8]})",
                       {R"("type":"time_distributed","layers":[{"type":"attention","heads":2}])"}));
  ASSERT_TRUE(n.ok());
  ThreadPool pool(1);
  const auto session = Session::create(*n, pool);
  ASSERT_FALSE(session.ok());
  EXPECT_NE(
      session.status().message().find("attention at 0.0.0.0/0: attends to the network's rows"),
      std::string::npos)
      << session.status().message();
}

TEST(Findings, B11_OnlyEqualShapesAreAdded) {
  const std::string other = R"("type":"reshape","dims":[3,4])",
                    residual =
                        R"("type":"sequential","layers":[{)" + other + R"(},{"type":"residual"}])";
  expect_error(chain(R"({"dims":[2,6]})", {residual}),
               "cannot add a skip of [B, 2, 6] to an input of [B, 3, 4]");
  const std::string merge = R"("links":[{"read":[0,0,0,0]}],"keep_previous":true,"merge":)";
  const std::string same = R"("type":"activation","activation":"relu")";
  expect_error(chain(R"({"dims":[2,6]})", {same, other, merge + "\"add\""}),
               "cannot add [B, 3, 4] and [B, 2, 6]");
  expect_error(chain(R"({"dims":[2,6]})", {same, other, merge + "\"concat\""}),
               "cannot join [B, 3, 4] and [B, 2, 6]");
  EXPECT_EQ(error_of(test::chain(R"({"dims":[2,6]})", {residual})), "none");
  // Steps and channels do not meet either, whatever their numbers.
  expect_error(chain(R"({"dims":[8,8],"axis":"channels"})",
                     {R"("type":"conv1d","filters":8,"padding":1)",
                      R"("type":"permute","order":[1,0])", R"("type":"rnn","hidden":8)",
                      R"("links":[{"read":[0,0,0,0]}],"keep_previous":true,"merge":"add")"}),
               "cannot add [B, T=8, 8] and [B, C=8, 8]");
  expect_error(chain(R"({"dims":[2,6],"axis":"time"})", {same}),
               "\"axis\" must be one of steps, channels, got \"time\"");
}

// What stands before a layer's input is offered to it as a skip: 6 values to a dense layer of 8
// places, which divided by 0.
TEST(Findings, B11_AnInputThatNobodyAddsHasAnyShape) {
  auto n = network_of(chain(
      R"({"width":6})",
      {R"("type":"sequential","layers":[{"type":"sequential","layers":[{"type":"dense","out":8},{"type":"reshape","dims":[8,1]}]},{"type":"dense","out":3},{"type":"flatten"}])"}));
  ASSERT_TRUE(n.ok()) << n.status().message();
  ASSERT_TRUE(n->initialize(1).ok());
  ThreadPool pool(1);
  auto session = Session::create(*n, pool);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> x(6, 0.5f);
  ASSERT_TRUE(session->run(x, 1).ok());
  EXPECT_EQ(session->output(0).size(), 24u);
}

TEST(Findings, B11_BranchesMeetByTheirShapes) {
  const std::string lstm = R"({"type":"lstm","hidden":4})",
                    last = R"({"type":"lstm","hidden":4,"output":"last"})",
                    conv = R"({"type":"conv1d","filters":2,"padding":1})",
                    conv4 = R"({"type":"conv1d","filters":4,"padding":1})";
  const auto parallel = [](const std::string& settings, const std::string& a,
                           const std::string& b) {
    return R"("type":"parallel",)" + settings + R"("layers":[)" + a + "," + b + "]";
  };
  expect_error(chain(R"({"dims":[3,4]})", {parallel("", lstm, lstm)}),
               "cells of the grid join steps");
  expect_error(chain(R"({"dims":[3,4]})", {parallel(R"("combine":"add",)", lstm, last)}),
               "branch 0 gives [B, T=3, 4] and branch 1 [B, 4]");
  expect_error(chain(R"({"dims":[3,4]})", {parallel(R"("combine":"gated",)", lstm, lstm)}),
               "weighs whole rows, and [B, 3, 4] has dimensions");
  expect_error(chain(R"({"dims":[4,4]})", {parallel(R"("input":"split",)", lstm, lstm)}),
               "splits whole rows");
  EXPECT_EQ(error_of(chain(R"({"dims":[3,4]})",
                           {R"("type":"time_distributed","layers":[{)" +
                            parallel(R"("combine":"gated",)", R"({"type":"dense","out":2})",
                                     R"({"type":"dense","out":2})") +
                            "}]"})),
            "none");
  const auto n =
      network_of(chain(R"({"dims":[3,7]})", {parallel("", conv, conv4), R"("type":"max_pool1d")"}));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_EQ(n->output().to_string(), "[B, C=6, 3]");
}

// Sequences are joined step by step.
TEST(Findings, B11_FeaturesOfStepsAreJoined) {
  const std::string merge = R"("links":[{"read":[0,0,0,0]}],"keep_previous":true,"merge":"concat")";
  auto n = network_of(chain(
      R"({"dims":[4,3],"axis":"steps"})",
      {R"("type":"activation","activation":"linear")", R"("type":"unary","op":"neg")", merge}));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_EQ(n->output().dims, (std::vector<std::int64_t>{4, 6}));
  ThreadPool pool(1);
  auto session = Session::create(*n, pool);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  const std::vector<float> x = values(12);
  ASSERT_TRUE(session->run(x, 1).ok());
  for (std::size_t t = 0; t < 4; ++t)
    for (std::size_t f = 0; f < 3; ++f) {
      EXPECT_EQ(session->output(0)[t * 6 + f], -x[t * 3 + f]);
      EXPECT_EQ(session->output(0)[t * 6 + 3 + f], x[t * 3 + f]);
    }
  check_gradients(
      chain(R"({"dims":[4,3],"axis":"steps"})",
            {R"("type":"dense","out":3,"dtype":"f64")", R"("type":"dense","out":5,"dtype":"f64")",
             merge + R"(,"type":"dense","out":2,"dtype":"f64")"}),
      false);
}

}  // namespace
}  // namespace loom
