#include "ops/webgpu/executor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/files/bytes.h"
#include "base/math/fp_env.h"
#include "ops/attention/alibi.h"
#include "ops/attention/rope.h"
#include "ops/graph/kinds.h"
#include "ops/lowering/fuse_decoding.h"
#include "ops/lowering/weight_forms.h"

namespace loom::webgpu {
Result<std::unique_ptr<Executor>> Executor::create(Program program, WeightLookup weights,
                                                   gpu::Device& device,
                                                   const ExecutorOptions& options) {
  LOOM_TRY(verify(program));
  std::unique_ptr<Executor> executor(
      new Executor(std::move(program), std::move(weights), device, options));
  LOOM_TRY(executor->plan(options));
  return executor;
}

Executor::~Executor() {
  for (const Launch& l : launches_)
    if (l.bindings != 0) device_.destroy_bindings(l.bindings);
}

Status Executor::plan(const ExecutorOptions& options) {
  [[maybe_unused]] const FpEnvGuard fp;
  poison_ = options.poison;
  fuse_ = options.fuse;
  lowered_ = lower(program_);
  if (options.fuse && options.block_rows > 0) block_rows(lowered_, options.block_rows);
  LOOM_TRY(refuse_doubles());
  LOOM_TRY(plan_pages(options.sequences));
  plan_limits();
  LOOM_TRY(plan_arena());
  LOOM_TRY(plan_parameters());
  return refresh();
}

// WGSL has no f64.
Status Executor::refuse_doubles() const {
  bool any = false;
  std::string where = "a cell";
  for (const Buffer& b : lowered_.buffers) {
    if (b.type != ValueType::f64) continue;
    any = true;
    if (!b.path.empty()) where = "the cell " + b.path;
  }
  return any ? Status(Code::unsupported,
                      "gpu: " + where +
                          " computes in f64 (class D), which WebGPU lacks: morph it to a type of "
                          "another class, or run on the CPU")
             : Status();
}

std::int64_t Executor::stride_words(BufferId id) const {
  const std::int64_t stride = placement_.stride[static_cast<std::size_t>(id)];
  return element_size(buffer(id).type) == 1 ? stride / 4 : stride;
}

std::uint32_t Executor::take_words(std::int64_t count) {
  const std::uint64_t at = arena_words_;
  arena_words_ += align_up(static_cast<std::uint64_t>(count), 16);
  return static_cast<std::uint32_t>(at);
}

// Planned buffers first; then what lives as long as the executor.
Status Executor::plan_arena() {
  placement_ = place_buffers(
      lowered_,
      fuse_ ? 2 * kFusionReach : 0);  // one fusion may run later than planned, and the next earlier
  place_.assign(lowered_.buffers.size(), 0);
  mirrors_.resize(lowered_.buffers.size());
  arena_words_ = static_cast<std::uint64_t>(placement_.arena_bytes) / 4;
  used_.assign(lowered_.buffers.size(), false);
  for (const LoweredInstruction& ins : lowered_.code)
    for (const View& v : ins.operands)
      if (v.valid()) used_[static_cast<std::size_t>(v.buffer)] = true;
  const std::int64_t scratch = plan_sequences();
  plan_lasting();
  page_table_at_ = take_words(static_cast<std::int64_t>(page_table_.size()));
  scratch_at_ = take_words(scratch);
  registers_at_ = take_words(static_cast<std::int64_t>(lowered_.registers.size()));
  picked_at_ = take_words(pick_words());
  const std::uint64_t limit =
      std::min(device_.limits().buffer_bytes, device_.limits().binding_bytes);
  if (arena_words_ * 4 > limit || arena_words_ >= UINT32_MAX) {
    return Status(Code::out_of_memory, "gpu: the session's values, states and masters take " +
                                           std::to_string(arena_words_ * 4) +
                                           " bytes, a binding of this adapter holds " +
                                           std::to_string(limit) +
                                           ": fewer rows or positions may help");
  }
  LOOM_ASSIGN(arena_, gpu::Buffer::create(device_, arena_words_ * 4, "arena"));
  return write_constants();
}

// Places for the tables of sequences; returns the scratch of the largest instruction, in words.
std::int64_t Executor::plan_sequences() {
  std::int64_t scratch = 0;
  for (const LoweredInstruction& ins : lowered_.code) {
    const OpTraits& op = traits(ins.op);
    ScratchQuery query{lowered_, ins};
    if (op.sequences >= 0) {
      const BufferId positions = ins.operands[static_cast<std::size_t>(op.sequences)].buffer;
      if (!sequences_of(positions)) {
        std::int64_t limit = query.max_rows(0);
        for (const LoweredInstruction& other : lowered_.code)
          if (other.op == LoweredOp::rope && other.operands[1].buffer == positions)
            limit = std::min(limit, lowered_.max_rows(other.operands[2].buffer));
        if (const std::int64_t steps =
                steps_of(lowered_.buffers[static_cast<std::size_t>(positions)]);
            steps > 0)
          limit = steps;
        sequence_tables_.push_back(
            {positions, take_words(2 * query.max_rows(0)),
             static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(limit), 64))});
      }
      query.sequence_limit = sequences_of(positions)->limit;
    }
    if (op.scratch) scratch = std::max(scratch, op.scratch(query).device_words);
  }
  return scratch;
}

// Places for states, constants, masters and weights that are vectors; matrices have buffers of
// their own.
void Executor::plan_lasting() {
  std::vector<bool> vector(lowered_.buffers.size());
  for (const LoweredInstruction& ins : lowered_.code)
    for (std::size_t i = traits(ins.op).weight != WeightUse::none ? 1 : 0; i < ins.operands.size();
         ++i)
      if (ins.operands[i].valid()) vector[static_cast<std::size_t>(ins.operands[i].buffer)] = true;
  for (std::size_t b = 0; b < lowered_.buffers.size(); ++b) {
    const Buffer& buffer = lowered_.buffers[b];
    const auto id = static_cast<BufferId>(b);
    const bool lasting = buffer.kind == BufferKind::state || buffer.kind == BufferKind::constant ||
                         buffer.kind == BufferKind::master || buffer.kind == BufferKind::weight;
    if (placement_.offset[b] >= 0) place_[b] = static_cast<std::uint32_t>(placement_.offset[b] / 4);
    if (!lasting || !used_[b] || (buffer.kind == BufferKind::weight && !vector[b])) continue;
    place_[b] = take_words(lowered_.max_rows(id) * stride_words(id));
    if (buffer.kind == BufferKind::state)
      state_bytes_ += lowered_.max_rows(id) * stride_words(id) * 4;
  }
}

Status Executor::write_constants() {
  for (std::size_t b = 0; b < lowered_.buffers.size(); ++b) {
    const Buffer& buffer = lowered_.buffers[b];
    if (buffer.kind != BufferKind::constant || !used_[b]) continue;
    if (buffer.constant.kind == ConstantKind::trees) continue;  // an op of the CPU reads them
    if (buffer.constant.kind == ConstantKind::alibi) {
      const std::vector<double> slopes = alibi_slopes(buffer.cols);
      const std::vector<float> list(slopes.begin(), slopes.end());
      LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4,
                             std::as_bytes(std::span(list))));
      continue;
    }
    if (buffer.constant.kind != ConstantKind::rope) {
      const std::vector<std::int32_t> list =
          index_table(buffer.constant, lowered_.max_rows(static_cast<BufferId>(b)));
      LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4,
                             std::as_bytes(std::span(list))));
      continue;
    }
    LOOM_ASSIGN(const RopeSpec spec, RopeSpec::from_reals(buffer.constant.reals));
    const std::int64_t rows = lowered_.max_rows(static_cast<BufferId>(b));
    std::vector<float> table(static_cast<std::size_t>(rows * buffer.cols));
    fill_rope_table(spec, rows, buffer.cols, buffer.cols, table.data());
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4,
                           std::as_bytes(std::span(table))));
  }
  return {};
}

const Executor::SequenceTable* Executor::sequences_of(BufferId positions) const {
  for (const SequenceTable& t : sequence_tables_)
    if (t.positions == positions) return &t;
  return nullptr;
}

Executor::Parameter* Executor::matrix_of(BufferId id) {
  for (Parameter& p : parameters_read_)
    if (p.buffer == id && p.matrix) return &p;
  return nullptr;
}

Status Executor::plan_parameters() {
  for (const LoweredInstruction& ins : lowered_.code) {
    for (std::size_t i = 0; i < operands(ins.op).size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid() || (buffer(v.buffer).kind != BufferKind::weight &&
                         buffer(v.buffer).kind != BufferKind::master))
        continue;
      const Buffer& b = buffer(v.buffer);
      LOOM_ASSIGN(WeightStore* const store, parameter(b));
      const std::string name = b.path + ":" + b.role;
      if (b.kind == BufferKind::master) {
        if (store->mutable_master().empty())
          return Status(
              Code::invalid_argument,
              "parameter " + name +
                  ": training needs its f32 master, which was dropped when it was packed: "
                  "load it in f32, or morph it to f32");
        if (std::none_of(masters_.begin(), masters_.end(),
                         [&](const Master& m) { return m.buffer == v.buffer; }))
          masters_.push_back({v.buffer, store});
        continue;
      }
      const bool matrix = i == 0 && traits(ins.op).weight != WeightUse::none;
      if (matrix && product_form(store->format()) != product_form(b.format))
        return Status(Code::invalid_argument, "parameter " + name + ": the program multiplies " +
                                                  to_string(b.format) + ", the network has " +
                                                  to_string(store->format()));
      if (std::any_of(parameters_read_.begin(), parameters_read_.end(), [&](const Parameter& p) {
            return p.buffer == v.buffer && p.matrix == matrix;
          }))
        continue;
      Parameter p;
      p.buffer = v.buffer;
      p.store = store;
      p.matrix = matrix;
      parameters_read_.push_back(std::move(p));
    }
  }
  return {};
}

std::int64_t Executor::weight_bytes() const {
  std::int64_t total = 0;
  for (const gpu::Buffer& h : heaps_) total += static_cast<std::int64_t>(h.bytes());
  return total;
}

// Matrices in the order of the program, in as few buffers as the device's limits allow.
Status Executor::plan_heaps() {
  const std::uint64_t limit =
      std::min(device_.limits().buffer_bytes, device_.limits().binding_bytes);
  heaps_.clear();
  std::vector<std::uint64_t> sizes;
  for (Parameter& p : parameters_read_) {
    if (!p.matrix) continue;
    LOOM_ASSIGN(p.device.bytes, matrix_bytes(*p.store));
    if (sizes.empty() || sizes.back() + p.device.bytes > limit) sizes.push_back(0);
    p.device.heap = static_cast<int>(sizes.size()) - 1;
    p.device.at = sizes.back();
    p.epoch = ~std::uint64_t{0};
    sizes.back() += p.device.bytes;
  }
  for (const std::uint64_t size : sizes) {
    LOOM_ASSIGN(gpu::Buffer heap, gpu::Buffer::create(device_, size, "weights"));
    heaps_.push_back(std::move(heap));
  }
  return {};
}

Status Executor::upload_parameter(Parameter& p) {
  if (p.matrix)
    return upload_matrix(device_, heaps_[static_cast<std::size_t>(p.device.heap)].handle(),
                         *p.store, p.device);
  LOOM_ASSIGN(const std::vector<float> values, vector_values(*p.store));
  return device_.write(arena_.handle(), std::uint64_t{word_of(p.buffer)} * 4,
                       std::as_bytes(std::span(values)));
}

Status Executor::upload_masters() {
  for (const Master& m : masters_)
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{word_of(m.buffer)} * 4,
                           std::as_bytes(m.store->mutable_master())));
  return {};
}

// Whoever changed the masters last has the truth: the device after an update segment, the host
// otherwise.
Status Executor::refresh() {
  [[maybe_unused]] const FpEnvGuard fp;
  if (device_ahead_) return repack_on_device();
  bool stale = false;
  for (const Parameter& p : parameters_read_) {
    if (p.epoch == p.store->epoch()) continue;
    stale = true;
    changed_ |= p.matrix && p.device.format != p.store->format();
  }
  if (!stale && !changed_) return {};
  if (changed_) LOOM_TRY(plan_heaps());
  for (Parameter& p : parameters_read_) {
    if (p.epoch == p.store->epoch()) continue;
    LOOM_TRY(upload_parameter(p));
    p.epoch = p.store->epoch();
  }
  LOOM_TRY(upload_masters());
  return changed_ ? record() : Status();  // another format has other kernels
}

Status Executor::sync() {
  if (!failure_.ok()) return std::exchange(failure_, Status());
  if (!host_behind_) return {};
  std::vector<gpu::ReadRange> ranges;
  for (const Master& m : masters_)
    ranges.push_back({arena_.handle(), std::uint64_t{word_of(m.buffer)} * 4,
                      std::as_writable_bytes(m.store->mutable_master())});
  LOOM_TRY(device_.read(ranges));
  host_behind_ = false;
  return {};
}

Executor::Mirror& Executor::mirror(BufferId id) {
  Mirror& m = mirrors_[static_cast<std::size_t>(id)];
  if (m.bytes.empty())
    m.bytes.resize(static_cast<std::size_t>(lowered_.max_rows(id) * stride_words(id) * 4));
  return m;
}

Status Executor::fetch(BufferId id) {
  Mirror& m = mirror(id);
  if (m.fresh) return {};
  const gpu::ReadRange range{arena_.handle(), std::uint64_t{word_of(id)} * 4, m.bytes};
  const Status read = device_.read({&range, 1});
  m.fresh = read.ok();
  return read;
}

std::byte* Executor::row_bytes(BufferId id, std::int64_t r) {
  const Buffer& b = buffer(id);
  if (b.kind == BufferKind::master) {
    for (const Master& m : masters_)
      if (m.buffer == id)
        return reinterpret_cast<std::byte*>(m.store->mutable_master().data() + r * b.cols);
  }
  if (b.kind == BufferKind::grad || b.kind == BufferKind::state) {
    const Status s = fetch(id);
    if (!s.ok() && failure_.ok()) failure_ = s;
    mirror(id).dirty |= b.kind == BufferKind::state;
  } else if (b.kind == BufferKind::output) {
    if (outputs_behind_ && failure_.ok()) failure_ = read_outputs();
    outputs_behind_ = false;
  } else if (b.kind != BufferKind::input) {
    return nullptr;
  }
  return mirror(id).bytes.data() + r * stride_words(id) * 4;
}

std::span<std::byte> Executor::state(BufferId id) {
  row_bytes(id, 0);
  return mirror(id).bytes;
}

}  // namespace loom::webgpu
