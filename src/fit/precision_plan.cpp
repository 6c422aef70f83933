#include "fit/precision_plan.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>

#include "base/message.h"
#include "exec/session.h"
#include "fit/text.h"
#include "train/data/tensor_data.h"
#include "train/judge/metrics.h"

namespace loom {
namespace {

constexpr std::size_t kMaxPoints = 2000;  // of the frontier; more are thinned out evenly
constexpr int kMeasured = 16;             // points of the model that are measured for one answer
constexpr int kRounds = 3;                // of changing one matrix at a time
// One for each size that is worth having. Those of a row or a tensor lose more and save next to
// nothing.
constexpr std::string_view kCandidates[] = {
    "f32",        "bf16",       "i16",        "i8:block32",      "i8",          "u8",
    "i4:block16", "i4",         "i4:block32", "i4:s4",           "fp4:block32", "u4",
    "fp4",        "i2:block32", "i2",         "ternary:block32", "ternary",     "binary"};
constexpr int kTimed = 15;  // runs of which the median counts

}  // namespace

Result<PrecisionPlanner> PrecisionPlanner::create(Network& network, const DataSource& data,
                                                  Loss loss, std::vector<WeightFormat> candidates,
                                                  ThreadPool& pool, const Settings& settings) {
  if (candidates.size() < 2 || candidates.size() > 255)
    return Status(Code::invalid_argument, "plan: wants 2 to 255 candidates, the first of them f32");
  PrecisionPlanner p(network, data, loss, pool, settings);
  p.candidates_ = std::move(candidates);
  LOOM_TRY(p.find_matrices());
  LOOM_TRY(p.measure_sensitivities());
  p.combine();
  return p;
}

Status PrecisionPlanner::find_matrices() {
  for (const Network::NamedParam& param : network_->params()) {
    if (param.tied || !param.param->spec.quantized) continue;
    WeightStore& store = *param.param->store;
    if (!store.has_master() || store.master_is_f64())
      return Status(Code::unsupported, message("plan: ", param.path, ":", param.param->spec.role,
                                               " has no f32 values to choose a format for: it is ",
                                               to_string(store.format())));
    names_.push_back(param.path + ":" + param.param->spec.role);
    stores_.push_back(&store);
  }
  return stores_.empty() ? Status(Code::unsupported, "plan: the network has no matrices")
                         : Status();
}

// Every matrix in each format, then each matrix alone in each of them.
Status PrecisionPlanner::measure_sensitivities() {
  std::vector<std::uint8_t> all(stores_.size(), 0);
  for (std::size_t f = 0; f < candidates_.size(); ++f) {
    std::fill(all.begin(), all.end(), static_cast<std::uint8_t>(f));
    LOOM_ASSIGN(PrecisionPlan plan, measure(all));
    uniform_.push_back(std::move(plan));
  }
  base_cost_ = cost(uniform_[0]);
  base_loss_ = uniform_[0].loss;
  units_.resize(stores_.size());
  for (std::size_t u = 0; u < stores_.size(); ++u) {
    units_[u].push_back({});
    for (std::size_t f = 1; f < candidates_.size(); ++f) {
      std::vector<std::uint8_t> one(stores_.size(), 0);
      one[u] = static_cast<std::uint8_t>(f);
      LOOM_ASSIGN(const PrecisionPlan plan, measure(one));
      units_[u].push_back({cost(plan) - base_cost_, plan.loss - base_loss_});
    }
  }
  return {};
}

Status PrecisionPlanner::apply(const PrecisionPlan& plan) {
  for (std::size_t u = 0; u < stores_.size(); ++u)
    LOOM_TRY(stores_[u]->morph(candidates_[plan.formats[u]], pool_).at(names_[u]));
  return {};
}

Result<PrecisionPlan> PrecisionPlanner::measure(const std::vector<std::uint8_t>& formats) {
  if (const auto known = seen_.find(formats); known != seen_.end()) return known->second;
  PrecisionPlan plan{.formats = formats};
  LOOM_TRY(apply(plan));
  for (const Network::NamedParam& param : network_->params()) {
    const WeightStore& store = *param.param->store;
    if (!param.tied)
      plan.bytes += store.format().dtype == DType::f32
                        ? static_cast<std::uint64_t>(store.rows() * store.cols()) * sizeof(float)
                        : store.packed_bytes();
  }
  LOOM_ASSIGN(Evaluator evaluator,
              Evaluator::create(*network_, *data_, *pool_,
                                {.loss = loss_, .isa = settings_.isa, .cancel = settings_.cancel}));
  LOOM_ASSIGN(const Metrics metrics, evaluator.measure());
  plan.loss =
      metrics.loss - metrics.loss == 0 ? metrics.loss : std::numeric_limits<double>::infinity();
  if (settings_.timed) {
    LOOM_ASSIGN(plan.ms, milliseconds());
  }
  return seen_[formats] = plan;
}

Result<double> PrecisionPlanner::milliseconds() {
  const std::int64_t rows = std::min<std::int64_t>(data_->samples(), 64);
  LOOM_ASSIGN(
      Session session,
      Session::create(*network_, *pool_,
                      {.max_rows = rows, .isa = settings_.isa, .cancel = settings_.cancel}));
  Batch batch;
  for (std::int64_t i = 0; i < rows; ++i) data_->append(i, batch);
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < kTimed; ++i) {
    const Clock::time_point begin = Clock::now();
    LOOM_TRY(session.run(batch.x, rows).status());
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + kTimed / 2, times.end());
  return times[kTimed / 2];
}

// All combinations that no other beats in cost and loss, matrix by matrix.
void PrecisionPlanner::combine() {
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

bool PrecisionPlanner::better(const PrecisionPlan& a, const PrecisionPlan& b,
                              const Limit& limit) const {
  const auto limited = [&](const PrecisionPlan& p) { return limit.of_loss ? p.loss : cost(p); };
  const auto wanted = [&](const PrecisionPlan& p) { return limit.of_loss ? cost(p) : p.loss; };
  return limited(a) <= limit.value &&
         (wanted(a) < wanted(b) || (wanted(a) == wanted(b) && limited(a) < limited(b)));
}

// One matrix at a time in another format, while that is better.
Status PrecisionPlanner::improve(PrecisionPlan& plan, const Limit& limit) {
  bool changed = true;
  for (int round = 0; round < kRounds && changed; ++round) {
    changed = false;
    for (std::size_t u = 0; u < units_.size(); ++u)
      for (std::size_t f = 0; f < candidates_.size(); ++f) {
        std::vector<std::uint8_t> formats = plan.formats;
        formats[u] = static_cast<std::uint8_t>(f);
        LOOM_ASSIGN(PrecisionPlan other, measure(formats));
        if (!better(other, plan, limit)) continue;
        plan = std::move(other);
        changed = true;
      }
  }
  return {};
}

Status PrecisionPlanner::nothing_within(const Limit& limit) const {
  if (limit.of_loss)
    return Status(Code::out_of_range,
                  message("plan: no formats have a loss of ", std::to_string(limit.value),
                          ", the least is ", std::to_string(base_loss_)));
  const int digits = settings_.timed ? 3 : 0;
  return Status(Code::out_of_range, message("plan: nothing is within ", fixed(limit.value, digits),
                                            (settings_.timed ? " ms" : " bytes"), ", the least is ",
                                            fixed(frontier_.front().cost, digits)));
}

Result<PrecisionPlan> PrecisionPlanner::best(const Limit& limit) {
  PrecisionPlan found;
  const auto offer = [&](const PrecisionPlan& plan) {
    if ((limit.of_loss ? plan.loss : cost(plan)) > limit.value) return;
    if (found.formats.empty() || better(plan, found, limit)) found = plan;
  };
  for (const auto& [formats, plan] : seen_) offer(plan);
  // Points of the model, the nearest to the limit first.
  int left = kMeasured;
  for (std::size_t k = 0; k < frontier_.size() && left > 0; ++k) {
    const Point& point = frontier_[limit.of_loss ? k : frontier_.size() - 1 - k];
    if ((limit.of_loss ? point.loss : point.cost) > limit.value) continue;
    --left;
    LOOM_ASSIGN(const PrecisionPlan plan, measure(point.formats));
    offer(plan);
  }
  if (found.formats.empty()) return nothing_within(limit);
  LOOM_TRY(improve(found, limit));
  return found;
}

namespace {

Result<std::vector<WeightFormat>> candidates_of(const PlanOptions& o) {
  std::vector<WeightFormat> candidates = {WeightFormat{}};
  std::vector<std::string_view> names(o.formats.begin(), o.formats.end());
  if (names.empty()) names.assign(std::begin(kCandidates), std::end(kCandidates));
  for (const std::string_view name : names) {
    LOOM_ASSIGN(const WeightFormat format, parse_weight_format(name));
    if (format.dtype == DType::f64 || product_class(format) == ArithClass::real)
      return Status(Code::invalid_argument, message("formats: '", name,
                                                    "' computes in f64, which no plan mixes with "
                                                    "others"));
    if (std::find(candidates.begin(), candidates.end(), format) == candidates.end())
      candidates.push_back(format);
  }
  return candidates;
}

Json json_of(const PrecisionPlanner& planner, const PrecisionPlan& plan) {
  Json j = Json::object(), formats = Json::object();
  for (std::size_t u = 0; u < plan.formats.size(); ++u)
    formats.set(planner.matrices()[u], to_string(planner.candidates()[plan.formats[u]]));
  j.set("bytes", static_cast<std::int64_t>(plan.bytes));
  j.set("loss", plan.loss - plan.loss == 0 ? Json(plan.loss) : Json());
  if (plan.ms > 0) j.set("ms", plan.ms);
  j.set("formats", std::move(formats));
  return j;
}

// At the size of every uniform format, the best plan that is no larger; the largest first.
Result<Json> table_of(PrecisionPlanner& planner, bool timed) {
  const std::vector<PrecisionPlan>& uniform = planner.uniform();
  std::vector<std::size_t> by_size;
  for (std::size_t f = 0; f < uniform.size(); ++f) {
    auto at = by_size.end();
    while (at != by_size.begin() && uniform[*(at - 1)].bytes < uniform[f].bytes) --at;
    by_size.insert(at, f);
  }
  Json table = Json::array();
  for (const std::size_t f : by_size) {
    LOOM_ASSIGN(const PrecisionPlan best,
                planner.best({timed ? uniform[f].ms : static_cast<double>(uniform[f].bytes)}));
    Json row = Json::object();
    row.set("format", to_string(planner.candidates()[f]));
    row.set("uniform", json_of(planner, uniform[f]));
    row.set("plan", json_of(planner, best));
    table.push(std::move(row));
  }
  return table;
}

}  // namespace

Result<Json> plan_precision(Network& network, const DataSource& data, Loss loss,
                            const PlanOptions& o, ThreadPool& pool, const std::string& isa,
                            const std::atomic<bool>* cancel) {
  if ((o.bytes > 0) + (o.ms > 0) + (o.loss > 0) > 1)
    return Status(Code::invalid_argument, "plan: give one of bytes, ms and loss, or none");
  LOOM_ASSIGN(std::vector<WeightFormat> candidates, candidates_of(o));
  const Subset rows(data, 0, std::min(o.rows, data.samples()), static_cast<std::uint64_t>(o.seed));
  LOOM_ASSIGN(PrecisionPlanner planner,
              PrecisionPlanner::create(network, rows, loss, std::move(candidates), pool,
                                       {.isa = isa, .timed = o.ms > 0, .cancel = cancel}));
  const bool asked = o.bytes > 0 || o.ms > 0 || o.loss > 0;
  PrecisionPlan chosen = planner.uniform()[0];
  if (asked) {
    LOOM_ASSIGN(chosen, planner.best({o.bytes + o.ms + o.loss, o.loss > 0}));
  }
  LOOM_ASSIGN(Json table, table_of(planner, o.ms > 0));
  LOOM_TRY(planner.apply(chosen));
  Json report = Json::object();
  report.set("rows", rows.samples());
  report.set("seed", o.seed);
  report.set("measured", planner.measured());
  if (asked) report.set("plan", json_of(planner, chosen));
  report.set("table", std::move(table));
  return report;
}

}  // namespace loom
