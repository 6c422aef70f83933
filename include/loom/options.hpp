// Made by api/generate.py from api/loom.json: edit those.
// Options as C++20 takes them, a part of loom.hpp: designated initializers in the order of the
// members, each with its default where it is left out.
//
//   loom::Session session(network, {.max_rows = 256, .device = "gpu"});
#ifndef LOOM_OPTIONS_HPP
#define LOOM_OPTIONS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "error.hpp"
#include "loom.h"

namespace loom {
inline namespace api {

// Of loom_session_create_with: a network that runs.
struct SessionOptions {
  std::int64_t max_rows = 64;  // rows (samples, tokens) of a run; at least 1; default 64
  // rows of a run whose output is wanted; 0: 1 for networks of ids, else max_rows; else at least
  // 1
  std::int64_t max_head_rows = 0;
  std::int64_t max_positions = 512;  // of a sequence; at least 1; default 512
  std::int64_t sequences = 1;  // whose states (KV caches) are kept; at least 1; default 1
  // the network stays as it is: the rules of its metacognition layers, which are evaluated after
  // each run, do nothing; default false
  bool ignore_rules = false;
  std::int64_t threads = 0;  // of the CPU; 0: one per core; 0 to 1024; default 0
  // the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas
  std::string isa{};
  // gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
  // one of cpu, gpu, auto
  std::string device{};
  // threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
  // device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto
  std::string mode{};
  // of products with integer weights: q15, 15 bits (the same as empty), or i8, 8 bits: faster
  // prompts, other answers; refused where there are no such products
  std::string activations{};
};

// Of loom_seq2seq_create_with: an encoder-decoder that runs step by step.
struct Seq2SeqOptions {
  // the input that comes step by step, [steps] ids or [steps, features]; must be given
  std::string target{};
  // rows that run at once: of a search, its rows x beams; 1 to 65536; default 1
  std::int64_t lanes = 1;
  // steps of a row; 0: as many as the target has. More than that go with positions that are not
  // learned; at least 0; default 0
  std::int64_t max_positions = 0;
  std::int64_t threads = 0;  // of the CPU; 0: one per core; 0 to 1024; default 0
  // the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas
  std::string isa{};
  // gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
  // one of cpu, gpu, auto
  std::string device{};
  // threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
  // device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto
  std::string mode{};
};

// Of loom_seq2seq_search_with: sequences that an encoder-decoder generates.
struct SearchOptions {
  std::vector<std::int32_t> start{};  // ids that every sequence begins with; must be given
  std::int64_t end = -1;  // the id that ends a sequence; -1: none does; at least -1; default -1
  // most ids of a sequence behind start; 0: as many as there are positions for; at least 0;
  // default 0
  std::int64_t max_tokens = 0;
  // sequences that are followed at once; 1: the most probable next id, or with a temperature a
  // drawn one; 1 to 4096; default 1
  std::int64_t beams = 1;
  // those of a beam are compared by the logarithm of their probability, divided by their number
  // of ids to this power; -100 to 100; default 1
  double length_penalty = 1;
  double temperature = 0;  // divides the logits; 0: greedy, the largest logit; 0 to 1e6; default 0
  // draws from this number of most probable tokens; 0: all; at least 0; default 0
  std::int64_t top_k = 0;
  // draws from the fewest tokens that together have this probability; above 0, at most 1;
  // default 1
  double top_p = 1;
  // draws from tokens at least this share as probable as the best; 0 to 1; default 0
  double min_p = 0;
  // divides positive and multiplies negative logits of tokens seen before; 0.001 to 1000;
  // default 1
  double repetition_penalty = 1;
  std::int64_t seed = 0;  // of the draws; row i has those of seed + i; default 0
};

// Of loom_step_mesh_create_with: a network that runs by ticks.
struct StepMeshOptions {
  // independent streams of values, side by side with the same weights; 1 to 1048576; default 1
  std::int64_t streams = 1;
  std::int64_t threads = 0;  // of the CPU; 0: one per core; 0 to 1024; default 0
  // the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas
  std::string isa{};
  // gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
  // one of cpu, gpu, auto
  std::string device{};
  // threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
  // device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto
  std::string mode{};
};

// Of loom_online_create_with: a network that learns while it answers.
struct OnlineOptions {
  std::int64_t max_rows = 64;  // rows of an answer; 1 to 65536; default 64
  // newest samples that batches are drawn from; 1 to 16777216; default 256
  std::int64_t recent = 256;
  // samples that are kept of those before them, a uniform choice; 0 to 16777216; default 0
  std::int64_t older = 0;
  // share of a batch that comes from the newest; the rest comes from the older ones; 0 to 1;
  // default 0.5
  double recent_share = 0.5;
  // answers that wait for their feedback; older ones are forgotten; 1 to 1048576; default 1024
  std::int64_t pending = 1024;
  // steps after which answers have new weights; 1 to 1073741824; default 1
  std::int64_t publish_every = 1;
  // when an output is correct: by its largest value (argmax), by the sign of each value, of bce
  // (sign), or each within tolerance; auto: as the loss is, argmax for cross_entropy, sign for
  // bce; not given: auto
  std::string correct{};
  double tolerance = 0.1;  // of correct, for each value; at least 0; default 0.1
  std::int64_t window = 100;  // outputs of a window of the report; 1 to 1073741824; default 100
  double window_ms = 0;  // or its duration; 0: by outputs; 0 to 1e9; default 0
  // judged outputs that accuracies of recovery are taken over; 1 to 1024; default 50
  std::int64_t rolling = 50;
  // accuracy at which a task counts as recovered; above 0, at most 1; default 0.95
  double recover = 0.95;
  double deadline_ms = 0;  // after which an answer counts as late; 0: never; 0 to 1e9; default 0
  std::string task{};  // name of the first task; those that are detected are numbered; not given: 0
  // of changes of the task: adwin (Bifet and Gavalda 2007) over the errors of outputs, or none;
  // not given: adwin
  std::string detector{};
  // of the detector, about the probability of a false alarm: a smaller one takes longer; 1e-12
  // to 0.5; default 0.0001
  double detector_delta = 0.0001;
  bool forget = true;  // a change of the task forgets the samples before it; default true
  // a change of the task multiplies the learning rate; above 0, at most 1000; default 1
  double boost = 1;
  std::int64_t boost_steps = 0;  // for as many steps; 0 to 1073741824; default 0
  std::int64_t threads = 1;  // of the CPU; 0: one per core; 0 to 1024; default 1
  // the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas
  std::string isa{};
  // gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
  // one of cpu, gpu, auto
  std::string device{};
  // threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
  // device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto
  std::string mode{};
};

// Of loom_trainer_create_with: what a network learns, how long, and where that runs.
struct TrainingOptions {
  // the mean over the columns, with d = y - target. mse: d^2. mae: abs(d). huber: d^2 / 2 up to
  // abs(d) = delta, and delta * (abs(d) - delta / 2) above. bce: -target log(s) - (1 - target)
  // log(1 - s), s = sigmoid(y), targets in 0..1. cross_entropy: -log softmax(logits)[class].
  // soft_cross_entropy: -sum of p log softmax(logits / T) * T^2, T = temperature, targets p are
  // a probability for each class. A step's loss is the mean over its counted rows; not given:
  // mse
  std::string loss{};
  // adamw (arXiv 1711.05101), adam (arXiv 1412.6980: weight_decay times w is a part of the
  // gradient), sgd, rmsprop or lion (arXiv 2302.06675); not given: adamw
  std::string optimizer{};
  double lr = 0.001;  // the highest learning rate; above 0, at most 1e6; default 0.001
  // the course of the rate; one of constant, cosine, step, linear, cosine_restarts, multi_step,
  // exponential, one_cycle, polynomial; not given: constant
  std::string schedule{};
  std::int64_t warmup = 0;  // first steps, in which the rate rises linearly; at least 0; default 0
  // of parameters with more than one row; norms and biases are not decayed, unless by
  // decay_vectors; at least 0, below 1e6; default 0
  double weight_decay = 0;
  // sgd: velocity = momentum * velocity + gradient + weight_decay * w; w -= lr * velocity.
  // rmsprop: the same of the divided gradient; of sgd, rmsprop; at least 0, below 1; default 0
  double momentum = 0;
  // the mean gradient is scaled down to this norm over all parameters; 0: never; at least 0,
  // below 1e30; default 0
  double clip_norm = 0;
  std::int64_t steps = 0;  // optimizer steps; at least 0; default 0
  // or passes over the data, rounded up to whole steps; at least 0; default 0
  std::int64_t epochs = 0;
  // samples per step: sequences of tokens, rows of a table; more than 65536 only where the data
  // has as many; at least 1; default 1
  std::int64_t batch = 1;
  // equal parts that a step is cut into, to save memory; must divide batch; 1 to 1048576;
  // default 1
  std::int64_t micro_batches = 1;
  // of the initial weights, the shuffling, the shifts and the noise of dropout and Gumbel
  // softmax; at least 0; default 0
  std::int64_t seed = 0;
  bool shuffle = true;  // each epoch in a new order; false: in the order of the file; default true
  // a training spec as JSON, docs/reference/training-spec.md, for what no member says; a key
  // that is given in both is refused
  std::string spec{};
  std::int64_t threads = 0;  // of the CPU; 0: one per core; 0 to 1024; default 0
  // the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas
  std::string isa{};
  // gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
  // one of cpu, gpu, auto
  std::string device{};
  // threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
  // device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto
  std::string mode{};
};

// Of loom_generator_create_with: text with a model.
struct GeneratorOptions {
  // positions of a sequence; 0: as many as the model was trained for, at most 4096; at least 0;
  // default 0
  std::int64_t context = 0;
  std::int64_t sequences = 1;  // conversations whose KV caches are kept; at least 1; default 1
  // rows of a prompt that run at once; 0: 64, or 512 on a device. The bits are the same for
  // every number; at least 0; default 0
  std::int64_t chunk = 0;
  std::int64_t threads = 0;  // of the CPU; 0: one per core; 0 to 1024; default 0
  // the CPU's instruction set, one of isas or fast_isas of loom_info; empty: the best of isas
  std::string isa{};
  // gpu: a WebGPU device, an error where there is none; auto: that, or the CPU; empty: the CPU;
  // one of cpu, gpu, auto
  std::string device{};
  // threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
  // device; one of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto
  std::string mode{};
  // of products with integer weights: q15, 15 bits (the same as empty), or i8, 8 bits: faster
  // prompts, other answers; refused where there are no such products
  std::string activations{};
};

// Of loom_generator_start_with: how the tokens of a text are picked, and its end.
struct SamplingOptions {
  // new tokens; 0: until the context is full, which ends every text; at least 0; default 0
  std::int64_t max_tokens = 0;
  double temperature = 0;  // divides the logits; 0: greedy, the largest logit; 0 to 1e6; default 0
  // draws from this number of most probable tokens; 0: all; at least 0; default 0
  std::int64_t top_k = 0;
  // draws from the fewest tokens that together have this probability; above 0, at most 1;
  // default 1
  double top_p = 1;
  // draws from tokens at least this share as probable as the best; 0 to 1; default 0
  double min_p = 0;
  // divides positive and multiplies negative logits of tokens seen before; 0.001 to 1000;
  // default 1
  double repetition_penalty = 1;
  // of the draws: a text is a function of its prompt, these settings and this number; default 0
  std::int64_t seed = 0;
  std::vector<std::string> stop{};  // texts that end the answer, and are no part of it
  bool ignore_eos = false;  // the model's own ends of a text are tokens like others; default false
};

namespace detail {

// A text as C has it: it ends with a zero, so it holds none. NULL: not given.
inline const char* c_text(const std::string& text, const char* name) {
  if (text.find('\0') != std::string::npos)
    throw Error(LOOM_INVALID_ARGUMENT, std::string("options: \"") + name + "\" has a zero in it");
  return text.empty() ? nullptr : text.c_str();
}
// The structs of loom/options.h. They point into the options and into `texts`.
inline loom_session_options to_c(const SessionOptions& o, std::vector<const char*>&) {
  loom_session_options c = LOOM_SESSION_OPTIONS_INIT;
  c.max_rows = o.max_rows;
  c.max_head_rows = o.max_head_rows;
  c.max_positions = o.max_positions;
  c.sequences = o.sequences;
  c.ignore_rules = o.ignore_rules;
  c.threads = o.threads;
  c.isa = c_text(o.isa, "isa");
  c.device = c_text(o.device, "device");
  c.mode = c_text(o.mode, "mode");
  c.activations = c_text(o.activations, "activations");
  return c;
}
inline loom_seq2seq_options to_c(const Seq2SeqOptions& o, std::vector<const char*>&) {
  loom_seq2seq_options c = LOOM_SEQ2SEQ_OPTIONS_INIT;
  c.target = c_text(o.target, "target");
  c.lanes = o.lanes;
  c.max_positions = o.max_positions;
  c.threads = o.threads;
  c.isa = c_text(o.isa, "isa");
  c.device = c_text(o.device, "device");
  c.mode = c_text(o.mode, "mode");
  return c;
}
inline loom_search_options to_c(const SearchOptions& o, std::vector<const char*>&) {
  loom_search_options c = LOOM_SEARCH_OPTIONS_INIT;
  c.start = o.start.data();
  c.start_count = o.start.size();
  c.end = o.end;
  c.max_tokens = o.max_tokens;
  c.beams = o.beams;
  c.length_penalty = o.length_penalty;
  c.temperature = o.temperature;
  c.top_k = o.top_k;
  c.top_p = o.top_p;
  c.min_p = o.min_p;
  c.repetition_penalty = o.repetition_penalty;
  c.seed = o.seed;
  return c;
}
inline loom_step_mesh_options to_c(const StepMeshOptions& o, std::vector<const char*>&) {
  loom_step_mesh_options c = LOOM_STEP_MESH_OPTIONS_INIT;
  c.streams = o.streams;
  c.threads = o.threads;
  c.isa = c_text(o.isa, "isa");
  c.device = c_text(o.device, "device");
  c.mode = c_text(o.mode, "mode");
  return c;
}
inline loom_online_options to_c(const OnlineOptions& o, std::vector<const char*>&) {
  loom_online_options c = LOOM_ONLINE_OPTIONS_INIT;
  c.max_rows = o.max_rows;
  c.recent = o.recent;
  c.older = o.older;
  c.recent_share = o.recent_share;
  c.pending = o.pending;
  c.publish_every = o.publish_every;
  c.correct = c_text(o.correct, "correct");
  c.tolerance = o.tolerance;
  c.window = o.window;
  c.window_ms = o.window_ms;
  c.rolling = o.rolling;
  c.recover = o.recover;
  c.deadline_ms = o.deadline_ms;
  c.task = c_text(o.task, "task");
  c.detector = c_text(o.detector, "detector");
  c.detector_delta = o.detector_delta;
  c.forget = o.forget;
  c.boost = o.boost;
  c.boost_steps = o.boost_steps;
  c.threads = o.threads;
  c.isa = c_text(o.isa, "isa");
  c.device = c_text(o.device, "device");
  c.mode = c_text(o.mode, "mode");
  return c;
}
inline loom_training_options to_c(const TrainingOptions& o, std::vector<const char*>&) {
  loom_training_options c = LOOM_TRAINING_OPTIONS_INIT;
  c.loss = c_text(o.loss, "loss");
  c.optimizer = c_text(o.optimizer, "optimizer");
  c.lr = o.lr;
  c.schedule = c_text(o.schedule, "schedule");
  c.warmup = o.warmup;
  c.weight_decay = o.weight_decay;
  c.momentum = o.momentum;
  c.clip_norm = o.clip_norm;
  c.steps = o.steps;
  c.epochs = o.epochs;
  c.batch = o.batch;
  c.micro_batches = o.micro_batches;
  c.seed = o.seed;
  c.shuffle = o.shuffle;
  c.spec = c_text(o.spec, "spec");
  c.threads = o.threads;
  c.isa = c_text(o.isa, "isa");
  c.device = c_text(o.device, "device");
  c.mode = c_text(o.mode, "mode");
  return c;
}
inline loom_generator_options to_c(const GeneratorOptions& o, std::vector<const char*>&) {
  loom_generator_options c = LOOM_GENERATOR_OPTIONS_INIT;
  c.context = o.context;
  c.sequences = o.sequences;
  c.chunk = o.chunk;
  c.threads = o.threads;
  c.isa = c_text(o.isa, "isa");
  c.device = c_text(o.device, "device");
  c.mode = c_text(o.mode, "mode");
  c.activations = c_text(o.activations, "activations");
  return c;
}
inline loom_sampling_options to_c(const SamplingOptions& o, std::vector<const char*>& texts) {
  loom_sampling_options c = LOOM_SAMPLING_OPTIONS_INIT;
  c.max_tokens = o.max_tokens;
  c.temperature = o.temperature;
  c.top_k = o.top_k;
  c.top_p = o.top_p;
  c.min_p = o.min_p;
  c.repetition_penalty = o.repetition_penalty;
  c.seed = o.seed;
  for (const std::string& s : o.stop) texts.push_back(c_text(s, "stop"));
  c.stop = texts.data();
  c.stop_count = texts.size();
  c.ignore_eos = o.ignore_eos;
  return c;
}

}  // namespace detail
}  // namespace api
}  // namespace loom

#endif
