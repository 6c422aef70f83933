// Topologies are untrusted input: any text is a network, with or without weights, which writes
// itself the same way again, or a refusal; never more memory than was allowed. A small one that
// plans has a program that verifies, or a refusal.
#include <string>

#include "exec/session.h"
#include "fuzz.h"
#include "grid/network.h"
#include "grid/saved_network.h"
#include "mutate.h"

// Programs are as long as sequences, so that only short rows are emitted.
static bool is_small(loom::Network& network) {
  constexpr std::int64_t kWidth = 512;
  bool small = network.size() <= 32 && network.parameter_count() <= (1 << 14) &&
               network.input().width <= kWidth;
  for (std::size_t i = 0; small && i < network.size(); ++i)
    small = network.output(i).width <= kWidth;
  return small;
}

FUZZ_TARGET(data, size) {
  using namespace loom;
  constexpr std::int64_t kLargest = 1 << 20, kCells = 4096;
  const auto json = Json::parse({reinterpret_cast<const char*>(data), size});
  if (!json.ok()) return;
  // Empty cells cost nothing in the text: large grids of them only take time here.
  std::int64_t cells = 1;
  for (const char* key : {"depth", "rows", "cols", "layers_per_cell"}) {
    const auto n = json->is_object() ? json->get_integer(key, 1) : Result<std::int64_t>(1);
    if (n.ok() && *n > 0 && (*n > kCells || (cells *= *n) > kCells)) return;
  }
  const auto typed = [](const Status& status) {
    const Code code = status.code();
    return (code == Code::invalid_argument || code == Code::unsupported || code == Code::corrupt ||
            code == Code::out_of_range) &&
           !status.message().empty();
  };
  auto saved = network_of_saved(*json, kLargest);
  FUZZ_CHECK(saved.ok() ? saved->parameter_count() <= kLargest : typed(saved.status()));
  auto network = saved.ok() ? std::move(saved) : Network::from_json(*json, kLargest);
  if (!network.ok()) {
    FUZZ_CHECK(typed(network.status()));
    return;
  }
  FUZZ_CHECK(network->parameter_count() <= kLargest);
  const std::string text = network->to_json().dump();
  const auto again = Network::from_json(std::string_view(text), kLargest);
  FUZZ_CHECK(again.ok() && again->to_json().dump() == text);
  if (!is_small(*network)) return;
  const auto program = emit_program(*network, {.max_rows = 2, .max_positions = 64});
  FUZZ_CHECK(program.ok() ? verify(*program).ok() : typed(program.status()));
}

FUZZ_MUTATOR(file, dice) {
  if (dice.one_in(3)) loom::fuzz::mutate_number(file, dice);
  else loom::fuzz::mutate_part(file, 0, file.size());
}
