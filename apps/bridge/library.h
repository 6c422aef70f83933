// The library's public interface, and how its errors answer a request. (Files that look inside the
// library include reply.h alone: both have a Network.)
#pragma once

#include "bridge/reply.h"
#include "support/client.h"

namespace loom::bridge {

// body(), whose errors of the library become refusals with the status that fits.
Response refusal_of(const Error& error);
template <class F>
auto or_refuse(F body) -> std::invoke_result_t<F> {
  try {
    return body();
  } catch (const Error& error) {
    throw http::Refusal{refusal_of(error)};
  }
}

}  // namespace loom::bridge
