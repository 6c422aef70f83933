// Conversations: how messages become the ids that an instruction-tuned model was trained on. The
// model's own chat template says it, and is run (jinja/jinja.h). What a message says is plain text:
// special tokens typed by a user stay text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "text/tokenizer.h"

namespace loom {

struct ChatMessage {
  std::string role;  // "system", "developer", "user", "assistant" or "tool"
  std::string content;
};

struct ChatOptions {
  bool add_generation_prompt = true;  // with the beginning of an answer
  // An object: variables of the template, such as {"enable_thinking": false}, plain text where they
  // are written. "strftime_now" is the date, YYYY-MM-DD, which templates that write it ask for. One
  // that the template does not read is refused.
  Json variables = Json::object();
};

// Whether this build can read the template. invalid_argument where there is none; unsupported, with
// the line and the name of the missing part.
Status check_chat_template(std::string_view chat_template);

// Ids from the beginning of the text on, as transformers' apply_chat_template makes them.
// Errors: a role that does not exist; what the template refuses (an order of roles, a system
// message); what this build lacks, by name.
Result<std::vector<std::int32_t>> render_chat(const Tokenizer& tokenizer,
                                              std::span<const ChatMessage> messages,
                                              const ChatOptions& options = {});

// Ids that end an answer to these messages: eos, and the special token that the template writes
// behind an answer.
std::vector<std::int32_t> chat_stop_ids(const Tokenizer& tokenizer,
                                        std::span<const ChatMessage> messages,
                                        const ChatOptions& options = {});

}  // namespace loom
