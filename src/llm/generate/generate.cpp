#include "llm/generate/generate.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "base/message.h"
#include "grid/metacognition/act.h"
#include "llm/generate/stop_filter.h"

namespace loom {

std::string_view name(Finish finish) {
  constexpr std::array<std::string_view, 4> kNames = {"length", "eos", "stop", "cancelled"};
  return kNames[static_cast<std::size_t>(finish)];
}

Status check_ids(const ModelConfig& config, std::span<const std::int32_t> ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < config.vocab_size) continue;
    return Status(Code::out_of_range, message("id ", ids[i], " at position ", i,
                                              ": the vocabulary has ", config.vocab_size));
  }
  return {};
}

Status context_too_small(std::size_t tokens, std::int64_t context) {
  return Status(Code::out_of_range,
                message("the text has ", tokens, " tokens, the context holds ", context));
}

Status check_context(const ModelConfig& config, std::int64_t context) {
  if (context <= config.max_positions) return {};
  return Status(Code::out_of_range,
                message("a context of ", context, " positions: the model was made for ",
                        config.max_positions, " at most"));
}

namespace {

constexpr std::int64_t kDefaultContext = 4096;

// Ids in, deliverable text out: decoder, then stop strings.
class TextStream {
 public:
  TextStream(const Tokenizer& tokenizer, const std::vector<std::string>& stops)
      : decoder_(tokenizer, true), stops_(stops) {}

  // What stands before the answer decides how its first token is spelled.
  void prime(std::span<const std::int32_t> before) {
    for (const std::int32_t id : before) (void)decoder_.push(id);
  }
  std::string push(std::int32_t id) { return stops_.push(decoder_.push(id)); }
  std::string finish() {
    if (stops_.stopped()) return {};
    std::string rest = stops_.push(decoder_.finish());
    return rest += stops_.finish();
  }
  bool stopped() const { return stops_.stopped(); }

 private:
  StreamDecoder decoder_;
  StopFilter stops_;
};

}  // namespace

Generator::Generator(Model& model, Session session, const GeneratorOptions& options)
    : model_(&model),
      session_(std::move(session)),
      options_(options),
      sequences_(static_cast<std::size_t>(options.sequences)) {
  run_ids_.reserve(static_cast<std::size_t>(options.chunk));
  run_sequences_.reserve(run_ids_.capacity());
  run_positions_.reserve(run_ids_.capacity());
}

Result<Generator> Generator::create(Model& model, ThreadPool& pool,
                                    const GeneratorOptions& options) {
  if (options.context < 0)
    return Status(Code::invalid_argument, message("generator: negative context ", options.context));
  LOOM_TRY(check_context(model.config, options.context).at("generator"));
  SessionOptions session_options;
  GeneratorOptions own = options;
  if (own.chunk == 0) own.chunk = own.device ? 512 : 64;
  session_options.max_rows = own.chunk;
  session_options.max_positions =
      options.context > 0 ? options.context : std::min(model.config.max_positions, kDefaultContext);
  session_options.sequences = options.sequences;
  session_options.isa = options.isa;
  session_options.activations = options.activations;
  session_options.adapter = options.adapter;
  session_options.device = options.device;
  session_options.fuse = options.fuse;
  session_options.auto_device = options.auto_device;
  session_options.cancel = options.cancel;
  LOOM_TRY(refuse_rules(model.network, "a generator").at("generator"));
  LOOM_ASSIGN(Session session, Session::create(model.network, pool, session_options));
  return Generator(model, std::move(session), own);
}

Status Generator::adapt(std::shared_ptr<Adapter> adapter) {
  text_.reset();
  LOOM_TRY(session_.adapt(adapter));
  options_.adapter = std::move(adapter);
  for (Sequence& s : sequences_) s = Sequence();
  return {};
}

Status Generator::check(std::int64_t sequence) const {
  if (sequence >= 0 && sequence < options_.sequences) return {};
  return Status(Code::out_of_range,
                message("generator: sequence ", sequence, " of ", options_.sequences));
}

std::span<const float> Generator::logits(std::int64_t sequence) {
  if (!check(sequence).ok() || !settle(sequence).ok()) return {};
  return sequences_[static_cast<std::size_t>(sequence)].logits;
}

Status Generator::settle(std::int64_t sequence) {
  Sequence& s = sequences_[static_cast<std::size_t>(sequence)];
  if (!s.behind) return {};
  const std::int32_t last = s.ids.back();
  s.ids.pop_back();
  const Status status = append({&last, 1}, sequence);
  if (!status.ok()) {  // it can be asked for again
    s.ids.push_back(last);
    s.behind = true;
  }
  return status;
}

Status Generator::append(std::span<const std::int32_t> ids, std::int64_t sequence) {
  Sequence& s = sequences_[static_cast<std::size_t>(sequence)];
  s.logits.clear();
  s.behind = false;
  std::int64_t answer = 0;  // the output of the last row
  while (!ids.empty()) {
    if (cancelled())
      return Status(Code::cancelled,
                    message("generator: cancelled with ", ids.size(), " ids left to run"));
    const auto part = ids.first(std::min(ids.size(), static_cast<std::size_t>(options_.chunk)));
    ids = ids.subspan(part.size());
    run_ids_.assign(part.begin(), part.end());
    run_sequences_.assign(part.size(), static_cast<std::uint32_t>(sequence));
    run_positions_.resize(part.size());
    for (std::size_t i = 0; i < part.size(); ++i)
      run_positions_[i] = static_cast<std::uint32_t>(s.ids.size() + i);
    // Only the last row of all goes through the output projection.
    const auto last = static_cast<std::uint32_t>(part.size() - 1);
    const std::span<const std::uint32_t> head(&last, ids.empty() ? 1 : 0);
    if (const Status ran = session_.run_tokens(run_ids_, run_sequences_, run_positions_, head);
        !ran.ok()) {
      if (!session_.rewinds()) s.ids.clear();  // the states begin anew
      return ran;
    }
    s.ids.insert(s.ids.end(), part.begin(), part.end());
    answer = model_->network.head >= 0 ? 0 : static_cast<std::int64_t>(last);
  }
  const auto row = session_.output(answer);
  s.logits.assign(row.begin(), row.end());
  return {};
}

Status Generator::feed(std::span<const std::int32_t> ids, std::int64_t sequence) {
  text_.reset();
  LOOM_TRY(check(sequence));
  if (ids.empty())
    return Status(Code::invalid_argument, "generator: nothing to run: give at least one id");
  if (static_cast<std::int64_t>(ids.size()) > context())
    return context_too_small(ids.size(), context());
  LOOM_TRY(check_ids(model_->config, ids));
  const double start = now();
  Sequence& s = sequences_[static_cast<std::size_t>(sequence)];
  std::size_t same = static_cast<std::size_t>(
      std::mismatch(s.ids.begin(), s.ids.end(), ids.begin(), ids.end()).first - s.ids.begin());
  // Nothing to run where the cache holds exactly this and its prediction; otherwise at least the
  // last id.
  const bool known = same == ids.size() && same == s.ids.size() && (!s.logits.empty() || s.behind);
  if (!known) {
    same = std::min(same, ids.size() - 1);
    if (same != s.ids.size() && !session_.rewinds()) same = 0;
    s.ids.resize(same);
    LOOM_TRY(append(ids.subspan(same), sequence));
  }
  statistics_ = {};
  statistics_.reused_tokens = static_cast<std::int64_t>(same);
  statistics_.prefill_tokens = static_cast<std::int64_t>(ids.size() - same);
  statistics_.prefill_seconds = now() - start;
  return {};
}

SamplerOptions recommended_sampling(const ModelConfig& c) {
  const bool recommends = c.temperature || c.top_p || c.top_k || c.min_p;
  SamplerOptions s;
  s.temperature = c.temperature.value_or(recommends ? 1.0 : 0.7);
  s.top_p = c.top_p.value_or(recommends ? 1.0 : 0.9);
  s.top_k = c.top_k.value_or(0);
  s.min_p = c.min_p.value_or(0);
  s.repetition_penalty = c.repetition_penalty.value_or(1);
  return s;
}

struct Generator::Text {
  GenerateOptions options;
  std::int64_t sequence;
  Sampler sampler;
  std::optional<Draw> draw;  // the sampler's, where a device can
  std::optional<TextStream> stream;
  std::int64_t picked = 0;
  std::optional<std::int32_t> pending;  // picked, not run yet
  std::deque<std::int32_t> ahead = {};  // what a device has picked after `pending`
  Status failure = {};                  // to be told once what was held back is delivered

  bool ends(std::int32_t id, const ModelConfig& config) const {
    auto holds = [id](const std::vector<std::int32_t>& list) {
      return std::find(list.begin(), list.end(), id) != list.end();
    };
    return (!options.ignore_eos && holds(config.eos)) || holds(options.end);
  }
};

void Generator::DeleteText::operator()(Text* text) const { delete text; }

Status Generator::start(const GenerateOptions& options, std::int64_t sequence) {
  text_.reset();
  LOOM_TRY(check(sequence));
  LOOM_TRY(settle(sequence));
  const Sequence& s = sequences_[static_cast<std::size_t>(sequence)];
  if (s.logits.empty())
    return Status(Code::invalid_argument, "generator: feed the sequence before generating");
  if (options.max_tokens < 0)
    return Status(Code::invalid_argument,
                  message("generator: max_tokens must not be negative: ", options.max_tokens));
  const Result<Tokenizer>& tokenizer = model_->tokenizer;
  if ((!options.stop.empty() || options.on_text) && !tokenizer.ok()) return tokenizer.status();
  LOOM_ASSIGN(Sampler sampler, Sampler::create(options.sampling));
  text_.reset(new Text{options, sequence, sampler, sampler.draw(), {}});
  if (tokenizer.ok()) {
    text_->stream.emplace(*tokenizer, options.stop);
    text_->stream->prime(s.ids);
  }
  statistics_.decode_tokens = 0;
  statistics_.decode_seconds = 0;
  return {};
}

Result<Piece> Generator::next() {
  if (!text_)
    return Status(Code::invalid_argument, "generator: no text was started, or it has ended");
  const double start = now();
  auto piece = text_->failure.ok() ? write(*text_) : Result<Piece>(text_->failure);
  statistics_.decode_seconds += now() - start;
  if (piece.ok() && !piece->finish) return piece;
  // The end, or an error: what was held back is delivered first.
  std::string rest = text_->stream ? text_->stream->finish() : std::string();
  if (piece.ok()) {
    piece->text += rest;
  } else if (!rest.empty()) {
    text_->failure = piece.status();
    return Piece{-1, std::move(rest), {}};
  }
  text_.reset();
  return piece;
}

// The pending id joins the sequence. The device goes on from it for a few ids, unless it has
// before: those that turn out not to be wanted leave nothing but places of the cache that later ids
// take.
Status Generator::run_ahead(Text& text) {
  Sequence& s = sequences_[static_cast<std::size_t>(text.sequence)];
  if (text.ahead.empty()) {
    constexpr std::int64_t kAhead = 8;
    std::uint32_t picked[kAhead];
    std::int64_t n = std::min(kAhead, context() - static_cast<std::int64_t>(s.ids.size()));
    if (text.options.max_tokens > 0) n = std::min(n, text.options.max_tokens - text.picked);
    text.draw->history = s.ids;
    LOOM_TRY(session_.run_ahead(static_cast<std::uint32_t>(*text.pending),
                                static_cast<std::uint32_t>(text.sequence),
                                static_cast<std::uint32_t>(s.ids.size()), *text.draw,
                                std::span(picked).first(static_cast<std::size_t>(n))));
    for (std::int64_t i = 0; i < n && picked[i] != ~std::uint32_t{0}; ++i)
      text.ahead.push_back(static_cast<std::int32_t>(picked[i]));
  }
  s.ids.push_back(*text.pending);
  s.behind = true;
  if (text.ahead.empty()) return settle(text.sequence);  // the sampler picks, or says why not
  s.logits.clear();
  return {};
}

Result<Piece> Generator::write(Text& text) {
  Sequence& s = sequences_[static_cast<std::size_t>(text.sequence)];
  Piece piece;
  auto end = [&](Finish finish) {
    piece.finish = finish;
    return piece;
  };
  if (cancelled()) return end(Finish::cancelled);
  const std::int64_t max_tokens = text.options.max_tokens;
  if (text.pending) {
    const Status status = text.draw && session_.resident()
                              ? run_ahead(text)
                              : append({&*text.pending, 1}, text.sequence);
    if (status.code() == Code::cancelled) return end(Finish::cancelled);
    LOOM_TRY(status);
  }
  if (text.ahead.empty()) {
    LOOM_ASSIGN(piece.id, text.sampler.pick(s.logits, s.ids, s.ids.size()));
  } else {
    piece.id = text.ahead.front();
    text.ahead.pop_front();
  }
  ++text.picked;
  ++statistics_.decode_tokens;
  text.pending = piece.id;
  if (text.ends(piece.id, model_->config)) return end(Finish::eos);
  if (text.stream) piece.text = text.stream->push(piece.id);
  if (text.stream && text.stream->stopped()) return end(Finish::stop);
  if (max_tokens > 0 && text.picked >= max_tokens) return end(Finish::length);
  // No place for another one: what fits is the answer, however many were asked for.
  if (static_cast<std::int64_t>(s.ids.size()) >= context()) return end(Finish::length);
  return piece;
}

Status Generator::generate(const GenerateOptions& options, Generation* result,
                           std::int64_t sequence) {
  *result = {};
  LOOM_TRY(start(options, sequence));
  for (;;) {
    LOOM_ASSIGN(const Piece piece, next());
    if (piece.id >= 0) {
      result->ids.push_back(piece.id);
      if (options.on_token) options.on_token(piece.id);
    }
    result->text += piece.text;
    if (!piece.text.empty() && options.on_text) options.on_text(piece.text);
    if (!piece.finish) continue;
    result->finish = *piece.finish;
    return {};
  }
}

}  // namespace loom
