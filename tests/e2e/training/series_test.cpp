// loom train and loom predict on time series.
#include <cmath>
#include <sstream>

#include "base/math/exact_math.h"
#include "base/random.h"
#include "e2e/process.h"
#include "e2e/report.h"
#include "support/data.h"
#include "support/places.h"
#include "train/data/tables/dates.h"

namespace loom::test {
namespace {

double forecast_figure(const Json& report, const char* name) {
  const Json* part = report.find("forecasts");
  const Json* found = part ? part->find(name) : nullptr;
  return found ? found->as_number() : -1;
}

// The mean absolute error of the value `period` steps before, over the same forecasts.
double seasonal_naive(const std::string& table, std::size_t period) {
  std::vector<double> y;
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) y.push_back(std::stod(line.substr(line.find(',') + 1)));
  double sum = 0, count = 0;
  for (std::size_t o = y.size() - y.size() / 5; o < y.size(); ++o)
    for (std::size_t h = 0; h < 12 && o + h < y.size(); ++h) {
      sum += std::abs(y[o + h] - y[o + h - (h / period + 1) * period]);
      count += 1;
    }
  return sum / count;
}

TEST(Series, ForecastsKnownTables) {
  LOOM_TEST_FILE(airline, "tabular/airline-passengers.csv");
  LOOM_TEST_FILE(sunspots, "tabular/monthly-sunspots.csv");
  const Folder folder;
  const std::string net = folder / "s.entity";
  Outcome o = loom({"train", "--data", airline, "--out", net, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("data: a time series: 'Passengers' in months from 1949-01 to 1960-12"),
            std::string::npos)
      << o.err;
  EXPECT_NE(o.err.find("inputs: logarithms"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("the last 28, from 1958-09 on"), std::string::npos) << o.err;
  Json report = last_line(o.out);
  EXPECT_LE(forecast_figure(report, "mae"), 18) << report.dump();
  EXPECT_NEAR(forecast_figure(report, "naive_mae"), seasonal_naive(file_bytes(airline), 12), 1e-6);

  // From the file alone; and from what was known two years before the end.
  o = loom({"predict", net, "--horizon", "24"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out.substr(0, 49), "date,forecast,low80,high80,low95,high95\n1961-01,4") << o.out;
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 25);
  EXPECT_NE(o.out.find("\n1962-12,"), std::string::npos);
  EXPECT_NE(o.err.find("forecasts of up to 12 steps were judged"), std::string::npos) << o.err;
  const std::string table = file_bytes(airline);
  const std::string early = folder.write("early.csv", table.substr(0, table.find("\"1959-01\"")));
  o = loom({"predict", net, "--data", early, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 12);
  const Json last = last_line(o.out);
  EXPECT_EQ(last.find("date")->as_string(), "1959-12");
  const auto of = [&](const char* name) { return last.find(name)->as_number(); };
  EXPECT_NEAR(of("forecast"), 405, 40);
  EXPECT_TRUE(of("low95") < of("low80") && of("low80") < of("forecast") &&
              of("forecast") < of("high80") && of("high80") < of("high95"))
      << o.out;

  o = loom({"train", "--data", sunspots, "--out", net, "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string spots = file_bytes(sunspots);
  const double naive = std::min(seasonal_naive(spots, 12), seasonal_naive(spots, 132));
  EXPECT_LE(forecast_figure(last_line(o.out), "mae"), 0.8 * naive);
}

// Twelve uniform numbers less six: nearly normal, mean 0, deviation 1, mean absolute value 0.796.
class Noise {
 public:
  double operator()() {
    double sum = -6;
    for (std::uint32_t i = 0; i < 12; ++i)
      sum += static_cast<double>(philox4x32({n_, i, 0, 0}, {1, 2})[0]) / 4294967296.0;
    ++n_;
    return sum;
  }

 private:
  std::uint32_t n_ = 0;
};

constexpr double kTurn = 6.283185307179586, kMeanNoise = 0.796;

// A series whose values are known but for their noise.
struct Made {
  const char* name;
  std::string table;
  std::vector<double> noise = {};

  void add(const std::string& date, char between, double known, double more) {
    table += date + between + std::to_string(known + more) + "\n";
    noise.push_back(more);
  }
  // The mean absolute error of who knows all but the noise, over the forecasts that are judged.
  double min() const {
    double sum = 0, count = 0;
    for (std::size_t o = noise.size() - noise.size() / 5; o < noise.size(); ++o)
      for (std::size_t h = 0; h < 12 && o + h < noise.size(); ++h) {
        sum += std::abs(noise[o + h]);
        count += 1;
      }
    return sum / count;
  }
};

std::vector<Made> made() {
  Noise noise;
  std::vector<Made> list = {{"a line and a year", "month,y\n"},
                            {"a line and a year, twenty times", "month,y\n"},
                            {"a week", "day,y\n"},
                            {"a day and a week", "when;y\n"},
                            {"eleven days", "day,y\n"}};
  const auto month = [](int i) {
    return std::to_string(1980 + i / 12) + "-" + std::to_string(i % 12 + 1);
  };
  for (int i = 0; i < 480; ++i)
    list[0].add(month(i), ',',
                100 + 0.5 * i + 20 * exact::sin(kTurn * i / 12) + 10 * exact::cos(kTurn * i / 6),
                3 * noise());
  for (int i = 0; i < 240; ++i)
    list[1].add(month(i), ',', 50 + 0.3 * i + (i * 5 % 12), 2 * noise());
  const double week[] = {0, 2, 3, 1, 5, 9, 7};
  for (int i = 0; i < 1500; ++i) {
    const std::string day = moment_of(10957 + i, 0).text();
    list[2].add(day, ',', 50 + week[i % 7], noise());
    list[4].add(day, ',', 20 + 5 * exact::sin(kTurn * i / 11), noise());
  }
  for (int i = 0; i < 24 * 90; ++i) {
    const Moment m = moment_of(18687 + i / 24, 0);
    list[3].add(std::to_string(m.day) + "." + std::to_string(m.month) + ".2021 " +
                    std::to_string(i % 24) + ":00",
                ';', 30 + 10 * exact::sin(kTurn * i / 24) + (m.weekday() > 4 ? 5 : 0), noise());
  }
  return list;
}

TEST(Series, ForecastsWithinATenthOfTheNoise) {
  const Folder folder;
  for (const Made& m : made()) {
    const Outcome o = loom({"train", "--data", folder.write("t.csv", m.table), "--out",
                            folder / "s.entity", "--json"});
    ASSERT_EQ(o.code, 0) << o.err;
    const double mae = forecast_figure(last_line(o.out), "mae");
    EXPECT_LE(mae, 1.1 * m.min()) << m.name << "\n" << o.err;
    EXPECT_GE(mae, 0.9 * m.min()) << m.name;
  }
}

// What predict says of the steps after the table, and whatever part of the table it is told again.
TEST(Series, PredictsWhatComesNext) {
  const Folder folder;
  Noise noise;
  const std::string head = "month,y\n";
  std::string rows, late;
  std::vector<double> next;
  for (int i = 0; i < 252; ++i) {
    const double known = 50 + 0.3 * i + (i * 5 % 12), y = known + noise();
    const std::string row = std::to_string(1990 + i / 12) + "-" + std::to_string(i % 12 + 1) + "," +
                            std::to_string(y) + "\n";
    if (i < 240) rows += row;
    if (i >= 100 && i < 240) late += row;
    if (i >= 240) next.push_back(known);
  }
  const std::string net = folder / "s.entity";
  Outcome o = loom({"train", "--data", folder.write("t.csv", head + rows), "--out", net});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("the step's number"), std::string::npos) << o.err;
  o = loom({"predict", net});
  ASSERT_EQ(o.code, 0) << o.err;
  std::istringstream lines(o.out);
  std::string line;
  std::getline(lines, line);
  for (const double want : next) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_NEAR(std::stod(line.substr(line.find(',') + 1)), want, 1.2) << line;
  }
  EXPECT_EQ(loom({"predict", net, "--data", folder.write("late.csv", head + late)}).out, o.out);
}

// Days that lack two leap years' last ones, and months of the years 1 to 3.
TEST(Series, TablesWithGapsAndFewRows) {
  const Folder folder;
  Noise noise;
  std::string days = "\"Date\",\"Temp\"\n", months = "\"Month\",\"Sales\"\n";
  double drift = 0;
  for (int i = 0; i < 3652; ++i) {
    const std::string day = moment_of(4018 + i, 0).text();
    drift = 0.6 * drift + 2.2 * noise();
    if (day == "1984-12-31" || day == "1988-12-31") continue;
    days += "\"" + day + "\"," + std::to_string(11 + 4.5 * exact::cos(kTurn * i / 365.25) + drift) +
            "\n";
  }
  Outcome o = loom(
      {"train", "--data", folder.write("d.csv", days), "--out", folder / "s.entity", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("between row 1460 (1984-12-30) and row 1461 (1985-01-01)"),
            std::string::npos)
      << o.err;
  // What follows from the noise, 2.2 / sqrt(1 - 0.36) after some steps.
  EXPECT_LE(forecast_figure(last_line(o.out), "mae"), 1.1 * 2.75 * kMeanNoise);
  for (int i = 0; i < 36; ++i)
    months += "\"" + std::to_string(i / 12 + 1) + (i % 12 < 9 ? "-0" : "-") +
              std::to_string(i % 12 + 1) + "\"," +
              std::to_string(200 + 0.3 * i * i + 60 * noise()) + "\n";
  o = loom(
      {"train", "--data", folder.write("m.csv", months), "--out", folder / "s.entity", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_LT(forecast_figure(last_line(o.out), "mae"),
            forecast_figure(last_line(o.out), "naive_mae"));
  EXPECT_NE(o.err.find("by forecasts of up to 7 steps"), std::string::npos) << o.err;
  o = loom({"predict", folder / "s.entity"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("\n0004-12,"), std::string::npos) << o.out;
}

TEST(Series, SameBytesForEveryThreadCountAndAfterAnInterruption) {
  LOOM_TEST_FILE(data, "tabular/monthly-sunspots.csv");
  const Folder folder;
  std::string want;
  for (const char* threads : {"1", "3"}) {
    ASSERT_EQ(loom({"train", "--data", data, "--out", folder / "a.entity", "--threads", threads,
                    "--steps", "20000"})
                  .code,
              0);
    const std::string bytes = file_bytes(folder / "a.entity");
    EXPECT_TRUE(want.empty() || bytes == want) << threads;
    want = bytes;
  }
  ASSERT_EQ(loom({"train", "--data", data, "--out", folder / "b.entity", "--isa", "generic",
                  "--steps", "20000"})
                .code,
            0);
  EXPECT_TRUE(file_bytes(folder / "b.entity") == want);
  const Outcome stopped = loom(
      Call{{"train", "--data", data, "--out", folder / "c.entity", "--steps", "20000"}, "", {}, 1});
  if (stopped.code == 0) GTEST_SKIP() << "it was done before the interruption";
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  LOOM_EXPECT_REFUSED(loom({"predict", folder / "c.entity"}), 3, "--resume goes on");
  ASSERT_EQ(loom({"train", "--data", data, "--out", folder / "c.entity", "--resume"}).code, 0);
  EXPECT_TRUE(file_bytes(folder / "c.entity") == want);
}

TEST(Series, WhatIsNoneIsSaidOrRefused) {
  const Folder folder;
  std::string regular = "date,y\n", panel = "date,shop,y\n", uneven = "date,y\n";
  for (int i = 0; i < 60; ++i) {
    const std::string value = std::to_string((7 * i) % 31) + ".5\n";
    regular += moment_of(i, 0).text() + "," + value;
    panel += moment_of(i, 0).text() + (i % 2 ? ",a," : ",b,") + value;
    uneven += moment_of(i * i, 0).text() + "," + value;
  }
  const std::string data = folder.write("r.csv", regular), out = folder / "x.entity",
                    rows = folder / "rows.entity";
  const std::string shops = folder.write("p.csv", panel), gaps = folder.write("u.csv", uneven);
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"train", "--out", out, "--steps", "50"};
    args.insert(args.end(), more.begin(), more.end());
    return loom(args);
  };
  Outcome o = loom({"train", "--data", data, "--no-series", "--out", rows, "--steps", "50"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("1 date as years"), std::string::npos) << o.err;
  o = train({"--data", gaps});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("no time series: "), std::string::npos) << o.err;
  o = train({"--data", shops});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("the dates of 'date' are days: --series would forecast 'y'"),
            std::string::npos)
      << o.err;
  o = train({"--data", shops, "--series", "--horizon", "3"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("left out: 'shop': a series is forecast from its own past"),
            std::string::npos)
      << o.err;
  LOOM_EXPECT_REFUSED(loom({"predict", out, "--data", gaps}), 3,
                      "u.csv: 3422 of 3482 days are missing, the first between row 2 (1970-01-02)");
  LOOM_EXPECT_REFUSED(loom({"predict", out, "--data",
                            folder.write("w.csv", "date,y\n1970-01-01,1\n1970-01-08,2\n")}),
                      3, "its dates are weeks from 1970-01-01, the network learned days");
  LOOM_EXPECT_REFUSED(loom({"predict", out, "--horizon", "100001"}), 1, "a horizon is 1 to 100000");
  LOOM_EXPECT_REFUSED(loom({"predict", rows, "--horizon", "3"}), 2,
                      "is no network of a time series");
  LOOM_EXPECT_REFUSED(loom({"predict", rows}), 2, "--data is required");
  LOOM_EXPECT_REFUSED(train({"--data", gaps, "--series"}), 3, "u.csv: ");
  LOOM_EXPECT_REFUSED(train({"--data", shops, "--series", "--target", "shop"}), 3,
                      "the target 'shop' is no column of numbers");
  LOOM_EXPECT_REFUSED(train({"--data", data, "--series", "--task", "classes"}), 3,
                      "has numbers, no classes");
  LOOM_EXPECT_REFUSED(train({"--data", data, "--test", gaps}), 3, "is judged by its last fifth");
  LOOM_EXPECT_REFUSED(train({"--data", data, "--series", "--no-series"}), 2, "--no-series");
  LOOM_EXPECT_REFUSED(train({"--data", data, "--no-series", "--horizon", "3"}), 3,
                      "is not learned as a time series");
  LOOM_EXPECT_REFUSED(loom({"train", "spec.json", "--series", "--out", out}), 2, "without a SPEC");
  LOOM_EXPECT_REFUSED(train({"--data", folder.write("n.csv", "a,b\n1,2.5\n3,4.5\n"), "--series"}),
                      3, "is no time series: no column holds a date in every row");
}

// Numbers of four digits are years only where they are asked for, and no other column has dates.
TEST(Series, YearsAndNumbersOfFourDigits) {
  const Folder folder;
  std::string sales = "when,sales\n", harvest = "jahrgang,tonnes\n", flat = "year,y\n";
  for (int i = 0; i < 48; ++i) {
    sales += moment_of(i, 0).text() + "," + std::to_string(1900 + 7 * i % 40) + "\n";
    harvest += std::to_string(1950 + i) + "," + std::to_string(1200 + 3 * i) + "\n";
    flat += std::to_string(1950 + i) + ",5\n";
  }
  const std::string out = folder / "x.entity";
  Outcome o = loom({"train", "--data", folder.write("s.csv", sales), "--series", "--out", out});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("'sales' in days"), std::string::npos) << o.err;
  const std::string years = folder.write("h.csv", harvest);
  o = loom({"train", "--data", years, "--out", out, "--steps", "20"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err.find("a time series"), std::string::npos) << o.err;
  o = loom({"train", "--data", years, "--series", "--out", out});
  ASSERT_EQ(o.code, 0) << o.err;
  o = loom({"predict", out, "--horizon", "1"});
  EXPECT_EQ(o.out.substr(o.out.find('\n') + 1, 7), "1998,13") << o.out;
  o = loom({"train", "--data", folder.write("f.csv", flat), "--out", out});
  ASSERT_EQ(o.code, 0) << o.err;
  o = loom({"predict", out, "--horizon", "1"});
  EXPECT_EQ(o.out.substr(o.out.find('\n') + 1), "1998,5,5,5,5,5\n") << o.out;
}

}  // namespace
}  // namespace loom::test
