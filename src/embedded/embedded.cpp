#include "embedded/embedded.h"

#include <cstdint>

// The assembler takes the file as it is: a megabyte as a C array would cost the compiler seconds and much memory.
// The size is stored, not an end label: on s390x code addresses only labels at even addresses.
#ifdef LOOM_EMBEDDED_FILE
#if defined(__wasm__)
#define LOOM_SECTION(name) ".section .rodata." name ",\"\",@\n"
#elif defined(__ELF__)
#define LOOM_SECTION(name) ".section .rodata." name ",\"a\"\n"
#else
#error "no section directive is known here for this object format: add it, or configure without models/embedded.entity"
#endif
#define LOOM_OBJECT(name, alignment) \
  ".hidden " name "\n.globl " name "\n.type " name ",@object\n.balign " alignment "\n" name ":\n"

__asm__(LOOM_SECTION("loom_embedded_bytes")
        LOOM_OBJECT("loom_embedded_bytes", "64")
        ".incbin \"" LOOM_EMBEDDED_FILE "\"\n"
        ".Lloom_embedded_end:\n"
        ".size loom_embedded_bytes, .Lloom_embedded_end - loom_embedded_bytes\n"
        LOOM_SECTION("loom_embedded_size")
        LOOM_OBJECT("loom_embedded_size", "8")
        ".quad .Lloom_embedded_end - loom_embedded_bytes\n"
        ".size loom_embedded_size, 8\n"
        ".text\n");  // where compilers believe to be

extern "C" {
__attribute__((visibility("hidden"))) extern const std::byte loom_embedded_bytes[];
__attribute__((visibility("hidden"))) extern const std::uint64_t loom_embedded_size;
}
#endif

namespace loom {

std::span<const std::byte> embedded_model() {
#ifdef LOOM_EMBEDDED_FILE
  return {loom_embedded_bytes, static_cast<std::size_t>(loom_embedded_size)};
#else
  return {};
#endif
}

}  // namespace loom
