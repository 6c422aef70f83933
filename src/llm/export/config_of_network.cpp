// The configuration of a network that was made as a language model: the inverse of
// decoder_topology.
#include <algorithm>

#include "base/message.h"
#include "llm/config/architecture.h"
#include "llm/export/outgoing.h"

namespace loom {
namespace {

// Members that say nothing of what is computed from given weights.
bool is_silent(std::string_view key) {
  constexpr std::string_view kSilent[] = {"dtype", "name",    "init",    "std",
                                          "seed",  "version", "out_std", "dropout"};
  return std::find(std::begin(kSilent), std::end(kSilent), key) != std::end(kSilent);
}

bool same(const Json& a, const Json& b, std::string& where);

bool holds(const Json& a, const Json& b, std::string& where) {
  for (const auto& [key, value] : a.as_object()) {
    if (is_silent(key)) continue;
    const Json* other = b.find(key);
    if (other && same(value, *other, where)) continue;
    if (where.empty()) where = "\"" + key + "\"";
    return false;
  }
  return true;
}

bool same(const Json& a, const Json& b, std::string& where) {
  if (a.is_number() && b.is_number()) return a.as_number() == b.as_number();
  if (a.is_object() && b.is_object()) return holds(a, b, where) && holds(b, a, where);
  if (a.is_array() && b.is_array()) {
    if (a.as_array().size() != b.as_array().size()) return false;
    for (std::size_t i = 0; i < a.as_array().size(); ++i)
      if (!same(a.as_array()[i], b.as_array()[i], where)) return false;
    return true;
  }
  return a.dump() == b.dump();
}

const Json& none() {
  static const Json json;
  return json;
}
const Json& member(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  return found ? *found : none();
}
const Json& item(const Json& json, std::size_t i) {
  return json.is_array() && i < json.as_array().size() ? json.as_array()[i] : none();
}

std::int64_t integer(const Json& json, std::string_view key) {
  const Json& value = member(json, key);
  return value.is_integer() ? value.as_integer() : 0;
}
double number(const Json& json, std::string_view key) {
  const Json& value = member(json, key);
  return value.is_number() ? value.as_number() : 0;
}
bool flag(const Json& json, std::string_view key) {
  const Json& value = member(json, key);
  return value.is_bool() && value.as_bool();
}

// What the cells of one block say.
void read_block(const Json& cell, ModelConfig& c) {
  const Json& layers = member(cell, "layers");
  const Json& first = member(item(layers, 0), "layers");
  const Json& second = member(item(layers, 2), "layers");
  const Json &norm = item(first, 0), &attention = item(first, 1), &mlp = item(second, 1);
  c.norm_eps = number(norm, "eps");
  c.heads = integer(attention, "heads");
  c.kv_heads = integer(attention, "kv_heads");
  c.head_dim = integer(attention, "head_dim");
  c.qkv_bias = flag(attention, "qkv_bias");
  c.out_bias = flag(attention, "out_bias");
  c.qk_norm = flag(attention, "qk_norm");
  c.rope = {};
  c.rope.theta = number(attention, "rope_theta");
  const Json& scaling = member(attention, "rope_scaling");
  const std::string kind = scaling.is_string() ? scaling.as_string() : "none";
  if (kind != "none") {
    c.rope.scaling = kind == "linear" ? RopeScaling::linear : RopeScaling::llama3;
    c.rope.factor = number(attention, "rope_factor");
  }
  if (c.rope.scaling == RopeScaling::llama3) {
    c.rope.low_freq_factor = number(attention, "rope_low_freq_factor");
    c.rope.high_freq_factor = number(attention, "rope_high_freq_factor");
    c.rope.original_max_positions = number(attention, "rope_original_positions");
  }
  c.intermediate_size = integer(mlp, "hidden");
  c.mlp_bias = flag(mlp, "bias");
  c.ternary = Ternary::none;
}

// The family whose layers these are, where the file does not say.
const Architecture* family_of(const ModelConfig& c, bool sub_norms) {
  return find_architecture(sub_norms                   ? "bitnet"
                           : c.qk_norm                 ? "qwen3"
                           : c.qkv_bias && !c.out_bias ? "qwen2"
                                                       : "llama");
}

}  // namespace

std::string topology_difference(const Json& a, const Json& b) {
  const Json &x = member(a, "cells"), &y = member(b, "cells");
  const std::size_t size = x.is_array() ? x.as_array().size() : 0;
  if (!y.is_array() || y.as_array().size() != size) return "the number of cells";
  for (std::size_t i = 0; i < size; ++i) {
    std::string where;
    if (!same(item(x, i), item(y, i), where))
      return "cell " + std::to_string(i) + (where.empty() ? "" : ": " + where);
  }
  std::string where;
  return same(a, b, where) ? "" : where.empty() ? "the topology" : where;
}

Result<ModelConfig> config_of_network(const Network& network, const ModelConfig& known) {
  const Json topology = network.to_json();
  const Json& cells = member(topology, "cells");
  const std::size_t count = cells.is_array() ? cells.as_array().size() : 0;
  const auto refused = [](const std::string& what) {
    return Status(
        Code::unsupported,
        message("only decoders of the families in docs/guide/models.md go into other programs' "
                "files; in this network differs ",
                what));
  };
  if (count < 4) return refused("the number of cells");
  ModelConfig c = known;
  c.layers = static_cast<std::int64_t>(count) - 3;
  c.hidden_size = integer(item(cells, 0), "out");
  read_block(item(cells, 1), c);
  c.windows.clear();
  bool sub_norms = false;
  for (std::size_t i = 1; i + 2 < count; ++i) {
    const Json& first = member(item(member(item(cells, i), "layers"), 0), "layers");
    c.windows.push_back(integer(item(first, 1), "window"));
    sub_norms = sub_norms || flag(item(first, 1), "sub_norm");
  }
  c.tied = item(cells, count - 1).find("tie") != nullptr;
  if (!c.architecture) c.architecture = family_of(c, sub_norms);
  auto planned = Network::from_json(decoder_topology(c));
  if (!planned.ok()) return refused("what its first block is made of");
  const std::string difference = topology_difference(topology, planned->to_json());
  if (!difference.empty()) return refused(difference);
  return c;
}

}  // namespace loom
