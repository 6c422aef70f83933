#include "llm/evaluate.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/math/exact_math.h"
#include "base/message.h"
#include "exec/session.h"
#include "llm/generate/generate.h"
#include "llm/generate/sampler.h"

namespace loom {
namespace {

constexpr std::int64_t kDefaultContext = 2048;

// A session whose every row reaches the head.
class RowRunner {
 public:
  static Result<RowRunner> create(Model& model, ThreadPool& pool, std::int64_t context,
                                  const EvaluateOptions& options,
                                  std::shared_ptr<Adapter> adapter = {}) {
    SessionOptions s;
    s.adapter = std::move(adapter);
    s.max_rows = s.max_head_rows = options.chunk;
    s.max_positions = context;
    s.isa = options.isa;
    s.activations = options.activations;
    s.device = options.device;
    s.fuse = options.fuse;
    s.auto_device = options.auto_device;
    s.cancel = options.cancel;
    LOOM_ASSIGN(Session session, Session::create(model.network, pool, s));
    return RowRunner(std::move(session));
  }

  // Runs ids at positions from `first` on.
  Status run(std::span<const std::int32_t> ids, std::size_t first) {
    ids_.clear();
    positions_.clear();
    rows_.clear();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids_.push_back(static_cast<std::uint32_t>(ids[i]));
      positions_.push_back(static_cast<std::uint32_t>(first + i));
      rows_.push_back(static_cast<std::uint32_t>(i));
    }
    sequences_.assign(ids.size(), 0);
    return session_.run_tokens(ids_, sequences_, positions_, rows_);
  }
  Session& session() { return session_; }
  std::span<const float> row(std::size_t i) {
    return session_.output(static_cast<std::int64_t>(i));
  }

 private:
  explicit RowRunner(Session session) : session_(std::move(session)) {}
  Session session_;
  std::vector<std::uint32_t> ids_, sequences_, positions_, rows_;
};

// log(sum(exp(x))) of a row.
double log_total(std::span<const float> x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const float v : x) sum += exact::exp(v - top);
  return top + exact::log(sum);
}

double divergence(std::span<const float> p, double p_total, std::span<const float> q,
                  double q_total) {
  double kl = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double log_p = p[i] - p_total;
    kl += exact::exp(log_p) * (log_p - (q[i] - q_total));
  }
  return kl;
}

}  // namespace

Status all_logits(Model& model, ThreadPool& pool, std::span<const std::int32_t> ids,
                  const EvaluateOptions& options,
                  const std::function<Status(std::int64_t, std::span<const float>)>& on_row) {
  const auto count = static_cast<std::int64_t>(ids.size());
  if (count == 0) return Status(Code::invalid_argument, "logits: give at least one id");
  LOOM_TRY(check_ids(model.config, ids));
  if (options.context > 0 && count > options.context)
    return context_too_small(ids.size(), options.context);
  LOOM_TRY(check_context(model.config, std::max(options.context, count)).at("logits"));
  LOOM_ASSIGN(RowRunner runner,
              RowRunner::create(model, pool, options.context > 0 ? options.context : count, options,
                                options.adapter));
  for (std::size_t at = 0; at < ids.size();) {
    const auto part =
        ids.subspan(at, std::min(ids.size() - at, static_cast<std::size_t>(options.chunk)));
    LOOM_TRY(runner.run(part, at));
    for (std::size_t i = 0; i < part.size(); ++i)
      LOOM_TRY(on_row(static_cast<std::int64_t>(at + i), runner.row(i)));
    at += part.size();
  }
  return {};
}

struct TextEvaluator::State {
  State(RowRunner mine, std::vector<std::int32_t> ids)
      : mine(std::move(mine)), ids(std::move(ids)) {}
  RowRunner mine;
  std::optional<RowRunner> theirs;
  std::vector<std::int32_t> ids;
  std::size_t context = 0, chunk = 0, rows = 0;
  std::size_t at = 0, position = 0;  // of the next row, in the text and in its window
  Evaluation sums;
  std::int64_t same = 0;

  // Adds a row whose next id is known.
  void add(std::size_t row, std::size_t target) {
    const auto q = mine.row(row);
    const double q_total = log_total(q);
    sums.loss += q_total - q[target];
    ++sums.tokens;
    if (!theirs) return;
    const auto p = theirs->row(row);
    const double p_total = log_total(p), kl = divergence(p, p_total, q, q_total);
    sums.reference_loss += p_total - p[target];
    sums.kl += kl;
    sums.largest_kl = std::max(sums.largest_kl, kl);
    same += best_token(p) == best_token(q);
  }
};

TextEvaluator::TextEvaluator(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextEvaluator::TextEvaluator(TextEvaluator&&) noexcept = default;
TextEvaluator& TextEvaluator::operator=(TextEvaluator&&) noexcept = default;
TextEvaluator::~TextEvaluator() = default;

Result<TextEvaluator> TextEvaluator::create(Model& model, Model* reference, ThreadPool& pool,
                                            std::vector<std::int32_t> ids,
                                            const EvaluateOptions& options) {
  if (options.context < 0)
    return Status(Code::invalid_argument, message("evaluate: negative context ", options.context));
  LOOM_TRY(check_context(model.config, options.context).at("evaluate"));
  const std::size_t min_ids = options.last_row ? 1 : 2;
  if (ids.size() < min_ids)
    return Status(Code::invalid_argument,
                  message("evaluate: needs at least ", min_ids == 1 ? "one token" : "two tokens",
                          ", got ", ids.size()));
  LOOM_TRY(check_ids(model.config, ids));
  if (reference && reference->config.vocab_size != model.config.vocab_size) {
    return Status(Code::invalid_argument,
                  message("evaluate: the vocabularies differ: ", model.config.vocab_size, " and ",
                          reference->config.vocab_size));
  }
  const std::int64_t context =
      options.context > 0 ? options.context : std::min(model.config.max_positions, kDefaultContext);
  LOOM_ASSIGN(RowRunner mine, RowRunner::create(model, pool, context, options, options.adapter));
  auto state = std::make_unique<State>(std::move(mine), std::move(ids));
  if (reference) {
    EvaluateOptions plain = options;
    plain.activations.clear();
    LOOM_ASSIGN(state->theirs,
                RowRunner::create(*reference, pool, context, plain, options.reference_adapter));
  }
  state->context = static_cast<std::size_t>(context);
  state->chunk = static_cast<std::size_t>(options.chunk);
  // The last token of a window is only predicted: it is run as the first of the next.
  state->rows = state->ids.size() - (options.last_row ? 0 : 1);
  return TextEvaluator(std::move(state));
}

Result<std::int64_t> TextEvaluator::next() {
  State& s = *state_;
  const std::size_t n = std::min({s.rows - s.at, s.context - s.position, s.chunk});
  if (n == 0) return std::int64_t{0};
  const auto part = std::span<const std::int32_t>(s.ids).subspan(s.at, n);
  LOOM_TRY(s.mine.run(part, s.position));
  if (s.theirs) LOOM_TRY(s.theirs->run(part, s.position));
  for (std::size_t i = 0; i < n; ++i)
    if (s.at + i + 1 < s.ids.size()) s.add(i, static_cast<std::size_t>(s.ids[s.at + i + 1]));
  s.at += n;
  s.position += n;
  if (s.position == s.context) s.position = 0;
  return static_cast<std::int64_t>(n);
}

std::span<const float> TextEvaluator::row(std::int64_t i) {
  return state_->mine.row(static_cast<std::size_t>(i));
}
std::int64_t TextEvaluator::done() const { return static_cast<std::int64_t>(state_->at); }
std::int64_t TextEvaluator::rows() const { return static_cast<std::int64_t>(state_->rows); }

Session& TextEvaluator::session() const { return state_->mine.session(); }

Evaluation TextEvaluator::result() const {
  Evaluation e = state_->sums;
  if (e.tokens == 0) return e;
  const auto n = static_cast<double>(e.tokens);
  e.loss /= n;
  e.perplexity = exact::exp(e.loss);
  e.reference_loss /= n;
  e.kl /= n;
  e.same_best = static_cast<double>(state_->same) / n;
  return e;
}

Result<Evaluation> evaluate(Model& model, Model* reference, ThreadPool& pool,
                            std::span<const std::int32_t> ids, const EvaluateOptions& options) {
  LOOM_ASSIGN(TextEvaluator evaluator,
              TextEvaluator::create(model, reference, pool, {ids.begin(), ids.end()}, options));
  for (std::int64_t rows = 1; rows > 0;) {
    LOOM_ASSIGN(rows, evaluator.next());
  }
  return evaluator.result();
}

}  // namespace loom
