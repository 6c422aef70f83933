// The training spec: what to learn, from what, how long. JSON: docs/reference/training-spec.md and
// its schema beside it. Plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "grid/network.h"
#include "train/data/data.h"
#include "train/learner/learner.h"
#include "train/spec/schedule.h"

namespace loom {

enum class DataKind : std::uint8_t {
  caller,  // the program brings a DataSource
  tokens,
  table,
  arrays,  // two files of numbers: .npy or idx
  text,    // bytes are ids
};

inline constexpr std::string_view kDataNames[] = {"caller", "tokens", "table", "arrays", "text"};
inline std::string_view name(DataKind kind) { return kDataNames[static_cast<std::size_t>(kind)]; }

struct DataSpec {
  DataKind kind = DataKind::caller;
  std::string file;
  // tokens
  std::string dtype = "u32";       // u16 or u32 little-endian; a .npy file says its own
  std::int64_t length = 256;       // longest sequence
  std::int64_t document_end = -1;  // the id that ends each document; -1: one stream
  // arrays: the inputs are in `file`
  std::string targets_file;
  // table
  bool header = true;
  std::string separator = ",";
  std::vector<std::string>
      targets;  // columns to predict, by name (or number from 0 where there is no header)
  std::string class_column;  // or the one that holds a class number
};

// The samples held back for validation. The saved network is then the best one by validation loss.
struct ValidationSpec {
  double share = 0;           // of the samples; 0: none
  std::int64_t every = 0;     // steps between judgments; 0: an epoch
  std::int64_t patience = 0;  // judgments without a better one after which training stops; 0: never
};

// Training that sees its weights as they will run: forward and backward take the packed values, the
// update goes to the f32 master.
struct QuantizeSpec {
  std::string dtype;              // a weight format: "ternary", "i4:row"; "": the cells' own
  std::vector<std::string> keep;  // cells that stay as they are: "first" and "last" of those with
                                  // matrices, or paths ("0.0.0.1")
  std::int64_t after = 0;         // steps before that, in which all is as the cells say
};

// Training of a step mesh: a row of the data holds what arrives at each of its ticks.
struct TicksSpec {
  std::int64_t ticks = 0;              // 0: a plain pass
  std::string answers = "every_tick";  // or last_tick: whose values have targets
  std::int64_t truncate = 0;           // EmitOptions
};

struct TrainingSpec {
  Json network;  // topology; null where network_file names one or the caller brings a network
  std::string network_file;
  std::string base;  // or a network with its weights to go on from: an .entity file, or a language
                     // model as load_model finds it
  std::string base_dtype;  // how its matrices are held; "": as they are
  DataSpec data;
  Loss loss = Loss::mse;
  double delta = 1.0;           // of the loss huber
  double temperature = 1.0;     // of the loss soft_cross_entropy
  std::vector<HeadSpec> heads;  // in place of these three
  double loss_weight = 1;       // of the loss in what is learned; reports are without it
  Json class_weights;           // of rows, by their class: a list, "balanced", or null for 1 each
  std::int64_t ignore = kIgnoredClass;  // the class that is not counted
  AdapterSpec lora;                     // of rank 0: the network itself learns
  bool checkpoint =
      false;  // gradient checkpointing: cells' activations are computed again for backward
  MethodSpec method;
  OptimizerSpec optimizer;
  Schedule schedule;
  std::int64_t steps = 0;  // or
  std::int64_t epochs = 0;
  std::int64_t batch = 1;          // samples (sequences, rows) per step
  std::int64_t micro_batches = 1;  // parts that a step's samples are cut into; it belongs to the
                                   // numbers, thread counts do not
  std::int64_t seed = 0;           // of initial weights, of the shuffling, of shifts, of dropout
  bool shuffle = true;
  std::int64_t random_translate = 0;  // images move by at most this many pixels, drawn for each
                                      // sample taken (data/images/augment.h)
  std::int64_t streams = 0;  // lanes the data is cut into, whose states continue step by step
  bool fp8 = false;  // products in FP8, forward and backward, with a loss scale; "quantize" is then
                     // of the dtype fp8e4m3
  QuantizeSpec quantize;
  TicksSpec step_mesh;
  ValidationSpec validation;
  std::int64_t checkpoint_every = 0;  // steps; 0: at the end only
  std::int64_t log_every = 10;        // steps

  Status check() const;
  Json to_json() const;
  // None where there are none, or where they are "balanced" and no data was looked at.
  std::vector<double> weights_of_classes() const;
};

// Errors name the key and list the known ones.
Result<TrainingSpec> parse_training_spec(const Json& json);
Result<TrainingSpec> parse_training_spec(std::string_view text);
// The "data" object alone.
Result<DataSpec> parse_data_spec(const Json& json);

// The network of the spec with its random initial weights. A relative network_file is looked up in
// `folder` ("": here).
Result<Network> create_network(const TrainingSpec& spec, const std::string& folder = "");
// The data of the spec, from `file` where that is not empty.
Result<std::unique_ptr<DataSource>> open_data(const TrainingSpec& spec,
                                              const std::string& file = "");

}  // namespace loom
