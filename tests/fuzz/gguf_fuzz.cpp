#include "formats/gguf/gguf.h"

#include "fuzz.h"

// Every typed reader on every key: a value or an error, and the same one from both sources.
static void check_values(const loom::Gguf& a, const loom::Gguf& b) {
  FUZZ_CHECK(a.metadata().size() == b.metadata().size());
  for (const loom::Gguf::Entry& entry : a.metadata()) {
    FUZZ_CHECK(a.find_key(entry.key) == &entry);
    FUZZ_CHECK(*a.describe(entry) == *b.describe(entry));
    const auto same = [](const auto& x, const auto& y) {
      FUZZ_CHECK(x.ok() == y.ok() && x.status().to_string() == y.status().to_string());
    };
    same(a.get_u32(entry.key), b.get_u32(entry.key));
    same(a.get_u64(entry.key), b.get_u64(entry.key));
    same(a.get_f32(entry.key), b.get_f32(entry.key));
    same(a.get_bool(entry.key), b.get_bool(entry.key));
    same(a.get_string(entry.key), b.get_string(entry.key));
    same(a.get_strings(entry.key), b.get_strings(entry.key));
    same(a.get_integers(entry.key), b.get_integers(entry.key));
    same(a.get_floats(entry.key), b.get_floats(entry.key));
  }
}

FUZZ_TARGET(data, size) {
  using namespace loom;
  const auto mapped = Gguf::open(fuzz::view_source(data, size)), called = Gguf::open(fuzz::callback_source(data, size));
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (!mapped.ok()) {
    fuzz::check_refusal(mapped.status());
    return;
  }
  fuzz::check_tensors(mapped->tensors(), called->tensors(), size);
  check_values(*mapped, *called);
  for (const TensorInfo& tensor : mapped->tensors()) FUZZ_CHECK(mapped->find(tensor.name) == &tensor);
}
