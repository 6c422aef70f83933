#include "formats/torch/torch.h"

#include "fuzz.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const auto mapped = open_torch(fuzz::view_source(data, size)),
             called = open_torch(fuzz::callback_source(data, size));
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (!mapped.ok()) {
    fuzz::check_refusal(mapped.status());
    return;
  }
  FUZZ_CHECK(mapped->tensors.size() == called->tensors.size());
  FUZZ_CHECK(mapped->metadata == called->metadata);
  for (std::size_t i = 0; i < mapped->tensors.size(); ++i) {
    const TensorInfo &a = mapped->tensors[i], &b = called->tensors[i];
    FUZZ_CHECK(a.name == b.name && a.shape == b.shape && a.size == b.size && a.size <= 64 * size);
    std::vector<double> x(static_cast<std::size_t>(std::min<std::uint64_t>(a.elements(), 64))),
        y(x.size());
    FUZZ_CHECK(read_f64(a, 0, x).ok() && read_f64(b, 0, y).ok());
    FUZZ_CHECK(x.empty() || std::memcmp(x.data(), y.data(), 8 * x.size()) == 0);
  }
}
