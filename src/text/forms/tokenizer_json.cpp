// Reads tokenizer.json, the format of HuggingFace's tokenizers.

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "base/json/json.h"
#include "text/forms/json_cursor.h"
#include "text/pipeline/pipeline_json.h"
#include "text/tokenizer.h"
#include "text/tokenizer_data.h"
#include "text/unicode/utf8.h"

namespace loom {

using namespace text;

namespace {

class TokenizerReader {
 public:
  Result<Tokenizer> read(std::string_view text, std::string_view config) {
    if (!utf8_valid(text)) return Status(Code::corrupt, "not valid UTF-8");
    LOOM_TRY(top(text));
    LOOM_TRY(read_added_tokens());
    LOOM_TRY(model());
    LOOM_TRY(read_post_processor(post_processor_, &parts_.prefix, &parts_.suffix, &has_template_));
    if (!config.empty()) {
      auto status = read_config(config);
      if (!status.ok()) return status.at("tokenizer_config.json");
    }
    if (!parts_.bos && !parts_.prefix.empty()) parts_.bos = parts_.prefix.front();
    return Tokenizer::build(std::move(parts_));
  }

 private:
  Status top(std::string_view text) {
    JsonCursor cursor(text);
    LOOM_TRY(cursor.list('{', '}', [&]() -> Status {
      std::string storage;
      LOOM_ASSIGN(const std::string_view key, cursor.string(storage));
      LOOM_TRY(cursor.expect(':'));
      LOOM_ASSIGN(const std::string_view raw, cursor.raw_value());
      if (key == "model") {
        model_ = raw;
        return {};
      }
      auto value = Json::parse(raw);
      if (!value.ok()) return value.status().at(key);
      if (key == "added_tokens") added_ = std::move(*value);
      else if (key == "normalizer") LOOM_TRY(read_normalizer(*value, &parts_.normalizer).at(key));
      else if (key == "pre_tokenizer")
        LOOM_TRY(read_pre_tokenizer(*value, &parts_.pre_tokenizer).at(key));
      else if (key == "decoder") LOOM_TRY(read_decoder(*value, &parts_.decoder).at(key));
      else if (key == "post_processor") post_processor_ = std::move(*value);
      return {};
    }));
    if (!cursor.at_end()) return cursor.error("expected the end of the text");
    if (model_.empty()) return Status(Code::corrupt, "has no \"model\": expected a tokenizer.json");
    if (parts_.decoder.empty()) parts_.decoder.push_back({.kind = StepKind::decode_join});
    return {};
  }

  Status model() {
    std::string_view vocab, merges;
    Json options = Json::object();
    JsonCursor cursor(model_);
    LOOM_TRY(cursor.list('{', '}', [&]() -> Status {
      std::string storage;
      LOOM_ASSIGN(const std::string_view key, cursor.string(storage));
      LOOM_TRY(cursor.expect(':'));
      LOOM_ASSIGN(const std::string_view raw, cursor.raw_value());
      if (key == "vocab") {
        vocab = raw;
        return {};
      }
      if (key == "merges") {
        merges = raw;
        return {};
      }
      constexpr std::string_view kKnown[] = {"type",
                                             "dropout",
                                             "unk_token",
                                             "continuing_subword_prefix",
                                             "end_of_word_suffix",
                                             "fuse_unk",
                                             "byte_fallback",
                                             "ignore_merges"};
      if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) return {};
      auto value = Json::parse(raw);
      if (!value.ok()) return value.status().at(key);
      options.set(std::string(key), std::move(*value));
      return {};
    }));
    // Old files name no type; BPE is the model with merges.
    LOOM_ASSIGN(const std::string type,
                options.get_string("type", merges.empty() ? "without merges" : "BPE"));
    if (type != "BPE")
      return Status(Code::unsupported, "tokenizer model '" + type + "'; this build reads BPE");
    LOOM_ASSIGN(const double dropout, options.get_number("dropout", 0));
    if (dropout > 0) return Status(Code::unsupported, "BPE dropout: encoding would be random");
    if (vocab.empty()) return Status(Code::corrupt, "model: has no \"vocab\"");

    LOOM_TRY(read_vocabulary(vocab).at("vocab"));
    number_added_tokens();
    LOOM_ASSIGN(parts_.vocabulary, Vocabulary::build(entries_));
    BpeOptions& bpe = parts_.bpe;
    LOOM_ASSIGN(bpe.fuse_unknown, options.get_bool("fuse_unk", false));
    LOOM_ASSIGN(bpe.byte_fallback, options.get_bool("byte_fallback", false));
    LOOM_ASSIGN(bpe.ignore_merges, options.get_bool("ignore_merges", false));
    LOOM_ASSIGN(bpe.continuing_prefix, options.get_string("continuing_subword_prefix", ""));
    LOOM_ASSIGN(bpe.end_suffix, options.get_string("end_of_word_suffix", ""));
    LOOM_ASSIGN(const std::string unknown, options.get_string("unk_token", ""));
    if (!unknown.empty()) {
      bpe.unknown = parts_.vocabulary.find(unknown, Vocabulary::kModel);
      if (!bpe.unknown)
        return Status(Code::corrupt,
                      "model: unk_token \"" + unknown + "\" is not in the vocabulary");
    }
    if (!merges.empty()) LOOM_TRY(read_merges(merges).at("merges"));
    return {};
  }

  Status read_vocabulary(std::string_view raw) {
    JsonCursor cursor(raw);
    return cursor.list('{', '}', [&]() -> Status {
      std::string storage;
      LOOM_ASSIGN(std::string_view text, cursor.string(storage));
      if (!storage.empty()) text = kept_.emplace_back(std::move(storage));
      LOOM_TRY(cursor.expect(':'));
      LOOM_ASSIGN(const std::uint32_t id, cursor.id());
      std::uint8_t flags = Vocabulary::kModel;
      if (!text.empty() && added_first_byte_[static_cast<unsigned char>(text[0])]) {
        if (const auto added = added_names_.find(text); added != added_names_.end()) {
          added->second.id = id;
          flags |= added->second.flags;
        }
      }
      entries_.push_back({text, id, flags});
      return {};
    });
  }

  // ["a b", ...] or [["a", "b"], ...]; the rank of a merge is its place.
  Status read_merges(std::string_view raw) {
    JsonCursor cursor(raw);
    std::string first_storage, second_storage, joined;
    std::uint32_t rank = 0;
    return cursor.list('[', ']', [&]() -> Status {
      std::string_view left, right;
      if (cursor.take('[')) {
        LOOM_ASSIGN(left, cursor.string(first_storage));
        LOOM_TRY(cursor.expect(','));
        LOOM_ASSIGN(right, cursor.string(second_storage));
        LOOM_TRY(cursor.expect(']'));
      } else {
        LOOM_ASSIGN(const std::string_view line, cursor.string(first_storage));
        if (line.starts_with("#version")) return {};
        const std::size_t gap = line.find(' ');
        if (gap == std::string_view::npos || line.find(' ', gap + 1) != std::string_view::npos)
          return Status(Code::corrupt, "\"" + std::string(line) +
                                           "\": expected two tokens with a space between them");
        left = line.substr(0, gap);
        right = line.substr(gap + 1);
      }
      joined.assign(left);
      joined.append(right.substr(std::min(right.size(), parts_.bpe.continuing_prefix.size())));
      const auto find = [&](std::string_view text) {
        return parts_.vocabulary.find(text, Vocabulary::kModel);
      };
      const auto l = find(left), r = find(right), m = find(joined);
      if (!l || !r || !m)
        return Status(Code::corrupt, "merge " + std::to_string(rank) + ": \"" +
                                         std::string(!l   ? left
                                                     : !r ? right
                                                          : joined) +
                                         "\" is not in the vocabulary");
      parts_.merges.push_back({*l, *r, rank++, *m});
      return {};
    });
  }

  Status read_added_tokens() {
    if (added_.is_null()) return {};
    if (!added_.is_array()) return Status(Code::corrupt, "added_tokens: expected an array");
    for (const Json& item : added_.as_array()) {
      AddedToken token;
      LOOM_ASSIGN(token.content, item.get_string("content", ""));
      if (token.content.empty()) continue;
      LOOM_ASSIGN(token.special, item.get_bool("special", false));
      LOOM_ASSIGN(token.single_word, item.get_bool("single_word", false));
      LOOM_ASSIGN(token.lstrip, item.get_bool("lstrip", false));
      LOOM_ASSIGN(token.rstrip, item.get_bool("rstrip", false));
      LOOM_ASSIGN(token.normalized, item.get_bool("normalized", false));
      added_first_byte_[static_cast<unsigned char>(token.content[0])] = true;
      added_names_[token.content].flags |= static_cast<std::uint8_t>(
          Vocabulary::kAdded | (token.special ? Vocabulary::kSpecial : 0));
      parts_.added.push_back(std::move(token));
    }
    return {};
  }

  // An added token has the id of its text in the vocabulary, or the next one that is free; the id
  // in the file is not used, as in the original.
  void number_added_tokens() {
    auto next = static_cast<std::uint32_t>(entries_.size());
    for (AddedToken& token : parts_.added) {
      const auto named = added_names_.find(token.content);
      AddedName& name = named->second;
      if (!name.id) {
        name.id = next;
        entries_.push_back({named->first, next, name.flags});
      }
      token.id = *name.id;
      next = std::max(next, token.id + 1);
    }
  }

  Status read_config(std::string_view text) {
    LOOM_ASSIGN(const Json config, Json::parse(text));
    if (!config.is_object()) return Status(Code::corrupt, "expected an object");
    // A token is its text or an object with "content".
    const auto named = [&](std::string_view key) -> std::optional<std::uint32_t> {
      const Json* v = config.find(key);
      if (v && v->is_object()) v = v->find("content");
      return v && v->is_string() ? parts_.vocabulary.find(v->as_string()) : std::nullopt;
    };
    parts_.bos = named("bos_token");
    parts_.eos = named("eos_token");
    LOOM_ASSIGN(const bool add_bos, config.get_bool("add_bos_token", false));
    LOOM_ASSIGN(const bool add_eos, config.get_bool("add_eos_token", false));
    if (!has_template_ && add_bos && parts_.bos) parts_.prefix = {*parts_.bos};
    if (!has_template_ && add_eos && parts_.eos) parts_.suffix = {*parts_.eos};
    if (const Json* chat = config.find("chat_template")) {
      if (chat->is_string()) parts_.chat_template = chat->as_string();
      // Several templates: [{"name": "default", "template": ...}, ...].
      if (chat->is_array())
        for (const Json& one : chat->as_array())
          if (const Json* name = one.find("name");
              name && name->is_string() && name->as_string() == "default") {
            LOOM_ASSIGN(parts_.chat_template, one.get_string("template", ""));
          }
    }
    return {};
  }

  std::string_view model_;
  Json added_, post_processor_;
  bool has_template_ = false;
  TokenizerParts parts_;
  std::vector<Vocabulary::Entry> entries_;
  std::deque<std::string> kept_;  // texts that are not in the file as they are
  // The added tokens by name: their flags, and their id as soon as it is known.
  struct AddedName {
    std::optional<std::uint32_t> id;
    std::uint8_t flags = 0;
  };
  std::map<std::string, AddedName, std::less<>> added_names_;
  std::array<bool, 256> added_first_byte_{};
};

}  // namespace

Result<Tokenizer> Tokenizer::from_json(std::string_view json, std::string_view config,
                                       std::string name) {
  auto result = TokenizerReader().read(json, config);
  if (!result.ok()) return result.status().at(name);
  return result;
}

namespace {

// The text of a file of the folder that may be missing.
Status read_optional(const std::string& folder, const std::string& name, std::string* out) {
  LOOM_ASSIGN(const bool there, anything_at(folder + name));
  if (!there) return {};
  LOOM_ASSIGN(*out, read_text_within(folder, name));
  return {};
}

}  // namespace

Result<Tokenizer> Tokenizer::load(const std::string& path) {
  // A folder with the file in it, or the file.
  LOOM_ASSIGN(const PathKind kind, kind_at(path));
  const bool inside = kind == PathKind::folder;
  const std::string folder = inside ? path + "/" : path.substr(0, path.rfind('/') + 1);
  const std::string file = inside ? folder + "tokenizer.json" : path;
  const auto source = inside ? open_within(folder, "tokenizer.json") : open_source(file);
  if (!source.ok()) return source.status();
  std::string config, chat_template;
  std::vector<std::byte> storage;
  std::string_view json = as_text((*source)->view());
  if (json.empty()) {
    LOOM_ASSIGN(storage, read_all(**source, std::uint64_t{1} << 30));
    json = as_text(storage);
  }
  LOOM_TRY(read_optional(folder, "tokenizer_config.json", &config));
  LOOM_TRY(read_optional(folder, "chat_template.jinja", &chat_template));
  auto read = from_json(json, config, file);
  LOOM_TRY((*source)->intact());
  LOOM_TRY(read.status());
  Tokenizer tokenizer = std::move(*read);
  if (!chat_template.empty()) {
    auto data = std::make_shared<TokenizerData>(*tokenizer.data_);
    data->chat_template = std::move(chat_template);
    tokenizer.data_ = std::move(data);
  }
  return tokenizer;
}

}  // namespace loom
