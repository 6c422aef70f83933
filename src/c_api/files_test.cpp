// Files, formats and measures of the interface, as the program and the bindings use them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <loom/loom.hpp>
#include "base/json/json.h"
#include "formats/test_files.h"
#include "support/places.h"

namespace loom {
namespace {

std::string tiny() { return test::source_dir() + "/tests/cases/data/tiny.entity"; }

Json parsed(const std::string& text) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json : Json::object();
}

// What a call throws: its code, and a part of its message.
template <class F>
void expect_error(std::int32_t code, const std::string& part, F call) {
  try {
    call();
    ADD_FAILURE() << "expected an error with: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// A file of the host's, which counts how often it is destroyed.
struct Held : Source {
  Held(std::string b, int n, int* e) : bytes(std::move(b)), good(n), ended(e) {}
  ~Held() override { ++*ended; }
  std::uint64_t size() const override { return bytes.size(); }
  std::size_t read(std::uint64_t offset, std::span<std::byte> out) override {
    if (good-- == 0) throw std::runtime_error("the disk is gone");
    if (good < -1) return out.size() / 2;
    std::memcpy(out.data(), bytes.data() + offset, out.size());
    return out.size();
  }
  std::string name() const override { return "held"; }
  std::string bytes;
  int good;
  int* ended;
};

TEST(Files, AreReadByTheHost) {
  std::ifstream in(tiny(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const std::string digest = Network::load(tiny()).digest();
  int ended = 0, made = 0, failed = 0;
  for (int good = 0; good < 200; ++good) {
    ++made;
    try {
      const Network network = File(std::make_shared<Held>(bytes, good, &ended)).network();
      EXPECT_EQ(network.digest(), digest);
    } catch (const Error& error) {
      ++failed;
      EXPECT_NE(std::string(error.what()).find("the disk is gone"), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(ended, made) << "with its last reader a source is let go, once";
  }
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, made);
  expect_error(LOOM_TRUNCATED, "held", [&] {
    const auto source = std::make_shared<Held>(bytes, -2, &ended);  // each read is short
    File(source).network();
  });
  loom_file file = 0;
  loom_error error;
  const loom_source none{};
  EXPECT_EQ(loom_file_open_source(&none, &file, &error), LOOM_INVALID_ARGUMENT);
  EXPECT_EQ(loom_file_open_source(nullptr, &file, &error), LOOM_INVALID_ARGUMENT);
}

TEST(Files, SayWhatTheyAre) {
  const File file(tiny());
  const Json brief = parsed(file.info());
  EXPECT_EQ(brief.find("kind")->as_string(), ".entity");
  EXPECT_EQ(brief.find("title")->as_string(), "tiny.entity");
  EXPECT_EQ(brief.find("tensors"), nullptr);
  EXPECT_EQ(brief.find("topology"), nullptr);
  const Json all = parsed(file.info(R"({"tensors":true,"model":true})"));
  EXPECT_TRUE(all.find("runs")->as_bool());
  EXPECT_EQ(all.find("no_tokenizer"), nullptr);
  const auto& tensors = all.find("tensors")->as_array();
  ASSERT_EQ(static_cast<std::int64_t>(tensors.size()), all.find("tensor_count")->as_integer());
  std::int64_t bytes = 0;
  for (const Json& t : tensors) {
    bytes += t.find("bytes")->as_integer();
    EXPECT_EQ(file.hash(t.find("name")->as_string()), t.find("sha256")->as_string());
  }
  EXPECT_EQ(bytes, all.find("bytes")->as_integer());
  expect_error(LOOM_NOT_FOUND, "has no tensor 'nothing'", [&] { file.hash("nothing"); });
  expect_error(LOOM_NOT_FOUND, "nosuch", [] { const File none("nosuch"); });
  expect_error(LOOM_INVALID_ARGUMENT, "known are", [&] { file.info(R"({"tensor":true})"); });
}

TEST(Files, OfOnnxAndOfTopologies) {
  const File onnx(test::source_dir() + "/tests/cases/data/tiny.onnx");
  const Json info = parsed(onnx.info(R"({"tensors":true})"));
  EXPECT_EQ(info.find("kind")->as_string(), "ONNX");
  EXPECT_EQ(static_cast<std::int64_t>(info.find("tensors")->as_array().size()),
            info.find("tensor_count")->as_integer());
  EXPECT_FALSE(info.find("operators")->as_object().empty());
  expect_error(LOOM_UNSUPPORTED, "ONNX", [&] { onnx.hash("w"); });
  const test::TempFolder folder;
  std::ofstream(folder / "net.json") << R"({"format":"loom-topology","version":1,)"
                                        R"("layers_per_cell":1,"input":{"width":2},"cells":[)"
                                        R"({"at":[0,0,0,0],"type":"dense","out":1}]})";
  EXPECT_EQ(parsed(File(folder / "net.json").info()).find("kind")->as_string(), "topology");
  std::ofstream(folder / "other.json") << R"({"format":"loom-topology"})";
  const File other(folder / "other.json");
  EXPECT_THROW(other.info(), Error);
}

TEST(Files, BytesAreSavedWholeAndPathsAreCheckedBefore) {
  const test::TempFolder folder;
  const Bytes bytes = Bytes::create(5);
  std::fill_n(reinterpret_cast<char*>(bytes.span().data()), 5, 'x');
  bytes.save(folder / "x");
  EXPECT_EQ(Bytes::load(folder / "x").text(), "xxxxx");
  Bytes::check_save(folder / "x");
  Bytes::check_save(folder / "y");
  EXPECT_FALSE(std::filesystem::exists(folder / "y"));
  EXPECT_THROW(Bytes::check_save(folder / "none/y"), Error);
  EXPECT_THROW(bytes.save(folder / "none/y"), Error);
  EXPECT_THROW(Bytes::load(folder / "y"), Error);
}

TEST(Files, FormatsByName) {
  const Json i4 = parsed(format_info("I4"));
  EXPECT_EQ(i4.find("format")->as_string(), "i4");
  EXPECT_EQ(i4.find("bits")->as_integer(), 4);
  EXPECT_TRUE(i4.find("scaled")->as_bool());
  EXPECT_TRUE(parsed(format_info("f64")).find("computes_f64")->as_bool());
  expect_error(LOOM_INVALID_ARGUMENT, "i9", [] { format_info("i9"); });
}

TEST(Files, ProgramsHaveHashes) {
  const Model model = Model::load(tiny());
  const std::string once = model.network().program_sha256(R"({"max_rows":4})");
  EXPECT_EQ(once.size(), 64u);
  EXPECT_EQ(model.network().program_sha256(R"({"max_rows":4})"), once);
  EXPECT_NE(model.network().program_sha256(R"({"max_rows":5})"), once);
}

TEST(Evaluators, GiveTheLossOfTheLogits) {
  const Model model = Model::load(tiny());
  const auto vocab =
      static_cast<std::size_t>(parsed(model.info()).find("vocab_size")->as_integer());
  const std::vector<std::int32_t> ids = {3, 1, 4, 1, 5};
  Evaluator evaluator(model, ids, R"({"threads":1,"chunk":2,"last_row":true,"hash":true})");
  std::vector<float> logits(2 * vocab);
  double loss = 0;
  std::size_t at = 0;
  while (const auto rows = static_cast<std::size_t>(evaluator.next(logits)))
    for (std::size_t r = 0; r < rows; ++r, ++at) {
      if (at + 1 == ids.size()) continue;
      double sum = 0;
      for (std::size_t v = 0; v < vocab; ++v) sum += std::exp(double{logits[r * vocab + v]});
      loss += std::log(sum) - double{logits[r * vocab + static_cast<std::size_t>(ids[at + 1])]};
    }
  const Json info = parsed(evaluator.info());
  EXPECT_EQ(at, ids.size());
  EXPECT_EQ(info.find("done")->as_integer(), 5);
  EXPECT_EQ(info.find("tokens")->as_integer(), 4);
  EXPECT_NEAR(info.find("loss")->as_number(), loss / 4, 1e-6);
  EXPECT_EQ(info.find("logits_sha256")->as_string().size(), 64u);
  EXPECT_EQ(info.find("kl"), nullptr);
  // Other chunks, and without the last row: the same loss.
  Evaluator other(model, ids, R"({"threads":1,"chunk":3})");
  while (other.next() > 0) {
  }
  EXPECT_EQ(parsed(other.info()).find("loss")->as_number(), info.find("loss")->as_number());
  expect_error(LOOM_INVALID_ARGUMENT, "logits: expects", [&] {
    Evaluator wrong(model, ids, R"({"threads":1})");
    wrong.next(logits);
  });
}

TEST(Evaluators, CompareModelsAndSeeTheirChanges) {
  const Model model = Model::load(tiny());
  const std::vector<std::int32_t> ids = {3, 1, 4, 1, 5};
  Evaluator same(model, model, ids, R"({"threads":1})");
  while (same.next() > 0) {
  }
  EXPECT_EQ(parsed(same.info()).find("kl")->as_number(), 0);
  EXPECT_EQ(parsed(same.info()).find("same_argmax")->as_number(), 1);
  const Model coarse = Model::load(tiny(), "i4");
  Evaluator away(model, coarse, ids, R"({"threads":1})");
  while (away.next() > 0) {
  }
  EXPECT_GT(parsed(away.info()).find("kl")->as_number(), 0);
  Evaluator later(model, ids, R"({"threads":1})");
  model.network().morph("i8");
  expect_error(LOOM_INVALID_ARGUMENT, "has changed", [&] { later.next(); });
  Evaluator stopped(model, ids, R"({"threads":1})");
  stopped.cancel();
  expect_error(LOOM_CANCELLED, "cancelled", [&] { stopped.next(); });
  EXPECT_EQ(stopped.next(), 4);
  expect_error(LOOM_INVALID_ARGUMENT, "two tokens",
               [&] { const Evaluator one(model, std::vector<std::int32_t>{1}); });
}

// A table that a small network learns: the class is the sign of a sum.
std::string table(const test::TempFolder& folder) {
  const std::string path = folder / "table.csv";
  std::ofstream csv(path);
  csv << "a,b,noise,class\n";
  for (int i = 0; i < 120; ++i) {
    const int a = i * 37 % 101 - 50, b = i * 53 % 97 - 48;
    csv << a << ',' << b << ',' << i * 29 % 83 << ',' << (a + b > 0 ? "up" : "down") << '\n';
  }
  return path;
}

TEST(Trainings, LearnATableJudgeAndReport) {
  const test::TempFolder folder;
  Json options = Json::object();
  options.set("data", table(folder));
  options.set("steps", 60);
  options.set("threads", 1);
  Training training = Training::open(options.dump());
  const Json begin = parsed(training.info());
  EXPECT_FALSE(begin.find("notes")->as_array().empty());
  EXPECT_TRUE(begin.find("table")->as_bool());
  EXPECT_EQ(begin.find("steps")->as_integer(), 60);
  expect_error(LOOM_NOT_FOUND, "training_judge", [&] { training.report("text"); });
  Json report;
  int judged = 0;
  do {
    report = parsed(training.step(1000));
    judged += report.find("validation") != nullptr;
  } while (!report.find("ended")->as_bool());
  EXPECT_GT(judged, 0);
  const Training::Judged figures = training.judge();
  EXPECT_GT(parsed(figures.figures).find("validation")->find("accuracy")->as_number(), 0.7);
  EXPECT_NE(figures.text.find("kept: step"), std::string::npos);
  EXPECT_NE(training.report("text").find("noise"), std::string::npos);
  EXPECT_NE(training.report("svg").find("<svg"), std::string::npos);
  expect_error(LOOM_INVALID_ARGUMENT, "form", [&] { training.report("pdf"); });
  // The file is a network that runs.
  const Network network = Network::load(training.save());
  EXPECT_EQ(parsed(network.info()).find("output")->find("width")->as_integer(), 2);
}

TEST(Trainings, ResumeWithTheSameBits) {
  const test::TempFolder folder;
  Json options = Json::object();
  options.set("data", table(folder));
  options.set("steps", 40);
  options.set("threads", 1);
  options.set("out", folder / "net.entity");
  Training whole = Training::open(options.dump());
  while (!parsed(whole.step(1000)).find("ended")->as_bool()) {
  }
  Training half = Training::open(options.dump());
  for (std::int64_t left = 17; left > 0;) left -= parsed(half.step(left)).find("ran")->as_integer();
  half.cancel();
  expect_error(LOOM_CANCELLED, "cancelled", [&] { half.step(); });
  half.save(folder / "net.entity");
  options.set("resume", true);
  Training rest = Training::open(options.dump());
  EXPECT_EQ(parsed(rest.info()).find("step")->as_integer(), 17);
  while (!parsed(rest.step(1000)).find("ended")->as_bool()) {
  }
  EXPECT_EQ(rest.digest(), whole.digest());
}

TEST(Trainings, RefuseByTheNameOfTheOption) {
  const test::TempFolder folder;
  const std::string csv = table(folder);
  const auto open = [&](const char* key, Json value) {
    Json options = Json::object();
    options.set("data", csv);
    options.set(key, std::move(value));
    Training::open(options.dump());
  };
  expect_error(LOOM_INVALID_ARGUMENT, "out: ", [&] { open("out", csv); });
  expect_error(LOOM_INVALID_ARGUMENT, "horizon: ", [&] { open("horizon", 3); });
  expect_error(LOOM_INVALID_ARGUMENT, "resume: ", [&] { open("resume", true); });
  expect_error(LOOM_INVALID_ARGUMENT, "task", [&] { open("task", "guess"); });
  expect_error(LOOM_INVALID_ARGUMENT, "known are", [&] { open("targets", "a"); });
  expect_error(LOOM_INVALID_ARGUMENT, "give a spec", [] { Training::open("{}"); });
}

TEST(Predictors, AnswerJudgePlanAndSave) {
  const test::TempFolder folder;
  const std::string csv = table(folder), out = folder / "net.entity";
  Json options = Json::object();
  options.set("data", csv);
  options.set("steps", 60);
  options.set("threads", 1);
  Training training = Training::open(options.dump());
  while (!parsed(training.step(1000)).find("ended")->as_bool()) {
  }
  training.save(out);
  Predictor p = Predictor::open(out, R"({"threads":1})");
  EXPECT_EQ(parsed(p.info()).find("labels")->dump(), R"(["down","up"])");
  expect_error(LOOM_INVALID_ARGUMENT, "no data were read", [&] { p.measure(); });
  EXPECT_EQ(parsed(p.read(csv)).find("targets")->as_integer(), 120);
  // By parts of any size: the same answers.
  std::string whole = p.next(1000), parts;
  p.read(csv);
  for (std::string part = p.next(7); part != "[]"; part = p.next(7))
    parts += (parts.empty() ? "" : ",") + part.substr(1, part.size() - 2);
  EXPECT_EQ("[" + parts + "]", whole);
  EXPECT_EQ(p.next(7), "[]");
  const Json before = parsed(p.measure());
  EXPECT_GT(before.find("accuracy")->as_number(), 0.7);
  // A plan meets its limit, and the network has it.
  const double limit = before.find("bytes")->as_number() / 3;
  Json limits = Json::object(), formats = Json::array();
  for (const char* f : {"i8", "i4", "binary"}) formats.push(f);
  limits.set("bytes", limit);
  limits.set("formats", std::move(formats));
  const Json report = parsed(p.plan(limits.dump())), plan = *report.find("plan");
  EXPECT_LE(plan.find("bytes")->as_number(), limit);
  const double loss = plan.find("loss")->as_number();  // summed in another order of the rows
  EXPECT_NEAR(parsed(p.measure()).find("loss")->as_number(), loss, 1e-9);
  p.save(folder / "small.entity");
  Predictor small = Predictor::open(folder / "small.entity");
  small.read(csv);
  EXPECT_NEAR(parsed(small.measure()).find("loss")->as_number(), loss, 1e-9);
  p.morph("f32");
  EXPECT_EQ(parsed(p.measure()).dump(), before.dump());
}

TEST(Predictors, RefuseWhatNetworksDoNotKnow) {
  const test::TempFolder folder;
  expect_error(LOOM_NOT_FOUND, "none.entity", [&] { Predictor::open(folder / "none.entity"); });
  expect_error(LOOM_INVALID_ARGUMENT, "known are",
               [&] { Predictor::open(tiny(), R"({"data":"x"})"); });
  Predictor ids = Predictor::open(tiny(), R"({"threads":1})");
  expect_error(LOOM_UNSUPPORTED, "takes ids", [&] { ids.read(table(folder)); });
  expect_error(LOOM_UNSUPPORTED, "has no section 'inputs'", [&] { ids.measure(); });
  expect_error(LOOM_UNSUPPORTED, "no network of a time series", [&] { ids.forecast("", 3); });
  Predictor series = Predictor::open(test::source_dir() + "/tests/cases/data/series.entity");
  EXPECT_EQ(parsed(series.forecast("", 3)).find("forecasts")->as_array().size(), 3u);
  expect_error(LOOM_OUT_OF_RANGE, "a horizon is", [&] { series.forecast("", 0); });
  series.cancel();
  expect_error(LOOM_CANCELLED, "cancelled", [&] { series.forecast("", 3); });
}

// Images of a format that only the host knows: "SQ" and a grey value.
struct Decoder {
  int measured = 0, decoded = 0, released = 0;
};

TEST(Trainings, DecodeImagesByTheHost) {
  const test::TempFolder folder;
  for (int i = 0; i < 24; ++i) {
    const std::string kind = i % 2 ? "dark" : "light";
    std::filesystem::create_directories(folder / kind);
    std::ofstream((folder / kind) + "/" + std::to_string(i) + ".png")
        << "SQ" << static_cast<char>(i % 2 ? 10 + i : 200 + i);
  }
  Decoder counts;
  loom_image_decoder decoder{};
  decoder.size = sizeof decoder;
  decoder.user = &counts;
  decoder.measure = [](void* user, const void* file, size_t size, std::int64_t* height,
                       std::int64_t* width, loom_error* error) -> std::int32_t {
    ++static_cast<Decoder*>(user)->measured;
    if (size != 3 || std::memcmp(file, "SQ", 2) != 0) {
      std::strcpy(error->message, "is no square");
      return LOOM_CORRUPT;
    }
    *height = *width = 8;
    return LOOM_OK;
  };
  decoder.decode = [](void* user, const void* file, size_t, std::int64_t* height,
                      std::int64_t* width, std::int64_t* channels, loom_bytes* pixels,
                      loom_error* error) -> std::int32_t {
    ++static_cast<Decoder*>(user)->decoded;
    *height = *width = 8;
    *channels = 1;
    void* data = nullptr;
    std::uint64_t count = 0;
    if (const auto code = loom_bytes_create(64, pixels, error); code != LOOM_OK) return code;
    if (const auto code = loom_bytes_data(*pixels, &data, &count, error); code != LOOM_OK)
      return code;
    std::memset(data, static_cast<const unsigned char*>(file)[2], count);
    return LOOM_OK;
  };
  decoder.release = [](void* user) { ++static_cast<Decoder*>(user)->released; };
  Json options = Json::object();
  options.set("data", folder / ".");
  options.set("steps", 30);
  options.set("threads", 1);
  expect_error(LOOM_UNSUPPORTED, "", [&] { Training::open(options.dump()); });
  check(loom_image_decoder_register, static_cast<const loom_image_decoder*>(&decoder));
  {
    Training training = Training::open(options.dump());
    EXPECT_GE(parsed(training.step(2)).find("ran")->as_integer(), 1);
    EXPECT_GE(counts.measured, 24);
    EXPECT_EQ(counts.decoded, 24);
    std::ofstream(folder / "dark/x.png") << "no";
    expect_error(LOOM_CORRUPT, "is no square", [&] { Training::open(options.dump()); });
  }
  check(loom_image_decoder_unregister);
  EXPECT_EQ(counts.released, 1);
  decoder.decode = nullptr;
  expect_error(LOOM_INVALID_ARGUMENT, "decoder", [&] {
    check(loom_image_decoder_register, static_cast<const loom_image_decoder*>(&decoder));
  });
}

}  // namespace
}  // namespace loom
