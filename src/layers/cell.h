// The keys of a cell that belong to the grid and not to its layer: every type has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "layers/config.h"

namespace loom {

struct CellConfig {
  std::string type, dtype = "f32", merge = "concat", tie, name;
  bool enabled = true, keep_previous = false;
  JsonPart at{"coordinate"}, layers{"layers"}, links{"links"};
  std::vector<std::int64_t> shape;
  std::vector<std::string> fixed;
  template <class V>
  void fields(V& v) {
    v("at", at,
      {.doc = "the position of the cell: `[z, y, x, l]`; layers inside a container have none"});
    v("type", type,
      {.doc = "the layer type; absent for an empty cell, which passes its input on, and for a "
              "cell that runs another cell's layer"});
    v("dtype", dtype,
      {.doc = "weight format of its matrices: `f32`, `i8`, `i4`, `i4:s4`, `ternary`, ...; "
              "layers inside a container inherit the format of the container"});
    v("layers", layers,
      {.doc = "only for containers: the layers in order, each an object like a cell, or "
              "`{\"links\": [{\"run\": cell}]}` for the layer of that cell"});
    v("links", links,
      {.doc = "`{\"read\": cell}`: the output of that cell arrives here. `{\"send\": cell}`: the "
              "output of this cell arrives there. `{\"run\": cell}`: this cell executes the "
              "layer of that cell, with its weights; all cells and nested layers that run one "
              "layer need the same input shape, and their gradients add up. Cells that run "
              "one another in a cycle are refused by name"});
    v("merge", merge,
      {.doc = "how several inputs are combined; `operands`: for layers with several inputs, "
              "such as `cross_attention` and those with `takes` (from version 2 on). Only for "
              "cells of the grid",
       .one_of = "concat, add, avg, operands"});
    v("keep_previous", keep_previous,
      {.doc = "the output of the previous cell arrives although there is a `read`. Only for "
              "cells of the grid"});
    v("enabled", enabled,
      {.doc = "`false`: the cell passes its input on. It keeps its weights, and has some if "
              "its layer fits its input. A cell that runs its layer passes its input on, too"});
    v("tie", tie,
      {.doc = "`path:role`: the first matrix is that parameter, for example `0.0.0.0:weight`. "
              "Only for cells of the grid"});
    v("shape", shape,
      {.doc = "dimensions of the output of the cell, which must be those of its layer. Needed "
              "only in a cycle of a step mesh in which no layer states its output size, as "
              "`dense` does. Only for cells of the grid",
       .min = 1});
    v("fixed", fixed,
      {.doc = "parameters by their roles, `[\"weight\", \"bias\"]`, that trainers leave as they "
              "are; `[\"all\"]`: every one, those of nested layers too"});
    v("name", name, {.doc = "a label for people"});
  }
};

const std::vector<std::string_view>& grid_keys();

}  // namespace loom
