// loom tokenize for tests/parity/models/tokenizers.py: PATH [--lines] [--decode] [--no-special].
// PATH: a folder or a tokenizer.json. stdin to a JSON array of ids; --lines: one JSON string per
// line in, one JSON array per line out; --decode: the reverse. With --section, the tokenizer makes
// a round trip through its binary form first.
#include <iostream>
#include <iterator>
#include <string>

#include "base/json/json.h"
#include "text/tokenizer.h"

namespace {

int fail(const loom::Status& status) {
  std::cerr << status.to_string() << "\n";
  return 1;
}

loom::Result<std::string> convert(const loom::Tokenizer& tokenizer, const std::string& input,
                                  bool lines, bool decode, bool special) {
  if (decode) {
    LOOM_ASSIGN(const loom::Json ids, loom::Json::parse(input));
    std::vector<std::int32_t> list;
    for (const loom::Json& id : ids.as_array())
      list.push_back(static_cast<std::int32_t>(id.as_integer()));
    const std::string text = tokenizer.decode(list, !special);
    return lines ? loom::Json(text).dump() : text;
  }
  std::string text = input;
  if (lines) {
    LOOM_ASSIGN(const loom::Json line, loom::Json::parse(input));
    text = line.as_string();
  }
  std::string out = "[";
  for (const std::int32_t id : tokenizer.encode(text, special))
    out.append(out.size() > 1 ? "," : "").append(std::to_string(id));
  return out + "]";
}

}  // namespace

int main(int argc, char** argv) {
  bool lines = false, decode = false, special = true, section = false;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--lines") lines = true;
    else if (arg == "--decode") decode = true;
    else if (arg == "--no-special") special = false;
    else if (arg == "--section") section = true;
    else path = arg;
  }
  auto tokenizer = loom::Tokenizer::load(path);
  if (!tokenizer.ok()) return fail(tokenizer.status());
  if (section) tokenizer = loom::Tokenizer::deserialize(tokenizer->serialize());
  if (!tokenizer.ok()) return fail(tokenizer.status());
  std::ios::sync_with_stdio(false);
  if (!lines) {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    const auto out = convert(*tokenizer, input, lines, decode, special);
    if (!out.ok()) return fail(out.status());
    std::cout << *out;
    if (!decode) std::cout << "\n";
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto out = convert(*tokenizer, line, lines, decode, special);
    if (!out.ok()) return fail(out.status());
    std::cout << *out << "\n";
  }
}
