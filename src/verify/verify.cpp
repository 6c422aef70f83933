#include "verify/verify.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/math/exact_math.h"
#include "base/numerics_version.h"
#include "base/random.h"
#include "exec/session.h"
#include "llm/embedded_model.h"
#include "ops/cpu/isa.h"
#include "stories/stories.h"
#include "text/bpe/bpe_trainer.h"
#include "train/learner/learner.h"

namespace loom {
namespace {

class Suite {
 public:
  Suite(ThreadPool& pool, const VerifyOptions& options) : pool_(pool), options_(options) {}

  Result<std::vector<VerifyRow>> run() {
    LOOM_TRY(cpu::select_kernels(options_.isa)
                 .status());  // a wrong name is told before anything is computed
    if (!options_.device) exact_functions();
    LOOM_TRY(formats());
    LOOM_TRY(extremes());
    LOOM_TRY(layers());
    LOOM_TRY(trainings());
    LOOM_TRY(trainings_of_values());
    LOOM_TRY(text());
    LOOM_TRY(embedded());
    return std::move(rows_);
  }

 private:
  void row(std::string name, Sha256& sha) { add({std::move(name), Sha256::hex(sha.finish()), {}}); }
  void add(VerifyRow row) {
    rows_.push_back(std::move(row));
    if (options_.on_row) options_.on_row(rows_.back());
  }
  // A device has no f64: it names what it refuses, and the row says so.
  Status left_out(const std::string& name, const Status& status) {
    if (!options_.device || status.code() != Code::unsupported) return status;
    add({name, {}, status.message()});
    return {};
  }

  // Each function over a sweep of the float and double bit patterns.
  void exact_functions() {
    struct Function {
      const char* name;
      float (*f32)(float);
      double (*f64)(double);
    };
    const Function functions[] = {
        {"exp", exact::exp, exact::exp},      {"log", exact::log, exact::log},
        {"tanh", exact::tanh, exact::tanh},   {"sigmoid", exact::sigmoid, exact::sigmoid},
        {"erf", exact::erf, exact::erf},      {"softplus", exact::softplus, exact::softplus},
        {"sin", exact::sin, exact::sin},      {"cos", exact::cos, exact::cos},
        {"rsqrt", exact::rsqrt, exact::rsqrt}};
    for (const Function& f : functions) {
      Sha256 sha;
      std::vector<float> a;
      std::vector<double> b;
      for (std::uint64_t i = 0; i < 4096; ++i) {
        a.push_back(f.f32(std::bit_cast<float>(static_cast<std::uint32_t>(i * 1048583))));
        b.push_back(f.f64(std::bit_cast<double>(i * 0x0010000A3D70A3D7u)));
      }
      sha.update_f32(a);
      sha.update_f64(b);
      row(std::string("exact ") + f.name, sha);
    }
    Sha256 sha;
    std::vector<float> a;
    for (int i = 0; i < 64; ++i)
      a.push_back(exact::pow(500000.0f, static_cast<float>(2 * i) / 128.0f));
    sha.update_f32(a);
    row("exact pow", sha);
  }

  static std::vector<float> values(std::uint64_t stream, std::size_t n, float scale = 1) {
    const RandomStream random(1, stream);
    std::vector<float> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = scale * (2 * random.uniform(i) - 1);
    return v;
  }

  // Packed bytes, decoded values and products of every format, with sizes that are multiples of
  // nothing.
  Status formats() {
    constexpr std::int64_t kIn = 150, kOut = 37, kRows = 5;
    const std::vector<float> x = values(2, kRows * kIn, 3);
    for (const WeightFormat& format : all_weight_formats()) {
      if (format.layout == Layout::q4_k || format.layout == Layout::q6_k) continue;  // read only
      LOOM_ASSIGN(
          Network n,
          Network::from_json(std::string_view(
              R"({"format":"loom-topology","version":1,"input":{"width":150},"cells":[{"at":[0,0,0,0],"type":"dense","out":37}]})")));
      LOOM_TRY(n.initialize(3));
      LOOM_TRY(n.morph(format));
      WeightStore& w = *n.find("0.0.0.0", "weight");
      LOOM_ASSIGN(const PackedMatrix packed, w.packed());
      std::vector<double> decoded(kIn * kOut);
      LOOM_TRY(w.values(std::span<double>(decoded)));
      Sha256 sha;
      sha.update(packed.bytes());
      sha.update_f64(decoded);
      auto made = Session::create(
          n, pool_, {.max_rows = kRows, .device = options_.device, .isa = options_.isa});
      if (!made.ok()) {
        LOOM_TRY(left_out("format " + to_string(format), made.status()));
        continue;
      }
      Session& s = *made;
      LOOM_TRY(s.run(x, kRows).status());
      for (std::int64_t r = 0; r < kRows; ++r) sha.update_f32(s.output(r));
      row("format " + to_string(format), sha);
    }
    return {};
  }

  // What instructions store: small values become 0, NaN the canonical one, infinities stay.
  Status extremes() {
    LOOM_ASSIGN(Network n, Network::from_json(std::string_view(chain(
                               R"({"width":64})", {R"("type":"dense","out":48,"activation":"silu")",
                                                   R"("type":"layer_norm")",
                                                   R"("type":"dense","out":32,"dtype":"i8")"}))));
    LOOM_TRY(n.initialize(3));
    std::vector<float> x = values(5, 8 * 64);
    for (std::size_t r = 0; r < 8; ++r)
      for (std::size_t c = 0; c < 64; ++c)
        x[r * 64 + c] *= std::bit_cast<float>(static_cast<std::uint32_t>(127 - 15 * r) << 23);
    x[6 * 64 + 9] = std::bit_cast<float>(0x7F800000u);
    x[7 * 64 + 3] = std::bit_cast<float>(0xFFC01234u);
    LOOM_ASSIGN(
        Session s,
        Session::create(n, pool_, {.max_rows = 8, .device = options_.device, .isa = options_.isa}));
    LOOM_TRY(s.run(x, 8).status());
    Sha256 sha;
    for (std::int64_t r = 0; r < 8; ++r) sha.update_f32(s.output(r));
    row("extremes", sha);
    return {};
  }

  static std::string chain(std::string_view input, std::initializer_list<std::string_view> cells) {
    std::string t = R"({"format":"loom-topology","version":1,"layers_per_cell":)" +
                    std::to_string(cells.size()) + R"(,"input":)" + std::string(input) +
                    R"(,"cells":[)";
    int l = 0;
    for (std::string_view c : cells) {
      t += (l > 0 ? "," : "") + std::string(R"({"at":[0,0,0,)") + std::to_string(l) + "]," +
           std::string(c) + "}";
      ++l;
    }
    return t + "]}";
  }

  // Forward and backward of a network, in f32 and f64: losses, all gradients.
  Status gradients(const std::string& name, const std::string& topology, std::int64_t sequences,
                   std::int64_t length) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      LOOM_ASSIGN(Network n, Network::from_json(std::string_view(topology)));
      LOOM_TRY(n.initialize(7));
      if (dtype == DType::f64) LOOM_TRY(n.morph({.dtype = DType::f64}));
      Sha256 sha;
      const std::string title = "gradients " + name + " " + std::string(loom::name(dtype));
      auto made = Learner::create(n, pool_,
                                  {.loss = Loss::cross_entropy,
                                   .max_rows = sequences * length,
                                   .max_positions = length,
                                   .update = false,
                                   .device = options_.device,
                                   .isa = options_.isa});
      if (!made.ok()) {
        LOOM_TRY(left_out(title, made.status()));
        continue;
      }
      Learner& learner = *made;
      LOOM_TRY(batch(learner, n, sequences, length, 0));
      LOOM_TRY(learner.accumulate());
      const double loss = learner.loss_sum();
      sha.update_f64({&loss, 1});
      for (const auto& g : learner.gradients())
        for (std::int64_t r = 0; r < g.rows; ++r) {
          if (g.type == ValueType::f64)
            sha.update_f64(learner.executor().row<double>(g.value.buffer, r));
          else sha.update_f32(learner.executor().row<float>(g.value.buffer, r));
        }
      row(title, sha);
    }
    return {};
  }

  static Status batch(Learner& learner, const Network& n, std::int64_t sequences,
                      std::int64_t length, std::uint64_t step) {
    const auto rows = static_cast<std::size_t>(sequences * length);
    const RandomStream random(11, step);
    std::vector<std::int32_t> target(rows);
    for (std::size_t r = 0; r < rows; ++r)
      target[r] = static_cast<std::int32_t>(
          random.below(3 * r, static_cast<std::uint32_t>(n.output().width)));
    if (n.input().ids == 0)
      return learner.batch(std::span<const float>(values(
                               100 + step, rows * static_cast<std::size_t>(n.input().width))),
                           std::span<const std::int32_t>(target));
    std::vector<std::uint32_t> ids(rows), positions(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      ids[r] = random.below(3 * r + 1, static_cast<std::uint32_t>(n.input().ids));
      positions[r] = static_cast<std::uint32_t>(r) % static_cast<std::uint32_t>(length);
    }
    return learner.batch(std::span<const std::uint32_t>(ids), positions, target);
  }

  static constexpr std::string_view kDecoder[4] = {
      R"("type":"embedding","out":24,"std":0.5)",
      R"("type":"sequential","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":3,"kv_heads":1,"window":70,"qk_norm":true,"qkv_bias":true}]},{"type":"residual"},
         {"type":"sequential","layers":[{"type":"layer_norm"},{"type":"swiglu","hidden":40}]},{"type":"residual"}])",
      R"("type":"rms_norm")", R"("type":"dense","out":50,"bias":false,"tie":"0.0.0.0:weight")"};

  static std::string decoder() {
    return chain(R"({"ids":50})",
                 {kDecoder[0], kDecoder[1], kDecoder[1], kDecoder[2], kDecoder[3]});
  }

  Status layers() {
    for (int a = 0; a < kActivationCount; ++a) {
      const std::string cell = R"("type":"dense","out":33,"activation":")" +
                               std::string(name(static_cast<Activation>(a))) + "\"";
      LOOM_TRY(gradients("dense " + std::string(name(static_cast<Activation>(a))),
                         chain(R"({"width":20})", {cell, R"("type":"dense","out":10)"}), 9, 1));
    }
    LOOM_TRY(gradients("decoder", decoder(), 2, 90));
    LOOM_TRY(gradients(
        "rope llama3",
        chain(
            R"({"ids":9})",
            {kDecoder[0],
             R"("type":"attention","heads":2,"rope_scaling":"llama3","rope_factor":8,"rope_original_positions":32)",
             R"("type":"dense","out":9)"}),
        1, 80));
    LOOM_TRY(gradients(
        "links",
        chain(R"({"width":6})",
              {R"("type":"dense","out":6,"activation":"tanh","links":[{"send":[0,0,0,3]}])",
               R"("type":"dense","out":6,"links":[{"read":[0,0,0,0]}])",
               R"("links":[{"run":[0,0,0,0]}])", R"("type":"dense","out":7)"}),
        5, 1));
    LOOM_TRY(image_and_sequence_layers());
    LOOM_TRY(softmaxes());
    return graphs();
  }

  Status image_and_sequence_layers() {
    LOOM_TRY(gradients(
        "convolutions",
        chain(
            R"({"dims":[2,7,6]})",
            {R"("type":"conv2d","filters":6,"kernel":[3,2],"stride":[2,1],"padding":[1,0,0,1],"activation":"silu")",
             R"("type":"conv2d","filters":4,"groups":2,"padding":1)",
             R"("type":"conv_transpose2d","filters":3,"stride":2,"output_padding":1)",
             R"("type":"max_pool2d","kernel":3,"stride":2,"padding":1)",
             R"("type":"avg_pool2d","kernel":2,"stride":1,"padding":1,"count_include_pad":false)",
             R"("type":"dense","out":7)"}),
        5, 1));
    LOOM_TRY(gradients(
        "recurrent",
        chain(R"({"dims":[5,6]})",
              {R"("type":"lstm","hidden":5,"bidirectional":true)",
               R"("type":"gru","hidden":7,"num_layers":2)",
               R"("type":"gru","hidden":4,"linear_before_reset":false)",
               R"("type":"rnn","hidden":6,"output":"last")", R"("type":"dense","out":7)"}),
        5, 1));
    LOOM_TRY(gradients(
        "channel norms",
        chain(R"({"dims":[4,6]})",
              {R"("type":"batch_norm")", R"("type":"conv1d","filters":6,"padding":1)",
               R"("type":"instance_norm","affine":true)", R"("type":"group_norm","groups":3)",
               R"("type":"dropout","rate":0.25)", R"("type":"dense","out":7)"}),
        5, 1));
    return {};
  }

  Status softmaxes() {
    std::vector<std::string> kinds;
    for (const char* settings :
         {R"("kind":"standard")", R"("kind":"temperature","temperature":0.7)",
          R"("kind":"sparsemax")", R"("kind":"entmax","alpha":1.5)",
          R"("kind":"entmax","alpha":1.3)", R"("kind":"gumbel")"})
      kinds.push_back(R"("type":"sequential","layers":[{"type":"softmax",)" +
                      std::string(settings) + R"(},{"type":"dense","out":12}])");
    LOOM_TRY(gradients(
        "softmaxes",
        chain(R"({"width":12})",
              {R"("type":"dense","out":12)", kinds[0], kinds[1], kinds[2], kinds[3], kinds[4],
               kinds[5], R"("type":"kmeans","clusters":5)", R"("type":"log_softmax")"}),
        5, 1));
    return {};
  }

  Status graphs() {
    LOOM_TRY(gradients(
        "whole graphs",
        chain(R"({"width":20})",
              {R"("type":"dense","out":24,"activation":"tanh")",
               R"("type":"binary","op":"sub","shapes":[[2,3,4]],"constant":[3,1])",
               R"("type":"permute","dims":[2,3,4],"order":[2,0,1])",
               R"("type":"index_select","runs":[23,-1,24,-1,0,3,0,2,3],"fill":0.25)",
               R"("type":"unary","op":"softsign")",
               R"("type":"batched_matmul","shapes":[[3,5],[5,3]])",
               R"("type":"time_distributed","count":3,"layers":[{"type":"dense","out":5}])",
               R"("type":"select","shapes":[[3],[2,3],[2,3]])",
               R"("type":"reduce","op":"log_sum_exp","dims":[2,3],"axes":[0])",
               R"("type":"dense","out":7)"}),
        5, 1));
    LOOM_TRY(gradients(
        "routing",
        chain(
            R"({"width":12})",
            {R"("type":"dense","out":24,"activation":"tanh")",
             R"("type":"parallel","combine":"gated","top_k":2,"stitch":true,"layers":[{"type":"dense","out":20},
        {"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":9}]},{"links":[{"run":[0,0,0,2]}]},{"type":"dense","out":31,"activation":"silu"},{"type":"parallel","combine":"gated","top_k":1,
        "layers":[{"type":"dense","out":20},{"type":"dense","out":20}]}])",
             R"("type":"dense","out":24,"links":[{"read":[0,0,0,0]}])",
             R"("type":"dense","out":7,"links":[{"read":[0,0,0,1]},{"read":[0,0,0,2]}])"}),
        40, 1));
    return {};
  }

  // 100 steps of three small networks with each optimizer: the final weights.
  Status trainings() {
    struct Case {
      const char* name;
      std::string topology;
      std::int64_t sequences, length;
    };
    const Case cases[] = {
        {"mlp",
         chain(R"({"width":12})", {R"("type":"dense","out":40,"activation":"gelu_erf")",
                                   R"("type":"layer_norm")", R"("type":"dense","out":7)"}),
         16, 1},
        {"mlp i8",
         chain(R"({"width":12})", {R"("type":"dense","out":40,"activation":"silu","dtype":"i8")",
                                   R"("type":"dense","out":7,"dtype":"i8")"}),
         16, 1},
        {"decoder", decoder(), 3, 20}};
    for (const Case& c : cases) {
      for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adamw}) {
        LOOM_ASSIGN(Network n, Network::from_json(std::string_view(c.topology)));
        LOOM_TRY(n.initialize(5));
        LearnerOptions options{.loss = Loss::cross_entropy,
                               .max_rows = c.sequences * c.length,
                               .max_positions = c.length,
                               .micro_batches = 2,
                               .device = options_.device,
                               .isa = options_.isa};
        options.optimizer = {.kind = kind, .momentum = 0.9, .weight_decay = 0.01, .clip_norm = 1};
        LOOM_ASSIGN(Learner learner, Learner::create(n, pool_, options));
        double loss = 0;
        for (std::int64_t step = 1; step <= 100; ++step) {
          for (std::int64_t micro = 0; micro < 2; ++micro) {
            LOOM_TRY(batch(learner, n, c.sequences, c.length,
                           static_cast<std::uint64_t>(step % 4 * 2 + micro)));
            LOOM_TRY(learner.accumulate(micro));
            loss = learner.loss_sum();
          }
          LOOM_TRY(learner.update(kind == OptimizerKind::sgd ? 0.05 : 0.003,
                                  static_cast<double>(2 * c.sequences * c.length), step));
        }
        LOOM_TRY(learner.sync());
        Sha256 sha;
        sha.update_f64({&loss, 1});
        for (const auto& p : n.params())
          if (!p.tied) sha.update_f32(p.param->store->master());
        row(std::string("train ") + c.name + (kind == OptimizerKind::sgd ? " sgd" : " adamw"), sha);
      }
    }
    return {};
  }

  // The other optimizers, on the losses of values, behind standardized inputs with holes.
  Status trainings_of_values() {
    struct Case {
      const char* name;
      Loss loss;
      OptimizerSpec optimizer;
      double rate;
    };
    const Case cases[] = {
        {"nesterov mae",
         Loss::mae,
         {.kind = OptimizerKind::sgd, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01},
         0.01},
        {"rmsprop huber",
         Loss::huber,
         {.kind = OptimizerKind::rmsprop, .momentum = 0.5, .centered = true},
         0.001},
        {"lion bce",
         Loss::bce,
         {.kind = OptimizerKind::lion, .beta2 = 0.99, .weight_decay = 0.1},
         0.001}};
    constexpr std::size_t kRows = 16, kWidth = 12, kTargets = 5;
    for (const Case& c : cases) {
      LOOM_ASSIGN(Network n,
                  Network::from_json(std::string_view(
                      chain(R"({"width":12})", {R"("type":"standardize","missing":true)",
                                                R"("type":"dense","out":40,"activation":"silu")",
                                                R"("type":"dense","out":5)"}))));
      LOOM_TRY(n.initialize(6));
      WeightStore* scale = n.find("0.0.0.0", "scale");
      for (float& s : scale->mutable_master()) s = 1.75f;
      scale->touch();
      LearnerOptions options{.loss = c.loss,
                             .delta = 0.25,
                             .optimizer = c.optimizer,
                             .max_rows = kRows,
                             .device = options_.device,
                             .isa = options_.isa};
      LOOM_ASSIGN(Learner learner, Learner::create(n, pool_, options));
      double loss = 0;
      for (std::int64_t step = 1; step <= 100; ++step) {
        std::vector<float> x = values(300 + static_cast<std::uint64_t>(step % 4), kRows * kWidth),
                           y = values(400 + static_cast<std::uint64_t>(step % 4), kRows * kTargets);
        for (std::size_t i = 7; i < x.size(); i += 31) x[i] = __builtin_nanf("");
        for (float& t : y) t = t > 0 ? 1.0f : 0.0f;
        LOOM_TRY(learner.batch(std::span<const float>(x), std::span<const float>(y)));
        LOOM_TRY(learner.accumulate());
        loss = learner.loss_sum();
        LOOM_TRY(learner.update(c.rate, static_cast<double>(kRows), step));
      }
      LOOM_TRY(learner.sync());
      Sha256 sha;
      sha.update_f64({&loss, 1});
      for (const auto& p : n.params()) sha.update_f32(p.param->store->master());
      row(std::string("train mlp ") + c.name, sha);
    }
    return {};
  }

  // Stories, a tokenizer made from them, and decoding.
  Status text() {
    if (!options_.device) LOOM_TRY(host_text());
    return decoding();
  }
  Status host_text() {
    Sha256 stories;
    for (std::uint64_t i = 0; i < 50; ++i) stories.update_text(stories::generate(1, i));
    row("stories", stories);
    LOOM_ASSIGN(const Tokenizer tokenizer,
                train_bpe(
                    [](const std::function<Status(std::string_view)>& take) {
                      for (std::uint64_t i = 0; i < 200; ++i)
                        LOOM_TRY(take(stories::generate(1, i)));
                      return Status();
                    },
                    {.vocab_size = 500, .special_tokens = {"<s>"}, .bos = "<s>", .add_bos = true}));
    Sha256 bpe;
    bpe.update_text(tokenizer.serialize());
    row("tokenizer", bpe);
    return {};
  }

  Status decoding() {
    // A decoder with a cache: prefill in chunks, then decoding, in a format of each arithmetic
    // class.
    for (const char* format : {"f32", "bf16", "i8", "i4", "ternary", "q8_0", "i4:block16", "f64"}) {
      LOOM_ASSIGN(Network n, Network::from_json(std::string_view(decoder())));
      LOOM_TRY(n.initialize(13));
      LOOM_ASSIGN(const WeightFormat f, parse_weight_format(format));
      LOOM_TRY(n.morph(f));
      auto made = Session::create(
          n, pool_,
          {.max_rows = 16, .max_positions = 128, .device = options_.device, .isa = options_.isa});
      if (!made.ok()) {
        LOOM_TRY(left_out(std::string("decode ") + format, made.status()));
        continue;
      }
      Session& s = *made;
      Sha256 sha;
      std::vector<std::uint32_t> ids, sequences, positions;
      std::uint32_t next = 1, at = 0;
      for (int run = 0; run < 30; ++run) {
        const std::uint32_t rows = run < 8 ? 1u + static_cast<std::uint32_t>(run) * 2
                                           : 1;  // chunks of 1, 3, 5, ... then one by one
        ids.clear();
        positions.clear();
        for (std::uint32_t r = 0; r < rows; ++r) {
          ids.push_back(run < 8 ? (at * 7 + 3) % 50 : next);
          positions.push_back(at++);
        }
        sequences.assign(rows, 0);
        LOOM_TRY(s.run_tokens(ids, sequences, positions, {}));
        for (std::uint32_t r = 0; r < rows; ++r) sha.update_f32(s.output(r));
        next = static_cast<std::uint32_t>(best_token(s.output(rows - 1)));
      }
      row(std::string("decode ") + format, sha);
    }
    return {};
  }

  // A story of the embedded model, its tokens and the logits after it. The row changes with the
  // model too.
  Status embedded() {
    LOOM_ASSIGN(Model model, load_model(std::string(kEmbeddedModel)));
    LOOM_ASSIGN(Generator generator,
                Generator::create(model, pool_, {.isa = options_.isa, .device = options_.device}));
    Generation story;
    LOOM_TRY(tell_story(generator, model, 1, &story));
    Sha256 sha;
    sha.update_text(story.text);
    for (const std::int32_t id : story.ids) sha.update_u64(static_cast<std::uint64_t>(id));
    sha.update_f32(generator.logits());
    row("embedded model", sha);
    return {};
  }

  ThreadPool& pool_;
  const VerifyOptions& options_;
  std::vector<VerifyRow> rows_;
};

}  // namespace

Result<std::vector<VerifyRow>> run_verify(ThreadPool& pool, const VerifyOptions& options) {
  return Suite(pool, options).run();
}

std::string fingerprint(std::span<const VerifyRow> rows) {
  Sha256 sha;
  sha.update_u64(LOOM_NUMERICS_VERSION);
  for (const VerifyRow& r : rows) {
    sha.update_text(r.name);
    sha.update_text(r.hash);
  }
  return Sha256::hex(sha.finish());
}

std::string_view golden_fingerprint() { return LOOM_GOLDEN_FINGERPRINT; }

std::string compare_tables(std::span<const VerifyRow> rows, std::string_view expected) {
  for (const VerifyRow& r : rows) {
    if (r.hash.empty()) continue;
    // A line is "name hash"; names have spaces, hashes have none.
    std::string_view rest = expected;
    std::string_view found;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest = line.size() == rest.size() ? std::string_view() : rest.substr(line.size() + 1);
      const std::size_t space = line.rfind(' ');
      if (space != std::string_view::npos && line.substr(0, space) == r.name)
        found = line.substr(space + 1);
    }
    if (found.empty()) return "row '" + r.name + "' is not in the table";
    if (found != r.hash)
      return "row '" + r.name + "': " + r.hash + " here, " + std::string(found) + " in the table";
  }
  return {};
}

}  // namespace loom
