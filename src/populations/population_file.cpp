// Populations of networks as files: JSON with a SHA-256 of the state, weights in base64.
#include <algorithm>
#include <bit>

#include "base/files/sha256.h"
#include "populations/population.h"

namespace loom::populations {
namespace {

constexpr std::string_view kFormat = "loom population of networks";
constexpr std::int64_t kVersion = 1;
constexpr JsonLimits kLimits{.max_bytes = std::size_t{1} << 30};

Status corrupt(std::string text) { return {Code::corrupt, "population: " + std::move(text)}; }

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

Result<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return corrupt("weights are no base64");
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    std::size_t length = 3;
    for (std::size_t k = 0; k < 4; ++k) {
      const char c = text[i + k];
      const char* digit = std::find(kDigits, kDigits + 64, c);
      const bool padding = c == '=' && i + 4 == text.size() && k >= 2;
      if (!padding && digit == kDigits + 64) return corrupt("weights are no base64");
      if (padding) --length;
      group = group << 6 | (padding ? 0u : static_cast<std::uint32_t>(digit - kDigits));
    }
    for (std::size_t k = 0; k < length; ++k)
      bytes.push_back(static_cast<std::uint8_t>(group >> (16 - 8 * k)));
  }
  return bytes;
}

template <class T>
void put(std::vector<std::uint8_t>& bytes, std::span<const T> values) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (const T v : values)
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes.push_back(static_cast<std::uint8_t>(std::bit_cast<Bits>(v) >> (8 * i)));
}

template <class T>
std::vector<T> taken(std::span<const std::uint8_t> bytes) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<T> values;
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) bits |= static_cast<Bits>(bytes[at + i]) << (8 * i);
    values.push_back(std::bit_cast<T>(bits));
  }
  return values;
}

// Masters in the order of the parameters: "s" for one of f32, "d" for one of f64.
Json network_json(Network& network) {
  std::vector<std::uint8_t> bytes;
  std::string types;
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    const WeightStore& store = *p.param->store;
    types += store.master_is_f64() ? 'd' : 's';
    if (store.master_is_f64()) put(bytes, store.master64());
    else put(bytes, store.master());
  }
  Json json = Json::object();
  json.set("topology", network.to_json());
  json.set("types", types);
  json.set("weights", base64(bytes));
  return json;
}

Status read_store(WeightStore& store, char type, std::span<const std::uint8_t> bytes) {
  const WeightFormat format = store.format();
  if (type == 'd') {
    LOOM_ASSIGN(store, WeightStore::from_f64(store.rows(), store.cols(), taken<double>(bytes)));
  } else {
    LOOM_ASSIGN(store, WeightStore::from_f32(store.rows(), store.cols(), taken<float>(bytes)));
  }
  LOOM_TRY(store.morph(format));
  return store.master_is_f64() == (type == 'd') ? Status() : corrupt("weights of another type");
}

Result<std::shared_ptr<Network>> network_from(const Json& json, std::int64_t max_parameters) {
  const Json* topology = json.find("topology");
  if (!topology) return corrupt("a network has no topology");
  LOOM_ASSIGN(const std::string types, json.get_string("types", ""));
  LOOM_ASSIGN(const std::string text, json.get_string("weights", ""));
  LOOM_ASSIGN(const std::vector<std::uint8_t> bytes, from_base64(text));
  LOOM_ASSIGN(Network network, Network::from_json(*topology, max_parameters));
  std::size_t at = 0, number = 0;
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    const char type = number < types.size() ? types[number++] : '?';
    const std::size_t size =
        static_cast<std::size_t>(p.param->spec.rows * p.param->spec.cols) * (type == 'd' ? 8 : 4);
    if ((type != 'd' && type != 's') || size > bytes.size() - at)
      return corrupt("weights of a network are of another number");
    LOOM_TRY(read_store(*p.param->store, type, std::span(bytes).subspan(at, size)));
    at += size;
  }
  if (at != bytes.size() || number != types.size())
    return corrupt("weights of a network are of another number");
  return std::make_shared<Network>(std::move(network));
}

Json member_json(const Member& m) {
  Json json = network_json(*m.network);
  json.set("fitness", m.fitness);
  json.set("bytes", m.bytes);
  json.set("milliseconds", m.milliseconds);
  json.set("violation", m.violation);
  if (!m.failed.empty()) json.set("failed", m.failed);
  if (!m.note.empty()) json.set("note", m.note);
  return json;
}

Result<Member> member_from(const Json& json, std::int64_t max_parameters) {
  if (!json.is_object()) return corrupt("a member must be an object");
  Member m;
  LOOM_ASSIGN(m.network, network_from(json, max_parameters));
  LOOM_ASSIGN(m.fitness, json.get_number("fitness", 0));
  LOOM_ASSIGN(m.bytes, json.get_integer("bytes", 0));
  LOOM_ASSIGN(m.milliseconds, json.get_number("milliseconds", 0));
  LOOM_ASSIGN(m.violation, json.get_number("violation", 0));
  LOOM_ASSIGN(m.failed, json.get_string("failed", ""));
  LOOM_ASSIGN(m.note, json.get_string("note", ""));
  return m;
}

Json species_json(const NetworkSpecies& s) {
  Json json = Json::object();
  json.set("id", s.id);
  json.set("born", s.born);
  json.set("improved", s.improved);
  json.set("best", s.best);
  json.set("members", Json(Json::Array(s.members.begin(), s.members.end())));
  json.set("representative", network_json(*s.representative));
  return json;
}

Result<const Json*> list_of(const Json& json, const char* key) {
  const Json* found = json.find(key);
  if (!found || !found->is_array()) return corrupt(std::string(key) + " must be a list");
  return found;
}

Result<NetworkSpecies> species_from(const Json& json, std::int64_t max_parameters,
                                    std::vector<bool>& taken) {
  NetworkSpecies s;
  LOOM_ASSIGN(s.id, json.get_integer("id", 0));
  LOOM_ASSIGN(s.born, json.get_integer("born", 0));
  LOOM_ASSIGN(s.improved, json.get_integer("improved", 0));
  LOOM_ASSIGN(s.best, json.get_number("best", 0));
  const Json* representative = json.find("representative");
  if (!representative) return corrupt("a species has no representative");
  LOOM_ASSIGN(s.representative, network_from(*representative, max_parameters));
  LOOM_ASSIGN(const Json* members, list_of(json, "members"));
  for (const Json& item : members->as_array()) {
    const auto index = item.is_integer() ? static_cast<std::uint64_t>(item.as_integer()) : ~0ull;
    if (index >= taken.size() || taken[index])
      return corrupt("members of a species must be networks of no other");
    taken[index] = true;
    s.members.push_back(static_cast<std::uint32_t>(index));
  }
  if (s.members.empty()) return corrupt("a species has no members");
  return s;
}

std::string digest(const Json& state) {
  const std::string text = state.dump();
  return Sha256::hex(Sha256::of(std::as_bytes(std::span(text.data(), text.size()))));
}

}  // namespace

bool is_network_population(std::string_view text) {
  return text.substr(0, 100).find(kFormat) != std::string_view::npos;
}

Result<std::string> NetworkPopulation::save() const {
  Json state = Json::object(), members = Json::array(), species = Json::array();
  state.set("spec", to_json(spec_));
  state.set("generation", generation_);
  state.set("evaluations", evaluations_);
  state.set("next_species", next_species_);
  state.set("threshold", threshold_);
  state.set("evaluated", evaluated_);
  for (const Member& m : members_) members.push(member_json(m));
  for (const NetworkSpecies& s : species_) species.push(species_json(s));
  state.set("members", std::move(members));
  state.set("species", std::move(species));
  if (champion_) state.set("champion", member_json(*champion_));
  Json file = Json::object();
  file.set("format", kFormat);
  file.set("version", kVersion);
  file.set("sha256", digest(state));
  file.set("state", std::move(state));
  std::string text = file.dump();
  if (text.size() > kLimits.max_bytes)
    return Status(Code::out_of_range, "population: a file of more than 1 GiB");
  return text;
}

Status NetworkPopulation::read_state(const Json& state) {
  LOOM_ASSIGN(generation_, state.get_integer("generation", 0));
  LOOM_ASSIGN(evaluations_, state.get_integer("evaluations", 0));
  LOOM_ASSIGN(next_species_, state.get_integer("next_species", 0));
  LOOM_ASSIGN(threshold_, state.get_number("threshold", spec_.threshold));
  LOOM_ASSIGN(evaluated_, state.get_bool("evaluated", false));
  if (generation_ < 0 || evaluations_ < 0 || next_species_ < 0)
    return corrupt("generation, evaluations and next_species must be counts");
  const std::int64_t limit = spec_.rates.max_parameters;
  LOOM_ASSIGN(const Json* members, list_of(state, "members"));
  if (static_cast<std::int64_t>(members->as_array().size()) != spec_.population)
    return corrupt(std::to_string(members->as_array().size()) + " networks; the spec has " +
                   std::to_string(spec_.population));
  for (const Json& item : members->as_array()) {
    LOOM_ASSIGN(Member m, member_from(item, limit));
    members_.push_back(std::move(m));
  }
  std::vector<bool> taken(members_.size());
  LOOM_ASSIGN(const Json* species, list_of(state, "species"));
  for (const Json& item : species->as_array()) {
    LOOM_ASSIGN(NetworkSpecies s, species_from(item, limit, taken));
    species_.push_back(std::move(s));
  }
  if (std::ranges::find(taken, false) != taken.end()) return corrupt("a network has no species");
  if (const Json* champion = state.find("champion")) {
    LOOM_ASSIGN(champion_, member_from(*champion, limit));
  }
  if (evaluated_ && !champion_) return corrupt("the champion is missing");
  return {};
}

Result<NetworkPopulation> NetworkPopulation::load(std::string_view text) {
  LOOM_ASSIGN(const Json file, Json::parse(text, kLimits));
  const auto format = file.is_object() ? file.get_string("format", "") : std::string();
  if (!format.ok() || *format != kFormat) return corrupt("not a file of a population of networks");
  LOOM_ASSIGN(const std::int64_t version, file.get_integer("version", 0));
  if (version != kVersion)
    return Status(Code::unsupported, "population: version " + std::to_string(version) +
                                         "; this build reads version 1");
  const Json* state = file.find("state");
  if (!state || !state->is_object()) return corrupt("state is missing");
  LOOM_ASSIGN(const std::string sha256, file.get_string("sha256", ""));
  if (sha256 != digest(*state)) return corrupt("its state has another SHA-256 than it says");
  const Json* spec_json = state->find("spec");
  if (!spec_json) return corrupt("spec is missing");
  LOOM_ASSIGN(SearchSpec spec, search_spec(*spec_json));
  NetworkPopulation made(std::move(spec));
  LOOM_TRY(made.read_state(*state));
  return made;
}

}  // namespace loom::populations
