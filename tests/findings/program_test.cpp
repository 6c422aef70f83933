// Lines C1 to C4, C6, E, G9 to G12 and G15 of the findings, at the program.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/json/json.h"
#include "checkpoint/entity.h"
#include "e2e/process.h"
#include "formats/onnx/test_protobuf.h"
#include "formats/safetensors/safetensors.h"
#include "llm/embedded_model.h"
#include "support/data.h"
#include "support/devices.h"

namespace loom::test {
namespace {

namespace fs = std::filesystem;

// y = x1 * x2 over a grid of 9 x 9 points.
std::string table() {
  std::string csv = "x1,x2,y\n";
  for (int i = -4; i <= 4; ++i)
    for (int j = -4; j <= 4; ++j)
      csv += std::to_string(i * 0.25) + "," + std::to_string(j * 0.25) + "," +
             std::to_string(i * j * 0.0625) + "\n";
  return csv;
}

std::string spec(int steps) {
  return R"({"format":"loom-training","version":2,
    "network":{"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":2},
     "cells":[{"at":[0,0,0,0],"type":"dense","out":24,"activation":"tanh"},
      {"at":[0,0,0,1],"type":"dense","out":1}]},
    "data":{"type":"table","targets":["y"]},"loss":"mse","optimizer":{"type":"adamw"},
    "schedule":{"type":"constant","lr":0.01},"steps":)" +
         std::to_string(steps) + R"(,"batch":27,"seed":3,"log_every":50})";
}

std::string digest(const Outcome& o) {
  const std::size_t at = o.err.rfind("sha256 ");
  return at == std::string::npos ? o.err : o.err.substr(at + 7, 64);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A training of a table, and a network that it made: by class, so that predict, plan and accuracy
// take it.
struct Trained {
  explicit Trained(const Folder& folder) {
    std::string csv = "a,b,class\n";
    for (int i = 0; i < 60; ++i)
      csv += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," +
             (i % 7 > i % 5 ? "more" : "less") + "\n";
    data = folder.write("classes.csv", csv);
    file = folder / "classes.entity";
    const Outcome o = loom({"train", "--data", data, "--out", file, "--steps", "20"});
    EXPECT_EQ(o.code, 0) << o.err;
  }
  std::string data, file;
};

TEST(Findings, C1_TrainChecksItsOutputBeforeTheFirstStep) {
  const Folder folder;
  const std::string data = folder.write("t.csv", table()), file = folder.write("s.json", spec(100)),
                    there = folder.write("there", "x");
  const std::string fifo = folder / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  struct Case {
    std::string out, part;
  };
  std::vector<Case> cases = {{folder / "missing/x.entity", "missing does not exist"},
                             {folder / "", "a folder"},
                             {there + "/x.entity", "there is not a folder"},
                             {fifo, "a FIFO"},
                             {stdout_link(folder / ""), "open stream"}};
  if (const std::string device = full_device(folder / ""); !device.empty())
    cases.push_back({device, "a device"});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.out);
    for (const Outcome& o : {loom({"train", file, "--data", data, "--out", c.out}),
                             loom({"train", "--data", data, "--out", c.out})}) {
      LOOM_EXPECT_REFUSED(o, 2, c.part);
      EXPECT_TRUE(holds(o.err, c.out)) << o.err;
      EXPECT_FALSE(holds(o.err, "parameters")) << o.err;  // nothing was made, nothing learned
    }
  }
  EXPECT_TRUE(fs::is_fifo(fifo));
  // Adapters go into a folder.
  const std::string lora =
      folder.write("l.json",
                   R"({"format":"loom-training","version":2,"base":"embedded","lora":{"rank":2},
        "data":{"type":"text","length":8},"loss":"cross_entropy","steps":2,"batch":1})");
  const std::string text = folder.write("t.txt", "Once upon a time there was a girl named Nora.");
  LOOM_EXPECT_REFUSED(loom({"train", lora, "--data", text, "--out", there}), 2,
                      "expected a folder");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", text, "--out", folder / "missing/adapter"}), 2,
                      "missing does not exist");
}

TEST(Findings, C1_OtherCommandsCheckTheirOutputs) {
  const Folder folder;
  const Trained net(folder);
  const std::string missing = folder / "missing";
  LOOM_EXPECT_REFUSED(loom({"convert", "embedded", missing + "/x.entity"}), 2,
                      "missing does not exist");
  LOOM_EXPECT_REFUSED(loom({"convert", net.file, missing + "/x.safetensors"}), 2,
                      "missing does not exist");
  LOOM_EXPECT_REFUSED(loom({"plan", net.file, "--data", net.data, "--out", missing + "/x.entity"}),
                      2, "missing does not exist");
  LOOM_EXPECT_REFUSED(loom({"logits", "embedded", "--text", "Once", "--out", missing + "/x.npy"}),
                      2, "missing does not exist");
}

TEST(Findings, C2_AnInputIsNoOutput) {
  const Folder folder;
  const std::string data = folder.write("t.csv", table()), file = folder.write("s.json", spec(10));
  fs::create_symlink("t.csv", folder / "link.csv");
  fs::create_hard_link(data, folder / "hard.csv");
  for (const std::string& out : {data, folder / "./t.csv", folder / "x/../t.csv",
                                 folder / "link.csv", folder / "hard.csv"}) {
    if (!fs::exists(out)) continue;  // x/.. where there is no x
    SCOPED_TRACE(out);
    LOOM_EXPECT_REFUSED(loom({"train", file, "--data", data, "--out", out}), 2,
                        "which this command reads");
    LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--out", out}), 2,
                        "which this command reads");
    LOOM_EXPECT_REFUSED(
        loom({"train", "--data", data, "--test", folder / "hard.csv", "--out", out}), 2,
        "which this command reads");
  }
  LOOM_EXPECT_REFUSED(loom({"train", file, "--data", data, "--out", file}), 2,
                      "which this command reads");
  EXPECT_EQ(file_bytes(data), table());
  EXPECT_EQ(file_bytes(file), spec(10));
  EXPECT_TRUE(fs::is_symlink(folder / "link.csv"));
}

TEST(Findings, C2_NorIsOneOfAFolder) {
  const Folder folder;
  for (const char* name : {"cats/1.txt", "dogs/1.txt", "cats/2.txt", "dogs/2.txt"})
    folder.write(std::string("data/") + name, "some words of " + std::string(name));
  const std::string victim = folder / "data/cats/1.txt", before = file_bytes(victim);
  LOOM_EXPECT_REFUSED(loom({"train", "--data", folder / "data", "--out", victim, "--steps", "2"}),
                      2, "which this command reads");
  EXPECT_EQ(file_bytes(victim), before);
  // An .entity beside the data is what the last training left.
  for (int i = 0; i < 2; ++i) {
    const Outcome o = loom(
        {"train", "--data", folder / "data", "--out", folder / "data/net.entity", "--steps", "2"});
    EXPECT_EQ(o.code, 0) << o.err;
  }
}

// y = x0 + 2 x1, saved by the Go engine.
TEST(Findings, B13_ConvertTakesNetworksThatTheGoEngineSaved) {
  const Folder folder;
  const std::string in = folder / "network.json", out = folder / "network.entity";
  const auto saved = [&](const std::string& weights) {
    std::ofstream(in) << R"({"id":"network","depth":1,"rows":1,"cols":1,"layers_per_cell":1,)"
                         R"("layers":[{"z":0,"y":0,"x":0,"l":0,"type":"DENSE","input_height":2,)"
                         R"("output_height":1,"weights":")"
                      << weights << R"("}]})";
  };
  saved("AACAPwAAAEA=");
  const auto made = loom({"convert", in, out});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(loom({"show", out}).code, 0);
  LOOM_EXPECT_REFUSED(loom({"convert", in, folder / "network.safetensors"}), 2,
                      "a network of JSON is written as .entity");
  saved("AACAPwAAwH8=");
  LOOM_EXPECT_REFUSED(loom({"convert", in, out}), 3, "value 1 is no finite number");
}

TEST(Findings, C2_ModelsAreNotConvertedOntoThemselves) {
  const Folder folder;
  const Trained net(folder);
  const std::string before = file_bytes(net.file);
  LOOM_EXPECT_REFUSED(loom({"plan", net.file, "--data", net.data, "--out", net.file}), 2,
                      "which this command reads");
  EXPECT_EQ(file_bytes(net.file), before);
  LOOM_TEST_FILE(stories, "tales/hf");
  fs::create_directories(folder / "hf");
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"})
    fs::copy(stories + "/" + name, folder / "hf");
  const std::string weights = folder / "hf/model.safetensors", whole = file_bytes(weights);
  LOOM_EXPECT_REFUSED(loom({"convert", folder / "hf", weights, "--dtype", "f16"}), 2,
                      "which this command reads");
  LOOM_EXPECT_REFUSED(
      loom({"convert", weights, folder / "hf/../hf/model.safetensors", "--dtype", "f16"}), 2,
      "which this command reads");
  EXPECT_TRUE(file_bytes(weights) == whole);
  const std::string made = folder / "made.entity";
  ASSERT_EQ(loom({"convert", folder / "hf", made}).code, 0);
  LOOM_EXPECT_REFUSED(loom({"convert", made, made, "--dtype", "i4"}), 2,
                      "which this command reads");
}

TEST(Findings, C3_TrainKeepsLinksAndModes) {
  const Folder folder;
  const std::string data = folder.write("t.csv", table()), file = folder.write("s.json", spec(10)),
                    real = folder.write("real/net.entity", "old");
  fs::create_symlink("real/net.entity", folder / "net.entity");
  ASSERT_EQ(chmod(real.c_str(), 0600), 0);
  const Outcome o = loom({"train", file, "--data", data, "--out", folder / "net.entity"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(fs::is_symlink(folder / "net.entity"));
  struct stat info{};
  ASSERT_EQ(stat(real.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_EQ(chmod(real.c_str(), 0444), 0);
  const std::string before = file_bytes(real);
  LOOM_EXPECT_REFUSED(loom({"train", file, "--data", data, "--out", real}), 2,
                      "read-only (mode 0444)");
  EXPECT_EQ(file_bytes(real), before);
}

TEST(Findings, C4_SignalsSaveAndTheTrainingGoesOn) {
  const Folder folder;
  const std::string data = folder.write("t.csv", table()),
                    file = folder.write("s.json", spec(4000));
  const Outcome whole = loom({"train", file, "--data", data, "--out", folder / "whole.entity"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::pair<int, int> codes[] = {{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}};
  for (const auto& [signal, code] : codes) {
    SCOPED_TRACE(signal);
    const std::string out = folder / (std::to_string(signal) + ".entity");
    Call call{{"train", file, "--data", data, "--out", out}, "", {}, 1, {signal}};
    const Outcome stopped = loom(call);
    ASSERT_EQ(stopped.code, code) << stopped.err;
    EXPECT_TRUE(holds(stopped.err, "--resume goes on")) << stopped.err;
    call.args.push_back("--resume");
    call.interrupts = 0;
    const Outcome resumed = loom(call);
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(digest(resumed), digest(whole));
  }
}

TEST(Findings, C4_ATextEndsWithTheCodeOfItsSignal) {
  LOOM_TEST_FILE(stories, "tales/hf");
  const std::pair<int, int> codes[] = {{SIGTERM, 143}, {SIGHUP, 129}};
  for (const auto& [signal, code] : codes) {
    const Outcome o =
        loom(Call{{"run", stories, "", "--greedy", "--tokens", "511", "--isa", "generic"},
                  "",
                  {},
                  1,
                  {signal}});
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_TRUE(o.out.ends_with("\n")) << o.out;  // and what was written is whole
  }
}

TEST(Findings, C4_ASecondSignalEndsAtOnce) {
  const Folder folder;
  const std::string data = folder.write("t.csv", table()),
                    file = folder.write("s.json", spec(1'000'000));
  const Outcome o = loom(Call{{"train", file, "--data", data, "--out", folder / "net.entity"},
                              "",
                              {},
                              1,
                              {SIGTERM, SIGHUP}});
  EXPECT_TRUE(o.code == 143 || o.code == 129) << o.code;
  EXPECT_FALSE(holds(o.err, "--resume goes on")) << o.err;
  EXPECT_FALSE(fs::exists(folder / "net.entity"));
}

TEST(Findings, C4_WithoutAReaderTheTrainingIsSaved) {
  const Folder folder;
  const std::string data = folder.write("t.csv", table()), file = folder.write("s.json", spec(600));
  const Outcome whole = loom({"train", file, "--data", data, "--out", folder / "whole.entity"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::pair<const char*, const char*> sinks[] = {{"/dev/full", "No space left on device"},
                                                       {"(broken)", "Broken pipe"},
                                                       {"(closed)", "it is closed"}};
  for (const auto& [sink, why] : sinks) {
    for (const bool json : {false, true}) {
      SCOPED_TRACE(sink);
      const std::string out = folder / "net.entity";
      fs::remove(out);
      Call call{{"train", file, "--data", data, "--out", out}, "", {}, 0, {}, sink};
      if (json) call.args.push_back("--json");
      const Outcome stopped = loom(call);
      EXPECT_EQ(stopped.code, 1) << stopped.err;
      EXPECT_TRUE(holds(stopped.err, std::string("cannot write to standard output: ") + why))
          << stopped.err;
      EXPECT_TRUE(holds(stopped.err, "step 50 of 600, --resume goes on")) << stopped.err;
      const Outcome resumed = loom({"train", file, "--data", data, "--out", out, "--resume"});
      ASSERT_EQ(resumed.code, 0) << resumed.err;
      EXPECT_EQ(digest(resumed), digest(whole));
    }
  }
}

// What nobody could read is no success.
TEST(Findings, G12_EveryCommandReportsThatItCannotWrite) {
  const Folder folder;
  const Trained net(folder);
  const std::string text =
      folder.write("t.txt", "Once upon a time, a girl named Nora lived near the forest.");
  const std::vector<Call> calls = {{{}},
                                   {{"--help"}},
                                   {{"--version"}},
                                   {{"run", "--help"}},
                                   {{"run", "embedded", "Once", "--tokens", "8"}},
                                   {{"run", "embedded", "Once", "--tokens", "8", "--json"}},
                                   {{"chat", "--tokens", "8"}, "Once\n"},
                                   {{"logits", "embedded", "--text", "Once"}},
                                   {{"logits", "embedded", "--text", "Once", "--json"}},
                                   {{"eval", "embedded", "--text", text}},
                                   {{"eval", "embedded", "--text", text, "--json"}},
                                   {{"tokenize", "embedded"}, "Once"},
                                   {{"tokenize", "embedded", "--lines"}, "\"Once\"\n"},
                                   {{"show", "embedded"}},
                                   {{"show", "embedded", "--json"}},
                                   {{"show", "embedded", "--plan"}},
                                   {{"show", "--schema", "topology"}},
                                   {{"convert", net.file, folder / "x.safetensors"}},
                                   {{"convert", net.file, folder / "x.safetensors", "--json"}},
                                   {{"predict", net.file, "--data", net.data}},
                                   {{"predict", net.file, "--data", net.data, "--json"}},
                                   {{"accuracy", net.file, "--data", net.data}},
                                   {{"plan", net.file, "--data", net.data, "--formats", "f32,i8"}},
                                   {{"verify"}},
                                   {{"bench", "crossover", "--quick"}}};
  const std::pair<const char*, const char*> sinks[] = {{"/dev/full", "No space left on device"},
                                                       {"(broken)", "Broken pipe"},
                                                       {"(closed)", "it is closed"}};
  for (const Call& call : calls) {
    const bool slow = !call.args.empty() && (call.args[0] == "verify" || call.args[0] == "bench");
    for (const auto& [sink, why] : sinks) {
      if (slow && sink != std::string("/dev/full")) continue;
      SCOPED_TRACE(
          (call.args.empty() ? std::string("loom") : call.args[0] + " " + call.args.back()) +
          " to " + sink);
      Call to = call;
      to.out_to = sink;
      const Outcome o = loom(to);
      EXPECT_EQ(o.code, 1) << o.err;
      EXPECT_TRUE(holds(o.err, std::string("loom: io: cannot write to standard output: ") + why))
          << o.err;
    }
  }
}

// The file that a save opens must not become the standard output that is missing.
TEST(Findings, G12_AClosedStreamIsNotTheFileThatIsWritten) {
  const Folder folder;
  const Trained net(folder);
  ASSERT_EQ(loom({"convert", net.file, folder / "want.safetensors"}).code, 0);
  const Outcome o =
      loom(Call{{"convert", net.file, folder / "got.safetensors"}, "", {}, 0, {}, "(closed)"});
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(file_bytes(folder / "got.safetensors"), file_bytes(folder / "want.safetensors"));
}

TEST(Findings, C6_TheContextEndsATextWithWhatFits) {
  const Outcome o = loom({"run", "embedded", "Once upon a time", "--ctx", "24", "--tokens",
                          "100000", "--json", "--greedy"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto answer = Json::parse(o.out);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->find("finish")->as_string(), "length");
  EXPECT_EQ(answer->find("tokens")->as_integer() + answer->find("prompt_tokens")->as_integer(), 25);
  std::string text;
  for (int i = 0; i < 100; ++i) text += "Once upon a time ";
  const Outcome refused = loom({"run", "embedded", text, "--ctx", "24"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(holds(refused.err, "the context holds 24") && holds(refused.err, "the text has "))
      << refused.err;
}

TEST(Findings, E_NumbersThatAreNoneAreRefusedInWords) {
  LOOM_EXPECT_REFUSED(loom({"run", "embedded", "Once", "--tokens", "0"}), 2,
                      "--tokens: must be above 0, got 0");
  LOOM_EXPECT_REFUSED(loom({"run", "embedded", "Once", "--ctx", "0"}), 2,
                      "--ctx: must be above 0, got 0");
  LOOM_EXPECT_REFUSED(loom({"run", "embedded", "Once", "--temperature", "-1"}), 2,
                      "--temperature: must not be below 0, got -1");
  LOOM_EXPECT_REFUSED(loom({"run", "embedded", "Once", "--temperature", "nan"}), 2,
                      "--temperature");
  LOOM_EXPECT_REFUSED(loom({"plan", "x", "--data", "y", "--bytes", "0"}), 2,
                      "--bytes: must be above 0, got 0");
  EXPECT_LT(loom({"run", "embedded", "Once", "--tokens", "0"}).err.size(), 200u);
}

TEST(Findings, E_AContextBeyondTheModelIsRefused) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"run", "embedded", "Once"},
                                               {"logits", "embedded", "--text", "Once"},
                                               {"chat"}}) {
    std::vector<std::string> with = args;
    with.insert(with.end(), {"--ctx", "100000"});
    LOOM_EXPECT_REFUSED(loom(with), 2,
                        "--ctx: a context of 100000 positions: the model was made for ");
  }
}

TEST(Findings, E_StandardInputIsNoDataFile) {
  const Folder folder;
  const std::string file = folder.write("s.json", spec(5));
  LOOM_EXPECT_REFUSED(loom({"train", "--data", "-", "--out", folder / "x.entity"}, table()), 2,
                      "standard input is not read here");
  LOOM_EXPECT_REFUSED(loom({"train", file, "--data", "-", "--out", folder / "x.entity"}, table()),
                      2, "standard input is not read here");
  LOOM_EXPECT_REFUSED(loom({"predict", "x.entity", "--data", "-"}, table()), 2,
                      "standard input is not read here");
}

TEST(Findings, E_ResumeWithoutASpecKeepsItsSteps) {
  const Folder folder;
  const std::string data = folder.write("t.csv", table()), out = folder / "net.entity";
  const Outcome whole =
      loom({"train", "--data", data, "--out", folder / "whole.entity", "--steps", "2000"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Outcome stopped =
      loom(Call{{"train", "--data", data, "--out", out, "--steps", "2000"}, "", {}, 1});
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--out", out, "--steps", "4000", "--resume"}),
                      2, "was planned for 2000, and so were its rates: resume it without --steps");
  const Outcome resumed = loom({"train", "--data", data, "--out", out, "--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(digest(resumed), digest(whole));
}

// Adapters keep theirs in a folder.
TEST(Findings, E_ResumeOfAnAdapterWithoutASpec) {
  const Folder folder;
  const std::string text = folder.write("t.txt",
                                        "Once upon a time there was a girl named Nora. She had a "
                                        "dog. The dog was big. They went to the park.");
  const std::string out = folder / "adapter";
  ASSERT_EQ(loom({"train", "--data", text, "--out", out, "--steps", "3"}).code, 0);
  LOOM_EXPECT_REFUSED(loom({"train", "--data", text, "--out", out, "--steps", "5", "--resume"}), 2,
                      "was planned for 3");
  const Outcome again = loom({"train", "--data", text, "--out", out, "--resume"});
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST(Findings, G9_ConvertIsCompleteOrRefused) {
  LOOM_TEST_FILE(stories, "tales/hf");
  const Folder folder;
  const std::string hf = folder / "hf", out = folder / "out.entity";
  fs::create_directories(hf);
  for (const char* name : {"config.json", "model.safetensors"}) fs::copy(stories + "/" + name, hf);
  folder.write("hf/tokenizer.json", "{\"model\":");
  LOOM_EXPECT_REFUSED(loom({"convert", hf, out}), 3, "its tokenizer cannot be saved");
  fs::remove(hf + "/tokenizer.json");
  fs::create_directories(hf + "/tokenizer.json");
  LOOM_EXPECT_REFUSED(loom({"convert", hf, out}), 3, "its tokenizer cannot be saved");
  fs::remove(hf + "/tokenizer.json");
  fs::create_symlink("not-downloaded", hf + "/tokenizer.json");
  LOOM_EXPECT_REFUSED(loom({"convert", hf, out}), 1, "--no-tokenizer leaves it out");
  EXPECT_FALSE(fs::exists(out));
  const Outcome without = loom({"convert", hf, out, "--no-tokenizer"});
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_TRUE(holds(without.err, "without a tokenizer")) << without.err;
  EXPECT_TRUE(holds(loom({"show", out}).out, "no tokenizer"));
  // A bit of an .entity's tokenizer.
  fs::remove(hf + "/tokenizer.json");
  fs::copy(stories + "/tokenizer.json", hf);
  ASSERT_EQ(loom({"convert", hf, out}).code, 0);
  const auto entity = Entity::open(*open_source(out));
  ASSERT_TRUE(entity.ok());
  const EntityEntry* section = entity->find_section("tokenizer");
  std::string bytes = file_bytes(out);
  bytes[static_cast<std::size_t>(section->offset + section->size / 2)] ^= 1;
  LOOM_EXPECT_REFUSED(
      loom({"convert", folder.write("flipped.entity", bytes), folder / "again.entity"}), 3,
      "its tokenizer cannot be saved");
  EXPECT_FALSE(fs::exists(folder / "again.entity"));
}

// What the other format has no place for is named.
TEST(Findings, G9_WhatIsLeftOutIsSaid) {
  const Folder folder;
  const Trained net(folder);
  const Outcome entity = loom({"convert", net.file, folder / "a.safetensors"});
  EXPECT_EQ(entity.code, 0);
  EXPECT_TRUE(holds(entity.err, "left out, since safetensors holds tensors alone: inputs"))
      << entity.err;
  LOOM_TEST_FILE(gguf, "tales/tales.gguf");
  const Outcome o = loom({"convert", gguf, folder / "b.safetensors"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(holds(o.err, "left out")) << o.err;
}

// A network that goes on learning by a spec still knows how raw data become its inputs.
TEST(Findings, G9_ABaseNetworkKeepsItsInputs) {
  const Folder folder;
  const Trained net(folder);
  std::string csv = "a,b,class\n";
  for (int i = 0; i < 20; ++i)
    csv +=
        std::to_string(i * 0.1) + "," + std::to_string(i % 3) + "," + std::to_string(i % 2) + "\n";
  const std::string numbers = folder.write("numbers.csv", csv);
  const std::string file =
      folder.write("base.json", R"({"format":"loom-training","version":2,"base":")" + net.file +
                                    R"(","data":{"type":"table","class":"class"},
        "loss":"cross_entropy","steps":2,"batch":4})");
  const std::string out = folder / "out.entity";
  const Outcome trained = loom({"train", file, "--data", numbers, "--out", out});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Outcome answers = loom({"predict", out, "--data", net.data});
  EXPECT_EQ(answers.code, 0) << answers.err;
  EXPECT_TRUE(holds(answers.out, "more,") || holds(answers.out, "less,")) << answers.out;
}

TEST(Findings, G10_LinksOutOfAModelAreRefused) {
  LOOM_TEST_FILE(stories, "tales/hf");
  const Folder folder;
  const std::string hf = folder / "hf", elsewhere = folder / "elsewhere/model.safetensors";
  fs::create_directories(hf);
  for (const char* name : {"config.json", "tokenizer.json"}) fs::copy(stories + "/" + name, hf);
  folder.write("elsewhere/model.safetensors", file_bytes(stories + "/model.safetensors"));
  fs::create_symlink("../elsewhere/model.safetensors", hf + "/model.safetensors");
  for (const char* command : {"run", "show", "convert"}) {
    Call call{{command, hf}};
    if (command == std::string("run")) call.args.push_back("Once");
    if (command == std::string("convert")) call.args.push_back(folder / "x.entity");
    const Outcome o = loom(call);
    LOOM_EXPECT_REFUSED(o, 3, hf + "/model.safetensors: leads to ");
    EXPECT_TRUE(holds(o.err, elsewhere)) << o.err;
  }
  // Who names the file itself means it.
  EXPECT_EQ(loom({"show", hf + "/model.safetensors"}).code, 0);
}

TEST(Findings, G11_ShowPrintsNoControlCharacters) {
  const Folder folder;
  const std::string name = "a\x1b[2J\nb\x7f\xC2\x9B", path = folder / "names.safetensors";
  const float value = 1;
  const TensorInfo tensor = tensor_from_f32(name, {1}, {&value, 1});
  ASSERT_TRUE(write_safetensors(path, {&tensor, 1}, {}).ok());
  const Outcome result = loom({"show", path});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(holds(result.out, "  a\\x1b[2J\\x0ab\\x7f\\xc2\\x9b  f32  [1]")) << result.out;
  const Outcome converted = loom({"convert", path, folder / "out.safetensors", "--dtype", "f16"});
  EXPECT_EQ(converted.code, 0) << converted.err;
  EXPECT_TRUE(holds(converted.out, "a\\x1b[2J\\x0ab\\x7f\\xc2\\x9b [1] f32 f16")) << converted.out;
  const auto json = Json::parse(loom({"show", path, "--json"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->find("tensors")->as_array()[0].find("name")->as_string(), name);
}

TEST(Findings, G11_ShowOfOnnxPrintsNoControlCharacters) {
  const Folder folder;
  const std::string graph =
      pb_graph({pb_node("Relu", {"x\x1b]0;t\a"}, {"y\x80"})}, {pb_value("x\x1b]0;t\a", 1, {1})},
               {pb_value("y\x80", 1, {1})});
  const std::string path =
      folder.write("m.onnx", pb_int(1, 8) + pb_bytes(2, "by\x1b[31m") + pb_bytes(7, graph) +
                                 pb_bytes(8, pb_int(2, 13)));
  const Outcome result = loom({"show", path});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* part : {"by by\\x1b[31m\n", "  x\\x1b]0;t\\x07  float[1]", "  y\\x80  float[1]"})
    EXPECT_TRUE(holds(result.out, part)) << result.out;
  const Outcome json = loom({"show", path, "--json"});
  const auto parsed = Json::parse(json.out);
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  EXPECT_EQ(parsed->find("outputs")->as_array()[0].find("name")->as_string(), "y\\x80");
  // And in errors.
  const std::string unknown =
      folder.write("u.onnx", pb_model(pb_graph({pb_node("Re\x1b[2J", {"x"}, {"y"})},
                                               {pb_value("x", 1, {1})}, {pb_value("y", 1, {1})})));
  const Outcome refused = loom({"convert", unknown, folder / "u.entity"});
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_EQ(refused.err.find('\x1b'), std::string::npos);
  EXPECT_TRUE(holds(refused.err, "Re\\x1b[2J")) << refused.err;
}

// One table: 0 done, 1 failed, 2 the command line is wrong, 3 refused.
TEST(Findings, G15_ExitCodes) {
  const Folder folder;
  const std::string unknown =
      folder.write("u.onnx", pb_model(pb_graph({pb_node("NonMaxSuppression", {"x"}, {"y"})},
                                               {pb_value("x", 1, {1})}, {pb_value("y", 1, {1})})));
  LOOM_EXPECT_REFUSED(loom({"convert", unknown, folder / "u.entity"}), 3, "NonMaxSuppression");
  const std::string unsized = folder.write(
      "d.onnx", pb_model(pb_graph({pb_node("Relu", {"x"}, {"y"})},
                                  {pb_bytes(1, "x") + pb_bytes(2, pb_bytes(1, pb_int(1, 1)))},
                                  {pb_value("y", 1, {1})})));
  LOOM_EXPECT_REFUSED(loom({"convert", unsized, folder / "d.entity"}), 3, "x");
  LOOM_EXPECT_REFUSED(loom({"convert", unknown, folder / "u.safetensors"}), 2, ".entity");
  LOOM_EXPECT_REFUSED(loom({"convert", "embedded", folder / "e.entity", "--dtype", "i99"}), 2,
                      "i99");
  LOOM_EXPECT_REFUSED(loom({"convert", "embedded", folder / "e.safetensors", "--dtype", "i4"}), 2,
                      "i4");
  LOOM_EXPECT_REFUSED(loom({"convert", folder / "none", folder / "e.entity"}), 3, "none");
  LOOM_EXPECT_REFUSED(loom({"run", "embedded", "--ids", "999999"}), 1, "999999");
}

}  // namespace
}  // namespace loom::test
