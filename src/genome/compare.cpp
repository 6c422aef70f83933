// Two networks, layer by layer: those at the same path, and those that moved.
#include <algorithm>
#include <tuple>

#include "base/math/exact_math.h"
#include "genome/assignment.h"
#include "genome/dna.h"
#include "genome/match.h"

namespace loom {
namespace {

using genome::ColumnMap;
using genome::Layer;
using genome::Match;
using genome::Units;

// A match is carried to the layers that read its units where it is no accident.
constexpr double kCarried = 0.5;
// A shift lies this many standard deviations above chance.
constexpr double kDeviations = 6;

// Of two formats the one with fewer bits; of those the later one, so that a and b may change roles.
const WeightFormat& coarser(const WeightFormat& a, const WeightFormat& b) {
  const auto key = [](const WeightFormat& f) {
    return std::tuple(-info(f.dtype).bits, f.dtype, f.layout, f.scale, f.block);
  };
  return key(a) < key(b) ? b : a;
}

// All pairs of layers, in the order of b's execution: what a layer reads was matched before it.
class Comparing {
 public:
  Comparing(Network& a, Network& b, const DnaOptions& options)
      : options_(options), a_(genome::weighted_layers(a)), b_(genome::weighted_layers(b)) {
    carried_.resize(b_.size());
    here_.assign(b_.size(), -1);
    at_.resize(b_.size());
    zero_.assign(b_.size(), 0);
  }

  Result<DnaComparison> run() {
    for (const std::size_t j : order()) LOOM_TRY(compare_layer(j));
    choose_shifts();
    finish();
    return std::move(out_);
  }

 private:
  struct Carried {
    std::int64_t units_a = 0, units_b = 0;
    std::vector<std::int32_t> partner;  // empty: nothing is known
  };
  struct Elsewhere {
    std::size_t i, j;
    DnaPair pair;
  };

  // Sources before those that read them; path order else.
  std::vector<std::size_t> order() const {
    std::vector<char> seen(b_.size(), 0);
    std::vector<std::size_t> found, stack;
    for (std::size_t j = 0; j < b_.size(); ++j) {
      for (std::int64_t k = static_cast<std::int64_t>(j);
           k >= 0 && !seen[static_cast<std::size_t>(k)];
           k = b_[static_cast<std::size_t>(k)].source) {
        seen[static_cast<std::size_t>(k)] = 1;
        stack.push_back(static_cast<std::size_t>(k));
      }
      for (; !stack.empty(); stack.pop_back()) found.push_back(stack.back());
    }
    return found;
  }

  // For the inputs of a's layer those of b's, by the match of what b's layer reads; empty: the
  // same.
  ColumnMap columns(const Units& ua, const Layer& b, const Units& ub) const {
    if (b.source < 0) return {};
    const Carried& c = carried_[static_cast<std::size_t>(b.source)];
    if (c.partner.empty()) return {};
    if (ua.inputs % c.units_a != 0 || ub.inputs % c.units_b != 0 ||
        ua.inputs / c.units_a != ub.inputs / c.units_b)
      return {};
    const std::int64_t block = ua.inputs / c.units_a;
    ColumnMap map;
    for (const std::int32_t p : c.partner)
      for (std::int64_t k = 0; k < block; ++k)
        map.push_back(p < 0 ? -1 : static_cast<std::int32_t>(p * block + k));
    return map;
  }

  static bool comparable(const Layer& a, const Layer& b) {
    if (a.node->type != b.node->type || a.permutable != b.permutable) return false;
    return a.permutable || same_shape(a, b);
  }
  static bool same_shape(const Layer& a, const Layer& b) {
    if (a.params.size() != b.params.size()) return false;
    for (std::size_t i = 0; i < a.params.size(); ++i) {
      const WeightStore &x = *a.params[i]->store, &y = *b.params[i]->store;
      if (x.rows() != y.rows() || x.cols() != y.cols()) return false;
    }
    return true;
  }

  static double plain_cosine(const Units& a, const Units& b) {
    const auto count = static_cast<std::int64_t>(a.values.size());
    const float *x = a.values.data(), *y = b.values.data();
    const double aa = genome::dot(x, x, count), bb = genome::dot(y, y, count);
    if (aa == 0 && bb == 0) return 1;
    return aa > 0 && bb > 0 ? genome::dot(x, y, count) / (exact::sqrt(aa) * exact::sqrt(bb)) : 0;
  }

  struct Coarse {
    Units a, b;
    bool encoded = true;  // false: nothing encodes the coarser format
  };
  static Result<Coarse> in_one_format(const Layer& a, const Layer& b) {
    const WeightFormat fa = genome::format_of(a), fb = genome::format_of(b);
    const WeightFormat& to = coarser(fa, fb);
    Coarse out;
    auto ua = genome::units_of(a, fa == to ? nullptr : &to);
    auto ub = genome::units_of(b, fb == to ? nullptr : &to);
    for (auto* one : {&ua, &ub})
      if (!one->ok() && one->status().code() != Code::unsupported) return one->status();
    out.encoded = ua.ok() && ub.ok();
    if (!ua.ok()) ua = genome::units_of(a);
    if (!ub.ok()) ub = genome::units_of(b);
    LOOM_ASSIGN(out.a, std::move(ua));
    LOOM_ASSIGN(out.b, std::move(ub));
    return out;
  }

  // Layer j of b with all of a that it may be.
  Status compare_layer(std::size_t j) {
    const Layer& to = b_[j];
    double best = kCarried;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const Layer& from = a_[i];
      const bool here = from.path == to.path;
      if (!here && (small(from) || small(to))) continue;
      if (!comparable(from, to)) continue;
      LOOM_ASSIGN(const Coarse units, in_one_format(from, to));
      const std::optional<Match> match = matched(from, to, here, units);
      if (!match) continue;
      LOOM_TRY(note(i, j, here, units, *match));
      if (to.permutable && match->score() > best) {
        best = match->score();
        carried_[j] = {from.units, to.units, match->partner};
      }
    }
    return {};
  }

  // At the same path inputs follow the match of what they come from. A layer elsewhere may have
  // moved together with what it reads, or away from it: the better of both counts.
  std::optional<Match> matched(const Layer& from, const Layer& to, bool here,
                               const Coarse& units) const {
    const auto by = [&](const ColumnMap& map) -> std::optional<Match> {
      if (!to.permutable) return genome::match_in_order(units.a, units.b, map);
      return genome::match_units(units.a, units.b, map, options_.seed, here ? 0 : options_.shift);
    };
    const ColumnMap map = columns(units.a, to, units.b);
    if (here) return by(from.source < 0 ? ColumnMap() : map);
    std::optional<Match> match = by(map);
    if (map.empty() || (match && match->score() > options_.shift)) return match;
    std::optional<Match> straight = by({});
    return straight && (!match || straight->score() > match->score()) ? straight : match;
  }

  Status note(std::size_t i, std::size_t j, bool here, const Coarse& units, const Match& match) {
    DnaPair pair;
    pair.from = a_[i].path;
    pair.to = b_[j].path;
    pair.matched = match.cosine;
    pair.chance = match.chance;
    pair.score = match.score();
    pair.coverage = match.coverage;
    pair.small = small(a_[i]) || small(b_[j]);
    for (std::size_t u = 0; u < match.partner.size(); ++u)
      pair.moved += match.partner[u] >= 0 && match.partner[u] != static_cast<std::int32_t>(u);
    if (same_shape(a_[i], b_[j])) {
      LOOM_ASSIGN(const Units pa, genome::units_of(a_[i]));
      LOOM_ASSIGN(const Units pb, genome::units_of(b_[j]));
      pair.cosine = plain_cosine(pa, pb);
      if (units.encoded) pair.encoded = plain_cosine(units.a, units.b);
    }
    const bool clear = pair.score > options_.shift && !match.zero &&
                       match.cosine - match.chance > kDeviations * match.deviation;
    if (here) {
      zero_[j] = match.zero;
      here_[j] = static_cast<std::int64_t>(i);
      at_[j] = std::move(pair);
    } else if (clear) {
      elsewhere_.push_back({i, j, std::move(pair)});
    }
    return {};
  }

  // One to one among the layers that may have moved and those at the paths involved; all others
  // have no choice. A layer that is as good at its own path stays there.
  void choose_shifts() {
    constexpr double kStay = 1e-6;
    if (elsewhere_.empty()) return;
    std::ranges::sort(elsewhere_, {}, [](const Elsewhere& one) { return std::pair(one.i, one.j); });
    std::vector<std::int32_t> row(a_.size(), -1), col(b_.size(), -1);
    std::int32_t rows = 0, cols = 0;
    for (const Elsewhere& one : elsewhere_) {
      if (row[one.i] < 0) row[one.i] = rows++;
      if (col[one.j] < 0) col[one.j] = cols++;
    }
    const std::vector<std::int32_t> moved_rows = row;
    for (std::size_t j = 0; j < b_.size(); ++j) {
      if (here_[j] < 0) continue;
      const auto i = static_cast<std::size_t>(here_[j]);
      if (col[j] >= 0 && row[i] < 0) row[i] = rows++;
      if (moved_rows[i] >= 0 && col[j] < 0) col[j] = cols++;
    }
    const auto square = static_cast<std::size_t>(std::max(rows, cols));
    std::vector<double> scores(square * square, 0);
    const auto at = [&](std::size_t i, std::size_t j) -> double& {
      return scores[static_cast<std::size_t>(row[i]) * square + static_cast<std::size_t>(col[j])];
    };
    for (const Elsewhere& one : elsewhere_) at(one.i, one.j) = one.pair.score;
    for (std::size_t j = 0; j < b_.size(); ++j) {
      const std::int64_t i = here_[j];
      if (i >= 0 && col[j] >= 0 && row[static_cast<std::size_t>(i)] >= 0)
        at(static_cast<std::size_t>(i), j) = std::max(0.0, at_[j].score) + kStay;
    }
    const auto partner = best_assignment(scores, square, square);
    for (Elsewhere& one : elsewhere_)
      if (partner[static_cast<std::size_t>(row[one.i])] == col[one.j])
        out_.shifts.push_back(std::move(one.pair));
  }

  void finish() {
    double weights = 0, overlap = 0, similarity = 0;
    std::vector<char> found(a_.size(), 0);
    for (std::size_t j = 0; j < b_.size(); ++j) {
      double weight = static_cast<double>(b_[j].values);
      if (here_[j] < 0) {
        out_.only_b.push_back(b_[j].path);
      } else {
        const auto i = static_cast<std::size_t>(here_[j]);
        found[i] = 1;
        weight = std::max(weight, static_cast<double>(a_[i].values));
        if (zero_[j]) weight = 0;  // layers of zeros say nothing
        overlap += weight * at_[j].cosine.value_or(0);
        similarity += weight * at_[j].score;
        out_.layers.push_back(std::move(at_[j]));
      }
      weights += weight;
    }
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (found[i]) continue;
      out_.only_a.push_back(a_[i].path);
      weights += static_cast<double>(a_[i].values);
    }
    out_.overlap = weights > 0 ? overlap / weights : 1;
    out_.similarity = weights > 0 ? similarity / weights : 1;
  }

  bool small(const Layer& layer) const { return layer.values < options_.values; }

  const DnaOptions options_;
  std::vector<Layer> a_, b_;
  DnaComparison out_;
  // By layer of b: the match of its units, and the pair at its path with the layer of a; -1: none.
  std::vector<Carried> carried_;
  std::vector<std::int64_t> here_;
  std::vector<DnaPair> at_;
  std::vector<char> zero_;
  std::vector<Elsewhere> elsewhere_;
};

}  // namespace

Result<DnaComparison> compare(Network& a, Network& b, const DnaOptions& options) {
  if (!(options.shift > 0 && options.shift < 1))
    return Status(Code::invalid_argument, "shift: expects a score above 0 and below 1");
  if (options.values < 1) return Status(Code::invalid_argument, "values: expects at least 1");
  return Comparing(a, b, options).run();
}

}  // namespace loom
