// Target propagation: gradients against back-propagation's, budgets, the gate and the update
// against formulas, and sequence layers that learn by it.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "ops/cpu/isa.h"
#include "train/data/tensor_data.h"
#include "train/trainer.h"

namespace loom {
namespace {

using Values = std::vector<double>;

constexpr std::size_t kRows = 5;

std::string cells(const std::vector<std::string>& list, std::int64_t width) {
  std::string text;
  for (std::size_t l = 0; l < list.size(); ++l)
    text += (l ? "," : "") + (R"({"at":[0,0,0,)" + std::to_string(l) + R"(],)" + list[l] + "}");
  return R"({"format":"loom-topology","version":3,"layers_per_cell":)" +
         std::to_string(list.size()) + R"(,"input":{"width":)" + std::to_string(width) +
         R"(},"cells":[)" + text + "]}";
}
std::string dense(std::int64_t out, const std::string& activation) {
  return R"("type":"dense","dtype":"f64","out":)" + std::to_string(out) + R"(,"activation":")" +
         activation + '"';
}
std::string mlp(const std::string& activation) {
  return cells(
      {dense(7, activation), dense(6, activation), dense(5, activation), dense(3, "linear")}, 4);
}

Values numbers(std::size_t n, std::uint64_t stream) {
  const RandomStream random(11, stream);
  Values v;
  for (std::uint64_t i = 0; i < n; ++i) v.push_back(2.0 * random.uniform(i) - 1);
  return v;
}

// A network after a micro-batch of a method.
struct Made {
  Network network;
  ThreadPool pool{2};
  Values x = numbers(kRows * 4, 1), target = numbers(kRows * 3, 2);
  std::unique_ptr<Learner> learner;

  // `first`: if not 0, the largest weights of the first input of the layers behind the first.
  Made(const std::string& topology, const MethodSpec& method, const OptimizerSpec& optimizer = {},
       double first = 0)
      : network(std::move(*Network::from_json(std::string_view(topology)))) {
    EXPECT_TRUE(network.initialize(3).ok());
    for (std::size_t l = 1; first > 0 && l < network.size(); ++l) {
      WeightStore& w = *network.find("0.0.0." + std::to_string(l), "weight");
      for (std::int64_t o = 0; o < w.rows(); ++o)
        w.mutable_master64()[static_cast<std::size_t>(o * w.cols())] = o % 2 ? first : -first;
    }
    auto made = Learner::create(
        network, pool,
        {.method = method, .optimizer = optimizer, .max_rows = kRows, .poison = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    learner = std::make_unique<Learner>(std::move(*made));
    Batch batch;
    batch.wide_x = x;
    batch.x.assign(x.begin(), x.end());
    batch.wide_values = target;
    batch.values.assign(target.begin(), target.end());
    EXPECT_TRUE(learner->batch(batch, false).ok());
    EXPECT_TRUE(learner->accumulate().ok());
  }
  void update(double lr) {
    const Status s = learner->update(lr, kRows, 1);
    EXPECT_TRUE(s.ok()) << s.to_string();
  }
  Values gradient(std::size_t i) const {
    const NetworkEmitter::Gradient& g = learner->gradients()[i];
    Values values;
    for (std::int64_t r = 0; r < g.rows; ++r)
      for (const double v : learner->executor().row<double>(g.value.buffer, r)) values.push_back(v);
    return values;
  }
  std::span<const double> master(std::size_t l, const char* role) {
    return network.find("0.0.0." + std::to_string(l), role)->master64();
  }
  std::vector<Values> activations(const std::string& activation = "linear") {
    std::vector<Values> a;
    for (std::size_t l = 0; l < network.size(); ++l) {
      const Values& from = l ? a.back() : x;
      const auto w = master(l, "weight"), bias = master(l, "bias");
      const std::size_t out = bias.size(), in = w.size() / out;
      Values y(kRows * out);
      for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = bias[i % out];
        for (std::size_t k = 0; k < in; ++k) y[i] += w[i % out * in + k] * from[i / out * in + k];
      }
      for (double& v : y)
        if (activation == "tanh" && l + 1 < network.size()) v = std::tanh(v);
      a.push_back(std::move(y));
    }
    return a;
  }
};

MethodSpec chain(double scale = 0.1, double gate = 0.2) {
  return {.kind = MethodKind::target_propagation, .gradient_scale = scale, .gate = gate};
}

double sum(const Values& a, const Values& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
  return s;
}
double budget_of(const Values& a, const Values& t) {
  return (sum(a, t) / std::sqrt(sum(a, a) * sum(t, t)) + 1) / 2;
}

TEST(TargetPropagation, ThePartsGradientsAreThoseOfBackPropagationScaled) {
  for (const char* activation : {"tanh", "relu", "linear"}) {
    const Made whole(mlp(activation), {}), parts(mlp(activation), chain());
    ASSERT_EQ(parts.learner->gradients().size(), whole.learner->gradients().size());
    for (std::size_t i = 0; i < whole.learner->gradients().size(); ++i) {
      const Values want = whole.gradient(i), got = parts.gradient(i);
      const double scale = std::pow(0.1, 3 - static_cast<int>(i / 2));
      for (std::size_t k = 0; k < want.size(); ++k)
        EXPECT_NEAR(got[k], scale * want[k], 1e-14) << activation << ' ' << i;
    }
  }
}

// t[l - 1] = a[l - 1] + scale W[l]^T (t[l] - a[l]), and mean (y - target)^2 whose label is reached
// by a step of half the outputs.
TEST(TargetPropagation, OfLinearLayersTheTargetsAreAFormula) {
  MethodSpec method = chain(0.3);
  method.output_step = 1.5;
  Made made(mlp("linear"), method, {.kind = OptimizerKind::sgd});
  const std::vector<Values> a = made.activations();
  Values t = made.target;
  std::vector<Values> targets = {t};
  for (std::size_t l = 3; l > 0; --l) {
    const auto w = made.master(l, "weight");
    const std::size_t out = a[l].size() / kRows, in = a[l - 1].size() / kRows;
    Values before = a[l - 1];
    for (std::size_t i = 0; i < before.size(); ++i)
      for (std::size_t o = 0; o < out; ++o) {
        const std::size_t at = i / in * out + o;
        before[i] += 0.3 * w[o * in + i % in] * (targets[0][at] - a[l][at]);
      }
    targets.insert(targets.begin(), before);
  }
  std::vector<Values> was;
  for (std::size_t l = 0; l < 4; ++l) {
    const auto w = made.master(l, "weight");
    was.emplace_back(w.begin(), w.end());
  }
  made.update(0.2);
  const std::vector<PartReport>& reports = made.learner->part_reports();
  ASSERT_EQ(reports.size(), 4u);
  for (std::size_t l = 0; l < 4; ++l) {
    Values gap = targets[l];
    for (std::size_t i = 0; i < gap.size(); ++i) gap[i] -= a[l][i];
    const double budget = budget_of(a[l], targets[l]);
    EXPECT_EQ(reports[l].path, "0.0.0." + std::to_string(l));
    EXPECT_NEAR(reports[l].budget, budget, 1e-8);
    EXPECT_NEAR(reports[l].gap, std::sqrt(sum(gap, gap) / sum(a[l], a[l])), 1e-8);
    EXPECT_TRUE(reports[l].learned);
    // The mean over the rows of gap times input.
    const Values& input = l ? a[l - 1] : made.x;
    const std::size_t out = gap.size() / kRows, in = input.size() / kRows;
    const auto w = made.master(l, "weight");
    for (std::size_t i = 0; i < w.size(); ++i) {
      double delta = 0;
      for (std::size_t r = 0; r < kRows; ++r)
        delta += gap[r * out + i / in] * input[r * in + i % in];
      EXPECT_NEAR(w[i] - was[l][i], 0.2 * (0.5 + 0.5 * budget) * delta / kRows, 1e-8) << l;
    }
  }
}

// A gate above a part's budget holds its weights still, whatever the optimizer, and no others.
TEST(TargetPropagation, BelowTheGateAPartDoesNotLearn) {
  for (const OptimizerKind kind :
       {OptimizerKind::sgd, OptimizerKind::adamw, OptimizerKind::rmsprop, OptimizerKind::lion}) {
    const OptimizerSpec optimizer = {
        .kind = kind, .momentum = 0.9, .weight_decay = 0.1, .clip_norm = 1};
    Made probe(mlp("tanh"), chain(), optimizer);
    probe.update(0.1);
    std::vector<PartReport> reports = probe.learner->part_reports();
    double low = 1, next = 1;
    for (const PartReport& r : reports) {
      next = r.budget < low ? low : std::min(next, r.budget);
      low = std::min(low, r.budget);
    }
    ASSERT_LT(low, next);
    Made made(mlp("tanh"), chain(0.1, (low + next) / 2), optimizer);
    std::vector<Values> was;
    for (std::size_t l = 0; l < 4; ++l)
      was.emplace_back(made.master(l, "weight").begin(), made.master(l, "weight").end());
    made.update(0.1);
    for (std::size_t l = 0; l < 4; ++l) {
      const PartReport& r = made.learner->part_reports()[l];
      EXPECT_EQ(r.budget, reports[l].budget);
      EXPECT_EQ(r.learned, r.budget > low);
      EXPECT_EQ(std::ranges::equal(made.master(l, "weight"), was[l]), !r.learned) << l;
    }
  }
}

MethodSpec layer_wise(bool difference) {
  return {.kind = MethodKind::target_propagation,
          .mode = TargetMode::layer_wise,
          .output_step = 1.5,
          .difference_correction = difference};
}

// pull(v) = W^T v / (column sums of |W|), and none where that sum is at most 0.01.
Values pulled(std::span<const double> w, const Values& v, std::size_t out, const Values& none) {
  const std::size_t in = w.size() / out;
  Values y(kRows * in);
  for (std::size_t i = 0; i < y.size(); ++i) {
    double sum = 0;
    for (std::size_t o = 0; o < out; ++o) {
      sum += std::abs(w[o * in + i % in]);
      y[i] += w[o * in + i % in] * v[i / in * out + o];
    }
    y[i] = sum > 0.01 ? y[i] / sum : none[i];
  }
  return y;
}

TEST(TargetPropagation, ByLayersTheTargetsComeFromTheWeightsAlone) {
  for (const bool difference : {true, false}) {
    for (const char* activation : {"linear", "tanh"}) {
      Made made(mlp(activation), layer_wise(difference), {.kind = OptimizerKind::sgd}, 0.001);
      std::vector<Values> a = made.activations(activation);
      Values gap = made.target;
      for (std::size_t i = 0; i < gap.size(); ++i) gap[i] -= a[3][i];
      ASSERT_EQ(made.learner->gradients().size(), 8u);
      for (std::size_t l = 3;; --l) {
        const Values& input = l ? a[l - 1] : made.x;
        const std::size_t out = gap.size() / kRows, in = input.size() / kRows;
        const Values w = made.gradient(2 * l), bias = made.gradient(2 * l + 1);
        EXPECT_EQ(made.learner->gradients()[2 * l].role, "weight");
        EXPECT_EQ(made.learner->gradients()[2 * l].path, "0.0.0." + std::to_string(l));
        for (std::size_t i = 0; i < w.size(); ++i) {
          double outer = 0;
          for (std::size_t r = 0; r < kRows; ++r)
            outer += gap[r * out + i / in] * input[r * in + i % in];
          EXPECT_NEAR(w[i], -outer, 1e-8) << l;
        }
        for (std::size_t o = 0; o < out; ++o) {
          double sum = 0;
          for (std::size_t r = 0; r < kRows; ++r) sum += gap[r * out + o];
          EXPECT_NEAR(bias[o], -sum, 1e-8) << l;
        }
        if (l == 0) break;
        Values t = gap;
        for (std::size_t i = 0; !difference && i < t.size(); ++i) t[i] += a[l][i];
        gap = pulled(made.master(l, "weight"), t, out, difference ? Values(input.size()) : input);
        for (std::size_t i = 0; !difference && i < gap.size(); ++i) gap[i] -= input[i];
        // The column that pulls none.
        for (std::size_t r = 0; r < kRows; ++r) EXPECT_EQ(gap[r * in], 0);
      }
    }
  }
}

TEST(TargetPropagation, ByLayersNoGradientPassesALayer) {
  const std::string text = cells({R"("type":"dense","out":6,"dtype":"binary","activation":"tanh")",
                                  R"("type":"dropout","rate":0.1)",
                                  R"("type":"dense","out":5,"dtype":"ternary","activation":"relu")",
                                  R"("type":"dense","out":3)"},
                                 4);
  const auto backs = [&](const MethodSpec& method) {
    Network network = std::move(*Network::from_json(std::string_view(text)));
    EXPECT_TRUE(network.initialize(3).ok());
    ThreadPool pool(1);
    auto made = Learner::create(network, pool, {.method = method});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    std::vector<std::string> found;
    for (const Instruction& ins : made->executor().program().code)
      if (info(ins.op).name.ends_with("_back")) found.emplace_back(info(ins.op).name);
    return found;
  };
  EXPECT_GT(backs({}).size(), 2u);
  for (const bool difference : {true, false})
    EXPECT_EQ(backs(layer_wise(difference)), std::vector<std::string>{"mse_back"});  // the label
}

TEST(TargetPropagation, ByLayersOtherLayersAreRefusedByPlace) {
  const auto refusal = [](const MethodSpec& method, const std::vector<std::string>& list) {
    Network network = std::move(*Network::from_json(std::string_view(cells(list, 4))));
    EXPECT_TRUE(network.initialize(3).ok());
    ThreadPool pool(1);
    auto made = Learner::create(network, pool, {.method = method});
    return made.ok() ? std::string() : made.status().message();
  };
  const auto has = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  };
  const std::string some = R"("type":"dense","out":6)";
  for (const bool difference : {true, false})
    EXPECT_EQ(
        refusal(layer_wise(difference), {some, R"("type":"dropout")", some, R"("type":"softmax")"}),
        "");
  has(refusal(layer_wise(true),
              {some, R"("type":"parallel","layers":[{"type":"dense","out":6}])", some}),
      "no formula for the target of parallel at 0.0.0.1");
  has(refusal(layer_wise(true),
              {some, R"("type":"sequential","layers":[{"type":"kmeans","clusters":3}])", some}),
      "no formula for the target of kmeans at 0.0.0.1/0");
  for (const char* other :
       {R"("type":"layer_norm")", R"("type":"sequential","layers":[{"type":"dense","out":6}])",
        R"("type":"swiglu","hidden":6)"}) {
    EXPECT_EQ(refusal(layer_wise(true), {some, other, some}), "");
    has(refusal(layer_wise(false), {some, other, some}),
        "at 0.0.0.1 without difference_correction: it takes dense layers");
  }
  MethodSpec slope = layer_wise(true);
  slope.activation_slope = true;
  EXPECT_EQ(refusal(slope, {R"("type":"dense","out":6,"activation":"sigmoid")", some}), "");
  has(refusal(slope, {R"("type":"dense","out":6,"activation":"gelu")", some}),
      "the activation_slope of dense at 0.0.0.0: it takes linear, relu, tanh and sigmoid");
  has(refusal(slope, {some, R"("type":"swiglu","hidden":6)", some}),
      "the activation_slope of swiglu at 0.0.0.1");
}

// The gap of a layer counts times the slope of its activation where it learns, and not where it is
// pulled.
TEST(TargetPropagation, ByLayersTheSlopeIsOfTheLayersOwnActivation) {
  for (const char* activation : {"tanh", "relu", "sigmoid"}) {
    MethodSpec method = layer_wise(true);
    Made plain(mlp(activation), method);
    method.activation_slope = true;
    const Made sloped(mlp(activation), method);
    // Activations of the first layer by its weights.
    const auto w = plain.network.find("0.0.0.0", "weight")->master64(),
               bias = plain.network.find("0.0.0.0", "bias")->master64();
    Values slope;
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t o = 0; o < bias.size(); ++o) {
        double z = bias[o];
        for (std::size_t k = 0; k < 4; ++k) z += w[o * 4 + k] * plain.x[r * 4 + k];
        const double a = 1 / (1 + std::exp(-z)), t = std::tanh(z);
        slope.push_back(activation[0] == 's'   ? a * (1 - a)
                        : activation[0] == 't' ? 1 - t * t
                                               : z > 0);
      }
    // The gaps of its units in the rows, from the gradients of its 4 inputs and bias: 5 rows.
    const Values got = sloped.gradient(0), all = plain.gradient(0), sum = plain.gradient(1),
                 sloped_sum = sloped.gradient(1);
    for (std::size_t o = 0; o < bias.size(); ++o) {
      double m[5][6];
      for (std::size_t k = 0; k < 5; ++k) {
        for (std::size_t r = 0; r < kRows; ++r) m[k][r] = k < 4 ? plain.x[r * 4 + k] : 1;
        m[k][5] = k < 4 ? all[o * 4 + k] : sum[o];
      }
      for (std::size_t i = 0; i < 5; ++i)  // by Gauss and Jordan
        for (std::size_t k = 0; k < 5; ++k) {
          const double by = k == i ? 0 : m[k][i] / m[i][i];
          for (std::size_t c = 0; c < 6; ++c) m[k][c] -= by * m[i][c];
        }
      double total = 0, first = 0;
      for (std::size_t r = 0; r < kRows; ++r) {
        const double part = m[r][5] / m[r][r] * slope[r * bias.size() + o];
        total += part, first += part * plain.x[r * 4];
      }
      EXPECT_NEAR(sloped_sum[o], total, 1e-8) << activation << o;
      EXPECT_NEAR(got[o * 4], first, 1e-8) << activation << o;
    }
  }
}

TEST(TargetPropagation, ByLayersThreadsInstructionSetsAndPausesChangeNoBit) {
  const std::string text = cells(
      {R"("type":"dense","out":17,"dtype":"binary","activation":"relu")",
       R"("type":"dropout","rate":0.1)",
       R"("type":"dense","out":9,"dtype":"ternary","activation":"relu")",
       R"("type":"dense","out":5,"dtype":"i8","activation":"tanh")", R"("type":"dense","out":3)"},
      4);
  auto spec = parse_training_spec(std::string_view(
      R"({"format":"loom-training","version":2,"loss":"mse","network":)" + text +
      R"(,"method":{"type":"target_propagation","mode":"layer_wise","difference_correction":false},)" +
      R"("optimizer":{"type":"sgd","momentum":0.9,"clip_norm":1},"steps":12,"batch":6,)" +
      R"("micro_batches":3})"));
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  std::vector<float> x, y;
  for (const double v : numbers(80, 3)) x.push_back(static_cast<float>(v));
  for (const double v : numbers(60, 4)) y.push_back(static_cast<float>(v));
  const auto data = std::move(*ArrayData::create(std::move(x), 4, std::move(y), 3));
  const auto digest = [&](int threads, const std::string& isa, std::int64_t pause) {
    ThreadPool pool(threads);
    TrainingState state;
    for (const std::int64_t until : {pause, std::int64_t{12}}) {
      Network network = std::move(*create_network(*spec));
      auto trainer = Trainer::create(*spec, network, *data, pool, {.isa = isa, .poison = true});
      EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
      if (until == 12 && pause > 0) {
        EXPECT_TRUE((*trainer)->restore(std::move(state)).ok());
      }
      while ((*trainer)->done() < until) EXPECT_TRUE((*trainer)->step().ok());
      state = (*trainer)->state();
      if (until == 12) return (*trainer)->digest();
    }
    return std::string();
  };
  const std::string want = digest(1, "", 0);
  for (const int threads : {2, 3}) EXPECT_EQ(digest(threads, "", 0), want);
  for (const std::string_view isa : cpu::available_isas())
    EXPECT_EQ(digest(2, std::string(isa), 0), want) << isa;
  EXPECT_EQ(digest(1, "", 5), want);
}

// 32 layers: a gradient or a gap lives until the part before has its own, as in back-propagation.
TEST(TargetPropagation, TakesTheMemoryOfBackPropagation) {
  std::vector<std::string> list(31, R"("type":"dense","out":32,"activation":"relu")");
  list.emplace_back(R"("type":"dense","out":4)");
  const auto arena = [&](const MethodSpec& method) {
    Network network = std::move(*Network::from_json(std::string_view(cells(list, 32))));
    EXPECT_TRUE(network.initialize(3).ok());
    ThreadPool pool(1);
    auto made = Learner::create(network, pool, {.method = method, .max_rows = 4096});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return static_cast<double>(made->executor().arena_bytes());
  };
  const double whole = arena({});
  EXPECT_LT(arena(chain()), 1.05 * whole);
  EXPECT_LT(arena(layer_wise(true)), 0.6 * whole);
}

TEST(TargetPropagation, TheReachEndsWithTheGaps) {
  EXPECT_EQ(reach_of({}), 0);
  EXPECT_EQ(reach_of({{.gap = 1}, {.gap = 1e-3}, {.gap = 0.5}}), 3);
  EXPECT_EQ(reach_of({{.gap = 1}, {.gap = 1e-4}, {.gap = 0.5}}), 1);
  EXPECT_EQ(reach_of({{.gap = 1}, {.gap = std::nan("")}}), 0);
  Made made(mlp("tanh"), chain(1e-5));
  made.update(0.1);
  EXPECT_EQ(reach_of(made.learner->part_reports()), 1);
}

// By the chain rule what a part learns from is back-propagation's gradient but for its size.
TEST(TargetPropagation, TheAlignmentIsMeasuredWhereItIsAskedFor) {
  for (const char* mode : {"chain_rule", "layer_wise"}) {
    std::string digests[2];
    for (const bool asked : {false, true}) {
      auto spec = parse_training_spec(std::string_view(
          R"({"format":"loom-training","version":2,"loss":"mse","network":)" + mlp("tanh") +
          R"(,"method":{"type":"target_propagation","mode":")" + mode + R"(","alignment_every":)" +
          (asked ? "3" : "0") + R"(},"steps":7,"batch":4,"micro_batches":2})"));
      ASSERT_TRUE(spec.ok()) << spec.status().to_string();
      Network network = std::move(*create_network(*spec));
      std::vector<float> x, y;
      for (const double v : numbers(40, 3)) x.push_back(static_cast<float>(v));
      for (const double v : numbers(30, 4)) y.push_back(static_cast<float>(v));
      const auto data = std::move(*ArrayData::create(std::move(x), 4, std::move(y), 3));
      ThreadPool pool(1);
      auto trainer = Trainer::create(*spec, network, *data, pool);
      ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
      const Status status = (*trainer)->run([&](const StepReport& r) -> Result<bool> {
        const std::int64_t measured = !asked ? 0 : r.step == 7 ? 7 : r.step / 3 * 3;
        for (const PartReport& p : r.parts) {
          EXPECT_EQ(p.alignment_step, measured);
          EXPECT_LE(std::abs(p.alignment), 1 + 1e-12);
          const bool whole = mode[0] == 'c' || &p == &r.parts.back();
          if (measured > 0 && whole) {
            EXPECT_NEAR(p.alignment, 1, 1e-9) << p.path;
          } else if (measured > 0 && &p == &r.parts.front()) {
            EXPECT_LT(p.alignment, 0.9999);
          }
        }
        return true;
      });
      ASSERT_TRUE(status.ok()) << status.to_string();
      digests[asked] = (*trainer)->digest();
    }
    EXPECT_EQ(digests[0], digests[1]);
  }
}

// Which of two halves of a sequence has the larger sum: parts of another number of rows than the
// network's, gates and attention included.
TEST(TargetPropagation, LayersOfSequencesLearn) {
  for (const char* layer :
       {R"("type":"lstm","hidden":12,"output":"last")",
        R"("type":"rnn","hidden":12,"output":"last")", R"("type":"attention","heads":2)"}) {
    const std::string text =
        R"({"format":"loom-topology","version":3,"layers_per_cell":4,"input":{"dims":[8,1]},"cells":[)"
        R"({"at":[0,0,0,0],"type":"dense","out":12,"activation":"tanh"},{"at":[0,0,0,1],)" +
        std::string(layer) +
        R"(},{"at":[0,0,0,2],"type":"flatten"},{"at":[0,0,0,3],"type":"dense","out":2}]})";
    auto spec = parse_training_spec(std::string_view(
        R"({"format":"loom-training","version":2,"method":"tween","loss":"cross_entropy","network":)" +
        text + R"(,"steps":300,"batch":32,"seed":1,"schedule":{"type":"constant","lr":0.01}})"));
    ASSERT_TRUE(spec.ok()) << spec.status().to_string();
    auto network = create_network(*spec);
    ASSERT_TRUE(network.ok()) << layer << network.status().to_string();
    const RandomStream random(5, 1);
    std::vector<float> x;
    std::vector<std::int32_t> classes;
    for (std::uint64_t r = 0; r < 256; ++r) {
      float difference = 0;
      for (std::uint64_t k = 0; k < 8; ++k) {
        x.push_back(2 * random.uniform(8 * r + k) - 1);
        difference += k < 4 ? x.back() : -x.back();
      }
      classes.push_back(difference > 0);
    }
    const auto data = std::move(*ArrayData::create(std::move(x), 8, std::move(classes)));
    ThreadPool pool(1);
    auto trainer = Trainer::create(*spec, *network, *data, pool);
    ASSERT_TRUE(trainer.ok()) << layer << trainer.status().to_string();
    double first = 0, last = 0;
    const Status status = (*trainer)->run([&](const StepReport& r) -> Result<bool> {
      (r.step == 1 ? first : last) = r.loss;
      EXPECT_EQ(r.parts.size(), 3u);
      return true;
    });
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_LT(last, 0.5 * first) << layer;
  }
}

}  // namespace
}  // namespace loom
