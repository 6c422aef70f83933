#include "checkpoint/adapter_file.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "base/files/sha256.h"
#include "base/message.h"
#include "formats/safetensors/safetensors.h"

namespace loom {
namespace {

constexpr const char *kConfig = "adapter_config.json", *kTensors = "adapter_model.safetensors";
// A save that changes both files is written down first: the tensors and the configuration cannot be
// replaced in one step, and either beside the other's predecessor is another adapter. Read only as
// long as the tensors are those of that save and the configuration is still the one before it.
constexpr const char* kPending = "adapter_save.json";
constexpr const char* kSave = "loom.save";  // in the tensors' metadata: which save they are of
constexpr std::uint64_t kMaxConfig = std::uint64_t{16} << 20;
constexpr std::string_view kPrefix = "base_model.model.", kA = ".lora_A.weight",
                           kB = ".lora_B.weight";

std::string_view last_part(std::string_view module) { return module.substr(module.rfind('.') + 1); }

// PEFT adapts every module whose name is one of these or ends with "." and one of them: last parts
// where all modules of that name are adapted, else full names.
Json target_modules(const Adapter& adapter, std::span<const AdapterPlace> places) {
  std::set<std::string, std::less<>> adapted, names;
  for (const Adapter::Target& t : adapter.targets) adapted.insert(t.module);
  for (const std::string& module : adapted) {
    const auto other_or_adapted = [&](const AdapterPlace& p) {
      return last_part(p.module) != last_part(module) || adapted.contains(p.module);
    };
    const bool all = std::all_of(places.begin(), places.end(), other_or_adapted);
    names.insert(all ? std::string(last_part(module)) : module);
  }
  Json list = Json::array();
  for (const std::string& name : names) list.push(name);
  return list;
}

// A tensor over the master of a store.
TensorInfo tensor_of(std::string name, const WeightStore& store) {
  if (!store.master_is_f64())
    return tensor_from_f32(std::move(name), {store.rows(), store.cols()}, store.master());
  TensorInfo t{std::move(name),
               StorageType::f64,
               {store.rows(), store.cols()},
               0,
               8 * store.master64().size(),
               nullptr};
  std::vector<std::byte> bytes(t.size);
  for (std::size_t i = 0; i < store.master64().size(); ++i)
    store_le<double>(bytes.data() + 8 * i, store.master64()[i]);
  t.source = source_from_bytes(std::move(bytes), t.name);
  return t;
}

Status refuse_others(const Json& config) {
  auto unsupported = [](std::string_view key, const Json& value) {
    return Status(Code::unsupported, message("\"", key, "\": ", value.dump().substr(0, 60),
                                             " is not supported: adapters are plain LoRA"));
  };
  LOOM_ASSIGN(const std::string type, config.get_string("peft_type", "LORA"));
  if (type != "LORA") return unsupported("peft_type", *config.find("peft_type"));
  for (const std::string_view key :
       {"use_dora", "fan_in_fan_out", "modules_to_save", "alpha_pattern", "layer_replication",
        "trainable_token_indices", "lora_bias", "use_qalora", "target_parameters",
        "arrow_config"}) {
    const Json* value = config.find(key);
    if (!value || value->is_null() || (value->is_bool() && !value->as_bool())) continue;
    if ((value->is_object() && value->as_object().empty()) ||
        (value->is_array() && value->as_array().empty()))
      continue;
    return unsupported(key, *value);
  }
  if (const Json* bias = config.find("bias");
      bias && !(bias->is_string() && bias->as_string() == "none"))
    return unsupported("bias", *bias);
  // Others begin by changing the base, and the files hold A and B for the changed one.
  const Json* init = config.find("init_lora_weights");
  const bool plain =
      !init || init->is_bool() || init->is_null() ||
      (init->is_string() && (init->as_string() == "gaussian" || init->as_string() == "orthogonal" ||
                             init->as_string() == "eva"));
  return plain ? Status() : unsupported("init_lora_weights", *init);
}

Result<std::shared_ptr<WeightStore>> read_store(const TensorInfo& t) {
  const auto n = static_cast<std::size_t>(t.elements());
  if (t.shape.size() != 2 || n == 0)
    return Status(Code::corrupt, message("tensor ", quoted(t.name),
                                         ": expects two dimensions, got ", shape_text(t.shape)));
  auto made = [&]() -> Result<WeightStore> {
    if (t.type == StorageType::f64) {
      std::vector<double> values(n);
      LOOM_TRY(read_f64(t, 0, values));
      return WeightStore::from_f64(t.shape[0], t.shape[1], std::move(values));
    }
    if (t.type != StorageType::f32 && t.type != StorageType::f16 && t.type != StorageType::bf16)
      return Status(Code::unsupported, message("tensor ", quoted(t.name), " is stored as ",
                                               name(t.type), ", expected f32, f16, bf16 or f64"));
    std::vector<float> values(n);
    LOOM_TRY(read_f32(t, 0, values));
    return WeightStore::from_f32(t.shape[0], t.shape[1], std::move(values));
  }();
  LOOM_TRY(made.status());
  return std::make_shared<WeightStore>(std::move(*made));
}

constexpr std::int64_t kMaxRank = 65536;  // as training has it

Result<Adapter> read(const Json& config, const Safetensors& file,
                     std::span<const AdapterPlace> places) {
  LOOM_TRY(refuse_others(config));
  Adapter adapter;
  LOOM_ASSIGN(adapter.rank, config.get_integer("r", 8));
  LOOM_ASSIGN(adapter.alpha, config.get_number("lora_alpha", 8));
  LOOM_ASSIGN(const bool root, config.get_bool("use_rslora", false));
  if (adapter.rank < 1 || adapter.rank > kMaxRank)
    return Status(Code::corrupt, message("\"r\" must be in 1..", kMaxRank, ", got ", adapter.rank));
  if (!(adapter.alpha > 0)) return Status(Code::corrupt, "\"lora_alpha\" must be above 0");
  std::size_t used = 0;
  for (const AdapterPlace& place : places) {
    const std::string stem = std::string(kPrefix) + place.module;
    const TensorInfo *a = file.find(stem + std::string(kA)), *b = file.find(stem + std::string(kB));
    if (!a && !b) continue;
    if (!a || !b)
      return Status(Code::not_found,
                    message("tensor ", quoted(stem + std::string(a ? kB : kA)), " is missing"));
    used += 2;
    Adapter::Target t{place.path, place.role, place.module, {}, {}, 1};
    LOOM_ASSIGN(t.a, read_store(*a));
    LOOM_ASSIGN(t.b, read_store(*b));
    if (t.a->rows() != t.b->cols())
      return Status(Code::corrupt, message(place.module, ": A is ", shape_text(a->shape), ", B ",
                                           shape_text(b->shape), ": the ranks differ"));
    const auto rank =
        static_cast<double>(t.a->rows());  // "rank_pattern" may have set another than r
    t.scale = adapter.alpha / (root ? __builtin_sqrt(rank) : rank);
    adapter.targets.push_back(std::move(t));
  }
  for (const TensorInfo& t : file.tensors()) {
    const bool known = std::any_of(
        adapter.targets.begin(), adapter.targets.end(), [&](const Adapter::Target& target) {
          const std::string stem = std::string(kPrefix) + target.module;
          return t.name == stem + std::string(kA) || t.name == stem + std::string(kB);
        });
    if (!known)
      return Status(Code::unsupported,
                    message("tensor ", quoted(t.name), " ", shape_text(t.shape),
                            " belongs to no weight of this network that can be adapted",
                            (places.empty() ? ""
                                            : ": they are called " +
                                                  quoted(std::string(kPrefix) + places[0].module +
                                                         std::string(kA)) +
                                                  " and the like")));
  }
  if (used == 0) return Status(Code::corrupt, "holds no adapter");
  return adapter;
}

}  // namespace

Status check_adapter_output(const std::string& folder) {
  LOOM_ASSIGN(const PathKind kind, kind_at(folder));
  if (kind == PathKind::nothing) {
    // A folder is made as a file is: where the folder above it takes one.
    std::string name = folder;
    while (name.size() > 1 && name.ends_with('/')) name.pop_back();
    return check_output(name);
  }
  if (kind != PathKind::folder)
    return Status(Code::invalid_argument,
                  message(folder, ": cannot be written: it is a file, expected a folder"));
  for (const char* name : {kConfig, kTensors, kPending})
    LOOM_TRY(check_output(folder + "/" + name));
  return {};
}

namespace {

std::string hash_of(std::string_view text) { return Sha256::hex(Sha256::of(as_bytes(text))); }

// The configuration of a folder; "" where it has none.
Result<std::string> config_in(const std::string& folder) {
  LOOM_ASSIGN(const bool there, anything_at(folder + "/" + kConfig));
  if (!there) return std::string();
  return read_text_within(folder, kConfig, kMaxConfig);
}

std::string save_of(const Adapter& adapter, std::string_view config) {
  Sha256 hash;
  hash.update_text(config);
  for (const Adapter::Target& t : adapter.targets)
    for (const auto& store : {t.a, t.b}) {
      hash.update_text(t.module);
      if (store->master_is_f64()) hash.update_f64(store->master64());
      else hash.update_f32(store->master());
    }
  return Sha256::hex(hash.finish());
}

std::string config_text(const Adapter& adapter, std::span<const AdapterPlace> places,
                        const AdapterBase& base) {
  Json config = Json::object();
  config.set("peft_type", "LORA");
  config.set("task_type", base.language_model ? Json("CAUSAL_LM") : Json());
  config.set("base_model_name_or_path", base.name.empty() ? Json() : Json(base.name));
  config.set("r", adapter.rank);
  config.set("lora_alpha",
             adapter.alpha == static_cast<double>(static_cast<std::int64_t>(adapter.alpha))
                 ? Json(static_cast<std::int64_t>(adapter.alpha))
                 : Json(adapter.alpha));
  config.set("target_modules", target_modules(adapter, places));
  config.set("lora_dropout", 0.0);
  config.set("bias", "none");
  config.set("fan_in_fan_out", false);
  config.set("init_lora_weights", true);
  config.set("modules_to_save", Json());
  // Later keys ("use_rslora", "use_dora", "rank_pattern", "alpha_pattern") are left at their
  // defaults: versions before them refuse keys they do not know.
  config.set("inference_mode", true);
  return config.dump() + "\n";
}

// The configuration that belongs to the tensors of a folder: that of the folder, unless a save was
// interrupted between the two.
Result<std::string> config_of(const std::string& folder, std::string config) {
  const std::string path = folder + "/" + kPending;
  LOOM_ASSIGN(const bool there, anything_at(path));
  if (!there) return config;
  LOOM_ASSIGN(const std::string text, read_text_within(folder, kPending, kMaxConfig));
  const auto pending = Json::parse(text);
  if (!pending.ok()) return pending.status().at(path);
  LOOM_ASSIGN(const std::string before, pending->get_string("before", ""));
  LOOM_ASSIGN(const std::string save, pending->get_string("save", ""));
  LOOM_ASSIGN(const std::string after, pending->get_string("config", ""));
  LOOM_ASSIGN(const SourcePtr source, open_within(folder, kTensors));
  LOOM_ASSIGN(const Safetensors tensors, Safetensors::open(source));
  const Metadata& metadata = tensors.metadata();
  const bool arrived = std::find(metadata.begin(), metadata.end(),
                                 Metadata::value_type(kSave, save)) != metadata.end();
  return arrived && hash_of(config) == before ? after : config;
}

}  // namespace

Status save_adapter(const std::string& folder, const Adapter& adapter,
                    std::span<const AdapterPlace> places, const AdapterBase& base) {
  LOOM_TRY(check_adapter_output(folder));
  LOOM_TRY(make_folder(folder));
  const std::string config = config_text(adapter, places, base), save = save_of(adapter, config);
  LOOM_ASSIGN(std::string before, config_in(folder));
  if (!before.empty()) {  // a save that was interrupted ends first: its note is about to go
    LOOM_ASSIGN(const std::string whole, config_of(folder, before));
    if (whole != before) LOOM_TRY(write_file(folder + "/" + kConfig, as_bytes(whole)));
    before = whole;
  }
  if (!before.empty() && before != config) {
    Json pending = Json::object();
    pending.set("save", save);
    pending.set("before", hash_of(before));
    pending.set("config", config);
    LOOM_TRY(write_file(folder + "/" + kPending, as_bytes(pending.dump() + "\n")));
  }
  std::vector<TensorInfo> tensors;
  for (const Adapter::Target& t : adapter.targets) {
    tensors.push_back(tensor_of(std::string(kPrefix) + t.module + std::string(kA), *t.a));
    tensors.push_back(tensor_of(std::string(kPrefix) + t.module + std::string(kB), *t.b));
  }
  LOOM_TRY(write_safetensors(folder + "/" + kTensors, tensors, {{"format", "pt"}, {kSave, save}}));
  if (before != config) LOOM_TRY(write_file(folder + "/" + kConfig, as_bytes(config)));
  // Both are of this save. After an error the note stays: a write that could not be flushed may
  // have arrived all the same.
  (void)::unlink((folder + "/" + kPending).c_str());
  return {};
}

Result<Adapter> load_adapter(const std::string& folder, std::span<const AdapterPlace> places) {
  const std::string config_path = folder + "/" + kConfig;
  auto text = read_text_within(folder, kConfig, kMaxConfig);
  if (!text.ok())
    return text.status().at(
        "an adapter is a folder with adapter_config.json and adapter_model.safetensors, as PEFT "
        "saves it");
  LOOM_ASSIGN(const std::string of_tensors, config_of(folder, std::move(*text)));
  auto config = Json::parse(of_tensors);
  if (!config.ok()) return config.status().at(config_path);
  if (!config->is_object())
    return Status(Code::corrupt, message(config_path, ": expected a JSON object"));
  LOOM_ASSIGN(SourcePtr source, open_within(folder, kTensors));
  LOOM_ASSIGN(const Safetensors file, Safetensors::open(std::move(source)));
  auto adapter = read(*config, file, places);
  if (!adapter.ok()) return adapter.status().at(folder);
  return adapter;
}

}  // namespace loom
