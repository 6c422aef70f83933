#include "populations/cost.h"

#include <algorithm>
#include <chrono>

#include "base/fields/field_reader.h"
#include "exec/session.h"

namespace loom::populations {
namespace {

constexpr int kRuns = 15;

template <class V>
void fields(V& v, OpCost& c) {
  constexpr double kMax = 1e9;
  v("ns", c.ns, {.min = 0, .max = kMax});
  v("ns_per_value", c.ns_per_value, {.min = 0, .max = kMax});
  v("ns_per_product", c.ns_per_product, {.min = 0, .max = kMax});
}

Status read(const Json& json, OpCost& cost, const std::vector<std::string_view>& also = {}) {
  if (!json.is_object())
    return {Code::invalid_argument, "must be an object of ns, ns_per_value, ns_per_product"};
  FieldReader reader(json);
  fields(reader, cost);
  return reader.finish("a cost has", also);
}

void write(const OpCost& cost, Json& json) {
  json.set("ns", cost.ns);
  json.set("ns_per_value", cost.ns_per_value);
  json.set("ns_per_product", cost.ns_per_product);
}

bool is_op(std::string_view name) {
  for (int i = 0; i < kOpCount; ++i)
    if (info(static_cast<Op>(i)).name == name) return true;
  return false;
}

// Values that an instruction writes, and products.
std::pair<double, double> amounts_of(const Program& program, const Instruction& ins,
                                     std::span<const std::uint32_t> registers) {
  const OpInfo& op = info(ins.op);
  double values = 0;
  std::int64_t weight_cols = 0;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const View& v = ins.operands[i];
    if (!v.valid()) continue;
    if (op.operands[i].role != Role::read)
      values += static_cast<double>(program.rows(v.buffer, registers) * v.cols);
    if (program.buffers[static_cast<std::size_t>(v.buffer)].kind == BufferKind::weight &&
        program.max_rows(v.buffer) > 1)
      weight_cols = std::max<std::int64_t>(weight_cols, v.cols);
  }
  return {values, values * static_cast<double>(weight_cols)};
}

SessionOptions options_of(std::int64_t rows) {
  SessionOptions options;
  options.max_rows = rows;
  options.whole_sequences = true;
  return options;
}

// A step mesh as it runs for one tick.
Result<Network> plain(Network& network) {
  return network.over_ticks(1, Network::Answers::last_tick);
}

// Of a run of `rows` rows: f(op, values, products).
template <class F>
Status each_instruction(Network& network, std::int64_t rows, const F& f) {
  if (network.step_mesh) {
    LOOM_ASSIGN(Network mesh, plain(network));
    return each_instruction(mesh, rows, f);
  }
  LOOM_ASSIGN(const Program program, emit_program(network, options_of(rows), nullptr));
  std::vector<std::uint32_t> registers;
  for (const Register& r : program.registers)
    registers.push_back(r.name == "R" ? static_cast<std::uint32_t>(rows) : r.max);
  for (const Instruction& ins : program.code) {
    const auto [values, products] = amounts_of(program, ins, registers);
    LOOM_TRY(f(info(ins.op).name, values, products));
  }
  return {};
}

}  // namespace

Costs reference_costs() { return {{"", 150, 0.5, 0.1}, {}}; }

Result<Costs> costs_from_json(const Json& json) {
  if (json.is_string() && json.as_string() == "reference") return reference_costs();
  if (!json.is_object())
    return Status(Code::invalid_argument, "costs: must be \"reference\" or a table");
  Costs costs;
  LOOM_TRY(read(json, costs.others, {"ops"}).at("costs"));
  const Json* ops = json.find("ops");
  if (ops && !ops->is_object())
    return Status(Code::invalid_argument, "costs: ops: must be an object");
  for (std::size_t i = 0; ops && i < ops->as_object().size(); ++i) {
    const auto& [name, value] = ops->as_object()[i];
    OpCost cost{name, 0, 0, 0};
    if (!is_op(name))
      return Status(Code::invalid_argument, "costs: ops: there is no op \"" + name + "\"");
    LOOM_TRY(read(value, cost).at("costs: ops: " + name));
    costs.ops.push_back(std::move(cost));
  }
  costs.only_listed =
      !json.find("ns") && !json.find("ns_per_value") && !json.find("ns_per_product");
  if (costs.only_listed && costs.ops.empty())
    return Status(Code::invalid_argument, "costs: a table without costs");
  return costs;
}

Json to_json(const Costs& costs) {
  Json json = Json::object(), ops = Json::object();
  if (!costs.only_listed) write(costs.others, json);
  for (const OpCost& cost : costs.ops) {
    Json one = Json::object();
    write(cost, one);
    ops.set(cost.op, std::move(one));
  }
  if (!costs.ops.empty()) json.set("ops", std::move(ops));
  return json;
}

Result<std::vector<OpCost>> op_amounts(Network& network, std::int64_t rows) {
  std::vector<OpCost> all;
  LOOM_TRY(
      each_instruction(network, rows, [&](std::string_view op, double values, double products) {
        auto own = std::ranges::find(all, op, &OpCost::op);
        if (own == all.end()) own = all.insert(all.end(), {std::string(op), 0, 0, 0});
        own->ns += 1;
        own->ns_per_value += values;
        own->ns_per_product += products;
        return Status();
      }));
  return all;
}

Result<double> milliseconds_by(const Costs& costs, Network& network, std::int64_t rows) {
  double ns = 0;
  LOOM_TRY(
      each_instruction(network, rows, [&](std::string_view op, double values, double products) {
        const auto own = std::ranges::find(costs.ops, op, &OpCost::op);
        if (own == costs.ops.end() && costs.only_listed)
          return Status(Code::invalid_argument, "costs: no row for the op " + std::string(op));
        const OpCost& cost = own == costs.ops.end() ? costs.others : *own;
        ns += cost.ns + cost.ns_per_value * values + cost.ns_per_product * products;
        return Status();
      }));
  return ns * 1e-6;
}

Result<double> milliseconds_here(Network& network, std::int64_t rows) {
  if (network.step_mesh) {
    LOOM_ASSIGN(Network mesh, plain(network));
    return milliseconds_here(mesh, rows);
  }
  ThreadPool pool(1);
  LOOM_ASSIGN(Session session, Session::create(network, pool, options_of(rows)));
  const Shape& in = network.input();
  const std::vector<float> x(static_cast<std::size_t>(rows * std::max<std::int64_t>(in.width, 0)));
  const std::vector<std::uint32_t> ids(static_cast<std::size_t>(rows * in.count()), 0);
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto done = in.ids > 0 ? session.run_ids(ids) : session.run(x, rows);
    LOOM_TRY(done.status());
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace loom::populations
