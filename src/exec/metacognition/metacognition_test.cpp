// Rules: each statistic in both directions, each act, hysteresis, cooldown, limits, traces, and
// what an act that fails leaves as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/metacognition/engine.h"
#include "grid/adapter.h"

namespace loom {
namespace {

Result<Network> try_network(const std::string& cells, const std::string& input = R"({"width":4})",
                            int per_cell = 1) {
  LOOM_ASSIGN(const Json json,
              Json::parse(R"({"format":"loom-topology","version":3,"layers_per_cell":)" +
                          std::to_string(per_cell) + R"(,"input":)" + input + R"(,"cells":[)" +
                          cells + "]}"));
  LOOM_ASSIGN(Network network, Network::from_json(json));
  LOOM_TRY(network.initialize(3));
  return network;
}
Network network_of(const std::string& cells, const std::string& input = R"({"width":4})",
                   int per_cell = 1) {
  auto network = try_network(cells, input, per_cell);
  EXPECT_TRUE(network.ok()) << network.status().to_string() << " " << cells;
  return std::move(*network);
}
// One cell that wraps a layer.
std::string wrapped(const std::string& layer, const std::string& rules, int l = 0,
                    const std::string& more = "") {
  return R"({"at":[0,0,0,)" + std::to_string(l) + R"(],"type":"metacognition","rules":[)" + rules +
         R"(],"layers":[)" + layer + "]" + more + "}";
}
const char* const kTanh = R"({"type":"activation","activation":"tanh"})";
const char* const kLinear = R"({"type":"activation","activation":"linear"})";
const char* const kDense = R"({"type":"dense","out":4,"activation":"relu"})";

// What a caller does: runs, and lets the rules act.
struct Runner {
  explicit Runner(Network n, SessionOptions o = {}, int threads = 1)
      : network(std::move(n)), pool(threads), options(std::move(o)), engine(network) {
    options.watch = true;
    options.max_rows = 8;
    start();
  }
  void start() { ASSERT_TRUE(prepare().ok()); }
  Status prepare() {
    auto made = Session::create(network, pool, options);
    if (!made.ok()) return made.status();
    if (session) kept = made->take(session->states());
    session.emplace(std::move(*made));
    return {};
  }
  Status after() {
    if (!engine.passed(engine.due() ? session->watched() : std::vector<Session::Watched>()))
      return {};
    return engine.act(network, [&] { return prepare(); });
  }
  Status run(const std::vector<float>& x) {
    session->watch(engine.due());
    const auto rows = static_cast<std::int64_t>(x.size()) / network.input().width;
    auto ran = session->run(x, rows);
    if (!ran.ok()) return ran.status();
    y.clear();
    for (std::int64_t r = 0; r < rows; ++r)
      y.insert(y.end(), session->output(r).begin(), session->output(r).end());
    return after();
  }
  Network network;
  ThreadPool pool;
  SessionOptions options;
  std::optional<Session> session;
  Metacognition engine;
  std::vector<float> y;
  bool kept = true;
};

std::vector<float> rows(std::initializer_list<float> row) {
  std::vector<float> x(row);
  x.insert(x.end(), row.begin(), row.end());
  return x;
}
const float kNan = std::numeric_limits<float>::quiet_NaN(),
            kInf = std::numeric_limits<float>::infinity();
const std::vector<float> kBase = rows({1, -1, 1, -1}), kWide = rows({3, -3, 3, -3}),
                         kNarrow = rows({0.1f, -0.1f, 0.1f, -0.1f}), kZero = rows({0, 0, 0, 0}),
                         kHigh = rows({1, 1, 1, 1}), kLow = rows({-1, -1, -1, -1});

std::string rule(const std::string& condition, const std::string& act) {
  return "{" + condition + R"(,"do":)" + act + "}";
}
const char* const kHalf = R"("gate","factor":0.5)";

struct Case {
  const char* condition;
  const char* layer;
  std::vector<std::vector<float>> trips, calm;
};
const std::vector<Case>& cases() {
  using V = std::vector<std::vector<float>>;
  static const std::vector<Case> list = {
      {R"("when":"mean","above":0.5)", kLinear, V{kHigh}, V{kBase, kLow}},
      {R"("when":"mean","below":-0.5)", kLinear, V{kLow}, V{kBase, kHigh}},
      {R"("when":"std","above":2)", kLinear, V{kWide}, V{kBase, kNarrow}},
      {R"("when":"std","below":0.5)", kLinear, V{kNarrow}, V{kBase, kWide}},
      {R"("when":"min","above":0)", kLinear, V{kHigh}, V{kBase, kZero}},
      {R"("when":"min","below":-2)", kLinear, V{kWide}, V{kBase}},
      {R"("when":"max","above":2)", kLinear, V{kWide}, V{kBase}},
      {R"("when":"max","below":0.5)", kLinear, V{kNarrow}, V{kBase}},
      {R"("when":"active_share","above":0.9)", kLinear, V{kBase}, V{kZero}},
      {R"("when":"active_share","below":0.05)", kLinear, V{kZero}, V{kBase}},
      {R"("when":"nan_count","above":0)", kLinear, V{rows({1, kNan, 1, 1})}, V{kBase}},
      {R"("when":"nan_count","below":1)", kLinear, V{kBase}, V{rows({1, kNan, 1, 1})}},
      {R"("when":"inf_count","above":1)", kLinear, V{rows({1, kInf, 1, 1})}, V{kBase}},
      {R"("when":"inf_count","below":1)", kLinear, V{kBase}, V{rows({1, -kInf, 1, 1})}},
      {R"("when":"growth","above":2)", kLinear, V{kBase, kBase, kBase, kWide},
       V{kNarrow, kBase, kBase}},
      {R"("when":"growth","below":0.5,"over":1)", kLinear, V{kBase, kNarrow},
       V{kNarrow, kBase, kWide}},
      {R"("when":"gain","above":0.9)", kTanh, V{kNarrow}, V{kWide, kZero}},
      {R"("when":"gain","below":0.5)", kTanh, V{kWide}, V{kNarrow, kZero}},
      {R"("when":"gain_drift","above":0.05)", kTanh, V{kNarrow, kWide}, V{kNarrow, kNarrow}},
      {R"("when":"gain_drift","below":0.05,"for":2)", kTanh, V{kNarrow, kNarrow},
       V{kNarrow, kWide, kWide}},
      {R"("when":"weight_bytes","above":79)", kDense, V{kBase}, V{}},
      {R"("when":"weight_bytes","below":81)", kDense, V{kBase}, V{}},
      {R"("when":"weight_bytes","above":80)", kDense, V{}, V{kBase}},
      {R"("when":"weight_bytes","below":80)", kDense, V{}, V{kBase}}};
  return list;
}

TEST(Metacognition, EachStatisticTripsItsRuleAndCalmOnesDoNot) {
  for (const Case& c : cases())
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(c.condition);
      const std::string cells = wrapped(c.layer, rule(c.condition, kHalf));
      if (!c.trips.empty()) {
        Runner run(network_of(cells), {}, threads);
        for (std::size_t i = 0; i < c.trips.size(); ++i) {
          EXPECT_EQ(run.engine.acts(), 0);
          ASSERT_TRUE(run.run(c.trips[i]).ok());
        }
        EXPECT_EQ(run.engine.acts(), 1);
        EXPECT_NE(run.engine.trace().find(R"("pass":)" + std::to_string(c.trips.size() - 1)),
                  std::string::npos);
      }
      Runner calm(network_of(cells), {}, threads);
      for (const auto& x : c.calm) ASSERT_TRUE(calm.run(x).ok());
      EXPECT_EQ(calm.engine.acts(), 0) << calm.engine.trace();
    }
}

// Of a cell and of its inner layer alone: the same instructions and bits.
TEST(Metacognition, WithoutAnEngineComputesItsLayer) {
  Network plain = network_of(R"({"at":[0,0,0,0],"type":"dense","out":5,"activation":"gelu"})"),
          meta = network_of(wrapped(R"({"type":"dense","out":5,"activation":"gelu"})",
                                    rule(R"("when":"std","above":9)", kHalf)));
  for (const char* role : {"weight", "bias"})
    std::ranges::copy(plain.find("0.0.0.0", role)->master(),
                      meta.find("0.0.0.0/0", role)->mutable_master().begin());
  meta.find("0.0.0.0/0", "weight")->touch();
  ThreadPool pool(2);
  auto a = Session::create(plain, pool), b = Session::create(meta, pool);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->program().code.size(), b->program().code.size());
  EXPECT_EQ(a->executor().barriers(), b->executor().barriers());
  ASSERT_TRUE(a->run(kBase, 2).ok() && b->run(kBase, 2).ok());
  EXPECT_TRUE(std::ranges::equal(a->output(1), b->output(1)));
  // A session that watches computes the same.
  Runner watching(std::move(meta));
  ASSERT_TRUE(watching.run(kBase).ok());
  EXPECT_TRUE(std::equal(watching.y.begin() + 5, watching.y.end(), a->output(1).begin()));
}

const char* const kAlways = R"("when":"std","above":0.5)";

TEST(Metacognition, Morphs) {
  Runner run(network_of(wrapped(kDense, rule(kAlways, R"("morph","dtype":"i4")"))));
  ASSERT_TRUE(run.run(kNarrow).ok());
  EXPECT_EQ(run.network.find("0.0.0.0/0", "weight")->format().dtype, DType::f32);
  const Result<std::string> calm = digest(run.network);
  ASSERT_TRUE(run.run(kWide).ok());
  EXPECT_EQ(run.network.find("0.0.0.0/0", "weight")->format().dtype, DType::i4);
  EXPECT_TRUE(run.engine.trace().starts_with(
      R"({"pass":1,"path":"0.0.0.0","rule":0,"statistic":"std","value":)"));
  EXPECT_NE(run.engine.trace().find(R"("before":{"dtype":"f32"},"after":{"dtype":"i4"}})"),
            std::string::npos);
  Network fresh = network_of(wrapped(kDense, rule(kAlways, R"("morph","dtype":"i4")")));
  ASSERT_TRUE(fresh.morph(0, *parse_weight_format("i4")).ok());
  EXPECT_NE(*calm, *digest(run.network));
  Runner same(std::move(fresh));
  ASSERT_TRUE(run.run(kBase).ok() && same.run(kBase).ok());
  EXPECT_EQ(run.y, same.y);
}

TEST(Metacognition, GatesAndAClosedGateHoldsNaNBack) {
  Runner run(network_of(wrapped(kLinear, rule(kAlways, kHalf))));
  ASSERT_TRUE(run.run(kBase).ok() && run.run(kBase).ok());
  EXPECT_EQ(run.y, rows({0.5f, -0.5f, 0.5f, -0.5f}));
  EXPECT_EQ(run.engine.acts(), 1);
  Runner closed(network_of(wrapped(
      kLinear, rule(R"("when":"nan_count","above":0)", R"("gate","factor":0)") + "," +
                   rule(R"("when":"nan_count","below":1,"for":3)", R"("gate","factor":1)"))));
  const auto bad = rows({kNan, 1, 1, 1});
  ASSERT_TRUE(closed.run(bad).ok() && closed.run(bad).ok());
  EXPECT_EQ(closed.y, kZero);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(closed.run(kBase).ok());
  ASSERT_TRUE(closed.run(kBase).ok());  // the statistics are those before the gate
  EXPECT_EQ(closed.y, kBase);
}

TEST(Metacognition, ResetsToTheIdentityOrToTheInitialWeights) {
  Runner run(network_of(wrapped(kDense, rule(kAlways, R"("reset")"))));
  ASSERT_TRUE(run.run(kWide).ok() && run.run(kWide).ok());
  EXPECT_EQ(run.y, rows({3, 0, 3, 0}));  // relu of the identity
  EXPECT_NE(run.engine.trace().find(R"("after":{"weights":"identity"})"), std::string::npos);
  const std::string narrow = R"({"type":"dense","out":3})";
  Runner initial(network_of(wrapped(narrow, rule(kAlways, R"("reset","seed":3)"))));
  const std::string before = *digest(initial.network);
  initial.network.find("0.0.0.0/0", "weight")->mutable_master()[0] = 9;
  initial.network.find("0.0.0.0/0", "weight")->touch();
  ASSERT_TRUE(initial.session->refresh().ok());
  ASSERT_TRUE(initial.run(kWide).ok());
  EXPECT_NE(initial.engine.trace().find(R"("after":{"weights":"initial"})"), std::string::npos);
  EXPECT_EQ(*digest(initial.network), before);
}

TEST(Metacognition, ChangesTheActivationTypeAndWhatStandsBehind) {
  Runner act(network_of(wrapped(kDense, rule(kAlways, R"("activation","activation":"tanh")"))));
  ASSERT_TRUE(act.run(kWide).ok() && act.run(kWide).ok());
  EXPECT_TRUE(std::ranges::any_of(act.y, [](float v) { return v < 0; }));
  EXPECT_NE(act.engine.trace().find(R"({"activation":"relu"},"after":{"activation":"tanh"})"),
            std::string::npos);
  Runner type(network_of(
      wrapped(kDense, rule(kAlways, R"("retype","layer":{"type":"swiglu","hidden":7},"seed":5)"))));
  ASSERT_TRUE(type.run(kWide).ok() && type.run(kWide).ok());
  EXPECT_EQ(type.network.node(0).children[0].type->name(), "swiglu");
  EXPECT_TRUE(std::ranges::any_of(type.y, [](float v) { return v != 0; }));  // it has weights
  Runner norm(
      network_of(wrapped(kLinear, rule(kAlways, R"("append","layer":{"type":"rms_norm"})"))));
  ASSERT_TRUE(norm.run(kWide).ok() && norm.run(kWide).ok());
  EXPECT_NEAR(norm.y[0], 1, 1e-5);
  EXPECT_NE(norm.engine.trace().find(R"({"layers":1},"after":{"layers":2})"), std::string::npos);
  auto again = Network::from_json(norm.network.to_json());  // a file with what acts appended
  EXPECT_TRUE(again.ok()) << again.status().to_string();
}

TEST(Metacognition, FreezesAndSwitchesOff) {
  const std::string thaw = rule(R"("when":"std","below":0.05)", R"("unfreeze")");
  Runner run(network_of(wrapped(kDense, rule(kAlways, R"("freeze")") + "," + thaw)));
  ASSERT_TRUE(run.run(kWide).ok());
  const auto frozen = [&] { return run.network.cell_json(0).find("frozen")->as_bool(); };
  EXPECT_TRUE(frozen());
  ASSERT_TRUE(run.run(kZero).ok());
  EXPECT_FALSE(frozen());
  Runner off(network_of(wrapped(kTanh, rule(kAlways, R"("disable")") + "," +
                                           rule(R"("when":"std","below":0.2)", R"("enable")"))));
  ASSERT_TRUE(off.run(kWide).ok() && off.run(kWide).ok());
  EXPECT_EQ(off.y, kWide);
  ASSERT_TRUE(off.run(kNarrow).ok() && off.run(kWide).ok());
  EXPECT_NEAR(off.y[0], std::tanh(3.0f), 1e-6);
}

// Passes in which a rule fired.
std::vector<std::int64_t> fired(const std::string& condition,
                                const std::vector<std::vector<float>>& passes,
                                const std::string& more = "") {
  Runner run(network_of(wrapped(kLinear, rule(condition, kHalf), 0, more)));
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const auto before = run.engine.acts();
    EXPECT_TRUE(run.run(passes[i]).ok());
    if (run.engine.acts() > before) list.push_back(static_cast<std::int64_t>(i));
  }
  return list;
}
using Passes = std::vector<std::int64_t>;

TEST(Metacognition, HysteresisCooldownLimitForAndEvery) {
  const std::vector<float>&w = kWide, &b = kBase, &n = kNarrow;
  // A condition that stays fires once; armed again when it has gone, or is past the release.
  EXPECT_EQ(fired(R"("when":"std","above":2)", {w, w, w, b, w}), (Passes{0, 4}));
  EXPECT_EQ(fired(R"("when":"std","above":2,"release":0.5)", {w, b, w, n, w}), (Passes{0, 4}));
  EXPECT_EQ(fired(R"("when":"std","below":0.5,"release":2)", {n, b, n, w, n}), (Passes{0, 4}));
  EXPECT_EQ(fired(R"("when":"std","above":2,"cooldown":3)", {w, b, w, b, w, b, w}), (Passes{0, 4}));
  EXPECT_EQ(fired(R"("when":"std","above":2,"limit":2)", {w, b, w, b, w}), (Passes{0, 2}));
  EXPECT_EQ(fired(R"("when":"std","above":2,"for":3)", {w, w, b, w, w, w}), (Passes{5}));
  EXPECT_EQ(fired(R"("when":"std","above":2)", {b, w, b, w, w}, R"(,"every":2)"), (Passes{4}));
}

TEST(Metacognition, TwoRulesOfOnePassActInTheirOrder) {
  Runner run(network_of(
      wrapped(kDense, rule(kAlways, R"("morph","dtype":"i8")") + "," + rule(kAlways, kHalf))));
  ASSERT_TRUE(run.run(kWide).ok());
  EXPECT_EQ(run.engine.acts(), 2);
  const std::string trace = run.engine.trace();
  EXPECT_LT(trace.find(R"("rule":0)"), trace.find(R"("rule":1)"));
}

TEST(Metacognition, InsideOfOneAnother) {
  const std::string inner = R"({"type":"metacognition","rules":[)" + rule(kAlways, kHalf) +
                            R"(],"layers":[)" + kLinear + "]}";
  const std::string cell = R"({"type":"sequential","layers":[)" + inner + "]}";
  Runner run(network_of(wrapped(cell, rule(kAlways, R"("gate","factor":0.25)"))));
  ASSERT_TRUE(run.run(kBase).ok() && run.run(kBase).ok());
  EXPECT_EQ(run.y, rows({0.125f, -0.125f, 0.125f, -0.125f}));
  const std::string trace = run.engine.trace();
  EXPECT_LT(trace.find(R"("path":"0.0.0.0/0/0")"), trace.find(R"("path":"0.0.0.0")"));
  // A cell that a second one runs is watched with the values of both.
  Runner twice(network_of(wrapped(kLinear, rule(R"("when":"max","above":2)", kHalf)) +
                              R"(,{"at":[0,0,0,1],"links":[{"run":[0,0,0,0]}]})",
                          R"({"width":4})", 2));
  ASSERT_TRUE(twice.run(kWide).ok() && twice.run(kWide).ok());
  EXPECT_EQ(twice.y, rows({0.75f, -0.75f, 0.75f, -0.75f}));
}

TEST(Metacognition, AnActThatFailsLeavesEverythingAsItWas) {
  // The second act of the pass: a session on no device of that kind.
  Runner run(network_of(wrapped(
      kDense, rule(kAlways, R"("reset")") + "," + rule(kAlways, R"("morph","dtype":"i4")"))));
  const std::string before = *digest(run.network);
  const std::string program = run.session->program().to_text();
  run.options.max_rows = 0;  // no session can be made any more
  for (int i = 0; i < 2; ++i) {
    const Status status = run.run(kWide);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_EQ(*digest(run.network), before);
    EXPECT_EQ(run.session->program().to_text(), program);
    EXPECT_EQ(run.engine.trace(), "");
  }
  run.options.max_rows = 8;
  ASSERT_TRUE(run.run(kWide).ok());
  EXPECT_EQ(run.engine.acts(), 2);
  // Weights that are packed alone cannot be reset.
  Network packed = network_of(wrapped(kDense, rule(kAlways, R"("gate","factor":0.5)") + "," +
                                                  rule(kAlways, R"("reset","to":"initial")")));
  ASSERT_TRUE(packed.pack(*parse_weight_format("i8")).ok());
  Runner alone(std::move(packed));
  const Status status = alone.run(kWide);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_NE(status.message().find("metacognition at 0.0.0.0: reset"), std::string::npos);
  EXPECT_EQ(alone.network.cell_json(0).find("gate")->as_number(), 1);
}

// One line for each rule.
const char* const kStory =
    R"({"when":"std","above":0.5,"do":"morph","dtype":"i4"},)"
    R"({"when":"max","above":2,"release":1,"cooldown":1,"do":"activation","activation":"tanh"},)"
    R"({"when":"growth","above":1.5,"over":1,"do":"retype","seed":9,)"
    R"("layer":{"type":"dense","out":4,"activation":"silu"}},)"
    R"({"when":"mean","below":0.3,"for":2,"do":"gate","factor":0.5})";
std::vector<std::vector<float>> story() {
  return {kBase, kNarrow, kWide, kBase, kHigh, kLow, kWide, kWide, kZero, kBase};
}

TEST(Metacognition, TheSameTraceForEveryNumberOfThreadsAndReplayWithTheSameBits) {
  std::string first;
  for (const int threads : {1, 2, 5}) {
    Runner run(network_of(wrapped(kDense, kStory)), {}, threads);
    std::vector<std::vector<float>> outputs;
    for (const auto& x : story()) {
      ASSERT_TRUE(run.run(x).ok());
      outputs.push_back(run.y);
    }
    EXPECT_GE(run.engine.acts(), 4) << run.engine.trace();
    if (first.empty()) first = run.engine.trace();
    EXPECT_EQ(run.engine.trace(), first);
    Network fresh = network_of(wrapped(kDense, kStory));
    auto script = Metacognition::replay(fresh, first);
    ASSERT_TRUE(script.ok()) << script.status().to_string();
    Runner again(std::move(fresh), {}, threads);
    again.engine = std::move(*script);
    EXPECT_FALSE(again.engine.due());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      ASSERT_TRUE(again.run(story()[i]).ok());
      EXPECT_EQ(again.y, outputs[i]) << i;
    }
    EXPECT_EQ(again.engine.trace(), first);
    EXPECT_EQ(*digest(again.network), *digest(run.network));
  }
}

TEST(Metacognition, ATraceThatDoesNotFitIsRefusedWhole) {
  Runner run(network_of(wrapped(kDense, kStory)));
  for (const auto& x : story()) ASSERT_TRUE(run.run(x).ok());
  const std::string trace = run.engine.trace();
  Network fresh = network_of(wrapped(kDense, kStory));
  const std::string before = *digest(fresh);
  const auto refused = [&](std::string text, Code code, std::string_view says) {
    const auto made = Metacognition::replay(fresh, text);
    EXPECT_FALSE(made.ok()) << text;
    EXPECT_EQ(made.status().code(), code) << made.status().message();
    EXPECT_NE(made.status().message().find(says), std::string::npos) << made.status().message();
    EXPECT_EQ(*digest(fresh), before);
  };
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = trace;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  refused(with("\"0.0.0.0\"", "\"0.0.0.1\""), Code::invalid_argument, "no metacognition");
  refused(with("\"rule\":0", "\"rule\":7"), Code::invalid_argument, "has 4 rules");
  refused(with("\"act\":\"morph\"", "\"act\":\"gate\""), Code::invalid_argument, "line 1");
  refused(with("{\"dtype\":\"i4\"}", "{\"dtype\":\"i8\"}"), Code::invalid_argument, "line 1");
  refused(with("{\"dtype\":\"f32\"}", "{\"dtype\":\"i8\"}"), Code::invalid_argument, "line 1");
  refused(with("\"value\"", "\"worth\""), Code::corrupt, "worth");
  refused(trace.substr(0, trace.size() - 9), Code::corrupt, "trace: line");
  refused(trace + trace, Code::corrupt, "comes after");
  refused(trace.substr(trace.find('\n') + 1), Code::invalid_argument, "does not fit");
  refused("\xff", Code::corrupt, "line 1");
  EXPECT_TRUE(Metacognition::replay(fresh, "").ok());
  Network other = network_of(R"({"at":[0,0,0,0],"type":"dense","out":4})");
  EXPECT_FALSE(Metacognition::replay(other, trace).ok());
}

// Rules that do not fit are errors of the topology.
TEST(Metacognition, RulesThatDoNotFitAreRefusedByName) {
  const auto refused = [](const std::string& layer, const std::string& rules, std::string_view says,
                          const std::string& input = R"({"width":4})") {
    const auto made = try_network(wrapped(layer, rules), input);
    ASSERT_FALSE(made.ok()) << rules;
    EXPECT_EQ(made.status().code(), Code::invalid_argument);
    EXPECT_NE(made.status().message().find(says), std::string::npos) << made.status().message();
  };
  const std::string narrow = R"({"type":"dense","out":3})";
  refused(kDense, R"({"when":"std","above":1})", "\"do\"");
  refused(kDense, R"({"above":1,"do":"reset"})", "\"when\"");
  refused(kDense, R"({"when":"std","do":"reset"})", "above");
  refused(kDense, R"({"when":"std","above":1,"below":0,"do":"reset"})", "above");
  refused(kDense, R"({"when":"median","above":1,"do":"reset"})", "median");
  refused(kDense, R"({"when":"std","above":1,"do":"dance"})", "dance");
  refused(kDense, R"({"when":"std","above":1,"do":"reset","tempo":1})", "tempo");
  refused(kDense, R"({"when":"std","above":1,"release":2,"do":"reset"})", "release");
  refused(kDense, R"({"when":"std","above":1,"over":2,"do":"reset"})", "over");
  refused(kDense, R"({"when":"std","above":1,"for":0,"do":"reset"})", "for");
  refused(kDense, rule(kAlways, R"("morph")"), "dtype");
  refused(kDense, rule(kAlways, R"("morph","dtype":"i5")"), "i5");
  refused(kDense, rule(kAlways, R"("reset","dtype":"i4")"), "dtype");
  refused(kLinear, rule(kAlways, R"("morph","dtype":"i4")"), "rule 0: morph: the layer has no");
  refused(kDense, rule(kAlways, R"("gate","factor":2)"), "factor");
  refused(kLinear, rule(kAlways, R"("reset")"), "no weights");
  refused(narrow, rule(kAlways, R"("reset","to":"identity")"), "no identity");
  refused(kDense, rule(kAlways, R"("activation","activation":"loud")"), "loud");
  refused(R"({"type":"rms_norm"})", rule(kAlways, R"("activation","activation":"relu")"),
          "no activation");
  refused(kDense, rule(kAlways, R"("retype","layer":{"type":"dense","out":5})"),
          "the layer gives [B, 5], and [B, 4] must come out");
  refused(kDense, rule(kAlways, R"("retype","layer":{"type":"tensor"})"), "tensor");
  refused(kDense, rule(kAlways, R"("append","layer":{"type":"flat"})"), "flat");
  refused(narrow, rule(kAlways, R"("disable")"), "pass on another shape");
  refused(kLinear, rule(kAlways, R"("freeze")"), "no weights");
  refused(R"({"type":"embedding","out":4})", rule(R"("when":"gain","above":1)", kHalf), "gain",
          R"({"ids":9})");
  // An act has to fit what another one may put there.
  refused(kDense,
          rule(kAlways, R"("activation","activation":"tanh")") + "," +
              rule(kAlways, R"("retype","layer":{"type":"rms_norm"})"),
          "the layer of rule 1 has no activation");
  EXPECT_FALSE(try_network(R"({"at":[0,0,0,0],"type":"metacognition","layers":[]})").ok());
  EXPECT_FALSE(try_network(R"({"at":[0,0,0,0],"type":"metacognition","rules":"usual","layers":[)" +
                           std::string(kDense) + "]}")
                   .ok());
}

// The preset: each of its rules in a run that trips it, and none in one of a healthy layer.
TEST(Metacognition, TheDefaultRules) {
  const auto made = [](const char* layer) {
    return network_of(R"({"at":[0,0,0,0],"type":"metacognition","rules":"default","layers":[)" +
                      std::string(layer) + "]}");
  };
  const char* const dense = R"({"type":"dense","out":4,"activation":"tanh"})";
  Runner healthy(made(dense));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(healthy.run(kBase).ok());
  EXPECT_EQ(healthy.engine.acts(), 0) << healthy.engine.trace();
  Runner drifts(made(dense));
  ASSERT_TRUE(drifts.run(kNarrow).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(drifts.run(kWide).ok());
  EXPECT_NE(drifts.engine.trace().find(R"("pass":3,"path":"0.0.0.0","rule":0)"), std::string::npos);
  EXPECT_EQ(drifts.engine.acts(), 1) << drifts.engine.trace();
  Runner loud(made(R"({"type":"dense","out":4})"));
  ASSERT_TRUE(loud.run(rows({50, -50, 30, 20})).ok());
  EXPECT_NE(loud.engine.trace().find(R"("statistic":"std")"), std::string::npos);
  EXPECT_NE(loud.engine.trace().find(R"("act":"append")"), std::string::npos);
  Runner dead(made(R"({"type":"dense","out":4,"activation":"relu"})"));
  for (float& v : dead.network.find("0.0.0.0/0", "weight")->mutable_master()) v = 0;
  dead.network.find("0.0.0.0/0", "weight")->touch();
  ASSERT_TRUE(dead.session->refresh().ok());
  ASSERT_TRUE(dead.run(kBase).ok());
  EXPECT_NE(dead.engine.trace().find(R"("rule":2,"statistic":"active_share")"), std::string::npos);
  EXPECT_NE(dead.engine.trace().find(R"("weights":"initial")"), std::string::npos);
}

// A sequence goes on in its caches while a layer beside them changes.
TEST(Metacognition, StatesSurviveAnAct) {
  const std::string cells =
      R"({"at":[0,0,0,0],"type":"embedding","out":8},)"
      R"({"at":[0,0,0,1],"type":"attention","heads":2},)" +
      wrapped(R"({"type":"dense","out":8})", rule(R"("when":"std","above":0)", kHalf), 2);
  const auto logits = [&](bool act) {
    Runner run(network_of(cells, R"({"ids":9})", 3));
    std::vector<float> last;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t id = i + 1, zero = 0;
      EXPECT_TRUE(run.session->run_tokens({&id, 1}, {&zero, 1}, {&i, 1}, {&zero, 1}).ok());
      last.assign(run.session->output(0).begin(), run.session->output(0).end());
      if (!act || i != 1) continue;
      EXPECT_TRUE(run.after().ok());
    }
    EXPECT_EQ(run.engine.acts(), act ? 1 : 0);
    EXPECT_TRUE(run.kept);
    return last;
  };
  std::vector<float> plain = logits(false);
  for (float& v : plain) v *= 0.5f;
  EXPECT_EQ(logits(true), plain);
}

}  // namespace
}  // namespace loom
