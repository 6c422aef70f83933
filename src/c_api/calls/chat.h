// A conversation as the C interface takes it. Internal.
#pragma once

#include <vector>

#include "base/status.h"
#include "text/chat.h"

namespace loom::c_api {

struct Conversation {
  std::vector<ChatMessage> messages;
  ChatOptions options;
};
// [{"role": text, "content": text}, ...], or {"messages": the same, "variables": {...}}.
Result<Conversation> conversation(const char* data, std::size_t size);

}  // namespace loom::c_api
