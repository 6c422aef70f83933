#include "exec/observe/taps.h"

#include <algorithm>
#include <cstring>

#include "base/math/fp_env.h"

namespace loom {
namespace {

constexpr std::size_t kAlone = 8;  // so few blocks are not worth waking the team

std::size_t size_of(ValueType type) { return type == ValueType::f64 ? 8 : 4; }

}  // namespace

Taps::Taps(Executor& executor, const std::vector<View>& cells, RegisterId head, Watch watch) {
  const Program& p = executor.program();
  std::size_t blocks = 0;
  Executor::Watcher watcher;
  for (const View& view : cells) {
    const Buffer& b = p.buffers[static_cast<std::size_t>(view.buffer)];
    Cell cell;
    cell.view = view;
    cell.type = b.type;
    cell.head = head != kNone && (b.rows.a == head || b.rows.b == head);
    cell.of_run = b.rows.a != kNone || b.rows.b != kNone;
    cell.of_row = cell.of_run ? b.rows.constant : 1;
    cell.count = p.max_rows(view.buffer) * view.cols;
    cell.first = blocks;
    blocks += cell.blocks();
    // Rows that the run measures are known after it.
    const auto dynamic = [&](RegisterId r) {
      return r != kNone &&
             p.registers[static_cast<std::size_t>(r)].type == RegisterType::dynamic_rows;
    };
    if (watch == Watch::during && !dynamic(b.rows.a) && !dynamic(b.rows.b)) {
      watched_.push_back(cells_.size());
      watcher.buffers.push_back(view.buffer);
    }
    cells_.push_back(cell);
  }
  blocks_.resize(blocks);
  if (watch == Watch::after) return;
  watcher.written = &Taps::written;
  watcher.context = this;
  if (!executor.watch(std::move(watcher))) watched_.clear();
}

void Taps::clear() {
  for (Cell& cell : cells_) cell.statistics = CellStatistics();
}

void Taps::join(const std::vector<std::size_t>& of, std::vector<CellStatistics>& cells) const {
  std::ranges::fill(cells, CellStatistics());
  for (std::size_t i = 0; i < of.size(); ++i) cells[of[i]].add(cells_[i].statistics);
}

// Values [index * kBlock, ...) of a cell's rows, which need not lie side by side.
BlockSums Taps::block(const Cell& cell, std::size_t index) const {
  alignas(16) std::byte copy[BlockSums::kBlock * 8];
  const std::size_t begin = index * BlockSums::kBlock;
  const std::size_t count =
      std::min(BlockSums::kBlock, static_cast<std::size_t>(cell.count) - begin);
  const std::size_t size = size_of(cell.type), cols = static_cast<std::size_t>(cell.view.cols);
  const auto stride = static_cast<std::size_t>(cell.stride);
  std::size_t row = begin / cols, col = begin % cols;
  const std::byte* from = cell.data + row * stride + col * size;
  const bool together = stride == cols * size || col + count <= cols;
  if (!together) {
    for (std::size_t done = 0; done < count; ++row, col = 0) {
      const std::size_t n = std::min(count - done, cols - col);
      std::memcpy(copy + done * size, cell.data + row * stride + col * size, n * size);
      done += n;
    }
    from = copy;
  }
  if (cell.type == ValueType::f64)
    return block_sums(reinterpret_cast<const double*>(from), count, cell.active);
  if (cell.type == ValueType::f32)
    return block_sums(reinterpret_cast<const float*>(from), count, cell.active);
  double wide[BlockSums::kBlock];  // ids
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t id;
    std::memcpy(&id, from + i * 4, 4);
    wide[i] = id;
  }
  return block_sums(wide, count, cell.active);
}

// A worker's blocks of a cell.
void Taps::sum(const Cell& cell, int worker, int workers) {
  const auto w = static_cast<std::size_t>(worker), all = static_cast<std::size_t>(workers);
  const std::size_t end = cell.blocks() * (w + 1) / all;
  for (std::size_t i = cell.blocks() * w / all; i < end; ++i)
    blocks_[cell.first + i] = block(cell, i);
}

void Taps::written(void* context, std::size_t index, int worker, int workers) noexcept {
  [[maybe_unused]] const FpEnvGuard fp;
  Taps& taps = *static_cast<Taps*>(context);
  if (!taps.enabled_) return;
  Cell& cell = taps.cells_[taps.watched_[index]];
  if (cell.active == 0) return;
  taps.sum(cell, worker, workers);
  if (worker == 0) cell.summed = true;
}

void Taps::sum_rest(void* context, int worker, int workers) noexcept {
  [[maybe_unused]] const FpEnvGuard fp;
  Taps& taps = *static_cast<Taps*>(context);
  for (const Cell& cell : taps.cells_)
    if (!cell.summed) taps.sum(cell, worker, workers);
}

// Where the values of a run are, and how many.
void Taps::place(Cell& cell, Executor& executor, const Places& places) {
  const Buffer& b = executor.program().buffers[static_cast<std::size_t>(cell.view.buffer)];
  std::int64_t rows = b.rows.constant;
  for (const RegisterId r : {b.rows.a, b.rows.b})
    if (r != kNone) rows *= executor.get(r);
  if (cell.active == 0 || (cell.head && places.head_unwanted)) rows = 0;
  cell.count = rows * cell.view.cols;
  if (rows == 0) return;
  const std::byte* first = executor.row_bytes(cell.view.buffer, 0);
  cell.stride = rows > 1 ? executor.row_bytes(cell.view.buffer, 1) - first : 0;
  cell.data = first + static_cast<std::size_t>(cell.view.col) * size_of(cell.type);
}

void Taps::begin(Executor& executor, const Places& places) {
  if (!enabled_) return;
  for (Cell& cell : cells_) cell.summed = false;
  for (const std::size_t cell : watched_) place(cells_[cell], executor, places);
}

void Taps::read(Executor& executor, ThreadPool& pool, const Places& places) {
  if (!enabled_) return;
  std::size_t rest = 0;
  for (Cell& cell : cells_) {
    if (cell.summed) continue;
    place(cell, executor, places);
    rest += cell.blocks();
  }
  if (rest > kAlone) pool.run(&Taps::sum_rest, this);
  else sum_rest(this, 0, 1);
  [[maybe_unused]] const FpEnvGuard fp;
  for (Cell& cell : cells_) {
    if (cell.count == 0) continue;
    CellStatistics s = combine(std::span(blocks_).subspan(cell.first, cell.blocks()),
                               cell.of_row * cell.view.cols);
    if (s.bad_row >= 0) {
      auto row = static_cast<std::size_t>(s.bad_row);
      if (cell.head && !places.head.empty()) row = places.head[row];
      if (!places.rows.empty()) row = places.rows[row];
      s.bad_row = static_cast<std::int64_t>(row) + (cell.of_run ? places.first : 0);
    }
    cell.statistics.add(s);
  }
}

}  // namespace loom
