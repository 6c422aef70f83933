// loom logits: what a model predicts after each position of a text.
#include "base/files/sha256.h"
#include "base/json/json.h"
#include "console.h"
#include "formats/npy/npy.h"
#include "llm/evaluate.h"
#include "llm/generate/generate.h"
#include "llm/generate/sampler.h"
#include "llm/import/locate.h"
#include "models/open_model.h"
#include "outputs.h"

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

int run(const Args& a) {
  if (a.ids.empty() && !a.text_given.given()) {
    say("loom: logits needs --ids or --text");
    return kUsage;
  }
  if (!a.out.empty()) {
    const auto model = locate_model(a.model.model);
    if (const Status out = check_file_output(a.out, {model.ok() ? *model : "", a.model.adapter});
        !out.ok())
      return fail(out.at("--out"), kUsage);
  }
  LOOM_OR_EXIT(OpenModel opened, open_model(a.model), kRefused);
  if (const Status c = check_context(opened.model.config, a.model.context); !c.ok())
    return fail(c.at("--ctx"), kUsage);
  say(status_line(a.model, opened));
  std::vector<std::int32_t> ids = a.ids;
  if (ids.empty()) {
    LOOM_OR_EXIT(ids, prompt_ids(opened.model, a.text), kFailed);
  }
  const std::int64_t vocab = opened.model.config.vocab_size,
                     count = static_cast<std::int64_t>(ids.size());
  Sha256 hash;
  std::vector<float> all;
  std::vector<std::int32_t> best;
  std::string table;
  EvaluateOptions options;
  options.context = a.model.context;
  options.isa = a.model.isa;
  options.device = opened.device.get();
  options.fuse = opened.mode.fuse;
  options.auto_device = opened.mode.auto_device;
  options.adapter = opened.adapter;
  const Status status = all_logits(
      opened.model, *opened.pool, ids, options,
      [&](std::int64_t position, std::span<const float> row) -> Status {
        hash.update_f32(row);
        if (!a.out.empty()) all.insert(all.end(), row.begin(), row.end());
        best.push_back(best_token(row));
        const std::string value =
            best.back() < 0 ? "nan" : fixed(row[static_cast<std::size_t>(best.back())], 6);
        if (!a.json)
          table += std::to_string(position) + " " +
                   std::to_string(ids[static_cast<std::size_t>(position)]) + " " +
                   std::to_string(best.back()) + " " + value + "\n";
        return {};
      });
  if (!status.ok()) return fail(status, kFailed);
  const std::string sha = Sha256::hex(hash.finish());
  if (!a.out.empty()) {
    const std::int64_t shape[] = {count, vocab};
    if (const Status written = write_npy(a.out, shape, all); !written.ok())
      return fail(written, kFailed);
  }
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
