// loom logits: what a model predicts after each position of a text.
#include "base/json.h"
#include "base/sha256.h"
#include "console.h"
#include "formats/npy.h"
#include "llm/sampler.h"
#include "open_model.h"

namespace loom::cli {
namespace {

struct Args {
  ModelOptions model;
  std::vector<std::int32_t> ids;
  std::string text, out;
  CLI::Option* text_given = nullptr;
  bool json = false;
};

void bind(CLI::App& c, Args& a) {
  c.add_option("MODEL", a.model.model, "a folder, a file, or a name in the local HuggingFace cache")->required();
  auto* ids = c.add_option("--ids", a.ids, "token ids as they are: 1,2,3")->delimiter(',')->allow_extra_args(false);
  a.text_given = c.add_option("--text", a.text, "text to tokenize; \"\" is the beginning-of-text token")->excludes(ids);
  c.add_option("--out", a.out, "write all logits to this .npy file (positions x vocabulary, f32)");
  c.add_flag("--json", a.json, "one JSON object on stdout");
  bind_model_options(c, a.model);
}

int run(const Args& a) {
  if (a.ids.empty() && a.text_given->count() == 0) {
    say("loom: logits needs --ids or --text");
    return kUsage;
  }
  LOOM_OR_EXIT(OpenModel opened, open_model(a.model), kRefused);
  std::vector<std::int32_t> ids = a.ids;
  if (ids.empty()) {
    LOOM_OR_EXIT(ids, prompt_ids(opened.model, a.text), kFailed);
  }
  const std::int64_t vocab = opened.model.config.vocab_size, count = static_cast<std::int64_t>(ids.size());
  const std::int64_t context = a.model.context > 0 ? a.model.context : opened.model.config.max_positions;
  for (const std::int32_t id : ids)
    if (id < 0 || id >= vocab) return fail(Status(Code::out_of_range, "id " + std::to_string(id) + ": the vocabulary has " + std::to_string(vocab)), kFailed);
  if (count > context) return fail(Status(Code::out_of_range, std::to_string(count) + " ids, and the context holds " + std::to_string(context) + " (--ctx)"), kFailed);

  SessionOptions options;
  options.max_rows = options.max_head_rows = 64;
  options.max_positions = count;
  options.isa = a.model.isa;
  LOOM_OR_EXIT(Session session, Session::create(opened.model.network, *opened.pool, options), kFailed);
  say(status_line(a.model, opened, session));

  Sha256 hash;
  std::vector<float> all;
  std::vector<std::int32_t> best;
  std::string table;
  for (std::int64_t at = 0; at < count; at += options.max_rows) {
    std::vector<std::uint32_t> part, sequences, positions, head;
    for (std::int64_t i = at; i < std::min(count, at + options.max_rows); ++i) {
      part.push_back(static_cast<std::uint32_t>(ids[static_cast<std::size_t>(i)]));
      positions.push_back(static_cast<std::uint32_t>(i));
      head.push_back(static_cast<std::uint32_t>(i - at));
      sequences.push_back(0);
    }
    if (const Status status = session.run_tokens(part, sequences, positions, head); !status.ok()) return fail(status, kFailed);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::span<const float> row = session.output(static_cast<std::int64_t>(i));
      hash.update_f32(row);
      if (!a.out.empty()) all.insert(all.end(), row.begin(), row.end());
      best.push_back(best_token(row));
      if (!a.json) table += std::to_string(positions[i]) + " " + std::to_string(part[i]) + " " + std::to_string(best.back()) + " " + (best.back() < 0 ? "nan" : fixed(row[static_cast<std::size_t>(best.back())], 6)) + "\n";
    }
  }
  const std::string sha = Sha256::hex(hash.finish());
  if (!a.out.empty()) {
    const std::int64_t shape[] = {count, vocab};
    if (const Status status = write_npy(a.out, shape, all); !status.ok()) return fail(status, kFailed);
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

void add_logits(CLI::App& app, Action& action) { add_command<Args>(app, action, "logits", "what a model predicts after each position, with the hash of the logits", bind, run); }

}  // namespace loom::cli
