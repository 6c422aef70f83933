// The embedded model of the WebAssembly module: a file beside it, that the host hands over once. It
// takes the place of src/embedded's object, which the linker then leaves out.
#include "embedded/embedded.h"

namespace loom {
namespace {

std::span<const std::byte> model;

}  // namespace

bool has_embedded_model() { return !model.empty(); }

Result<std::span<const std::byte>> embedded_model() {
  if (model.empty()) return Status(Code::not_found, "the host has handed over no embedded model");
  return model;
}

}  // namespace loom

// `data` at a multiple of 64, never freed.
extern "C" void loom_wasm_embed(const void* data, std::size_t size) {
  loom::model = {static_cast<const std::byte*>(data), size};
}
