#include "formats/safetensors/safetensors.h"

#include "fuzz.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const auto mapped = Safetensors::open(fuzz::view_source(data, size)), called = Safetensors::open(fuzz::callback_source(data, size));
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (!mapped.ok()) {
    fuzz::check_refusal(mapped.status());
    return;
  }
  fuzz::check_tensors(mapped->tensors(), called->tensors(), size);
  FUZZ_CHECK(mapped->metadata() == called->metadata());
  for (const TensorInfo& tensor : mapped->tensors()) FUZZ_CHECK(mapped->find(tensor.name) == &tensor);
}
