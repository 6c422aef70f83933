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
  template <class V>
  void fields(V& v) {
    v("at", at,
      {.doc = "where the cell is: `[z, y, x, l]`; a layer inside of a container has "
              "none"});
    v("type", type,
      {.doc = "the layer type; absent for an empty cell, which passes its input on, "
              "and for one that runs another"});
    v("dtype", dtype,
      {.doc = "weight format of its matrices: `f32`, `i8`, `i4`, `i4:s4`, "
              "`ternary`, ...; a layer inside of a container inherits the "
              "container's"});
    v("layers", layers,
      {.doc = "of a container: its layers in order, each an object like a cell; "
              "or `{\"links\": [{\"run\": cell}]}`, that cell's layer here"});
    v("links", links,
      {.doc = "`{\"read\": cell}` takes that cell's output, `{\"send\": cell}` "
              "delivers this one's there, `{\"run\": cell}` executes that cell's "
              "layer here with its weights, which fit one input: all cells and "
              "nested layers that run it must get what it gets. Gradients of all "
              "places add up; cells that run one another in a cycle are refused "
              "and named"});
    v("merge", merge,
      {.doc =
           "how several arrivals meet; `operands`: for a layer that takes several, as "
           "`cross_attention` and those with `takes` do (from version 2 on); of cells of the grid "
           "alone",
       .one_of = "concat, add, avg, operands"});
    v("keep_previous", keep_previous,
      {.doc = "the previous cell still arrives although there is "
              "a `read`; of cells of the grid alone"});
    v("enabled", enabled,
      {.doc = "false: the cell passes its input on; it keeps its weights, and "
              "has them where it would fit. A cell that runs it passes on as "
              "well"});
    v("tie", tie,
      {.doc = "`path:role`: the first matrix is that parameter, for example "
              "`0.0.0.0:weight`; of cells of the grid alone"});
    v("shape", shape,
      {.doc =
           "dimensions of the cell's output, which its layer must have: for cells of a step mesh "
           "that read each other in a cycle, where no layer of the cycle says its own, as "
           "`dense` does; of cells of the grid alone",
       .min = 1});
    v("name", name, {.doc = "for people"});
  }
};

const std::vector<std::string_view>& grid_keys();

}  // namespace loom
