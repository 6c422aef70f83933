// DNA against what was planted: formats, permutations, widenings, moves, checkpoints; and the
// assignment against all permutations.
#include "genome/dna.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/random.h"
#include "genome/assignment.h"

namespace loom {
namespace {

// Numbers of one seed, one after another.
class Random {
 public:
  explicit Random(std::uint64_t seed) : stream_(seed, 77) {}
  float normal() { return loom::normal(stream_, at_++); }
  std::int64_t below(std::int64_t bound) {
    return stream_.below((std::uint64_t{1} << 40) + at_++, static_cast<std::uint32_t>(bound));
  }
  std::vector<std::int64_t> permutation(std::int64_t count) {
    std::vector<std::int64_t> p(static_cast<std::size_t>(count));
    std::iota(p.begin(), p.end(), 0);
    for (std::size_t i = p.size(); i > 1; --i)
      std::swap(p[i - 1], p[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    return p;
  }

 private:
  RandomStream stream_;
  std::uint64_t at_ = 0;
};

struct Dense {
  std::vector<std::vector<float>> rows;  // weights of a unit, its bias at the end
  std::int64_t out() const { return static_cast<std::int64_t>(rows.size()); }
  std::int64_t in() const { return static_cast<std::int64_t>(rows[0].size()) - 1; }
};
using Chain = std::vector<Dense>;

std::vector<float> random_row(Random& random, std::int64_t in) {
  std::vector<float> row(static_cast<std::size_t>(in) + 1);
  for (float& v : row) v = random.normal();
  return row;
}
Dense random_dense(Random& random, std::int64_t out, std::int64_t in) {
  Dense dense;
  for (std::int64_t r = 0; r < out; ++r) dense.rows.push_back(random_row(random, in));
  return dense;
}
Chain random_chain(Random& random, std::size_t layers, std::int64_t width) {
  Chain chain;
  for (std::size_t i = 0; i < layers; ++i) chain.push_back(random_dense(random, width, width));
  return chain;
}

Network made(const std::string& text) {
  auto network = Network::from_json(std::string_view(text));
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  return std::move(*network);
}

Network network_of(const Chain& chain) {
  std::string cells;
  for (std::size_t i = 0; i < chain.size(); ++i)
    cells += std::string(i > 0 ? "," : "") + R"({"at":[0,0,0,)" + std::to_string(i) +
             R"(],"type":"dense","activation":"tanh","out":)" + std::to_string(chain[i].out()) +
             "}";
  Network network = made(R"({"format":"loom-topology","version":3,"layers_per_cell":)" +
                         std::to_string(chain.size()) + R"(,"input":{"width":)" +
                         std::to_string(chain[0].in()) + R"(},"cells":[)" + cells + "]}");
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const std::string path = "0.0.0." + std::to_string(i);
    const auto weight = network.find(path, "weight")->mutable_master();
    const auto bias = network.find(path, "bias")->mutable_master();
    const auto in = static_cast<std::size_t>(chain[i].in());
    for (std::size_t r = 0; r < chain[i].rows.size(); ++r) {
      std::copy_n(chain[i].rows[r].begin(), in,
                  weight.begin() + static_cast<std::ptrdiff_t>(r * in));
      bias[r] = chain[i].rows[r][in];
    }
    network.find(path, "weight")->touch();
    network.find(path, "bias")->touch();
  }
  return network;
}

// Layer i's units in another order, and the columns of the layer behind likewise.
void permute(Chain& chain, std::size_t i, Random& random) {
  const auto order = random.permutation(chain[i].out());
  const Dense before = chain[i];
  for (std::size_t u = 0; u < order.size(); ++u)
    chain[i].rows[u] = before.rows[static_cast<std::size_t>(order[u])];
  if (i + 1 == chain.size()) return;
  for (auto& row : chain[i + 1].rows) {
    const auto old = row;
    for (std::size_t u = 0; u < order.size(); ++u) row[u] = old[static_cast<std::size_t>(order[u])];
  }
}

// Units of layer i that were not there before, at its end.
void widen(Chain& chain, std::size_t i, std::int64_t more, Random& random) {
  for (std::int64_t k = 0; k < more; ++k) {
    chain[i].rows.push_back(random_row(random, chain[i].in()));
    if (i + 1 < chain.size())
      for (auto& row : chain[i + 1].rows) row.insert(row.end() - 1, random.normal());
  }
}

void add_noise(Chain& chain, float share, Random& random) {
  for (Dense& dense : chain)
    for (auto& row : dense.rows)
      for (float& v : row) v += share * random.normal();
}

DnaComparison compared(Network& a, Network& b, const DnaOptions& options = {}) {
  auto result = compare(a, b, options);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return std::move(*result);
}
DnaComparison compared(const Chain& a, const Chain& b) {
  Network x = network_of(a), y = network_of(b);
  return compared(x, y);
}

std::set<std::pair<std::string, std::string>> moves_of(const DnaComparison& comparison) {
  std::set<std::pair<std::string, std::string>> moves;
  for (const DnaPair& shift : comparison.shifts) moves.emplace(shift.from, shift.to);
  return moves;
}
std::string path(std::size_t layer) { return "0.0.0." + std::to_string(layer); }

TEST(DnaAssignment, IsTheBestOfAllPermutations) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const auto rows = static_cast<std::size_t>(1 + random.below(5));
    const std::size_t cols = rows + static_cast<std::size_t>(random.below(3));
    std::vector<double> gain(rows * cols);
    for (double& g : gain) g = random.normal();
    std::vector<std::size_t> order(cols);
    std::iota(order.begin(), order.end(), 0);
    double best = -1e9;
    do {
      double sum = 0;
      for (std::size_t r = 0; r < rows; ++r) sum += gain[r * cols + order[r]];
      best = std::max(best, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    const auto partner = best_assignment(gain, rows, cols);
    double sum = 0;
    for (std::size_t r = 0; r < rows; ++r)
      sum += gain[r * cols + static_cast<std::size_t>(partner[r])];
    EXPECT_NEAR(sum, best, 1e-12);
    EXPECT_EQ(std::set(partner.begin(), partner.end()).size(), rows);
  }
}

// The cosine of the best of all 720 orders of six units, computed here.
TEST(Dna, MatchedCosineIsTheBestOfAllOrders) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Chain a = {random_dense(random, 6, 12)}, b = {random_dense(random, 6, 12)};
    for (Chain* chain : {&a, &b})  // of equal length, so that the sum of cosines is the cosine
      for (auto& row : (*chain)[0].rows) {
        const double length =
            std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
        for (float& v : row) v = static_cast<float>(v / length);
      }
    std::vector<std::size_t> order(6);
    std::iota(order.begin(), order.end(), 0);
    double best = -1;
    do {
      double sum = 0;
      for (std::size_t u = 0; u < 6; ++u)
        sum += std::inner_product(a[0].rows[u].begin(), a[0].rows[u].end(),
                                  b[0].rows[order[u]].begin(), 0.0);
      best = std::max(best, sum / 6);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_NEAR(compared(a, b).layers[0].matched, best, 1e-6) << seed;
  }
}

TEST(Dna, ItsOwnFewerBitsAreHighAndInOrder) {
  Random random(1);
  Network full = network_of(random_chain(random, 3, 64));
  double before = 1 + 1e-9;
  for (const char* name : {"i8", "i4", "ternary", "binary"}) {
    Network few = network_of(random_chain(random, 3, 64));
    for (auto& named : few.params()) {
      const auto from = full.find(named.path, named.param->spec.role)->master();
      std::copy(from.begin(), from.end(), named.param->store->mutable_master().begin());
      named.param->store->touch();
    }
    ASSERT_TRUE(few.morph(*parse_weight_format(name)).ok());
    const DnaComparison comparison = compared(full, few);
    EXPECT_LT(comparison.overlap, before - 1e-6) << name;
    EXPECT_GT(comparison.overlap, 0.79) << name;  // sqrt(2/pi) = 0.798 for binary
    EXPECT_GT(comparison.similarity, 0.999) << name;
    EXPECT_TRUE(comparison.shifts.empty()) << name;
    for (const DnaPair& pair : comparison.layers) EXPECT_GT(*pair.encoded, 0.999) << name;
    EXPECT_NEAR(compared(few, full).overlap, comparison.overlap, 1e-12) << name;
    before = comparison.overlap;
  }
}

TEST(Dna, UnrelatedNetworksAreNearZeroPermutedOrNot) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    const std::int64_t width = 24 + random.below(40);
    const Chain a = random_chain(random, 4, width);
    Chain b = random_chain(random, 4, width);
    const DnaComparison straight = compared(a, b);
    EXPECT_GT(straight.layers[1].matched, 0.2);  // what chance gives
    EXPECT_NEAR(straight.similarity, 0, 0.05) << seed;
    EXPECT_NEAR(straight.overlap, 0, 0.05) << seed;
    for (std::size_t i = 0; i < 4; ++i) permute(b, i, random);
    EXPECT_NEAR(compared(a, b).similarity, 0, 0.05) << seed;
    widen(b, 1, 9, random);
    const DnaComparison wide = compared(a, b);
    EXPECT_NEAR(wide.similarity, 0, 0.05) << seed;
    EXPECT_TRUE(wide.shifts.empty());
  }
}

// Moves, permutations and widenings in random order; what is found is what was planted.
TEST(Dna, FindsWhatIsPlantedInAThousandCases) {
  int moved = 0, permuted = 0, widened = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(1000 + seed);
    const auto layers = static_cast<std::size_t>(3 + random.below(3));
    const Chain a = random_chain(random, layers, 12 + random.below(9));
    Chain b = a;
    add_noise(b, 0.05f, random);
    std::set<std::pair<std::string, std::string>> moves;
    std::set<std::size_t> touched, wide;
    if (random.below(2) != 0) {
      const auto order = random.permutation(static_cast<std::int64_t>(layers));
      const auto i = static_cast<std::size_t>(order[0]), j = static_cast<std::size_t>(order[1]);
      if (random.below(2) != 0) {
        std::swap(b[i], b[j]);
        moves = {{path(i), path(j)}, {path(j), path(i)}};
      } else {
        b[j] = b[i];
        b[i] = random_dense(random, a[i].out(), a[i].in());
        moves = {{path(i), path(j)}};
        touched = {i};
      }
      ++moved;
    }
    if (random.below(2) != 0) {
      const auto i = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(layers)));
      widen(b, i, 1 + random.below(6), random);
      wide.insert(i);
      ++widened;
    }
    if (random.below(2) != 0) {
      for (std::size_t i = 0; i < layers; ++i) {
        // Behind a unit order that nothing tells (a layer that is new), columns cannot be followed.
        if (random.below(2) == 0 || touched.contains(i)) continue;
        permute(b, i, random);
        ++permuted;
      }
    }
    const DnaComparison comparison = compared(a, b);
    EXPECT_EQ(moves_of(comparison), moves) << "case " << seed;
    for (const DnaPair& shift : comparison.shifts) EXPECT_GT(shift.score, 0.95) << "case " << seed;
    std::set<std::string> changed;
    for (const auto& [from, to] : moves) changed.insert(from), changed.insert(to);
    ASSERT_EQ(comparison.layers.size(), layers);
    for (std::size_t i = 0; i < layers; ++i) {
      const DnaPair& pair = comparison.layers[i];
      if (changed.contains(path(i)))
        EXPECT_LT(pair.score, 0.5) << "case " << seed << " layer " << i;
      else EXPECT_GT(pair.score, 0.95) << "case " << seed << " layer " << i;
      EXPECT_EQ(pair.coverage < 1, wide.contains(i) || (i > 0 && wide.contains(i - 1)));
    }
  }
  EXPECT_GT(moved, 400);
  EXPECT_GT(permuted, 800);
  EXPECT_GT(widened, 400);
}

TEST(Dna, SmallLayersAreListedAndNeverShift) {
  Random random(3);
  const Chain a = random_chain(random, 3, 7);  // 56 values
  Chain b = a;
  std::swap(b[0], b[2]);
  const DnaComparison comparison = compared(a, b);
  EXPECT_EQ(comparison.layers.size(), 3u);
  EXPECT_TRUE(comparison.layers[0].small);
  EXPECT_TRUE(comparison.shifts.empty());
  Network x = network_of(a), y = network_of(b);
  EXPECT_EQ(compared(x, y, {.values = 50}).shifts.size(), 2u);  // the limit is what keeps them
}

TEST(Dna, ShiftsOfTwentyCheckpointsAreFoundAtTheirEpochs) {
  Random random(9);
  Chain weights = random_chain(random, 5, 20);
  std::vector<Chain> checkpoints;
  const std::map<std::size_t, std::pair<std::size_t, std::size_t>> planted = {
      {4, {0, 3}}, {11, {1, 2}}, {17, {2, 4}}};
  for (std::size_t epoch = 0; epoch < 20; ++epoch) {
    add_noise(weights, 0.03f, random);
    if (const auto found = planted.find(epoch); found != planted.end())
      std::swap(weights[found->second.first], weights[found->second.second]);
    checkpoints.push_back(weights);
  }
  for (std::size_t epoch = 1; epoch < 20; ++epoch) {
    const auto found = planted.find(epoch);
    std::set<std::pair<std::string, std::string>> expected;
    if (found != planted.end()) {
      const auto& [i, j] = found->second;
      expected = {{path(i), path(j)}, {path(j), path(i)}};
    }
    EXPECT_EQ(moves_of(compared(checkpoints[epoch - 1], checkpoints[epoch])), expected) << epoch;
  }
}

// Units of a convolution are channels: those of the dense layer behind follow them in blocks, and
// so do a normalization's gains.
TEST(Dna, FollowsChannelsThroughNormsAndFlattening) {
  const std::string topology =
      R"({"format":"loom-topology","version":3,"layers_per_cell":4,"input":{"dims":[2,6,6],"axis":"channels"},
          "cells":[{"at":[0,0,0,0],"type":"conv2d","filters":16,"kernel":3},
                   {"at":[0,0,0,1],"type":"batch_norm"},
                   {"at":[0,0,0,2],"type":"flatten"},
                   {"at":[0,0,0,3],"type":"dense","out":12}]})";
  Network a = made(topology), b = made(topology);
  ASSERT_TRUE(a.initialize(4).ok() && b.initialize(4).ok());
  Random random(2);
  for (float& gain : a.find("0.0.0.1", "gain")->mutable_master()) gain = 1 + random.normal();
  a.find("0.0.0.1", "gain")->touch();
  const auto order = random.permutation(16);
  const auto reordered = [&](std::string_view at, std::string_view role, std::int64_t rows) {
    const auto from = a.find(at, role)->master();
    const auto to = b.find(at, role)->mutable_master();
    const auto all = static_cast<std::int64_t>(from.size());
    const std::int64_t block = all / rows / 16;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < 16; ++c)
        for (std::int64_t k = 0; k < block; ++k)
          to[static_cast<std::size_t>((r * 16 + c) * block + k)] = from[static_cast<std::size_t>(
              (r * 16 + order[static_cast<std::size_t>(c)]) * block + k)];
    b.find(at, role)->touch();
  };
  reordered("0.0.0.0", "weight", 1);
  reordered("0.0.0.1", "gain", 1);
  reordered("0.0.0.3", "weight", 12);
  const DnaComparison comparison = compared(a, b);
  ASSERT_EQ(comparison.layers.size(), 3u);
  for (const DnaPair& pair : comparison.layers) EXPECT_GT(pair.score, 0.999) << pair.from;
  EXPECT_GT(comparison.layers[0].moved, 8);
  EXPECT_LT(comparison.overlap, 0.5);
}

TEST(Dna, ListsEachStoreOnce) {
  Network network = made(
      R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"width":9},
          "cells":[{"at":[0,0,0,0],"type":"sequential","layers":[{"type":"dense","out":9},{"type":"rms_norm"}]},
                   {"at":[0,0,0,1],"links":[{"run":[0,0,0,0]}]},
                   {"at":[0,0,0,2],"type":"dense","out":9,"bias":false,"tie":"0.0.0.0/0:weight"}]})");
  ASSERT_TRUE(network.initialize(1).ok());
  const auto dna = dna_of(network);
  ASSERT_TRUE(dna.ok()) << dna.status().to_string();
  ASSERT_EQ(dna->layers.size(), 2u);
  EXPECT_EQ(dna->layers[0].path, "0.0.0.0/0");
  EXPECT_EQ(dna->layers[1].type, "rms_norm");
  EXPECT_EQ(dna->layers[0].values, 90);
  EXPECT_EQ(dna->layers[1].norm, 0);  // gains of 1
}

TEST(Dna, SketchesEstimateCosines) {
  Random random(6);
  const Chain a = random_chain(random, 1, 60);
  Chain b = a;
  add_noise(b, 0.5f, random);
  Network x = network_of(a), y = network_of(b);
  const auto p = dna_of(x), q = dna_of(y);
  ASSERT_TRUE(p.ok() && q.ok());
  const auto &s = p->layers[0].sketch, &t = q->layers[0].sketch;
  const double estimate = std::inner_product(s.begin(), s.end(), t.begin(), 0.0);
  EXPECT_NEAR(estimate, *compared(x, y).layers[0].cosine, 3.0 / 16);
  EXPECT_NE(p->layers[0].sha256, q->layers[0].sha256);
}

TEST(Dna, RefusesWhatIsNotFiniteAndOptionsOutOfRange) {
  Random random(8);
  Network a = network_of(random_chain(random, 2, 9)), b = network_of(random_chain(random, 2, 9));
  for (const double shift : {0.0, 1.0, std::nan("")})
    EXPECT_EQ(compare(a, b, {.shift = shift}).status().code(), Code::invalid_argument);
  EXPECT_EQ(compare(a, b, {.values = 0}).status().code(), Code::invalid_argument);
  a.find("0.0.0.1", "bias")->mutable_master()[2] = std::nanf("");
  a.find("0.0.0.1", "bias")->touch();
  const Status status = compare(a, b).status();
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_NE(status.message().find("0.0.0.1:bias: value 2"), std::string::npos) << status.message();
  EXPECT_EQ(dna_of(a).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace loom
