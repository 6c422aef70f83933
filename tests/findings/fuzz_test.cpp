// What campaigns of tests/fuzz found: the shortest input of each kind, and its likes.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include <loom/loom.h>
#include "base/json/json.h"
#include "findings/child.h"
#include "formats/onnx/test_protobuf.h"
#include "onnx/import.h"
#include "text/jinja/jinja.h"
#include "text/pattern/pattern.h"

namespace loom {
namespace {

using test::in_child;

std::string repeated(const std::string& item, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += item;
  return text;
}

TEST(Findings, Fuzz_AWeightThatIsNoNumberIsNamed) {
  EXPECT_EQ(format_double(__builtin_nan("")), "nan");
  EXPECT_EQ(format_double(__builtin_inf()), "inf");
  EXPECT_EQ(format_double(-__builtin_inf()), "-inf");
  EXPECT_EQ(Json(__builtin_nan("")).dump(), "null");
  const float x[4] = {1, 2, 3, 4};
  const std::int32_t classes[2] = {0, 1};
  loom_error error{};
  loom_data plain = 0, data = 0;
  ASSERT_EQ(loom_data_classes(x, 4, 2, classes, 2, &plain, &error), LOOM_OK);
  const std::pair<float, const char*> kCases[] = {
      {__builtin_nanf(""), "sample 1 has nan: a weight"},
      {__builtin_inff(), "sample 1 has inf: a weight"}};
  for (const auto& [value, part] : kCases) {
    const float weights[2] = {1, value};
    EXPECT_EQ(loom_data_weighted(plain, weights, 2, &data, &error), LOOM_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(error.message, part), nullptr) << error.message;
  }
  EXPECT_EQ(loom_release(plain, nullptr), LOOM_OK);
}

// Whether it is refused as too large.
bool pattern_refused(const std::string& expression, std::string& text) {
  text = text::Pattern::compile(expression).status().to_string();
  return text.find("too large") != std::string::npos;
}

TEST(Findings, Fuzz_PatternsOfManyClassesTakeTimeLinearInTheirLength) {
  const std::string refused[] = {
      "[" + repeated("\\W", 32000) + "]",  // found: each was united with all before it
      repeated("\\W|", 20000),
      repeated("\\s", 32000),
      "(?!" + repeated("\\W|", 20000) + "a)",
      "[\\W" + repeated("&&[^a]", 10000) + "]",
      "(?i)" + repeated("a", 60000),
      "(?i)[a" + repeated("&&a", 20000) + "]",
      "(?:" + repeated("(?:(?!a)|(?!b)|(?!c)|(?!d)|(?!e))", 240) + "(?:x" + repeated("|x", 29) +
          "))*",
  };
  for (const std::string& expression : refused)
    LOOM_EXPECT_BOUNDED(
        in_child([&](std::string& text) { return pattern_refused(expression, text); },
                 {.seconds = 20}),
        0.25, 64);
  // Long classes of single characters are taken, and quickly.
  LOOM_EXPECT_BOUNDED(in_child(
                          [](std::string& text) {
                            std::string e = "(?i)[\\W";
                            for (int i = 0; i < 16000; ++i) e += {'\\', 'x', '4', '1'};
                            const auto pattern = text::Pattern::compile(e + "]");
                            text = pattern.status().to_string();
                            text::Pattern::Scratch scratch;
                            std::vector<text::Span> spans;
                            if (pattern.ok()) pattern->find_all("aAb.", spans, scratch);
                            return spans.size() == 3;
                          },
                          {.seconds = 20}),
                      0.25, 64);
}

TEST(Findings, Fuzz_EveryStepOfATemplateIsCounted) {
  std::string dict = "{";
  for (int i = 0; i < 3000; ++i) dict += "'k" + std::to_string(i) + "':1,";
  std::string variables;
  for (int i = 0; i < 3000; ++i) variables += "{% set v" + std::to_string(i) + " = 1 %}";
  const std::string loop = "{% for i in range(1000000) %}", end = "{% endfor %}";
  const std::string doubled =
      "{% set ns = namespace(x=' ') %}{% for i in range(18) %}{% set ns.x = ns.x + ns.x %}" + end;
  const std::string templates[] = {
      // Found: rounds of loops in loops, and what each of them writes.
      repeated("{% for m in range(9) %}", 9) + "{{ loop | tojson }}" + repeated(end, 9),
      "{% set d = " + dict + "} %}" + loop + "{% if d.z %}{% endif %}" + end,
      variables + loop + "{% if none_of_them %}{% endif %}" + end,
      "{% set a = range(500000) | list %}{% set b = [" + repeated("a,", 5000) + "] %}",
      doubled + loop + "{% if ns.x.strip() %}{% endif %}" + end,
      doubled + loop + "{% if ns.x < ns.x %}{% endif %}" + end,
      doubled + loop + "{% if [] | join(ns.x) %}{% endif %}" + end,
      doubled + "{% set b = [" + repeated("ns.x,", 5000) + "] | tojson %}",
      doubled + repeated("{% for c in ns.x %}" + end, 100),
  };
  for (const std::string& source : templates)
    LOOM_EXPECT_BOUNDED(in_child(
                            [&](std::string& text) {
                              const auto parsed = jinja::Template::parse(source);
                              if (!parsed.ok()) return text = parsed.status().to_string(), false;
                              const Status status = parsed->render({}).status();
                              text = status.to_string() + source.substr(0, 200);
                              return status.code() == Code::out_of_range;
                            },
                            {.seconds = 20}),
                        1.0, 400);
}

std::string scalar(const std::string& name, std::int64_t value) {
  return test::pb_tensor(name, 7, {}, test::pb_bytes(9, test::le(value)));
}
std::string real(const std::string& name, float value) {
  return test::pb_tensor(name, 1, {}, test::pb_bytes(9, test::le(value)));
}
Result<onnx::Model> read(const std::string& bytes) {
  const auto b = as_bytes(bytes);
  return onnx::read_model(source_from_bytes({b.begin(), b.end()}, "small.onnx"));
}

TEST(Findings, Fuzz_SlowConstantsAreJustifiedByTheirFile) {
  using namespace test;
  const auto mel = [](std::int64_t bands) {
    return pb_model(pb_graph({pb_node("MelWeightMatrix", {"n", "l", "r", "a", "b"}, {"y"})}, {},
                             {pb_value("y", 1, {})},
                             {scalar("n", bands), scalar("l", 64), scalar("r", 8000),
                              real("a", 0.0f), real("b", 4000.0f)}),
                    18);
  };
  const auto window = [](std::int64_t size) {
    return pb_model(pb_graph({pb_node("HannWindow", {"n"}, {"y"})}, {}, {pb_value("y", 1, {})},
                             {scalar("n", size)}),
                    18);
  };
  std::vector<std::string> sums;
  sums.push_back(pb_node("ConstantOfShape", {"n"}, {"x"}));
  for (int i = 0; i < 2000; ++i)
    sums.push_back(pb_node("ReduceSum", {"x"}, {"y" + std::to_string(i)}));
  const std::string reduced =
      pb_model(pb_graph(sums, {}, {pb_value("y0", 1, {})},
                        {pb_tensor("n", 7, {1}, pb_bytes(9, le(std::int64_t{1} << 21)))}),
               18);
  const std::pair<std::string, const char*> kCases[] = {
      {mel(1 << 24), "num_mel_bins is [16777216], expected a number from 1 to 4096"},
      {window(1 << 22), "not mapped"},
      {reduced, ""}};
  for (const auto& [bytes, part] : kCases)
    LOOM_EXPECT_BOUNDED(in_child(
                            [&, part = part](std::string& text) {
                              const auto model = read(bytes);
                              if (!model.ok()) return text = model.status().to_string(), false;
                              text = onnx::import_graph(*model).status().to_string();
                              return text.find(part) != std::string::npos;
                            },
                            {.seconds = 30}),
                        1.0, 256);
  for (const std::string& bytes : {mel(128), window(4096)}) {
    const auto model = read(bytes);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const auto plan = onnx::infer(*model, {});
    ASSERT_TRUE(plan.ok()) << plan.status().to_string();
    EXPECT_TRUE(plan->at(plan->outputs.at(0))->constant());
  }
}

TEST(Findings, Fuzz_AnInputThatTakesThePlaceOfItsInitializerIsAnInput) {
  using namespace test;
  const auto model =
      read(pb_model(pb_graph({pb_node("Transpose", {"x"}, {"y"})}, {pb_value("x", 1, {2, 3})},
                             {pb_value("y", 1, {})},
                             {pb_tensor("x", 1, {2, 3}, pb_bytes(9, std::string(24, '\0')))}),
                    18));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto graph = onnx::import_graph(*model, {{"x", {2, 3}, nullptr}});
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  ASSERT_EQ(graph->inputs.size(), 1u);
  EXPECT_EQ(graph->inputs[0].name, "x");
  EXPECT_EQ(graph->outputs.at(0).dims, (onnx::Dims{3, 2}));
  // Without one the initializer stays.
  const auto plan = onnx::infer(*model, {});
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  EXPECT_TRUE(plan->inputs.empty());
}

}  // namespace
}  // namespace loom
