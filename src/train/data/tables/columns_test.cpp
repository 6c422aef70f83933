#include "train/data/tables/columns.h"

#include <gtest/gtest.h>

#include "train/data/tables/csv.h"
#include "train/data/tensor_data.h"

namespace loom {
namespace {

Table table_of(std::string_view text) {
  auto table = read_cells(text, "t.csv");
  EXPECT_TRUE(table.ok()) << table.status().to_string();
  return std::move(*table);
}

TEST(Columns, HeaderAndSeparatorAreFoundOut) {
  EXPECT_TRUE(table_of("a,b\n1,2\n").header);
  EXPECT_FALSE(table_of("1,2\n3,4\n").header);
  EXPECT_FALSE(table_of("M,0.4\nF,0.5\n").header);
  EXPECT_TRUE(table_of("name,sex\nann,f\nbob,m\n").header);
  EXPECT_FALSE(table_of("f,ann\nm,bob\nf,eve\n").header);
  EXPECT_EQ(table_of("a;b\n1,5;2\n").names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table_of("a\tb\n1\t2\n").names.size(), 2u);
  EXPECT_NE(read_cells("a,b\n1,2\n3\n", "t.csv")
                .status()
                .message()
                .find("line 3, column 1: a row of 1 cells, expected 2"),
            std::string::npos);
}

TEST(Columns, KindsAreSeen) {
  const Table t = table_of(
      "id,day,color,size,price,kind\nx1,2020-01,red,.5,1,a\nx2,2020-07-01,blue,,2,b\nx3,2021-01,"
      "red,5.,3,a\nx4,2021-02,?,7,4,b\nx5,2021-03,red,8,5,a\nx6,2021-04,blue,9,6,b\n");
  std::vector<std::string> notes;
  const auto form = look(t, "", "", "t.csv", notes);
  ASSERT_TRUE(form.ok()) << form.status().to_string();
  EXPECT_TRUE(form->classes);
  EXPECT_EQ(form->labels, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "left out: 'id', 6 different texts");
  EXPECT_EQ(form->width(), 5);  // day, blue, red, size, price
  std::vector<float> x;
  form->encode(t.rows[1], {0, 1, 2, 3, 4, 5}, x);
  ASSERT_EQ(x.size(), 5u);
  EXPECT_EQ(x[0], 2020.5f);
  EXPECT_EQ(x[1], 1);
  EXPECT_EQ(x[2], 0);
  EXPECT_TRUE(x[3] != x[3]);
  EXPECT_EQ(x[4], 2);
  EXPECT_EQ(form->class_of(" b "), 1);
  EXPECT_EQ(form->class_of("c"), -1);
  // What the file keeps of it.
  const auto again = TableForm::from_json(form->to_json());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->to_json().dump(), form->to_json().dump());
  std::vector<float> y;
  again->encode(t.rows[1], {0, 1, 2, 3, 4, 5}, y);
  EXPECT_EQ(y[2], x[2]);

  // Numbers where asked for, or where there are many.
  EXPECT_FALSE(look(t, "price", "numbers", "t.csv", notes)->classes);
  EXPECT_EQ(look(t, "price", "", "t.csv", notes)->labels.size(), 6u);
  EXPECT_FALSE(look(t, "size", "", "t.csv", notes)->classes);
  EXPECT_NE(look(t, "cost", "", "t.csv", notes)
                .status()
                .message()
                .find("no column 'cost': the first are 'id', 'day'"),
            std::string::npos);
  EXPECT_NE(look(t, "kind", "numbers", "t.csv", notes).status().message().find("holds texts"),
            std::string::npos);
}

TEST(Columns, IntegerLabelsAreInOrder) {
  std::vector<std::string> notes;
  const auto form = look(table_of("x,y\n1,10\n2,9\n3,10\n"), "", "", "t.csv", notes);
  ASSERT_TRUE(form.ok());
  EXPECT_EQ(form->labels, (std::vector<std::string>{"9", "10"}));
}

TEST(Columns, NumbersAsPeopleWriteThem) {
  const std::pair<const char*, double> good[] = {{"1", 1},      {" +2.5 ", 2.5}, {".5", 0.5},
                                                 {"-.5e1", -5}, {"5.", 5},       {"5.e-1", 0.5}};
  for (const auto& [text, want] : good) {
    double v = 0;
    EXPECT_TRUE(parse_number(text, &v)) << text;
    EXPECT_EQ(v, want) << text;
  }
  double v = 0;
  for (const char* text : {"", ".", "-", "+-1", "1,5", "0x1", "1.2.3", "-.", "e5", "inf", "nan"})
    EXPECT_FALSE(parse_number(text, &v)) << text;
}

TEST(Split, IsAPartition) {
  std::vector<float> x;
  for (int i = 0; i < 103; ++i) x.push_back(static_cast<float>(i));
  const auto whole = ArrayData::create(x, 1, x, 1);
  ASSERT_TRUE(whole.ok());
  const auto cut = split(**whole, 0.2, 7), again = split(**whole, 0.2, 7),
             other = split(**whole, 0.2, 8);
  ASSERT_TRUE(cut.ok() && again.ok() && other.ok());
  EXPECT_EQ(cut->held_back->samples(), 21);
  EXPECT_EQ(cut->learned->samples(), 82);
  EXPECT_EQ(cut->learned->hash(), again->learned->hash());
  EXPECT_NE(cut->learned->hash(), other->learned->hash());
  Batch batch;
  for (const auto* part : {cut->held_back.get(), cut->learned.get()})
    for (std::int64_t i = 0; i < part->samples(); ++i) part->append(i, batch);
  std::sort(batch.x.begin(), batch.x.end());
  EXPECT_EQ(batch.x, x);
}

std::vector<std::int64_t> count_classes(const DataSource& part, std::size_t classes) {
  std::vector<std::int64_t> counts(classes);
  Batch batch;
  for (std::int64_t i = 0; i < part.samples(); ++i) part.append(i, batch);
  for (const std::int32_t c : batch.classes)
    if (c >= 0) ++counts[static_cast<std::size_t>(c)];
  return counts;
}

TEST(Split, KeepsTheProportionsOfClasses) {
  std::vector<float> x;
  std::vector<std::int32_t> y;
  // 90, 20, 7, 2, 1 and 0 samples of the classes 0 to 5, then 4 that do not count.
  for (const auto& [c, n] : {std::pair{0, 90}, {1, 20}, {2, 7}, {3, 2}, {4, 1}, {-1, 4}})
    for (int i = 0; i < n; ++i) y.push_back(c);
  for (std::size_t i = 0; i < y.size(); ++i) x.push_back(static_cast<float>(i));
  const auto whole = ArrayData::create(x, 1, y);
  ASSERT_TRUE(whole.ok());
  for (const std::uint64_t seed : {0, 1, 2}) {
    const auto cut = split(**whole, 0.2, seed), again = split(**whole, 0.2, seed);
    ASSERT_TRUE(cut.ok() && again.ok());
    EXPECT_EQ(count_classes(*cut->held_back, 5), (std::vector<std::int64_t>{18, 4, 2, 1, 0}));
    EXPECT_EQ(count_classes(*cut->learned, 5), (std::vector<std::int64_t>{72, 16, 5, 1, 1}));
    EXPECT_EQ(cut->single, (std::vector<std::int32_t>{4}));
    EXPECT_EQ(cut->learned->hash(), again->learned->hash());
    EXPECT_NE(cut->learned->hash(), split(**whole, 0.2, seed + 1)->learned->hash());
    Batch batch;
    for (const auto* part : {cut->held_back.get(), cut->learned.get()})
      for (std::int64_t i = 0; i < part->samples(); ++i) {
        part->append(i, batch);
        EXPECT_EQ(batch.x.back(), static_cast<float>(part->row_of(i)));
      }
    std::sort(batch.x.begin(), batch.x.end());
    EXPECT_EQ(batch.x, x);
  }
  const auto alone =
      ArrayData::create(std::vector<float>{1, 2, 3}, 1, std::vector<std::int32_t>{0, 1, 2});
  EXPECT_NE(split(**alone, 0.2, 0).status().message().find("no class has two samples"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
