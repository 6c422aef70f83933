// What campaigns of tests/fuzz found: the shortest input of each kind, and its likes.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include <loom/loom.h>
#include "base/json.h"
#include "findings/child.h"
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

}  // namespace
}  // namespace loom
