// A layer type: a stateless object that plans shapes and parameters and emits instructions, forward
// and backward. All state (configuration, weights, children) is data in a Node that the grid owns,
// so morphing, saving and comparing are generic code.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "layers/config.h"
#include "ops/program_builder.h"
#ifdef LOOM_DESCRIBE  // tools/describe
#include "layers/describe.h"
#endif

namespace loom {

struct MetacognitionConfig;

// What the first of a row's dimensions counts, where that is known: steps of a sequence, or
// channels. `positions`: rows are positions of sequences whose other positions are other rows, as
// in a language model.
enum class Axis : std::uint8_t { none, steps, channels, positions };

// What flows between cells: rows of `width` real values, or rows of ids below `ids`: one, or those
// of `dims` steps.
struct Shape {
  std::int64_t width = 0;  // 0 of ids
  std::int64_t ids = 0;    // > 0: a row is ids in [0, ids)
  // How the values of a row are arranged, slowest first: channels and space, or steps and features;
  // empty: not.
  std::vector<std::int64_t> dims{};
  Axis axis = Axis::none;
  // The operands of which a row consists, one behind the other: the parts of an input, or what a
  // merge by `operands` brings. Empty: it is one.
  std::vector<Shape> parts{};
  std::string name{};  // of a part of an input
  // A row of these dimensions; an error where one is below 1 or they hold more than 2^31-1 values.
  static Result<Shape> of(std::vector<std::int64_t> dims, Axis axis = Axis::none);
  // Numbers of a row: values or ids.
  std::int64_t count() const;
  // Whether values are ids: those of a part among values, as its row has them.
  bool has_id_parts() const;
  // Of rows of values, the first of which is number `first`: an error where what stands for an id
  // is none, by row, part and value.
  template <class T>  // float, double
  Status check_ids(std::span<const T> rows, std::int64_t first = 0) const;
  friend bool operator==(const Shape&, const Shape&) = default;
  // "[B, 8]", "[B, T=5, 8]", "[B, C=3, 28, 28]", "[B, T=5] of ids below 10": B are the rows; "[T,
  // 8]", "[T] of ids below 10" where rows are positions; "image [B, 28, 28] and table [B, 5]".
  std::string to_string() const;
};

// Whether the first dimensions count the same, as far as that is known.
bool axes_agree(const Shape& a, const Shape& b);
// Whether rows of these shapes can be joined: along their features where the first dimension is
// steps, else along the first.
bool joinable(const Shape& a, const Shape& b);

enum class Init : std::uint8_t { zeros, ones, normal };

struct ParamSpec {
  std::string role;
  std::int64_t rows = 1, cols = 0;
  Init init = Init::zeros;
  double std = 0;         // of normal
  bool quantized = true;  // false: norms and biases stay in the cell's float type
  bool adapts =
      false;  // a weight that LayerContext::linear multiplies: an adapter may stand beside it

  // The weight of a product [rows, cols], drawn with the standard deviation `std`.
  static ParamSpec product(std::string role, std::int64_t rows, std::int64_t cols, double std) {
    return {std::move(role), rows, cols, Init::normal, std, true, true};
  }
};

struct LayerPlan {
  Shape out;
  std::vector<ParamSpec> params;
};

// Plans the children of a container in turn.
class ChildPlanner {
 public:
  virtual ~ChildPlanner() = default;
  virtual std::size_t count() const = 0;
  virtual int version() const = 0;  // of the topology
  // Output of child i for this input; `skip` is what a Residual child adds (null outside of a
  // Sequential).
  virtual Result<Shape> plan(std::size_t i, const Shape& in, const Shape* skip) = 0;
  // After plan(i): an error that names the first layer in child i whose rows are not alone
  // (LayerType::row_dependence).
  virtual Status rows_alone(std::size_t i) const = 0;
};

// Backward brings gaps a - t of targets t in place of gradients, and takes no derivative (pull.h).
struct Pulls {
  bool on = false;
  bool absolute = false;  // t = pull(t') in place of a + pull(t') - pull(a'); of dense layers alone
  bool slope = false;     // what a layer learns from counts times the slope of its activation
};

// One visit of a node while a program is emitted: what a layer may ask of the network around it.
class LayerContext {
 public:
  virtual ~LayerContext() = default;
  explicit LayerContext(ProgramBuilder& emit) : emit(emit) {}

  ProgramBuilder& emit;
  virtual const Shape& in() const = 0;        // what the layer was planned for
  virtual std::string_view path() const = 0;  // of the layer in the network
  ValueType type = ValueType::f32;            // the cell computes in f32 or f64
  bool training = false;                      // attention reads rows of this run instead of a cache
  bool learning = false;  // gradients and an update follow: dropout drops, batch norms take the
                          // batch's statistics
  bool frozen = false;  // what learns is an adapter, and the network as it is: batch norms keep to
                        // their own statistics
  Pulls pulls{};
  std::int64_t max_positions = 0;  // positions that tables and caches cover
  std::int64_t sequences = 1;
  // Training: what carries a state continues from window to window of a lane, and where rows are
  // positions, `steps` of them are a window.
  bool streams = false;
  std::int64_t steps =
      0;  // training: rows of every sequence, one sequence after another; 0: as many as it has

  // The product of x with the weight `role`, plus the parameter `bias` where one is named. With an
  // adapter at this weight (grid/adapter.h) y = W x + b + scale * B (A x).
  View linear(const std::string& role, View x, std::string_view bias = {});
  // From the gradient of that: the gradients of weight, bias and adapter; returns that of x.
  // Of targets, those of `gap`, where it is there, in place of gy.
  View linear_back(const std::string& role, View x, View gy, std::string_view bias = {},
                   View gap = {});
  // The gradient of x in weight times x; of targets W^T gy over the columns' sums of |W|. `x` has
  // the values that have no target, where targets are absolute.
  View weight_back(std::string_view role, View gy, View x = {});
  View activation_back(View z, View gy, Activation kind);

  virtual View weight(std::string_view role) = 0;
  // alpha / rank of the adapter at this weight, whose parameters are role:lora_A [rank, in] and
  // role:lora_B [out, rank]; 0: there is none.
  virtual double adapter_scale(std::string_view role) const = 0;
  // Where the gradient of a parameter goes, and whether this is the first contribution to it.
  struct Gradient {
    View to;
    Accumulate accumulate;
  };
  virtual Gradient gradient(std::string_view role) = 0;
  // A parameter without a gradient: an update moves it towards this value by so much of the way.
  // The value is a statistic of `places` values per row, which may not be one value in all.
  virtual void learn_average(std::string_view role, View value, double momentum,
                             std::int64_t places) = 0;
  // Noise of this layer, by name: of the training's seed, the node's path and the micro-batch.
  virtual Noise noise(std::string_view name) = 0;
  virtual View positions() = 0;
  virtual View sequence_ids() = 0;
  // Where a state is left. In a stream that is another row than that of sequence_ids(), and the two
  // change places from step to step: what runs again finds what it had found.
  virtual View next_sequence_ids() = 0;
  // Of a stream over rows: not 0 where a row continues the one before it.
  virtual View goes_on() = 0;
  virtual View state(std::string_view role, ValueType type, Rows rows, std::int64_t cols) = 0;
  // Values that backward needs again, by name; they belong to this visit.
  virtual void save(std::string_view name, View value) = 0;
  virtual View saved(std::string_view name) const = 0;

  // Sessions with rules look at these, what a layer takes and makes of it.
  virtual void watch(View /*x*/, View /*y*/) {}

  virtual std::size_t child_count() const = 0;
  virtual Result<View> child_forward(std::size_t i, View x, View skip) = 0;
  virtual Result<View> child_backward(std::size_t i, View gy, View* gskip) = 0;
};

// What a layer takes a row of several dimensions for (topologies of version 1: always for the whole
// row).
enum class Works : std::uint8_t {
  on_rows,  // for the whole, and looks at the dimensions itself
  on_last,  // for vectors along the last dimension, as PyTorch's Linear and LayerNorm: the network
            // plans and emits it for a row of that dimension alone, one for each place of the
            // others
  on_values,  // for values, each by itself; emitted as on_last where the first dimension is steps
  on_steps,   // [steps, features] for a sequence
};

class LayerType {
 public:
  virtual ~LayerType() = default;
  virtual std::string_view name() const = 0;
  virtual Result<ConfigPtr> parse(const Json& cell) const = 0;
  virtual void write(const LayerConfig& config, Json& cell) const = 0;

  // Shapes and parameters for this input, or an error that names both sizes. `skip`: see
  // ChildPlanner.
  virtual Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape* skip,
                                 ChildPlanner& children) const = 0;
  virtual Result<View> forward(const LayerConfig& config, LayerContext& visit, View x,
                               View skip) const = 0;
  // Emits the gradients of the parameters; returns that of x (invalid for ids), and of the skip
  // through gskip.
  virtual Result<View> backward(const LayerConfig& config, LayerContext& visit, View gy,
                                View* gskip) const = 0;

  virtual bool is_container() const { return false; }
  virtual Works works() const { return Works::on_rows; }
  // Takes rows of several operands (Shape::parts).
  virtual bool takes_operands() const { return false; }
  // A NaN that arrives is a value to it: a missing one.
  virtual bool takes_missing(const LayerConfig&) const { return false; }
  // Non-empty if output rows depend on other rows; names the reason: "attends to other rows".
  // Empty: the layer may run on some of the rows.
  virtual std::string_view row_dependence(const LayerConfig&, const Shape& /*in*/) const {
    return {};
  }
  // Values of a row that it gives, where its settings alone say so; 0: they do not.
  virtual std::int64_t width(const LayerConfig&) const { return 0; }
  // Whether devices cannot run it.
  virtual bool on_cpu_alone() const { return false; }
  // Whether a row continues from the state of the rows before it in its sequence.
  virtual bool recurs_over_rows(const LayerConfig&, const Shape& /*in*/) const { return false; }
  // Whether a run can continue from the state of the run before it.
  virtual bool carries(const LayerConfig&, const Shape& /*in*/) const { return false; }
  // Of a layer that wraps another: its rules (layers/metacognition/rules.h). Null: it is none.
  virtual const MetacognitionConfig* metacognition(const LayerConfig&) const { return nullptr; }
  // Whether weights that are the identity, and a bias of 0, make it hand on its input, up to its
  // activation. Of layers with a square `weight` alone.
  virtual bool has_identity(const LayerConfig&, const Shape& /*in*/) const { return false; }
  // Why a stream cannot be cut into windows for it: it would need to see those before. Empty: it
  // can.
  virtual std::string_view needs_all_rows(const LayerConfig&, const Shape& /*in*/) const {
    return {};
  }
  // For a decoder, which takes the steps of a row one run after another: rows of `in` are single
  // positions where they were `steps` of them. Gives the configuration that does the same there,
  // or why there is none. What works on values or on the last dimension need not know.
  virtual Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape& in,
                                    std::int64_t steps) const;
#ifdef LOOM_DESCRIBE
  virtual void describe(FieldDescriber& describer) const = 0;
#endif
};

// Views of the same rows, side by side.
View joined(ProgramBuilder& emit, const std::vector<View>& parts);
// Whether rows, or one of their operands, are single positions.
bool has_positions(const Shape& in);
// An error where ids arrive.
Status expect_values(const Shape& in);
// Standard deviation of the initial weights of a product with this many inputs: scaled normal of
// LeCun, doubled variance where half of the outputs will be cut off (He et al., arXiv 1502.01852).
double initial_std(std::int64_t inputs, Activation after = Activation::linear);

// Reads and writes a configuration through its field list.
template <class Config>
class LayerWith : public LayerType {
 public:
  Result<ConfigPtr> parse(const Json& cell) const override {
    auto config = std::make_shared<Config>();
    prepare(*config);
    FieldReader reader(cell);
    config->fields(reader);
    LOOM_TRY(finish_layer(reader));
    return ConfigPtr(std::move(config));
  }
  void write(const LayerConfig& config, Json& cell) const override {
    FieldWriter writer(cell);
    const_cast<Config&>(static_cast<const Config&>(config))
        .fields(writer);  // one field list serves both directions
  }

#ifdef LOOM_DESCRIBE
  void describe(FieldDescriber& describer) const override {
    Config config;
    prepare(config);
    config.fields(describer);
  }
#endif

 protected:
  // What the type decides of a configuration, before it is read.
  virtual void prepare(Config&) const {}
  static const Config& of(const LayerConfig& config) { return static_cast<const Config&>(config); }
  // The same with a change.
  template <class Change>
  static ConfigPtr changed(const ConfigPtr& config, const Change& change) {
    auto copy = std::make_shared<Config>(of(*config));
    change(*copy);
    return copy;
  }
};

// Each folder src/layers/<folder>/ defines `void register_<folder>(LayerList&)`; the build lists
// the folders.
using LayerList = std::vector<const LayerType*>;
// All types, sorted by name.
const LayerList& layer_types();
// By its name, or null.
const LayerType* find_layer_type(std::string_view name);

}  // namespace loom
