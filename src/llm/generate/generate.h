// Text from a model: one session with the KV caches of one or more conversations. The model and the
// pool must outlive the generator; one call at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/thread_pool.h"
#include "exec/session.h"
#include "llm/generate/sampler.h"
#include "llm/model.h"

namespace loom {

struct GeneratorOptions {
  std::int64_t context =
      0;  // positions per sequence; 0: what the model was trained for, at most 4096
  std::int64_t chunk =
      0;  // rows per run of a prefill; 0: 64, or 512 on a device. Any value gives the same bits
  std::int64_t sequences = 1;
  std::string isa, activations;               // SessionOptions
  gpu::Device* device = nullptr;              // null: the CPU; it must outlive the generator
  bool fuse = true, auto_device = false;      // SessionOptions
  std::shared_ptr<Adapter> adapter;           // beside the model's weights; null: none
  std::function<double()> seconds;            // a clock for the statistics; none: they stay 0
  const std::atomic<bool>* cancel = nullptr;  // looked at before every run, and inside of them
};

enum class Finish : std::uint8_t {
  length,     // max_tokens, or the context is full before
  eos,        // a token that ends a text
  stop,       // a stop string
  cancelled,  // the flag
};
std::string_view name(Finish finish);

// What the model's authors recommend; temperature 0.7 and top-p 0.9 where they say nothing of how
// to draw.
SamplerOptions recommended_sampling(const ModelConfig& config);

struct GenerateOptions {
  SamplerOptions sampling;
  std::int64_t max_tokens = 0;  // 0: until the context is full, which ends every text
  std::vector<std::string>
      stop;  // text from the first of them on is not delivered; need a tokenizer
  std::vector<std::int32_t> end;                  // ids that end the answer besides the model's own
  bool ignore_eos = false;                        // the model's own are tokens like others
  std::function<void(std::int32_t id)> on_token;  // every new id, ends included
  std::function<void(std::string_view text)> on_text;  // whole characters; needs a tokenizer
};

struct Statistics {
  std::int64_t reused_tokens = 0;   // of the last feed, found in the cache
  std::int64_t prefill_tokens = 0;  // run by the last feed
  double prefill_seconds = 0;
  std::int64_t decode_tokens = 0;  // picked by the last generate
  double decode_seconds = 0;
};

struct Generation {
  std::vector<std::int32_t> ids;  // new ones, the end included
  std::string text;               // what was delivered
  Finish finish = Finish::length;
};

// out_of_range, naming the first id that the vocabulary lacks and its position.
Status check_ids(const ModelConfig& config, std::span<const std::int32_t> ids);
// The error of a text that is longer than its context, with both numbers.
Status context_too_small(std::size_t tokens, std::int64_t context);

// The error of a context that is longer than the model's positions, with both numbers.
Status check_context(const ModelConfig& config, std::int64_t context);

// One step of a text.
struct Piece {
  std::int32_t id = -1;          // the new token; -1 where none was picked
  std::string text;              // whole characters; what was held back comes with the last piece
  std::optional<Finish> finish;  // set: the last piece
};

class Generator {
 public:
  static Result<Generator> create(Model& model, ThreadPool& pool,
                                  const GeneratorOptions& options = {});

  // Makes `ids` (at least one) the content of a sequence: the longest common beginning stays
  // cached, the rest is rolled back and run. `logits` is then the prediction after the last id.
  // Errors: check_ids, context_too_small; cancelled, after which the sequence holds what was run
  // (none of it, where its states are recurrent and a run had begun).
  Status feed(std::span<const std::int32_t> ids, std::int64_t sequence = 0);
  // Where a device picks ids by itself, the last of them is run again, so that its prediction is
  // here.
  Status settle(std::int64_t sequence);
  // The prediction after the last id run for this sequence, of vocab_size values; settles. Empty
  // before, or where that fails.
  std::span<const float> logits(std::int64_t sequence = 0);

  // A text piece by piece: start it after a feed, then take pieces until one says why it ends. A
  // feed or another start gives it up. The callbacks of the options are not called.
  Status start(const GenerateOptions& options, std::int64_t sequence = 0);
  Result<Piece> next();
  // The whole text, with callbacks. On an error *result holds what came before it.
  Status generate(const GenerateOptions& options, Generation* result, std::int64_t sequence = 0);

  // Ids in the cache of a sequence.
  std::span<const std::int32_t> tokens(std::int64_t sequence = 0) const {
    return sequences_[static_cast<std::size_t>(sequence)].ids;
  }
  std::int64_t context() const { return session_.options().max_positions; }
  const Statistics& statistics() const { return statistics_; }
  Session& session() { return session_; }
  // Switches to another adapter, or to none. The sequences are empty afterwards.
  Status adapt(std::shared_ptr<Adapter> adapter);

 private:
  struct Sequence {
    std::vector<std::int32_t> ids;
    std::vector<float> logits;
    bool behind = false;  // the logits are of an id before the last
  };
  struct Text;  // the one being written
  struct DeleteText {
    void operator()(Text* text) const;
  };
  Generator(Model& model, Session session, const GeneratorOptions& options);
  Status run_ahead(Text& text);
  // Appends ids to a sequence and runs them.
  Status append(std::span<const std::int32_t> ids, std::int64_t sequence);
  Result<Piece> write(Text& text);
  Status check(std::int64_t sequence) const;
  bool cancelled() const {
    return options_.cancel && options_.cancel->load(std::memory_order_relaxed);
  }
  double now() const { return options_.seconds ? options_.seconds() : 0; }

  Model* model_;
  Session session_;
  GeneratorOptions options_;
  std::vector<Sequence> sequences_;
  std::vector<std::uint32_t> run_ids_, run_sequences_, run_positions_;
  std::unique_ptr<Text, DeleteText> text_;
  Statistics statistics_;
};

}  // namespace loom
