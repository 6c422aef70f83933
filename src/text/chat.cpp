#include "text/chat.h"

#include <algorithm>

#include "base/escape.h"
#include "base/fields/fields.h"
#include "text/jinja/jinja.h"
#include "text/pipeline/added_tokens.h"

namespace loom {
namespace {

using jinja::Text;
using jinja::Value;

Result<jinja::Template> parse(std::string_view chat_template) {
  if (chat_template.empty())
    return Status(Code::invalid_argument,
                  "the model has no chat template: write the prompt as its model card says");
  return jinja::Template::parse(chat_template);
}

// Errors of the template's own come as they are.
Status explained(const Status& status) {
  if (status.code() != Code::unsupported) return status;
  return Status(Code::unsupported,
                status.message() + ": not in this build's Jinja; a prompt written by hand works");
}

bool has_real(const Json& json) {
  if (json.is_array()) return std::any_of(json.as_array().begin(), json.as_array().end(), has_real);
  if (json.is_object())
    return std::any_of(json.as_object().begin(), json.as_object().end(),
                       [](const Json::Member& m) { return has_real(m.second); });
  return json.type() == Json::Type::real;
}

Result<Value> list_of(std::span<const ChatMessage> messages) {
  static constexpr std::string_view kRoles[] = {"system", "developer", "user", "assistant", "tool"};
  const Value list(Value::Kind::list);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& m = messages[i];
    if (std::find(std::begin(kRoles), std::end(kRoles), m.role) == std::end(kRoles))
      return Status(Code::invalid_argument,
                    "message " + std::to_string(i) + ": the role is " + quoted(m.role) +
                        ", expected system, developer, user, assistant or tool");
    const Value message(Value::Kind::dict);
    message.set(Text(U"role"), jinja::decode(m.role));
    message.set(Text(U"content"), jinja::decode(m.content, jinja::kTyped));
    list.items().push_back(message);
  }
  return list;
}

// As transformers calls a template: without tools and documents these are None.
Result<Text> render(const Tokenizer& tokenizer, std::span<const ChatMessage> messages,
                    const ChatOptions& options) {
  LOOM_ASSIGN(const jinja::Template chat, parse(tokenizer.chat_template()));
  LOOM_ASSIGN(const Value list, list_of(messages));
  const auto token = [&](std::optional<std::int32_t> id) {
    return id ? Value(jinja::decode(tokenizer.id_to_token(*id))) : Value();
  };
  jinja::Variables variables{{"messages", list},
                             {"add_generation_prompt", options.add_generation_prompt},
                             {"bos_token", token(tokenizer.bos())},
                             {"eos_token", token(tokenizer.eos())},
                             {"tools", Value(Value::Kind::none)},
                             {"documents", Value(Value::Kind::none)}};
  if (!options.variables.is_object())
    return Status(Code::invalid_argument, "variables: expected an object");
  const std::vector<std::string_view> read = chat.names();
  for (const auto& [name, value] : options.variables.as_object()) {
    if (std::find(read.begin(), read.end(), name) == read.end())
      return Status(Code::invalid_argument,
                    "variables: the template does not read " + quoted(name) + nearest(name, read));
    for (std::size_t i = 0; i < 4; ++i)
      if (variables[i].first == name)
        return Status(Code::invalid_argument, "variables: " + quoted(name) + " is not one to set");
    if (has_real(value))
      return Status(Code::unsupported, "variables: " + quoted(name) + " has a fraction");
    variables.emplace_back(name, jinja::from_json(value, jinja::kTyped));
  }
  return chat.render(std::move(variables));
}

}  // namespace

Status check_chat_template(std::string_view chat_template) {
  return explained(parse(chat_template).status());
}

Result<std::vector<std::int32_t>> render_chat(const Tokenizer& tokenizer,
                                              std::span<const ChatMessage> messages,
                                              const ChatOptions& options) {
  const Result<Text> text = render(tokenizer, messages, options);
  if (!text.ok()) return explained(text.status());
  std::vector<text::TextRange> typed;
  std::string bytes;
  for (const char32_t c : *text) {
    const std::size_t begin = bytes.size();
    bytes += jinja::encode(Text(1, c));
    if ((c & jinja::kTyped) == 0) continue;
    if (!typed.empty() && typed.back().end == begin) typed.back().end = bytes.size();
    else typed.push_back({begin, bytes.size()});
  }
  return tokenizer.encode_typed(bytes, typed);
}

std::vector<std::int32_t> chat_stop_ids(const Tokenizer& tokenizer,
                                        std::span<const ChatMessage> messages,
                                        const ChatOptions& options) {
  std::vector<std::int32_t> ids;
  if (const auto eos = tokenizer.eos()) ids.push_back(*eos);
  std::vector<ChatMessage> answered(messages.begin(), messages.end());
  answered.push_back({"assistant", "."});
  ChatOptions whole = options;
  whole.add_generation_prompt = false;
  const Result<Text> text = render(tokenizer, answered, whole);
  if (!text.ok()) return ids;  // an answer that the template does not take ends with eos
  std::size_t end = text->size();
  while (end > 0 && ((*text)[end - 1] & jinja::kTyped) == 0) --end;
  while (end < text->size() && jinja::is_space((*text)[end])) ++end;
  const auto behind = tokenizer.encode(jinja::encode(text->substr(end)), false);
  if (!behind.empty() && tokenizer.is_special(behind[0]) &&
      std::find(ids.begin(), ids.end(), behind[0]) == ids.end())
    ids.push_back(behind[0]);
  return ids;
}

}  // namespace loom
