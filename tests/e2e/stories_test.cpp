// A real model through the program: its text and logits against those of llama2.c, the same under
// all settings that must not matter.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/files/bytes.h"
#include "base/files/source.h"
#include "base/json/json.h"
#include "e2e/process.h"
#include "formats/npy/npy.h"
#include "formats/safetensors/safetensors.h"
#include "llm/model.h"
#include "numeric/codec.h"
#include "ops/cpu/isa.h"
#include "support/data.h"

namespace loom::test {
namespace {

const std::vector<std::string> kGolden{"", "--greedy", "--tokens", "256"};

std::vector<std::string> run_args(const std::string& model, std::vector<std::string> more = {}) {
  std::vector<std::string> args{"run", model};
  args.insert(args.end(), kGolden.begin(), kGolden.end());
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

std::string last_word(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  return text.substr(text.find_last_of(" \n", end) + 1, end - text.find_last_of(" \n", end));
}

TEST(Stories, GoldenTextFromEveryFileAndSetting) {
  LOOM_TEST_FILE(text, "tales/golden_greedy_256.txt");
  const std::string golden = file_bytes(text), folder = data_path("tales/hf"),
                    gguf = data_path("tales/tales.gguf");
  for (const auto& args :
       {run_args(folder), run_args(folder + "/model.safetensors"), run_args(gguf),
        run_args(folder, {"--temperature=0"}), run_args(folder, {"--isa", "generic"})}) {
    auto call = args;
    if (call.back() == "--temperature=0") std::erase(call, "--greedy");
    SCOPED_TRACE(call[1] + " " + call.back());
    const Outcome o = loom(call);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out, golden);
    EXPECT_NE(o.err.find("numerics: portable"), std::string::npos) << o.err;
  }
}

TEST(Stories, ThreadsDoNotMatter) {
  LOOM_TEST_FILE(folder, "tales/hf");
  auto logits = [&](const char* threads) {
    return last_word(
        loom({"logits", folder, "--text", "Lily and Tom went to the park", "--threads", threads})
            .out);
  };
  const std::string one = logits("1");
  EXPECT_EQ(one.size(), 64u);
  for (const char* threads : {"2", "3", "7"}) EXPECT_EQ(logits(threads), one) << threads;
}

TEST(Stories, PromptFromStdinAndByIdsIsThePrompt) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const std::vector<std::string> end{"--greedy", "--tokens", "20"};
  auto with = [&](std::vector<std::string> args) {
    args.insert(args.end(), end.begin(), end.end());
    return args;
  };
  const Outcome argument = loom(with({"run", folder, "In a little"})),
                piped = loom(with({"run", folder}), "In a little\n"),
                ids = loom(with({"run", folder, "--ids", "1,413,301,317,482"}));
  EXPECT_EQ(argument.code, 0) << argument.err;
  EXPECT_EQ(argument.out.substr(0, 12), " house near ");
  EXPECT_EQ(argument.out, piped.out);
  EXPECT_EQ(argument.out, ids.out);
}

TEST(Stories, SamplingIsAFunctionOfTheSeed) {
  LOOM_TEST_FILE(folder, "tales/hf");
  auto sample = [&](const std::string& seed, const std::string& threads) {
    return loom({"run", folder, "", "--temperature", "1", "--top-p", "0.9", "--tokens", "60",
                 "--seed", seed, "--threads", threads})
        .out;
  };
  const std::string one = sample("1", "1");
  EXPECT_EQ(one, sample("1", "2"));
  EXPECT_NE(one, sample("2", "1"));
}

TEST(Stories, StopStringsEndTheTextBeforeThem) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const Outcome o = loom(
      {"run", folder, "", "--greedy", "--tokens", "256", "--stop", "named", "--stop", "zebra"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "In a little house near the pond lived a girl \n");
}

TEST(Stories, JsonHoldsTheAnswer) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const Outcome o = loom({"run", folder, "", "--greedy", "--tokens", "5", "--json"});
  const auto json = Json::parse(o.out);
  ASSERT_TRUE(json.ok()) << o.out;
  EXPECT_EQ(json->find("ids")->dump(), "[413,301,317,482,331]");
  EXPECT_EQ(json->find("text")->as_string(), "In a little h");
  EXPECT_EQ(json->find("finish")->as_string(), "length");
}

TEST(Stories, LogitsAreThoseOfTransformers) {
  LOOM_TEST_FILE(golden, "tales/golden_logits_pos0_63.f32");
  LOOM_TEST_FILE(tokens, "tales/golden_tokens_256.txt");
  std::string ids;
  std::istringstream lines(file_bytes(tokens));
  std::string line;
  std::vector<std::string> next;
  for (int i = 0; i < 64 && std::getline(lines, line); ++i) {
    std::istringstream words(line);
    std::string position, in, out;
    words >> position >> in >> out;
    ids += (i ? "," : "") + in;
    next.push_back(out);
  }
  const Folder folder;
  const Outcome o = loom(
      {"logits", data_path("tales/hf"), "--ids", ids, "--out", folder / "logits.npy", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto json = Json::parse(o.out);
  ASSERT_TRUE(json.ok()) << o.out;
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(json->find("argmax")->as_array()[i].dump(), next[i]) << i;
  auto source = open_source(folder / "logits.npy");
  ASSERT_TRUE(source.ok());
  const auto array = open_npy(*source);
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->shape, (std::vector<std::int64_t>{64, 512}));
  std::vector<float> values(64 * 512);
  ASSERT_TRUE(read_f32(*array, 0, values).ok());
  const std::string expected = file_bytes(golden);
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    worst = std::max(
        worst,
        std::fabs(static_cast<double>(values[i]) -
                  load_le<float>(reinterpret_cast<const std::byte*>(expected.data()) + 4 * i)));
  EXPECT_LT(worst, 1e-4);
}

TEST(Isa, EveryInstructionSetGivesTheSameHash) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const auto isas = cpu::available_isas();
  if (isas.size() < 2) GTEST_SKIP() << "this machine has one instruction set: " << isas[0];
  std::string first;
  for (const std::string_view isa : isas) {
    const Outcome o = loom(
        {"logits", folder, "--text", "Lily and Tom went to the park", "--isa", std::string(isa)});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find(std::string("  ") + std::string(isa) + "\n"), std::string::npos) << o.err;
    if (first.empty()) first = last_word(o.out);
    EXPECT_EQ(last_word(o.out), first) << isa;
    EXPECT_EQ(first.size(), 64u) << o.out;
  }
}

TEST(Stories, UnknownInstructionSetsAndTypesAreRefused) {
  LOOM_EXPECT_REFUSED(loom({"logits", "nothing", "--ids", "1", "--isa", "avx1024"}), 2, "generic");
  LOOM_EXPECT_REFUSED(loom({"run", "nothing", "", "--dtype", "f33"}), 2, "f33");
}

TEST(Stories, EvalMeasuresTheGoldenText) {
  LOOM_TEST_FILE(text, "tales/golden_greedy_256.txt");
  const Outcome o =
      loom({"eval", data_path("tales/hf"), "--text", text, "--against", "f32", "--json"});
  const auto json = Json::parse(o.out);
  ASSERT_TRUE(json.ok()) << o.out << o.err;
  EXPECT_LT(json->find("perplexity")->as_number(), 2.0);  // its own greedy text
  EXPECT_EQ(json->find("kl")->as_number(), 0.0);
  EXPECT_EQ(json->find("same_argmax")->as_number(), 1.0);
}

TEST(Interrupt, StopsTheAnswerAndThenTheProgram) {
  LOOM_TEST_FILE(folder, "tales/hf");
  // One of 511 tokens: there is time.
  Call call{
      {"run", folder, "", "--greedy", "--tokens", "511", "--isa", "generic", "--threads", "1"},
      "",
      {},
      1};
  const Outcome once = loom(call);
  EXPECT_EQ(once.code, 130);
  EXPECT_NE(once.err.find("ended by cancelled"), std::string::npos) << once.err;
  EXPECT_EQ(once.out.back(), '\n');
}

TEST(Chat, AnswersAndTakesCommands) {
  LOOM_TEST_FILE(hf, "tales/hf");
  LOOM_EXPECT_REFUSED(loom({"chat", hf}, "hello\n"), 3, "chat template");
  const Folder folder;
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"})
    folder.write(name, file_bytes(hf + "/" + name));
  folder.write(
      "tokenizer_config.json",
      R"({"bos_token":"<s>","eos_token":"</s>","chat_template":"{% for m in messages %}[INST] <<SYS>>{{ m['content'] }}<</SYS>> [/INST]{% endfor %}"})");
  const std::vector<std::string> args{"chat", folder / "", "--greedy", "--tokens",
                                      "8",    "--system",  "Be kind."};
  const Outcome one = loom(args, "Hello\n/history\n/nonsense\n");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.err.find("system: Be kind.\nuser: Hello\nassistant: "), std::string::npos)
      << one.err;
  EXPECT_NE(one.err.find("there is no command /nonsense"), std::string::npos) << one.err;
  EXPECT_FALSE(one.out.empty());
  LOOM_EXPECT_REFUSED(loom({"chat", folder / "", "--variables", "[1]"}, "Hello\n"), 2,
                      "--variables");
  LOOM_EXPECT_REFUSED(loom({"chat", "--variables", "{}"}, "Hello\n"), 2, "--variables");
  const Outcome unread =
      loom({"chat", folder / "", "--variables", R"({"enable_thinking": false})"}, "Hello\n");
  EXPECT_NE(unread.err.find("does not read 'enable_thinking'"), std::string::npos) << unread.err;
  // Taking a question back leaves no trace of it: the cache goes back too.
  const Outcome undone = loom(args, "What?\n/undo\nHello\n/quit\nnever read\n");
  EXPECT_EQ(undone.code, 0) << undone.err;
  EXPECT_EQ(undone.out.substr(undone.out.size() - one.out.size()), one.out);
}

TEST(Stories, ConvertedWeightsRunAndErrorsAreTold) {
  LOOM_TEST_FILE(folder, "tales/hf");
  LOOM_TEST_FILE(config, "tales/hf/config.json");
  LOOM_TEST_FILE(tokenizer, "tales/hf/tokenizer.json");
  const Folder copy;
  copy.write("config.json", file_bytes(config));
  copy.write("tokenizer.json", file_bytes(tokenizer));
  const Outcome same = loom({"convert", folder, copy / "model.safetensors"});
  EXPECT_EQ(same.code, 0) << same.err;
  const auto logits = [&](const std::string& model) {
    return last_word(loom({"logits", model, "--ids", "1,403,407"}).out);
  };
  EXPECT_EQ(logits(copy / ""), logits(folder));
  const Outcome smaller =
      loom({"convert", folder, copy / "model.safetensors", "--dtype", "bf16", "--json"});
  ASSERT_EQ(smaller.code, 0) << smaller.err;
  const auto rows = Json::parse(smaller.out);
  ASSERT_TRUE(rows.ok()) << smaller.out;
  for (const Json& row : rows->as_array()) {
    EXPECT_EQ(row.find("bytes_after")->as_integer() * 2, row.find("bytes_before")->as_integer());
    EXPECT_LT(row.find("rms_error")->as_number(), 1.0 / 256);  // half a unit in the last of 8 bits
    EXPECT_GT(row.find("rms_error")->as_number(), 0.0);
  }
  EXPECT_NE(logits(copy / ""), logits(folder));
}

TEST(Stories, AnEntityGoesThroughJson) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const Folder made;
  ASSERT_EQ(loom({"convert", folder, made / "a.entity"}).code, 0);
  const Outcome there = loom({"convert", made / "a.entity", made / "b.json"});
  ASSERT_EQ(there.code, 0) << there.err;
  const Outcome back = loom({"convert", made / "b.json", made / "c.entity"});
  ASSERT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(file_bytes(made / "c.entity"), file_bytes(made / "a.entity"));
  LOOM_EXPECT_REFUSED(loom({"convert", folder, made / "d.json"}), 3, "write .entity first");
}

TEST(Stories, AnEntityIsTheModel) {
  LOOM_TEST_FILE(model, "tales/tales.gguf");
  LOOM_TEST_FILE(text, "tales/golden_greedy_256.txt");
  const Folder folder;
  const std::string path = folder / "stories.entity";
  ASSERT_EQ(loom({"convert", model, path}).code, 0);
  EXPECT_EQ(loom(run_args(path)).out, file_bytes(text));
  EXPECT_EQ(loom({"tokenize", path}, "In a little h").out, "[1,413,301,317,482,331]\n");
  const Outcome result = loom({"show", path});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("0.0.0.0:weight  f32  [512, 64]"), std::string::npos) << result.out;
  // The same model, the same bytes.
  ASSERT_EQ(loom({"convert", path, folder / "again.entity"}).code, 0);
  EXPECT_EQ(loom({"logits", folder / "again.entity", "--ids", "1,403"}).out,
            loom({"logits", model, "--ids", "1,403"}).out);
  // Smaller types are smaller, and say what they lose.
  const Outcome small =
      loom({"convert", model, folder / "small.entity", "--dtype", "i4", "--json"});
  ASSERT_EQ(small.code, 0) << small.err;
  const auto rows = Json::parse(small.out);
  ASSERT_TRUE(rows.ok());
  const Json& table = rows->as_array()[0];
  EXPECT_EQ(table.find("to")->as_string(), "i4");
  EXPECT_LT(table.find("bytes_after")->as_integer() * 6, table.find("bytes_before")->as_integer());
  EXPECT_GT(table.find("rms_error")->as_number(), 0.01);
  EXPECT_LT(table.find("rms_error")->as_number(), 0.15);
}

// From a packed network back to tensors: the values that run, each rounded once, by the names of
// the parameters.
TEST(Program, ConvertsEntityToSafetensors) {
  const Folder folder;
  const std::string entity = folder / "embedded.entity";
  ASSERT_EQ(loom({"convert", "embedded", entity, "--dtype", "i4"}).code, 0);
  auto model = load_model(entity);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  for (const char* dtype : {"", "f32", "bf16", "f16"}) {
    const std::string path = folder / (std::string(dtype) + "out.safetensors");
    std::vector<std::string> args = {"convert", entity, path};
    if (*dtype) args.insert(args.end(), {"--dtype", dtype});
    const Outcome o = loom(args);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("left out, since safetensors holds tensors alone: "), std::string::npos)
        << o.err;
    const auto file = Safetensors::open(*open_source(path));
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    std::size_t held = 0;
    for (const auto& p : model->network.params()) {
      if (p.borrowed()) continue;
      ++held;
      const TensorInfo* t = file->find(p.path + ":" + p.param->spec.role);
      ASSERT_TRUE(t) << p.path;
      std::vector<double> values(static_cast<std::size_t>(p.param->spec.rows * p.param->spec.cols));
      std::vector<float> want, got(values.size());
      ASSERT_TRUE(p.param->store->values(std::span<double>(values)).ok() &&
                  read_f32(*t, 0, got).ok());
      for (const double x : values)
        want.push_back(dtype == std::string_view("bf16")
                           ? bf16_to_f32(static_cast<std::uint16_t>(encode_small_float(x, kBf16)))
                       : dtype == std::string_view("f16")
                           ? f16_to_f32(static_cast<std::uint16_t>(encode_small_float(x, kF16)))
                           : static_cast<float>(x));
      EXPECT_EQ(got, want) << p.path << " as " << dtype;
    }
    EXPECT_EQ(file->tensors().size(), held);
    ASSERT_EQ(file->metadata().size(), 1u);
    EXPECT_TRUE(Network::from_json(std::string_view(file->metadata()[0].second)).ok());
  }
  LOOM_EXPECT_REFUSED(loom({"convert", entity, folder / "i4.safetensors", "--dtype", "i4"}), 2,
                      "f64, f32, f16 or bf16, not 'i4'");
}

// What would fail is named before anything is loaded: a tensor that is missing, one of another
// shape, one too many.
TEST(Program, ShowNamesWhatWouldFail) {
  LOOM_TEST_FILE(source, "tales/hf");
  const Folder folder;
  const auto weights = Safetensors::open_folder(source);
  ASSERT_TRUE(weights.ok());
  folder.write("config.json", file_bytes(source + "/config.json"));
  const auto result = [&](const std::vector<TensorInfo>& tensors) {
    EXPECT_TRUE(write_safetensors(folder / "model.safetensors", tensors).ok());
    const Outcome o = loom({"show", folder / "", "--no-hash"});
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  };
  std::vector<TensorInfo> tensors = weights->tensors();
  EXPECT_NE(result(tensors).find("\nruns\n"), std::string::npos);
  const auto norm = std::find_if(tensors.begin(), tensors.end(),
                                 [](const TensorInfo& t) { return t.name == "model.norm.weight"; });
  norm->name = "model.norm.weights";
  EXPECT_NE(result(tensors).find("does not run: not found: " + folder / "" +
                                 ": tensor 'model.norm.weight' is missing"),
            std::string::npos)
      << result(tensors);
  norm->name = "model.norm.weight";
  norm->shape = {32, 2};
  EXPECT_NE(result(tensors).find(
                "tensor 'model.norm.weight': the configuration expects [64], the file has [32, 2]"),
            std::string::npos)
      << result(tensors);
  norm->shape = {64};
  tensors.push_back(tensor_from_f32("extra", {0}, {}));
  EXPECT_NE(result(tensors).find("tensor 'extra' [0] belongs to no parameter of a 'llama'"),
            std::string::npos)
      << result(tensors);
}

}  // namespace
}  // namespace loom::test
