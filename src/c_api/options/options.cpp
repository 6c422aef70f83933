#include "c_api/options/options.h"

#include "c_api/call.h"

namespace loom::c_api {

const char* read_field(const Json& json, TokenIds& ids) {
  const char* wrong =
      ids.several ? "must be an id, a list of ids, or null" : "must be one id, or null";
  ids.given = true;
  if (json.is_null()) return nullptr;
  const Json::Array one{json};
  for (const Json& id : json.is_array() ? json.as_array() : one) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() > INT32_MAX) return wrong;
    ids.ids.push_back(static_cast<std::int32_t>(id.as_integer()));
  }
  return ids.several || ids.ids.size() < 2 ? nullptr : wrong;
}

Result<Json> options_json(const char* data, std::size_t size) {
  LOOM_ASSIGN(Json json, json_argument(data, size, "options"));
  if (json.is_object()) return json;
  return Status(Code::invalid_argument, "options: expected a JSON object");
}

Status read_by(const Result<Json>& json, void (*list)(FieldReader&, void*), void* options) {
  LOOM_TRY(json.status());
  FieldReader reader(*json);
  list(reader, options);
  return reader.finish("known are").at("options");
}

Result<Machine> machine_of(const MachineOptions& o) {
  return loom::machine_of(o.mode, static_cast<int>(o.threads), o.device, o.isa);
}

}  // namespace loom::c_api
