#include "breed/mutate.h"

#include <algorithm>
#include <cmath>

#include "base/escape.h"
#include "base/fields/field_reader.h"
#include "base/math/exact_math.h"
#include "base/math/fp_env.h"
#include "breed/draft.h"
#include "breed/probe.h"
#include "numeric/weight_format.h"

namespace loom::breed {
namespace {

constexpr std::int64_t kDraws = 8;  // places that an edit tries

std::int64_t layers_in(const Node& node) {
  std::int64_t count = node.type ? 1 : 0;
  for (const Node& child : node.children) count += layers_in(child);
  return count;
}

// A child takes what its parent takes, and gives what it gives.
Status check_shapes(const Network& parent, const Network& child, const MutationRates& rates) {
  const Shape &was = parent.output(), &is = child.output();
  const bool flat = was.dims.size() < 2 && is.dims.size() < 2;
  if (was.count() != is.count() || was.ids != is.ids || was.parts != is.parts ||
      (!flat && (was.dims != is.dims || was.axis != is.axis)))
    return {Code::invalid_argument, "gives " + is.to_string() + " in place of " + was.to_string()};
  std::int64_t layers = 0;
  for (std::size_t i = 0; i < child.size(); ++i) layers += layers_in(child.node(i));
  if (layers > rates.max_layers) return {Code::out_of_range, std::to_string(layers) + " layers"};
  return {};
}

class Mutating {
 public:
  Mutating(Network& parent, const MutationRates& rates, evolve::Draws& draws)
      : rates_(rates), draws_(draws), now_(&parent), positions_(needs_positions(parent)) {}

  Result<Network> run(MutationReport& report) {
    for (const EditRow& row : edits()) {
      if (!draws_.chance(rates_.*row.rate)) continue;
      if (!edit(row, report)) report.failed.emplace_back(row.kind);
    }
    if (!made_) {
      LOOM_ASSIGN(made_, copy_of(*now_));
    }
    const bool moves = draws_.chance(rates_.weights);
    report.fell_back = report.done.empty() && !report.failed.empty();
    if (moves || report.fell_back) LOOM_TRY(move_weights(report));
    return std::move(*made_);
  }

 private:
  Network& now() { return made_ ? *made_ : *now_; }

  bool edit(const EditRow& row, MutationReport& report) {
    for (std::int64_t redraws = 0; redraws < kDraws; ++redraws) {
      Draft draft(now());
      if (!row.edit(draft, rates_, draws_)) continue;
      const std::uint64_t seed = draws_.below(std::size_t{1} << 30);
      bool stitched = false;
      auto child = build(draft, seed);
      for (int way = 0; way < 2 && !child.ok() && mendable(draft); ++way) {
        Draft mended = draft;
        mend(mended, way);
        child = build(mended, seed);
        stitched = child.ok();
      }
      if (!child.ok()) continue;
      Mutation done = draft.note;
      done.kind = row.kind;
      done.redraws = redraws;
      done.stitched = stitched;
      report.done.push_back(std::move(done));
      made_ = std::move(*child);
      return true;
    }
    return false;
  }

  Result<Network> build(const Draft& draft, std::uint64_t seed) {
    std::vector<Origin> origins;
    LOOM_ASSIGN(Network child, Network::from_json(draft.topology(origins), rates_.max_parameters));
    LOOM_TRY(check_shapes(draft.parent, child, rates_));
    LOOM_TRY(carry_weights(child, draft.parent, origins, seed));
    LOOM_TRY(check_runs(child, positions_));
    return child;
  }

  static bool mendable(const Draft& draft) {
    if (draft.cell < 0) return false;
    const Shape& out = draft.parent.output(static_cast<std::size_t>(draft.cell));
    return out.ids == 0 && out.parts.empty() &&
           !draft.cells[static_cast<std::size_t>(draft.cell)].find("tie");
  }

  // Behind the edited cell a learned matrix makes what the cell gave before: of each last
  // dimension, or of the whole row.
  void mend(Draft& draft, int way) const {
    const auto at = static_cast<std::size_t>(draft.cell);
    const Shape& out = draft.parent.output(at);
    const bool shaped = out.dims.size() > 1;
    Json::Array list;
    Json own = take_layer(draft.cells[at]);
    if (own.find("type")) list.push_back(std::move(own));
    const auto dense = [](std::int64_t width) {
      return parsed_layer(R"({"type":"dense","out":)" + std::to_string(width) + "}");
    };
    if (way == 0) {
      list.push_back(dense(shaped ? out.dims.back() : out.width));
    } else {
      list.push_back(parsed_layer(R"({"type":"flatten"})"));
      list.push_back(dense(out.width));
      Json reshape = parsed_layer(R"({"type":"reshape"})");
      reshape.set("dims", Json(Json::Array(out.dims.begin(), out.dims.end())));
      if (shaped) list.push_back(std::move(reshape));
    }
    put_layer(draft.cells[at], sequential(std::move(list)));
  }

  // Of the layers that are drawn every weight moves; all of them back where the child then gives
  // values that are not finite.
  Status move_weights(MutationReport& report) {
    std::vector<std::pair<WeightStore*, WeightStore>> before;
    const auto params = made_->params();
    for (const Network::NamedParam& p : params)
      if (!p.tied) before.emplace_back(p.param->store.get(), *p.param->store);
    const std::size_t done = report.done.size();
    LOOM_TRY(move_drawn(params, report));
    if (check_runs(*made_, positions_).ok()) return {};
    for (auto& [store, old] : before) *store = std::move(old);
    report.done.resize(done);
    report.failed.emplace_back("weights");
    return {};
  }

  Status move_drawn(const std::vector<Network::NamedParam>& params, MutationReport& report) {
    std::string path;
    bool moves = false, any = false;
    for (int pass = 0; pass < 2 && !any; ++pass)  // the second: where none was drawn, all
      for (const Network::NamedParam& p : params) {
        if (p.tied || !learns(*p.node, *p.param)) continue;
        if (p.path != path || pass == 1) {
          path = p.path;
          moves = pass == 1 || draws_.chance(rates_.weight_share);
        }
        if (!moves) continue;
        any = true;
        LOOM_TRY(move(p, report));
      }
    return {};
  }

  Status move(const Network::NamedParam& p, MutationReport& report) {
    WeightStore& store = *p.param->store;
    LOOM_ASSIGN(std::vector<double> values, master_of(store));
    double squares = 0;
    for (const double v : values) squares += v * v;
    double size = exact::sqrt(squares / static_cast<double>(values.size()));
    if (size == 0)
      size = 1 / exact::sqrt(static_cast<double>(std::max<std::int64_t>(store.cols(), 1)));
    const double range = rates_.weight_scale * size;
    for (double& v : values) v += range * static_cast<double>(draws_.within(1));
    set_master(store, values);
    if (report.done.empty() || report.done.back().kind != "weights" ||
        report.done.back().at != p.path)
      report.done.push_back({"weights", p.path, {}, 0, false});
    return {};
  }

  const MutationRates& rates_;
  evolve::Draws& draws_;
  Network* now_;
  const bool positions_;  // the parent needs those of its rows
  std::optional<Network> made_;
};

}  // namespace

Status check_rates(const MutationRates& rates) {
  for (const std::string& dtype : rates.dtypes) {
    const auto format = parse_weight_format(dtype);
    if (!format.ok()) return format.status().at("dtypes");
  }
  for (const std::string& type : rates.types)
    if (!is_drawn_type(type))
      return {Code::invalid_argument,
              "types: mutation brings in no " + quoted(type) +
                  (find_layer_type(type) ? ": it needs several operands, or its host" : "")};
  return {};
}

Result<MutationRates> mutation_rates(const Json& json) {
  MutationRates rates;
  FieldReader reader(json);
  fields(reader, rates);
  LOOM_TRY(reader.finish("mutation has"));
  LOOM_TRY(check_rates(rates));
  return rates;
}

Result<Network> mutate(Network& parent, const MutationRates& rates, evolve::Draws& draws,
                       MutationReport* report) {
  const FpEnvGuard guard;
  MutationReport done;
  LOOM_ASSIGN(Network child, Mutating(parent, rates, draws).run(done));
  if (report) *report = std::move(done);
  return child;
}

Result<Network> mutate(Network& parent, const MutationRates& rates, std::uint64_t seed,
                       MutationReport* report) {
  LOOM_TRY(check_runs(parent).at("the network to mutate"));
  evolve::Draws draws(seed, 0, 0, evolve::Purpose::mutate);
  return mutate(parent, rates, draws, report);
}

Json to_json(const MutationReport& report) {
  Json json = Json::object(), done = Json::array();
  for (const Mutation& m : report.done) {
    Json one = Json::object();
    one.set("kind", m.kind);
    one.set("at", m.at);
    if (!m.what.empty()) one.set("what", m.what);
    one.set("redraws", m.redraws);
    one.set("stitched", m.stitched);
    done.push(std::move(one));
  }
  json.set("done", std::move(done));
  json.set("failed", Json(Json::Array(report.failed.begin(), report.failed.end())));
  json.set("fell_back", report.fell_back);
  return json;
}

}  // namespace loom::breed
