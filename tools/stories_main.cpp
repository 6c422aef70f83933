// loom_stories: writes stories of the grammar, and grades stories by it. One story per line.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "stories/stories.h"

namespace {

constexpr const char* kUsage =
    "usage: loom_stories generate [--seed S] [--start I] [--count N]   N stories from the I-th of "
    "seed S on\n"
    "       loom_stories check                                         grades the lines of stdin; "
    "1 if one is refused\n"
    "       loom_stories facts                                         words, number of stories, "
    "grammar version\n";

int usage() {
  std::fputs(kUsage, stderr);
  return 2;
}

int generate(int argc, char** argv) {
  std::uint64_t seed = 1, start = 0, count = 1;
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i];
    std::uint64_t* value = name == "--seed"    ? &seed
                           : name == "--start" ? &start
                           : name == "--count" ? &count
                                               : nullptr;
    char* end = nullptr;
    if (value == nullptr || i + 1 == argc) return usage();
    *value = std::strtoull(argv[i + 1], &end, 10);
    if (*end != '\0' || end == argv[i + 1]) return usage();
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string story = loom::stories::generate(seed, start + i) + '\n';
    std::fwrite(story.data(), 1, story.size(), stdout);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

int check() {
  std::size_t lines = 0, accepted = 0;
  std::string story;
  for (; std::getline(std::cin, story); ++lines) {
    const auto verdict = loom::stories::recognize(story);
    accepted += verdict.accepted;
    if (!verdict.accepted)
      std::printf("line %zu, byte %zu: %s\n", lines + 1, verdict.offset, verdict.reason.c_str());
  }
  std::printf(
      "%zu of %zu accepted (%.2f %%)\n", accepted, lines,
      lines == 0 ? 0.0 : 100.0 * static_cast<double>(accepted) / static_cast<double>(lines));
  return accepted == lines ? 0 : 1;
}

int facts() {
  std::printf("grammar %d: %zu words, 10^%.2f stories\n", loom::stories::kGrammarVersion,
              loom::stories::vocabulary().size(), loom::stories::log10_story_count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "generate") return generate(argc, argv);
  if (command == "check" && argc == 2) return check();
  if (command == "facts" && argc == 2) return facts();
  return usage();
}
