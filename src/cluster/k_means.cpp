#include <algorithm>
#include <limits>

#include "base/random.h"
#include "cluster/distances.h"

namespace loom::cluster {
namespace {

class Lloyd {
 public:
  Lloyd(const Rows2d& rows, const KMeansOptions& options)
      : rows_(rows),
        options_(options),
        clusters_(options.clusters),
        sums_(static_cast<std::size_t>(clusters_ * rows.width)),
        counts_(static_cast<std::size_t>(clusters_)),
        distances_(static_cast<std::size_t>(rows.count())) {}

  // Draws from 1,000,000 * start on.
  std::vector<double> plus_plus(std::int64_t start) {
    const RandomStream random(static_cast<std::uint64_t>(options_.seed), 0x6B6D);
    auto draw = static_cast<std::uint64_t>(start) * 1000000;
    const std::int64_t n = rows_.count();
    std::vector<double> centers;
    const auto add = [&](std::int64_t row) {
      centers.insert(centers.end(), rows_.row(row), rows_.row(row) + rows_.width);
    };
    add(random.below(draw++, static_cast<std::uint32_t>(n)));
    std::ranges::fill(distances_, std::numeric_limits<double>::infinity());
    for (std::int64_t k = 1; k < clusters_; ++k) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        double& d = distances_[static_cast<std::size_t>(i)];
        d = std::min(
            d, squared_distance(rows_.row(i), centers.data() + (k - 1) * rows_.width, rows_.width));
        sum += d;
      }
      const double at = random.uniform(draw++) * sum;
      double below = 0;
      std::int64_t row = 0;
      // A row at a distance of 0 is a center already; where all are, any one will do.
      for (std::int64_t i = 0; i < n; ++i) {
        const double d = distances_[static_cast<std::size_t>(i)];
        if (d > 0 && below <= at) row = i;
        below += d;
      }
      add(row);
    }
    return centers;
  }

  KMeans run(std::vector<double> centers) {
    KMeans k;
    k.centers = std::move(centers);
    k.labels.assign(static_cast<std::size_t>(rows_.count()), -1);
    const double limit = options_.tolerance * mean_variance();
    bool settled = false;  // no label has changed
    while (k.iterations < options_.max_iterations && !settled) {
      ++k.iterations;
      settled = !assign(k);
      if (settled) break;
      if (move(k) <= limit) break;
    }
    if (!settled) assign(k);
    for (const double d : distances_) k.inertia += d;
    return k;
  }

 private:
  double mean_variance() const {
    const std::int64_t n = rows_.count();
    double all = 0;
    for (std::int64_t c = 0; c < rows_.width; ++c) {
      double mean = 0, squares = 0;
      for (std::int64_t i = 0; i < n; ++i) mean += rows_.row(i)[c];
      mean /= static_cast<double>(n);
      for (std::int64_t i = 0; i < n; ++i)
        squares += (rows_.row(i)[c] - mean) * (rows_.row(i)[c] - mean);
      all += squares / static_cast<double>(n);
    }
    return all / static_cast<double>(rows_.width);
  }

  // Whether a label changed.
  bool assign(KMeans& k) {
    bool changed = false;
    for (std::int64_t i = 0; i < rows_.count(); ++i) {
      std::int32_t best = 0;
      double nearest = std::numeric_limits<double>::infinity();
      for (std::int64_t c = 0; c < clusters_; ++c) {
        const double d =
            squared_distance(rows_.row(i), k.centers.data() + c * rows_.width, rows_.width);
        if (d < nearest) nearest = d, best = static_cast<std::int32_t>(c);
      }
      changed |= k.labels[static_cast<std::size_t>(i)] != best;
      k.labels[static_cast<std::size_t>(i)] = best;
      distances_[static_cast<std::size_t>(i)] = nearest;
    }
    return changed;
  }

  // Centers become means; the sum of the squares of their moves.
  double move(KMeans& k) {
    std::ranges::fill(sums_, 0.0);
    std::ranges::fill(counts_, 0);
    for (std::int64_t i = 0; i < rows_.count(); ++i)
      add_row(k.labels[static_cast<std::size_t>(i)], i, 1);
    fill_empty(k);
    double moved = 0;
    for (std::int64_t c = 0; c < clusters_; ++c) {
      double* center = k.centers.data() + c * rows_.width;
      for (std::int64_t j = 0; j < rows_.width; ++j) {
        const double mean = sums_[static_cast<std::size_t>(c * rows_.width + j)] /
                            static_cast<double>(counts_[static_cast<std::size_t>(c)]);
        moved += (mean - center[j]) * (mean - center[j]);
        center[j] = mean;
      }
    }
    return moved;
  }

  void add_row(std::int64_t cluster, std::int64_t row, int sign) {
    counts_[static_cast<std::size_t>(cluster)] += sign;
    for (std::int64_t j = 0; j < rows_.width; ++j)
      sums_[static_cast<std::size_t>(cluster * rows_.width + j)] += sign * rows_.row(row)[j];
  }

  // From groups of several: one row each.
  void fill_empty(const KMeans& k) {
    for (std::int64_t c = 0; c < clusters_; ++c) {
      if (counts_[static_cast<std::size_t>(c)] > 0) continue;
      std::int64_t farthest = -1;
      for (std::int64_t i = 0; i < rows_.count(); ++i)
        if (counts_[static_cast<std::size_t>(k.labels[static_cast<std::size_t>(i)])] > 1 &&
            (farthest < 0 || distances_[static_cast<std::size_t>(i)] >
                                 distances_[static_cast<std::size_t>(farthest)]))
          farthest = i;
      // Its label changes when it is assigned again.
      add_row(k.labels[static_cast<std::size_t>(farthest)], farthest, -1);
      add_row(c, farthest, 1);
      distances_[static_cast<std::size_t>(farthest)] = -1;  // no other cluster takes it
    }
  }

  const Rows2d& rows_;
  const KMeansOptions& options_;
  const std::int64_t clusters_;
  std::vector<double> sums_;
  std::vector<std::int64_t> counts_;
  std::vector<double> distances_;  // squared, of each row to its center
};

Status check(const Rows2d& rows, const KMeansOptions& o) {
  const auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
  if (o.clusters < 1 || o.clusters > rows.count())
    return bad("clusters: expects 1 to " + std::to_string(rows.count()) +
               ", the number of rows, got " + std::to_string(o.clusters));
  if (o.starts < 1 || o.starts > 1000)
    return bad("starts: expects 1 to 1000, got " + std::to_string(o.starts));
  if (o.max_iterations < 1)
    return bad("max_iterations: expects at least 1, got " + std::to_string(o.max_iterations));
  if (!(o.tolerance >= 0))
    return bad("tolerance: expects at least 0, got " + std::to_string(o.tolerance));
  if (o.centers.empty()) return {};
  if (o.starts != 1) return bad("starts: given centers are one start");
  if (static_cast<std::int64_t>(o.centers.size()) != o.clusters * rows.width)
    return bad("centers: expects " + std::to_string(o.clusters) + " x " +
               std::to_string(rows.width) + " values, got " + std::to_string(o.centers.size()));
  return rows_of(o.centers, rows.width, 1).status().at("centers");
}

}  // namespace

Result<KMeans> k_means(const Rows2d& rows, const KMeansOptions& options) {
  LOOM_TRY(check(rows, options));
  Lloyd lloyd(rows, options);
  if (!options.centers.empty()) return lloyd.run(options.centers);
  KMeans best;
  for (std::int64_t start = 0; start < options.starts; ++start) {
    KMeans k = lloyd.run(lloyd.plus_plus(start));
    if (start == 0 || k.inertia < best.inertia) best = std::move(k);
  }
  return best;
}

}  // namespace loom::cluster
