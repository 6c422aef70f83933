// What auto_config and read_rows make of folders, and what they refuse. tests/e2e learns from
// such folders with the program.
#include <gtest/gtest.h>

#include <algorithm>

#include "train/auto_config/auto_config.h"
#include "train/data/test_folder.h"

namespace loom {
namespace {

using test::TempFolder;

std::string pgm(int width, int height, int value) {
  return "P5 " + std::to_string(width) + " " + std::to_string(height) + " 255\n" +
         std::string(static_cast<std::size_t>(width * height), static_cast<char>(value));
}
std::string ppm(int width, int height, const std::string& pixel) {
  std::string text = "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
  for (int i = 0; i < width * height; ++i) text += pixel;
  return text;
}

void expect_refused(const std::string& data, Code code, const std::string& part,
                    AutoConfigOptions options = {}) {
  options.data = data;
  const auto chosen = auto_config(options);
  ASSERT_FALSE(chosen.ok()) << part;
  EXPECT_EQ(chosen.status().code(), code) << chosen.status().to_string();
  EXPECT_NE(chosen.status().message().find(part), std::string::npos) << chosen.status().to_string();
}
bool says(const std::vector<std::string>& decisions, const std::string& part) {
  return std::any_of(decisions.begin(), decisions.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(ChooseFolders, ImagesOfOneSizeStayAsTheyAre) {
  const TempFolder f;
  for (int i = 0; i < 6; ++i)
    f.write((i % 2 ? "odd/" : "even/") + std::to_string(i) + ".pgm", pgm(9, 8, 10 * i));
  auto t = auto_config({.data = f.path(), .steps = 1});
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(t->inputs.dump(),
            R"({"images":{"channels":1,"height":8,"width":9},"labels":["even","odd"]})");
  EXPECT_TRUE(
      says(t->decisions, "inputs: 1 x 8 x 9 (channels x height x width), as the images are; grey"));
  EXPECT_TRUE(says(t->decisions, "3x3 convolution"));
  Batch batch;
  for (std::int64_t i = 0; i < 6; ++i) t->whole->append(i, batch);
  EXPECT_EQ(batch.classes, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(batch.x[i * 72 + 71], static_cast<float>(10 * (i < 3 ? 2 * i : 2 * (i - 3) + 1)));
}

TEST(ChooseFolders, ImagesOfManySizesBecomeSquares) {
  const TempFolder f;
  for (int i = 0; i < 6; ++i)
    f.write("train/" + std::string(i % 2 ? "odd/" : "even/") + std::to_string(i) + ".ppm",
            i == 3 ? ppm(40, 30, "abc") : pgm(20 + i, 17, 7));
  f.write("test/odd/x.ppm", ppm(100, 10, "xyz"));
  f.write("test/even/y.pgm", pgm(3, 3, 5));
  auto t = auto_config({.data = f.path(), .steps = 1});
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(t->inputs.dump(),
            R"({"images":{"channels":3,"height":16,"width":16},"labels":["even","odd"]})");
  EXPECT_TRUE(says(t->decisions,
                   "inputs: scaled to 3 x 16 x 16 (channels x height x width); the images are from "
                   "20 x 17 to 40 x 30, of each the largest centred square counts"));
  EXPECT_TRUE(says(t->decisions, "test: 2 samples"));
  Batch batch;
  t->whole->append(4, batch);  // 3.ppm
  EXPECT_EQ(batch.classes, std::vector<std::int32_t>{1});
  for (const std::size_t c : {0u, 1u, 2u})
    EXPECT_EQ(batch.x[c * 256 + 100], static_cast<float>('a' + c));
  ASSERT_TRUE(t->test);
  batch.clear();
  t->test->append(0, batch);
  t->test->append(1, batch);
  EXPECT_EQ(batch.classes, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(batch.x[0], 5.0f);
  EXPECT_EQ(batch.x[768], static_cast<float>('x'));
}

TEST(ChooseFolders, BadImagesAreNamed) {
  const TempFolder f;
  for (const char* name : {"a/1.pgm", "a/2.pgm", "b/1.pgm"}) f.write(name, pgm(8, 8, 1));
  f.write("b/2 \xC3\xA9.pgm", pgm(8, 8, 1).substr(0, 40));
  expect_refused(f.path(), Code::truncated,
                 f / "b/2 \xC3\xA9.pgm: has 29 bytes of pixels, expected 64");
  f.write("b/2 \xC3\xA9.pgm", pgm(8, 8, 1));
  f.write("a/0.png", "\x89PNG");
  expect_refused(f.path(), Code::unsupported, f / "a/0.png: is no PGM or PPM image");
  AutoConfigOptions options;
  options.decoder = {
      [](std::span<const std::byte>) { return Result<ImageSize>(Code::corrupt, "a bad day"); },
      [](std::span<const std::byte>) { return Result<Image>(Image{}); }};
  expect_refused(f.path(), Code::corrupt, f / "a/0.png: a bad day", options);
  f.write("a/0.png", pgm(8, 8, 1));  // what it is counts, not what it is called
  EXPECT_TRUE(auto_config({.data = f.path(), .steps = 1}).ok());
}

TEST(ChooseFolders, FoldersThatSayNothing) {
  const TempFolder f;
  expect_refused(f.path(), Code::not_found, "or a folder of images (.png");
  f.write("1.pgm", pgm(8, 8, 1));
  expect_refused(f.path(), Code::invalid_argument, "holds 1 image and no folder for each class");
  f.write("a/1.pgm", pgm(8, 8, 1));
  f.make("b");
  expect_refused(f.path(), Code::invalid_argument, "holds one class, 'a'");
  f.write("b/1.pgm", pgm(8, 8, 1));
  AutoConfigOptions options;
  options.target = "b";
  expect_refused(f.path(), Code::invalid_argument, "--target is for tables", options);
  options = {.task = "numbers"};
  expect_refused(f.path(), Code::invalid_argument, "no numbers", options);
  options = {.test = f / "none"};
  expect_refused(f.path(), Code::not_found, "none", options);
  const TempFolder other;
  for (const char* name : {"a/1.pgm", "c/1.pgm"}) other.write(name, pgm(8, 8, 1));
  options = {.test = other.path()};
  expect_refused(f.path(), Code::invalid_argument,
                 "the class 'c' is none of those that are learned: 'a', 'b'", options);
  const TempFolder texts;
  texts.write("1.txt", "one");
  expect_refused(texts.path(), Code::invalid_argument, "by a spec with \"base\", \"lora\"");
  for (const char* name : {"a/1.txt", "b/1.txt"}) texts.write(name, "one two");
  options = {.network = "convolutional"};
  expect_refused(texts.path(), Code::invalid_argument, "for images, these are texts", options);
  texts.write("b/2.txt", std::string("a\0b", 3));
  expect_refused(texts.path(), Code::invalid_argument, texts / "b/2.txt: holds bytes of 0");
}

TEST(ChooseFolders, RowsComeFromFoldersAndFiles) {
  const TempFolder f;
  for (const char* name : {"b/1.pgm", "a/1.pgm", "c/1.pgm", "0.pgm"})
    f.write(name, ppm(20, 10, "aaa"));
  const Json inputs =
      *Json::parse(R"({"images":{"channels":1,"height":2,"width":2},"labels":["a","b"]})");
  auto raw = read_rows(inputs, 4, f.path());
  ASSERT_TRUE(raw.ok()) << raw.status().to_string();
  EXPECT_EQ(raw->rows, 4);
  EXPECT_EQ(raw->names,
            (std::vector<std::string>{f / "a/1.pgm", f / "b/1.pgm", f / "c/1.pgm", f / "0.pgm"}));
  EXPECT_TRUE(says(raw->decisions, "not judged: what is in 'c'"));
  ASSERT_TRUE(raw->judged);
  Batch batch;
  for (std::int64_t i = 0; i < 4; ++i) raw->judged->append(i, batch);
  EXPECT_EQ(batch.classes, (std::vector<std::int32_t>{0, 1, kIgnoredClass, kIgnoredClass}));
  std::vector<double> x;
  ASSERT_TRUE(raw->read(1, 2, 4, x).ok());
  EXPECT_EQ(x, std::vector<double>(8, 'a'));
  EXPECT_EQ(raw->read(3, 2, 4, x).code(), Code::out_of_range);

  raw = read_rows(inputs, 4, f / "b/1.pgm");
  ASSERT_TRUE(raw.ok()) << raw.status().to_string();
  EXPECT_EQ(raw->rows, 1);
  EXPECT_FALSE(raw->judged);
  raw = read_rows(inputs, 4, f / "b");
  ASSERT_TRUE(raw.ok()) << raw.status().to_string();
  EXPECT_EQ(raw->rows, 1);
  EXPECT_FALSE(raw->judged);
  EXPECT_EQ(read_rows(inputs, 4, f / "none.pgm").status().code(), Code::not_found);
  const TempFolder empty;
  EXPECT_EQ(read_rows(inputs, 4, empty.path()).status().code(), Code::not_found);

  f.write("t/1.txt", "one two one");
  const Json words = *Json::parse(R"({"words":{"places":4096},"labels":["a","t"]})");
  raw = read_rows(words, 4096, f.path());
  ASSERT_TRUE(raw.ok()) << raw.status().to_string();
  EXPECT_EQ(raw->names, std::vector<std::string>{f / "t/1.txt"});
  EXPECT_TRUE(raw->judged);
}

TEST(ChooseFolders, SectionsThatAreWrongAreRefused) {
  const TempFolder f;
  f.write("1.pgm", pgm(2, 2, 1));
  struct Case {
    const char *inputs, *part;
  };
  const Case cases[] = {
      {R"({"images":[],"labels":[]})", "no object"},
      {R"({"images":{"channels":1,"height":3,"width":2},"labels":["a"]})",
       "are 6 values, the network takes 4"},
      {R"({"images":{"channels":1,"height":2,"width":2}})", "no list of labels"},
      {R"({"images":{"channels":1,"height":2,"width":2},"labels":[1]})", "a label is a string"},
      {R"({"words":{"places":5},"labels":["a"]})", "a power of two"},
      {R"({"words":4096,"labels":["a"]})", "no object"}};
  for (const Case& c : cases) {
    const auto raw = read_rows(*Json::parse(c.inputs), 4, f / "1.pgm");
    ASSERT_FALSE(raw.ok()) << c.inputs;
    EXPECT_EQ(raw.status().code(), Code::corrupt);
    EXPECT_NE(raw.status().message().find(c.part), std::string::npos) << raw.status().to_string();
  }
}

TEST(ChooseFolders, TextsWithoutClasses) {
  const TempFolder f;
  const auto texts = [](const std::string& path) {
    const auto found = texts_without_classes(path);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *found : std::vector<std::string>();
  };
  f.write("b.txt", "Once upon a time, there was\na dog.\n");
  f.write("a.txt", "One line");
  f.write("table.txt", "a,b\n1,2\n3,4\n");
  f.write("x.csv", "Once upon a time");
  EXPECT_EQ(texts(f / "b.txt"), std::vector<std::string>{f / "b.txt"});
  EXPECT_EQ(texts(f / "a.txt"), std::vector<std::string>{f / "a.txt"});
  EXPECT_TRUE(texts(f / "table.txt").empty());
  EXPECT_TRUE(texts(f / "x.csv").empty());
  EXPECT_EQ(texts(f.path()), (std::vector<std::string>{f / "a.txt", f / "b.txt", f / "table.txt"}));
  f.write("class/1.txt", "One");
  EXPECT_TRUE(texts(f.path()).empty());
  // What explains other files is no text to learn.
  const TempFolder other;
  for (const char* name : {"README.txt", "a.bin"}) other.write(name, "x");
  EXPECT_TRUE(texts(other.path()).empty());
  const TempFolder arrays;
  for (const char* name : {"README.txt", "LICENSE.txt", "NOTES.txt", "x.npy"})
    arrays.write(name, "x");
  EXPECT_TRUE(texts(arrays.path()).empty());
  expect_refused(other.path(), Code::invalid_argument, "holds 1 text and no folder for each class");
}

}  // namespace
}  // namespace loom
