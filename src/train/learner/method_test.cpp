// Learning by parts: gradients against formulas and finite differences, memory, and the same bits
// on every number of threads, every instruction set, and after a pause.
#include "train/learner/method.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "ops/cpu/isa.h"
#include "train/checkpoint.h"
#include "train/data/tensor_data.h"
#include "train/trainer.h"

namespace loom {
namespace {

using Matrix = std::vector<std::vector<double>>;

constexpr std::int64_t kRows = 5;
const std::vector<std::int64_t> kWidths = {4, 7, 6, 5, 3};  // of the input, then of each layer
const MethodKind kMethods[] = {MethodKind::mono_forward, MethodKind::direct_feedback_alignment,
                               MethodKind::difference_target_propagation,
                               MethodKind::target_propagation};

std::string cell(std::size_t l, const std::string& what) {
  return (l ? "," : "") + (R"({"at":[0,0,0,)" + std::to_string(l) + R"(],"type":)") + what + "}";
}
std::string topology(std::int64_t width, std::size_t cells, const std::string& list) {
  return R"({"format":"loom-topology","version":3,"layers_per_cell":)" + std::to_string(cells) +
         R"(,"input":{"width":)" + std::to_string(width) + R"(},"cells":[)" + list + "]}";
}
std::string dense(std::int64_t out, const std::string& more = "") {
  return R"("dense","out":)" + std::to_string(out) + more;
}
std::string mlp() {
  std::string list;
  for (std::size_t l = 0; l + 1 < kWidths.size(); ++l)
    list += cell(
        l, dense(kWidths[l + 1], std::string(R"(,"dtype":"f64")") +
                                     (l + 2 < kWidths.size() ? R"(,"activation":"tanh")" : "")));
  return topology(kWidths[0], kWidths.size() - 1, list);
}

Network network_of(const std::string& text, std::uint64_t seed = 3) {
  Network n = std::move(*Network::from_json(std::string_view(text)));
  EXPECT_TRUE(n.initialize(seed).ok());
  return n;
}

Matrix random_rows(std::int64_t cols, std::uint64_t stream) {
  const RandomStream random(11, stream);
  Matrix m(kRows, std::vector<double>(static_cast<std::size_t>(cols)));
  std::uint64_t k = 0;
  for (auto& row : m)
    for (double& v : row) v = 2.0 * random.uniform(k++) - 1;
  return m;
}

// w x of every row: w [rows, cols], row-major.
Matrix product(const WeightStore& w, const Matrix& x) {
  Matrix y;
  for (const auto& row : x) {
    auto& out = y.emplace_back(static_cast<std::size_t>(w.rows()), 0.0);
    for (std::size_t o = 0; o < out.size(); ++o)
      for (std::size_t i = 0; i < row.size(); ++i)
        out[o] += w.master64()[o * row.size() + i] * row[i];
  }
  return y;
}
template <class F>
Matrix zip(const Matrix& a, const Matrix& b, F f) {
  Matrix y = a;
  for (std::size_t r = 0; r < a.size(); ++r)
    for (std::size_t c = 0; c < a[r].size(); ++c) y[r][c] = f(a[r][c], b[r][c]);
  return y;
}

// The network by hand: h[0] is the input.
struct ByHand {
  Network& network;
  Matrix target;
  std::vector<Matrix> h;

  std::string path(std::size_t l) const { return "0.0.0." + std::to_string(l); }
  std::size_t layers() const { return kWidths.size() - 1; }
  void run(const Matrix& x) {
    h = {x};
    for (std::size_t l = 0; l < layers(); ++l) {
      Matrix y = product(*network.find(path(l), "weight"), h[l]);
      const auto bias = network.find(path(l), "bias")->master64();
      for (auto& row : y)
        for (std::size_t c = 0; c < row.size(); ++c)
          row[c] = l + 1 < layers() ? std::tanh(row[c] + bias[c]) : row[c] + bias[c];
      h.push_back(std::move(y));
    }
  }
  // Of the sum over rows of mean (y - t)^2.
  Matrix slope(const Matrix& y, const Matrix& t) const {
    return zip(y, t,
               [&](double a, double b) { return 2 * (a - b) / static_cast<double>(y[0].size()); });
  }
  double loss(const Matrix& y, const Matrix& t) const {
    double sum = 0;
    for (std::size_t r = 0; r < y.size(); ++r)
      for (std::size_t c = 0; c < y[r].size(); ++c)
        sum += (y[r][c] - t[r][c]) * (y[r][c] - t[r][c]) / static_cast<double>(y[r].size());
    return sum;
  }
  // The gradient of the weights of layer l, from that of its output.
  std::vector<double> weight_grad(std::size_t l, Matrix g) const {
    if (l + 1 < layers()) g = zip(g, h[l + 1], [](double a, double y) { return a * (1 - y * y); });
    std::vector<double> w;
    for (std::size_t o = 0; o < g[0].size(); ++o)
      for (std::size_t i = 0; i < h[l][0].size(); ++i) {
        double sum = 0;
        for (std::size_t r = 0; r < g.size(); ++r) sum += g[r][o] * h[l][r][i];
        w.push_back(sum);
      }
    return w;
  }
  // What back-propagation hands from the last layer to the activations before it.
  Matrix last_gradient() const {
    const WeightStore& w = *network.find(path(layers() - 1), "weight");
    const Matrix g = slope(h.back(), target);
    Matrix gx(g.size(), std::vector<double>(static_cast<std::size_t>(w.cols()), 0.0));
    for (std::size_t r = 0; r < g.size(); ++r)
      for (std::size_t o = 0; o < g[r].size(); ++o)
        for (std::size_t i = 0; i < gx[r].size(); ++i)
          gx[r][i] += g[r][o] * w.master64()[o * gx[r].size() + i];
    return gx;
  }
};

struct Made {
  Network network = network_of(mlp());
  ThreadPool pool{2};
  Matrix x = random_rows(kWidths.front(), 1), target = random_rows(kWidths.back(), 2);
  std::shared_ptr<MethodMatrices> matrices;
  std::unique_ptr<Learner> learner;
  ByHand hand{network, target, {}};

  explicit Made(MethodKind kind) {
    matrices = std::move(*MethodMatrices::create(network, kind, 5));
    auto made = Learner::create(network, pool,
                                {.method = {.kind = kind, .step = 0.3},
                                 .matrices = matrices,
                                 .max_rows = kRows,
                                 .update = false,
                                 .poison = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    learner = std::make_unique<Learner>(std::move(*made));
    Batch batch;
    for (std::size_t r = 0; r < kRows; ++r) {
      batch.wide_x.insert(batch.wide_x.end(), x[r].begin(), x[r].end());
      batch.x.insert(batch.x.end(), x[r].begin(), x[r].end());
      batch.values.insert(batch.values.end(), target[r].begin(), target[r].end());
      batch.wide_values.insert(batch.wide_values.end(), target[r].begin(), target[r].end());
    }
    EXPECT_TRUE(learner->batch(batch, false).ok());
    EXPECT_TRUE(learner->accumulate().ok());
    hand.run(x);
  }
  std::vector<double> gradient(const std::string& path, const std::string& role) const {
    std::vector<double> values;
    for (const NetworkEmitter::Gradient& g : learner->gradients())
      for (std::int64_t r = 0; g.path == path && g.role == role && r < g.rows; ++r)
        for (const double v : learner->executor().row<double>(g.value.buffer, r))
          values.push_back(v);
    return values;
  }
  void expect(std::size_t l, const Matrix& slope) const {
    const std::vector<double> got = gradient(hand.path(l), "weight"),
                              want = hand.weight_grad(l, slope);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 1e-8) << "layer " << l << ", " << i;
  }
  WeightStore& matrix(std::size_t l) const { return *matrices->all()[l].store; }
};

TEST(Method, MonoForwardHasTheGradientsOfEachPartsLoss) {
  const Made made(MethodKind::mono_forward);
  ASSERT_EQ(made.learner->gradients().size(), 2 * made.hand.layers() + made.hand.layers() - 1);
  EXPECT_NEAR(made.learner->loss_sum(), made.hand.loss(made.hand.h.back(), made.target), 1e-12);
  constexpr double kStep = 1e-6;
  for (std::size_t l = 0; l < made.hand.layers(); ++l) {
    const bool last = l + 1 == made.hand.layers();
    // The loss of part l alone, as a function of the weights of the part and its projection: no
    // other part's loss moves them.
    const auto loss = [&] {
      ByHand h = made.hand;
      h.run(made.x);
      return h.loss(last ? h.h.back() : product(made.matrix(l), h.h[l + 1]), made.target);
    };
    const auto check = [&](const std::string& path, const std::string& role, WeightStore& store) {
      const std::vector<double> got = made.gradient(path, role);
      ASSERT_EQ(got.size(), static_cast<std::size_t>(store.rows() * store.cols())) << path;
      for (std::size_t i = 0; i < got.size(); ++i) {
        double& w = store.mutable_master64()[i];
        const double was = w;
        w = was + kStep;
        const double above = loss();
        w = was - kStep;
        const double below = loss();
        w = was;
        EXPECT_NEAR(got[i], (above - below) / (2 * kStep), 1e-8) << path << ":" << role << " " << i;
      }
    };
    Network& network = made.hand.network;
    const std::string path = made.hand.path(l);
    check(path, "weight", *network.find(path, "weight"));
    check(path, "bias", *network.find(path, "bias"));
    if (!last) check("method/" + path, "projection", made.matrix(l));
  }
}

TEST(Method, DirectFeedbackAlignmentBringsTheErrorToEachPart) {
  const Made made(MethodKind::direct_feedback_alignment);
  const std::size_t last = made.hand.layers() - 1;
  ASSERT_EQ(made.learner->gradients().size(), 2 * (last + 1));  // feedback does not learn
  const Matrix error = made.hand.slope(made.hand.h.back(), made.target);
  made.expect(last, error);
  for (std::size_t l = 0; l < last; ++l) made.expect(l, product(made.matrix(l), error));
}

TEST(Method, DifferenceTargetPropagationMovesEachPartToItsTarget) {
  const Made made(MethodKind::difference_target_propagation);
  const std::size_t last = made.hand.layers() - 1;
  ASSERT_EQ(made.matrices->all().size(), last - 1);
  made.expect(last, made.hand.slope(made.hand.h.back(), made.target));
  const auto& h = made.hand.h;
  Matrix t =
      zip(h[last], made.hand.last_gradient(), [](double a, double g) { return a - 0.3 * g; });
  for (std::size_t l = last - 1;; --l) {  // h[l + 1] is what layer l hands on
    made.expect(l, made.hand.slope(h[l + 1], t));
    if (l == 0) break;
    const Matrix moved = product(made.matrix(l - 1), t),
                 stood = product(made.matrix(l - 1), h[l + 1]);
    t = zip(h[l], zip(moved, stood, [](double a, double b) { return std::tanh(a) - std::tanh(b); }),
            [](double a, double d) { return a + d; });
  }
}

// 32 layers: what mono_forward keeps is a part's, whatever the depth.
TEST(Method, MonoForwardKeepsNoActivations) {
  const auto arena = [](int layers, MethodKind kind, bool recompute) {
    std::string list;
    for (int l = 0; l < layers; ++l)
      list += cell(static_cast<std::size_t>(l),
                   dense(l + 1 < layers ? 32 : 4, R"(,"activation":"relu")"));
    Network network = network_of(topology(32, static_cast<std::size_t>(layers), list));
    ThreadPool pool(1);
    auto made = Learner::create(
        network, pool, {.recompute = recompute, .method = {.kind = kind}, .max_rows = 4096});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made->executor().arena_bytes();
  };
  const std::int64_t whole = arena(32, MethodKind::back_propagation, false),
                     mono = arena(32, MethodKind::mono_forward, false);
  EXPECT_LT(4 * mono, whole);
  EXPECT_LT(mono, arena(32, MethodKind::back_propagation, true));
  // Twice the depth: gradients of weights, but no activations.
  EXPECT_LT(arena(64, MethodKind::mono_forward, false) - mono, 32 * 4 * (33 * 48 + 4 * 32 + 200));
}

// Parts with norms, dropout and pools behind them; several losses; weights of classes; few bits.
struct Case {
  std::string network, more;
  bool classes;
};
std::vector<Case> cases() {
  const std::string tanh = R"(,"activation":"tanh")";
  const std::string deep = topology(
      6, 6,
      cell(0, dense(17, tanh)) + cell(1, R"("layer_norm")") + cell(2, R"("dropout","rate":0.2)") +
          cell(3, dense(9, tanh)) +
          cell(
              4,
              R"("sequential","layers":[{"type":"dense","out":9,"activation":"tanh"},{"type":"residual"}])") +
          cell(5, dense(3)));
  const std::string plain =
      topology(6, 3, cell(0, dense(8, tanh)) + cell(1, dense(7, tanh)) + cell(2, dense(3)));
  return {{deep, R"("loss":"cross_entropy","class_weights":[1,2,0.5])", true},
          {deep, R"("loss":"mse","loss_weight":2)", false},
          {plain, R"("loss":"huber","quantize":{"dtype":"i8","after":3})", false},
          {plain, R"("heads":[{"columns":1},{"columns":2,"loss":"bce","weight":0.5}])", false}};
}

TrainingSpec spec_of(const Case& c, MethodKind kind, const std::string& more = "") {
  const std::string text = R"({"format":"loom-training","version":2,"network":)" + c.network +
                           R"(,"method":{"type":")" + std::string(name(kind)) + "\"}," + c.more +
                           R"(,"steps":12,"batch":12,"micro_batches":3,"seed":4,)" +
                           R"("optimizer":{"clip_norm":1,"weight_decay":0.01},)" +
                           R"("schedule":{"type":"cosine","lr":0.01})" + more + "}";
  auto spec = parse_training_spec(std::string_view(text));
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  return std::move(*spec);
}

std::unique_ptr<DataSource> data_of(const Case& c) {
  const RandomStream random(9, 1);
  std::vector<float> x, y;
  std::vector<std::int32_t> classes;
  for (std::uint64_t i = 0; i < 50 * 6; ++i) x.push_back(2 * random.uniform(i) - 1);
  for (std::size_t r = 0; r < 50; ++r) {
    for (std::size_t t = 0; t < 3; ++t) y.push_back(x[r * 6 + t] * x[r * 6 + t + 3] / 2 + 0.5f);
    classes.push_back(x[r * 6] > 0.3f ? 2 : x[r * 6 + 1] > 0);
  }
  if (c.classes) return std::move(*ArrayData::create(std::move(x), 6, std::move(classes)));
  return std::move(*ArrayData::create(std::move(x), 6, std::move(y), 3));
}

struct Course {
  Network network;
  std::unique_ptr<DataSource> data;
  ThreadPool pool;
  std::unique_ptr<Trainer> trainer;
  Course(const Case& c, const TrainingSpec& spec, int threads = 1, const std::string& isa = "")
      : network(std::move(*create_network(spec))), data(data_of(c)), pool(threads) {
    auto made = Trainer::create(spec, network, *data, pool, {.isa = isa, .poison = true});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    if (made.ok()) trainer = std::move(*made);
  }
  std::string digest(std::int64_t steps = 1000) {
    const Status s =
        trainer->run([&](const StepReport& r) -> Result<bool> { return r.step < steps; });
    EXPECT_TRUE(s.ok() || s.code() == Code::cancelled) << s.to_string();
    return trainer->digest();
  }
};

TEST(Method, ThreadsAndInstructionSetsChangeNoBit) {
  for (const MethodKind kind : kMethods)
    for (const Case& c : cases()) {
      const TrainingSpec spec = spec_of(c, kind);
      const std::string want = Course(c, spec).digest();
      for (const int threads : {2, 3, 4}) EXPECT_EQ(Course(c, spec, threads).digest(), want);
      for (const std::string_view isa : cpu::available_isas())
        EXPECT_EQ(Course(c, spec, 2, std::string(isa)).digest(), want) << isa;
    }
}

TEST(Method, ATrainingResumesWithTheSameBits) {
  for (const MethodKind kind : kMethods)
    for (const Case& c : cases()) {
      const TrainingSpec spec = spec_of(c, kind);
      const std::string want = Course(c, spec).digest();
      Course half(c, spec), rest(c, spec);
      half.digest(5);
      std::vector<std::byte> file;
      ASSERT_TRUE(save_checkpoint(&file, *half.trainer).ok());
      const Status resumed = resume_checkpoint(source_from_bytes(file, "half"), *rest.trainer);
      ASSERT_TRUE(resumed.ok()) << resumed.to_string();
      EXPECT_EQ(rest.trainer->digest(), half.trainer->digest());
      EXPECT_EQ(rest.digest(), want);
      // Its matrices are the training's: the network that the file holds is as any other.
      const Entity entity = std::move(*Entity::open(source_from_bytes(file, "half")));
      EXPECT_EQ(entity.find_tensor("training/method/0.0.0.0:" +
                                   std::string(kind == kMethods[0] ? "projection" : "feedback")) !=
                    nullptr,
                kind != MethodKind::target_propagation);
      Network loaded = std::move(*load_network(entity));
      EXPECT_EQ(loaded.parameter_count(), half.network.parameter_count());
      // Another method is another training.
      Course other(c, spec_of(c, kind == kMethods[0] ? kMethods[1] : kMethods[0]));
      EXPECT_NE(resume_checkpoint(source_from_bytes(file, "half"), *other.trainer)
                    .message()
                    .find("\"method: type\""),
                std::string::npos);
    }
}

TEST(Method, AStateWithoutItsMatricesIsRefused) {
  const Case c = cases()[0];
  const TrainingSpec spec = spec_of(c, MethodKind::mono_forward);
  Course first(c, spec), second(c, spec);
  first.digest(3);
  TrainingState state = first.trainer->state();
  std::erase_if(state.tensors,
                [](const TrainingTensor& t) { return t.name.starts_with("method/0.0.0.3"); });
  const std::string before = second.trainer->digest();
  const Status refused = second.trainer->restore(std::move(state));
  EXPECT_EQ(refused.code(), Code::not_found);
  EXPECT_NE(refused.message().find("'method/0.0.0.3:projection'"), std::string::npos)
      << refused.message();
  EXPECT_EQ(second.trainer->digest(), before);
}

// A step that is cut and one that is not differ by rounding alone; what is computed again does not
// differ.
TEST(Method, MicroBatchesAndRecomputationMeanTheSame) {
  for (const MethodKind kind : kMethods) {
    Case c = cases()[1];
    c.network = topology(6, 3,
                         cell(0, dense(8, R"(,"dtype":"f64","activation":"tanh")")) +
                             cell(1, dense(7, R"(,"dtype":"f64","activation":"tanh")")) +
                             cell(2, dense(3, R"(,"dtype":"f64")")));
    TrainingSpec spec = spec_of(c, kind), one = spec;
    one.micro_batches = 1;
    Course cut(c, spec), whole(c, one);
    cut.digest(), whole.digest();
    const auto a = cut.trainer->weights(), b = whole.trainer->weights();
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t k = 0; k < a[i].f64.size(); ++k)
        EXPECT_NEAR(a[i].f64[k], b[i].f64[k], 1e-9) << a[i].name;
    if (kind == MethodKind::mono_forward) continue;
    TrainingSpec again = spec;
    again.checkpoint = true;
    EXPECT_EQ(Course(c, again).trainer->digest(), Course(c, spec).trainer->digest());
    EXPECT_EQ(Course(c, again).digest(), cut.trainer->digest());
  }
}

// A batch with more rows than the program has room for: the matrices go on with the new one.
TEST(Method, MatricesOutliveTheirProgram) {
  const Case c = cases()[1];
  for (const MethodKind kind : kMethods) {
    TrainingSpec spec = spec_of(c, kind);
    spec.micro_batches = 1;
    spec.batch = 4;
    Course small(c, spec), large(c, spec);
    ASSERT_TRUE(small.trainer->step().ok());
    ASSERT_TRUE(large.trainer->step().ok());
    ASSERT_TRUE(small.trainer->step_on(*small.data).ok());  // 50 samples
    ASSERT_TRUE(large.trainer->step_on(*small.data).ok());
    EXPECT_EQ(small.digest(), large.digest());
  }
}

TEST(Method, AllOfThemLearn) {
  for (const MethodKind kind : kMethods) {
    const Case c = {topology(6, 3,
                             cell(0, dense(24, R"(,"activation":"tanh")")) +
                                 cell(1, dense(24, R"(,"activation":"tanh")")) + cell(2, dense(3))),
                    R"("loss":"cross_entropy")", true};
    TrainingSpec spec = spec_of(c, kind);
    spec.steps = 300;
    spec.schedule.steps = 0;
    Course course(c, spec);
    double first = 0, last = 0;
    ASSERT_TRUE(course.trainer
                    ->run([&](const StepReport& r) -> Result<bool> {
                      (r.step == 1 ? first : last) = r.loss;
                      return true;
                    })
                    .ok());
    EXPECT_LT(last, 0.2 * first) << name(kind);
  }
}

TEST(Method, SaysWhatDoesNotFit) {
  const std::string tanh = R"(,"activation":"tanh")";
  const auto refusal = [](const std::string& network, const std::string& more) {
    auto spec = parse_training_spec(
        std::string_view(R"({"format":"loom-training","version":2,"steps":1,"batch":2,"network":)" +
                         network + "," + more + "}"));
    if (!spec.ok()) return spec.status().message();
    auto made = create_network(*spec);
    if (!made.ok()) return made.status().message();
    const auto data = data_of({"", "", false});
    ThreadPool pool(1);
    const auto trainer = Trainer::create(*spec, *made, *data, pool);
    return trainer.ok() ? std::string() : trainer.status().message();
  };
  const auto has = [&](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
  };
  const std::string good = topology(6, 2, cell(0, dense(6, tanh)) + cell(1, dense(3)));
  const std::string mono = R"("method":"mono_forward")";
  EXPECT_EQ(refusal(good, mono), "");
  EXPECT_EQ(refusal(good, R"("method":"back_propagation")"), "");
  EXPECT_EQ(refusal(good, R"("method":{"type":"difference_target_propagation","step":0.5})"), "");
  has(refusal(good, R"("method":"mono_foward")"),
      "unknown method \"mono_foward\": one of back_propagation, mono_forward, "
      "direct_feedback_alignment, difference_target_propagation, target_propagation; did you mean "
      "\"mono_forward\"?");
  has(refusal(good, R"("method":{"type":"difference_target_propagation","steps":0.5})"),
      "method: unknown key \"steps\": known are type, step, feedback, feedback_noise, "
      "feedback_draws, feedback_lr; did you mean \"step\"?");
  has(refusal(good, R"("method":{"type":"mono_forward","step":0.5})"), "unknown key \"step\"");
  has(refusal(good, R"("method":{"type":"difference_target_propagation","step":0})"), "step");
  has(refusal(good, R"("method":3)"), "method: expected an object");
  for (const char* other : {R"("fp8":true)", R"("lora":{"rank":2})", R"("streams":2)",
                            R"("step_mesh":{"ticks":2})", R"("checkpoint":true)"}) {
    const std::string key(other, std::string_view(other).find(':'));
    has(refusal(good, mono + "," + other + (key == "\"streams\"" ? R"(,"shuffle":false)" : "")),
        key);
  }
  has(refusal(topology(6, 1, cell(0, dense(3))), mono), "one cell with matrices");
  has(refusal(
          topology(6, 2,
                   cell(0, dense(6, tanh)) + cell(1, dense(3, R"(,"links":[{"read":[0,0,0,0]}])"))),
          mono),
      "cell 0.0.0.1 has links");
  has(refusal(topology(6, 3,
                       cell(0, dense(6)) + cell(1, dense(6, R"(,"tie":"0.0.0.0:weight")")) +
                           cell(2, dense(3))),
              mono),
      "parameter 0.0.0.1:weight is tied to another");
  has(refusal(topology(6, 3,
                       cell(0, dense(6)) +
                           cell(1, R"("sequential","layers":[{"links":[{"run":[0,0,0,0]}]}])") +
                           cell(2, dense(3))),
              mono),
      "the layer at 0.0.0.1/0 runs another cell's");
}

}  // namespace
}  // namespace loom
