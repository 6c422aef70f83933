// Which values of a program are tapped: those that cells, and the layers inside them, give, and the
// gradients of that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/observe/observer.h"
#include "grid/emit/emitter.h"

namespace loom {

// The cells of a network in their order; `nested`: each with the layers inside it behind it, but
// those that run another cell's layer.
std::vector<ObservedCell> observed_cells(const Network& network, bool nested);

// Makes values outlive the run. They are asked for first, and kept together.
class Keeper {
 public:
  explicit Keeper(ProgramBuilder& emit) : emit_(emit) {}
  // `end`: the number of instructions when the value was there. Of rows that the run measures,
  // which end with it, none is kept: false.
  bool ask(View value, std::size_t end);
  // Where they are after a run, in the order of the asking: a temporary becomes an output as it is,
  // what is overwritten later is copied.
  std::vector<View> keep();

 private:
  View keep(View value, std::size_t end, std::size_t number);
  struct Asked {
    View value;
    std::size_t end;
  };
  ProgramBuilder& emit_;
  std::vector<Asked> asked_;
};

// Asks for what was recorded of the cells of a list: their directions are "forward" and "backward".
// Returns of each value that is kept the index of its cell there.
std::vector<std::size_t> ask_recorded(Keeper& keeper, const NetworkEmitter& emitter,
                                      const std::vector<ObservedCell>& cells);

}  // namespace loom
