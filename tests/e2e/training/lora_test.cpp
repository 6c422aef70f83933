// An adapter as a user makes it: a story model learns another text, the model stays as it is, and
// the adapter is run, swapped and merged.
#include <filesystem>

#include "base/json/json.h"
#include "e2e/process.h"
#include "support/data.h"
#include "support/texts.h"

namespace loom::test {
namespace {

double loss_of(std::vector<std::string> args) {
  args.insert(args.begin(), "eval");
  args.insert(args.end(), {"--json", "--threads", "1"});
  const Outcome o = loom(args);
  EXPECT_EQ(o.code, 0) << o.err;
  const auto json = Json::parse(o.out);
  return json.ok() ? json->find("loss")->as_number() : -1;
}

std::string spec_of(const std::string& base, int steps, const std::string& more = "") {
  return R"({"format":"loom-training","version":2,"base":")" + base + R"(",)" + more +
         R"("lora":{"rank":8,"alpha":16},"data":{"type":"text","length":64},"loss":"cross_entropy",
    "optimizer":{"type":"adamw"},"schedule":{"type":"constant","lr":0.005},"steps":)" +
         std::to_string(steps) + R"(,"batch":8,"log_every":20})";
}

TEST(Lora, AModelLearnsAnotherText) {
  LOOM_TEST_FILE(model, "tales/hf");
  const Folder folder;
  const std::string all = documents(), weights = file_bytes(model + "/model.safetensors");
  const std::string text = folder.write("learned.txt", all.substr(0, 60000)),
                    held_out = folder.write("held_out.txt", all.substr(60000, 8000));
  const std::string whole = folder.write("60.json", spec_of(model, 60)),
                    half = folder.write("30.json", spec_of(model, 30));
  const std::string adapter = folder / "adapter";
  ASSERT_EQ(loom({"train", half, "--data", text, "--out", adapter, "--threads", "1"}).code, 0);
  const Outcome resumed =
      loom({"train", whole, "--data", text, "--out", adapter, "--resume", "--threads", "1"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("an adapter of"), std::string::npos) << resumed.err;
  const Outcome once =
      loom({"train", whole, "--data", text, "--out", folder / "once", "--threads", "1"});
  ASSERT_EQ(once.code, 0) << once.err;
  for (const char* file :
       {"adapter_model.safetensors", "training.safetensors", "adapter_config.json"})
    EXPECT_EQ(file_bytes(adapter + "/" + file), file_bytes((folder / "once") + "/" + file)) << file;

  const double before = loss_of({model, "--text", held_out}),
               after = loss_of({model, "--text", held_out, "--adapter", adapter});
  std::printf("held-out loss %.4f, with the adapter %.4f\n", before, after);
  EXPECT_LT(after, before - 0.5);
  EXPECT_EQ(file_bytes(model + "/model.safetensors"), weights);

  // Merged into the weights the program needs no adapter.
  const std::string merged = folder / "merged.entity";
  ASSERT_EQ(loom({"convert", model, merged, "--adapter", adapter}).code, 0);
  EXPECT_NEAR(loss_of({merged, "--text", held_out}), after, 1e-5);
  const Outcome beside = loom(
                    {"run", model, "Once", "--tokens", "20", "--greedy", "--adapter", adapter}),
                inside = loom({"run", merged, "Once", "--tokens", "20", "--greedy"});
  EXPECT_EQ(beside.code, 0) << beside.err;
  EXPECT_EQ(beside.out, inside.out);
  EXPECT_NE(beside.out, loom({"run", model, "Once", "--tokens", "20", "--greedy"}).out);
}

// The base packed to 4 bits is learned beside as well.
TEST(Lora, APackedModelLearns) {
  LOOM_TEST_FILE(model, "tales/hf");
  const Folder folder;
  const std::string all = documents();
  const std::string text = folder.write("learned.txt", all.substr(0, 30000)),
                    held_out = folder.write("held_out.txt", all.substr(60000, 4000));
  const std::string spec =
      folder.write("spec.json", spec_of(model, 30, R"("base_dtype":"i8","checkpoint":true,)"));
  const Outcome o =
      loom({"train", spec, "--data", text, "--out", folder / "adapter", "--threads", "1"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_LT(loss_of({model, "--dtype", "i8", "--text", held_out, "--adapter", folder / "adapter"}),
            loss_of({model, "--dtype", "i8", "--text", held_out}) - 0.3);
}

TEST(Lora, RefusesByName) {
  LOOM_TEST_FILE(model, "tales/hf");
  const Folder folder;
  const std::string text = folder.write("t.txt", std::string(400, 'a'));
  std::string spec = spec_of(model, 2);
  spec.replace(spec.find("\"rank\":8"), 8, "\"rnk\":8");
  LOOM_EXPECT_REFUSED(
      loom({"train", folder.write("a.json", spec), "--data", text, "--out", folder / "x"}), 3,
      "lora: unknown key \"rnk\": known are rank, alpha, targets");
  spec = spec_of(model, 2);
  spec.replace(spec.find("\"rank\":8"), 8, "\"targets\":[\"q_prj\"]");
  LOOM_EXPECT_REFUSED(
      loom({"train", folder.write("b.json", spec), "--data", text, "--out", folder / "x"}), 3,
      "no weight is called \"q_prj\"");
  LOOM_EXPECT_REFUSED(loom({"run", model, "Once", "--adapter", folder / "nothing"}), 3,
                      "as PEFT saves it");
  LOOM_EXPECT_REFUSED(
      loom({"convert", model, folder / "x.safetensors", "--adapter", folder / "nothing"}), 2,
      "--adapter goes with");
}

}  // namespace
}  // namespace loom::test
