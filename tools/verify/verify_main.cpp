// The verifying program of targets that have no `loom` (./dev verify --all-targets): the numerics
// table, the matrix of layers, then "all FINGERPRINT LAYERS": the fingerprint of the table, which
// is golden, and that of the matrix.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/files/sha256.h"
#include "conformance/layer_samples.h"
#include "verify/verify.h"

namespace loom {
namespace {

// A row per layer type and dtype of what the CPU's matrix (tests/conformance/matrix_test.cpp)
// compares: the outputs, and the gradients of all parameters.
Status add_layers(const std::string& isa, std::vector<VerifyRow>& rows) {
  for (const LayerType* type : test::sampled_types()) {
    for (int d = 0; d < kDTypeCount; ++d) {
      Sha256 forward, backward;
      for (const test::LayerSample& sample : test::samples_of(*type)) {
        LOOM_ASSIGN(Network network,
                    test::network_of(sample, default_format(static_cast<DType>(d))));
        LOOM_ASSIGN(const std::vector<float> y, test::outputs_of(network, {.isa = isa}));
        LOOM_ASSIGN(const std::vector<test::Slope> slopes, test::slopes_of(network, {.isa = isa}));
        forward.update_f32(y);
        for (const test::Slope& s : slopes) {
          backward.update_text(s.name);
          backward.update_f64(s.values);
        }
      }
      const std::string name = "layer " + std::string(type->name()) + " " +
                               std::string(loom::name(static_cast<DType>(d)));
      rows.push_back({name + " forward", Sha256::hex(forward.finish()), ""});
      rows.push_back({name + " backward", Sha256::hex(backward.finish()), ""});
    }
  }
  return {};
}

int run(int argc, char** argv) {
  VerifyOptions options;
  int threads = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--isa") == 0) options.isa = argv[i + 1];
    if (std::strcmp(argv[i], "--threads") == 0) threads = std::atoi(argv[i + 1]);
  }
  ThreadPool pool(threads);
  const auto table = run_verify(pool, options);
  std::vector<VerifyRow> layers;
  const Status status = table.ok() ? add_layers(options.isa, layers) : table.status();
  if (!status.ok()) {
    std::fprintf(stderr, "loom_verify: %s\n", status.to_string().c_str());
    return 1;
  }
  const auto print = [](const std::vector<VerifyRow>& rows) {
    for (const VerifyRow& r : rows) std::printf("%s %s\n", r.name.c_str(), r.hash.c_str());
  };
  print(*table);
  print(layers);
  std::printf("all %s %s\n", fingerprint(*table).c_str(), fingerprint(layers).c_str());
  return 0;
}

}  // namespace
}  // namespace loom

int main(int argc, char** argv) { return loom::run(argc, argv); }
