// Host side of products.def: shapes, memory, devices, calls.
#include <algorithm>
#include <bit>

#include "ops/lowering/fuse_decoding.h"
#include "ops/lowering/weight_forms.h"
#include "ops/op_check.h"
#include "ops/products/decode/decode.h"
#include "ops/products/matmul/float_tiles.h"
#include "ops/products/matmul/tile_shapes.h"
#include "ops/products/product_sizes.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool gather_shape(OpCheck& c) {
  return c.require(c.is(0, BufferKind::weight) && c.indices(1, 0) && c.one_type({0, 2}) &&
                       c.cols(0) == c.cols(2) && c.rows_equal(1, 2),
                   "w [V,E], ids [R], y [R,E] do not agree");
}
bool matmul_shape(OpCheck& c) {
  if (!c.require(c.is(0, BufferKind::weight) && c.one_type({0, 3}),
                 "w must be a weight of y's type"))
    return false;
  const ArithClass arith = product_class(c.of(0).format);
  const ValueType want = c.type(3) == ValueType::f64    ? ValueType::f64
                         : arith == ArithClass::integer ? ValueType::q15
                         : arith == ArithClass::bfloat  ? ValueType::bf16x2
                                                        : ValueType::f32;
  if (!c.require(c.type(1) == want,
                 "x is not in the form the weight's arithmetic class multiplies"))
    return false;
  if (!c.require(c.cols(1) == c.cols(0) && c.cols(3) == c.constant_rows(0) && c.rows_equal(1, 3),
                 "w [N,K], x [R,K], y [R,N] do not agree"))
    return false;
  return c.require(!c.has(2) || (c.type(2) == c.type(3) && c.vector_of(2, c.cols(3))),
                   "bias must have N elements");
}
bool matmul_t_shape(OpCheck& c) {
  return c.require(c.is(0, BufferKind::weight) && c.one_type({0, 1, 2}) &&
                       c.cols(1) == c.constant_rows(0) && c.cols(2) == c.cols(0) &&
                       c.rows_equal(1, 2),
                   "w [N,K], gy [R,N], gx [R,K] do not agree");
}
bool weight_grad_shape(OpCheck& c) {
  return c.require(c.one_type({0, 1, 2}) && c.rows_equal(0, 1) && c.constant_rows(2) == c.cols(0) &&
                       c.cols(2) == c.cols(1),
                   "gy [R,N], x [R,K], gw [N,K] do not agree");
}
bool bias_grad_shape(OpCheck& c) {
  return c.require(c.one_type({0, 1}) && c.vector_of(1, c.cols(0)), "gb must have N elements");
}
bool embedding_grad_shape(OpCheck& c) {
  return c.require(c.one_type({0, 2}) && c.indices(1, 2) && c.rows_equal(0, 1) &&
                       c.constant_rows(2) > 0 && c.cols(0) == c.cols(2),
                   "gy [R,E], ids [R], gw [V,E] do not agree");
}
// Of y = x W^T or gx = gy W by groups: x has the columns of all groups, y a column per row of w.
bool groups_shape(OpCheck& c, int x, int y) {
  const std::int64_t groups = c.integer(0), n = c.constant_rows(0);
  if (!c.require(c.is(0, BufferKind::weight) && c.one_type({0, x, y}) && groups >= 1 &&
                     groups <= kMaxCols && n % groups == 0,
                 "groups must divide the rows of w, a weight of y's type"))
    return false;
  return c.require(c.cols(x) == groups * c.cols(0) && c.cols(y) == n && c.rows_equal(x, y),
                   "w [N,K], x [R, groups x K], y [R,N] do not agree");
}
bool group_matmul_shape(OpCheck& c) {
  if (!groups_shape(c, 1, 3)) return false;
  return c.require(!c.has(2) || (c.type(2) == c.type(3) && c.vector_of(2, c.constant_rows(0))),
                   "bias must have N elements");
}
bool group_matmul_t_shape(OpCheck& c) { return groups_shape(c, 2, 1); }
bool group_weight_grad_shape(OpCheck& c) {
  const std::int64_t groups = c.integer(0), n = c.constant_rows(2);
  return c.require(c.one_type({0, 1, 2}) && groups >= 1 && groups <= kMaxCols && n > 0 &&
                       n % groups == 0 && c.rows_equal(0, 1) && n == c.cols(0) &&
                       c.cols(1) == groups * c.cols(2),
                   "gy [R,N], x [R, groups x K], gw [N,K] do not agree");
}

// ---- lowering

LoweredOp lower_matmul(const Program& p, const Instruction& ins) {
  const Buffer& w = p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)];
  if (w.type == ValueType::f64) return LoweredOp::matmul;
  switch (product_form(w.format)) {
    case kIntegerForm: return LoweredOp::matmul_integer;
    case kBlockForm: return LoweredOp::matmul_blocks;
    case kDecodedForm: return LoweredOp::matmul_decoded;
    case kSplitForm: return LoweredOp::matmul_split;
    default: return LoweredOp::matmul;
  }
}
LoweredOp lower_gather(const Program& p, const Instruction& ins) {
  const Buffer& w = p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)];
  if (w.type == ValueType::f64) return LoweredOp::gather;
  const int form = product_form(w.format);
  return form == kBlockForm   ? LoweredOp::gather_blocks
         : form == kFloatForm ? LoweredOp::gather
                              : LoweredOp::gather_packed;
}

Scratch panel_scratch_of(const ScratchQuery& q) {
  return {q.of(0).type == ValueType::f64 ? 0 : panel_scratch(q.of(0).format, q.of(0).cols), 0};
}
// With the sums of products in tiles, where rows are enough for them.
Scratch integer_scratch(const ScratchQuery& q) {
  const std::int64_t padded = (q.of(0).cols + 63) / 64 * 64, rows = q.max_rows(3);
  return {panel_scratch_of(q).worker_bytes +
              (rows < cpu::kTileProductRows ? 0 : cpu::tile_sums(padded, rows)),
          0};
}
// Copied panels: of a weight that the program updates, or rows of one that is read the other way.
std::int64_t copied_panels(std::int64_t size, std::int64_t sums) {
  return 16 * cpu::kPackedPanels * size * std::min<std::int64_t>(sums, cpu::kPackedSums);
}
// Whether a device cuts sums among threads: they are so long, and the results too few to occupy it.
bool sums_in_chunks(std::int64_t inputs, std::int64_t results) {
  constexpr std::int64_t kLongSum = 256, kFewResults = 4096;
  return inputs >= kLongSum && results <= kFewResults;
}
Scratch matmul_scratch(const ScratchQuery& q) {
  Scratch s = panel_scratch_of(q);
  if (s.worker_bytes > 0)  // of many rows some panels are decoded at once
    s.worker_bytes = std::max(s.worker_bytes, copied_panels(4, q.of(0).cols));
  if (q.updates && copies_panels(q.program, q.ins)) s.worker_bytes = copied_panels(4, q.of(0).cols);
  const std::int64_t inputs = q.cols(1), results = q.cols(3) * q.max_rows(3);
  if (sums_in_chunks(inputs, results)) s.device_words = (inputs + 31) / 32 * results;
  return s;
}
Scratch matmul_t_scratch(const ScratchQuery& q) {
  return {copies_panels(q.program, q.ins) ? copied_panels(q.value_size(1), q.cols(1)) : 0, 0};
}
// Whether a device takes gradients of these numbers of outputs and inputs in chunks of rows, not in
// tiles: results are few, and so are the sums of their blocks.
bool gradient_in_chunks(std::int64_t outputs, std::int64_t inputs, std::int64_t rows) {
  constexpr std::int64_t kFewTiles = 64, kNarrow = 16, kManyRows = 64,
                         kKeptSums = std::int64_t{1} << 25;
  const std::int64_t blocks = webgpu::row_blocks_of(rows);
  if (blocks <= 1) return rows > kManyRows && std::min(outputs, inputs) < kNarrow;
  return webgpu::tiles_of(outputs) * webgpu::tiles_of(inputs) < kFewTiles &&
         blocks * outputs * inputs <= kKeptSums;
}
// Values of gy, and the rows of some panels of x; on a device sums of blocks.
Scratch weight_grad_scratch(const ScratchQuery& q) {
  const std::int64_t words = webgpu::row_blocks_of(q.max_rows(0)) * q.cols(0) * q.cols(1);
  return {q.value_size(0) *
              (cpu::kPackedOuterValues +
               16 * cpu::kPackedPanels * std::min<std::int64_t>(q.max_rows(0), cpu::kPackedOuter)),
          gradient_in_chunks(q.cols(0), q.cols(1), q.max_rows(0)) ? words : 0};
}
Scratch bias_grad_scratch(const ScratchQuery& q) {
  return {0, webgpu::row_blocks_of(q.max_rows(0)) * q.cols(0)};
}
// The last row of each id, and the next row of the same; on a device whether a row is the first.
Scratch embedding_grad_scratch(const ScratchQuery& q) {
  return {4 * q.max_rows(2) + 5 * q.max_rows(0) + 64, 2 * q.max_rows(0)};
}

// ---- devices

constexpr std::int64_t kManyRows = 32;  // from more on columns are summed in chunks
constexpr std::string_view kProductChunks = "arena row_sum chunks_gradient product_chunks";

Status gather_launch(Launches& l) {
  l.elements("", "gather", 2);
  l.with_weights("arena weights weight_rows", false);
  return {};
}
Status matmul_t_launch(Launches& l) {
  l.elements("", "matmul_t", 2);
  l.with_weights("arena weights weight_rows", false);
  add_back_product_tiles(l);
  return {};
}
// Kernels of a product with a workgroup per panel, for one row and a few.
void one_row_and_few(Launches& l) {
  webgpu::Kernel& one = l.last().kernel;
  webgpu::WideKernel few{one, 2, 4, l.last().factor};
  few.kernel.constants += webgpu::constant("ROWS", few.tile);
  one.constants += webgpu::constant("ROWS", 1);
  l.last().wide.push_back(std::move(few));
}
// Planes of an operand of class I that are not 0.
int planes_of(const Launches& l, int operand) {
  for (const LoweredInstruction& ins : l.program.code)
    if (ins.op == LoweredOp::quantize_i8 && ins.operands[1].buffer == l.view(operand).buffer)
      return 1;
  return 2;
}
// The products of this one's operand and form that stand near enough to be made at once, in the
// order of the program.
std::vector<const LoweredInstruction*> products_at_once(const Launches& l) {
  std::vector<const LoweredInstruction*> list;
  if (!l.at_once.products || l.dynamic_rows) return list;
  const auto constants = [&](const LoweredInstruction& i) {
    return webgpu::weight_constants(l.matrix(i.operands[0].buffer), i.operands[2].valid());
  };
  const BufferId own = l.view(0).buffer;
  for (const LoweredInstruction& i : l.program.code) {
    if (i.op != l.ins.op || i.operands[1] != l.view(1) || i.segment != l.ins.segment) continue;
    const BufferId w = i.operands[0].buffer, y = i.operands[3].buffer;
    if (l.heap(w) != l.heap(own) || l.matrix(w).block != l.matrix(own).block ||
        constants(i) != constants(l.ins) ||
        l.program.buffers[static_cast<std::size_t>(y)].kind != BufferKind::temp)
      return {};
    list.push_back(&i);
  }
  if (list.size() < 2 || list.size() > 3 || list.back() - list.front() >= kFusionReach) return {};
  return list;
}
// Tiles for many rows: of all products that are made at once, by the first of them.
void tiled(Launches& l, int planes) {
  std::vector<const LoweredInstruction*> list = products_at_once(l);
  if (list.empty()) list.push_back(&l.ins);
  std::vector<const WeightArg*> matrices;
  for (const LoweredInstruction* i : list) matrices.push_back(&l.matrix(i->operands[0].buffer));
  webgpu::LaunchSpec& s = l.last();
  const std::size_t few = s.wide.size();
  add_tiles(l, matrices, planes);
  if (s.wide.size() == few) return;
  if (list[0] != &l.ins) {
    s.wide.resize(few + 1);
    s.wide.back() = {s.kernel, s.wide.back().rows, 1, 0};
    return;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    s.matrices[i] = list[i]->operands[0].buffer;
    s.operands[3 + i] = list[i]->operands[3];
    if (i > 0) s.operands[5 + i] = list[i]->operands[2];
  }
}
Status matmul_launch(Launches& l) {
  const int form = l.weight().form;
  const bool integer = form == kIntegerForm, blocks = form == kBlockForm,
             decoded = form == kFloatForm || form == kDecodedForm, panels = integer || blocks;
  if (decoded && sums_in_chunks(l.cols(1), l.cols(3) * l.max_rows(3)) && !l.dynamic_rows) {
    const std::int64_t pieces = webgpu::row_blocks_of(l.cols(1));
    const auto with_weights = [&] {
      l.with_weights("arena weights matmul_chunks", l.has(2));
      l.last().kernel.constants += webgpu::flag("ONE_BLOCK", pieces == 1);
    };
    l.add("", "matmul_chunks", 3, (l.cols(3) + 7) / 8 * pieces, 1);
    with_weights();
    if (pieces > 1) {
      l.add("", "matmul_chunk_totals", 3, l.cols(3), 1);
      with_weights();
    }
    return {};
  }
  l.add("", "matmul", 3, panels ? (l.cols(3) + 15) / 16 : l.cols(3), panels ? 1 : 64);
  const std::string_view piece = integer  ? "join matmul_integer"
                                 : blocks ? "matmul_blocks"
                                          : "matmul_float";
  l.with_weights("arena weights " + std::string(piece), l.has(2));
  if (decoded) add_product_tiles(l);
  if (!panels) return {};
  const int planes = planes_of(l, 1);
  l.last().kernel.constants += webgpu::constant("PLANES", planes);
  one_row_and_few(l);
  tiled(l, planes);
  return {};
}
Status weight_grad_launch(Launches& l) {
  const std::int64_t depth =
      std::bit_width(static_cast<std::uint64_t>(webgpu::row_blocks_of(l.max_rows(0))));
  // Workgroups that wait for one another agree on the rows before the run.
  if (gradient_in_chunks(l.cols(0), l.cols(2), l.max_rows(0)) && !l.dynamic_rows) {
    l.row_blocks(kProductChunks, "weight_grad_chunks", (l.cols(0) + 7) / 8 * ((l.cols(2) + 7) / 8),
                 2, 0);
  } else if (!add_gradient_tiles(l, depth)) {
    l.elements("arena row_sum gradient", "weight_grad", 2);
  }
  return {};
}
Status bias_grad_launch(Launches& l) {
  if (l.max_rows(0) > kManyRows && !l.dynamic_rows)
    l.row_blocks(kProductChunks, "bias_grad_chunks", (l.cols(0) + 7) / 8, 1, 0);
  else l.elements("arena row_sum gradient", "bias_grad", 1);
  return {};
}
Status embedding_grad_launch(Launches& l) {
  if (l.integer(0) == 0) l.elements("arena row_sum gradient", "embedding_grad_zero", 2);
  l.add("arena embedding_rows", "embedding_rows", 0, 1, 1);
  l.elements("arena row_sum gradient", "embedding_grad", 0);
  return {};
}
Status group_matmul_launch(Launches& l) {
  l.elements("", "group_matmul", 3);
  l.with_weights("arena weights groups", l.has(2));
  return {};
}
Status group_matmul_t_launch(Launches& l) {
  l.elements("", "group_matmul_t", 2);
  l.with_weights("arena weights groups", false);
  return {};
}

Status decode_products_launch(Launches& l) {
  const auto& d = std::get<DecodeProducts>(l.ins.attributes);
  const WeightArg& w = l.matrix(d.matrices[0]);
  const auto g = decode_geometry(l.program, d, w, l.limits);
  if (!g) return Status(Code::internal, "gpu: decode_products beyond the device's limits");
  using webgpu::constant, webgpu::flag;
  const bool heads = d.epilogue == DecodeProducts::Epilogue::heads;
  std::string constants = webgpu::weight_constants(w, d.bias) + flag("NORM", d.norm);
  constants += constant("EPILOGUE", static_cast<int>(d.epilogue));
  constants += constant("MATRICES", d.count) + constant("COLS", w.cols) +
               constant("WORDS", g->words) + constant("PADDED", w.padded_cols);
  constants += constant("RUN", g->run) + constant("TURNS", g->turns) + flag("STAGED", g->staged) +
               constant("JOBS", d.jobs) + constant("THREADS", g->threads);
  constants += constant("HEAD_DIM", heads ? d.row.head_dim : 2) + constant("BLOCK", w.block / 4) +
               constant("BLOCKS", w.blocks) + constant("PLANES", d.one_plane ? 1 : 2);
  l.add("arena exact reduce q15 weights join append lanes gemv", "gemv", 0, g->units, 1,
        std::move(constants));
  webgpu::LaunchSpec& s = l.last();
  s.kernel.has_weights = true;
  s.max = g->groups;
  s.ints = {d.row.heads, d.row.kv_heads, d.row.head_dim};
  s.reals = {d.eps};
  s.matrices = d.matrices;
  return {};
}

}  // namespace

View ProgramBuilder::gather(View w, View ids) {
  const View y = temp(type(w), rows(ids), w.cols);
  append(Op::gather, {w, ids, y});
  return y;
}
View ProgramBuilder::matmul(View w, View x, View bias) {
  if (in_fp8(w)) x = rounded(x, Unary::fp8e4m3);
  const ArithClass arith = product_class(of(w).format);
  if (type(w) == ValueType::f32 && (arith == ArithClass::integer || arith == ArithClass::bfloat))
    x = quantized(x, arith);
  const View y = temp(type(w), rows(x), rows(w).constant);
  append(Op::matmul, {w, x, bias, y});
  return y;
}
View ProgramBuilder::matmul_t(View w, View gy) {
  if (in_fp8(w)) gy = rounded(gy, Unary::fp8e5m2);
  const View gx = like(gy, w.cols);
  append(Op::matmul_t, {w, gy, gx});
  return gx;
}
void ProgramBuilder::weight_grad(View gy, View x, View gw, Accumulate accumulate) {
  if (in_fp8(gw)) {
    x = rounded(x, Unary::fp8e4m3);
    gy = rounded(gy, Unary::fp8e5m2);
  }
  append(Op::weight_grad, {gy, x, gw}, {static_cast<int>(accumulate)});
}
void ProgramBuilder::bias_grad(View gy, View gb, Accumulate accumulate) {
  append(Op::bias_grad, {gy, gb}, {static_cast<int>(accumulate)});
}
void ProgramBuilder::embedding_grad(View gy, View ids, View gw, Accumulate accumulate) {
  append(Op::embedding_grad, {gy, ids, gw}, {static_cast<int>(accumulate)});
}
View ProgramBuilder::group_matmul(View w, View x, View bias, std::int64_t groups) {
  if (in_fp8(w)) x = rounded(x, Unary::fp8e4m3);
  const View y = like(x, rows(w).constant);
  append(Op::group_matmul, {w, x, bias, y}, {groups});
  return y;
}
View ProgramBuilder::group_matmul_t(View w, View gy, std::int64_t groups) {
  if (in_fp8(w)) gy = rounded(gy, Unary::fp8e5m2);
  const View gx = like(gy, groups * w.cols);
  append(Op::group_matmul_t, {w, gy, gx}, {groups});
  return gx;
}
void ProgramBuilder::group_weight_grad(View gy, View x, View gw, std::int64_t groups,
                                       Accumulate accumulate) {
  if (in_fp8(gw)) {
    x = rounded(x, Unary::fp8e4m3);
    gy = rounded(gy, Unary::fp8e5m2);
  }
  append(Op::group_weight_grad, {gy, x, gw}, {groups, static_cast<int>(accumulate)});
}

#define LOOM_FAMILY products
#define LOOM_FAMILY_ROWS "ops/products/products.def"
#include "ops/op_rows.h"

}  // namespace loom
