// Measures of a model over a text: logits of every position, perplexity, and how far it is from
// another model. The models and the pool must outlive the call; each call makes its own session.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "grid/adapter.h"
#include "llm/model.h"

namespace loom {

class Session;
namespace gpu {
class Device;
}

struct EvaluateOptions {
  std::int64_t context = 0;  // tokens per window; 0: what the model was trained for, at most 2048
  std::int64_t chunk = 16;   // rows per run; any value gives the same bits
  std::string isa;
  std::string activations;                // SessionOptions; the reference has q15
  gpu::Device* device = nullptr;          // null: the CPU
  bool fuse = true, auto_device = false;  // SessionOptions
  std::shared_ptr<Adapter> adapter;       // beside the weights of the model, not of the reference
  std::shared_ptr<Adapter> reference_adapter;
  bool last_row = false;  // the row of the last id runs too, for its logits
  const std::atomic<bool>* cancel = nullptr;
};

// Runs `ids` from position 0 and hands over the logits of each position in order; the span lives
// until the callback returns, and an error of the callback ends the run. Errors: out_of_range for
// an id the vocabulary lacks, and for more ids than the context (0: any number).
Status all_logits(
    Model& model, ThreadPool& pool, std::span<const std::int32_t> ids,
    const EvaluateOptions& options,
    const std::function<Status(std::int64_t position, std::span<const float> logits)>& on_row);

struct Evaluation {
  std::int64_t tokens = 0;  // predicted: all but the first
  double loss = 0;          // mean negative log-likelihood, nats per token
  double perplexity = 0;    // exp(loss)
  // Against the reference; 0 without one.
  double reference_loss = 0;
  double kl = 0;  // mean KL(reference || model), nats per token
  double largest_kl = 0;
  double same_best = 0;  // share of positions where both have the same best token
};

// A measure that is taken part by part. The models and the pool must outlive it.
class TextEvaluator {
 public:
  // Errors: as evaluate.
  static Result<TextEvaluator> create(Model& model, Model* reference, ThreadPool& pool,
                                      std::vector<std::int32_t> ids,
                                      const EvaluateOptions& options);
  TextEvaluator(TextEvaluator&&) noexcept;
  TextEvaluator& operator=(TextEvaluator&&) noexcept;
  ~TextEvaluator();

  // Runs the next rows, at most a chunk; their number, 0 where all are done.
  Result<std::int64_t> next();
  // Logits of a row of the last next().
  std::span<const float> row(std::int64_t i);
  std::int64_t done() const;
  std::int64_t rows() const;  // of the whole text
  // Over what is done.
  Evaluation result() const;
  Session& session() const;  // of the model

 private:
  struct State;
  explicit TextEvaluator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Long texts are cut into windows of `context` tokens, so every token but the first is predicted
// once, from what its window holds before it (the first of a window is the last that the window
// before predicted). Sums run in double, in order of position and id. Errors: fewer than two ids;
// vocabularies of different sizes.
Result<Evaluation> evaluate(Model& model, Model* reference, ThreadPool& pool,
                            std::span<const std::int32_t> ids, const EvaluateOptions& options = {});

}  // namespace loom
