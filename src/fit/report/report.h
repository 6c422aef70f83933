// What a training on a table came to: which columns the answers rest on, and the rows that went
// worst, measured on rows that the network did not learn. A pure function of network and rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "exec/session.h"
#include "train/data/data.h"
#include "train/judge/metrics.h"

namespace loom {

// How the rows that judge are told of.
struct ReportForm {
  struct Input {
    std::string name;
    std::int64_t values = 1;  // inputs of the network, one after the other
  };
  std::string title;
  std::vector<Input> inputs;
  std::vector<std::string> labels;                       // of classes; empty: numbers
  std::function<std::string(std::int64_t sample)> name;  // "row 17"
  // A value of a sample as the table has it, from what the network is trained to give.
  std::function<double(std::int64_t sample, float value)> value;
};

struct Report {
  struct Column {
    std::string name;
    double harm = 0;  // how much the mean error grows where its values are shuffled
  };
  struct Sample {
    std::string name;
    double truth = 0, answer = 0;  // numbers of classes, or values
    double error = 0;              // cross-entropy, or the absolute error
  };
  std::string title;
  std::vector<std::string> labels;
  std::vector<std::int64_t> confusion;  // row the truth, column the answer
  std::int64_t rows = 0, right = 0, shuffled_rows = 0;
  double mean_error = 0;
  double half = 0, max = 0, largest = 0;  // quantiles of the errors: 0.5, 0.9, 1
  std::vector<Column> columns;            // the most harmful first
  std::vector<Sample> samples;            // the largest error first

  Json to_json() const;
  // All of it, or (`brief`) what fits on a screen beside the figures of the training.
  std::string to_text(bool brief) const;
  // An SVG that needs nothing else.
  std::string to_svg() const;
};

// Rows are truths, columns answers; "" for more than 20 classes.
std::string confusion_text(const std::vector<std::int64_t>& confusion,
                           const std::vector<std::string>& labels);
// A line on an answer: "row 17: answered 12.5, truth 30.1".
std::string sample_text(const Report& report, const Report::Sample& sample);

// Harm: the mean of kShuffles permutations of a column's values among the rows, over the first
// shuffled_rows rows.
Result<Report> make_report(Session& session, const DataSource& judged, const ReportForm& form);

}  // namespace loom
