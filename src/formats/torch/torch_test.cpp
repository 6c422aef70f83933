// PyTorch files made by hand: what is read, and what is refused.
#include "formats/torch/torch.h"

#include "base/escape.h"
#include "formats/test_files.h"

namespace loom {
namespace {

using namespace std::string_literals;
using namespace test;

struct Record {
  std::string name, data;
  std::uint16_t method = 0;
};

std::string zip(const std::vector<Record>& records) {
  std::string out, directory;
  for (const Record& r : records) {
    const std::string sizes = le<std::uint32_t>(0) + le(static_cast<std::uint32_t>(r.data.size())) +
                              le(static_cast<std::uint32_t>(r.data.size())) +
                              le(static_cast<std::uint16_t>(r.name.size()));
    directory += "PK\x01\x02" + le<std::uint32_t>(0) + le<std::uint16_t>(0) + le(r.method) +
                 le<std::uint32_t>(0) + sizes + std::string(12, '\0') +
                 le(static_cast<std::uint32_t>(out.size())) + r.name;
    out += "PK\x03\x04" + le<std::uint32_t>(0) + le(r.method) + le<std::uint32_t>(0) + sizes +
           le<std::uint16_t>(0) + r.name + r.data;
  }
  const auto at = static_cast<std::uint32_t>(out.size());
  const auto count = le(static_cast<std::uint16_t>(records.size()));
  return out + directory + "PK\x05\x06" + le<std::uint32_t>(0) + count + count +
         le(static_cast<std::uint32_t>(directory.size())) + le(at) + le<std::uint16_t>(0);
}

std::string text(const std::string& t) {
  return "X" + le(static_cast<std::uint32_t>(t.size())) + t;
}
std::string numbers(const std::vector<int>& list) {
  std::string out = "(";
  for (const int n : list) out += "J" + le<std::int32_t>(n);
  return out + "t";
}
std::string tensor(const std::string& key, int count, int offset, const std::vector<int>& shape,
                   const std::vector<int>& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" +
         text(key) + text("cpu") + "J" + le<std::int32_t>(count) + "tQJ" +
         le<std::int32_t>(offset) + numbers(shape) + numbers(strides) + "\x89"s +
         "ccollections\nOrderedDict\n)RtR";
}
std::string dict(const std::string& items) { return "\x80\x02}(" + items + "u."; }

std::string six() {
  std::string data;
  for (int i = 0; i < 6; ++i) data += le<float>(static_cast<float>(i));
  return data;
}
std::string file(const std::string& pickle, const std::string& data = six()) {
  return zip({{"a/data.pkl", pickle}, {"a/byteorder", "little"}, {"a/data/0", data}});
}
Result<TorchFile> read(const std::string& bytes) { return open_torch(source_of(bytes)); }

std::vector<float> values(const TensorInfo& t) {
  std::vector<float> out(static_cast<std::size_t>(t.elements()));
  EXPECT_TRUE(read_f32(t, 0, out).ok());
  return out;
}

const std::string kPair =
    text("w") + tensor("0", 6, 0, {2, 3}, {3, 1}) + text("t") + tensor("0", 6, 1, {2, 2}, {1, 3});

TEST(Torch, ReadsTensorsAndGathersStrides) {
  const std::string bytes = file(dict(kPair + text("more") + "}(" + text("epoch") + "K\x03" +
                                      text("list") + "](" + tensor("0", 6, 5, {}, {}) + "Neu"));
  for (const SourcePtr& source : {source_of(bytes), callback_source_of(bytes)}) {
    const auto read = open_torch(source);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    ASSERT_EQ(read->tensors.size(), 3u);
    EXPECT_EQ(read->tensors[0].name, "more.list.0");
    EXPECT_EQ(values(read->tensors[0]), std::vector<float>{5});
    EXPECT_EQ(read->tensors[1].name, "t");
    EXPECT_EQ(values(read->tensors[1]), (std::vector<float>{1, 4, 2, 5}));
    EXPECT_EQ(values(read->tensors[2]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(read->metadata, (Metadata{{"more.epoch", "3"}, {"more.list.1", "None"}}));
  }
}

TEST(Torch, RunsNothing) {
  LOOM_EXPECT_ERROR(read(file("\x80\x02"
                              "cos\nsystem\n" +
                              text("true") + "\x85R.")),
                    Code::unsupported, "names 'os.system', which Loom does not run");
  LOOM_EXPECT_ERROR(read(file("\x80\x02"
                              "cbuiltins\neval\n" +
                              text("1") + "\x85R.")),
                    Code::unsupported, "builtins.eval");
  LOOM_EXPECT_ERROR(read(file("\x80\x04" + text("os") + text("system") + "\x93)R.")),
                    Code::unsupported, "os.system");
  LOOM_EXPECT_ERROR(read(file("\x80\x02(" + text("x") + "ios\nsystem\n.")), Code::unsupported,
                    "operation 105");
  LOOM_EXPECT_ERROR(read(file("\x80\x02"
                              "ctorch.nn.modules.linear\nLinear\n)\x81.")),
                    Code::unsupported, "save model.state_dict()");
  LOOM_EXPECT_ERROR(read(file("\x80\x02"
                              "ctorch\nSize\n)R.")),
                    Code::corrupt, "other arguments");
}

TEST(Torch, RefusesMoreValuesThanTensorsNeed) {
  LOOM_EXPECT_ERROR(read(file("\x80\x02" + std::string(4'000'001, 'N'))), Code::unsupported,
                    "more than 4000000 values");
}

TEST(Torch, RefusesTensorsBeyondTheirStorage) {
  const auto one = [](const std::string& t) { return read(file(dict(text("w") + t))); };
  EXPECT_TRUE(one(tensor("0", 6, 0, {6}, {1})).ok());
  EXPECT_TRUE(one(tensor("0", 6, 0, {0, 9}, {9, 1})).ok());
  for (const std::string& t :
       {tensor("0", 6, 1, {6}, {1}), tensor("0", 6, 0, {2, 3}, {4, 1}),
        tensor("0", 6, 0, {2147483647, 2147483647, 2147483647}, {2147483647, 1, 0})})
    LOOM_EXPECT_ERROR(one(t), Code::corrupt, "tensor 'w' of [");
  LOOM_EXPECT_ERROR(one(tensor("0", 6, 0, {-1}, {1})), Code::corrupt, "no integers from 0");
  LOOM_EXPECT_ERROR(one(tensor("0", 6, 0, {2, 3}, {3})), Code::corrupt, "no tensor");
  LOOM_EXPECT_ERROR(one(tensor("0", 7, 0, {6}, {1})), Code::corrupt, "24 bytes");
  LOOM_EXPECT_ERROR(one(tensor("1", 6, 0, {6}, {1})), Code::corrupt, "no record data/'1'");
  LOOM_EXPECT_ERROR(one(tensor("0", 6, 0, {1000000}, {0})), Code::unsupported, "expanded view");
  LOOM_EXPECT_ERROR(read(file(dict(text("w") + tensor("0", 6, 0, {6}, {1}) + text("w") +
                                   tensor("0", 6, 0, {6}, {1})))),
                    Code::corrupt, "two tensors");
}

TEST(Torch, BoundsNamesAndDepth) {
  std::string deep = "\x80\x02";  // a list in a list, 1,000 times
  for (int i = 0; i < 1000; ++i) deep += "]";
  for (int i = 0; i < 999; ++i) deep += "a";
  LOOM_EXPECT_ERROR(read(file(deep + ".")), Code::out_of_range, "more than 32 levels");
  std::string last = "\x80\x02]q\0"s + "0";  // each list has the one before twice
  for (char i = 1; i <= 25; ++i)
    last += "](h"s + static_cast<char>(i - 1) + "h" + static_cast<char>(i - 1) + "eq" + i +
            (i < 25 ? "0" : ".");
  LOOM_EXPECT_ERROR(read(file(last)), Code::out_of_range, "200000 values");
  LOOM_EXPECT_ERROR(read(file("\x80\x02]q\0h\0a."s)), Code::out_of_range, "levels");  // in itself
  LOOM_EXPECT_ERROR(read(file("\x80\x02Nr\xff\xff\xff\xff."s)), Code::corrupt, "no place");
  std::string again = "\x80\x02" + text(std::string(1 << 20, 'x')) + "q\0"s + "0](";  // 100 times
  for (int i = 0; i < 100; ++i) again += "h\0"s;
  LOOM_EXPECT_ERROR(read(file(again + "e.")), Code::out_of_range, "67108864 of names and texts");
  LOOM_EXPECT_ERROR(read(file(dict(text(std::string(4097, 'n')) + "N"))), Code::out_of_range,
                    "4096 bytes of a name");
}

TEST(Torch, RefusesOtherArchives) {
  LOOM_EXPECT_ERROR(read(zip({{"a/x", "y"}})), Code::unsupported, "none of torch.save");
  LOOM_EXPECT_ERROR(read(zip({{"a/data.pkl", "N."}, {"a/constants.pkl", "N."}})), Code::unsupported,
                    "TorchScript");
  LOOM_EXPECT_ERROR(read(zip({{"a/data.pkl", "N."}, {"a/byteorder", "big"}})), Code::unsupported,
                    "in the order 'big'");
  LOOM_EXPECT_ERROR(read(zip({{"a/data.pkl", "N.", 8}})), Code::unsupported, "is compressed");
  LOOM_EXPECT_ERROR(read(zip({{"a/data.pkl", "N."}, {"a/data.pkl", "N."}})), Code::corrupt,
                    "two records");
}

TEST(Torch, EveryCutAndEveryFlipIsRefusedOrRead) {
  const std::string whole = file(dict(kPair));
  for (std::size_t n = 4; n < whole.size(); ++n) EXPECT_FALSE(read(whole.substr(0, n)).ok()) << n;
  for (std::size_t i = 4; i < whole.size(); ++i)
    for (const int flip : {1, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      const auto made = read(bytes);
      if (!made.ok()) continue;
      for (const TensorInfo& t : made->tensors) {
        std::vector<double> out(
            static_cast<std::size_t>(std::min<std::uint64_t>(t.elements(), 99)));
        EXPECT_TRUE(read_f64(t, 0, out).ok());
      }
    }
}

}  // namespace
}  // namespace loom
