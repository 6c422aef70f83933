// A file as memory. Another program may cut the file meanwhile: then the pages that are gone are
// zeros, instead of a signal that ends the process, and intact() says so. Decision 15 says why.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace loom {

// Thread-safe.
class Mapping {
 public:
  virtual ~Mapping() = default;
  virtual std::span<const std::byte> bytes() const = 0;
  // Whether the file is what it was when it was mapped, so that what was read is what it held. Once
  // not, never again. A system call.
  virtual Status intact() const = 0;
};

// Takes the descriptor over, if it maps the file; null where the system cannot map or watch it.
std::unique_ptr<Mapping> map_file(int fd, std::size_t size, const std::string& name);

// The mapping that these bytes lie in, if any: it lives as long as they are used.
const Mapping* mapping_of(const void* bytes);

}  // namespace loom
