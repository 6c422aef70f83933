#include "base/message.h"

namespace loom {

const char MessagePart::kSigned = 0;
const char MessagePart::kUnsigned = 1;

std::string join_message(std::span<const MessagePart> parts) {
  std::string out;
  for (const MessagePart& part : parts) {
    if (part.data == &MessagePart::kSigned)
      out += std::to_string(static_cast<std::int64_t>(part.size));
    else if (part.data == &MessagePart::kUnsigned) out += std::to_string(part.size);
    else out.append(part.data, static_cast<std::size_t>(part.size));
  }
  return out;
}

}  // namespace loom
