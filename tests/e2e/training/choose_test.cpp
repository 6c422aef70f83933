// loom train without a spec, and loom predict, on tables and arrays as people have them.
#include <algorithm>
#include <cstdio>
#include <map>

#include "e2e/process.h"
#include "e2e/report.h"
#include "numeric/weight_format.h"
#include "support/data.h"
#include "support/places.h"

namespace loom::test {
namespace {

double figure(const Json& report, const char* part, const char* name) {
  const Json* found = report.find(part) ? report.find(part)->find(name) : nullptr;
  return found ? found->as_number() : -1e9;
}

TEST(Choose, LearnsTables) {
  const Folder folder;
  struct Case {
    const char *file, *message, *figure;
    double at_least;
  };
  const Case cases[] = {
      {"iris.csv",
       "target: column '4', 3 classes: 'Iris-setosa', 'Iris-versicolor', 'Iris-virginica'",
       "accuracy", 0.93},
      {"wine.csv", "target: column '13', 3 classes: '1', '2', '3'", "accuracy", 0.93},
      {"breast-cancer-wisconsin.csv", "16 missing values", "accuracy", 0.94},
      {"penguins.csv", "2 columns of words as 6 zeros and ones", "accuracy", 0.88},
      {"housing.csv", "target: column '13', a number", "r2", 0.8},
      {"airline-passengers.csv", "1 date as years", "r2", 0.8}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file);
    LOOM_TEST_FILE(data, std::string("tabular/") + c.file);
    const Outcome o =
        loom({"train", "--data", data, "--out", folder / "a.entity", "--json", "--no-series"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find(c.message), std::string::npos) << o.err;
    const Json report = last_line(o.out);
    EXPECT_GE(figure(report, "validation", c.figure), c.at_least) << report.dump();
  }
}

// The other methods learn what back-propagation does, go on after a pause, and say what they are.
TEST(Choose, LearnsByOtherMethods) {
  LOOM_TEST_FILE(data, "tabular/iris.csv");
  const Folder folder;
  for (const char* method : {"mono_forward", "direct_feedback_alignment",
                             "difference_target_propagation", "target_propagation"}) {
    SCOPED_TRACE(method);
    const auto train = [&](std::vector<std::string> more) {
      std::vector<std::string> all = {"train",    "--data", data,    "--out", folder / "a.entity",
                                      "--method", method,   "--json"};
      all.insert(all.end(), more.begin(), more.end());
      return loom(all);
    };
    const Outcome o = train({});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("method: " + std::string(method)), std::string::npos) << o.err;
    EXPECT_GE(figure(last_line(o.out), "validation", "accuracy"), 0.93);
    EXPECT_EQ(o.out.find("\"reach\":") != std::string::npos,
              std::string(method) == "target_propagation");
    EXPECT_EQ(train({"--resume"}).code, 0);
    LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--out", folder / "a.entity", "--resume"}),
                        3, "saved with another \"method\": {\"type\":\"" + std::string(method));
    LOOM_EXPECT_REFUSED(train({"--fp8"}), 3, "\"fp8\" learns by back_propagation");
    const Outcome answers = loom({"predict", folder / "a.entity", "--data", data});
    EXPECT_EQ(answers.code, 0) << answers.err;
  }
  LOOM_EXPECT_REFUSED(
      loom({"train", "--data", data, "--out", folder / "a.entity", "--method", "forward"}), 2,
      "difference_target_propagation");
  LOOM_EXPECT_REFUSED(loom({"train", folder.write("spec.json", "{}"), "--out", folder / "a.entity",
                            "--method", "mono_forward"}),
                      2, "--method");
}

TEST(Choose, SameBytesForEveryThreadCount) {
  LOOM_TEST_FILE(data, "tabular/penguins.csv");
  const Folder folder;
  std::string want;
  for (const char* threads : {"1", "2", "3"}) {
    const Outcome o = loom({"train", "--data", data, "--out", folder / "a.entity", "--steps", "60",
                            "--threads", threads});
    ASSERT_EQ(o.code, 0) << o.err;
    const std::string bytes = file_bytes(folder / "a.entity");
    EXPECT_TRUE(want.empty() || bytes == want) << threads;
    want = bytes;
  }
  const Outcome o = loom(
      {"train", "--data", data, "--out", folder / "b.entity", "--steps", "60", "--isa", "generic"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(file_bytes(folder / "b.entity") == want);
  EXPECT_EQ(
      loom({"train", "--data", data, "--out", folder / "c.entity", "--steps", "60", "--seed", "1"})
          .code,
      0);
  EXPECT_FALSE(file_bytes(folder / "c.entity") == want);
}

// Raw rows in, names out; the target's column may be there or not, columns may stand elsewhere,
// words may be new.
TEST(Choose, PredictsFromRawValues) {
  std::string csv = "color,weight,fruit\n";
  for (int i = 0; i < 60; ++i)
    csv += std::string(i % 3 == 0   ? "red,"
                       : i % 3 == 1 ? "yellow,"
                                    : "green,") +
           std::to_string(i % 3 == 1 ? 1000 + i : 150 + i) +
           (i % 3 == 1   ? ",melon\n"
            : i % 3 == 0 ? ",apple\n"
                         : ",\"pear, green\"\n");
  const Folder folder;
  const std::string data = folder.write("fruit.csv", csv), net = folder / "fruit.entity";
  Outcome o = loom({"train", "--data", data, "--out", net});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("accuracy 1"), std::string::npos) << o.out;
  o = loom({"predict", net, "--data",
            folder.write("new.csv", "weight,color\n170,red\n1030,yellow\n,green\n1030,blue\n")});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.substr(0, o.out.find(',')), "apple");
  EXPECT_NE(o.out.find("\nmelon,"), std::string::npos);
  EXPECT_NE(o.out.find("\n\"pear, green\","), std::string::npos);
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 4);
  o = loom({"predict", net, "--data", data, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 60);
  EXPECT_EQ(last_line(o.out).find("class")->as_string(), "pear, green");
  EXPECT_NE(o.err.find("accuracy 1 "), std::string::npos) << o.err;
  LOOM_EXPECT_REFUSED(
      loom({"predict", net, "--data", folder.write("bad.csv", "weight,size\n1,2\n")}), 3,
      "no column 'color'");
  EXPECT_EQ(loom({"show", net}).code, 0);
}

// Labels as scikit-learn's users write them: of a table classes by their value; where a class is a
// number by itself -1 is none (finding A3).
TEST(Choose, LabelsOfMinusOneAreAClass) {
  std::string csv = "a,b,y\n";
  for (int i = 0; i < 80; ++i)
    csv += std::to_string(i) + "," + std::to_string(i % 7) + (i < 40 ? ",-1\n" : ",1\n");
  const Folder folder;
  const std::string data = folder.write("t.csv", csv), net = folder / "t.entity";
  Outcome o = loom({"train", "--data", data, "--out", net});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE((o.out + o.err).find("target: column 'y', 2 classes: '-1', '1'"), std::string::npos)
      << o.out << o.err;
  o = loom({"predict", net, "--data", folder.write("new.csv", "a,b\n3,1\n77,2\n")});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.substr(0, 3), "-1,") << o.out;
  EXPECT_NE(o.out.find("\n1,"), std::string::npos) << o.out;

  folder.write("f/train-images-idx3-ubyte", std::string("\0\0\x08\2\0\0\0\4\0\0\0\1\1\2\3\4", 16));
  folder.write("f/train-labels-idx1-ubyte", std::string("\0\0\x09\1\0\0\0\4\1\xff\1\xff", 12));
  LOOM_EXPECT_REFUSED(loom({"train", "--data", folder / "f", "--out", folder / "x.entity"}), 3,
                      "the target of sample 1 is -1: classes are whole numbers from 0");
}

TEST(Choose, AnswersAreInTheUnitsOfTheTarget) {
  std::string csv;
  for (int i = 0; i < 300; ++i)
    csv += std::to_string(i) + "," + std::to_string(i % 7) + "," +
           std::to_string(1'000'000 + 2000 * i) + "\n";
  const Folder folder;
  const std::string data = folder.write("price.csv", csv), net = folder / "price.entity";
  const Outcome o = loom({"train", "--data", data, "--out", net, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_GT(figure(last_line(o.out), "validation", "r2"), 0.99);
  const Outcome p = loom({"predict", net, "--data", folder.write("x.csv", "150,3\n20,1\n")});
  ASSERT_EQ(p.code, 0) << p.err;
  EXPECT_NEAR(std::stod(p.out), 1'300'000, 15'000);
}

// A unit changes nothing: what is of size 1e-13 is learned as what is of size 1 (finding A5), and a
// constant stays one.
TEST(Choose, TinyNumbersAreLearned) {
  const Folder folder;
  const auto learned = [&](double unit, const std::string& name) {
    std::string csv = "a,b,c,y\n";
    for (int i = 0; i < 300; ++i) {
      const double a = i % 17, b = (i * 7) % 23;
      csv += format_double(a * unit) + "," + format_double(b * unit) + "," +
             format_double(5 * unit) + "," + format_double((a * a - 3 * b + 40) * unit) + "\n";
    }
    const std::string data = folder.write(name + ".csv", csv), net = folder / (name + ".entity");
    const Outcome o = loom({"train", "--data", data, "--out", net, "--json"});
    EXPECT_EQ(o.code, 0) << o.err;
    const Outcome p = loom({"predict", net, "--data",
                            folder.write("x.csv", "a,b,c\n" + format_double(3 * unit) + "," +
                                                      format_double(20 * unit) + "," +
                                                      format_double(5 * unit) + "\n")});
    EXPECT_EQ(p.code, 0) << p.err;
    return std::pair{figure(last_line(o.out), "validation", "r2"), std::stod(p.out) / unit};
  };
  const auto [r2, answer] = learned(1, "plain");
  EXPECT_GT(r2, 0.99);
  EXPECT_NEAR(answer, -11, 3);
  const auto [tiny_r2, tiny_answer] = learned(1e-13, "tiny");
  EXPECT_NEAR(tiny_r2, r2, 0.005);
  EXPECT_NEAR(tiny_answer, answer, 1.5);
}

TEST(Choose, GoesOnWhereItStopped) {
  LOOM_TEST_FILE(data, "tabular/abalone.csv");
  const Folder folder;
  const Outcome once =
      loom({"train", "--data", data, "--out", folder / "once.entity", "--steps", "400"});
  ASSERT_EQ(once.code, 0) << once.err;
  const Outcome stopped = loom(Call{
      {"train", "--data", data, "--out", folder / "twice.entity", "--steps", "400"}, "", {}, 1});
  if (stopped.code == 0) GTEST_SKIP() << "it was done before the interruption";
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  ASSERT_EQ(loom({"train", "--data", data, "--out", folder / "twice.entity", "--steps", "400",
                  "--resume"})
                .code,
            0);
  EXPECT_TRUE(file_bytes(folder / "once.entity") == file_bytes(folder / "twice.entity"));
}

// 200 of the steps that reach 99.3 % of the test images in full with convolutions, 98.3 % with
// dense layers; the digest is the same for every thread count.
TEST(Choose, LearnsMnistFromItsFiles) {
  LOOM_TEST_FILE(data, "mnist/train-images-idx3-ubyte.gz");
  const Folder folder;
  for (const char* network : {"convolutional", "dense"}) {
    SCOPED_TRACE(network);
    std::string want;
    for (const char* threads : {"1", "3"}) {
      const Outcome o = loom({"train", "--data", data.substr(0, data.rfind('/')), "--out",
                              folder / "mnist.entity", "--network", network, "--steps", "200",
                              "--threads", threads, "--json"});
      ASSERT_EQ(o.code, 0) << o.err;
      EXPECT_NE(o.err.find("55000 samples to learn from, 5000 held back"), std::string::npos)
          << o.err;
      EXPECT_EQ(o.err.find("[1, 28, 28] -> 3x3 convolution to 16 relu, halved -> 3x3 convolution "
                           "to 32 relu, halved -> 128 relu -> 10") != std::string::npos,
                std::string_view(network) == "convolutional")
          << o.err;
      const Json report = last_line(o.out);
      EXPECT_GT(figure(report, "test", "accuracy"), 0.94) << report.dump();
      const std::string digest = o.err.substr(o.err.rfind("sha256 ") + 7, 64);
      EXPECT_TRUE(want.empty() || digest == want) << threads;
      want = digest;
    }
  }
}

// The digest that every build and host must reach; WebAssembly's turn is
// bindings/js/test/unit/mnist.test.js.
TEST(Choose, MnistHasItsGoldenDigest) {
  LOOM_TEST_FILE(images, "mnist/t10k-images-idx3-ubyte.gz");
  const Folder folder;
  auto golden =
      Json::parse(file_bytes(loom::test::source_dir() + "/tests/golden/mnist_training.json"));
  ASSERT_TRUE(golden.ok()) << golden.status().to_string();
  Json spec = *golden->find("spec"), data = Json::object();
  data.set("type", "arrays");
  data.set("file", images);
  data.set("targets_file", images.substr(0, images.rfind('/')) + "/t10k-labels-idx1-ubyte.gz");
  spec.set("data", std::move(data));
  const std::string path = folder.write("spec.json", spec.dump());
  for (const char* threads : {"1", "2"}) {
    const Outcome o =
        loom({"train", path, "--out", folder / "digits.entity", "--threads", threads});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err.substr(o.err.rfind("sha256 ") + 7, 64), golden->find("digest")->as_string());
  }
}

// The same steps with ternary and with binary weights, and with products in FP8: fewer bits, the
// same bits everywhere.
TEST(Choose, MnistInFewBitsHasItsGoldenDigests) {
  LOOM_TEST_FILE(images, "mnist/t10k-images-idx3-ubyte.gz");
  const Folder folder;
  auto golden =
      Json::parse(file_bytes(loom::test::source_dir() + "/tests/golden/mnist_training.json"));
  ASSERT_TRUE(golden.ok()) << golden.status().to_string();
  Json data = Json::object();
  data.set("type", "arrays");
  data.set("file", images);
  data.set("targets_file", images.substr(0, images.rfind('/')) + "/t10k-labels-idx1-ubyte.gz");
  auto digests = golden->find("quantized")->as_object();
  digests.emplace_back("fp8", *golden->find("fp8"));
  for (const auto& [dtype, digest] : digests) {
    SCOPED_TRACE(dtype);
    Json spec = *golden->find("spec"), quantize = Json::object();
    quantize.set("dtype", dtype);
    if (dtype == "fp8") spec.set("fp8", true);
    else spec.set("quantize", std::move(quantize));
    spec.set("data", data);
    const Outcome o = loom({"train", folder.write("spec.json", spec.dump()), "--out",
                            folder / "digits.entity", "--threads", dtype == "binary" ? "1" : "2"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err.substr(o.err.rfind("sha256 ") + 7, 64), digest.as_string());
  }
}

// 200 steps of what --dtype chooses; docs/guide/few-bits.md has what the whole training reaches.
TEST(Choose, LearnsMnistInFewBits) {
  LOOM_TEST_FILE(data, "mnist/train-images-idx3-ubyte.gz");
  const Folder folder;
  for (const std::string dtype : {"ternary", "binary"}) {
    SCOPED_TRACE(dtype);
    const std::string net = folder / (dtype + ".entity");
    const Outcome o = loom({"train", "--data", data.substr(0, data.rfind('/')), "--out", net,
                            "--network", "dense", "--dtype", dtype, "--steps", "200", "--json"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("weights: " + dtype + " in all layers from the first step on"),
              std::string::npos)
        << o.err;
    EXPECT_GT(figure(last_line(o.out), "test", "accuracy"), 0.9);
    const Outcome result = loom({"show", net});
    EXPECT_NE(result.out.find("0.0.0.3:weight  packed " + dtype), std::string::npos) << result.out;
  }
}

// Every type in every granularity, or why not; the file's own type gives what training said.
TEST(Choose, AccuracyInEveryType) {
  LOOM_TEST_FILE(data, "tabular/iris.csv");
  const Folder folder;
  const std::string net = folder / "iris.entity";
  ASSERT_EQ(loom({"train", "--data", data, "--out", net, "--steps", "150"}).code, 0);
  const Outcome predicted = loom({"predict", net, "--data", data});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  Outcome o = loom({"accuracy", net, "--data", data, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json table = last_line(o.out);
  std::map<std::string, Json> rows;
  for (const Json& row : table.find("formats")->as_array())
    rows[row.find("format")->as_string()] = row;
  std::size_t formats = 0;
  for (const WeightFormat& f : all_weight_formats()) {
    std::string name = to_string(f);
    if (f.layout != Layout::plain) continue;
    ++formats;
    if (f.scale == ScaleKind::row && !name.ends_with(":row")) name += ":row";
    EXPECT_TRUE(rows.contains(name)) << name;
  }
  // Four types without scales, each with four refusals that say so; the other formats are there or
  // named with a reason.
  EXPECT_EQ(formats, 4u + 17u * 4u);
  std::size_t without_scale = 0;
  for (const Json& row : table.find("refused")->as_array())
    without_scale += row.find("why")->as_string().find("has no scale") != std::string::npos;
  EXPECT_EQ(without_scale, 16u);
  EXPECT_EQ(rows.size() + table.find("refused")->as_array().size(), 21u * 4u + 4u + 6u);
  auto number = [&](const char* format, const char* key) {
    return rows[format].find(key)->as_number();
  };
  char plain_figures[64];
  std::snprintf(plain_figures, sizeof plain_figures, "loss %.4g  accuracy %.4g ",
                number("f32", "loss"), number("f32", "accuracy"));
  EXPECT_NE(predicted.err.find(plain_figures), std::string::npos) << predicted.err;
  for (const char* exact : {"f64", "i64:row", "u64:block16", "i32:row"})
    EXPECT_NEAR(number(exact, "loss"), number("f32", "loss"), 1e-5) << exact;
  for (const char* near : {"f16", "bf16", "i16:tensor", "i8:row", "i8:block32", "u8:row"}) {
    EXPECT_NEAR(number(near, "loss"), number("f32", "loss"), 0.02) << near;
    EXPECT_NEAR(number(near, "accuracy"), number("f32", "accuracy"), 0.02) << near;
  }
  const char* sizes[] = {"f64", "f32", "f16", "i4:row", "i2:row", "ternary:row"};
  for (std::size_t i = 1; i < std::size(sizes); ++i)
    EXPECT_LT(number(sizes[i], "bytes"), number(sizes[i - 1], "bytes")) << sizes[i];

  o = loom({"accuracy", net, "--data", data});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.substr(0, 6), "format");
  EXPECT_NE(o.out.find("refused: 'f32:row': f32 has no scale"), std::string::npos) << o.out;
  LOOM_EXPECT_REFUSED(loom({"accuracy", data, "--data", data}), 3, "iris.csv");
  LOOM_EXPECT_REFUSED(loom({"accuracy", net, "--data", folder.write("x.csv", "5.1,3.5,1.4,0.2\n")}),
                      3, "has no targets");
}

TEST(Choose, WrongQuestionsAreRefused) {
  const Folder folder;
  const std::string data = folder.write("t.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n"),
                    out = folder / "x.entity";
  LOOM_EXPECT_REFUSED(loom({"train", "--out", out}), 2, "give a SPEC, or --data");
  LOOM_EXPECT_REFUSED(loom({"train", "spec.json", "--data", data, "--target", "b", "--out", out}),
                      2, "without a SPEC");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--target", "c", "--out", out}), 3,
                      "no column 'c': the first are 'a', 'b'");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--task", "numbers", "--out", out}), 3,
                      "holds texts, no numbers");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--network", "convolutional", "--out", out}),
                      3, "for images, this is a table");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--dtype", "i3", "--out", out}), 3,
                      "'i3' is not a weight format");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--dtype", "f64", "--out", out}), 3,
                      "a cell learns in f64 as it is");
  LOOM_EXPECT_REFUSED(loom({"train", "spec.json", "--dtype", "i8", "--out", out}), 2,
                      "without a SPEC");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--task", "guess", "--out", out}), 2,
                      "--task");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", folder / "none.csv", "--out", out}), 3, "none.csv");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", folder.write("one.csv", "a\n1\n2\n"), "--out", out}),
                      3, "has one column, 'a'");
  LOOM_EXPECT_REFUSED(
      loom({"train", "--data", folder.write("same.csv", "a,b\n1,x\n2,x\n"), "--out", out}), 3,
      "the same in every row");
  LOOM_EXPECT_REFUSED(
      loom({"train", "--data", folder.write("bin", std::string("a\0b\n", 4)), "--out", out}), 3,
      "neither a table nor");
  folder.write("f/train-images-idx3-ubyte", std::string("\0\0\x08\1\0\0\0\2\1", 9));
  LOOM_EXPECT_REFUSED(loom({"train", "--data", folder / "f", "--out", out}), 3, "expects 2 bytes");
  LOOM_EXPECT_REFUSED(loom({"predict", data, "--data", data}), 3, "t.csv");
  EXPECT_EQ(file_bytes(out), "");
}

// A network of a spec says nothing of raw data: predict gives it values as they are.
TEST(Choose, PredictsWithANetworkOfASpec) {
  const Folder folder;
  const std::string spec = folder.write("xor.json", R"({
    "format": "loom-training", "version": 1, "network": {"format": "loom-topology", "version": 2,
      "layers_per_cell": 2, "input": {"width": 2}, "cells": [
        {"at": [0, 0, 0, 0], "type": "dense", "out": 8, "activation": "tanh"},
        {"at": [0, 0, 0, 1], "type": "dense", "out": 1}]},
    "data": {"type": "table", "targets": ["y"]}, "steps": 300, "batch": 4, "seed": 1})");
  const std::string table = folder.write("xor.csv", "a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
  const std::string net = folder / "xor.entity";
  ASSERT_EQ(loom({"train", spec, "--data", table, "--out", net}).code, 0);
  for (const char* text : {"a,b\n0,1\n1,1\n", "0;1\n1;1\n"}) {
    const Outcome o = loom({"predict", net, "--data", folder.write("points.csv", text)});
    ASSERT_EQ(o.code, 0) << o.err;
    double first = 0, second = 0;
    ASSERT_EQ(std::sscanf(o.out.c_str(), "%lf\n%lf\n", &first, &second), 2) << o.out;
    EXPECT_GT(first, second) << o.out;
  }
  const Outcome result = loom({"show", net});
  EXPECT_NE(result.out.find("\ndigest "), std::string::npos) << result.out;
  EXPECT_EQ(loom({"show", net, "--no-hash"}).out.find("digest "), std::string::npos);
  LOOM_EXPECT_REFUSED(loom({"predict", net, "--data", table}), 3, "has 3 columns");
  LOOM_EXPECT_REFUSED(
      loom({"predict", net, "--data", folder.write("words.csv", "a,b\n0,1\n1,red\n")}), 3,
      "row 2, column 'b': expects a number, got 'red'");
}

}  // namespace
}  // namespace loom::test
