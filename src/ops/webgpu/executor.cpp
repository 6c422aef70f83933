#include "ops/webgpu/executor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/files/bytes.h"
#include "base/math/fp_env.h"
#include "ops/cpu/prepared_weights.h"
#include "ops/rope.h"
#include "ops/tensor_ops.h"
#include "ops/webgpu/fusion.h"

namespace loom::webgpu {
namespace {

bool is_weight_matrix(Op op) {
  return op == Op::matmul || op == Op::matmul_t || op == Op::gather || op == Op::group_matmul || op == Op::group_matmul_t || op == Op::distances || op == Op::distances_back || op == Op::distances_weight;
}

}  // namespace

Result<std::unique_ptr<Executor>> Executor::create(Program program, WeightLookup weights, gpu::Device& device, const ExecutorOptions& options) {
  LOOM_TRY(verify(program));
  std::unique_ptr<Executor> executor(new Executor(std::move(program), std::move(weights), device));
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
  for (const Buffer& b : program_.buffers) {
    if (b.type != ValueType::f64) continue;
    any = true;
    if (!b.path.empty()) where = "the cell " + b.path;
  }
  return any ? Status(Code::unsupported, "gpu: " + where + " computes in f64 (class D), which WebGPU lacks: morph it to a type of another class, or run on the CPU") : Status();
}

std::int64_t Executor::stride_words(BufferId id) const {
  const std::int64_t stride = placement_.stride[static_cast<std::size_t>(id)];
  return cpu::element_size(buffer(id).type) == 1 ? stride / 4 : stride;
}

std::uint32_t Executor::take_words(std::int64_t count) {
  const std::uint64_t at = arena_words_;
  arena_words_ += align_up(static_cast<std::uint64_t>(count), 16);
  return static_cast<std::uint32_t>(at);
}

// Planned buffers first; then what lives as long as the executor.
Status Executor::plan_arena() {
  placement_ = cpu::place_buffers(program_, fuse_ ? 2 * kFusionReach : 0);  // one fusion may run later than planned, and the next earlier
  place_.assign(program_.buffers.size(), 0);
  mirrors_.resize(program_.buffers.size());
  arena_words_ = static_cast<std::uint64_t>(placement_.arena_bytes) / 4;
  std::vector<bool> used(program_.buffers.size());
  std::int64_t scratch = 0;
  for (const Instruction& ins : program_.code) {
    for (const View& v : ins.operands)
      if (v.valid()) used[static_cast<std::size_t>(v.buffer)] = true;
    auto max_rows = [&](int i) { return program_.max_rows(ins.operands[static_cast<std::size_t>(i)].buffer); };
    if (ins.op == Op::rms_norm_gain || ins.op == Op::layer_norm_gain) scratch = std::max(scratch, 2 * max_rows(0) * (ins.operands[0].cols / ins.ints[0]));
    if (ins.op == Op::attention_rows || ins.op == Op::attention_back) {
      const BufferId positions = ins.operands[3].buffer;
      if (!sequences_of(positions)) {
        std::int64_t limit = max_rows(0);
        for (const Instruction& other : program_.code)
          if (other.op == Op::rope && other.operands[1].buffer == positions) limit = std::min(limit, program_.max_rows(other.operands[2].buffer));
        sequence_tables_.push_back({positions, take_words(2 * max_rows(0)), static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(limit), 64))});
      }
      if (ins.op == Op::attention_back) scratch = std::max(scratch, 2 * ins.ints[0] * max_rows(0) * sequences_of(positions)->limit);
    }
  }
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    const auto id = static_cast<BufferId>(b);
    const bool lasting = buffer.kind == BufferKind::state || buffer.kind == BufferKind::constant || buffer.kind == BufferKind::master || buffer.kind == BufferKind::weight;
    if (placement_.offset[b] >= 0) place_[b] = static_cast<std::uint32_t>(placement_.offset[b] / 4);
    if (!lasting || !used[b]) continue;
    bool vector = buffer.kind != BufferKind::weight;  // matrices have buffers of their own
    for (const Instruction& ins : program_.code)
      for (std::size_t i = is_weight_matrix(ins.op) ? 1 : 0; i < ins.operands.size() && !vector; ++i) vector = ins.operands[i].buffer == id;
    if (!vector) continue;
    place_[b] = take_words(program_.max_rows(id) * stride_words(id));
    if (buffer.kind == BufferKind::state) state_bytes_ += program_.max_rows(id) * stride_words(id) * 4;
  }
  page_table_at_ = take_words(static_cast<std::int64_t>(page_table_.size()));
  scratch_at_ = take_words(scratch);
  registers_at_ = take_words(static_cast<std::int64_t>(program_.registers.size()));
  picked_at_ = take_words(static_cast<std::int64_t>(1 + kMostPicked) + 2 * kPickParts);
  if (arena_words_ * 4 > std::min(device_.limits().buffer_bytes, device_.limits().binding_bytes) || arena_words_ >= UINT32_MAX) {
    return Status(Code::out_of_memory, "gpu: the session's values, states and masters take " + std::to_string(arena_words_ * 4) + " bytes, a binding of this adapter holds " +
                                           std::to_string(std::min(device_.limits().buffer_bytes, device_.limits().binding_bytes)) + ": fewer rows or positions may help");
  }
  LOOM_ASSIGN(arena_, gpu::Buffer::create(device_, arena_words_ * 4, "arena"));
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.kind != BufferKind::constant || !used[b]) continue;
    if (buffer.constant.kind != ConstantKind::rope) {
      const std::vector<std::int32_t> list = places_table(buffer.constant.reals, buffer.constant.kind == ConstantKind::uses);
      LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4, std::as_bytes(std::span(list))));
      continue;
    }
    LOOM_ASSIGN(const RopeSpec spec, RopeSpec::from_reals(buffer.constant.reals));
    std::vector<float> table(static_cast<std::size_t>(program_.max_rows(static_cast<BufferId>(b)) * buffer.cols));
    fill_rope_table(spec, program_.max_rows(static_cast<BufferId>(b)), buffer.cols, buffer.cols, table.data());
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4, std::as_bytes(std::span(table))));
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
  for (const Instruction& ins : program_.code) {
    for (std::size_t i = 0; i < info(ins.op).operands.size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid() || (buffer(v.buffer).kind != BufferKind::weight && buffer(v.buffer).kind != BufferKind::master)) continue;
      const Buffer& b = buffer(v.buffer);
      LOOM_ASSIGN(WeightStore* const store, parameter(b));
      const std::string name = b.path + ":" + b.role;
      if (b.kind == BufferKind::master) {
        if (store->mutable_master().empty()) return Status(Code::invalid_argument, "parameter " + name + ": training needs its f32 master, which was dropped");
        if (std::none_of(masters_.begin(), masters_.end(), [&](const Master& m) { return m.buffer == v.buffer; })) masters_.push_back({v.buffer, store});
        continue;
      }
      const bool matrix = i == 0 && is_weight_matrix(ins.op);
      if (matrix && cpu::product_form(store->format()) != cpu::product_form(b.format))
        return Status(Code::invalid_argument, "parameter " + name + ": the program multiplies " + to_string(b.format) + ", the network has " + to_string(store->format()));
      if (std::any_of(parameters_read_.begin(), parameters_read_.end(), [&](const Parameter& p) { return p.buffer == v.buffer && p.matrix == matrix; })) continue;
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
  const std::uint64_t limit = std::min(device_.limits().buffer_bytes, device_.limits().binding_bytes);
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
  if (p.matrix) return upload_matrix(device_, heaps_[static_cast<std::size_t>(p.device.heap)].handle(), *p.store, p.device);
  LOOM_ASSIGN(const std::vector<float> values, vector_values(*p.store));
  return device_.write(arena_.handle(), std::uint64_t{word_of(p.buffer)} * 4, std::as_bytes(std::span(values)));
}

Status Executor::upload_masters() {
  for (const Master& m : masters_) LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{word_of(m.buffer)} * 4, std::as_bytes(m.store->mutable_master())));
  return {};
}

// Whoever changed the masters last has the truth: the device after an update segment, the host otherwise.
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

Status Executor::repack_on_device() {
  host_behind_ = true;
  device_ahead_ = false;
  bool encode = false;  // formats other than f32 are encoded by the host
  for (Parameter& p : parameters_read_) encode = encode || (p.matrix && p.device.arg.form != cpu::kFloatForm) || (p.matrix && p.store->format().dtype != DType::f32);
  if (encode) {
    LOOM_TRY(sync());
    for (const Master& m : masters_) m.store->touch();
    return refresh();
  }
  for (Parameter& p : parameters_read_) p.epoch = p.store->epoch();
  LOOM_TRY(bind_registers());
  return submit(repacks_, Segment::forward, Segment::update);
}

Status Executor::sync() {
  if (!failure_.ok()) return std::exchange(failure_, Status());
  if (!host_behind_) return {};
  std::vector<gpu::ReadRange> ranges;
  for (const Master& m : masters_) ranges.push_back({arena_.handle(), std::uint64_t{word_of(m.buffer)} * 4, std::as_writable_bytes(m.store->mutable_master())});
  LOOM_TRY(device_.read(ranges));
  host_behind_ = false;
  return {};
}

Executor::Mirror& Executor::mirror(BufferId id) {
  Mirror& m = mirrors_[static_cast<std::size_t>(id)];
  if (m.bytes.empty()) m.bytes.resize(static_cast<std::size_t>(program_.max_rows(id) * stride_words(id) * 4));
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
      if (m.buffer == id) return reinterpret_cast<std::byte*>(m.store->mutable_master().data() + r * b.cols);
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
