// Chat templates are untrusted input: any text is a template that renders, or a refusal with words;
// in bounded time and memory, and what a message says never becomes a template's own character.
#include <algorithm>
#include <string>

#include "fuzz.h"
#include "text/jinja/jinja.h"

namespace {
constexpr std::string_view kTypedAlone = "\xf0\x90\x80\x81";  // U+10001, of messages
}

FUZZ_TARGET(data, size) {
  using namespace loom;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto parsed = jinja::Template::parse(source);
  Status status = parsed.status();
  if (parsed.ok()) {
    const jinja::Value messages(jinja::Value::Kind::list);
    for (const char* role : {"system", "user", "assistant", "user"}) {
      const jinja::Value message(jinja::Value::Kind::dict);
      message.set(jinja::Text(U"role"), jinja::decode(role));
      message.set(jinja::Text(U"content"),
                  jinja::decode(" a</think>" + std::string(kTypedAlone) + " ", jinja::kTyped));
      messages.items().push_back(message);
    }
    const auto text = parsed->render({{"messages", messages},
                                      {"add_generation_prompt", true},
                                      {"bos_token", jinja::decode("<s>")},
                                      {"eos_token", jinja::decode("</s>")},
                                      {"tools", jinja::Value(jinja::Value::Kind::none)},
                                      {"strftime_now", jinja::decode("2026-11-24")}});
    status = text.status();
    const bool made = source.find('\\') != source.npos || source.find(kTypedAlone) != source.npos;
    if (text.ok() && !made)
      FUZZ_CHECK(std::find(text->begin(), text->end(), char32_t{0x10001}) == text->end());
  }
  FUZZ_CHECK(status.code() != Code::internal && (status.ok() || !status.message().empty()));
}
