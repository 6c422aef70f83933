// Networks that run by ticks, through the C interface: values, misuse, networks that change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <loom/loom.hpp>
#include "base/json/json.h"

namespace {

// The classes of loom.hpp: the module's own have the same names, one namespace further out.
namespace hpp = loom::api;

// y(t + 1) = 0.5 x(t + 1) - y(t) of two cells: a ring, as the seeds draw one.
constexpr const char* kRing = R"({"format":"loom-topology","version":3,"depth":2,"step_mesh":true,
    "input":{"width":1},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":1,"bias":false,"keep_previous":true,
   "links":[{"read":[1,0,0,0]}]},
  {"at":[1,0,0,0],"type":"dense","out":1,"bias":false}]})";

hpp::Network ring() {
  auto n = hpp::Network::create(kRing);
  const float first[2] = {0.5f, -1}, second[1] = {1};
  n.set("0.0.0.0", "weight", std::span<const float>(first));
  n.set("1.0.0.0", "weight", std::span<const float>(second));
  return n;
}

std::string line(int cells, const std::string& input, const std::string& cell) {
  std::string list;
  for (int i = 0; i < cells; ++i)
    list += std::string(i ? "," : "") + R"({"at":[)" + std::to_string(i) + ",0,0,0]," + cell + "}";
  return R"({"format":"loom-topology","version":3,"depth":)" + std::to_string(cells) +
         R"(,"step_mesh":true,"input":)" + input + R"(,"cells":[)" + list + "]}";
}

template <class F>
void refused(std::int32_t code, const std::string& part, F call) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << part;
  } catch (const hpp::Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

std::int64_t tick(const hpp::StepMesh& mesh) {
  const auto json = loom::Json::parse(mesh.info());
  return json->find("tick")->as_integer();
}

TEST(StepMeshApi, RunsARing) {
  const auto n = ring();
  hpp::StepMesh mesh(n, {.streams = 2});
  std::vector<float> x(2 * 9), y(2 * 9);
  x[0] = 2, x[9] = 4;  // an impulse for each stream
  mesh.run(9, x, y);
  const float wave[4] = {0, 1, 0, -1};
  for (std::size_t t = 0; t < 9; ++t) {
    EXPECT_EQ(y[t], wave[t % 4]) << t;
    EXPECT_EQ(y[9 + t], 2 * wave[t % 4]) << t;
  }
  double value = 0;
  mesh.value("0.0.0.0", 1, {&value, 1});
  EXPECT_EQ(value, 2);
  EXPECT_EQ(tick(mesh), 9);
  const hpp::Bytes snapshot = mesh.snapshot();
  const std::vector<float> held(2, 1);
  std::vector<float> on(2 * 5), again(2 * 5), last(2);
  mesh.run(5, held, on);
  mesh.restore(snapshot);
  EXPECT_EQ(tick(mesh), 9);
  mesh.run(5, held, again);
  EXPECT_EQ(again, on);
  mesh.restore(snapshot);
  mesh.run(5, held, last);
  EXPECT_EQ(last, (std::vector<float>{on[4], on[9]}));
  mesh.reset();
  EXPECT_EQ(tick(mesh), 0);
  mesh.run(9, x, {});
  EXPECT_EQ(mesh.snapshot().text(), snapshot.text());
  const auto tensor = mesh.run({x, {2, 9, 1}});
  EXPECT_EQ(tensor.shape(), (hpp::Shape{2, 9, 1}));
  refused(LOOM_INVALID_ARGUMENT, "takes [2, ticks, 1]", [&] { mesh.run({x, {9, 2, 1}}); });
}

TEST(StepMeshApi, TakesDoublesAndIds) {
  auto wide =
      hpp::Network::create(line(2, R"({"width":2})", R"("type":"dense","out":2,"dtype":"f64")"));
  wide.initialize(3);
  hpp::StepMesh mesh(wide);
  const std::vector<double> x{0.1, 0.2};
  std::vector<double> y(2 * 2);
  mesh.run(2, x, y);
  std::vector<double> value(2);
  mesh.value("1.0.0.0", 0, value);
  EXPECT_TRUE(std::equal(value.begin(), value.end(), y.begin() + 2));
  EXPECT_NE(static_cast<double>(static_cast<float>(y[2])), y[2]);  // not rounded
  EXPECT_NE(mesh.info().find(R"("input_dtype":"f64")"), std::string::npos);

  auto reads = hpp::Network::create(R"({"format":"loom-topology","version":3,"depth":2,
      "step_mesh":true,"input":{"ids":5},"cells":[{"at":[0,0,0,0],"type":"embedding","out":2},
      {"at":[1,0,0,0],"type":"dense","out":3}]})");
  reads.initialize(3);
  hpp::StepMesh ids(reads, {.streams = 2});
  const std::vector<std::int32_t> words{1, 4, 0, 2, 3, 3}, beyond{1, 4, 5, 2, 3, 3}, below{-1, 2};
  std::vector<float> z(2 * 3 * 3);
  ids.run_ids(3, words, z);
  EXPECT_EQ(ids.run_ids({words, {2, 3}}).shape(), (hpp::Shape{2, 3, 3}));
  EXPECT_NE(ids.info().find(R"("input_dtype":"ids")"), std::string::npos);
  const std::int64_t before = tick(ids);
  refused(LOOM_OUT_OF_RANGE, "ids", [&] { ids.run_ids(1, below, {}); });
  const std::vector<std::int32_t> wrong{5, 0};
  refused(LOOM_OUT_OF_RANGE, "ids", [&] { ids.run_ids(1, wrong, {}); });
  EXPECT_EQ(tick(ids), before);
  refused(LOOM_INVALID_ARGUMENT, "not values",
          [&] { ids.run(1, std::vector<float>{1, 2}, std::span<float>()); });
  refused(LOOM_INVALID_ARGUMENT, "not ids",
          [&] { mesh.run_ids(1, below.empty() ? below : words, {}); });
}

// Weights that change are seen at the next run, and the values stay; so they do where the format
// changes. Another type of values begins anew.
TEST(StepMeshApi, FollowsItsNetwork) {
  auto n = ring();
  hpp::StepMesh mesh(n);
  const std::vector<float> x{2, 0, 0, 0, 0};
  std::vector<float> y(5);
  mesh.run(5, x, y);  // 0 1 0 -1 0; the first cell has 1
  const float twice[1] = {2};
  n.set("1.0.0.0", "weight", std::span<const float>(twice));
  std::vector<float> one(1);
  mesh.run(1, std::vector<float>{0}, one);
  EXPECT_EQ(one[0], 2);
  EXPECT_EQ(tick(mesh), 6);
  n.morph("i8");
  mesh.run(2, std::vector<float>{0}, one);
  EXPECT_EQ(tick(mesh), 8);
  EXPECT_NEAR(one[0], -4, 0.1);
  n.morph("f64");
  mesh.run(1, std::vector<float>{2}, one);
  EXPECT_EQ(tick(mesh), 1);
  n.morph("f32");
  mesh.run(1, std::vector<float>{2}, one);
  EXPECT_EQ(tick(mesh), 1);
  // A network that no mesh runs: an error, until it can be run again.
  n.set_cell("1.0.0.0", R"({"type":"gru","hidden":1,"stateful":true})");
  refused(LOOM_UNSUPPORTED, "looks at other rows",
          [&] { mesh.run(1, std::vector<float>{2}, one); });
  refused(LOOM_UNSUPPORTED, "looks at other rows", [&] { (void)mesh.info(); });
  n.set_cell("1.0.0.0", R"({"type":"dense","out":1,"bias":false})");
  mesh.run(1, std::vector<float>{2}, one);
  EXPECT_EQ(tick(mesh), 2);  // with the values from before
}

TEST(StepMeshApi, RefusesWhatDoesNotFit) {
  const auto n = ring();
  refused(LOOM_INVALID_ARGUMENT, "streams", [&] { hpp::StepMesh(n, {.streams = 0}); });
  refused(LOOM_INVALID_ARGUMENT, "streams", [&] { hpp::StepMesh(n, {.streams = (1 << 20) + 1}); });
  refused(LOOM_INVALID_ARGUMENT, "stream", [&] { hpp::StepMesh(n, R"({"stream":2})"); });
  refused(LOOM_UNSUPPORTED, "name the device", [&] { hpp::StepMesh(n, {.mode = "auto"}); });
  hpp::StepMesh mesh(n, R"({"streams":2,"threads":1})");
  std::vector<float> x(6), y(6);
  const auto run = [&](std::int64_t ticks, std::size_t xs, std::size_t ys) {
    return [&mesh, &x, &y, ticks, xs, ys] {
      mesh.run(ticks, std::span<const float>(x).first(xs), std::span<float>(y).first(ys));
    };
  };
  refused(LOOM_INVALID_ARGUMENT, "ticks must be at least 1, got 0", run(0, 2, 2));
  refused(LOOM_INVALID_ARGUMENT, "ticks must be at least 1, got -3", run(-3, 2, 2));
  refused(LOOM_INVALID_ARGUMENT, "too many", run(INT64_MAX, 2, 2));
  refused(LOOM_INVALID_ARGUMENT, "x: expects 2 streams x 3 ticks x 1 values, 6", run(3, 5, 6));
  refused(LOOM_INVALID_ARGUMENT, "y: expects room for 2 streams x 3 ticks x 1 values, 6",
          run(3, 6, 5));
  refused(LOOM_INVALID_ARGUMENT, "x: expects", run(3, 0, 6));
  refused(LOOM_INVALID_ARGUMENT, "x: the network takes f32",
          [&] { mesh.run(1, std::vector<double>{1, 2}, std::span<double>()); });
  double value[2] = {};
  refused(LOOM_INVALID_ARGUMENT, "cell: expects", [&] { mesh.value("0", 0, {value, 1}); });
  refused(LOOM_OUT_OF_RANGE, "the grid has", [&] { mesh.value("2.0.0.0", 0, {value, 1}); });
  refused(LOOM_OUT_OF_RANGE, "2 streams", [&] { mesh.value("0.0.0.0", 2, {value, 1}); });
  refused(LOOM_OUT_OF_RANGE, "2 streams", [&] { mesh.value("0.0.0.0", -1, {value, 1}); });
  refused(LOOM_INVALID_ARGUMENT, "values", [&] { mesh.value("0.0.0.0", 0, {value, 2}); });
  EXPECT_EQ(tick(mesh), 0);

  loom_error error{};
  EXPECT_EQ(loom_step_mesh_run(mesh.handle(), 1, nullptr, 2, y.data(), 2, &error),
            LOOM_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "x: NULL with a count of 2");
  EXPECT_EQ(loom_step_mesh_snapshot(mesh.handle(), nullptr, &error), LOOM_INVALID_ARGUMENT);
  EXPECT_EQ(loom_step_mesh_restore(mesh.handle(), n.handle(), &error), LOOM_INVALID_HANDLE);
  EXPECT_STREQ(error.message, "expects a bytes object, got a network");
  EXPECT_EQ(loom_step_mesh_reset(n.handle(), &error), LOOM_INVALID_HANDLE);
  EXPECT_STREQ(error.message, "expects a step mesh, got a network");
  std::int32_t kind = 0;
  EXPECT_EQ(loom_kind(mesh.handle(), &kind, &error), LOOM_OK);
  EXPECT_EQ(kind, LOOM_KIND_STEP_MESH);
}

TEST(StepMeshApi, RefusesOtherSnapshots) {
  const auto n = ring();
  hpp::StepMesh mesh(n, {.streams = 2});
  std::vector<float> x{1, 2};
  mesh.run(7, x, {});
  const std::string whole = mesh.snapshot().text();
  const auto bytes_of = [](std::string_view text) {
    auto bytes = hpp::Bytes::create(text.size());
    std::memcpy(bytes.span().data(), text.data(), text.size());
    return bytes;
  };
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    refused(LOOM_CORRUPT, "step mesh", [&] { mesh.restore(bytes_of(whole.substr(0, cut))); });
  refused(LOOM_CORRUPT, "step mesh", [&] { mesh.restore(bytes_of(whole + "x")); });
  std::string other = whole;
  other[8] = 2;
  refused(LOOM_UNSUPPORTED, "version 2", [&] { mesh.restore(bytes_of(other)); });
  hpp::StepMesh three(n, {.streams = 3});
  refused(LOOM_INVALID_ARGUMENT, "2 streams", [&] { three.restore(bytes_of(whole)); });
  EXPECT_EQ(mesh.snapshot().text(), whole);
}

TEST(StepMeshApi, IsCancelledAndBusy) {
  auto n = hpp::Network::create(line(3, R"({"width":64})", R"("type":"dense","out":64)"));
  n.initialize(1);
  hpp::StepMesh mesh(n, {.threads = 1});
  const std::vector<float> x(64, 0.01f);
  mesh.cancel();
  refused(LOOM_CANCELLED, "before it began", [&] { mesh.run(1, x, {}); });
  mesh.run(1, x, {});
  EXPECT_EQ(tick(mesh), 1);
  loom_error error{};
  std::thread other([&] {
    loom_error ended{};
    do {  // it may meet the calls below
      (void)loom_step_mesh_run(mesh.handle(), std::int64_t{1} << 40, x.data(), x.size(), nullptr, 0,
                               &ended);
    } while (ended.code == LOOM_BUSY);
    EXPECT_EQ(ended.code, LOOM_CANCELLED) << ended.message;
  });
  // Until the other thread is inside.
  while (loom_step_mesh_reset(mesh.handle(), &error) != LOOM_BUSY) std::this_thread::yield();
  EXPECT_STREQ(error.message, "another thread is inside a call on this step mesh");
  mesh.cancel();
  other.join();
  const std::string stopped = mesh.snapshot().text();
  hpp::StepMesh same(n, {.threads = 1});
  if (tick(mesh) > 0) same.run(tick(mesh), x, {});
  EXPECT_EQ(same.snapshot().text(), stopped);
}

}  // namespace
