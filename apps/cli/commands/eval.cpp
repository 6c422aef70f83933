// loom eval: how well a model predicts a text, and how far it is from another model or dtype.
#include "base/files/source.h"
#include "base/json/json.h"
#include "console.h"
#include "llm/evaluate.h"
#include "llm/generate/generate.h"
#include "models/open_model.h"

namespace loom::cli {
namespace {

struct Args {
  ModelOptions model;
  std::string text, against;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("MODEL", a.model.model, "a folder, a file, or a name in the local HuggingFace cache")
      .required();
  c.add("--text", a.text, "the text file to predict").required().type_name("FILE").no_stdin();
  c.add("--against", a.against,
        "the reference: another model, or a dtype of this one; without the adapter");
  c.flag("--json", a.json, "one JSON object on stdout");
  bind_model_options(c, a.model);
}

int run(const Args& a) {
  LOOM_OR_EXIT(const std::string text, read_text_file(a.text), kRefused);
  LOOM_OR_EXIT(OpenModel opened, open_model(a.model), kRefused);
  if (const Status c = check_context(opened.model.config, a.model.context); !c.ok())
    return fail(c.at("--ctx"), kUsage);
  LOOM_OR_EXIT(const std::vector<std::int32_t> ids, prompt_ids(opened.model, text), kFailed);
  std::optional<OpenModel> reference;
  if (!a.against.empty()) {
    ModelOptions other = a.model;
    const bool dtype = parse_weight_format(a.against).ok();
    other.model = dtype ? a.model.model : a.against;
    other.dtype = dtype ? a.against : "";
    other.adapter.clear();
    LOOM_OR_EXIT(reference, open_model(other), kRefused);
  }
  say(status_line(a.model, opened));
  EvaluateOptions options;
  options.context = a.model.context;
  options.isa = a.model.isa;
  options.device = opened.device.get();
  options.fuse = opened.mode.fuse;
  options.auto_device = opened.mode.auto_device;
  options.adapter = opened.adapter;
  LOOM_OR_EXIT(
      const Evaluation e,
      evaluate(opened.model, reference ? &reference->model : nullptr, *opened.pool, ids, options),
      kFailed);
  if (a.json) {
    Json answer = Json::object();
    answer.set("tokens", e.tokens);
    answer.set("loss", e.loss);
    answer.set("perplexity", e.perplexity);
    if (reference) {
      answer.set("reference_loss", e.reference_loss);
      answer.set("kl", e.kl);
      answer.set("largest_kl", e.largest_kl);
      answer.set("same_argmax", e.same_best);
    }
    return print(answer.dump() + "\n") ? kOk : kFailed;
  }
  std::string out = "tokens " + std::to_string(e.tokens) + "\nloss " + fixed(e.loss, 6) +
                    " nats per token\nperplexity " + fixed(e.perplexity, 4) + "\n";
  if (reference) {
    char kl[96];
    std::snprintf(kl, sizeof kl, "kl %.6g nats per token, largest %.6g\n", e.kl, e.largest_kl);
    out += "reference loss " + fixed(e.reference_loss, 6) + "\n" + kl + "same argmax " +
           fixed(100 * e.same_best, 2) + " %\n";
  }
  return print(out) ? kOk : kFailed;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "eval", "perplexity of a text; distance to another model or dtype",
                    bind, run);
}

}  // namespace loom::cli
