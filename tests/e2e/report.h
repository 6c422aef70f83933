// What the program says with --json.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/json/json.h"

namespace loom::test {

// The last line of stdout, an object.
inline Json last_line(const std::string& out) {
  const std::size_t at = out.rfind('\n', out.size() - 2);
  auto json = Json::parse(out.substr(at == std::string::npos ? 0 : at + 1));
  EXPECT_TRUE(json.ok()) << out;
  return json.ok() ? std::move(*json) : Json::object();
}

}  // namespace loom::test
