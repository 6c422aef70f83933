// loom bench: speed of products, of language models of real shapes with random weights, as shares
// of what this machine's memory delivers, and of learning.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "arguments/machine_options.h"
#include "audit/read_bandwidth.h"
#include "base/json/json.h"
#include "base/random.h"
#include "bench/bench.h"
#include "bench/device.h"
#include "exec/session.h"
#include "llm/config/config.h"
#include "ops/draw.h"
#include "support/console.h"
#include "support/internal.h"
#include "train/data/data.h"
#include "train/trainer.h"

namespace loom::cli {
namespace {

using Args = BenchArgs;

struct Shape {
  const char* name;
  const char* config;  // a HuggingFace config.json of the family
};
constexpr Shape kShapes[] = {
    {"stories-15m",
     R"({"model_type":"llama","hidden_size":288,"intermediate_size":768,"num_hidden_layers":6,"num_attention_heads":6,"num_key_value_heads":6,"vocab_size":32000,"max_position_embeddings":2048,"rms_norm_eps":1e-5,"rope_theta":10000.0,"tie_word_embeddings":true})"},
    {"smollm2-135m",
     R"({"model_type":"llama","hidden_size":576,"intermediate_size":1536,"num_hidden_layers":30,"num_attention_heads":9,"num_key_value_heads":3,"vocab_size":49152,"max_position_embeddings":2048,"rms_norm_eps":1e-5,"rope_theta":100000.0,"tie_word_embeddings":true})"},
    {"qwen2.5-0.5b",
     R"({"model_type":"qwen2","hidden_size":896,"intermediate_size":4864,"num_hidden_layers":24,"num_attention_heads":14,"num_key_value_heads":2,"vocab_size":151936,"max_position_embeddings":2048,"rms_norm_eps":1e-6,"rope_theta":1000000.0,"tie_word_embeddings":true})"},
    {"qwen2.5-1.5b",
     R"({"model_type":"qwen2","hidden_size":1536,"intermediate_size":8960,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,"vocab_size":151936,"max_position_embeddings":2048,"rms_norm_eps":1e-6,"rope_theta":1000000.0,"tie_word_embeddings":true})"},
    {"qwen2.5-7b",
     R"({"model_type":"qwen2","hidden_size":3584,"intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"vocab_size":152064,"max_position_embeddings":2048,"rms_norm_eps":1e-6,"rope_theta":1000000.0,"tie_word_embeddings":false})"},
};

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const Shape& s : kShapes) names.push_back(s.name);
  return names;
}

void bind(CommandLine& c, Args& a) {
  c.add("WHAT", a.what,
        "llm; ops; layers: forward and backward of each; training: six small networks; crossover: "
        "CPU, device and auto over the width of a layer; mesh: ticks of 1,000 to 1,000,000 cells; "
        "train: a decoder of 33 M parameters in f32; costs: the table of costs of a search of "
        "networks")
      .one_of({"ops", "llm", "train", "layers", "training", "crossover", "mesh", "costs"});
  c.add("--spec", a.spec, "costs: the spec of the search (.json)").type_name("FILE");
  c.add("--out", a.out, "costs: where the table goes, in place of stdout").type_name("FILE");
  c.add("--model", a.model, "shape").one_of(shape_names());
  c.add("--dtype", a.dtype, "weights, for example f32, i8, i4");
  c.add("--isa", a.isa, "the instruction set to use").type_name("NAME");
  c.add("--activations", a.activations, "llm: q15, or i8").one_of({"q15", "i8"});
  bind_device_option(c, a.device);
  c.add("--threads", a.threads, "0: one per core").between(0, ThreadPool::kMaxThreads);
  c.add("--context", a.context, "positions before the 64 decoded ones").between(0, 960);
  c.add("--repeats", a.repeats, "of which the median counts (5; 30 of layers)").positive();
  std::vector<std::string> names = bench_layer_names();
  for (const std::string& n : bench_network_names()) names.push_back(n);
  const auto modes = mode_names();
  c.add("--layers", a.layers, "layers, or networks of training: these alone, with commas between")
      .delimiter(',')
      .one_of(names, true)
      .type_name("NAMES");
  c.add("--dtypes", a.dtypes, "layers: these dtypes alone").delimiter(',').type_name("NAMES");
  c.add("--modes", a.modes,
        "layers, training, mesh: of cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-mc (cpu-sc,cpu-mc, "
        "and but for mesh gpu-mc)")
      .delimiter(',')
      .one_of(std::vector<std::string>(modes.begin(), modes.end()))
      .type_name("NAMES");
  c.flag("--fp8", a.fp8, "training: products in FP8, and the loss beside that of f32");
  c.flag("--quick", a.quick,
         "layers, training, crossover, mesh: a few runs, to see that they work");
  c.flag("--json", a.json, "layers, training, crossover, mesh: one JSON object on stdout");
}

// Random weights in a packed format, quickly: a few panels are encoded (the search of the 4-bit
// formats takes its time) and repeated.
Result<WeightStore> random_weights(const WeightFormat& format, std::int64_t rows, std::int64_t cols,
                                   std::uint64_t stream) {
  const std::int64_t few = std::min<std::int64_t>(rows, 64);
  const RandomStream random(1, stream);
  std::vector<float> values(static_cast<std::size_t>(few * cols));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (random.uniform(i) - 0.5f) * 0.1f;
  LOOM_ASSIGN(const PackedMatrix sample, PackedMatrix::encode(format, few, cols, values));
  LOOM_ASSIGN(const PackedLayout layout, packed_layout(format, rows, cols));
  const PackedLayout& from = sample.layout();
  const std::shared_ptr<std::byte> bytes(
      static_cast<std::byte*>(std::aligned_alloc(64, (layout.total + 63) / 64 * 64)), std::free);
  if (!bytes)
    return Status(Code::out_of_memory, "bench: no memory for " + bytes_text(layout.total));
  auto repeat = [&](std::uint64_t to, std::uint64_t size, std::uint64_t at, std::uint64_t period) {
    for (std::uint64_t i = 0; i < size; i += period)
      std::memcpy(bytes.get() + to + i, sample.bytes().data() + at, std::min(period, size - i));
  };
  if (layout.codes_size) repeat(layout.codes, layout.codes_size, from.codes, from.codes_size);
  if (layout.sub_scales_size)
    repeat(layout.sub_scales, layout.sub_scales_size, from.sub_scales, from.sub_scales_size);
  if (layout.scales_size) repeat(layout.scales, layout.scales_size, from.scales, from.scales_size);
  if (layout.zeros_size) repeat(layout.zeros, layout.zeros_size, from.zeros, from.zeros_size);
  LOOM_ASSIGN(PackedMatrix packed,
              PackedMatrix::wrap(format, rows, cols,
                                 {bytes.get(), static_cast<std::size_t>(layout.total)}, bytes));
  return WeightStore::from_packed(std::move(packed));
}

// Random weights of the format in every matrix, ones elsewhere; returns the bytes that decoding a
// token reads.
Result<std::uint64_t> fill_weights(Network& network, const WeightFormat& format) {
  std::uint64_t bytes = 0, stream = 0;
  for (auto& p : network.params()) {
    if (p.tied) continue;
    WeightStore& store = *p.param->store;
    if (p.param->spec.quantized) {
      LOOM_ASSIGN(store, random_weights(format, store.rows(), store.cols(), ++stream));
    } else {
      std::fill(store.mutable_master().begin(), store.mutable_master().end(), 1.0f);
      store.touch();
    }
    bytes += store.packed_bytes();
  }
  return bytes;
}

// Token ids of one sequence through a session, timed.
struct TokenRuns {
  Session& session;
  int repeats;
  std::vector<std::uint32_t> ids, sequences, positions;
  Status status{};  // of the first run that failed: its times are worth nothing

  TokenRuns(Session& s, int repeats, std::int64_t vocab)
      : session(s), repeats(repeats), ids(512), sequences(512, 0), positions(512) {
    for (std::uint32_t i = 0; i < 512; ++i) {
      ids[i] = i * 7919 % static_cast<std::uint32_t>(vocab);
      positions[i] = i;
    }
  }
  void run(const std::function<Status()>& work) {
    if (status.ok()) status = work();
  }
  // The first n ids at once, of which one has an answer.
  void prefill(std::size_t n, std::uint32_t head) {
    run([&]() -> Status {
      return session.run_tokens(std::span(ids).first(n), std::span(sequences).first(n),
                                std::span(positions).first(n), {&head, 1});
    });
  }
  double seconds_of_prefill(std::uint32_t n) {
    return median_seconds(repeats, [&] { prefill(n, n - 1); });
  }
  // The 512 of the prefill stay; those between them and the decoded ones run likewise.
  void fill_context(std::int64_t context) {
    for (std::int64_t at = 512; at < context; at += 512) {
      const auto n = static_cast<std::size_t>(std::min<std::int64_t>(512, context - at));
      for (std::size_t i = 0; i < n; ++i)
        positions[i] = static_cast<std::uint32_t>(at + static_cast<std::int64_t>(i));
      prefill(n, static_cast<std::uint32_t>(n) - 1);
    }
  }
  void decode_64(std::uint32_t context) {
    if (session.resident()) {
      std::uint32_t picked[64];
      run([&]() -> Status { return session.run_ahead(ids[0], 0, context, {}, picked); });
      return;
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
      const std::uint32_t at = context + i, zero = 0;
      run([&]() -> Status {
        return session.run_tokens({&ids[i], 1}, {&zero, 1}, {&at, 1}, {&zero, 1});
      });
    }
  }
};

std::string machine_text(Session& session, const gpu::Device* device, const ThreadPool& pool,
                         double bandwidth, std::uint64_t bytes) {
  const Executor& e = session.executor();
  std::string out = (device ? "device " : "isa ") + std::string(e.target()) + ", threads " +
                    std::to_string(pool.size()) + "\nread bandwidth " + fixed(bandwidth / 1e9, 1) +
                    " GB/s\nweights " + bytes_text(bytes) + "\n";
  if (device)
    out += "device memory " + bytes_text(device->allocated_bytes()) + ": weights " +
           bytes_text(static_cast<std::uint64_t>(e.weight_bytes())) + ", values and caches " +
           bytes_text(static_cast<std::uint64_t>(e.arena_bytes())) + "\n";
  return out;
}

Result<ModelConfig> config_of(const std::string& model) {
  const char* text = std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& s) {
                       return model == s.name;
                     })->config;
  LOOM_ASSIGN(const Json json, Json::parse(text));
  return config_from_hf(json);
}

int bench_llm(const Args& a, ThreadPool& pool) {
  LOOM_OR_EXIT(const WeightFormat format, parse_weight_format(a.dtype), kUsage);
  LOOM_OR_EXIT(const ModelConfig config, config_of(a.model), kFailed);
  LOOM_OR_EXIT(Network network, Network::from_json(decoder_topology(config)), kFailed);
  say("random weights of " + a.model + ", " +
      count_text(static_cast<double>(network.parameter_count())) + " parameters, as " +
      to_string(format));
  LOOM_OR_EXIT(const std::uint64_t bytes, fill_weights(network, format), kFailed);
  SessionOptions options;
  options.max_rows = 512;
  options.max_positions = 1024;
  options.isa = a.isa;
  options.activations = a.activations;
  LOOM_OR_EXIT(const webgpu::Choice choice, device_of(a.device), kRefused);
  gpu::Device* const device = choice.device.get();
  options.device = device;
  LOOM_OR_EXIT(Session session, Session::create(network, pool, options), kFailed);
  TokenRuns runs(session, a.repeats, config.vocab_size);
  runs.prefill(64, 0);  // once before the clock runs, and to see that it does
  if (!runs.status.ok()) return fail(runs.status, kFailed);
  LOOM_OR_EXIT(const double bandwidth, audit::read_bandwidth(pool, a.repeats), kFailed);
  std::string out = machine_text(session, device, pool, bandwidth, bytes);
  for (const std::uint32_t n : {128u, 512u})
    out += "prefill " + std::to_string(n) + ": " + fixed(n / runs.seconds_of_prefill(n), 1) +
           " tokens/s\n";
  runs.fill_context(a.context);
  const double s =
      median_seconds(a.repeats, [&] { runs.decode_64(static_cast<std::uint32_t>(a.context)); }) /
      64;
  if (!runs.status.ok()) return fail(runs.status, kFailed);
  const double rate = static_cast<double>(bytes) / s;
  out += "decode 64: " + fixed(1 / s, 1) + " tokens/s, " + fixed(rate / 1e9, 2) + " GB/s" +
         (device ? "" : ", " + fixed(100 * rate / bandwidth, 1) + " % of the read bandwidth") +
         "\n";
  return print(out) ? kOk : kFailed;
}

int bench_ops(const Args& a, ThreadPool& pool) {
  LOOM_OR_EXIT(const double bandwidth, audit::read_bandwidth(pool, a.repeats), kFailed);
  std::string out =
      "read bandwidth " + fixed(bandwidth / 1e9, 1) +
      " GB/s\nproduct 1024 x 1024        1 row: GB/s of weights   256 rows: GFLOP/s\n";
  for (const char* name :
       {"f64", "f32", "bf16", "f16", "fp8e4m3", "i8", "i4", "i4:s4", "i2", "ternary", "binary"}) {
    LOOM_OR_EXIT(const WeightFormat format, parse_weight_format(name), kFailed);
    LOOM_OR_EXIT(
        Network n,
        Network::from_json(std::string_view(
            R"({"format":"loom-topology","version":1,"input":{"width":1024},"cells":[{"at":[0,0,0,0],"type":"dense","out":1024,"bias":false}]})")),
        kFailed);
    if (Status s = n.initialize(1); !s.ok()) return fail(s, kFailed);
    if (Status s = n.morph(format); !s.ok()) return fail(s, kFailed);
    LOOM_OR_EXIT(Session session, Session::create(n, pool, {.max_rows = 256, .isa = a.isa}),
                 kFailed);
    const std::vector<float> x(256 * 1024, 0.5f);
    auto time = [&](std::int64_t rows, int times) {
      return median_seconds(a.repeats,
                            [&] {
                              for (int i = 0; i < times; ++i)
                                (void)session.run(
                                    std::span(x).first(static_cast<std::size_t>(rows * 1024)),
                                    rows);
                            }) /
             times;
    };
    const double one = time(1, 100), many = time(256, 4);
    char line[128];
    std::snprintf(line, sizeof line, "%-24s %24.2f %22.1f\n", name,
                  static_cast<double>(n.find("0.0.0.0", "weight")->packed_bytes()) / one / 1e9,
                  2.0 * 1024 * 1024 * 256 / many / 1e9);
    out += line;
  }
  return print(out) ? kOk : kFailed;
}

// Steps of AdamW over 4 sequences of 256 random ids.
int bench_train(const Args& a, ThreadPool& pool) {
  constexpr const char* kConfig =
      R"({"model_type":"llama","hidden_size":512,"intermediate_size":1408,"num_hidden_layers":9,"num_attention_heads":8,"num_key_value_heads":8,"vocab_size":4096,"max_position_embeddings":256,"rms_norm_eps":1e-5,"rope_theta":10000.0,"tie_word_embeddings":false})";
  constexpr std::int64_t kLength = 256, kVocab = 4096;
  LOOM_OR_EXIT(const Json json, Json::parse(kConfig), kFailed);
  LOOM_OR_EXIT(const ModelConfig config, config_from_hf(json), kFailed);
  LOOM_OR_EXIT(Network network, Network::from_json(decoder_topology(config)), kFailed);
  if (const Status s = network.initialize(1); !s.ok()) return fail(s, kFailed);
  LOOM_OR_EXIT(
      const TrainingSpec spec,
      parse_training_spec(std::string_view(
          R"({"format":"loom-training","version":2,"loss":"cross_entropy","steps":1000000,"batch":4,"schedule":{"type":"constant","lr":0.0003}})")),
      kFailed);
  const RandomStream random(1, 1);
  std::vector<std::uint32_t> ids(64 * (kLength + 1));
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<std::uint32_t>(random.below(i, kVocab));
  const std::uint64_t end = ids.size();
  LOOM_OR_EXIT(const std::unique_ptr<TokenData> data,
               TokenData::create(std::move(ids), {&end, 1}, kLength), kFailed);
  LOOM_OR_EXIT(const webgpu::Choice choice, device_of(a.device), kRefused);
  TrainerOptions options;
  options.isa = a.isa;
  options.device = choice.device.get();
  LOOM_OR_EXIT(const std::unique_ptr<Trainer> trainer,
               Trainer::create(spec, network, *data, pool, options), kFailed);
  say("a decoder of " + count_text(static_cast<double>(network.parameter_count())) +
      " parameters, f32, AdamW, 4 x 256 tokens a step");
  StepReport last;
  Status status;
  auto step = [&] {
    if (!status.ok()) return;
    auto done = trainer->step();
    if (done.ok()) last = *done;
    status = done.status();
  };
  step();  // once before the clock runs
  const double s = median_seconds(a.repeats, step);
  if (!status.ok()) return fail(status, kFailed);
  return print("training: " + fixed(static_cast<double>(last.rows) / s, 1) + " tokens/s, " +
               fixed(1000 * s, 1) + " ms a step, loss " + fixed(last.loss, 6) + " after step " +
               std::to_string(last.step) + "\n")
             ? kOk
             : kFailed;
}

int run(const Args& given) {
  Args a = given;
  if (a.what != "costs" && !(a.spec + a.out).empty())
    return fail(Status(Code::invalid_argument, "--spec and --out are of costs"), kUsage);
  if (a.what != "llm" && !a.activations.empty())
    return fail(Status(Code::invalid_argument, "--activations is of llm"), kUsage);
  if (a.what == "costs") return bench_costs(a);
  if (a.what == "crossover") return bench_crossover(a);
  if (a.what == "mesh") return bench_mesh(a);
  if (a.what == "layers" || a.what == "training") {
    for (const std::string& d : a.dtypes) {
      LOOM_OR_EXIT(const WeightFormat format, parse_weight_format(d), kUsage);
      if (to_string(format) != to_string(default_format(format.dtype)) || d != name(format.dtype))
        return fail(
            Status(Code::invalid_argument, "--dtypes: '" + d + "' is no dtype, for example " +
                                               std::string(name(format.dtype))),
            kUsage);
    }
    return a.what == "layers" ? bench_layers(a) : bench_training(a);
  }
  if (a.repeats == 0) a.repeats = 5;
  ThreadPool pool(a.threads);
  return a.what == "ops"     ? bench_ops(a, pool)
         : a.what == "train" ? bench_train(a, pool)
                             : bench_llm(a, pool);
}

}  // namespace

double median(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

double median_seconds(int repeats, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const Stopwatch watch;
    work();
    times.push_back(watch.seconds());
  }
  return median(std::move(times));
}

bool wanted(const std::vector<std::string>& list, std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return list.empty() || std::any_of(list.begin(), list.end(), [&](const std::string& l) {
           return std::equal(l.begin(), l.end(), name.begin(), name.end(), same);
         });
}

int print_bench(const char* what, Json figures, const BenchModes& modes, Json rows) {
  Json answer = Json::object(), missing = Json::array();
  for (const std::string& m : modes.missing) missing.push(m);
  answer.set("bench", what);
  for (auto& [key, value] : figures.as_object()) answer.set(key, std::move(value));
  answer.set("missing", std::move(missing));
  answer.set("rows", std::move(rows));
  return print(answer.dump() + "\n") ? kOk : kFailed;
}

Result<BenchModes> bench_modes(const BenchArgs& args) {
  BenchModes modes;
  std::vector<std::string> names = args.modes;
  if (names.empty()) names = {"cpu-sc", "cpu-mc", "gpu-mc"};
  for (const std::string& n : names) {
    LOOM_ASSIGN(Mode mode, mode_of(n, 0, ""));
    if (mode.auto_device)
      return Status(Code::invalid_argument, "--modes: auto takes one of the others, name those");
    gpu::Device* device = nullptr;
    if (mode.device == "gpu") {
      if (!modes.gpu.device) {
        auto choice = webgpu::choose_device("gpu");
        if (!choice.ok()) {
          modes.missing.push_back(mode.name + ": " + choice.status().message());
          say("without " + modes.missing.back());
          continue;
        }
        modes.gpu = std::move(*choice);
      }
      device = modes.gpu.device.get();
    }
    const int threads = mode.threads > 0 ? mode.threads : args.threads;
    modes.list.push_back({std::move(mode), std::make_unique<ThreadPool>(threads), device});
  }
  return modes;
}

void add_bench(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "bench", "speed of operations and models here", bind, run);
}

}  // namespace loom::cli
