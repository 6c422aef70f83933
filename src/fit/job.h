// What a training learns, from a spec or from data alone. A function of the files and the options.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "checkpoint/adapter_file.h"
#include "checkpoint/entity.h"
#include "grid/network.h"
#include "llm/model.h"
#include "train/auto_config/auto_config.h"
#include "train/data/data.h"
#include "train/spec/spec.h"

namespace loom {

// As loom_training_open takes them. Errors that concern one of them alone begin with its name.
struct FitOptions {
  std::string spec, data, test, target, task, network, dtype, method, series, out, events, observe;
  std::optional<std::int64_t> seed, horizon;
  std::string teacher;  // a network whose answers are learned (teacher.h), by these two
  std::optional<double> temperature, alpha;
  std::int64_t steps = 0;  // 0: chosen
  std::int64_t observe_every = 1;
  bool fp8 = false, resume = false;
  bool report = false;  // data that are no table are refused
};

// What is learned, from either of the two ways to say it.
struct Job {
  TrainingSpec spec;
  std::unique_ptr<DataSource> whole, test;
  Split split;  // where something is held back
  std::optional<SeriesConfig> series;
  std::vector<std::int64_t> rows, test_rows;  // of a table, where its samples stand
  Json inputs;
  std::optional<Network> network;
  std::optional<Model> model;  // in place of the network: a language model that goes on learning
  EntitySections sections;     // of the file that the network came from
  std::vector<AdapterPlace> places;
  AdapterBase base;
  std::vector<std::string> notes;  // what was chosen and left out, line by line
  Network& net() { return model ? model->network : *network; }
  const DataSource& learned() const { return split.learned ? *split.learned : *whole; }
};

// `decoder`: of images that are no PGM or PPM.
Result<Job> open_job(FitOptions options, const ImageDecoder& decoder);

}  // namespace loom
