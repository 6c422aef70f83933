// What a client says before it sends weights, and how it is checked. No files and no network here:
// this is what hostile requests reach first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"

namespace loom::bridge {

inline constexpr int kProtocol = 1;
inline constexpr std::uint64_t kChunk = std::uint64_t{8} << 20;
inline constexpr std::size_t kMaxTensors = 65536;

// One tensor of a push. Its bytes are little-endian, row-major.
struct PushTensor {
  std::string parameter;  // "0.0.0.1:weight"
  std::string dtype;      // f32, f64, f16 or bf16
  std::vector<std::int64_t> shape;
  std::uint64_t values = 0, bytes = 0;
  std::uint64_t begin = 0;  // in the stream of all tensors, one after another
  std::string sha256;       // "" where it comes with finish
};

struct Push {
  std::string name;        // of the network that it makes
  std::string weights_of;  // of the network whose weights it changes; "" where it has a topology
  std::string topology;    // JSON
  std::string inputs;      // JSON: what raw data are; "" where there is none
  std::string metadata;    // JSON; "" where there is none
  std::string nonce;       // the client's, where tensors have no sha256
  std::vector<PushTensor> tensors;
  std::uint64_t bytes = 0;  // of all tensors

  std::uint64_t chunks() const { return (bytes + kChunk - 1) / kChunk; }
  std::uint64_t chunk_bytes(std::uint64_t index) const;
  // 64 hex digits: two pushes with one id send the same.
  std::string id() const;
};

// Of a body of `begin`. Throws http::Refusal.
Push parse_push(std::string_view body, std::uint64_t max_bytes);
// The same as text, which parse_push reads.
std::string push_text(const Push& push);
// That the tensors are parameters of the network (loom_network_parameters): each once, with as
// many values, no tied one; and all of them, but where weights_of says otherwise.
void check_parameters(const Push& push, const Json& parameters);

// A name of a network is a name of a file on every system: letters, digits, ".", "_" and "-".
bool is_name(std::string_view name);
bool is_sha256(std::string_view text);

}  // namespace loom::bridge
