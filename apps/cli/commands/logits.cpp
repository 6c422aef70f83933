// loom logits: what a model predicts after each position of a text.
#include <algorithm>
#include <cmath>

#include "files/npy.h"
#include "files/outputs.h"
#include "models/loaded_model.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  ModelOptions model;
  std::vector<std::int32_t> ids;
  std::string text, out;
  Option text_given;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("MODEL", a.model.model, "a folder, a file, or a name in the local HuggingFace cache")
      .required();
  const Option ids =
      c.add("--ids", a.ids, "token ids as they are: 1,2,3").delimiter(',').one_value();
  a.text_given = c.add("--text", a.text, "text to tokenize; \"\" is the beginning-of-text token")
                     .excludes(ids);
  c.add("--out", a.out, "write all logits to this .npy file (positions x vocabulary, f32)");
  c.flag("--json", a.json, "one JSON object on stdout");
  bind_model_options(c, a.model);
}

// The index of the largest value, ties to the lower one; NaN loses. -1 where there is no number.
std::int32_t best_of(std::span<const float> row) {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (!std::isnan(row[i]) && (best < 0 || row[i] > row[static_cast<std::size_t>(best)]))
      best = static_cast<std::int32_t>(i);
  return best;
}

int run(const Args& a) {
  if (a.ids.empty() && !a.text_given.given()) {
    say("loom: logits needs --ids or --text");
    return kUsage;
  }
  if (!a.out.empty()) check_file_output("--out", a.out, {located(a.model.model), a.model.adapter});
  const LoadedModel model = load_model(a.model);
  check_context(model, a.model.context);
  const std::vector<std::int32_t> ids = a.ids.empty() ? prompt_ids(model, a.text) : a.ids;
  const std::int64_t vocab = integer_in(model.info, "vocab_size"),
                     count = static_cast<std::int64_t>(ids.size());
  if (a.model.context > 0 && count > a.model.context)
    throw problem(LOOM_OUT_OF_RANGE,
                  "the text has " + std::to_string(count) + " tokens, the context holds " +
                      std::to_string(a.model.context),
                  kFailed);
  constexpr std::int64_t kChunk = 16;
  Json options = run_options(a.model);
  options.set("context", a.model.context > 0 ? a.model.context : count);
  options.set("chunk", kChunk);
  options.set("last_row", true);
  options.set("hash", true);
  Evaluator evaluator = made_of([&] { return Evaluator(model.model, ids, options.dump()); });
  const Json made = parsed(evaluator.info());
  say_note(made);
  say(status_line(a.model, model, made, false));
  std::vector<float> part(static_cast<std::size_t>(kChunk * vocab));
  std::optional<NpyFile> all;
  if (!a.out.empty()) all.emplace(count, vocab);
  std::vector<std::int32_t> best;
  std::string table;
  while (const auto rows = static_cast<std::size_t>(evaluator.next(part))) {
    const auto width = static_cast<std::size_t>(vocab);
    if (all)
      std::copy_n(part.begin(), rows * width, all->values().subspan(best.size() * width).begin());
    for (std::size_t r = 0; r < rows; ++r) {
      const auto row = std::span<const float>(part).subspan(r * width, width);
      const std::size_t position = best.size();
      best.push_back(best_of(row));
      const std::string value =
          best.back() < 0 ? "nan" : fixed(row[static_cast<std::size_t>(best.back())], 6);
      if (!a.json)
        table += std::to_string(position) + " " + std::to_string(ids[position]) + " " +
                 std::to_string(best.back()) + " " + value + "\n";
    }
  }
  const std::string sha = text_in(parsed(evaluator.info()), "logits_sha256");
  if (all) all->save(a.out);
  if (a.json) {
    Json answer = Json::object(), given = Json::array(), argmax = Json::array();
    for (const std::int32_t id : ids) given.push(id);
    for (const std::int32_t id : best) argmax.push(id);
    answer.set("ids", std::move(given));
    answer.set("argmax", std::move(argmax));
    answer.set("shape", Json(Json::Array{Json(count), Json(vocab)}));
    answer.set("sha256", sha);
    return print(answer.dump() + "\n") ? kOk : kFailed;
  }
  return print("position id argmax logit\n" + table + "sha256 " + sha + "\n") ? kOk : kFailed;
}

}  // namespace

void add_logits(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "logits",
                    "what a model predicts after each position, with the hash of the logits", bind,
                    run);
}

}  // namespace loom::cli
