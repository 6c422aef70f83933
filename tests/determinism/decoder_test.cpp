// Determinism on one machine (L0): a decoder's logits have the same bits whatever the threads, the
// company in a batch, the place in it, the cut of a prefill, and the way the weights got into
// memory.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "checkpoint/entity.h"
#include "exec/session.h"

namespace loom {
namespace {

constexpr std::size_t kVocab = 96, kLength = 80;
using Logits = std::vector<float>;  // of every position, one after another

// The size of the embedded model: two blocks of width 64.
Network decoder(const std::string& dtype) {
  const std::string f = R"("dtype":")" + dtype + "\"";
  const std::string block =
      R"("type":"sequential",)" + f +
      R"(,"layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":8,"kv_heads":4}]},{"type":"residual"},
{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":172}]},{"type":"residual"}]})";
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"layers_per_cell":5,"input":{"ids":96},"head":[0,0,0,3],"cells":[
{"at":[0,0,0,0],"type":"embedding","out":64,"std":0.5,)" +
      f + R"(},{"at":[0,0,0,1],)" + block + R"(,{"at":[0,0,0,2],)" + block + R"(,
{"at":[0,0,0,3],"type":"rms_norm"},{"at":[0,0,0,4],"type":"dense","out":96,"bias":false,"tie":"0.0.0.0:weight",)" +
      f + "}]}"));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(7).ok());
  return std::move(*n);
}

std::uint32_t token(std::size_t text, std::size_t position) {
  return static_cast<std::uint32_t>(
      (position * position * (3 + 2 * text) + 17 * text + position / 7) % kVocab);
}

struct How {
  int threads = 1;
  std::size_t chunk = 64;                // positions of each sequence per run
  std::vector<std::size_t> texts = {0};  // one sequence each, in this order
};

// Logits of text 0.
Logits run(Network& network, const How& how) {
  ThreadPool pool(how.threads);
  const std::size_t rows = how.chunk * how.texts.size();
  auto session = Session::create(network, pool,
                                 {.max_rows = static_cast<std::int64_t>(rows),
                                  .max_head_rows = static_cast<std::int64_t>(rows),
                                  .max_positions = 128,
                                  .sequences = static_cast<std::int64_t>(how.texts.size())});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  Logits all;
  for (std::size_t at = 0; at < kLength; at += how.chunk) {
    std::vector<std::uint32_t> ids, sequences, positions, head;
    for (std::size_t s = 0; s < how.texts.size(); ++s) {
      for (std::size_t p = at; p < std::min(at + how.chunk, kLength); ++p) {
        if (how.texts[s] == 0) head.push_back(static_cast<std::uint32_t>(ids.size()));
        ids.push_back(token(how.texts[s], p));
        sequences.push_back(static_cast<std::uint32_t>(s));
        positions.push_back(static_cast<std::uint32_t>(p));
      }
    }
    const Status status = session->run_tokens(ids, sequences, positions, head);
    EXPECT_TRUE(status.ok()) << status.to_string();
    for (std::size_t i = 0; i < head.size(); ++i)
      for (float v : session->output(static_cast<std::int64_t>(i))) all.push_back(v);
  }
  return all;
}

bool same_bits(const Logits& a, const Logits& b) {
  return a.size() == kLength * kVocab && a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class Determinism : public testing::TestWithParam<const char*> {
 protected:
  Network network_ = decoder(GetParam());
  Logits want_ = run(network_, {});
};

TEST_P(Determinism, Threads) {
  // The bits must say something: another text has others.
  Logits other = want_;
  other[100] += 1;
  ASSERT_FALSE(same_bits(want_, other));
  for (int threads = 2; threads <= 7; ++threads)
    EXPECT_TRUE(same_bits(run(network_, {.threads = threads}), want_)) << threads;
}

TEST_P(Determinism, ChunksOfThePrefill) {
  for (std::size_t chunk : {1, 2, 3, 7, 16, 33, 63})
    EXPECT_TRUE(same_bits(run(network_, {.threads = chunk == 1 ? 1 : 2, .chunk = chunk}), want_))
        << chunk;
}

TEST_P(Determinism, CompanyAndPlaceInTheBatch) {
  for (const std::vector<std::size_t>& texts :
       {std::vector<std::size_t>{0, 1, 2}, {1, 0, 2}, {2, 1, 0}})
    for (std::size_t chunk : {1, 5, 21})
      EXPECT_TRUE(same_bits(run(network_, {.threads = 2, .chunk = chunk, .texts = texts}), want_))
          << "chunk " << chunk << ", first text " << texts[0];
}

TEST_P(Determinism, MappedOrRead) {
  const std::string path = testing::TempDir() + "loom_determinism_" + GetParam() + ".entity";
  ASSERT_TRUE(save_network(path, network_).ok());
  for (const MapMode mode : {MapMode::map_if_possible, MapMode::read}) {
    auto source = open_source(path, mode);
    ASSERT_TRUE(source.ok());
    auto entity = Entity::open(*source);
    ASSERT_TRUE(entity.ok()) << entity.status().to_string();
    auto loaded = load_network(*entity);
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    EXPECT_TRUE(same_bits(run(*loaded, {.threads = 2, .chunk = 13}), want_))
        << (mode == MapMode::read ? "read" : "mapped");
  }
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(Formats, Determinism, testing::Values("f32", "i4", "bf16", "i8", "f16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace loom
