// A model file that the page sends: what `loom show` says of it, and the SHA-256 of each tensor.
#pragma once

#include <memory>

#include "bridge/networks/store.h"
#include "http/server.h"

namespace loom::bridge {

// POST /api/v1/loom/files?name=FILE: the bytes of the file. They are gone after the answer.
std::unique_ptr<http::Exchange> upload(const Store& store, const http::Head& head,
                                       std::uint64_t max_bytes);

}  // namespace loom::bridge
