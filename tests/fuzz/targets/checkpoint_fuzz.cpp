// Checkpoints: patches (entity_repair.h) to one that is right, with right hashes, or a whole file.
// A training goes on from it, or it is refused and goes on from where it was.
#include "checkpoint/entity.h"
#include "entity_repair.h"
#include "fuzz.h"
#include "mutate.h"
#include "train/checkpoint.h"
#include "train/data/tensor_data.h"

namespace {

using namespace loom;

struct Training {
  TrainingSpec spec;
  std::unique_ptr<DataSource> data;
  std::unique_ptr<Network> network;
  ThreadPool pool{1};
  std::unique_ptr<Trainer> trainer;
  std::string file;

  Training() {
    spec.network = *Json::parse(
        R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
      {"at":[0,0,0,0],"type":"dense","out":4,"activation":"silu","dtype":"i8"},
      {"at":[0,0,0,1],"type":"dense","out":2}]})");
    spec.loss = Loss::mse;
    spec.batch = 2;
    spec.steps = 1'000'000;
    std::vector<float> x(12, 0.5F), y(8, 0.25F);
    data = std::move(*ArrayData::create(std::move(x), 3, std::move(y), 2));
    network = std::make_unique<Network>(std::move(*create_network(spec)));
    trainer = std::move(*Trainer::create(spec, *network, *data, pool));
    FUZZ_CHECK(trainer->step().ok());
    std::vector<std::byte> bytes;
    FUZZ_CHECK(save_checkpoint(&bytes, *trainer).ok());
    file = as_text(bytes);
  }
};

}  // namespace

FUZZ_TARGET(data, size) {
  static Training t;
  std::string file(reinterpret_cast<const char*>(data), size);
  if (!file.starts_with("LOOMENT2")) {
    file = t.file;
    fuzz::patch(file, data, size);
  }
  fuzz::repair(file);
  // Each run leaves the training where it was.
  static const std::string before = t.trainer->digest();
  Best best;
  const Status resumed = resume_checkpoint(
      fuzz::view_source(reinterpret_cast<const std::uint8_t*>(file.data()), file.size()),
      *t.trainer, &best);
  if (!resumed.ok()) {
    const Code code = resumed.code();
    FUZZ_CHECK(code != Code::internal && code != Code::io && !resumed.message().empty());
    FUZZ_CHECK(t.trainer->digest() == before);  // all or nothing
    return;
  }
  const auto stepped = t.trainer->step();  // or its numbers are no numbers
  FUZZ_CHECK(stepped.ok() || stepped.status().code() != Code::internal);
  const auto right = std::as_bytes(std::span(t.file));
  FUZZ_CHECK(
      resume_checkpoint(source_from_bytes({right.begin(), right.end()}, "right"), *t.trainer).ok());
}

// Patches to the file that is right.
FUZZ_MUTATOR(file, dice) {
  if (file.starts_with("LOOMENT2")) return fuzz::mutate_in_place(file, 8, file.size() - 8);
  std::string one(12, '\0');
  store_le<std::uint32_t>(one.data(), static_cast<std::uint32_t>(dice.next()));
  one[4] = static_cast<char>(dice.below(4));
  store_le<std::uint32_t>(one.data() + 8, static_cast<std::uint32_t>(dice.number()));
  if (dice.one_in(2) || file.size() < 12) file += one;
  else file.replace(dice.below(file.size() / 12) * 12, 12, one);
}
