// Files of weights by names and shapes: what is told, what is asked, what is refused.
#include <gtest/gtest.h>

#include <memory>

#include "convert/weights/from_weights.h"
#include "convert/weights/modules.h"

namespace loom {
namespace {

// Tensors with the values 0, 1, 2, ... of their own.
class Tensors {
 public:
  Tensors& add(std::string name, std::vector<std::int64_t> shape) {
    std::int64_t n = 1;
    for (const std::int64_t d : shape) n *= d;
    auto& values = values_->emplace_back(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    list.push_back(tensor_from_f32(std::move(name), std::move(shape), values));
    return *this;
  }
  std::vector<TensorInfo> list;

 private:
  std::shared_ptr<std::vector<std::vector<float>>> values_ =
      std::make_shared<std::vector<std::vector<float>>>();  // shared by copies
};

Json json(std::string_view text) { return *Json::parse(text); }

Json report_of(const Tensors& t, std::string_view settings = "{}") {
  auto made = read_weights(t.list, {}, json(settings));
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return made.ok() ? made->json : Json::object();
}

std::string error_of(const Tensors& t, std::string_view settings = "{}") {
  const auto made = network_from_weights(t.list, {}, json(settings));
  EXPECT_FALSE(made.ok());
  return made.ok() ? "" : made.status().message();
}

// "0:activation 1:eps", and ":input" of the whole file.
std::string asked(const Json& report) {
  std::string text;
  const auto add = [&](const std::string& path, const Json& questions) {
    for (const Json& q : questions.as_array())
      text += (text.empty() ? "" : " ") + path + ":" + q.find("key")->as_string();
  };
  add("", *report.find("questions"));
  for (const Json& m : report.find("modules")->as_array())
    add(m.find("path")->as_string(), *m.find("questions"));
  return text;
}

const Json& module(const Json& report, std::size_t i) {
  return report.find("modules")->as_array()[i];
}

TEST(Weights, NumbersInNamesAreNumbers) {
  EXPECT_TRUE(natural_less("layers.9.a", "layers.10.a"));
  EXPECT_FALSE(natural_less("layers.10", "layers.9"));
  EXPECT_TRUE(natural_less("a", "a.b"));
  EXPECT_EQ(name_order("0", "2"), NameOrder::before);
  EXPECT_EQ(name_order("fc10", "fc9"), NameOrder::after);
  EXPECT_EQ(name_order("a.0.x", "a.1.b"), NameOrder::before);
  EXPECT_EQ(name_order("encoder", "decoder"), NameOrder::unknown);
  EXPECT_EQ(name_order("fc1", "conv2"), NameOrder::unknown);
}

TEST(Weights, PrefixesGoWhereAllNamesHaveThem) {
  const auto stripped = [](const Tensors& t) {
    const auto s = strip_prefixes(t.list, nullptr);
    EXPECT_TRUE(s.ok());
    std::string text;
    for (const std::string& n : s->names) text += n + " ";
    return text;
  };
  EXPECT_EQ(stripped(Tensors().add("module._orig_mod.0.weight", {2, 3})), "0.weight ");
  EXPECT_EQ(stripped(Tensors().add("module.a", {1}).add("b", {1})), "module.a b ");
  EXPECT_EQ(stripped(Tensors().add("state_dict.module.a", {1})), "a ");
  EXPECT_EQ(stripped(Tensors().add("model.0.weight", {2, 2}).add("lm_head.weight", {2, 2})),
            "0.weight lm_head.weight ");
  EXPECT_EQ(stripped(Tensors().add("model.0.weight", {2, 2}).add("fc.weight", {2, 2})),
            "model.0.weight fc.weight ");
  EXPECT_EQ(stripped(Tensors().add("enc._orig_mod.w", {1})), "enc.w ");
  const std::vector<std::string> both{"a.", "b."}, none{"c."};
  const Tensors twice = Tensors().add("a.w", {1}).add("b.w", {1});
  EXPECT_FALSE(strip_prefixes(twice.list, &both).ok());
  EXPECT_FALSE(strip_prefixes(twice.list, &none).ok());
}

TEST(Weights, WhatNamesDoNotTellIsAsked) {
  const Tensors mlp = Tensors()
                          .add("0.weight", {5, 3})
                          .add("0.bias", {5})
                          .add("2.weight", {2, 5})
                          .add("2.bias", {2});
  EXPECT_EQ(asked(report_of(mlp)), ":layers :cells 0:activation 2:activation");
  EXPECT_NE(error_of(mlp).find("4 questions"), std::string::npos);
  EXPECT_EQ(asked(report_of(mlp, R"({"sequential": true, "activation": {"0": "relu"},
                                     "cells": {"1": {"type": "dropout"}}})")),
            "2:activation");
  EXPECT_EQ(asked(report_of(Tensors().add("a.weight", {4, 3, 3, 3}).add("a.bias", {4}))),
            ":layers :input a:stride a:padding a:dilation a:activation");
  EXPECT_EQ(asked(report_of(Tensors().add("a.weight", {4, 4, 3}))), ":layers :input a:type");
  const Tensors conv = Tensors().add("a.weight", {4, 3, 3, 3}).add("a.bias", {4});
  EXPECT_EQ(asked(report_of(conv, R"({"defaults": "pytorch", "cells": {"a": {"stride": 2}}})")),
            ":layers :input a:activation");
  EXPECT_NE(error_of(conv, R"({"defaults": "keras"})").find("must be \"pytorch\""),
            std::string::npos);
}

TEST(Weights, ASequenceIsBuiltAndFilled) {
  const Tensors mlp = Tensors()
                          .add("0.weight", {5, 3})
                          .add("0.bias", {5})
                          .add("2.weight", {2, 5})
                          .add("2.bias", {2});
  auto made = network_from_weights(mlp.list, {}, json(R"({"sequential": true,
      "activation": {"2": "linear"}, "cells": {"1": {"type": "activation"}}})"));
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  Network& n = *made->network;
  EXPECT_EQ(n.size(), 3u);
  EXPECT_EQ(n.input().width, 3);
  EXPECT_EQ(n.find("0.0.0.2", "weight")->master()[9], 9.0f);
  EXPECT_EQ(n.find("0.0.0.0", "bias")->master()[4], 4.0f);
}

TEST(Weights, LayoutsAreToldByBiasesNeighborsOrTheCaller) {
  const auto layout = [](const Tensors& t, const char* settings = "{}") {
    return asked(report_of(t, settings)).find("layout") == std::string::npos;
  };
  EXPECT_TRUE(layout(Tensors().add("0.weight", {4, 3}).add("0.bias", {3})));
  EXPECT_FALSE(layout(Tensors().add("fc.weight", {3, 3}).add("fc.bias", {3})));
  EXPECT_TRUE(layout(Tensors().add("fc.weight", {3, 3}), R"({"layout": "in_out"})"));
  // 4 -> 8 -> 3 as [out, in]; as [in, out] they do not follow one another.
  EXPECT_TRUE(layout(Tensors().add("fc0.weight", {8, 4}).add("fc1.weight", {3, 8})));
  EXPECT_FALSE(layout(Tensors().add("fc0.weight", {8, 8}).add("fc1.weight", {8, 8})));
  auto made = network_from_weights(Tensors().add("fc.weight", {2, 3}).add("fc.bias", {3}).list, {},
                                   json(R"({"sequential": true, "activation": "linear"})"));
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const auto w = made->network->find("0.0.0.0", "weight")->master();
  EXPECT_EQ(std::vector<float>(w.begin(), w.end()), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Weights, OrdersByWidthsAreFoundOrAsked) {
  const Tensors one = Tensors()
                          .add("head.weight", {2, 7})
                          .add("head.bias", {2})
                          .add("body.weight", {7, 3})
                          .add("body.bias", {7});
  const char* settings = R"({"sequential": true, "activation": "linear"})";
  const Json report = report_of(one, settings);
  EXPECT_EQ(report.find("open")->as_integer(), 0);
  EXPECT_EQ(report.find("order")->as_array()[0].as_string(), "body");
  const Tensors two = Tensors()
                          .add("a.weight", {4, 4})
                          .add("b.weight", {4, 4})
                          .add("b.bias", {4})
                          .add("a.bias", {4});
  const Json open = report_of(two, R"({"sequential": true, "activation": "linear",
                                       "layout": "out_in"})");
  EXPECT_EQ(asked(open), ":layers");
  EXPECT_EQ(open.find("questions")->as_array()[0].find("choices")->as_array().size(), 2u);
}

TEST(Weights, ListedLayersMayBeNested) {
  const Tensors block = Tensors()
                            .add("norm.weight", {4})
                            .add("norm.bias", {4})
                            .add("fc.weight", {4, 4})
                            .add("fc.bias", {4})
                            .add("out.weight", {2, 4})
                            .add("out.bias", {2});
  auto made = network_from_weights(block.list, {}, json(R"({"layout": "out_in",
      "cells": {"norm": {"type": "layer_norm", "eps": 1e-5}},
      "layers": [{"type": "sequential", "layers": ["norm",
                  {"from": "fc", "activation": "relu"}, {"type": "residual"}]}, "out"],
      "input": {"width": 4}})"));
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->network->find("0.0.0.0/1", "weight")->master()[5], 5.0f);
  EXPECT_NE(error_of(block, R"({"layers": ["norm"]})").find("'fc'"), std::string::npos);
  EXPECT_NE(error_of(block, R"({"layers": ["norm", "norm"]})").find("twice"), std::string::npos);
}

TEST(Weights, TransposedConvolutionsAreArranged) {
  auto made = network_from_weights(
      Tensors().add("up.weight", {2, 3, 2}).add("up.bias", {3}).list, {},
      json(R"({"sequential": true, "input": {"dims": [2, 4]}, "activation": "linear",
               "types": {"conv_transpose1d": {"stride": 2, "padding": 0, "dilation": 1,
                                              "output_padding": 0}}})"));
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const auto w = made->network->find("0.0.0.0", "weight")->master();
  EXPECT_EQ(std::vector<float>(w.begin(), w.end()),
            (std::vector<float>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
}

TEST(Weights, ATopologyIsFilledByNames) {
  const Tensors file =
      Tensors().add("module.q.weight", {4, 3}).add("module.q.bias", {4}).add("module.rest", {1});
  const char* topology = R"({"leave": ["module.rest"], "topology": {"format": "loom-topology",
      "version": 3, "input": {"width": 3},
      "cells": [{"at": [0,0,0,0], "type": "dense", "out": 4, "name": "q"}]}})";
  auto made = network_from_weights(file.list, {}, json(topology));
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->network->find("0.0.0.0", "weight")->master()[11], 11.0f);
  EXPECT_NE(error_of(file, std::string(topology).replace(11, 13, "\"module.q.b*\"")).find("bias"),
            std::string::npos);
  EXPECT_NE(error_of(file, std::string(topology).replace(10, 15, "[]")).find("module.rest"),
            std::string::npos);
}

TEST(Weights, WhatIsNoLayerIsNamed) {
  const Tensors odd = Tensors().add("vit.cls_token", {1, 1, 8});
  EXPECT_NE(error_of(odd).find("cls_token"), std::string::npos);
  EXPECT_NE(error_of(Tensors().add("a.lora_A.weight", {2, 2})).find("LoRA"), std::string::npos);
  EXPECT_NE(error_of(Tensors().add("a.weight", {0, 3})).find("empty"), std::string::npos);
  EXPECT_NE(error_of(Tensors().add("a.weight", {4, 3}).add("a.bias", {5})).find("no side"),
            std::string::npos);
  EXPECT_NE(error_of(Tensors()).find("no tensors"), std::string::npos);
  const Tensors fc = Tensors().add("fc.weight", {4, 3}).add("fc.bias", {4});
  for (const auto& [settings, what] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"activations": {}})", "activations"},
           {R"({"activation": {"fd": "relu"}})", "'fd'"},
           {R"({"cells": {"fd": {}}})", "'fd'"},
           {R"({"types": {"lstm": {}}})", "'lstm'"},
           {R"({"leave": ["x"]})", "'x'"},
           {R"({"strip": ["x."]})", "'x.'"},
           {R"({"layout": "rows"})", "layout"},
           {R"({"cells": {"fc": {"type": "lstm"}}})", "lstm"},
           {R"({"sequential": true, "layers": []})", "sequential"},
           {R"({"map": {"0.0.0.0": "fc"}})", "topology"},
           {R"({"sequential": true, "activation": "linear", "cells": {"fc": {"outs": 3}}})",
            "outs"},
           {R"({"sequential": true, "activation": "linear", "input": {"width": 9}})", "[4, 3]"}})
    EXPECT_NE(error_of(fc, settings).find(what), std::string::npos)
        << settings << ": " << error_of(fc, settings);
}

TEST(Weights, AttentionAndRecurrentLayersAreKnownByTheirNames) {
  const Tensors mha = Tensors()
                          .add("a.in_proj_weight", {12, 4})
                          .add("a.in_proj_bias", {12})
                          .add("a.out_proj.weight", {4, 4})
                          .add("a.out_proj.bias", {4});
  EXPECT_EQ(asked(report_of(mha)), ":layers :input a:heads a:causal");
  auto made = network_from_weights(mha.list, {}, json(R"({"sequential": true, "heads": 2,
      "cells": {"a": {"causal": false}}, "input": {"dims": [3, 4], "axis": "steps"}})"));
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->network->find("0.0.0.0", "k")->master()[0], 16.0f);
  EXPECT_EQ(made->network->find("0.0.0.0", "v_bias")->master()[0], 8.0f);
  const Json gru = report_of(Tensors()
                                 .add("r.weight_ih_l0", {9, 5})
                                 .add("r.weight_hh_l0", {9, 3})
                                 .add("r.bias_ih_l0", {9})
                                 .add("r.bias_hh_l0", {9}));
  EXPECT_EQ(module(gru, 0).find("type")->as_string(), "gru");
  const Json grouped = report_of(Tensors()
                                     .add("model.layers.0.self_attn.q_proj.weight", {8, 8})
                                     .add("model.layers.0.self_attn.k_proj.weight", {4, 8})
                                     .add("model.layers.0.self_attn.v_proj.weight", {4, 8})
                                     .add("model.layers.0.self_attn.o_proj.weight", {8, 8})
                                     .add("model.layers.0.mlp.gate_proj.weight", {20, 8})
                                     .add("model.layers.0.mlp.up_proj.weight", {20, 8})
                                     .add("model.layers.0.mlp.down_proj.weight", {8, 20}));
  ASSERT_EQ(grouped.find("modules")->as_array().size(), 2u);
  EXPECT_EQ(module(grouped, 0).find("type")->as_string(), "swiglu");
  EXPECT_EQ(module(grouped, 1).find("type")->as_string(), "attention");
}

}  // namespace
}  // namespace loom
