// Nodes that ask for what they do not have, or that a short file makes large: refused with a
// message that says what, before memory is asked for.
#include <gtest/gtest.h>

#include <cmath>

#include "onnx/graph.h"
#include "onnx/import.h"

namespace loom::onnx {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 28;

// A graph of one node.
struct OneNode {
  Model model;

  explicit OneNode(std::string op, std::int64_t opset = 22) {
    model.file = "one";
    model.opsets = {{"", opset}};
    node().op = std::move(op);
    outputs({"y"});
  }
  Node& node() {
    if (model.graph.nodes.empty()) model.graph.nodes.emplace_back();
    return model.graph.nodes[0];
  }
  OneNode& input(const std::string& name, const Dims& dims, Type type = Type::f32) {
    ValueInfo v;
    v.name = name;
    v.kind = Kind::tensor;
    v.type = type;
    v.has_shape = true;
    for (const std::int64_t d : dims) v.dims.emplace_back().value = d;
    model.graph.inputs.push_back(std::move(v));
    node().inputs.push_back(name);
    return *this;
  }
  OneNode& known(const std::string& name, const Dims& dims, const std::vector<double>& values,
                 Type type = Type::f32) {
    auto t = make_tensor(name, type, dims, values);
    EXPECT_TRUE(t.ok()) << t.status().to_string();
    model.graph.initializers.push_back(std::move(*t));
    node().inputs.push_back(name);
    return *this;
  }
  OneNode& ints(const std::string& name, const Dims& values) {
    Attribute& a = node().attributes.emplace_back();
    a.name = name;
    a.type = AttributeType::ints;
    a.ints = values;
    return *this;
  }
  OneNode& integer(const std::string& name, std::int64_t value) {
    Attribute& a = node().attributes.emplace_back();
    a.name = name;
    a.type = AttributeType::i;
    a.i = value;
    return *this;
  }
  OneNode& text(const std::string& name, const std::string& value) {
    Attribute& a = node().attributes.emplace_back();
    a.name = name;
    a.type = AttributeType::s;
    a.s = value;
    return *this;
  }
  OneNode& body(const Graph& graph) {
    Attribute& a = node().attributes.emplace_back();
    a.name = "body";
    a.type = AttributeType::graph;
    a.graphs.push_back(graph);
    return *this;
  }
  OneNode& outputs(const std::vector<std::string>& names) {
    node().outputs = names;
    model.graph.outputs.clear();
    for (const std::string& n : names)
      if (!n.empty()) model.graph.outputs.emplace_back().name = n;
    return *this;
  }
  // Importing says this.
  void refused(const std::string& part) const {
    const auto graph = import_graph(model);
    ASSERT_FALSE(graph.ok()) << part;
    EXPECT_TRUE(graph.status().code() == Code::unsupported ||
                graph.status().code() == Code::invalid_argument)
        << graph.status().to_string();
    EXPECT_NE(graph.status().message().find(part), std::string::npos) << graph.status().to_string();
  }
  std::vector<double> run(const Dims& dims, const std::vector<double>& x) const {
    auto t = make_tensor("x", Type::f32, dims, x);
    EXPECT_TRUE(t.ok());
    const auto y = Runner(model).run({{"x", std::move(*t)}});
    EXPECT_TRUE(y.ok()) << y.status().to_string();
    return y.ok() ? y->at(0).values : std::vector<double>();
  }
};

TEST(OnnxLimits, ShortFilesDoNotAskForLargeMemory) {
  OneNode("ConstantOfShape")
      .known("shape", {3}, {1 << 20, 1 << 10, 4}, Type::i64)
      .refused("2^31-1");
  OneNode("ConstantOfShape").known("shape", {2}, {1 << 20, 1 << 10}, Type::i64).refused("2^29");
  OneNode("Hardmax").input("x", {1, 2 * kLarge + 1}).refused("2^29");
  OneNode("Expand").input("x", {1}).known("shape", {1}, {1 << 27}, Type::i64).refused("2^26");
  OneNode("Split").input("x", {kLarge}).outputs({"y", "z"}).refused("2^26");
  OneNode("OneHot")
      .input("x", {2}, Type::i64)
      .known("depth", {}, {1 << 28}, Type::i64)
      .known("values", {2}, {0, 1})
      .refused("2^26");
  OneNode("MatMul").input("x", {1 << 20, 1}).input("z", {1, 1 << 20}).refused("2^31-1");
  OneNode("Einsum")
      .text("equation", "a,b,ac,bd->cd")
      .input("a", {1 << 16})
      .input("b", {1 << 16})
      .input("c", {1 << 16, 1})
      .input("d", {1 << 16, 1})
      .refused("2^31-1");
  OneNode("GridSample")
      .text("mode", "cubic")
      .text("padding_mode", "border")
      .input("x", {1, 1, 1 << 20, 1})
      .input("grid", {1, 1, 1, 2})
      .refused("2^26");
  OneNode("RNN")
      .input("x", {1 << 20, 1, 1})
      .known("w", {1, 1, 1}, {1})
      .known("r", {1, 1, 1}, {1})
      .refused("2^18");
  OneNode("Attention", 23)
      .integer("is_causal", 1)
      .input("q", {1, 1, 1 << 16, 1})
      .input("k", {1, 1, 1 << 14, 1})
      .input("v", {1, 1, 1 << 14, 1})
      .refused("2^29");
  OneNode("LpPool")
      .text("auto_pad", "SAME_UPPER")
      .ints("kernel_shape", {1 << 24, 1 << 24, 1 << 24})
      .ints("dilations", {2, 2, 2})
      .input("x", {1, 1, 2, 2, 2})
      .refused("reaches over");
  OneNode("Add", 6)
      .integer("broadcast", 1)
      .integer("axis", -(std::int64_t{1} << 40))
      .input("x", {2, 3})
      .known("b", {3}, {1, 2, 3})
      .refused("axis");
  OneNode("Reshape")
      .input("x", {1})
      .known("shape", {65}, std::vector<double>(65, 1), Type::i64)
      .refused("limit is 64");
}

TEST(OnnxLimits, WhatIsNotThereIsNotRead) {
  OneNode("Equal").input("x", {2}).input("z", {2}).outputs({}).refused("has no outputs");
  OneNode("PRelu")
      .input("x", {2})
      .known("slope", {1}, {1})
      .known("more", {1}, {1})
      .refused("has 3 inputs, expected 2");
  OneNode("PRelu")
      .input("x", {2})
      .known("slope", {3, 1}, {1, 2, 3})
      .refused("does not broadcast to [2]");
  OneNode("Slice", 9)
      .input("x", {4})
      .ints("starts", {0})
      .ints("ends", {2})
      .ints("axes", {1000})
      .refused("axis 1000");
  OneNode("Trilu").input("x", {4}).refused("expected matrices");
  OneNode("Conv")
      .input("x", {1, 1, 8})
      .known("w", {1, 1, 3}, {1, 2, 3})
      .ints("kernel_shape", {2})
      .refused("kernel_shape is");
  OneNode("Conv")
      .input("x", {1, 1, 8})
      .known("w", {1, 1, 3}, {1, 2, 3})
      .known("b", {2}, {1, 2})
      .refused("(bias)");
  OneNode("Conv").known("x", {1, 0, 8}, {}).known("w", {2, 0, 3}, {}).refused("holds nothing");
  OneNode("GRU")
      .input("x", {1, 1, 1})
      .known("w", {1, 3, 1}, {1, 1, 1})
      .known("r", {1, 3, 1}, {1, 1, 1})
      .known("b", {1, 3}, {1, 2, 3})
      .refused("(B)");
  OneNode("GRU")
      .input("x", {1, 1, 1})
      .known("w", {1, 3, 1}, {1, 1, 1})
      .known("r", {1, 3, 1}, {1, 1, 1})
      .outputs({"y", "h", "c"})
      .refused("output 2");
}

TEST(OnnxLimits, NormsOfWhatIsNotThereAreRefused) {
  OneNode("GroupNormalization")
      .integer("num_groups", 0)
      .input("x", {1, 2, 2})
      .known("g", {2}, {1, 1})
      .known("b", {2}, {1, 1})
      .refused("num_groups 0");
  OneNode("RMSNormalization", 23)
      .integer("axis", 5)
      .input("x", {1, 2})
      .known("g", {2}, {1, 1})
      .refused("axis 5");
  OneNode("Einsum").text("equation", "\x81\x82->\x82").input("x", {2, 2}).refused("equation");
  OneNode("BatchNormalization")
      .input("x", {2, 3})
      .known("g", {2}, {1, 1})
      .known("b", {3}, {1, 1, 1})
      .known("m", {3}, {1, 1, 1})
      .known("v", {3}, {1, 1, 1})
      .refused("input 1");
}

TEST(OnnxLimits, AFunctionHandsOnNoInputThatItsCallLeavesOut) {
  OneNode call("Call");
  call.input("x", {2}).node().domain = "own";
  call.node().inputs = {"x", ""};
  call.model.opsets.push_back({"own", 1});
  Function& f = call.model.functions.emplace_back();
  f.name = "Call";
  f.domain = "own";
  f.inputs = {"a", "b"};
  f.outputs = {"b"};
  f.opsets = {{"", 22}};
  call.refused("output 'y'");
}

// What an importer does not know may change what an operator does, and what runtimes compute in
// different ways has no right answer.
TEST(OnnxLimits, NothingIsGuessed) {
  OneNode("Relu").integer("slope", 1).input("x", {2}).refused("attribute 'slope'");
  OneNode("Reshape")
      .text("mode", "own")
      .input("x", {2})
      .known("shape", {1}, {2}, Type::i64)
      .refused("attribute 'mode'");
  OneNode("SpaceToDepth", 28)
      .integer("blocksize", 1)
      .text("mode", "DRC")
      .input("x", {1, 1, 2, 2})
      .refused("expected DCR or CRD");
  OneNode("Attention", 25)
      .integer("left_window_size", -2)
      .input("q", {1, 1, 2, 1})
      .input("k", {1, 1, 2, 1})
      .input("v", {1, 1, 2, 1})
      .refused("a window of -2");
  OneNode("ConvTranspose")
      .text("auto_pad", "SAME_UPPER")
      .ints("strides", {2})
      .input("x", {1, 1, 4})
      .known("w", {1, 1, 1}, {1})
      .refused("shorter than its stride");
  OneNode("MaxPool")
      .text("auto_pad", "SAME_UPPER")
      .ints("kernel_shape", {3})
      .ints("dilations", {2})
      .input("x", {1, 1, 7})
      .refused("pad differently");
  OneNode("MaxPool")
      .text("auto_pad", "SAME_LOWER")
      .ints("kernel_shape", {1})
      .ints("strides", {3})
      .input("x", {1, 1, 8})
      .refused("pad differently");
  OneNode("Resize")
      .text("mode", "linear")
      .text("coordinate_transformation_mode", "tf_crop_and_resize")
      .input("x", {3})
      .known("roi", {2}, {0, 1})
      .known("scales", {1}, {0.5})
      .refused("no whole length");
  OneNode("Resize")
      .text("mode", "cubic")
      .text("coordinate_transformation_mode", "pytorch_half_pixel")
      .input("x", {3})
      .known("roi", {0}, {})
      .known("scales", {0}, {})
      .known("sizes", {1}, {1}, Type::i64)
      .refused("runtimes differ");
}

// A body that hands on the condition and one value.
Graph idle_body() {
  Graph g;
  for (const char* name : {"i", "go", "v"}) g.inputs.emplace_back().name = name;
  for (const char* name : {"go", "v"}) g.outputs.emplace_back().name = name;
  return g;
}
TEST(OnnxLimits, LoopsEnd) {
  const auto loop = [](double count) {
    return OneNode("Loop").known("m", {}, {count}, Type::i64).known("go", {}, {1}, Type::boolean);
  };
  loop(1e12).input("x", {1}).body(idle_body()).refused("takes more than 4096 steps");
  EXPECT_EQ(loop(3).input("x", {1}).body(idle_body()).run({1}, {7}), (std::vector<double>{7}));
  EXPECT_EQ(loop(0).input("x", {1}).body(idle_body()).run({1}, {7}), (std::vector<double>{7}));
  OneNode endless("Loop");
  endless.node().inputs = {"", ""};
  endless.input("x", {1}).body(idle_body()).refused("takes more than 4096 steps");
  OneNode("Loop")
      .input("m", {}, Type::i64)
      .known("go", {}, {1}, Type::boolean)
      .input("x", {1})
      .body(idle_body())
      .refused("depends on data");
  OneNode("Loop")
      .known("m", {}, {2}, Type::i64)
      .input("go", {}, Type::boolean)
      .input("x", {1})
      .body(idle_body())
      .refused("depends on data");
  loop(2).input("x", {1}).input("z", {1}).body(idle_body()).refused("takes 3 values");
  loop(2).input("x", {1}).integer("unroll", 1).body(idle_body()).refused("attribute 'unroll'");
  // Loops in loops.
  Graph outer = idle_body();
  Node& inner = outer.nodes.emplace_back();
  inner.op = "Loop";
  inner.inputs = {"m", "go", "v"};
  inner.outputs = {"w"};
  Attribute& a = inner.attributes.emplace_back();
  a.name = "body";
  a.type = AttributeType::graph;
  a.graphs.push_back(idle_body());
  outer.outputs[1].name = "w";
  loop(4096).input("x", {1}).body(outer).refused("takes more than 1048576 nodes");

  Graph sums;
  for (const char* name : {"a", "b"}) sums.inputs.emplace_back().name = name;
  sums.outputs.emplace_back().name = "b";
  OneNode("Scan")
      .input("x", {2, 1})
      .input("z", {3, 1})
      .integer("num_scan_inputs", 2)
      .body(sums)
      .refused("another one 2");
  OneNode("Scan")
      .input("x", {2, 1})
      .input("z", {5000, 1})
      .integer("num_scan_inputs", 1)
      .body(sums)
      .refused("takes 5000 steps");
  OneNode("Scan", 8)
      .input("x", {2, 1})
      .input("z", {2, 1})
      .integer("num_scan_inputs", 1)
      .body(sums)
      .refused("opset 8");
}

// Optional forms near to what is refused.
TEST(OnnxLimits, WhatIsOptionalStaysSo) {
  EXPECT_EQ(OneNode("BatchNormalization")
                .input("x", {3})
                .known("g", {1}, {2})
                .known("b", {1}, {1})
                .known("m", {1}, {0})
                .known("v", {1}, {1})
                .integer("training_mode", 0)
                .run({3}, {0, 0, 0}),
            (std::vector<double>{1, 1, 1}));
  // Going backward, a start before the first element takes it.
  EXPECT_EQ(OneNode("Slice")
                .input("x", {3})
                .known("s", {1}, {-9}, Type::i64)
                .known("e", {1}, {-9}, Type::i64)
                .known("a", {1}, {0}, Type::i64)
                .known("t", {1}, {-1}, Type::i64)
                .run({3}, {7, 8, 9}),
            (std::vector<double>{7}));
  EXPECT_EQ(OneNode("LayerNormalization")
                .input("x", {1, 2})
                .known("g", {2}, {1, 1})
                .outputs({"", "mean"})
                .run({1, 2}, {2, 4}),
            (std::vector<double>{3}));
  EXPECT_EQ(OneNode("Add", 6)
                .integer("broadcast", 1)
                .integer("axis", -2)
                .input("x", {2, 1})
                .known("b", {2}, {10, 20})
                .run({2, 1}, {1, 2}),
            (std::vector<double>{11, 22}));
  EXPECT_EQ(OneNode("Pad", 10).ints("pads", {1, 0}).input("x", {2}).run({2}, {1, 2}),
            (std::vector<double>{0, 1, 2}));
}

OneNode recurrent(const Dims& x = {3, 2, 1}) {
  OneNode one("RNN");
  one.input("x", x).known("w", {1, 1, 1}, {1}).known("r", {1, 1, 1}, {1});
  one.node().inputs.push_back("");
  one.outputs({"y", "h"});
  return one;
}

TEST(OnnxLengths, OnesThatNoRowHasAreRefused) {
  recurrent()
      .known("lengths", {2}, {1, 4}, Type::i32)
      .refused("node 0 (RNN): its sequence_lens hold 4, expected 0 to 3");
  recurrent().known("lengths", {2}, {-1, 3}, Type::i32).refused("hold -1");
  recurrent().known("lengths", {1}, {3}, Type::i32).refused("sequence_lens");
  // Of a run they make the row NaN, as an id outside of its table does.
  const OneNode given = recurrent().input("lengths", {2}, Type::i32);
  const auto x = make_tensor("x", Type::f32, {3, 2, 1}, std::vector<double>(6, 0.5));
  const auto run = [&](const std::vector<double>& lengths) {
    const auto l = make_tensor("lengths", Type::i32, {2}, lengths);
    const auto y = Runner(given.model).run({{"x", *x}, {"lengths", *l}});
    EXPECT_TRUE(y.ok()) << y.status().to_string();
    return y.ok() ? y->at(1).values : std::vector<double>(2);
  };
  const std::vector<double> h = run({1, 4}), none = run({0, -1});
  EXPECT_NEAR(h[0], std::tanh(0.5), 1e-6);
  EXPECT_TRUE(std::isnan(h[1]));
  EXPECT_EQ(none[0], 0);
  EXPECT_TRUE(std::isnan(none[1]));
}

// x [batch, seq, 2], or with other names of its dimensions.
OneNode opened(const std::string& op, const std::vector<std::string>& names = {"batch", "seq"}) {
  OneNode one(op);
  one.input("x", {-1, -1, 2});
  for (std::size_t d = 0; d < names.size(); ++d) one.model.graph.inputs[0].dims[d].param = names[d];
  return one;
}
Json sizes(const std::string& name, Json size) {
  Json json = Json::object();
  json.set(name, std::move(size));
  return json;
}
void says(const OneNode& one, const OpenDims& open, const std::string& part) {
  const auto graph = import_graph(one.model, {}, nullptr, open);
  const std::string error = graph.ok() ? "" : graph.status().to_string();
  EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
}

TEST(OnnxOpenDims, AreFixedByTheirNames) {
  const OneNode relu = opened("Relu"), unnamed = opened("Relu", {});
  says(relu, {},
       "input 'x' float[batch, seq, 2]: its dimension 'seq' is open: "
       "state its size in dims, as {\"seq\": 128}, or --dim 'seq=128'");
  says(unnamed, {}, "its dimension 'x:1' is open");
  says(relu, {sizes("sq", 3)}, "dims: the graph has no open dimension 'sq': open are batch, seq");
  says(relu, {sizes("seq", -1)}, "dims: the size of 'seq' must be");
  says(relu, {sizes("seq", 1.5)}, "dims: the size of 'seq' must be");
  says(relu, {Json::array()}, "dims: expected an object");
  says(relu, {sizes("seq", 3), sizes("seq", 3)}, "max: 'seq' has a size by dims");
  says(relu, {Json::object(), sizes("seq", 1)}, "max: expected one dimension, of 2 to 65,536");
  for (const OneNode* one : {&relu, &unnamed}) {
    const auto graph =
        import_graph(one->model, {}, nullptr, {sizes(one == &relu ? "seq" : "x:1", 3)});
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    EXPECT_EQ(graph->inputs.at(0).dims, (Dims{1, 3, 2}));
    ASSERT_EQ(graph->report.size(), 2u);
    EXPECT_NE(graph->report[0].find("is the batch: rows of the network"), std::string::npos);
  }
  // The batch's name is of one size everywhere.
  OneNode pair = opened("Add", {"seq", "batch"});
  pair.input("z", {-1, 2});
  pair.model.graph.inputs[1].dims[0].param = "batch";
  const auto graph = import_graph(pair.model, {}, nullptr, {sizes("seq", 3)});
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->inputs.at(0).dims, (Dims{3, 1, 2}));
}

TEST(OnnxOpenDims, WhereThePaddingWouldShowTheNodeIsRefused) {
  const OpenDims max{Json::object(), sizes("seq", 4)};
  EXPECT_TRUE(import_graph(opened("Relu").model, {}, nullptr, max).ok());
  says(opened("Flatten"), max, "node 0 (Flatten): the value 'y' is [1, 8] at 4 and [1, 6] at 3");
  says(opened("Shape"), max, "the output 'y' is another at 3");
  says(opened("MeanVarianceNormalization").ints("axes", {1}), max,
       "its result would depend on the padding of 'seq': fix 'seq' by dims");
  says(opened("LayerNormalization").known("s", {2}, {1, 1}).integer("axis", 1), max, "padding");
  says(opened("Slice")
           .known("b", {1}, {-1}, Type::i64)
           .known("e", {1}, {9}, Type::i64)
           .known("a", {1}, {1}, Type::i64),
       max, "padding");
  says(opened("Gather").known("i", {1}, {2}, Type::i64).integer("axis", 1), max,
       "takes place 2, which a length of 2 does not have");
  says(opened("CumSum").known("a", {}, {1}, Type::i64).integer("reverse", 1), max, "padding");
}

}  // namespace
}  // namespace loom::onnx
