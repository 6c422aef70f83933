#include "injection/savers.h"

#include <cstdlib>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/random.h"
#include "checkpoint/adapter_file.h"
#include "checkpoint/entity.h"
#include "formats/npy/npy.h"
#include "formats/safetensors/safetensors.h"
#include "llm/import/entity_model.h"
#include "llm/model.h"
#include "support/places.h"
#include "train/checkpoint.h"
#include "train/data/tensor_data.h"

namespace loom::test {
namespace {

constexpr const char* kMlp =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":40,"activation":"silu","dtype":"i8"},
  {"at":[0,0,0,1],"type":"dense","out":2}]})";

std::string hex_of(std::string_view bytes) { return Sha256::hex(Sha256::of(as_bytes(bytes))); }

template <class T>
T made(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().to_string().c_str());
    std::abort();
  }
  return std::move(*result);
}

class EntitySaver final : public Saver {
 public:
  explicit EntitySaver(const std::string& folder)
      : Saver(folder), network_(made(Network::from_json(std::string_view(kMlp)))) {}
  Status advance() override { return network_.initialize(++version_); }
  Status save() override {
    EntitySections extra;
    extra.bytes["tokenizer"] = std::string(70'000, static_cast<char>(version_));
    return save_network(folder_ + "/net.entity", network_, extra);
  }
  std::string digest() override { return made(loom::digest(network_)); }
  Result<std::string> load() const override {
    LOOM_ASSIGN(SourcePtr source, open_source(folder_ + "/net.entity"));
    LOOM_ASSIGN(const Entity entity, Entity::open(std::move(source)));
    LOOM_TRY(entity.verify_all());
    LOOM_ASSIGN(Network network, load_network(entity));
    return loom::digest(network);
  }

 private:
  Network network_;
  std::uint64_t version_ = 0;
};

// Steps of a training, of the network or of an adapter to it.
class CheckpointSaver final : public Saver {
 public:
  CheckpointSaver(const std::string& folder, bool adapter)
      : Saver(folder), spec_(spec_of(adapter)), training_(made(make())) {}
  Status advance() override { return training_.trainer->step().status(); }
  Status save() override { return save_checkpoint(path(), *training_.trainer); }
  std::string digest() override { return training_.trainer->digest(); }
  Result<std::string> load() const override {
    LOOM_ASSIGN(const Training other, make());
    LOOM_TRY(resume_checkpoint(path(), *other.trainer));
    return other.trainer->digest();
  }

 private:
  struct Training {
    std::unique_ptr<DataSource> data;
    std::unique_ptr<Network> network;
    std::unique_ptr<ThreadPool> pool;
    std::unique_ptr<Trainer> trainer;
  };
  static TrainingSpec spec_of(bool adapter) {
    TrainingSpec spec;
    spec.network = *Json::parse(kMlp);
    spec.loss = Loss::mse;
    spec.batch = 4;
    spec.steps = 1'000'000;
    spec.seed = 3;
    if (adapter) spec.lora = {.rank = 2, .alpha = 4, .targets = {}};
    return spec;
  }
  std::string path() const {
    return folder_ + (spec_.lora.rank > 0 ? "/adapter" : "/training.entity");
  }
  Result<Training> make() const {
    Training t;
    const RandomStream random(4, 0);
    std::vector<float> x, y;
    for (std::uint64_t i = 0; i < 20 * 3; ++i) x.push_back(random.uniform(i));
    for (std::uint64_t i = 0; i < 20 * 2; ++i) y.push_back(random.uniform(1000 + i));
    LOOM_ASSIGN(t.data, ArrayData::create(std::move(x), 3, std::move(y), 2));
    LOOM_ASSIGN(Network network, create_network(spec_));
    t.network = std::make_unique<Network>(std::move(network));
    t.pool = std::make_unique<ThreadPool>(1);
    LOOM_ASSIGN(t.trainer, Trainer::create(spec_, *t.network, *t.data, *t.pool));
    return t;
  }
  const TrainingSpec spec_;
  Training training_;
};

class AdapterSaver final : public Saver {
 public:
  explicit AdapterSaver(const std::string& folder)
      : Saver(folder),
        network_(made(Network::from_json(std::string_view(kMlp)))),
        places_(adapter_places(network_)) {}
  Status advance() override {
    LOOM_ASSIGN(
        adapter_,
        Adapter::create(network_, places_,
                        {.rank = 2, .alpha = static_cast<double>(version_ + 1), .targets = {}},
                        version_ + 1));
    ++version_;
    return {};
  }
  Status save() override { return save_adapter(folder_ + "/adapter", adapter_, places_); }
  std::string digest() override { return digest_of(adapter_); }
  Result<std::string> load() const override {
    LOOM_ASSIGN(const Adapter found, load_adapter(folder_ + "/adapter", places_));
    return digest_of(found);
  }

 private:
  static std::string digest_of(const Adapter& adapter) {
    std::string all;
    for (const Adapter::Target& t : adapter.targets)
      for (const auto& store : {t.a, t.b}) {
        std::vector<double> values(static_cast<std::size_t>(store->rows() * store->cols()));
        if (!store->values(std::span<double>(values)).ok()) std::abort();
        all += t.module + std::to_string(t.scale);
        all += as_text(std::as_bytes(std::span(values)));
      }
    return hex_of(all);
  }
  Network network_;
  const std::vector<AdapterPlace> places_;
  Adapter adapter_;
  std::uint64_t version_ = 0;
};

class ModelSaver final : public Saver {
 public:
  explicit ModelSaver(const std::string& folder)
      : Saver(folder), model_(made(load_model(source_dir() + "/tests/cases/data/tiny.entity"))) {}
  Status advance() override { return model_.network.initialize(++version_); }
  Status save() override { return save_model(folder_ + "/model.entity", model_); }
  std::string digest() override { return made(loom::digest(model_.network)); }
  Result<std::string> load() const override {
    LOOM_ASSIGN(Model model, load_model(folder_ + "/model.entity"));
    LOOM_TRY(model.tokenizer.status());
    return loom::digest(model.network);
  }

 private:
  Model model_;
  std::uint64_t version_ = 0;
};

// One array, as safetensors or as .npy.
class ArraySaver final : public Saver {
 public:
  ArraySaver(const std::string& folder, bool npy)
      : Saver(folder), npy_(npy), path_(folder + (npy ? "/x.npy" : "/x.safetensors")) {}
  Status advance() override {
    values_.assign(3000, static_cast<float>(++version_));
    return {};
  }
  Status save() override {
    const std::vector<std::int64_t> shape = {30, 100};
    if (npy_) return write_npy(path_, shape, values_);
    const TensorInfo x = tensor_from_f32("x", shape, values_);
    return write_safetensors(path_, {&x, 1}, {});
  }
  std::string digest() override { return digest_of(values_); }
  Result<std::string> load() const override {
    LOOM_ASSIGN(SourcePtr source, open_source(path_));
    TensorInfo x;
    if (npy_) {
      LOOM_ASSIGN(x, open_npy(std::move(source)));
    } else {
      LOOM_ASSIGN(const Safetensors file, Safetensors::open(std::move(source)));
      if (file.find("x")) x = *file.find("x");
    }
    std::vector<float> values(static_cast<std::size_t>(x.elements()));
    LOOM_TRY(read_f32(x, 0, values));
    return digest_of(values);
  }

 private:
  static std::string digest_of(const std::vector<float>& values) {
    return hex_of(as_text(std::as_bytes(std::span(values))));
  }
  const bool npy_;
  const std::string path_;
  std::vector<float> values_;
  std::uint64_t version_ = 0;
};

}  // namespace

const std::vector<std::string>& saver_kinds() {
  static const std::vector<std::string> kinds = {
      "entity", "checkpoint", "adapter", "adapter_checkpoint", "model", "safetensors", "npy"};
  return kinds;
}

std::unique_ptr<Saver> make_saver(const std::string& kind, const std::string& folder) {
  if (kind == "entity") return std::make_unique<EntitySaver>(folder);
  if (kind == "checkpoint") return std::make_unique<CheckpointSaver>(folder, false);
  if (kind == "adapter") return std::make_unique<AdapterSaver>(folder);
  if (kind == "adapter_checkpoint") return std::make_unique<CheckpointSaver>(folder, true);
  if (kind == "model") return std::make_unique<ModelSaver>(folder);
  return std::make_unique<ArraySaver>(folder, kind == "npy");
}

}  // namespace loom::test
