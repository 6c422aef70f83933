// Learning beside answers: the bits of the steps, whole publications, errors that leave what
// answers, and recovery from changes of the task.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "online/online.h"

namespace loom {
namespace {

std::string dense_chain(std::int64_t in, const std::vector<std::int64_t>& widths,
                        const std::string& dtype = "f32") {
  std::string text = R"({"format":"loom-topology","version":3,"layers_per_cell":)" +
                     std::to_string(widths.size()) + R"(,"input":{"width":)" + std::to_string(in) +
                     R"(},"cells":[)";
  for (std::size_t i = 0; i < widths.size(); ++i)
    text +=
        (i ? "," : "") + (R"({"at":[0,0,0,)" + std::to_string(i) + R"(],"type":"dense","dtype":")" +
                          dtype + R"(","out":)" + std::to_string(widths[i]) +
                          (i + 1 < widths.size() ? R"(,"activation":"relu"})" : "}"));
  return text + "]}";
}

Network network_of(const std::string& topology) {
  auto n = Network::from_json(std::string_view(topology));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(1).ok());
  return std::move(*n);
}

TrainingSpec spec_of(const std::string& keys) {
  auto spec = parse_online_spec(*Json::parse("{" + (keys.empty() ? keys : keys.substr(1)) + "}"));
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  return *spec;
}

const std::string kClasses =
    R"(,"loss":"cross_entropy","batch":16,"schedule":{"lr":0.003},"seed":3)";

// Patterns of 8 values with noise, in 4 classes; in the next task each pattern is of the next
// class.
struct Stream {
  RandomStream random{9, 1};
  std::uint64_t at = 0;
  std::vector<float> x = std::vector<float>(8);
  std::int32_t next(int task) {
    // Words of a code of distance 4.
    constexpr std::uint32_t kRows[] = {0xB1, 0xD2, 0xE4, 0x78};
    const std::uint32_t pattern = random.below(at++, 12);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) word ^= (pattern >> i & 1) * kRows[i];
    for (std::size_t i = 0; i < 8; ++i)
      x[i] = (word >> i & 1 ? 1.0f : -1.0f) + random.uniform(at++) - 0.5f;
    return static_cast<std::int32_t>(pattern + static_cast<std::uint32_t>(task)) % 4;
  }
};

struct Fixture {
  ThreadPool pool;
  Network network;
  std::unique_ptr<OnlineLearner> learner;
  Fixture(const std::string& topology, const std::string& spec, const OnlineOptions& options = {},
          const std::atomic<bool>* cancel = nullptr, int threads = 1)
      : pool(threads), network(network_of(topology)) {
    auto made = OnlineLearner::create(spec_of(spec), network, pool, options, {.cancel = cancel});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    if (made.ok()) learner = std::move(*made);
  }
};

std::vector<float> answer(OnlineLearner& l, std::span<const float> x) {
  std::vector<float> y(static_cast<std::size_t>(l.output_width()));
  const auto first = l.answer(x, y);
  EXPECT_TRUE(first.ok()) << first.status().to_string();
  return y;
}

std::vector<float> weights(const Trainer& t) {
  std::vector<float> all;
  for (const TrainingTensor& w : t.weights()) all.insert(all.end(), w.f32.begin(), w.f32.end());
  return all;
}

TEST(Online, StepsAreThoseOfATrainerOverTheSameBatches) {
  for (const std::string method : {"", R"(,"method":"mono_forward")",
                                   R"(,"method":{"type":"target_propagation","mode":"layer_wise"})",
                                   R"(,"quantize":{"dtype":"i8"})"}) {
    OnlineOptions options;
    options.recent = 20, options.older = 30;
    Fixture steps(dense_chain(8, {16, 16, 4}), kClasses + method, options),
        sliced(dense_chain(8, {16, 16, 4}), kClasses + method, options);
    Network network = network_of(dense_chain(8, {16, 16, 4}));
    SampleMemory memory({.width = 8, .places = 1, .classes = 4}, 20, 30, 3);
    auto dummy = ArrayData::create(std::vector<float>(8), 8, std::vector<std::int32_t>(1));
    TrainingSpec spec = spec_of(kClasses + method);
    spec.steps = 1000;
    auto trainer = Trainer::create(spec, network, **dummy, steps.pool);
    ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
    DrawnSamples drawn;
    drawn.set_form(memory.form());
    Stream stream;
    for (int i = 0; i < 100; ++i) {
      const std::int32_t c = stream.next(0);
      for (OnlineLearner* l : {steps.learner.get(), sliced.learner.get()}) {
        answer(*l, stream.x);
        ASSERT_TRUE(l->feedback(i, std::span(&c, 1)).ok());
      }
      memory.add({.x = stream.x, .classes = std::span(&c, 1)});
      drawn.batch.clear();
      memory.draw(16, 0.5, drawn.batch);
      ASSERT_TRUE((*trainer)->step_on(drawn).ok());
      OnlineLearner::Learned learned;
      ASSERT_TRUE(steps.learner->learn(-1, 1, learned).ok());
      EXPECT_EQ(learned.steps, 1);
      EXPECT_EQ(learned.publications, 1);
      // As many slices as it takes.
      for (std::int64_t done = 0; done == 0; done = learned.steps)
        ASSERT_TRUE(sliced.learner->learn(1000, 1, learned).ok());
      ASSERT_EQ(weights(steps.learner->trainer()), weights(**trainer)) << method << i;
      ASSERT_EQ(weights(sliced.learner->trainer()), weights(**trainer)) << method << i;
    }
    // What answers is what was learned.
    OnlineLearner::Learned learned;
    ASSERT_TRUE(sliced.learner->publish().ok());
    EXPECT_EQ(answer(*steps.learner, stream.x), answer(*sliced.learner, stream.x));
  }
}

TEST(Online, PublicationsAreWhole) {
  // 90,000 weights are published in several slices.
  for (const std::string dtype : {"f32", "i8"}) {
    Fixture f(dense_chain(8, {300, 300, 4}, dtype), kClasses),
        whole(dense_chain(8, {300, 300, 4}, dtype), kClasses);
    Stream stream;
    const std::int32_t c = stream.next(0);
    const std::vector<float> x = stream.x;
    for (OnlineLearner* l : {f.learner.get(), whole.learner.get()}) {
      answer(*l, x);
      ASSERT_TRUE(l->feedback(0, std::span(&c, 1)).ok());
    }
    std::vector<std::vector<float>> allowed = {answer(*whole.learner, x)};
    int slices = 0, changes = 0;
    std::vector<float> before = allowed[0];
    OnlineLearner::Learned learned;
    while (allowed.size() < 12) {
      ASSERT_TRUE(f.learner->learn(20000, 0, learned).ok());
      ++slices;
      while (f.learner->trainer().done() >= static_cast<std::int64_t>(allowed.size())) {
        ASSERT_TRUE(whole.learner->learn(-1, 1, learned).ok());
        allowed.push_back(answer(*whole.learner, x));
      }
      const std::vector<float> y = answer(*f.learner, x);
      ASSERT_NE(std::ranges::find(allowed, y), allowed.end()) << dtype << slices;
      changes += y != before;
      before = y;
    }
    EXPECT_GT(slices, 12);
    EXPECT_GT(changes, 2);
  }
}

TEST(Online, ErrorsAndCancelsLeaveWhatAnswers) {
  std::atomic<bool> cancel{false};
  Fixture f(dense_chain(8, {16, 4}), kClasses, {}, &cancel),
      same(dense_chain(8, {16, 4}), kClasses);
  Stream stream;
  OnlineLearner& l = *f.learner;
  OnlineLearner::Learned learned;
  ASSERT_TRUE(l.learn(-1, 5, learned).ok());  // nothing to learn from
  EXPECT_EQ(learned.steps, 0);
  EXPECT_FALSE(l.learn(-1, 0, learned).ok());
  std::int32_t c = stream.next(0);
  const std::vector<float> x = stream.x;
  for (OnlineLearner* one : {&l, same.learner.get()}) {
    answer(*one, x);
    ASSERT_TRUE(one->feedback(0, std::span(&c, 1)).ok());
    ASSERT_TRUE(one->learn(-1, 2, learned).ok());
  }
  const std::vector<float> y = answer(l, x);
  EXPECT_EQ(y, answer(*same.learner, x));
  cancel = true;
  EXPECT_EQ(l.learn(-1, 3, learned).code(), Code::cancelled);
  EXPECT_EQ(answer(l, x), y);
  cancel = false;
  ASSERT_TRUE(l.learn(-1, 3, learned).ok());
  EXPECT_EQ(learned.steps, 3);
  ASSERT_TRUE(same.learner->learn(-1, 3, learned).ok());
  EXPECT_EQ(answer(l, x), answer(*same.learner, x));

  // Feedback that cannot be learned changes nothing.
  const auto code = [&](std::int64_t first, std::vector<std::int32_t> classes) {
    return l.feedback(first, classes).code();
  };
  EXPECT_EQ(code(0, {0}), Code::not_found);  // has its feedback
  EXPECT_EQ(code(-1, {0}), Code::not_found);
  EXPECT_EQ(code(99, {0}), Code::not_found);
  EXPECT_EQ(code(1, {4}), Code::invalid_argument);
  EXPECT_EQ(code(1, {-1}), Code::invalid_argument);
  EXPECT_EQ(code(1, {}), Code::invalid_argument);
  EXPECT_EQ(code(1, {0, 1, 7}), Code::invalid_argument);
  EXPECT_EQ(l.feedback(1, std::vector<float>{0, 1, 0, 0}).code(), Code::invalid_argument);
  EXPECT_EQ(code(1, {-100}), Code::ok);  // is not counted
  EXPECT_EQ(code(2, {0}), Code::ok);
  std::vector<float> wild = x;
  wild[3] = NAN;
  answer(l, wild);
  const std::int64_t last = 4;
  EXPECT_EQ(code(last, {0}), Code::invalid_argument);
  std::vector<float> room(4);
  EXPECT_EQ(l.answer(std::span(x).first(7), room).status().code(), Code::invalid_argument);
  EXPECT_EQ(l.answer({}, room).status().code(), Code::invalid_argument);
  EXPECT_EQ(l.answer(x, std::span(room).first(3)).status().code(), Code::invalid_argument);
  EXPECT_EQ(l.answer_ids(std::vector<std::uint32_t>{1}, room).status().code(),
            Code::invalid_argument);
  std::vector<float> many(8 * 65), out(4 * 65);
  EXPECT_EQ(l.answer(many, out).status().code(), Code::out_of_range);
  EXPECT_FALSE(l.task("").ok());
}

TEST(Online, AnswersThatWaitTooLongAreForgotten) {
  OnlineOptions options;
  options.pending = 3, options.recent = 2, options.older = 2;
  Fixture f(dense_chain(8, {4}), kClasses, options);
  Stream stream;
  for (int i = 0; i < 5; ++i) {
    stream.next(0);
    answer(*f.learner, stream.x);
  }
  const std::int32_t c = 1;
  EXPECT_EQ(f.learner->feedback(1, std::span(&c, 1)).code(), Code::not_found);
  for (const std::int64_t n : {4, 2, 3}) ASSERT_TRUE(f.learner->feedback(n, std::span(&c, 1)).ok());
  const Json info = f.learner->info();
  EXPECT_EQ(info.find("recent")->as_integer(), 2);
  EXPECT_EQ(info.find("older")->as_integer(), 1);
  EXPECT_EQ(info.find("judged")->as_integer(), 3);
}

TEST(Online, RefusesByName) {
  ThreadPool pool(1);
  Network network = network_of(dense_chain(8, {4}));
  const auto refused = [&](const std::string& keys, const std::string& word) {
    const auto made = OnlineLearner::create(spec_of(keys), network, pool, {});
    EXPECT_FALSE(made.ok()) << keys;
    EXPECT_NE(made.status().message().find(word), std::string::npos) << made.status().message();
  };
  refused(R"(,"epochs":2)", "epochs");
  refused(R"(,"shuffle":false)", "shuffle");
  refused(R"(,"batch":4,"micro_batches":2)", "micro_batches");
  refused(R"(,"steps":9,"validation":{"share":0.2})", "validation");
  EXPECT_FALSE(parse_online_spec(*Json::parse(R"({"schedule":{"type":"cosine"}})")).ok());
  EXPECT_FALSE(parse_online_spec(*Json::parse(R"({"stepz":3})")).ok());
  EXPECT_FALSE(parse_online_spec(*Json::parse("[]")).ok());
  refused(R"(,"lora":{"rank":2})", "lora");
  refused(R"(,"log_every":3)", "log_every");
  refused(R"(,"loss":"cross_entropy","class_weights":"balanced")", "class_weights");
  Network tokens = network_of(
      R"({"format":"loom-topology","version":3,"layers_per_cell":2,"input":{"ids":9},"cells":[
        {"at":[0,0,0,0],"type":"embedding","out":4},{"at":[0,0,0,1],"type":"dense","out":9}]})");
  EXPECT_EQ(OnlineLearner::create(spec_of(R"(,"loss":"cross_entropy")"), tokens, pool, {})
                .status()
                .code(),
            Code::unsupported);
  for (const std::string layer :
       {R"("type":"attention","heads":2)", R"("type":"lstm","hidden":4,"stateful":true)"}) {
    const bool lstm = layer.find("lstm") != std::string::npos;
    Network rows = network_of(
        R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":)" +
        std::string(lstm ? R"({"dims":[2,3],"axis":"steps"})" : R"({"width":4})") +
        R"(,"cells":[{"at":[0,0,0,0],)" + layer +
        R"(},{"at":[0,0,0,1],"type":"flatten"},{"at":[0,0,0,2],"type":"dense","out":2}]})");
    const auto made = OnlineLearner::create(spec_of(""), rows, pool, {});
    EXPECT_EQ(made.status().code(), Code::unsupported) << layer << made.status().to_string();
  }
}

// Three changes of the task: the accuracy is back at 95 % within this number of outputs.
void flips(const std::string& dtype, const std::string& method, bool told, std::int64_t within) {
  OnlineOptions options;
  options.tracker.deadline_ms = 10;
  if (told) options.detector = "none";
  Fixture f(dense_chain(8, {32, 64, 64, 64, 32, 4}, dtype), kClasses + method, options);
  OnlineLearner& l = *f.learner;
  Stream stream;
  OnlineLearner::Learned learned;
  for (int i = 0; i < 1600; ++i) {
    const int task = i / 400;
    if (told && i > 0 && i % 400 == 0) {
      ASSERT_TRUE(l.task(std::to_string(task)).ok());
    }
    const std::int32_t c = stream.next(task);
    answer(l, stream.x);
    ASSERT_TRUE(l.feedback(i, std::span(&c, 1)).ok());
    ASSERT_TRUE(l.learn(-1, 2, learned).ok());
  }
  const Json report = l.report();
  const auto& tasks = report.find("tasks")->as_array();
  ASSERT_EQ(tasks.size(), 4u) << report.find("tasks")->dump(1);
  for (const Json& t : tasks) {
    ASSERT_FALSE(t.find("recovered")->is_null()) << t.dump(1);
    EXPECT_LE(t.find("recovered")->find("outputs")->as_integer(), within) << t.dump();
    if (&t == &tasks[0]) continue;
    EXPECT_EQ(t.find("source")->as_string(), told ? "caller" : "detector");
    EXPECT_NEAR(static_cast<double>(t.find("output")->as_integer()),
                400.0 * static_cast<double>(&t - &tasks[0]), 12)
        << t.dump();
    EXPECT_GT(t.find("accuracy_before")->as_number(), 0.9);
    EXPECT_LT(t.find("accuracy_after")->as_number(), 0.9);
  }
}

TEST(Online, RecoversFromThreeFlips) {
  flips("f32", "", false, 150);
  flips("f32", "", true, 150);
  flips("i8", "", false, 150);
  flips("f32", R"(,"method":"mono_forward")", false, 150);
  flips("f32", R"(,"method":{"type":"target_propagation","mode":"layer_wise"})", false, 150);
}

TEST(Online, MeasuresAndCommits) {
  Fixture f(dense_chain(8, {32, 4}), kClasses);
  OnlineLearner& l = *f.learner;
  Stream stream, held{.random = RandomStream(11, 1)};
  std::vector<float> x;
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 300; ++i) {
    classes.push_back(held.next(0));
    x.insert(x.end(), held.x.begin(), held.x.end());
  }
  auto data = ArrayData::create(x, 8, classes);
  const double before = *l.measure(**data, "0");
  ASSERT_TRUE(l.add(**data).ok());
  OnlineLearner::Learned learned;
  ASSERT_TRUE(l.learn(-1, 300, learned).ok());
  const double after = *l.measure(**data, "0");
  EXPECT_GT(after, before + 0.2);
  EXPECT_EQ(l.report().find("forgetting")->as_array()[0].find("forgetting")->as_number(), 0);
  EXPECT_EQ(l.report().find("measurements")->as_array().size(), 2u);
  // A session of the network answers as the learner does.
  ASSERT_TRUE(l.commit(f.network).ok());
  auto session = Session::create(f.network, f.pool);
  ASSERT_TRUE(session.ok());
  stream.next(0);
  const auto y = session->run(stream.x, 1);
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(std::vector<float>(y->begin(), y->end()), answer(l, stream.x));
  Network other = network_of(dense_chain(8, {33, 4}));
  EXPECT_FALSE(l.commit(other).ok());
  auto wrong = ArrayData::create(std::vector<float>(7), 7, std::vector<std::int32_t>(1));
  EXPECT_FALSE(l.measure(**wrong, "0").ok());
  EXPECT_FALSE(l.add(**wrong).ok());
}

TEST(Online, LearnsFromValuesAndIds) {
  OnlineOptions options;
  options.tolerance = 0.2;
  Fixture f(dense_chain(2, {32, 1}), R"(,"batch":8,"schedule":{"lr":0.01})", options);
  const RandomStream random(4, 4);
  OnlineLearner::Learned learned;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const float x[] = {random.uniform(2 * i), random.uniform(2 * i + 1)};
    answer(*f.learner, x);
    const float target = x[0] - x[1];
    ASSERT_TRUE(f.learner->feedback(static_cast<std::int64_t>(i), std::span(&target, 1)).ok());
    ASSERT_TRUE(f.learner->learn(-1, 1, learned).ok());
  }
  EXPECT_GT(f.learner->info().find("accuracy")->as_number(), 0.95);
  Fixture ids(
      R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"ids":5,"dims":[3]},"cells":[
        {"at":[0,0,0,0],"type":"embedding","out":6},{"at":[0,0,0,1],"type":"flatten"},
        {"at":[0,0,0,2],"type":"dense","out":5}]})",
      kClasses);
  ASSERT_TRUE(ids.learner);
  for (std::uint64_t i = 0; i < 600; ++i) {
    const std::uint32_t x[] = {random.below(3 * i, 5), random.below(3 * i + 1, 5),
                               random.below(3 * i + 2, 5)};
    std::vector<float> y(5);
    ASSERT_TRUE(ids.learner->answer_ids(x, y).ok());
    const auto c = static_cast<std::int32_t>(x[1]);
    ASSERT_TRUE(ids.learner->feedback(static_cast<std::int64_t>(i), std::span(&c, 1)).ok());
    ASSERT_TRUE(ids.learner->learn(-1, 1, learned).ok());
  }
  EXPECT_GT(ids.learner->info().find("accuracy")->as_number(), 0.95);
  const std::uint32_t wrong[] = {0, 5, 0};
  std::vector<float> y(5);
  EXPECT_FALSE(ids.learner->answer_ids(wrong, y).ok());
}

}  // namespace
}  // namespace loom
