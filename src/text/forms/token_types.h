// tokenizer.ggml.token_type. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>

namespace loom::text {

enum TokenType : std::int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

// What llama.cpp's converter writes for an id that the vocabulary does not have; of type kUnused.
inline std::string padding_token(std::uint32_t id) { return "[PAD" + std::to_string(id) + "]"; }

}  // namespace loom::text
