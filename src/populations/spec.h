// What a run of evolution of whole networks is to do. The keys are those of the JSON of a spec with
// "level": "networks" (docs/reference/evolution.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "breed/mutate.h"
#include "evolve/selection.h"
#include "evolve/spec.h"
#include "populations/cost.h"

namespace loom::populations {

struct Limits {
  std::optional<std::int64_t> bytes;
  std::optional<double> milliseconds;
  std::int64_t rows = 1;
};

template <class V>
void fields(V& v, Limits& l) {
  v("bytes", l.bytes, {.doc = "of all weights in their formats", .min = 1});
  v("milliseconds", l.milliseconds, {.doc = "of a run of `rows` rows on one thread", .above = 0});
  v("rows", l.rows, {.doc = "of the run that is timed", .min = 1, .max = 65536});
}

struct Learning {
  std::int64_t steps = 0, batch = 32;
  double lr = 0.003;
  std::string loss = "mse";
  bool lamarckian = false;
};

template <class V>
void fields(V& v, Learning& l) {
  v("steps", l.steps,
    {.doc = "of back-propagation (AdamW) before a member is scored; 0: none",
     .min = 0,
     .max = 1000000});
  v("batch", l.batch, {.doc = "rows of a step", .min = 1, .max = 65536});
  v("lr", l.lr, {.doc = "learning rate", .above = 0, .max = 1000});
  v("loss", l.loss,
    {.doc = "what is learned; of `cross_entropy` y is a class", .one_of = "mse, cross_entropy"});
  v("lamarckian", l.lamarckian,
    {.doc = "the member keeps what it learned, and its children get it"});
}

struct SearchSpec {
  std::string level = "networks", task = "host", score = "loss", crossover = "uniform";
  std::string match = "place";
  bool align = true;
  std::optional<double> goal;
  double holdout = 0.25;
  std::int64_t population = 24, seed = 1, start_mutations = 1;
  double mutate_only = 0.5, interspecies = 0.01, survival = 0.3;
  std::int64_t elites = 1, elite_size = 3, stagnation = 15, protected_species = 2;
  double threshold = 0.4, weight_difference = 0.2;
  std::int64_t species = 0;
  breed::MutationRates rates;
  Limits limits;
  Learning train;

  // From other keys.
  Json network;                // topology of the first member; null: it is given with its weights
  std::optional<Costs> costs;  // none: milliseconds are measured
  evolve::Table table;
  std::int64_t outputs = 0;  // columns of its y
  bool limited() const { return limits.bytes || limits.milliseconds; }
  evolve::SelectionRules rules() const;
};

template <class V>
void task_fields(V& v, SearchSpec& s) {
  v("level", s.level, {.doc = "`networks`", .one_of = "networks"});
  v("task", s.task,
    {.doc = "`table`: scores on held-out rows of data; `host`: the caller sets the fitness",
     .one_of = "table, host"});
  const When of_table{"task", s.task, "table"};
  v("score", s.score,
    {.doc =
         "of the held-out rows: `loss`, minus the mean of it; `accuracy`, the share of rows with "
         "the right class",
     .one_of = "loss, accuracy",
     .only = of_table});
  v("holdout", s.holdout,
    {.doc = "share of the rows that no member learns from",
     .above = 0,
     .below = 1,
     .only = of_table});
  v("goal", s.goal, {.doc = "fitness within the limits that ends a run"});
  v("population", s.population, {.doc = "networks of a generation", .min = 2, .max = 4096});
  v("seed", s.seed, {.doc = "of all random numbers", .min = 0});
  v("start_mutations", s.start_mutations,
    {.doc = "of each member of the first generation but the first", .min = 0, .max = 1000});
  v("crossover", s.crossover,
    {.doc = "how two parents become one", .one_of = "blend, point, uniform, layer_wise"});
  v("match", s.match, {.doc = "layers of two parents", .one_of = "place, dna"});
  v("align", s.align,
    {.doc = "units of the second parent are brought into the order of the first"});
}

template <class V>
void fields(V& v, SearchSpec& s) {
  task_fields(v, s);
  const auto share = [&v](std::string_view key, double& value, FieldText doc) {
    v(key, value, {.doc = doc, .min = 0, .max = 1});
  };
  const auto count = [&v](std::string_view key, std::int64_t& value, FieldText doc) {
    v(key, value, {.doc = doc, .min = 0, .max = 1000000000});
  };
  share("mutate_only", s.mutate_only, "share of children with one parent");
  share("interspecies", s.interspecies, "share of crossovers between species");
  share("survival", s.survival, "share of a species that has children");
  count("elites", s.elites, "best networks of a species that live on unchanged");
  count("elite_size", s.elite_size, "members from which on a species has elites");
  count("stagnation", s.stagnation, "generations without a better network that end a species");
  count("protected_species", s.protected_species, "best species that stagnation does not end");
  share("threshold", s.threshold, "distance within a species");
  share("weight_difference", s.weight_difference, "share of weights in that distance");
  count("species", s.species, "number of species that the threshold is moved towards; 0: fixed");
  v("rates", s.rates, {.doc = "of mutation"});
  v("limits", s.limits, {.doc = "what a member must keep to"});
  v("train", s.train, {.doc = "back-propagation of task `table`"});
}

// Reads, checks and completes a spec. `network`: its topology; `data`: {"x": [[...]], "y": [[...]]}
// of the task `table`; `costs`: "reference" or a table of costs.
Result<SearchSpec> search_spec(const Json& json);
Json to_json(const SearchSpec& spec);
// The same without data and topology.
Json settings_json(const SearchSpec& spec);

}  // namespace loom::populations
