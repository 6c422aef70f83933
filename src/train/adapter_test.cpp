// Adapters that learn: the network under them stays as it is, packed or not, and a training goes on
// from its folder with the same bits.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/sha256.h"
#include "base/random.h"
#include "checkpoint/entity.h"
#include "formats/safetensors/safetensors.h"
#include "formats/test_files.h"
#include "train/checkpoint.h"
#include "train/data/tensor_data.h"
#include "train/judge/validation.h"

namespace loom {
namespace {

const char* const kDecoder =
    R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":29},"cells":[
  {"at":[0,0,0,0],"type":"embedding","out":16,"std":0.3},
  {"at":[0,0,0,1],"type":"sequential","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":4,"kv_heads":2}]},{"type":"residual"},
     {"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":32}]},{"type":"residual"}]},
  {"at":[0,0,0,2],"type":"rms_norm"},
  {"at":[0,0,0,3],"type":"dense","out":29,"bias":false,"tie":"0.0.0.0:weight"}]})";

TrainingSpec spec_of(std::int64_t steps) {
  TrainingSpec spec;
  spec.network = *Json::parse(kDecoder);
  spec.loss = Loss::cross_entropy;
  spec.batch = 6;
  spec.steps = steps;
  spec.seed = 5;
  spec.schedule.lr = 0.02;
  spec.optimizer.weight_decay = 0.01;
  spec.lora = {.rank = 4, .alpha = 8, .targets = {}};
  return spec;
}

std::unique_ptr<DataSource> data_for(std::uint32_t step = 3) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 600; ++i) ids.push_back((i * step + i / 29) % 29);
  return std::move(*TokenData::create(std::move(ids), {}, 12));
}

class AdapterTraining : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("loom_adapter_" + std::to_string(::getpid())))
          .string();
};

std::string bytes_of(Network& network) {
  std::vector<std::byte> file;
  SaveOptions options;
  options.keep_master = true;
  EXPECT_TRUE(save_network(&file, network, {}, options).ok());
  return std::string(as_text(file));
}

TEST_F(AdapterTraining, LearnsAndLeavesTheNetworkAsItIs) {
  const auto data = data_for();
  for (const char* dtype : {"f32", "bf16", "i8", "q4_0"}) {
    SCOPED_TRACE(dtype);
    const TrainingSpec spec = spec_of(60);
    auto network = create_network(spec);
    if (dtype != std::string("f32")) {
      ASSERT_TRUE(
          network->pack(*parse_weight_format(dtype)).ok());  // no master is left that could learn
    }
    const std::string before = bytes_of(*network), hash = *digest(*network);
    ThreadPool pool(2);
    auto trainer = Trainer::create(spec, *network, *data, pool, {.poison = true});
    ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
    double first = 0, last = 0;
    ASSERT_TRUE((*trainer)
                    ->run([&](const StepReport& r) -> Result<bool> {
                      (r.step == 1 ? first : last) = r.loss;
                      return true;
                    })
                    .ok());
    EXPECT_LT(last, 0.6 * first);
    EXPECT_EQ(bytes_of(*network), before);
    EXPECT_EQ(*digest(*network), hash);
    // 7 weights x 2, with m and v.
    EXPECT_EQ((*trainer)->state().tensors.size(), 3u * 14);
  }
}

// What the network would need to learn by itself is not made: no gradients of its weights, no
// moments.
TEST_F(AdapterTraining, TakesLessMemoryThanTrainingTheNetwork) {
  const auto data = std::move(
      *ArrayData::create(std::vector<float>(8 * 128, 0.5f), 128, std::vector<float>(8 * 4), 4));
  TrainingSpec spec = spec_of(1);
  spec.loss = Loss::mse;
  spec.network = *Json::parse(
      R"({"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"width":128},"cells":[
    {"at":[0,0,0,0],"type":"dense","out":128,"activation":"tanh"},{"at":[0,0,0,1],"type":"swiglu","hidden":200},{"at":[0,0,0,2],"type":"dense","out":4}]})");
  auto network = create_network(spec);
  ThreadPool pool(1);
  const auto adapter = Trainer::create(spec, *network, *data, pool);
  spec.lora = {};
  const auto whole = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(adapter.ok() && whole.ok());
  auto values = [](Trainer& t) {
    std::size_t n = 0;
    for (const TrainingTensor& tensor : t.state().tensors) n += tensor.f32.size();
    return n;
  };
  EXPECT_LT(values(**adapter), values(**whole) / 10);
  EXPECT_LT((*adapter)->arena_bytes(), (*whole)->arena_bytes() / 2);
}

// A judged training goes on with the same weights, the same best ones and the same figures.
TEST_F(AdapterTraining, KeepsTheBestAndGoesOn) {
  const auto all = data_for();
  TrainingSpec spec = spec_of(24);
  spec.validation = {.share = 0.2, .every = 4};
  ThreadPool pool(1);
  auto held = split(*all, 0.2, 5);
  ASSERT_TRUE(held.ok()) << held.status().to_string();
  auto run = [&](Trainer& trainer, Validation& validation, std::int64_t steps) {
    while (trainer.done() < steps) {
      ASSERT_TRUE(trainer.step().ok());
      if (validation.due()) {
        ASSERT_TRUE(validation.judge().ok());
      }
    }
  };
  auto one = create_network(spec), two = create_network(spec), three = create_network(spec);
  auto whole = Trainer::create(spec, *one, *held->learned, pool, {.judged = true}),
       half = Trainer::create(spec, *two, *held->learned, pool, {.judged = true});
  auto judge_whole = Validation::create(**whole, *held->held_back, pool),
       judge_half = Validation::create(**half, *held->held_back, pool);
  ASSERT_TRUE(judge_whole.ok() && judge_half.ok());
  run(**whole, **judge_whole, 24);
  run(**half, **judge_half, 10);
  ASSERT_TRUE(save_checkpoint(folder, **half, {}, &(*judge_half)->best).ok());
  auto rest = Trainer::create(spec, *three, *held->learned, pool, {.judged = true});
  auto judge_rest = Validation::create(**rest, *held->held_back, pool);
  ASSERT_TRUE(judge_rest.ok());
  const Status resumed = resume_checkpoint(folder, **rest, &(*judge_rest)->best);
  ASSERT_TRUE(resumed.ok()) << resumed.to_string();
  EXPECT_EQ((*judge_rest)->best.step, (*judge_half)->best.step);
  run(**rest, **judge_rest, 24);
  EXPECT_EQ((*rest)->digest(), (*whole)->digest());
  EXPECT_EQ((*judge_rest)->best.loss, (*judge_whole)->best.loss);
  ASSERT_EQ((*judge_rest)->best.weights.size(), (*judge_whole)->best.weights.size());
  for (std::size_t i = 0; i < (*judge_rest)->best.weights.size(); ++i)
    EXPECT_EQ((*judge_rest)->best.weights[i].f32, (*judge_whole)->best.weights[i].f32);
}

TEST_F(AdapterTraining, SameBitsForThreads) {
  const auto data = data_for();
  std::string want;
  for (const int threads : {1, 2, 5}) {
    TrainingSpec spec = spec_of(4);
    auto network = create_network(spec);
    ThreadPool pool(threads);
    auto trainer = Trainer::create(spec, *network, *data, pool);
    ASSERT_TRUE(trainer.ok());
    while ((*trainer)->done() < 4) ASSERT_TRUE((*trainer)->step().ok());
    if (want.empty()) want = (*trainer)->digest();
    EXPECT_EQ((*trainer)->digest(), want) << threads;
  }
}

TEST_F(AdapterTraining, GoesOnFromItsFolderWithTheSameBits) {
  const auto data = data_for();
  ThreadPool pool(1);
  const TrainingSpec spec = spec_of(30);
  auto whole_network = create_network(spec), network = create_network(spec);
  auto whole = Trainer::create(spec, *whole_network, *data, pool),
       half = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(whole.ok() && half.ok());
  while ((*whole)->done() < 30) ASSERT_TRUE((*whole)->step().ok());
  while ((*half)->done() < 13) ASSERT_TRUE((*half)->step().ok());
  ASSERT_TRUE(save_checkpoint(folder, **half).ok());

  auto again_network = create_network(spec);
  auto again = Trainer::create(spec, *again_network, *data, pool);
  const Status resumed = resume_checkpoint(folder, **again);
  ASSERT_TRUE(resumed.ok()) << resumed.to_string();
  EXPECT_EQ((*again)->done(), 13);
  EXPECT_EQ((*again)->digest(), (*half)->digest());
  while ((*again)->done() < 30) ASSERT_TRUE((*again)->step().ok());
  EXPECT_EQ((*again)->digest(), (*whole)->digest());

  // On another network, or as the training of a network, it does not go on.
  auto other_network = create_network(spec);
  ASSERT_TRUE(other_network->initialize(99).ok());
  auto other = Trainer::create(spec, *other_network, *data, pool);
  EXPECT_NE(resume_checkpoint(folder, **other).message().find("adapter on another network"),
            std::string::npos);
  TrainingSpec plain = spec;
  plain.lora = {};
  auto of_network = Trainer::create(plain, *again_network, *data, pool);
  EXPECT_FALSE(resume_checkpoint(folder, **of_network).ok());
  std::vector<std::byte> memory;
  EXPECT_EQ(save_checkpoint(&memory, **again).code(), Code::unsupported);
}

TEST_F(AdapterTraining, FolderIsWhatPeftReads) {
  TrainingSpec spec = spec_of(3);
  spec.lora.targets = {"q", "v", "0.0.0.1/2/1:down"};
  auto network = create_network(spec);
  const auto data = data_for();
  ThreadPool pool(1);
  auto trainer = Trainer::create(spec, *network, *data, pool);
  ASSERT_TRUE(trainer.ok()) << trainer.status().to_string();
  while ((*trainer)->done() < 3) ASSERT_TRUE((*trainer)->step().ok());
  ASSERT_TRUE(save_checkpoint(folder, **trainer, {}, nullptr, {"a-base", false}).ok());
  const auto config = Json::parse(test::file_text(folder + "/adapter_config.json"));
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(
      config->dump(),
      R"({"peft_type":"LORA","task_type":null,"base_model_name_or_path":"a-base","r":4,"lora_alpha":8,"target_modules":["down","q","v"],"lora_dropout":0.0,"bias":"none",)"
      R"("fan_in_fan_out":false,"init_lora_weights":true,"modules_to_save":null,"inference_mode":true})");
  const auto file = Safetensors::open(*open_source(folder + "/adapter_model.safetensors"));
  ASSERT_TRUE(file.ok());
  std::string names;
  for (const TensorInfo& t : file->tensors()) names += t.name + " " + shape_text(t.shape) + "\n";
  EXPECT_EQ(names,
            "base_model.model.0.0.0.1/0/1.q.lora_A.weight [4, "
            "16]\nbase_model.model.0.0.0.1/0/1.q.lora_B.weight [16, 4]\n"
            "base_model.model.0.0.0.1/0/1.v.lora_A.weight [4, "
            "16]\nbase_model.model.0.0.0.1/0/1.v.lora_B.weight [8, 4]\n"
            "base_model.model.0.0.0.1/2/1.down.lora_A.weight [4, "
            "32]\nbase_model.model.0.0.0.1/2/1.down.lora_B.weight [16, 4]\n");
  // And back, with the same bits.
  auto loaded = load_adapter(folder, adapter_places(*network));
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  ASSERT_EQ(loaded->targets.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Adapter::Target &a = loaded->targets[i], &b = (*trainer)->adapter()->targets[i];
    EXPECT_EQ(a.module, b.module);
    EXPECT_EQ(a.scale, 2.0);
    EXPECT_TRUE(std::equal(a.a->master().begin(), a.a->master().end(), b.a->master().begin(),
                           b.a->master().end()));
    EXPECT_TRUE(std::equal(a.b->master().begin(), a.b->master().end(), b.b->master().begin(),
                           b.b->master().end()));
  }
}

// Between the two files of a save the folder is the new adapter, whose configuration waits beside
// them.
TEST_F(AdapterTraining, ASaveThatWasInterruptedIsReadAsItWas) {
  auto network = create_network(spec_of(1));
  const auto places = adapter_places(*network);
  const auto scale = [&] {
    const auto adapter = load_adapter(folder, places);
    return adapter.ok() ? adapter->targets[0].scale : -1;
  };
  const auto save = [&](double alpha, std::uint64_t seed) {
    const auto adapter =
        Adapter::create(*network, places, {.rank = 2, .alpha = alpha, .targets = {"q"}}, seed);
    ASSERT_TRUE(save_adapter(folder, *adapter, places).ok());
  };
  const std::string config = folder + "/adapter_config.json",
                    pending = folder + "/adapter_save.json";
  save(2, 1);
  const std::string before = test::file_text(config);
  save(8, 2);
  const std::string after = test::file_text(config);
  EXPECT_EQ(scale(), 4);
  const auto tensors = Safetensors::open(*open_source(folder + "/adapter_model.safetensors"));
  ASSERT_TRUE(tensors.ok());
  std::string mark;
  for (const auto& [key, value] : tensors->metadata())
    if (key == "loom.save") mark = value;
  Json journal = Json::object();
  journal.set("save", mark);
  journal.set("before", Sha256::hex(Sha256::of(as_bytes(before))));
  journal.set("config", after);
  ASSERT_TRUE(write_file(pending, as_bytes(journal.dump())).ok());
  ASSERT_TRUE(write_file(config, as_bytes(before)).ok());
  EXPECT_EQ(scale(), 4);
  // Not where the configuration was written by somebody else since, nor for other tensors.
  std::string edited = before;
  edited.replace(edited.find("\"lora_alpha\":2"), 14, "\"lora_alpha\":6");
  ASSERT_TRUE(write_file(config, as_bytes(edited)).ok());
  EXPECT_EQ(scale(), 3);
  journal.set("save", "another");
  ASSERT_TRUE(write_file(pending, as_bytes(journal.dump())).ok());
  ASSERT_TRUE(write_file(config, as_bytes(before)).ok());
  EXPECT_EQ(scale(), 1);
  // The next save ends it.
  save(2, 3);
  EXPECT_NE(::access(pending.c_str(), F_OK), 0);
  EXPECT_EQ(scale(), 1);
}

TEST_F(AdapterTraining, RefusesByName) {
  auto network = create_network(spec_of(1));
  const auto places = adapter_places(*network);
  auto adapter = Adapter::create(*network, places, {.rank = 2, .targets = {"q"}}, 1);
  ASSERT_TRUE(save_adapter(folder, *adapter, places).ok());
  const std::string good = test::file_text(folder + "/adapter_config.json");
  auto refusal = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    EXPECT_TRUE(write_file(folder + "/adapter_config.json", as_bytes(text)).ok());
    return load_adapter(folder, places).status().to_string();
  };
  EXPECT_NE(refusal("\"bias\":\"none\"", "\"bias\":\"none\",\"use_dora\":true")
                .find("\"use_dora\": true is not supported"),
            std::string::npos);
  EXPECT_NE(refusal("\"LORA\"", "\"IA3\"").find("\"peft_type\": \"IA3\""), std::string::npos);
  EXPECT_NE(refusal("\"bias\":\"none\"", "\"bias\":\"all\"").find("\"bias\": \"all\""),
            std::string::npos);
  EXPECT_NE(refusal("\"init_lora_weights\":true", "\"init_lora_weights\":\"pissa\"").find("pissa"),
            std::string::npos);
  EXPECT_NE(refusal("\"modules_to_save\":null", "\"modules_to_save\":[\"lm_head\"]")
                .find("modules_to_save"),
            std::string::npos);
  EXPECT_NE(refusal("\"bias\":\"none\"", "\"bias\":\"none\",\"alpha_pattern\":{\"q\":3}")
                .find("alpha_pattern"),
            std::string::npos);
  EXPECT_EQ(refusal("\"r\":2", "\"r\":2"), Status().to_string());
  EXPECT_NE(load_adapter(folder + "/nothing", places).status().message().find("as PEFT saves it"),
            std::string::npos);
  // Tensors of another network, and an A without its B.
  std::vector<AdapterPlace> others = places;
  for (AdapterPlace& p : others) p.module = "model." + p.module;
  EXPECT_NE(
      load_adapter(folder, others).status().message().find("belongs to no weight of this network"),
      std::string::npos);
  const std::vector<float> a(2 * 16, 0.5f);
  const TensorInfo only_a[] = {
      tensor_from_f32("base_model.model." + places[0].module + ".lora_A.weight", {2, 16}, a)};
  ASSERT_TRUE(write_safetensors(folder + "/adapter_model.safetensors", only_a).ok());
  EXPECT_NE(load_adapter(folder, places).status().message().find("lora_B.weight' is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
