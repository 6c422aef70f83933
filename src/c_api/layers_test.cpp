// Registered layers as programs in C and C++ see them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <loom/loom.hpp>

#include <unistd.h>

namespace {

using loom::Error;
using loom::Network;
using loom::Session;

std::span<const float> row(const loom_layer_array& a, std::int64_t r) {
  return {static_cast<const float*>(a.data) + r * a.stride, static_cast<std::size_t>(a.cols)};
}
std::span<float> row_of(const loom_layer_array& a, std::int64_t r) {
  return {static_cast<float*>(a.data) + r * a.stride, static_cast<std::size_t>(a.cols)};
}

// dense of 4 outputs, in the plainest way; `at_forward` is run first.
struct Linear : loom::Layer {
  std::function<void()> at_forward = [] {};
  std::string answer =
      R"({"out":[4],"params":[{"role":"weight","rows":4,"cols":3,"init":"normal","std":0.5},{"role":"bias","cols":4}]})";
  std::string plan(std::string_view request) override {
    if (request.find("[3]") == std::string_view::npos)
      throw std::invalid_argument("wants 3 inputs");
    return answer;
  }
  void forward(const loom_layer_call& c) override {
    at_forward();
    for (std::int64_t r = 0; r < c.x.rows; ++r)
      for (std::int64_t o = 0; o < 4; ++o) {
        float sum = row(c.params[1], 0)[static_cast<std::size_t>(o)];
        for (std::size_t i = 0; i < 3; ++i) sum += row(c.params[0], o)[i] * row(c.x, r)[i];
        row_of(c.y, r)[static_cast<std::size_t>(o)] = sum;
      }
  }
  void backward(const loom_layer_call& c) override {
    for (std::int64_t o = 0; o < 4; ++o) {
      for (float& g : row_of(c.gparams[0], o)) g = 0;
      row_of(c.gparams[1], 0)[static_cast<std::size_t>(o)] = 0;
    }
    for (std::int64_t r = 0; r < c.x.rows; ++r) {
      for (float& g : row_of(c.gx, r)) g = 0;
      for (std::int64_t o = 0; o < 4; ++o) {
        const float gy = row(c.gy, r)[static_cast<std::size_t>(o)];
        row_of(c.gparams[1], 0)[static_cast<std::size_t>(o)] += gy;
        for (std::size_t i = 0; i < 3; ++i) {
          row_of(c.gparams[0], o)[i] += gy * row(c.x, r)[i];
          row_of(c.gx, r)[i] += gy * row(c.params[0], o)[i];
        }
      }
    }
  }
};

std::string topology(const std::string& first) {
  return R"({"format":"loom-topology","version":2,"layers_per_cell":3,"input":{"width":3},"cells":[
    {"at":[0,0,0,0],"type":"dense","out":3,"activation":"tanh"},
    {"at":[0,0,0,1],)" +
         first + R"(},{"at":[0,0,0,2],"type":"dense","out":1}]})";
}
std::string custom(const std::string& name, const std::string& more = "") {
  return R"("type":"custom","layer":")" + name + "\"" + more;
}

// What is thrown, or "".
std::string thrown(const std::function<void()>& body, std::int32_t code) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}
bool holds(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  EXPECT_TRUE(found) << text << "\nlacks " << part;
  return found;
}

struct Registered {
  explicit Registered(std::string called, std::int32_t flags = LOOM_LAYER_F32,
                      bool differentiable = true)
      : name(std::move(called)) {
    loom::register_layer(name, 1, layer, differentiable, flags);
  }
  ~Registered() { loom::unregister_layer(name, 1); }
  std::string name;
  std::shared_ptr<Linear> layer = std::make_shared<Linear>();
};

loom::Data data() {
  std::vector<float> x, y;
  for (int i = 0; i < 24; ++i) {
    for (int k = 0; k < 3; ++k) x.push_back(0.1f * static_cast<float>((i * (k + 2)) % 11) - 0.5f);
    y.push_back(x[x.size() - 1] - 0.5f * x[x.size() - 2]);
  }
  return loom::Data::values(x, 3, y, 1);
}
constexpr const char* kSpec =
    R"({"loss":"mse","steps":40,"batch":8,"optimizer":{"type":"adamw"},"schedule":{"rate":0.02}})";

std::vector<float> answers(Network& network, const char* options = "{}") {
  Session session(network, options);
  const std::vector<float> x = {0.5f, -0.25f, 1, 2, 0.125f, -1, 0, 0, 0.75f, -1, 1, 0.5f};
  std::vector<float> y(4);
  session.run(4, x, y);
  return y;
}

TEST(CustomLayers, LearnAsDenseDoes) {
  const Registered acme("acme.linear");
  Network mine = Network::create(topology(custom("acme.linear")));
  Network dense = Network::create(topology(R"("type":"dense","out":4)"));
  mine.initialize(1);
  dense.initialize(1);
  std::vector<float> weight(12);
  mine.get("0.0.0.1", "weight", std::span<float>(weight));
  dense.set("0.0.0.1", "weight", weight);
  for (const char* threads : {R"({"threads":1})", R"({"threads":3})"}) {
    loom::Trainer a(mine, data(), kSpec, threads), b(dense, data(), kSpec, threads);
    const auto last = a.step(20), expected = b.step(20);
    EXPECT_NEAR(last.loss, expected.loss, 1e-6);
    const auto y = answers(mine, threads), z = answers(dense, threads);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], z[i], 1e-5);
  }
}

TEST(CustomLayers, AreSavedByNameAndVersionAlone) {
  loom::Bytes file;
  std::vector<float> before;
  {
    const Registered acme("acme.saved");
    Network network =
        Network::create(topology(custom("acme.saved", R"(,"config":{"k":[1,2.5,"z"]})")));
    network.initialize(3);
    before = answers(network);
    file = network.save();
    Network again = Network::load(file), copy = network.copy();
    EXPECT_EQ(answers(again), before);
    EXPECT_EQ(answers(copy), before);
    EXPECT_EQ(again.digest(), network.digest());
    holds(again.topology(), R"("config":{"k":[1,2.5,"z"]})");
    holds(network.program(), R"(call 0 = acme.saved@1 {"k":[1,2.5,"z"]} of [3])");
    network.morph("i8");
    holds(Session(network).info(), "\"numerics\":\"custom(acme.saved@1)\"");
  }
  const std::string why = thrown([&] { Network::load(file); }, LOOM_NOT_FOUND);
  holds(why, "no custom layer acme.saved@1 is registered");
  holds(why, "loom_layer_register");
}

TEST(CustomLayers, ErrorsComeOutOfTheCall) {
  const Registered acme("acme.fails");
  Network network = Network::create(topology(custom("acme.fails")));
  network.initialize(1);
  const auto y = answers(network);
  Session session(network, R"({"threads":2})");
  std::vector<float> x(3, 0.5f), out(1);
  acme.layer->at_forward = [] { throw std::runtime_error("the moon is full"); };
  holds(thrown([&] { session.run(1, x, out); }, LOOM_INVALID_ARGUMENT),
        "custom layer acme.fails@1 at 0.0.0.1: forward: the moon is full");
  loom::Trainer trainer(network, data(), kSpec);
  const std::string digest = network.digest();
  holds(thrown([&] { trainer.step(1); }, LOOM_INVALID_ARGUMENT), "the moon is full");
  EXPECT_EQ(network.digest(), digest);
  acme.layer->at_forward = [] {};
  session.run(1, x, out);
  EXPECT_EQ(answers(network), y);
  EXPECT_EQ(trainer.step(1).step, 1);
}

// Two cells of one layer are told apart, inside of a container, too.
TEST(CustomLayers, ErrorsSayWhere) {
  const Registered acme("acme.where");
  Network network = Network::create(
      R"({"format":"loom-topology","version":2,"layers_per_cell":2,"input":{"width":3},"cells":[
          {"at":[0,0,0,0],"type":"custom","layer":"acme.where"},
          {"at":[0,0,0,1],"type":"sequential","layers":[{"type":"dense","out":3},
           {"type":"custom","layer":"acme.where"}]}]})");
  network.initialize(1);
  int calls = 0, failing = 0;
  acme.layer->at_forward = [&] {
    if (calls++ == failing) throw std::runtime_error("the moon is full");
  };
  Session session(network);
  const std::vector<float> x(3, 0.5f);
  std::vector<float> y(4);
  const auto failure = [&](int call) {
    calls = 0;
    failing = call;
    return thrown([&] { session.run(1, x, y); }, LOOM_INVALID_ARGUMENT);
  };
  holds(failure(0), "custom layer acme.where@1 at 0.0.0.0: forward: the moon is full");
  holds(failure(1), "custom layer acme.where@1 at 0.0.0.1/1: forward: the moon is full");
}

TEST(CustomLayers, MayNotCallBack) {
  const Registered acme("acme.nested");
  Network network = Network::create(topology(custom("acme.nested")));
  network.initialize(1);
  Session session(network), other(network);
  std::vector<float> x(3, 0.5f), out(1);
  const std::function<void()> calls[] = {
      [&] { session.run(1, x, out); }, [&] { other.run(1, x, out); },
      [&] { network.initialize(2); }, [&] { loom::unregister_layer("acme.nested", 1); }};
  for (const auto& call : calls) {
    acme.layer->at_forward = call;
    holds(thrown([&] { session.run(1, x, out); }, LOOM_BUSY), "calls back into the library");
  }
  acme.layer->at_forward = [] {};
  session.run(1, x, out);
}

TEST(CustomLayers, RegistrationIsChecked) {
  const Registered acme("acme.twice");
  holds(thrown([&] { loom::register_layer("acme.twice", 1, acme.layer); }, LOOM_INVALID_ARGUMENT),
        "is registered already");
  loom::register_layer("acme.twice", 2, acme.layer);
  loom::unregister_layer("acme.twice", 2);
  thrown([&] { loom::unregister_layer("acme.twice", 2); }, LOOM_NOT_FOUND);
  thrown([&] { loom::register_layer("acme twice", 1, acme.layer); }, LOOM_INVALID_ARGUMENT);
  thrown([&] { loom::register_layer("acme.zero", 0, acme.layer); }, LOOM_INVALID_ARGUMENT);
  std::weak_ptr<Linear> alive;
  {
    auto layer = std::make_shared<Linear>();
    alive = layer;
    loom::register_layer("acme.gone", 1, layer);
  }
  {
    Network network = Network::create(topology(custom("acme.gone")));
    holds(thrown([] { loom::unregister_layer("acme.gone", 1); }, LOOM_BUSY),
          "is part of a network");
    EXPECT_EQ(answers(network).size(), 4u);
  }
  EXPECT_FALSE(alive.expired());
  loom::unregister_layer("acme.gone", 1);
  EXPECT_TRUE(alive.expired());
}

TEST(CustomLayers, PlansAreChecked) {
  const Registered acme("acme.plans");
  const auto refused = [&](const std::string& plan, const std::string& part) {
    acme.layer->answer = plan;
    holds(thrown([&] { Network::create(topology(custom("acme.plans"))); }, LOOM_INVALID_ARGUMENT),
          part);
  };
  refused(R"({"out":[0]})", "out");
  refused(R"({"out":[2],"parms":[]})", "did you mean \"params\"?");
  refused(R"({"out":[2],"params":[{"role":"w","cols":2},{"role":"w","cols":2}]})",
          "two parameters");
  refused(R"({"out":[2],"params":[{"role":"w","cols":2,"init":"normal"}]})", "std");
  refused(R"({"out":[65536,65536]})", "2^31-1");
  holds(thrown([&] { Network::create(topology(custom("acme.plans", R"(,"confg":{})"))); },
               LOOM_INVALID_ARGUMENT),
        "did you mean \"config\"?");
  thrown([&] { Network::create(topology(custom("acme.plans", R"(,"version":2)"))); },
         LOOM_NOT_FOUND);
}

TEST(CustomLayers, WhatTheyAreNotMadeForIsRefused) {
  const Registered fixed("acme.fixed", LOOM_LAYER_F32, false),
      rows("acme.rows", LOOM_LAYER_F32 | LOOM_LAYER_ROW_DEPENDENT);
  Network network = Network::create(topology(custom("acme.fixed")));
  network.initialize(1);
  answers(network);
  holds(thrown([&] { loom::Trainer(network, data(), kSpec); }, LOOM_UNSUPPORTED),
        "acme.fixed at 0.0.0.1 has no backward");
  Network wide = Network::create(topology(custom("acme.fixed", R"(,"dtype":"f64")")));
  holds(thrown([&] { answers(wide); }, LOOM_UNSUPPORTED), "computes in f32 alone");
  const std::string each = R"("type":"parallel","combine":"filter","layers":[{)" +
                           custom("acme.rows") + R"(},{"type":"dense","out":4}],"top_k":1)";
  thrown([&] { Network::create(topology(each)); }, LOOM_INVALID_ARGUMENT);
}

// A training that is saved at a step and goes on in a network made anew, whose layer was registered
// anew, too.
TEST(CustomLayers, TrainingsGoOnFromACheckpoint) {
  for (const char* threads : {R"({"threads":1})", R"({"threads":3})"}) {
    std::string digest, weights;
    std::vector<float> want;
    loom::Bytes checkpoint;
    {
      const Registered acme("acme.resumed");
      Network network = Network::create(topology(custom("acme.resumed")));
      network.initialize(5);
      loom::Trainer whole(network, data(), kSpec, threads);
      whole.step(17);
      checkpoint = whole.save();
      whole.step(23);
      digest = whole.digest();
      weights = network.digest();
      want = answers(network, threads);
    }
    const auto begin = [&] {
      Network network = Network::create(topology(custom("acme.resumed")));
      network.initialize(6);
      return network;
    };
    thrown([&] { begin(); }, LOOM_NOT_FOUND);
    const Registered acme("acme.resumed");
    Network network = begin();
    loom::Trainer rest(network, data(), kSpec, threads);
    rest.resume(checkpoint);
    EXPECT_NE(rest.digest(), digest);
    EXPECT_EQ(rest.step(23).step, 40);
    EXPECT_EQ(rest.digest(), digest);
    EXPECT_EQ(network.digest(), weights);
    EXPECT_EQ(answers(network, threads), want);
    // The checkpoint is a network's file, too: that of step 17.
    Network half = Network::load(checkpoint);
    EXPECT_NE(answers(half, threads), want);
    // Another layer is another topology.
    const Registered other("acme.other");
    Network wrong = Network::create(topology(custom("acme.other")));
    loom::Trainer refused(wrong, data(), kSpec, threads);
    thrown([&] { refused.resume(checkpoint); }, LOOM_INVALID_ARGUMENT);
  }
}

constexpr const char* kLoraSpec =
    R"({"loss":"mse","steps":40,"batch":8,"seed":2,"lora":{"rank":1,"targets":["weight"]},
        "schedule":{"rate":0.02}})";

// An adapter stands beside the products around the layer, whose own parameters stay.
TEST(CustomLayers, AdaptersLearnBesideThem) {
  const Registered acme("acme.adapted");
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("loom-layers-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto begin = [] {
    Network network = Network::create(topology(custom("acme.adapted")));
    network.initialize(7);
    return network;
  };
  Network network = begin();
  const std::vector<float> before = answers(network);
  const std::string digest = network.digest();
  loom::Trainer whole(network, data(), kLoraSpec);
  whole.step(15);
  whole.save((folder / "half").string());
  whole.step(25);
  EXPECT_EQ(network.digest(), digest);
  const std::vector<float> adapted = answers(network);
  EXPECT_NE(adapted, before);

  Network again = begin();
  loom::Trainer rest(again, data(), kLoraSpec);
  rest.resume((folder / "half").string());
  rest.step(25);
  EXPECT_EQ(rest.digest(), whole.digest());
  EXPECT_EQ(answers(again), adapted);

  network.save_adapter((folder / "whole").string());
  network.unload_adapter();
  EXPECT_EQ(answers(network), before);
  Network loaded = begin();
  loaded.load_adapter((folder / "whole").string());
  EXPECT_EQ(answers(loaded), adapted);
  std::vector<float> weight(12), kept(12);
  loaded.get("0.0.0.1", "weight", std::span<float>(weight));
  loaded.merge_adapter();
  loaded.get("0.0.0.1", "weight", std::span<float>(kept));
  EXPECT_EQ(kept, weight);
  const auto merged = answers(loaded);
  for (std::size_t i = 0; i < merged.size(); ++i) EXPECT_NEAR(merged[i], adapted[i], 1e-5);
  std::filesystem::remove_all(folder);

  // Of its own parameters there is none to adapt.
  const auto alone = [] {
    return Network::create(
        R"({"format":"loom-topology","version":2,"input":{"width":3},"cells":[
            {"at":[0,0,0,0],"type":"custom","layer":"acme.adapted"}]})");
  };
  Network one = alone();
  one.initialize(1);
  const std::vector<float> x(24, 0.5f), y(32, 0.25f);
  holds(thrown([&] { loom::Trainer(one, loom::Data::values(x, 3, y, 4), kLoraSpec); },
               LOOM_INVALID_ARGUMENT),
        "the network has no weight of a product, beside which an adapter stands");
}

}  // namespace
