// Language models of files: a GGUF file with its tokenizer, or a two-byte little-endian length,
// that many bytes of config.json, then a safetensors file. A network whose every value came from
// the file, or a refusal with words.
#include "base/files/bytes.h"
#include "formats/gguf/gguf.h"
#include "formats/safetensors/safetensors.h"
#include "fuzz.h"
#include "llm/import/import.h"
#include "llm/model.h"
#include "mutate.h"

namespace {

using namespace loom;

void refused(const Status& status) {
  const Code code = status.code();
  FUZZ_CHECK(code != Code::internal && code != Code::io && code != Code::out_of_memory);
  FUZZ_CHECK(!status.message().empty() && status.message().size() < 20'000);
}

void import(const Result<ModelConfig>& config, std::span<const TensorInfo> tensors, Naming naming,
            std::size_t size) {
  if (!config.ok()) return refused(config.status());
  const Status check = check_import(*config, tensors, naming, "input");
  auto network = import_network(*config, tensors, naming, "input");
  // What is looked at first says the same as what reads the values.
  if (!check.ok()) {
    FUZZ_CHECK(!network.ok());
    return refused(check);
  }
  if (!network.ok()) return refused(network.status());
  // A tensor of one bit a value is the smallest there is.
  FUZZ_CHECK(static_cast<std::uint64_t>(network->parameter_count()) <= 16 * size);
}

}  // namespace

FUZZ_TARGET(data, size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with("GGUF")) {
    const auto file = Gguf::open(fuzz::view_source(data, size));
    if (!file.ok()) return fuzz::check_refusal(file.status());
    const auto tokenizer = tokenizer_from_gguf(*file);
    if (!tokenizer.ok()) refused(tokenizer.status());
    return import(config_from_gguf(*file), file->tensors(), Naming::gguf, size);
  }
  if (size < 2) return;
  const std::size_t length = std::min<std::size_t>(load_le<std::uint16_t>(data), size - 2);
  const auto json = Json::parse(input.substr(2, length));
  const auto file = Safetensors::open(fuzz::view_source(data + 2 + length, size - 2 - length));
  if (!file.ok()) fuzz::check_refusal(file.status());
  if (!json.ok()) return;
  const auto config = config_from_hf(*json);
  if (!file.ok()) return config.ok() ? void() : refused(config.status());
  import(config, file->tensors(), Naming::hf, size);
}

// Numbers of config.json, whose length stays right.
FUZZ_MUTATOR(file, dice) {
  if (file.size() < 2 || file.starts_with("GGUF")) return fuzz::mutate_part(file, 0, file.size());
  const std::size_t length =
      std::min<std::size_t>(load_le<std::uint16_t>(file.data()), file.size() - 2);
  std::string config = file.substr(2, length), rest = file.substr(2 + length);
  if (dice.one_in(2)) fuzz::mutate_number(config, dice);
  else if (dice.one_in(2)) fuzz::mutate_part(config, 0, config.size());
  else
    fuzz::mutate_in_place(
        rest, 8, std::min<std::size_t>(2000, rest.size() - std::min<std::size_t>(8, rest.size())));
  std::string head(2, '\0');
  store_le<std::uint16_t>(head.data(),
                          static_cast<std::uint16_t>(std::min<std::size_t>(config.size(), 65535)));
  file = head + config + rest;
}
