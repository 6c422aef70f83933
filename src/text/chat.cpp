#include "text/chat.h"

#include <algorithm>

#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace loom {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// As Python's str.strip, which templates call.
std::string_view trim(std::string_view text, std::string& storage) {
  text = text::utf8_lossy(text, storage);
  std::size_t first = text.size(), last = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = text::utf8_next(text, at);
    if (text::is_whitespace(c) || (c >= 0x1C && c <= 0x1F)) continue;
    first = std::min(first, begin);
    last = at;
  }
  return first < last ? text.substr(first, last - first) : std::string_view();
}
std::string trimmed(std::string_view text) {
  std::string storage;
  return std::string(trim(text, storage));
}

// Collects text and special tokens. Text that comes in parts is encoded as one, since words do not end where parts do.
class Prompt {
 public:
  explicit Prompt(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void text(std::string_view text) { pending_.append(text); }
  void token(std::string_view name) {
    const auto id = tokenizer_.token_to_id(name);
    if (!id && status_.ok()) status_ = Status(Code::not_found, "the tokenizer has no token \"" + std::string(name) + "\", which this chat form needs");
    if (id) token(*id);
  }
  void token(std::optional<std::int32_t> id) {
    flush();
    if (id) ids_.push_back(*id);
  }
  Result<std::vector<std::int32_t>> take() {
    flush();
    if (!status_.ok()) return status_;
    return std::move(ids_);
  }

 private:
  void flush() {
    const auto ids = tokenizer_.encode_plain(pending_);
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    pending_.clear();
  }
  const Tokenizer& tokenizer_;
  std::string pending_;
  std::vector<std::int32_t> ids_;
  Status status_;
};

Status check_roles(std::span<const ChatMessage> messages, bool alternating) {
  bool user_next = true;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    const std::string where = "message " + std::to_string(i) + ": ";
    if (role == "system") {
      if (i != 0) return Status(Code::invalid_argument, where + "the role system comes first only");
      continue;
    }
    if (role != "user" && role != "assistant") return Status(Code::invalid_argument, where + "the role is '" + role + "', expected system, user or assistant");
    if (alternating && (role == "user") != user_next) return Status(Code::invalid_argument, where + "user and assistant must take turns, beginning with user");
    user_next = role != "user";
  }
  return {};
}

void chatml(const Tokenizer& tokenizer, std::span<const ChatMessage> messages, bool generate, Prompt& prompt) {
  const auto message = [&](std::string_view role, std::string_view content) {
    prompt.token("<|im_start|>");
    prompt.text(role);
    prompt.text("\n");
    prompt.text(content);
    prompt.token("<|im_end|>");
    prompt.text("\n");
  };
  if (has(tokenizer.chat_template(), "bos_token")) prompt.token(tokenizer.bos());
  const std::string system = default_system_message(tokenizer.chat_template());
  if (!system.empty() && (messages.empty() || messages[0].role != "system")) message("system", system);
  for (const ChatMessage& m : messages) message(m.role, m.content);
  if (!generate) return;
  prompt.token("<|im_start|>");
  prompt.text("assistant\n");
}

void llama3(const Tokenizer& tokenizer, std::span<const ChatMessage> messages, bool generate, Prompt& prompt) {
  const auto header = [&](std::string_view role) {
    prompt.token("<|start_header_id|>");
    prompt.text(role);
    prompt.token("<|end_header_id|>");
    prompt.text("\n\n");
  };
  prompt.token(tokenizer.bos());
  for (const ChatMessage& m : messages) {
    header(m.role);
    prompt.text(trimmed(m.content));
    prompt.token("<|eot_id|>");
  }
  if (generate) header("assistant");
}

// The marks are plain text here, and an answer begins right after [/INST]: there is no generation prompt.
void llama2(const Tokenizer& tokenizer, std::span<const ChatMessage> messages, Prompt& prompt) {
  std::string system;
  for (const ChatMessage& m : messages) {
    if (m.role == "system") {
      system = "<<SYS>>\n" + m.content + "\n<</SYS>>\n\n";
    } else if (m.role == "user") {
      prompt.token(tokenizer.bos());
      prompt.text("[INST] " + trimmed(system + m.content) + " [/INST]");
      system.clear();
    } else {
      prompt.text(" " + trimmed(m.content) + " ");
      prompt.token(tokenizer.eos());
    }
  }
}

}  // namespace

std::string_view chat_form_name(ChatForm form) {
  constexpr std::string_view kNames[] = {"ChatML", "Llama 2", "Llama 3"};
  return kNames[static_cast<std::size_t>(form)];
}

Result<ChatForm> detect_chat_form(std::string_view t) {
  if (t.empty()) return Status(Code::invalid_argument, "the model has no chat template");
  if (has(t, "<|im_start|>") && !has(t, "<|im_sep|>")) return ChatForm::chatml;
  if (has(t, "<|start_header_id|>")) return ChatForm::llama3;
  if (has(t, "[INST]") && has(t, "<<SYS>>")) return ChatForm::llama2;
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"<|im_sep|>", "Phi-4"}, {"[INST]", "Mistral"}, {"<start_of_turn>", "Gemma"}, {"<|turn>", "Gemma 4"}, {"<\uFF5CUser\uFF5C>", "DeepSeek"},
      {"<|START_OF_TURN_TOKEN|>", "Command R"}, {"<|im_user|>", "Kimi"}, {"[gMASK]", "GLM"}, {"<|start_of_role|>", "Granite"},
      {"<|channel|>", "Harmony"}, {"<|user|>", "Phi-3 or Zephyr"}, {"### Instruction", "Alpaca"}};
  for (const auto& [mark, name] : kOthers)
    if (has(t, mark)) return Status(Code::unsupported, "chat template of the form " + std::string(name) + "; this build renders ChatML, Llama 2 and Llama 3");
  return Status(Code::unsupported, "chat template of an unknown form, it begins \"" + std::string(t.substr(0, 60)) + "\"; this build renders ChatML, Llama 2 and Llama 3");
}

std::string default_system_message(std::string_view t) {
  // A literal of the template: '<|im_start|>system\nYou are ...<|im_end|>\n', its line ends written as \n.
  constexpr std::string_view kBegin = "<|im_start|>system\\n", kEnd = "<|im_end|>";
  for (std::size_t at = 0; (at = t.find(kBegin, at)) != std::string_view::npos;) {
    at += kBegin.size();
    const std::size_t end = t.find(kEnd, at);
    if (end == std::string_view::npos) break;
    const std::string_view literal = t.substr(at, end - at);
    // Other places only open the literal and go on with an expression.
    if (!literal.empty() && literal.find_first_of("{}\n\\+") == std::string_view::npos) return std::string(literal);
  }
  return {};
}

Result<std::vector<std::int32_t>> render_chat(const Tokenizer& tokenizer, ChatForm form, std::span<const ChatMessage> messages,
                                              bool add_generation_prompt) {
  LOOM_TRY(check_roles(messages, form == ChatForm::llama2));
  Prompt prompt(tokenizer);
  switch (form) {
    case ChatForm::chatml: chatml(tokenizer, messages, add_generation_prompt, prompt); break;
    case ChatForm::llama3: llama3(tokenizer, messages, add_generation_prompt, prompt); break;
    case ChatForm::llama2: llama2(tokenizer, messages, prompt); break;
  }
  return prompt.take();
}

std::vector<std::int32_t> chat_stop_ids(const Tokenizer& tokenizer, ChatForm form) {
  std::vector<std::int32_t> ids;
  if (const auto eos = tokenizer.eos()) ids.push_back(*eos);
  const std::string_view end = form == ChatForm::chatml ? "<|im_end|>" : form == ChatForm::llama3 ? "<|eot_id|>" : "";
  if (const auto id = tokenizer.token_to_id(end); id && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
  return ids;
}

}  // namespace loom
