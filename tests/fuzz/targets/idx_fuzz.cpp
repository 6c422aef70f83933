// idx arrays, bare and in gzip.
#include "formats/idx/idx.h"

#include "base/files/inflate.h"
#include "fuzz.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  constexpr std::uint64_t kLimit = 1 << 20;
  const auto mapped = open_array(fuzz::view_source(data, size), kLimit),
             called = open_array(fuzz::callback_source(data, size), kLimit);
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (!mapped.ok()) {
    fuzz::check_refusal(mapped.status());
  } else {
    // Of a gzip file, and of elements that were turned, the bytes are elsewhere.
    fuzz::check_tensors({*mapped}, {*called}, static_cast<std::size_t>(mapped->source->size()));
  }
  // The decoder alone, behind a header: most inputs have no good checksum, but all of the stream is
  // read before that matters.
  std::vector<std::byte> file = {
      std::byte{0x1F}, std::byte{0x8B}, std::byte{8}, {}, {}, {}, {}, {}, {}, {}};
  file.insert(file.end(), reinterpret_cast<const std::byte*>(data),
              reinterpret_cast<const std::byte*>(data) + size);
  const auto content = gunzip(file, kLimit, "input");
  if (content.ok()) FUZZ_CHECK(content->size() <= kLimit);
  else fuzz::check_refusal(content.status());
}
