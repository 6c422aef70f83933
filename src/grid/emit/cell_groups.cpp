#include "grid/emit/cell_groups.h"

#include <algorithm>
#include <array>

#include "base/message.h"
#include "grid/emit/emitter.h"
#include "ops/cpu/kernel_args.h"

namespace loom {
namespace {

using Signature = std::array<std::int64_t, 4>;  // inputs, outputs, activation, bias
struct Candidate {
  Signature signature;
  CellGroup::Cell cell;
  std::size_t part = 0;
};

// Decoded when it is prepared, so that all formats of this kind multiply alike.
bool plain(const WeightFormat& format) {
  return format.dtype == DType::f32 ||
         (format.scale == ScaleKind::block && product_class(format) != ArithClass::integer);
}

// What the cell's layer emits must be a product in f32, and an activation of it or nothing.
bool matches(const Program& p, View y, Candidate& found) {
  if (p.code.empty() || p.code.size() > 2 || p.code[0].op != Op::matmul) return false;
  const auto& [w, x, bias, z] = reinterpret_cast<const std::array<View, 4>&>(p.code[0].operands);
  const Buffer& weight = p.buffers[static_cast<std::size_t>(w.buffer)];
  if (weight.type != ValueType::f32 || !plain(weight.format) || x.buffer != 0) return false;
  View result = z;
  std::int64_t activation = 0;
  if (p.code.size() == 2) {
    const Instruction& act = p.code[1];
    if (act.op != Op::activation || act.operands[0] != z) return false;
    result = act.operands[1];
    activation = act.ints[0];
  }
  found.signature = {weight.cols, weight.rows.constant, activation, bias.valid()};
  return y == result;
}

// A cell of one arrival in f32, alone in a program.
bool candidate(Network& network, std::size_t cell, std::int64_t width, Candidate& found) {
  Program program;
  ProgramBuilder emit(program);
  const View x = emit.temp(ValueType::f32, Rows{1}, width);
  NetworkEmitter emitter(network, emit, {});
  const Result<View> y = emitter.forward_cell(cell, x);
  if (!y.ok() || !matches(program, *y, found)) return false;
  const auto store = [&](const View& v) {
    const Buffer& b = program.buffers[static_cast<std::size_t>(v.buffer)];
    return network.find(b.path, b.role);
  };
  found.cell.cell = cell;
  found.cell.weight = store(program.code[0].operands[0]);
  if (found.signature[3]) found.cell.bias = store(program.code[0].operands[2]);
  return found.cell.weight && (found.cell.bias || !found.signature[3]) &&
         network.output(cell).width == found.signature[1];
}

std::vector<Candidate> candidates(Network& network, const std::vector<ValueType>& types) {
  std::vector<Candidate> list;
  const auto arrivals = network.arrivals();
  const bool ids = network.input().ids > 0;
  const std::int64_t input = ids ? 0 : network.input().count() / network.ticks();
  const bool wide = input_type(network) == ValueType::f64;
  for (std::size_t i = 0; i < network.size(); ++i) {
    if (network.passes(i) || types[i] != ValueType::f32 || arrivals[i].size() != 1) continue;
    const std::int64_t from = arrivals[i][0];
    if (from < 0 ? ids || wide : types[static_cast<std::size_t>(from)] != ValueType::f32) continue;
    const std::int64_t width =
        from < 0 ? input : network.output(static_cast<std::size_t>(from)).width;
    Candidate found;
    if (candidate(network, i, width, found)) list.push_back(found);
  }
  return list;
}

// Only kinds of which there are enough.
void drop_rare(std::vector<Candidate>& list, std::size_t min_cells) {
  std::vector<Signature> kinds;
  for (const Candidate& c : list) kinds.push_back(c.signature);
  std::ranges::sort(kinds);
  std::erase_if(list, [&](const Candidate& c) {
    return std::ranges::equal_range(kinds, c.signature).size() < min_cells;
  });
}

// Cuts the cells into parts of about as many bytes of weights. A link back, from a cell of a later
// part, joins the parts between.
std::vector<std::size_t> cut(const std::vector<Candidate>& list,
                             const std::vector<std::vector<std::int64_t>>& arrivals,
                             std::size_t part_bytes) {
  std::vector<std::size_t> begins{0};
  std::size_t bytes = 0;
  for (const Candidate& c : list) {
    const auto own = static_cast<std::size_t>((c.signature[0] + c.signature[3]) * c.signature[1]) *
                     sizeof(float);
    if (bytes > 0 && bytes + own > part_bytes) begins.push_back(c.cell.cell), bytes = 0;
    bytes += own;
  }
  // The last cell that one before it reads from.
  std::size_t last = 0;
  std::vector<std::size_t> joined{0};
  for (std::size_t p = 0, i = 0; p < begins.size(); ++p) {
    if (p > 0 && last < begins[p]) joined.push_back(begins[p]);
    const std::size_t end = p + 1 < begins.size() ? begins[p + 1] : arrivals.size();
    for (; i < end; ++i)
      for (const std::int64_t from : arrivals[i])
        if (from > 0) last = std::max(last, static_cast<std::size_t>(from));
  }
  return joined;
}

constexpr std::int64_t kAlign = 16;  // columns
std::int64_t aligned(std::int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

template <class F>
Status pack_values(WeightStore& store, std::uint64_t& epoch, std::vector<float>& room,
                   const F& to) {
  if (epoch == store.epoch()) return {};
  if (!plain(store.format()))
    return Status(Code::invalid_argument,
                  message("step mesh: the network has ", to_string(store.format()),
                          " where it was made for f32: make it anew"));
  room.resize(static_cast<std::size_t>(store.rows() * store.cols()));
  LOOM_TRY(store.values(std::span<float>(room)));
  for (std::size_t i = 0; i < room.size(); ++i) to(i) = cpu::stored(room[i]);
  epoch = store.epoch();
  return {};
}

}  // namespace

Status CellGroup::pack(std::span<float> to, std::span<float> to_bias) {
  std::vector<float> room;
  const auto values = static_cast<std::size_t>(inputs * outputs),
             results = static_cast<std::size_t>(outputs);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t block = i / 16, lane = i % 16;
    LOOM_TRY(
        pack_values(*cells[i].weight, cells[i].weight_epoch, room,
                    [&](std::size_t v) -> float& { return to[(block * values + v) * 16 + lane]; }));
    if (bias)
      LOOM_TRY(pack_values(*cells[i].bias, cells[i].bias_epoch, room, [&](std::size_t v) -> float& {
        return to_bias[(block * results + v) * 16 + lane];
      }));
  }
  return {};
}

std::vector<std::int32_t> GroupedCells::sources(const CellGroup& group) const {
  std::vector<std::int32_t> list;
  for (const CellGroup::Cell& c : group.cells) {
    const std::int64_t from = arrivals[c.cell][0];
    list.push_back(
        static_cast<std::int32_t>(from < 0 ? input : columns[static_cast<std::size_t>(from)]));
  }
  return list;
}

GroupedCells group_cells(Network& network, const GroupOptions& options) {
  GroupedCells all;
  Program none;
  ProgramBuilder emit(none);
  const std::vector<ValueType> types = NetworkEmitter(network, emit, {}).value_types();
  if (std::ranges::count(types, ValueType::u32) > 0) return all;  // an error of its own
  std::vector<Candidate> list = candidates(network, types);
  drop_rare(list, options.min_cells);
  all.grouped.resize(network.size());
  all.columns.assign(network.size(), -1);
  const auto& arrivals = all.arrivals = network.arrivals();
  // Values in f64 lie outside of the row, which has those of every tick.
  const bool narrow = std::ranges::count(types, ValueType::f64) == 0;
  all.parts = narrow ? cut(list, arrivals, options.part_bytes) : std::vector<std::size_t>{0};
  for (Candidate& c : list)
    c.part = static_cast<std::size_t>(std::ranges::upper_bound(all.parts, c.cell.cell) -
                                      all.parts.begin()) -
             1;
  std::ranges::stable_sort(list, [](const Candidate& a, const Candidate& b) {
    return a.part != b.part ? a.part < b.part : a.signature < b.signature;
  });
  const auto input = network.input().ids > 0 ? 0 : network.input().count() / network.ticks();
  std::int64_t width = 0;
  for (std::size_t i = 0, end = 0; i < list.size(); i = end) {
    while (end < list.size() && list[end].part == list[i].part &&
           list[end].signature == list[i].signature)
      ++end;
    CellGroup group;
    group.part = list[i].part;
    group.inputs = list[i].signature[0];
    group.outputs = list[i].signature[1];
    group.activation = list[i].signature[2];
    group.bias = list[i].signature[3] != 0;
    group.column = width = aligned(width);
    for (std::size_t n = i; n < end; ++n) {
      group.cells.push_back(list[n].cell);
      const std::size_t cell = list[n].cell.cell;
      all.grouped[cell] = true;
      all.columns[cell] = width;
      width += group.outputs;
      if (arrivals[cell][0] < 0) all.input = 0;
    }
    all.groups.push_back(std::move(group));
  }
  if (all.groups.empty()) return all;
  for (std::size_t i = 0; i < network.size(); ++i) {
    if (all.grouped[i] || types[i] != ValueType::f32) continue;
    all.columns[i] = width;
    width += std::max<std::int64_t>(network.output(i).width, 1);
  }
  if (all.input == 0) all.input = aligned(width), width = all.input + input;
  all.width = width;
  if (width > INT32_MAX) all.groups.clear();
  return all;
}

}  // namespace loom
