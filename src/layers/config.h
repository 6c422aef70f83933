// A layer's configuration lists its fields once (base/fields/fields.h):
//   struct DenseConfig : LayerConfig {
//     template <class V> void fields(V& v) {
//       v.about("activation(W x + b)");
//       v("out", out, {.doc = "outputs per row", .min = 1, .required = true});
//     }
//   };
// FieldReader reads JSON by that list and checks what it says, FieldWriter writes it; what
// tools/describe prints of it becomes the schema, the reference and the bindings' types. A field is
// an int64, double, bool, string, an enum with names, a list of int64 (in JSON a number or a list
// of them), or a list of such lists.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields/field_reader.h"
#include "base/json/json.h"
#include "base/status.h"
#include "ops/elementwise/activation.h"
#include "ops/graph/kinds.h"

namespace loom {

struct LayerConfig {
  virtual ~LayerConfig() = default;
};
using ConfigPtr = std::shared_ptr<const LayerConfig>;

// JSON that a field list names and another reader takes apart: its shape in words of the schema.
struct JsonPart {
  const char* shape;  // a definition of the schema: "coordinate", "links", "layers"
};
inline const char* read_field(const Json&, JsonPart&) { return nullptr; }

// Any JSON, as it is.
struct AnyJson {
  Json json = Json::object();
};
inline const char* read_field(const Json& json, AnyJson& value) {
  value.json = json;
  return nullptr;
}

inline Result<Activation> parse_as(std::string_view text, Activation) {
  return parse_activation(text);
}
inline Result<Unary> parse_as(std::string_view text, Unary) { return parse_unary(text); }
inline Result<Binary> parse_as(std::string_view text, Binary) { return parse_binary(text); }
inline Result<Reduce> parse_as(std::string_view text, Reduce) { return parse_reduce(text); }

// The end of reading a layer: in a cell the keys of the grid are there, too.
Status finish_layer(const FieldReader& reader);

class FieldWriter {
 public:
  explicit FieldWriter(Json& json) : json_(json) {}
  void about(FieldText) {}
  // Inlined, so that no call makes a Field of which nothing is used.
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view key, const T& value, const Field& field) {
    if (field.written) put(key, value);
  }

 private:
  template <class T>
  void put(std::string_view key, const T& value) {
    if constexpr (std::is_enum_v<T>) set(key, Json(name(value)));
    else if constexpr (std::is_same_v<T, JsonPart>) return;
    else if constexpr (std::is_same_v<T, AnyJson>) set(key, value.json);
    else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) list(key, value);
    else set(key, Json(value));
  }
  void set(std::string_view key, Json value);
  void list(std::string_view key, const std::vector<std::int64_t>& value);
  void list(std::string_view key, const std::vector<std::vector<std::int64_t>>& value);
  void list(std::string_view key, const std::vector<std::string>& value);
  Json& json_;
};

}  // namespace loom
