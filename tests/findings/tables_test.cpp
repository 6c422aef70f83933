// Tables as people write them: findings.md, E.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "e2e/process.h"
#include "train/auto_config/auto_config.h"
#include "train/check_data.h"
#include "train/data/tables/columns.h"
#include "train/data/tables/csv.h"
#include "train/data/tables/encoding.h"
#include "train/data/tables/table.h"

namespace loom {
namespace {

struct Read {
  Table table;
  Result<TableForm> form;
  std::vector<std::string> notes;
};

Read read(const std::string& text, const std::string& task = "") {
  auto table = read_cells(text, "t.csv");
  EXPECT_TRUE(table.ok()) << table.status().to_string();
  std::vector<std::string> notes;
  auto form = look(*table, "", task, "t.csv", notes);
  return {std::move(*table), std::move(form), notes};
}

TEST(Findings, E_NumbersAsPeopleWriteThem) {
  struct Case {
    const char* text;
    char decimal;
    double value;  // NaN: none
  };
  const double none = __builtin_nan("");
  const Case cases[] = {
      {"1.5", '.', 1.5},
      {"1,5", ',', 1.5},
      {"1,000", '.', 1000},
      {"1.000", ',', 1000},
      {"12,345,678.9", '.', 12345678.9},
      {"12.345.678,9", ',', 12345678.9},
      {"1 234,5", ',', 1234.5},
      {"1'234.5", '.', 1234.5},
      {"$5", '.', 5},
      {"-$1,000.50", '.', -1000.5},
      {"$-5", '.', -5},
      {"12 %", '.', 12},
      {"\u20AC 3,20", ',', 3.2},
      {"3,20 \u20AC", ',', 3.2},
      {"\u00A3.5", '.', 0.5},
      {"1e5", '.', 1e5},
      {"-2,5e-3", ',', -2.5e-3},
      {"+7", '.', 7},
      {"5.", '.', 5},
      {"1,5", '.', none},
      {"1,0000", '.', none},
      {"1,000,00", '.', none},
      {",000", '.', none},
      {"1,000 000", '.', none},
      {"1.2.3.4", ',', none},
      {"12,345.6", ',', none},
      {"inf", '.', none},
      {"$", '.', none},
      {"%", '.', none},
      {"--5", '.', none},
      {"-$-5", '.', none},
      {"", '.', none},
      {"2020-01", '.', none},
      {"1 2", '.', none},
      {"5 USD", '.', none},
      {"$5%", '.', none},
  };
  for (const Case& c : cases) {
    double v = 0;
    const bool is = parse_written(c.text, c.decimal, &v);
    EXPECT_EQ(is, c.value == c.value) << c.text << " with " << c.decimal;
    if (is) {
      EXPECT_EQ(v, c.value) << c.text << " with " << c.decimal;
    }
  }
}

TEST(Findings, E_DecimalCommasAreNumbersNotClasses) {
  std::string text = "weight;price\n";
  for (int i = 0; i < 60; ++i) text += std::to_string(i) + ",25;" + std::to_string(3 * i) + ",5\n";
  const Read r = read(text);
  ASSERT_TRUE(r.form.ok()) << r.form.status().to_string();
  EXPECT_FALSE(r.form->classes);
  EXPECT_EQ(r.form->value_of("4,5"), 4.5f);
  std::vector<double> x;
  r.form->encode(r.table.rows[7], {0, 1}, x);
  EXPECT_EQ(x, (std::vector<double>{7.25f}));
  // What the file keeps of it.
  const auto again = TableForm::from_json(r.form->to_json());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->value_of("4,5"), 4.5f);
  Json wrong = r.form->to_json();
  const_cast<Json&>(wrong.find("columns")->as_array()[0]).set("decimal", ";");
  EXPECT_NE(TableForm::from_json(wrong).status().message().find("\"decimal\""), std::string::npos);
  for (const std::int64_t target : {-2, 2}) {
    wrong = r.form->to_json();
    wrong.set("target", target);
    EXPECT_NE(TableForm::from_json(wrong).status().message().find("\"target\" is column"),
              std::string::npos);
  }
}

TEST(Findings, E_PointsStayPointsBesideSemicolons) {
  // Three digits behind every point: plain numbers, whatever parts the cells.
  const Read r = read("a;b\n1.234;2\n5.678;3\n", "numbers");
  ASSERT_TRUE(r.form.ok()) << r.form.status().to_string();
  std::vector<double> x;
  r.form->encode(r.table.rows[0], {0, 1}, x);
  EXPECT_EQ(x, (std::vector<double>{1.234}));
}

TEST(Findings, E_CurrenciesPercentsAndThousands) {
  std::string text = "rate,price\n";
  for (int i = 1; i < 60; ++i)
    text += std::to_string(i) + "%,\"$" + std::to_string(i) + ",000.50\"\n";
  const Read r = read(text);
  ASSERT_TRUE(r.form.ok()) << r.form.status().to_string();
  EXPECT_FALSE(r.form->classes);
  std::vector<double> x;
  r.form->encode(r.table.rows[4], {0, 1}, x);
  EXPECT_EQ(x, (std::vector<double>{5}));
  EXPECT_EQ(r.form->value_of("$2,000.50"), 2000.5f);
}

TEST(Findings, E_OneBadCellIsNamed) {
  std::string text = "a,b\n";
  for (int i = 0; i < 99; ++i) text += std::to_string(i) + "," + std::to_string(i * 2) + ".5\n";
  const Read input = read(text + "inf,1.5\n");
  ASSERT_TRUE(input.form.ok()) << input.form.status().to_string();
  ASSERT_EQ(input.notes.size(), 1u);
  EXPECT_EQ(input.notes[0],
            "column 'a': row 100 holds 'inf', no number, as 1 of 100 cells: counted as missing");
  std::vector<double> x;
  input.form->encode(input.table.rows[99], {0, 1}, x);
  ASSERT_EQ(x.size(), 1u);
  EXPECT_TRUE(x[0] != x[0]);

  const Read target = read(text + "3,abc\n");
  EXPECT_NE(target.form.status().message().find("column 'b': row 100 holds 'abc', no number"),
            std::string::npos)
      << target.form.status().to_string();
  // One in fifty, and not one in forty.
  for (const int rows : {50, 40}) {
    std::string few = "a,b\nx,0\n";
    for (int i = 0; i < rows; ++i)
      few += std::to_string(i % 9) + "," + std::to_string(i % 7) + ".5\n";
    const Read r = read(few);
    ASSERT_TRUE(r.form.ok()) << r.form.status().to_string();
    EXPECT_EQ(r.form->columns[0].kind, rows == 50 ? Column::Kind::number : Column::Kind::words);
  }
  // Codes of which one in seven is a word are words.
  std::string codes = "a,b\n";
  for (int i = 0; i < 70; ++i)
    codes += (i % 7 ? std::to_string(i % 7) : "6+") + std::string(i % 2 ? ",x\n" : ",y\n");
  const Read words = read(codes);
  ASSERT_TRUE(words.form.ok()) << words.form.status().to_string();
  EXPECT_EQ(words.form->columns[0].kind, Column::Kind::words);
  EXPECT_EQ(words.form->columns[0].values.size(), 7u);
}

TEST(Findings, E_WhatTrainingNeverSawIsNamedWhenItIsPredicted) {
  std::string text = "color,size,kind\n";
  for (int i = 0; i < 30; ++i)
    text += std::string(i % 2 ? "red," : "blue,") + std::to_string(i) + (i % 3 ? ",a\n" : ",b\n");
  const Read learned = read(text);
  ASSERT_TRUE(learned.form.ok()) << learned.form.status().to_string();
  Json inputs = learned.form->to_json();
  const test::Folder folder;
  auto decisions = [&](const char* table) {
    const auto rows = read_rows(inputs, learned.form->width(), folder.write("p.csv", table));
    std::string all = rows.ok() ? "" : "refused: " + rows.status().message();
    if (rows.ok())
      for (const std::string& line : rows->decisions) all += line + "\n";
    return all;
  };
  EXPECT_EQ(decisions("color,size\nred,1\nblue,2\n"), "");
  EXPECT_EQ(decisions("color,size\nred,\n,2\n"), "");
  EXPECT_EQ(
      decisions("color,size\nred,1\ngreen,2\npink,big\n"),
      "column 'color': 2 cells are nothing that was learned, and count as missing: row 2 holds "
      "'green'\ncolumn 'size': 1 cell is nothing that was learned, and counts as missing: row 3 "
      "holds 'big'\n");
  EXPECT_EQ(decisions("color,size,kind\nred,1,a\nred,1,c\n"),
            "column 'kind': 1 cell is nothing that was learned, and counts as missing: row 2 holds "
            "'c'\n");
  EXPECT_EQ(decisions("color,size,kind\nred,1,\n"),
            "not measured: " + (folder / "p.csv") + ": no row has a target\n");
  EXPECT_NE(decisions("color,size\ngreen,big\npink,small\n").find("is it another table?"),
            std::string::npos);
}

std::string refused(const std::string& text, const std::string& task = "") {
  const auto table = read_cells(text, "t.csv");
  if (!table.ok()) return table.status().message();
  std::vector<std::string> notes;
  const auto form = look(*table, "", task, "t.csv", notes);
  return form.ok() ? "" : form.status().message();
}

// What pandas writes: a column of row numbers without a name.
TEST(Findings, E_ColumnsWithoutANameAndRowNumbers) {
  const Read r = read(",a,kind\n0,1.5,x\n1,2.5,y\n2,3.5,x\n3,4.5,y\n");
  ASSERT_TRUE(r.form.ok()) << r.form.status().to_string();
  EXPECT_TRUE(r.table.header);
  EXPECT_EQ(r.table.names, (std::vector<std::string>{"Unnamed: 0", "a", "kind"}));
  EXPECT_EQ(r.form->labels, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(r.form->width(), 1);
  EXPECT_EQ(r.notes, std::vector<std::string>{"left out: 'Unnamed: 0', the numbers of the rows"});
  const Read other = read(",a,kind\n3,1.5,x\n1,2.5,y\n2,3.5,x\n3,4.5,y\n");
  EXPECT_EQ(other.form->width(), 2);
  EXPECT_FALSE(read_cells("1,,x\n2,3,y\n", "t.csv")->header);
}

TEST(Findings, E_TwoColumnsOfOneNameAreRefused) {
  EXPECT_EQ(refused("a,a,y\n1,2,3\n4,5,6.5\n"),
            "t.csv: two columns are called 'a': rename one of them");
  EXPECT_EQ(refused("1,1,3\n4,5,6.5\n"), "");
}

TEST(Findings, E_NumbersAreOneClassHoweverTheyAreWritten) {
  const Read r = read("a,y\n1,1\n2,1.0\n3,01\n4,2\n5,2.0\n");
  ASSERT_TRUE(r.form.ok()) << r.form.status().to_string();
  EXPECT_EQ(r.form->labels.size(), 2u);
  for (const char* one : {"1", "1.0", "01", " 1 ", "1.00"}) EXPECT_EQ(r.form->class_of(one), 0);
  EXPECT_EQ(r.form->class_of("2.000"), 1);
  EXPECT_EQ(r.form->class_of("3"), -1);
  EXPECT_EQ(refused("a,y\n1,1\n2,1.0\n", "classes"),
            "t.csv: the target 'y' is the same in every row");
  // Texts are what they are, and the case of their letters is told.
  const Read texts = read("a,y\n1,Yes\n2,yes\n3,no\n4,1\n5,1.0\n");
  EXPECT_EQ(texts.form->labels.size(), 5u);
  ASSERT_EQ(texts.notes.size(), 1u);
  EXPECT_EQ(texts.notes[0],
            "column 'y': 'Yes' and 'yes' are two classes: write them alike if they are one");
}

TEST(Findings, E_ATargetOfOneNumberIsRefused) {
  for (const char* text : {"a,y\n1,2.5\n2,2.5\n", "a,y\n1,2\n2,2\n", "a,y\n1,x\n2,x\n"})
    EXPECT_EQ(refused(text), "t.csv: the target 'y' is the same in every row");
  EXPECT_EQ(refused("a,y\n1,2\n2,2\n", "numbers"),
            "t.csv: the target 'y' is the same in every row");
}

// Of inputs f64 keeps what f32 does not tell apart; a target is refused by name.
TEST(Findings, A7_NumbersThatF32DoesNotTellApartAreLearnedAsTheyAre) {
  std::string text = "at,b,y\n", target = "b,y\n";
  for (int i = 0; i < 60; ++i) {
    const std::string second = std::to_string(1700000000 + i), b = std::to_string(i % 7);
    text += second + "," + b + "," + std::to_string(0.25 * i) + "\n";
    target += b + "," + second + ".5\n";
  }
  const test::Folder f;
  f.write("t.csv", text);
  const auto chosen = auto_config({.data = f / "t.csv", .task = "numbers"});
  ASSERT_TRUE(chosen.ok()) << chosen.status().to_string();
  EXPECT_EQ(chosen->whole->form().width, 2);
  auto network = chosen->network();
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  const WeightStore* mean = network->find("0.0.0.0", "mean");
  ASSERT_TRUE(mean && mean->master_is_f64());
  // Seconds, not the 1699999999 or 1700000128 that f32 has.
  EXPECT_NEAR(mean->master64()[0], 1700000029.5, 10);
  EXPECT_NE(mean->master64()[0], static_cast<double>(static_cast<float>(mean->master64()[0])));
  // Rows that differ by the seconds alone have answers of their own.
  const std::string entity = f / "t.entity";
  const test::Outcome learned = test::loom(
      {"train", "--data", f / "t.csv", "--task", "numbers", "--out", entity, "--steps", "200"});
  ASSERT_EQ(learned.code, 0) << learned.err;
  EXPECT_NE(learned.err.find("standardized in f64"), std::string::npos) << learned.err;
  f.write("new.csv", "at,b\n1700000010,1\n1700000011,1\n1700000050,1\n");
  const test::Outcome decisions = test::loom({"predict", entity, "--data", f / "new.csv"});
  ASSERT_EQ(decisions.code, 0) << decisions.err;
  double v[3] = {};
  ASSERT_EQ(std::sscanf(decisions.out.c_str(), "%lf\n%lf\n%lf", v, v + 1, v + 2), 3)
      << decisions.out;
  EXPECT_NEAR(v[0], 2.5, 1) << decisions.out;
  EXPECT_NEAR(v[2], 12.5, 1) << decisions.out;
  EXPECT_NE(v[0], v[1]);
  EXPECT_NE(refused(target).find("the target 'y' lies between 1700000000.5 and"), std::string::npos)
      << refused(target);
}

// A .npy file of version 1.
template <class T>
std::string npy_of(const std::string& type, const std::string& shape, std::vector<T> values) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + bytes;
}

TEST(Findings, A7_WholeNumbersOfArraysAreKeptOrRefused) {
  const test::Folder f;
  const std::int64_t large = std::int64_t{1} << 53;
  f.write("x.npy", npy_of<std::int64_t>("<i8", "2, 3", {1, 2, large, 4, -large - 1, 6}));
  f.write("y.npy", npy_of<float>("<f4", "2", {1, 2}));
  AutoConfigOptions options{.data = f / ".", .steps = 1};
  EXPECT_EQ(auto_config(options).status().message(),
            (f / "./x.npy") +
                ": row 1, column 1 (from 0) is -9007199254740993, and f64 does not hold "
                "every whole number above 2^53: take an offset off the column");
  const auto raw = read_rows(Json::object(), 3, f / "x.npy");
  EXPECT_NE(raw.status().message().find("row 1, column 1 (from 0) is -9007199254740993"),
            std::string::npos)
      << raw.status().to_string();
  // 2^53 + 2 and 2^63 it holds.
  f.write("x.npy", npy_of<std::uint64_t>("<u8", "2", {1ull << 63, (1ull << 53) + 2}));
  EXPECT_TRUE(auto_config(options).ok());
  f.write("x.npy", npy_of<std::uint64_t>("<u8", "2", {1, ~0ull}));
  EXPECT_NE(auto_config(options).status().message().find(
                "row 1, column 0 (from 0) is 18446744073709551615"),
            std::string::npos);
  f.write("x.npy", npy_of<float>("<f4", "2", {1, 2}));
  f.write("y.npy", npy_of<std::int64_t>("<i8", "2", {1, large + 1}));
  options.task = "numbers";
  EXPECT_NE(auto_config(options).status().message().find(
                "y.npy: row 1, column 0 (from 0) is 9007199254740993"),
            std::string::npos);

  // Above 2^24 a network of f32 refuses what f32 does not hold, and one that is chosen begins in
  // f64.
  f.write("x.npy", npy_of<std::int32_t>("<i4", "4, 1", {1 << 24, (1 << 24) + 1, 1 << 30, -7}));
  f.write("y.npy", npy_of<float>("<f4", "4", {1, 2, 3, 4}));
  auto chosen = auto_config({.data = f / ".", .steps = 1});
  ASSERT_TRUE(chosen.ok()) << chosen.status().to_string();
  auto network = chosen->network();
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_TRUE(check_data(*chosen->whole, *network, chosen->spec, false).ok());
  auto plain = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"layers_per_cell":1,"input":{"width":1},
          "cells":[{"at":[0,0,0,0],"type":"dense","out":1}]})"));
  ASSERT_TRUE(plain.ok()) << plain.status().to_string();
  EXPECT_EQ(check_data(*chosen->whole, *plain, chosen->spec, false).message(),
            "data: x, row 1, column 0 (from 0) is 16777217.0, which f32 does not hold: scale "
            "it, or begin with cells of the dtype f64");
  f.write("y.npy", npy_of<std::int32_t>("<i4", "4", {1, 2, 3, (1 << 24) + 1}));
  f.write("x.npy", npy_of<float>("<f4", "4", {1, 2, 3, 4}));
  chosen = auto_config({.data = f / ".", .task = "numbers", .steps = 1});
  ASSERT_TRUE(chosen.ok()) << chosen.status().to_string();
  EXPECT_EQ(check_data(*chosen->whole, *plain, chosen->spec, false).message(),
            "data: y, row 3, column 0 (from 0) is 16777217.0, which f32 does not hold: scale "
            "it, or end with cells of the dtype f64");
}

TEST(Findings, E_OtherSeparatorsAndMissingCells) {
  const Read r = read("a|b|y\n1|2|3.5\n4|5|6.5\n7|9|8.5\n");
  ASSERT_TRUE(r.form.ok()) << r.form.status().to_string();
  EXPECT_EQ(r.form->width(), 2);
  EXPECT_NE(refused("a b y\n1 2 3.5\n4 5 6.5\n").find("has one column, 'a b y': "),
            std::string::npos);
  for (const char* missing : {"", "n/a", "#N/A", "<NA>", "-nan", " NA "})
    EXPECT_TRUE(is_missing(missing)) << missing;
  EXPECT_FALSE(is_missing("none of them"));
}

// Rows of the class that is not counted are a group of their own.
TEST(Findings, E_IgnoredRowsAreNoClassOfASplit) {
  std::vector<float> x(64, 1.0f);
  std::vector<std::int32_t> classes(64);
  for (std::size_t i = 0; i < 64; ++i) classes[i] = i == 0 ? 3 : i < 4 ? 1 : i % 2 ? 0 : 2;
  const auto whole = ArrayData::create(x, 1, classes);
  for (const std::int64_t ignore : {std::int64_t{kIgnoredClass}, std::int64_t{3}}) {
    const auto parts = split(**whole, 0.25, 1, ignore);
    ASSERT_TRUE(parts.ok());
    EXPECT_EQ(parts->single, ignore == 3 ? std::vector<std::int32_t>{} : std::vector{3});
  }
  // None of two samples is left that counts.
  classes = {5, 5, 5, 0};
  const auto two = ArrayData::create(std::vector<float>(4), 1, classes);
  EXPECT_TRUE(split(**two, 0.5, 1).ok());
  EXPECT_FALSE(split(**two, 0.5, 1, 5).ok());
}

TEST(Findings, E_RareClassesAreOnBothSides) {
  // 3 of 300: without strata, one seed in two holds none of them back.
  std::string text = "a,kind\n";
  for (int i = 0; i < 300; ++i) text += std::to_string(i % 17) + (i % 100 ? ",often\n" : ",rare\n");
  const test::Folder folder;
  const std::string file = folder.write("t.csv", text + "3,once\n");
  for (const std::int64_t seed : {0, 1, 2, 3}) {
    const auto chosen = auto_config({.data = file, .seed = seed});
    ASSERT_TRUE(chosen.ok()) << chosen.status().to_string();
    std::vector<int> counts(3);
    Batch batch;
    for (std::int64_t i = 0; i < chosen->split.held_back->samples(); ++i)
      chosen->split.held_back->append(i, batch);
    for (const std::int32_t c : batch.classes) ++counts[static_cast<std::size_t>(c)];
    EXPECT_EQ(counts, (std::vector<int>{59, 0, 1}));  // often, once, rare
    EXPECT_NE(std::find(chosen->decisions.begin(), chosen->decisions.end(),
                        "the class 'once' has one sample, which is learned: nothing judges it"),
              chosen->decisions.end());
  }
}

std::string decoded(const std::string& text, std::string* note = nullptr) {
  std::string decisions;
  const auto read = table_text(text, "t.csv", note ? note : &decisions);
  return read.ok() ? *read : "refused: " + read.status().message();
}

std::string utf16(std::u16string_view text, bool big_endian) {
  std::string bytes;
  for (const char16_t c : text)
    for (const int shift : {big_endian ? 8 : 0, big_endian ? 0 : 8})
      bytes += static_cast<char>(c >> shift & 0xFF);
  return bytes;
}

TEST(Findings, E_TablesAreReadInTheirEncoding) {
  const std::string plain = "stra\u00DFe,pr\u00EDs\nM\u00FCnchen,1\n";
  std::string note;
  EXPECT_EQ(decoded(plain, &note), plain);
  EXPECT_EQ(decoded("\xEF\xBB\xBF" + plain, &note), plain);
  EXPECT_EQ(note, "");
  EXPECT_EQ(decoded("stra\xDF"
                    "e,pr\xED"
                    "s\nM\xFCnchen,1\n",
                    &note),
            plain);
  EXPECT_EQ(note, "encoding: no UTF-8 from line 1 on, read as Windows-1252");
  EXPECT_EQ(decoded("a\n\x80 5\n\x9C\xFF\n"), "a\n\u20AC 5\n\u0153\u00FF\n");
  for (const bool big : {false, true}) {
    note.clear();
    EXPECT_EQ(decoded(utf16(u"\uFEFFa,\u00FC\n\U0001F600,\u20AC\n", big), &note),
              "a,\u00FC\n\U0001F600,\u20AC\n");
    EXPECT_EQ(note, "encoding: UTF-16, by its byte order mark");
    EXPECT_EQ(decoded(utf16(u"\uFEFFa\nb\xD83D", big)),
              "refused: t.csv: line 2: holds half a character of UTF-16");
    EXPECT_EQ(decoded(utf16(u"\uFEFFa\n\xDC00"
                            u"b",
                            big)),
              "refused: t.csv: line 2: holds half a character of UTF-16");
    EXPECT_EQ(decoded(utf16(u"\uFEFFa\n", big) + "b"),
              "refused: t.csv: line 2: holds half a character of UTF-16");
  }
  EXPECT_EQ(decoded(std::string("\xFF\xFE\0\0a\0\0\0", 8)),
            "refused: t.csv: is UTF-32: save the table as UTF-8");
  EXPECT_EQ(decoded("a\nM\u00FCnchen\nK\xF6ln\n"),
            "refused: t.csv: line 3: is no UTF-8, while line 2 is: save the whole table in one "
            "encoding, UTF-8");
  EXPECT_EQ(decoded("a\nb\n\x81\n"),
            "refused: t.csv: line 3: the byte 129 is neither UTF-8 nor Windows-1252: save the "
            "table as UTF-8");
}

// Trained from one encoding, asked in another: the file holds UTF-8.
TEST(Findings, E_TheEncodingIsNoPartOfWhatIsLearned) {
  std::string latin =
                  "st\xE4"
                  "dte,y\n",
              utf8 =
                  "st\u00E4"
                  "dte,y\n";
  for (int i = 0; i < 40; ++i) {
    latin += i % 2 ? "K\xF6ln,1.5\n" : "M\xFCnchen,2.5\n";
    utf8 += i % 2 ? "K\u00F6ln,1.5\n" : "M\u00FCnchen,2.5\n";
  }
  const test::Folder folder;
  const auto learned = auto_config({.data = folder.write("l.csv", latin), .task = "numbers"});
  ASSERT_TRUE(learned.ok()) << learned.status().to_string();
  EXPECT_EQ(learned->decisions[0], "encoding: no UTF-8 from line 1 on, read as Windows-1252");
  EXPECT_NE(learned->inputs.dump().find("K\u00F6ln"), std::string::npos) << learned->inputs.dump();
  const auto rows = read_rows(learned->inputs, 2, folder.write("u.csv", utf8));
  ASSERT_TRUE(rows.ok()) << rows.status().to_string();
  EXPECT_TRUE(rows->decisions.empty());
  EXPECT_EQ(rows->judged->hash(), learned->whole->hash());
  // With a spec, too.
  DataSpec spec;
  spec.kind = DataKind::table;
  spec.targets = {"gr\u00F6\u00DFe"};
  for (const char* text : {"a,gr\u00F6\u00DFe\n1,2\n",
                           "a,gr\xF6\xDF"
                           "e\n1,2\n",
                           "\xEF\xBB\xBFgr\u00F6\u00DFe,a\n1,2\n"})
    EXPECT_TRUE(read_table(text, spec).ok()) << text;
}

// Months and numbers were refused, days a number that explained nothing.
TEST(Findings, E_DatesInRegularStepsAreATimeSeries) {
  const test::Folder folder;
  std::string text = "when,y\n", late = text;
  for (int i = 0; i < 120; ++i) {
    const std::string row = std::to_string(i / 12 + 1) + (i % 12 < 9 ? "-0" : "-") +
                            std::to_string(i % 12 + 1) + "," +
                            std::to_string(100 + i + 10 * (i % 12)) + "\n";
    text += row;
    if (i >= 60) late += row;
  }
  const std::string file = folder.write("t.csv", text);
  const auto chosen = auto_config({.data = file});
  ASSERT_TRUE(chosen.ok()) << chosen.status().to_string();
  ASSERT_TRUE(chosen->series.has_value());
  EXPECT_EQ(chosen->series->held_back, 96);
  // The last fifth is held back, in order.
  for (std::int64_t i = 0; i < chosen->split.held_back->samples(); ++i)
    EXPECT_EQ(chosen->rows[static_cast<std::size_t>(chosen->split.held_back->row_of(i))], 96 + i);
  // Read again, rows are what was learned; those of a part of the table are the same rows.
  const std::int64_t width = chosen->whole->form().width;
  const auto again = read_rows(chosen->inputs, width, file);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->judged->hash(), chosen->whole->hash());
  const auto part = read_rows(chosen->inputs, width, folder.write("late.csv", late));
  ASSERT_TRUE(part.ok()) << part.status().to_string();
  EXPECT_TRUE(std::equal(part->x.rbegin(), part->x.rend(), again->x.rbegin()));
  EXPECT_LT(part->rows, again->rows);
  EXPECT_FALSE(auto_config({.data = file, .series = "no"})->series.has_value());
}

TEST(Findings, E_DatesInTheUsualFormsAreDates) {
  const struct {
    const char *date, *other;
    double years;
  } cases[] = {{"31.01.2020", "28.02.2019", 2020 + 30 / 372.0},
               {"01/31/2020", "02/28/2019", 2020 + 30 / 372.0},
               {"31 Jan 2020 12:00", "28 Feb 2019 06:00", 2020 + 30.5 / 372.0},
               {"2020Q3", "2019Q1", 2020.5},
               {"2020-01", "2019-02", 2020}};
  for (const auto& [date, other, years] : cases) {
    const Read two = read("when,y\n" + std::string(date) + ",1.5\n" + other + ",2.5\n", "numbers");
    ASSERT_TRUE(two.form.ok()) << date << two.form.status().to_string();
    EXPECT_EQ(two.form->columns[0].kind, Column::Kind::date) << date;
    const auto again = TableForm::from_json(two.form->to_json());
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    std::vector<double> x;
    again->encode(two.table.rows[0], {0, 1}, x);
    EXPECT_EQ(x, std::vector<double>{years}) << date;
  }
  std::string text = "when,n,y\n";
  for (int i = 1; i < 9; ++i)
    text += "0" + std::to_string(i) + "/0" + std::to_string(9 - i) + "/2020," + std::to_string(i) +
            "," + std::to_string(i) + ".5\n";
  const Read r = read(text, "numbers");
  ASSERT_TRUE(r.form.ok()) << r.form.status().to_string();
  EXPECT_NE(r.form->columns[0].kind, Column::Kind::date);
  EXPECT_EQ(r.notes[0],
            "column 'when': its dates may be day/month or month/day, and are taken as texts: write "
            "them as YYYY-MM-DD");
  Json wrong = read("when,y\n31.1.2020,1\n1.2.2020,2\n", "numbers").form->to_json();
  const_cast<Json&>(wrong.find("columns")->as_array()[0]).set("order", "ydm");
  EXPECT_NE(TableForm::from_json(wrong).status().message().find("\"order\" is ymd, dmy or mdy"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
