#include "base/fields/old_names.h"

#include <iterator>
#include <string_view>

namespace loom {
namespace {

struct Row {
  std::string_view where;  // a type, or "" for types themselves; a part of a spec
  std::string_view key;    // "": the row renames a key; otherwise a value of this key
  std::string_view old, present;
  bool stays = false;  // in new files, too
};

constexpr Row kRows[] = {
    {"", "type", "cnn1", "conv1d", true},
    {"", "type", "cnn2", "conv2d", true},
    {"", "type", "cnn3", "conv3d", true},
    {"", "type", "conv_transposed1", "conv_transpose1d"},
    {"", "type", "conv_transposed2", "conv_transpose2d"},
    {"", "type", "conv_transposed3", "conv_transpose3d"},
    {"", "type", "max_pool1", "max_pool1d"},
    {"", "type", "max_pool2", "max_pool2d"},
    {"", "type", "max_pool3", "max_pool3d"},
    {"", "type", "avg_pool1", "avg_pool1d"},
    {"", "type", "avg_pool2", "avg_pool2d"},
    {"", "type", "avg_pool3", "avg_pool3d"},
    {"", "type", "each", "time_distributed"},
    {"", "type", "pick", "index_select"},
    {"", "type", "value_matmul", "batched_matmul"},
    {"parallel", "combine", "filter", "gated", true},
    {"rnn", "", "stack", "num_layers"},
    {"gru", "", "stack", "num_layers"},
    {"lstm", "", "stack", "num_layers"},
    {"rnn", "", "carry", "stateful"},
    {"gru", "", "carry", "stateful"},
    {"lstm", "", "carry", "stateful"},
    {"rnn", "", "return", "output"},
    {"gru", "", "return", "output"},
    {"lstm", "", "return", "output"},
    {"kmeans", "", "return", "output"},
    {"reduce", "", "keep", "keepdims"},
};
constexpr Row kSpecRows[] = {
    {"spec", "", "shift", "random_translate"},
    {"schedule", "", "rate", "lr"},
};

void rename(Json& object, const Row& row, std::string_view from, std::string_view to) {
  if (!row.key.empty()) {
    for (auto& [key, value] : object.as_object())
      if (key == row.key && value.is_string() && value.as_string() == from) value = Json(to);
  } else if (!object.find(to)) {
    for (auto& [key, value] : object.as_object())
      if (key == from) key = to;
  }
}

bool is_of(const Json& cell, const Row& row) {
  const Json* type = cell.find("type");
  return row.where.empty() || (type && type->is_string() && type->as_string() == row.where);
}

void use_old_names(Json& cell) {
  if (!cell.is_object()) return;
  // From the end: the types, by which other rows are found, come last.
  for (auto row = std::rbegin(kRows); row != std::rend(kRows); ++row)
    if (is_of(cell, *row)) rename(cell, *row, row->present, row->old);
  for (auto& [key, value] : cell.as_object())
    if (key == "layers" && value.is_array())
      for (Json& layer : value.as_array()) use_old_names(layer);
}

}  // namespace

void use_present_names(Json& cell, bool old) {
  // Types stand first in the table: other rows are of a type by its present name.
  for (const Row& row : kRows)
    if ((old || row.stays) && is_of(cell, row)) rename(cell, row, row.old, row.present);
}

Json spec_by_present_names(Json spec) {
  const Json* version = spec.find("version");
  if (!version || version->dump() != "1") return spec;
  spec.set("version", 2);
  for (const Row& row : kSpecRows) {
    if (row.where == "spec") rename(spec, row, row.old, row.present);
    for (auto& [key, value] : spec.as_object())
      if (key == row.where && value.is_object()) rename(value, row, row.old, row.present);
  }
  return spec;
}

Json topology_by_old_names(Json topology) {
  for (auto& [key, value] : topology.as_object()) {
    if (key == "version" && value.dump() == "3") value = Json(2);
    if (key == "cells" && value.is_array())
      for (Json& cell : value.as_array()) use_old_names(cell);
  }
  return topology;
}

}  // namespace loom
