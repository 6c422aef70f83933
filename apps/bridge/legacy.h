// The routes of planetbridging 0.7.3: JSON in and out, without a token (`loom bridge --legacy`).
#pragma once

#include <memory>
#include <string>

#include "bridge/store.h"
#include "http/server.h"

namespace loom::bridge {

// Answers a request of one of these routes, or is nullptr.
std::unique_ptr<http::Exchange> legacy_route(Store& store, const http::Head& head);

}  // namespace loom::bridge
