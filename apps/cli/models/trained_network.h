// A network that loom train wrote, over raw data: what predict, accuracy and plan begin with.
#pragma once

#include <string>

#include "support/client.h"

namespace loom::cli {

// `machine`: options of loom_predictor_open. Errors end the command as kRefused.
Predictor open_trained(const std::string& network, const Json& machine);
// Reads its data and says what was left out; returns the object of loom_predictor_read.
Json read_data(Predictor& trained, const std::string& data);
// Ends the command where the file says nothing of raw data.
void expect_raw(const Predictor& trained, const std::string& network);

}  // namespace loom::cli
