// What a run of evolution is to do, and its rates. The keys are those of the JSON of a spec
// (docs/reference/evolution.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields/fields.h"
#include "base/json/json.h"
#include "base/status.h"

namespace loom::evolve {

// Append only: saved populations and hashes have their numbers.
enum class GeneActivation : std::uint8_t {
  linear,
  sigmoid,
  steep_sigmoid,  // sigmoid(4.9 x), as in the paper
  tanh,
  relu,
  gaussian,  // exp(-x^2)
  sin,
  abs,
};
inline constexpr int kGeneActivations = 8;
std::string_view name(GeneActivation activation);
Result<GeneActivation> activation_named(std::string_view text);

enum class Task : std::uint8_t { xor_gate, cart_pole, double_pole, table, host };

struct Table {
  std::int64_t rows = 0;
  std::vector<float> x, y;  // rows x inputs, rows x outputs
};

inline constexpr std::int64_t kMaxPopulation = 1 << 20;
inline constexpr std::int64_t kMaxWidth = 1 << 16;

struct EvolutionSpec {
  std::string task = "host";
  std::int64_t inputs = 0, outputs = 0;  // 0: those of the task
  std::string score = "mse";
  std::optional<double> goal;
  std::int64_t episode_steps = 0;  // 0: as the task has it

  std::int64_t population = 150;
  std::int64_t seed = 1;
  bool recurrent = false;
  std::int64_t ticks = 3;
  std::string connect = "full";
  std::string output_activation = "steep_sigmoid";
  std::vector<std::string> activations = {"steep_sigmoid"};
  std::int64_t max_hidden = 1000;

  double start_range = 2, weight_range = 30;
  double mutate_weights = 0.8, perturb_share = 0.9, perturb_range = 0.5, replace_range = 2;
  double add_node = 0.03, add_edge = 0.05, toggle_edge = 0, remove_edge = 0, remove_node = 0;
  double change_activation = 0;

  double mutate_only = 0.25, average_share = 0.4, interspecies = 0.001, stay_disabled = 0.75;
  double survival = 0.2;
  std::int64_t elites = 1, elite_size = 5;
  std::int64_t stagnation = 15, protected_species = 2;

  double excess = 1, disjoint = 1, weight_difference = 0.4, threshold = 3;
  std::int64_t small_genome = 20, species = 0;

  // From the names above.
  Task kind = Task::host;
  GeneActivation output_kind{};
  std::vector<GeneActivation> activation_kinds;
  Table table;
};

template <class V>
void task_fields(V& v, EvolutionSpec& s) {
  v("task", s.task,
    {.doc = "that gives genomes their fitness: a built-in one, `table` for data, or `host` for "
            "values of the caller",
     .one_of = "xor, cart_pole, double_pole, table, host"});
  v("inputs", s.inputs,
    {.doc = "of a genome; a built-in task and a table have theirs", .min = 0, .max = kMaxWidth});
  v("outputs", s.outputs, {.doc = "as `inputs`", .min = 0, .max = kMaxWidth});
  v("score", s.score,
    {.doc = "of a table: `mse`, minus the mean squared error; `sse`, the number of values less the "
            "sum of squared errors; `accuracy`, the share of rows with the right class",
     .one_of = "mse, sse, accuracy"});
  v("goal", s.goal, {.doc = "fitness that ends a run"});
  v("episode_steps", s.episode_steps,
    {.doc = "of a control task, decisions of 0.02 s; 0: 500, double_pole 100000",
     .min = 0,
     .max = 10000000});
  v("population", s.population,
    {.doc = "genomes of a generation", .min = 2, .max = kMaxPopulation});
  v("seed", s.seed, {.doc = "of all random numbers", .min = 0});
  v("recurrent", s.recurrent, {.doc = "whether edges may form cycles"});
  v("ticks", s.ticks,
    {.doc = "that a recurrent genome runs for a row of a table", .min = 1, .max = 1000});
  v("connect", s.connect,
    {.doc = "first genomes: every input to every output, or no edge", .one_of = "full, empty"});
  v("output_activation", s.output_activation, {.doc = "of outputs"});
  v("activations", s.activations, {.doc = "that hidden nodes may have"});
  v("max_hidden", s.max_hidden, {.doc = "hidden nodes of a genome", .min = 0, .max = 1000000});
  v("start_range", s.start_range,
    {.doc = "first weights are uniform in +- this", .min = 0, .max = 1000});
  v("weight_range", s.weight_range, {.doc = "no weight leaves +- this", .above = 0, .max = 1000});
}

template <class V>
void rate_fields(V& v, EvolutionSpec& s) {
  const auto share = [&v](std::string_view key, double& value, FieldText doc) {
    v(key, value, {.doc = doc, .min = 0, .max = 1});
  };
  const auto range = [&v](std::string_view key, double& value, FieldText doc) {
    v(key, value, {.doc = doc, .min = 0, .max = 1000});
  };
  const auto count = [&v](std::string_view key, std::int64_t& value, FieldText doc) {
    v(key, value, {.doc = doc, .min = 0, .max = 1000000000});
  };
  share("mutate_weights", s.mutate_weights, "probability that a child's weights change");
  share("perturb_share", s.perturb_share, "of them, the share that is moved; others are new");
  range("perturb_range", s.perturb_range, "a moved weight changes by +- this");
  range("replace_range", s.replace_range, "a new weight is uniform in +- this");
  share("add_node", s.add_node, "probability that a node splits an edge");
  share("add_edge", s.add_edge, "probability of a new edge");
  share("toggle_edge", s.toggle_edge, "probability that an edge is enabled or disabled");
  share("remove_edge", s.remove_edge, "probability that an edge is removed");
  share("remove_node", s.remove_node, "probability that a hidden node is removed");
  share("change_activation", s.change_activation, "probability that a hidden node changes");
  share("mutate_only", s.mutate_only, "share of children with one parent");
  share("average_share", s.average_share, "share of crossovers that average weights");
  share("interspecies", s.interspecies, "share of crossovers between species");
  share("stay_disabled", s.stay_disabled, "probability that a gene disabled in a parent stays so");
  share("survival", s.survival, "share of a species that has children");
  count("elites", s.elites, "best genomes of a species that live on unchanged");
  count("elite_size", s.elite_size, "members from which on a species has elites");
  count("stagnation", s.stagnation, "generations without a better genome that end a species");
  count("protected_species", s.protected_species, "best species that stagnation does not end");
  range("excess", s.excess, "c1 of the compatibility distance");
  range("disjoint", s.disjoint, "c2");
  range("weight_difference", s.weight_difference, "c3");
  range("threshold", s.threshold, "distance within a species");
  count("small_genome", s.small_genome, "below as many edges, N of the distance is 1");
  count("species", s.species, "number of species that the threshold is moved towards; 0: fixed");
}

template <class V>
void fields(V& v, EvolutionSpec& s) {
  task_fields(v, s);
  rate_fields(v, s);
}

// A list of rows of numbers, of one width; errors begin with "data.<key>". And back.
Result<std::vector<float>> matrix_from_json(const Json& json, std::string_view key,
                                            std::int64_t* rows, std::int64_t* cols);
Json matrix_json(const std::vector<float>& values, std::int64_t rows);

// Reads, checks and completes a spec; `data`: {"x": [[...]], "y": [[...]]} of the task `table`.
Result<EvolutionSpec> spec_from_json(const Json& json);
Json to_json(const EvolutionSpec& spec);
// The same without the data, which may be large.
Json settings_json(const EvolutionSpec& spec);

}  // namespace loom::evolve
