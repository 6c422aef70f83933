// Input: a selector byte, a two-byte little-endian length, that many bytes of a tokenizer
// (tokenizer.json or binary section, or a pattern), then text. Whatever it reads must encode and
// decode any text, and survive its own binary form.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/files/bytes.h"
#include "fuzz.h"
#include "text/pattern/pattern.h"
#include "text/tokenizer.h"
#include "text/unicode/utf8.h"

namespace {

void use(const loom::Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  (void)tokenizer.encode_plain(text);
  const std::string decoded = tokenizer.decode(ids);
  FUZZ_CHECK(loom::text::utf8_valid(decoded));
  std::vector<std::int32_t> raw;
  for (const char c : text) raw.push_back(static_cast<signed char>(c));
  loom::StreamDecoder stream(tokenizer, true);
  std::string streamed;
  for (const std::int32_t id : raw) {
    const std::string part = stream.push(id);
    FUZZ_CHECK(loom::text::utf8_valid(part));
    streamed += part;
  }
  FUZZ_CHECK(streamed + stream.finish() == tokenizer.decode(raw, true));
}

void use_pattern(std::string_view expression, std::string_view bytes) {
  const auto pattern = loom::text::Pattern::compile(expression);
  if (!pattern.ok()) return;
  std::string storage;
  const std::string_view text = loom::text::utf8_lossy(bytes, storage);
  loom::text::Pattern::Scratch scratch;
  std::vector<loom::text::Span> spans;
  pattern->find_all(text, spans, scratch);
  std::size_t at = 0;
  for (const auto& s : spans) {
    FUZZ_CHECK(s.begin >= at && s.end >= s.begin && s.end <= text.size());
    at = s.end;
  }
}

}  // namespace

FUZZ_TARGET(data, size) {
  if (size < 3) return;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t length =
      std::min<std::size_t>(loom::load_le<std::uint16_t>(data + 1), size - 3);
  const std::string_view definition = input.substr(3, length), text = input.substr(3 + length);
  if (data[0] % 3 == 2) {
    use_pattern(definition, text);
    return;
  }
  const auto tokenizer = data[0] % 3 == 0 ? loom::Tokenizer::from_json(definition)
                                          : loom::Tokenizer::deserialize(definition);
  if (!tokenizer.ok()) return;
  use(*tokenizer, text);
  const std::string section = tokenizer->serialize();
  const auto back = loom::Tokenizer::deserialize(section);
  FUZZ_CHECK(back.ok() && back->serialize() == section);
  FUZZ_CHECK(back->encode(text) == tokenizer->encode(text));
}
