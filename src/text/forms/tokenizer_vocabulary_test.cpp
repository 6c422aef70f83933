#include <gtest/gtest.h>

#include <map>

#include "base/files/bytes.h"
#include "base/files/source.h"
#include "support/data.h"
#include "text/tokenizer.h"

namespace loom {
namespace {

// The tokenizer.ggml.* metadata of a GGUF file (the reader of the product is not this module's).
struct Metadata {
  std::string bytes;
  std::map<std::string, std::string_view> text;
  std::map<std::string, std::vector<std::string_view>> texts;
  std::map<std::string, std::vector<std::int32_t>> integers;
  std::map<std::string, std::vector<float>> reals;

  explicit Metadata(const std::string& path) : bytes(*read_text_file(path)) {
    std::size_t at = 8;
    const auto u32 = [&] {
      at += 4;
      return load_le<std::uint32_t>(&bytes[at - 4]);
    };
    const auto u64 = [&] {
      at += 8;
      return load_le<std::uint64_t>(&bytes[at - 8]);
    };
    const auto word = [&] {
      const auto n = u64();
      at += n;
      return std::string_view(bytes).substr(at - n, n);
    };
    u64();
    for (std::uint64_t left = u64(); left > 0; --left) {
      const std::string key(word());
      std::uint32_t type = u32();
      const bool array = type == 9;
      if (array) type = u32();
      for (std::uint64_t n = array ? u64() : 1; n > 0; --n) {
        if (type == 8) {
          texts[key].push_back(word());
        } else if (type == 6) {
          reals[key].push_back(load_le<float>(&bytes[at]));
          at += 4;
        } else if (type == 4 || type == 5) {
          integers[key].push_back(static_cast<std::int32_t>(u32()));
        } else if (type == 7) {
          integers[key].push_back(bytes[at++]);
        } else {
          at += type >= 10 ? 8 : type < 2 ? 1 : 2;
        }
      }
    }
  }

  Result<Tokenizer> tokenizer() {
    const auto one = [&](const std::string& key) -> std::optional<std::int32_t> {
      const auto found = integers.find("tokenizer.ggml." + key);
      return found == integers.end() ? std::nullopt : std::optional(found->second[0]);
    };
    VocabularySpec spec;
    spec.model = texts["tokenizer.ggml.model"].at(0);
    if (!texts["tokenizer.ggml.pre"].empty()) spec.pre_tokenizer = texts["tokenizer.ggml.pre"][0];
    spec.tokens = texts["tokenizer.ggml.tokens"];
    spec.merges = texts["tokenizer.ggml.merges"];
    spec.scores = reals["tokenizer.ggml.scores"];
    spec.token_types = integers["tokenizer.ggml.token_type"];
    spec.bos = one("bos_token_id");
    spec.eos = one("eos_token_id");
    spec.unknown = one("unknown_token_id");
    if (const auto add = one("add_bos_token")) spec.add_bos = *add != 0;
    return Tokenizer::from_vocabulary(spec);
  }
};

// llama.cpp's own test: texts between marks in .inp, their ids without special tokens in the lines
// of .out.
void expect_llamacpp(const std::string& path) {
  auto t = Metadata(path).tokenizer();
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  const std::string input = *read_text_file(path + ".inp"), output = *read_text_file(path + ".out");
  const std::string mark = "\n__ggml_vocab_test__\n";
  std::size_t in = 0, out = 0, cases = 0;
  while (out < output.size()) {
    const std::size_t end = std::min(input.find(mark, in), input.size()),
                      line_end = output.find('\n', out);
    const std::string text = input.substr(in, end - in);
    std::string got;
    for (const auto id : t->encode(text, false)) got += " " + std::to_string(id);
    EXPECT_EQ(got, output.substr(out, line_end - out)) << text;
    in = end + mark.size();
    out = line_end + 1;
    ++cases;
  }
  EXPECT_GT(cases, 40u);
}

TEST(Vocabulary, LlamaCppSentencePiece) {
  LOOM_TEST_FILE(path, "llamacpp_vocab/ggml-vocab-llama-spm.gguf");
  expect_llamacpp(path);
}

TEST(Vocabulary, LlamaCppGpt2) {
  LOOM_TEST_FILE(path, "llamacpp_vocab/ggml-vocab-gpt-2.gguf");
  expect_llamacpp(path);
}

TEST(Vocabulary, StoriesEqualsItsTokenizerJson) {
  LOOM_TEST_FILE(path, "tales/tales.gguf");
  LOOM_TEST_FILE(folder, "tales/hf");
  auto gguf = Metadata(path).tokenizer();
  auto json = Tokenizer::load(folder);
  ASSERT_TRUE(gguf.ok() && json.ok());
  for (const std::string text :
       {"", "Once upon a time", " two  spaces", "Z\u00fcrich \u4e2d", "a<s>b"}) {
    EXPECT_EQ(gguf->encode(text), json->encode(text)) << text;
    EXPECT_EQ(gguf->decode(json->encode(text)), json->decode(json->encode(text)));
  }
  EXPECT_EQ(gguf->bos(), 1);
  EXPECT_TRUE(gguf->is_special(0));
}

TEST(Vocabulary, RefusesByName) {
  const std::string_view tokens[] = {"a", "b"};
  VocabularySpec spec;
  spec.tokens = tokens;
  spec.model = "bert";
  EXPECT_EQ(Tokenizer::from_vocabulary(spec).status().to_string(),
            "unsupported: vocabulary: tokenizer model 'bert' of a GGUF file; this build reads "
            "'llama' and 'gpt2'");
  spec.model = "gpt2";
  spec.pre_tokenizer = "nonesuch";
  EXPECT_NE(Tokenizer::from_vocabulary(spec).status().message().find("'nonesuch'"),
            std::string::npos);
  spec.model = "llama";
  EXPECT_EQ(Tokenizer::from_vocabulary(spec).status().code(), Code::corrupt);
}

}  // namespace
}  // namespace loom
