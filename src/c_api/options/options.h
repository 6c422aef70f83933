// The options of the C interface: what each function's JSON object may hold, once
// (base/fields/fields.h). Reading and checking follow from these lists; tools/generate makes
// docs/reference/options.md, its schema and the types of the JavaScript package of them,
// api/generate.py the header. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields/field_reader.h"
#include "cluster/cluster.h"
#include "convert/convert.h"
#include "convert/export.h"
#include "convert/model_file.h"
#include "exec/machine.h"
#include "exec/seq2seq.h"
#include "exec/session.h"
#include "exec/step_mesh.h"
#include "fit/job.h"
#include "fit/precision_plan.h"
#include "llm/config/config.h"
#include "llm/generate/generate.h"
#include "llm/generate/sampler_fields.h"
#include "llm/generate/search.h"
#include "online/options.h"
#include "text/bpe/bpe_trainer.h"
#include "train/data/tables/series.h"

namespace loom {

template <class V>
void fields(V& v, SamplingAdvice& s) {
  sampling_fields(v, s);
}

inline constexpr const char* kDimsDoc =
    "sizes of open dimensions of an ONNX graph's inputs by their names, an object: `{\"seq\": "
    "128}`; one without a name is `INPUT:AXIS`; a first one that is left out is the batch";
inline constexpr const char* kMaxDoc =
    "the largest length of one open dimension, an object: `{\"seq\": 128}`; rows of the network "
    "then end with their own lengths ([open dimensions](formats.md#open-dimensions))";

template <class V>
void fields(V& v, ConvertOptions& o) {
  v("dtype", o.dtype,
    {.doc = "of the weights; empty: as they are; safetensors takes f64, f32, f16, bf16, folders "
            "f32, f16, bf16, GGUF also q8_0, q4_0, ONNX all that it has (docs/guide/export.md)"});
  v("adapter", o.adapter,
    {.doc = "a LoRA adapter to add to the weights: a folder; not where .safetensors is written"});
  v("tokenizer", o.tokenizer,
    {.doc = "false writes a language model without it, which then runs by ids"});
  v("matmul_nbits", o.matmul_nbits,
    {.doc = "of .onnx: products of 4 and 8 bits by ONNX Runtime's own `MatMulNBits`"});
  v("settings", o.settings,
    {.doc = "of a .safetensors or .pt file that becomes .entity: what names and shapes do not tell "
            "([weights](weights.md)), an object"});
  v("dims", o.dims, {.doc = kDimsDoc});
  v("max", o.max, {.doc = kMaxDoc});
}

template <class V>
void fields(V& v, ExportOptions& o) {
  v("opset", o.opset,
    {.doc = "of ONNX: the version of its operators in the file", .min = 21, .max = 26});
  v("as", o.as,
    {.doc = "[format](dtypes.md) of the matrices in the file, for example `f32`, `f16` or `i8`; "
            "empty: each as it is stored"});
  v("external_data", o.external_data,
    {.doc = "of ONNX: large tensors go into a second file, `PATH.data`, as they do where all do "
            "not fit into one"});
  v("decoder", o.decoder,
    {.doc = "of ONNX: a language model whose keys and values are inputs and outputs, by the names "
            "of transformers.js and Optimum"});
  v("matmul_nbits", o.matmul_nbits,
    {.doc = "of ONNX: products of 4 and 8 bits by ONNX Runtime's own `MatMulNBits`"});
}

template <class V>
void fields(V& v, DescribeOptions& o) {
  v("tensors", o.tensors, {.doc = "with a list of all tensors"});
  v("model", o.model,
    {.doc = "with what a loader says of it: whether it runs, its topology, its tokenizer"});
}

template <class V>
void fields(V& v, PlanOptions& o) {
  v("bytes", o.bytes,
    {.doc = "the least loss within this number of bytes of weights; 0: no limit", .min = 0});
  v("ms", o.ms,
    {.doc = "the least loss of the plans that run 64 rows (or all there are) within this number of "
            "milliseconds here; "
            "0: no limit",
     .min = 0});
  v("loss", o.loss, {.doc = "the fewest bytes with at most this loss; 0: no limit", .min = 0});
  v("formats", o.formats,
    {.doc = "candidates beside f32: [formats](dtypes.md); empty: 18 from f32 to binary"});
  v("rows", o.rows, {.doc = "rows of the data that losses are measured on", .min = 1});
  v("seed", o.seed, {.doc = "which rows: same seed, same plan, except with `ms`", .min = 0});
}

}  // namespace loom

namespace loom::c_api {

// Where something runs.
struct MachineOptions {
  std::int64_t threads = 0;
  std::string isa, device, mode;
};
template <class V>
void machine_fields(V& v, MachineOptions& o) {
  v("threads", o.threads,
    {.doc = "of the CPU; 0: one per core", .min = 0, .max = ThreadPool::kMaxThreads});
  v("isa", o.isa,
    {.doc = "the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; "
            "empty: the best of `isas`"});
  v("device", o.device,
    {.doc = "`gpu`: a WebGPU device, an error where there is none; `auto`: that, "
            "or the CPU; empty: the CPU",
     .names = webgpu::kDeviceNames});
}
template <class V>
void place_fields(V& v, MachineOptions& o) {
  machine_fields(v, o);
  v("mode", o.mode,
    {.doc = "threads and device in one word: [modes](modes.md). Beside it there is "
            "no `device`",
     .names = kModeNames});
}

template <class V>
void activation_field(V& v, std::string& activations) {
  v("activations", activations,
    {.doc =
         "of products with integer weights: `q15`, 15 bits (the same as empty), or `i8`, 8 bits: "
         "faster prompts, other answers; refused where there are no such products",
     .names = kActivationNames});
}

struct SessionCreate {
  SessionOptions session;
  bool ignore_rules = false;
  std::optional<std::int64_t> max_head_rows;
  MachineOptions machine;
};
template <class V>
void fields(V& v, SessionCreate& o) {
  v("max_rows", o.session.max_rows,
    {.doc = "rows (samples, tokens) of a run", .min = 1, .max = INT32_MAX});
  v("max_head_rows", o.max_head_rows,
    {.doc = "rows of a run whose output is wanted; absent: 1 for "
            "networks of ids, else `max_rows`",
     .min = 1,
     .max = INT32_MAX});
  v("max_positions", o.session.max_positions, {.doc = "of a sequence", .min = 1, .max = INT32_MAX});
  v("sequences", o.session.sequences,
    {.doc = "whose states (KV caches) are kept", .min = 1, .max = INT32_MAX});
  v("ignore_rules", o.ignore_rules,
    {.doc = "the network stays as it is: the rules of its `metacognition` layers, which are "
            "evaluated after each run, do nothing"});
  place_fields(v, o.machine);
  activation_field(v, o.session.activations);
}

// A pass is a run of a session, a tick of a step mesh, or a step of a trainer.
struct PassesObserve {
  enum class Of : std::uint8_t { session, step_mesh, trainer } of = Of::session;
  ObserveOptions observe;
  std::int64_t window = 1, keep = 64;
  bool total = false;
};
template <class V>
void fields(V& v, PassesObserve& o) {
  using enum PassesObserve::Of;
  v("every", o.observe.every,
    {.doc = "passes 0, `every`, 2 x `every`, ... are observed; 0: none any more", .min = 0});
  v("passes", o.observe.passes, {.doc = "that are observed; 0: all of those", .min = 0});
  v("window", o.window,
    {.doc = "observed passes that an event stands for, with all their values", .min = 1});
  v("keep", o.keep,
    {.doc = "passes (windows) whose events are kept until they are taken; the oldest are dropped "
            "and counted",
     .min = 1,
     .max = Recorder::kMaxKept});
  if (o.of != step_mesh)
    v("nested", o.observe.nested, {.doc = "layers inside cells have events, too"});
  if (o.of == session)
    v("total", o.total,
      {.doc = "`session_statistics` has the statistics of all observed passes together as well"});
  if (o.of == trainer)
    v("weights", o.observe.weights, {.doc = "the gradients of parameters have events, too"});
}

struct ClusterKMeans {
  cluster::KMeansOptions k_means;
};
template <class V>
void fields(V& v, ClusterKMeans& o) {
  v("seed", o.k_means.seed, {.doc = "of the first centers", .min = 0});
  v("starts", o.k_means.starts,
    {.doc = "times that it begins with other centers; the result with the least inertia counts",
     .min = 1,
     .max = 1000});
  v("max_iterations", o.k_means.max_iterations, {.doc = "of a start", .min = 1});
  v("tolerance", o.k_means.tolerance,
    {.doc = "a start ends where the squared moves of the centers are at most this share of the "
            "mean variance of the columns",
     .min = 0});
}

struct ClusterHierarchy {
  std::string distance = "euclidean", linkage = "average";
};
template <class V>
void fields(V& v, ClusterHierarchy& o) {
  v("distance", o.distance,
    {.doc = "`euclidean`, `cosine` (1 - cos), or `precomputed`: row i has the distances to all "
            "rows",
     .one_of = "euclidean, cosine, precomputed"});
  v("linkage", o.linkage,
    {.doc = "the distance of two groups: `single` (of their nearest rows), `complete` (of their "
            "farthest), `average`, `ward` (growth of the variance; euclidean alone)",
     .one_of = "single, complete, average, ward"});
}

struct EnsembleMatches {
  double min_coverage = 0;
};
template <class V>
void fields(V& v, EnsembleMatches& o) {
  v("min_coverage", o.min_coverage,
    {.doc = "the least share of samples that one of a pair or both have right",
     .min = 0,
     .max = 1});
}

struct ClusterCut {
  std::optional<std::int64_t> clusters;
  std::optional<double> distance;
};
template <class V>
void fields(V& v, ClusterCut& o) {
  v("clusters", o.clusters, {.doc = "how many groups remain, or", .min = 1});
  v("distance", o.distance, {.doc = "up to which distance groups are joined", .min = 0});
}

struct SessionForecast {
  std::int64_t horizon = kDefaultHorizon;
  std::string last;
};
template <class V>
void fields(V& v, SessionForecast& o) {
  v("horizon", o.horizon, {.doc = "steps to forecast", .min = 1, .max = kMaxForecasts});
  v("last", o.last,
    {.doc = "the date of the last value of the history, as `1960-12`; only beside a "
            "history, which needs it"});
}

struct Seq2SeqCreate {
  Seq2SeqOptions seq2seq;
  MachineOptions machine;
};
template <class V>
void fields(V& v, Seq2SeqCreate& o) {
  v("target", o.seq2seq.target,
    {.doc = "the input that comes step by step, [steps] ids or "
            "[steps, features]",
     .required = true});
  v("lanes", o.seq2seq.lanes,
    {.doc = "rows that run at once: of a search, its rows x beams", .min = 1, .max = 1 << 16});
  v("max_positions", o.seq2seq.max_positions,
    {.doc = "steps of a row; 0: as many as the target "
            "has. More than that go with positions that "
            "are not learned",
     .min = 0,
     .max = INT32_MAX});
  place_fields(v, o.machine);
}

struct Seq2SeqSearch {
  SearchOptions search;
  std::int64_t seed = 0;
};
template <class V>
void fields(V& v, Seq2SeqSearch& o) {
  v("start", o.search.start,
    {.doc = "ids that every sequence begins with", .min = 0, .max = INT32_MAX, .required = true});
  v("end", o.search.end,
    {.doc = "the id that ends a sequence; -1: none does", .min = -1, .max = INT32_MAX});
  v("max_tokens", o.search.max_tokens,
    {.doc = "most ids of a sequence behind `start`; 0: as many "
            "as there are positions for",
     .min = 0,
     .max = INT32_MAX});
  v("beams", o.search.beams,
    {.doc = "sequences that are followed at once; 1: the most probable "
            "next id, or with a `temperature` a drawn one",
     .min = 1,
     .max = 4096});
  v("length_penalty", o.search.length_penalty,
    {.doc = "those of a beam are compared by the logarithm of their probability, divided by their "
            "number of ids to this power",
     .min = -100,
     .max = 100});
  sampling_fields(v, o.search.sampling);
  v("seed", o.seed, {.doc = "of the draws; row i has those of `seed` + i"});
}

struct StepMeshCreate {
  StepMeshOptions mesh;
  MachineOptions machine;
};
template <class V>
void fields(V& v, StepMeshCreate& o) {
  v("streams", o.mesh.streams,
    {.doc = "independent streams of values, side by side with the same weights",
     .min = 1,
     .max = 1 << 20});
  place_fields(v, o.machine);
}

struct ProgramCreate {
  std::int64_t sequences = 1;
  MachineOptions machine;
};
template <class V>
void fields(V& v, ProgramCreate& o) {
  v("sequences", o.sequences,
    {.doc = "that the states of attention are divided among", .min = 1, .max = 1 << 20});
  place_fields(v, o.machine);
}

struct OnlineCreate {
  OnlineOptions online;
  MachineOptions machine{.threads = 1};
};
template <class V>
void fields(V& v, OnlineCreate& o) {
  loom::fields(v, o.online);
  place_fields(v, o.machine);
}

struct GeneratorCreate {
  GeneratorOptions generator;
  MachineOptions machine;
};
template <class V>
void fields(V& v, GeneratorCreate& o) {
  v("context", o.generator.context,
    {.doc = "positions of a sequence; 0: as many as the model was "
            "trained for, at most 4096",
     .min = 0,
     .max = INT32_MAX});
  v("sequences", o.generator.sequences,
    {.doc = "conversations whose KV caches are kept", .min = 1, .max = INT32_MAX});
  v("chunk", o.generator.chunk,
    {.doc = "rows of a prompt that run at once; 0: 64, or 512 on a "
            "device. The bits are the same for every number",
     .min = 0,
     .max = INT32_MAX});
  place_fields(v, o.machine);
  activation_field(v, o.generator.activations);
}

struct GeneratorStart {
  GenerateOptions generate;
  std::int64_t seed = 0;
};
template <class V>
void fields(V& v, GeneratorStart& o) {
  v("max_tokens", o.generate.max_tokens,
    {.doc = "new tokens; 0: until the context is full, which ends every text", .min = 0});
  sampling_fields(v, o.generate.sampling);
  v("seed", o.seed,
    {.doc = "of the draws: a text is a function of its prompt, these settings and "
            "this number"});
  v("stop", o.generate.stop, {.doc = "texts that end the answer, and are no part of it"});
  v("ignore_eos", o.generate.ignore_eos,
    {.doc = "the model's own ends of a text are tokens like "
            "others"});
}

struct EvaluatorCreate {
  std::int64_t context = 0, chunk = 16;
  std::string activations;
  bool last_row = false, hash = false;
  MachineOptions machine;
};
template <class V>
void fields(V& v, EvaluatorCreate& o) {
  v("context", o.context,
    {.doc = "ids of a window; 0: as many as the model was trained for, at most 2048",
     .min = 0,
     .max = INT32_MAX});
  v("chunk", o.chunk,
    {.doc = "rows that run at once. The bits are the same for every number",
     .min = 1,
     .max = INT32_MAX});
  v("last_row", o.last_row, {.doc = "the last id runs too, whose prediction nothing judges"});
  v("hash", o.hash, {.doc = "with the SHA-256 of all logits"});
  place_fields(v, o.machine);
  activation_field(v, o.activations);
}

struct TrainerCreate {
  MachineOptions machine;
};
template <class V>
void fields(V& v, TrainerCreate& o) {
  place_fields(v, o.machine);
}

struct TrainingOpen {
  FitOptions fit;
  MachineOptions machine;
};
template <class V>
void fields(V& v, TrainingOpen& o) {
  FitOptions& f = o.fit;
  v("spec", f.spec, {.doc = "a file: [training specs](training-spec.md); empty: all is chosen"});
  v("data", f.data,
    {.doc = "a file as the spec says; without one a table (CSV), a folder of idx or .npy files, a "
            "folder with a folder of images or of .txt files for each class, or texts for the "
            "embedded language model"});
  v("test", f.test, {.doc = "data of the same form, judged at the end; without a spec"});
  v("target", f.target, {.doc = "the column to predict; empty: the last one; without a spec"});
  v("task", f.task,
    {.doc = "what the target is; empty: what it looks like; without a spec",
     .names = "classes, numbers"});
  v("network", f.network,
    {.doc = "empty: convolutions for images, else dense layers; without a spec",
     .names = "dense, convolutional"});
  v("dtype", f.dtype, {.doc = "of the weights, which learn in it; without a spec"});
  v("method", f.method,
    {.doc = "how gradients are found; empty: back_propagation; without a spec",
     .names = "back_propagation, mono_forward, direct_feedback_alignment, "
              "difference_target_propagation, target_propagation"});
  v("series", f.series,
    {.doc = "whether a table is a time series; empty: what it looks like; without a spec",
     .names = "yes, no"});
  v("horizon", f.horizon, {.doc = "of a time series: steps ahead that are judged; 12", .min = 1});
  v("teacher", f.teacher,
    {.doc = "[distillation](../guide/training.md#learn-from-another-network): an .entity or .onnx "
            "file, a network whose answers are learned"});
  v("temperature", f.temperature,
    {.doc = "of classes, with `teacher`: the softmax of both is of logits divided by it; 1",
     .above = 0});
  v("alpha", f.alpha,
    {.doc = "with `teacher`: how much its answers count; the targets of the data count 1 - alpha; "
            "0.9",
     .above = 0,
     .max = 1});
  v("report", f.report,
    {.doc = "training_report will be asked for: data that are no table are refused"});
  v("fp8", f.fp8, {.doc = "products in FP8, forward and backward; without a spec"});
  v("steps", f.steps, {.doc = "0: as many as the data suggest; without a spec", .min = 0});
  v("seed", f.seed, {.doc = "of the first weights, the order and what is held back", .min = 0});
  v("out", f.out,
    {.doc = "the file or folder that will be saved: checked before the work, and where checkpoints "
            "go"});
  v("resume", f.resume, {.doc = "resumes from `out`, with the same bits as if never stopped"});
  v("events", f.events, {.doc = "a folder for TensorBoard event files"});
  v("observe", f.observe,
    {.doc = "a file of [events](../guide/observe.md) of the steps, a JSON object a line; with "
            "`resume` they follow those that are there"});
  v("observe_every", f.observe_every,
    {.doc = "the first step from here on and each `observe_every`-th after it are observed",
     .min = 1});
  place_fields(v, o.machine);
}

struct PredictorOpen {
  MachineOptions machine;
};
template <class V>
void fields(V& v, PredictorOpen& o) {
  place_fields(v, o.machine);
}

struct Verify {
  MachineOptions machine;
};
template <class V>
void fields(V& v, Verify& o) {
  machine_fields(v, o.machine);
}

struct Audit {
  std::string device = "auto";
  bool measure = false;
};
template <class V>
void fields(V& v, Audit& o) {
  v("device", o.device,
    {.doc = "`auto`: the GPU where there is one; `gpu`: an error where there is none; `cpu`: no "
            "GPU is looked for",
     .one_of = webgpu::kDeviceNames});
  v("measure", o.measure,
    {.doc = "with speeds of memory and products, which take a second or two"});
}

struct TokenizerTrain {
  BpeTrainerOptions trainer;
  std::int64_t vocab_size = static_cast<std::int64_t>(trainer.vocab_size);
};
template <class V>
void fields(V& v, TokenizerTrain& o) {
  v("vocab_size", o.vocab_size,
    {.doc = "tokens at most, special ones and the 256 bytes included", .min = 1, .max = INT32_MAX});
  v("special_tokens", o.trainer.special_tokens,
    {.doc = "get the first ids, in this order; they are "
            "not looked for in the texts"});
  v("bos", o.trainer.bos, {.doc = "the special token that begins a text"});
  v("eos", o.trainer.eos, {.doc = "the special token that ends a text"});
  v("add_bos", o.trainer.add_bos, {.doc = "encoding begins with `bos`"});
}

// Ids of tokens as JSON has them: one, a list, or null for none.
struct TokenIds {
  bool several;
  bool given = false;
  std::vector<std::int32_t> ids{};
};
const char* read_field(const Json& json, TokenIds& ids);

struct ModelCreate {
  std::string name = "(made)", architecture;
  std::optional<std::int64_t> vocab_size, parameters;
  std::int64_t max_positions = 0;
  TokenIds bos{.several = false}, eos{.several = true};
  SamplingAdvice sampling;
};
template <class V>
void fields(V& v, ModelCreate& o) {
  v("name", o.name, {.doc = "for people"});
  v("architecture", o.architecture,
    {.doc = "the model family, as `loom_model_info` says it; empty: "
            "none"});
  v("vocab_size", o.vocab_size, {.doc = "where given: the network's own"});
  v("max_positions", o.max_positions,
    {.doc = "positions the network was trained for", .min = 1, .max = INT32_MAX, .required = true});
  v("bos", o.bos, {.doc = "the id that begins a text, null for none; absent: the tokenizer's"});
  v("eos", o.eos, {.doc = "the id or ids that end a text, null for none; absent: the tokenizer's"});
  v("sampling", o.sampling, {.doc = "settings that are recommended with the model"});
  v("parameters", o.parameters, {.doc = "where given: the network's own"});
}

struct OnnxNetwork {
  AnyJson dims, max;
};
template <class V>
void fields(V& v, OnnxNetwork& o) {
  v("dims", o.dims, {.doc = kDimsDoc});
  v("max", o.max, {.doc = kMaxDoc});
}

// The text of an object of options. Errors begin with "options".
Result<Json> options_json(const char* data, std::size_t size);

Status read_by(const Result<Json>& json, void (*list)(FieldReader&, void*), void* options);

// Reads an object of options by its list; `json` as options_json gives it, of a text or of a struct
// (structs.h). Every error begins with "options".
template <class T>
Status read_options(const Result<Json>& json, T& options) {
  return read_by(json, [](FieldReader& r, void* o) { fields(r, *static_cast<T*>(o)); }, &options);
}
template <class T>
Status read_options(const char* data, std::size_t size, T& options) {
  return read_options(options_json(data, size), options);
}

Result<Machine> machine_of(const MachineOptions& options);
// What sessions, generators and trainers take of a machine, which stays with the object.
template <class T>
void place(T& options, const MachineOptions& given, const Machine& machine) {
  options.isa = given.isa;
  options.fuse = machine.mode.fuse;
  options.auto_device = machine.mode.auto_device;
  options.device = machine.choice.device.get();
}

}  // namespace loom::c_api
