#include "ops/cpu/prepared_weights.h"

#include <cstdlib>
#include <cstring>

#include "base/bytes.h"

namespace loom::cpu {

std::unique_ptr<std::byte[], void (*)(std::byte*)> aligned_zeros(std::int64_t bytes) {
  // calloc gives untouched zero pages for large blocks; the pointer is aligned by hand, its origin kept just before it.
  const auto size = static_cast<std::size_t>(bytes);
  auto* raw = static_cast<std::byte*>(std::calloc(size + 64 + sizeof(void*), 1));
  if (!raw) return {nullptr, nullptr};
  const auto address = reinterpret_cast<std::uintptr_t>(raw) + sizeof(void*);
  auto* aligned = raw + sizeof(void*) + (64 - address % 64) % 64;
  std::memcpy(aligned - sizeof(void*), &raw, sizeof raw);
  return {aligned, [](std::byte* p) {
            void* origin;
            std::memcpy(&origin, p - sizeof(void*), sizeof origin);
            std::free(origin);
          }};
}

PreparedWeights::Block PreparedWeights::allocate(std::int64_t bytes) {
  bytes_ += bytes;
  return aligned_zeros(bytes + 128);
}

void PreparedWeights::add(BufferId id, WeightStore* store, ValueType type, Use use) {
  Entry& e = entries_[static_cast<std::size_t>(id)];
  e.store = store;
  e.type = type;
  e.use.panels |= use.panels;
  e.use.dense |= use.dense;
  e.use.vector |= use.vector;
}

Status PreparedWeights::refresh() {
  for (Entry& e : entries_) {
    if (!e.store || e.epoch == e.store->epoch()) continue;
    LOOM_TRY(e.type == ValueType::f64 ? prepare<double>(e) : prepare<float>(e));
    e.epoch = e.store->epoch();
  }
  return {};
}

template <class T>
Status PreparedWeights::prepare(Entry& e) {
  const std::int64_t rows = e.store->rows(), cols = e.store->cols();
  const auto padded_cols = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 32));
  const auto stride = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 16));
  const std::int64_t panels = (rows + 15) / 16;
  e.arg.rows = rows;
  e.arg.cols = cols;
  e.arg.padded_cols = padded_cols;
  e.arg.dense_stride = stride;
  const Status out_of_memory(Code::out_of_memory, "weights: no memory for " + std::to_string(rows) + " x " + std::to_string(cols) + " values");

  std::vector<T> values(static_cast<std::size_t>(rows * cols));
  LOOM_TRY(e.store->values(std::span<T>(values)));
  if (e.use.vector) {
    if (!e.plain) e.plain = allocate(rows * cols * static_cast<std::int64_t>(sizeof(T)));
    if (!e.plain) return out_of_memory;
    std::memcpy(e.plain.get(), values.data(), values.size() * sizeof(T));
  }
  if (e.use.dense) {
    if (!e.dense) e.dense = allocate(rows * stride * static_cast<std::int64_t>(sizeof(T)));
    if (!e.dense) return out_of_memory;
    for (std::int64_t r = 0; r < rows; ++r) std::memcpy(reinterpret_cast<T*>(e.dense.get()) + r * stride, values.data() + r * cols, static_cast<std::size_t>(cols) * sizeof(T));
    e.arg.dense = e.dense.get();
  }
  if (e.use.panels) {
    if (!e.panels) e.panels = allocate(panels * padded_cols * 16 * static_cast<std::int64_t>(sizeof(T)));
    if (!e.panels) return out_of_memory;
    T* to = reinterpret_cast<T*>(e.panels.get());
    for (std::int64_t r = 0; r < rows; ++r) {
      T* column = to + (r / 16) * padded_cols * 16 + r % 16;
      const T* from = values.data() + r * cols;
      for (std::int64_t c = 0; c < cols; ++c) column[c * 16] = from[c];
    }
    e.arg.panels = to;
  }
  return {};
}

}  // namespace loom::cpu
