#include "formats/safetensors/safetensors.h"

#include "fuzz.h"
#include "mutate.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const auto mapped = Safetensors::open(fuzz::view_source(data, size)),
             called = Safetensors::open(fuzz::callback_source(data, size));
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (!mapped.ok()) {
    fuzz::check_refusal(mapped.status());
    return;
  }
  fuzz::check_tensors(mapped->tensors(), called->tensors(), size);
  FUZZ_CHECK(mapped->metadata() == called->metadata());
  for (const TensorInfo& tensor : mapped->tensors())
    FUZZ_CHECK(mapped->find(tensor.name) == &tensor);
}

// The length before the header is made right, and mostly the data are as long as it says.
FUZZ_MUTATOR(file, dice) {
  using namespace loom;
  if (file.size() < 8) file.resize(8);
  const auto n = static_cast<std::size_t>(
      std::min<std::uint64_t>(load_le<std::uint64_t>(file.data()), file.size() - 8));
  std::string header = file.substr(8, n), data = file.substr(8 + n);
  switch (dice.below(4)) {
    case 0: fuzz::mutate_part(header, 0, header.size()); break;
    case 1:
    case 2: fuzz::mutate_number(header, dice); break;
    default: fuzz::mutate_in_place(data, 0, data.size());
  }
  if (!dice.one_in(8)) {
    std::uint64_t end = 0;
    for (std::size_t at = 0; (at = header.find("data_offsets", at)) != header.npos; ++at) {
      const std::size_t comma = header.find(',', at);
      if (comma == header.npos) break;
      end = std::max<std::uint64_t>(end, std::strtoull(header.c_str() + comma + 1, nullptr, 10));
    }
    data.resize(static_cast<std::size_t>(std::min<std::uint64_t>(end, 4096)));
  }
  std::string length(8, '\0');
  store_le<std::uint64_t>(length.data(), dice.one_in(16) ? dice.number() : header.size());
  file = length + header + data;
}
