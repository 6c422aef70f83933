// A training without a spec: looks at the data and chooses the rest. Everything chosen is plain: a
// TrainingSpec that could have been written by hand, and lines that say what and why. A pure
// function of the files and the options.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "train/data/images/image.h"
#include "train/data/tables/columns.h"
#include "train/data/tables/series.h"
#include "train/data/tensor_data.h"
#include "train/spec/spec.h"

namespace loom {

namespace onnx {
struct Model;
}

struct AutoConfigOptions {
  // A CSV file, a folder with arrays, or a folder of samples. Arrays have the names of MNIST's idx
  // files, or x_train.npy and y_train.npy, or x.npy and y.npy. Samples are images or .txt files, in
  // a folder for each class, or in train and test (or val) with such folders.
  std::string data;
  std::string test;     // another of the same form, judged at the end; a folder's own t10k or test
                        // files count by themselves
  std::string target;   // of a table: the column to predict; "": the last one
  std::string task;     // "classes", "numbers" or "": what the target looks like
  std::string network;  // "dense", "convolutional" or "": convolutions for images
  std::string dtype;    // of the weights, which are learned in it; "": f32
  std::int64_t seed = 0;
  std::int64_t steps = 0;  // 0: chosen
  // Of a table: "yes" learns it as a time series, "no" row by row; "": the former where it is a
  // column of numbers at dates in regular steps, and nothing else.
  std::string series;
  std::int64_t horizon = kDefaultHorizon;  // of a series: steps ahead that are judged
  ImageDecoder decoder{};  // of what is no PGM or PPM; empty: such files are refused
};

// A table that is learned as a time series: judge_series judges it, and completes the form.
struct SeriesConfig {
  SeriesForm form;
  SeriesValues values;
  std::int64_t held_back = 0, horizon = 0;  // the first place that is held back
};

struct AutoConfig {
  TrainingSpec spec;
  std::unique_ptr<DataSource> whole, test;  // test: null where there is none
  Split split;                              // of whole
  // Of a table: where the samples of whole and test stand in their files, rows from 1; of a series,
  // steps from its first.
  std::vector<std::int64_t> rows, test_rows;
  std::optional<SeriesConfig> series;
  Json inputs;  // the .entity's section "inputs": how raw data becomes rows, and what answers mean
  std::vector<std::string> decisions;  // "target: column 'species', 3 classes"

  // With random weights, and the means and scales of the data in its standardize cells.
  Result<Network> network() const;

  // Some inputs vary by less than f32 holds; it makes numbers of a column the same.
  bool tiny_inputs = false, merged_inputs = false;
  std::vector<double> mean, scale;               // of inputs
  std::vector<float> target_mean, target_scale;  // of values; empty for classes
  // Of a network that is a line: the weights that training begins with, and its bias behind them;
  // empty: random ones.
  std::vector<double> line;
};

Result<AutoConfig> auto_config(const AutoConfigOptions& options);

// Raw data for a network that was trained so: rows and, where the data has them, their targets.
struct RawRows {
  std::int64_t rows = 0;
  // One of them holds the rows.
  std::vector<float> x;
  std::vector<double> wide_x;  // of values that f32 may not hold
  std::shared_ptr<DataSource> source;
  std::shared_ptr<DataSource> judged;  // the rows that have targets; null where there are none
  std::vector<std::string> names;      // of the files that the rows come from, where each has one
  std::vector<std::string> decisions;  // what was left out
  // Fills out with n rows of `width` values from row `at` on. out_of_range: they are not there.
  Status read(std::int64_t at, std::int64_t n, std::int64_t width, std::vector<double>& out) const;
};
// `inputs`: the section of the file; `file`: data of the form that the network learned from; of
// images and texts also a folder without classes, or one file. Errors name the file. Of a series
// the rows are steps, each with the values before it.
Result<RawRows> read_rows(const Json& inputs, std::int64_t width, const std::string& file,
                          const ImageDecoder& decoder = {});

// The same for a network that was trained by a spec or by a program, which takes values as they
// are: an array (.npy, idx), or a table of `width` columns of numbers in the order of its inputs.
Result<RawRows> read_plain_rows(std::int64_t width, const std::string& file);

// The form with the end and the history of a table that continues the one of training.
Result<SeriesForm> continue_series(const Json& inputs, const std::string& file,
                                   std::vector<std::string>& decisions);

// Whether a section "inputs" is one of a network that takes `in` and returns `out`. Errors:
// invalid_argument with the key, for those that are unknown or have no effect too; unsupported for
// networks of ids.
Status check_inputs(const Json& inputs, const Network& network);
// That of an ONNX file that has it as metadata, and became the network; null: it has none.
Result<Json> inputs_in(const onnx::Model& model, const Network& network);

// The name of a class: a label of the section "inputs", or the number where it has none.
Json label_at(const Json& inputs, std::int64_t number);  // as it stands there
std::string label_of(const Json& inputs, std::int64_t number);

// What the outputs of a network of classes are: "answers" of the section. Of two classes there may
// be one output, which is of the second.
enum class AnswerKind : std::uint8_t {
  logits,
  probabilities,
  scores,  // the largest counts; a single one where it is above 0
};
Result<AnswerKind> answer_kind(const Json& inputs);  // corrupt for another
// A line on the classes of one sample; "" where there are none.
std::string single_text(const Split& split, const Json& inputs);

// The .txt files of a text without classes: `path` itself where it is one and no table of two or
// more columns, or those of a folder without classes and without arrays, most of whose files they
// are. Empty: it is none of that.
Result<std::vector<std::string>> texts_without_classes(const std::string& path);

}  // namespace loom
