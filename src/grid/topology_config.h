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
      {.doc = "rows of values arranged in these dimensions, slowest first: "
              "`[C, H, W]`, or steps and features; with `ids` (from version 2 on) `[T]`: a row "
              "is the ids of T steps",
       .min = 1});
    v("axis", axis,
      {.doc = "what the first of `dims` counts, `steps` or `channels`; absent: what "
              "the first layer takes it for (from version 2 on)",
       .one_of = "steps, channels"});
    v("ids", ids,
      {.doc = "ids below this number: a row is one, a position of a sequence whose other positions "
              "are other rows; with `dims` it has as many as those say",
       .min = 1});
    v("parts", parts,
      {.doc = "several inputs by name, each an object like this with a `name`: they lie side by "
              "side in a row of values, in this order, ids below 2^24 as whole numbers, and "
              "layers take them by `part` (from version 2 on)"});
    v("name", name, {.doc = "of a part"});
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
      {.doc = "of the format. 3 has other names than 1 and 2, which are read by theirs. From 2 on "
              "layers that work on vectors (dense, norms, "
              "swiglu) take the last dimension of a row, and attention and "
              "recurrent layers its steps, as in PyTorch and Keras; in 1 all but "
              "recurrent layers took the row as one vector",
       .min = 1,
       .max = 3,
       .required = true});
    v("name", name, {.doc = "for people"});
    v("depth", depth,
      {.doc = "grid: z. Cell (z, y, x, l) has the index ((z * rows + y) * cols + "
              "x) * layers_per_cell + l",
       .min = 1});
    v("rows", rows, {.doc = "grid: y", .min = 1});
    v("cols", cols, {.doc = "grid: x", .min = 1});
    v("layers_per_cell", layers_per_cell, {.doc = "grid: l", .min = 1});
    v("input", input, {.doc = "what arrives: rows of values, or of ids", .required = true});
    v("head", head,
      {.doc = "from this cell on a session runs only the rows it was asked for (a "
              "language model's last norm)"});
    v("step_mesh", step_mesh,
      {.doc = "the cells fire at once, in ticks, each from what those that it reads gave in the "
              "tick before: links may form cycles, and the network runs as a step mesh alone "
              "(from version 2 on)"});
    v("outputs", outputs,
      {.doc =
           "names of the operands that arrive at the last cell, which hands them on (its `merge` "
           "is `operands`): a row of the output is all of them side by side, in this order, and "
           "each has its loss (from version 2 on)"});
    v("cells", cells,
      {.doc = "those that are not empty; an empty cell passes its input on", .required = true});
  }
};

}  // namespace loom
