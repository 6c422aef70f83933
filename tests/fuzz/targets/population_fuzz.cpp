// Saved populations are untrusted input: any state, beside its right checksum, is a population that
// saves itself the same way again and evolves, or a refusal.
#include <span>
#include <string>

#include "base/files/sha256.h"
#include "evolve/population.h"
#include "fuzz.h"
#include "mutate.h"
#include "populations/population.h"

static std::string file_of(const char* format, const loom::Json& state) {
  const std::string text = state.dump();
  loom::Json file = loom::Json::object();
  file.set("format", format);
  file.set("version", 1);
  file.set("sha256",
           loom::Sha256::hex(loom::Sha256::of(std::as_bytes(std::span(text.data(), text.size())))));
  file.set("state", state);
  return file.dump();
}

static bool typed(const loom::Status& status) {
  using loom::Code;
  const Code code = status.code();
  return (code == Code::invalid_argument || code == Code::unsupported || code == Code::corrupt ||
          code == Code::out_of_range) &&
         !status.message().empty();
}

static void check_file(const loom::evolve::Population& population) {
  const std::string saved = population.save();
  const auto again = loom::evolve::Population::load(saved);
  FUZZ_CHECK(again.ok() && again->save() == saved);
}

static void genomes(const loom::Json& state) {
  using namespace loom;
  auto population = evolve::Population::load(file_of("loom population", state));
  if (!population.ok()) {
    FUZZ_CHECK(typed(population.status()));
    return;
  }
  check_file(*population);
  const evolve::EvolutionSpec& spec = population->spec();
  // Only what takes no time.
  const bool brief = (spec.kind == evolve::Task::xor_gate || spec.kind == evolve::Task::table) &&
                     population->genomes().size() <= 64 && spec.ticks <= 16;
  if (!brief) return;
  ThreadPool pool(1);
  const Status ran = population->run(3, pool, nullptr, nullptr);
  FUZZ_CHECK(ran.ok() || typed(ran));
  check_file(*population);
}

static void networks(const loom::Json& state) {
  using namespace loom;
  const auto population =
      populations::NetworkPopulation::load(file_of("loom population of networks", state));
  if (!population.ok()) {
    FUZZ_CHECK(typed(population.status()));
    return;
  }
  const auto saved = population->save();
  FUZZ_CHECK(saved.ok());
  const auto again = populations::NetworkPopulation::load(*saved);
  FUZZ_CHECK(again.ok() && *again->save() == *saved);
}

FUZZ_TARGET(data, size) {
  const auto state = loom::Json::parse({reinterpret_cast<const char*>(data), size});
  if (!state.ok() || !state->is_object()) return;
  if (state->find("members")) networks(*state);
  else genomes(*state);
}

FUZZ_MUTATOR(file, dice) {
  if (dice.one_in(2)) loom::fuzz::mutate_number(file, dice);
  else loom::fuzz::mutate_part(file, 0, file.size());
}
