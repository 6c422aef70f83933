// Groups of rows: cases worked out by hand. Beside scikit-learn: tests/parity/cluster.py.
#include "cluster/cluster.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loom::cluster {
namespace {

using Doubles = std::vector<double>;
using Labels = std::vector<std::int32_t>;

Rows2d rows(const Doubles& values, std::int64_t width = 1) {
  auto made = rows_of(values, width, 1);
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return *made;
}

TEST(KMeans, FindsMeansFromGivenCenters) {
  const Doubles x = {0, 2, 10, 12, 14};
  auto k = k_means(rows(x), {.clusters = 2, .centers = {0, 1}});
  ASSERT_TRUE(k.ok()) << k.status().to_string();
  EXPECT_EQ(k->labels, (Labels{0, 0, 1, 1, 1}));
  EXPECT_EQ(k->centers, (Doubles{1, 12}));
  EXPECT_EQ(k->inertia, 1 + 1 + 4 + 0 + 4);
}

TEST(KMeans, GivesAnEmptyClusterTheFarthestRow) {
  const Doubles x = {0, 1, 2, 50};
  auto k = k_means(rows(x), {.clusters = 2, .centers = {1, 1000}});
  ASSERT_TRUE(k.ok());
  EXPECT_EQ(k->labels, (Labels{0, 0, 0, 1}));
  EXPECT_EQ(k->inertia, 2);
}

TEST(KMeans, IsItsSeedAlone) {
  Doubles x;
  for (int i = 0; i < 300; ++i)
    x.push_back(std::sin(i * 1.7) + 5 * (i % 3)), x.push_back(std::cos(i * 2.3));
  auto a = k_means(rows(x, 2), {.clusters = 3, .seed = 4, .starts = 5}),
       b = k_means(rows(x, 2), {.clusters = 3, .seed = 4, .starts = 5});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->centers, b->centers);
  for (std::size_t i = 3; i < 300; ++i) EXPECT_EQ(a->labels[i], a->labels[i % 3]);
  // As many clusters as rows, and all rows equal.
  auto all = k_means(rows(x, 60), {.clusters = 10});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->inertia, 0);
  const Doubles same(12, 3.0);
  auto one = k_means(rows(same, 2), {.clusters = 3});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->inertia, 0);
}

TEST(KMeans, RefusesByName) {
  const Doubles x = {0, 1, 2, std::nan("")};
  EXPECT_EQ(rows_of(x, 2, 1).status().message(), "row 1, column 1 is no finite number");
  EXPECT_EQ(rows_of(x, 3, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(rows_of(x, 0, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(rows_of({}, 2, 1).status().message(), "expects at least 1 rows, got 0");
  const Doubles good = {0, 1, 2, 3};
  for (const KMeansOptions& o :
       {KMeansOptions{.clusters = 0}, KMeansOptions{.clusters = 5},
        KMeansOptions{.clusters = 2, .starts = 0},
        KMeansOptions{.clusters = 2, .max_iterations = 0},
        KMeansOptions{.clusters = 2, .tolerance = -1}, KMeansOptions{.clusters = 2, .centers = {1}},
        KMeansOptions{.clusters = 2, .starts = 2, .centers = {1, 2}},
        KMeansOptions{.clusters = 2, .centers = {1, INFINITY}}})
    EXPECT_EQ(k_means(rows(good), o).status().code(), Code::invalid_argument);
}

TEST(Silhouette, IsThatOfItsDefinition) {
  const Doubles x = {0, 1, 4, 5, 100};
  const Labels labels = {7, 7, -2, -2, 9};
  auto s = silhouettes(rows(x), labels, Distance::euclidean);
  ASSERT_TRUE(s.ok()) << s.status().to_string();
  EXPECT_EQ(*s, (Doubles{(4.5 - 1) / 4.5, (3.5 - 1) / 3.5, (3.5 - 1) / 3.5, (4.5 - 1) / 4.5, 0}));
  for (const Labels& bad : {Labels{1, 1, 1, 1, 1}, Labels{1, 2, 3, 4, 5}, Labels{1, 2}})
    EXPECT_EQ(silhouettes(rows(x), bad, Distance::euclidean).status().code(),
              Code::invalid_argument);
}

TEST(Hierarchy, MergesByAscendingDistance) {
  const Doubles x = {0, 1, 5, 7, 20};
  auto merges = hierarchy(rows(x), Distance::euclidean, Linkage::single);
  ASSERT_TRUE(merges.ok()) << merges.status().to_string();
  const std::vector<std::tuple<int, int, double, int>> expected = {
      {0, 1, 1, 2}, {2, 3, 2, 2}, {5, 6, 4, 4}, {4, 7, 13, 5}};
  for (std::size_t i = 0; i < 4; ++i) {
    const Merge& m = (*merges)[i];
    EXPECT_EQ(std::tuple(int(m.first), int(m.second), m.distance, int(m.size)), expected[i]);
  }
  EXPECT_EQ(cut(*merges, 2), (Labels{0, 0, 0, 0, 1}));
  EXPECT_EQ(cut(*merges, 3), (Labels{0, 0, 1, 1, 2}));
  EXPECT_EQ(cut_at(*merges, 1.5), (Labels{0, 0, 1, 2, 3}));
  EXPECT_EQ(cut_at(*merges, 0), (Labels{0, 1, 2, 3, 4}));
  // 2 d^2 n m / (n + m) is the square of Ward's distance of groups of n and m rows.
  auto ward = hierarchy(rows(x), Distance::euclidean, Linkage::ward);
  ASSERT_TRUE(ward.ok());
  EXPECT_DOUBLE_EQ((*ward)[2].distance, std::sqrt(2.0 * 5.5 * 5.5 * 4 / 4));
}

TEST(Hierarchy, TakesDistances) {
  const Doubles d = {0, 1, 9, 1, 0, 4, 9, 4, 0};
  auto merges = hierarchy(rows(d, 3), Distance::precomputed, Linkage::average);
  ASSERT_TRUE(merges.ok()) << merges.status().to_string();
  EXPECT_EQ((*merges)[1].distance, 6.5);
  EXPECT_EQ(hierarchy(rows(d, 3), Distance::precomputed, Linkage::ward).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(hierarchy(rows(d, 9), Distance::precomputed, Linkage::single).status().code(),
            Code::invalid_argument);
  for (const Doubles& bad : {Doubles{0, 1, 2, 0}, Doubles{1, 1, 1, 0}, Doubles{0, -1, -1, 0}})
    EXPECT_EQ(hierarchy(rows(bad, 2), Distance::precomputed, Linkage::single).status().code(),
              Code::invalid_argument);
  const Doubles one = {3};
  EXPECT_TRUE(hierarchy(rows(one), Distance::euclidean, Linkage::ward)->empty());
  const Doubles many(kMaxRows + 1, 1.0);
  EXPECT_EQ(hierarchy(rows(many), Distance::euclidean, Linkage::single).status().code(),
            Code::out_of_range);
}

}  // namespace
}  // namespace loom::cluster
