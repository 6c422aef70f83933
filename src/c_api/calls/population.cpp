// Neuroevolution.
#include <cmath>

#include "base/math/fp_env.h"
#include "c_api/call.h"

using namespace loom;
using namespace loom::c_api;

namespace {

Status add_population(Result<evolve::Population> made, std::int64_t threads,
                      loom_population* population) {
  LOOM_TRY(made.status());
  if (threads < 0 || threads > ThreadPool::kMaxThreads)
    return {Code::invalid_argument, "threads: " + std::to_string(threads) +
                                        "; must be from 0 (one per core) to " +
                                        std::to_string(ThreadPool::kMaxThreads)};
  *population =
      add(std::make_shared<PopulationObject>(std::move(*made), static_cast<int>(threads)));
  return {};
}

template <class F>
std::int32_t on(loom_population handle, loom_error* error, F body) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto p, get<PopulationObject>(handle));
    LOOM_ASSIGN(const auto inside, enter(*p));
    return body(*p);
  });
}

Result<const evolve::Genome*> genome_at(const PopulationObject& p, std::int64_t index) {
  const auto& genomes = p.population.genomes();
  if (index == -1) {
    if (p.population.champion()) return &*p.population.champion();
    return Status(Code::invalid_argument, "index: no champion before the first evaluation");
  }
  if (index < 0 || index >= static_cast<std::int64_t>(genomes.size()))
    return Status(Code::out_of_range, "index: " + std::to_string(index) + "; the population has " +
                                          std::to_string(genomes.size()) +
                                          " genomes, and -1 is the champion");
  return &genomes[static_cast<std::size_t>(index)];
}

Status activate(PopulationObject& p, std::int64_t index, std::span<const float> x,
                std::span<float> y) {
  LOOM_ASSIGN(const evolve::Genome* genome, genome_at(p, index));
  const evolve::Shape& shape = p.population.shape();
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

Json genome_json(const PopulationObject& p, std::int64_t index, const evolve::Genome& genome) {
  const evolve::Population& all = p.population;
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

Json info_json(const PopulationObject& p) {
  const evolve::GenerationStats s = p.population.stats();
  const bool evaluated = p.population.evaluated();
  Json json = Json::object();
  json.set("generation", s.generation);
  json.set("evaluated", evaluated);
  json.set("evaluations", s.evaluations);
  json.set("best", evaluated ? Json(s.best) : Json());
  json.set("mean", evaluated ? Json(s.mean) : Json());
  json.set("worst", evaluated ? Json(s.worst) : Json());
  json.set("reached", s.reached);
  json.set("champion", champion_json(p.population));
  Json species = Json::array();
  for (const evolve::SpeciesSize& one : s.species) {
    Json item = Json::object();
    item.set("id", one.id);
    item.set("size", one.size);
    species.push(std::move(item));
  }
  json.set("species", std::move(species));
  json.set("spec", evolve::settings_json(p.population.spec()));
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
    LOOM_ASSIGN(evolve::EvolutionSpec read, evolve::spec_from_json(json));
    return add_population(evolve::Population::create(std::move(read)), threads, population);
  });
}

int32_t loom_population_load(loom_bytes file, int64_t threads, loom_population* population,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(population));
    LOOM_ASSIGN(const auto bytes, get<Bytes>(file));
    return add_population(
        evolve::Population::load({reinterpret_cast<const char*>(bytes->data), bytes->size}),
        threads, population);
  });
}

int32_t loom_population_save(loom_population population, loom_bytes* file, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_TRY(want(file));
    *file = new_text(p.population.save());
    return {};
  });
}

int32_t loom_population_evaluate(loom_population population, loom_error* error) {
  return on(population, error, [](PopulationObject& p) -> Status {
    p.phenotype.reset();
    return cancellable(p, [&p] { return p.population.evaluate(p.pool, &p.cancel); });
  });
}

int32_t loom_population_set_fitness(loom_population population, const double* fitness,
                                    size_t fitness_count, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_ASSIGN(const auto values, c_api::span(fitness, fitness_count, "fitness"));
    p.phenotype.reset();
    return p.population.set_fitness(values);
  });
}

int32_t loom_population_step(loom_population population, loom_error* error) {
  return on(population, error, [](PopulationObject& p) -> Status {
    p.phenotype.reset();
    return p.population.step();
  });
}

int32_t loom_population_run(loom_population population, int64_t generations, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    if (generations < 1)
      return {Code::invalid_argument,
              "generations: " + std::to_string(generations) + "; must be at least 1"};
    p.phenotype.reset();
    return cancellable(
        p, [&] { return p.population.run(generations, p.pool, nullptr, nullptr, &p.cancel); });
  });
}

int32_t loom_population_activate(loom_population population, int64_t index, const float* x,
                                 size_t x_count, float* y, size_t y_count, loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_ASSIGN(const auto in, c_api::span(x, x_count, "x"));
    LOOM_ASSIGN(const auto out, c_api::span(y, y_count, "y"));
    return activate(p, index, in, out);
  });
}

int32_t loom_population_reset(loom_population population, loom_error* error) {
  return on(population, error, [](PopulationObject& p) -> Status {
    p.phenotype.reset();
    return {};
  });
}

int32_t loom_population_genome(loom_population population, int64_t index, loom_bytes* genome,
                               loom_error* error) {
  return on(population, error, [&](PopulationObject& p) -> Status {
    LOOM_TRY(want(genome));
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
