// Networks that are exported and read again compute the same: the conformance matrix's, and some
// with settings that no sample has. tests/parity/onnx/networks.py has ONNX Runtime as the judge.
#include "onnx/export/export.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "conformance/layer_samples.h"
#include "formats/onnx/write.h"
#include "onnx/import.h"
#include "support/places.h"

namespace loom::onnx {
namespace {

using test::kSampleRows;
using test::LayerSample;

double distance(std::span<const float> want, std::span<const double> got) {
  if (want.size() != got.size()) return 1e9;
  double top = 1, worst = 0;
  for (const float v : want) top = std::max(top, std::fabs(static_cast<double>(v)));
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double off = std::fabs(static_cast<double>(want[i]) - got[i]);
    worst = off <= worst ? worst : off;
  }
  return worst / top;
}

Result<std::vector<std::byte>> written(const Network& n, const ExportOptions& options = {}) {
  std::vector<std::byte> bytes;
  LOOM_ASSIGN(const ExportedGraph graph, export_network(n, options));
  LOOM_TRY(write_model(graph.model, &bytes));
  return bytes;
}
Result<Model> reread(const Network& n, const ExportOptions& options = {}) {
  LOOM_ASSIGN(std::vector<std::byte> bytes, written(n, options));
  return read_model(source_from_bytes(std::move(bytes), "(memory)"));
}

Runner::Input input_of(const ValueInfo& v, std::size_t at, const Network& n) {
  static const test::SampleRows kRows;
  std::vector<double> values;
  Dims dims;
  if (n.input().ids > 0) {
    dims = v.dims.size() == 2 ? Dims{1, kSampleRows} : Dims{kSampleRows};
    values.assign(kRows.ids.begin(), kRows.ids.end());
  } else if (n.input().has_id_parts()) {
    dims = at == 0 ? Dims{kSampleRows, 3} : Dims{kSampleRows};
    for (std::int64_t r = 0; r < kSampleRows; ++r)
      for (std::size_t c = at * 3; c < (at == 0 ? 3u : 4u); ++c)
        values.push_back(static_cast<double>(kRows.parts[static_cast<std::size_t>(4 * r) + c]));
  } else {
    dims = {kSampleRows, 4};
    values.assign(kRows.x.begin(), kRows.x.end());
  }
  return {v.name, *make_tensor(v.name, v.type, dims, values)};
}

// What the exported graph computes of the sample's rows.
Result<std::vector<double>> outputs_of(Model model, const Network& n) {
  std::vector<Runner::Input> inputs;
  for (std::size_t i = 0; i < model.graph.inputs.size(); ++i)
    inputs.push_back(input_of(model.graph.inputs[i], i, n));
  const Runner runner(std::move(model));
  LOOM_ASSIGN(const auto out, runner.run(inputs));
  return out[0].values;
}

std::string refused(const std::string& topology, const ExportOptions& options = {}) {
  auto n = Network::from_json(std::string_view(topology));
  if (!n.ok()) return n.status().to_string();
  return export_network(*n, options).status().to_string();
}

std::string one_cell(const std::string& input, const std::string& cell) {
  return R"({"format":"loom-topology","version":3,"layers_per_cell":1,"input":)" + input +
         R"(,"cells":[{"at":[0,0,0,0],)" + cell + "}]}";
}

TEST(ExportNetwork, EverySampleComputesTheSame) {
  int exported = 0;
  for (const LayerSample& s : test::layer_samples()) {
    SCOPED_TRACE(std::string(s.type) + ": " + std::string(s.cell));
    auto n = test::network_of(s, WeightFormat{});
    ASSERT_TRUE(n.ok()) << n.status().to_string();
    auto model = reread(*n);
    if (!model.ok()) {
      EXPECT_EQ(model.status().code(), Code::unsupported) << model.status().to_string();
      continue;
    }
    const auto want = test::outputs_of(*n, {});
    ASSERT_TRUE(want.ok()) << want.status().to_string();
    const auto got = outputs_of(std::move(*model), *n);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_LT(distance(*want, *got), 1e-5);
    ++exported;
  }
  EXPECT_GT(exported, 80);
}

TEST(ExportNetwork, QuantizedWeightsAreCodesAndScales) {
  const LayerSample s = test::layer_samples()[0];
  for (const char* dtype : {"f16", "bf16", "i8", "u8", "i8:tensor", "i8:block32", "i16", "u16",
                            "i4:s4", "i4:row", "u4:row", "q4_0", "q8_0", "fp8e4m3", "fp8e5m2"}) {
    SCOPED_TRACE(dtype);
    auto n = test::network_of(s, *parse_weight_format(dtype));
    ASSERT_TRUE(n.ok()) << n.status().to_string();
    auto model = reread(*n);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    // The same values in f32, whose products are plain.
    auto plain = test::network_of(s, WeightFormat{});
    for (auto& p : plain->params()) {
      std::vector<float> values(p.param->store->mutable_master().size());
      ASSERT_TRUE(n->find(p.path, p.param->spec.role)->values(std::span<float>(values)).ok());
      std::copy(values.begin(), values.end(), p.param->store->mutable_master().begin());
      p.param->store->touch();
    }
    const auto want = test::outputs_of(*plain, {});
    const auto got = outputs_of(std::move(*model), *n);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_LT(distance(*want, *got), 2e-6);
  }
}

TEST(ExportNetwork, OtherDtypesAreRefusedByNameUnlessTold) {
  const LayerSample s = test::layer_samples()[0];
  auto n = test::network_of(s, *parse_weight_format("ternary"));
  ASSERT_TRUE(n.ok());
  const std::string refusal = export_network(*n).status().to_string();
  EXPECT_NE(refusal.find("0.0.0.0:weight: ONNX has no dtype ternary"), std::string::npos)
      << refusal;
  for (const char* as : {"f32", "f16", "i8"}) {
    auto model = reread(*n, {.as = as});
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    EXPECT_TRUE(outputs_of(std::move(*model), *n).ok());
  }
}

TEST(ExportNetwork, NamesArePathsAndBytesAreTheSame) {
  const std::string topology =
      one_cell(R"({"width":3})", R"("type":"dense","out":2,"name":"head")");
  auto n = Network::from_json(std::string_view(topology));
  ASSERT_TRUE(n.ok() && n->initialize(5).ok());
  const auto once = written(*n), twice = written(*n);
  ASSERT_TRUE(once.ok());
  EXPECT_EQ(*once, *twice);
  const auto model = read_model(source_from_bytes(*once, "m"));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->opset(), 21);
  ASSERT_EQ(model->graph.nodes.size(), 1u);
  const Node& node = model->graph.nodes[0];
  EXPECT_EQ(node.op, "Gemm");
  EXPECT_EQ(node.name, "0.0.0.0:head/dense/Gemm");
  EXPECT_EQ(node.inputs, (std::vector<std::string>{"input", "0.0.0.0:weight", "0.0.0.0:bias"}));
  EXPECT_EQ(node.outputs, std::vector<std::string>{"output"});
  EXPECT_EQ(type_text(model->graph.inputs[0]), "float[batch, 3]");
}

TEST(ExportNetwork, OptionsAreChecked) {
  const std::string one = one_cell(R"({"width":3})", R"("type":"dense","out":2)");
  EXPECT_NE(refused(one, {.opset = 20}).find("\"opset\" must be in 21..26, got 20"),
            std::string::npos);
  EXPECT_NE(refused(one, {.as = "f64"}).find("\"as\""), std::string::npos);
  EXPECT_NE(refused(one, {.as = "i4"}).find("ONNX has no dtype i4"), std::string::npos)
      << refused(one, {.as = "i4"});
  EXPECT_NE(refused(one, {.as = "f17"}).find("f17"), std::string::npos);
}

TEST(ExportNetwork, WhatAGraphCannotDoIsRefusedByPath) {
  const std::string rules =
      R"("type":"metacognition","rules":[{"when":"std","above":1,"do":"freeze"}],)"
      R"("layers":[{"type":"dense","out":2}])";
  EXPECT_NE(refused(one_cell(R"({"width":3})", rules)).find("metacognition at 0.0.0.0"),
            std::string::npos);
  const std::string stateful = R"("type":"rnn","hidden":2,"stateful":true)";
  EXPECT_NE(refused(one_cell(R"({"dims":[2,3]})", stateful)).find("rnn at 0.0.0.0: continues"),
            std::string::npos);
  const std::string entmax = R"("type":"softmax","kind":"entmax","alpha":1.5)";
  EXPECT_NE(refused(one_cell(R"({"width":3})", entmax)).find("entmax of alpha 1.5"),
            std::string::npos);
}

TEST(ExportNetwork, SharedWeightsStandOnce) {
  const std::string topology =
      R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"width":3},"cells":[
        {"at":[0,0,0,0],"type":"dense","out":3},{"at":[0,0,0,1],"links":[{"run":[0,0,0,0]}]},
        {"at":[0,0,0,2],"type":"dense","out":3,"bias":false,"tie":"0.0.0.0:weight"}]})";
  auto n = Network::from_json(std::string_view(topology));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  auto graph = export_network(*n);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->model.graph.initializers.size(), 2u);
  EXPECT_EQ(graph->model.graph.nodes.size(), 3u);
}

std::string decoder_of(const std::string& cell) {
  return R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"ids":7},"cells":[
        {"at":[0,0,0,0],"type":"embedding","out":8},{"at":[0,0,0,1],)" +
         cell + R"(},{"at":[0,0,0,2],"type":"dense","out":7}]})";
}

TEST(ExportNetwork, DecodersHaveTheirCacheAsInputsAndOutputs) {
  const std::string attention = decoder_of(R"("type":"attention","heads":4,"kv_heads":2)");
  auto n = Network::from_json(std::string_view(attention));
  ASSERT_TRUE(n.ok() && n->initialize(5).ok()) << n.status().to_string();
  const auto made = export_network(*n, {.as = "q4_0", .decoder = true, .matmul_nbits = true});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  std::string names;
  for (const ValueInfo& v : made->model.graph.inputs) names += type_text(v) + " " + v.name + "\n";
  for (const ValueInfo& v : made->model.graph.outputs) names += type_text(v) + " " + v.name + "\n";
  EXPECT_EQ(names,
            "int64[batch, sequence] input_ids\n"
            "int64[batch, total_sequence] attention_mask\n"
            "int64[batch, sequence] position_ids\n"
            "float[batch, 2, past_sequence, 2] past_key_values.0.key\n"
            "float[batch, 2, past_sequence, 2] past_key_values.0.value\n"
            "float[batch, sequence, 7] logits\n"
            "float[batch, 2, total_sequence, 2] present.0.key\n"
            "float[batch, 2, total_sequence, 2] present.0.value\n");
  EXPECT_EQ(made->model.opset("com.microsoft"), 1);
  int products = 0;
  for (const Node& node : made->model.graph.nodes) {
    if (node.op != "MatMulNBits") continue;
    ++products;  // rows of 8 columns are filled up to a block
    EXPECT_EQ(*node.get_int("block_size", 0), 32);
    EXPECT_EQ(*node.get_int("K", 0), 8);
  }
  EXPECT_EQ(products, 5);
  // ONNX Runtime's build for WebGPU, which transformers.js runs, has no kernels of doubles.
  for (const Tensor& t : made->model.graph.initializers) EXPECT_NE(t.type, Type::f64) << t.name;
  for (const Node& node : made->model.graph.nodes) {
    if (node.op == "Cast") {
      EXPECT_NE(*node.get_int("to", 0), static_cast<int>(Type::f64));
    }
  }
}

TEST(ExportNetwork, OthersAreNoDecoders) {
  const auto why = [](const std::string& topology) { return refused(topology, {.decoder = true}); };
  EXPECT_NE(
      why(one_cell(R"({"width":4})", R"("type":"dense","out":2)")).find("one id per position"),
      std::string::npos);
  EXPECT_NE(why(decoder_of(R"("type":"attention","heads":2,"causal":false)")).find("is causal"),
            std::string::npos);
  const std::string both = decoder_of(
      R"("type":"sequential","layers":[{"type":"attention","heads":2},{"type":"gru","hidden":8}])");
  EXPECT_NE(why(both).find("gru at 0.0.0.1/1"), std::string::npos) << why(both);
}

TEST(WriteModel, LargeTensorsGoIntoASecondFile) {
  const std::string topology = one_cell(R"({"width":40})", R"("type":"dense","out":20)");
  auto n = Network::from_json(std::string_view(topology));
  ASSERT_TRUE(n.ok() && n->initialize(5).ok());
  const auto graph = export_network(*n);
  ASSERT_TRUE(graph.ok());
  const std::string path =
      (std::filesystem::temp_directory_path() / "loom_export_test.onnx").string();
  ASSERT_TRUE(write_model(graph->model, path, {.external = true}).ok());
  EXPECT_EQ(std::filesystem::file_size(path + ".data"), 40u * 20u * 4u);
  auto back = open_model(path);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  auto inside = read_f32(back->graph.initializers[0]);
  ASSERT_TRUE(inside.ok());
  const auto master = n->find("0.0.0.0", "weight")->master();
  EXPECT_TRUE(std::equal(master.begin(), master.end(), inside->begin(), inside->end()));
  std::vector<std::byte> bytes;
  EXPECT_EQ(write_model(graph->model, &bytes, {.external = true}).code(), Code::unsupported);
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".data");
}

TEST(WriteModel, RefusesWhatAFileCannotHold) {
  Model model;
  model.graph.nodes.emplace_back().attributes.emplace_back().graphs.emplace_back();
  std::vector<std::byte> bytes;
  EXPECT_EQ(write_model(model, &bytes).code(), Code::unsupported);
  model = {};
  model.functions.emplace_back().name = "f";
  EXPECT_EQ(write_model(model, &bytes).code(), Code::unsupported);
  model = {};
  Tensor& t = model.graph.initializers.emplace_back();
  t.name = "t", t.type = Type::f32, t.dims = {1}, t.size = 4;
  EXPECT_EQ(write_model(model, &bytes).code(), Code::unsupported);
}

}  // namespace
}  // namespace loom::onnx
