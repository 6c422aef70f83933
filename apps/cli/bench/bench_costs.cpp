// loom bench costs: a table of costs of this machine, for searches that must give the same champion
// everywhere (docs/reference/evolution.md).
#include "bench/bench.h"
#include "files/files.h"
#include "files/outputs.h"
#include "populations/cost.h"
#include "populations/spec.h"
#include "support/console.h"

namespace loom::cli {
namespace {

Result<Json> measured(const std::string& path) {
  LOOM_ASSIGN(const Json json, Json::parse(read_text(path)));
  if (!json.is_object()) return Status(Code::invalid_argument, "must be an object");
  // What says which networks there are; the rest is of their fitness, and may need data.
  Json part = Json::object();
  for (const char* key : {"level", "network", "rates", "limits", "seed"})
    if (const Json* found = json.find(key)) part.set(key, *found);
  LOOM_ASSIGN(const populations::SearchSpec spec, populations::search_spec(part));
  if (spec.network.is_null())
    return Status(Code::invalid_argument, "\"network\": the topology that the search begins with");
  LOOM_ASSIGN(Network network, Network::from_json(spec.network));
  LOOM_TRY(network.initialize(static_cast<std::uint64_t>(spec.seed)));
  LOOM_ASSIGN(const populations::Costs costs,
              populations::measure_costs(network, spec.rates, spec.limits.rows));
  return populations::to_json(costs);
}

}  // namespace

int bench_costs(const BenchArgs& a) {
  if (a.spec.empty())
    return fail(Status(Code::invalid_argument,
                       "costs: --spec names the search, a spec of level "
                       "networks with its \"network\""),
                kUsage);
  if (!a.out.empty()) check_file_output("--out", a.out, {a.spec});
  auto json = measured(a.spec);
  if (!json.ok()) return fail(json.status().at(a.spec), kRefused);
  const std::string text = json->dump() + "\n";
  if (a.out.empty()) return print(text) ? kOk : kFailed;
  write_text(a.out, text);
  say(std::to_string(json->find("ops")->as_object().size()) + " ops in " + a.out);
  return kOk;
}

}  // namespace loom::cli
