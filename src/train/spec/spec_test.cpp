#include "train/spec/spec.h"
#include "support/places.h"

#include <gtest/gtest.h>

#include "base/files/source.h"

namespace loom {
namespace {

const char* const kFull =
    R"({"format":"loom-training","version":2,"name":"stories","network_file":"net.json",
  "data":{"type":"tokens","file":"ids.npy","dtype":"u16","length":128,"document_end":2},
  "loss":"cross_entropy","optimizer":{"type":"adamw","beta1":0.8,"beta2":0.95,"eps":1e-7,"weight_decay":0.1,"clip_norm":1},
  "schedule":{"type":"cosine","lr":0.002,"warmup":100,"floor":0.0002},
  "steps":5000,"batch":16,"micro_batches":2,"seed":7,"shuffle":false,"random_translate":2,"checkpoint_every":500,"log_every":50})";

std::string refusal(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const auto spec = parse_training_spec(std::string_view(text.replace(at, from.size(), to)));
  EXPECT_FALSE(spec.ok()) << to;
  return spec.status().message();
}

TEST(TrainingSpec, ReadsAndWritesEveryKey) {
  const auto spec = parse_training_spec(std::string_view(kFull));
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->network_file, "net.json");
  EXPECT_EQ(spec->data.kind, DataKind::tokens);
  EXPECT_EQ(spec->data.dtype, "u16");
  EXPECT_EQ(spec->data.length, 128);
  EXPECT_EQ(spec->data.document_end, 2);
  EXPECT_EQ(spec->loss, Loss::cross_entropy);
  EXPECT_EQ(spec->optimizer.beta1, 0.8);
  EXPECT_EQ(spec->optimizer.clip_norm, 1);
  EXPECT_EQ(spec->schedule.warmup, 100);
  EXPECT_EQ(spec->schedule.floor, 0.0002);
  EXPECT_EQ(spec->batch, 16);
  EXPECT_EQ(spec->micro_batches, 2);
  EXPECT_EQ(spec->seed, 7);
  EXPECT_FALSE(spec->shuffle);
  EXPECT_EQ(spec->random_translate, 2);
  const auto again = parse_training_spec(spec->to_json());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->to_json().dump(), spec->to_json().dump());
}

TEST(TrainingSpec, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(
      refusal(kFull, "\"batch\"", "\"batches\""),
      "training spec: unknown key \"batches\": known are format, version, name, network, "
      "network_file, base, base_dtype, data, loss, delta, temperature, loss_weight, heads, "
      "class_weights, "
      "ignore, lora, checkpoint, optimizer, schedule, steps, epochs, batch, micro_batches, "
      "seed, shuffle, random_translate, streams, fp8, quantize, step_mesh, method, validation, "
      "checkpoint_every, log_every; did you mean \"batch\"?");
  EXPECT_EQ(refusal(kFull, "\"beta1\"", "\"momentum\""),
            "training spec: optimizer: unknown key \"momentum\": known are type, beta1, beta2, "
            "eps, uncorrected_eps, weight_decay, decay_vectors, clip_norm");
  EXPECT_EQ(
      refusal(kFull, "\"floor\"", "\"every\""),
      "training spec: schedule: unknown key \"every\": known are type, lr, warmup, floor, steps");
  EXPECT_EQ(refusal(kFull, "\"dtype\":\"u16\"", "\"targets\":[]"),
            "training spec: data: unknown key \"targets\": known are type, file, dtype, length, "
            "document_end");
  EXPECT_NE(
      refusal(kFull, "\"version\":2", "\"version\":3").find("this library reads versions 1 and 2"),
      std::string::npos);
  EXPECT_NE(
      refusal(kFull, "loom-training", "loom-topology").find("\"format\" must be \"loom-training\""),
      std::string::npos);
  EXPECT_NE(refusal(kFull, "adamw", "adagrad")
                .find("unknown optimizer \"adagrad\": one of sgd, adamw, adam, rmsprop, lion"),
            std::string::npos);
  EXPECT_NE(refusal(kFull, "\"steps\":5000", "\"steps\":\"many\"").find("\"steps\""),
            std::string::npos);
  EXPECT_NE(refusal(kFull, "\"loss\":\"cross_entropy\"", "\"loss\":7").find("\"loss\""),
            std::string::npos);
}

TEST(TrainingSpec, ChecksRanges) {
  EXPECT_NE(refusal(kFull, "\"steps\":5000", "\"steps\":5000,\"epochs\":2")
                .find("either \"steps\" or \"epochs\""),
            std::string::npos);
  EXPECT_NE(refusal(kFull, "\"steps\":5000,", "").find("either \"steps\" or \"epochs\""),
            std::string::npos);
  EXPECT_NE(refusal(kFull, "\"batch\":16", "\"batch\":15").find("does not divide"),
            std::string::npos);
  EXPECT_NE(refusal(kFull, "\"batch\":16", "\"batch\":0")
                .find("\"batch\" must be at least 1 and below 2^31, got 0"),
            std::string::npos);
  EXPECT_NE(refusal(kFull, "1e-7", "1e-9").find("\"eps\""), std::string::npos);
  EXPECT_NE(refusal(kFull, "\"loss\":\"cross_entropy\"", "\"loss\":\"mse\"").find("cross_entropy"),
            std::string::npos);
  EXPECT_NE(refusal(kFull, "\"u16\"", "\"f32\"").find("one of u16, u32"), std::string::npos);
  EXPECT_NE(refusal(kFull, "\"network_file\":\"net.json\"",
                    "\"network_file\":\"net.json\",\"network\":{}")
                .find("one of \"network\", \"network_file\" and \"base\""),
            std::string::npos);
}

// The published schema has exactly the keys that the parser knows, kind by kind.
TEST(TrainingSpec, SchemaHasTheKnownKeys) {
  const auto text =
      read_text_file(loom::test::source_dir() + "/docs/reference/training-spec.schema.json");
  ASSERT_TRUE(text.ok());
  const auto schema = Json::parse(*text);
  ASSERT_TRUE(schema.ok()) << schema.status().to_string();
  auto keys = [](const Json& object) {
    std::string list;
    for (const auto& [key, value] : object.find("properties")->as_object())
      list += (list.empty() ? "" : ", ") + key;
    return list;
  };
  auto known = [](Json spec) {
    const std::string message = parse_training_spec(spec).status().message();
    const std::size_t at = message.find("known are ");
    return at == std::string::npos ? message : message.substr(at + 10);
  };
  Json spec = Json::object();
  spec.set("format", "loom-training");
  spec.set("version", 1);
  Json top = spec;
  top.set("?", 1);
  std::string list = known(top);
  EXPECT_EQ(list, "format, version, name, " + list.substr(23));
  EXPECT_EQ(keys(*schema), list);
  int variants = 0;
  for (const char* part : {"data", "optimizer", "schedule"}) {
    for (const Json& variant : schema->find("properties")->find(part)->find("oneOf")->as_array()) {
      Json inner = Json::object(), whole = spec;
      inner.set("type", variant.find("properties")->find("type")->find("const")->as_string());
      inner.set("?", 1);
      whole.set(part, inner);
      EXPECT_EQ(keys(variant), known(whole)) << part;
      ++variants;
    }
  }
  EXPECT_EQ(variants, 19);
}

TEST(TrainingSpec, MakesItsNetwork) {
  auto spec = parse_training_spec(std::string_view(kFull));
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(create_network(*spec, "/nowhere").status().code(), Code::not_found);
  spec->network_file.clear();
  EXPECT_NE(create_network(*spec).status().message().find("no network"), std::string::npos);
  spec->network = *Json::parse(
      R"({"format":"loom-topology","version":1,"layers_per_cell":1,"input":{"width":2},"cells":[{"at":[0,0,0,0],"type":"dense","out":3}]})");
  auto network = create_network(*spec);
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_NE(network->find("0.0.0.0", "weight")->master()[0], 0.0f);
}

}  // namespace
}  // namespace loom
