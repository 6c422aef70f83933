// A trained network and raw data as it learned them: answers row by row, forecasts, figures, and
// other formats of its weights. One thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "checkpoint/entity.h"
#include "exec/machine.h"
#include "exec/session.h"
#include "fit/precision_plan.h"
#include "grid/network.h"
#include "train/auto_config/auto_config.h"

namespace loom {

class Predictor {
 public:
  // `path`: an .entity file. `cancel`: what runs ends as cancelled. Errors: corrupt, where its
  // section "inputs", which says how raw data become inputs, is none.
  static Result<std::unique_ptr<Predictor>> open(const std::string& path, Machine machine,
                                                 const std::string& isa,
                                                 const std::atomic<bool>* cancel);

  // As loom_predictor_info has it, without the device.
  Json info();
  const webgpu::Choice& device() const { return machine_.choice; }

  // Raw data for what follows; next() begins with its first row. The object of
  // loom_predictor_read.
  Result<Json> read(const std::string& data, const ImageDecoder& decoder);
  // Answers to at most `rows` rows: a list, empty behind the last one.
  Result<Json> next(std::int64_t rows);
  // Of a time series: the steps after the table of training, or after one that continues it.
  Result<Json> forecast(const std::string& data, std::int64_t horizon);
  // Judges the answers by the targets of the data.
  Result<Json> measure();

  // All matrices in another format.
  Status morph(const WeightFormat& format);
  // A format for each matrix, by the rows of the data that have targets.
  Result<Json> plan(const PlanOptions& options);
  // Writes the network in the formats it has now, with the sections of its file.
  Status save(const std::string& path);

 private:
  Predictor(std::string path, Machine machine, std::string isa, const std::atomic<bool>* cancel,
            Entity file, Network network);
  Status read_inputs();
  Status expect_targets() const;
  // The session that runs the network as it is now.
  Result<Session*> ready(std::int64_t max_rows);
  Json answer(std::span<const float> y, std::int64_t row) const;

  std::string path_, isa_;
  Machine machine_;
  const std::atomic<bool>* cancel_;
  ThreadPool pool_;
  Entity file_;
  Network network_;
  Json inputs_;               // null, or the file's section
  std::int64_t classes_ = 0;  // 0: it answers with values
  AnswerKind answers_ = AnswerKind::logits;
  bool pair_ = false;  // one output of two classes, that of the second
  std::string data_;   // the path of rows_; "": nothing was read
  RawRows rows_;
  std::int64_t at_ = 0;  // rows that next() has answered
  std::optional<Session> session_;
};

}  // namespace loom
