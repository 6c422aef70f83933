// Runs that are cancelled: what sessions keep of them, and where sequences go on.
#include <gtest/gtest.h>

#include <algorithm>

#include "exec/session.h"
#include "support/stop_layer.h"

namespace loom {
namespace {

using namespace test::stop;

Network network_of(const std::string& layer, const std::string& input = R"({"width":8})",
                   const std::string& first = "") {
  auto network = Network::from_json(
      *Json::parse(R"({"format":"loom-topology","version":2,"layers_per_cell":1,"input":)" + input +
                   R"(,"cells":[{"at":[0,0,0,0],"type":"sequential","layers":[)" + first + layer +
                   R"(,{"type":"custom","layer":"test.stop"},)" + layer +
                   R"(,{"type":"custom","layer":"test.stop"},{"type":"dense","out":8}]}]})"));
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_TRUE(network->initialize(3).ok());
  return std::move(*network);
}

class CancelRuns : public testing::Test {
 protected:
  void SetUp() override {
    flag = false, countdown = 0, late = 0;
    ASSERT_TRUE(register_custom_layer(std::make_shared<Stop>()).ok());
  }
  void TearDown() override { EXPECT_TRUE(unregister_custom_layer("test.stop", 1).ok()); }

  // Rows first..last-1 of a sequence; what they are depends on `kind` and the row.
  static Result<std::vector<float>> run(Session& s, std::uint32_t first, std::uint32_t last,
                                        float kind = 1) {
    std::vector<float> x;
    std::vector<std::uint32_t> sequences, positions;
    for (std::uint32_t p = first; p < last; ++p) {
      for (int c = 0; c < 8; ++c) x.push_back(kind / static_cast<float>(1 + p + c));
      sequences.push_back(0), positions.push_back(p);
    }
    LOOM_TRY(s.run(x, sequences, positions).status());
    std::vector<float> y;
    for (std::uint32_t p = first; p < last; ++p) {
      const auto row = s.output(p - first);
      y.insert(y.end(), row.begin(), row.end());
    }
    return y;
  }
  static Result<Session> session(Network& network, ThreadPool& pool) {
    return Session::create(network, pool, {.max_rows = 16, .cancel = &flag});
  }
};

TEST_F(CancelRuns, ACacheEndsBeforeTheRowsOfTheRun) {
  for (const int threads : {1, 3}) {
    Network network = network_of(R"({"type":"attention","heads":2})");
    ThreadPool pool(threads);
    auto cut = session(network, pool), whole = session(network, pool);
    ASSERT_TRUE(cut.ok() && whole.ok()) << cut.status().to_string();
    ASSERT_TRUE(run(*cut, 0, 6).ok());
    flag = true;  // before anything has run, nothing is lost
    EXPECT_EQ(run(*cut, 2, 5).status().code(), Code::cancelled);
    flag = false;
    ASSERT_TRUE(run(*cut, 5, 6).ok());
    countdown = 1, late = 0;
    EXPECT_EQ(run(*cut, 4, 6, 2).status().code(), Code::cancelled);
    EXPECT_EQ(late, 0);
    flag = false;
    // Position 4 is half another one.
    EXPECT_EQ(run(*cut, 5, 6).status().code(), Code::out_of_range);
    ASSERT_TRUE(run(*whole, 0, 4).ok());
    const auto again = run(*cut, 4, 7, 2), expected = run(*whole, 4, 7, 2);
    ASSERT_TRUE(again.ok() && expected.ok()) << again.status().to_string();
    EXPECT_EQ(*again, *expected);
  }
}

TEST_F(CancelRuns, ARecurrentStateBeginsAnew) {
  Network network = network_of(R"({"type":"gru","hidden":8})", R"({"ids":9})",
                               R"({"type":"embedding","out":8},)");
  ThreadPool pool(2);
  auto cut = session(network, pool), whole = session(network, pool);
  ASSERT_TRUE(cut.ok() && whole.ok()) << cut.status().to_string();
  const std::vector<std::uint32_t> ids = {1, 2, 3, 4, 5, 6, 7}, zeros(7, 0);
  const auto tokens = [&](Session& s, std::uint32_t first, std::uint32_t last) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t p = first; p < last; ++p) places.push_back(p);
    return s.run_tokens(std::span(ids).subspan(first, places.size()),
                        std::span(zeros).first(places.size()), places, {});
  };
  ASSERT_TRUE(tokens(*cut, 0, 4).ok());
  countdown = 3;  // in the second of its rows
  EXPECT_EQ(tokens(*cut, 4, 7).code(), Code::cancelled);
  flag = false;
  EXPECT_EQ(tokens(*cut, 4, 7).code(), Code::out_of_range);
  ASSERT_TRUE(tokens(*cut, 0, 7).ok() && tokens(*whole, 0, 7).ok());
  EXPECT_TRUE(std::ranges::equal(cut->output(6), whole->output(6)));
}

TEST_F(CancelRuns, RowsAloneCanBeGivenAgain) {
  Network network = network_of(R"({"type":"dense","out":8,"activation":"tanh"})");
  ThreadPool pool(3);
  auto s = session(network, pool);
  ASSERT_TRUE(s.ok()) << s.status().to_string();
  const std::vector<float> x(16 * 8, 0.3f);
  const auto first = s->run(x, 16);
  ASSERT_TRUE(first.ok());
  const std::vector<float> expected(first->begin(), first->end());
  for (int at = 1; at <= 2; ++at) {
    countdown = at, late = 0;
    EXPECT_EQ(s->run(x, 16).status().code(), Code::cancelled);
    EXPECT_EQ(late, 0);
    flag = false;
  }
  const auto again = s->run(x, 16);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(std::vector<float>(again->begin(), again->end()), expected);
}

}  // namespace
}  // namespace loom
