#include "text/jinja/jinja.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/files/sha256.h"
#include "base/files/source.h"
#include "support/data.h"

namespace loom::jinja {
namespace {

Variables variables_of(const Json& object) {
  Variables out;
  for (const auto& [name, value] : object.as_object()) out.emplace_back(name, from_json(value, 0));
  return out;
}

// The text, or the error with its code.
std::string rendered(std::string_view source, Variables variables = {}) {
  const auto parsed = Template::parse(source);
  if (!parsed.ok()) return parsed.status().to_string();
  const auto text = parsed->render(std::move(variables));
  return text.ok() ? encode(*text) : text.status().to_string();
}

std::map<std::string, std::string> templates(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(folder + "/jinja"))
    if (file.path().extension() == ".jinja")
      out[file.path().filename().string()] = *read_text_file(file.path().string());
  const Json cases = *Json::parse(*read_text_file(folder + "/llamacpp_cases_2025-02.json"));
  for (const Json& c : cases.find("cases")->as_array())
    out[c.find("name")->as_string()] = c.find("template")->as_string();
  const Json gemma = *Json::parse(*read_text_file(folder + "/gemma3_chat_template.json"));
  out["gemma3"] = gemma.find("chat_template")->as_string();
  return out;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size(); at += out.back().size() + 1)
    out.push_back(text.substr(at, text.find(' ', at) - at));
  return out;
}

std::string hash(const std::string& text) {
  return Sha256::hex(Sha256::of(std::as_bytes(std::span(text)))).substr(0, 16);
}

Json golden_file() {
  return *Json::parse(*read_text_file(test::source_dir() + "/tests/golden/chat_templates.json"));
}

// 88 real templates and 19 conversations: the text, or that there is none, as the jinja2 package
// has it (tests/parity/models/chat_templates.py).
TEST(Jinja, TemplatesAsJinjaRendersThem) {
  LOOM_TEST_FILE(folder, "chat_templates");
  const Json golden = golden_file();
  const auto& conversations = golden.find("conversations")->as_array();
  auto sources = templates(folder);
  int texts = 0, refused = 0;
  for (const Json& one : golden.find("templates")->as_array()) {
    const std::string& name = one.find("name")->as_string();
    const auto renders = words(one.find("renders")->as_string());
    ASSERT_EQ(renders.size(), conversations.size());
    ASSERT_TRUE(sources.contains(name)) << name;
    const auto parsed = Template::parse(sources[name]);
    ASSERT_TRUE(parsed.ok()) << name << ": " << parsed.status().to_string();
    for (std::size_t i = 0; i < conversations.size(); ++i) {
      const Json& c = conversations[i];
      Variables v = variables_of(*c.find("variables"));
      v.emplace_back("strftime_now", decode(golden.find("date")->as_string()));
      v.emplace_back("messages", from_json(*c.find("messages"), kTyped));
      v.emplace_back("add_generation_prompt", c.find("add_generation_prompt")->as_bool());
      v.emplace_back("bos_token", decode("<s>"));
      v.emplace_back("eos_token", decode("</s>"));
      v.emplace_back("tools", Value(Value::Kind::none));
      v.emplace_back("documents", Value(Value::Kind::none));
      const auto text = parsed->render(std::move(v));
      const std::string where = name + ", " + c.find("name")->as_string();
      if (renders[i] == "error") {
        EXPECT_FALSE(text.ok()) << where;
        ++refused;
        continue;
      }
      ASSERT_TRUE(text.ok()) << where << ": " << text.status().to_string();
      EXPECT_EQ(hash(encode(*text)), renders[i]) << where << ":\n" << encode(*text);
      ++texts;
    }
  }
  EXPECT_EQ(texts, 1449);
  EXPECT_EQ(refused, 223);
}

// Small pieces of Jinja, also as the package has them. What this build lacks is refused with its
// name, never another text.
TEST(Jinja, SmallCases) {
  LOOM_TEST_FILE(path, "chat_templates/hf_jinja_micro.json");
  const Json all = *Json::parse(*read_text_file(path));
  const Json golden = golden_file();
  int equal = 0, wrong = 0, unsupported = 0;
  for (const auto& [name, expected] : golden.find("small")->as_object()) {
    const Json& c = *all.find(name);
    const auto parsed = Template::parse(c.find("template")->as_string());
    Result<Text> text = parsed.status();
    if (parsed.ok()) text = parsed->render(variables_of(*c.find("context")));
    if (!text.ok() && text.status().code() == Code::unsupported) {
      ++unsupported;
    } else if (text.ok()) {
      EXPECT_EQ(hash(encode(*text)), expected.as_string()) << name << ": " << encode(*text);
      ++equal;
    } else {
      EXPECT_EQ(expected.as_string(), "error") << name << ": " << text.status().to_string();
      ++wrong;
    }
  }
  EXPECT_EQ(equal, 98);
  EXPECT_EQ(wrong, 9);
  EXPECT_EQ(unsupported, 54);
}

TEST(Jinja, WhatIsNotKnownIsNamed) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{% include 'x' %}", "tag {% include %}"},
      {"a\n{{ 'x' | wordcount }}", "line 2: the filter 'wordcount'"},
      {"{{ 1 is sameas(1) }}", "the test 'sameas'"},
      {"{{ 'x'.encode() }}", "the method 'encode' of a string"},
      {"{{ cycler(1) }}", "the function 'cycler'"},
      {"{{ 1.5 }}", "fraction"},
      {"{{ [1] }}", "writes a list as text"},
      {"{{ 'x' | trim('a', 'b') }}", "the filter 'trim' with 2 arguments"},
      {"{{ x | tojson(indent=2) }}", "the filter 'tojson' with the argument 'indent'"},
      {"{{ pad_token }}", "the variable 'pad_token'"},
      {"{% for x in [[1]] recursive %}{% endfor %}", "recursive"},
      {"{{ strftime_now('%Y') }}", "\"strftime_now\" as \"YYYY-MM-DD\""},
      {"{{ '\u00e9' | upper }}", "not ASCII"},
  };
  for (const auto& [source, part] : kCases)
    EXPECT_NE(rendered(source).find(part), std::string::npos) << source << ": " << rendered(source);
}

TEST(Jinja, WhatIsWrongIsSaid) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{{ x.y.z }}", "invalid argument"},
      {"{{ none['x'] }}", "invalid argument"},
      {"{{ 1 + 'x' }}", "invalid argument"},
      {"{{ 'x'", "corrupt"},
      {"{% if x %}", "corrupt"},
      {"{% endif %}", "endif"},
      {"{{ (1 }}", "corrupt"},
      {"{# x", "corrupt"},
      {"{{ 'x }}", "corrupt"},
      {"{% break %}", "corrupt"},
      {"{{ raise_exception('No!') }}", "refuses this conversation: No!"},
  };
  for (const auto& [source, part] : kCases)
    EXPECT_NE(rendered(source).find(part), std::string::npos) << source << ": " << rendered(source);
}

TEST(Jinja, WorkAndDepthAreBounded) {
  const std::string bounded[] = {
      "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
      "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}"
      "{% endfor %}",
      "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(99) %}"
      "{% set ns.x = ns.x.replace('a', 'aaaa') %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(999999) %}{% set ns.x = [ns.x] %}"
      "{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% endfor %}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% set ns = namespace(x='aaaaaaaa', l=[]) %}{% for i in range(18) %}"
      "{% set ns.x = ns.x + ns.x %}{% endfor %}{% for i in range(99) %}"
      "{% set ns.l = ns.l + [ns.x + 'b'] %}{% endfor %}",
      "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(16) %}{% set ns.x = ns.x + ns.x %}"
      "{% endfor %}{{ (ns.x + 'b') in (ns.x + ns.x) }}",
      "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(16) %}{% set ns.x = ns.x + ns.x %}"
      "{% endfor %}{% set y = ns.x + 'b' %}{% set z = ns.x + 'c' %}{% for i in range(99999) %}"
      "{{ y == z }}{% endfor %}",
  };
  for (const std::string& source : bounded)
    EXPECT_TRUE(rendered(source).starts_with("out of range")) << source << rendered(source);
  EXPECT_NE(rendered("{% set n = namespace() %}{% set n.n = n %}").find("namespace inside"),
            std::string::npos);
  std::string deep = "{{ ";
  for (int i = 0; i < 100000; ++i) deep += "(";
  for (int i = 0; i < 100000; ++i) deep += ")";
  deep += " }}";
  EXPECT_NE(rendered(deep).find("100 deep"), std::string::npos);
  std::string wide = "{{ 1";
  for (int i = 0; i < 100000; ++i) wide += " + 1";
  EXPECT_TRUE(rendered(wide + " }}").starts_with("out of range"));
  std::string blocks;
  for (int i = 0; i < 100000; ++i) blocks += "{% if true %}";
  EXPECT_NE(rendered(blocks).find("100 deep"), std::string::npos);
}

}  // namespace
}  // namespace loom::jinja
