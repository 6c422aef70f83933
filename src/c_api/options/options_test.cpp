#include "c_api/options/options.h"

#include <gtest/gtest.h>

#include "llm/generate/sampler.h"

namespace loom::c_api {
namespace {

template <class T>
std::string error_of(std::string_view json) {
  T options;
  const Status status = read_options(json.data(), json.size(), options);
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), Code::invalid_argument) << status.message();
  return status.message();
}

template <class T>
T read(std::string_view json) {
  T options;
  const Status status = read_options(json.data(), json.size(), options);
  EXPECT_TRUE(status.ok()) << status.message();
  return options;
}

// The keys of each object, as they are published (they were written by hand before the lists were).
template <class T>
std::string keys() {
  const std::string error = error_of<T>(R"({"?":1})"), before = "known are ";
  const std::size_t at = error.find(before);
  return at == error.npos ? error : error.substr(at + before.size());
}

TEST(Options, KeysAreThePublishedOnes) {
  EXPECT_EQ(keys<SessionCreate>(),
            "max_rows, max_head_rows, max_positions, sequences, ignore_rules, threads, isa, "
            "device, mode, activations");
  EXPECT_EQ(keys<GeneratorCreate>(),
            "context, sequences, chunk, threads, isa, device, mode, activations");
  EXPECT_EQ(keys<GeneratorStart>(),
            "max_tokens, temperature, top_k, top_p, min_p, repetition_penalty, seed, stop, "
            "ignore_eos");
  EXPECT_EQ(keys<TrainerCreate>(), "threads, isa, device, mode");
  EXPECT_EQ(keys<TrainingOpen>(),
            "spec, data, test, target, task, network, dtype, method, series, horizon, teacher, "
            "temperature, alpha, report, fp8, steps, seed, out, resume, events, observe, "
            "observe_every, threads, isa, device, mode");
  EXPECT_EQ(keys<PredictorOpen>(), "threads, isa, device, mode");
  EXPECT_EQ(keys<PlanOptions>(), "bytes, ms, loss, formats, rows, seed");
  EXPECT_EQ(keys<EvaluatorCreate>(),
            "context, chunk, last_row, hash, threads, isa, device, mode, activations");
  EXPECT_EQ(keys<ConvertOptions>(), "dtype, adapter, tokenizer, matmul_nbits, settings, dims, max");
  EXPECT_EQ(keys<OnnxNetwork>(), "dims, max");
  EXPECT_EQ(keys<ExportOptions>(), "opset, as, external_data, decoder, matmul_nbits");
  EXPECT_EQ(keys<DescribeOptions>(), "tensors, model");
  EXPECT_EQ(keys<Verify>(), "threads, isa, device");
  EXPECT_EQ(keys<TokenizerTrain>(), "vocab_size, special_tokens, bos, eos, add_bos");
  EXPECT_EQ(keys<ModelCreate>(),
            "name, architecture, vocab_size, max_positions, bos, eos, sampling, parameters");
}

TEST(Options, DefaultsAreThePublishedOnes) {
  for (const std::string_view nothing :
       {"", "{}", R"({"max_rows":null,"threads":null,"device":null})"}) {
    const auto o = read<SessionCreate>(nothing);
    EXPECT_EQ(o.session.max_rows, 64);
    EXPECT_FALSE(o.max_head_rows);
    EXPECT_EQ(o.session.max_positions, 512);
    EXPECT_EQ(o.session.sequences, 1);
    EXPECT_EQ(o.machine.threads, 0);
    EXPECT_EQ(o.machine.isa + o.machine.device + o.machine.mode, "");
  }
  const auto g = read<GeneratorCreate>("{}").generator;
  EXPECT_EQ(g.context, 0);
  EXPECT_EQ(g.sequences, 1);
  EXPECT_EQ(g.chunk, 0);
  const auto s = read<GeneratorStart>("{}");
  EXPECT_EQ(s.generate.max_tokens, 0);
  EXPECT_EQ(s.generate.sampling.temperature, 0);
  EXPECT_EQ(s.generate.sampling.top_k, 0);
  EXPECT_EQ(s.generate.sampling.top_p, 1);
  EXPECT_EQ(s.generate.sampling.min_p, 0);
  EXPECT_EQ(s.generate.sampling.repetition_penalty, 1);
  EXPECT_EQ(s.seed, 0);
  EXPECT_TRUE(s.generate.stop.empty());
  EXPECT_FALSE(s.generate.ignore_eos);
  const auto t = read<TokenizerTrain>("{}");
  EXPECT_EQ(t.vocab_size, 4096);
  EXPECT_TRUE(t.trainer.special_tokens.empty());
  EXPECT_EQ(t.trainer.bos + t.trainer.eos, "");
  EXPECT_FALSE(t.trainer.add_bos);
  const auto m = read<ModelCreate>(R"({"max_positions":8})");
  EXPECT_EQ(m.name, "(made)");
  EXPECT_FALSE(m.bos.given || m.eos.given || m.sampling.temperature || m.vocab_size);
}

TEST(Options, EveryKeyIsTaken) {
  const auto o = read<SessionCreate>(R"({"max_rows":2,"max_head_rows":3,"max_positions":4,
    "sequences":5,"threads":6,"isa":"a","device":"b","mode":"c"})");
  EXPECT_EQ(o.session.max_rows, 2);
  EXPECT_EQ(o.max_head_rows, 3);
  EXPECT_EQ(o.session.max_positions, 4);
  EXPECT_EQ(o.session.sequences, 5);
  EXPECT_EQ(o.machine.threads, 6);
  EXPECT_EQ(o.machine.isa + o.machine.device + o.machine.mode, "abc");
  const auto g = read<GeneratorCreate>(R"({"context":2,"sequences":3,"chunk":4,"threads":5})");
  EXPECT_EQ(g.generator.context, 2);
  EXPECT_EQ(g.generator.sequences, 3);
  EXPECT_EQ(g.generator.chunk, 4);
  EXPECT_EQ(g.machine.threads, 5);
  const auto s = read<GeneratorStart>(R"({"max_tokens":2,"temperature":0.5,"top_k":3,"top_p":0.25,
    "min_p":0.125,"repetition_penalty":1.5,"seed":-9223372036854775808,"stop":["a","b"],"ignore_eos":true})");
  EXPECT_EQ(s.generate.max_tokens, 2);
  EXPECT_EQ(s.generate.sampling.temperature, 0.5);
  EXPECT_EQ(s.generate.sampling.top_k, 3);
  EXPECT_EQ(s.generate.sampling.top_p, 0.25);
  EXPECT_EQ(s.generate.sampling.min_p, 0.125);
  EXPECT_EQ(s.generate.sampling.repetition_penalty, 1.5);
  EXPECT_EQ(s.seed, INT64_MIN);
  EXPECT_EQ(s.generate.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(s.generate.ignore_eos);
  const auto t = read<TokenizerTrain>(R"({"vocab_size":300,"special_tokens":["<s>"],"bos":"<s>",
    "eos":"e","add_bos":true})");
  EXPECT_EQ(t.vocab_size, 300);
  EXPECT_EQ(t.trainer.special_tokens, std::vector<std::string>{"<s>"});
  EXPECT_EQ(t.trainer.bos + t.trainer.eos, "<s>e");
  EXPECT_TRUE(t.trainer.add_bos);
  const auto m = read<ModelCreate>(R"({"name":"n","architecture":"llama","vocab_size":9,
    "max_positions":8,"bos":null,"eos":[1,2],"sampling":{"temperature":0,"top_k":4},
    "parameters":7})");
  EXPECT_EQ(m.name + m.architecture, "nllama");
  EXPECT_EQ(m.vocab_size, 9);
  EXPECT_EQ(m.parameters, 7);
  EXPECT_TRUE(m.bos.given && m.bos.ids.empty());
  EXPECT_EQ(m.eos.ids, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(m.sampling.temperature, 0.0);
  EXPECT_EQ(m.sampling.top_k, 4);
  EXPECT_FALSE(m.sampling.top_p);
}

TEST(Options, ErrorsSayWhatWouldBeRight) {
  EXPECT_EQ(error_of<SessionCreate>(R"({"treads":2})"),
            "options: unknown key \"treads\": known are max_rows, max_head_rows, max_positions, "
            "sequences, ignore_rules, threads, isa, device, mode, activations; did you mean "
            "\"threads\"?");
  EXPECT_EQ(error_of<SessionCreate>(R"({"max_rows":0})"),
            "options: \"max_rows\" must be at least 1 and below 2^31, got 0");
  EXPECT_EQ(error_of<SessionCreate>(R"({"threads":1025})"),
            "options: \"threads\" must be in 0..1024, got 1025");
  EXPECT_EQ(error_of<SessionCreate>(R"({"max_rows":"many"})"),
            "options: \"max_rows\": expected an integer");
  EXPECT_EQ(error_of<SessionCreate>(R"({"max_rows":1.5})"),
            "options: \"max_rows\": expected an integer");
  EXPECT_EQ(error_of<SessionCreate>("[1]"), "options: expected a JSON object");
  EXPECT_EQ(error_of<TokenizerTrain>(R"({"special_tokens":["a",1]})"),
            "options: \"special_tokens\" must be a list of strings");
  EXPECT_EQ(error_of<TokenizerTrain>(R"({"add_bos":1})"),
            "options: \"add_bos\": expected true or false");
  EXPECT_EQ(error_of<ModelCreate>("{}"),
            "options: \"max_positions\" must be at least 1 and below 2^31, and is missing");
  EXPECT_EQ(error_of<ModelCreate>(R"({"max_positions":8,"sampling":{"top_q":1}})"),
            "options: sampling: unknown key \"top_q\": known are temperature, top_k, top_p, min_p, "
            "repetition_penalty; did you mean \"top_k\"?");
  EXPECT_EQ(error_of<ModelCreate>(R"({"max_positions":8,"sampling":1})"),
            "options: sampling: expected a JSON object");
  EXPECT_EQ(error_of<ModelCreate>(R"({"max_positions":8,"bos":[0,1]})"),
            "options: \"bos\" must be one id, or null");
  EXPECT_EQ(error_of<ModelCreate>(R"({"max_positions":8,"eos":[2147483648]})"),
            "options: \"eos\" must be an id, a list of ids, or null");
  EXPECT_EQ(error_of<GeneratorStart>(R"({"max_tokens":-1})"),
            "options: \"max_tokens\" must be at least 0, got -1");
}

// The list says the sampler's ranges, not ones of its own: both sides of each end.
TEST(Options, RangesAreTheSamplers) {
  struct End {
    const char* key;
    double in, out;
  };
  for (const End& e : {End{"temperature", 0, -1e-9},
                       {"temperature", 1e6, 1e6 + 1},
                       {"top_p", 1e-300, 0},
                       {"top_p", 1, 1.5},
                       {"min_p", 0, -0.5},
                       {"min_p", 1, 1.25},
                       {"repetition_penalty", 1e-3, 1e-4},
                       {"repetition_penalty", 1e3, 1001}}) {
    for (const double value : {e.in, e.out}) {
      const std::string json = std::string("{\"") + e.key + "\":" + format_double(value) + "}";
      EXPECT_EQ(error_of<GeneratorStart>(json).empty(), value == e.in) << json;
      EXPECT_EQ(error_of<ModelCreate>(R"({"max_positions":1,"sampling":)" + json + "}").empty(),
                value == e.in)
          << json;
      SamplerOptions options;
      for (auto& [key, member] : std::initializer_list<std::pair<std::string_view, double*>>{
               {"temperature", &options.temperature},
               {"top_p", &options.top_p},
               {"min_p", &options.min_p},
               {"repetition_penalty", &options.repetition_penalty}})
        if (key == e.key) *member = value;
      EXPECT_EQ(Sampler::create(options).ok(), value == e.in) << json;
    }
  }
}

}  // namespace
}  // namespace loom::c_api
