// Trains the embedded model from nothing: stories of the grammar, a tokenizer made from them, a
// decoder learned first in f32 and then with its weights seen as i4, so that the 4-bit file is what
// was trained. One recipe, no settings: the same bits on every machine.
//
//   train_embedded FOLDER [--threads N] [--stop-after STEP]     goes on from FOLDER/f32.entity or
//   FOLDER/i4.entity where they exist train_embedded FOLDER --judge COUNT share of sampled stories
//   that the grammar's recognizer accepts
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "llm/embedded_model.h"
#include "llm/import/entity_model.h"
#include "stories/stories.h"
#include "text/bpe/bpe_trainer.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace loom {
namespace {

constexpr std::uint64_t kCorpusSeed = 1;
constexpr std::int64_t kStories = 120000, kTokenizerStories = 20000;
constexpr std::int64_t kVocabulary = 1200, kLength = 256;
constexpr std::int64_t kBatch = 18;  // stories per step, about 2,000 tokens
constexpr std::int64_t kSteps = 14000, kSteps4 = 1000;

constexpr const char* kConfig =
    R"({"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","hidden_size":160,"intermediate_size":384,"num_hidden_layers":6,
  "num_attention_heads":5,"num_key_value_heads":5,"head_dim":32,"vocab_size":1200,"max_position_embeddings":512,"rms_norm_eps":1e-5,"rope_theta":10000.0,
  "tie_word_embeddings":true,"bos_token_id":0,"eos_token_id":1})";

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<Tokenizer> make_tokenizer() {
  return train_bpe(
      [](const std::function<Status(std::string_view)>& take) {
        for (std::int64_t i = 0; i < kTokenizerStories; ++i)
          LOOM_TRY(take(stories::generate(kCorpusSeed, static_cast<std::uint64_t>(i))));
        return Status();
      },
      {.vocab_size = kVocabulary,
       .special_tokens = {"<s>", "</s>"},
       .bos = "<s>",
       .eos = "</s>",
       .add_bos = true});
}

Result<std::unique_ptr<TokenData>> make_data(const Tokenizer& tokenizer) {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint64_t> ends;
  for (std::int64_t i = 0; i < kStories; ++i) {
    for (std::int32_t id :
         tokenizer.encode(stories::generate(kCorpusSeed, static_cast<std::uint64_t>(i))))
      ids.push_back(static_cast<std::uint32_t>(id));
    ids.push_back(1);
    ends.push_back(ids.size());
  }
  return TokenData::create(std::move(ids), ends, kLength);
}

Result<Network> make_network(const ModelConfig& config) {
  Json topology = decoder_topology(config);
  // Small residual branches at first, as GPT-2 has them: 1/sqrt(2 layers) of what their input asks
  // for.
  const double out = 0.08 / __builtin_sqrt(2.0 * static_cast<double>(config.layers));
  for (Json& cell : topology.find("cells") ? const_cast<Json*>(topology.find("cells"))->as_array()
                                           : Json::Array{}) {
    if (cell.find("type")->as_string() == "embedding") cell.set("std", 0.05);
    if (cell.find("type")->as_string() != "sequential") continue;
    for (std::size_t branch : {0u, 2u}) {
      Json& layers = const_cast<Json&>(*cell.find("layers"));
      const_cast<Json*>(layers.as_array()[branch].find("layers"))
          ->as_array()[1]
          .set("out_std", out);
    }
  }
  LOOM_ASSIGN(Network network, Network::from_json(topology));
  LOOM_TRY(network.initialize(kCorpusSeed));
  return network;
}

TrainingSpec make_spec(std::int64_t steps, double rate, std::int64_t warmup) {
  TrainingSpec spec;
  spec.loss = Loss::cross_entropy;
  spec.optimizer = {.kind = OptimizerKind::adamw,
                    .beta1 = 0.9,
                    .beta2 = 0.99,
                    .eps = 1e-8,
                    .weight_decay = 0.05,
                    .clip_norm = 1.0};
  spec.schedule = {
      .kind = ScheduleKind::cosine, .lr = rate, .warmup = warmup, .floor = rate * 0.02};
  spec.steps = steps;
  spec.batch = kBatch;
  spec.seed = static_cast<std::int64_t>(kCorpusSeed);
  return spec;
}

Status train(const char* stage, const TrainingSpec& spec, Network& network, const DataSource& data,
             ThreadPool& pool, const std::string& file, std::int64_t stop_after) {
  LOOM_ASSIGN(auto trainer, Trainer::create(spec, network, data, pool));
  if (std::filesystem::exists(file)) LOOM_TRY(resume_checkpoint(file, *trainer));
  const double start = seconds();
  std::int64_t tokens = 0;
  double loss = 0, saved = start;
  const std::int64_t first = trainer->done();
  while (trainer->done() < trainer->steps() && (stop_after == 0 || trainer->done() < stop_after)) {
    LOOM_ASSIGN(const StepReport r, trainer->step());
    tokens += r.rows;
    loss = loss == 0 ? r.loss : 0.98 * loss + 0.02 * r.loss;
    if (r.step % 50 == 0) {
      const double now = seconds();
      std::fprintf(stderr, "%s step %lld of %lld  loss %.4f  %.0f tokens/s  %.0f s left\n", stage,
                   static_cast<long long>(r.step), static_cast<long long>(r.steps), loss,
                   static_cast<double>(tokens) / (now - start),
                   (now - start) / static_cast<double>(r.step - first) *
                       static_cast<double>(r.steps - r.step));
      if (now - saved > 30) {
        LOOM_TRY(save_checkpoint(file, *trainer));
        saved = now;
      }
    }
  }
  std::printf("%s %lld steps: %s\n", stage, static_cast<long long>(trainer->done()),
              trainer->digest().c_str());
  return save_checkpoint(file, *trainer);
}

Status make(const std::string& folder, int threads, std::int64_t stop_after) {
  ThreadPool pool(threads);
  LOOM_ASSIGN(Tokenizer tokenizer, make_tokenizer());
  LOOM_ASSIGN(const auto data, make_data(tokenizer));
  LOOM_ASSIGN(const Json json, Json::parse(kConfig));
  LOOM_ASSIGN(ModelConfig config, config_from_hf(json));
  if (static_cast<std::int64_t>(tokenizer.vocab_size()) != kVocabulary)
    return Status(Code::internal,
                  "the tokenizer has " + std::to_string(tokenizer.vocab_size()) + " tokens");
  LOOM_ASSIGN(Network network, make_network(config));
  std::fprintf(stderr, "%lld parameters, %lld stories\n",
               static_cast<long long>(network.parameter_count()),
               static_cast<long long>(data->samples()));
  LOOM_TRY(train("f32", make_spec(kSteps, 6e-4, 300), network, *data, pool, folder + "/f32.entity",
                 stop_after));
  if (stop_after != 0) return {};
  // The 4-bit phase starts with fresh moments, as a training of its own.
  LOOM_ASSIGN(const WeightFormat i4, parse_weight_format("i4"));
  LOOM_TRY(network.morph(i4));
  LOOM_TRY(
      train("i4", make_spec(kSteps4, 3e-4, 50), network, *data, pool, folder + "/i4.entity", 0));
  Model model{"embedded", config, std::move(network), std::move(tokenizer)};
  Json provenance = Json::object();
  provenance.set("source", "stories of Loom's own grammar, seed " + std::to_string(kCorpusSeed));
  provenance.set("grammar_version", stories::kGrammarVersion);
  provenance.set("recipe", "tools/train_embedded.cpp");
  const std::string out = folder + "/embedded.entity";
  LOOM_TRY(save_model(out, model, provenance));
  LOOM_ASSIGN(const SourcePtr source, open_source(out));
  LOOM_ASSIGN(const auto bytes, read_all(*source));
  std::printf("%s  %zu bytes  sha256 %s\n", out.c_str(), bytes.size(),
              Sha256::hex(Sha256::of(bytes)).c_str());
  return {};
}

Status judge(const std::string& file, std::int64_t count) {
  LOOM_ASSIGN(Model model, load_model(file));
  ThreadPool pool(1);
  LOOM_ASSIGN(Generator generator, Generator::create(model, pool));
  std::set<std::string> known;
  for (std::int64_t i = 0; i < kStories; ++i)
    known.insert(stories::generate(kCorpusSeed, static_cast<std::uint64_t>(i)));
  std::int64_t accepted = 0, fresh = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Generation result;
    LOOM_TRY(tell_story(generator, model, static_cast<std::uint64_t>(i), &result));
    const auto verdict = stories::recognize(result.text);
    accepted += verdict.accepted;
    fresh += verdict.accepted && !known.contains(result.text);
    if (!verdict.accepted)
      std::fprintf(stderr, "seed %lld at %zu: %s\n", static_cast<long long>(i), verdict.offset,
                   verdict.reason.c_str());
  }
  std::printf("%lld of %lld stories accepted, %lld of these not in the training set\n",
              static_cast<long long>(accepted), static_cast<long long>(count),
              static_cast<long long>(fresh));
  return {};
}

}  // namespace
}  // namespace loom

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(
        stderr,
        "usage: train_embedded FOLDER [--threads N] [--stop-after STEP] | FILE --judge COUNT\n");
    return 2;
  }
  int threads = 0;
  std::int64_t stop_after = 0, count = 0;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--threads") == 0) threads = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--stop-after") == 0) stop_after = std::atoll(argv[i + 1]);
    else if (std::strcmp(argv[i], "--judge") == 0) count = std::atoll(argv[i + 1]);
  }
  if (count == 0) std::filesystem::create_directories(argv[1]);
  const loom::Status status =
      count > 0 ? loom::judge(argv[1], count) : loom::make(argv[1], threads, stop_after);
  if (!status.ok()) std::fprintf(stderr, "train_embedded: %s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
