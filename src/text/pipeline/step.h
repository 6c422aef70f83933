// One stage of a tokenizer's pipeline as plain data: what tokenizer.json, a GGUF vocabulary and the
// binary section all describe. The classes Normalizer, PreTokenizer and Decoder run lists of them.
#pragma once

#include <cstdint>
#include <string>

namespace loom::text {

// Numbers are part of the binary section: append, never renumber.
enum class StepKind : std::uint8_t {
  // normalizers
  nfc = 0,
  nfd = 1,
  nfkc = 2,
  nfkd = 3,
  lowercase = 4,
  strip_accents = 5,
  strip = 6,      // flags: kStart, kStop
  prepend = 7,    // text
  replace = 8,    // text (kRegex: a pattern) by replacement
  map_bytes = 9,  // every byte as a printable character (GPT-2)
  // pre-tokenizers
  byte_level = 20,  // flags: kAddSpace, kRegex (GPT-2's pattern splits first)
  split = 21,       // text (kRegex: a pattern), behavior, kInvert
  digits = 22,      // kIndividual
  metaspace = 23,   // text: the replacement character; flags: kAddSpace (with kFirstOnly: at the
                    // beginning of the text), kSplit
  whitespace = 24,
  whitespace_split = 25,
  punctuation = 26,  // behavior
  bert = 27,
  character = 28,  // text: one character that separates and disappears
  // decoders
  decode_byte_level = 40,
  decode_metaspace =
      41,  // text: the replacement character; kAddSpace: spaces of the first token disappear
  decode_byte_fallback = 42,
  decode_fuse = 43,
  decode_strip = 44,    // text: a character; start, stop: how many
  decode_replace = 45,  // as replace
  decode_suffix = 46,   // text: end-of-word suffix
  decode_join = 47,     // no decoder: tokens joined by a space
};

enum class SplitBehavior : std::uint8_t {
  removed = 0,
  isolated = 1,
  merged_with_previous = 2,
  merged_with_next = 3,
  contiguous = 4
};

struct Step {
  enum Flag : std::uint8_t {
    kRegex = 1,
    kInvert = 2,
    kAddSpace = 4,
    kFirstOnly = 8,
    kIndividual = 16,
    kSplit = 32,
    kStart = 64,
    kStop = 128
  };
  StepKind kind;
  std::uint8_t flags = 0;
  SplitBehavior behavior = SplitBehavior::isolated;
  std::uint32_t start = 0, stop = 0;
  std::string text, replacement;

  bool has(Flag flag) const { return (flags & flag) != 0; }
  bool operator==(const Step&) const = default;
};

}  // namespace loom::text
