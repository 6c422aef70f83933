// One program in two stages: what does not depend on some of its inputs runs once, the rest as
// often as those change.
#pragma once

#include <vector>

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
// columns that they read and write; both programs compute the bits of `program`. Where something is
// read before it is overwritten, and the order would be lost, `once` is empty and `again` the
// whole.
Stages split(const Program& program, View changing);

// Whether anything is computed from some columns of a buffer: copies alone are nothing.
bool is_read(const Program& program, View value);

}  // namespace loom
