// Files of before the present names (base/fields/old_names.h) give what they gave:
// tests/data/old_names, made by the program as it was.
#include "base/files/source.h"
#include "e2e/process.h"
#include "grid/network.h"
#include "support/places.h"
#include "train/spec/spec.h"

namespace loom::test {
namespace {

// Of the parameters after the six steps of the spec, as the program of before printed it.
constexpr std::string_view kDigest =
    "981258e223a775ca463dcdd579be2b5c962950206388fcf70cc2426af6cb5f43";

std::string old_file(const std::string& name) {
  return source_dir() + std::string("/tests/data/old_names/") + name;
}

TEST(OldNames, SpecsTrainToTheSameDigestAndFilesGoOn) {
  for (const char* version : {"1", "2"}) {
    const Folder folder;
    const std::string spec = old_file(version + std::string(".json")),
                      saved = old_file(version + std::string(".entity")),
                      data = old_file("table.csv");
    const Outcome trained = loom({"train", spec, "--data", data, "--out", folder / "new.entity"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_NE(trained.err.find(kDigest), std::string::npos) << trained.err;
    const std::string copy = folder.write("old.entity", file_bytes(saved));
    const Outcome resumed = loom({"train", spec, "--data", data, "--out", copy, "--resume"});
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find(kDigest), std::string::npos) << resumed.err;
  }
}

TEST(OldNames, AreWrittenAsThePresentOnes) {
  auto text = read_text_file(old_file("2.json"));
  ASSERT_TRUE(text.ok());
  auto spec = parse_training_spec(std::string_view(*text));
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->random_translate, 1);
  EXPECT_EQ(spec->schedule.lr, 0.01);
  auto network = Network::from_json(spec->network);
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  const std::string written = network->to_json().dump();
  EXPECT_NE(written.find("\"version\":3"), std::string::npos) << written;
  for (const char* old : {"cnn2", "max_pool2\"", "conv_transposed", "\"each\"", "\"pick\"",
                          "\"stack\"", "\"carry\"", "\"return\"", "\"filter\""})
    EXPECT_EQ(written.find(old), std::string::npos) << old << " in " << written;
  auto again = Network::from_json(std::string_view(written));
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->to_json().dump(), written);
}

// In new files they are unknown, but for those that the project's earlier documents print.
TEST(OldNames, AreRefusedInNewFiles) {
  const auto status = [](const std::string& cell) {
    const std::string topology =
        R"({"format":"loom-topology","version":3,"layers_per_cell":1,"input":{"dims":[1,4,4]},)"
        R"("cells":[{"at":[0,0,0,0],)" +
        cell + "}]}";
    return Network::from_json(std::string_view(topology)).status();
  };
  EXPECT_NE(status(R"("type":"max_pool2","kernel":2)").message().find("max_pool2d"),
            std::string::npos);
  EXPECT_NE(status(R"("type":"each","count":2,"layers":[{"type":"flatten"}])")
                .message()
                .find("unknown type \"each\""),
            std::string::npos);
  EXPECT_NE(status(R"("type":"lstm","hidden":2,"carry":true)").message().find("\"carry\""),
            std::string::npos);
  EXPECT_TRUE(status(R"("type":"cnn2","filters":2,"kernel":2)").ok());
  EXPECT_TRUE(
      status(
          R"("type":"sequential","layers":[{"type":"flatten"},{"type":"parallel","combine":"filter",)"
          R"("layers":[{"type":"dense","out":2},{"type":"dense","out":2}]}])")
          .ok());
  auto spec = parse_training_spec(
      std::string_view(R"({"format":"loom-training","version":2,"steps":1,"shift":1})"));
  EXPECT_NE(spec.status().message().find("\"shift\""), std::string::npos);
}

}  // namespace
}  // namespace loom::test
