#include "train/checkpoint.h"

namespace loom {
namespace {

constexpr std::string_view kSection = "training", kFolder = "training/", kWeights = "weights/", kMoments = "moments/";

Status read_tensor(const Entity& file, const EntityEntry& entry, std::string name, TrainingState& state) {
  if (entry.shape.size() != 2) return Status(Code::corrupt, file.name() + ": tensor '" + entry.name + "' of a training has " + std::to_string(entry.shape.size()) + " dimensions, expected 2");
  TrainingTensor t{std::move(name), entry.shape[0], entry.shape[1], {}, {}};
  if (entry.type == TensorType::plain(DType::f64)) { LOOM_ASSIGN(t.f64, file.f64(entry.name)); }
  else { LOOM_ASSIGN(t.f32, file.f32(entry.name)); }
  state.tensors.push_back(std::move(t));
  return {};
}

}  // namespace

Status save_checkpoint(const Destination& to, Trainer& trainer, const EntitySections& extra) {
  LOOM_TRY(trainer.sync());
  const TrainingState state = trainer.state();
  LOOM_TRY(trainer.sync());  // what a device could not give back of it
  EntitySections sections = extra;
  sections.bytes.insert_or_assign(std::string(kSection), state.info.dump());
  SaveOptions options;
  options.keep_master = true;
  for (const TrainingTensor& t : state.tensors)
    if (t.name.starts_with(kMoments)) options.state.push_back({t.name, {t.rows, t.cols}, t.f32, t.f64});
  return save_network(to, trainer.network(), sections, options);
}

Status resume_checkpoint(const std::string& path, Trainer& trainer) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  return resume_checkpoint(std::move(source), trainer);
}

Status resume_checkpoint(SourcePtr source, Trainer& trainer) {
  LOOM_ASSIGN(const Entity file, Entity::open(std::move(source)));
  if (!file.find_section(kSection)) return Status(Code::not_found, file.name() + ": holds no training: it has no section '" + std::string(kSection) + "'");
  TrainingState state;
  LOOM_ASSIGN(state.info, file.json(kSection));
  for (const Network::NamedParam& p : trainer.network().params()) {
    if (p.tied) continue;
    const std::string name = p.path + ":" + p.param->spec.role;
    // Packed parameters have their master beside them.
    const EntityEntry* entry = file.find_tensor(name + ":master");
    if (!entry) entry = file.find_tensor(name);
    if (entry) LOOM_TRY(read_tensor(file, *entry, std::string(kWeights) + name, state));
  }
  for (const EntityEntry& entry : file.tensors())
    if (entry.name.starts_with(kFolder)) LOOM_TRY(read_tensor(file, entry, entry.name.substr(kFolder.size()), state));
  const Status restored = trainer.restore(state);
  return restored.ok() ? restored : restored.at(file.name());
}

}  // namespace loom
