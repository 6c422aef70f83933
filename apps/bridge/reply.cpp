#include "bridge/reply.h"

#include <algorithm>
#include <cerrno>

#include "bridge/library.h"
#include "support/console.h"

namespace loom::bridge {
namespace {

std::string place(std::string_view where, std::string_view key) {
  return std::string(where) + (where.empty() ? "" : ".") + std::string(key);
}

}  // namespace

int status_of(std::int32_t code) {
  switch (code) {
    case LOOM_NOT_FOUND: return 404;
    case LOOM_UNSUPPORTED: return 422;
    case LOOM_CORRUPT: return 422;
    case LOOM_TRUNCATED: return 422;
    case LOOM_OUT_OF_MEMORY: return 503;
    case LOOM_IO: return errno == ENOSPC || errno == EFBIG || errno == EDQUOT ? 507 : 500;
    case LOOM_INTERNAL: return 500;
    default: return 400;
  }
}

Response problem(int status, std::string_view code, std::string_view message, Json more) {
  Json error = Json::object();
  error.set("code", code);
  error.set("message", cli::json_text(std::string(message)));
  Json json = Json::object();
  json.set("error", std::move(error));
  if (more.is_object())
    for (auto& [key, value] : more.as_object()) json.set(key, std::move(value));
  return {.status = status, .body = json.dump() + "\n"};
}

void refuse(int status, std::string_view code, std::string_view message, Json more) {
  throw http::Refusal{problem(status, code, message, std::move(more))};
}

Response reply(const Json& json, int status) {
  return {.status = status, .body = json.dump() + "\n"};
}

Response refusal_of(const Error& error) {
  const std::string text = cli::problem_text(error);
  const std::string code = text.substr(0, text.find(':'));
  return problem(status_of(error.code()), code, error.what());
}

Json object_of(std::string_view body) {
  const auto json = Json::parse(body);
  if (!json.ok()) refuse(400, "invalid_json", json.status().message());
  if (!json->is_object()) refuse(400, "invalid_json", "the body must be a JSON object");
  return *json;
}

std::string text_of(const Json& object, std::string_view key, std::string_view where) {
  const Json* value = object.find(key);
  if (!value || !value->is_string())
    refuse(400, "invalid_argument",
           place(where, key) + (value ? ": must be a text" : ": is required, a text"));
  return value->as_string();
}

std::int64_t whole_of(const Json& object, std::string_view key, std::int64_t min, std::int64_t max,
                      std::string_view where) {
  const Json* value = object.find(key);
  if (!value || !value->is_integer() || value->as_integer() < min || value->as_integer() > max)
    refuse(400, "invalid_argument",
           place(where, key) + ": must be a whole number of " + std::to_string(min) + " to " +
               std::to_string(max) + (value ? ", got " + value->dump().substr(0, 40) : ""));
  return value->as_integer();
}

const Json& array_of(const Json& object, std::string_view key, std::string_view where) {
  const Json* value = object.find(key);
  if (!value || !value->is_array())
    refuse(400, "invalid_argument", place(where, key) + ": must be a list");
  return *value;
}

void expect_keys(const Json& object, std::initializer_list<std::string_view> keys,
                 std::string_view where) {
  for (const auto& [key, value] : object.as_object()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string known;
    for (const std::string_view one : keys) known += (known.empty() ? "" : ", ") + std::string(one);
    refuse(400, "invalid_argument",
           place(where, key.substr(0, 100)) + ": is not known; the keys are " + known);
  }
}

}  // namespace loom::bridge
