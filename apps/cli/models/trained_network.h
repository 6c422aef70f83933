// A network that loom train wrote for raw data, and such data: what predict, accuracy and plan
// begin with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "checkpoint/entity.h"
#include "exec/session.h"
#include "fit/rows.h"
#include "grid/network.h"
#include "train/auto_config/auto_config.h"

namespace loom::cli {

struct TrainedNetwork {
  Entity file;
  Network network;
  Json inputs;   // null, or the file's section: how raw data become inputs
  RawRows data;  // as the network takes them
  bool classes;  // it answers with a class
};

// unsupported: the file says nothing of raw data; corrupt: its section is none; else what the
// readers say.
Result<TrainedNetwork> open_trained(const std::string& network, const std::string& data);
// The same in two steps: without data, and its data. What was left out is said. A network whose
// file says nothing of raw data has null `inputs`, and takes values as they are.
Result<TrainedNetwork> open_trained(const std::string& network);
Status read_data(TrainedNetwork& trained, const std::string& data);

}  // namespace loom::cli
