// Splice, graft and mutate: children share nothing, keep what was not touched, and always run.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "breed/mutate.h"
#include "breed/probe.h"
#include "breed/splice.h"
#include "breed/weights.h"
#include "exec/session.h"
#include "train/learner/learner.h"

namespace loom::breed {
namespace {

std::string topology(const std::string& input, const std::vector<std::string>& cells) {
  std::string list;
  for (std::size_t i = 0; i < cells.size(); ++i)
    list += std::string(i > 0 ? "," : "") + R"({"at":[0,0,0,)" + std::to_string(i) + "]," +
            cells[i] + "}";
  return R"({"format":"loom-topology","version":3,"layers_per_cell":)" +
         std::to_string(cells.size()) + R"(,"input":{)" + input + R"(},"cells":[)" + list + "]}";
}

Network made(const std::string& text, std::uint64_t seed = 1) {
  auto network = Network::from_json(std::string_view(text));
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_TRUE(network->initialize(seed).ok());
  return std::move(*network);
}

Network mlp(std::uint64_t seed = 1) {
  return made(topology(R"("width":6)", {R"("type":"dense","out":9,"activation":"tanh")",
                                        R"("type":"dense","out":7,"activation":"relu")",
                                        R"("type":"dense","out":3)"}),
              seed);
}

Network conv_net(std::uint64_t seed = 1) {
  return made(
      topology(R"("dims":[2,6,5],"axis":"channels")",
               {R"("type":"conv2d","filters":4,"kernel":3,"padding":1)", R"("type":"max_pool2d")",
                R"("type":"flatten")", R"("type":"dense","out":3)"}),
      seed);
}

Network sequence_net(std::uint64_t seed = 1) {
  return made(topology(R"("dims":[5,4],"axis":"steps")",
                       {R"("type":"attention","heads":2,"causal":false)",
                        R"("type":"gru","hidden":6,"output":"last")", R"("type":"dense","out":2)"}),
              seed);
}

std::vector<float> values(Network& n, const std::string& path, const std::string& role) {
  WeightStore* store = n.find(path, role);
  EXPECT_NE(store, nullptr) << path << ":" << role;
  std::vector<float> out(static_cast<std::size_t>(store->rows() * store->cols()));
  EXPECT_TRUE(store->values(std::span<float>(out)).ok());
  return out;
}

std::vector<float> run(Network& n, std::span<const float> x, std::int64_t rows) {
  ThreadPool pool(1);
  auto session = Session::create(n, pool, {});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  auto y = session->run(x, rows);
  EXPECT_TRUE(y.ok()) << y.status().to_string();
  std::vector<float> all;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = session->output(r);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

std::vector<float> inputs(const Network& n, std::int64_t rows, std::uint64_t seed = 5) {
  const RandomStream random(seed, 3);
  std::vector<float> x(static_cast<std::size_t>(rows * n.input().width));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = normal(random, i);
  return x;
}

Network taken(Result<Network> made) {
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return std::move(*made);
}

SpliceOptions splice_by(const std::string& json) {
  auto options = splice_options(*Json::parse(json));
  EXPECT_TRUE(options.ok()) << options.status().to_string();
  return *options;
}

TEST(Splice, BlendsByAlphaAndByFitness) {
  Network a = mlp(1), b = mlp(2);
  SpliceReport report;
  Network child = taken(splice(a, b, splice_by(R"({"alpha":0.25})"), &report));
  EXPECT_EQ(report.crossed, 3);
  const auto wa = values(a, "0.0.0.1", "weight"), wb = values(b, "0.0.0.1", "weight"),
             wc = values(child, "0.0.0.1", "weight");
  for (std::size_t i = 0; i < wa.size(); ++i)
    EXPECT_EQ(wc[i], wa[i] == wb[i] ? wa[i]
                                    : static_cast<float>(0.75 * static_cast<double>(wa[i]) +
                                                         0.25 * static_cast<double>(wb[i])));
  // The fitter parent weighs more, however little they resemble one another.
  (void)*splice(a, b, splice_by(R"({"fitness_a":1,"fitness_b":3})"), &report);
  EXPECT_EQ(report.alpha, 0.75);
}

TEST(Splice, SharesNothingAndChangesNoParent) {
  Network a = mlp(1), b = mlp(2);
  const auto before = values(a, "0.0.0.0", "weight");
  Network child = taken(splice(a, b, splice_by(R"({"method":"uniform"})")));
  for (float& v : child.find("0.0.0.0", "weight")->mutable_master()) v = 77;
  child.find("0.0.0.0", "weight")->touch();
  EXPECT_EQ(values(a, "0.0.0.0", "weight"), before);
  EXPECT_NE(child.find("0.0.0.0", "weight"), a.find("0.0.0.0", "weight"));
}

TEST(Splice, PointAndUniformTakeWholeUnits) {
  Network a = mlp(1), b = mlp(2);
  for (const char* method : {"point", "uniform"}) {
    SpliceReport report;
    Network child = taken(
        splice(a, b, splice_by(R"({"seed":3,"method":")" + std::string(method) + "\"}"), &report));
    bool any_a = false, any_b = false;
    for (const char* path : {"0.0.0.0", "0.0.0.1", "0.0.0.2"}) {
      const auto wa = values(a, path, "weight"), wb = values(b, path, "weight"),
                 wc = values(child, path, "weight");
      const auto cols = static_cast<std::size_t>(a.find(path, "weight")->cols());
      bool seen_b = false;
      for (std::size_t r = 0; r * cols < wa.size(); ++r) {
        const bool from_a = std::equal(wc.begin() + r * cols, wc.begin() + (r + 1) * cols,
                                       wa.begin() + r * cols),
                   from_b = std::equal(wc.begin() + r * cols, wc.begin() + (r + 1) * cols,
                                       wb.begin() + r * cols);
        EXPECT_TRUE(from_a != from_b) << method << " " << path << " row " << r;
        EXPECT_FALSE(std::string(method) == "point" && seen_b && from_a);
        seen_b = seen_b || from_b;
        any_a = any_a || from_a;
        any_b = any_b || from_b;
      }
    }
    EXPECT_TRUE(any_a && any_b) << method;
  }
}

TEST(Splice, LayerWiseTakesWholeLayers) {
  Network a = mlp(1), b = mlp(2);
  SpliceReport report;
  Network child = taken(splice(a, b, splice_by(R"({"method":"layer_wise","seed":4})"), &report));
  for (const SplicedLayer& layer : report.layers)
    EXPECT_EQ(values(child, layer.a, "weight"),
              values(layer.share == 1 ? b : a, layer.a, "weight"));
}

TEST(Splice, KeepsWhatDoesNotMatch) {
  Network a = mlp(1);
  Network b = made(
      topology(R"("width":6)", {R"("type":"dense","out":9,"activation":"tanh")",
                                R"("type":"swiglu","hidden":7)", R"("type":"dense","out":4)"}));
  SpliceReport report;
  Network child = taken(splice(a, b, splice_by("{}"), &report));
  EXPECT_EQ(report.crossed, 1);
  EXPECT_EQ(report.layers[1].reason, "b has swiglu there");
  EXPECT_EQ(report.layers[2].reason, "weight of b is 4 x 9, that of a 3 x 7");
  EXPECT_EQ(values(child, "0.0.0.2", "weight"), values(a, "0.0.0.2", "weight"));
}

// The permutation problem: b is a with its units in another order. Aligned, the child is a.
TEST(Splice, AlignsPermutedUnits) {
  Network a = mlp(1), b = mlp(1);
  const std::size_t order[] = {3, 1, 8, 0, 2, 7, 4, 6, 5};
  const auto w = values(a, "0.0.0.0", "weight"), next = values(a, "0.0.0.1", "weight");
  const auto to = b.find("0.0.0.0", "weight")->mutable_master(),
             to_next = b.find("0.0.0.1", "weight")->mutable_master();
  for (std::size_t u = 0; u < 9; ++u) {
    std::copy_n(w.begin() + order[u] * 6, 6, to.begin() + u * 6);
    for (std::size_t r = 0; r < 7; ++r) to_next[r * 9 + u] = next[r * 9 + order[u]];
  }
  b.find("0.0.0.0", "weight")->touch();
  b.find("0.0.0.1", "weight")->touch();
  const auto x = inputs(a, 4);
  SpliceReport plain, aligned;
  Network child = taken(splice(a, b, splice_by(R"({"align":true})"), &aligned));
  (void)*splice(a, b, splice_by("{}"), &plain);
  EXPECT_EQ(aligned.layers[0].moved, 8);
  EXPECT_NEAR(*aligned.layers[1].similarity, 1, 1e-12);
  EXPECT_LT(*plain.layers[0].similarity, 0.7);
  EXPECT_EQ(run(child, x, 4), run(a, x, 4));
  // Outputs have no order of their own.
  EXPECT_EQ(aligned.layers[2].moved, 0);
}

TEST(Splice, AlignmentKeepsTheFunctionOfB) {
  // All of b: with alpha 1 the child is b with its units in another order.
  for (auto* net : {&mlp, &conv_net}) {
    Network a = (*net)(1), b = (*net)(2);
    const auto x = inputs(a, 3);
    SpliceReport report;
    Network child = taken(splice(a, b, splice_by(R"({"alpha":1,"align":true})"), &report));
    EXPECT_GT(report.layers[0].moved, 0);
    const auto was = run(b, x, 3), is = run(child, x, 3);
    for (std::size_t i = 0; i < was.size(); ++i) EXPECT_NEAR(is[i], was[i], 1e-5);
  }
}

TEST(Splice, FindsMovedLayersByDna) {
  const auto wide = [](int place, std::uint64_t seed) {
    std::vector<std::string> cells(4, R"("type":"dense","out":16,"activation":"tanh")");
    cells[3] = R"("type":"dense","out":16,"activation":"tanh")";
    (void)place;
    return made(topology(R"("width":16)", cells), seed);
  };
  Network a = wide(0, 1), b = wide(0, 2);
  for (const char* role : {"weight", "bias"}) {
    *b.find("0.0.0.2", role) = *a.find("0.0.0.1", role);
  }
  SpliceReport report;
  (void)*splice(a, b, splice_by(R"({"match":"dna"})"), &report);
  EXPECT_EQ(report.layers[1].b, "0.0.0.2");
  EXPECT_NEAR(*report.layers[1].similarity, 1, 1e-9);
}

TEST(Splice, KeepsFormatsOfA) {
  Network a = mlp(1), b = mlp(2);
  ASSERT_TRUE(a.morph(*parse_weight_format("i8")).ok());
  Network child = taken(splice(a, b, splice_by("{}")));
  EXPECT_EQ(child.find("0.0.0.0", "weight")->format(), *parse_weight_format("i8"));
  ASSERT_TRUE(b.pack(*parse_weight_format("ternary")).ok());  // without masters
  EXPECT_TRUE(splice(a, b, splice_by("{}")).ok());
  EXPECT_TRUE(splice(b, a, splice_by("{}")).ok());
}

TEST(Splice, RefusesWhatItDoesNotUse) {
  for (const char* json :
       {R"({"method":"point","alpha":0.5})", R"({"per":"weight"})", R"({"alpha":2})",
        R"({"fitness_a":1})", R"({"fitness_a":0,"fitness_b":0})", R"({"min_score":0.5})",
        R"({"alpha":0.5,"fitness_a":1,"fitness_b":2})", R"({"methode":"blend"})"})
    EXPECT_FALSE(splice_options(*Json::parse(json)).ok()) << json;
}

TEST(Graft, JoinsWholeNetworks) {
  Network a = mlp(1), b = mlp(2);
  const auto x = inputs(a, 4), ya = run(a, x, 4), yb = run(b, x, 4);
  const std::vector<Network*> both = {&a, &b};
  const auto joined = [&](const char* json) {
    auto made = graft(both, *graft_options(*Json::parse(json)));
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return run(*made, x, 4);
  };
  const auto add = joined(R"({"combine":"add"})"), mean = joined(R"({"combine":"mean"})"),
             gated = joined(R"({"combine":"gated"})"), wide = joined(R"({"combine":"concat"})");
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 3; ++c) {
      const float p = ya[r * 3 + c], q = yb[r * 3 + c];
      EXPECT_EQ(add[r * 3 + c], p + q);
      EXPECT_EQ(mean[r * 3 + c], (p + q) / 2);
      EXPECT_NEAR(gated[r * 3 + c], (p + q) / 2, 1e-6);
      EXPECT_EQ(wide[r * 6 + c], p);
      EXPECT_EQ(wide[r * 6 + 3 + c], q);
    }
  EXPECT_EQ(values(a, "0.0.0.0", "weight"), values(*graft(both, {}), "1.0.0.0", "weight"));
}

TEST(Graft, AddsTheInput) {
  Network a = made(topology(R"("width":4)", {R"("type":"dense","out":4)"}));
  const auto x = inputs(a, 2), y = run(a, x, 2);
  GraftOptions options;
  options.residual = true;
  Network g = taken(graft({&a}, options));
  const auto sum = run(g, x, 2);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(sum[i], y[i] + x[i]);
}

TEST(Graft, StitchesWidthsAndNamesWhatDiffers) {
  Network a = mlp(1);
  Network b = made(topology(R"("width":6)", {R"("type":"dense","out":5)"}));
  Network c = made(topology(R"("width":7)", {R"("type":"dense","out":3)"}));
  GraftOptions options;
  options.combine = "add";
  EXPECT_EQ(graft({&a, &b}, options).status().message(),
            "network 1: its output is [B, 5], and that of network 0 [B, 3]: for add they must "
            "agree, or set \"stitch\"");
  options.stitch = true;
  EXPECT_TRUE(graft({&a, &b}, options).ok());
  EXPECT_EQ(graft({&a, &c}, options).status().message(),
            "network 1: takes [B, 7], and network 0 takes [B, 6]");
  EXPECT_FALSE(graft({}, options).ok());
}

TEST(Graft, KeepsLinksOfParents) {
  Network a = made(
      R"({"format":"loom-topology","version":3,"rows":2,"cols":2,"input":{"width":4},"cells":[
        {"at":[0,0,0,0],"type":"dense","out":4,"activation":"tanh"},
        {"at":[0,0,1,0],"type":"dense","out":4,"activation":"relu"},
        {"at":[0,1,0,0],"links":[{"run":[0,0,1,0]}]},
        {"at":[0,1,1,0],"type":"dense","out":2,"links":[{"read":[0,0,0,0]}],
         "keep_previous":true}]})");
  const auto x = inputs(a, 3);
  Network g = taken(graft({&a, &a}, {}));
  const auto y = run(a, x, 3), both = run(g, x, 3);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(both[r * 4 + c], y[r * 2 + c % 2]);
}

MutationRates all_rates(double rate) {
  MutationRates r;
  r.insert = r.remove = r.width = r.activation = r.retype = rate;
  r.add_link = r.drop_link = r.toggle = r.dtype = r.duplicate = rate;
  r.max_layers = 16;
  r.max_width = 12;
  r.max_parameters = 20000;
  return r;
}

// As a host runs it: a session, and a step of back-propagation.
void expect_runs(Network& n, const std::string& what) {
  const auto x = inputs(n, 3, 11);
  ThreadPool pool(1);
  auto session = Session::create(n, pool, {});
  ASSERT_TRUE(session.ok()) << what << session.status().to_string() << n.to_json().dump();
  ASSERT_TRUE(session->run(x, 3).ok()) << what;
  for (int r = 0; r < 3; ++r)
    for (const float v : session->output(r)) ASSERT_TRUE(std::isfinite(v)) << what;
  LearnerOptions options;
  options.max_rows = 3;
  auto learner = Learner::create(n, pool, options);
  ASSERT_TRUE(learner.ok()) << what << learner.status().to_string() << n.to_json().dump();
  const std::vector<float> target(static_cast<std::size_t>(3 * n.output().width), 0.5f);
  ASSERT_TRUE(learner->batch(x, target).ok()) << what;
  ASSERT_TRUE(learner->accumulate().ok()) << what;
  ASSERT_FALSE(learner->gradients().empty()) << what;
  for (const auto& g : learner->gradients())
    for (std::int64_t r = 0; r < g.rows; ++r) {
      if (g.type == ValueType::f64) continue;
      for (const float v : learner->executor().row<float>(g.value.buffer, r))
        ASSERT_TRUE(std::isfinite(v)) << what << g.path << ":" << g.role << n.to_json().dump();
    }
}

TEST(Mutate, ChainsOfFiftyRunForwardAndBackward) {
  const char* wanted = std::getenv("LOOM_CHAINS");
  const int chains = wanted ? std::atoi(wanted) : 24;
  Network parents[] = {mlp(), conv_net(), sequence_net()};
  const MutationRates rates = all_rates(0.1);
  std::int64_t done = 0, failed = 0;
  const char* first = std::getenv("LOOM_FIRST_CHAIN");
  const int from = first ? std::atoi(first) : 0;
  for (int chain = from; chain < from + chains; ++chain) {
    Network n = taken(copy_of(parents[chain % 3]));
    for (int step = 0; step < 50; ++step) {
      MutationReport report;
      evolve::Draws draws(7, chain, step, evolve::Purpose::mutate);
      auto child = mutate(n, rates, draws, &report);
      ASSERT_TRUE(child.ok()) << chain << " " << step << " " << child.status().to_string();
      done += static_cast<std::int64_t>(report.done.size());
      failed += static_cast<std::int64_t>(report.failed.size());
      n = std::move(*child);
    }
    expect_runs(n, "chain " + std::to_string(chain) + ": ");
    if (HasFatalFailure()) return;
  }
  std::printf("%d chains, %lld mutations, %lld without a place\n", chains,
              static_cast<long long>(done), static_cast<long long>(failed));
  EXPECT_LT(failed * 5, done);
}

// Networks of every form: language models with tied weights, ids in rows, several inputs,
// containers, a step mesh with a cycle, the first version of topologies, and cells that are
// switched off.
TEST(Mutate, ParentsOfEveryForm) {
  const std::string parents[] = {
      topology(R"("ids":20)", {R"("type":"embedding","out":8)", R"("type":"attention","heads":2)",
                               R"("type":"dense","out":20,"bias":false,"tie":"0.0.0.0:weight")"}),
      topology(R"("ids":9,"dims":[4])",
               {R"("type":"embedding","out":6)", R"("type":"lstm","hidden":5)",
                R"("type":"pool_steps")", R"("type":"dense","out":3)"}),
      topology(R"("parts":[{"name":"a","width":3},{"name":"b","dims":[2,2]}])",
               {R"("type":"parallel","layers":[{"type":"part","of":"a"},
                  {"type":"sequential","layers":[{"type":"part","of":"b"},{"type":"flatten"}]}])",
                R"("type":"dense","out":2)"}),
      topology(R"("width":6)",
               {R"("type":"parallel","combine":"gated","top_k":1,"layers":[
                  {"type":"dense","out":6},{"type":"dense","out":6,"dtype":"i4"}])",
                R"("type":"dense","out":6,"enabled":false)", R"("type":"rms_norm","dtype":"f64")",
                R"("type":"dense","out":2,"dtype":"i32")"}),
      R"({"format":"loom-topology","version":3,"step_mesh":true,"layers_per_cell":3,
          "input":{"width":4},"cells":[
          {"at":[0,0,0,0],"type":"dense","out":4,"activation":"tanh","links":[{"read":[0,0,0,1]}],
           "keep_previous":true,"merge":"add"},
          {"at":[0,0,0,1],"type":"dense","out":4,"activation":"tanh"},
          {"at":[0,0,0,2],"type":"dense","out":2}]})",
      R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":5},"cells":[
          {"at":[0,0,0,0],"type":"dense","out":4,"activation":"relu"},
          {"at":[0,0,0,1],"type":"dense","out":2}]})"};
  for (const std::string& text : parents)
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Network n = made(text, seed);
      for (int step = 0; step < 12; ++step) {
        evolve::Draws draws(seed, step, 1, evolve::Purpose::mutate);
        auto child = mutate(n, all_rates(0.2), draws, nullptr);
        ASSERT_TRUE(child.ok()) << text << child.status().to_string();
        n = std::move(*child);
        ASSERT_TRUE(check_runs(n).ok()) << text << n.to_json().dump();
      }
      Network parent = made(text, seed);
      SpliceReport report;
      EXPECT_TRUE(splice(parent, n, splice_by(R"({"align":true})"), &report).ok());
    }
}

// One mutation of each kind, and what is left of the parent.
TEST(Mutate, EachKindOnItsOwn) {
  struct {
    const char* name;
    double MutationRates::* rate;
  } kinds[] = {{"insert", &MutationRates::insert},       {"remove", &MutationRates::remove},
               {"width", &MutationRates::width},         {"activation", &MutationRates::activation},
               {"retype", &MutationRates::retype},       {"add_link", &MutationRates::add_link},
               {"toggle", &MutationRates::toggle},       {"dtype", &MutationRates::dtype},
               {"duplicate", &MutationRates::duplicate}, {"drop_link", &MutationRates::drop_link}};
  for (const auto& kind : kinds) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      MutationRates rates = all_rates(0);
      rates.weights = 0;
      rates.*kind.rate = 1;
      Network parent = mlp(seed);
      MutationReport report;
      auto child = mutate(parent, rates, seed, &report);
      ASSERT_TRUE(child.ok()) << kind.name << " " << child.status().to_string();
      if (report.failed.empty()) ++found;
      else EXPECT_TRUE(report.fell_back);
      expect_runs(*child, kind.name);
      EXPECT_EQ(parent.to_json().dump(), mlp(seed).to_json().dump());
    }
    EXPECT_EQ(found > 6, std::string(kind.name) != "drop_link") << kind.name << " " << found;
  }
}

TEST(Mutate, UntouchedLayersKeepTheirBits) {
  Network parent = mlp();
  MutationRates rates = all_rates(0);
  rates.weights = 0;
  rates.width = 1;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    MutationReport report;
    Network child = taken(mutate(parent, rates, seed, &report));
    const std::string at = report.done.at(0).at;
    const int layer = at.back() - '0';
    for (int i = 0; i < 3; ++i) {
      if (i == layer || i == layer + 1) continue;
      const std::string path = "0.0.0." + std::to_string(i);
      EXPECT_EQ(values(child, path, "weight"), values(parent, path, "weight"));
    }
  }
}

// A layer that comes in as the identity changes nothing at first, and new units neither.
TEST(Mutate, GrowthKeepsTheFunction) {
  Network parent = mlp();
  const auto x = inputs(parent, 3), was = run(parent, x, 3);
  MutationRates rates = all_rates(0);
  rates.weights = 0;
  rates.insert = 1;
  rates.types = {"dense", "swiglu", "residual"};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Network child = taken(mutate(parent, rates, seed));
    const auto is = run(child, x, 3);
    for (std::size_t i = 0; i < was.size(); ++i) EXPECT_NEAR(is[i], was[i], 1e-5);
  }
}

TEST(Mutate, SameSeedSameChild) {
  Network parent = conv_net();
  const MutationRates rates = all_rates(0.3);
  Network one = taken(mutate(parent, rates, 42)), two = taken(mutate(parent, rates, 42));
  EXPECT_EQ(one.to_json().dump(), two.to_json().dump());
  for (const auto& p : one.params())
    EXPECT_EQ(*master_of(*p.param->store), *master_of(*two.find(p.path, p.param->spec.role)));
}

TEST(Mutate, RefusesUnknownKeysTypesAndFormats) {
  EXPECT_FALSE(mutation_rates(*Json::parse(R"({"instert":0.1})")).ok());
  EXPECT_FALSE(mutation_rates(*Json::parse(R"({"insert":1.1})")).ok());
  EXPECT_FALSE(mutation_rates(*Json::parse(R"({"dtypes":["i9"]})")).ok());
  EXPECT_EQ(mutation_rates(*Json::parse(R"({"types":["custom"]})")).status().message(),
            "types: mutation brings in no 'custom': it needs several operands, or its host");
}

}  // namespace
}  // namespace loom::breed
