// Populations as files: JSON with a SHA-256 of the state.
#include <algorithm>
#include <cmath>

#include "evolve/population.h"

namespace loom::evolve {
namespace {

constexpr std::string_view kFormat = "loom population";
constexpr std::int64_t kVersion = 1;

Status corrupt(std::string text) { return {Code::corrupt, "population: " + std::move(text)}; }

std::string digest_of(const Json& state) {
  const std::string text = state.dump();
  return Sha256::hex(Sha256::of(std::as_bytes(std::span(text.data(), text.size()))));
}

Json json_of(const Species& s, const Shape& shape) {
  Json json = Json::object();
  json.set("id", s.id);
  json.set("born", s.born);
  json.set("improved", s.improved);
  json.set("best", s.best);
  json.set("representative", to_json(s.representative, shape));
  json.set("members", Json(Json::Array(s.members.begin(), s.members.end())));
  return json;
}

Result<const Json*> member(const Json& json, const char* key, Json::Type type) {
  const Json* found = json.find(key);
  if (!found || found->type() != type)
    return corrupt(std::string(key) + (found ? " is of another type" : " is missing"));
  return found;
}

Result<std::int64_t> count_of(const Json& json, const char* key) {
  LOOM_ASSIGN(const std::int64_t value, json.get_integer(key, -1));
  if (value < 0 || value > (std::int64_t{1} << 60))
    return corrupt(std::string(key) + " must be a count");
  return value;
}

Result<Species> species_from(const Json& json, const Shape& shape, std::vector<bool>& taken) {
  Species s;
  LOOM_ASSIGN(s.id, count_of(json, "id"));
  LOOM_ASSIGN(s.born, count_of(json, "born"));
  LOOM_ASSIGN(s.improved, count_of(json, "improved"));
  LOOM_ASSIGN(s.best, json.get_number("best", 0));
  LOOM_ASSIGN(const Json* genome, member(json, "representative", Json::Type::object));
  LOOM_ASSIGN(s.representative, genome_from_json(*genome, shape));
  LOOM_ASSIGN(const Json* members, member(json, "members", Json::Type::array));
  for (const Json& item : members->as_array()) {
    const auto index = item.is_integer() ? static_cast<std::uint64_t>(item.as_integer()) : ~0ull;
    if (index >= taken.size() || taken[index])
      return corrupt("species " + std::to_string(s.id) + ": members must be genomes of no other");
    taken[index] = true;
    s.members.push_back(static_cast<std::uint32_t>(index));
  }
  if (s.members.empty()) return corrupt("species " + std::to_string(s.id) + " has no members");
  return s;
}

}  // namespace

std::string Population::save() const {
  Json state = Json::object();
  state.set("spec", to_json(spec_));
  state.set("generation", generation_);
  state.set("evaluations", evaluations_);
  state.set("threshold", threshold_);
  state.set("next_species", next_species_);
  state.set("innovations", innovations_.to_json());
  Json genomes = Json::array(), species = Json::array();
  for (const Genome& g : genomes_) genomes.push(to_json(g, shape_));
  for (const Species& s : species_) species.push(json_of(s, shape_));
  state.set("genomes", std::move(genomes));
  state.set("species", std::move(species));
  state.set("fitness", Json(Json::Array(fitness_.begin(), fitness_.end())));
  if (champion_) {
    state.set("champion", to_json(*champion_, shape_));
    state.set("champion_fitness", champion_fitness_);
  }
  Json file = Json::object();
  file.set("format", kFormat);
  file.set("version", kVersion);
  file.set("sha256", digest_of(state));
  file.set("state", std::move(state));
  return file.dump();
}

// Everything but the spec.
Status Population::read_state(const Json& state) {
  LOOM_ASSIGN(generation_, count_of(state, "generation"));
  LOOM_ASSIGN(evaluations_, count_of(state, "evaluations"));
  LOOM_ASSIGN(next_species_, count_of(state, "next_species"));
  LOOM_ASSIGN(threshold_, state.get_number("threshold", spec_.threshold));
  if (!(threshold_ >= 0 && threshold_ <= kMaxThreshold))
    return corrupt("threshold must be within 0 and 1e300");
  LOOM_ASSIGN(const Json* innovations, member(state, "innovations", Json::Type::object));
  LOOM_ASSIGN(innovations_, Innovations::from_json(*innovations, shape_));
  LOOM_ASSIGN(const Json* genomes, member(state, "genomes", Json::Type::array));
  const auto size = static_cast<std::size_t>(spec_.population);
  if (genomes->as_array().size() != size)
    return corrupt(std::to_string(genomes->as_array().size()) + " genomes; the spec has " +
                   std::to_string(size));
  for (const Json& item : genomes->as_array()) {
    LOOM_ASSIGN(Genome genome, genome_from_json(item, shape_));
    if (!innovations_.know(genome)) return corrupt("a genome has innovations that are not listed");
    genomes_.push_back(std::move(genome));
  }
  LOOM_ASSIGN(const Json* species, member(state, "species", Json::Type::array));
  std::vector<bool> taken(size);
  for (const Json& item : species->as_array()) {
    LOOM_ASSIGN(Species s, species_from(item, shape_, taken));
    species_.push_back(std::move(s));
  }
  if (std::ranges::find(taken, false) != taken.end()) return corrupt("a genome has no species");
  LOOM_ASSIGN(const Json* fitness, member(state, "fitness", Json::Type::array));
  for (const Json& item : fitness->as_array()) {
    if (!item.is_number()) return corrupt("fitness must be numbers");
    fitness_.push_back(item.as_number());
  }
  if (const Json* champion = state.find("champion")) {
    LOOM_ASSIGN(champion_, genome_from_json(*champion, shape_));
    LOOM_ASSIGN(champion_fitness_, state.get_number("champion_fitness", 0));
  }
  if (!fitness_.empty() && (fitness_.size() != size || !champion_))
    return corrupt("fitness must be of all genomes or of none");
  return {};
}

Result<Population> Population::load(std::string_view text) {
  LOOM_ASSIGN(const Json file, Json::parse(text));
  const auto format = file.is_object() ? file.get_string("format", "") : std::string();
  if (!format.ok() || *format != kFormat)
    return corrupt("not a file of a population (\"format\": \"loom population\")");
  LOOM_ASSIGN(const std::int64_t version, file.get_integer("version", 0));
  if (version != kVersion)
    return Status(Code::unsupported, "population: version " + std::to_string(version) +
                                         "; this build reads version 1");
  LOOM_ASSIGN(const Json* state, member(file, "state", Json::Type::object));
  LOOM_ASSIGN(const std::string digest, file.get_string("sha256", ""));
  if (digest != digest_of(*state)) return corrupt("its state has another SHA-256 than it says");
  LOOM_ASSIGN(const Json* spec_json, member(*state, "spec", Json::Type::object));
  LOOM_ASSIGN(EvolutionSpec spec, spec_from_json(*spec_json));
  const Shape shape{static_cast<std::uint32_t>(spec.inputs),
                    static_cast<std::uint32_t>(spec.outputs), spec.recurrent};
  Population made(std::move(spec), shape);
  LOOM_TRY(made.read_state(*state));
  return made;
}

}  // namespace loom::evolve
