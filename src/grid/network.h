// A network: a grid of depth x rows x cols cells with `layers_per_cell` layers each, links between
// them, and their weights. idx = ((z*R + y)*C + x)*L + l. Plain data: edit it between runs, then
// sessions emit their programs again. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/random.h"
#include "base/status.h"
#include "layers/layer.h"
#include "numeric/weight_store.h"

namespace loom {

struct Coordinate {
  std::int64_t z = 0, y = 0, x = 0, l = 0;
  friend bool operator==(const Coordinate&, const Coordinate&) = default;
  std::string to_string() const;  // "(0,1,2,0)"
};

enum class LinkKind : std::uint8_t {
  read,  // take that cell's output
  send,  // deliver mine there
  run,   // execute that cell's layer here with its weights
};
struct Link {
  LinkKind kind = LinkKind::read;
  Coordinate cell;
};
enum class Merge : std::uint8_t {
  concat,
  add,
  avg,
  operands,  // side by side, each with its own shape: for layers that take several
};
// Whether arrivals stand side by side in the row that they become.
inline bool side_by_side(Merge merge) { return merge == Merge::concat || merge == Merge::operands; }

struct Param {
  ParamSpec spec;
  std::shared_ptr<WeightStore> store;  // shared where a cell is tied to another's
};

struct Node {
  const LayerType* type = nullptr;  // null: an empty cell, which passes its input on
  ConfigPtr config;
  std::vector<Param> params;
  std::vector<Node> children;
  Shape in;  // what plan() found to arrive; of a layer that works on the last dimension, that alone
  std::int64_t parts = 1;   // places of the dimensions before it: the layer's rows of one row
  Shape arrives, out;       // what plan() found: whole rows, before and after it
  std::vector<Link> links;  // of a nested layer: one `run`, in place of a type
  Merge merge = Merge::concat;
  bool keep_previous = false;  // the previous cell still arrives although a `read` exists
  bool enabled =
      true;  // false: passes its input on; it keeps its parameters, and has them where it would fit
  WeightFormat format;              // of the matrices
  std::string tie;                  // "0.0.0.0:weight": the first matrix is that parameter
  std::vector<std::int64_t> shape;  // what it gives, for cells in a cycle; empty: not said
  std::vector<std::string> fixed;   // roles that trainers leave as they are; "all": everything
  std::string name;                 // free text for people

  const Param* find(std::string_view role) const;
  bool fixes(std::string_view role) const;
};

// Where a row's logits of classes lie: `places` of `classes` each (a class for every step or
// pixel), a place's side by side, or, where channels come first, one in each channel.
struct ClassAxis {
  std::int64_t places = 1, classes = 0;
  bool first = false;
};
// Of an output, or of one of its parts: the last dimension holds the classes, of channels the
// first.
ClassAxis class_axis(const Shape& out);

class Network {
 public:
  static constexpr std::int64_t kMaxValues =
      std::int64_t{1} << 33;  // parameters that planning makes unless told otherwise: 32 GiB of f32

  // Of topologies: in 1 layers that work on the last dimension take the row as one, in 2 they do
  // not.
  static constexpr int kVersion = 3;

  // A grid of empty cells. `input`: what arrives at the first cell.
  static Result<Network> create(std::int64_t depth, std::int64_t rows, std::int64_t cols,
                                std::int64_t layers_per_cell, Shape input, int version = kVersion);
  // From its topology (docs/reference/topology.md): cells, links and sizes, all parameters zero, in
  // stores that take no memory until initialize() or a checkpoint fills them. A few bytes can ask
  // for any size: more than max_values parameters are refused.
  static Result<Network> from_json(const Json& topology, std::int64_t max_values = kMaxValues);
  static Result<Network> from_json(std::string_view text, std::int64_t max_values = kMaxValues);
  Json to_json() const;
  // One cell as the topology has it.
  Json cell_json(std::size_t index) const;

  Network(Network&&) = default;
  Network& operator=(Network&&) = default;

  std::int64_t depth() const { return depth_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t layers_per_cell() const { return layers_; }
  std::size_t size() const { return nodes_.size(); }
  int version() const { return version_; }
  const Shape& input() const { return ticks_ > 0 ? ticks_input_ : input_; }
  // Of the last cell.
  const Shape& output() const { return ticks_ > 0 ? ticks_output_ : outputs_.back(); }
  const Shape& output(std::size_t cell) const { return outputs_[cell]; }
  // Of the output (in topologies of version 1 the whole row are the classes).
  ClassAxis class_axis() const;

  std::size_t index(const Coordinate& c) const {
    return static_cast<std::size_t>(((c.z * rows_ + c.y) * cols_ + c.x) * layers_ + c.l);
  }
  Coordinate coordinate(std::size_t index) const;
  bool contains(const Coordinate& c) const;
  Node& node(std::size_t index) { return nodes_[index]; }
  const Node& node(std::size_t index) const { return nodes_[index]; }
  // "0.1.2.0", with "/i" per nested child: names parameters in programs and files.
  std::string path(std::size_t index) const;

  // Puts a layer into a cell from its JSON (type, settings, links, nested layers).
  Status set_cell(const Coordinate& at, const Json& cell);
  // Other links for a cell, from their JSON: [{"read": [z, y, x, l]}, ...]. All weights stay; where
  // one would need another size, and on any other error, nothing has changed.
  Status set_links(const Coordinate& at, const Json& links);
  // Switches a cell on or off; likewise.
  Status enable(std::size_t cell, bool enabled);
  // Edits nodes and plans; on an error all is as it was. Where weights would need another size they
  // are made anew, or, where `with` says what would be the reason, that is an error.
  Status change(const std::function<Status()>& edit, std::string_view with = {});
  // Plans all shapes and creates missing parameters, in time linear in the cells. Errors name the
  // cell. Called by from_json; call it after edits.
  Status plan(std::int64_t max_values = kMaxValues);

  // Cells in order of execution (Kahn, smallest index first); a cycle is an error that names it.
  Result<std::vector<std::size_t>> order() const;
  // What arrives at each cell, in order: an index of a cell, or -1 for the network's input.
  std::vector<std::vector<std::int64_t>> arrivals() const;
  // The node a cell executes: its own, or the target of its `run` link.
  std::size_t executed(std::size_t cell) const;
  // What a nested layer executes and where it stands: itself at `path`, or the cell of its `run`
  // link; null where that hands on what it gets.
  const Node* executed(const Node& nested, std::string& path) const;
  // Parts of a cell's row in which what arrives is joined: the steps of sequences that meet by
  // concat, else 1.
  std::int64_t joined_parts(std::size_t cell, const std::vector<std::int64_t>& arriving) const;
  // True where a cell hands on what arrives: it is empty, or it or the cell it runs is switched
  // off.
  bool passes(std::size_t cell) const;

  // Whether a layer goes from row to row of a sequence (LayerType::recurs_over_rows).
  bool recurs_over_rows() const;
  // Whether a layer is one that devices cannot run (LayerType::on_cpu_alone).
  bool on_cpu_alone() const;
  // An error unless a layer continues from one window of a stream to the next (LayerType::carries),
  // and none needs to see more than a window.
  Status check_streams() const;
  // Whether a layer takes NaN for a value that is missing (LayerType::takes_missing).
  bool takes_missing() const;

  // The network as a decoder runs it, sharing all weights. The part `target` of the input, [steps]
  // ids or [steps, features], is one step of a sequence; later rows are its next steps, and layers
  // with states continue from them. The other parts stay. Its answers, row by row, are those of
  // this network step by step. An error where a layer needs all steps at once.
  Result<Network> by_step(std::string_view target) const;

  // The cells fire at once, in ticks: each from what those that it reads gave in the tick before,
  // so links may form cycles, and a plain pass is no way to run it.
  bool step_mesh = false;
  // The network as it runs for a number of ticks on rows that hold what arrives at each of them,
  // sharing all weights; values begin at 0. A row of its output has the last cell's values after
  // every tick, or after the last one alone. An error where a layer looks at other rows, and for
  // several inputs or outputs.
  enum class Answers : std::uint8_t { every_tick, last_tick };
  Result<Network> over_ticks(std::int64_t ticks, Answers answers) const;
  std::int64_t ticks() const { return ticks_; }  // of over_ticks(); 0: a plain network
  Answers answers() const { return answers_; }

  // The cell from which on only selected rows matter (a language model's last norm); -1: none.
  std::int64_t head = -1;
  // Names of the output's parts (Shape::parts), where it has several. plan() checks them.
  std::vector<std::string> outputs_by_name;

  // Random parameters from a seed: each element depends on (seed, path, index) alone.
  Status initialize(std::uint64_t seed);
  // The same of one layer and those in it.
  Status initialize(Node& node, const std::string& path, std::uint64_t seed);
  WeightStore* find(std::string_view path, std::string_view role);
  // The layer at a path, as path() spells it with "/i" for nested ones; null: there is none.
  Node* find_node(std::string_view path);
  // A layer that is to be nested, from its JSON; it is not planned.
  Result<Node> parse_layer(const Json& layer) const;
  struct NamedParam {
    std::string path;
    Param* param;
    Node* node;
    bool tied;  // the store belongs to an earlier parameter of the list
    // The parameter is the one that its cell's `tie` names: files hold it under that name.
    bool borrowed() const {
      return !node->tie.empty() && param == &node->params[0] && path.find('/') == std::string::npos;
    }
  };
  // All parameters in path order of the grid, children after their parent.
  std::vector<NamedParam> params();
  // Morphs every matrix of a cell (all cells: of every cell) to a format; a team encodes each where
  // there is one.
  Status morph(std::size_t cell, const WeightFormat& format, ThreadPool* pool = nullptr);
  // Of one layer and those in it.
  static Status morph(Node& node, const std::string& path, const WeightFormat& format,
                      ThreadPool* pool = nullptr);
  Status morph(const WeightFormat& format, ThreadPool* pool = nullptr);
  // The same for running alone: each master is freed as soon as its matrix is packed, so that f32
  // values of only one matrix are held at a time. f32 and f64 run from their masters, which stay.
  Status pack(const WeightFormat& format, ThreadPool* pool = nullptr);
  std::int64_t parameter_count();
  // Of all parameters in memory: masters, and what is packed.
  std::uint64_t weight_bytes();

 private:
  Network() = default;
  Result<Node> parse_node(Json cell, int depth) const;
  struct Planning;
  Result<Shape> plan_node(Node& node, const Shape& in, const Shape* skip, const std::string& path);
  bool works_on_last(const Node& node, const Shape& in) const;
  Result<LayerPlan> plan_layer(const Node& node, const Shape& in, const Shape* skip,
                               ChildPlanner& children) const;
  // A cell's node where cell, or the nested layer, at `where` runs it.
  Result<Shape> plan_run(std::size_t target, const Shape& in, const std::string& where);
  Status rows_alone(const Node& node, const std::string& path) const;
  Status check_streams(const Node& node, const std::string& path, bool& carries) const;
  Result<Shape> operands(const std::vector<std::int64_t>& arriving) const;
  Result<Shape> merged(std::size_t cell, const std::vector<std::int64_t>& arrivals) const;
  Status check_rules(const Node& node, const Shape& in, const Shape* skip, const Shape& out,
                     const std::string& path);
  Network shared() const;  // the same, with the same weights
  Status resolve_ties();
  // Cells in an order in which what arrives is known; given[i]: what cell i says that it gives, so
  // that others need not wait for it.
  Result<std::vector<std::size_t>> order(const std::vector<Shape>& given) const;
  Status cycle(const std::vector<std::vector<std::int64_t>>& arriving,
               const std::vector<int>& missing) const;
  Shape declared(std::size_t cell) const;
  Status as_declared(std::size_t cell, const Shape& given) const;
  Status plan_cells();
  Status name_outputs();
  Json node_json(const Node& node) const;

  std::int64_t depth_ = 0, rows_ = 0, cols_ = 0, layers_ = 0;
  int version_ = kVersion;
  Shape input_;
  std::vector<Node> nodes_;
  std::vector<Shape> outputs_;
  Planning* planning_ = nullptr;   // while plan() runs
  std::int64_t target_steps_ = 0;  // of by_step(): those of the part that is one step now
  std::int64_t ticks_ = 0;         // of over_ticks()
  Answers answers_ = Answers::every_tick;
  Shape ticks_input_, ticks_output_;
  friend class NodeChildren;
};

// The k-th number of a stream of standard normals (Box and Muller).
float normal(const RandomStream& random, std::uint64_t k);

// Calls f(path, node, parameter) for those of a node and its children.
template <class F>
void visit_params(Node& node, const std::string& path, const F& f) {
  for (Param& p : node.params) f(path, node, p);
  for (std::size_t i = 0; i < node.children.size(); ++i)
    visit_params(node.children[i], path + "/" + std::to_string(i), f);
}

// True where any matrix of the node or its children is of a class D type: the whole cell then
// computes in double.
bool computes_in_f64(const Node& node);

}  // namespace loom
