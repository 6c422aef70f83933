// Observed passes: statistics against a computation of two passes in long double, and what
// observation must leave as it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "exec/observe/tap_plan.h"
#include "exec/observe/totals.h"
#include "exec/session.h"

namespace loom {
namespace {

struct Expected {
  std::int64_t count = 0, nan = 0, inf = 0, active = 0, bad = -1;
  long double mean = 0, std = 0;
  double min = INFINITY, max = -INFINITY;
};
template <class T>
Expected expected(const std::vector<T>& x) {
  Expected e;
  long double sum = 0;
  std::int64_t finite = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto v = static_cast<double>(x[i]);
    ++e.count, e.nan += std::isnan(v), e.inf += std::isinf(v), e.active += std::fabs(v) > 1e-6;
    if (!std::isfinite(v)) {
      if (e.bad < 0) e.bad = static_cast<std::int64_t>(i);
      continue;
    }
    ++finite, sum += v, e.min = std::min(e.min, v), e.max = std::max(e.max, v);
  }
  if (finite == 0) return e;
  e.mean = sum / finite;
  for (const T v : x)
    if (std::isfinite(v)) e.std += (v - e.mean) * (v - e.mean);
  e.std = std::sqrt(e.std / finite);
  return e;
}
template <class T>
CellStatistics of(const std::vector<T>& x, std::int64_t width) {
  std::vector<BlockSums> blocks;
  for (std::size_t i = 0; i < x.size(); i += BlockSums::kBlock)
    blocks.push_back(block_sums(x.data() + i, std::min(BlockSums::kBlock, x.size() - i)));
  return combine(blocks, width);
}
void expect_equal(const CellStatistics& s, const Expected& e) {
  EXPECT_EQ(s.count, e.count);
  EXPECT_EQ(s.nan_count, e.nan);
  EXPECT_EQ(s.inf_count, e.inf);
  EXPECT_EQ(s.active, e.active);
  EXPECT_EQ(s.min, e.min);
  EXPECT_EQ(s.max, e.max);
  EXPECT_NEAR(s.std(), static_cast<double>(e.std), 1e-12 * static_cast<double>(e.std));
  const auto mean = static_cast<double>(e.mean);
  EXPECT_NEAR(s.mean, mean, 1e-12 * std::max(std::fabs(mean), static_cast<double>(e.std)));
}

template <class T>
std::vector<T> values(std::size_t count, double offset, double scale) {
  std::vector<T> x(count);
  const RandomStream random(7, count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(offset + scale * static_cast<double>(normal(random, i)));
  return x;
}

template <class T>
class BlockStatistics : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockStatistics, Types);

// The order of statistics.h, by which all instruction sets have the same bits.
TYPED_TEST(BlockStatistics, AddInLanesOfEight) {
  for (const std::size_t count : {8, 64, 1000, 1024}) {
    const auto x = values<TypeParam>(count, 3, 1.0 / 3);
    double sums[8]{}, squares[8]{}, sum = 0, square = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double d = static_cast<double>(x[i]) - static_cast<double>(x[0]);
      sums[i % 8] += d;
      squares[i % 8] += d * d;
    }
    for (int k = 0; k < 8; ++k) sum += sums[k], square += squares[k];
    const BlockSums s = block_sums(x.data(), count);
    EXPECT_EQ(s.sum, sum);
    EXPECT_EQ(s.squares, square);
  }
}

TYPED_TEST(BlockStatistics, EqualTwoPassesInLongDouble) {
  for (const std::size_t count : {1, 2, 7, 8, 9, 1023, 1024, 1025, 5000, 70001})
    for (const double offset : {0.0, 1.0, -1e4})
      for (const double scale : {1.0, 1e-7, 1e6}) {
        const auto x = values<TypeParam>(count, offset, scale);
        expect_equal(of(x, 1), expected(x));
      }
}

TYPED_TEST(BlockStatistics, ValuesThatAreNotFiniteAreCountedAndPlaced) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN(),
                  inf = std::numeric_limits<TypeParam>::infinity();
  for (const std::size_t at : {0, 5, 1022, 1023, 1024, 2999}) {
    auto x = values<TypeParam>(3000, 2, 1);
    x[at] = nan, x[2999] = -inf, x[2500] = inf;
    const auto e = expected(x);
    const CellStatistics s = of(x, 30);
    expect_equal(s, e);
    EXPECT_EQ(s.bad_row, e.bad / 30);
    EXPECT_EQ(s.bad_column, e.bad % 30);
  }
  const CellStatistics none = of(std::vector<TypeParam>(20, nan), 4);
  EXPECT_EQ(none.nan_count, 20);
  EXPECT_EQ(none.finite(), 0);
  EXPECT_EQ(none.std(), 0);
  EXPECT_TRUE(event_json({}, {.statistics = none}).find("min")->is_null());
}

TYPED_TEST(BlockStatistics, OneValueThroughoutHasNoDeviation) {
  const CellStatistics s = of(std::vector<TypeParam>(5000, TypeParam(0.1)), 1);
  EXPECT_EQ(s.mean, static_cast<double>(TypeParam(0.1)));
  EXPECT_EQ(s.std(), 0);
  const CellStatistics zero = of(std::vector<TypeParam>(9, TypeParam(-0.0)), 1);
  EXPECT_FALSE(std::signbit(zero.min));
  EXPECT_EQ(zero.active, 0);
}

TEST(CellStatistics, AddIsAsIfTheValuesFollowed) {
  const auto x = values<double>(3000, 5, 2);
  CellStatistics s = of(std::vector<double>(x.begin(), x.begin() + 17), 1);
  s.add(CellStatistics());
  s.add(of(std::vector<double>(x.begin() + 17, x.end()), 1));
  expect_equal(s, expected(x));
}

// What an observer was told.
struct List : Observer {
  Status begin(const std::vector<ObservedCell>& list) override {
    cells = list, ++begun;
    return {};
  }
  Status on_forward(const CellEvent& event) override {
    if (refuses) return Status(Code::io, "full");
    events.push_back(event);
    return {};
  }
  std::vector<ObservedCell> cells;
  std::vector<CellEvent> events;
  int begun = 0;
  bool refuses = false;
};

Network network_of(const std::string& cells, const std::string& input = R"({"width":33})",
                   int depth = 1, int per_cell = 1) {
  auto network = Network::from_json(
      *Json::parse(R"({"format":"loom-topology","version":3,"depth":)" + std::to_string(depth) +
                   R"(,"layers_per_cell":)" + std::to_string(per_cell) + R"(,"input":)" + input +
                   R"(,"cells":[)" + cells + "]}"));
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_TRUE(network->initialize(3).ok());
  return std::move(*network);
}
std::vector<float> outputs(Session& s, std::int64_t rows) {
  std::vector<float> y;
  for (std::int64_t r = 0; r < rows; ++r) y.insert(y.end(), s.output(r).begin(), s.output(r).end());
  return y;
}

// A dense cell, an empty one, one that is off, one that runs the first, an f64 one, a packed one.
const char* const kMixed = R"({"at":[0,0,0,0],"type":"dense","out":33,"activation":"relu"},)"
                           R"({"at":[2,0,0,0],"type":"dense","out":33,"enabled":false},)"
                           R"({"at":[3,0,0,0],"links":[{"run":[0,0,0,0]}]},)"
                           R"({"at":[4,0,0,0],"type":"dense","out":45,"dtype":"f64"},)"
                           R"({"at":[5,0,0,0],"type":"dense","out":16,"dtype":"i4"},)"
                           R"({"at":[6,0,0,0],"type":"dense","out":7})";

TEST(Observe, EveryCellOfEveryPassWithTheSameOutputs) {
  Network network = network_of(kMixed, R"({"width":33})", 7);
  std::vector<CellEvent> first;
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    auto plain = Session::create(network, pool, {.max_rows = 70, .poison = true});
    auto seen = Session::create(network, pool, {.max_rows = 70, .poison = true});
    ASSERT_TRUE(plain.ok() && seen.ok());
    List list;
    ASSERT_TRUE(seen->observe(&list).ok());
    EXPECT_EQ(plain->program().hash(), seen->program().hash());
    EXPECT_EQ(plain->executor().barriers(), seen->executor().barriers());
    for (const std::int64_t rows : {70, 1, 13}) {
      const auto x = values<float>(static_cast<std::size_t>(rows) * 33, 0, 1);
      ASSERT_TRUE(plain->run(x, rows).ok());
      const auto ran = seen->run(x, rows);
      ASSERT_TRUE(ran.ok()) << ran.status().to_string();
      EXPECT_EQ(outputs(*plain, rows), outputs(*seen, rows));
      // The last cell's are those of the outputs.
      expect_equal(list.events.back().statistics, expected(outputs(*seen, rows)));
      EXPECT_EQ(list.events.back().statistics.count, rows * 7);
    }
    ASSERT_EQ(list.events.size(), 3 * network.size());
    EXPECT_EQ(list.cells[1].type, "empty");
    EXPECT_FALSE(list.cells[2].enabled);
    EXPECT_EQ(list.cells[3].type, "dense");
    EXPECT_EQ(list.events[1].statistics.mean, list.events[0].statistics.mean);
    EXPECT_EQ(list.events[2].statistics.squares, list.events[0].statistics.squares);
    EXPECT_NE(list.events[3].statistics.mean, list.events[0].statistics.mean);
    if (first.empty()) first = list.events;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].statistics.mean, list.events[i].statistics.mean);
      EXPECT_EQ(first[i].statistics.squares, list.events[i].statistics.squares);
      EXPECT_EQ(first[i].pass, static_cast<std::int64_t>(i / network.size()));
    }
  }
}

// Each cell's values are those of a network that ends with it.
TEST(Observe, EachCellAsTheNetworkThatEndsThere) {
  const std::string cells[] = {
      R"({"at":[0,0,0,0],"type":"conv2d","filters":3,"kernel":3,"activation":"tanh"})",
      R"({"at":[1,0,0,0],"type":"avg_pool2d","kernel":2})", R"({"at":[2,0,0,0],"type":"flatten"})",
      R"({"at":[3,0,0,0],"type":"dense","out":11,"activation":"gelu"})",
      R"({"at":[4,0,0,0],"type":"layer_norm"})"};
  const std::string input = R"({"dims":[2,9,7],"axis":"channels"})";
  std::string text;
  for (int i = 0; i < 5; ++i) text += (i ? "," : "") + cells[i];
  Network whole = network_of(text, input, 5);
  ThreadPool pool(2);
  auto session = Session::create(whole, pool, {.max_rows = 5, .poison = true});
  ASSERT_TRUE(session.ok());
  List list;
  ASSERT_TRUE(session->observe(&list).ok());
  const auto x = values<float>(5 * 126, 0, 1);
  ASSERT_TRUE(session->run(x, 5).ok());
  text.clear();
  for (int i = 0; i < 5; ++i) {
    text += (i ? "," : "") + cells[i];
    Network part = network_of(text, input, i + 1);
    auto alone = Session::create(part, pool, {.max_rows = 5});
    ASSERT_TRUE(alone->run(x, 5).ok());
    expect_equal(list.events[static_cast<std::size_t>(i)].statistics, expected(outputs(*alone, 5)));
  }
}

TEST(Observe, EveryNthPassAndSoMany) {
  Network network = network_of(R"({"at":[0,0,0,0],"type":"dense","out":5})");
  ThreadPool pool(1);
  auto s = Session::create(network, pool);
  const std::vector<float> x(33, 1);
  List list;
  ASSERT_TRUE(s->observe(&list, {.every = 3, .passes = 2}).ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(s->run(x, 1).ok());
  ASSERT_EQ(list.events.size(), 2u);
  EXPECT_EQ(list.events[1].pass, 3);
  EXPECT_EQ(s->passes(), 10);
  EXPECT_EQ(s->observed_passes(), 2);
  EXPECT_FALSE(s->run(x, 2).ok());  // refused passes are none
  EXPECT_EQ(s->passes(), 10);
  ASSERT_TRUE(s->observe(&list).ok());
  list.refuses = true;
  EXPECT_EQ(s->run(x, 1).status().code(), Code::io);
  const auto y = outputs(*s, 1);
  ASSERT_TRUE(s->observe(nullptr).ok());
  EXPECT_EQ(outputs(*s, 1), y);
  ASSERT_TRUE(s->run(x, 1).ok());
  EXPECT_EQ(outputs(*s, 1), y);
  EXPECT_EQ(list.events.size(), 2u);
  EXPECT_FALSE(s->observe(&list, {.every = 0}).ok());
  EXPECT_FALSE(s->observe(&list, {.passes = -1}).ok());
}

// All passes together are one long tensor, and the next observer has each pass as before.
TEST(Observe, TotalsAreOfAllPasses) {
  Network network = network_of(R"({"at":[0,0,0,0],"type":"activation","activation":"relu"},
      {"at":[1,0,0,0],"type":"activation","activation":"tanh"})",
                               R"({"width":33})", 2);
  ThreadPool pool(1);
  auto s = Session::create(network, pool, {.max_rows = 7});
  ASSERT_TRUE(s.ok()) << s.status().to_string();
  List list;
  TotalObserver total(list);
  EXPECT_EQ(total.to_json().as_array().size(), 0u);
  ASSERT_TRUE(s->observe(&total, {.every = 2}).ok());
  std::vector<float> all;
  for (std::uint32_t pass = 0; pass < 5; ++pass) {
    const std::int64_t rows = 1 + pass;
    auto x = values<float>(rows * 33, pass, 1);
    if (pass == 2) x[40] = NAN;
    ASSERT_TRUE(s->run(x, rows).ok());
    if (pass % 2 > 0) continue;
    for (const float v : x) all.push_back(std::isnan(v) ? v : std::max(v, 0.0f));
  }
  EXPECT_EQ(list.events.size(), 6u);
  const Expected e = expected(all);
  for (const bool again : {false, true}) {
    const Json json = total.to_json();
    ASSERT_EQ(json.as_array().size(), 2u) << again;
    const Json& cell = json.as_array()[0];
    EXPECT_EQ(cell.find("passes")->as_integer(), 3);
    EXPECT_EQ(cell.find("pass")->as_integer(), 4);
    EXPECT_EQ(cell.find("count")->as_integer(), e.count);
    EXPECT_EQ(cell.find("nan_count")->as_integer(), 1);
    EXPECT_EQ(cell.find("first_bad")->dump(), "[1,7]");
    EXPECT_EQ(cell.find("first_bad_pass")->as_integer(), 2);
    EXPECT_NEAR(cell.find("mean")->as_number(), static_cast<double>(e.mean), 1e-13);
    EXPECT_NEAR(cell.find("std")->as_number(), static_cast<double>(e.std), 1e-13);
    EXPECT_EQ(cell.find("max")->as_number(), e.max);
    EXPECT_TRUE(json.as_array()[1].find("enabled")->as_bool());
  }
  // Another list of cells: what a path had stays with it.
  const ObservedCell b{"1.0.0.0", "dense", {1, 0, 0, 0}}, c{"2.0.0.0", "dense", {2, 0, 0, 0}};
  ASSERT_TRUE(total.begin({b, c}).ok());
  CellEvent event;
  event.pass = 5, event.cell = 1;
  event.statistics = of(std::vector<float>{2}, 1);
  ASSERT_TRUE(total.on_forward(event).ok());
  const Json json = total.to_json();
  ASSERT_EQ(json.as_array().size(), 3u);
  EXPECT_EQ(json.as_array()[1].find("type")->as_string(), "dense");
  EXPECT_EQ(json.as_array()[1].find("passes")->as_integer(), 3);
  EXPECT_EQ(json.as_array()[2].find("count")->as_integer(), 1);
}

// Caches and recurrent states go along where the programs change over.
TEST(Observe, StatesGoOn) {
  for (const char* layer : {R"("attention","heads":3,"head_dim":12)", R"("lstm","hidden":33)"}) {
    Network network =
        network_of(R"({"at":[0,0,0,0],"type":"sequential","layers":[{"type":)" +
                       std::string(layer) + R"(}]},{"at":[1,0,0,0],"type":"dense","out":9})",
                   R"({"width":33})", 2);
    ThreadPool pool(2);
    const SessionOptions options{.max_rows = 6, .max_positions = 100, .sequences = 2};
    auto plain = Session::create(network, pool, options);
    auto seen = Session::create(network, pool, options);
    ASSERT_TRUE(plain.ok() && seen.ok()) << plain.status().to_string();
    List list;
    ASSERT_TRUE(seen->observe(&list, {.every = 2}).ok());
    for (std::uint32_t pass = 0; pass < 9; ++pass) {
      const auto x = values<float>(6 * 33, pass, 1);
      std::vector<std::uint32_t> sequences, positions;
      for (std::uint32_t r = 0; r < 6; ++r)
        sequences.push_back(r % 2), positions.push_back(pass * 3 + r / 2);
      ASSERT_TRUE(plain->run(x, sequences, positions).ok());
      const auto ran = seen->run(x, sequences, positions);
      ASSERT_TRUE(ran.ok()) << ran.status().to_string();
      EXPECT_EQ(outputs(*plain, 6), outputs(*seen, 6)) << pass;
      if (pass % 2 == 0 && pass < 7)
        expect_equal(list.events.back().statistics, expected(outputs(*seen, 6)));
      if (pass == 6) {
        ASSERT_TRUE(seen->observe(nullptr).ok());
      }
    }
    EXPECT_EQ(list.events.size(), 8u);
  }
}

TEST(Observe, WhereAValueIsNotFinite) {
  Network network = network_of(R"({"at":[0,0,0,0],"type":"dense","out":40})");
  WeightStore* w = network.find("0.0.0.0", "weight");
  ASSERT_NE(w, nullptr);
  ThreadPool pool(2);
  auto s = Session::create(network, pool);
  std::vector<float> x(33 * 9, 1);
  x[33 * 7 + 3] = std::numeric_limits<float>::quiet_NaN();
  List list;
  ASSERT_TRUE(s->observe(&list).ok());
  ASSERT_TRUE(s->run(x, 9).ok());
  const CellStatistics& c = list.events[0].statistics;
  EXPECT_EQ(c.nan_count, 40);
  EXPECT_EQ(c.bad_row, 7);
  EXPECT_EQ(c.bad_column, 0);
  EXPECT_EQ(c.finite(), 320);
}

TEST(Observe, WindowsHaveAllValuesOfTheirPasses) {
  Network network = network_of(R"({"at":[0,0,0,0],"type":"dense","out":5})");
  ThreadPool pool(1);
  auto s = Session::create(network, pool);
  List list;
  WindowObserver window(3, list);
  ASSERT_TRUE(s->observe(&window).ok());
  std::vector<float> all;
  for (std::int64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(s->run(values<float>(33 * static_cast<std::size_t>(i + 1), 0, 1), i + 1).ok());
    if (i == 3) all.clear();
    const auto y = outputs(*s, i + 1);
    all.insert(all.end(), y.begin(), y.end());
    if (i == 2) {
      ASSERT_EQ(list.events.size(), 1u);
      expect_equal(list.events[0].statistics, expected(all));
      EXPECT_EQ(list.events[0].passes, 3);
      EXPECT_EQ(list.events[0].pass, 2);
    }
  }
  EXPECT_EQ(list.events.size(), 1u);
  ASSERT_TRUE(window.flush().ok());
  ASSERT_EQ(list.events.size(), 2u);
  EXPECT_EQ(list.events[1].passes, 1);
  expect_equal(list.events[1].statistics, expected(all));
}

TEST(Observe, ARecorderKeepsTheLastPasses) {
  Network network = network_of(kMixed, R"({"width":33})", 7);
  ThreadPool pool(1);
  auto s = Session::create(network, pool);
  Recorder recorder(2), refused(0);
  EXPECT_FALSE(s->observe(&refused).ok());
  ASSERT_TRUE(s->observe(&recorder).ok());
  const std::vector<float> x(33, 1);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(s->run(x, 1).ok());
  EXPECT_EQ(recorder.dropped(), 21);
  const Json events = recorder.take();
  ASSERT_EQ(events.as_array().size(), 14u);
  EXPECT_EQ(events.as_array()[0].find("pass")->as_integer(), 3);
  EXPECT_EQ(events.as_array()[13].find("path")->as_string(), "6.0.0.0");
  EXPECT_TRUE(recorder.take().as_array().empty());
}

// Layers inside a container have the values that they have as cells.
TEST(Observe, NestedLayersAsCells) {
  const std::string dense = R"("type":"dense","out":33,"activation":"tanh")",
                    norm = R"("type":"layer_norm")";
  Network flat = network_of(R"({"at":[0,0,0,0],)" + dense + R"(},{"at":[1,0,0,0],)" + norm +
                                R"(},{"at":[2,0,0,0],"type":"dense","out":9})",
                            R"({"width":33})", 3);
  Network deep = network_of(
      R"({"at":[0,0,0,0],"type":"sequential","layers":[{)" + dense +
          R"(},{"type":"sequential","layers":[{)" + norm +
          R"(}]},{"type":"residual","enabled":false}]},{"at":[1,0,0,0],"type":"dense","out":9})",
      R"({"width":33})", 2);
  const auto copy = [&](const char* to, const char* from, const char* role) {
    auto a = deep.find(to, role)->mutable_master();
    const auto b = flat.find(from, role)->mutable_master();
    std::ranges::copy(b, a.begin());
    deep.find(to, role)->touch();
  };
  for (const char* role : {"weight", "bias"})
    copy("0.0.0.0/0", "0.0.0.0", role), copy("1.0.0.0", "2.0.0.0", role);
  ThreadPool pool(2);
  auto one = Session::create(flat, pool), other = Session::create(deep, pool);
  List want, list;
  ASSERT_TRUE(one->observe(&want).ok());
  ASSERT_TRUE(other->observe(&list).ok());
  const auto x = values<float>(50 * 33, 0, 1);
  ASSERT_TRUE(other->run(x, 50).ok());
  EXPECT_EQ(list.events.size(), 2u);
  list.events.clear();
  ASSERT_TRUE(other->observe(&list, {.nested = true}).ok());
  ASSERT_TRUE(one->run(x, 50).ok() && other->run(x, 50).ok());
  EXPECT_EQ(outputs(*one, 50), outputs(*other, 50));
  ASSERT_EQ(list.events.size(), 6u);
  const char* const paths[] = {"0.0.0.0",     "0.0.0.0/0", "0.0.0.0/1",
                               "0.0.0.0/1/0", "0.0.0.0/2", "1.0.0.0"};
  const std::size_t cells[] = {1, 0, 1, 1, 1, 2};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(list.cells[i].path, paths[i]);
    EXPECT_EQ(list.cells[i].enabled, i != 4);
    EXPECT_EQ(list.events[i].statistics.mean, want.events[cells[i]].statistics.mean) << i;
    EXPECT_EQ(list.events[i].statistics.squares, want.events[cells[i]].statistics.squares) << i;
    EXPECT_EQ(list.events[i].statistics.count, want.events[cells[i]].statistics.count) << i;
  }
  EXPECT_FALSE(other->observe(&list, {.weights = true}).ok());
  ASSERT_TRUE(other->observe(&list).ok());
  ASSERT_TRUE(other->run(x, 50).ok());
  EXPECT_EQ(list.events.size(), 8u);
}

// A value is kept as it was when it was asked for.
TEST(Keeper, CopiesWhatIsOverwritten) {
  Program program;
  ProgramBuilder emit(program);
  Keeper keeper(emit);
  const View a = emit.temp(ValueType::f32, Rows{2}, 3), b = emit.temp(ValueType::f32, Rows{2}, 3);
  const auto write = [&](View v, double value, bool asks) {
    emit.fill(v, value);
    if (asks) EXPECT_TRUE(keeper.ask(v, program.code.size()));
  };
  write(a, 1, true), write(b, 2, true), write(a, 3, true), write(a, 4, false), write(a, 5, true);
  const View y = emit.output("y", ValueType::f32, Rows{2}, 3);
  emit.copy_to(emit.add(a, b), y);
  const std::vector<View> views = keeper.keep();
  EXPECT_EQ(views[1], b);
  EXPECT_EQ(views[3], a);
  ThreadPool pool(2);
  auto executor = Executor::create(
      program, [](std::string_view, std::string_view) -> WeightStore* { return nullptr; }, pool,
      {.poison = true});
  ASSERT_TRUE(executor.ok()) << executor.status().to_string();
  ASSERT_TRUE((*executor)->run().ok());
  const float wanted[] = {1, 2, 3, 5};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::int64_t r = 0; r < 2; ++r)
      for (const float v : (*executor)->row<float>(views[i].buffer, r)) EXPECT_EQ(v, wanted[i]);
  EXPECT_EQ((*executor)->row<float>(y.buffer, 1)[2], 7);
}

}  // namespace
}  // namespace loom
