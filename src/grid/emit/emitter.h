// Turns a network into instructions: cells in order of execution, arrivals merged, then, for
// learning, gradients in reverse.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grid/adapter.h"
#include "grid/network.h"
#include "ops/program_builder.h"

namespace loom {

// Declares what arrives at a network in `rows`: "x" of values, or "ids", those of a row one below
// the other.
View emit_input(ProgramBuilder& emit, const Network& network, Rows rows);
// Of its values: f64 where every cell that they reach computes in f64, so that none is rounded.
ValueType input_type(const Network& network);

// The noise of a name, drawn anew in each run that counts.
Noise named_noise(std::uint64_t seed, std::string_view name, RegisterId run);

struct EmitOptions {
  bool training = false;           // attention over the rows of a run instead of a cache
  bool learning = false;           // gradients and an update follow
  std::uint64_t seed = 0;          // of the noise of layers that learn
  std::int64_t max_positions = 0;  // of attention: cache capacity per sequence, rotary tables
  std::int64_t sequences = 1;
  std::int64_t steps = 0;  // training: rows of every sequence (LayerContext::steps)
  bool streams = false;    // training: states go on (LayerContext::streams)
  View head_rows;          // inference: rows that go on from the network's head cell; invalid: all
  Adapter* adapter = nullptr;  // beside the weights; where it is there and the network learns, it
                               // learns in the network's place
  Pulls pulls{};               // backward brings gaps of targets
  bool recompute =
      false;  // what cells keep for backward is computed again there: less memory, the same bits
  std::int64_t truncate = 0;  // learning by ticks: a gradient goes back to the last tick that is a
                              // multiple of this; 0: to the first
  std::vector<View> values;   // by ticks: what each cell gave in the tick before the first; empty:
                              // zeros
  bool watch = false;         // layers with rules say what they take and give (watched)
  // By ticks: what a cell hands back to those that it reads is its gradient times this.
  double handed_back = 1;
  // Who looks at what cells gave, and at the gradient of that, as backward() comes to them.
  void (*look)(void* looker, std::size_t cell, View y, View gradient) = nullptr;
  void* looker = nullptr;
  bool record = false;         // what cells give, and the gradients of that (recorded)
  bool record_nested = false;  // then those of the layers inside them, too
};

// A stretch of a network that is a chain of cells: one that has matrices, and those behind it that
// have none. Cells before the first one with matrices belong to its part.
struct ChainPart {
  std::size_t first = 0, end = 0;  // cells [first, end)
  std::string path;                // of the cell with the matrices
  std::int64_t width = 0;          // of a row that the part hands on
  ValueType type = ValueType::f32;
};
// Errors: cells that are no chain, by links, a tie, or a layer that runs elsewhere too.
Result<std::vector<ChainPart>> chain_parts(Network& network);

struct GroupedCells;
struct GroupedViews;

class NetworkEmitter {
 public:
  NetworkEmitter(Network& network, ProgramBuilder& emit, const EmitOptions& options)
      : network_(network), emit_(emit), options_(options) {}

  // Emits all cells, of every tick where the network runs by ticks; `x` is what arrives at the
  // first. Returns the network's output.
  Result<View> forward(View x);
  // By ticks, where cells run in groups: writes the answers of all ticks to y, and the values of
  // f32 to the row `views.values`. Returns the last values of the other cells.
  Result<std::vector<View>> forward_groups(View x, const GroupedCells& cells,
                                           const GroupedViews& views, View y);
  // What the layer of a cell makes of x.
  Result<View> forward_cell(std::size_t cell, View x);
  // Emits gradients for the output's gradient. Parameters' gradients are in gradients() afterwards.
  Status backward(View gy);

  // The same of a chain, part by part: after begin_parts() each part forward once, in order, and
  // backward once at any time after that. A gradient ends with its part: backward_part returns the
  // gradient of the part's input, invalid where that was ids.
  Status begin_parts(View x);
  const std::vector<ChainPart>& parts() const { return parts_; }
  Result<View> forward_part(std::size_t part);
  Result<View> backward_part(std::size_t part, View gy);
  // What a part that has run forward makes of another input, with the same noise.
  Result<View> part_of(std::size_t part, View x);

  struct Gradient {
    std::string path, role;
    WeightStore* store;
    std::int64_t rows, cols;
    ValueType type;
    View value;
  };
  // In path order; a tied parameter stands once, under its first name. Of an adapter: those of its
  // A and B alone.
  std::vector<Gradient> gradients() const;

  // Of a pass's input, after backward(); invalid where that was ids or stood still, and by ticks.
  View input_gradient() const { return input_gradient_; }
  // By ticks, after forward(): what each cell gave in the last one.
  std::vector<View> values() const;
  // With `record`: what cells and layers gave, and the gradients of that, in order of emission, and
  // the number of instructions then; later ones may write there again. A path stands there several
  // times where its layer runs in several places, or ticks.
  struct Recorded {
    std::string path;
    bool gradient = false;
    View value;
    std::size_t end = 0;
  };
  const std::vector<Recorded>& recorded() const { return recorded_; }
  void record(const std::string& path, bool gradient, View value);
  // With `watch`: what layers with rules take and make of it, in order of execution, and the number
  // of instructions when both were there.
  struct Watched {
    std::string path;
    View x, y;
    std::size_t begin = 0, end = 0;
  };
  const std::vector<Watched>& watched() const { return watched_; }
  // The type of those values.
  std::vector<ValueType> value_types() const;

  // Parameters that an update moves towards a value of the forward pass, in order of emission.
  struct Average {
    std::string path, role;
    WeightStore* store;
    ValueType type;
    View value;
    double momentum;
    std::int64_t places;  // values per channel behind `value`, for each unit of the row register
  };
  const std::vector<Average>& averages() const { return averages_; }

  // In a stream: carried states, by "path:role", and the path of a layer that runs in several
  // places, which have one state; empty: none does.
  const std::map<std::string, View>& states() const { return states_; }
  const std::string& shared_state() const { return shared_state_; }

 private:
  friend class NodeContext;
  // One execution of a node (a node that several cells run is visited several times).
  struct Tape {
    const Node* node = nullptr;
    std::string path;
    ValueType type = ValueType::f32;
    bool again = false;  // the second time, for backward
    std::int64_t tick = 0;
    std::size_t begin = 0;  // instructions before it
    std::map<std::string, View, std::less<>> saved;
    std::vector<Tape> children;
  };
  // One execution of a cell.
  struct Execution {
    std::size_t cell = 0;
    std::vector<std::int64_t>
        from;                    // executions before this one; -1 - k: what arrives from outside, k
    std::vector<View> arrivals;  // converted to the cell's type
    std::vector<ValueType> arrival_types;
    View x, y;
    Tape tape;
    View selected_from;  // head cell: what its rows were picked from
    std::vector<View> gradients;
  };
  struct Sum {
    WeightStore* store;
    std::string path, role;
    View value;
    bool started;
    std::int64_t rows, cols;
    ValueType type;
  };

  // What forward() begins with. Then: all executions in order, of a pass or of every tick; what
  // arrives from one or from outside; the type that one computes in; its arrivals in that type; the
  // one value that they make.
  Status begin(View x);
  Status list_once(View x);
  Status list_by_ticks(View x);
  View arriving(std::int64_t from) const;
  ValueType type_of(const Execution& execution) const;
  void convert_arrivals(Execution& execution, ValueType type);
  View merged(const Execution& execution, ValueType type);
  Status run(Execution& execution);
  Status run_back(Execution& execution);
  std::vector<View> rows_of_ticks(const GroupedCells& cells, const GroupedViews& views);
  void tick_of_groups(const GroupedCells& cells, std::size_t part, const GroupedViews& views,
                      View from, View to);
  Status tick_of_others(const GroupedCells& cells, std::size_t part, std::int64_t tick, View from,
                        View to);
  View answer();
  void hand_back(Execution& execution, View g);
  Result<View> run_node(Tape& tape, View x, View skip);
  Result<View> run_node_back(Tape& tape, View gy, View* gskip);
  View total(const Execution& execution);
  bool frozen() const { return options_.adapter && options_.learning; }
  void find_frozen(const Node& node, bool frozen);

  Network& network_;
  ProgramBuilder& emit_;
  EmitOptions options_;
  std::vector<std::vector<std::int64_t>> arrivals_;  // of each cell
  std::vector<Execution> executions_;
  std::vector<ChainPart> parts_;        // of begin_parts(): execution i is that of cell i
  std::vector<View> outside_;           // what arrives that none gave
  std::vector<std::size_t> answering_;  // those whose values are the output, side by side
  std::string looks_outside_;           // by ticks: a layer that asked for positions
  std::vector<Sum> sums_;               // per store, in order of first use
  std::map<const WeightStore*, std::size_t> sum_of_;  // where a store's is
  std::vector<Average> averages_;
  std::vector<Watched> watched_;
  std::vector<Recorded> recorded_;
  std::set<const WeightStore*> frozen_;  // those that no gradient goes to
  std::map<std::string, View> states_;
  std::string shared_state_;
  View input_, input_gradient_;
};

}  // namespace loom
