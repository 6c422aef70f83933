// Silero VAD, a published network with a recurrent state, over the speech of jfk.wav: the
// probabilities of a float64 reference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "onnx/import.h"
#include "support/data.h"

namespace loom::onnx {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Two exports of it: cells of Gemm, and an LSTM behind branches and arithmetic of shapes.
void expect_reference(const std::string& model_path) {
  LOOM_TEST_FILE(golden_path, "models/silero_vad/golden_jfk_op18.f32");
  LOOM_TEST_FILE(wav_path, "audio/jfk.wav");
  const std::string golden = bytes_of(golden_path), wav = bytes_of(wav_path);
  const std::size_t count = golden.size() / 4, data = wav.find("data") + 8;
  std::vector<double> audio(512 * count, 0.0);
  for (std::size_t i = 0; i < audio.size() && data + 2 * i + 1 < wav.size(); ++i) {
    std::int16_t v;
    std::memcpy(&v, wav.data() + data + 2 * i, 2);
    audio[i] = v / 32768.0;
  }
  auto model = open_model(model_path);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const Runner runner(std::move(*model));
  std::vector<double> state(256, 0.0), window(576, 0.0);
  double worst = 0;
  for (std::size_t w = 0; w < count; ++w) {
    std::copy(window.end() - 64, window.end(), window.begin());
    std::copy_n(audio.begin() + static_cast<std::ptrdiff_t>(512 * w), 512, window.begin() + 64);
    const double rate = 16000;
    std::vector<Runner::Input> inputs;
    inputs.push_back({"input", *make_tensor("input", Type::f32, {1, 576}, window)});
    inputs.push_back({"state", *make_tensor("state", Type::f32, {2, 1, 128}, state)});
    inputs.push_back({"sr", *make_tensor("sr", Type::i64, {}, {&rate, 1})});
    const auto out = runner.run(inputs);
    ASSERT_TRUE(out.ok()) << out.status().to_string();
    ASSERT_EQ(out->size(), 2u);
    EXPECT_EQ((*out)[0].name, "output");
    state = (*out)[1].values;
    float want;
    std::memcpy(&want, golden.data() + 4 * w, 4);
    worst = std::max(worst, std::fabs((*out)[0].values[0] - want));
  }
  EXPECT_GT(count, 300u);
  EXPECT_LT(worst, 1e-4);
}

TEST(Onnx, SileroVadEqualsItsReference) {
  LOOM_TEST_FILE(cells, "models/silero_vad/silero_vad_op18_ifless.onnx");
  LOOM_TEST_FILE(lstm, "models/silero_vad/silero_vad_16k_op15.onnx");
  for (const std::string& path : {std::string(cells), std::string(lstm)}) {
    SCOPED_TRACE(path);
    expect_reference(path);
  }
}

// A value that must be known before the run is imported anew when it changes.
TEST(Onnx, KnownValuesMayChangeFromRunToRun) {
  LOOM_TEST_FILE(path, "models/silero_vad/silero_vad_op18_ifless.onnx");
  auto model = open_model(path);
  ASSERT_TRUE(model.ok());
  const Runner runner(std::move(*model));
  const auto run = [&](double rate, std::int64_t width) {
    std::vector<Runner::Input> inputs;
    inputs.push_back(
        {"input", *make_tensor("input", Type::f32, {1, width},
                               std::vector<double>(static_cast<std::size_t>(width), 0.1))});
    inputs.push_back(
        {"state", *make_tensor("state", Type::f32, {2, 1, 128}, std::vector<double>(256, 0.0))});
    inputs.push_back({"sr", *make_tensor("sr", Type::i64, {}, {&rate, 1})});
    auto out = runner.run(inputs);
    EXPECT_TRUE(out.ok()) << out.status().to_string();
    return out.ok() ? (*out)[0].values[0] : -1;
  };
  const double wide = run(16000, 576), narrow = run(8000, 288);
  EXPECT_NE(wide, narrow);
  EXPECT_EQ(run(16000, 576), wide);
  EXPECT_EQ(run(8000, 288), narrow);
}

TEST(Onnx, TensorsHoldWhatTheirTypesDo) {
  const double values[] = {1.5, 300, -1};
  EXPECT_TRUE(make_tensor("x", Type::f16, {3}, values).ok());
  EXPECT_EQ(make_tensor("x", Type::u8, {3}, values).status().code(), Code::out_of_range);
  EXPECT_EQ(make_tensor("x", Type::f32, {2}, values).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_tensor("x", Type::f32, {-3}, values).status().code(), Code::invalid_argument);
  EXPECT_EQ(make_tensor("x", Type::string, {3}, values).status().code(), Code::unsupported);
}

}  // namespace
}  // namespace loom::onnx
