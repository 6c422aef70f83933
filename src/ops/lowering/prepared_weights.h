// The weights of one program in the forms its kernels read, made from the network's stores.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/files/mapping.h"
#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "numeric/weight_store.h"
#include "ops/cpu/kernel_args.h"
#include "ops/program.h"

namespace loom {

class PreparedWeights {
 public:
  // Which forms of a weight buffer the program reads.
  struct Use {
    bool panels = false;  // matmul, gather
    bool dense = false;   // matmul_t
    bool vector = false;  // gains and biases: one row of plain values
    bool copies = false;  // by a product that copies the panels it needs (kPackedSums)
    bool held = false;    // panels: by kernels of kDecodedForm, which take what an f32 store holds
  };

  explicit PreparedWeights(std::size_t buffers) : places_(buffers, kNone) {}
  void add(BufferId id, WeightStore* store, ValueType type, Use use);
  // The program updates this store's master, which therefore stays where it is. Where products
  // alone read it that copy panels, they do so from there.
  void updates(const WeightStore* store);
  // Makes the forms of every store that changed since the last call; the team shares the work.
  Status refresh(ThreadPool& pool);
  // The same of the first of them alone; true: none is left.
  Result<bool> refresh_one(ThreadPool& pool);
  // Of a weight, once all are added; null where the buffer is none.
  const WeightArg* arg(BufferId id) const {
    const Entry* const e = find(id);
    return e ? &e->arg : nullptr;
  }
  // Whether the files that weights lie in are what they were: after a run, which read them.
  Status intact() const;
  std::byte* vector(BufferId id) const {
    const Entry* const e = find(id);
    return e ? e->plain.get() : nullptr;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  using Block = std::unique_ptr<std::byte[], void (*)(std::byte*)>;
  struct Entry {
    WeightStore* store = nullptr;
    ValueType type = ValueType::f32;
    Use use;
    // Read by products alone that copy, forward twice at most and backward once; by the program.
    bool copied = true, updated = false;
    int panel_reads = 0, dense_reads = 0;
    std::uint64_t epoch = ~std::uint64_t{0};
    WeightArg arg;
    PackedMatrix packed;  // keeps the bytes alive while they run
    std::vector<float> scales, minima;
    std::vector<std::uint32_t> zeros;
    Block panels{nullptr, nullptr}, dense{nullptr, nullptr}, plain{nullptr, nullptr};
  };
  Result<bool> refresh(ThreadPool& pool, std::int64_t count);
  template <class T>
  Status prepare(Entry& entry);
  Status prepare_packed(Entry& entry);
  Status prepare_blocks(Entry& entry);
  // Room for the float forms that are read.
  template <class T>
  Status allocate_forms(Entry& entry, bool panels);
  // Of an f32 matrix with an f32 master, which is most of the data that an update changes: the team
  // lays it out in blocks of 16 rows and kPackColumns columns, without a copy between.
  static constexpr std::int64_t kPackColumns = 4096;
  static bool is_plain_master(const Entry& entry);
  static const PackedMatrix* held(const Entry& entry);
  static void pack(const Entry& entry, cpu::Range blocks);
  Block allocate(std::int64_t bytes);
  static Status refresh_share(void* context, int worker, int workers);
  static void pack_share(void* context, int worker, int workers) noexcept;

  const Entry* find(BufferId id) const {
    const std::int32_t at = places_[static_cast<std::size_t>(id)];
    return at == kNone ? nullptr : &entries_[static_cast<std::size_t>(at)];
  }

  std::vector<std::int32_t> places_;  // in entries_, of each buffer; few are weights
  std::vector<Entry> entries_;
  std::vector<Entry*> stale_, masters_;  // of a refresh
  std::vector<const Mapping*> files_;    // that packed forms lie in
  std::atomic<std::int64_t> bytes_ = 0;
};

// 64-byte aligned, zeroed lazily by the operating system where it can.
std::unique_ptr<std::byte[], void (*)(std::byte*)> aligned_zeros(std::int64_t bytes);

}  // namespace loom
