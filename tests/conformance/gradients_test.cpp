// Gradients of every layer and of links against central finite differences in f64: relative error
// below 1e-5, batches of 3.
#include "conformance/support.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

const std::string kDense5 = R"("type":"dense","out":5,"dtype":"f64")";

TEST(Gradients, DenseWithEveryActivation) {
  for (const char* a : {"linear", "relu", "relu2", "leaky_relu", "silu", "gelu_tanh", "gelu_erf",
                        "tanh", "sigmoid", "softplus", "mish"}) {
    SCOPED_TRACE(a);
    check_gradients(
        chain(R"({"width":4})",
              {R"("type":"dense","out":7,"dtype":"f64","activation":")" + std::string(a) + "\"",
               kDense5}),
        false);
  }
}

TEST(Gradients, LossesOfValues) {
  for (const Loss loss : {Loss::mae, Loss::huber, Loss::bce})
    for (const char* out : {"1", "70"}) {
      SCOPED_TRACE(std::string(kLossNames[static_cast<std::size_t>(loss)]) + " of " + out);
      check_gradients(
          chain(R"({"width":4})", {R"("type":"dense","out":7,"dtype":"f64","activation":"tanh")",
                                   R"("type":"dense","dtype":"f64","out":)" + std::string(out)}),
          loss, 5, 1);
    }
}

// Targets that are probabilities, or any numbers; a class for a row, a step, or a pixel.
TEST(Gradients, SoftCrossEntropy) {
  const std::vector<std::string> networks = {
      chain(R"({"width":4})", {R"("type":"dense","out":70,"dtype":"f64")"}),
      chain(R"({"dims":[3,4]})", {R"("type":"dense","out":5,"dtype":"f64")"}, 2),
      chain(R"({"dims":[2,3,4]})",
            {R"("type":"conv2d","filters":5,"kernel":[3],"padding":[1],"dtype":"f64")"}, 2)};
  for (const std::string& network : networks)
    for (const double temperature : {1.0, 3.5}) {
      SCOPED_TRACE(network);
      check_gradients(network, Loss::soft_cross_entropy, 5, 1,
                      [&](Network&, LearnerOptions& o) { o.temperature = temperature; });
    }
}

TEST(Gradients, CrossEntropy) {
  check_gradients(chain(R"({"width":4})", {R"("type":"dense","out":70,"dtype":"f64")"}), true);
}

TEST(Gradients, Embedding) {
  check_gradients(
      chain(R"({"ids":6})", {R"("type":"embedding","out":5,"std":0.5,"dtype":"f64")", kDense5}),
      true, 1, 7);
}

TEST(Gradients, Norms) {
  check_gradients(chain(R"({"width":70})", {R"("type":"dense","out":70,"dtype":"f64")",
                                            R"("type":"rms_norm","dtype":"f64")", kDense5}),
                  false);
  check_gradients(chain(R"({"width":37})", {R"("type":"dense","out":37,"dtype":"f64")",
                                            R"("type":"layer_norm","dtype":"f64")", kDense5}),
                  false);
}

TEST(Gradients, Standardize) {
  check_gradients(chain(R"({"width":6})", {R"("type":"dense","out":37,"dtype":"f64")",
                                           R"("type":"standardize","missing":true,"dtype":"f64")",
                                           kDense5, R"("type":"standardize","dtype":"f64")"}),
                  false);
}

TEST(Gradients, Swiglu) {
  check_gradients(
      chain(R"({"width":6})", {R"("type":"dense","out":6,"dtype":"f64")",
                               R"("type":"swiglu","hidden":11,"bias":true,"dtype":"f64")"}),
      false);
}

TEST(Gradients, Attention) {
  const std::string first = R"("type":"dense","out":12,"dtype":"f64")";
  for (
      const char* settings :
      {R"("heads":2)", R"("heads":4,"kv_heads":2,"head_dim":6,"qkv_bias":true,"out_bias":true)",
       R"("heads":2,"qk_norm":true,"window":3)",
       R"("heads":3,"kv_heads":1,"causal":false,"rope_scaling":"llama3","rope_factor":8,"rope_original_positions":16)",
       R"("heads":2,"rope":false)",
       R"("heads":2,"rope_scaling":"linear","rope_factor":4,"head_dim":40)"}) {
    SCOPED_TRACE(settings);
    check_gradients(
        chain(R"({"width":5})",
              {first, R"("type":"attention","dtype":"f64",)" + std::string(settings), kDense5}),
        false, 3, 5);
  }
}

TEST(Gradients, AttentionAcrossBlocks) {
  // A window of 7 leaves whole blocks before it.
  for (const char* window : {"70", "7", "7,\"causal\":false"}) {
    SCOPED_TRACE(window);
    check_gradients(chain(R"({"width":3})",
                          {R"("type":"dense","out":8,"dtype":"f64")",
                           R"("type":"attention","dtype":"f64","heads":2,"kv_heads":1,"window":)" +
                               std::string(window)}),
                    false, 1, 150);
  }
}

TEST(Gradients, ResidualDecoderBlock) {
  const std::string block =
      R"("type":"sequential","dtype":"f64","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":2,"kv_heads":1}]},{"type":"residual"},
      {"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":20}]},{"type":"residual"}])";
  check_gradients(chain(R"({"ids":11})", {R"("type":"embedding","out":12,"std":0.5,"dtype":"f64")",
                                          block, block, R"("type":"rms_norm","dtype":"f64")",
                                          R"("type":"dense","out":11,"bias":false,"dtype":"f64")"}),
                  true, 3, 6);
}

TEST(Gradients, TiedEmbedding) {
  check_gradients(
      chain(R"({"ids":9})",
            {R"("type":"embedding","out":6,"std":0.5,"dtype":"f64")",
             R"("type":"layer_norm","dtype":"f64")",
             R"("type":"dense","out":9,"bias":false,"dtype":"f64","tie":"0.0.0.0:weight")"}),
      true, 3, 4);
}

// Fan-out, fan-in by all merges, a send, and a layer run from two places.
TEST(Gradients, Links) {
  const std::string d6 = R"("type":"dense","out":6,"dtype":"f64","activation":"tanh")";
  for (const char* merge : {"concat", "add", "avg"}) {
    SCOPED_TRACE(merge);
    check_gradients(
        chain(
            R"({"width":6})",
            {d6 + R"(,"links":[{"send":[0,0,0,4]}])", d6,
             d6 + R"(,"links":[{"read":[0,0,0,0]},{"read":[0,0,0,1]}],"merge":")" + merge + "\"",
             R"("links":[{"run":[0,0,0,1]}])",
             d6 + R"(,"links":[{"read":[0,0,0,1]}],"keep_previous":true,"merge":")" + merge + "\"",
             kDense5}),
        false);
  }
}

}  // namespace
}  // namespace loom
