#include "stories/stories.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "stories/grammar.h"

namespace loom::stories {
namespace {

constexpr std::uint64_t kSeed = 20240601;

std::vector<std::string> sentences(
    const std::string& story) {  // "x." said Ann. is two, which is all the same to a cut or a swap
  std::vector<std::string> out(1);
  for (char c : story) {
    if (c == ' ' && !out.back().empty() &&
        std::string_view(".!?\"").find(out.back().back()) != std::string_view::npos) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : " ") + part;
  return out;
}

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The maximal runs of letters: (offset, word).
std::vector<std::pair<std::size_t, std::string>> words(const std::string& story) {
  std::vector<std::pair<std::size_t, std::string>> out;
  for (std::size_t i = 0; i < story.size();) {
    std::size_t end = i;
    while (end < story.size() && letter(story[end])) ++end;
    if (end > i) out.emplace_back(i, story.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return out;
}

std::string replaced(std::string story, std::size_t at, std::size_t size, const std::string& by) {
  return story.replace(at, size, by);
}

// The generator, fed with the choices the recognizer found: the proof that an accepted text is a
// story.
std::string replay(const std::string& story) {
  const Parse found = parse(grammar(), story);
  std::size_t used = 0;
  bool in_range = true;
  const std::string text = expand(grammar(), [&](std::uint32_t count) -> std::uint32_t {
    const std::uint32_t choice = used < found.choices.size() ? found.choices[used] : count;
    ++used;
    if (choice >= count) in_range = false;
    return choice < count ? choice : 0;
  });
  return found.accepted && in_range && used == found.choices.size() ? text : "";
}

// A second recognizer, plain backtracking without memory, that counts derivations.
int derivations(const Graph& g, std::string_view rest, std::uint32_t at, Bindings bindings) {
  const Node& node = g.nodes[at];
  const auto after = [&](const std::string& text, const Bindings& b) {
    return rest.substr(0, text.size()) == text
               ? derivations(g, rest.substr(text.size()), node.next, b)
               : 0;
  };
  int count = 0;
  switch (node.kind) {
    case Node::Kind::end: return rest.empty();
    case Node::Kind::text: return after(g.texts[node.index], bindings);
    case Node::Kind::fork:
      for (std::uint32_t i = 0; i < node.count; ++i)
        count += derivations(g, rest, g.edges[node.index + i], bindings);
      return count;
    case Node::Kind::slot: break;
  }
  if (bindings.row(node.slot) != Bindings::kFree)
    return after(g.forms[node.index][bindings.row(node.slot)], bindings);
  g.each_free_row(node, bindings, [&](std::uint32_t row) {
    Bindings b = bindings;
    b.bind(node.slot, row);
    count += after(g.forms[node.index][row], b);
  });
  return count;
}

TEST(Stories, TheGrammarCompiles) {
  auto graph = compile(std::string(kWorld) + "\n\n" + std::string(kPlots));
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
}

TEST(Stories, FirstStoriesStayAsTheyAre) {  // a change here is a new kGrammarVersion, a new corpus
                                            // and a new model
  EXPECT_EQ(kGrammarVersion, 1);
  EXPECT_EQ(generate(1, 0),
            "Near the lake lived a brave owl named Olive. She had one big wish: to jump rope. One "
            "day, she ran to "
            "the lake to try it, but she fell over the rope. Her friend Tom came over. \"Do not "
            "give up,\" said "
            "Tom. \"I will help you.\" They tried it by the lake every morning. At last Olive "
            "jumped rope all "
            "alone! \"Olive, you are jumping rope!\" said Tom, and Olive clapped with joy. Now "
            "Olive and Tom love "
            "jumping rope by the lake together.");
  EXPECT_EQ(generate(1, 1),
            "A cheerful rabbit named Bella lived near the forest. She loved her gray teddy bear "
            "more than cake. "
            "One day, she fell asleep in the forest and left the teddy bear under a bench. At "
            "bedtime the teddy "
            "bear was gone. \"Oh no, my teddy bear!\" she said. \"Where did you play today?\" "
            "asked her friend Max "
            "the puppy. They hurried to the forest, looked under the bench, and there was the "
            "teddy bear! \"Thank "
            "you, Max!\" said Bella, and she hopped with joy. After that, Bella never left her "
            "gray teddy bear in "
            "the forest again.");
}

TEST(Stories, EveryGeneratedStoryIsAccepted) {
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const std::string story = generate(kSeed, i);
    const Verdict verdict = recognize(story);
    ASSERT_TRUE(verdict.accepted) << story << "\n" << verdict.reason;
    ASSERT_EQ(verdict.offset, story.size());
    seen.insert(story);
  }
  EXPECT_GT(seen.size(), 99990u);
  EXPECT_EQ(generate(kSeed, 7), generate(kSeed, 7));
  EXPECT_NE(generate(kSeed, 7), generate(kSeed + 1, 7));
}

TEST(Stories, SizeAndForm) {
  const auto vocabulary = stories::vocabulary();
  const std::set<std::string> known(vocabulary.begin(), vocabulary.end());
  EXPECT_GE(known.size(), 300u);
  EXPECT_EQ(known.size(), vocabulary.size());
  EXPECT_GE(log10_story_count(), 12.0);
  std::set<std::string> used;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::string story = generate(kSeed, i);
    const auto count = static_cast<std::size_t>(std::count(story.begin(), story.end(), ' ')) + 1;
    EXPECT_TRUE(count >= 60 && count <= 130) << count << ": " << story;
    EXPECT_EQ(story.find("  "), std::string::npos) << story;
    EXPECT_EQ(story.find_first_of("{}<>()|\n"), std::string::npos) << story;
    EXPECT_EQ(std::count(story.begin(), story.end(), '"') % 2, 0) << story;
    for (auto [at, word] : words(story)) {
      // A sentence starts with a capital letter, "a" and "an" suit the next word.
      const bool starts =
          at == 0 || (at > 1 && (story[at - 1] == ' ') &&
                      std::string_view(".").find(story[at - 2]) != std::string_view::npos);
      EXPECT_TRUE(!starts || (word[0] >= 'A' && word[0] <= 'Z')) << word << ": " << story;
      if (word == "a" || word == "A" || word == "an" || word == "An") {
        const char next = story[at + word.size() + 1];
        EXPECT_EQ(word.size() == 2, std::string_view("aeiou").find(next) != std::string_view::npos)
            << story.substr(at, 12);
      }
      for (char& c : word) c = letter(c) && c < 'a' ? static_cast<char>(c + 32) : c;
      if (word == "s" && at > 0 && story[at - 1] == '\'') continue;
      EXPECT_TRUE(known.count(word)) << word;
      used.insert(word);
    }
  }
  EXPECT_EQ(used, known) << "every word of the vocabulary occurs";
}

TEST(Stories, OneDerivationEach) {  // so that the number of derivations is the number of stories
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::string story = generate(kSeed, i);
    ASSERT_EQ(derivations(grammar(), story, grammar().start, Bindings()), 1) << story;
    ASSERT_EQ(replay(story), story);
  }
}

// The first column of a table of the grammar's text.
static std::set<std::string> rows(std::string_view table) {
  std::set<std::string> out;
  auto at = kWorld.find("\ntable " + std::string(table) + " ");
  for (at = kWorld.find('\n', at + 1) + 1; kWorld[at] != '\n'; at = kWorld.find('\n', at) + 1) {
    const auto line = kWorld.substr(at, kWorld.find('\n', at) - at);
    out.insert(std::string(line.substr(0, line.find(" |"))));
  }
  return out;
}

// Changes that cannot give a story, whatever the rest says.
TEST(Stories, BrokenFactsAreRefused) {
  const auto people = rows("people"), places = rows("places"), colors = rows("colors");
  ASSERT_EQ(people.size(), 36u);
  const std::map<std::string, std::string> pronouns = {
      {"he", "she"},  {"she", "he"},  {"He", "She"},  {"She", "He"}, {"his", "her"},
      {"His", "Her"}, {"him", "her"}, {"her", "his"}, {"Her", "His"}};
  int names = 0, genders = 0, where = 0, painted = 0;
  for (std::uint64_t i = 0; i < 1500; ++i) {
    const RandomStream random(kSeed, i);
    const std::string story = generate(kSeed, i);
    std::set<std::string> here;
    std::map<std::string, int> count;
    for (const auto& [at, word] : words(story)) {
      here.insert(word);
      count[word]++;
    }
    std::uint64_t draw = 0;
    auto other = [&](const std::set<std::string>& all) {  // one that the story does not have
      for (;;) {
        auto it = all.begin();
        std::advance(it, random.below(draw++, static_cast<std::uint32_t>(all.size())));
        if (here.count(*it) == 0) return *it;
      }
    };
    for (const auto& [at, word] : words(story)) {
      std::string changed;
      // A plot has as many people as it names, so one changed mention of someone named twice makes
      // one too many.
      if (people.count(word) != 0 && count[word] >= 2)
        changed = replaced(story, at, word.size(), other(people)), ++names;
      // All pronouns are the hero's and there are at least two, so one of the other gender
      // contradicts the rest.
      if (pronouns.count(word) != 0)
        changed = replaced(story, at, word.size(), pronouns.at(word)), ++genders;
      // One place per story, named at least twice.
      const bool is_place =
          places.count(word) != 0 && at >= 4 && story.compare(at - 4, 4, "the ") == 0;
      if (is_place) changed = replaced(story, at, word.size(), other(places)), ++where;
      // One color per story, named at least twice; not the "green" of a leaf.
      if (colors.count(word) != 0 && count[word] >= 2)
        changed = replaced(story, at, word.size(), other(colors)), ++painted;
      if (!changed.empty()) {
        const Verdict verdict = recognize(changed);
        ASSERT_FALSE(verdict.accepted) << word << " at " << at << ": " << changed;
        ASSERT_FALSE(verdict.reason.empty());
      }
    }
  }
  EXPECT_GT(names, 10000);
  EXPECT_GT(genders, 4000);
  EXPECT_GT(where, 3000);
  EXPECT_GT(painted, 300);
}

TEST(Stories, CutsAreRefused) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::string story = generate(kSeed, i);
    for (std::size_t size = 0; size < story.size(); ++size) {
      const Verdict verdict = recognize(std::string_view(story).substr(0, size));
      ASSERT_FALSE(verdict.accepted) << story.substr(0, size);
      ASSERT_LE(verdict.offset, size);
    }
    EXPECT_FALSE(recognize(story + ".").accepted);
    EXPECT_FALSE(recognize(story + "\n").accepted);
    EXPECT_FALSE(recognize(" " + story).accepted);
  }
}

// Any change: it is refused, or the generator writes it when it makes the choices that the
// recognizer found.
TEST(Stories, WhateverIsAcceptedIsAStory) {
  int accepted = 0, refused = 0;
  auto check = [&](const std::string& story, const std::string& changed) {
    if (changed == story) return;
    const bool ok = recognize(changed).accepted;
    (ok ? accepted : refused)++;
    EXPECT_EQ(ok, derivations(grammar(), changed, grammar().start, Bindings()) > 0) << changed;
    EXPECT_EQ(replay(changed), ok ? changed : "");
  };
  for (std::uint64_t i = 0; i < 250; ++i) {
    const RandomStream random(kSeed + 1, i);
    const std::string story = generate(kSeed, i), other = generate(kSeed + 2, i);
    const auto parts = sentences(story);
    const auto more = words(story), others = words(other);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      auto dropped = parts;
      dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(k));
      check(story, join(dropped));
      auto swapped = parts;
      std::swap(swapped[k], swapped[random.below(k, static_cast<std::uint32_t>(parts.size()))]);
      check(story, join(swapped));
      auto twice = parts;
      twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(k), parts[k]);
      check(story, join(twice));
    }
    for (std::uint32_t k = 0; k < 40; ++k) {  // a word, from elsewhere
      const auto& [at, word] =
          more[random.below(1000 + k, static_cast<std::uint32_t>(more.size()))];
      check(story,
            replaced(
                story, at, word.size(),
                others[random.below(2000 + k, static_cast<std::uint32_t>(others.size()))].second));
    }
    for (std::uint32_t k = 0; k < 20; ++k) {  // a byte
      std::string changed = story;
      changed[random.below(3000 + k, static_cast<std::uint32_t>(story.size()))] =
          static_cast<char>(random.bits(4000 + k));
      check(story, changed);
    }
  }
  EXPECT_GT(refused, 20000);
  EXPECT_GT(accepted, 10);  // an optional sentence dropped, a word where the grammar has a choice
}

TEST(Stories, AnyBytes) {
  EXPECT_FALSE(recognize("").accepted);
  EXPECT_FALSE(recognize(std::string(1 << 20, 'O')).accepted);
  EXPECT_FALSE(recognize(std::string(1000, '\0')).accepted);
  const Verdict verdict = recognize("Pip was a kind little bear.");
  EXPECT_FALSE(verdict.accepted);
  EXPECT_EQ(verdict.offset, 22u);
  EXPECT_EQ(verdict.reason, "expects \"rabbit\", found \"bear.\"");
}

TEST(Grammar, SlotsKeepTheirRowsAndDiffer) {
  auto graph = compile(
      "table t name it\nant | he\nbee | she\ncat | it\n\nrule r\n* {b} saw {a hero}\n| {a Hero} "
      "met {b}\n\n"
      "plot p hero:t b:t!hero\n* <r>.\n? {It} ran(|, and {b.it} hid).\n* The end.");
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(count_derivations(*graph), 2 * 3 * 2 * 3);
  std::set<std::string> all;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const RandomStream random(1, i);
    std::uint64_t draw = 0;
    all.insert(expand(*graph, [&](std::uint32_t n) { return random.below(draw++, n); }));
  }
  EXPECT_EQ(all.size(), 36u);
  EXPECT_TRUE(parse(*graph, "bee saw an ant. He ran, and she hid. The end.").accepted);
  EXPECT_TRUE(parse(*graph, "A cat met bee. The end.").accepted);
  EXPECT_FALSE(parse(*graph, "bee saw an ant. She ran, and he hid. The end.").accepted);
  EXPECT_FALSE(parse(*graph, "bee saw a bee. The end.").accepted);
}

TEST(Grammar, ErrorsNameTheLine) {
  const std::string head = "table t name\nx\n\nplot p hero:t\n";
  for (const auto& [text, message] : std::map<std::string, std::string>{
           {"", "no plot"},
           {"plot p hero:none\n* x y", "line 1: no table 'none'"},
           {head + "* a {dog}.", "line 5: table 't' has no column 'dog'"},
           {head + "* a {dog.x}.", "line 5: no slot"},
           {head + "* a\n* <dog>.", "line 6: no rule 'dog'"},
           {head + "* a (b|c.", "line 5: unclosed '('"},
           {head + "| a", "line 5: a wording starts with"},
           {"table t a b\nx\n\nplot p hero:t\n* x y", "line 2: the row has 1 cells"},
           {"rule r\n* a <r>\n\n" + head + "* <r>", "rules nest too deep"},
           {"tabel t a", "line 1: expects 'table"},
       }) {
    auto graph = compile(text);
    ASSERT_FALSE(graph.ok()) << text;
    EXPECT_NE(graph.status().message().find(message), std::string::npos)
        << graph.status().message();
  }
}

}  // namespace
}  // namespace loom::stories
