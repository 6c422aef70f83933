#include "formats/onnx/onnx.h"

#include <gtest/gtest.h>

#include "formats/onnx/protobuf.h"
#include "formats/onnx/test_protobuf.h"
#include "support/onnx_cases.h"

namespace loom::onnx {
namespace {

using namespace loom::test;

Result<Model> read(const std::string& bytes) { return read_model(source_of(bytes)); }
Result<Tensor> read_alone(const std::string& bytes) { return read_tensor(source_of(bytes)); }

// A graph of one node y = op(x), whatever stands in `node`.
std::string model_of(const std::string& node) {
  return pb_model(pb_graph({node}, {pb_value("x", 1, {2})}, {pb_value("y", 1, {2})}));
}

TEST(Protobuf, ReadsEveryWireType) {
  const std::string bytes =
      pb_int(1, -1) + pb_float(2, 0.5f) + pb_bytes(3, "abc") + pb_varint(4 << 3 | 1) + le(0.25);
  Cursor cursor(as_bytes(bytes), 100);
  Field f;
  std::int64_t i = 0;
  float x = 0;
  std::string s;
  ASSERT_TRUE(*cursor.next(&f));
  EXPECT_TRUE(f.get("i", &i).ok() && i == -1);
  ASSERT_TRUE(*cursor.next(&f));
  EXPECT_TRUE(f.get("f", &x).ok() && x == 0.5f);
  ASSERT_TRUE(*cursor.next(&f));
  EXPECT_TRUE(f.get("s", &s).ok() && s == "abc");
  EXPECT_EQ(f.offset, 100u + 11 + 5 + 2);
  EXPECT_EQ(f.get("s", &i).message(), "offset 118: field 's' is a run of bytes, expected a varint");
  ASSERT_TRUE(*cursor.next(&f));
  EXPECT_EQ(f.wire, Wire::fixed64);
  EXPECT_EQ(f.value, std::bit_cast<std::uint64_t>(0.25));
  EXPECT_FALSE(*cursor.next(&f));
}

TEST(Protobuf, RefusesWhatIsNotWireFormat) {
  const auto error = [](std::string bytes) {
    Cursor cursor(as_bytes(bytes), 0);
    Field f;
    return cursor.next(&f);
  };
  LOOM_EXPECT_ERROR(error("\x80"), Code::truncated, "a field's tag is cut off after 1 bytes");
  LOOM_EXPECT_ERROR(error(std::string("\x00", 1)), Code::corrupt, "field number 0");
  LOOM_EXPECT_ERROR(error("\x0b"), Code::corrupt, "wire type 3 (a group)");
  LOOM_EXPECT_ERROR(error("\x0c"), Code::corrupt, "wire type 4 (a group)");
  LOOM_EXPECT_ERROR(error("\x0e"), Code::corrupt, "wire type 6, expected");
  LOOM_EXPECT_ERROR(error("\x0a\x05"
                          "ab"),
                    Code::truncated, "field 1 takes 5 bytes, its message has 2");
  LOOM_EXPECT_ERROR(error("\x0d"
                          "abc"),
                    Code::truncated, "takes 4 bytes, its message has 3");
  LOOM_EXPECT_ERROR(error("\x08" + std::string(9, '\xff') + "\x02"), Code::corrupt,
                    "more than 64 bits");
  EXPECT_TRUE(error("\x08" + std::string(9, '\xff') + "\x01").ok());
  LOOM_EXPECT_ERROR(error("\x08" + std::string(10, '\x80')), Code::corrupt, "more than 64 bits");
  LOOM_EXPECT_ERROR(error("\x0a" + pb_varint(~0ull)), Code::truncated,
                    "takes 18446744073709551615 bytes");
}

TEST(Onnx, ReadsAModelFromEveryKindOfSource) {
  const std::string conv =
      pb_node("Conv", {"x", "w", ""}, {"y"},
              {pb_ints("pads", {1, -1}), pb_attribute("alpha", 1, pb_float(2, 0.5f)),
               pb_attribute("n", 2, pb_int(3, -7)), pb_attribute("mode", 3, pb_bytes(4, "same")),
               pb_attribute("zero", 2, "")},
              "conv1");
  const std::string weights = pb_tensor("w", 1, {2, 1}, pb_bytes(9, le(1.5f) + le(-2.0f)));
  const std::string bytes =
      pb_model(pb_graph({conv}, {pb_value("x", 1, {-5, 3}), pb_value("w", 1, {2, 1})},
                        {pb_value("y", 10, {})}, {weights})) +
      pb_bytes(14, pb_bytes(1, "k") + pb_bytes(2, "v")) +
      pb_bytes(8, pb_bytes(1, "com.x") + pb_int(2, 1));
  for (const SourcePtr& source : {source_of(bytes), callback_source_of(bytes)}) {
    const auto model = read_model(source);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    EXPECT_EQ(model->ir_version, 8);
    EXPECT_EQ(model->producer, "test");
    EXPECT_EQ(model->opset(), 13);
    EXPECT_EQ(model->opset("com.x"), 1);
    EXPECT_EQ(model->opset("com.y"), 0);
    EXPECT_EQ(model->metadata.at(0).second, "v");
    ASSERT_EQ(model->graph.nodes.size(), 1u);
    const Node& node = model->graph.nodes[0];
    EXPECT_EQ(describe(node, 0), "node 0 'conv1' (Conv)");
    EXPECT_EQ(node.inputs, (std::vector<std::string>{"x", "w", ""}));
    EXPECT_EQ(*node.get_ints("pads", {}), (std::vector<std::int64_t>{1, -1}));
    EXPECT_EQ(*node.get_float("alpha", 0), 0.5f);
    EXPECT_EQ(*node.get_int("n", 0), -7);
    EXPECT_EQ(*node.get_int("zero", 9), 0);
    EXPECT_EQ(*node.get_int("absent", 9), 9);
    EXPECT_EQ(*node.get_string("mode", ""), "same");
    EXPECT_EQ(*node.get_tensor("absent"), nullptr);
    LOOM_EXPECT_ERROR(node.get_int("pads", 0), Code::invalid_argument,
                      "attribute 'pads' is ints, expected an int");
    EXPECT_EQ(type_text(model->graph.inputs[0]), "float[?, 3]");
    EXPECT_EQ(type_text(model->graph.outputs[0]), "float16[]");
    const Tensor& w = model->graph.initializers.at(0);
    EXPECT_EQ(*read_f32(w), (std::vector<float>{1.5f, -2.0f}));
    EXPECT_EQ(w.view().size(), 8u);
    if (!source->view().empty()) {
      EXPECT_EQ(w.view().data(), source->view().data() + w.offset);  // nothing was copied
    }
  }
}

TEST(Onnx, ReadsTypedFieldsOfEveryType) {
  const auto varints = [](std::uint32_t field, const std::vector<std::int64_t>& values) {
    std::string packed, single;
    for (const std::int64_t v : values)
      packed += pb_varint(static_cast<std::uint64_t>(v)), single += pb_int(field, v);
    return std::pair(pb_bytes(field, packed), single);
  };
  const struct {
    Type type;
    std::uint32_t field;
    std::vector<std::int64_t> items;
    std::int64_t count;
    std::vector<double> values;
  } kCases[] = {
      {Type::u8, 5, {0, 255}, 2, {0, 255}},
      {Type::i8, 5, {-128, 127}, 2, {-128, 127}},
      {Type::u16, 5, {65535}, 1, {65535}},
      {Type::i16, 5, {-32768}, 1, {-32768}},
      {Type::i32, 5, {INT32_MIN}, 1, {INT32_MIN}},
      {Type::i64, 7, {-3}, 1, {-3}},
      {Type::boolean, 5, {1, 0}, 2, {1, 0}},
      {Type::f16, 5, {0x3800, 0xc000}, 2, {0.5, -2}},
      {Type::bf16, 5, {0x3fc0}, 1, {1.5}},
      {Type::u32, 11, {4000000000}, 1, {4e9}},
      {Type::u64, 11, {5}, 1, {5}},
      {Type::f8_e4m3fn, 5, {0x38, 0xb9}, 2, {1, -1.125}},
      {Type::f8_e5m2, 5, {0x3c}, 1, {1}},
      {Type::u4, 5, {0x21, 0x0f}, 3, {1, 2, 15}},
      {Type::i4, 5, {0xf8}, 2, {-8, -1}},
      {Type::u2, 5, {0xe4}, 4, {0, 1, 2, 3}},
      {Type::i2, 5, {0xe4}, 4, {0, 1, -2, -1}},
      {Type::f4_e2m1, 5, {0x72}, 2, {1, 6}},
      {Type::f8_e8m0, 5, {127, 130, 0}, 3, {1, 8, 0x1p-127}},
  };
  for (const auto& c : kCases) {
    const auto [packed, single] = varints(c.field, c.items);
    for (const std::string& data : {packed, single}) {
      const auto tensor = read_alone(pb_tensor("t", static_cast<int>(c.type), {c.count}, data));
      ASSERT_TRUE(tensor.ok()) << name(c.type) << ": " << tensor.status().to_string();
      EXPECT_EQ(*read_f64(*tensor), c.values) << name(c.type);
      EXPECT_EQ(*read_f32(*tensor), std::vector<float>(c.values.begin(), c.values.end()))
          << name(c.type);
      const auto integers = read_i64(*tensor);
      EXPECT_EQ(integers.ok(), is_integer(c.type) || c.type == Type::boolean) << name(c.type);
      if (integers.ok()) {
        EXPECT_EQ(*integers, std::vector<std::int64_t>(c.values.begin(), c.values.end()))
            << name(c.type);
      }
    }
  }
  const auto floats =
      read_alone(pb_tensor("t", 1, {3}, pb_float(4, 1) + pb_bytes(4, le(2.0f) + le(3.0f))));
  EXPECT_EQ(*read_f32(*floats), (std::vector<float>{1, 2, 3}));
  const auto doubles = read_alone(pb_tensor("t", 11, {}, pb_bytes(10, le(0.1))));
  EXPECT_EQ(*read_f64(*doubles), (std::vector<double>{0.1}));
  const auto strings = read_alone(pb_tensor("t", 8, {2}, pb_bytes(6, "a") + pb_bytes(6, "")));
  EXPECT_EQ(strings->strings, (std::vector<std::string>{"a", ""}));
}

TEST(Onnx, RefusesTensorsByName) {
  const auto error = [](int type, std::vector<std::int64_t> dims, const std::string& fields) {
    return read_alone(pb_tensor("w", type, dims, fields));
  };
  LOOM_EXPECT_ERROR(error(0, {1}, ""), Code::corrupt,
                    "test: tensor 'w': data_type is 0, expected 1 to 26");
  LOOM_EXPECT_ERROR(error(27, {1}, ""), Code::unsupported, "data_type is 27");
  LOOM_EXPECT_ERROR(error(1, {-1}, ""), Code::corrupt, "dims[0] is -1");
  LOOM_EXPECT_ERROR(error(1, {INT64_MAX, 3}, ""), Code::corrupt, "passes 2^64 bits");
  LOOM_EXPECT_ERROR(error(1, {INT64_MAX}, ""), Code::corrupt, "passes 2^64 bits");
  LOOM_EXPECT_ERROR(error(1, {3}, pb_bytes(9, le(1.0))), Code::corrupt,
                    "has 8 bytes, float[3] takes 12");
  LOOM_EXPECT_ERROR(error(1, {3}, ""), Code::corrupt, "float_data has 0 items, float[3] takes 3");
  LOOM_EXPECT_ERROR(error(7, {2}, pb_int(7, 1)), Code::corrupt,
                    "int64_data has 1 items, int64[2] takes 2");
  LOOM_EXPECT_ERROR(error(7, {1}, pb_int(5, 1)), Code::corrupt,
                    "has int64 elements in int32_data, expected int64_data");
  LOOM_EXPECT_ERROR(error(2, {1}, pb_int(5, 256)), Code::corrupt,
                    "int32_data[0] is 256, expected 0 to 255 for uint8");
  LOOM_EXPECT_ERROR(error(9, {1}, pb_int(5, 2)), Code::corrupt, "expected 0 to 1 for bool");
  LOOM_EXPECT_ERROR(error(6, {1}, pb_int(5, 1ll << 31)), Code::corrupt, "for int32");
  LOOM_EXPECT_ERROR(error(1, {1}, pb_float(4, 1) + pb_bytes(9, le(1.0f))), Code::corrupt,
                    "both raw_data and float_data");
  LOOM_EXPECT_ERROR(error(1, {1}, pb_float(4, 1) + pb_int(5, 1)), Code::corrupt,
                    "both float_data and int32_data");
  LOOM_EXPECT_ERROR(error(1, {1}, pb_bytes(4, "abc")), Code::corrupt,
                    "field 'float_data' has 3 bytes, no multiple of 4");
  LOOM_EXPECT_ERROR(error(8, {1}, pb_bytes(9, "a")), Code::corrupt, "strings in raw_data");
  LOOM_EXPECT_ERROR(error(1, {1}, pb_bytes(3, "")), Code::unsupported, "segments");
  for (const Type type : {Type::complex64, Type::complex128}) {
    const auto tensor =
        error(static_cast<int>(type), {1}, pb_bytes(9, std::string(bits(type) / 8, '\0')));
    ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
    LOOM_EXPECT_ERROR(read_f32(*tensor), Code::unsupported, std::string(name(type)) + " elements");
    LOOM_EXPECT_ERROR(read_i64(*tensor), Code::unsupported,
                      std::string(name(type)) + " elements, expected integers");
  }
  LOOM_EXPECT_ERROR(read_i64(*error(13, {1}, pb_int(11, -1))), Code::out_of_range,
                    "element 0 is 18446744073709551615");
}

TEST(Onnx, FindsExternalData) {
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder / "w.bin", as_bytes("12345678" + le(2.5f))).ok());
  const auto model = [](std::string location, std::string offset, std::string length) {
    const auto entry = [](std::string_view key, std::string_view value) {
      return pb_bytes(13, pb_bytes(1, key) + pb_bytes(2, value));
    };
    const std::string t = pb_tensor("w", 1, {1},
                                    entry("location", location) + entry("offset", offset) +
                                        entry("length", length) + pb_int(14, 1));
    return pb_model(pb_graph({pb_node("Add", {"x", "w"}, {"y"})}, {pb_value("x", 1, {1})},
                             {pb_value("y", 1, {1})}, {t}));
  };
  const auto open = [&](const std::string& bytes) {
    EXPECT_TRUE(write_file(folder / "m.onnx", as_bytes(bytes)).ok());
    return open_model(folder / "m.onnx");
  };
  const auto good = open(model("./w.bin", "8", "4"));
  ASSERT_TRUE(good.ok()) << good.status().to_string();
  EXPECT_EQ(*read_f32(good->graph.initializers[0]), (std::vector<float>{2.5f}));
  LOOM_EXPECT_ERROR(open(model("w.bin", "9", "4")), Code::truncated,
                    "takes 4 bytes at offset 9 of 'w.bin', which has 12");
  LOOM_EXPECT_ERROR(open(model("w.bin", "18446744073709551615", "4")), Code::truncated,
                    "at offset 18446744073709551615");
  LOOM_EXPECT_ERROR(open(model("w.bin", "8", "5")), Code::corrupt, "length is 5, float[1] takes 4");
  LOOM_EXPECT_ERROR(open(model("w.bin", "-1", "4")), Code::corrupt,
                    "offset is '-1', expected a number");
  for (const std::string location :
       {"/etc/passwd", "../w.bin", "a/../../w.bin", "", "a/..", "c:w.bin", "a\\b"}) {
    LOOM_EXPECT_ERROR(open(model(location, "0", "4")), Code::corrupt,
                      "expected a path relative to the model's folder");
  }
  LOOM_EXPECT_ERROR(open(model("none.bin", "0", "4")), Code::not_found, "tensor 'w'");
  LOOM_EXPECT_ERROR(read(model("w.bin", "8", "4")), Code::unsupported,
                    "open the model by its path");
}

TEST(Onnx, RefusesModelsByNodeAndName) {
  const auto error = [](const std::string& node) { return read(model_of(node)); };
  EXPECT_TRUE(error(pb_node("Relu", {"x"}, {"y"})).ok());
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"z"}, {"y"}, {}, "r")), Code::corrupt,
                    "test: node 0 'r' (Relu): reads 'z', which nothing makes");
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"x"}, {"x"})), Code::corrupt,
                    "node 0 (Relu): an output is named 'x' like a value before");
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"x"}, {"z"})), Code::corrupt,
                    "output 'y' of the graph is made by no node");
  LOOM_EXPECT_ERROR(error(pb_node("", {"x"}, {"y"})), Code::corrupt, "node 0 (?): has no op_type");
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"x"}, {"y"}) + pb_bytes(7, "com.x")), Code::corrupt,
                    "its domain 'com.x' is not in opset_import");
  const std::string a = pb_ints("a", {1});
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"x"}, {"y"}, {a, a})), Code::corrupt,
                    "attribute 'a' is there twice");
  LOOM_EXPECT_ERROR(
      error(pb_node("Relu", {"x"}, {"y"}, {pb_attribute("a", 2, pb_bytes(8, "\1"))})),
      Code::corrupt,
      "node 0 (Relu): attribute 'a': is an int but its value is in field 8, expected 3");
  LOOM_EXPECT_ERROR(
      error(pb_node("Relu", {"x"}, {"y"}, {pb_attribute("a", 2, pb_int(3, 1) + pb_float(2, 1))})),
      Code::corrupt, "two types");
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"x"}, {"y"}, {pb_attribute("a", 4, "")})), Code::corrupt,
                    "is a tensor but has no value");
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"x"}, {"y"}, {pb_attribute("a", 0, "")})), Code::corrupt,
                    "type is 0");
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"x"}, {"y"}, {pb_attribute("a", 2, pb_bytes(21, "b"))})),
                    Code::corrupt, "outside of a function");
  LOOM_EXPECT_ERROR(
      error(pb_node("Relu", {"x"}, {"y"},
                    {pb_attribute("a", 4, pb_bytes(5, pb_tensor("t", 1, {2}, "")))}, "r")),
      Code::corrupt, "attribute 'a': tensor 't': float_data has 0 items");

  const std::string x = pb_value("x", 1, {2}), y = pb_value("y", 1, {2});
  const std::string before = pb_node("Relu", {"z"}, {"y"}),
                    after = pb_node("Neg", {"x"}, {"z"}, {}, "n");
  LOOM_EXPECT_ERROR(read(pb_model(pb_graph({before, after}, {x}, {y}))), Code::corrupt,
                    "reads 'z' before node 1 'n' (Neg) makes it");
  const std::string w = pb_tensor("w", 1, {0}, "");
  LOOM_EXPECT_ERROR(read(pb_model(pb_graph({}, {x}, {x}, {w, w}))), Code::corrupt,
                    "initializer 'w' is there twice");
  LOOM_EXPECT_ERROR(read(pb_model(pb_graph({}, {x, x}, {x}))), Code::corrupt,
                    "an input is named 'x' like a value before");
  LOOM_EXPECT_ERROR(read(pb_model(pb_graph({}, {x}, {x}), 13, 2)), Code::unsupported,
                    "IR version 2, expected 3 or later");
  LOOM_EXPECT_ERROR(read(pb_model(pb_graph({}, {x}, {x}), 0)), Code::corrupt,
                    "opset_import has version 0");
  LOOM_EXPECT_ERROR(read(pb_int(1, 8) + pb_bytes(7, pb_graph({}, {x}, {x}))), Code::corrupt,
                    "has no opset_import");
  LOOM_EXPECT_ERROR(read(pb_int(1, 8) + pb_bytes(8, pb_int(2, 13))), Code::corrupt, "has no graph");
  LOOM_EXPECT_ERROR(read(pb_model(pb_graph({}, {x}, {x}) +
                                  pb_bytes(15, pb_bytes(1, pb_tensor("s", 1, {0}, ""))))),
                    Code::unsupported, "sparse initializer 's'");
}

TEST(Onnx, ReadsGraphsInAttributesAndFunctions) {
  const std::string cond = pb_value("c", 9, {}), x = pb_value("x", 1, {2}),
                    y = pb_value("y", 1, {2}), z = pb_value("z", 1, {2});
  const auto branch = [&](const std::string& reads) {
    return pb_bytes(6, pb_graph({pb_node("Neg", {reads}, {"z"}, {}, "inner")}, {}, {z}));
  };
  const auto model = [&](const std::string& reads) {
    return read(pb_model(pb_graph({pb_node("If", {"c"}, {"y"},
                                           {pb_attribute("then_branch", 5, branch("x")),
                                            pb_attribute("else_branch", 5, branch(reads))})},
                                  {cond, x}, {y})));
  };
  const auto good = model("x");
  ASSERT_TRUE(good.ok()) << good.status().to_string();
  EXPECT_EQ((*good->graph.nodes[0].get_graph("then_branch"))->nodes.at(0).name, "inner");
  LOOM_EXPECT_ERROR(model("q"), Code::corrupt,
                    "test: node 0 'inner' (Neg): reads 'q', which nothing makes");

  std::string deep = pb_graph({}, {}, {});
  for (int i = 0; i < 100; ++i)
    deep = pb_graph({pb_node("If", {}, {}, {pb_attribute("b", 5, pb_bytes(6, deep))})}, {}, {});
  LOOM_EXPECT_ERROR(read(pb_model(deep)), Code::unsupported, "more than 16 deep");

  const auto function = [](const std::string& reads) {
    return pb_bytes(25,
                    pb_bytes(1, "F") + pb_bytes(4, "a") + pb_bytes(5, "b") + pb_bytes(6, "alpha") +
                        pb_bytes(7, pb_node("Elu", {reads}, {"b"},
                                            {pb_attribute("alpha", 1, pb_bytes(21, "alpha"))})) +
                        pb_bytes(9, pb_int(2, 13)) + pb_bytes(10, "local"));
  };
  const std::string call = pb_graph({pb_node("F", {"x"}, {"y"}) + pb_bytes(7, "local")}, {x}, {y});
  const std::string import = pb_bytes(8, pb_bytes(1, "local") + pb_int(2, 1));
  const auto with_function = read(pb_model(call) + import + function("a"));
  ASSERT_TRUE(with_function.ok()) << with_function.status().to_string();
  EXPECT_EQ(with_function->functions.at(0).nodes.at(0).attributes.at(0).reference, "alpha");
  LOOM_EXPECT_ERROR(read(pb_model(call) + import + function("x")), Code::corrupt,
                    "function 'F': node 0 (Elu): reads 'x'");
}

// Cut anywhere, a model is refused or is a shorter model; nothing crashes, and both kinds of source
// say the same.
TEST(Onnx, SurvivesCutsAndFlips) {
  const std::string bytes = model_of(
      pb_node("Conv", {"x", "x"}, {"y"},
              {pb_ints("pads", {1, 2}),
               pb_attribute("t", 4, pb_bytes(5, pb_tensor("t", 1, {1}, pb_float(4, 1))))}));
  const auto same = [](const std::string& b) {
    const auto mapped = read_model(source_of(b)), called = read_model(callback_source_of(b));
    EXPECT_EQ(mapped.status().to_string(), called.status().to_string());
    return mapped.ok();
  };
  int opened = 0;
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) opened += same(bytes.substr(0, cut));
  EXPECT_LE(opened, 2);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    opened += same(flipped);
  }
  EXPECT_GT(opened, 20);
}

TEST(Onnx, ReadsEveryBackendCase) {
  const std::vector<OnnxCase> cases = onnx_cases();
  if (cases.empty())
    GTEST_SKIP() << "test material is absent: onnx_backend_tests (expected in ../shared/data)";
  EXPECT_EQ(cases.size(), 1470u);
  std::size_t tensors = 0, others = 0;
  for (const OnnxCase& c : cases) {
    const auto model = open_model(c.model);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    for (const auto* files : {&c.inputs, &c.outputs}) {
      const auto& values = files == &c.inputs ? model->graph.inputs : model->graph.outputs;
      for (std::size_t i = 0; i < files->size(); ++i) {
        if (values.at(i).kind != Kind::tensor) {  // SequenceProto and OptionalProto
          ++others;
          continue;
        }
        const auto source = open_source((*files)[i]);
        ASSERT_TRUE(source.ok());
        const auto tensor = read_tensor(*source);
        ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
        EXPECT_EQ(tensor->type, values[i].type) << (*files)[i];
        ++tensors;
        const bool real = tensor->type != Type::string && tensor->type != Type::complex64 &&
                          tensor->type != Type::complex128;
        const auto values64 = read_f64(*tensor);
        EXPECT_EQ(values64.ok(), real) << (*files)[i];
        EXPECT_EQ(values64.ok() ? values64->size() : 0, real ? tensor->elements() : 0)
            << (*files)[i];
      }
    }
  }
  std::printf("[ onnx     ] %zu models, %zu tensors, %zu sequences and optionals passed over\n",
              cases.size(), tensors, others);
}

TEST(Onnx, ReadsRealModels) {
  LOOM_TEST_FILE(silero, "models/silero_vad/silero_vad_op18_ifless.onnx");
  const auto vad = open_model(silero);
  ASSERT_TRUE(vad.ok()) << vad.status().to_string();
  EXPECT_EQ(vad->opset(), 18);
  LOOM_TEST_FILE(gpt2, "models/tiny_random_gpt2/past.onnx");
  const auto gpt = open_model(gpt2);
  ASSERT_TRUE(gpt.ok()) << gpt.status().to_string();
  LOOM_TEST_FILE(op15, "models/silero_vad/silero_vad_16k_op15.onnx");
  const auto vad15 = open_model(op15);
  ASSERT_TRUE(vad15.ok()) << vad15.status().to_string();
  EXPECT_EQ(vad15->opset(), 15);
}

}  // namespace
}  // namespace loom::onnx
