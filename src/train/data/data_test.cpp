#include "train/data/data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <unistd.h>

#include "train/data/tables/table.h"
#include "train/spec/spec.h"

namespace loom {
namespace {

TEST(Permutation, VisitsEachOnce) {
  for (const std::int64_t count : {1, 2, 3, 17, 255, 256, 257, 4096, 10007}) {
    const Permutation p(count, 42, 3);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t v = p(i);
      EXPECT_TRUE(v >= 0 && v < count);
      seen.insert(v);
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count);
  }
}

// Each of the 24 orders of four comes about equally often over seeds and over epochs (chi-square,
// 23 degrees of freedom: 49.7 at 0.1 %).
TEST(Permutation, AllOrdersAreAsLikely) {
  for (const bool over_epochs : {false, true}) {
    std::map<std::vector<std::int64_t>, int> orders;
    const int trials = 4800;
    for (int t = 0; t < trials; ++t) {
      const auto n = static_cast<std::uint64_t>(t);
      const Permutation p(4, over_epochs ? 1 : n, over_epochs ? n : 0);
      ++orders[{p(0), p(1), p(2), p(3)}];
    }
    ASSERT_EQ(orders.size(), 24u);
    double chi = 0;
    for (const auto& [order, n] : orders) chi += (n - 200.0) * (n - 200.0) / 200.0;
    EXPECT_LT(chi, 49.7);
  }
}

// Where element 0 goes, over a count that is no power of two.
TEST(Permutation, PlacesAreAsLikely) {
  std::vector<int> hits(1000);
  for (std::uint64_t seed = 0; seed < 20000; ++seed)
    ++hits[static_cast<std::size_t>(Permutation(1000, seed, 7)(0))];
  double chi = 0;
  for (const int n : hits) chi += (n - 20.0) * (n - 20.0) / 20.0;
  EXPECT_LT(chi, 1143);  // 999 degrees of freedom, 0.1 %
}

TEST(TokenData, CutsDocuments) {
  auto data =
      TokenData::create({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, std::vector<std::uint64_t>{3, 4, 10}, 3);
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  // (1 2 3), (4) has no row, (5 6 7 8 9 10) in two pieces.
  ASSERT_EQ((*data)->samples(), 3);
  EXPECT_EQ((*data)->max_rows(), 3);
  EXPECT_EQ((*data)->form().ids, 11);
  Batch b;
  for (std::int64_t s : {0, 1, 2}) (*data)->append(s, b);
  EXPECT_EQ(b.ids, (std::vector<std::uint32_t>{1, 2, 5, 6, 7, 8, 9}));
  EXPECT_EQ(b.positions, (std::vector<std::uint32_t>{0, 1, 0, 1, 2, 0, 1}));
  EXPECT_EQ(b.classes, (std::vector<std::int32_t>{2, 3, 6, 7, 8, 9, 10}));
  EXPECT_EQ(b.rows, 7);
}

TEST(TokenData, CutsAStream) {
  auto data = TokenData::create({5, 6, 7, 8, 9}, {}, 2);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ((*data)->samples(), 2);
  EXPECT_EQ(document_ends(std::vector<std::uint32_t>{5, 0, 7, 0, 9}, 0),
            (std::vector<std::uint64_t>{2, 4, 5}));
  EXPECT_EQ(document_ends(std::vector<std::uint32_t>{5, 0}, 0), (std::vector<std::uint64_t>{2}));
  EXPECT_NE((*data)->hash(), (*TokenData::create({5, 6, 7, 8, 9}, {}, 3))->hash());
  EXPECT_NE((*data)->hash(), (*TokenData::create({5, 6, 7, 8, 8}, {}, 2))->hash());
}

TEST(TokenData, Refusals) {
  EXPECT_FALSE(TokenData::create({}, {}, 4).ok());
  EXPECT_FALSE(TokenData::create({1}, {}, 4).ok());
  EXPECT_FALSE(TokenData::create({1, 2}, {}, 0).ok());
  EXPECT_FALSE(TokenData::create({1, 2, 3}, std::vector<std::uint64_t>{2, 1}, 4).ok());
  EXPECT_FALSE(TokenData::create({1, 2, 3}, std::vector<std::uint64_t>{4}, 4).ok());
  EXPECT_FALSE(TokenData::create({1, 0x80000000u}, {}, 4).ok());
}

DataSpec table(std::vector<std::string> targets, std::string class_column = "",
               bool header = true) {
  DataSpec d;
  d.kind = DataKind::table;
  d.targets = std::move(targets);
  d.class_column = std::move(class_column);
  d.header = header;
  return d;
}

std::string refusal(std::string_view text, const DataSpec& spec) {
  const auto data = read_table(text, spec, "t.csv");
  EXPECT_FALSE(data.ok());
  return data.status().message();
}

TEST(Table, ReadsTargets) {
  const auto data = read_table(
      "\xEF\xBB\xBF"
      "a,\"b, \"\"quoted\"\"\",c,d\r\n1, 2.5 ,-3e2,+4\r\n\r\n\"5\",6,7,8",
      table({"d", "b, \"quoted\""}), "t.csv");
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  ASSERT_EQ((*data)->samples(), 2);
  Batch b;
  (*data)->append(1, b);
  (*data)->append(0, b);
  EXPECT_EQ(b.x, (std::vector<float>{5, 7, 1, -300}));
  EXPECT_EQ(b.values, (std::vector<float>{8, 6, 4, 2.5}));
}

TEST(Table, ReadsClassesWithoutHeader) {
  DataSpec spec = table({}, "0", false);
  spec.separator = ";";
  const auto data = read_table("2;0.5\n-1;0.25\n", spec, "t.csv");
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  Batch b;
  (*data)->append(0, b);
  (*data)->append(1, b);
  EXPECT_EQ(b.classes, (std::vector<std::int32_t>{2, -1}));
  EXPECT_EQ(b.rows, 2);
  EXPECT_EQ((*data)->form().classes, 3);
}

TEST(Table, ErrorsNameLineAndColumn) {
  EXPECT_EQ(refusal("a,b\n1,2\n3,x\n", table({"b"})),
            "t.csv: line 3, column 2: expected a number, got 'x'");
  EXPECT_EQ(refusal("a,b\n1,\n", table({"b"})),
            "t.csv: line 2, column 2: expected a number, got ''");
  EXPECT_EQ(refusal("a,b\n1,2,3\n", table({"b"})),
            "t.csv: line 2, column 3: a row of 3 cells, expected 2");
  EXPECT_EQ(refusal("a,b\n\"1\n,2\n", table({"b"})),
            "t.csv: line 2, column 1: the quote is never closed");
  EXPECT_EQ(refusal("a,b\n\"1\"2,2\n", table({"b"})),
            "t.csv: line 2, column 1: text after the closing quote");
  EXPECT_EQ(refusal("a,b\n1\"2,2\n", table({"b"})),
            "t.csv: line 2, column 1: a quote inside of a cell that does not start with one");
  EXPECT_EQ(refusal("a,b\n1,1e39\n", table({"b"})),
            "t.csv: line 2, column 2: '1e39' is too large for f32");
  EXPECT_EQ(refusal("\"a\nc\",b\n1,2\n3,nan\n", table({"b"})),
            "t.csv: line 4, column 2: expected a number, got 'nan'");
  EXPECT_EQ(refusal("a,b\n1,1.5\n", table({}, "b")),
            "t.csv: line 2, column 2: a class is a whole number, got '1.5'");
  EXPECT_EQ(refusal("a,b\n1,2\n", table({"z"})), "t.csv: no column 'z': the first are 'a', 'b'");
  EXPECT_EQ(refusal("a,b\n1,2\n", table({"a", "b"})),
            "t.csv: all 2 columns are targets, none is an input");
  EXPECT_EQ(refusal("a,a\n1,2\n", table({"a"})), "t.csv: two columns are called 'a'");
  EXPECT_EQ(refusal("a,b\n", table({"b"})), "t.csv: a header and no rows");
  EXPECT_EQ(refusal("", table({"b"})), "t.csv: no rows");
}

TEST(Table, AnyBytesAreAnAnswerOrAnError) {
  const std::string good = "a,b\n1,2\n\"3\",4e1\r\n5,6\n";
  for (std::size_t cut = 0; cut <= good.size(); ++cut)
    (void)read_table(good.substr(0, cut), table({"b"}), "t.csv").ok();
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      (void)read_table(bad, table({"b"}), "t.csv").ok();
    }
  }
}

class OpenData : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        (std::filesystem::temp_directory_path() / ("loom_open_data_" + std::to_string(::getpid())))
            .string();
  }
  void TearDown() override { std::filesystem::remove(path_); }
  Result<std::unique_ptr<DataSource>> open(std::string_view bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return open_data(spec_, path_);
  }
  std::string path_;
  TrainingSpec spec_;
};

TEST_F(OpenData, Tokens) {
  using namespace std::string_view_literals;
  spec_.data.kind = DataKind::tokens;
  spec_.data.length = 8;
  spec_.data.dtype = "u16";
  const auto want = TokenData::create({1, 258, 7}, {}, 8);
  auto data = open("\x01\x00\x02\x01\x07\x00"sv);
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  EXPECT_EQ((*data)->hash(), (*want)->hash());
  spec_.data.dtype = "u32";
  EXPECT_EQ((*open("\x01\0\0\0\x02\x01\0\0\x07\0\0\0"sv))->hash(), (*want)->hash());
  // What numpy.save writes for int64.
  std::string npy("\x93NUMPY\x01\x00\x76\x00"sv);
  npy += "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }";
  npy.resize(127, ' ');
  npy += '\n';
  npy += "\x01\0\0\0\0\0\0\0\x02\x01\0\0\0\0\0\0\x07\0\0\0\0\0\0\0"sv;
  data = open(npy);
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  EXPECT_EQ((*data)->hash(), (*want)->hash());
  EXPECT_NE(open("\x01\0\0\0\x02"sv).status().message().find("no whole number of u32 ids"),
            std::string::npos);
  EXPECT_NE(open("\x01\0\0\0\xff\xff\xff\xff"sv).status().message().find("id number 1"),
            std::string::npos);
  spec_.data.document_end = 258;
  EXPECT_EQ((*open("\x01\0\0\0\x02\x01\0\0\x07\0\0\0\x07\0\0\0"sv))->samples(), 2);
}

}  // namespace
}  // namespace loom
