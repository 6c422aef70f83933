#include "text/pipeline/pipeline_json.h"

#include "text/unicode/utf8.h"

namespace loom::text {
namespace {

Result<std::string> type_of(const Json& json) {
  if (!json.is_object()) return Status(Code::corrupt, "expected an object with a \"type\"");
  return json.get_string("type", "");
}

Status refuse(std::string_view what, const std::string& type) {
  return Status(Code::unsupported, std::string(what) + " '" + type + "'");
}

// Runs `read` on every item of json[key].
template <class Read>
Status each(const Json& json, std::string_view key, Read read) {
  const Json* items = json.find(key);
  if (!items || !items->is_array())
    return Status(Code::corrupt, "Sequence: expected an array \"" + std::string(key) + "\"");
  for (const Json& item : items->as_array()) LOOM_TRY(read(item));
  return {};
}

// {"String": s} or {"Regex": r}
Status read_search(const Json& json, Step* step) {
  const Json* pattern = json.find("pattern");
  if (pattern && pattern->is_object() && pattern->as_object().size() == 1) {
    const auto& [kind, text] = pattern->as_object()[0];
    if (text.is_string() && (kind == "String" || kind == "Regex")) {
      step->text = text.as_string();
      if (kind == "Regex") step->flags |= Step::kRegex;
      return {};
    }
  }
  return Status(Code::corrupt, "\"pattern\": expected {\"String\": ...} or {\"Regex\": ...}");
}

Status read_behavior(const Json& json, std::string_view fallback, Step* step) {
  constexpr std::string_view kNames[] = {"Removed", "Isolated", "MergedWithPrevious",
                                         "MergedWithNext", "Contiguous"};
  LOOM_ASSIGN(const std::string name, json.get_string("behavior", fallback));
  for (std::uint8_t i = 0; i < 5; ++i) {
    if (kNames[i] == name) {
      step->behavior = static_cast<SplitBehavior>(i);
      return {};
    }
  }
  return refuse("split behavior", name);
}

Status read_flag(const Json& json, std::string_view key, bool fallback, Step::Flag flag,
                 Step* step) {
  LOOM_ASSIGN(const bool on, json.get_bool(key, fallback));
  if (on) step->flags |= flag;
  return {};
}

Status read_character(const Json& json, std::string_view key, std::string_view fallback,
                      Step* step) {
  LOOM_ASSIGN(step->text, json.get_string(key, fallback));
  if (step->text.empty() || !utf8_valid(step->text) ||
      utf8_step(step->text, 0).size != step->text.size())
    return Status(Code::corrupt, "\"" + std::string(key) + "\": expected one character");
  return {};
}

// Metaspace as pre-tokenizer and as decoder.
Status read_metaspace(const Json& json, StepKind kind, Step* step) {
  step->kind = kind;
  step->behavior = SplitBehavior::merged_with_next;
  LOOM_TRY(read_character(json, "replacement", "\u2581", step));
  LOOM_ASSIGN(const bool add, json.get_bool("add_prefix_space", true));  // of old files
  LOOM_ASSIGN(const std::string scheme,
              json.get_string("prepend_scheme", add ? "always" : "never"));
  if (scheme == "always" || scheme == "first") step->flags |= Step::kAddSpace;
  else if (scheme != "never") return refuse("prepend_scheme", scheme);
  if (scheme == "first") step->flags |= Step::kFirstOnly;
  return read_flag(json, "split", true, Step::kSplit, step);
}

}  // namespace

Status read_normalizer(const Json& json, std::vector<Step>* steps) {
  if (json.is_null()) return {};
  LOOM_ASSIGN(const std::string type, type_of(json));
  if (type == "Sequence")
    return each(json, "normalizers",
                [&](const Json& item) { return read_normalizer(item, steps); });
  Step step{};
  if (type == "NFC") step.kind = StepKind::nfc;
  else if (type == "NFD") step.kind = StepKind::nfd;
  else if (type == "NFKC") step.kind = StepKind::nfkc;
  else if (type == "NFKD") step.kind = StepKind::nfkd;
  else if (type == "Lowercase") step.kind = StepKind::lowercase;
  else if (type == "StripAccents") step.kind = StepKind::strip_accents;
  else if (type == "ByteLevel") step.kind = StepKind::map_bytes;
  else if (type == "Strip") {
    step.kind = StepKind::strip;
    LOOM_TRY(read_flag(json, "strip_left", true, Step::kStart, &step));
    LOOM_TRY(read_flag(json, "strip_right", true, Step::kStop, &step));
  } else if (type == "Prepend") {
    step.kind = StepKind::prepend;
    LOOM_ASSIGN(step.text, json.get_string("prepend", ""));
  } else if (type == "Replace") {
    step.kind = StepKind::replace;
    LOOM_TRY(read_search(json, &step));
    LOOM_ASSIGN(step.replacement, json.get_string("content", ""));
  } else {
    return refuse("normalizer", type);
  }
  steps->push_back(std::move(step));
  return {};
}

Status read_pre_tokenizer(const Json& json, std::vector<Step>* steps) {
  if (json.is_null()) return {};
  LOOM_ASSIGN(const std::string type, type_of(json));
  if (type == "Sequence")
    return each(json, "pretokenizers",
                [&](const Json& item) { return read_pre_tokenizer(item, steps); });
  Step step{};
  if (type == "ByteLevel") {
    step.kind = StepKind::byte_level;
    LOOM_TRY(read_flag(json, "add_prefix_space", true, Step::kAddSpace, &step));
    LOOM_TRY(read_flag(json, "use_regex", true, Step::kRegex, &step));
  } else if (type == "Split") {
    step.kind = StepKind::split;
    LOOM_TRY(read_search(json, &step));
    LOOM_TRY(read_behavior(json, "", &step));
    LOOM_TRY(read_flag(json, "invert", false, Step::kInvert, &step));
  } else if (type == "Digits") {
    step.kind = StepKind::digits;
    LOOM_TRY(read_flag(json, "individual_digits", false, Step::kIndividual, &step));
  } else if (type == "Metaspace") {
    LOOM_TRY(read_metaspace(json, StepKind::metaspace, &step));
  } else if (type == "Whitespace") {
    step.kind = StepKind::whitespace;
  } else if (type == "WhitespaceSplit") {
    step.kind = StepKind::whitespace_split;
  } else if (type == "Punctuation") {
    step.kind = StepKind::punctuation;
    LOOM_TRY(read_behavior(json, "Isolated", &step));
  } else if (type == "BertPreTokenizer") {
    step.kind = StepKind::bert;
  } else if (type == "CharDelimiterSplit") {
    step.kind = StepKind::character;
    step.behavior = SplitBehavior::removed;
    LOOM_TRY(read_character(json, "delimiter", "", &step));
  } else {
    return refuse("pre-tokenizer", type);
  }
  steps->push_back(std::move(step));
  return {};
}

Status read_decoder(const Json& json, std::vector<Step>* steps) {
  if (json.is_null()) return {};
  LOOM_ASSIGN(const std::string type, type_of(json));
  if (type == "Sequence")
    return each(json, "decoders", [&](const Json& item) { return read_decoder(item, steps); });
  Step step{};
  if (type == "ByteLevel") step.kind = StepKind::decode_byte_level;
  else if (type == "ByteFallback") step.kind = StepKind::decode_byte_fallback;
  else if (type == "Fuse") step.kind = StepKind::decode_fuse;
  else if (type == "Metaspace") LOOM_TRY(read_metaspace(json, StepKind::decode_metaspace, &step));
  else if (type == "Replace") {
    step.kind = StepKind::decode_replace;
    LOOM_TRY(read_search(json, &step));
    LOOM_ASSIGN(step.replacement, json.get_string("content", ""));
  } else if (type == "Strip") {
    step.kind = StepKind::decode_strip;
    LOOM_TRY(read_character(json, "content", " ", &step));
    LOOM_ASSIGN(const std::int64_t start, json.get_integer("start", 0));
    LOOM_ASSIGN(const std::int64_t stop, json.get_integer("stop", 0));
    if (start < 0 || stop < 0 || start > INT32_MAX || stop > INT32_MAX)
      return Status(Code::corrupt, "Strip: \"start\" and \"stop\" must be from 0 to 2147483647");
    step.start = static_cast<std::uint32_t>(start);
    step.stop = static_cast<std::uint32_t>(stop);
  } else if (type == "BPEDecoder") {
    step.kind = StepKind::decode_suffix;
    LOOM_ASSIGN(step.text, json.get_string("suffix", "</w>"));
  } else {
    return refuse("decoder", type);
  }
  steps->push_back(std::move(step));
  return {};
}

namespace {

Result<std::uint32_t> read_id(const Json& json) {
  if (!json.is_integer() || json.as_integer() < 0 || json.as_integer() > INT32_MAX)
    return Status(Code::corrupt, "expected a token id");
  return static_cast<std::uint32_t>(json.as_integer());
}

// TemplateProcessing: [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}], the ids of
// "<s>" in "special_tokens".
Status read_template(const Json& json, std::vector<std::uint32_t>* prefix,
                     std::vector<std::uint32_t>* suffix) {
  bool seen = false;
  std::vector<std::uint32_t> before, after;
  LOOM_TRY(each(json, "single", [&](const Json& item) -> Status {
    if (const Json* sequence = item.find("Sequence")) {
      LOOM_ASSIGN(const std::string id, sequence->get_string("id", ""));
      if (id != "A" || seen)
        return Status(Code::unsupported, "a template that is not one text A with tokens around it");
      seen = true;
      return {};
    }
    const Json* token = item.find("SpecialToken");
    const Json* tokens = json.find("special_tokens");
    if (!token || !tokens)
      return Status(Code::corrupt,
                    "template: expected {\"SpecialToken\": ...} or {\"Sequence\": ...}");
    LOOM_ASSIGN(const std::string name, token->get_string("id", ""));
    const Json* entry = tokens->find(name);
    const Json* ids = entry ? entry->find("ids") : nullptr;
    if (!ids || !ids->is_array())
      return Status(Code::corrupt, "template: \"" + name + "\" has no \"ids\"");
    for (const Json& one : ids->as_array()) {
      LOOM_ASSIGN(const std::uint32_t id, read_id(one));
      (seen ? after : before).push_back(id);
    }
    return {};
  }));
  if (!seen) return Status(Code::unsupported, "a template without the text A");
  prefix->insert(prefix->begin(), before.begin(), before.end());
  suffix->insert(suffix->end(), after.begin(), after.end());
  return {};
}

}  // namespace

Status read_post_processor(const Json& json, std::vector<std::uint32_t>* prefix,
                           std::vector<std::uint32_t>* suffix, bool* is_template) {
  if (json.is_null()) return {};
  LOOM_ASSIGN(const std::string type, type_of(json));
  if (type == "ByteLevel") return {};  // concerns offsets only
  if (type == "Sequence")
    return each(json, "processors", [&](const Json& item) {
      return read_post_processor(item, prefix, suffix, is_template);
    });
  *is_template = true;
  if (type == "TemplateProcessing") return read_template(json, prefix, suffix).at("post_processor");
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    // "cls": ["<s>", 0], "sep": ["</s>", 2]
    const auto id_of = [&](std::string_view key) -> Result<std::uint32_t> {
      const Json* pair = json.find(key);
      if (!pair || !pair->is_array() || pair->as_array().size() != 2)
        return Status(Code::corrupt,
                      "post_processor: \"" + std::string(key) + "\": expected [token, id]");
      return read_id(pair->as_array()[1]);
    };
    LOOM_ASSIGN(const std::uint32_t cls, id_of("cls"));
    LOOM_ASSIGN(const std::uint32_t sep, id_of("sep"));
    prefix->insert(prefix->begin(), cls);
    suffix->push_back(sep);
    return {};
  }
  return refuse("post-processor", type);
}

}  // namespace loom::text
