// Low-rank adapters beside the weights of every layer that takes them: gradients against finite
// differences, and merging.
#include "conformance/support.h"
#include "exec/session.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

// B is zero at first, where A has no gradient: both get numbers.
void perturb(Adapter& adapter, float size = 0.6f) {
  std::uint64_t stream = 500;
  for (const Adapter::Target& t : adapter.targets)
    for (WeightStore* store : {t.a.get(), t.b.get()}) {
      const RandomStream random(3, stream++);
      std::size_t i = 0;
      for (float& v : store->mutable_master()) v = size * (random.uniform(i++) - 0.5f);
      for (double& v : store->mutable_master64())
        v = static_cast<double>(size * (random.uniform(i++) - 0.5f));
      store->touch();
    }
}

std::shared_ptr<Adapter> adapter_of(Network& network, const AdapterSpec& spec) {
  auto adapter = Adapter::create(network, adapter_places(network), spec, 5);
  EXPECT_TRUE(adapter.ok()) << adapter.status().to_string();
  perturb(*adapter);
  return std::make_shared<Adapter>(std::move(*adapter));
}

void check(const std::string& topology, const std::vector<std::string>& targets, std::size_t count,
           bool classes = false, int sequences = 3, int length = 1, bool recompute = false) {
  check_gradients(topology, classes ? Loss::cross_entropy : Loss::mse, sequences, length,
                  [&](Network& network, LearnerOptions& options) {
                    options.adapter =
                        adapter_of(network, {.rank = 3, .alpha = 5, .targets = targets});
                    options.recompute = recompute;
                    EXPECT_EQ(options.adapter->targets.size(), count);
                  });
}

const std::string kDense5 = R"("type":"dense","out":5,"dtype":"f64")";
const std::string kBlock =
    R"("type":"sequential","dtype":"f64","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":2,"kv_heads":1,"qkv_bias":true}]},
    {"type":"residual"},{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":20,"bias":true}]},{"type":"residual"}])";
const std::string kDecoder =
    chain(R"({"ids":11})",
          {R"("type":"embedding","out":12,"std":0.5,"dtype":"f64")", kBlock, kBlock,
           R"("type":"rms_norm","dtype":"f64")",
           R"("type":"dense","out":11,"bias":false,"dtype":"f64","tie":"0.0.0.0:weight")"});

TEST(Lora, GradientsOfDense) {
  check(chain(R"({"width":4})",
              {R"("type":"dense","out":7,"dtype":"f64","activation":"tanh")", kDense5}),
        {"weight"}, 2);
}

TEST(Lora, GradientsOfADecoder) {
  check(kDecoder, {}, 14, true, 3, 6);
  check(kDecoder, {"q", "v", "0.0.0.4:weight"}, 5, true, 3, 6);
  check(kDecoder, {}, 14, true, 3, 6, true);
}

// A batch norm behind an adapter keeps to its running statistics, which then do not move with the
// batch.
TEST(Lora, GradientsOfConvolutions) {
  check(
      chain(R"({"dims":[2,5,4]})",
            {R"("type":"conv2d","filters":4,"kernel":[3,2],"dtype":"f64","activation":"tanh")",
             R"("type":"batch_norm","dtype":"f64")", R"("type":"flatten","dtype":"f64")", kDense5}),
      {"weight"}, 2);
}

// A layer that two cells run has one adapter, and the sum of both gradients.
TEST(Lora, GradientsOfALayerThatRunsTwice) {
  const std::string d6 = R"("type":"dense","out":6,"dtype":"f64","activation":"tanh")";
  check(chain(R"({"width":6})", {d6, d6, R"("links":[{"run":[0,0,0,1]}])", kDense5}), {}, 2);
}

Network random_network(const std::string& topology) {
  auto n = Network::from_json(std::string_view(topology));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(7).ok());
  return std::move(*n);
}

std::vector<float> outputs(Network& network, std::shared_ptr<Adapter> adapter) {
  ThreadPool pool(2);
  auto session = Session::create(network, pool, {.max_rows = 4, .adapter = std::move(adapter)});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  std::vector<float> x, all;
  const RandomStream random(4, 4);
  for (std::uint64_t i = 0; i < 4 * static_cast<std::uint64_t>(network.input().width); ++i)
    x.push_back(2 * random.uniform(i) - 1);
  EXPECT_TRUE(session->run(x, 4).ok());
  for (std::int64_t r = 0; r < 4; ++r)
    all.insert(all.end(), session->output(r).begin(), session->output(r).end());
  return all;
}

float difference(const std::vector<float>& a, const std::vector<float>& b) {
  float worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

const std::string kMlp =
    chain(R"({"width":40})", {R"("type":"dense","out":64,"activation":"tanh")",
                              R"("type":"swiglu","hidden":48)", R"("type":"dense","out":9)"});

TEST(Lora, NewOneChangesNothingAndMergedEqualsUnmerged) {
  Network network = random_network(kMlp);
  const std::string before = *digest(network);
  const std::vector<float> plain = outputs(network, nullptr);
  auto adapter = std::make_shared<Adapter>(*Adapter::create(
      network, adapter_places(network), {.rank = 4, .alpha = 8, .targets = {}}, 5));
  EXPECT_EQ(adapter->targets.size(), 4u);  // not the last cell
  EXPECT_EQ(outputs(network, adapter), plain);
  perturb(*adapter);
  const std::vector<float> with = outputs(network, adapter);
  EXPECT_GT(difference(with, plain), 0.1f);
  EXPECT_EQ(*digest(network), before);
  EXPECT_EQ(outputs(network, nullptr), plain);
  ASSERT_TRUE(adapter->merge(network).ok());
  EXPECT_NE(*digest(network), before);
  EXPECT_LT(difference(outputs(network, nullptr), with), 1e-5f);
}

TEST(Lora, SessionsSwapAdapters) {
  Network network = random_network(kMlp);
  ThreadPool pool(1);
  auto first = adapter_of(network, {.rank = 2, .targets = {}}),
       second = adapter_of(network, {.rank = 5, .targets = {"gate", "weight"}});
  auto session = Session::create(network, pool, {.max_rows = 1});
  ASSERT_TRUE(session.ok());
  const std::vector<float> x(40, 0.5f);
  auto now = [&] {
    EXPECT_TRUE(session->run(x, 1).ok());
    return std::vector<float>(session->output(0).begin(), session->output(0).end());
  };
  const std::vector<float> plain = now();
  ASSERT_TRUE(session->adapt(first).ok());
  const std::vector<float> with_first = now();
  ASSERT_TRUE(session->adapt(second).ok());
  const std::vector<float> with_second = now();
  EXPECT_NE(with_first, plain);
  EXPECT_NE(with_second, with_first);
  ASSERT_TRUE(session->adapt(first).ok());
  EXPECT_EQ(now(), with_first);
  ASSERT_TRUE(session->adapt(nullptr).ok());
  EXPECT_EQ(now(), plain);
}

// Merging into a packed weight encodes the sum again: what comes out is as near as the format
// allows.
TEST(Lora, MergesIntoPackedWeights) {
  for (const char* dtype : {"bf16", "i8", "q4_0"}) {
    SCOPED_TRACE(dtype);
    Network exact = random_network(kMlp), packed = random_network(kMlp);
    const auto format = parse_weight_format(dtype);
    ASSERT_TRUE(format.ok());
    ASSERT_TRUE(packed.pack(*format).ok());
    const auto adapter = adapter_of(exact, {.rank = 4, .alpha = 8, .targets = {}});
    const std::vector<float> unmerged = outputs(packed, adapter);
    ASSERT_TRUE(adapter->merge(packed).ok());
    for (const auto& p : packed.params())
      if (p.param->spec.quantized) {
        EXPECT_FALSE(p.param->store->has_master());
        EXPECT_EQ(p.param->store->format(), *format);
      }
    const std::vector<float> merged = outputs(packed, nullptr);
    EXPECT_NE(merged, unmerged);
    EXPECT_LT(difference(merged, unmerged), dtype == std::string("q4_0") ? 1.5f : 0.2f);
  }
}

TEST(Lora, RefusesWhatDoesNotFit) {
  Network network = random_network(kMlp),
          tied = random_network(chain(
              R"({"ids":9})", {R"("type":"embedding","out":6)",
                               R"("type":"dense","out":9,"bias":false,"tie":"0.0.0.0:weight")"}));
  auto refused = [&](const AdapterSpec& spec, const std::string& part) {
    const auto made = Adapter::create(network, adapter_places(network), spec, 1);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.status().message().find(part), std::string::npos) << made.status().message();
  };
  refused({.rank = 0, .targets = {}}, "\"rank\" must be in 1..65536");
  refused({.rank = 2, .targets = {"wieght"}},
          "no weight is called \"wieght\": known are \"weight\", \"gate\", \"up\", \"down\"");
  Adapter of_tied = *adapter_of(tied, {.rank = 2, .targets = {"weight"}});
  EXPECT_NE(of_tied.merge(tied).message().find("is tied to another weight"), std::string::npos);
  ThreadPool pool(1);
  const auto session =
      Session::create(network, pool, {.adapter = std::make_shared<Adapter>(of_tied)});
  EXPECT_EQ(session.status().code(), Code::invalid_argument);
  EXPECT_EQ(
      Adapter::create(tied, adapter_places(tied), {.rank = 2, .targets = {}}, 1).status().code(),
      Code::invalid_argument);  // the last cell only
}

}  // namespace
}  // namespace loom
