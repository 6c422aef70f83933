// Options, tensors and layers of C++; run.py compiles and runs it with the cases.
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <loom/layers.hpp>
#include <loom/loom.hpp>

namespace layers = loom::layers;

namespace {

int failures = 0;

void expect(bool good, const std::string& what) {
  if (!good) std::printf("typed.cpp: %s\n", what.c_str()), ++failures;
}

template <class F>
void refused(F f, std::int32_t code, const std::string& part) {
  try {
    f();
    expect(false, "it was taken, expected: " + part);
  } catch (const loom::Error& e) {
    expect(e.code() == code && std::string(e.what()).find(part) != std::string::npos,
           "expected " + part + ", got " + e.what());
  }
}
template <class F>
void wrong(F f, const std::string& part) {
  refused(f, LOOM_INVALID_ARGUMENT, part);
}

loom::Network small() {
  return loom::Network(layers::sequential({layers::input(2), layers::dense({.out = 1})}), 1);
}

void typed_options() {
  const loom::Network n = small();
  const std::vector<float> x = {0, 0, 0, 1, 1, 0, 1, 1}, y = {0, 1, 1, 0};
  loom::Session all(n), none(n, {}), typed(n, {.max_rows = 4, .device = "cpu"});
  loom::Session json(n, R"({"max_rows": 4})"), text(n, std::string("{}")), empty(n, "");
  for (loom::Session* s : {&all, &none, &typed, &json, &text, &empty})
    expect(s->run({x, {4, 2}}).size() == 4, "a run");
  wrong([&] { loom::Session(n, {.max_rows = 0}); }, "\"max_rows\" must be at least 1");
  wrong([&] { loom::Session(n, {.isa = std::string("a\0b", 3)}); }, "\"isa\" has a zero in it");
  wrong([&] { loom::Session(n, {.isa = "\xff"}); }, "\"isa\" is no UTF-8");
  wrong([&] { loom::Session(n, R"({"rows": 1})"); }, "unknown key \"rows\"");

  loom::Network a = small(), b = small();
  const auto data = loom::Data::values({x, {4, 2}}, {y, {4}});
  loom::Trainer typed_trainer(a, data,
                              {.optimizer = "sgd",
                               .lr = 0.5,
                               .momentum = 0.25,
                               .steps = 5,
                               .batch = 2,
                               .shuffle = false,
                               .spec = R"({"delta": 2})"});
  loom::Trainer json_trainer(b, data, R"({"optimizer": {"type": "sgd", "momentum": 0.25},
      "schedule": {"lr": 0.5}, "steps": 5, "batch": 2, "shuffle": false, "delta": 2})");
  typed_trainer.step(5);
  json_trainer.step(5);
  expect(typed_trainer.digest() == json_trainer.digest(), "both forms of a training are one");
  wrong([&] { loom::Trainer(a, data, {.steps = 1, .spec = R"({"steps": 2})"}); },
        "\"steps\" is given, and \"spec\" has it, too");
  wrong([&] { loom::Trainer(a, data, {}); }, "steps");
  wrong([&] { loom::Trainer(a, data, {.lr = std::nan(""), .steps = 1}); }, "\"lr\" must be finite");
  wrong([&] { loom::Seq2Seq(n, {}); }, "\"target\"");
}

void tensors() {
  const loom::Network n = small();
  loom::Session s(n, {.max_rows = 8});
  float array[8] = {0, 0, 0, 1, 1, 0, 1, 1};
  const std::vector<float> vector(array, array + 8);
  const std::vector<float> expected = [&] {
    std::vector<float> y(4);
    s.run(4, array, y);
    return y;
  }();
  const auto same = [&](const loom::Tensor<float>& y) {
    expect(y.shape() == loom::Shape{4, 1}, "the shape of an answer");
    expect(std::equal(y.begin(), y.end(), expected.begin(), expected.end()), "an answer");
  };
  const loom::TensorView view(array, {4, 2});  // of floats, also where runs take const ones
  const loom::TensorView pointed(vector.data(), {4, 2});
  same(s.run({array, {4, 2}}));
  same(s.run({vector, {4, 2}}));
  same(s.run({array + 0, {4, 2}}));
  same(s.run(view));
  same(s.run(pointed));
  loom::Tensor<float> own({4, 2});
  std::copy(vector.begin(), vector.end(), own.values().begin());
  same(s.run(own));
  // What does not fit says both shapes.
  wrong([&] { s.run({vector, {4, 3}}); }, "shape [4, 3]: has 12 values, got 8");
  wrong([&] { s.run({array, {16, 2}}); }, "shape [16, 2]: has 32 values, got 8");
  wrong([&] { s.run({vector, {8, 1}}); }, "x has the shape [8, 1], the network takes rows of [2]");
  wrong([&] { s.run({vector, {8}}); }, "x has the shape [8], the network takes rows of [2]");
  wrong([&] { s.run({vector.data(), loom::Shape{}}); }, "x has the shape []");
  wrong([&] { s.run({vector, {-4, -2}}); }, "shape [-4, -2]: a size is below 0");
  wrong([&] { s.run({static_cast<const float*>(nullptr), {4, 2}}); }, "shape [4, 2]: NULL");
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  refused([&] { s.run({vector, {huge, 2}}); }, LOOM_OUT_OF_RANGE, "too many values");
  refused([&] { loom::Tensor<float>({huge, huge}); }, LOOM_OUT_OF_RANGE, "too many values");
  expect(loom::Tensor<float>({huge, 0, huge}).size() == 0, "a tensor without values");
  const std::vector<std::int32_t> classes = {0, 1, 1};
  wrong([&] { loom::Data::values({vector, {4, 2}}, {vector, {8, 1}}); },
        "x has the shape [4, 2], y [8, 1]");
  wrong([&] { loom::Data::classes({vector, {4, 2}}, classes); }, "4");

  // Dimensions of rows come back as the network has them.
  loom::Network steps(layers::sequential({layers::input({3, 2}), layers::dense({.out = 5})}), 1);
  const std::vector<float> sequence(2 * 3 * 2, 1.0f);
  expect(loom::Session(steps).run({sequence, {2, 3, 2}}).shape() == loom::Shape{2, 3, 5},
         "the shape of steps");
  loom::Network ids(layers::sequential({layers::input(4, {.ids = 9}), layers::embedding({.out = 3}),
                                        layers::pool_steps()}),
                    1);
  const std::vector<std::int32_t> rows = {1, 2, 3, 4, 5, 6, 7, 8};
  loom::Session reads(ids, {.max_rows = 8, .max_head_rows = 8});
  expect(reads.run_ids({rows, {2, 4}}).shape() == loom::Shape{2, 3}, "the shape of rows of ids");
  wrong([&] { reads.run_ids({rows, {4, 2}}); }, "takes rows of [4]");
  const std::vector<double> wide = {1, 2};
  loom::Network f64(layers::sequential({layers::input(2), layers::dense({.out = 1})}).dtype("f64"),
                    1);
  expect(loom::Session(f64).run({wide, {1, 2}}).shape() == loom::Shape{1, 1}, "doubles");
}

// A target of ids, [rows], and of features, [rows, features]: what the step of spans gives, with
// its shape.
void steps() {
  const auto made = [](const std::string& target, const std::string& first) {
    return loom::Network(
        loom::Topology{R"({"format": "loom-topology", "version": 3, "layers_per_cell": 7,
        "input": {"parts": [{"name": "source", "dims": [3, 2]}, )" +
                       target + R"(]}, "cells": [
        {"at": [0, 0, 0, 1], "type": "part", "of": "target"},
        {"at": [0, 0, 0, 2], )" +
                       first + R"(, "out": 4},
        {"at": [0, 0, 0, 3], "type": "part", "of": "source", "links": [{"read": [0, 0, 0, 0]}]},
        {"at": [0, 0, 0, 4], "type": "dense", "out": 4},
        {"at": [0, 0, 0, 5], "type": "cross_attention", "heads": 2, "merge": "operands",
         "links": [{"read": [0, 0, 0, 2]}, {"read": [0, 0, 0, 4]}]},
        {"at": [0, 0, 0, 6], "type": "dense", "out": 5}]})"},
        1);
  };
  const std::vector<double> source = {0.5, -1, 2, 0.25, -0.75, 1, 1, 0, -2, 0.5, 0.125, -0.5};
  const auto compare = [&](const loom::Network& n, const std::vector<double>& target,
                           const loom::Shape& shape) {
    loom::Seq2Seq s(n, {.target = "target", .lanes = 2});
    wrong([&] { s.step({target, shape}); }, "a step comes after encode");
    s.encode({source, {2, 3, 2}});
    const loom::Tensor<double> y = s.step({target, shape});
    expect(y.shape() == loom::Shape{2, 5}, "the shape of a step's answers");
    std::vector<double> plain(10);
    s.encode(2, source);
    s.step(target, plain);
    expect(std::equal(y.begin(), y.end(), plain.begin(), plain.end()), "a step's answers");
    expect(plain[0] != plain[5], "rows that differ");
  };
  const loom::Network ids =
      made(R"({"name": "target", "ids": 6, "dims": [4]})", R"("type": "embedding")");
  compare(ids, {1, 4}, {2});
  const loom::Network features =
      made(R"({"name": "target", "dims": [4, 3]})", R"("type": "dense")");
  compare(features, {1, 2, 3, 4, 5, 6}, {2, 3});

  loom::Seq2Seq s(features, {.target = "target", .lanes = 2});
  s.encode({source, {2, 3, 2}});
  const std::vector<double> six = {1, 2, 3, 4, 5, 6};
  wrong([&] { s.step({six, {3, 2}}); }, "target has the shape [3, 2], 2 rows are encoded");
  wrong([&] { s.step({six, {6}}); }, "target has the shape [6], 2 rows are encoded");
  wrong([&] { s.step({six.data(), loom::Shape{}}); }, "target has the shape [], 2 rows");
  wrong([&] { s.step({six.data(), {2, 2}}); }, "2 rows of 3 values of the target, got 4 values");
  expect(s.step({six, {2, 3}}).size() == 10, "a step after refused ones");
}

// Streams of ticks with their shape, and both forms of the options.
void ticks() {
  const loom::Network n(
      loom::Topology{R"({"format": "loom-topology", "version": 3, "depth": 3, "step_mesh": true,
      "input": {"dims": [2, 1]}, "cells": []})"},
      1);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, -8};
  loom::StepMesh typed(n, {.streams = 2}), json(n, R"({"streams": 2})");
  const loom::Tensor<float> y = typed.run({x, {2, 4, 2, 1}});
  expect(y.shape() == loom::Shape{2, 4, 2}, "the shape of ticks");
  std::vector<float> plain(16);
  json.run(4, x, plain);
  expect(std::equal(y.begin(), y.end(), plain.begin(), plain.end()), "both forms of a mesh");
  const float last[4] = {3, 4, -3, -4};
  expect(std::equal(last, last + 2, plain.begin() + 6) && plain[14] == last[2], "a delay");
  wrong([&] { typed.run({x, {4, 2, 2}}); },
        "x has the shape [4, 2, 2], the mesh takes [2, ticks, 2]");
  wrong([&] { typed.run({x, {16}}); }, "x has the shape [16]");
  wrong([&] { loom::StepMesh(n, {.streams = -1}); }, "\"streams\"");
}

void built_networks() {
  // The digest that the same layers have in Python.
  loom::Network n(
      layers::sequential({layers::input({1, 12, 12}),
                          layers::conv2d({.filters = 4, .kernel = {3, 5}, .activation = "relu"}),
                          layers::max_pool2d({.kernel = 2}),
                          layers::residual({layers::batch_norm({.eps = 1e-3})}), layers::flatten(),
                          layers::parallel({layers::dense({.out = 4}),
                                            layers::dense({.out = 3, .activation = "tanh"})},
                                           {.combine = "concat"}),
                          layers::dense({.out = 10}).name("he\"ad\n")})
          .dtype("i8"),
      7);
  expect(n.digest() == "5506e797974e6c2ef011305d1c8b0691472e5cf33c58798f9e108a39397a7901",
         "a digest: " + n.digest());
  // Numbers and texts arrive exactly.
  const double eps = 0.1 + 0.2;
  expect(layers::layer_norm({.eps = eps}).json() ==
             R"({"type":"layer_norm","eps":0.30000000000000004})",
         "a number");
  expect(layers::part({.of = "\"\\\x01é"}).json() == R"({"type":"part","of":"\"\\\u0001é"})",
         "a text");
  const auto make = [](layers::Layer layer, layers::Layer input = layers::input(3)) {
    loom::Network(layers::sequential({std::move(input), std::move(layer)}), 1);
  };
  wrong([&] { make(layers::dense({})); }, "dense: \"out\" must be at least 1, got 0");
  wrong([&] { make(layers::dense({.out = 1, .activation = "rel"})); }, "unknown activation 'rel'");
  wrong([&] { make(layers::binary({})); }, "binary: unknown op \"\"");
  wrong([&] { make(layers::layer_norm({.eps = std::nan("")})); }, "\"eps\" must be finite");
  wrong([&] { make(layers::dense({.out = 1, .activation = "\xff"})); }, "not UTF-8");
  wrong([&] { make(layers::custom({.layer = "a", .config = {"{"}})); }, "JSON line 1");
  wrong([&] { make(layers::dense({.out = 1}), layers::input({})); }, "input");
  wrong([&] { make(layers::dense({.out = 1}), layers::flatten()); }, "first layer is an input");
  wrong([&] { loom::Network(layers::dense({.out = 1}), 1); }, "first layer is an input");
  wrong([&] { loom::Network(layers::sequential({}), 1); }, "first layer is an input");
  wrong([&] { loom::Network(layers::sequential({layers::input(1)}).name("x"), 1); },
        "\"name\" is of a layer");
  wrong([&] { loom::Network(loom::Topology{"{"}, 1); }, "topology");
}

}  // namespace

int main() {
  typed_options();
  tensors();
  steps();
  ticks();
  built_networks();
  std::int64_t left = -1;
  loom_live_handles(&left, nullptr);
  expect(left == 0, "handles were lost");
  return failures > 0;
}
