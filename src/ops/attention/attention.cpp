// Host side of attention.def: shapes, memory, devices, calls.
#include <algorithm>

#include "base/files/bytes.h"
#include "ops/attention/attention_sizes.h"
#include "ops/lowering/lowered.h"
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

constexpr std::int64_t kMaxDeviceHeadDim = 1024;

bool heads_agree(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
  return heads >= 1 && heads <= 65536 && kv_heads >= 1 && heads % kv_heads == 0 && head_dim >= 1 &&
         head_dim <= 65536;
}

bool rope_shape(OpCheck& c) {
  const std::int64_t hd = c.integer(0);
  if (!c.require(hd >= 2 && hd % 2 == 0 && c.cols(0) % hd == 0,
                 "head_dim must be even and divide the columns"))
    return false;
  if (!c.require(c.is(2, BufferKind::constant) && c.cols(2) == hd,
                 "table must be a rope constant of head_dim columns"))
    return false;
  return c.require(c.one_type({0, 2}) && c.positions(1) && c.alike({0, 3}) && c.rows_equal(1, 0),
                   "operands do not agree");
}
bool kv_append_shape(OpCheck& c) {
  const std::int64_t heads = c.integer(0), hd = c.integer(1);
  const bool rows = c.rows_equal(2, 0) && c.rows_equal(3, 0);
  return c.require(heads_agree(heads, heads, hd) && c.alike({0, 1}) && c.ids(2) && c.ids(3) &&
                       c.cols(0) == heads * hd && rows && c.kv_state(4, 0) &&
                       c.cols(4) == kv_columns(c.type(4), heads, hd),
                   "operands do not agree");
}
bool has_slopes(Op op) {
  return op == Op::attention_alibi || op == Op::attention_rows_alibi ||
         op == Op::attention_back_alibi;
}
// Operand i is the slopes of the heads.
bool slopes(OpCheck& c, int i) {
  return c.is(i, BufferKind::constant) && c.of(i).constant.kind == ConstantKind::alibi &&
         c.vector_of(i, c.integer(0)) && c.one_type({0, i});
}
bool attention_shape(OpCheck& c) {
  const std::int64_t kv_heads = c.integer(1), hd = c.integer(2);
  // First: a cache of heads without bounds has more columns than an integer holds.
  if (!c.require(heads_agree(c.integer(0), kv_heads, hd),
                 "heads, kv_heads and head_dim do not agree"))
    return false;
  const bool cache = c.kv_state(1, 0) && c.cols(1) == kv_columns(c.type(1), kv_heads, hd) &&
                     (c.type(1) != ValueType::q15 || hd <= kMaxQ15HeadDim);
  const bool alibi = has_slopes(c.ins.op);
  if (!c.require(!alibi || slopes(c, 4), "slopes are an alibi constant of the heads")) return false;
  return c.require(c.integer(3) >= 0 && c.alike({0, alibi ? 5 : 4}) && c.ids(2) && c.ids(3) &&
                       c.cols(0) == c.integer(0) * hd && cache && c.rows_equal(2, 0) &&
                       c.rows_equal(3, 0),
                   "operands do not agree");
}
bool rows_shape(OpCheck& c, int y, bool alibi) {
  if (!c.require(heads_agree(c.integer(0), c.integer(1), c.integer(2)) && c.integer(3) >= 0,
                 "heads, kv_heads and head_dim do not agree"))
    return false;
  const std::int64_t q = c.integer(0) * c.integer(2), kv = c.integer(1) * c.integer(2);
  if (!c.require(c.one_type({0, 1, 2, y, y + 1}) && c.positions(3) && c.cols(0) == q &&
                     c.cols(1) == kv && c.cols(2) == kv && c.cols(y) == q &&
                     c.cols(y + 1) == (alibi ? 3 : 2) * c.integer(0),
                 "operands do not agree"))
    return false;
  for (const int i : {1, 2, 3, y, y + 1})
    if (!c.require(c.rows_equal(0, i), "operands differ in rows")) return false;
  return c.require(c.program.max_rows(c.view(0).buffer) <= kMaxAttentionRows,
                   "more than 2^20 rows in one run");
}
bool attention_rows_shape(OpCheck& c) {
  const bool alibi = has_slopes(c.ins.op);
  if (!c.require(!alibi || slopes(c, 4), "slopes are an alibi constant of the heads")) return false;
  return rows_shape(c, alibi ? 5 : 4, alibi);
}
bool attention_back_shape(OpCheck& c) {
  if (!rows_shape(c, 4, has_slopes(c.ins.op))) return false;
  if (!c.require(c.alike({0, 6}), "gy does not agree")) return false;
  return c.require(c.alike({0, 7}) && c.alike({1, 8}) && c.alike({1, 9}),
                   "gq, gk, gv do not agree");
}

bool in_q15(const Program& p, const View& state) {
  return p.buffers[static_cast<std::size_t>(state.buffer)].type == ValueType::q15;
}
LoweredOp lower_kv_append(const Program& p, const Instruction& ins) {
  return in_q15(p, ins.operands[4]) ? LoweredOp::kv_append_q15 : LoweredOp::kv_append;
}
LoweredOp lower_attention(const Program& p, const Instruction& ins) {
  if (ins.op == Op::attention_alibi)
    return in_q15(p, ins.operands[1]) ? LoweredOp::attention_alibi_q15 : LoweredOp::attention_alibi;
  return in_q15(p, ins.operands[1]) ? LoweredOp::attention_q15 : LoweredOp::attention;
}

std::int64_t padded_to(std::int64_t n, std::uint64_t unit) {
  return static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(n), unit));
}
// Both planes of a head.
Scratch kv_append_scratch(const ScratchQuery& q) { return {2 * padded_to(q.ins.ints[1], 16), 0}; }
// Scores of all positions, a block's weights, and sums and planes of a head.
Scratch attention_scratch(const ScratchQuery& q) {
  const std::int64_t size = q.value_size(0), padded = padded_to(q.ins.ints[2], 16);
  const std::int64_t one = q.kv_capacity * size + 64 * size + 6 * padded;
  const bool q15 =
      q.ins.op == LoweredOp::attention_q15 || q.ins.op == LoweredOp::attention_alibi_q15;
  if (!q15 || !cpu::attends_in_tiles(q.max_rows(0), q.kv_capacity)) return {one, 0};
  return {std::max<std::int64_t>(one, cpu::tile_attention_bytes(q.kv_capacity, padded)), 0};
}
// Rows of a sequence at most.
std::int64_t longest_sequence(const ScratchQuery& q) {
  const std::int64_t steps = steps_of(q.of(3));
  return padded_to(steps > 0 ? steps : q.max_rows(0), 64);
}
// Keys of a head turned, and scores.
Scratch attention_rows_scratch(const ScratchQuery& q) {
  return {longest_sequence(q) * (q.ins.ints[2] + 1) * q.value_size(0), 0};
}
// On a CPU keys and values of a head turned, weights and their slopes of a head; on a device
// weights and slopes of all heads.
Scratch attention_back_scratch(const ScratchQuery& q) {
  const std::int64_t n = longest_sequence(q);
  return {(2 * n * q.ins.ints[2] + 2 * n * n) * q.value_size(0),
          2 * q.ins.ints[0] * q.max_rows(0) * q.sequence_limit};
}

Status refuse_wide_heads(const Launches& l) {
  if (l.integer(2) <= kMaxDeviceHeadDim) return {};
  return Status(Code::unsupported, "gpu: " + l.name() + ": head_dim is " +
                                       std::to_string(l.integer(2)) + ", at most " +
                                       std::to_string(kMaxDeviceHeadDim) + " here");
}
constexpr std::string_view kAttention = "arena exact reduce attention";
bool has_slopes(LoweredOp op) {
  return op == LoweredOp::attention_alibi || op == LoweredOp::attention_alibi_q15 ||
         op == LoweredOp::attention_rows_alibi || op == LoweredOp::attention_back_alibi;
}
// RESULT: the operand of y; of slopes, which stand before it, STATS per head.
std::string tile_constants(const Launches& l) {
  const bool alibi = has_slopes(l.ins.op);
  const bool first = alibi && l.ins.op != LoweredOp::attention_back_alibi;
  return webgpu::constant("TILES", webgpu::tiles_of(l.integer(2))) + webgpu::flag("ALIBI", alibi) +
         webgpu::constant("STATS", alibi ? 3 : 2) + webgpu::constant("RESULT", first ? 5 : 4);
}

Status rope_launch(Launches& l) {
  l.add("arena rope", "rope", 3, l.cols(3) / 2, 64);
  return {};
}
Status kv_append_q15_launch(Launches& l) {
  l.add("q15 kv_append", "kv_append_q15", 0, l.integer(0), 1);
  return {};
}
// In place of the last launch where rows are many: tiles of 16 rows, `factor` of them for each.
void add_row_tiles(Launches& l, std::string_view pieces, std::string_view entry,
                   std::int64_t factor) {
  constexpr std::int64_t kTileRows = 16, kManyRows = 128;
  if (l.dynamic_rows || l.max_rows(0) < kManyRows) return;
  webgpu::WideKernel wide{l.last().kernel, kManyRows, kTileRows, factor};
  wide.kernel.pieces = "times " + std::string(kAttention) + " " + std::string(pieces);
  wide.kernel.entry = entry;
  wide.kernel.constants += webgpu::flag("FUSED", l.limits.fma);
  l.last().wide.push_back(std::move(wide));
}
Status attention_launch(Launches& l) {
  LOOM_TRY(refuse_wide_heads(l));
  const bool of_rows =
      l.ins.op == LoweredOp::attention_rows || l.ins.op == LoweredOp::attention_rows_alibi;
  l.add(kAttention, of_rows ? "attention_rows" : "attention", 0, l.integer(0), 1,
        tile_constants(l));
  if (of_rows) add_row_tiles(l, "attention_tiles", "attention_rows_tile", l.integer(0));
  return {};
}
// Rows from which matrix units take attention in q15 (attention_units.wgsl).
constexpr std::int64_t kUnitRows = 64;
// Whether they fit the device: what the kernel has in workgroup memory.
bool attends_by_units(const Launches& l) {
  const std::int64_t padded = (l.integer(2) + 15) / 16 * 16;
  const std::int64_t key_step = (padded + 31) / 32 * 8 + 4, value_step = 20;
  const std::int64_t words = 32 * key_step + std::max(128 * key_step, 2 * padded * value_step) +
                             4 * 16 * 72 + 32 * value_step + 128 + 80;
  return l.limits.matrix_units && !l.dynamic_rows && l.max_rows(0) >= kUnitRows &&
         4 * words <= l.limits.group_bytes;
}
Status attention_q15_launch(Launches& l) {
  LOOM_TRY(refuse_wide_heads(l));
  // One row has little else to share out: blocks side by side.
  const std::int64_t bytes = 1700 + 256 * webgpu::tiles_of(l.integer(2));
  const std::int64_t teams = std::clamp<std::int64_t>(
      std::min<std::int64_t>(l.limits.threads_per_group / 64, l.limits.group_bytes / bytes), 1, 8);
  const std::string pieces = std::string(kAttention) + " q15 attention_pages ";
  l.add(pieces + "lanes attention_q15", "attention_q15", 0, l.integer(0), 1,
        tile_constants(l) + webgpu::constant("HEAD_DIM", l.integer(2)));
  webgpu::LaunchSpec& s = l.last();
  s.wide.push_back({s.kernel, 2, 1, s.factor});
  if (attends_by_units(l)) {
    s.wide.push_back({s.kernel, kUnitRows, 16, s.factor});
    s.wide.back().kernel.pieces = pieces + "attention_units";
    s.wide.back().kernel.entry = "attention_units";
  }
  s.wide.front().kernel.constants += webgpu::constant("TEAMS", 1);
  s.kernel.constants += webgpu::constant("TEAMS", teams);
  return {};
}
Status attention_back_launch(Launches& l) {
  LOOM_TRY(refuse_wide_heads(l));
  const std::string pieces = std::string(kAttention) + " attention_back",
                    constants = tile_constants(l);
  constexpr std::string_view kTiles = "attention_back attention_tiles attention_back_tiles";
  const std::int64_t columns = webgpu::tiles_of(l.integer(2));
  l.add(pieces, "attention_slopes", 0, l.integer(0), 1, constants);
  add_row_tiles(l, kTiles, "attention_slopes_tile", l.integer(0));
  l.elements(pieces, "attention_back_q", 7, constants);
  add_row_tiles(l, kTiles, "attention_back_q_tile", columns * l.integer(0));
  l.elements(pieces, "attention_back_kv", 8, constants);
  add_row_tiles(l, kTiles, "attention_back_kv_tile", 2 * columns * l.integer(1));
  return {};
}
Status rope_append_launch(Launches& l) {
  const auto& row = std::get<HeadsOfRow>(l.ins.attributes);
  l.add("arena q15 append rope_append", "rope_append", 0, row.heads + 2 * row.kv_heads, 1,
        webgpu::constant("THREADS", 64) + webgpu::constant("HEAD_DIM", row.head_dim));
  l.last().ints = {row.heads, row.kv_heads, row.head_dim};
  return {};
}

}  // namespace

View ProgramBuilder::steps(Rows rows, std::int64_t count) {
  return constant({.type = ValueType::u32,
                   .rows = rows,
                   .cols = 1,
                   .role = "steps",
                   .constant = {ConstantKind::steps, {static_cast<double>(count)}}});
}
View ProgramBuilder::rope(View x, View pos, View table, std::int64_t head_dim, bool inverse) {
  const View y = like(x, x.cols);
  append(Op::rope, {x, pos, table, y}, {head_dim, inverse ? 1 : 0});
  return y;
}
View ProgramBuilder::rope_table(const RopeSpec& spec, std::int64_t positions, std::int64_t head_dim,
                                ValueType type) {
  return constant({.type = type,
                   .rows = {positions},
                   .cols = head_dim,
                   .role = "rope",
                   .constant = {ConstantKind::rope, spec.to_reals()}});
}
void ProgramBuilder::kv_append(View k, View v, View seq, View pos, View kv,
                               const AttentionShape& s) {
  append(Op::kv_append, {k, v, seq, pos, kv}, {s.kv_heads, s.head_dim});
}
View ProgramBuilder::alibi_slopes(std::int64_t heads, ValueType type) {
  return constant({.type = type,
                   .cols = heads,
                   .role = "slopes",
                   .constant = {ConstantKind::alibi, {static_cast<double>(heads)}}});
}
View ProgramBuilder::attention(View q, View kv, View seq, View pos, const AttentionShape& s) {
  const View y = like(q, q.cols);
  const Ints ints = {s.heads, s.kv_heads, s.head_dim, s.window};
  if (s.slopes.valid())
    append(Op::attention_alibi, {q, kv, seq, pos, s.slopes, y}, ints, {s.scale});
  else append(Op::attention, {q, kv, seq, pos, y}, ints, {s.scale});
  return y;
}
Attended ProgramBuilder::attention_rows(View q, View k, View v, View pos, const AttentionShape& s) {
  const bool alibi = s.slopes.valid();
  const Attended out{like(q, q.cols), like(q, (alibi ? 3 : 2) * s.heads)};
  const Ints ints = {s.heads, s.kv_heads, s.head_dim, s.window, s.causal ? 1 : 0};
  if (alibi)
    append(Op::attention_rows_alibi, {q, k, v, pos, s.slopes, out.y, out.stats}, ints, {s.scale});
  else append(Op::attention_rows, {q, k, v, pos, out.y, out.stats}, ints, {s.scale});
  return out;
}
AttentionGradients ProgramBuilder::attention_back(View q, View k, View v, View pos,
                                                  const Attended& forward, View gy,
                                                  const AttentionShape& s) {
  const AttentionGradients out{like(q, q.cols), like(k, k.cols), like(v, v.cols)};
  append(s.slopes.valid() ? Op::attention_back_alibi : Op::attention_back,
         {q, k, v, pos, forward.y, forward.stats, gy, out.q, out.k, out.v},
         {s.heads, s.kv_heads, s.head_dim, s.window, s.causal ? 1 : 0}, {s.scale});
  return out;
}

#define LOOM_FAMILY attention
#define LOOM_FAMILY_ROWS "ops/attention/attention.def"
#include "ops/op_rows.h"

}  // namespace loom
