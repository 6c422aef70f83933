// Layers against PyTorch: outputs of inference, losses and gradients of training, within 1e-5
// (tests/parity/pytorch/torch_layers.py).
#include <fstream>
#include <sstream>

#include "conformance/support.h"
#include "exec/session.h"
#include "support/places.h"

namespace loom {
namespace {

std::vector<float> numbers(const Json& list) {
  std::vector<float> v;
  for (const Json& item : list.as_array()) v.push_back(static_cast<float>(item.as_number()));
  return v;
}

template <class A, class B>
void expect_close(const A& got, const B& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-5 * std::max(1.0, std::abs(static_cast<double>(want[i]))))
        << what << "[" << i << "]";
}

TEST(TorchLayers, LayersGiveItsNumbersAndGradients) {
  std::ifstream file(loom::test::source_dir() + "/tests/golden/torch_layers.json");
  std::stringstream text;
  text << file.rdbuf();
  const auto cases = Json::parse(text.str());
  ASSERT_TRUE(cases.ok()) << cases.status().to_string();
  ThreadPool pool(1);
  for (const Json& c : cases->as_array()) {
    SCOPED_TRACE(c.find("name")->as_string());
    auto network = Network::from_json(*c.find("topology"));
    ASSERT_TRUE(network.ok()) << network.status().to_string();
    std::size_t given = 0;
    for (auto& p : network->params()) {
      const Json* v = c.find("params")->find(p.path + ":" + p.param->spec.role);
      ASSERT_TRUE(v) << p.path << ":" << p.param->spec.role;
      const auto values = numbers(*v);
      ASSERT_EQ(values.size(), p.param->store->mutable_master().size());
      std::copy(values.begin(), values.end(), p.param->store->mutable_master().begin());
      p.param->store->touch();
      ++given;
    }
    EXPECT_EQ(given, c.find("params")->as_object().size());
    const auto x = numbers(*c.find("x")), target = numbers(*c.find("target"));
    const std::int64_t rows = static_cast<std::int64_t>(x.size()) / network->input().width;
    auto session = Session::create(*network, pool, {.max_rows = rows, .poison = true});
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    ASSERT_TRUE(session->run(x, rows).ok());
    std::vector<float> y;
    for (std::int64_t r = 0; r < rows; ++r)
      y.insert(y.end(), session->output(r).begin(), session->output(r).end());
    expect_close(y, numbers(*c.find("y")), "y");

    auto learner = Learner::create(
        *network, pool,
        {.optimizer = {.kind = OptimizerKind::sgd}, .max_rows = rows, .poison = true});
    ASSERT_TRUE(learner.ok()) << learner.status().to_string();
    ASSERT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(target)).ok());
    ASSERT_TRUE(learner->accumulate().ok());
    EXPECT_NEAR(learner->loss_sum(), c.find("loss")->as_number(), 1e-5);
    const Json::Object& gradients = c.find("gradients")->as_object();
    EXPECT_EQ(learner->gradients().size(), gradients.size());
    for (const auto& g : learner->gradients()) {
      const Json* want = c.find("gradients")->find(g.path + ":" + g.role);
      ASSERT_TRUE(want) << g.path << ":" << g.role;
      std::vector<float> got;
      for (std::int64_t r = 0; r < g.rows; ++r)
        for (const float v : learner->executor().row<float>(g.value.buffer, r)) got.push_back(v);
      expect_close(got, numbers(*want), g.path + ":" + g.role);
    }
    // An update without a rate: what changes, does so by itself.
    ASSERT_TRUE(learner->update(0, static_cast<double>(rows), 1).ok());
    for (const auto& [name, want] : c.find("after")->as_object()) {
      const std::size_t colon = name.find(':');
      expect_close(network->find(name.substr(0, colon), name.substr(colon + 1))->master(),
                   numbers(want), name);
    }
  }
}

}  // namespace
}  // namespace loom
