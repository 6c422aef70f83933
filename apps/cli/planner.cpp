#include "planner.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "bench/bench.h"
#include "console.h"
#include "exec/session.h"
#include "train/judge/metrics.h"

namespace loom::cli {
namespace {

constexpr std::size_t kMaxPoints = 2000;  // of the frontier; more are thinned out evenly
constexpr int kMeasured = 16;             // points of the model that are measured for one answer
constexpr int kRounds = 3;                // of changing one matrix at a time

}  // namespace

Result<Planner> Planner::create(Network& network, const DataSource& data, Loss loss,
                                std::vector<WeightFormat> candidates, ThreadPool& pool,
                                const std::string& isa, bool timed) {
  if (candidates.size() < 2 || candidates.size() > 255)
    return Status(Code::invalid_argument, "plan: wants 2 to 255 candidates, the first of them f32");
  Planner p(network, data, loss, pool);
  p.isa_ = isa;
  p.timed_ = timed;
  p.candidates_ = std::move(candidates);
  for (const Network::NamedParam& param : network.params()) {
    if (param.tied || !param.param->spec.quantized) continue;
    WeightStore& store = *param.param->store;
    if (!store.has_master() || store.master_is_f64())
      return Status(Code::unsupported, "plan: " + param.path + ":" + param.param->spec.role +
                                           " has no f32 values to choose a format for: it is " +
                                           to_string(store.format()));
    p.names_.push_back(param.path + ":" + param.param->spec.role);
    p.stores_.push_back(&store);
  }
  if (p.stores_.empty()) return Status(Code::unsupported, "plan: the network has no matrices");
  std::vector<std::uint8_t> all(p.stores_.size(), 0);
  for (std::size_t f = 0; f < p.candidates_.size(); ++f) {
    std::fill(all.begin(), all.end(), static_cast<std::uint8_t>(f));
    LOOM_ASSIGN(Plan plan, p.measure(all));
    p.uniform_.push_back(std::move(plan));
  }
  const Plan& base = p.uniform_[0];
  p.base_cost_ = p.cost(base);
  p.base_loss_ = base.loss;
  p.units_.resize(p.stores_.size());
  for (std::size_t u = 0; u < p.stores_.size(); ++u) {
    p.units_[u].push_back({});
    for (std::size_t f = 1; f < p.candidates_.size(); ++f) {
      std::vector<std::uint8_t> one(p.stores_.size(), 0);
      one[u] = static_cast<std::uint8_t>(f);
      LOOM_ASSIGN(const Plan plan, p.measure(one));
      p.units_[u].push_back({p.cost(plan) - p.base_cost_, plan.loss - p.base_loss_});
    }
  }
  p.combine();
  return p;
}

Status Planner::apply(const Plan& plan) {
  for (std::size_t u = 0; u < stores_.size(); ++u)
    LOOM_TRY(stores_[u]->morph(candidates_[plan.formats[u]]).at(names_[u]));
  return {};
}

Result<Plan> Planner::measure(const std::vector<std::uint8_t>& formats) {
  if (const auto known = seen_.find(formats); known != seen_.end()) return known->second;
  Plan plan{.formats = formats};
  LOOM_TRY(apply(plan));
  for (const Network::NamedParam& param : network_->params()) {
    const WeightStore& store = *param.param->store;
    if (!param.tied)
      plan.bytes += store.format().dtype == DType::f32
                        ? static_cast<std::uint64_t>(store.rows() * store.cols()) * sizeof(float)
                        : store.packed_bytes();
  }
  LOOM_ASSIGN(Evaluator evaluator,
              Evaluator::create(*network_, *data_, *pool_, {.loss = loss_, .isa = isa_}));
  LOOM_ASSIGN(const Metrics metrics, evaluator.measure());
  plan.loss =
      metrics.loss - metrics.loss == 0 ? metrics.loss : std::numeric_limits<double>::infinity();
  if (timed_) {
    LOOM_ASSIGN(plan.ms, milliseconds());
  }
  return seen_[formats] = plan;
}

Result<double> Planner::milliseconds() {
  const std::int64_t rows = std::min<std::int64_t>(data_->samples(), 64);
  LOOM_ASSIGN(Session session, Session::create(*network_, *pool_, {.max_rows = rows, .isa = isa_}));
  Batch batch;
  for (std::int64_t i = 0; i < rows; ++i) data_->append(i, batch);
  Status status;
  const double seconds = median_seconds(15, [&] {
    if (const Status s = session.run(batch.x, rows).status(); !s.ok()) status = s;
  });
  if (!status.ok()) return status;
  return 1000 * seconds;
}

// All combinations that no other beats in cost and loss, matrix by matrix.
void Planner::combine() {
  frontier_ = {{base_cost_, base_loss_, {}}};
  for (const std::vector<Choice>& unit : units_) {
    std::vector<Point> next;
    for (const Point& p : frontier_)
      for (std::size_t f = 0; f < unit.size(); ++f) {
        Point q{p.cost + unit[f].cost, p.loss + unit[f].loss, p.formats};
        q.formats.push_back(static_cast<std::uint8_t>(f));
        next.push_back(std::move(q));
      }
    std::sort(next.begin(), next.end(), [](const Point& a, const Point& b) {
      return std::tie(a.cost, a.loss, a.formats) < std::tie(b.cost, b.loss, b.formats);
    });
    frontier_.clear();
    for (Point& p : next)
      if (frontier_.empty() || p.loss < frontier_.back().loss) frontier_.push_back(std::move(p));
    if (frontier_.size() > kMaxPoints) {
      std::vector<Point> thin;
      for (std::size_t i = 0; i < kMaxPoints; ++i)
        thin.push_back(std::move(frontier_[i * (frontier_.size() - 1) / (kMaxPoints - 1)]));
      frontier_ = std::move(thin);
    }
  }
}

// One matrix at a time in another format, while that is better.
template <class Better>
Status Planner::improve(Plan& plan, const Better& better) {
  bool changed = true;
  for (int round = 0; round < kRounds && changed; ++round) {
    changed = false;
    for (std::size_t u = 0; u < units_.size(); ++u)
      for (std::size_t f = 0; f < candidates_.size(); ++f) {
        std::vector<std::uint8_t> formats = plan.formats;
        formats[u] = static_cast<std::uint8_t>(f);
        LOOM_ASSIGN(Plan other, measure(formats));
        if (!better(other, plan)) continue;
        plan = std::move(other);
        changed = true;
      }
  }
  return {};
}

Result<Plan> Planner::within(double budget) {
  std::vector<Plan> fit;
  for (const auto& [formats, plan] : seen_)
    if (cost(plan) <= budget) fit.push_back(plan);
  int left = kMeasured;
  for (std::size_t i = frontier_.size(); i-- > 0 && left > 0;) {
    if (frontier_[i].cost > budget) continue;
    --left;
    LOOM_ASSIGN(Plan plan, measure(frontier_[i].formats));
    if (cost(plan) <= budget) fit.push_back(std::move(plan));
  }
  const auto better = [&](const Plan& a, const Plan& b) {
    return cost(a) <= budget && (a.loss < b.loss || (a.loss == b.loss && cost(a) < cost(b)));
  };
  if (fit.empty())
    return Status(Code::out_of_range, "plan: nothing is within " + fixed(budget, timed_ ? 3 : 0) +
                                          (timed_ ? " ms" : " bytes") + ", the least is " +
                                          fixed(frontier_.front().cost, timed_ ? 3 : 0));
  Plan best = *std::min_element(fit.begin(), fit.end(), better);
  LOOM_TRY(improve(best, better));
  return best;
}

Result<Plan> Planner::with_loss(double loss) {
  std::vector<Plan> fit;
  for (const auto& [formats, plan] : seen_)
    if (plan.loss <= loss) fit.push_back(plan);
  int left = kMeasured;
  for (std::size_t i = 0; i < frontier_.size() && left > 0; ++i) {
    if (frontier_[i].loss > loss) continue;
    --left;
    LOOM_ASSIGN(Plan plan, measure(frontier_[i].formats));
    if (plan.loss <= loss) fit.push_back(std::move(plan));
  }
  const auto better = [&](const Plan& a, const Plan& b) {
    return a.loss <= loss && (cost(a) < cost(b) || (cost(a) == cost(b) && a.loss < b.loss));
  };
  if (fit.empty())
    return Status(Code::out_of_range, "plan: no formats have a loss of " + std::to_string(loss) +
                                          ", the least is " + std::to_string(base_loss_));
  Plan best = *std::min_element(fit.begin(), fit.end(), better);
  LOOM_TRY(improve(best, better));
  return best;
}

}  // namespace loom::cli
