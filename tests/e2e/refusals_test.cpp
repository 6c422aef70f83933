// What is not a model is called by its name, and wrong command lines are answered with what would
// be right.
#include "base/json/json.h"
#include "e2e/process.h"
#include "support/data.h"

namespace loom::test {
namespace {

TEST(Refusals, FilesThatAreNoModels) {
  const Folder folder;
  LOOM_EXPECT_REFUSED(
      loom({"run",
            folder.write("a.safetensors",
                         "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n"),
            ""}),
      3, "LFS");
  LOOM_EXPECT_REFUSED(
      loom({"run",
            folder.write("b.safetensors", "<!DOCTYPE html>\n<html><body>Sign in</body></html>"),
            ""}),
      3, "HTML");
  LOOM_EXPECT_REFUSED(
      loom({"run",
            folder.write("pytorch_model.bin", std::string("\x80\x02}q\x00X\x05\x00\x00\x00", 10)),
            ""}),
      3, "pickle");
  LOOM_EXPECT_REFUSED(loom({"run", folder.write("c.safetensors", ""), ""}), 3, "empty");
  LOOM_EXPECT_REFUSED(
      loom({"show",
            folder.write("d.safetensors",
                         "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n")}),
      3, "LFS");
}

TEST(Refusals, ATruncatedFileNamesBothSizes) {
  LOOM_TEST_FILE(path, "tales/hf/model.safetensors");
  LOOM_TEST_FILE(config, "tales/hf/config.json");
  const Folder folder;
  folder.write("config.json", file_bytes(config));
  const std::string whole = file_bytes(path);
  folder.write("model.safetensors", whole.substr(0, whole.size() / 2));
  const Outcome o = loom({"run", folder / "", ""});
  EXPECT_EQ(o.code, 3);
  EXPECT_NE(o.err.find("truncated"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("describes a file of " + std::to_string(whole.size()) +
                       " bytes, the file has " + std::to_string(whole.size() / 2)),
            std::string::npos)
      << o.err;
}

TEST(Refusals, AnArchitectureThatIsNotThere) {
  LOOM_TEST_FILE(config, "families/gemma2/config.json");
  LOOM_TEST_FILE(weights, "families/qwen3_qknorm/model.safetensors");
  const Folder of;
  of.write("config.json", file_bytes(config));
  of.write("model.safetensors", file_bytes(weights));
  const std::string folder = of / "";
  LOOM_EXPECT_REFUSED(loom({"run", folder, "--ids", "1,2"}), 3, "'gemma2' is not supported");
  const Outcome result = loom({"show", folder});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("does not run: unsupported"), std::string::npos) << result.out;
}

TEST(Refusals, AModelNameIsAnsweredWithTheNearest) {
  const Folder cache;
  cache.write("models--acme--tiny-stories/refs/main", "abc");
  LOOM_EXPECT_REFUSED(
      loom(Call{{"run", "acme/tiny-storys", ""}, "", {{"HF_HUB_CACHE", cache / ""}}, 0}), 3,
      "acme/tiny-stories");
  LOOM_EXPECT_REFUSED(loom({"run", "./no/such/model", ""}), 3, "no such file or folder");
}

TEST(Refusals, TheModelInTheCacheRuns) {
  LOOM_TEST_FILE(path, "tales/hf/model.safetensors");
  const Folder cache;
  const std::string model = "models--acme--tiny-stories/";
  cache.write(model + "refs/main", "abc");
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"})
    cache.write(model + "snapshots/abc/" + name, file_bytes(data_path("tales/hf/") + name));
  const Outcome o = loom(Call{{"run", "acme/tiny-stories", "", "--greedy", "--tokens", "4"},
                              "",
                              {{"HF_HUB_CACHE", cache / ""}},
                              0});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "In a little\n");
  EXPECT_NE(o.err.find("acme/tiny-stories  safetensors"), std::string::npos) << o.err;
}

TEST(Usage, CommandsAndOptions) {
  LOOM_EXPECT_REFUSED(loom({"rum", "model"}), 2, "nearest: run");
  LOOM_EXPECT_REFUSED(loom({"run", "model", "", "--tokenz", "4"}), 2, "--tokens");
  LOOM_EXPECT_REFUSED(loom({"run", "model", "", "--greedy", "--top-k", "4"}), 2, "--greedy");
  LOOM_EXPECT_REFUSED(loom({"run", "model", "", "--tokens", "many"}), 2, "tokens");
  LOOM_EXPECT_REFUSED(loom({"run", "model", "", "--tokens", "-4"}), 2, "tokens");
  LOOM_EXPECT_REFUSED(loom({"run"}), 2, "MODEL");
  LOOM_EXPECT_REFUSED(loom({"logits", "model"}), 2, "--ids or --text");
  LOOM_EXPECT_REFUSED(loom({"convert", "a", "b.bin"}), 2, ".safetensors");
}

TEST(Usage, HelpIsOneScreen) {
  for (const char* command : {"", "run", "chat", "logits", "eval", "tokenize", "show", "convert",
                              "train", "predict", "plan", "dna", "verify", "bench"}) {
    SCOPED_TRACE(command);
    const Outcome o = *command ? loom({command, "--help"}) : loom({"--help"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    std::size_t options = 0;
    for (std::size_t at = 0; (at = o.out.find("\n  -", at)) != std::string::npos; ++at) ++options;
    EXPECT_GE(options, 1u);
    EXPECT_LE(options, 25u);
    EXPECT_EQ(o.out.find("Env:"), std::string::npos);
  }
}

TEST(Usage, EveryOptionIsAnEnvironmentVariable) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const Outcome o =
      loom(Call{{"run", folder, ""}, "", {{"LOOM_TOKENS", "4"}, {"LOOM_GREEDY", "true"}}, 0});
  EXPECT_EQ(o.out, "In a little\n");
  // The command line wins, and another command's variables do not matter.
  EXPECT_EQ(loom(Call{{"run", folder, "", "--tokens", "2"},
                      "",
                      {{"LOOM_TOKENS", "4"}, {"LOOM_GREEDY", "true"}, {"LOOM_TEXT", "x"}},
                      0})
                .out,
            "In\n");
  LOOM_EXPECT_REFUSED(loom(Call{{"run", folder, ""}, "", {{"LOOM_ISA", "abacus"}}, 0}), 2,
                      "abacus");
}

TEST(Tokenize, TheGoldenIdsAndBack) {
  LOOM_TEST_FILE(golden, "tales/golden_encode.json");
  const auto cases = Json::parse(file_bytes(golden));
  ASSERT_TRUE(cases.ok());
  const std::string model = data_path("tales/hf");
  std::string texts, arrays;
  for (const Json& c : cases->as_array()) {
    texts += c.find("text")->dump() + "\n";
    arrays += c.find("ids")->dump() + "\n";
    EXPECT_EQ(loom({"tokenize", model}, c.find("text")->as_string()).out,
              c.find("ids")->dump() + "\n");
  }
  for (const std::string& path :
       {model, model + "/tokenizer.json", data_path("tales/tales.gguf")}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(loom({"tokenize", path, "--lines"}, texts).out, arrays);
    EXPECT_EQ(loom({"tokenize", path, "--lines", "--decode", "--no-special"}, arrays).out, texts);
  }
}

TEST(Tokenize, ErrorsNameTheLine) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const Outcome o = loom({"tokenize", folder, "--lines"}, "\"one\"\ntwo\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("line 2"), std::string::npos) << o.err;
  LOOM_EXPECT_REFUSED(loom({"tokenize", folder, "--decode"}, "[1,-3]"), 1, "-3");
  LOOM_EXPECT_REFUSED(loom({"tokenize", "./nowhere"}, ""), 3, "nowhere");
}

TEST(Show, TopologyTensorsAndProgram) {
  LOOM_TEST_FILE(folder, "tales/hf");
  const auto json = Json::parse(loom({"show", folder, "--json"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->find("tensors")->as_array().size(), 47u);
  EXPECT_TRUE(json->find("runs")->as_bool());
  EXPECT_EQ(json->find("tensors")->as_array()[0].find("sha256")->as_string().size(), 64u);
  const Folder own;
  const std::string topology = own.write("net.json", json->find("topology")->dump());
  // The file's topology alone gives the file's program.
  const Outcome a = loom({"show", folder, "--plan"}), b = loom({"show", topology, "--plan"});
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.out.find("matmul"), std::string::npos);
  EXPECT_EQ(a.out, b.out);
  LOOM_EXPECT_REFUSED(
      loom(
          {"show",
           own.write(
               "bad.json",
               R"({"format":"loom-topology","version":1,"input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dens","out":2}]})")}),
      3, "dens");
}

}  // namespace
}  // namespace loom::test
