// Numbers that break readers in every integer of every format that a stranger may send: refused by
// name, or obeyed; in no more than a second of CPU time. The readers of GGUF, safetensors and .npy
// have theirs beside them (src/formats).
#include <gtest/gtest.h>
#include <time.h>

#include <functional>
#include <set>

#include "checkpoint/entity.h"
#include "formats/idx/idx.h"
#include "formats/onnx/onnx.h"
#include "formats/safetensors/safetensors.h"
#include "formats/test_files.h"
#include "fuzz/entity_repair.h"
#include "llm/import/import.h"
#include "support/places.h"
#include "support/tiny_llama.h"
#include "text/tokenizer.h"
#include "train/spec/spec.h"

namespace loom::test {
namespace {

// What a reader says, and where the number stands.
using Read = std::function<Status(const std::string& file)>;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// One file: true where it was refused.
bool refused(const Read& read, const std::string& file) {
  const double begin = cpu_seconds();
  const Status status = read(file);
  EXPECT_LT(cpu_seconds() - begin, 1.0);
  if (status.ok()) return false;
  EXPECT_NE(status.code(), Code::internal) << status.to_string();
  EXPECT_NE(status.code(), Code::io) << status.to_string();
  EXPECT_FALSE(status.message().empty());
  EXPECT_LT(status.message().size(), 20'000u);
  return true;
}

// The key that a number of a JSON text stands behind: '"out": 4' and '"at":[0,0'.
std::string key_before(const std::string& text, std::size_t at) {
  const std::size_t colon = text.rfind(':', at), end = text.rfind('"', colon);
  const std::size_t begin = text.rfind('"', end - 1);
  return text.substr(begin + 1, end - begin - 1);
}

// Every number of a text becomes every hostile one. `named`: a refusal holds the key, the
// number or the cell.
void every_number(const std::string& text, const Read& read, bool named) {
  ASSERT_TRUE(read(text).ok()) << read(text).to_string();
  int cases = 0, refusals = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    inside ^= text[at] == '"';
    const std::size_t end = text.find_first_not_of("-+.0123456789e", at);
    if (inside || end == at || text[at] < '0' || text[at] > '9') continue;
    const std::string key = key_before(text, at);
    for (const std::string& number : hostile_texts()) {
      SCOPED_TRACE(key + " = " + number);
      std::string other = text;
      other.replace(at, end - at, number);
      ++cases;
      if (!refused(read, other)) continue;
      ++refusals;
      const std::string message = read(other).message();
      const bool holds = message.find(key) != message.npos ||
                         message.find(number) != message.npos ||
                         message.find("0.0.0.") != message.npos;
      // What is no number of JSON is named by its place; null is a key left out.
      EXPECT_TRUE(!named || holds || number == "null" || message.starts_with("JSON line "))
          << message;
      if (testing::Test::HasFailure()) return;
    }
    at = end - 1;
  }
  EXPECT_GT(cases, 20);
  EXPECT_GT(refusals, cases / 4);
}

constexpr const char* kTopology =
    R"({"format":"loom-topology","version":1,"depth":1,"rows":1,"cols":1,"layers_per_cell":4,
"input":{"ids":11},"head":[0,0,0,2],"cells":[{"at":[0,0,0,0],"type":"embedding","out":8,"std":0.3},
{"at":[0,0,0,1],"type":"sequential","layers":[{"type":"sequential","layers":[
{"type":"rms_norm","eps":1e-5},{"type":"attention","heads":2,"kv_heads":1,"head_dim":4}]},
{"type":"residual"},{"type":"swiglu","hidden":12},{"type":"layer_norm"},{"type":"dense","out":8}]},
{"at":[0,0,0,2],"type":"rms_norm"},{"at":[0,0,0,3],"type":"dense","out":11,"bias":false}]})";
Status read_topology(const std::string& text) {
  auto network = Network::from_json(std::string_view(text), 1 << 20);
  if (!network.ok()) return network.status();
  EXPECT_LE(network->parameter_count(), 1 << 20);
  const std::string written = network->to_json().dump();
  const auto again = Network::from_json(std::string_view(written), 1 << 20);
  EXPECT_TRUE(again.ok() && again->to_json().dump() == written);
  return {};
}

TEST(HostileNumbers, OfTopologies) { every_number(kTopology, read_topology, true); }

TEST(HostileNumbers, OfTrainingSpecs) {
  every_number(
      R"({"format":"loom-training","version":1,"network":{"format":"loom-topology","version":1,
"input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dense","out":2}]},"data":{"type":"tokens",
"file":"a.npy","length":12},"loss":"cross_entropy","steps":5,"batch":4,"micro_batches":2,"seed":7,
"checkpoint_every":3,"log_every":2,"optimizer":{"type":"adamw","weight_decay":0.1,"clip_norm":1},
"schedule":{"type":"cosine","rate":0.1,"warmup":2},"validation":{"share":0.2,"every":4}})",
      [](const std::string& text) -> Status {
        const auto spec = parse_training_spec(std::string_view(text));
        if (!spec.ok()) return spec.status();
        const std::string written = spec->to_json().dump();
        EXPECT_TRUE(parse_training_spec(std::string_view(written)).ok()) << written;
        return {};
      },
      true);
}

TEST(HostileNumbers, OfTokenizers) {
  const std::string whole = file_text(source_dir() + "/tests/cases/data/tiny.tokenizer.json");
  // The vocabulary's first ids stand for all.
  const std::size_t vocabulary = whole.find("\"vocab\""), few = whole.find(',', vocabulary + 60);
  const auto read = [&](const std::string& head) -> Status {
    const auto t = Tokenizer::from_json(head + whole.substr(few));
    if (!t.ok()) return t.status();
    EXPECT_FALSE(t->encode("Once upon a time").empty());
    return {};
  };
  every_number(whole.substr(0, few), read, false);
}

class HostileModels : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(write_tiny_llama(folder_.path())); }
  TempFolder folder_;
};

TEST_F(HostileModels, OfConfigs) {
  const auto file = Safetensors::open_folder(folder_.path());
  ASSERT_TRUE(file.ok());
  every_number(
      file_text(folder_ / "config.json"),
      [&](const std::string& text) -> Status {
        LOOM_ASSIGN(const Json json, Json::parse(text));
        LOOM_ASSIGN(const ModelConfig config, config_from_hf(json));
        return import_network(config, file->tensors(), Naming::hf, "input").status();
      },
      false);
}

// Integers of `width` bytes at every place of a file that is right.
void every_place(const std::string& file, std::size_t begin, std::size_t end, const Read& read) {
  ASSERT_TRUE(read(file).ok()) << read(file).to_string();
  int cases = 0, refusals = 0;
  std::vector<std::uint64_t> numbers = hostile_bits();
  numbers.insert(numbers.end(), {0, 1});
  for (std::size_t at = begin; at < end; ++at)
    for (const std::size_t width : {4u, 8u})
      for (const std::uint64_t number : numbers) {
        if (at + width > file.size()) continue;
        SCOPED_TRACE(std::to_string(width) + " bytes at " + std::to_string(at) + ": " +
                     std::to_string(number));
        std::string other = file;
        std::memcpy(other.data() + at, le(number).data(), width);
        ++cases;
        refusals += refused(read, other);
        if (testing::Test::HasFailure()) return;
      }
  EXPECT_GT(cases, 100);
  EXPECT_GT(refusals, cases / 4);
}

Status read_entity(std::string file) {
  fuzz::repair(file);
  const auto bytes = as_bytes(file);
  LOOM_ASSIGN(const Entity entity,
              Entity::open(source_from_bytes({bytes.begin(), bytes.end()}, "input")));
  LOOM_TRY(entity.verify_all());
  return load_network(entity).status();
}

TEST(HostileNumbers, OfEntityFilesWithRightHashes) {
  auto network = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"input":{"width":3},"cells":[
        {"at":[0,0,0,0],"type":"dense","out":2,"dtype":"i4"}]})"));
  ASSERT_TRUE(network.ok());
  std::vector<std::byte> bytes;
  ASSERT_TRUE(save_network(&bytes, *network).ok());
  const std::string file(as_text(bytes));
  every_place(file, 8, 56, read_entity);
  every_place(file, static_cast<std::size_t>(load_le<std::uint64_t>(file.data() + 24)),
              file.size() - 32, read_entity);
}

TEST(HostileNumbers, OfIdxFiles) {
  const std::string file =
      std::string("\0\0\x08\3\0\0\0\2\0\0\0\2\0\0\0\3", 16) + std::string(12, '\1');
  every_place(file, 0, 16, [](const std::string& bytes) {
    return open_array(source_of(bytes), 1 << 20).status();
  });
}

// Each byte becomes a varint of a hostile number, which moves the rest: lengths then lie.
TEST(HostileNumbers, OfOnnxVarints) {
  const std::string file = file_text(source_dir() + "/tests/cases/data/tiny.onnx");
  const auto read = [](const std::string& bytes) {
    return onnx::read_model(source_of(bytes)).status();
  };
  ASSERT_TRUE(read(file).ok());
  int refusals = 0, cases = 0;
  for (std::size_t at = 0; at < file.size(); ++at)
    for (std::uint64_t number : hostile_bits()) {
      std::string varint;
      for (; number >= 128; number >>= 7) varint += static_cast<char>(number % 128 + 128);
      varint += static_cast<char>(number);
      SCOPED_TRACE("byte " + std::to_string(at));
      ++cases;
      refusals += refused(read, file.substr(0, at) + varint + file.substr(at + 1));
      if (HasFailure()) return;
    }
  EXPECT_GT(refusals, cases / 2);
}

}  // namespace
}  // namespace loom::test
