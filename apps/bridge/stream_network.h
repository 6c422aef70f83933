// Layers with their weights as JSON, as the earlier package planetbridging sends them: a network.
// docs/reference/bridge.md has the keys of each kind.
#pragma once

#include <cstdint>
#include <string>

#include "bridge/library.h"

namespace loom::bridge {

struct StreamedNetwork {
  Network network;
  std::int64_t layers = 0;
  std::int64_t weights = 0;  // numbers
};

inline constexpr std::string_view kBedrocks[] = {
    "dense",     "cnn1",      "cnn2",    "cnn3",   "mha",      "lstm", "rnn",
    "layernorm", "embedding", "rmsnorm", "swiglu", "residual", "mixer"};
bool is_bedrock(std::string_view name);

// `payload`: bedrock, planet, model_id, layers and sizes. Throws http::Refusal, which names the
// layer and what it should have.
StreamedNetwork network_of_stream(const std::string& bedrock, const Json& payload);

// The answer of the program loom-stream and of the route stream/<bedrock>: the network goes to
// `path`; with `inputs`, rows of numbers, its outputs are in it; beside `native`, how far they are
// from these. Absent: nullptr.
Json answer_of_stream(const std::string& bedrock, const Json& payload, const std::string& path,
                      const Json* inputs, const Json* native);

}  // namespace loom::bridge
