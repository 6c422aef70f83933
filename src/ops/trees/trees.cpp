// Host side of trees.def: tables, shapes, memory, calls.
#include "ops/trees/trees.h"

#include <bit>
#include <cmath>
#include <string>

#include "ops/lowering/lowered.h"
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/trees/layout.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxTreeLeaves = kLeafNumber;

std::int64_t count_of(double value, std::int64_t max) {
  const bool whole = value >= 1 && value <= static_cast<double>(max) && std::floor(value) == value;
  return whole ? static_cast<std::int64_t>(value) : 0;
}

// A threshold as numbers are stored: what is near 0 is 0 there, so that a negative one must stay
// below it.
float settled(float threshold) {
  constexpr float kFloor = 0x1p-40f;
  if (threshold >= kFloor || threshold <= -kFloor) return threshold;
  return threshold < 0 ? -kFloor : 0.0f;
}

class TableMaker {
 public:
  TableMaker(std::span<const std::uint32_t> nodes, std::span<const float> thresholds,
             std::int64_t features)
      : nodes_(nodes), thresholds_(thresholds), features_(features), bits_(feature_bits(features)) {
    table_.features = features;
  }

  Status add(std::int64_t size) {
    if (size < 1 || static_cast<std::size_t>(size) > nodes_.size() - at_)
      return wrong(0, "the tree has " + std::to_string(size) + " nodes, " +
                          std::to_string(nodes_.size() - at_) + " are left");
    std::vector<std::uint32_t>& w = words_;
    // Pairs of children begin at an even number, within a line of the cache.
    if ((w.size() / 2) % 2 == 0) w.insert(w.end(), {kLeafNaN, leaf_word()});
    heads_.insert(heads_.end(),
                  {static_cast<std::uint32_t>(w.size() / 2), static_cast<std::uint32_t>(size),
                   static_cast<std::uint32_t>(table_.leaves)});
    std::int64_t leaves = 0;
    for (std::int64_t n = 0; n < size; ++n, ++at_) {
      if (nodes_[at_] != 0) {
        LOOM_TRY(inner(n, size));
        continue;
      }
      if (leaves == kMaxTreeLeaves)
        return wrong(n, "a tree has at most " + std::to_string(kMaxTreeLeaves) + " leaves");
      w.insert(w.end(), {kLeafNaN | static_cast<std::uint32_t>(leaves++), leaf_word()});
    }
    heads_.push_back(static_cast<std::uint32_t>(leaves));
    table_.leaves += leaves;
    ++table_.trees;
    return {};
  }

  Result<TreeTable> take() {
    if (at_ != nodes_.size() || threshold_ != thresholds_.size())
      return Status(Code::invalid_argument,
                    "trees: there are " + std::to_string(nodes_.size()) + " nodes and " +
                        std::to_string(thresholds_.size()) + " thresholds, the trees have " +
                        std::to_string(at_) + " and " + std::to_string(threshold_));
    words_.insert(words_.begin(), heads_.begin(), heads_.end());
    table_.words = std::make_shared<const std::vector<std::uint32_t>>(std::move(words_));
    return std::move(table_);
  }

 private:
  Status wrong(std::int64_t node, const std::string& what) const {
    return Status(Code::invalid_argument, "trees: tree " + std::to_string(table_.trees) +
                                              ", node " + std::to_string(node) + ": " + what);
  }
  std::uint32_t leaf_word() const {
    return static_cast<std::uint32_t>(~std::uint64_t{0} << (bits_ + 1));
  }
  Status inner(std::int64_t n, std::int64_t size) {
    const std::uint32_t word = nodes_[at_];
    const std::int64_t left = static_cast<std::int64_t>(std::uint64_t{word} >> (bits_ + 1));
    const std::int64_t feature = word & ((1u << bits_) - 1);
    if (word >> 31 != 0 || left < 1 || n + left + 1 >= size)
      return wrong(n, "its children would be nodes " + std::to_string(n + left) + " and " +
                          std::to_string(n + left + 1) + ", the tree has " + std::to_string(size) +
                          "; children are behind their parent");
    if (feature >= features_)
      return wrong(
          n, "it reads feature " + std::to_string(feature) + " of " + std::to_string(features_));
    if (threshold_ == thresholds_.size())
      return wrong(n, "there are " + std::to_string(threshold_) + " thresholds, more are needed");
    const float threshold = thresholds_[threshold_++];
    if (threshold != threshold) return wrong(n, "its threshold is no number");
    table_.missing = table_.missing || (word >> bits_ & 1) != 0;
    words_.insert(words_.end(), {std::bit_cast<std::uint32_t>(settled(threshold)), word});
    return {};
  }

  std::span<const std::uint32_t> nodes_;
  std::span<const float> thresholds_;
  std::int64_t features_;
  int bits_;
  std::size_t at_ = 0, threshold_ = 0;
  std::vector<std::uint32_t> heads_, words_;
  TreeTable table_;
};

// The nodes of one tree of a table; the leaves it has, or -1.
std::int64_t check_nodes(std::span<const std::uint32_t> nodes, int bits, std::int64_t features) {
  const auto count = static_cast<std::int64_t>(nodes.size() / 2);
  std::int64_t leaves = 0;
  for (std::int64_t n = 0; n < count; ++n) {
    const std::uint32_t threshold = nodes[static_cast<std::size_t>(2 * n)],
                        word = nodes[static_cast<std::size_t>(2 * n + 1)];
    const std::int64_t left = static_cast<std::int32_t>(word) >> std::min(bits + 1, 31);
    if (left == -1) {
      if (threshold != (kLeafNaN | static_cast<std::uint32_t>(leaves))) return -1;
      if ((word & ((2u << bits) - 1)) != 0 || ++leaves > kMaxTreeLeaves) return -1;
      continue;
    }
    const float value = std::bit_cast<float>(threshold);
    if (left < 1 || n + left + 1 >= count || value != value) return -1;
    if ((word & ((1u << bits) - 1)) >= features) return -1;
  }
  return leaves;
}

bool whole(const OpCheck& c, int i, std::int64_t rows, std::int64_t cols) {
  return c.is(i, BufferKind::weight) && c.cols(i) == c.of(i).cols && c.constant_rows(i) == rows &&
         c.cols(i) == cols;
}

bool trees_shape(OpCheck& c) {
  if (!c.require(c.real(0) && c.one_type({0, 2, 3, 4}) && c.rows_equal(0, 4),
                 "x, y and what leaves hold must be of one float type, x and y of the same rows"))
    return false;
  const ConstantSpec& table = c.of(1).constant;
  if (!c.require(c.is(1, BufferKind::constant) && table.kind == ConstantKind::trees &&
                     c.cols(1) == c.of(1).cols,
                 "the table must be one of trees"))
    return false;
  const std::int64_t trees = count_of(table.reals[0], kMaxCols), outputs = c.cols(4);
  if (!c.require(count_of(table.reals[1], kMaxCols) == c.cols(0) && c.integer(0) == trees &&
                     c.integer(4) == feature_bits(c.cols(0)),
                 "x must have the features of the trees, whose number and bits are attributes"))
    return false;
  const bool flags = c.integer(1) == (c.integer(1) & 1) && c.integer(2) == (c.integer(2) & 1) &&
                     c.integer(3) == (c.integer(3) & 1);
  if (!c.require(flags && (c.integer(1) == 0 || trees % outputs == 0),
                 "single, average and missing are 0 or 1, and single trees are alike for columns"))
    return false;
  return c.require(whole(c, 2, count_of(table.reals[2], kMaxCols), c.integer(1) ? 1 : outputs) &&
                       whole(c, 3, 1, outputs),
                   "values must have a row for each leaf, and base one value for each output");
}

Scratch trees_scratch(const ScratchQuery& q) {
  const std::int64_t rows = tree_rows(q.cols(1), q.ins.ints[0], q.cols(4));
  const std::int64_t copied = q.of(0).type == ValueType::f64 ? 4 * rows * q.cols(0) : 0;
  return {8 * rows * q.cols(4) + rows + 64 + copied, 0};
}

Status trees_launch(webgpu::Launches&) {
  return Status(Code::unsupported, "trees run on the CPU alone");
}

}  // namespace

int feature_bits(std::int64_t features) {
  return std::bit_width(static_cast<std::uint64_t>(features - 1));
}

Result<TreeTable> make_tree_table(std::span<const std::int64_t> sizes,
                                  std::span<const std::uint32_t> nodes,
                                  std::span<const float> thresholds, std::int64_t features) {
  if (sizes.empty()) return Status(Code::invalid_argument, "trees: there is no tree");
  if (features < 1 || feature_bits(features) > 28 || nodes.size() > std::size_t{1} << 30)
    return Status(Code::invalid_argument, "trees: at most 2^28 features and 2^30 nodes");
  TableMaker maker(nodes, thresholds, features);
  for (const std::int64_t size : sizes) LOOM_TRY(maker.add(size));
  return maker.take();
}

const char* check_trees(const ConstantSpec& constant, std::int64_t cols) {
  const std::vector<double>& r = constant.reals;
  if (r.size() != 3 || !constant.words || cols != static_cast<std::int64_t>(constant.words->size()))
    return "trees without their words";
  const std::int64_t trees = count_of(r[0], cols / kTreeWords), features = count_of(r[1], 1 << 28);
  if (trees < 1 || features < 1) return "trees of impossible numbers";
  const std::span<const std::uint32_t> words(*constant.words);
  const auto nodes = words.subspan(static_cast<std::size_t>(trees * kTreeWords));
  const auto count = static_cast<std::int64_t>(nodes.size() / 2);
  std::int64_t leaves = 0;
  for (std::int64_t t = 0; t < trees; ++t) {
    const std::uint32_t* head = words.data() + t * kTreeWords;
    if (head[1] < 1 || std::int64_t{head[0]} + head[1] > count)
      return "a tree outside of its table";
    const std::int64_t own =
        check_nodes(nodes.subspan(std::size_t{2} * head[0], std::size_t{2} * head[1]),
                    feature_bits(features), features);
    if (own < 1 || own != head[3] || head[2] != leaves) return "a tree that does not end at leaves";
    leaves += own;
  }
  return static_cast<double>(leaves) == r[2] ? nullptr : "trees of another number of leaves";
}

View ProgramBuilder::tree_table(const TreeTable& table) {
  return constant(
      {.type = ValueType::u32,
       .cols = static_cast<std::int64_t>(table.words->size()),
       .role = "trees",
       .constant = {ConstantKind::trees,
                    {static_cast<double>(table.trees), static_cast<double>(table.features),
                     static_cast<double>(table.leaves)},
                    table.words}});
}
View ProgramBuilder::trees(View x, View table, View values, View base, const TreeSum& sum) {
  const View y = like(x, sum.outputs);
  append(Op::trees, {x, table, values, base, y},
         {sum.trees, sum.single ? 1 : 0, sum.average ? 1 : 0, sum.missing ? 1 : 0, sum.bits});
  return y;
}

#define LOOM_FAMILY trees
#define LOOM_FAMILY_ROWS "ops/trees/trees.def"
#include "ops/op_rows.h"

}  // namespace loom
