// The file itself: damage of every bit, every truncation, headers and tables that lie, sources of
// all kinds.
#include "checkpoint/entity.h"

#include <gtest/gtest.h>

#include "checkpoint/checksum.h"
#include "checkpoint/layout.h"
#include "checkpoint/test_networks.h"

namespace loom {
namespace {

using namespace test;
using namespace entity_layout;

// Published values of XXH64 with seed 0.
TEST(Checksum, GivesThePublishedValues) {
  EXPECT_EQ(Xxh64::of({}), 0xEF46DB3751D8E999u);
  EXPECT_EQ(Xxh64::of(as_bytes("a")), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(Xxh64::of(as_bytes("abc")), 0x44BC2CF5AD770999u);
  EXPECT_EQ(Xxh64::of(as_bytes("Nobody inspects the spammish repetition")), 0xFBCEA83C8A378BF1u);
}

TEST(Checksum, PiecesGiveWhatTheWholeGives) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i * 37);
  for (std::size_t piece = 1; piece < 80; ++piece) {
    Xxh64 hash;
    for (std::size_t at = 0; at < text.size(); at += piece)
      hash.update(as_bytes(std::string_view(text).substr(at, piece)));
    EXPECT_EQ(hash.finish(), Xxh64::of(as_bytes(text))) << piece;
  }
}

// A file with every kind of entry, empty ones included.
std::string small_file(const TempFolder& folder) {
  const std::string path = folder / "small.entity";
  auto writer = EntityWriter::create(path);
  EXPECT_TRUE(writer.ok());
  const std::vector<float> values = {1, -2, 3.5f, 0, 5, 6};
  const std::vector<float> wide(16 * 64, 0.5f);
  auto packed =
      PackedMatrix::encode(default_format(DType::binary), 3, 20, std::span(wide).first(60));
  EXPECT_TRUE(packed.ok());
  EXPECT_TRUE(writer->section("note", as_bytes("a text")).ok());
  EXPECT_TRUE(writer->section("empty", {}).ok());
  EXPECT_TRUE(
      writer->tensor("w", TensorType::plain(DType::f32), {2, 3}, std::as_bytes(std::span(values)))
          .ok());
  EXPECT_TRUE(
      writer->tensor("p", TensorType::matrix(packed->format()), {3, 20}, packed->bytes()).ok());
  EXPECT_TRUE(
      writer->tensor("none", TensorType::plain(DType::i64), {0, 4}, std::span<const std::byte>())
          .ok());
  const Status status = writer->finish();
  EXPECT_TRUE(status.ok()) << status.to_string();
  return file_text(path);
}

Status read_everything(SourcePtr source) {
  LOOM_ASSIGN(const Entity entity, Entity::open(std::move(source)));
  return entity.verify_all();
}

TEST(Entity, ReadsWhatWasWritten) {
  const TempFolder folder;
  const std::string bytes = small_file(folder);
  for (const SourcePtr& source :
       {*open_source(folder / "small.entity"), bytes_source(bytes), callback_source(bytes)}) {
    auto entity = Entity::open(source);
    ASSERT_TRUE(entity.ok()) << entity.status().to_string();
    ASSERT_EQ(entity->sections().size(), 2u);
    ASSERT_EQ(entity->tensors().size(), 3u);
    EXPECT_EQ(*entity->text("note"), "a text");
    EXPECT_EQ(*entity->text("empty"), "");
    EXPECT_EQ(*entity->f32("w"), (std::vector<float>{1, -2, 3.5f, 0, 5, 6}));
    EXPECT_EQ(entity->find_tensor("w")->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(entity->find_tensor("w")->sha256, Sha256::of(entity->tensor("w")->bytes));
    EXPECT_EQ(entity->tensor("none")->bytes.size(), 0u);
    auto p = entity->tensor("p");
    ASSERT_TRUE(p.ok());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p->bytes.data()) % 64, 0u);
    EXPECT_EQ(to_string(entity->find_tensor("p")->type), "packed binary");
    const Status status = entity->verify_all();
    EXPECT_TRUE(status.ok()) << status.to_string();
    LOOM_EXPECT_ERROR(entity->tensor("x"), Code::not_found, "no tensor 'x'");
    LOOM_EXPECT_ERROR(entity->section("w"), Code::not_found, "no section 'w'");
    LOOM_EXPECT_ERROR(entity->f64("w"), Code::invalid_argument, "is f32, expected f64");
  }
  EXPECT_EQ(small_file(folder), bytes);
}

TEST(Entity, MappedBytesAreNotCopied) {
  const TempFolder folder;
  small_file(folder);
  auto source = open_source(folder / "small.entity");
  auto entity = Entity::open(*source);
  ASSERT_TRUE(entity.ok());
  auto p = entity->tensor("p");
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->bytes.data(), (*source)->view().data() + entity->find_tensor("p")->offset);
  EXPECT_EQ(p->owner, *source);
}

TEST(Entity, EveryBitFlipIsNoticed) {
  const TempFolder folder;
  std::string bytes = small_file(folder);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    const Status status = read_everything(source_from_view(as_bytes(bytes), "flipped"));
    ASSERT_FALSE(status.ok()) << "bit " << bit << " of " << bytes.size() * 8;
    EXPECT_NE(status.message().find("flipped"), std::string::npos);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  }
}

TEST(Entity, EveryTruncationNamesBothSizes) {
  const TempFolder folder;
  const std::string bytes = small_file(folder);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto entity =
        Entity::open(source_from_view(as_bytes(std::string_view(bytes).substr(0, size)), "cut"));
    ASSERT_FALSE(entity.ok());
    if (size >= 9) {  // before, it could be anything
      EXPECT_EQ(entity.status().code(), Code::truncated) << entity.status().to_string();
      EXPECT_NE(entity.status().message().find(size < 64 ? "64" : std::to_string(bytes.size())),
                std::string::npos)
          << entity.status().to_string();
      EXPECT_NE(entity.status().message().find("has " + std::to_string(size)), std::string::npos)
          << entity.status().to_string();
    }
  }
  LOOM_EXPECT_ERROR(Entity::open(bytes_source(bytes + "x")), Code::corrupt,
                    "the file has " + std::to_string(bytes.size() + 1));
}

TEST(Entity, DamageNamesTheTensorAndSparesTheOthers) {
  const TempFolder folder;
  std::string bytes = small_file(folder);
  auto entity = Entity::open(bytes_source(bytes));
  ASSERT_TRUE(entity.ok());
  bytes[static_cast<std::size_t>(entity->find_tensor("w")->offset) + 5] ^= 1;
  for (const SourcePtr& source : {bytes_source(bytes), callback_source(bytes)}) {
    auto damaged = Entity::open(source);
    ASSERT_TRUE(damaged.ok());
    for (int i = 0; i < 2; ++i)
      LOOM_EXPECT_ERROR(damaged->tensor("w"), Code::corrupt, "tensor 'w': its 24 bytes at offset");
    EXPECT_TRUE(damaged->tensor("p").ok());
    EXPECT_EQ(*damaged->text("note"), "a text");
    LOOM_EXPECT_ERROR(damaged->verify_all(), Code::corrupt, "tensor 'w'");
  }
}

TEST(Entity, OtherFilesAreRefusedByName) {
  const std::string v1 = std::string("ENTITY\0\0\1\0", 10) + std::string(100, ' ');
  LOOM_EXPECT_ERROR(Entity::open(bytes_source(v1)), Code::unsupported,
                    "entity v1 file of the Go engine: unsupported");
  LOOM_EXPECT_ERROR(Entity::open(bytes_source("GGUF" + std::string(100, '\0'))), Code::unsupported,
                    "is GGUF, expected .entity");
  LOOM_EXPECT_ERROR(Entity::open(bytes_source("")), Code::truncated, "empty");
  std::string v3 = "LOOMENT2" + std::string(56, '\0');
  v3[8] = 3;
  LOOM_EXPECT_ERROR(Entity::open(bytes_source(v3)), Code::unsupported,
                    "version 3, this library reads version 2");
}

// A file whose hashes are right and whose numbers lie.
std::string lying_header(std::string bytes, std::size_t at, std::uint64_t value) {
  store_le(bytes.data() + at, value);
  store_le(bytes.data() + 56, Xxh64::of(as_bytes(std::string_view(bytes).substr(0, 56))));
  return bytes;
}
std::string lying_table(std::string bytes, std::size_t at, std::string_view value) {
  const auto toc = static_cast<std::size_t>(load_le<std::uint64_t>(bytes.data() + 24)),
             size = static_cast<std::size_t>(load_le<std::uint64_t>(bytes.data() + 32)) - 32;
  bytes.replace(toc + at, value.size(), value);
  const auto digest = Sha256::of(as_bytes(std::string_view(bytes).substr(toc, size)));
  std::memcpy(bytes.data() + toc + size, digest.data(), 32);
  return bytes;
}
std::string le64(std::uint64_t value) {
  std::string out(8, '\0');
  store_le(out.data(), value);
  return out;
}

TEST(Entity, HostileNumbersAreRefused) {
  const TempFolder folder;
  const std::string bytes = small_file(folder);
  auto entity = Entity::open(bytes_source(bytes));
  ASSERT_TRUE(entity.ok());
  std::vector<std::size_t> starts;
  std::size_t at = 0;
  for (const auto* entries : {&entity->sections(), &entity->tensors()})
    for (const EntityEntry& e : *entries) {
      starts.push_back(at);
      at += static_cast<std::size_t>(entry_size(e));
    }
  for (const std::uint64_t n :
       {std::uint64_t{0x7fffffff}, std::uint64_t{0x80000001}, std::uint64_t{0xffffffff},
        std::uint64_t{1} << 32, (std::uint64_t{1} << 53) + 1, (std::uint64_t{1} << 62) + 64,
        (std::uint64_t{1} << 63) - 64, std::uint64_t{1} << 63, ~std::uint64_t{0},
        ~std::uint64_t{63}}) {
    for (const std::size_t field : {16, 24, 32, 40, 48})
      EXPECT_FALSE(Entity::open(bytes_source(lying_header(bytes, field, n))).ok())
          << field << " = " << n;
    for (const std::size_t start : starts) {
      for (const std::size_t field : {0, 16, 24})
        EXPECT_FALSE(Entity::open(bytes_source(lying_table(bytes, start + field, le64(n)))).ok())
            << field << " = " << n;
      EXPECT_FALSE(
          Entity::open(bytes_source(lying_table(bytes, start + 8, le64((n | 1) << 16 | 4)))).ok())
          << n;
    }
    for (const std::size_t tensor : {2, 3})
      for (const std::size_t field : {72, 80})
        EXPECT_FALSE(
            Entity::open(bytes_source(lying_table(bytes, starts[tensor] + field, le64(n)))).ok())
            << tensor << ": " << n;
  }
  LOOM_EXPECT_ERROR(
      Entity::open(bytes_source(lying_table(bytes, starts[2] + 1, std::string(1, 21)))),
      Code::corrupt, "dtype 21");
  LOOM_EXPECT_ERROR(
      Entity::open(bytes_source(lying_table(bytes, starts[2] + 1, std::string(1, 14)))),
      Code::corrupt, "stored packed only");
  LOOM_EXPECT_ERROR(Entity::open(bytes_source(lying_table(bytes, starts[3] + 2, "\x07"))),
                    Code::corrupt, "is no format");
  LOOM_EXPECT_ERROR(Entity::open(bytes_source(lying_table(bytes, starts[2] + 72, le64(3)))),
                    Code::corrupt,
                    "tensor 'w': f32 of shape [3, 3] takes 36 bytes, the entry says 24");
  LOOM_EXPECT_ERROR(Entity::open(bytes_source(lying_table(bytes, starts[2] + 16, le64(64)))),
                    Code::corrupt, "tensor 'w': lies at offset 64");
  LOOM_EXPECT_ERROR(Entity::open(bytes_source(lying_table(bytes, starts[3] + 72 + 16, "w"))),
                    Code::corrupt, "tensor 'w': stands twice");
  LOOM_EXPECT_ERROR(Entity::open(bytes_source(lying_table(bytes, starts[3] + 72 + 16, "\n"))),
                    Code::corrupt, "control character");
}

TEST(EntityWriter, RefusesWhatNoReaderWouldTake) {
  const TempFolder folder;
  const std::string path = folder / "x.entity";
  {
    auto writer = EntityWriter::create(path);
    ASSERT_TRUE(writer.ok());
    const std::vector<float> values(6);
    const auto bytes = std::as_bytes(std::span(values));
    const TensorType f32 = TensorType::plain(DType::f32);
    EXPECT_TRUE(writer->tensor("w", f32, {6}, bytes).ok());
    LOOM_EXPECT_ERROR(writer->tensor("w", f32, {6}, bytes), Code::invalid_argument,
                      "tensor 'w': stands twice");
    LOOM_EXPECT_ERROR(writer->tensor("v", f32, {7}, bytes), Code::invalid_argument,
                      "takes 28 bytes, got 24");
    LOOM_EXPECT_ERROR(writer->tensor("u", f32, {-1}, bytes), Code::invalid_argument, "[-1]");
    LOOM_EXPECT_ERROR(writer->tensor("t", TensorType::plain(DType::i4), {12}, bytes),
                      Code::invalid_argument, "packed only");
    LOOM_EXPECT_ERROR(writer->section("", bytes), Code::invalid_argument, "empty");
    LOOM_EXPECT_ERROR(writer->section(std::string(1025, 'x'), bytes), Code::invalid_argument,
                      "1024");
    EXPECT_TRUE(writer
                    ->tensor("short", f32, {6},
                             [&](const EntityWriter::Sink& sink) { return sink(bytes.first(4)); })
                    .ok());
    LOOM_EXPECT_ERROR(writer->finish(), Code::invalid_argument,
                      "4 bytes were produced, its shape takes 24");
  }
  EXPECT_EQ(folder.files(), 0u);
  LOOM_EXPECT_ERROR(EntityWriter::create(folder / "no/such/folder"), Code::not_found,
                    "no does not exist");
}

}  // namespace
}  // namespace loom
