#include "train/checkpoint.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "base/message.h"
#include "formats/safetensors/safetensors.h"

namespace loom {
namespace {

constexpr const char* kAdapterTraining = "training.safetensors";  // in the folder of an adapter
constexpr std::string_view kSection = "training", kFolder = "training/", kWeights = "weights/",
                           kMoments = "moments/", kMethod = "method/", kBest = "best/";

Status read_tensor(const Entity& file, const EntityEntry& entry, std::string name,
                   TrainingState& state) {
  if (entry.shape.size() != 2)
    return Status(Code::corrupt,
                  message(file.name(), ": tensor '", entry.name, "' of a training has ",
                          entry.shape.size(), " dimensions, expected 2"));
  TrainingTensor t{std::move(name), entry.shape[0], entry.shape[1], {}, {}};
  if (entry.type == TensorType::plain(DType::f64)) {
    LOOM_ASSIGN(t.f64, file.f64(entry.name));
  } else {
    LOOM_ASSIGN(t.f32, file.f32(entry.name));
  }
  state.tensors.push_back(std::move(t));
  return {};
}

// The training of an adapter: a safetensors file of all tensors, the state's info as metadata.
Status save_adapter_training(const std::string& path, const TrainingState& state,
                             const Best* best) {
  std::vector<TensorInfo> tensors;
  auto add = [&](const TrainingTensor& t, std::string name) {
    if (t.f64.empty())
      return tensors.push_back(tensor_from_f32(std::move(name), {t.rows, t.cols}, t.f32));
    std::vector<std::byte> bytes(8 * t.f64.size());
    for (std::size_t i = 0; i < t.f64.size(); ++i) store_le<double>(bytes.data() + 8 * i, t.f64[i]);
    TensorInfo info{name, StorageType::f64, {t.rows, t.cols}, 0, bytes.size(), nullptr};
    info.source = source_from_bytes(std::move(bytes), std::move(name));
    tensors.push_back(std::move(info));
  };
  for (const TrainingTensor& t : state.tensors) add(t, t.name);
  if (best)
    for (const TrainingTensor& t : best->weights) add(t, std::string(kBest) + t.name);
  return write_safetensors(path, tensors, {{std::string(kSection), state.info.dump()}});
}

Status save_adapter_checkpoint(const Destination& to, Trainer& trainer, const TrainingState& state,
                               const Best* best, const AdapterBase& base) {
  if (to.bytes)
    return Status(Code::unsupported,
                  "training: an adapter is a folder of files: save it to a path");
  const std::vector<AdapterPlace>& places = trainer.places();
  if (best) {
    const std::vector<TrainingTensor> last = trainer.weights();
    LOOM_TRY(trainer.set_weights(best->weights));
    const Status saved = save_adapter(to.path, *trainer.adapter(), places, base);
    LOOM_TRY(trainer.set_weights(last));
    LOOM_TRY(saved);
  } else {
    LOOM_TRY(save_adapter(to.path, *trainer.adapter(), places, base));
  }
  return save_adapter_training(to.path + "/" + kAdapterTraining, state, best);
}

Result<Json> adapter_info(const Safetensors& file, const std::string& name) {
  const auto section = std::find_if(file.metadata().begin(), file.metadata().end(),
                                    [](const auto& m) { return m.first == kSection; });
  if (section == file.metadata().end())
    return Status(Code::not_found, message(name, ": holds no training"));
  auto info = Json::parse(section->second);
  if (!info.ok()) return info.status().at(name);
  return info;
}

Result<Json> network_info(const Entity& file) {
  if (!file.find_section(kSection))
    return Status(Code::not_found,
                  message(file.name(), ": holds no training: it has no section '", kSection, "'"));
  return file.json(kSection);
}

Status resume_adapter(SourcePtr source, Trainer& trainer, Best* best) {
  const std::string name = source->name();
  LOOM_ASSIGN(const Safetensors file, Safetensors::open(std::move(source)));
  TrainingState state;
  LOOM_ASSIGN(state.info, adapter_info(file, name));
  Best known;
  if (const Json* so_far = state.info.find("best")) {
    auto read = Best::from_json(*so_far);
    if (!read.ok()) return read.status().at(name);
    known = std::move(*read);
  }
  for (const TensorInfo& t : file.tensors()) {
    if (t.shape.size() != 2 || (t.type != StorageType::f32 && t.type != StorageType::f64))
      return Status(Code::corrupt, message(name, ": tensor ", quoted(t.name), " of a training is ",
                                           loom::name(t.type), " ", shape_text(t.shape),
                                           ", expected two dimensions of f32 or f64"));
    const bool of_best = t.name.starts_with(kBest);
    TrainingTensor tensor{
        of_best ? t.name.substr(kBest.size()) : t.name, t.shape[0], t.shape[1], {}, {}};
    const auto n = static_cast<std::size_t>(t.elements());
    if (t.type == StorageType::f64) {
      tensor.f64.resize(n);
      LOOM_TRY(read_f64(t, 0, tensor.f64));
    } else {
      tensor.f32.resize(n);
      LOOM_TRY(read_f32(t, 0, tensor.f32));
    }
    (of_best ? known.weights : state.tensors).push_back(std::move(tensor));
  }
  const Status restored = trainer.restore(std::move(state));
  if (!restored.ok()) return restored.at(name);
  // The order of the file is not that of the weights.
  std::vector<TrainingTensor> ordered;
  for (const TrainingTensor& w : trainer.weights())
    for (TrainingTensor& t : known.weights)
      if (t.name == w.name) ordered.push_back(std::move(t));
  known.weights = std::move(ordered);
  if (best) *best = std::move(known);
  return {};
}

}  // namespace

Status save_checkpoint(const Destination& to, Trainer& trainer, const EntitySections& extra,
                       const Best* best, const AdapterBase& base) {
  const bool apart = best && best->step > 0;
  LOOM_TRY(trainer.sync());
  TrainingState state = trainer.state();
  LOOM_TRY(trainer.sync());  // what a device could not give back of it
  if (apart) state.info.set("best", best->to_json());
  if (trainer.adapter())
    return save_adapter_checkpoint(to, trainer, state, apart ? best : nullptr, base);
  EntitySections sections = extra;
  sections.bytes.insert_or_assign(std::string(kSection), state.info.dump());
  SaveOptions options;
  options.keep_master = true;
  for (const TrainingTensor& t : state.tensors)
    if (apart || t.name.starts_with(kMoments) || t.name.starts_with(kMethod))
      options.state.push_back({t.name, {t.rows, t.cols}, t.f32, t.f64});
  if (!apart) return save_network(to, trainer.network(), sections, options);
  const std::vector<TrainingTensor> last = trainer.weights();
  LOOM_TRY(trainer.set_weights(best->weights));
  const Status saved = save_network(to, trainer.network(), sections, options);
  LOOM_TRY(trainer.set_weights(last));
  return saved;
}

Status resume_checkpoint(const std::string& path, Trainer& trainer, Best* best) {
  LOOM_ASSIGN(SourcePtr source,
              trainer.adapter() ? open_within(path, kAdapterTraining) : open_source(path));
  return resume_checkpoint(std::move(source), trainer, best);
}

Status check_checkpoint_output(const std::string& path, bool adapter) {
  if (!adapter) return check_output(path);
  LOOM_TRY(check_adapter_output(path));
  LOOM_ASSIGN(const PathKind kind, kind_at(path));
  return kind != PathKind::nothing ? check_output(path + "/" + kAdapterTraining) : Status();
}

Result<std::int64_t> planned_steps(const std::string& path) {
  Json info;
  LOOM_ASSIGN(const bool adapter, anything_at(path + "/" + kAdapterTraining));
  if (adapter) {
    LOOM_ASSIGN(SourcePtr source, open_within(path, kAdapterTraining));
    LOOM_ASSIGN(const Safetensors file, Safetensors::open(std::move(source)));
    LOOM_ASSIGN(info, adapter_info(file, path));
  } else {
    LOOM_ASSIGN(SourcePtr source, open_source(path));
    LOOM_ASSIGN(const Entity file, Entity::open(std::move(source)));
    LOOM_ASSIGN(info, network_info(file));
  }
  const Json* spec = info.find("spec");
  const Json* schedule = spec ? spec->find("schedule") : nullptr;
  if (!schedule) return 0;
  auto steps = schedule->get_integer("steps", 0);
  if (!steps.ok()) return steps.status().at(path);
  return steps;
}

Status resume_checkpoint(SourcePtr source, Trainer& trainer, Best* best) {
  if (trainer.adapter()) return resume_adapter(std::move(source), trainer, best);
  LOOM_ASSIGN(const Entity file, Entity::open(std::move(source)));
  TrainingState state, found;  // found: the file's network
  LOOM_ASSIGN(state.info, network_info(file));
  for (const Network::NamedParam& p : trainer.network().params()) {
    if (p.tied) continue;
    const std::string name = p.path + ":" + p.param->spec.role;
    // Packed parameters have their master beside them.
    const EntityEntry* entry = file.find_tensor(name + ":master");
    if (!entry) entry = file.find_tensor(name);
    if (entry) LOOM_TRY(read_tensor(file, *entry, std::string(kWeights) + name, found));
  }
  const Json* best_so_far = state.info.find("best");
  if (!best_so_far) state.tensors = found.tensors;
  for (const EntityEntry& entry : file.tensors())
    if (entry.name.starts_with(kFolder))
      LOOM_TRY(read_tensor(file, entry, entry.name.substr(kFolder.size()), state));
  Best known;
  if (best_so_far) {
    auto read = Best::from_json(*best_so_far);
    if (!read.ok()) return read.status().at(file.name());
    known = std::move(*read);
    known.weights = std::move(found.tensors);
  }
  const Status restored = trainer.restore(std::move(state));
  if (!restored.ok()) return restored.at(file.name());
  if (best) *best = std::move(known);
  return {};
}

}  // namespace loom
