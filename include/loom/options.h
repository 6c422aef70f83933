/* Made by api/generate.py from api/loom.json: edit those. */
/* Options as structs, beside the JSON form: a part of loom/loom.h, which includes it. Begin with
 * the initializer, which holds the defaults, and set what differs:
 *
 *   loom_session_options options = LOOM_SESSION_OPTIONS_INIT;
 *   options.max_rows = 256;
 *   loom_session_create_with(network, &options, &session, &error);
 *
 * NULL stands for a struct as its initializer has it. A member that is as there is not given;
 * others are read as the JSON key of that name is, with the same refusals. Texts end with a zero.
 * Flags are 0 or 1. Everything is copied. `size` says which members the caller knows: those
 * that an older program lacks have their defaults; a newer program's are LOOM_UNSUPPORTED here
 * unless they are zero. */
#ifndef LOOM_OPTIONS_H
#define LOOM_OPTIONS_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of loom_session_create_with: a network that runs. */
typedef struct loom_session_options {
  size_t size; /* sizeof(loom_session_options), as the initializer has it */
  int64_t max_rows; /* rows (samples, tokens) of a run; at least 1; default 64 */
  /* rows of a run whose output is wanted; 0: 1 for networks of ids, else max_rows; else at least
   * 1 */
  int64_t max_head_rows;
  int64_t max_positions; /* of a sequence; at least 1; default 512 */
  int64_t sequences; /* whose states (KV caches) are kept; at least 1; default 1 */
  /* the network stays as it is: the rules of its metacognition layers, which are evaluated after
   * each run, do nothing; default false */
  int32_t ignore_rules;
  int64_t threads; /* of the CPU; 0: one per core; 0 to 1024; default 0 */
  /* the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas */
  const char* isa;
  /* gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
   * one of cpu, gpu, auto */
  const char* device;
  /* threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   * device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto */
  const char* mode;
  /* of products with integer weights: q15, 15 bits (the same as empty), or i8, 8 bits: faster
   * prompts, other answers; refused where there are no such products */
  const char* activations;
} loom_session_options;
#define LOOM_SESSION_OPTIONS_INIT \
  {sizeof(loom_session_options), 64, 0, 512, 1, 0, 0, NULL, NULL, NULL, NULL}

/* Of loom_seq2seq_create_with: an encoder-decoder that runs step by step. */
typedef struct loom_seq2seq_options {
  size_t size; /* sizeof(loom_seq2seq_options), as the initializer has it */
  /* the input that comes step by step, [steps] ids or [steps, features]; must be given */
  const char* target;
  int64_t lanes; /* rows that run at once: of a search, its rows x beams; 1 to 65536; default 1 */
  /* steps of a row; 0: as many as the target has. More than that go with positions that are not
   * learned; at least 0; default 0 */
  int64_t max_positions;
  int64_t threads; /* of the CPU; 0: one per core; 0 to 1024; default 0 */
  /* the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas */
  const char* isa;
  /* gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
   * one of cpu, gpu, auto */
  const char* device;
  /* threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   * device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto */
  const char* mode;
} loom_seq2seq_options;
#define LOOM_SEQ2SEQ_OPTIONS_INIT \
  {sizeof(loom_seq2seq_options), NULL, 1, 0, 0, NULL, NULL, NULL}

/* Of loom_seq2seq_search_with: sequences that an encoder-decoder generates. */
typedef struct loom_search_options {
  size_t size; /* sizeof(loom_search_options), as the initializer has it */
  const int32_t* start; /* ids that every sequence begins with; must be given */
  size_t start_count;
  int64_t end; /* the id that ends a sequence; -1: none does; at least -1; default -1 */
  /* most ids of a sequence behind start; 0: as many as there are positions for; at least 0;
   * default 0 */
  int64_t max_tokens;
  /* sequences that are followed at once; 1: the most probable next id, or with a temperature a
   * drawn one; 1 to 4096; default 1 */
  int64_t beams;
  /* those of a beam are compared by the logarithm of their probability, divided by their number
   * of ids to this power; -100 to 100; default 1 */
  double length_penalty;
  double temperature; /* divides the logits; 0: greedy, the largest logit; 0 to 1e6; default 0 */
  int64_t top_k; /* draws from this number of most probable tokens; 0: all; at least 0; default 0 */
  /* draws from the fewest tokens that together have this probability; above 0, at most 1;
   * default 1 */
  double top_p;
  /* draws from tokens at least this share as probable as the best; 0 to 1; default 0 */
  double min_p;
  /* divides positive and multiplies negative logits of tokens seen before; 0.001 to 1000;
   * default 1 */
  double repetition_penalty;
  int64_t seed; /* of the draws; row i has those of seed + i; default 0 */
} loom_search_options;
#define LOOM_SEARCH_OPTIONS_INIT \
  {sizeof(loom_search_options), NULL, 0, -1, 0, 1, 1, 0, 0, 1, 0, 1, 0}

/* Of loom_step_mesh_create_with: a network that runs by ticks. */
typedef struct loom_step_mesh_options {
  size_t size; /* sizeof(loom_step_mesh_options), as the initializer has it */
  /* independent streams of values, side by side with the same weights; 1 to 1048576; default 1 */
  int64_t streams;
  int64_t threads; /* of the CPU; 0: one per core; 0 to 1024; default 0 */
  /* the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas */
  const char* isa;
  /* gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
   * one of cpu, gpu, auto */
  const char* device;
  /* threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   * device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto */
  const char* mode;
} loom_step_mesh_options;
#define LOOM_STEP_MESH_OPTIONS_INIT \
  {sizeof(loom_step_mesh_options), 1, 0, NULL, NULL, NULL}

/* Of loom_online_create_with: a network that learns while it answers. */
typedef struct loom_online_options {
  size_t size; /* sizeof(loom_online_options), as the initializer has it */
  int64_t max_rows; /* rows of an answer; 1 to 65536; default 64 */
  int64_t recent; /* newest samples that batches are drawn from; 1 to 16777216; default 256 */
  /* samples that are kept of those before them, a uniform choice; 0 to 16777216; default 0 */
  int64_t older;
  /* share of a batch that comes from the newest; the rest comes from the older ones; 0 to 1;
   * default 0.5 */
  double recent_share;
  /* answers that wait for their feedback; older ones are forgotten; 1 to 1048576; default 1024 */
  int64_t pending;
  /* steps after which answers have new weights; 1 to 1073741824; default 1 */
  int64_t publish_every;
  /* when an output is correct: by its largest value (argmax), by the sign of each value, of bce
   * (sign), or each within tolerance; auto: as the loss is, argmax for cross_entropy, sign for
   * bce; not given: auto */
  const char* correct;
  double tolerance; /* of correct, for each value; at least 0; default 0.1 */
  int64_t window; /* outputs of a window of the report; 1 to 1073741824; default 100 */
  double window_ms; /* or its duration; 0: by outputs; 0 to 1e9; default 0 */
  /* judged outputs that accuracies of recovery are taken over; 1 to 1024; default 50 */
  int64_t rolling;
  /* accuracy at which a task counts as recovered; above 0, at most 1; default 0.95 */
  double recover;
  double deadline_ms; /* after which an answer counts as late; 0: never; 0 to 1e9; default 0 */
  const char* task; /* name of the first task; those that are detected are numbered; not given: 0 */
  /* of changes of the task: adwin (Bifet and Gavalda 2007) over the errors of outputs, or none;
   * not given: adwin */
  const char* detector;
  /* of the detector, about the probability of a false alarm: a smaller one takes longer; 1e-12
   * to 0.5; default 0.0001 */
  double detector_delta;
  int32_t forget; /* a change of the task forgets the samples before it; default true */
  /* a change of the task multiplies the learning rate; above 0, at most 1000; default 1 */
  double boost;
  int64_t boost_steps; /* for as many steps; 0 to 1073741824; default 0 */
  int64_t threads; /* of the CPU; 0: one per core; 0 to 1024; default 1 */
  /* the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas */
  const char* isa;
  /* gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
   * one of cpu, gpu, auto */
  const char* device;
  /* threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   * device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto */
  const char* mode;
} loom_online_options;
#define LOOM_ONLINE_OPTIONS_INIT \
  {sizeof(loom_online_options), 64, 256, 0, 0.5, 1024, 1, NULL, 0.1, 100, 0, 50, 0.95, 0, NULL, \
   NULL, 0.0001, 1, 1, 0, 1, NULL, NULL, NULL}

/* Of loom_trainer_create_with: what a network learns, how long, and where that runs. */
typedef struct loom_training_options {
  size_t size; /* sizeof(loom_training_options), as the initializer has it */
  /* the mean over the columns, with d = y - target. mse: d^2. mae: abs(d). huber: d^2 / 2 up to
   * abs(d) = delta, and delta * (abs(d) - delta / 2) above. bce: -target log(s) - (1 - target)
   * log(1 - s), s = sigmoid(y), targets in 0..1. cross_entropy: -log softmax(logits)[class].
   * soft_cross_entropy: -sum of p log softmax(logits / T) * T^2, T = temperature, targets p are
   * a probability for each class. A step's loss is the mean over its counted rows; not given:
   * mse */
  const char* loss;
  /* adamw (arXiv 1711.05101), adam (arXiv 1412.6980: weight_decay times w is a part of the
   * gradient), sgd, rmsprop or lion (arXiv 2302.06675); not given: adamw */
  const char* optimizer;
  double lr; /* the highest learning rate; above 0, at most 1e6; default 0.001 */
  /* the course of the rate; one of constant, cosine, step, linear, cosine_restarts, multi_step,
   * exponential, one_cycle, polynomial; not given: constant */
  const char* schedule;
  int64_t warmup; /* first steps, in which the rate rises linearly; at least 0; default 0 */
  /* of parameters with more than one row; norms and biases are not decayed, unless by
   * decay_vectors; at least 0, below 1e6; default 0 */
  double weight_decay;
  /* sgd: velocity = momentum * velocity + gradient + weight_decay * w; w -= lr * velocity.
   * rmsprop: the same of the divided gradient; of sgd, rmsprop; at least 0, below 1; default 0 */
  double momentum;
  /* the mean gradient is scaled down to this norm over all parameters; 0: never; at least 0,
   * below 1e30; default 0 */
  double clip_norm;
  int64_t steps; /* optimizer steps; at least 0; default 0 */
  int64_t epochs; /* or passes over the data, rounded up to whole steps; at least 0; default 0 */
  /* samples per step: sequences of tokens, rows of a table; more than 65536 only where the data
   * has as many; at least 1; default 1 */
  int64_t batch;
  /* equal parts that a step is cut into, to save memory; must divide batch; 1 to 1048576;
   * default 1 */
  int64_t micro_batches;
  /* of the initial weights, the shuffling, the shifts and the noise of dropout and Gumbel
   * softmax; at least 0; default 0 */
  int64_t seed;
  int32_t shuffle; /* each epoch in a new order; false: in the order of the file; default true */
  /* a training spec as JSON, docs/reference/training-spec.md, for what no member says; a key
   * that is given in both is refused */
  const char* spec;
  int64_t threads; /* of the CPU; 0: one per core; 0 to 1024; default 0 */
  /* the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas */
  const char* isa;
  /* gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
   * one of cpu, gpu, auto */
  const char* device;
  /* threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   * device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto */
  const char* mode;
} loom_training_options;
#define LOOM_TRAINING_OPTIONS_INIT \
  {sizeof(loom_training_options), NULL, NULL, 0.001, NULL, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, NULL, 0, \
   NULL, NULL, NULL}

/* Of loom_generator_create_with: text with a model. */
typedef struct loom_generator_options {
  size_t size; /* sizeof(loom_generator_options), as the initializer has it */
  /* positions of a sequence; 0: as many as the model was trained for, at most 4096; at least 0;
   * default 0 */
  int64_t context;
  int64_t sequences; /* conversations whose KV caches are kept; at least 1; default 1 */
  /* rows of a prompt that run at once; 0: 64, or 512 on a device. The bits are the same for
   * every number; at least 0; default 0 */
  int64_t chunk;
  int64_t threads; /* of the CPU; 0: one per core; 0 to 1024; default 0 */
  /* the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas */
  const char* isa;
  /* gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
   * one of cpu, gpu, auto */
  const char* device;
  /* threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   * device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto */
  const char* mode;
  /* of products with integer weights: q15, 15 bits (the same as empty), or i8, 8 bits: faster
   * prompts, other answers; refused where there are no such products */
  const char* activations;
} loom_generator_options;
#define LOOM_GENERATOR_OPTIONS_INIT \
  {sizeof(loom_generator_options), 0, 1, 0, 0, NULL, NULL, NULL, NULL}

/* Of loom_generator_start_with: how the tokens of a text are picked, and its end. */
typedef struct loom_sampling_options {
  size_t size; /* sizeof(loom_sampling_options), as the initializer has it */
  /* new tokens; 0: until the context is full, which ends every text; at least 0; default 0 */
  int64_t max_tokens;
  double temperature; /* divides the logits; 0: greedy, the largest logit; 0 to 1e6; default 0 */
  int64_t top_k; /* draws from this number of most probable tokens; 0: all; at least 0; default 0 */
  /* draws from the fewest tokens that together have this probability; above 0, at most 1;
   * default 1 */
  double top_p;
  /* draws from tokens at least this share as probable as the best; 0 to 1; default 0 */
  double min_p;
  /* divides positive and multiplies negative logits of tokens seen before; 0.001 to 1000;
   * default 1 */
  double repetition_penalty;
  /* of the draws: a text is a function of its prompt, these settings and this number; default 0 */
  int64_t seed;
  const char* const* stop; /* texts that end the answer, and are no part of it */
  size_t stop_count;
  int32_t ignore_eos; /* the model's own ends of a text are tokens like others; default false */
} loom_sampling_options;
#define LOOM_SAMPLING_OPTIONS_INIT \
  {sizeof(loom_sampling_options), 0, 0, 0, 1, 0, 1, 0, NULL, 0, 0}

/* session_create with a struct of options.
 *   options: NULL: all defaults */
LOOM_API int32_t loom_session_create_with(loom_network network, const loom_session_options* options,
                                          loom_session* session, loom_error* error);

/* seq2seq_create with a struct of options.
 *   options: with a target */
LOOM_API int32_t loom_seq2seq_create_with(loom_network network, const loom_seq2seq_options* options,
                                          loom_seq2seq* seq2seq, loom_error* error);

/* seq2seq_search with a struct of options.
 *   options: with a start
 *   found: JSON: as of seq2seq_search */
LOOM_API int32_t loom_seq2seq_search_with(loom_seq2seq seq2seq, int64_t rows, const double* x,
                                          size_t x_count, const loom_search_options* options,
                                          loom_bytes* found, loom_error* error);

/* step_mesh_create with a struct of options.
 *   options: NULL: all defaults */
LOOM_API int32_t loom_step_mesh_create_with(loom_network network,
                                            const loom_step_mesh_options* options,
                                            loom_step_mesh* step_mesh, loom_error* error);

/* online_create with a struct of options.
 *   spec: JSON: as of online_create
 *   options: NULL: all defaults */
LOOM_API int32_t loom_online_create_with(loom_network network, const char* spec, size_t spec_size,
                                         const loom_online_options* options, loom_online* online,
                                         loom_error* error);

/* trainer_create with one struct: the usual keys of a spec, a spec as JSON for what no member
 * says, and where training runs.
 *   options: with steps or epochs, here or in its spec */
LOOM_API int32_t loom_trainer_create_with(loom_network network, loom_data data,
                                          const loom_training_options* options,
                                          loom_trainer* trainer, loom_error* error);

/* generator_create with a struct of options.
 *   options: NULL: all defaults */
LOOM_API int32_t loom_generator_create_with(loom_model model, const loom_generator_options* options,
                                            loom_generator* generator, loom_error* error);

/* generator_start with a struct of options.
 *   options: NULL: all defaults */
LOOM_API int32_t loom_generator_start_with(loom_generator generator, int64_t sequence,
                                           const loom_sampling_options* options, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
