#include "formats/npy/npy.h"

#include "fuzz.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const auto mapped = open_npy(fuzz::view_source(data, size)),
             called = open_npy(fuzz::callback_source(data, size));
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (!mapped.ok()) {
    fuzz::check_refusal(mapped.status());
    return;
  }
  fuzz::check_tensors({*mapped}, {*called}, size);
}
