// Published networks, built from Loom's layers with the weights of their safetensors files, tensor
// by tensor: a classifier of digits, a detector of speech.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "conformance/support.h"
#include "exec/session.h"
#include "formats/safetensors/safetensors.h"
#include "support/data.h"
#include "support/digits.h"

namespace loom {
namespace {

// A row of cells, one after another.
Network chain(std::int64_t width, std::initializer_list<const char*> layers) {
  Json cells = Json::array();
  std::int64_t at = 0;
  for (const char* layer : layers) {
    auto cell = Json::parse(layer);
    EXPECT_TRUE(cell.ok()) << layer;
    cell->set("at", Json(Json::Array{Json(0), Json(0), Json(0), Json(at++)}));
    cells.push(std::move(*cell));
  }
  Json t = Json::object(), in = Json::object();
  in.set("width", width);
  t.set("format", "loom-topology");
  t.set("version", 1);
  t.set("layers_per_cell", at);
  t.set("input", std::move(in));
  t.set("cells", std::move(cells));
  auto network = Network::from_json(t);
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  return std::move(*network);
}

// Every tensor of the file to the parameter of that name; both sides are used up.
void load(Network& network, const Safetensors& file,
          const std::vector<std::pair<std::string, std::string>>& names) {
  EXPECT_EQ(file.tensors().size(), names.size());
  EXPECT_EQ(network.params().size(), names.size());
  for (const auto& [tensor, to] : names) {
    const TensorInfo* t = file.find(tensor);
    ASSERT_TRUE(t) << tensor;
    const std::size_t colon = to.find(':');
    WeightStore* store = network.find(to.substr(0, colon), to.substr(colon + 1));
    ASSERT_TRUE(store) << to;
    ASSERT_EQ(store->mutable_master().size(), t->elements()) << tensor;
    ASSERT_TRUE(read_f32(*t, 0, store->mutable_master()).ok()) << tensor;
    store->touch();
  }
}

TEST(Published, MnistCnnIsRightAsOftenAsItsProvenanceSays) {
  LOOM_TEST_FILE(weights, "models/mnist_cnn/model-mnist.safetensors");
  LOOM_TEST_FILE(images_path, "mnist/t10k-images-idx3-ubyte.gz");
  LOOM_TEST_FILE(labels_path, "mnist/t10k-labels-idx1-ubyte.gz");
  const auto file = Safetensors::open(*open_source(weights));
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  Network network = chain(
      784, {R"({"type": "reshape", "dims": [1, 28, 28]})",
            R"({"type": "conv2d", "filters": 8, "kernel": 3, "padding": 1, "activation": "relu"})",
            R"({"type": "max_pool2d", "kernel": 2})",
            R"({"type": "conv2d", "filters": 16, "kernel": 3, "padding": 1, "activation": "relu"})",
            R"({"type": "max_pool2d", "kernel": 2})", R"({"type": "flatten"})",
            R"({"type": "dense", "out": 10})"});
  load(network, *file,
       {{"conv1.weight", "0.0.0.1:weight"},
        {"conv1.bias", "0.0.0.1:bias"},
        {"conv2.weight", "0.0.0.3:weight"},
        {"conv2.bias", "0.0.0.3:bias"},
        {"fc1.weight", "0.0.0.6:weight"},
        {"fc1.bias", "0.0.0.6:bias"}});
  EXPECT_EQ(test::right_digits(network, images_path, labels_path), 9862);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// So many samples of a WAV file with 16 bits, silence behind its end.
std::vector<float> samples_of(const std::string& wav, std::size_t count) {
  const std::size_t data = wav.find("data") + 8;
  std::vector<float> audio(count, 0.0f);
  for (std::size_t i = 0; i < audio.size() && data + 2 * i + 1 < wav.size(); ++i) {
    std::int16_t v;
    std::memcpy(&v, wav.data() + data + 2 * i, 2);
    audio[i] = static_cast<float>(v) / 32768;
  }
  return audio;
}

Network silero_vad() {
  return chain(
      576,
      {R"({"type": "index_select", "dims": [1, 640], "runs": [0, 1, 576, 574, -1, 64]})",
       R"({"type": "conv1d", "filters": 258, "kernel": 256, "stride": 128, "bias": false})",
       R"({"type": "unary", "op": "square"})",
       R"({"type": "reduce", "op": "sum", "dims": [2, 129, 4], "axes": [0], "keep": false})",
       R"({"type": "unary", "op": "sqrt"})",
       R"({"type": "conv1d", "filters": 128, "kernel": 3, "padding": 1, "activation": "relu"})",
       R"({"type": "conv1d", "filters": 64, "kernel": 3, "stride": 2, "padding": 1, "activation": "relu"})",
       R"({"type": "conv1d", "filters": 64, "kernel": 3, "stride": 2, "padding": 1, "activation": "relu"})",
       R"({"type": "conv1d", "filters": 128, "kernel": 3, "padding": 1, "activation": "relu"})",
       R"({"type": "reshape", "dims": [1, 128]})",
       R"({"type": "lstm", "hidden": 128, "stateful": true, "output": "last"})",
       R"({"type": "activation", "activation": "relu"})",
       R"({"type": "dense", "out": 1, "activation": "sigmoid"})"});
}

// Windows of 512 samples behind 64 of the last, the end mirrored: amplitudes of a Fourier transform
// as a convolution, four convolutions, an LSTM that goes on from window to window.
TEST(Published, SileroVadFromSafetensorsEqualsItsReference) {
  LOOM_TEST_FILE(weights, "models/silero_vad/silero_vad_16k.safetensors");
  LOOM_TEST_FILE(golden_path, "models/silero_vad/golden_jfk_safetensors.f32");
  LOOM_TEST_FILE(wav_path, "audio/jfk.wav");
  const auto file = Safetensors::open(*open_source(weights));
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  Network network = silero_vad();
  load(network, *file,
       {{"stft_conv.weight", "0.0.0.1:weight"},
        {"conv1.weight", "0.0.0.5:weight"},
        {"conv1.bias", "0.0.0.5:bias"},
        {"conv2.weight", "0.0.0.6:weight"},
        {"conv2.bias", "0.0.0.6:bias"},
        {"conv3.weight", "0.0.0.7:weight"},
        {"conv3.bias", "0.0.0.7:bias"},
        {"conv4.weight", "0.0.0.8:weight"},
        {"conv4.bias", "0.0.0.8:bias"},
        {"lstm_cell.weight_ih", "0.0.0.10:weight_ih_l0"},
        {"lstm_cell.weight_hh", "0.0.0.10:weight_hh_l0"},
        {"lstm_cell.bias_ih", "0.0.0.10:bias_ih_l0"},
        {"lstm_cell.bias_hh", "0.0.0.10:bias_hh_l0"},
        {"final_conv.weight", "0.0.0.12:weight"},
        {"final_conv.bias", "0.0.0.12:bias"}});
  const std::string golden = bytes_of(golden_path), wav = bytes_of(wav_path);
  const std::size_t count = golden.size() / 4;
  ASSERT_GT(count, 300u);
  const std::vector<float> audio = samples_of(wav, 512 * count);
  std::vector<float> window(576, 0.0f);
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {.max_rows = 1});
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  double worst = 0;
  int speech = 0;
  for (std::uint32_t w = 0; w < count; ++w) {
    std::copy(window.end() - 64, window.end(), window.begin());
    std::copy_n(audio.begin() + 512 * static_cast<std::ptrdiff_t>(w), 512, window.begin() + 64);
    const std::uint32_t sequence = 0;
    const auto y = session->run(window, {&sequence, 1}, {&w, 1});
    ASSERT_TRUE(y.ok()) << y.status().to_string();
    float want;
    std::memcpy(&want, golden.data() + 4 * w, 4);
    worst = std::max(worst, std::fabs(static_cast<double>((*y)[0]) - want));
    speech += (*y)[0] > 0.5f;
  }
  EXPECT_LT(worst, 1e-4);
  EXPECT_EQ(speech, 233);
}

}  // namespace
}  // namespace loom
