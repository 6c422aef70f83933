#include "base/json/json.h"

#include <string_view>

#include "fuzz.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const auto value = Json::parse({reinterpret_cast<const char*>(data), size});
  if (!value.ok()) {
    FUZZ_CHECK(value.status().code() == Code::corrupt &&
               value.status().message().find("offset") != std::string::npos);
    return;
  }
  // What is written reads back, compact and indented, to the same text.
  const std::string text = value->dump();
  const auto again = Json::parse(text), indented = Json::parse(value->dump(2));
  FUZZ_CHECK(again.ok() && again->dump() == text);
  FUZZ_CHECK(indented.ok() && indented->dump() == text);
  const Json copy = *value;
  FUZZ_CHECK(copy.dump() == text);
}
