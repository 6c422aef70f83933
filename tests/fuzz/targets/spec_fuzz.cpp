// Training specs are untrusted input: any text is a spec that is written the same way again, or a
// refusal with words.
#include "fuzz.h"
#include "mutate.h"
#include "train/spec/spec.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = parse_training_spec(text);
  if (!spec.ok()) {
    const Code code = spec.status().code();
    FUZZ_CHECK(code == Code::invalid_argument || code == Code::unsupported ||
               code == Code::corrupt || code == Code::out_of_range || code == Code::not_found);
    FUZZ_CHECK(!spec.status().message().empty() && spec.status().message().size() < 5000);
    return;
  }
  const std::string written = spec->to_json().dump();
  const auto again = parse_training_spec(std::string_view(written));
  FUZZ_CHECK(again.ok() && again->to_json().dump() == written);
}

FUZZ_MUTATOR(file, dice) {
  if (dice.one_in(2)) loom::fuzz::mutate_number(file, dice);
  else loom::fuzz::mutate_part(file, 0, file.size());
}
