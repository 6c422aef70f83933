// loom tokenize: text to ids and back, as HuggingFace's tokenizers do it.
#include <iostream>
#include <iterator>

#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string path;
  bool lines = false, decode = false, no_special = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("PATH", a.path, "a model, its folder, or a tokenizer.json").required();
  c.flag("--lines", a.lines, "one JSON string per line in, one JSON array per line out");
  c.flag("--decode", a.decode,
         "the reverse: a JSON array of ids in, text out (--lines: a JSON string per line)");
  c.flag("--no-special", a.no_special, "add no special tokens; with --decode: leave them out");
}

// `where`: "line 3: ", or "".
Exit wrong(const std::string& where, const std::string& what) {
  return problem(LOOM_INVALID_ARGUMENT, where + what, kFailed);
}

std::string answer_to(const Tokenizer& tokenizer, const Args& a, const std::string& input,
                      const std::string& where = {}) {
  if (!a.decode && !a.lines) return "[" + ids_csv(tokenizer.encode(input, !a.no_special)) + "]";
  const auto json = Json::parse(input);
  if (!json.ok())
    throw problem(static_cast<std::int32_t>(json.status().code()), where + json.status().message(),
                  kFailed);
  if (!a.decode) {
    if (!json->is_string()) throw wrong(where, "expects a JSON string");
    return "[" + ids_csv(tokenizer.encode(json->as_string(), !a.no_special)) + "]";
  }
  if (!json->is_array()) throw wrong(where, "expects a JSON array of ids");
  std::vector<std::int32_t> ids;
  for (const Json& id : json->as_array()) {
    // An id that the vocabulary lacks is passed over, as HuggingFace's tokenizers do.
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() > INT32_MAX)
      throw wrong(where, "expects an array of token ids, got " + id.dump());
    ids.push_back(static_cast<std::int32_t>(id.as_integer()));
  }
  const std::string text = tokenizer.decode(ids, a.no_special);
  return a.lines ? Json(text).dump() : text;
}

int run(const Args& a) {
  const Tokenizer tokenizer = or_exit(kRefused, [&] { return Tokenizer::load(a.path); });
  std::ios::sync_with_stdio(false);
  if (!a.lines) {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    const std::string out = answer_to(tokenizer, a, input);
    return print(a.decode ? out : out + "\n") ? kOk : kFailed;
  }
  std::size_t number = 0;
  std::string answers;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    try {
      answers += answer_to(tokenizer, a, line, "line " + std::to_string(number) + ": ") + '\n';
    } catch (...) {
      print(answers);
      throw;
    }
    // Who waits for an answer before the next line has it.
    if (answers.size() < 1 << 16 && std::cin.rdbuf()->in_avail() > 0) continue;
    if (!print(answers)) return kFailed;
    answers.clear();
  }
  return print(answers) ? kOk : kFailed;
}

}  // namespace

void add_tokenize(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "tokenize", "text on stdin to a JSON array of token ids, and back",
                    bind, run);
}

}  // namespace loom::cli
