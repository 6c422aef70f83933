// Computes what the page of examples/browser must show, on this machine's CPU: reads golden.json,
// whose "story", "training" and "evolution" say what to do, and prints it with the results.
// page_golden FILE; page_golden FILE --check ends with 1 where the file has others.
#include <cstdio>
#include <string_view>
#include <vector>

#include <loom/loom.hpp>
#include "base/files/source.h"
#include "base/json/json.h"

namespace {

// Points in a disc that a curve of two half circles cuts: classes 1 and 0. Every number is exact,
// so each language draws the same points.
struct Points {
  std::vector<float> x;
  std::vector<std::int32_t> classes;
};
Points yin_yang(std::size_t count) {
  Points p;
  for (std::uint32_t state = 1; p.classes.size() < count;) {
    const auto next = [&] {
      state = state * 1664525u + 1013904223u;
      return static_cast<float>(static_cast<int>(state >> 24) - 128) / 128.0f;
    };
    const float x = next(), y = next();
    if (x * x + y * y > 1) continue;
    const bool upper = x * x + (y - 0.5f) * (y - 0.5f) < 0.25f,
               lower = x * x + (y + 0.5f) * (y + 0.5f) < 0.25f;
    p.x.insert(p.x.end(), {x, y});
    p.classes.push_back(upper || (!lower && x > 0));
  }
  return p;
}

// The digests of the champions of the seeds 0, 1, ...
loom::Json champions(const loom::Json& evolution) {
  const auto generations = static_cast<std::int64_t>(evolution.find("generations")->as_number());
  loom::Json spec = *evolution.find("spec"), out = loom::Json::array();
  const std::size_t seeds = evolution.find("champions")->as_array().size();
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    spec.set("seed", static_cast<std::int64_t>(seed));
    loom::Population population(spec.dump());
    population.run(generations);
    const loom::Json info = *loom::Json::parse(population.info());
    out.push(*info.find("champion")->find("sha256"));
  }
  return out;
}

int run(const char* path, bool check) {
  const auto text = loom::read_text_file(path);
  auto parsed = text.ok() ? loom::Json::parse(*text) : text.status();
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s\n", parsed.status().message().c_str());
    return 1;
  }
  const loom::Json story = *parsed->find("story"), training = *parsed->find("training");
  loom::Json told = story, trained = training, evolved = *parsed->find("evolution"),
             out = loom::Json::object();

  loom::Generator generator(loom::Model::load("embedded"));
  told.set("text",
           generator.generate(story.find("prompt")->as_string(), story.find("options")->dump()));
  told.set("fingerprint", generator.fingerprint());

  loom::Network network = loom::Network::create(training.find("topology")->dump());
  network.initialize(static_cast<std::uint64_t>(training.find("seed")->as_number()));
  const Points points = yin_yang(static_cast<std::size_t>(training.find("samples")->as_number()));
  loom::Trainer trainer(network, loom::Data::classes(points.x, 2, points.classes),
                        training.find("spec")->dump());
  const auto steps = static_cast<std::int64_t>(training.find("spec")->find("steps")->as_number());
  trained.set("loss", trainer.step(steps).loss);
  trained.set("digest", network.digest());

  evolved.set("champions", champions(evolved));

  out.set("story", told);
  out.set("training", trained);
  out.set("evolution", evolved);
  if (!check) return std::printf("%s\n", out.dump(1).c_str()) < 0;
  if (out.dump() == parsed->dump()) return 0;
  std::fprintf(stderr,
               "%s differs from what this build computes: page_golden %s > new, and look at it\n",
               path, path);
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 2 || (argc == 3 && std::string_view(argv[2]) == "--check"))
    return run(argv[1], argc == 3);
  std::fprintf(stderr, "usage: page_golden FILE [--check]\n");
  return 2;
} catch (const loom::Error& e) {
  std::fprintf(stderr, "%s: %s\n", e.code_name(), e.what());
  return 1;
}
