// A conversation as the C interface takes it. Internal.
#pragma once

#include <vector>

#include "base/status.h"
#include "text/chat.h"

namespace loom::c_api {

// [{"role": text, "content": text}, ...]
Result<std::vector<ChatMessage>> chat_messages(const char* data, std::size_t size);

}  // namespace loom::c_api
