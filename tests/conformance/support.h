// What the conformance tests share: chains of cells, and the check of gradients against finite
// differences.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "train/learner/learner.h"

namespace loom::test {

// Random parameters, in double.
inline Network network_of(const std::string& topology) {
  auto n = Network::from_json(std::string_view(topology));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(7).ok());
  // Zeros and ones hide mistakes: perturb every parameter.
  std::uint64_t stream = 100;
  for (auto& p : n->params()) {
    if (p.tied) continue;
    const RandomStream random(3, stream++);
    EXPECT_TRUE(p.param->store->morph({.dtype = DType::f64}).ok());
    auto m = p.param->store->mutable_master64();
    for (std::size_t i = 0; i < m.size(); ++i) m[i] += 0.3 * (random.uniform(i) - 0.5);
    p.param->store->touch();
  }
  return std::move(*n);
}

struct Batch {
  std::vector<float> x, y;
  std::vector<std::uint32_t> ids, positions;
  std::vector<std::int32_t> classes;
};

// Random values and classes for `rows` rows of sequences of this length; `at` counts the draws.
inline Batch random_batch(const Network& network, std::size_t rows, int length,
                          const RandomStream& random, std::uint64_t& at) {
  Batch b;
  for (std::size_t i = 0; i < rows * static_cast<std::size_t>(network.input().width); ++i)
    b.x.push_back(2 * random.uniform(at++) - 1);
  for (std::size_t i = 0; i < rows * static_cast<std::size_t>(network.output().width); ++i)
    b.y.push_back(2 * random.uniform(at++) - 1);
  // What stands for an id is one.
  for (std::size_t i = 0, row = 0; network.input().has_id_parts() && i < b.x.size(); ++row)
    for (const Shape& part : network.input().parts)
      for (std::int64_t k = 0; k < part.count(); ++k, ++i)
        if (part.ids > 0) b.x[i] = static_cast<float>(row % static_cast<std::size_t>(part.ids));
  const ClassAxis axis = network.class_axis();
  const bool steps = network.input().ids > 0 && !network.input().dims.empty();
  for (std::size_t i = 0; i < rows; ++i) {
    if (!steps)
      b.positions.push_back(static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(length));
    for (std::int64_t k = 0; network.input().ids > 0 && k < network.input().count(); ++k)
      b.ids.push_back(random.below(at++, static_cast<std::uint32_t>(network.input().ids)));
    for (std::int64_t p = 0; p < axis.places; ++p)
      b.classes.push_back(
          static_cast<std::int32_t>(random.below(at++, static_cast<std::uint32_t>(axis.classes))));
  }
  b.classes.back() = kIgnoredClass;  // one row is left out
  return b;
}

// In place of a batch's values the targets of heads.
inline void draw_head_targets(const std::vector<HeadSpec>& heads, std::size_t rows,
                              const RandomStream& random, std::uint64_t& at, Batch& b) {
  if (!heads.empty()) b.y.clear();
  for (std::size_t i = 0; i < rows; ++i)
    for (const HeadSpec& head : heads)
      for (std::int64_t t = 0; t < head.targets(); ++t)
        if (!takes_classes(head.loss)) {
          b.y.push_back(2 * random.uniform(at++) - 1);
        } else {
          const std::uint32_t drawn =
              random.below(at++, static_cast<std::uint32_t>(head.columns + 1));
          b.y.push_back(static_cast<float>(drawn == 0 ? kIgnoredClass
                                                      : static_cast<std::int32_t>(drawn) - 1));
        }
}

inline Status give(Learner& learner, const Network& network, const Batch& b, bool classes) {
  const std::span<const std::uint32_t> ids(b.ids);
  if (network.input().ids > 0 && !network.input().dims.empty())
    return classes ? learner.batch(ids, std::span<const std::int32_t>(b.classes))
                   : learner.batch(ids, std::span<const float>(b.y));
  if (network.input().ids > 0) return learner.batch(ids, b.positions, b.classes);
  if (classes)
    return learner.batch(std::span<const float>(b.x), std::span<const std::int32_t>(b.classes));
  return learner.batch(std::span<const float>(b.x), std::span<const float>(b.y));
}

inline double loss_of(Learner& learner) {
  EXPECT_TRUE(learner.executor().refresh().ok());
  const Status run = learner.accumulate();
  EXPECT_TRUE(run.ok()) << run.to_string();
  return learner.loss_sum();
}

// The gradient of one parameter against central finite differences.
inline void check_gradient(Learner& learner, const NetworkEmitter::Gradient& g) {
  loss_of(learner);  // gradients at the unperturbed parameters
  std::vector<double> got;
  for (std::int64_t r = 0; r < g.rows; ++r)
    for (double v : learner.executor().row<double>(g.value.buffer, r)) got.push_back(v);
  double norm = 0, error = 0;
  const auto m = g.store->mutable_master64();
  // Large parameters are sampled.
  const std::size_t step = m.size() > 60 ? m.size() / 37 : 1;
  for (std::size_t i = 0; i < m.size(); i += step) {
    const double w = m[i], h = 1e-5;
    m[i] = w + h;
    g.store->touch();
    const double up = loss_of(learner);
    m[i] = w - h;
    g.store->touch();
    const double down = loss_of(learner);
    m[i] = w;
    g.store->touch();
    const double want = (up - down) / (2 * h);
    norm += want * want;
    error += (want - got[i]) * (want - got[i]);
  }
  EXPECT_LT(std::sqrt(error), 1e-5 * std::sqrt(norm) + 1e-9)
      << g.path << ":" << g.role << " norm " << std::sqrt(norm);
}

// Gradients of every parameter against central finite differences; `change` may set more of the
// options.
inline void check_gradients(const std::string& topology, Loss loss_kind, int sequences, int length,
                            const std::function<void(Network&, LearnerOptions&)>& change = {}) {
  Network network = network_of(topology);
  ThreadPool pool(2);
  LearnerOptions options;
  options.loss = loss_kind;
  options.delta = 0.4;
  options.max_rows = sequences * length;
  options.update = false;
  options.poison = true;
  if (change) change(network, options);
  auto learner = Learner::create(network, pool, options);
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  const RandomStream random(11, 1);
  const auto rows = static_cast<std::size_t>(sequences * length);
  std::uint64_t at = 0;
  Batch b = random_batch(network, rows, length, random, at);
  draw_head_targets(options.heads, rows, random, at, b);
  const Status s = give(*learner, network, b, takes_classes(loss_kind));
  ASSERT_TRUE(s.ok()) << s.to_string();
  // Attention over values takes its positions from the host too.
  const BufferId positions = learner->executor().program().find(BufferKind::input, "", "positions");
  if (positions != kNone && network.input().width > 0)
    for (std::size_t r = 0; r < rows; ++r)
      learner->executor().row<std::uint32_t>(positions, static_cast<std::int64_t>(r))[0] =
          b.positions[r];
  ASSERT_FALSE(learner->gradients().empty());
  for (const auto& g : learner->gradients()) check_gradient(*learner, g);
}

inline void check_gradients(const std::string& topology, bool classes, int sequences = 3,
                            int length = 1) {
  check_gradients(topology, classes ? Loss::cross_entropy : Loss::mse, sequences, length);
}

// A topology of cells one after another; each is the inside of a JSON object.
inline std::string chain(const std::string& input, const std::vector<std::string>& cells,
                         int version = 1) {
  std::string t = R"({"format":"loom-topology","version":)" + std::to_string(version) +
                  R"(,"layers_per_cell":)" + std::to_string(cells.size()) + R"(,"input":)" + input +
                  R"(,"cells":[)";
  int l = 0;
  for (const std::string& c : cells) {
    t += (l > 0 ? "," : "") + std::string(R"({"at":[0,0,0,)") + std::to_string(l) + "]," + c + "}";
    ++l;
  }
  return t + "]}";
}

}  // namespace loom::test
