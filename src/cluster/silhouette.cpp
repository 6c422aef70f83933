#include <algorithm>
#include <limits>

#include "cluster/distances.h"

namespace loom::cluster {

Result<std::vector<double>> silhouettes(const Rows2d& rows, std::span<const std::int32_t> labels,
                                        Distance distance) {
  const std::int64_t n = rows.count();
  if (static_cast<std::int64_t>(labels.size()) != n)
    return Status(Code::invalid_argument, "labels: expects one for each of " + std::to_string(n) +
                                              " rows, got " + std::to_string(labels.size()));
  LOOM_TRY(check_distances(rows, distance));
  // Any numbers are labels: groups are counted in the order of theirs.
  std::vector<std::int32_t> names(labels.begin(), labels.end());
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::size_t groups = names.size();
  if (groups < 2 || groups == labels.size())
    return Status(Code::invalid_argument, "labels: silhouettes want 2 to rows - 1 groups, got " +
                                              std::to_string(groups) + " of " + std::to_string(n) +
                                              " rows");
  std::vector<std::size_t> group(labels.size()), size(groups);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    group[i] = static_cast<std::size_t>(std::ranges::lower_bound(names, labels[i]) - names.begin());
    ++size[group[i]];
  }
  std::vector<double> out(labels.size()), sums(groups);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (size[group[i]] == 1) continue;
    std::ranges::fill(sums, 0.0);
    for (std::int64_t j = 0; j < n; ++j)
      if (j != static_cast<std::int64_t>(i))
        sums[group[static_cast<std::size_t>(j)]] +=
            distance_of(rows, static_cast<std::int64_t>(i), j, distance);
    const double a = sums[group[i]] / static_cast<double>(size[group[i]] - 1);
    double b = std::numeric_limits<double>::infinity();
    for (std::size_t g = 0; g < groups; ++g)
      if (g != group[i]) b = std::min(b, sums[g] / static_cast<double>(size[g]));
    const double larger = std::max(a, b);
    out[i] = larger > 0 ? (b - a) / larger : 0;
  }
  return out;
}

}  // namespace loom::cluster
