// Truncations at every header byte and bit flips, over generated files of all formats: a typed
// error with a reason or a right answer, the same through a mapping and through a read callback,
// never a partial model. LOOM_SOAK multiplies the counts.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "base/message.h"
#include "base/random.h"
#include "formats/gguf/gguf.h"
#include "formats/npy/npy.h"
#include "formats/safetensors/safetensors.h"
#include "formats/sniff.h"
#include "formats/test_files.h"

namespace loom {
namespace {

using namespace test;

struct Seed {
  std::string bytes;
  std::size_t header;  // bytes before the data
};

class Dice {
 public:
  Dice(std::uint64_t seed) : stream_(seed, 0) {}
  std::uint32_t below(std::uint32_t bound) { return stream_.below(at_++, bound); }

 private:
  RandomStream stream_;
  std::uint64_t at_ = 0;
};

Seed make_safetensors(Dice& dice) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}", data;
  const std::uint32_t count = 1 + dice.below(4);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t rows = dice.below(4), columns = dice.below(5);
    const std::size_t begin = data.size();
    data.append(rows * columns * 4, static_cast<char>(i));
    header += message(",\"layers.", i, ".weight\":{\"dtype\":\"", dice.below(2) ? "F32" : "I32",
                      "\",\"shape\":[", rows, ",", columns, "],\"data_offsets\":[", begin, ",",
                      data.size(), "]}");
  }
  const std::string bytes = safetensors_bytes(header + "}", data);
  return {bytes, bytes.size() - data.size()};
}

Seed make_gguf(Dice& dice) {
  std::string head =
      gguf_entry("general.architecture", 8, gguf_text("llama")) +
      gguf_entry("a.float", 6, le(1.5f)) + gguf_entry("a.flag", 7, "\1") +
      gguf_entry("tokens", 9,
                 gguf_array(8, 3, gguf_text("<s>") + gguf_text("a") + gguf_text("bc"))) +
      gguf_entry("scores", 9, gguf_array(6, 2, le(0.5f) + le(-1.0f))) +
      gguf_entry("a.count", 4, le(dice.below(100)));
  std::string data;
  const std::uint32_t count = 1 + dice.below(3);
  for (std::uint32_t i = 0; i < count; ++i) {
    constexpr struct {
      std::uint32_t id, block, bytes;
    } kTypes[] = {{0, 1, 4}, {1, 1, 2}, {2, 32, 18}, {8, 32, 34}, {12, 256, 144}, {14, 256, 210}};
    const auto& type = kTypes[dice.below(6)];
    const std::uint32_t rows = 1 + dice.below(2);
    data.resize(align_up(data.size(), 32), '\0');
    head += gguf_tensor("blk." + std::to_string(i), {type.block, rows}, type.id, data.size());
    data.append(rows * type.bytes, static_cast<char>(i + 1));
  }
  const std::string bytes = gguf_bytes(2 + dice.below(2), count, 6, head, data);
  return {bytes, bytes.size() - data.size()};
}

Seed make_npy(Dice& dice) {
  const std::uint32_t rows = 1 + dice.below(3), columns = 1 + dice.below(4);
  const std::string data(rows * columns * 4, 'x');
  const std::string dict = message("{'descr': '<f4', 'fortran_order': False, 'shape': (", rows,
                                   ", ", columns, "), }      \n");
  const std::string bytes = npy_bytes(dict, data);
  return {bytes, bytes.size() - data.size()};
}

using Tensors = Result<std::vector<TensorInfo>>;

struct Format {
  Seed (*make)(Dice&);
  Tensors (*open)(SourcePtr);
};

const Format kFormats[] = {
    {make_safetensors,
     [](SourcePtr s) -> Tensors {
       LOOM_ASSIGN(auto file, Safetensors::open(std::move(s)));
       return file.tensors();
     }},
    {make_gguf,
     [](SourcePtr s) -> Tensors {
       LOOM_ASSIGN(auto file, Gguf::open(std::move(s)));
       for (const Gguf::Entry& entry : file.metadata()) LOOM_TRY(file.describe(entry).status());
       return file.tensors();
     }},
    {make_npy,
     [](SourcePtr s) -> Tensors {
       LOOM_ASSIGN(auto tensor, open_npy(std::move(s)));
       return std::vector<TensorInfo>{tensor};
     }},
};

// Opens both ways; on success every tensor must lie in the file and decode, on failure both must
// fail with the same words. Returns whether it opened.
bool check(const Format& format, const std::string& bytes) {
  const auto start = std::chrono::steady_clock::now();
  const Tensors mapped = format.open(source_of(bytes)),
                called = format.open(callback_source_of(bytes));
  EXPECT_EQ(mapped.ok(), called.ok());
  EXPECT_EQ(mapped.status().to_string(), called.status().to_string());
  if (mapped.ok() && called.ok()) {
    EXPECT_EQ(mapped->size(), called->size());
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < mapped->size(); ++i) {
      const TensorInfo& tensor = (*mapped)[i];
      EXPECT_LE(tensor.offset + tensor.size, bytes.size());
      EXPECT_EQ(storage_bytes(tensor.type, *element_count(tensor.shape)), tensor.size);
      total += tensor.size;
      std::vector<float> values(tensor.elements()), others(values.size());
      EXPECT_TRUE(read_f32(tensor, 0, values).ok());
      EXPECT_TRUE(read_f32((*called)[i], 0, others).ok());
      EXPECT_TRUE(values.empty() ||
                  std::memcmp(values.data(), others.data(), values.size() * sizeof(float)) == 0);
    }
    EXPECT_LE(total, bytes.size());
  } else {
    const Code code = mapped.status().code();
    EXPECT_TRUE(code == Code::corrupt || code == Code::truncated || code == Code::unsupported)
        << mapped.status().to_string();
    EXPECT_GT(mapped.status().message().size(), 10u);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 0.5) << "one small file";
  return mapped.ok();
}

int soak() {
  const char* set = std::getenv("LOOM_SOAK");
  return set ? std::max(1, std::atoi(set)) : 1;
}

TEST(Mutation, TruncatedAtEveryHeaderByte) {
  const int wanted = 20000 * soak();
  int done = 0;
  for (std::uint64_t round = 0; done < wanted; ++round) {
    const Format& format = kFormats[round % std::size(kFormats)];
    Dice dice(round);
    const Seed seed = format.make(dice);
    ASSERT_TRUE(check(format, seed.bytes));
    for (std::size_t cut = 0; cut < seed.header; ++cut, ++done) {
      // A header without data is complete at its end only.
      ASSERT_FALSE(check(format, seed.bytes.substr(0, cut)))
          << "round " << round << " cut at " << cut;
    }
    for (std::size_t cut = seed.header; cut < seed.bytes.size(); cut += 7) {
      ASSERT_FALSE(check(format, seed.bytes.substr(0, cut)))
          << "round " << round << " cut at " << cut;
    }
    if (HasFailure()) return;
  }
}

TEST(Mutation, BitFlips) {
  const int wanted = 50000 * soak();
  int opened = 0, done = 0;
  for (std::uint64_t round = 0; done < wanted; ++round) {
    const Format& format = kFormats[round % std::size(kFormats)];
    Dice dice(round + (std::uint64_t{1} << 32));
    const Seed seed = format.make(dice);
    for (int i = 0; i < 100; ++i, ++done) {
      std::string bytes = seed.bytes;
      const std::size_t region = dice.below(10) ? seed.header : bytes.size();
      for (std::uint32_t flips = dice.below(4) ? 1 : 1 + dice.below(8); flips > 0; --flips) {
        bytes[dice.below(static_cast<std::uint32_t>(region))] ^=
            static_cast<char>(1 << dice.below(8));
      }
      opened += check(format, bytes);
    }
    if (HasFailure()) return;
  }
  RecordProperty("opened", opened);
  RecordProperty("cases", done);
  EXPECT_GT(opened,
            done / 100);  // names and values flip to other legal ones: both outcomes are exercised
  EXPECT_LT(opened, done / 2);
}

}  // namespace
}  // namespace loom
