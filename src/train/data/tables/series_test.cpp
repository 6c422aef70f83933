#include "train/data/tables/series.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace loom {
namespace {

std::string moment(std::string_view text, DateOrder order = DateOrder::ymd) {
  Moment m;
  return parse_moment(text, order, &m) ? m.text() : "";
}

TEST(Dates, AreReadAsPeopleWriteThem) {
  const DateOrder dmy = DateOrder::dmy, mdy = DateOrder::mdy;
  const struct {
    const char *text, *want;
    DateOrder order = DateOrder::ymd;
  } cases[] = {
      {"1949", "1949"},
      {"1949-03", "1949-03"},
      {" 1949/3 ", "1949-03"},
      {"1-03", "0001-03"},
      {"2020-02-29", "2020-02-29"},
      {"2020/2/9", "2020-02-09"},
      {"2020.02.09", "2020-02-09"},
      {"20200209", "2020-02-09"},
      {"2020Q1", "2020-Q1"},
      {"2020-Q4", "2020-Q4"},
      {"q2 2020", "2020-Q2"},
      {"Jan 2020", "2020-01"},
      {"2020-sept", "2020-09"},
      {"Mar-71", "1971-03"},
      {"5 March 2020", "2020-03-05"},
      {"March 5, 2020", "2020-03-05"},
      {"2020-01-31 06:30", "2020-01-31 06:30"},
      {"2020-01-31T06:30:05Z", "2020-01-31 06:30:05"},
      {"2020-01-31 06:30:00.000", "2020-01-31 06:30"},
      {"31.1.2020", "2020-01-31", dmy},
      {"31/01/20", "2020-01-31", dmy},
      {"1/31/2020 1:05 PM", "2020-01-31 13:05", mdy},
      {"1/31/2020 12:05am", "2020-01-31 00:05", mdy},
      {"1/31/69", "1969-01-31", mdy},
      {"03/2020", "2020-03", dmy},
      {"", ""},
      {"12", ""},
      {"1949-13", ""},
      {"2021-02-29", ""},
      {"1.05", ""},
      {"1,5", ""},
      {"1/2", ""},
      {"31.1.2020", "", mdy},
      {"1/31/2020", "", dmy},
      {"2020-01-31 25:00", ""},
      {"2020-01-31 6", ""},
      {"2020-01 06:30", ""},
      {"2020-01-31 06:30:00.5", ""},
      {"2020-01-31 06:30+02:00", ""},
      {"2020-1-2-3", ""},
      {"2020--01", ""},
      {"Foo 2020", ""},
      {"2020Q5", ""},
      {"Jan", ""},
      {"99999999999999999999", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(moment(c.text, c.order), c.want) << c.text;
}

TEST(Dates, DaysCountAsInTheCalendar) {
  Moment m;
  ASSERT_TRUE(parse_moment("1970-01-01", DateOrder::ymd, &m));
  EXPECT_EQ(m.days(), 0);
  EXPECT_EQ(m.weekday(), 3);  // a Thursday
  ASSERT_TRUE(parse_moment("2000-03-01", DateOrder::ymd, &m));
  EXPECT_EQ(m.days(), 11017);
  for (std::int64_t day = -800000; day < 800000; day += 37) {
    const Moment there = moment_of(day, 0);
    ASSERT_EQ(there.days(), day) << there.text();
  }
}

TEST(Dates, TheOrderIsWhatAllCellsAllow) {
  bool ambiguous = false;
  EXPECT_EQ(order_of({"1/2/2020", "13/2/2020"}, &ambiguous), DateOrder::dmy);
  EXPECT_FALSE(ambiguous);
  EXPECT_EQ(order_of({"1/2/2020", "2/13/2020"}, &ambiguous), DateOrder::mdy);
  EXPECT_FALSE(ambiguous);
  EXPECT_TRUE(order_of({"1/2/2020", "2/3/2020"}, &ambiguous).has_value());
  EXPECT_TRUE(ambiguous);
  EXPECT_EQ(order_of({"1.2.2020"}, &ambiguous), DateOrder::dmy);
  EXPECT_FALSE(ambiguous);
  EXPECT_FALSE(order_of({"2020-01-01", "x"}, &ambiguous).has_value());
  EXPECT_FALSE(order_of({}, &ambiguous).has_value());
}

Result<SeriesValues> series(const std::vector<std::pair<std::string, std::string>>& rows) {
  Table table;
  table.names = {"d", "y"};
  for (const auto& [date, value] : rows) table.rows.push_back({date, value});
  return read_series(table, {"d", "y"}, "t.csv");
}

std::vector<std::pair<std::string, std::string>> numbered(const std::vector<std::string>& dates) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t i = 0; i < dates.size(); ++i) rows.emplace_back(dates[i], std::to_string(i));
  return rows;
}

TEST(Series, StepsAreFoundAndGoOn) {
  const struct {
    std::vector<std::string> dates;
    const char *text, *next;
    std::int64_t season;
  } cases[] = {
      {{"1949", "1950", "1951"}, "years", "1952", 0},
      {{"1949-11", "1949-12", "1950-01"}, "months", "1950-02", 12},
      {{"2020-01-31", "2020-02-29", "2020-03-31"}, "months", "2020-04-30", 12},
      {{"2020-01-15", "2020-02-15", "2020-03-15"}, "months", "2020-04-15", 12},
      {{"2019Q3", "2019Q4", "2020Q1"}, "quarters", "2020-Q2", 4},
      {{"2020-02-27", "2020-02-28", "2020-02-29"}, "days", "2020-03-01", 7},
      {{"2020-02-27 00:00", "2020-02-28 00:00", "2020-02-29 00:00"}, "days", "2020-03-01 00:00", 7},
      {{"2020-01-06", "2020-01-13", "2020-01-20"}, "weeks", "2020-01-27", 52},
      {{"2020-01-02", "2020-01-03", "2020-01-06", "2020-01-07", "2020-01-08", "2020-01-09",
        "2020-01-10"},
       "weekdays",
       "2020-01-13",
       5},
      {{"1/31/2020", "2/1/2020", "2/2/2020"}, "days", "2020-02-03", 7},
      {{"2020-01-01 22:00", "2020-01-01 23:00", "2020-01-02 00:00"},
       "hours",
       "2020-01-02 01:00",
       24},
      {{"2020-01-01 23:30", "2020-01-01 23:45", "2020-01-02 00:00"},
       "steps of 15 minutes",
       "2020-01-02 00:15",
       96},
      {{"1969-12-31 23:59:58", "1969-12-31 23:59:59", "1970-01-01 00:00:00"},
       "seconds",
       "1970-01-01 00:00:01",
       0},
  };
  for (const auto& c : cases) {
    const auto read = series(numbered(c.dates));
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(read->steps.text(), c.text);
    EXPECT_EQ(read->steps.at(static_cast<std::int64_t>(read->values.size())).text(), c.next);
    EXPECT_EQ(read->steps.season(), c.season) << c.text;
    EXPECT_TRUE(read->notes.empty());
  }
}

std::string refusal(const std::vector<std::pair<std::string, std::string>>& rows) {
  const auto read = series(rows);
  return read.ok() ? "" : read.status().message();
}

TEST(Series, GapsAndDuplicatesAreFilledOrNamed) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (int i = 0; i < 30; ++i) rows.emplace_back(moment_of(i, 0).text(), std::to_string(10 * i));
  auto gap = rows;
  gap.erase(gap.begin() + 7);
  auto read = series(gap);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->values.size(), 30u);
  EXPECT_EQ(read->values[7], 70);
  EXPECT_TRUE(read->filled[7] && !read->filled[6]);
  EXPECT_EQ(read->notes, (std::vector<std::string>{
                             "missing values are filled in on a straight line, the first between "
                             "row 7 (1970-01-07) and row 8 (1970-01-09)"}));
  // A cell without a value is the same; at the ends the series is shorter.
  auto holes = rows;
  holes[7].second = "NA";
  holes[0].second = holes[29].second = "";
  read = series(holes);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->values.size(), 28u);
  EXPECT_EQ(read->values[6], 70);
  EXPECT_EQ(read->steps.at(0).text(), "1970-01-02");
  gap.erase(gap.begin() + 12);
  EXPECT_EQ(refusal(gap),
            "t.csv: 2 of 30 days are missing, the first between row 7 (1970-01-07) and row 8 "
            "(1970-01-09)");
  holes[3].second = "";
  EXPECT_EQ(refusal(holes), "t.csv: 2 of 28 values are missing");
  auto twice = rows;
  twice[9].first = twice[8].first;
  EXPECT_EQ(refusal(twice), "t.csv: row 10 (1970-01-09) and row 9 (1970-01-09) have one date");
  auto other = rows;
  std::reverse(other.begin(), other.end());
  read = series(other);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->values[1], 10);
  EXPECT_EQ(read->notes, (std::vector<std::string>{"rows are put in the order of their dates"}));
  other = rows;
  other[4].first = "soon";
  EXPECT_EQ(refusal(other), "t.csv: row 5, column 'd': 'soon' is no date");
  other[4].first = "1970-01";
  EXPECT_EQ(refusal(other),
            "t.csv: row 5, column 'd': '1970-01' is not as exact as the dates before it");
  other = rows;
  other[4].second = "x";
  EXPECT_EQ(refusal(other), "t.csv: row 5, column 'y': 'x' is no number");
  EXPECT_EQ(
      refusal({{"2020-01-06", "1"}, {"2020-01-13", "1"}, {"2020-01-20", "1"}, {"2020-01-28", "1"}}),
      "t.csv: row 4 (2020-01-28) does not follow row 3 (2020-01-20) by weeks");
  EXPECT_EQ(refusal({{"2020-01-06", "1"}}), "t.csv: fewer than two rows have a date and a value");
  // Either order is regular.
  EXPECT_NE(
      refusal({{"01/01/2020", "1"}, {"02/02/2020", "2"}, {"03/03/2020", "3"}}).find("t.csv: "),
      std::string::npos);
  EXPECT_EQ(refusal(numbered({"01/02/2020", "01/03/2020", "01/04/2020"})),
            "t.csv: column 'd': its dates may be day/month or month/day: write them as YYYY-MM-DD");
}

SeriesForm form_of() {
  SeriesForm form;
  form.columns = {"d", "y"};
  form.steps.unit = Steps::Unit::month;
  form.steps.first = 12 * 1990;
  form.steps.precision = Moment::Precision::month;
  form.season = 12;
  form.lags = 2;
  form.history = {5, 6};
  form.end = 3;
  form.half80 = {1, 2};
  form.half95 = {3, 4};
  return form;
}

TEST(Series, RowsAreLagsAndTheCalendar) {
  SeriesForm form = form_of();
  const std::vector<double> z = {1, 2, 4, 8};
  std::vector<float> x;
  form.row(z, 3, x);
  EXPECT_EQ(x, (std::vector<float>{8, 4}));
  EXPECT_EQ(form.base(z), 0);
  form.reference = SeriesForm::Reference::last;
  form.calendar = {SeriesForm::Calendar::month};
  x.clear();
  form.row(z, 3, x);
  EXPECT_EQ(x, (std::vector<float>{-4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(form.base(z), 8);
  EXPECT_EQ(form.width(), 13);
  form.reference = SeriesForm::Reference::season;
  form.season = 2;
  EXPECT_EQ(form.before(), 4);
  x.clear();
  form.row(z, 3, x);
  EXPECT_EQ(x[0], 6);
  EXPECT_EQ(x[1], 3);
  EXPECT_EQ(form.base(z), 4);
}

// Places count from the first date of training, whatever a table begins with.
TEST(Series, PlacesGoOnInOtherTables) {
  SeriesForm form = form_of();
  form.calendar = {SeriesForm::Calendar::trend};
  form.end = 2000;
  const SeriesNetwork trend = [](const std::vector<float>& x, std::int64_t rows,
                                 std::vector<float>& y) {
    EXPECT_EQ(x.size(), static_cast<std::size_t>(3 * rows));
    y.assign(1, x[2]);
    return Status();
  };
  const auto list = forecast(form, 2, trend);
  ASSERT_TRUE(list.ok()) << list.status().to_string();
  EXPECT_EQ((*list)[0].value, 2.0);
  EXPECT_EQ((*list)[1].value, static_cast<double>(2.001f));
  const auto known = series(numbered({"1990-01", "1990-02", "1990-03"}));
  ASSERT_TRUE(known.ok());
  Table table;
  table.names = {"d", "y"};
  for (const char* date : {"1/4/1990", "1/5/1990"}) table.rows.push_back({date, "1"});
  EXPECT_FALSE(read_series(table, {"d", "y"}, "t.csv", &*known).ok());  // of another order
  table.rows = {{"1990-04-01", "1"}, {"1990-05-01", "2"}};
  const auto later = read_series(table, {"d", "y"}, "t.csv", &*known);
  ASSERT_TRUE(later.ok()) << later.status().to_string();
  EXPECT_EQ(later->begin, 3);
  EXPECT_EQ(later->steps.at(later->begin).text(), "1990-04");
  table.rows = {{"1989-11", "1"}, {"1989-12", "2"}};
  EXPECT_EQ(read_series(table, {"d", "y"}, "t.csv", &*known)->begin, -2);
}

// What the network adds to is known here: every value is 1 above the one before.
TEST(Series, ForecastsGoOnFromForecasts) {
  SeriesForm form = form_of();
  form.reference = SeriesForm::Reference::last;
  const SeriesNetwork one = [](const std::vector<float>& x, std::int64_t rows,
                               std::vector<float>& y) {
    EXPECT_EQ(x.size(), static_cast<std::size_t>(rows));
    y.assign(static_cast<std::size_t>(rows), 1.0f);
    return Status();
  };
  const auto list = forecast(form, 8, one);
  ASSERT_TRUE(list.ok()) << list.status().to_string();
  EXPECT_EQ((*list)[0].date, "1990-04");
  EXPECT_EQ((*list)[0].value, 7);
  EXPECT_EQ((*list)[1].value, 8);
  EXPECT_EQ((*list)[1].low80, 6);
  EXPECT_EQ((*list)[1].high95, 12);
  EXPECT_TRUE((*list)[1].measured && !(*list)[2].measured);
  EXPECT_EQ((*list)[7].high80 - (*list)[7].value, 4);  // 2 sqrt(8 / 2)
  EXPECT_NE(forecast(form, 0, one).status().message().find("a horizon is 1 to"), std::string::npos);
  form.half80.clear();
  EXPECT_EQ(forecast(form, 1, one).status().code(), Code::unsupported);
}

TEST(Series, IntervalsAreQuantilesOfTheErrors) {
  SeriesForm form = form_of();
  form.reference = SeriesForm::Reference::last;
  form.season = 0;
  SeriesValues values;
  values.steps = form.steps;
  // Each value is 1 above the last, but those at 20 + k are k + 1 off.
  for (int i = 0; i < 20; ++i) values.values.push_back(i);
  for (int k = 0; k < 20; ++k)
    values.values.push_back(values.values.back() + 1 + (k % 2 ? k + 1 : -k - 1));
  values.filled.assign(40, false);
  const SeriesNetwork one = [](const std::vector<float>&, std::int64_t rows,
                               std::vector<float>& y) {
    y.assign(static_cast<std::size_t>(rows), 1.0f);
    return Status();
  };
  const auto judged = judge_series(form, values, 20, 12, one);
  ASSERT_TRUE(judged.ok()) << judged.status().to_string();
  EXPECT_EQ(judged->origins, 20);
  EXPECT_EQ(judged->forecasts, 20 * 12 - 66);
  // Of the errors 1 to 20 one step ahead those of ranks 17 and 20.
  EXPECT_EQ(form.half80[0], 17);
  EXPECT_EQ(form.half95[0], 20);
  EXPECT_EQ(form.half80.size(), 11u);  // steps ahead that 10 forecasts or more judge
  values.filled[30] = true;
  EXPECT_LT(judge_series(form, values, 20, 12, one)->forecasts, 20 * 12 - 66);
}

TEST(Series, TheFileKeepsTheForm) {
  SeriesForm form = form_of();
  form.logarithm = true;
  form.reference = SeriesForm::Reference::last;
  form.calendar = {SeriesForm::Calendar::month, SeriesForm::Calendar::year,
                   SeriesForm::Calendar::trend};
  const auto again = SeriesForm::from_json(form.to_json());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->to_json().dump(), form.to_json().dump());
  for (const char* key : {"unit", "precision", "reference", "order", "lags", "count", "scale",
                          "season", "calendar", "history", "half80", "end", "decimal"}) {
    Json wrong = form.to_json();
    const_cast<Json*>(wrong.find("series"))->set(key, -1);
    const auto read = SeriesForm::from_json(wrong);
    EXPECT_FALSE(read.ok()) << key;
  }
}

TEST(Series, AnyBytesAreAnAnswerOrAnError) {
  std::string text = "d,y\n";
  for (int i = 0; i < 6; ++i) text += "2020-01-0" + std::to_string(i + 1) + " 06:30,1.5\n";
  std::size_t read = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = text;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const auto table = read_cells(bad, "t.csv");
      if (!table.ok() || table->names.size() != 2) continue;
      const auto values = read_series(*table, {table->names[0], table->names[1]}, "t.csv");
      if (!values.ok()) {
        EXPECT_EQ(values.status().message().rfind("t.csv: ", 0), 0u) << values.status().message();
        continue;
      }
      ++read;
      EXPECT_EQ(values->values.size(), values->filled.size());
      EXPECT_FALSE(values->steps.at(1000).text().empty());
    }
  EXPECT_GT(read, 50u);
}

}  // namespace
}  // namespace loom
