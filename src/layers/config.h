// A layer's configuration lists its fields once: `template <class V> void fields(V& v) { v("in", in, "inputs per row"); ... }`.
// Reading JSON, writing it, documentation and hashing all visit that list. Field types: int64, double, bool, string, Activation, and lists of int64 (in
// JSON a number or a list of them).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "ops/elementwise/activation.h"

namespace loom {

struct LayerConfig {
  virtual ~LayerConfig() = default;
};
using ConfigPtr = std::shared_ptr<const LayerConfig>;

// Keys of a cell's JSON that belong to the grid and not to its layer.
bool is_grid_key(std::string_view key);

class FieldReader {
 public:
  explicit FieldReader(const Json& json) : json_(json) {}
  void operator()(std::string_view key, std::int64_t& value, std::string_view doc) { read(key, [&] { return json_.get_integer(key, value); }, value); (void)doc; }
  void operator()(std::string_view key, double& value, std::string_view doc) { read(key, [&] { return json_.get_number(key, value); }, value); (void)doc; }
  void operator()(std::string_view key, bool& value, std::string_view doc) { read(key, [&] { return json_.get_bool(key, value); }, value); (void)doc; }
  void operator()(std::string_view key, std::string& value, std::string_view doc) { read(key, [&] { return json_.get_string(key, value); }, value); (void)doc; }
  void operator()(std::string_view key, Activation& value, std::string_view doc);
  void operator()(std::string_view key, std::vector<std::int64_t>& value, std::string_view doc);
  // A key that the layer reads by itself.
  void allow(std::string_view key) { known_.push_back(key); }
  // The first error, or the first key that no field and no grid key has.
  Status finish() const;

 private:
  template <class T, class F>
  void read(std::string_view key, F get, T& value) {
    known_.push_back(key);
    if (!status_.ok()) return;
    auto result = get();
    if (!result.ok()) status_ = result.status();
    else value = std::move(*result);
  }
  const Json& json_;
  std::vector<std::string_view> known_;
  Status status_;
};

class FieldWriter {
 public:
  explicit FieldWriter(Json& json) : json_(json) {}
  template <class T>
  void operator()(std::string_view key, const T& value, std::string_view) { json_.set(std::string(key), Json(value)); }
  void operator()(std::string_view key, const std::vector<std::int64_t>& value, std::string_view);
  void operator()(std::string_view key, const Activation& value, std::string_view) { json_.set(std::string(key), Json(name(value))); }

 private:
  Json& json_;
};

}  // namespace loom
