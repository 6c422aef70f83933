// Chat forms: how the messages of a conversation become the ids that an instruction-tuned model was trained on. Three forms are
// known; which one a model uses is recognized from its chat template. What a message says is plain text: special tokens
// typed by a user stay text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/tokenizer.h"

namespace loom {

struct ChatMessage {
  std::string role;  // "system" (first only), "user" or "assistant"
  std::string content;
};

enum class ChatForm : std::uint8_t { chatml = 0, llama2 = 1, llama3 = 2 };
std::string_view chat_form_name(ChatForm form);

// unsupported, with the form's name, where the template is of another form; invalid_argument where there is none.
Result<ChatForm> detect_chat_form(std::string_view chat_template);

// The system message that a ChatML template puts where a conversation has none; "" where it puts none.
std::string default_system_message(std::string_view chat_template);

// Ids from the beginning of the text on. `add_generation_prompt`: with the beginning of an answer. The ChatML form adds the
// default system message of the tokenizer's template; the Llama 3 form adds no knowledge date, unlike the templates of 3.1 and later.
// Errors: a role or an order of roles that the form does not have; a special token that the tokenizer does not have.
Result<std::vector<std::int32_t>> render_chat(const Tokenizer& tokenizer, ChatForm form, std::span<const ChatMessage> messages,
                                              bool add_generation_prompt);

// Ids that end an answer: eos, and the form's end of turn.
std::vector<std::int32_t> chat_stop_ids(const Tokenizer& tokenizer, ChatForm form);

}  // namespace loom
