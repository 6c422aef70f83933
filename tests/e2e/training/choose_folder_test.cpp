// loom train without a spec, and loom predict, on folders of images and of texts as people have
// them.
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files/source.h"
#include "e2e/images.h"
#include "e2e/process.h"
#include "e2e/report.h"
#include "formats/idx/idx.h"
#include "support/data.h"
#include "support/texts.h"

namespace loom::test {
namespace {

double accuracy(const Outcome& o, const char* part) {
  const Json report = last_line(o.out);
  const Json* found = report.find(part) ? report.find(part)->find("accuracy") : nullptr;
  return found ? found->as_number() : -1;
}
std::vector<std::string> lines_of(const std::string& out) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = std::min(out.find('\n', at), out.size());
    lines.push_back(out.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The file of every run is the same, whatever the number of threads.
Outcome train_alike(const Folder& folder, const std::string& data, const std::string& out,
                    const std::string& steps) {
  Outcome o;
  std::string want;
  for (const char* threads : {"1", "2"}) {
    o = loom({"train", "--data", data, "--out", folder / out, "--steps", steps, "--threads",
              threads, "--json"});
    EXPECT_EQ(o.code, 0) << o.err;
    const std::string bytes = file_bytes(folder / out);
    EXPECT_TRUE(want.empty() || bytes == want) << threads;
    want = bytes;
  }
  return o;
}

// What tells the classes apart is neither their colors nor how bright they are: lines across, lines
// down, and squares.
Pixels drawn(int pattern, int i) {
  std::uint32_t state = static_cast<std::uint32_t>(pattern * 7919 + i * 104729 + 1);
  const auto random = [&](int below) {
    return static_cast<int>((state = state * 1664525u + 1013904223u) >> 16) % below;
  };
  Pixels p(24 + random(17), 24 + random(17));
  const int shift = random(6), base = random(60);
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) {
      const bool across = (y + shift) / 4 % 2 == 0, down = (x + shift) / 4 % 2 == 0,
                 on = pattern == 0   ? across
                      : pattern == 1 ? down
                                     : across != down;
      p.set(x, y, base + (on ? 120 : 0) + random(50), base + (on ? 90 : 10) + random(50),
            base + random(60));
    }
  return p;
}
constexpr const char* kPatterns[] = {"across the page", "down", "\xE6\xA0\xBC\xE5\xAD\x90"};

void draw_folder(const Folder& folder, const std::string& name, int from, int count) {
  for (int pattern = 0; pattern < 3; ++pattern)
    for (int i = from; i < from + count; ++i)
      folder.write(name + "/" + kPatterns[pattern] + "/" + std::to_string(i) + ".ppm",
                   ppm(drawn(pattern, i)));
}

TEST(ChooseFolder, LearnsImagesInFoldersOfTheirClasses) {
  const Folder folder;
  draw_folder(folder, "data/train", 0, 60);
  draw_folder(folder, "data/test", 1000, 20);
  folder.write("data/train/down/notes.doc", "x");
  const Outcome o = train_alike(folder, folder / "data", "a.entity", "90");
  for (const std::string& part :
       {"data: 180 image files of " + folder / "data/train" + ", 60 in a class",
        std::string(
            "target: the folder, 3 classes: 'across the page', 'down', '\xE6\xA0\xBC\xE5\xAD\x90'"),
        std::string("left out: 1 file in 'down', by the name no image: 'notes.doc'"),
        std::string("inputs: scaled to 3 x 24 x 24 (channels x height x width)"),
        std::string("test: 60 samples")})
    EXPECT_NE(o.err.find(part), std::string::npos) << part << "\n" << o.err;
  EXPECT_GT(accuracy(o, "test"), 0.9) << o.out;  // chance: 0.33

  // A folder of the same form: judged. One without classes, and one file: names of classes, and of
  // the files.
  const std::string net = folder / "a.entity";
  Outcome p = loom({"predict", net, "--data", folder / "data"});
  ASSERT_EQ(p.code, 0) << p.err;
  EXPECT_EQ(lines_of(p.out).size(), 60u);
  EXPECT_NE(p.err.find("over 60 rows"), std::string::npos) << p.err;
  draw_folder(folder, "new", 2000, 1);
  for (int pattern = 0; pattern < 3; ++pattern)
    folder.write("flat/" + std::to_string(pattern) + ", new.ppm", ppm(drawn(pattern, 3000)));
  p = loom({"predict", net, "--data", folder / "flat"});
  ASSERT_EQ(p.code, 0) << p.err;
  EXPECT_EQ(p.err.find("against the targets"), std::string::npos) << p.err;
  const std::vector<std::string> lines = lines_of(p.out);
  ASSERT_EQ(lines.size(), 3u);
  std::set<std::string> answers;
  for (int pattern = 0; pattern < 3; ++pattern) {
    const std::string& line = lines[static_cast<std::size_t>(pattern)];
    answers.insert(line.substr(0, line.find(',')));
    EXPECT_TRUE(line.ends_with(",\"" + folder / "flat/" + std::to_string(pattern) + ", new.ppm\""))
        << line;
  }
  EXPECT_EQ(answers, std::set<std::string>(std::begin(kPatterns), std::end(kPatterns)));
  const std::string one = folder / "new/down/2000.ppm";
  p = loom({"predict", net, "--data", one, "--json"});
  ASSERT_EQ(p.code, 0) << p.err;
  const Json answer = last_line(p.out);
  EXPECT_EQ(answer.find("file")->as_string(), one);
  EXPECT_EQ(answer.find("class")->as_string(), "down");
  EXPECT_EQ(answer.find("probabilities")->as_array().size(), 3u);
  // The other commands for raw data.
  p = loom({"accuracy", net, "--data", folder / "data", "--json"});
  EXPECT_EQ(p.code, 0) << p.err;
  LOOM_EXPECT_REFUSED(loom({"accuracy", net, "--data", folder / "flat"}), 3, "has no targets");
  LOOM_EXPECT_REFUSED(loom({"predict", net, "--data", folder.write("words/1.txt", "no image")}), 3,
                      "1.txt");
  LOOM_EXPECT_REFUSED(loom({"predict", net, "--data", folder / "words"}), 3, "holds no image");
}

// The same pixels in any format are the same numbers; JPEG is near them.
TEST(ChooseFolder, ReadsImagesOfEveryFormat) {
  const Folder folder;
  draw_folder(folder, "data", 0, 12);
  const std::string image = folder.write("data/down/image.png", png(halves(16, 12), 3));
  const Outcome o =
      loom({"train", "--data", folder / "data", "--out", folder / "a.entity", "--steps", "30"});
  if (o.code == 3 && o.err.find("built without stb_image") != std::string::npos)
    GTEST_SKIP() << "this build has no stb_image (Debian: libstb-dev)";
  ASSERT_EQ(o.code, 0) << o.err;
  const auto probabilities = [&](const std::string& file) {
    const Outcome p = loom({"predict", folder / "a.entity", "--data", file, "--json"});
    EXPECT_EQ(p.code, 0) << p.err;
    std::vector<double> values;
    if (const Json answer = last_line(p.out); answer.find("probabilities"))
      for (const Json& v : answer.find("probabilities")->as_array())
        values.push_back(v.as_number());
    return values;
  };
  const std::vector<double> want = probabilities(folder.write("p.ppm", ppm(halves(16, 12))));
  Pixels other = halves(16, 12);
  for (int y = 0; y < 12; ++y) other.set(8, y, 200, 40, 20);
  ASSERT_EQ(want.size(), 3u);
  EXPECT_NE(probabilities(folder.write("other.ppm", ppm(other))), want);
  EXPECT_EQ(probabilities(image), want);
  EXPECT_EQ(probabilities(folder.write("alpha.png", png(halves(16, 12), 4))), want);
  EXPECT_EQ(probabilities(folder.write("p.bmp", bmp(halves(16, 12)))), want);
  EXPECT_EQ(probabilities(folder.write("no-ending", png(halves(16, 12), 3))), want);
  EXPECT_EQ(probabilities(folder.write("p.gif", gif())),
            want);  // of its square, which is what counts, the same halves
  const std::vector<double> of_jpeg = probabilities(folder.write("p.jpg", jpeg()));
  ASSERT_EQ(of_jpeg.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(of_jpeg[i], want[i], 0.02);
}

// What is cut or no image is named, and nothing is written.
TEST(ChooseFolder, RefusesBrokenImages) {
  const Folder folder;
  draw_folder(folder, "data", 0, 12);
  const Outcome o =
      loom({"train", "--data", folder / "data", "--out", folder / "a.entity", "--steps", "30"});
  if (o.code == 3 && o.err.find("built without stb_image") != std::string::npos)
    GTEST_SKIP() << "this build has no stb_image (Debian: libstb-dev)";
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string out = folder / "b.entity", bad = folder / "data/down/bad";
  std::string many_codes = jpeg(), damaged = png(halves(16, 12), 3);
  damaged[43] = '\x07';  // no kind of block that deflate has
  const std::size_t table = many_codes.find("\xFF\xC4");
  ASSERT_NE(table, std::string::npos);
  many_codes[table + 5] = static_cast<char>(253 + many_codes[table + 5]);
  struct Case {
    std::string end, bytes;
    const char* part;
  };
  const Case cases[] = {
      {".png", png(halves(16, 12), 3).substr(0, 100), "bad.png: ends before the image does"},
      {".png", damaged, "bad.png: cannot be decoded"},
      {".jpg", jpeg().substr(0, 500), "bad.jpg: ends before the image does"},
      {".jpg", many_codes, "bad.jpg: cannot be decoded: a table of 265 codes"},
      {".bmp", bmp(halves(16, 12)).substr(0, 300), "bad.bmp: ends before the image does"},
      {".gif", gif().substr(0, 60), "bad.gif: ends before the image does"},
      {".gif", "GIF89a", "bad.gif"},
      {".jpeg", "hello", "bad.jpeg: is no image that can be read"},
      {".png", "RIFF\x10\1\1\1WEBPVP8 ", "bad.png: is a WebP image"},
      {".png", "", "bad.png: is empty"}};
  for (const Case& c : cases) {
    folder.write("data/down/bad" + c.end, c.bytes);
    LOOM_EXPECT_REFUSED(loom({"train", "--data", folder / "data", "--out", out}), 3, c.part);
    LOOM_EXPECT_REFUSED(loom({"predict", folder / "a.entity", "--data", bad + c.end}), 3, c.part);
    std::filesystem::remove(bad + c.end);
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

// Real digits, each in a file: the first 1500 of MNIST's test images to learn from, the next 500 to
// judge by.
TEST(ChooseFolder, LearnsMnistFromFilesOfImages) {
  LOOM_TEST_FILE(images, "mnist/t10k-images-idx3-ubyte.gz");
  const auto open = [](const std::string& path) { return open_array(*open_source(path)); };
  const auto x = open(images),
             y = open(images.substr(0, images.rfind('/')) + "/t10k-labels-idx1-ubyte.gz");
  ASSERT_TRUE(x.ok() && y.ok());
  const Folder folder;
  std::vector<float> pixels(784), label(1);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    ASSERT_TRUE(read_f32(*x, i * 784, pixels).ok() && read_f32(*y, i, label).ok());
    std::string pgm = "P5\n28 28\n255\n";
    for (const float v : pixels) pgm += static_cast<char>(static_cast<int>(v));
    folder.write((i < 1500 ? "training/digit " : "testing/digit ") +
                     std::to_string(static_cast<int>(label[0])) + "/" + std::to_string(i) + ".pgm",
                 pgm);
  }
  const Outcome o = loom(
      {"train", "--data", folder / "", "--out", folder / "a.entity", "--steps", "120", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("inputs: 1 x 28 x 28 (channels x height x width), as the images are; grey"),
            std::string::npos)
      << o.err;
  EXPECT_GT(accuracy(o, "test"), 0.88) << o.out;  // chance: 0.1
}

TEST(ChooseFolder, LearnsTextsInFoldersOfTheirClasses) {
  const Folder folder;
  for (const auto& [name, all] :
       {std::pair{"stories", tales(63000)}, std::pair{"notices \xC3\xA9", documents()}}) {
    ASSERT_GE(all.size(), 62500u);
    for (std::size_t i = 0; i < 250; ++i)
      folder.write("data/" + std::string(i < 200 ? "train/" : "test/") + name + "/" +
                       std::to_string(i) + ".txt",
                   all.substr(i * 250, 250));
  }
  const Outcome o = train_alike(folder, folder / "data", "a.entity", "80");
  for (const char* part :
       {"data: 400 text files of ", "target: the folder, 2 classes: 'notices \xC3\xA9', 'stories'",
        "inputs: words and pairs of neighbors, hashed to 16384 places", "test: 100 samples",
        "network: 16384 -> 64 relu -> 2"})
    EXPECT_NE(o.err.find(part), std::string::npos) << part << "\n" << o.err;
  EXPECT_GT(accuracy(o, "test"), 0.9) << o.out;  // chance: 0.5

  const std::string net = folder / "a.entity";
  Outcome p =
      loom({"predict", net, "--data",
            folder.write("new/1.txt",
                         "A layer takes the shape that arrives, and its options are refused "
                         "where their values are out of range: an error names the key.\n")});
  ASSERT_EQ(p.code, 0) << p.err;
  EXPECT_EQ(p.out.substr(0, p.out.find(',')), "notices \xC3\xA9");
  folder.write("new/2.txt", "...");
  p = loom({"predict", net, "--data", folder / "new"});
  ASSERT_EQ(p.code, 0) << p.err;
  EXPECT_EQ(lines_of(p.out).size(), 2u);
  EXPECT_NE(p.err.find("1 text without a word"), std::string::npos) << p.err;
  p = loom({"predict", net, "--data", folder / "data"});
  ASSERT_EQ(p.code, 0) << p.err;
  EXPECT_EQ(lines_of(p.out).size(), 100u);
  EXPECT_NE(p.err.find("over 100 rows"), std::string::npos) << p.err;
}

// Texts without classes: an adapter of the embedded model, of one file and of a folder.
TEST(ChooseFolder, TextsWithoutClassesAdaptTheEmbeddedModel) {
  const Folder folder;
  const std::string all = documents(),
                    held_out = folder.write("held_out.txt", all.substr(60000, 3000));
  const std::string file = folder.write("one.txt", all.substr(0, 12000));
  for (int i = 0; i < 3; ++i)
    folder.write("many/" + std::to_string(i) + ".txt",
                 all.substr(static_cast<std::size_t>(i) * 4000, 4000));
  const auto loss = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"eval", "embedded", "--text", held_out, "--json"});
    const Outcome o = loom(more);
    EXPECT_EQ(o.code, 0) << o.err;
    return last_line(o.out).find("loss")->as_number();
  };
  const double before = loss({});
  for (const std::string& data : {file, folder / "many"}) {
    const std::string adapter = folder / ("of" + std::to_string(data.size()));
    const Outcome o =
        loom({"train", "--data", data, "--out", adapter, "--steps", "6", "--threads", "2"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("an adapter (LoRA of rank 8) of the embedded language model"),
              std::string::npos)
        << o.err;
    EXPECT_LT(loss({"--adapter", adapter}), before - 0.5);
  }
  LOOM_EXPECT_REFUSED(loom({"train", "--data", file, "--out", folder / "x", "--network", "dense"}),
                      3, "text without classes");
  LOOM_EXPECT_REFUSED(
      loom({"train", "--data", folder.write("empty.txt", ""), "--out", folder / "x"}), 3,
      "empty.txt");
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

}  // namespace
}  // namespace loom::test
