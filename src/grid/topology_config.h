// The keys of a topology beside its cells (layers/cell.h) and their layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layers/config.h"

namespace loom {

struct InputConfig {
  std::int64_t width = 0, ids = 0;
  std::vector<std::int64_t> dims;
  std::string axis, name;
  JsonPart parts{"inputs"};
  template <class V>
  void fields(V& v) {
    v.about("What arrives at a network: `width`, `dims`, `ids`, `ids` with `dims`, or `parts`.");
    v("width", width, {.doc = "rows of this many values", .min = 1});
    v("dims", dims,
      {.doc = "rows of values with these dimensions, slowest first: `[C, H, W]`, or steps and "
              "features. With `ids` (from version 2 on) `[T]`: a row has the ids of T steps",
       .min = 1});
    v("axis", axis,
      {.doc = "what the first of `dims` counts, `steps` or `channels`; absent: as the first "
              "layer reads it (from version 2 on)",
       .one_of = "steps, channels"});
    v("ids", ids,
      {.doc = "ids below this number. Without `dims` a row is one id, and the positions of a "
              "sequence are rows; with `dims` `[T]` a row has T ids",
       .min = 1});
    v("parts", parts,
      {.doc = "several named inputs, each an object like this with a `name`. They lie side by "
              "side in a row of values, in this order, with ids as whole numbers below 2^24; "
              "a layer takes one by `part` (from version 2 on)"});
    v("name", name, {.doc = "name of a part"});
  }
};

struct TopologyConfig {
  std::string format = "loom-topology", name;
  std::vector<std::string> outputs;
  std::int64_t version = 1, depth = 1, rows = 1, cols = 1, layers_per_cell = 1;
  bool step_mesh = false;
  JsonPart input{"input"}, head{"coordinate"}, cells{"cells"};
  template <class V>
  void fields(V& v) {
    v.about("A network without its weights.");
    v("format", format, {.doc = "what the file is", .one_of = "loom-topology", .required = true});
    v("version", version,
      {.doc = "version of the format. Versions 1 and 2 are read with their names, some of "
              "which differ from those of 3. From version 2 on, layers that work on vectors "
              "(dense, norms, swiglu) apply to the last dimension of a row, and attention and "
              "recurrent layers to its steps, as in PyTorch and Keras. In version 1, all "
              "layers but the recurrent ones took the row as one vector",
       .min = 1,
       .max = 3,
       .required = true});
    v("name", name, {.doc = "a label for people"});
    v("depth", depth,
      {.doc = "grid: z. Cell (z, y, x, l) has the index ((z * rows + y) * cols + "
              "x) * layers_per_cell + l",
       .min = 1});
    v("rows", rows, {.doc = "grid: y", .min = 1});
    v("cols", cols, {.doc = "grid: x", .min = 1});
    v("layers_per_cell", layers_per_cell, {.doc = "grid: l", .min = 1});
    v("input", input, {.doc = "what arrives: rows of values, or of ids", .required = true});
    v("head", head,
      {.doc = "from this cell on, a session computes only the rows whose results are asked "
              "for; for example the last norm of a language model"});
    v("step_mesh", step_mesh,
      {.doc = "the network runs in ticks: in each tick every cell fires once and reads the "
              "outputs of the tick before, so that links may form cycles. Such a network runs "
              "only as a step mesh (from version 2 on)"});
    v("outputs", outputs,
      {.doc = "names of the outputs, in the order in which they lie side by side in a row of "
              "the output. The last cell must have `\"merge\": \"operands\"` and one input for "
              "each name; each output has a loss (from version 2 on)"});
    v("cells", cells,
      {.doc = "all cells that are not empty; an empty cell passes its input on", .required = true});
  }
};

}  // namespace loom
