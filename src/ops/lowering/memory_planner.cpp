#include "ops/lowering/memory_planner.h"

#include <algorithm>
#include <map>

#include "base/files/bytes.h"

namespace loom {
namespace {

constexpr std::int64_t kAlign = 64;
constexpr std::int64_t kSlack =
    128;  // a vector of sixteen doubles may be loaded at the last element

bool in_arena(BufferKind kind) {
  return kind == BufferKind::input || kind == BufferKind::output || kind == BufferKind::temp ||
         kind == BufferKind::grad;
}

// Whether an instruction writes all of an operand, whatever was there: gradients say so.
bool overwrites(const LoweredProgram& program, const LoweredInstruction& ins, std::size_t operand) {
  const View& v = ins.operands[operand];
  if (static_cast<int>(ins.op) >= kOpCount ||
      v.cols != program.buffers[static_cast<std::size_t>(v.buffer)].cols)
    return false;
  const auto& ints = info(static_cast<Op>(ins.op)).ints;
  const auto at = std::ranges::find(ints, "accumulate");
  return operands(ins.op)[operand].role == Role::modify && at != ints.end() &&
         ins.ints[static_cast<std::size_t>(at - ints.begin())] == 0;
}

// Free stretches of the arena by offset; neighbors are merged.
class FreeList {
 public:
  std::int64_t take(std::int64_t size) {
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= size && (best == free_.end() || it->second < best->second)) best = it;
    if (best == free_.end()) {
      // Grow the end, using a free stretch that touches it.
      std::int64_t offset = end_;
      if (!free_.empty()) {
        auto last = std::prev(free_.end());
        if (last->first + last->second == end_) {
          offset = last->first;
          free_.erase(last);
        }
      }
      end_ = offset + size;
      return offset;
    }
    const std::int64_t offset = best->first, left = best->second - size;
    free_.erase(best);
    if (left > 0) free_[offset + size] = left;
    return offset;
  }
  void give(std::int64_t offset, std::int64_t size) {
    auto it = free_.emplace(offset, size).first;
    if (auto next = std::next(it); next != free_.end() && it->first + it->second == next->first) {
      it->second += next->second;
      free_.erase(next);
    }
    if (it != free_.begin()) {
      if (auto before = std::prev(it); before->first + before->second == it->first) {
        before->second += it->second;
        free_.erase(it);
      }
    }
  }
  std::int64_t end() const { return end_; }

 private:
  std::map<std::int64_t, std::int64_t> free_;
  std::int64_t end_ = 0;
};

}  // namespace

std::int64_t element_size(ValueType type) {
  switch (type) {
    case ValueType::f64: return 8;
    case ValueType::q15:
    case ValueType::bf16x2: return 1;
    default: return 4;
  }
}

std::int64_t row_stride(const Buffer& b) {
  // q15: two planes of int8 padded to 64, then exponent and plane sums (16 bytes), rounded up
  // to 64. bf16x2: hi and lo as f32 values padded to 32.
  if (b.type == ValueType::q15 && b.kind == BufferKind::state)
    return 2 * b.cols;  // of a KV cache: kv_columns
  if (b.type == ValueType::q15)
    return 2 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(b.cols), 64)) + 64;
  if (b.type == ValueType::bf16x2)
    return 8 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(b.cols), 32));
  return in_arena(b.kind)
             ? static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(b.cols), 16))
             : b.cols;
}

std::int64_t buffer_bytes(const ProgramFrame& program, BufferId id) {
  return buffer_bytes(program, id, program.max_rows(id));
}
std::int64_t buffer_bytes(const ProgramFrame& program, BufferId id, std::int64_t rows) {
  const Buffer& b = program.buffers[static_cast<std::size_t>(id)];
  return static_cast<std::int64_t>(align_up(
      static_cast<std::uint64_t>(
          std::min(rows, program.max_rows(id)) * row_stride(b) * element_size(b.type) + kSlack),
      kAlign));
}

Placement place_buffers(const LoweredProgram& program, int linger) {
  std::vector<std::int64_t> bytes(program.buffers.size(), 0);
  for (std::size_t b = 0; b < bytes.size(); ++b)
    if (in_arena(program.buffers[b].kind))
      bytes[b] = buffer_bytes(program, static_cast<BufferId>(b));
  return place_buffers(program, bytes, linger);
}

Placement place_buffers(const LoweredProgram& program, std::span<const std::int64_t> bytes,
                        int linger) {
  const std::size_t count = program.buffers.size();
  const int end = static_cast<int>(program.code.size());
  std::vector<int> first(count, end + 1), last(count, -1);
  std::vector<bool> made(count);  // by its first instruction
  for (int n = 0; n < end; ++n) {
    const LoweredInstruction& ins = program.code[static_cast<std::size_t>(n)];
    for (std::size_t i = 0; i < operands(ins.op).size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid()) continue;
      const auto b = static_cast<std::size_t>(v.buffer);
      if (last[b] < 0) made[b] = overwrites(program, ins, i);
      first[b] = std::min(first[b], n);
      last[b] = std::max(last[b], n);
    }
  }
  Placement p;
  p.offset.assign(count, -1);
  p.stride.resize(count);
  std::vector<std::vector<std::size_t>> begins(static_cast<std::size_t>(end) + 2),
      ends(static_cast<std::size_t>(end) + 2);
  for (std::size_t b = 0; b < count; ++b) {
    const Buffer& buffer = program.buffers[b];
    p.stride[b] = row_stride(buffer);
    if (bytes[b] == 0) continue;
    const bool used = last[b] >= 0;
    if (buffer.kind == BufferKind::temp && !used) continue;
    // The host writes inputs before a run and reads outputs after it. Gradients survive it, and
    // the next run where that adds to them.
    if (buffer.kind == BufferKind::input || (buffer.kind == BufferKind::grad && !made[b]) || !used)
      first[b] = 0;
    last[b] = buffer.kind == BufferKind::temp ? std::min(end, last[b] + linger) : end;
    begins[static_cast<std::size_t>(first[b])].push_back(b);
    ends[static_cast<std::size_t>(last[b])].push_back(b);
  }
  FreeList arena;
  for (std::size_t n = 0; n < begins.size(); ++n) {
    for (std::size_t b : begins[n]) p.offset[b] = arena.take(bytes[b]);
    for (std::size_t b : ends[n]) arena.give(p.offset[b], bytes[b]);
  }
  p.arena_bytes = arena.end();
  return p;
}

}  // namespace loom
