// Neuroevolution, of genomes and of whole networks.
#include <cmath>

#include "base/math/fp_env.h"
#include "base/message.h"
#include "breed/weights.h"
#include "c_api/call.h"
#include "populations/genome_network.h"

using namespace loom;
using namespace loom::c_api;

namespace {

Status check_threads(std::int64_t threads) {
  if (threads >= 0 && threads <= ThreadPool::kMaxThreads) return {};
  return {Code::invalid_argument, "threads: " + std::to_string(threads) +
                                      "; must be from 0 (one per core) to " +
                                      std::to_string(ThreadPool::kMaxThreads)};
}

template <class Population>
Status add_population(Result<Population> made, std::int64_t threads, loom_population* population) {
  LOOM_TRY(made.status());
  LOOM_TRY(check_threads(threads));
  *population =
      add(std::make_shared<PopulationObject>(std::move(*made), static_cast<int>(threads)));
  return {};
}

bool is_of_networks(const Json& spec) {
  const Json* level = spec.is_object() ? spec.find("level") : nullptr;
  return level && !(level->is_string() && level->as_string() == "genomes");
}

// A spec of genomes may say so.
Json without_level(Json spec) {
  if (spec.is_object())
    std::erase_if(spec.as_object(), [](const Json::Member& m) { return m.first == "level"; });
  return spec;
}

template <class F>
std::int32_t on(loom_population handle, loom_error* error, F body) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto p, get<PopulationObject>(handle));
    LOOM_ASSIGN(const auto inside, enter(*p));
    return body(*p);
  });
}

Result<const populations::Member*> member_at(const PopulationObject& p, std::int64_t index) {
  const auto& members = p.networks->members();
  if (index == -1) {
    if (p.networks->champion()) return &*p.networks->champion();
    return Status(Code::invalid_argument, "index: no champion before the first evaluation");
  }
  if (index < 0 || index >= static_cast<std::int64_t>(members.size()))
    return Status(Code::out_of_range, message("index: ", index, "; the population has ",
                                              members.size(), " networks, and -1 is the champion"));
  return &members[static_cast<std::size_t>(index)];
}

Result<const evolve::Genome*> genome_at(const PopulationObject& p, std::int64_t index) {
  const auto& genomes = p.genomes->genomes();
  if (index == -1) {
    if (p.genomes->champion()) return &*p.genomes->champion();
    return Status(Code::invalid_argument, "index: no champion before the first evaluation");
  }
  if (index < 0 || index >= static_cast<std::int64_t>(genomes.size()))
    return Status(Code::out_of_range, message("index: ", index, "; the population has ",
                                              genomes.size(), " genomes, and -1 is the champion"));
  return &genomes[static_cast<std::size_t>(index)];
}

// A copy, of a genome the network that computes as it does.
Result<Network> network_at(const PopulationObject& p, std::int64_t index) {
  if (p.genomes) {
    LOOM_ASSIGN(const evolve::Genome* genome, genome_at(p, index));
    return populations::network_of(*genome, p.genomes->shape(), p.genomes->spec());
  }
  LOOM_ASSIGN(const populations::Member* member, member_at(p, index));
  return breed::copy_of(*member->network);
}

Status activate_genome(PopulationObject& p, std::int64_t index, std::span<const float> x,
                       std::span<float> y) {
  LOOM_ASSIGN(const evolve::Genome* genome, genome_at(p, index));
  const evolve::Shape& shape = p.genomes->shape();
  const std::size_t rows = x.size() / shape.inputs;
  if (x.size() % shape.inputs != 0)
    return {Code::invalid_argument, "x: " + std::to_string(x.size()) + " values are no rows of " +
                                        std::to_string(shape.inputs)};
  LOOM_TRY(expect_count("y", y.size(), static_cast<std::int64_t>(rows * shape.outputs)));
  for (const float v : x)
    if (!(std::abs(v) <= 1e28f))
      return {Code::invalid_argument, "x: values must be numbers within +-1e28"};
  if (!p.phenotype || p.index != index) {
    p.phenotype.emplace(*genome, shape);
    p.index = index;
  }
  const FpEnvGuard guard;
  if (!shape.recurrent) p.phenotype->run(x, 1, y);
  else
    for (std::size_t r = 0; r < rows; ++r)
      p.phenotype->activate(x.subspan(r * shape.inputs, shape.inputs),
                            y.subspan(r * shape.outputs, shape.outputs));
  return {};
}

Status activate_network(PopulationObject& p, std::int64_t index, std::span<const float> x,
                        std::span<float> y) {
  LOOM_ASSIGN(const populations::Member* member, member_at(p, index));
  const Shape &in = member->network->input(), &out = member->network->output();
  if (in.ids > 0 || member->network->step_mesh)
    return {Code::unsupported,
            "activate: a network of ids or ticks runs in a session of population_network"};
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / in.width;
  if (static_cast<std::int64_t>(x.size()) != rows * in.width)
    return {Code::invalid_argument, "x: " + std::to_string(x.size()) + " values are no rows of " +
                                        std::to_string(in.width)};
  LOOM_TRY(expect_count("y", y.size(), rows * out.width));
  constexpr std::int64_t kRows = 64;
  if (!p.session || p.index != index) {
    p.session.reset();
    p.network = member->network;
    SessionOptions options;
    options.max_rows = kRows;
    options.whole_sequences = true;
    LOOM_ASSIGN(Session made, Session::create(*p.network, p.pool, options));
    p.session.emplace(std::move(made));
    p.index = index;
  }
  for (std::int64_t from = 0; from < rows; from += kRows) {
    const std::int64_t count = std::min(kRows, rows - from);
    const auto width = static_cast<std::size_t>(in.width);
    LOOM_TRY(p.session
                 ->run(x.subspan(static_cast<std::size_t>(from) * width,
                                 static_cast<std::size_t>(count) * width),
                       count)
                 .status());
    for (std::int64_t r = 0; r < count; ++r)
      std::ranges::copy(p.session->output(r), y.begin() + (from + r) * out.width);
  }
  return {};
}

Json member_json(const populations::NetworkPopulation& all, const populations::Member& m,
                 bool evaluated) {
  const populations::MemberSize size = populations::size_of(*m.network);
  Json json = Json::object();
  json.set("fitness", evaluated ? Json(m.fitness) : Json());
  json.set("feasible", evaluated ? Json(m.violation == 0) : Json());
  json.set("bytes", evaluated ? Json(m.bytes) : Json());
  const bool timed = all.spec().limits.milliseconds || all.spec().costs;
  json.set("milliseconds", evaluated && timed ? Json(m.milliseconds) : Json());
  json.set("layers", size.layers);
  json.set("parameters", size.parameters);
  json.set("sha256", populations::digest_of(*m.network));
  if (!m.failed.empty()) json.set("failed", m.failed);
  return json;
}

Json genome_json(const PopulationObject& p, std::int64_t index, const evolve::Genome& genome) {
  const evolve::Population& all = *p.genomes;
  const evolve::Shape& shape = all.shape();
  Json json = Json::object();
  json.set("inputs", shape.inputs);
  json.set("outputs", shape.outputs);
  json.set("recurrent", shape.recurrent);
  json.set("fitness", index < 0         ? Json(all.champion_fitness())
                      : all.evaluated() ? Json(all.fitness()[static_cast<std::size_t>(index)])
                                        : Json());
  json.set("sha256", genome.sha256());
  const Json data = evolve::to_json(genome, shape);
  for (const auto& [key, value] : data.as_object()) json.set(key, value);
  return json;
}

Json champion_json(const evolve::Population& p) {
  if (!p.champion()) return {};
  Json json = Json::object();
  json.set("fitness", p.champion_fitness());
  json.set("nodes", static_cast<std::int64_t>(p.champion()->nodes.size()));
  json.set("edges", static_cast<std::int64_t>(p.champion()->enabled_edges()));
  json.set("sha256", p.champion()->sha256());
  return json;
}

Json species_json(const std::vector<evolve::SpeciesSize>& sizes) {
  Json species = Json::array();
  for (const evolve::SpeciesSize& one : sizes) {
    Json item = Json::object();
    item.set("id", one.id);
    item.set("size", one.size);
    species.push(std::move(item));
  }
  return species;
}

Json networks_json(const PopulationObject& p) {
  const populations::NetworkPopulation& all = *p.networks;
  double best = 0, mean = 0, worst = 0;
  std::int64_t feasible = 0;
  for (const populations::Member& m : all.members()) {
    if (m.violation > 0) continue;
    best = feasible == 0 ? m.fitness : std::max(best, m.fitness);
    worst = feasible == 0 ? m.fitness : std::min(worst, m.fitness);
    ++feasible;
    mean += (m.fitness - mean) / static_cast<double>(feasible);
  }
  const bool known = all.evaluated() && feasible > 0;
  std::vector<evolve::SpeciesSize> sizes;
  for (const populations::NetworkSpecies& one : all.species())
    sizes.push_back({one.id, static_cast<std::int64_t>(one.members.size())});
  const Network& first = *all.members()[0].network;
  Json json = Json::object();
  json.set("level", "networks");
  json.set("generation", all.generation());
  json.set("evaluated", all.evaluated());
  json.set("evaluations", all.evaluations());
  json.set("best", known ? Json(best) : Json());
  json.set("mean", known ? Json(mean) : Json());
  json.set("worst", known ? Json(worst) : Json());
  json.set("feasible", all.evaluated() ? Json(feasible) : Json());
  json.set("reached", all.reached());
  json.set("champion", all.champion() ? member_json(all, *all.champion(), true) : Json());
  json.set("species", species_json(sizes));
  json.set("inputs", first.input().count());
  json.set("outputs", first.output().count());
  json.set("spec", populations::settings_json(all.spec()));
  json.set("threads", p.pool.size());
  return json;
}

Json info_json(const PopulationObject& p) {
  if (p.networks) return networks_json(p);
  const evolve::GenerationStats s = p.genomes->stats();
  const bool evaluated = p.genomes->evaluated();
  Json json = Json::object();
  json.set("generation", s.generation);
  json.set("evaluated", evaluated);
  json.set("evaluations", s.evaluations);
  json.set("best", evaluated ? Json(s.best) : Json());
  json.set("mean", evaluated ? Json(s.mean) : Json());
  json.set("worst", evaluated ? Json(s.worst) : Json());
  json.set("reached", s.reached);
  json.set("champion", champion_json(*p.genomes));
  json.set("species", species_json(s.species));
  json.set("spec", evolve::settings_json(p.genomes->spec()));
  json.set("threads", p.pool.size());
  return json;
}

}  // namespace

extern "C" {

int32_t loom_population_create(const char* spec, size_t spec_size, int64_t threads,
                               loom_population* population, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(population));
    LOOM_ASSIGN(const Json json, json_argument(spec, spec_size, "spec"));
    if (is_of_networks(json)) {
      LOOM_ASSIGN(populations::SearchSpec read, populations::search_spec(json));
      return add_population(populations::NetworkPopulation::create(std::move(read)), threads,
                            population);
    }
    LOOM_ASSIGN(evolve::EvolutionSpec read, evolve::spec_from_json(without_level(json)));
    return add_population<evolve::Population>(evolve::Population::create(std::move(read)), threads,
                                              population);
  });
}

int32_t loom_population_create_from(loom_network network, const char* spec, size_t spec_size,
                                    int64_t threads, loom_population* population,
                                    loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(population));
    LOOM_ASSIGN(const Json json, json_argument(spec, spec_size, "spec"));
    LOOM_ASSIGN(populations::SearchSpec read, populations::search_spec(json));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    LOOM_ASSIGN(const auto lock, object->shared->hold_alone());
    return add_population(
        populations::NetworkPopulation::create(std::move(read), &object->shared->network), threads,
        population);
  });
}

int32_t loom_population_load(loom_bytes file, int64_t threads, loom_population* population,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(population));
    LOOM_ASSIGN(const auto bytes, get<Bytes>(file));
    const std::string_view text(reinterpret_cast<const char*>(bytes->data), bytes->size);
    if (populations::is_network_population(text))
      return add_population(populations::NetworkPopulation::load(text), threads, population);
    return add_population(evolve::Population::load(text), threads, population);
  });
}

int32_t loom_population_save(loom_population population, loom_bytes* file, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_TRY(want(file));
    if (p.genomes) {
      *file = new_text(p.genomes->save());
      return {};
    }
    LOOM_ASSIGN(const std::string text, p.networks->save());
    *file = new_text(text);
    return {};
  });
}

int32_t loom_population_evaluate(loom_population population, loom_error* error) {
  return on(population, error, [](PopulationObject& p) -> Status {
    p.forget();
    return cancellable(p, [&p] {
      return p.genomes ? p.genomes->evaluate(p.pool, &p.cancel)
                       : p.networks->evaluate(p.pool, &p.cancel);
    });
  });
}

int32_t loom_population_set_fitness(loom_population population, const double* fitness,
                                    size_t fitness_count, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_ASSIGN(const auto values, c_api::span(fitness, fitness_count, "fitness"));
    p.forget();
    return p.genomes ? p.genomes->set_fitness(values) : p.networks->set_fitness(values);
  });
}

int32_t loom_population_step(loom_population population, loom_error* error) {
  return on(population, error, [](PopulationObject& p) -> Status {
    p.forget();
    return p.genomes ? p.genomes->step() : p.networks->step();
  });
}

int32_t loom_population_run(loom_population population, int64_t generations, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    if (generations < 1)
      return {Code::invalid_argument,
              "generations: " + std::to_string(generations) + "; must be at least 1"};
    p.forget();
    return cancellable(p, [&] {
      return p.genomes ? p.genomes->run(generations, p.pool, nullptr, nullptr, &p.cancel)
                       : p.networks->run(generations, p.pool, &p.cancel);
    });
  });
}

int32_t loom_population_activate(loom_population population, int64_t index, const float* x,
                                 size_t x_count, float* y, size_t y_count, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_ASSIGN(const auto in, c_api::span(x, x_count, "x"));
    LOOM_ASSIGN(const auto out, c_api::span(y, y_count, "y"));
    return p.genomes ? activate_genome(p, index, in, out) : activate_network(p, index, in, out);
  });
}

int32_t loom_population_reset(loom_population population, loom_error* error) {
  return on(population, error, [](PopulationObject& p) -> Status {
    p.forget();
    return {};
  });
}

int32_t loom_population_network(loom_population population, int64_t index, loom_network* network,
                                loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_TRY(want(network));
    LOOM_ASSIGN(Network copy, network_at(p, index));
    *network =
        add(std::make_shared<NetworkObject>(std::make_shared<SharedNetwork>(std::move(copy))));
    return {};
  });
}

int32_t loom_population_set_network(loom_population population, int64_t index, loom_network network,
                                    loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    if (p.genomes) return {Code::unsupported, "network: genomes take no weights of networks"};
    if (index < 0 || index >= static_cast<std::int64_t>(p.networks->members().size()))
      return {Code::out_of_range, "index: " + std::to_string(index) + "; the population has " +
                                      std::to_string(p.networks->members().size()) + " networks"};
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    LOOM_ASSIGN(const auto lock, object->shared->hold_alone());
    p.forget();
    return p.networks->set_network(static_cast<std::size_t>(index), object->shared->network);
  });
}

int32_t loom_population_genome(loom_population population, int64_t index, loom_bytes* genome,
                               loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_TRY(want(genome));
    if (p.networks) {
      LOOM_ASSIGN(const populations::Member* member, member_at(p, index));
      Json json = member_json(*p.networks, *member, index < 0 || p.networks->evaluated());
      json.set("mutations", member->note);
      json.set("topology", member->network->to_json());
      *genome = new_json(json);
      return {};
    }
    LOOM_ASSIGN(const evolve::Genome* found, genome_at(p, index));
    *genome = new_json(genome_json(p, index, *found));
    return {};
  });
}

int32_t loom_population_info(loom_population population, loom_bytes* info, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_TRY(want(info));
    *info = new_json(info_json(p));
    return {};
  });
}

}  // extern "C"
