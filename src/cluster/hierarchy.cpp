#include <algorithm>
#include <limits>
#include <numeric>

#include "base/math/exact_math.h"
#include "cluster/distances.h"

namespace loom::cluster {
namespace {

// Distances between groups; the lower triangle.
class Triangle {
 public:
  explicit Triangle(std::int64_t n) : values_(static_cast<std::size_t>(n * (n - 1) / 2)) {}
  double& at(std::int64_t a, std::int64_t b) {
    if (a < b) std::swap(a, b);
    return values_[static_cast<std::size_t>(a * (a - 1) / 2 + b)];
  }

 private:
  std::vector<double> values_;
};

// The distance of group k to what groups i and j become, from those to each of them (Lance and
// Williams, The Computer Journal 9(4), 1967).
double updated(Linkage linkage, double to_i, double to_j, double between, double of_i, double of_j,
               double of_k) {
  switch (linkage) {
    case Linkage::single: return std::min(to_i, to_j);
    case Linkage::complete: return std::max(to_i, to_j);
    case Linkage::average: return (of_i * to_i + of_j * to_j) / (of_i + of_j);
    case Linkage::ward: break;
  }
  const double squares =
      (of_k + of_i) * to_i * to_i + (of_k + of_j) * to_j * to_j - of_k * between * between;
  return exact::sqrt(std::max(squares / (of_i + of_j + of_k), 0.0));
}

// Merges of groups that are named by one of their rows, in the order in which chains end.
std::vector<Merge> chains(Triangle& distances, std::int64_t n, Linkage linkage) {
  std::vector<std::int64_t> size(static_cast<std::size_t>(n), 1), chain;
  std::vector<Merge> merges;
  for (std::int64_t done = 0; done < n - 1; ++done) {
    if (chain.empty())
      chain.push_back(std::ranges::find_if(size, [](std::int64_t s) { return s > 0; }) -
                      size.begin());
    std::int64_t nearest = 0;
    double shortest = 0;
    for (;;) {
      const std::int64_t end = chain.back();
      // The group before wins where others are as near: the chain ends.
      nearest = chain.size() > 1 ? chain[chain.size() - 2] : -1;
      shortest = nearest < 0 ? std::numeric_limits<double>::infinity() : distances.at(end, nearest);
      for (std::int64_t k = 0; k < n; ++k)
        if (k != end && size[static_cast<std::size_t>(k)] > 0 && distances.at(end, k) < shortest)
          shortest = distances.at(end, k), nearest = k;
      if (chain.size() > 1 && nearest == chain[chain.size() - 2]) break;
      chain.push_back(nearest);
    }
    const std::int64_t i = std::min(nearest, chain.back()), j = std::max(nearest, chain.back());
    chain.resize(chain.size() - 2);
    std::int64_t &of_i = size[static_cast<std::size_t>(i)],
                 &of_j = size[static_cast<std::size_t>(j)];
    merges.push_back({i, j, shortest, of_i + of_j});
    for (std::int64_t k = 0; k < n; ++k) {
      const auto of_k = static_cast<double>(size[static_cast<std::size_t>(k)]);
      if (k == i || k == j || of_k == 0) continue;
      distances.at(j, k) = updated(linkage, distances.at(i, k), distances.at(j, k), shortest,
                                   static_cast<double>(of_i), static_cast<double>(of_j), of_k);
    }
    of_j += of_i;
    of_i = 0;
  }
  return merges;
}

std::int64_t root(std::vector<std::int64_t>& above, std::int64_t i) {
  while (above[static_cast<std::size_t>(i)] != i) {
    std::int64_t& up = above[static_cast<std::size_t>(i)];
    i = up = above[static_cast<std::size_t>(up)];
  }
  return i;
}

// Groups of the first `count` merges.
std::vector<std::int32_t> groups_after(std::span<const Merge> merges, std::size_t count) {
  const std::size_t n = merges.size() + 1;
  std::vector<std::int64_t> above(n + count);
  std::iota(above.begin(), above.end(), 0);
  for (std::size_t m = 0; m < count; ++m)
    for (const std::int64_t part : {merges[m].first, merges[m].second})
      above[static_cast<std::size_t>(part)] = static_cast<std::int64_t>(n + m);
  std::vector<std::int32_t> labels(n), name(n + count, -1);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t& of = name[static_cast<std::size_t>(root(above, static_cast<std::int64_t>(i)))];
    if (of < 0) of = next++;
    labels[i] = of;
  }
  return labels;
}

}  // namespace

Result<std::vector<Merge>> hierarchy(const Rows2d& rows, Distance distance, Linkage linkage) {
  const std::int64_t n = rows.count();
  if (n > kMaxRows)
    return Status(Code::out_of_range, "a hierarchy takes at most " + std::to_string(kMaxRows) +
                                          " rows, got " + std::to_string(n));
  if (linkage == Linkage::ward && distance != Distance::euclidean)
    return Status(Code::invalid_argument,
                  "linkage ward takes the distance euclidean: of others choose average");
  LOOM_TRY(check_distances(rows, distance));
  Triangle distances(n);
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) distances.at(i, j) = distance_of(rows, i, j, distance);
  std::vector<Merge> merges = chains(distances, n, linkage);
  std::ranges::stable_sort(merges, {}, &Merge::distance);
  std::vector<std::int64_t> above(static_cast<std::size_t>(2 * n - 1));
  std::iota(above.begin(), above.end(), 0);
  for (std::int64_t m = 0; m < n - 1; ++m) {
    Merge& merge = merges[static_cast<std::size_t>(m)];
    const std::int64_t a = root(above, merge.first), b = root(above, merge.second);
    merge.first = std::min(a, b), merge.second = std::max(a, b);
    above[static_cast<std::size_t>(a)] = above[static_cast<std::size_t>(b)] = n + m;
  }
  return merges;
}

std::vector<std::int32_t> cut(std::span<const Merge> merges, std::int64_t clusters) {
  const auto n = static_cast<std::int64_t>(merges.size()) + 1;
  return groups_after(merges,
                      static_cast<std::size_t>(n - std::clamp<std::int64_t>(clusters, 1, n)));
}

std::vector<std::int32_t> cut_at(std::span<const Merge> merges, double distance) {
  std::size_t count = 0;
  while (count < merges.size() && merges[count].distance <= distance) ++count;
  return groups_after(merges, count);
}

}  // namespace loom::cluster
