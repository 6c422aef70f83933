// A layer as text of a topology: what layers.hpp makes, a part of it.
#ifndef LOOM_LAYER_HPP
#define LOOM_LAYER_HPP

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.hpp"
#include "loom.hpp"

namespace loom {
inline namespace api {
namespace layers {

// One number for all dimensions, or one for each: 3, or {3, 5}.
class Size {
 public:
  Size() = default;
  template <std::integral I>
  Size(I one) : values_{static_cast<std::int64_t>(one)}, single_(true) {}
  Size(std::initializer_list<std::int64_t> values) : values_(values) {}
  Size(std::vector<std::int64_t> values) : values_(std::move(values)) {}
  const std::vector<std::int64_t>& values() const { return values_; }
  bool single() const { return single_; }
  bool operator==(const Size&) const = default;

 private:
  std::vector<std::int64_t> values_;
  bool single_ = false;
};
// Several lists: the dimensions of several operands.
using Sizes = std::vector<std::vector<std::int64_t>>;
// JSON that is taken as it stands.
struct Json {
  std::string text;
  bool operator==(const Json&) const = default;
};

namespace detail {

inline std::string json_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += std::string("\\") + c;
    else if (byte < 0x20) (out += "\\u00") += {kDigits[byte >> 4], kDigits[byte & 15]};
    else out += c;
  }
  return out + "\"";
}
inline std::string json_of(const std::string& text) { return json_of(std::string_view(text)); }
inline std::string json_of(bool value) { return value ? "true" : "false"; }
// In the fewest digits that are read back as the same number.
template <class T>
  requires(std::same_as<T, std::int64_t> || std::same_as<T, double>)
std::string json_of(T value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
inline std::string json_of(const Json& json) { return json.text; }
template <class T>
std::string json_of(const std::vector<T>& list) {
  std::string out = "[";
  for (const T& one : list) out += (out.size() > 1 ? "," : "") + json_of(one);
  return out + "]";
}
inline std::string json_of(const Size& size) {
  return size.single() ? json_of(size.values()[0]) : json_of(size.values());
}

}  // namespace detail

// A layer of a network, or one in another layer. Layers are values: each copy has its weights.
class Layer {
 public:
  explicit Layer(std::string type) : type_(std::move(type)) {}
  // A setting that is left out where it is as the layer has it anyway.
  template <class T>
  Layer& set(const char* key, const T& value, const T& usual) {
    return value == usual ? *this : set(key, value);
  }
  template <class T>
  Layer& set(const char* key, const T& value) {
    if constexpr (std::same_as<T, double>)
      if (!std::isfinite(value))
        throw Error(LOOM_INVALID_ARGUMENT, type_ + ": \"" + key + "\" must be finite");
    return put(key, detail::json_of(value));
  }
  Layer& inside(std::vector<Layer> layers) {
    layers_ = std::move(layers);
    return *this;
  }

  // Settings of every layer. dtype: how its matrices are stored and multiplied: "f32", "i8", ...
  // On a network's sequential it is that of all layers which name none.
  Layer dtype(std::string_view format) const { return Layer(*this).set("dtype", format); }
  Layer name(std::string_view text) const { return Layer(*this).set("name", text); }
  Layer enabled(bool on) const { return Layer(*this).set("enabled", on); }
  Layer tie(std::string_view path) const { return Layer(*this).set("tie", path); }
  // Parameters by their roles that trainers leave as they are; "all": every one.
  Layer fixed(const std::vector<std::string>& roles) const {
    return Layer(*this).set("fixed", roles);
  }

  const std::string& type() const { return type_; }
  // As docs/reference/layers.md has it.
  std::string json() const { return "{" + members() + "}"; }
  // The network of a sequential whose first layer is an input: one cell for each other.
  operator Topology() const;

 private:
  Layer& put(const char* key, std::string json) {
    for (auto& [known, value] : settings_) {
      if (known != key) continue;
      value = std::move(json);
      return *this;
    }
    settings_.emplace_back(key, std::move(json));
    return *this;
  }
  const std::string* find(std::string_view key) const {
    for (const auto& [known, value] : settings_)
      if (known == key) return &value;
    return nullptr;
  }
  std::string members() const {
    std::string out = "\"type\":" + detail::json_of(type_);
    for (const auto& [key, value] : settings_) out += ",\"" + key + "\":" + value;
    if (layers_.empty()) return out;
    out += ",\"layers\":[";
    for (std::size_t i = 0; i < layers_.size(); ++i) out += (i > 0 ? "," : "") + layers_[i].json();
    return out + "]";
  }

  std::string type_;
  std::vector<std::pair<std::string, std::string>> settings_;
  std::vector<Layer> layers_;
};

inline Layer::operator Topology() const {
  const auto refuse = [](const std::string& what) { throw Error(LOOM_INVALID_ARGUMENT, what); };
  if (type_ != "sequential" || layers_.empty() || layers_[0].type_ != "input")
    refuse(type_ + ": a network is a sequential whose first layer is an input");
  for (const auto& [key, value] : settings_)
    if (key != "dtype")
      refuse("sequential: \"" + key + "\" is of a layer, and this one is the whole network");
  std::string input, cells;
  for (const auto& [key, value] : layers_[0].settings_)
    input += (input.empty() ? "\"" : ",\"") + key + "\":" + value;
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    Layer layer = layers_[i];
    if (const std::string* format = find("dtype"); format && !layer.find("dtype"))
      layer.put("dtype", *format);
    cells += (i > 1 ? ",{" : "{") + ("\"at\":[0,0,0," + std::to_string(i - 1) + "],") +
             layer.members() + "}";
  }
  const std::size_t count = layers_.size() > 2 ? layers_.size() - 1 : 1;
  return {"{\"format\":\"loom-topology\",\"version\":3,\"layers_per_cell\":" +
          std::to_string(count) + ",\"input\":{" + input + "},\"cells\":[" + cells + "]}"};
}

// What arrives at a network: input(784) values, input({1, 28, 28}) values with dimensions (channels
// first; steps, then features), input(40, {.ids = 512}) rows of 40 ids below 512, or single ids,
// input({}, {.ids = 512}), positions of sequences that continue in other rows. axis: what the first
// dimension counts, "steps" or "channels"; empty: what the first layer takes it for.
struct Input {
  std::int64_t ids = 0;
  std::string axis{};
};
inline Layer input(const Size& dims, const Input& s = {}) {
  Layer made("input");
  const bool width = dims.values().size() == 1 && s.ids == 0;
  if (width) made.set("width", dims.values()[0]);
  else if (!dims.values().empty()) made.set("dims", dims.values());
  return made.set("ids", s.ids, std::int64_t{0}).set("axis", s.axis, std::string());
}

// Layers one after another.
inline Layer sequential(std::vector<Layer> layers) {
  return Layer("sequential").inside(std::move(layers));
}
// x + block(x) for the layers of a block. Without any: adds, inside of a sequential, the input of
// the layer before it to its output.
inline Layer residual(std::vector<Layer> block = {}) {
  if (block.empty()) return Layer("residual");
  Layer inner = block.size() == 1 ? block[0] : sequential(std::move(block));
  return sequential({std::move(inner), Layer("residual")});
}

}  // namespace layers
}  // namespace api
}  // namespace loom

#endif
