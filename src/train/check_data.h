// Whether a training can learn from data, before its first step. Every error names the place.
#pragma once

#include "base/status.h"
#include "grid/network.h"
#include "train/data/data.h"
#include "train/spec/spec.h"

namespace loom {

// The data has what the network takes and the loss wants. No value is NaN or infinite, except a NaN
// where the network takes it for a missing value. The network has all ids and classes. Targets of
// "bce", whose loss would have no lower end, are probabilities. A head has a class that counts
// somewhere, except in one `batch` of many.
Status check_data(const DataSource& data, const Network& network, const TrainingSpec& spec,
                  bool batch = false);

// What "balanced" class weights are, as a list: rows / (classes that occur * rows of the class),
// and 1 for a class that does not occur. The data was checked.
Json balanced_weights(const DataSource& data, const Network& network, std::int64_t ignore);

}  // namespace loom
