// What the program says about ONNX files.
#include "base/json/json.h"
#include "e2e/process.h"
#include "support/data.h"
#include "support/places.h"

namespace loom::test {
namespace {

TEST(OnnxFiles, ShowNamesInputsOperatorsAndInitializers) {
  LOOM_TEST_FILE(path, "models/silero_vad/silero_vad_op18_ifless.onnx");
  const Outcome result = loom({"show", path});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* part :
       {"ONNX, IR 10, opset 18, by pytorch 2.9.0", "\n90 nodes, 45 initializers",
        "  input  float[batch, sequence]\n", "  stateN  float[2, batch, 128]\n", "  Conv  12\n",
        "  model.decoder.rnn.weight_ih  float  [512, 128]  262144\n"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
  const auto json = Json::parse(loom({"show", path, "--json"}).out);
  ASSERT_TRUE(json.ok()) << json.status().to_string();
  EXPECT_EQ(json->find("opsets")->find("ai.onnx")->as_integer(), 18);
  EXPECT_EQ(json->find("operators")->find("Gemm")->as_integer(), 4);
  EXPECT_EQ(json->find("tensors")->as_array().size(), 45u);
}

TEST(OnnxFiles, OperatorsOfOtherDomainsAreShownWithIt) {
  LOOM_TEST_FILE(path, "models/tiny_random_gpt2/past.onnx");
  const Outcome result = loom({"show", path});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* part : {"opset 11, com.microsoft 1", "\n39 nodes, 27 initializers",
                           "  past_4  float[2, batch_size, 4, past_seq_len, 8]\n",
                           "  com.microsoft.SkipLayerNormalization  10\n"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
  const Folder folder;
  LOOM_EXPECT_REFUSED(loom({"convert", path, folder / "gpt2.entity"}), 3, "--dim 'seq_len=128'");
}

// An open dimension gets its size, or a maximum, on the command line.
TEST(OnnxFiles, OpenDimensionsConvertBySizes) {
  const Folder folder;
  const std::string in = loom::test::source_dir() + "/tests/cases/data/tiny.onnx",
                    out = folder / "tiny.entity";
  const Outcome fixed = loom({"convert", in, out, "--dim", "batch=2"});
  EXPECT_EQ(fixed.code, 0) << fixed.err;
  EXPECT_NE(fixed.err.find("[2, 2]"), std::string::npos) << fixed.err;
  EXPECT_EQ(loom({"convert", in, out, "--max", "batch=2"}).code, 0);
  LOOM_EXPECT_REFUSED(loom({"convert", in, out, "--dim", "seq=2"}), 3, "open are batch");
  LOOM_EXPECT_REFUSED(loom({"convert", in, out, "--dim", "batch"}), 2, "NAME=SIZE");
  LOOM_EXPECT_REFUSED(loom({"convert", in, out, "--dim", "batch=1", "--dim", "batch=2"}), 2,
                      "twice");
  LOOM_EXPECT_REFUSED(loom({"convert", out, folder / "b.json", "--max", "batch=2"}), 2,
                      "--dim and --max go with");
}

// What PyTorch exported becomes a file of Loom's own, masks of infinities included.
TEST(OnnxFiles, ExportsOfPyTorchConvert) {
  const Folder folder;
  for (const std::string name : {"mlp", "mnist_cnn", "resnet", "lstm", "gru_bidirectional",
                                 "encoder", "transformer_layer", "unet"}) {
    const Outcome made =
        loom({"convert", loom::test::source_dir() + "/tests/golden/onnx/" + name + ".onnx",
              folder / (name + ".entity")});
    EXPECT_EQ(made.code, 0) << name << ": " << made.err;
    EXPECT_EQ(loom({"show", folder / (name + ".entity")}).code, 0) << name;
  }
}

TEST(OnnxFiles, ABrokenOneNamesTheNode) {
  LOOM_TEST_FILE(path, "models/silero_vad/silero_vad_op18_ifless.onnx");
  const Folder folder;
  const std::string whole = file_bytes(path);
  LOOM_EXPECT_REFUSED(loom({"show", folder.write("cut.onnx", whole.substr(0, whole.size() / 2))}),
                      3, "takes");
}

}  // namespace
}  // namespace loom::test
