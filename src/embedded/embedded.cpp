#include "embedded/embedded.h"

#include <cstdint>
#include <cstring>
#include <new>

#include "base/files/inflate.h"
#include "base/threads/locks.h"

// The assembler takes the file as it is: a megabyte as a C array would cost the compiler seconds
// and much memory. The size is stored, not an end label: on s390x code addresses only labels at
// even addresses.
#ifdef LOOM_EMBEDDED_FILE
#if defined(__wasm__)
#define LOOM_SECTION(name) ".section .rodata." name ",\"\",@\n"
#elif defined(__ELF__)
#define LOOM_SECTION(name) ".section .rodata." name ",\"a\"\n"
#else
#error "add this object format's section directive, or configure without models/embedded.entity"
#endif
#define LOOM_OBJECT(name, alignment) \
  ".hidden " name "\n.globl " name "\n.type " name ",@object\n.balign " alignment "\n" name ":\n"

__asm__(LOOM_SECTION("loom_embedded_bytes")
        LOOM_OBJECT("loom_embedded_bytes", "64")
        // The file's header tells when it was packed; this one does not, so that the same sources
        // make the same library.
        ".byte 0x1f,0x8b,8,0,0,0,0,0,2,3\n"
        ".incbin \"" LOOM_EMBEDDED_FILE "\",10\n"
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
namespace {

std::span<const std::byte> packed_model() {
#ifdef LOOM_EMBEDDED_FILE
  return {loom_embedded_bytes, static_cast<std::size_t>(loom_embedded_size)};
#else
  return {};
#endif
}

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;
constexpr std::align_val_t kAlignment{64};

}  // namespace

bool has_embedded_model() { return !packed_model().empty(); }

Result<std::span<const std::byte>> embedded_model() {
  if (!has_embedded_model())
    return Status(Code::not_found,
                  "this build has no embedded model: models/embedded.entity was absent when it was "
                  "configured");
  static locks::mutex lock;
  static std::span<const std::byte> model;  // of every later call; never freed
  const locks::unique_lock hold(lock);
  if (model.empty()) {
    LOOM_ASSIGN(const auto bytes, gunzip(packed_model(), kMaxBytes, "the embedded model"));
    void* place = ::operator new(bytes.size(), kAlignment);
    std::memcpy(place, bytes.data(), bytes.size());
    model = {static_cast<const std::byte*>(place), bytes.size()};
  }
  return model;
}

}  // namespace loom
