// Ensembles of decision trees against a walk in f64, and tables that are refused.
#include <bit>
#include <cmath>

#include "conformance/same_bits.h"
#include "ops/trees/trees.h"

namespace loom {
namespace {

using test::chain;

// A random forest, and the same in the words of a topology.
struct Forest {
  std::int64_t features = 5, outputs = 1;
  bool single = false, average = false, missing = true;
  std::vector<std::int64_t> sizes;
  std::vector<std::uint32_t> nodes;
  std::vector<float> thresholds;
  std::int64_t leaves = 0;

  Forest(std::int64_t f, std::int64_t o, int trees, int depth, std::uint64_t seed)
      : features(f), outputs(o), random_(seed, 1) {
    for (int t = 0; t < trees; ++t) grow(t == 2 ? 0 : depth);
  }
  std::string topology(const char* dtype = "f32") const {
    std::string sizes_text;
    for (const std::int64_t s : sizes)
      sizes_text += (sizes_text.empty() ? "" : ",") + std::to_string(s);
    return chain("{\"width\":" + std::to_string(features) + "}",
                 {R"("type":"trees","dtype":")" + std::string(dtype) + R"(","features":)" +
                  std::to_string(features) + ",\"outputs\":" + std::to_string(outputs) +
                  ",\"sizes\":[" + sizes_text + "],\"nodes\":\"" + base64(nodes) +
                  "\",\"thresholds\":\"" + base64(thresholds) + "\",\"single\":" +
                  (single ? "true" : "false") + ",\"average\":" + (average ? "true" : "false")});
  }
  // What a row becomes, from values that are those of the network.
  std::vector<double> walk(const float* x, std::span<const double> values,
                           std::span<const double> base) const {
    std::vector<double> sum(base.begin(), base.end());
    const int bits = feature_bits(features);
    std::size_t root = 0;
    for (std::size_t t = 0; t < sizes.size(); ++t) {
      std::size_t at = root;
      while (nodes[at] != 0) {
        const std::uint32_t word = nodes[at];
        const double value = x[word & ((1u << bits) - 1)];
        const bool left = std::isnan(value) ? (word >> bits & 1) != 0 : value <= threshold_of(at);
        at += (word >> (bits + 1)) + (left ? 0 : 1);
      }
      const std::size_t leaf = leaf_of(at);
      const auto out = static_cast<std::size_t>(outputs);
      if (single) sum[t % out] += values[leaf];
      for (std::size_t o = 0; !single && o < out; ++o) sum[o] += values[leaf * out + o];
      root += static_cast<std::size_t>(sizes[t]);
    }
    const auto trees = static_cast<double>(sizes.size());
    for (double& s : sum)
      if (average) s /= single ? trees / static_cast<double>(outputs) : trees;
    return sum;
  }
  template <class T>
  static std::string base64(const std::vector<T>& values) {
    constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes, text;
    for (const T v : values)
      for (int i = 0; i < 4; ++i)
        bytes += static_cast<char>(std::bit_cast<std::uint32_t>(v) >> 8 * i & 255);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
      std::uint32_t n = 0;
      for (std::size_t j = i; j < i + 3; ++j)
        n = n << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0u);
      for (std::size_t j = 0; j < 4; ++j)
        text += i + j > bytes.size() ? '=' : kDigits[n >> (18 - 6 * j) & 63];
    }
    return text;
  }

 private:
  void grow(int depth) {
    const int bits = feature_bits(features);
    const std::size_t root = nodes.size();
    std::vector<int> depths = {depth};
    for (std::size_t n = 0; n < depths.size(); ++n) {
      if (depths[n] == 0 || random_.uniform(at_++) < 0.1f) {
        nodes.push_back(0);
        ++leaves;
        continue;
      }
      const auto left = static_cast<std::uint32_t>(depths.size() - n);
      const std::uint32_t feature = random_.below(at_++, static_cast<std::uint32_t>(features)),
                          flag = missing ? random_.below(at_++, 2) : 0;
      nodes.push_back(left << (bits + 1) | flag << bits | feature);
      thresholds.push_back(2 * random_.uniform(at_++) - 1);
      depths.insert(depths.end(), 2, depths[n] - 1);
    }
    sizes.push_back(static_cast<std::int64_t>(nodes.size() - root));
  }
  double threshold_of(std::size_t node) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < node; ++i) n += nodes[i] != 0;
    return thresholds[n];
  }
  std::size_t leaf_of(std::size_t node) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < node; ++i) n += nodes[i] == 0;
    return n;
  }
  RandomStream random_;
  std::uint64_t at_ = 0;
};

std::vector<double> values_of(Network& n, std::string_view role) {
  WeightStore* store = n.find("0.0.0.0", role);
  std::vector<double> v(static_cast<std::size_t>(store->rows() * store->cols()));
  EXPECT_TRUE(store->values(std::span<double>(v)).ok());
  return v;
}

void expect_walks(const Forest& forest, std::int64_t rows, const char* dtype) {
  Network n = test::random_network(forest.topology(), dtype);
  const std::vector<double> values = values_of(n, "values"), base = values_of(n, "base");
  const RandomStream random(5, 1);
  std::vector<float> x(static_cast<std::size_t>(rows * forest.features));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i % 17 == 3 ? NAN
           : i % 5 == 0 && !forest.thresholds.empty()
               ? forest.thresholds[i % forest.thresholds.size()]
               : 2 * random.uniform(i) - 1;
  for (const std::string_view isa : cpu::available_isas())
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      auto s =
          Session::create(n, pool, {.max_rows = rows, .isa = std::string(isa), .poison = true});
      ASSERT_TRUE(s.ok()) << s.status().to_string();
      ASSERT_TRUE(s->run(std::span<const float>(x), rows).ok());
      for (std::int64_t r = 0; r < rows; r += rows > 99 ? 7 : 1) {
        const auto want = forest.walk(x.data() + r * forest.features, values, base);
        for (std::size_t o = 0; o < want.size(); ++o)
          ASSERT_EQ(s->output(r)[o], static_cast<float>(want[o]))
              << isa << " row " << r << " output " << o << " of " << rows << " rows, " << dtype;
      }
    }
}

TEST(Trees, AreThoseOfAWalk) {
  for (const bool single : {false, true})
    for (const std::int64_t rows : {1, 3, 8, 21})
      for (const char* dtype : {"f32", "f64"}) {
        Forest forest(7, 3, 12, 6, static_cast<std::uint64_t>(rows));
        forest.single = single;
        forest.average = rows != 8;
        expect_walks(forest, rows, dtype);
      }
  expect_walks(Forest(1, 1, 1, 3, 1), 9, "f32");
  expect_walks(Forest(40, 1, 3, 9, 2), 2100, "f32");
  expect_walks(Forest(3, 70, 5, 4, 3), 1100, "f64");
}

TEST(Trees, SmallThresholdsDecideAsStoredValuesDo) {
  for (const float threshold : {-1e-35f, 1e-35f, 0.0f, -0.0f}) {
    Forest forest(1, 1, 1, 0, 1);
    forest.sizes = {3}, forest.nodes = {1u << 1, 0, 0}, forest.thresholds = {threshold};
    Network n = test::random_network(forest.topology(), "f32");
    const std::vector<double> values = values_of(n, "values");
    ThreadPool pool(1);
    auto s = Session::create(n, pool, {.max_rows = 3});
    ASSERT_TRUE(s.ok());
    const std::vector<float> x = {-1e-3f, 0, 1e-3f};
    ASSERT_TRUE(s->run(std::span<const float>(x), 3).ok());
    const auto base = static_cast<double>(values_of(n, "base")[0]);
    for (std::int64_t r = 0; r < 3; ++r)
      EXPECT_EQ(
          s->output(r)[0],
          static_cast<float>(base + values[x[static_cast<std::size_t>(r)] <= threshold ? 0 : 1]))
          << threshold << " " << r;
  }
}

Status refused(const Forest& forest) {
  return Network::from_json(std::string_view(forest.topology())).status();
}
TEST(Trees, RefuseTablesThatDoNotEndAtLeaves) {
  const Forest good(5, 2, 3, 3, 9);
  ASSERT_TRUE(refused(good).ok()) << refused(good).to_string();
  struct Case {
    const char* what;
    void (*spoil)(Forest&);
  };
  const Case cases[] = {
      {"children would be", [](Forest& f) { f.nodes[0] = 1000u << 4; }},
      {"children would be", [](Forest& f) { f.nodes[0] = 3; }},
      {"children would be", [](Forest& f) { f.nodes[0] = 0xFFFFFFF0u; }},
      {"reads feature 7 of 5", [](Forest& f) { f.nodes[0] |= 7; }},
      {"no number", [](Forest& f) { f.thresholds[0] = NAN; }},
      {"more are needed", [](Forest& f) { f.thresholds.pop_back(); }},
      {"thresholds, the trees have", [](Forest& f) { f.thresholds.push_back(1); }},
      {"are left", [](Forest& f) { ++f.sizes.back(); }},
      {"children would be", [](Forest& f) { --f.sizes[0]; }},
      {"there is no tree", [](Forest& f) { f.sizes.clear(); }},
      {"not as many for each", [](Forest& f) { f.single = true; }},
  };
  for (const Case& c : cases) {
    Forest bad = good;
    c.spoil(bad);
    const Status s = refused(bad);
    EXPECT_EQ(s.code(), Code::invalid_argument) << c.what;
    EXPECT_NE(s.to_string().find(c.what), std::string::npos) << s.to_string();
  }
  std::string text = good.topology();
  text.replace(text.find("\"nodes\":\"") + 9, 1, "!");
  EXPECT_NE(Network::from_json(std::string_view(text)).status().to_string().find("base64"),
            std::string::npos);
  text = good.topology();
  text.replace(text.find("\"width\":5"), 9, "\"width\":6");
  EXPECT_NE(Network::from_json(std::string_view(text)).status().to_string().find("5 features"),
            std::string::npos);
}

// A saved program is untrusted: words that lead nowhere are refused before it runs.
TEST(Trees, ProgramsWithSpoiledWordsAreRefused) {
  const Forest forest(5, 2, 4, 3, 4);
  const auto table = make_tree_table(forest.sizes, forest.nodes, forest.thresholds, 5);
  ASSERT_TRUE(table.ok());
  const auto constant = [&](std::vector<std::uint32_t> words) {
    return ConstantSpec{ConstantKind::trees,
                        {static_cast<double>(table->trees), 5, static_cast<double>(table->leaves)},
                        std::make_shared<const std::vector<std::uint32_t>>(std::move(words))};
  };
  const auto cols = static_cast<std::int64_t>(table->words->size());
  ASSERT_EQ(check_trees(constant(*table->words), cols), nullptr);
  EXPECT_NE(check_trees(constant(*table->words), cols + 1), nullptr);
  int refused = 0, harmless = 0;
  for (std::size_t i = 0; i < table->words->size(); ++i)
    for (const std::uint32_t value : {0u, 1u, 0x7FC00007u, 0xFFFFFFF0u, 0xFFFFFFFFu, 12345678u}) {
      std::vector<std::uint32_t> words = *table->words;
      if (words[i] == value) continue;
      words[i] = value;
      // Another threshold, distance or feature may be as good; sanitizers see the others.
      (check_trees(constant(words), cols) ? refused : harmless)++;
    }
  EXPECT_GT(refused, 3 * harmless);
  Program p;
  ProgramBuilder emit(p);
  const View x = emit.input("x", ValueType::f32, {2}, 5);
  const View y = emit.trees(x, emit.tree_table(*table),
                            emit.weight("0.0.0.0", "values", table->leaves, 2, {}, ValueType::f32),
                            emit.weight("0.0.0.0", "base", 1, 2, {}, ValueType::f32),
                            {.outputs = 2, .trees = 4, .missing = true, .bits = 3});
  emit.copy_to(y, emit.output("y", ValueType::f32, {2}, 2));
  ASSERT_TRUE(verify(p).ok()) << verify(p).to_string();
  auto again = Program::decode(p.encode());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->encode(), p.encode());
  EXPECT_TRUE(verify(*again).ok());
  for (auto& ins : again->code)
    if (ins.op == Op::trees) ins.ints[4] = 5;
  EXPECT_EQ(verify(*again).code(), Code::corrupt);
}

TEST(Trees, EveryRunGivesTheSameBits) {
  Forest forest(9, 3, 9, 5, 6);
  test::check_same_bits(forest.topology());
  forest.single = true;
  test::check_same_bits(forest.topology());
}

}  // namespace
}  // namespace loom
