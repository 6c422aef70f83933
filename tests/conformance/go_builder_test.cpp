// The JSON of the Go engine's builder: networks mean what they meant there.
#include <gtest/gtest.h>

#include <cmath>

#include "exec/session.h"

namespace loom {
namespace {

// One row of cells, one layer in each: {"type": ...} without its place.
std::string network_of(const std::vector<std::string>& layers) {
  std::string out = R"({"id":"a","depth":1,"rows":1,"cols":1,"layers_per_cell":)" +
                    std::to_string(layers.size()) + R"(,"layers":[)";
  for (std::size_t l = 0; l < layers.size(); ++l)
    out +=
        (l ? "," : "") + (R"({"z":0,"y":0,"x":0,"l":)" + std::to_string(l)) + "," + layers[l] + "}";
  return out + "]}";
}

Network built(const std::vector<std::string>& layers) {
  auto n = Network::from_json(std::string_view(network_of(layers)));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(1).ok());
  return std::move(*n);
}

void set(Network& n, const char* path, const char* role, const std::vector<float>& values) {
  WeightStore* store = n.find(path, role);
  ASSERT_TRUE(store) << path << ":" << role;
  ASSERT_EQ(store->mutable_master().size(), values.size()) << path << ":" << role;
  std::copy(values.begin(), values.end(), store->mutable_master().begin());
  store->touch();
}

std::vector<float> answer(Network& n, const std::vector<float>& x) {
  ThreadPool pool(1);
  auto s = Session::create(n, pool, {.max_rows = 1, .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  const auto ran = s->run(std::span(x), 1);
  EXPECT_TRUE(ran.ok()) << ran.status().to_string();
  return {s->output(0).begin(), s->output(0).end()};
}

// y = W2 relu(W1 x), without biases.
TEST(GoBuilder, Dense) {
  Network n = built({R"("type":"Dense","activation":"ReLU","input_height":3,"output_height":2)",
                     R"("type":"DENSE","input_height":2,"output_height":1,"dtype":"fp32")"});
  EXPECT_EQ(n.version(), 3);
  EXPECT_EQ(n.find("0.0.0.0", "bias"), nullptr);
  set(n, "0.0.0.0", "weight", {1, 0, 2, -1, 1, 0.5f});
  set(n, "0.0.0.1", "weight", {3, 4});
  EXPECT_EQ(answer(n, {1, 2, -1}), std::vector<float>{2});  // relu(-1, 0.5) = (0, 0.5)
}

// A dense layer takes what a convolution gives as one row; a convolution counts a row by its sizes.
TEST(GoBuilder, RowsAreFlattenedAndCounted) {
  Network n = built({R"("type":"DENSE","input_height":2,"output_height":4)",
                     R"("type":"CNN1","activation":"RELU","input_channels":1,"input_height":4,)"
                     R"("filters":2,"kernel_size":2,"stride":1,"output_height":3)",
                     R"("type":"DENSE","input_height":6,"output_height":1)"});
  set(n, "0.0.0.0", "weight", {1, 0, 0, 1, 2, 0, 0, 2});
  set(n, "0.0.0.1/1", "weight", {1, -1, -1, 1});
  set(n, "0.0.0.2/1", "weight", {1, 10, 100, 1000, 10000, 100000});
  // (1, 3, 2, 6): differences (-2, 1, -4), their negatives (2, -1, 4); relu keeps 1, 2, 4.
  EXPECT_EQ(answer(n, {1, 3}), std::vector<float>{10 + 2000 + 400000});
}

// h_t = tanh(W_ih x_t + W_hh h_(t-1) + b) over the two steps of a row.
TEST(GoBuilder, Recurrence) {
  Network n = built({R"("type":"RNN","input_height":2,"output_height":1,"seq_length":2)"});
  set(n, "0.0.0.0", "weight_ih_l0", {0.5f, -1});
  set(n, "0.0.0.0", "weight_hh_l0", {2});
  set(n, "0.0.0.0", "bias_ih_l0", {0.125f});
  set(n, "0.0.0.0", "bias_hh_l0", {0});
  const std::vector<float> y = answer(n, {1, 0.25f, -1, 0.5f});
  ASSERT_EQ(y.size(), 2u);
  const double first = std::tanh(0.5 - 0.25 + 0.125);
  EXPECT_NEAR(y[0], first, 1e-6);
  EXPECT_NEAR(y[1], std::tanh(-0.5 - 0.5 + 2 * first + 0.125), 1e-6);
}

// [A, residual] gives A(x) + x inside of a sequential; in a cell of its own it passes its input on.
TEST(GoBuilder, ResidualsAndBranches) {
  const std::string dense = R"({"type":"DENSE","input_height":2,"output_height":2})";
  Network n =
      built({R"("type":"DENSE","input_height":2,"output_height":2)",
             R"("type":"SEQUENTIAL","sequential_layers":[)" + dense + R"(,{"type":"RESIDUAL"}])",
             R"("type":"RESIDUAL")",
             R"("type":"PARALLEL","combine_mode":"add","parallel_branches":[)" + dense + "," +
                 dense + "]"});
  set(n, "0.0.0.0", "weight", {1, 0, 0, 1});
  set(n, "0.0.0.1/0", "weight", {0, 1, 1, 0});
  set(n, "0.0.0.3/0", "weight", {1, 0, 0, 1});
  set(n, "0.0.0.3/1", "weight", {0, 0, 0, 1});
  // (4, 1) + (1, 4), and its second value once more.
  EXPECT_EQ(answer(n, {1, 4}), (std::vector<float>{5, 10}));
}

// softmax(-|x - c|^2 / (2 T^2)), and rows of a grid that are distributions.
TEST(GoBuilder, KMeansAndSoftmax) {
  Network n =
      built({R"("type":"KMEANS","input_height":1,"num_clusters":2,"kmeans_temperature":2)"});
  set(n, "0.0.0.0", "centers", {0, 4});
  const float p = answer(n, {1})[0];
  EXPECT_NEAR(p, 1 / (1 + std::exp(-9.0 / 8 + 1.0 / 8)), 1e-6);
  Network grid = built({R"("type":"SOFTMAX","softmax_type":1,"softmax_rows":2,"softmax_cols":2)"});
  const std::vector<float> y = answer(grid, {0, 0, 1, 0});
  EXPECT_EQ(y[0], 0.5f);
  EXPECT_NEAR(y[2], 1 / (1 + std::exp(-1.0)), 1e-6);
}

// Whole networks as topologies: what the sizes say is checked by planning.
TEST(GoBuilder, EveryTypeHasItsMeaning) {
  const auto topology = [](const std::vector<std::string>& layers) {
    auto n = Network::from_json(std::string_view(network_of(layers)));
    return n.ok() ? n->to_json().dump() : n.status().to_string();
  };
  const std::string text = topology(
      {R"("type":"Embedding","vocab_size":9,"embedding_dim":4,"seq_length":3)",
       R"("type":"LayerNorm","input_height":4)",
       R"("type":"MultiHeadAttention","d_model":4,"num_heads":2,"num_kv_heads":1,"seq_length":3)",
       R"("type":"RMSNorm","input_height":4)",
       R"("type":"SwiGLU","input_height":4,"output_height":5,"activation":"SILU","dtype":"INT8")",
       R"("type":"LSTM","input_height":4,"output_height":3,"seq_length":3,"use_tiling":true)",
       R"("type":"Softmax","softmax_type":9,"entmax_alpha":2)",
       R"("type":"Dense","activation":"leaky_relu","input_height":9,"output_height":2)"});
  for (const char* part :
       {R"("input":{"ids":9,"dims":[3]})", R"("type":"embedding","out":4)",
        R"("type":"attention","heads":2,"kv_heads":1)", R"("qkv_bias":true,"out_bias":true)",
        R"("type":"rms_norm","eps":1e-6)", R"("type":"swiglu","hidden":5,"bias":true)",
        R"("dtype":"i8")", R"("type":"lstm","hidden":3)", R"({"type":"flatten"})",
        R"("kind":"sparsemax")",
        R"("type":"dense","out":2,"bias":false,"activation":"leaky_relu")"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  const std::string image = topology(
      {R"("type":"CNN2","input_channels":3,"input_height":8,"filters":4,"kernel_size":3,)"
       R"("stride":2,"padding":1,"output_height":4,"output_width":4)",
       R"("type":"ConvTransposed2D","input_channels":4,"input_height":4,"filters":2,)"
       R"("kernel_size":2,"stride":2)",
       R"("type":"CNN3","input_channels":2,"input_depth":2,"input_height":4,"input_width":8,)"
       R"("filters":1,"kernel_size":2)",
       R"("type":"ConvTransposed1D","input_channels":1,"input_width":21,"filters":1,)"
       R"("kernel_size":3)",
       R"("type":"KMEANS","num_clusters":2,"output_mode":"features")"});
  for (const char* part : {R"("input":{"dims":[3,8,8])", R"("type":"conv2d","filters":4)",
                           R"({"type":"reshape","dims":[2,2,4,8]})", R"("type":"conv_transpose1d")",
                           R"("output":"features")"})
    EXPECT_NE(image.find(part), std::string::npos) << part << " in " << image;
}

// Cells in the order z, y, x, l, whatever the order of the list.
TEST(GoBuilder, CellsHaveTheirPlaces) {
  const char* json = R"({"id":"n","depth":1,"rows":2,"cols":1,"layers_per_cell":1,"layers":[)"
                     R"({"y":1,"type":"DENSE","input_height":5,"output_height":2},)"
                     R"({"y":0,"type":"DENSE","input_height":3,"output_height":5}]})";
  auto n = Network::from_json(std::string_view(json));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_EQ(n->input().width, 3);
  EXPECT_EQ(n->find("0.1.0.0", "weight")->cols(), 5);
}

// Where the builder went on in silence, and what the JSON does not say in full.
TEST(GoBuilder, Refusals) {
  const std::string dense = R"("type":"DENSE","input_height":2,"output_height":2)";
  const std::pair<std::string, const char*> cases[] = {
      {R"("type":"DENS")", "unknown type 'DENS'; did you mean \"DENSE\"?"},
      {dense + R"(,"activation":"swish")", "unknown activation 'swish'"},
      {dense + R"(,"dtype":"INT3")", "unknown dtype 'INT3'"},
      {dense + R"(,"colour":"red")", "colour"},
      {dense + R"(,"input_hieght":2)", "input_height"},
      {R"("type":"DENSE","output_height":2)", "input_height is missing"},
      {dense + R"(,"weights":"AAAA")", "of a saved network: network_load"},
      {dense + R"(,"is_remote_link":true)", "passes over"},
      {R"("type":"META")", "meta_observed_layer"},
      {R"("type":"META","meta_rules":[{}],"meta_observed_layer":{)" + dense + "}",
       "of the type METACOGNITION"},
      {R"("type":"RMSNORM","input_height":2,"activation":"RELU")",
       "the activation 'RELU' of rms_norm"},
      {R"("type":"CNN1","input_channels":1,"input_height":4,"filters":1,"kernel_size":2,)"
       R"("output_height":4)",
       "its output has 3 places"},
      {R"("type":"CNN1","input_channels":1,"input_height":4,"filters":1,"kernel_size":9)",
       "does not fit"},
      {R"("type":"SOFTMAX","input_height":4,"softmax_type":9)", "entmax_alpha"},
      {R"("type":"PARALLEL","parallel_branches":[]})", ""},
      {R"("type":"SOFTMAX","input_height":4,"softmax_type":10)", "there are 0 to 9"}};
  for (const auto& [layer, part] : cases) {
    const auto n = Network::from_json(std::string_view(network_of({layer})));
    ASSERT_FALSE(n.ok()) << layer;
    EXPECT_NE(n.status().to_string().find(part), std::string::npos) << n.status().to_string();
  }
  const auto status = [](const std::string& json) {
    return Network::from_json(std::string_view(json)).status().to_string();
  };
  EXPECT_NE(status(network_of({dense, R"("type":"DENSE","input_height":3,"output_height":1)"}))
                .find("makes rows of [3], and [2] arrives"),
            std::string::npos);
  EXPECT_NE(status(R"({"id":"n","layers_per_cell":2,"layers":[{)" + dense + "}]}")
                .find("the grid has 2 cells, and layers are 1"),
            std::string::npos);
  EXPECT_NE(status(R"({"id":"n","layers_per_cell":2,"layers":[{)" + dense + "},{" + dense + "}]}")
                .find("its cell stands twice"),
            std::string::npos);
  EXPECT_NE(status(R"({"idd":"n","layers":[{)" + dense + "}]}").find("idd"), std::string::npos);
}

}  // namespace
}  // namespace loom
