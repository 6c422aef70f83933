// The C interface as a program in C sees it: results, errors, handles, threads.
#include <gtest/gtest.h>

#include <sys/time.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <loom/loom.h>
#include "base/json/json.h"
#include "support/places.h"

namespace loom {
namespace {

// Takes a bytes object's content and gives the handle back.
std::string take(loom_bytes bytes) {
  void* data = nullptr;
  std::uint64_t size = 0;
  EXPECT_EQ(loom_bytes_data(bytes, &data, &size, nullptr), LOOM_OK);
  std::string out(static_cast<const char*>(data), size);
  EXPECT_EQ(loom_release(bytes, nullptr), LOOM_OK);
  return out;
}

Json take_json(loom_bytes bytes) {
  auto json = Json::parse(take(bytes));
  EXPECT_TRUE(json.ok()) << json.status().to_string();
  return *json;
}

#define TEXT(s) (s), std::strlen(s)
#define OK(call) ASSERT_EQ((call), LOOM_OK) << error.message
#define FAILS(call, wanted, part)                                                         \
  do {                                                                                    \
    EXPECT_EQ((call), (wanted)) << error.message;                                         \
    EXPECT_EQ(error.code, (wanted));                                                      \
    EXPECT_NE(std::string(error.message).find(part), std::string::npos) << error.message; \
  } while (0)

constexpr const char* kNetwork =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":8,"activation":"tanh"},{"at":[0,0,0,1],"type":"dense","out":2}]})";

class CApi : public ::testing::Test {
 protected:
  void SetUp() override { before_ = live(); }
  void TearDown() override {
    for (auto it = made_.rbegin(); it != made_.rend(); ++it)
      EXPECT_EQ(loom_release(*it, nullptr), LOOM_OK);
    EXPECT_EQ(live(), before_) << "handles were lost";
  }
  static std::int64_t live() {
    std::int64_t n = -1;
    EXPECT_EQ(loom_live_handles(&n, nullptr), LOOM_OK);
    return n;
  }
  loom_handle keep(loom_handle h) {
    made_.push_back(h);
    return h;
  }
  loom_network network() {
    loom_network n = 0;
    EXPECT_EQ(loom_network_create(TEXT(kNetwork), &n, &error), LOOM_OK) << error.message;
    EXPECT_EQ(loom_network_initialize(keep(n), 7, &error), LOOM_OK);
    return n;
  }
  // Whether a session can run on a device; `error` says why not.
  bool has_device() {
    loom_session gpu = 0;
    if (loom_session_create(network(), TEXT(R"({"device":"gpu"})"), &gpu, &error) != LOOM_OK)
      return false;
    keep(gpu);
    return true;
  }
  std::string digest(loom_network n) {
    loom_bytes sha = 0;
    EXPECT_EQ(loom_network_digest(n, &sha, &error), LOOM_OK) << error.message;
    return take(sha);
  }

  loom_error error{};
  std::int64_t before_ = 0;
  std::vector<loom_handle> made_;
};

TEST_F(CApi, SaysWhatItIs) {
  EXPECT_EQ(loom_abi_version(), LOOM_ABI_VERSION);
  EXPECT_STREQ(loom_code_name(LOOM_TRUNCATED), "truncated");
  EXPECT_STREQ(loom_code_name(99), "unknown");
  loom_bytes info = 0;
  OK(loom_info(&info, &error));
  const Json json = take_json(info);
  EXPECT_EQ(json.find("version")->as_string(), loom_version());
  EXPECT_EQ(json.find("dtypes")->as_array().size(), 21u);
}

TEST_F(CApi, TellsTheSameStoryPieceByPiece) {
  loom_model model = 0;
  const std::int32_t loaded = loom_model_load(TEXT("embedded"), "", 0, &model, &error);
  if (loaded == LOOM_NOT_FOUND) GTEST_SKIP() << error.message;
  OK(loaded);
  keep(model);
  std::string stories[2], prints[2];
  for (int i = 0; i < 2; ++i) {
    loom_generator g = 0;
    OK(loom_generator_create(
        model, TEXT(i == 0 ? R"({"threads":1})" : R"({"threads":2,"chunk":3})"), &g, &error));
    keep(g);
    OK(loom_generator_feed_text(g, 0, TEXT("Once upon a time"), &error));
    OK(loom_generator_start(g, 0, TEXT(R"({"temperature":0.7,"seed":3,"max_tokens":40})"), &error));
    std::int32_t finish = LOOM_FINISH_MORE, id = 0, tokens = 0;
    while (finish == LOOM_FINISH_MORE) {
      loom_bytes text = 0;
      OK(loom_generator_next(g, &finish, &id, &text, &error));
      stories[i] += take(text);
      ++tokens;
    }
    EXPECT_EQ(tokens, 40);
    EXPECT_EQ(finish, LOOM_FINISH_LENGTH);
    loom_bytes none = 0;
    FAILS(loom_generator_next(g, &finish, &id, &none, &error), LOOM_INVALID_ARGUMENT,
          "no text was started");
    loom_bytes print = 0;
    OK(loom_generator_fingerprint(g, 0, &print, &error));
    prints[i] = take(print);
  }
  EXPECT_EQ(stories[0], stories[1]);
  EXPECT_EQ(prints[0], prints[1]);
  EXPECT_GT(stories[0].size(), 60u);

  // The same model from memory.
  loom_bytes file = 0;
  OK(loom_model_save_bytes(model, &file, &error));
  loom_model again = 0;
  OK(loom_model_load_bytes(keep(file), "", 0, &again, &error));
  loom_network a = 0, b = 0;
  OK(loom_model_network(model, &a, &error));
  OK(loom_model_network(keep(again), &b, &error));
  EXPECT_EQ(digest(keep(a)), digest(keep(b)));
}

TEST_F(CApi, RunsAndTrains) {
  const loom_network n = network();
  const std::vector<float> x = {0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0}, y = {0, 1, 1, 0, 1, 0, 0, 1};
  loom_data data = 0;
  OK(loom_data_values(x.data(), x.size(), 3, y.data(), y.size(), 2, &data, &error));
  keep(data);
  constexpr const char* kSpec =
      R"({"loss":"mse","steps":200,"batch":4,"optimizer":{"type":"adamw"},"schedule":{"type":"constant","lr":0.02}})";
  loom_trainer trainer = 0;
  OK(loom_trainer_create(n, data, TEXT(kSpec), TEXT(R"({"threads":1})"), &trainer, &error));
  keep(trainer);
  loom_session session = 0;
  OK(loom_session_create(n, "", 0, &session, &error));
  keep(session);
  std::vector<float> first(8), last(8);
  OK(loom_session_run(session, 4, x.data(), x.size(), first.data(), first.size(), &error));

  std::int64_t step = 0, rows = 0;
  double loss = 0, start = 0, lr = 0;
  OK(loom_trainer_step(trainer, 1, &step, &start, &lr, &rows, &error));
  loom_bytes checkpoint = 0;
  OK(loom_trainer_save_bytes(trainer, &checkpoint, &error));
  keep(checkpoint);
  OK(loom_trainer_step(trainer, 1000, &step, &loss, &lr, &rows, &error));
  EXPECT_EQ(step, 200);
  EXPECT_EQ(rows, 199 * 4);
  EXPECT_LT(loss, start / 10);
  // The session sees what was learned.
  OK(loom_session_run(session, 4, x.data(), x.size(), last.data(), last.size(), &error));
  EXPECT_NE(first, last);
  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(last[static_cast<std::size_t>(i)], y[static_cast<std::size_t>(i)], 0.3);

  // From the checkpoint on, the same bits.
  loom_bytes sha = 0;
  OK(loom_trainer_digest(trainer, &sha, &error));
  const std::string expected = take(sha);
  const loom_network m = network();
  loom_trainer second = 0;
  OK(loom_trainer_create(m, data, TEXT(kSpec), TEXT(R"({"threads":2})"), &second, &error));
  keep(second);
  OK(loom_trainer_resume_bytes(second, checkpoint, &error));
  OK(loom_trainer_step(second, 1000, &step, &loss, &lr, &rows, &error));
  OK(loom_trainer_digest(second, &sha, &error));
  EXPECT_EQ(take(sha), expected);
  EXPECT_EQ(digest(m), digest(n));

  // A change of the network's form ends the training, not the session.
  OK(loom_network_morph(n, TEXT("bf16"), "", 0, &error));
  FAILS(loom_trainer_step(trainer, 1, &step, &loss, &lr, &rows, &error), LOOM_INVALID_ARGUMENT,
        "make a new one");
  OK(loom_session_run(session, 4, x.data(), x.size(), first.data(), first.size(), &error));
  EXPECT_NE(first, last);
  OK(loom_network_morph(n, TEXT("f32"), "", 0, &error));
  OK(loom_session_run(session, 4, x.data(), x.size(), first.data(), first.size(), &error));
  EXPECT_EQ(first, last);
}

TEST_F(CApi, EditsANetworkOrLeavesItAsItWas) {
  const loom_network n = network();
  loom_network copy = 0;
  OK(loom_network_copy(n, &copy, &error));
  keep(copy);
  const std::string before = digest(n);
  EXPECT_EQ(digest(copy), before);
  FAILS(loom_network_set_cell(n, TEXT("0.0.0.0"), TEXT(R"({"type":"dance"})"), &error),
        LOOM_INVALID_ARGUMENT, "dance");
  FAILS(loom_network_set_cell(n, TEXT("0.0.0.7"), TEXT(R"({"type":"dense","out":8})"), &error),
        LOOM_OUT_OF_RANGE, "the grid has");
  FAILS(loom_network_morph(n, TEXT("i8"), TEXT("0.0"), &error), LOOM_INVALID_ARGUMENT, "z.y.x.l");
  FAILS(loom_network_morph(n, TEXT("i3"), "", 0, &error), LOOM_INVALID_ARGUMENT, "i3");
  EXPECT_EQ(digest(n), before);
  loom_bytes cell = 0;
  OK(loom_network_cell(n, TEXT("0.0.0.1"), &cell, &error));
  const std::string json = take(cell);
  OK(loom_network_set_cell(n, TEXT("0.0.0.0"), TEXT(R"({"type":"dense","out":5})"), &error));
  OK(loom_network_set_cell(n, TEXT("0.0.0.1"), json.data(), json.size(), &error));
  EXPECT_NE(digest(n), before);

  std::vector<float> values(24);
  OK(loom_network_get_f32(copy, TEXT("0.0.0.0"), TEXT("weight"), values.data(), 24, &error));
  for (float& v : values) v *= 2;
  OK(loom_network_set_f32(copy, TEXT("0.0.0.0"), TEXT("weight"), values.data(), 24, &error));
  std::vector<double> doubles(24);
  OK(loom_network_get_f64(copy, TEXT("0.0.0.0"), TEXT("weight"), doubles.data(), 24, &error));
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(doubles[i], static_cast<double>(values[i]));
  FAILS(loom_network_get_f32(copy, TEXT("0.0.0.0"), TEXT("weight"), values.data(), 23, &error),
        LOOM_INVALID_ARGUMENT, "expects 24 values, got 23");
  FAILS(loom_network_get_f32(copy, TEXT("0.0.0.0"), TEXT("wait"), values.data(), 24, &error),
        LOOM_NOT_FOUND, "0.0.0.0:wait");
}

// src/gpu/device_test.cpp computes through one.
TEST_F(CApi, RefusesAWebGpuThatLacksFunctions) {
  struct Name {
    const char* data;
    std::size_t size;
  };
  const auto knows_nothing = +[](Name) -> loom_function { return nullptr; };
  loom_error error{};
  FAILS(loom_use_webgpu(reinterpret_cast<loom_function>(knows_nothing), &error), LOOM_UNSUPPORTED,
        "has no function wgpuCreateInstance");
  OK(loom_use_webgpu(nullptr, &error));
}

TEST_F(CApi, WrongHandlesAreErrors) {
  const loom_network n = network();
  loom_bytes out = 0;
  FAILS(loom_network_digest(0, &out, &error), LOOM_INVALID_HANDLE, "expects a network, got 0");
  FAILS(loom_network_digest(n + 1000, &out, &error), LOOM_INVALID_HANDLE, "released or never made");
  FAILS(loom_model_info(n, &out, &error), LOOM_INVALID_HANDLE, "expects a model, got a network");
  FAILS(loom_network_digest(n, nullptr, &error), LOOM_INVALID_ARGUMENT, "NULL");
  loom_network gone = 0;
  OK(loom_network_copy(n, &gone, &error));
  OK(loom_release(gone, &error));
  FAILS(loom_network_digest(gone, &out, &error), LOOM_INVALID_HANDLE, "released");
  FAILS(loom_release(gone, &error), LOOM_INVALID_HANDLE, "released");
  OK(loom_release(0, &error));
  EXPECT_EQ(loom_network_digest(gone, &out, nullptr), LOOM_INVALID_HANDLE);
  FAILS(loom_network_create(nullptr, 5, &gone, &error), LOOM_INVALID_ARGUMENT,
        "NULL with a count of 5");
  FAILS(loom_network_create(TEXT("{"), &gone, &error), LOOM_INVALID_ARGUMENT, "line 1");
  FAILS(loom_session_create(n, TEXT(R"({"treads":2})"), &gone, &error), LOOM_INVALID_ARGUMENT,
        "unknown key \"treads\": known are max_rows");
}

TEST_F(CApi, LongMessagesEndBetweenCharacters) {
  std::string key;
  for (int i = 0; i < 700; ++i) key += "\u00e9";
  const std::string options = "{\"" + key + "\":1}";
  loom_session session = 0;
  EXPECT_EQ(loom_session_create(network(), options.data(), options.size(), &session, &error),
            LOOM_INVALID_ARGUMENT);
  const std::string message = error.message;
  EXPECT_GT(message.size(), 1000u);
  // A cut character would not be JSON.
  EXPECT_TRUE(Json::parse(Json(message).dump()).ok());
}

// Device and threads in one word.
TEST_F(CApi, RunsAndLearnsInAnyMode) {
  const loom_network n = network();
  const std::vector<float> x = {0.5f, -1, 2};
  std::vector<float> expected(2), y(2);
  for (const char* mode : {"cpu-normal", "cpu-sc", "cpu-mc", "auto"}) {
    const std::string options = std::string(R"({"mode":")") + mode + "\"}";
    loom_session s = 0;
    OK(loom_session_create(n, options.data(), options.size(), &s, &error));
    OK(loom_session_run(keep(s), 1, x.data(), 3, y.data(), 2, &error));
    if (std::string(mode) == "cpu-normal") expected = y;
    EXPECT_EQ(y, expected) << mode;
  }
  loom_session s = 0;
  FAILS(loom_session_create(n, TEXT(R"({"mode":"turbo"})"), &s, &error), LOOM_INVALID_ARGUMENT,
        "there is no 'turbo', known are cpu-normal");
  FAILS(loom_session_create(n, TEXT(R"({"mode":"cpu-mc","device":"gpu"})"), &s, &error),
        LOOM_INVALID_ARGUMENT, "says the device");
  FAILS(loom_session_create(n, TEXT(R"({"mode":"cpu-sc","threads":2})"), &s, &error),
        LOOM_INVALID_ARGUMENT, "is one thread, not 2");
}

// With a device (./dev gpu) the same bits come from it; without one the error names what is
// missing, and "auto" takes the CPU.
TEST_F(CApi, RunsOnADeviceOrSaysWhyNot) {
  const loom_network n = network();
  const std::vector<float> x = {0.5f, -1, 2};
  std::vector<float> expected(2), y(2);
  loom_session cpu = 0, either = 0, gpu = 0;
  OK(loom_session_create(n, TEXT(R"({"threads":1})"), &cpu, &error));
  OK(loom_session_run(keep(cpu), 1, x.data(), 3, expected.data(), 2, &error));
  OK(loom_session_create(n, TEXT(R"({"threads":1,"device":"auto"})"), &either, &error));
  OK(loom_session_run(keep(either), 1, x.data(), 3, y.data(), 2, &error));
  EXPECT_EQ(y, expected);
  FAILS(loom_session_create(n, TEXT(R"({"device":"abacus"})"), &gpu, &error), LOOM_INVALID_ARGUMENT,
        "abacus");
  const std::int32_t code = loom_session_create(n, TEXT(R"({"device":"gpu"})"), &gpu, &error);
  if (code != LOOM_OK) {
    EXPECT_EQ(code, LOOM_UNSUPPORTED) << error.message;
    GTEST_SKIP() << error.message;
  }
  keep(gpu);
  y.assign(2, 0);
  OK(loom_session_run(gpu, 1, x.data(), 3, y.data(), 2, &error));
  EXPECT_EQ(y, expected);
}

// Learning on it leaves the network with the bits of the CPU.
TEST_F(CApi, LearnsTheSameOnADevice) {
  if (!has_device()) GTEST_SKIP() << error.message;
  const std::vector<float> x = {0.5f, -1, 2};
  std::string digests[2];
  for (const char* device : {"cpu", "gpu"}) {
    const loom_network m = network();
    const std::vector<float> target = {1, 0};
    loom_data data = 0;
    OK(loom_data_values(x.data(), 3, 3, target.data(), 2, 2, &data, &error));
    loom_trainer trainer = 0;
    const std::string options = std::string(R"({"threads":1,"device":")") + device + "\"}";
    OK(loom_trainer_create(m, keep(data), TEXT(R"({"loss":"mse","steps":5,"batch":1})"),
                           options.data(), options.size(), &trainer, &error));
    std::int64_t step = 0, rows = 0;
    double loss = 0, lr = 0;
    OK(loom_trainer_step(keep(trainer), 5, &step, &loss, &lr, &rows, &error));
    digests[device[0] == 'g'] = digest(m);
  }
  EXPECT_EQ(digests[0], digests[1]);
}

// Weights stay on the device between calls. A read brings them, as do another trainer and the
// release of the trainer.
TEST_F(CApi, BringsWhatADeviceLearnedWhereItIsRead) {
  if (!has_device()) GTEST_SKIP() << error.message;
  const std::vector<float> x = {0.5f, -1, 2}, target = {1, 0};
  std::string digests[2];
  for (const std::string device : {"cpu", "gpu"}) {
    std::string& all = digests[device == "gpu"];
    const loom_network m = network();
    loom_data data = 0;
    OK(loom_data_values(x.data(), 3, 3, target.data(), 2, 2, &data, &error));
    keep(data);
    const auto make = [&](const std::string& where, loom_trainer& t) {
      const std::string options = R"({"threads":1,"device":")" + where + "\"}";
      OK(loom_trainer_create(m, data, TEXT(R"({"loss":"mse","steps":9,"batch":1})"), options.data(),
                             options.size(), &t, &error));
    };
    const auto step = [&](loom_trainer t) {
      std::int64_t at = 0, rows = 0;
      double loss = 0, lr = 0;
      OK(loom_trainer_step(t, 1, &at, &loss, &lr, &rows, &error));
      all += std::to_string(loss) + " ";
    };
    loom_trainer first = 0, second = 0;
    make(device, first);
    make("cpu", second);
    step(first);
    step(first);
    all += digest(m) + " ";
    step(first);
    step(second);  // of what the first has learned
    step(first);   // and the other way
    OK(loom_release(first, &error));
    all += digest(m);
    OK(loom_release(second, &error));
  }
  EXPECT_EQ(digests[0], digests[1]);
}

// Greedy text: the device picks ids ahead, and what is asked between them or after them is as on
// the CPU.
TEST_F(CApi, TellsTheSameOnADevice) {
  if (!has_device()) GTEST_SKIP() << error.message;
  loom_model model = 0;
  if (loom_model_load(TEXT("embedded"), "", 0, &model, &error) == LOOM_NOT_FOUND)
    GTEST_SKIP() << error.message;
  keep(model);
  std::string heard[2];
  for (const char* device : {"cpu", "gpu"}) {
    std::string& all = heard[device[0] == 'g'];
    const std::string options =
        std::string(R"({"threads":1,"context":64,"device":")") + device + "\"}";
    loom_generator g = 0;
    OK(loom_generator_create(model, options.data(), options.size(), &g, &error));
    keep(g);
    OK(loom_generator_feed_text(g, 0, TEXT("Once upon a time"), &error));
    for (int text = 0; text < 2; ++text) {  // the second goes on from the first, which ends between
                                            // two of the device's turns
      OK(loom_generator_start(g, 0, TEXT(R"({"max_tokens":11})"), &error));
      std::int32_t finish = LOOM_FINISH_MORE, id = 0;
      for (int i = 0; finish == LOOM_FINISH_MORE; ++i) {
        loom_bytes piece = 0, print = 0;
        OK(loom_generator_next(g, &finish, &id, &piece, &error));
        all += take(piece);
        if (i % 4 != 2) continue;
        OK(loom_generator_fingerprint(g, 0, &print, &error));
        all += take(print);
      }
    }
  }
  EXPECT_EQ(heard[0], heard[1]);
}

TEST_F(CApi, OneNetworkServesManyThreads) {
  const loom_network n = network();
  const std::vector<float> x = {0.5f, -1, 2};
  std::vector<float> expected(2);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  {
    loom_session s = 0;
    OK(loom_session_create(n, TEXT(R"({"threads":1})"), &s, &error));
    OK(loom_session_run(keep(s), 1, x.data(), 3, expected.data(), 2, &error));
  }
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      loom_session s = 0;
      if (loom_session_create(n, TEXT(R"({"threads":1})"), &s, nullptr) != LOOM_OK) ++wrong;
      for (int i = 0; i < 200; ++i) {
        std::vector<float> y(2);
        if (loom_session_run(s, 1, x.data(), 3, y.data(), 2, nullptr) != LOOM_OK || y != expected)
          ++wrong;
      }
      if (loom_release(s, nullptr) != LOOM_OK) ++wrong;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Trains the network, changes its forms and reads it, ten times.
static std::int32_t change(loom_network n, loom_error& error) {
  const std::vector<float> xs = {0, 0, 0, 1, 0, 1}, ys = {0, 1, 1, 0};
  loom_data data = 0;
  loom_trainer trainer = 0;
  std::int32_t code = loom_data_values(xs.data(), 6, 3, ys.data(), 4, 2, &data, &error);
  const auto then = [&](auto call) { code = code == LOOM_OK ? call() : code; };
  for (int round = 0; round < 10; ++round) {
    std::int64_t step = 0, rows = 0;
    double loss = 0, lr = 0;
    std::vector<float> weight(24);
    loom_bytes text = 0;
    then([&] {
      return loom_trainer_create(n, data, TEXT(R"({"loss":"mse","steps":5,"batch":2})"),
                                 TEXT(R"({"threads":1})"), &trainer, &error);
    });
    for (int i = 0; i < 5; ++i)
      then([&] { return loom_trainer_step(trainer, 1, &step, &loss, &lr, &rows, &error); });
    then([&] { return loom_release(trainer, &error); });
    for (const char* format : {"i8", "f32"})
      then([&] { return loom_network_morph(n, TEXT(format), "", 0, &error); });
    then([&] {
      return loom_network_get_f32(n, TEXT("0.0.0.0"), TEXT("weight"), weight.data(), 24, &error);
    });
    then([&] {
      return loom_network_set_f32(n, TEXT("0.0.0.0"), TEXT("weight"), weight.data(), 24, &error);
    });
    then([&] { return loom_network_info(n, &text, &error); });
    then([&] { return loom_release(text, &error); });
  }
  then([&] { return loom_release(data, &error); });
  return code;
}

// Eight threads run it while a ninth trains it, changes its forms and reads it: nobody waits for
// ever, and no run sees half of a change.
TEST_F(CApi, ANetworkChangesWhileThreadsRunIt) {
  const loom_network n = network();
  const std::vector<float> x = {0.5f, -1, 2};
  std::atomic<int> wrong{0}, ready{0};
  std::atomic<bool> done{false};
  std::vector<std::vector<float>> last(8);
  std::vector<std::thread> threads;
  for (std::vector<float>& mine : last) {
    threads.emplace_back([&] {
      loom_session s = 0;
      if (loom_session_create(n, TEXT(R"({"threads":1})"), &s, nullptr) != LOOM_OK) ++wrong;
      ++ready;
      for (bool final = false; !final;) {
        final = done;  // a run after the last change
        mine.assign(2, NAN);
        if (loom_session_run(s, 1, x.data(), 3, mine.data(), 2, nullptr) != LOOM_OK ||
            !std::isfinite(mine[0] + mine[1]))
          ++wrong;
      }
      if (loom_release(s, nullptr) != LOOM_OK) ++wrong;
    });
  }
  while (ready < 8) std::this_thread::yield();
  EXPECT_EQ(change(n, error), LOOM_OK) << error.message;
  done = true;
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  std::vector<float> expected(2);
  loom_session s = 0;
  OK(loom_session_create(n, TEXT(R"({"threads":1})"), &s, &error));
  OK(loom_session_run(keep(s), 1, x.data(), 3, expected.data(), 2, &error));
  for (const std::vector<float>& mine : last) EXPECT_EQ(mine, expected);
}

TEST_F(CApi, OneModelTellsManyThreadsTheSame) {
  loom_model model = 0;
  const std::string tiny = loom::test::source_dir() + "/tests/cases/data/tiny.entity";
  OK(loom_model_load(tiny.data(), tiny.size(), "", 0, &model, &error));
  keep(model);
  std::vector<std::string> stories(8);
  std::vector<std::thread> threads;
  for (std::string& story : stories) {
    threads.emplace_back([&] {
      loom_generator g = 0;
      std::int32_t finish = LOOM_FINISH_MORE, id = 0;
      if (loom_generator_create(model, TEXT(R"({"threads":1})"), &g, nullptr) != LOOM_OK ||
          loom_generator_feed_text(g, 0, TEXT("Once"), nullptr) != LOOM_OK ||
          loom_generator_start(
              g, 0, TEXT(R"({"temperature":0.9,"seed":3,"max_tokens":20,"ignore_eos":true})"),
              nullptr) != LOOM_OK)
        return;
      while (finish == LOOM_FINISH_MORE) {
        loom_bytes text = 0;
        if (loom_generator_next(g, &finish, &id, &text, nullptr) != LOOM_OK) return;
        story += take(text);
      }
      (void)loom_release(g, nullptr);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(stories[0].empty());
  for (const std::string& story : stories) EXPECT_EQ(story, stories[0]);
}

// In the thread that holds the registry's lock when the signal comes, too.
TEST_F(CApi, CancelsFromASignalHandler) {
  static loom_handle session = 0;
  static volatile std::sig_atomic_t asked = 0;
  loom_error error{};
  const loom_network n = network();
  OK(loom_session_create(n, TEXT(R"({"threads":1})"), &session, &error));
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { asked = asked + (loom_cancel(session, nullptr) == LOOM_OK); };
  ASSERT_EQ(sigaction(SIGPROF, &action, &before), 0);
  itimerval often{{0, 50}, {0, 50}};
  ASSERT_EQ(setitimer(ITIMER_PROF, &often, nullptr), 0);
  for (int i = 0; i < 300000 || asked < 20; ++i) {
    loom_handle bytes = 0;
    OK(loom_bytes_create(1, &bytes, &error));
    OK(loom_release(bytes, &error));
  }
  often = {};
  setitimer(ITIMER_PROF, &often, nullptr);
  sigaction(SIGPROF, &before, nullptr);
  float x[3] = {1, 2, 3}, y[2];
  EXPECT_EQ(loom_session_run(session, 1, x, 3, y, 2, &error), LOOM_CANCELLED);
  OK(loom_session_run(session, 1, x, 3, y, 2, &error));
  OK(loom_release(session, &error));
  EXPECT_EQ(loom_cancel(session, &error), LOOM_INVALID_HANDLE);  // its place is free again
  loom_handle other = 0;
  OK(loom_session_create(n, TEXT(R"({"threads":1})"), &other, &error));
  EXPECT_EQ(loom_cancel(session, &error), LOOM_INVALID_HANDLE);
  OK(loom_session_run(other, 1, x, 3, y, 2, &error));
  FAILS(loom_cancel(n, &error), LOOM_INVALID_HANDLE, "expects what runs a network");
  OK(loom_release(other, &error));
}

}  // namespace
}  // namespace loom
