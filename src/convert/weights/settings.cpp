#include "convert/weights/settings.h"

#include "base/escape.h"
#include "base/message.h"

namespace loom {
namespace {

Status wrong(std::string_view key, const char* expected) {
  return Status(Code::invalid_argument, message("settings: \"", key, "\" must be ", expected));
}

Status read_object(std::string_view key, const Json& value, Json& out) {
  if (!value.is_object()) return wrong(key, "an object");
  out = value;
  return {};
}

// Of "cells" and "types": objects of objects.
Status read_cells(std::string_view key, const Json& value, Json& out) {
  LOOM_TRY(read_object(key, value, out));
  for (const auto& [path, cell] : out.as_object())
    if (!cell.is_object()) return wrong(key, "an object of objects, one for each name");
  return {};
}

Status read_names(std::string_view key, const Json& value, std::vector<std::string>& out) {
  if (!value.is_array()) return wrong(key, "a list of texts");
  for (const Json& item : value.as_array()) {
    if (!item.is_string()) return wrong(key, "a list of texts");
    out.push_back(item.as_string());
  }
  return {};
}

// One value for all, or an object of values by path; "*" is every other module.
Status read_values(std::string_view key, const Json& value, bool text, Json& out) {
  const auto fits = [&](const Json& v) { return text ? v.is_string() : v.is_integer(); };
  const char* expected = text ? "an activation, or an object of activations by module"
                              : "a number, or an object of numbers by module";
  if (fits(value)) {
    out.set("*", value);
    return {};
  }
  if (!value.is_object()) return wrong(key, expected);
  for (const auto& [path, v] : value.as_object())
    if (!fits(v)) return wrong(key, expected);
  out = value;
  return {};
}

Status read(std::string_view key, const Json& value, WeightSettings& s) {
  if (key == "input") return read_object(key, value, s.input);
  if (key == "topology") return read_object(key, value, s.topology);
  if (key == "activation") return read_values(key, value, true, s.activation);
  if (key == "heads") return read_values(key, value, false, s.heads);
  if (key == "types") return read_cells(key, value, s.types);
  if (key == "cells") return read_cells(key, value, s.cells);
  if (key == "map") return read_object(key, value, s.map);
  if (key == "leave") return read_names(key, value, s.leave);
  if (key == "strip") return read_names(key, value, s.strip.emplace());
  if (key == "layers") {
    if (!value.is_array()) return wrong(key, "a list of modules and cells");
    s.layers = value;
    return {};
  }
  if (key == "sequential") {
    if (!value.is_bool()) return wrong(key, "true or false");
    s.sequential = value.as_bool();
    return {};
  }
  if (key == "defaults") {
    if (!value.is_string() || value.as_string() != "pytorch") return wrong(key, "\"pytorch\"");
    s.pytorch = true;
    return {};
  }
  if (key == "layout") {
    if (!value.is_string() || (value.as_string() != "out_in" && value.as_string() != "in_out"))
      return wrong(key, "\"out_in\" or \"in_out\"");
    s.layout = value.as_string();
    return {};
  }
  return Status(Code::invalid_argument,
                message("settings: unknown key ", quoted(key, '"'),
                        "; known are input, activation, heads, types, cells, layers, sequential, "
                        "defaults, layout, leave, strip, topology, map"));
}

void merge(const Json* from, Json& into) {
  if (!from) return;
  for (const auto& [key, value] : from->as_object())
    if (key != "type") into.set(key, value);
}

const Json* value_of(const Json& values, const std::string& path) {
  const Json* own = values.find(path);
  return own ? own : values.find("*");
}

}  // namespace

Result<WeightSettings> WeightSettings::parse(const Json& json) {
  WeightSettings s;
  for (Json* object : {&s.activation, &s.heads, &s.types, &s.cells, &s.map})
    *object = Json::object();
  if (!json.is_object()) return Status(Code::invalid_argument, "settings: expects an object");
  for (const auto& [key, value] : json.as_object()) LOOM_TRY(read(key, value, s));
  if (!s.topology.is_null() &&
      (!s.input.is_null() || !s.layers.is_null() || s.sequential || s.pytorch ||
       !s.cells.as_object().empty() || !s.types.as_object().empty()))
    return Status(Code::invalid_argument,
                  "settings: a \"topology\" says all; beside it are \"map\", \"strip\", \"leave\" "
                  "and \"layout\" alone");
  if (s.topology.is_null() && !s.map.as_object().empty())
    return Status(Code::invalid_argument, "settings: \"map\" goes with a \"topology\"");
  if (!s.layers.is_null() && s.sequential)
    return Status(Code::invalid_argument,
                  "settings: \"sequential\" and \"layers\" do not go together");
  return s;
}

Json WeightSettings::of(const std::string& path, const std::string& type) const {
  Json all = Json::object();
  merge(types.find(type), all);
  const bool activates = type == "dense" || type.starts_with("conv") || type.ends_with("norm");
  if (const Json* a = value_of(activation, path); a && (activates || activation.find(path)))
    all.set("activation", *a);
  if (const Json* h = value_of(heads, path); h && (type == "attention" || heads.find(path)))
    all.set("heads", *h);
  merge(cells.find(path), all);
  return all;
}

std::string WeightSettings::type_of(const std::string& path) const {
  const Json* cell = cells.find(path);
  const Json* type = cell ? cell->find("type") : nullptr;
  return type && type->is_string() ? type->as_string() : "";
}

bool WeightSettings::leaves(std::string_view tensor) const {
  for (const std::string& name : leave) {
    const std::string_view n = name;
    if (n.ends_with('*') ? tensor.starts_with(n.substr(0, n.size() - 1)) : tensor == n) return true;
  }
  return false;
}

}  // namespace loom
