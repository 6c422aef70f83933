// Where the tensors of a push lie in its spool: in the places that they have in the finished
// .entity file, where the network has them as they come, so that nothing is written twice; else
// one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/sha256.h"
#include "bridge/push.h"

namespace loom::bridge {

struct TensorHash {
  Sha256::Digest sha256{};
  std::uint64_t xxh64 = 0;
};

struct SpoolLayout {
  bool direct = false;                 // the spool becomes the file
  std::vector<std::uint64_t> offsets;  // of each tensor of the push, in the spool
  std::uint64_t size = 0;              // of the spool
};

// `topology`: JSON as the library writes it; `parameters`: of loom_network_parameters.
SpoolLayout layout_of(const Push& push, const std::string& topology, const Json& parameters);
// Of a direct layout: all bytes of the file that are no tensors, each with its offset.
std::vector<std::pair<std::uint64_t, std::string>> frame_of(const Push& push,
                                                            const std::string& topology,
                                                            const Json& parameters,
                                                            const std::vector<TensorHash>& hashes);

// Of a finished file, from its table of contents: its identity, 64 hex digits. Refused where
// topology and table contradict each other.
std::string checked_identity(const std::string& path);
// A copy of the file with this section in place of the one it has by that name.
void copy_with_section(const std::string& from, const std::string& to, const std::string& name,
                       const std::string& bytes);

}  // namespace loom::bridge
