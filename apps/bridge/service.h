// The routes of `loom bridge`: who may ask, and what answers. docs/reference/bridge.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bridge/store.h"
#include "http/server.h"

namespace loom::bridge {

struct ServiceOptions {
  std::string token;
  std::vector<std::string> hosts;  // names that requests may call this server by
  bool legacy = false;             // the earlier package's routes, without a token
  std::uint64_t max_bytes = 0;     // of a file that is uploaded
};

// `store` lives as long as the router.
http::Router make_router(Store& store, const ServiceOptions& options);

}  // namespace loom::bridge
