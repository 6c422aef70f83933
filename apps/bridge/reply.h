// Answers of the bridge: JSON, and refusals that say what, where and what would be right.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "http/server.h"
#include "support/json.h"

namespace loom::bridge {

using http::Response;

// {"error": {"code": ..., "message": ...}} and the members of `more`.
Response problem(int status, std::string_view code, std::string_view message, Json more = {});
[[noreturn]] void refuse(int status, std::string_view code, std::string_view message,
                         Json more = {});
Response reply(const Json& json, int status = 200);

// Of an error of the library, by its code: 400, 404, 422, 500, 503 or 507.
int status_of(std::int32_t code);

// The object that a body holds.
Json object_of(std::string_view body);
// Members of an object: of this type, or refused by name. `where` stands before the key.
std::string text_of(const Json& object, std::string_view key, std::string_view where = {});
std::int64_t whole_of(const Json& object, std::string_view key, std::int64_t min, std::int64_t max,
                      std::string_view where = {});
const Json& array_of(const Json& object, std::string_view key, std::string_view where = {});
// Refuses a key that is none of these: a name with a typing error is no option.
void expect_keys(const Json& object, std::initializer_list<std::string_view> keys,
                 std::string_view where = {});

}  // namespace loom::bridge
