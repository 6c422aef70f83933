// Small files that ask for much time or memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <loom/loom.h>
#include "base/files/sha256.h"
#include "base/json/json.h"
#include "exec/session.h"
#include "findings/child.h"
#include "findings/deflate.h"
#include "formats/idx/idx.h"
#include "formats/onnx/test_protobuf.h"
#include "formats/safetensors/safetensors.h"
#include "grid/network.h"
#include "onnx/import.h"
#include "text/tokenizer.h"
#if defined(LOOM_TESTS_OF_PICTURES)
#include "images/decode_image.h"
#endif

namespace loom {
namespace {

using test::in_child;

#define TEXT(s) (s), std::strlen(s)

SourcePtr source_of(const std::string& bytes, const char* name) {
  const auto b = as_bytes(bytes);
  return source_from_bytes({b.begin(), b.end()}, name);
}

// Whether a refusal has this code and says this.
bool says(const Status& status, Code code, const char* part, std::string& text) {
  text = status.to_string();
  return status.code() == code && text.find(part) != std::string::npos;
}

std::string repeated(const std::string& item, int times) {
  std::string list;
  for (int i = 0; i < times; ++i) list += (i ? "," : "") + item;
  return list;
}

// A tokenizer of the letters a and b.
std::string tokenizer_json(const std::string& normalizers, const std::string& pre_tokenizers,
                           const std::string& decoders, const std::string& added = "") {
  const auto sequence = [](const char* key, const std::string& items) {
    return items.empty() ? std::string("null")
                         : R"({"type":"Sequence",")" + std::string(key) + "\":[" + items + "]}";
  };
  return R"({"version":"1.0","added_tokens":[)" + added + R"(],"normalizer":)" +
         sequence("normalizers", normalizers) + R"(,"pre_tokenizer":)" +
         sequence("pretokenizers", pre_tokenizers) + R"(,"post_processor":null,"decoder":)" +
         sequence("decoders", decoders) +
         R"(,"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})";
}
const std::string kDouble = R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})";

TEST(Findings, G5_ATokenizerThatDoublesATextFortyTimesIsRefused) {
  const std::string normalizer = tokenizer_json(repeated(kDouble, 40), "", ""),
                    decoder = tokenizer_json("", "", repeated(kDouble, 40));
  LOOM_EXPECT_BOUNDED(in_child(
                          [&](std::string& text) {
                            const auto t = Tokenizer::from_json(normalizer);
                            return t.ok() ? !t->encode("a").empty()
                                          : says(t.status(), Code::out_of_range,
                                                 "normalizer and pre-tokenizer: from step", text);
                          },
                          {.seconds = 20}),
                      0.5, 32);
  LOOM_EXPECT_BOUNDED(in_child(
                          [&](std::string& text) {
                            const auto t = Tokenizer::from_json(decoder);
                            const std::int32_t ids[] = {0};
                            return t.ok() ? !t->decode(ids).empty()
                                          : says(t.status(), Code::out_of_range,
                                                 "decoder: from step", text);
                          },
                          {.seconds = 20}),
                      0.5, 32);
}

TEST(Findings, G5_EveryWayToGrowIsBounded) {
  const auto refused = [](const std::string& n, const std::string& p, const std::string& d) {
    const auto t = Tokenizer::from_json(tokenizer_json(n, p, d));
    EXPECT_FALSE(t.ok()) << n << " | " << p << " | " << d;
    EXPECT_EQ(t.status().code(), Code::out_of_range) << t.status().to_string();
  };
  refused(repeated(R"({"type":"Replace","pattern":{"Regex":"a|x*"},"content":"bb"})", 12), "", "");
  refused(repeated(R"({"type":"Replace","pattern":{"Regex":"."},"content":"aa"})", 11), "", "");
  refused(
      repeated(R"({"type":"NFKD"},{"type":"Replace","pattern":{"String":"a"},"content":"\uFDFA"})",
               4),
      "", "");
  refused(repeated(R"({"type":"ByteLevel"})", 40), "", "");
  refused("", repeated(R"({"type":"ByteLevel","add_prefix_space":true,"use_regex":false})", 12),
          "");
  refused("", repeated(R"({"type":"Metaspace","replacement":" ","prepend_scheme":"always"})", 12),
          "");
  refused(R"({"type":"Prepend","prepend":")" + std::string(2000, 'a') + "\"}", "", "");
  refused(repeated(R"({"type":"Lowercase"})", 300), "", "");
  refused("", "", repeated(R"({"type":"ByteLevel"})", 8));
  // Half in the normalizer, half before the words.
  refused(repeated(kDouble, 6),
          repeated(R"({"type":"Metaspace","replacement":"a","prepend_scheme":"always"})", 5), "");
}

TEST(Findings, G5_PipelinesThatDoNotFeedThemselvesAreTaken) {
  // Thirty characters that become nine each, in all normal forms of Unicode, as real files have it.
  std::string steps = R"({"type":"NFKC"},{"type":"Lowercase"},{"type":"Prepend","prepend":"a"})";
  for (int i = 0; i < 30; ++i)
    steps += R"(,{"type":"Replace","pattern":{"String":")" +
             std::string{static_cast<char>('0' + i % 10), static_cast<char>('A' + i / 10)} +
             R"("},"content":"aaaaaaaaa"})";
  const auto t = Tokenizer::from_json(tokenizer_json(
      steps, R"({"type":"Metaspace"})",
      R"({"type":"Replace","pattern":{"String":"a"},"content":" "},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0})"));
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  // As long as the limit allows, and no longer.
  const auto ten = Tokenizer::from_json(tokenizer_json(repeated(kDouble, 10), "", ""));
  ASSERT_TRUE(ten.ok()) << ten.status().to_string();
  EXPECT_EQ(ten->encode("aba").size(), 2049u);
  EXPECT_FALSE(Tokenizer::from_json(tokenizer_json(repeated(kDouble, 11), "", "")).ok());
}

TEST(Findings, G6_AnArrayIsInflatedNoFurtherThanItsHeaderSays) {
  constexpr std::uint64_t kZeros = 258 * std::uint64_t{1'000'000} + 1;
  const std::string idx = test::gzip(std::string("\0\0\x08\x01\0\0\0\x40", 8), kZeros);
  std::string header = "\x93NUMPY\x01";
  header +=
      std::string("\0\x76\0", 3) + "{'descr': '|u1', 'fortran_order': False, 'shape': (64,), }";
  header.resize(127, ' ');
  const std::string npy = test::gzip(header + "\n", kZeros);
  ASSERT_LT(idx.size(), 2'000'000u);
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        return says(open_array(source_of(idx, "a.gz")).status(), Code::corrupt,
                                    "holds more than the 72 bytes that its header promises", text);
                      }),
                      0.5, 16);
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        return says(open_array(source_of(npy, "a.gz")).status(), Code::corrupt,
                                    "holds more than the 192 bytes that its header promises", text);
                      }),
                      0.5, 16);
  // What is right is read, and what is too short is not.
  const std::string body(64, '\x07');
  const auto right =
      open_array(source_of(test::gzip(std::string("\0\0\x08\x01\0\0\0\x40", 8) + body, 0), "a.gz"));
  ASSERT_TRUE(right.ok()) << right.status().to_string();
  EXPECT_EQ(right->elements(), 64u);
  EXPECT_EQ(
      open_array(source_of(test::gzip(std::string("\0\0\x08\x01\0\0\0\x41", 8) + body, 0), "a.gz"))
          .status()
          .code(),
      Code::truncated);
  // A header may claim much; memory grows with what comes.
  LOOM_EXPECT_BOUNDED(
      in_child([&](std::string& text) {
        return says(
            open_array(
                source_of(test::gzip(std::string("\0\0\x08\x01\x7f\xff\xff\xff", 8) + body, 0),
                          "a.gz"))
                .status(),
            Code::truncated, "expects 2147483647 bytes", text);
      }),
      0.5, 16);
}

#if defined(LOOM_TESTS_OF_PICTURES)
TEST(Findings, G6_APictureIsInflatedNoFurtherThanItsHeaderSays) {
  const ImageDecoder decoder = cli::image_decoder();
  const std::string small = test::png(4, 4, 8, 2, false, 258 * std::uint64_t{1'000'000} + 1),
                    large = test::png(8000, 8000, 16, 6, false,
                                      8000 * 64001 / 258 * std::uint64_t{258} + 1);
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        return says(decoder.decode(as_bytes(small)).status(), Code::corrupt,
                                    "its data are more than 4 x 4 pixels take", text);
                      }),
                      0.5, 24);
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        return says(decoder.decode(as_bytes(large)).status(), Code::out_of_range,
                                    "8000 x 8000 pixels of 8 bytes", text);
                      }),
                      0.5, 24);
  // Images of every kind are decoded as before: black, and the values of the format.
  struct Kind {
    std::uint32_t width, height;
    int depth, color, channels;
  };
  for (const Kind& k : {Kind{4, 4, 8, 2, 3}, Kind{300, 200, 8, 6, 4}, Kind{301, 203, 16, 6, 4},
                        Kind{640, 480, 8, 0, 1}, Kind{1000, 1000, 8, 6, 4}})
    for (const bool interlaced : {false, true}) {
      // More zeros than any of them takes are refused, so as many as each takes.
      std::uint64_t bytes = 0;
      const std::uint64_t bits =
          static_cast<std::uint64_t>(k.depth) * static_cast<std::uint64_t>(k.channels);
      constexpr std::uint32_t kStart[7][2] = {{0, 0}, {4, 0}, {0, 4}, {2, 0},
                                              {0, 2}, {1, 0}, {0, 1}},
                              kStep[7][2] = {{8, 8}, {8, 8}, {4, 8}, {4, 4},
                                             {2, 4}, {2, 2}, {1, 2}};
      for (int pass = 0; pass < 7 && interlaced; ++pass) {
        const std::uint64_t w = (k.width - kStart[pass][0] + kStep[pass][0] - 1) / kStep[pass][0],
                            h = (k.height - kStart[pass][1] + kStep[pass][1] - 1) / kStep[pass][1];
        if (w > 0) bytes += h * (1 + (w * bits + 7) / 8);
      }
      if (!interlaced) bytes = k.height * (1 + (k.width * bits + 7) / 8);
      const auto image = decoder.decode(
          as_bytes(test::png(k.width, k.height, k.depth, k.color, interlaced, bytes)));
      ASSERT_TRUE(image.ok()) << k.width << " x " << k.height << " " << interlaced << ": "
                              << image.status().to_string();
      EXPECT_EQ(image->width, k.width);
      EXPECT_EQ(image->channels, k.channels);
      EXPECT_EQ(image->values,
                std::vector<std::uint8_t>(
                    std::size_t{k.width} * k.height * static_cast<std::size_t>(k.channels), 0));
    }
}
#endif

std::string i64_tensor(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string raw;
  for (const std::int64_t v : values) raw += test::le(v);
  return test::pb_tensor(name, 7, {static_cast<std::int64_t>(values.size())},
                         test::pb_bytes(9, raw));
}
std::string i64_number(const std::string& name, std::int64_t value) {
  return test::pb_tensor(name, 7, {}, test::pb_bytes(9, test::le(value)));
}
std::string true_tensor(const std::string& name) {
  return test::pb_tensor(name, 9, {}, test::pb_bytes(9, std::string(1, '\1')));
}

// Reading and importing is refused for this reason.
bool import_says(const std::string& bytes, const char* part, std::string& text) {
  const auto model = onnx::read_model(source_of(bytes, "small.onnx"));
  if (!model.ok()) return text = model.status().to_string(), false;
  return says(onnx::import_graph(*model).status(), Code::unsupported, part, text);
}

TEST(Findings, G7_AFileOfAHundredBytesDoesNotListMillionsOfValues) {
  using namespace test;
  const std::string node = pb_node("CenterCropPad", {"x", "s"}, {"y"});
  const std::string crop = pb_model(pb_graph({node}, {pb_value("x", 1, {1})},
                                             {pb_value("y", 1, {})}, {i64_tensor("s", {1 << 26})}),
                                    18);
  ASSERT_LT(crop.size(), 150u);
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        return import_says(
                            crop, "lists 67108864 values, with those before more than the", text);
                      }),
                      0.5, 64);
  // Not by many of them either.
  std::vector<std::string> nodes;
  std::string from = "x";
  for (int i = 0; i < 100; ++i) {
    const std::string a = "a" + std::to_string(i), b = "b" + std::to_string(i);
    nodes.push_back(pb_node("CenterCropPad", {from, "s"}, {a}));
    nodes.push_back(pb_node("CenterCropPad", {a, "t"}, {b}));
    from = b;
  }
  const std::string many =
      pb_model(pb_graph(nodes, {pb_value("x", 1, {1})}, {pb_value(from, 1, {})},
                        {i64_tensor("s", {1 << 19}), i64_tensor("t", {1})}),
               18);
  LOOM_EXPECT_BOUNDED(
      in_child([&](std::string& text) { return import_says(many, "bytes justifies", text); }), 1.5,
      256);
  // What the file justifies is imported.
  const auto model = onnx::read_model(
      source_of(pb_model(pb_graph({node}, {pb_value("x", 1, {1})}, {pb_value("y", 1, {})},
                                  {i64_tensor("s", {1 << 16})}),
                         18),
                "small.onnx"));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_TRUE(onnx::import_graph(*model).ok());
}

TEST(Findings, G7_FunctionsThatCallOneAnotherTwiceAreRefused) {
  using namespace test;
  std::string functions;
  for (int i = 0; i < 25; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    const auto called = [&](const char* in, const char* out) {
      return i < 24 ? pb_node(next, {in}, {out}) + pb_bytes(7, "own") : pb_node("Neg", {in}, {out});
    };
    functions +=
        pb_bytes(25, pb_bytes(1, "f" + std::to_string(i)) + pb_bytes(4, "x") + pb_bytes(5, "y") +
                         pb_bytes(7, called("x", "t")) + pb_bytes(7, called("t", "y")) +
                         pb_bytes(9, pb_int(2, 13)) +
                         pb_bytes(9, pb_bytes(1, "own") + pb_int(2, 1)) + pb_bytes(10, "own"));
  }
  const std::string graph = pb_graph({pb_node("f0", {"x"}, {"y"}) + pb_bytes(7, "own")},
                                     {pb_value("x", 1, {1})}, {pb_value("y", 1, {1})});
  const std::string model =
      pb_model(graph) + pb_bytes(8, pb_bytes(1, "own") + pb_int(2, 1)) + functions;
  LOOM_EXPECT_BOUNDED(
      in_child([&](std::string& text) { return import_says(model, "justif", text); }), 1.0, 256);
}

TEST(Findings, G7_LoopsInLoopsAreRefused) {
  using namespace test;
  // Three loops of 4,096 steps in each other, around one addition.
  std::string body =
      pb_graph({pb_node("Add", {"v2", "v2"}, {"w2"}), pb_node("Identity", {"c2"}, {"d2"})},
               {pb_value("i2", 7, {}), pb_value("c2", 9, {}), pb_value("v2", 1, {1})},
               {pb_value("d2", 9, {}), pb_value("w2", 1, {1})});
  for (int level = 1; level >= 0; --level) {
    const std::string n = std::to_string(level);
    body = pb_graph({pb_node("Loop", {"m", "yes", "v" + n}, {"w" + n},
                             {pb_attribute("body", 5, pb_bytes(6, body))}),
                     pb_node("Identity", {"c" + n}, {"d" + n})},
                    {pb_value("i" + n, 7, {}), pb_value("c" + n, 9, {}), pb_value("v" + n, 1, {1})},
                    {pb_value("d" + n, 9, {}), pb_value("w" + n, 1, {1})});
  }
  const std::string graph = pb_graph(
      {pb_node("Loop", {"m", "yes", "x"}, {"y"}, {pb_attribute("body", 5, pb_bytes(6, body))})},
      {pb_value("x", 1, {1})}, {pb_value("y", 1, {1})},
      {i64_number("m", 4096), true_tensor("yes")});
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        return import_says(pb_model(graph), "which its file does not justify",
                                           text);
                      }),
                      1.0, 128);
}

TEST(Findings, G8_AGridOfEmptyCellsIsBoundedByTheCellsThatAreListed) {
  const std::string_view million =
      R"({"format":"loom-topology","version":1,"layers_per_cell":1000000,"input":{"width":1},"cells":[{"at":[0,0,0,0],"type":"dense","out":1}]})";
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        return says(Network::from_json(million).status(), Code::invalid_argument,
                                    "over 4096 and 16 times the 1 cells listed", text);
                      }),
                      0.2, 16);
  EXPECT_TRUE(
      Network::from_json(
          std::string_view(
              R"({"format":"loom-topology","version":1,"layers_per_cell":4096,"input":{"width":1},"cells":[{"at":[0,0,0,0],"type":"dense","out":1}]})"))
          .ok());
}

// A chain of products, as a topology.
std::string chain(std::int64_t cells, const char* dtype) {
  std::string list;
  for (std::int64_t i = 0; i < cells; ++i)
    list += std::string(i ? "," : "") + R"({"at":[0,0,0,)" + std::to_string(i) +
            R"(],"type":"dense","out":4,"dtype":")" + dtype + "\"}";
  return R"({"format":"loom-topology","version":1,"layers_per_cell":)" + std::to_string(cells) +
         R"(,"input":{"width":4},"cells":[)" + list + "]}";
}

TEST(Findings, G8_AProgramIsEmittedInTimeLinearInItsCells) {
  // What `loom show --plan` does, of 200,000 cells and of a quarter of them.
  double seconds[2] = {};
  for (const char* dtype : {"f32", "i8"}) {
    for (const int k : {0, 1}) {
      const auto end = in_child(
          [&](std::string& text) {
            auto network =
                Network::from_json(std::string_view(chain(k == 0 ? 50000 : 200000, dtype)));
            if (!network.ok()) return text = network.status().to_string(), false;
            const auto program = emit_program(*network, {});
            if (!program.ok()) return text = program.status().to_string(), false;
            return program->code.size() >= 50000 && program->to_text().size() > 1000000 &&
                   program->hash() != Sha256::Digest{};
          },
          {.seconds = 60});
      ASSERT_EQ(end.code, 0) << end.text;
      seconds[k] = end.cpu_seconds;
    }
    if (!test::kMeasured) continue;
    EXPECT_LT(seconds[1], 15) << dtype;
    EXPECT_LT(seconds[1], 8 * seconds[0]) << dtype << ": " << seconds[0] << " s for a quarter";
  }
}

TEST(Findings, G14_NamesThatAreNoTextAreEscapedInJson) {
  using namespace test;
  const std::string model =
      pb_model(pb_graph({pb_node("Relu", {"x\x80\xff"}, {"y"})}, {pb_value("x\x80\xff", 1, {1})},
                        {pb_value("y", 1, {1})}));
  loom_error error{};
  loom_bytes bytes = 0, info = 0;
  loom_onnx onnx = 0;
  void* data = nullptr;
  std::uint64_t size = 0;
  ASSERT_EQ(loom_bytes_create(model.size(), &bytes, &error), LOOM_OK);
  ASSERT_EQ(loom_bytes_data(bytes, &data, &size, &error), LOOM_OK);
  std::memcpy(data, model.data(), model.size());
  ASSERT_EQ(loom_onnx_load_bytes(bytes, &onnx, &error), LOOM_OK) << error.message;
  ASSERT_EQ(loom_onnx_info(onnx, &info, &error), LOOM_OK) << error.message;
  ASSERT_EQ(loom_bytes_data(info, &data, &size, &error), LOOM_OK);
  // Our parser takes UTF-8 alone.
  const auto json = Json::parse({static_cast<const char*>(data), static_cast<std::size_t>(size)});
  ASSERT_TRUE(json.ok()) << json.status().to_string();
  EXPECT_EQ(json->find("inputs")->as_array()[0].find("name")->as_string(), "x\\x80\\xff");
  for (const loom_handle h : {info, onnx, bytes}) EXPECT_EQ(loom_release(h, &error), LOOM_OK);
  // What is text stays as it is.
  EXPECT_EQ(Json(std::string("\xC3\xA4\xF0\x9F\x98\x80")).dump(), "\"\xC3\xA4\xF0\x9F\x98\x80\"");
  EXPECT_EQ(Json(std::string("\xC3 \xED\xA0\x80")).dump(), "\"\\\\xc3 \\\\xed\\\\xa0\\\\x80\"");
}

TEST(Findings, G15_TwoHundredThousandEmptyTensorsAreReadInASecond) {
  std::string header = "{";
  for (int i = 0; i < 200000; ++i)
    header += std::string(i ? "," : "") + "\"t" + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  header += "}";
  const std::string file = test::le(static_cast<std::uint64_t>(header.size())) + header;
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        const auto all = Safetensors::open(source_of(file, "empty.safetensors"));
                        text = all.status().to_string();
                        return all.ok() && all->tensors().size() == 200000 &&
                               all->find("t199999") != nullptr;
                      }),
                      1.5, 400);
  // An ONNX graph with as many inputs and initializers, and its description.
  using namespace test;
  std::vector<std::string> nodes, inputs, initializers;
  for (int i = 0; i < 50000; ++i) {
    const std::string n = std::to_string(i);
    inputs.push_back(pb_value("x" + n, 1, {-1, 1}));
    initializers.push_back(pb_tensor("t" + n, 1, {0}, ""));
    nodes.push_back(pb_node("Op" + n, {"x" + n}, {"y" + n}));
  }
  const std::string model =
      pb_model(pb_graph(nodes, inputs, {pb_value("y0", 1, {1})}, initializers));
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        loom_error error{};
                        loom_bytes bytes = 0, info = 0;
                        loom_onnx onnx = 0;
                        loom_network network = 0;
                        void* data = nullptr;
                        std::uint64_t size = 0;
                        bool good = loom_bytes_create(model.size(), &bytes, &error) == LOOM_OK &&
                                    loom_bytes_data(bytes, &data, &size, &error) == LOOM_OK;
                        if (good) std::memcpy(data, model.data(), model.size());
                        good = good && loom_onnx_load_bytes(bytes, &onnx, &error) == LOOM_OK &&
                               loom_onnx_info(onnx, &info, &error) == LOOM_OK;
                        text = error.message;
                        return good && loom_onnx_network(onnx, nullptr, 0, &network, &info,
                                                         &error) == LOOM_UNSUPPORTED;
                      }),
                      2.5, 400);
}

std::string added(int id, const std::string& content, bool rstrip) {
  return R"({"id":)" + std::to_string(id) + R"(,"content":")" + content +
         R"(","single_word":false,"lstrip":false,"rstrip":)" + (rstrip ? "true" : "false") +
         R"(,"normalized":false,"special":true})";
}

TEST(Findings, G15_AHundredThousandAddedTokensTakeASecond) {
  std::string list;
  for (int i = 0; i < 100000; ++i)
    list += (i ? "," : "") + added(2 + i, "<t" + std::to_string(i) + ">", false);
  LOOM_EXPECT_BOUNDED(in_child([&](std::string& text) {
                        const auto t = Tokenizer::from_json(tokenizer_json("", "", "", list));
                        text = t.status().to_string();
                        return t.ok() && t->encode("a<t99999>b<t0>") ==
                                             std::vector<std::int32_t>{0, 100001, 1, 2};
                      }),
                      1.5, 400);
  // As many in a text, each of which takes the white space behind it, which is the others.
  LOOM_EXPECT_BOUNDED(
      in_child(
          [&](std::string& text) {
            const auto t = Tokenizer::from_json(tokenizer_json("", "", "", added(2, " ", true)));
            text = t.status().to_string();
            return t.ok() &&
                   t->encode(std::string(100000, ' ')) == std::vector<std::int32_t>(100000, 2) &&
                   t->encode("a  b ") == std::vector<std::int32_t>{0, 2, 2, 1, 2};
          },
          {.seconds = 60}),
      0.5, 64);
}

TEST(Findings, G15_ABatchFarBeyondTheDataIsRefused) {
  LOOM_EXPECT_BOUNDED(
      in_child([](std::string& text) {
        loom_error error{};
        loom_network n = 0;
        loom_data d = 0;
        loom_trainer t = 0;
        std::vector<float> x(30 * 4, 0.5f), y(30, 1.0f);
        constexpr const char* kOne =
            R"({"format":"loom-topology","version":1,"input":{"width":4},"cells":[{"at":[0,0,0,0],"type":"dense","out":1}]})";
        bool good =
            loom_network_create(TEXT(kOne), &n, &error) == LOOM_OK &&
            loom_data_values(x.data(), x.size(), 4, y.data(), y.size(), 1, &d, &error) == LOOM_OK;
        const auto create = [&](const char* spec) {
          return loom_trainer_create(n, d, TEXT(spec), TEXT("{\"threads\":1}"), &t, &error);
        };
        good =
            good && create(R"({"steps":1,"batch":10000000,"loss":"mse"})") == LOOM_INVALID_ARGUMENT;
        text = error.message;
        good = good &&
               text.find("\"batch\" is 10000000 samples, the data has 30") != std::string::npos;
        // A batch may hold samples several times.
        return good && create(R"({"steps":1,"batch":64,"loss":"mse"})") == LOOM_OK;
      }),
      1.0, 64);
}

// A folder of its own, removed at the end.
class FindingsOfModels : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "loom_findings_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  std::string folder_;
  loom_error error{};
};

TEST_F(FindingsOfModels, G15_NotANumberAmongWeightsIsRefusedByItsName) {
  write(
      "config.json",
      R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8,"intermediate_size":8,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":2,
    "vocab_size":4,"max_position_embeddings":16,"rms_norm_eps":1e-5,"rope_theta":10000.0,"tie_word_embeddings":true,"bos_token_id":0,"eos_token_id":1,"hidden_act":"silu"})");
  // One of the weights is `value`.
  const auto save = [&](const std::string& where, float value) {
    std::string data, header = "{";
    const auto tensor = [&](const std::string& name, std::size_t rows) {
      const std::size_t begin = data.size(), count = 8 * std::max<std::size_t>(rows, 1);
      for (std::size_t i = 0; i < count; ++i)
        data += test::le(name == where && i == 5 ? value : 0.5f);
      header += (begin ? ",\"" : "\"") + name + R"(":{"dtype":"F32","shape":[)" +
                (rows ? std::to_string(rows) + "," : "") + "8],\"data_offsets\":[" +
                std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
    };
    tensor("model.embed_tokens.weight", 4);
    for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                             "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"})
      tensor(std::string("model.layers.0.") + name + ".weight", 8);
    for (const char* name : {"model.layers.0.input_layernorm.weight",
                             "model.layers.0.post_attention_layernorm.weight", "model.norm.weight"})
      tensor(name, 0);
    write("model.safetensors",
          test::le(static_cast<std::uint64_t>(header.size() + 1)) + header + "}" + data);
  };
  loom_model m = 0;
  save("", 0);
  ASSERT_EQ(loom_model_load(folder_.data(), folder_.size(), "", 0, &m, &error), LOOM_OK)
      << error.message;
  EXPECT_EQ(loom_release(m, &error), LOOM_OK);
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (const char* format : {"", "i8"})
    for (const char* where :
         {"model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight", "model.norm.weight"})
      for (const auto& [value, word] :
           {std::pair{nan, "is NaN; weights are finite numbers"},
            std::pair{-infinity, "is -infinite; weights are finite numbers"}}) {
        save(where, value);
        EXPECT_EQ(loom_model_load(folder_.data(), folder_.size(), TEXT(format), &m, &error),
                  LOOM_INVALID_ARGUMENT);
        EXPECT_NE(std::string(error.message).find(where), std::string::npos) << error.message;
        EXPECT_NE(std::string(error.message).find(word), std::string::npos)
            << format << ": " << error.message;
      }
}

TEST_F(FindingsOfModels, G15_AnAdapterOfTwoBillionRanksIsRefused) {
  write("adapter_model.safetensors", test::le(std::uint64_t{2}) + "{}");
  loom_network n = 0;
  constexpr const char* kOne =
      R"({"format":"loom-topology","version":1,"input":{"width":4},"cells":[{"at":[0,0,0,0],"type":"dense","out":1}]})";
  ASSERT_EQ(loom_network_create(TEXT(kOne), &n, &error), LOOM_OK);
  for (const char* r : {"2147483648", "0", "65537"}) {
    write(
        "adapter_config.json",
        std::string(R"({"peft_type":"LORA","lora_alpha":8,"target_modules":["x"],"r":)") + r + "}");
    EXPECT_EQ(loom_network_load_adapter(n, folder_.data(), folder_.size(), &error), LOOM_CORRUPT);
    EXPECT_NE(std::string(error.message).find("\"r\" must be in 1..65536, got " + std::string(r)),
              std::string::npos)
        << error.message;
  }
  EXPECT_EQ(loom_release(n, &error), LOOM_OK);
}

}  // namespace
}  // namespace loom
