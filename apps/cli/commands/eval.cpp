// loom eval: how well a model predicts a text, and how far it is from another model or dtype.
#include "files/files.h"
#include "models/loaded_model.h"
#include "support/console.h"

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
  const std::string text = read_text(a.text);
  const LoadedModel model = load_model(a.model);
  check_context(model, a.model.context);
  const std::vector<std::int32_t> ids = prompt_ids(model, text);
  std::optional<LoadedModel> reference;
  if (!a.against.empty()) {
    ModelOptions other = a.model;
    const bool dtype = format_problem(a.against).empty();
    other.model = dtype ? a.model.model : a.against;
    other.dtype = dtype ? a.against : "";
    other.adapter.clear();
    reference.emplace(load_model(other));
  }
  const Json options = run_options(a.model);
  const std::int64_t mine = integer_in(model.info, "vocab_size");
  const std::int64_t theirs = reference ? integer_in(reference->info, "vocab_size") : mine;
  const bool fits = ids.size() > 1 && mine == theirs;
  const auto create = [&] {
    return reference ? Evaluator(model.model, reference->model, ids, options.dump())
                     : Evaluator(model.model, ids, options.dump());
  };
  Evaluator evaluator = fits ? made_of(create) : or_exit(kFailed, create);
  const Json made = parsed(evaluator.info());
  say_note(made);
  say(status_line(a.model, model, made, false));
  while (evaluator.next() > 0) {
  }
  const Json e = parsed(evaluator.info());
  if (a.json) {
    Json answer = Json::object();
    for (const char* key :
         {"tokens", "loss", "perplexity", "reference_loss", "kl", "largest_kl", "same_argmax"})
      if (const Json* value = e.find(key)) answer.set(key, *value);
    return print(answer.dump() + "\n") ? kOk : kFailed;
  }
  std::string out = "tokens " + std::to_string(integer_in(e, "tokens")) + "\nloss " +
                    fixed(number_in(e, "loss"), 6) + " nats per token\nperplexity " +
                    fixed(number_in(e, "perplexity"), 4) + "\n";
  if (reference) {
    char kl[96];
    std::snprintf(kl, sizeof kl, "kl %.6g nats per token, largest %.6g\n", number_in(e, "kl"),
                  number_in(e, "largest_kl"));
    out += "reference loss " + fixed(number_in(e, "reference_loss"), 6) + "\n" + kl +
           "same argmax " + fixed(100 * number_in(e, "same_argmax"), 2) + " %\n";
  }
  return print(out) ? kOk : kFailed;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "eval", "perplexity of a text; distance to another model or dtype",
                    bind, run);
}

}  // namespace loom::cli
