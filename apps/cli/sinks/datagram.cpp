#include "sinks/datagram.h"

#include <algorithm>

namespace loom::cli {
namespace {

// As many of the list's first elements as may be there.
Json first_of(const Json& list, std::size_t count) {
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(count, list.as_array().size()); ++i)
    out.push(list.as_array()[i]);
  return out;
}

Json branch_of(const Json& layer, std::size_t slot) {
  const Json* runs = nullptr;
  for (const Json& link : member(layer, "links").as_array())
    if (const Json* run = link.find("run")) runs = run;
  Json out = Json::object();
  out.set("type", member(layer, "type"));
  out.set("slot", static_cast<std::int64_t>(slot));
  out.set("remote", runs != nullptr);
  const char* const names[] = {"tz", "ty", "tx", "tl"};
  for (std::size_t i = 0; i < 4; ++i) out.set(names[i], runs ? runs->as_array()[i] : Json(-1));
  return out;
}

Json statistics_of(const Json& event) {
  Json out = Json::object();
  for (const char* key : {"mean", "std", "min", "max", "active_share", "nan_count", "inf_count",
                          "count", "pass", "passes"}) {
    const Json* value = event.find(key);
    out.set(key, value ? *value : Json());
  }
  return out;
}

}  // namespace

void Datagrams::collect(const Json& layers) {
  for (const Json& layer : layers.as_array()) {
    layers_[text_in(layer, "path")] = &layer;
    collect(member(layer, "branches"));
  }
}

void Datagrams::begin(const Json& blueprint) {
  blueprint_ = blueprint;
  layers_.clear();
  for (const Json& model : member(blueprint_, "models").as_array())
    collect(member(model, "layers"));
}

Json Datagrams::of(const Json& event) {
  const std::string direction = text_in(event, "direction"), path = text_in(event, "path");
  const std::int64_t pass = integer_in(event, "pass");
  index_ = pass == pass_ && direction == direction_ ? index_ + 1 : 0;
  pass_ = pass, direction_ = direction;
  const auto found = layers_.find(path);
  const Json* layer = found == layers_.end() ? nullptr : found->second;
  Json out = Json::object();
  out.set("v", "tanhi1");
  out.set("seq", number_++);
  const bool backward = direction == "backward" || direction == "weights";
  out.set("phase", direction == "forward" ? "fwd" : backward ? "bwd" : "sweep");
  out.set("idx", index_);
  const char* const names[] = {"z", "y", "x", "l"};
  const Json& at = member(event, "at");
  for (std::size_t i = 0; i < 4; ++i) out.set(names[i], at.as_array()[i]);
  out.set("layer", member(event, "type"));
  out.set("dtype", layer ? text_in(*layer, "dtype") : "");
  out.set("connections", layer ? integer_in(*layer, "parameters") : 0);
  out.set("t0_ns", integer_in(event, "t0_ns"));
  out.set("t1_ns", integer_in(event, "t1_ns"));
  out.set("shape", layer ? member(*layer, "output_shape") : Json::array());
  out.set("links", layer ? first_of(member(*layer, "links"), kMaxLinks) : Json::array());
  const std::string name = layer ? text_in(*layer, "name") : "";
  out.set("label", name.empty() ? path : name);
  out.set("combine", layer ? text_in(*layer, "combine_mode") : "");
  Json branches = Json::array();
  if (layer) {
    const auto& list = member(*layer, "branches").as_array();
    for (std::size_t i = 0; i < std::min(kMaxBranches, list.size()); ++i)
      branches.push(branch_of(list[i], i));
  }
  out.set("branches", std::move(branches));
  out.set("stats", statistics_of(event));
  return out;
}

}  // namespace loom::cli
