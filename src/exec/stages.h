// One program in two stages: what does not depend on some of its inputs runs once, the rest as
// often as those change.
#pragma once

#include <vector>

#include "base/status.h"
#include "ops/program.h"

namespace loom {

struct Stages {
  Program once, again;
  // A value that the first stage leaves, an output of `once`, and the second finds, an input of
  // `again`: rows of the same values.
  struct Carried {
    BufferId from, to;
  };
  std::vector<Carried> carried;
};

// `changing`: the columns of input "x" that change between runs of the second stage. All other
// inputs but "x" change too, and so do states. Which instructions run when is settled by the
// columns that they read and write; both programs compute the bits of `program`.
Result<Stages> split(const Program& program, View changing);

}  // namespace loom
