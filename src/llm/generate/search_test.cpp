#include "llm/generate/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/random.h"
#include "support/places.h"

namespace loom {
namespace {

// One of tests/conformance/seq2seq, with weights that make its answers differ much.
Network network_of(const char* name) {
  std::ifstream file(test::source_dir() + "/tests/conformance/seq2seq/" + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  auto n = Network::from_json(std::string_view(text.view()));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(7).ok());
  std::uint64_t stream = 100;
  for (auto& p : n->params()) {
    const RandomStream random(3, stream++);
    std::size_t i = 0;
    for (float& v : p.param->store->mutable_master())
      v += static_cast<float>(3 * (random.uniform(i++) - 0.5));
    p.param->store->touch();
  }
  return std::move(*n);
}
std::vector<double> sources(const Seq2Seq& s, std::int64_t rows) {
  const RandomStream random(5, 1);
  std::vector<double> x;
  for (std::int64_t r = 0; r < rows; ++r)
    for (const Shape& part : s.sources())
      for (std::int64_t i = 0; i < part.count(); ++i) {
        const double u = random.uniform(x.size());
        x.push_back(part.ids > 0          ? 1 + std::floor(u * static_cast<double>(part.ids - 1))
                    : part.name == "mask" ? static_cast<double>(i > 0 && u < 0.4)
                                          : 2 * u - 1);
      }
  return x;
}

// Logarithms of the probabilities behind these ids, by a run of their own.
std::vector<double> logs(Seq2Seq& s, std::span<const double> source,
                         const std::vector<std::int32_t>& ids) {
  EXPECT_TRUE(s.encode(source, 1).ok());
  for (const std::int32_t id : ids)
    EXPECT_TRUE(s.step(std::vector<double>{static_cast<double>(id)}).ok());
  std::vector<double> y(s.output(0).begin(), s.output(0).end());
  double sum = 0;
  for (const double v : y) sum += std::exp(v);
  for (double& v : y) v -= std::log(sum);
  return y;
}

// All sequences of up to `most` ids behind the start, ended or not, by what `score` makes of them.
Found best_of_all(Seq2Seq& s, std::span<const double> source, std::int32_t start, std::int32_t end,
                  std::size_t max, double penalty) {
  Found best;
  double top = -1e300;
  std::function<void(std::vector<std::int32_t>, double)> grow = [&](std::vector<std::int32_t> ids,
                                                                    double score) {
    const std::vector<double> y = logs(s, source, ids);
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(y.size()); ++id) {
      const double now = score + y[static_cast<std::size_t>(id)];
      std::vector<std::int32_t> next = ids;
      next.push_back(id);
      const bool ends = id == end;
      if (!ends && next.size() - 1 < max) {
        grow(next, now);
        continue;
      }
      const double compared = now / std::pow(static_cast<double>(next.size() - 1), penalty);
      if (compared <= top) continue;
      top = compared;
      best = {{next.begin() + 1, next.end()}, now, ends};
    }
  };
  grow({start}, 0);
  return best;
}

TEST(Search, ManyBeamsFindTheBestOfAll) {
  for (const char* name : {"masked", "states"})
    for (const double penalty : {0.0, 1.0, 2.0}) {
      Network network = network_of(name);
      ThreadPool pool(1);
      auto s = Seq2Seq::create(network, pool, {.target = "target", .lanes = 2 * 216});
      ASSERT_TRUE(s.ok()) << s.status().to_string();
      const std::vector<double> x = sources(*s, 2);
      const auto width = static_cast<std::size_t>(s->source_width());
      SearchOptions o;
      o.start = {2};
      o.end = 1;
      o.max_tokens = 3;
      o.beams = 216;
      o.length_penalty = penalty;
      const auto found = search(*s, x, 2, o);
      ASSERT_TRUE(found.ok()) << found.status().to_string();
      for (std::size_t r = 0; r < 2; ++r) {
        const Found best =
            best_of_all(*s, std::span(x).subspan(r * width, width), 2, 1, 3, penalty);
        EXPECT_EQ((*found)[r][0].ids, best.ids) << name << " penalty " << penalty << " row " << r;
        EXPECT_NEAR((*found)[r][0].score, best.score, 1e-5);
        EXPECT_EQ((*found)[r][0].finished, best.finished);
      }
    }
}

TEST(Search, OneBeamTakesTheMostProbableNextId) {
  for (const char* name : {"transformer", "masked", "states", "shared_embedding"}) {
    Network network = network_of(name);
    ThreadPool pool(1);
    auto s = Seq2Seq::create(network, pool, {.target = "target", .lanes = 3});
    ASSERT_TRUE(s.ok());
    const std::vector<double> x = sources(*s, 3);
    const auto width = static_cast<std::size_t>(s->source_width());
    SearchOptions o;
    o.start = {2};
    const auto found = search(*s, x, 3, o);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    o.beams = 1;
    for (std::size_t r = 0; r < 3; ++r) {
      const Found& f = (*found)[r][0];
      EXPECT_EQ(f.ids.size(), 5u);  // as many as the target has steps
      EXPECT_FALSE(f.finished);
      std::vector<std::int32_t> ids{2};
      double score = 0;
      for (const std::int32_t id : f.ids) {
        const std::vector<double> y = logs(*s, std::span(x).subspan(r * width, width), ids);
        const auto best = std::max_element(y.begin(), y.end());
        EXPECT_EQ(id, best - y.begin()) << name;
        score += *best;
        ids.push_back(id);
      }
      EXPECT_NEAR(f.score, score, 1e-5);
    }
  }
}

// A row's draws are its own: they do not depend on those beside it, and repeat from a seed.
TEST(Search, DrawsRepeat) {
  Network network = network_of("transformer");
  ThreadPool pool(1);
  auto s = Seq2Seq::create(network, pool, {.target = "target", .lanes = 4});
  ASSERT_TRUE(s.ok());
  const std::vector<double> x = sources(*s, 4);
  SearchOptions o;
  o.start = {2};
  o.sampling.temperature = 40;
  o.sampling.seed = 9;
  const auto all = search(*s, x, 4, o), again = search(*s, x, 4, o);
  ASSERT_TRUE(all.ok() && again.ok());
  bool differ = false;
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ((*all)[r][0].ids, (*again)[r][0].ids);
  o.sampling.seed = 10;
  const auto width = static_cast<std::size_t>(s->source_width());
  const auto second = search(*s, std::span(x).subspan(width, width), 1, o);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)[0][0].ids, (*all)[1][0].ids);
  for (std::uint64_t seed = 11; seed < 20; ++seed) {
    o.sampling.seed = seed;
    const auto other = search(*s, std::span(x).subspan(width, width), 1, o);
    ASSERT_TRUE(other.ok());
    differ = differ || (*other)[0][0].ids != (*second)[0][0].ids;
  }
  EXPECT_TRUE(differ);
}

TEST(Search, RefusesWhatItCannotFollow) {
  Network network = network_of("transformer");
  ThreadPool pool(1);
  auto s = Seq2Seq::create(network, pool, {.target = "target", .lanes = 4});
  ASSERT_TRUE(s.ok());
  const std::vector<double> x = sources(*s, 1);
  const auto refused = [&](const SearchOptions& o, const char* part, std::int64_t rows = 1) {
    const auto found = search(*s, x, rows, o);
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.status().message().find(part), std::string::npos) << found.status().message();
  };
  SearchOptions o;
  refused(o, "\"start\"");
  o.start = {9};
  refused(o, "ids are below 9");
  o.start = {1};
  o.end = 9;
  refused(o, "\"end\" is 9");
  o.end = 2;
  o.max_tokens = 6;
  refused(o, "5 positions");
  o.max_tokens = 0;
  o.beams = 5;
  refused(o, "need as many lanes, there are 4");
  o.beams = 2;
  o.sampling.temperature = 1;
  refused(o, "\"temperature\"");
  Network values = network_of("values");
  auto v = Seq2Seq::create(values, pool, {.target = "target", .lanes = 1});
  ASSERT_TRUE(v.ok());
  o = {};
  o.start = {0};
  const auto found = search(*v, sources(*v, 1), 1, o);
  EXPECT_NE(found.status().message().find("a search is for ids"), std::string::npos)
      << found.status().message();
}

}  // namespace
}  // namespace loom
