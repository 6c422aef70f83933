#include "checkpoint/network_json.h"

#include "base/escape.h"
#include "base/files/base64.h"
#include "base/files/bytes.h"
#include "base/message.h"

namespace loom {
namespace {

constexpr const char* kFormat = "loom-network";
constexpr std::string_view kTopology = "topology", kPacked = "packed ";

Status wrong(const std::string& where, const std::string& what) {
  return Status(Code::invalid_argument, message(where, ": ", what));
}

Result<TensorType> type_of(const std::string& where, const Json& tensor) {
  LOOM_ASSIGN(const std::string text, tensor.get_string("type", ""));
  const bool packed = text.starts_with(kPacked);
  auto format = parse_weight_format(packed ? std::string_view(text).substr(kPacked.size()) : text);
  if (!format.ok()) return format.status().at(where + ": \"type\"");
  return packed ? TensorType::matrix(*format) : TensorType::plain(format->dtype);
}

Result<std::vector<std::int64_t>> shape_of(const std::string& where, const Json& tensor) {
  const Json* list = tensor.find("shape");
  std::vector<std::int64_t> shape;
  if (!list || !list->is_array()) return wrong(where, "\"shape\" must be a list of numbers");
  for (const Json& d : list->as_array()) {
    if (!d.is_integer() || d.as_integer() < 0)
      return wrong(where, "\"shape\" must be a list of numbers");
    shape.push_back(d.as_integer());
  }
  return shape;
}

Result<std::vector<std::byte>> values_of(const std::string& where, const TensorType& type,
                                         const Json& list) {
  const bool wide = type == TensorType::plain(DType::f64);
  if (!list.is_array() || (!wide && type != TensorType::plain(DType::f32)))
    return wrong(where, "\"values\" must be a list of numbers of f32 or f64");
  std::vector<std::byte> bytes(list.as_array().size() * (wide ? 8 : 4));
  std::byte* to = bytes.data();
  for (const Json& v : list.as_array()) {
    if (!v.is_number()) return wrong(where, "\"values\" must be a list of numbers");
    if (wide) store_le<double>(to, v.as_number());
    else store_le<float>(to, static_cast<float>(v.as_number()));
    to += wide ? 8 : 4;
  }
  return bytes;
}

Status only_keys(const std::string& where, const Json& object,
                 std::initializer_list<std::string_view> keys) {
  if (!object.is_object()) return wrong(where, "expects an object");
  for (const auto& [key, value] : object.as_object()) {
    bool known = false;
    for (const std::string_view k : keys) known = known || k == key;
    if (!known) return wrong(where, "unknown key " + quoted(key, '"'));
  }
  return {};
}

// The parts of the file, which the writer borrows.
class FromJson {
 public:
  explicit FromJson(EntityWriter& writer) : writer_(writer) {}

  Status section(const std::string& name, const Json& value) {
    if (!value.is_string()) return wrong(message("section ", quoted(name)), "expects base64");
    LOOM_ASSIGN(auto bytes, from_base64(value.as_string(), name));
    return writer_.section(name, held(std::move(bytes)));
  }

  Status tensor(const std::string& name, const Json& value) {
    const std::string where = "tensor " + quoted(name);
    LOOM_TRY(only_keys(where, value, {"type", "shape", "data", "values"}));
    LOOM_ASSIGN(const TensorType type, type_of(where, value));
    LOOM_ASSIGN(std::vector<std::int64_t> shape, shape_of(where, value));
    const Json *data = value.find("data"), *values = value.find("values");
    if ((data != nullptr) == (values != nullptr) || (data && !data->is_string()))
      return wrong(where, "expects \"data\" (base64) or \"values\" (numbers)");
    auto bytes = data ? from_base64(data->as_string(), "data") : values_of(where, type, *values);
    if (!bytes.ok()) return data ? bytes.status().at(where) : bytes.status();
    return writer_.tensor(name, type, std::move(shape), held(std::move(*bytes)));
  }

  std::span<const std::byte> held(std::vector<std::byte> bytes) {
    held_.push_back(std::move(bytes));
    return held_.back();
  }

 private:
  EntityWriter& writer_;
  std::vector<std::vector<std::byte>> held_;  // moving a vector leaves its bytes where they are
};

}  // namespace

bool is_network_json(const Json& json) {
  const Json* format = json.find("format");
  return format && format->is_string() && format->as_string() == kFormat;
}

Result<std::string> network_to_json(Network& network, const EntitySections& extra) {
  std::vector<std::byte> file;
  LOOM_TRY(save_network(&file, network, extra));
  if (file.size() / 3 * 4 > kMaxNetworkJson)
    return Status(Code::out_of_range, message("the network has ", file.size(),
                                              " bytes, too many for JSON of 1 GiB: an .entity file "
                                              "holds it"));
  LOOM_ASSIGN(const Entity entity, Entity::open(source_from_bytes(std::move(file), "(memory)")));
  Json json = Json::object(), sections = Json::object(), tensors = Json::object();
  json.set("format", kFormat);
  json.set("version", 1);
  LOOM_ASSIGN(Json topology, entity.json(kTopology));
  json.set(kTopology, std::move(topology));
  for (const EntityEntry& e : entity.sections()) {
    if (e.name == kTopology) continue;
    LOOM_ASSIGN(const EntityBytes bytes, entity.section(e.name));
    sections.as_object().emplace_back(e.name, to_base64(bytes.bytes));
  }
  for (const EntityEntry& e : entity.tensors()) {
    LOOM_ASSIGN(const EntityBytes bytes, entity.tensor(e.name));
    Json tensor = Json::object();
    tensor.set("type", to_string(e.type));
    tensor.set("shape", Json(Json::Array(e.shape.begin(), e.shape.end())));
    tensor.set("data", to_base64(bytes.bytes));
    tensors.as_object().emplace_back(e.name, std::move(tensor));
  }
  if (!sections.as_object().empty()) json.set("sections", std::move(sections));
  json.set("tensors", std::move(tensors));
  return json.dump(1) + "\n";
}

Result<std::vector<std::byte>> entity_of_json(const Json& json) {
  LOOM_TRY(only_keys("network", json, {"format", "version", "topology", "sections", "tensors"}));
  LOOM_ASSIGN(const std::int64_t version, json.get_integer("version", 0));
  if (version != 1)
    return Status(Code::unsupported,
                  message("network: \"version\" is ", version, ", this build reads 1"));
  const Json *topology = json.find(kTopology), *tensors = json.find("tensors"),
             *sections = json.find("sections");
  if (!topology || !topology->is_object() || !tensors || !tensors->is_object() ||
      (sections && !sections->is_object()))
    return wrong("network",
                 "expects the objects \"topology\" and \"tensors\", and \"sections\" or none");
  std::vector<std::byte> file;
  LOOM_ASSIGN(EntityWriter writer, EntityWriter::create(&file));
  FromJson from(writer);
  const std::string text = topology->dump();
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  LOOM_TRY(writer.section(std::string(kTopology), {first, text.size()}));
  if (sections)
    for (const auto& [name, value] : sections->as_object()) LOOM_TRY(from.section(name, value));
  for (const auto& [name, value] : tensors->as_object()) LOOM_TRY(from.tensor(name, value));
  LOOM_TRY(writer.finish());
  return file;
}

}  // namespace loom
