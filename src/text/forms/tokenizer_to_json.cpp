// Writes tokenizer.json and tokenizer_config.json, as HuggingFace's tokenizers have them.

#include "base/json/json.h"
#include "text/tokenizer.h"
#include "text/tokenizer_data.h"

namespace loom {

using namespace text;

namespace {

std::string text_json(std::string_view text) { return Json(text).dump(); }

Json typed(std::string_view type) {
  Json j = Json::object();
  j.set("type", type);
  return j;
}

// An object and one more member.
Json with(Json j, std::string_view key, Json value) {
  j.set(key, std::move(value));
  return j;
}

Json search_json(const Step& s) {
  Json j = Json::object();
  j.set(s.has(Step::kRegex) ? "Regex" : "String", s.text);
  return j;
}

std::string_view behavior_name(SplitBehavior behavior) {
  constexpr std::string_view kNames[] = {"Removed", "Isolated", "MergedWithPrevious",
                                         "MergedWithNext", "Contiguous"};
  return kNames[static_cast<std::size_t>(behavior)];
}

Json metaspace(const Step& s) {
  Json j = typed("Metaspace");
  j.set("replacement", s.text);
  j.set("prepend_scheme", !s.has(Step::kAddSpace)   ? "never"
                          : s.has(Step::kFirstOnly) ? "first"
                                                    : "always");
  j.set("split", s.has(Step::kSplit));
  return j;
}

Json replace(const Step& s) {
  Json j = typed("Replace");
  j.set("pattern", search_json(s));
  j.set("content", s.replacement);
  return j;
}

// The steps that are a type and nothing else; "" of others.
std::string_view bare_name(StepKind kind) {
  switch (kind) {
    case StepKind::nfc: return "NFC";
    case StepKind::nfd: return "NFD";
    case StepKind::nfkc: return "NFKC";
    case StepKind::nfkd: return "NFKD";
    case StepKind::lowercase: return "Lowercase";
    case StepKind::strip_accents: return "StripAccents";
    case StepKind::map_bytes:
    case StepKind::decode_byte_level: return "ByteLevel";
    case StepKind::whitespace: return "Whitespace";
    case StepKind::whitespace_split: return "WhitespaceSplit";
    case StepKind::bert: return "BertPreTokenizer";
    case StepKind::decode_byte_fallback: return "ByteFallback";
    case StepKind::decode_fuse: return "Fuse";
    default: return "";
  }
}

Json text_step(const Step& s) {
  switch (s.kind) {
    case StepKind::strip: {
      Json j = typed("Strip");
      j.set("strip_left", s.has(Step::kStart));
      j.set("strip_right", s.has(Step::kStop));
      return j;
    }
    case StepKind::prepend: return with(typed("Prepend"), "prepend", s.text);
    case StepKind::byte_level: {
      Json j = typed("ByteLevel");
      j.set("add_prefix_space", s.has(Step::kAddSpace));
      j.set("trim_offsets", true);
      j.set("use_regex", s.has(Step::kRegex));
      return j;
    }
    case StepKind::split: {
      Json j = typed("Split");
      j.set("pattern", search_json(s));
      j.set("behavior", behavior_name(s.behavior));
      j.set("invert", s.has(Step::kInvert));
      return j;
    }
    case StepKind::digits:
      return with(typed("Digits"), "individual_digits", s.has(Step::kIndividual));
    case StepKind::metaspace: return metaspace(s);
    case StepKind::punctuation:
      return with(typed("Punctuation"), "behavior", behavior_name(s.behavior));
    case StepKind::character: return with(typed("CharDelimiterSplit"), "delimiter", s.text);
    default: return replace(s);
  }
}

Json step_json(const Step& s) {
  if (const std::string_view bare = bare_name(s.kind); !bare.empty()) {
    Json j = typed(bare);
    if (s.kind == StepKind::decode_byte_level) {
      j.set("add_prefix_space", true);
      j.set("trim_offsets", true);
      j.set("use_regex", true);
    }
    return j;
  }
  if (s.kind == StepKind::decode_metaspace) return metaspace(s);
  if (s.kind == StepKind::decode_suffix) return with(typed("BPEDecoder"), "suffix", s.text);
  if (s.kind == StepKind::decode_strip) {
    Json j = typed("Strip");
    j.set("content", s.text);
    j.set("start", s.start);
    j.set("stop", s.stop);
    return j;
  }
  return text_step(s);
}

std::string steps_json(const std::vector<Step>& steps, std::string_view list) {
  if (steps.empty() || steps[0].kind == StepKind::decode_join) return "null";
  if (steps.size() == 1) return step_json(steps[0]).dump();
  Json all = typed("Sequence"), items = Json::array();
  for (const Step& s : steps) items.push(step_json(s));
  all.set(list, std::move(items));
  return all.dump();
}

// The tokens around a text; the same around each of two.
std::string template_json(const TokenizerData& d) {
  if (d.prefix.empty() && d.suffix.empty()) return "null";
  const auto around = [&](Json& list, const char* text, int type) {
    const auto put = [&](std::uint32_t id) {
      Json token = Json::object();
      token.set("id", d.vocabulary.text(id));
      token.set("type_id", type);
      list.push(with(Json::object(), "SpecialToken", std::move(token)));
    };
    for (const std::uint32_t id : d.prefix) put(id);
    Json sequence = Json::object();
    sequence.set("id", text);
    sequence.set("type_id", type);
    list.push(with(Json::object(), "Sequence", std::move(sequence)));
    for (const std::uint32_t id : d.suffix) put(id);
  };
  Json j = typed("TemplateProcessing"), single = Json::array(), pair = Json::array(),
       special = Json::object();
  around(single, "A", 0);
  around(pair, "A", 0);
  around(pair, "B", 1);
  for (const auto* ids : {&d.prefix, &d.suffix})
    for (const std::uint32_t id : *ids) {
      const std::string text(d.vocabulary.text(id));
      Json token = Json::object(), list = Json::array(), texts = Json::array();
      list.push(id);
      texts.push(text);
      token.set("id", text);
      token.set("ids", std::move(list));
      token.set("tokens", std::move(texts));
      special.set(text, std::move(token));
    }
  j.set("single", std::move(single));
  j.set("pair", std::move(pair));
  j.set("special_tokens", std::move(special));
  return j.dump();
}

// Readers number an added token by its text in the vocabulary, or with the next id that is free.
// Those that the latter would number wrongly go into the vocabulary.
std::vector<bool> in_vocabulary(const TokenizerData& d) {
  std::vector<bool> in(d.vocabulary.size());
  std::uint32_t next = 0;
  for (std::uint32_t id = 0; id < in.size(); ++id) {
    in[id] = (d.vocabulary.flags(id) & Vocabulary::kModel) != 0;
    next += in[id];
  }
  for (const AddedToken& t : d.added) {
    if (!in[t.id] && t.id != next) in[t.id] = true;
    next = std::max(next, t.id + 1);
  }
  return in;
}

std::string added_json(const TokenizerData& d) {
  std::string out = "[";
  for (const AddedToken& t : d.added) {
    Json j = Json::object();
    j.set("id", t.id);
    j.set("content", t.content);
    j.set("single_word", t.single_word);
    j.set("lstrip", t.lstrip);
    j.set("rstrip", t.rstrip);
    j.set("normalized", t.normalized);
    j.set("special", t.special);
    out += (out.size() > 1 ? ",\n" : "") + j.dump();
  }
  return out + "]";
}

std::string merges_json(const TokenizerData& d) {
  std::string out = "[";
  const std::vector<Merge> merges = d.bpe.merges();
  bool spaces = false;  // the older form, one text of two tokens, has none in them
  for (const Merge& m : merges)
    for (const std::uint32_t id : {m.left, m.right})
      spaces = spaces || d.vocabulary.text(id).find(' ') != std::string_view::npos;
  for (const Merge& m : merges) {
    const std::string left(d.vocabulary.text(m.left)), right(d.vocabulary.text(m.right));
    if (out.size() > 1) out += ",\n";
    out += spaces ? "[" + text_json(left) + "," + text_json(right) + "]"
                  : text_json(left + " " + right);
  }
  return out + "]";
}

std::string model_json(const TokenizerData& d) {
  const BpeOptions& bpe = d.bpe.options();
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json j = typed("BPE");
  j.set("dropout", Json());
  j.set("unk_token", bpe.unknown ? Json(d.vocabulary.text(*bpe.unknown)) : Json());
  j.set("continuing_subword_prefix", or_null(bpe.continuing_prefix));
  j.set("end_of_word_suffix", or_null(bpe.end_suffix));
  j.set("fuse_unk", bpe.fuse_unknown);
  j.set("byte_fallback", bpe.byte_fallback);
  j.set("ignore_merges", bpe.ignore_merges);
  std::string out = j.dump();
  out.back() = ',';
  out += "\"vocab\":{";
  const std::vector<bool> in = in_vocabulary(d);
  bool first = true;
  for (std::uint32_t id = 0; id < in.size(); ++id) {
    if (!in[id]) continue;
    out += (first ? "" : ",\n") + text_json(d.vocabulary.text(id)) + ":" + std::to_string(id);
    first = false;
  }
  return out + "},\"merges\":" + merges_json(d) + "}";
}

}  // namespace

std::string Tokenizer::to_json() const {
  const TokenizerData& d = *data_;
  return "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\n\"added_tokens\":" +
         added_json(d) + ",\n\"normalizer\":" + steps_json(d.normalizer.steps(), "normalizers") +
         ",\n\"pre_tokenizer\":" + steps_json(d.pre_tokenizer.steps(), "pretokenizers") +
         ",\n\"post_processor\":" + template_json(d) +
         ",\n\"decoder\":" + steps_json(d.decoder.steps(), "decoders") +
         ",\n\"model\":" + model_json(d) + "}\n";
}

std::string Tokenizer::config_json() const {
  const TokenizerData& d = *data_;
  Json j = Json::object();
  j.set("tokenizer_class", "PreTrainedTokenizerFast");
  j.set("clean_up_tokenization_spaces", false);
  const auto token = [&](const char* key, std::optional<std::uint32_t> id) {
    if (id) j.set(key, d.vocabulary.text(*id));
  };
  token("bos_token", d.bos);
  token("eos_token", d.eos);
  token("unk_token", d.bpe.options().unknown);
  if (!d.chat_template.empty()) j.set("chat_template", d.chat_template);
  return j.dump(2) + "\n";
}

}  // namespace loom
