// Tokenizers and streaming decoders.
#include "base/escape.h"
#include "base/message.h"
#include "c_api/call.h"
#include "c_api/calls/chat.h"
#include "c_api/options/options.h"

using namespace loom;
using namespace loom::c_api;

namespace loom::c_api {

Result<Conversation> conversation(const char* data, std::size_t size) {
  LOOM_ASSIGN(const Json json, json_argument(data, size, "messages"));
  const Status wrong(Code::invalid_argument,
                     "messages: expected a list of {\"role\": text, \"content\": text}");
  Conversation out;
  const Json *list = json.find("messages"), *variables = json.find("variables");
  if (json.is_object() && list) {
    for (const auto& [key, value] : json.as_object())
      if (key != "messages" && key != "variables")
        return Status(Code::invalid_argument,
                      message("messages: unknown key ", quoted(key),
                              "; known are \"messages\" and \"variables\""));
    if (variables) out.options.variables = *variables;
  } else {
    list = &json;
  }
  if (!list || !list->is_array()) return wrong;
  for (const Json& item : list->as_array()) {
    if (!item.is_object() || item.as_object().size() != 2) return wrong;
    const Json *role = item.find("role"), *content = item.find("content");
    if (!role || !role->is_string() || !content || !content->is_string()) return wrong;
    out.messages.push_back({role->as_string(), content->as_string()});
  }
  return out;
}

}  // namespace loom::c_api

extern "C" {

int32_t loom_tokenizer_load(const char* path, size_t path_size, loom_tokenizer* tokenizer,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(tokenizer));
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    LOOM_ASSIGN(Tokenizer t, load_tokenizer(p));
    *tokenizer = add(std::make_shared<TokenizerObject>(std::move(t)));
    return {};
  });
}

int32_t loom_tokenizer_parse(const char* json, size_t json_size, const char* config,
                             size_t config_size, loom_tokenizer* tokenizer, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(tokenizer));
    LOOM_ASSIGN(const std::string_view j, text_argument(json, json_size, "json"));
    LOOM_ASSIGN(const std::string_view c, text_argument(config, config_size, "config"));
    LOOM_ASSIGN(Tokenizer t, Tokenizer::from_json(j, c));
    *tokenizer = add(std::make_shared<TokenizerObject>(std::move(t)));
    return {};
  });
}

int32_t loom_tokenizer_train(const char* texts, size_t texts_size, const char* options,
                             size_t options_size, loom_tokenizer* tokenizer, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(tokenizer));
    LOOM_ASSIGN(const Json list, json_argument(texts, texts_size, "texts"));
    const Status wrong(Code::invalid_argument, "texts: expected a list of strings");
    if (!list.is_array()) return wrong;
    std::vector<std::string_view> views;
    for (const Json& item : list.as_array()) {
      if (!item.is_string()) return wrong;
      views.push_back(item.as_string());
    }
    TokenizerTrain o;
    LOOM_TRY(read_options(options, options_size, o));
    o.trainer.vocab_size = static_cast<std::size_t>(o.vocab_size);
    LOOM_ASSIGN(Tokenizer t, train_bpe(views, o.trainer));
    *tokenizer = add(std::make_shared<TokenizerObject>(std::move(t)));
    return {};
  });
}

int32_t loom_tokenizer_info(loom_tokenizer tokenizer, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto t, get<TokenizerObject>(tokenizer));
    Json json = Json::object();
    json.set("vocab_size", static_cast<std::int64_t>(t->tokenizer.vocab_size()));
    json.set("bos", optional_id(t->tokenizer.bos()));
    json.set("eos", optional_id(t->tokenizer.eos()));
    const Status chat = check_chat_template(t->tokenizer.chat_template());
    json.set("chat", chat.ok());
    if (!chat.ok()) json.set("no_chat", chat.to_string());
    json.set("chat_template", t->tokenizer.chat_template());
    *info = new_json(json);
    return {};
  });
}

int32_t loom_tokenizer_encode(loom_tokenizer tokenizer, const char* text, size_t text_size,
                              int32_t add_special, loom_bytes* ids, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(ids));
    LOOM_ASSIGN(const auto t, get<TokenizerObject>(tokenizer));
    LOOM_ASSIGN(const std::string_view s, text_argument(text, text_size, "text"));
    *ids = new_ids(t->tokenizer.encode(s, add_special != 0));
    return {};
  });
}

int32_t loom_tokenizer_encode_plain(loom_tokenizer tokenizer, const char* text, size_t text_size,
                                    loom_bytes* ids, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(ids));
    LOOM_ASSIGN(const auto t, get<TokenizerObject>(tokenizer));
    LOOM_ASSIGN(const std::string_view s, text_argument(text, text_size, "text"));
    *ids = new_ids(t->tokenizer.encode_plain(s));
    return {};
  });
}

int32_t loom_tokenizer_decode(loom_tokenizer tokenizer, const int32_t* ids, size_t ids_count,
                              int32_t skip_special, loom_bytes* text, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(text));
    LOOM_ASSIGN(const auto t, get<TokenizerObject>(tokenizer));
    LOOM_ASSIGN(const std::vector<std::uint32_t> i, unsigned_values(ids, ids_count, "ids"));
    const std::vector<std::int32_t> tokens(i.begin(), i.end());
    *text = new_text(t->tokenizer.decode(tokens, skip_special != 0));
    return {};
  });
}

int32_t loom_tokenizer_token(loom_tokenizer tokenizer, int32_t id, loom_bytes* token,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(token));
    LOOM_ASSIGN(const auto t, get<TokenizerObject>(tokenizer));
    if (id < 0 || static_cast<std::size_t>(id) >= t->tokenizer.vocab_size())
      return Status(Code::out_of_range,
                    message("id ", id, ": the vocabulary has ", t->tokenizer.vocab_size()));
    *token = new_text(t->tokenizer.id_to_token(id));
    return {};
  });
}

int32_t loom_tokenizer_id(loom_tokenizer tokenizer, const char* token, size_t token_size,
                          int32_t* id, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(id));
    LOOM_ASSIGN(const auto t, get<TokenizerObject>(tokenizer));
    LOOM_ASSIGN(const std::string_view s, text_argument(token, token_size, "token"));
    *id = t->tokenizer.token_to_id(s).value_or(-1);
    return {};
  });
}

int32_t loom_tokenizer_chat(loom_tokenizer tokenizer, const char* messages, size_t messages_size,
                            int32_t add_generation_prompt, loom_bytes* ids, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(ids));
    LOOM_ASSIGN(const auto t, get<TokenizerObject>(tokenizer));
    LOOM_ASSIGN(Conversation chat, conversation(messages, messages_size));
    chat.options.add_generation_prompt = add_generation_prompt != 0;
    LOOM_ASSIGN(const auto rendered, render_chat(t->tokenizer, chat.messages, chat.options));
    *ids = new_ids(rendered);
    return {};
  });
}

int32_t loom_decoder_create(loom_tokenizer tokenizer, int32_t skip_special, loom_decoder* decoder,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(decoder));
    LOOM_ASSIGN(const auto t, get<TokenizerObject>(tokenizer));
    *decoder = add(std::make_shared<DecoderObject>(StreamDecoder(t->tokenizer, skip_special != 0)));
    return {};
  });
}

int32_t loom_decoder_push(loom_decoder decoder, int32_t id, loom_bytes* text, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(text));
    LOOM_ASSIGN(const auto d, get<DecoderObject>(decoder));
    LOOM_ASSIGN(const auto inside, enter(*d));
    if (id < 0) return Status(Code::out_of_range, message("id ", id, ": expected at least 0"));
    *text = new_text(d->decoder.push(id));
    return {};
  });
}

int32_t loom_decoder_finish(loom_decoder decoder, loom_bytes* text, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(text));
    LOOM_ASSIGN(const auto d, get<DecoderObject>(decoder));
    LOOM_ASSIGN(const auto inside, enter(*d));
    *text = new_text(d->decoder.finish());
    return {};
  });
}

}  // extern "C"
