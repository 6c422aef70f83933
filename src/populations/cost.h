// What a network costs: bytes of its weights, and milliseconds, measured here or from a table,
// which has the same bits everywhere.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "breed/mutate.h"
#include "grid/network.h"

namespace loom::populations {

// An instruction takes `ns` + `ns_per_value` for each value that it writes + `ns_per_product` for
// each product with a weight.
struct OpCost {
  std::string op;
  double ns = 0, ns_per_value = 0, ns_per_product = 0;
};
struct Costs {
  OpCost others;             // of every op that is not listed
  std::vector<OpCost> ops;   // by name
  bool only_listed = false;  // an op without a row is an error
};

// Of a machine that is not meant to be any: 150 ns an instruction, 0.5 ns a value, 0.1 ns a
// product.
Costs reference_costs();
// "reference", or {"ns", "ns_per_value", "ns_per_product", "ops": {name: {the same}}}. With none of
// the first three every op needs its row.
Result<Costs> costs_from_json(const Json& json);
Json to_json(const Costs& costs);

// Of a run of `rows` rows. Errors: as emission; invalid_argument, by the op, where the table has no
// row for it.
Result<double> milliseconds_by(const Costs& costs, Network& network, std::int64_t rows);
// Instructions of each op, values that they write and products with weights, in ns, ns_per_value
// and ns_per_product.
Result<std::vector<OpCost>> op_amounts(Network& network, std::int64_t rows);
// A table of this machine, by one thread: 73 networks, `seed` and chains of its mutants, are timed,
// and positive costs are fitted to them, for all ops alike and for each op that there was.
Result<Costs> measure_costs(Network& seed, const breed::MutationRates& rates, std::int64_t rows);
// The median of runs on this machine, one thread.
Result<double> milliseconds_here(Network& network, std::int64_t rows);

}  // namespace loom::populations
