// Trains a small network, shows its results with fewer bits, and saves it.
// c++ -std=c++20 xor.cpp -lloom
#include <cstdio>
#include <vector>

#include <loom/layers.hpp>
#include <loom/loom.hpp>

namespace layers = loom::layers;

int main() try {
  const std::vector<float> x = {0, 0, 0, 1, 1, 0, 1, 1}, y = {0, 1, 1, 0};
  loom::Network network(
      layers::sequential({layers::input(2), layers::dense({.out = 16, .activation = "tanh"}),
                          layers::dense({.out = 1})}),
      /*seed=*/1);

  loom::Trainer trainer(network, loom::Data::values({x, {4, 2}}, {y, {4, 1}}),
                        {.loss = "mse", .lr = 0.02, .steps = 500, .batch = 4});
  for (loom::Trainer::Report r = trainer.step(0); r.step < 500;) {
    r = trainer.step(100);
    std::printf("step %3lld  loss %.6f\n", static_cast<long long>(r.step), r.loss);
  }

  loom::Session session(network, {.max_rows = 4});
  for (const char* format : {"f32", "bf16", "i8", "i4"}) {
    network.morph(format);
    const loom::Tensor<float> out = session.run({x, {4, 2}});
    std::printf("%-4s  0^0 %6.3f  0^1 %6.3f  1^0 %6.3f  1^1 %6.3f\n", format, out[0], out[1],
                out[2], out[3]);
  }
  network.morph("f32");
  network.save("xor.entity");
  std::printf("sha256 %s\n", network.digest().c_str());
  return 0;
} catch (const loom::Error& e) {
  std::fprintf(stderr, "%s: %s\n", e.code_name(), e.what());
  return 1;
}
