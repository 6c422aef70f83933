// The binary form of a tokenizer: docs/reference/tokenizer-section.md describes it to the byte.

#include "base/files/bytes.h"
#include "text/tokenizer.h"
#include "text/tokenizer_data.h"
#include "text/unicode/utf8.h"

namespace loom {

using namespace text;

namespace {

constexpr std::string_view kMagic = "LTOK";
constexpr std::uint8_t kVersion = 1;

class Writer {
 public:
  void byte(unsigned value) { out_.push_back(static_cast<char>(value)); }
  void number(std::uint32_t value) {  // LEB128
    for (; value >= 0x80; value >>= 7) byte((value & 0x7F) | 0x80);
    byte(value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    out_.append(value);
  }
  void ids(const std::vector<std::uint32_t>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const std::uint32_t v : values) number(v);
  }
  void optional(std::optional<std::uint32_t> id) {
    byte(id.has_value());
    if (id) number(*id);
  }
  void steps(const std::vector<Step>& steps) {
    number(static_cast<std::uint32_t>(steps.size()));
    for (const Step& s : steps) {
      byte(static_cast<unsigned>(s.kind));
      byte(s.flags);
      byte(static_cast<unsigned>(s.behavior));
      number(s.start);
      number(s.stop);
      text(s.text);
      text(s.replacement);
    }
  }
  std::string take() { return std::move(out_); }
  void raw(std::string_view bytes) { out_.append(bytes); }

 private:
  std::string out_;
};

// Every read checks the bounds; after the first error all further reads give zero, and status()
// tells it.
class Reader {
 public:
  explicit Reader(std::string_view section) : section_(section) {}

  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  std::size_t left() const { return section_.size() - at_; }
  void fail(std::string_view what, Code code = Code::corrupt) {
    if (ok())
      status_ = Status(
          code, "tokenizer section offset " + std::to_string(at_) + ": " + std::string(what));
    at_ = section_.size();
  }

  std::string_view bytes(std::size_t size) {
    if (size > left()) {
      fail("needs " + std::to_string(size) + " bytes, the section has " + std::to_string(left()) +
               " left",
           Code::truncated);
      return {};
    }
    at_ += size;
    return section_.substr(at_ - size, size);
  }
  std::uint8_t byte() {
    const std::string_view b = bytes(1);
    return b.empty() ? 0 : static_cast<std::uint8_t>(b[0]);
  }
  std::uint32_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const std::uint8_t b = byte();
      value |= std::uint64_t{b & 0x7Fu} << shift;
      if ((b & 0x80) == 0) {
        if (value > UINT32_MAX) break;
        return static_cast<std::uint32_t>(value);
      }
    }
    fail("a number above 4294967295");
    return 0;
  }
  // A count of things of at least `size` bytes each, so that no count makes us allocate more than
  // the section holds.
  std::uint32_t count(std::size_t size) {
    const std::uint32_t n = number();
    if (n > left() / size) {
      fail("a count of " + std::to_string(n) + " does not fit into the " + std::to_string(left()) +
               " bytes left",
           Code::truncated);
      return 0;
    }
    return n;
  }
  std::string_view text() {
    const std::uint32_t size = number();
    return bytes(size);
  }
  std::string valid_text() {
    const std::string_view value = text();
    if (!utf8_valid(value)) fail("text that is not valid UTF-8");
    return ok() ? std::string(value) : std::string();
  }
  std::optional<std::uint32_t> optional() {
    const std::uint8_t present = byte();
    if (present > 1) fail("expected 0 or 1");
    return present == 1 ? std::optional(number()) : std::nullopt;
  }
  std::vector<std::uint32_t> ids() {
    std::vector<std::uint32_t> out(count(1));
    for (auto& id : out) id = number();
    return out;
  }
  std::vector<Step> steps() {
    std::vector<Step> out(count(7));
    for (Step& s : out) {
      s.kind = static_cast<StepKind>(byte());  // build() refuses kinds it does not know
      s.flags = byte();
      const std::uint8_t behavior = byte();
      if (behavior > 4) fail("split behavior " + std::to_string(behavior));
      s.behavior = static_cast<SplitBehavior>(behavior);
      s.start = number();
      s.stop = number();
      s.text = valid_text();
      s.replacement = valid_text();
    }
    return out;
  }

 private:
  std::string_view section_;
  std::size_t at_ = 0;
  Status status_;
};

constexpr unsigned kFuseUnknown = 1, kByteFallback = 2, kIgnoreMerges = 4;
constexpr unsigned kSpecial = 1, kSingleWord = 2, kLstrip = 4, kRstrip = 8, kNormalized = 16;

std::uint32_t zigzag(std::uint32_t difference) {
  return difference << 1 ^ (difference >> 31 ? 0xFFFFFFFFu : 0);
}
std::uint32_t unzigzag(std::uint32_t value) { return value >> 1 ^ (value & 1 ? 0xFFFFFFFFu : 0); }

}  // namespace

std::string Tokenizer::serialize() const {
  const TokenizerData& d = *data_;
  Writer w;
  w.raw(kMagic);
  w.byte(kVersion);
  w.number(static_cast<std::uint32_t>(d.vocabulary.size()));
  for (std::uint32_t id = 0; id < d.vocabulary.size(); ++id) {
    w.byte(d.vocabulary.flags(id));
    if (d.vocabulary.contains(id)) w.text(d.vocabulary.text(id));
  }
  const BpeOptions& bpe = d.bpe.options();
  w.byte((bpe.fuse_unknown ? kFuseUnknown : 0) | (bpe.byte_fallback ? kByteFallback : 0) |
         (bpe.ignore_merges ? kIgnoreMerges : 0));
  w.optional(bpe.unknown);
  w.text(bpe.continuing_prefix);
  w.text(bpe.end_suffix);
  const std::vector<Merge> merges = d.bpe.merges();
  w.number(static_cast<std::uint32_t>(merges.size()));
  std::uint32_t rank = 0, merged = 0;
  for (const Merge& m : merges) {
    w.number(m.rank - rank);
    w.number(m.left);
    w.number(m.right);
    w.number(zigzag(m.merged - merged));
    rank = m.rank;
    merged = m.merged;
  }
  w.number(static_cast<std::uint32_t>(d.added.size()));
  for (const AddedToken& t : d.added) {
    w.number(t.id);
    w.byte((t.special ? kSpecial : 0) | (t.single_word ? kSingleWord : 0) |
           (t.lstrip ? kLstrip : 0) | (t.rstrip ? kRstrip : 0) | (t.normalized ? kNormalized : 0));
  }
  w.steps(d.normalizer.steps());
  w.steps(d.pre_tokenizer.steps());
  w.steps(d.decoder.steps());
  w.ids(d.prefix);
  w.ids(d.suffix);
  w.optional(d.bos);
  w.optional(d.eos);
  w.text(d.chat_template);
  return w.take();
}

Result<Tokenizer> Tokenizer::deserialize(std::string_view section) {
  Reader r(section);
  if (r.bytes(kMagic.size()) != kMagic) r.fail("expected the letters LTOK");
  if (const std::uint8_t version = r.byte(); r.ok() && version != kVersion)
    return Status(Code::unsupported, "tokenizer section: version " + std::to_string(version) +
                                         "; this build reads version 1");
  TokenizerParts parts;
  const std::uint32_t size = r.count(1);
  std::vector<Vocabulary::Entry> entries;
  entries.reserve(size);
  for (std::uint32_t id = 0; id < size && r.ok(); ++id) {
    const std::uint8_t flags = r.byte();
    if (flags > 7) r.fail("token flags " + std::to_string(flags));
    if (flags != 0) entries.push_back({r.text(), id, flags});
  }
  const unsigned bits = r.byte();
  parts.bpe.fuse_unknown = (bits & kFuseUnknown) != 0;
  parts.bpe.byte_fallback = (bits & kByteFallback) != 0;
  parts.bpe.ignore_merges = (bits & kIgnoreMerges) != 0;
  parts.bpe.unknown = r.optional();
  parts.bpe.continuing_prefix = r.valid_text();
  parts.bpe.end_suffix = r.valid_text();
  parts.merges.resize(r.count(4));
  std::uint32_t rank = 0, merged = 0;
  for (Merge& m : parts.merges) {
    m.rank = rank += r.number();
    m.left = r.number();
    m.right = r.number();
    m.merged = merged += unzigzag(r.number());
  }
  parts.added.resize(r.count(2));
  LOOM_TRY(r.status());
  LOOM_ASSIGN(parts.vocabulary, Vocabulary::build(entries));
  for (AddedToken& t : parts.added) {
    t.id = r.number();
    const unsigned b = r.byte();
    t.special = (b & kSpecial) != 0;
    t.single_word = (b & kSingleWord) != 0;
    t.lstrip = (b & kLstrip) != 0;
    t.rstrip = (b & kRstrip) != 0;
    t.normalized = (b & kNormalized) != 0;
    t.content = parts.vocabulary.text(t.id);
  }
  parts.normalizer = r.steps();
  parts.pre_tokenizer = r.steps();
  parts.decoder = r.steps();
  parts.prefix = r.ids();
  parts.suffix = r.ids();
  parts.bos = r.optional();
  parts.eos = r.optional();
  parts.chat_template = r.valid_text();
  if (r.left() != 0) r.fail("bytes after the end");
  LOOM_TRY(r.status());
  auto tokenizer = build(std::move(parts));
  if (!tokenizer.ok()) return tokenizer.status().at("tokenizer section");
  return tokenizer;
}

}  // namespace loom
