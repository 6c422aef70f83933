// What an executor makes before its first run: prepared weights, states, tables of constants.
#include <algorithm>
#include <cstring>

#include "ops/attention/alibi.h"
#include "ops/attention/rope.h"
#include "ops/cpu/executor.h"
#include "ops/graph/kinds.h"
#include "ops/lowering/lowered.h"
#include "ops/lowering/prepared_weights.h"
#include "ops/lowering/weight_forms.h"

namespace loom::cpu {

// Matrices of f32 that their stores hold in 16 bits are decoded by the products and gathers that
// read them: the same values, and the same bits of results. Other kernels want floats.
Status Executor::read_held() {
  held_.assign(lowered_.buffers.size(), false);
  if (!kernels_->portable) return {};  // fused products read floats, for the same bits every time
  for (const Buffer& buffer : lowered_.buffers) {
    if (buffer.kind != BufferKind::master) continue;
    LOOM_ASSIGN(WeightStore* const store, parameter(buffer));
    (void)store->mutable_master();  // what is trained is not held
  }
  for (std::size_t b = 0; b < held_.size(); ++b) {
    const Buffer& buffer = lowered_.buffers[b];
    if (buffer.kind != BufferKind::weight || buffer.type != ValueType::f32) continue;
    LOOM_ASSIGN(const WeightStore* const store, parameter(buffer));
    held_[b] = store->held() != nullptr;
  }
  const auto decodes = [](LoweredOp op) {
    return op == LoweredOp::matmul   ? LoweredOp::matmul_decoded
           : op == LoweredOp::gather ? LoweredOp::gather_packed
                                     : op;
  };
  for (const LoweredInstruction& ins : lowered_.code)
    if (traits(ins.op).weight == WeightUse::panels && decodes(ins.op) == ins.op)
      held_[static_cast<std::size_t>(ins.operands[0].buffer)] = false;
  for (LoweredInstruction& ins : lowered_.code) {
    if (traits(ins.op).weight != WeightUse::panels) continue;
    const auto b = static_cast<std::size_t>(ins.operands[0].buffer);
    if (!held_[b]) continue;
    ins.op = decodes(ins.op);
    LOOM_ASSIGN(const WeightStore* const store, parameter(lowered_.buffers[b]));
    lowered_.buffers[b].format = store->held()->format();
  }
  return {};
}

// Which forms of each weight are read.
Status Executor::plan_weights() {
  prepared_ = std::make_unique<PreparedWeights>(lowered_.buffers.size());
  for (const LoweredInstruction& ins : lowered_.code) {
    const WeightUse use = traits(ins.op).weight;
    for (std::size_t i = 0; i < operands(ins.op).size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid()) continue;
      const Buffer& b = lowered_.buffers[static_cast<std::size_t>(v.buffer)];
      if (b.kind != BufferKind::weight && b.kind != BufferKind::master) continue;
      LOOM_ASSIGN(WeightStore* const store, parameter(b));
      const std::string name = b.path + ":" + b.role;
      if (b.kind == BufferKind::master) {
        const bool f64 = b.type == ValueType::f64;
        data_[static_cast<std::size_t>(v.buffer)] =
            f64 ? reinterpret_cast<std::byte*>(store->mutable_master64().data())
                : reinterpret_cast<std::byte*>(store->mutable_master().data());
        if (!data_[static_cast<std::size_t>(v.buffer)])
          return Status(Code::invalid_argument, "parameter " + name + ": training needs its " +
                                                    (f64 ? "f64" : "f32") +
                                                    " master, which was dropped when it was packed:"
                                                    " load it in f32, or morph it to f32");
        continue;
      }
      const bool matrix = i == 0 && use != WeightUse::none,
                 dense = use == WeightUse::rows && !decodes_panels(lowered_, ins);
      const bool held = held_[static_cast<std::size_t>(v.buffer)];
      if (matrix && b.type == ValueType::f32 && !held &&
          product_form(store->format()) != product_form(b.format))
        return Status(Code::invalid_argument, "parameter " + name + ": the program multiplies " +
                                                  to_string(b.format) + ", the network has " +
                                                  to_string(store->format()));
      prepared_->add(v.buffer, store, b.type,
                     {.panels = matrix && !dense,
                      .dense = matrix && dense,
                      .vector = !matrix,
                      .copies = matrix && copies_panels(lowered_, ins),
                      .held = matrix && held});
    }
  }
  for (const Buffer& b : lowered_.buffers) {
    if (b.kind != BufferKind::master) continue;
    LOOM_ASSIGN(WeightStore* const store, parameter(b));
    prepared_->updates(store);
  }
  LOOM_TRY(refresh());
  for (std::size_t b = 0; b < data_.size(); ++b)
    if (lowered_.buffers[b].kind == BufferKind::weight)
      data_[b] = prepared_->vector(static_cast<BufferId>(b));
  return {};
}

Status Executor::plan_states(const ExecutorOptions& options) {
  LOOM_TRY(plan_pages(options.sequences));
  plan_limits();
  states_.clear();
  for (std::size_t b = 0; b < lowered_.buffers.size(); ++b) {
    const Buffer& buffer = lowered_.buffers[b];
    const auto id = static_cast<BufferId>(b);
    if (buffer.kind == BufferKind::constant && buffer.constant.kind == ConstantKind::trees) {
      // Read only, and as they lie: all sessions of a network share one copy.
      auto* words = const_cast<std::uint32_t*>(buffer.constant.words->data());
      data_[b] = reinterpret_cast<std::byte*>(words);
    } else if (buffer.kind == BufferKind::constant) {
      states_.push_back(aligned_zeros(buffer_bytes(lowered_, id)));
      if (!states_.back())
        return Status(Code::out_of_memory, "session: no memory for a constant table");
      data_[b] = states_.back().get();
      if (buffer.constant.kind == ConstantKind::alibi) {
        const std::vector<double> slopes = alibi_slopes(buffer.cols);
        if (buffer.type == ValueType::f64)
          std::copy(slopes.begin(), slopes.end(), reinterpret_cast<double*>(data_[b]));
        else
          std::transform(slopes.begin(), slopes.end(), reinterpret_cast<float*>(data_[b]),
                         [](double v) { return static_cast<float>(v); });
        continue;
      }
      if (buffer.constant.kind != ConstantKind::rope) {
        const std::vector<std::int32_t> table = index_table(buffer.constant, lowered_.max_rows(id));
        std::memcpy(data_[b], table.data(), table.size() * sizeof table[0]);
        continue;
      }
      LOOM_ASSIGN(const RopeSpec spec, RopeSpec::from_reals(buffer.constant.reals));
      if (buffer.type == ValueType::f64)
        fill_rope_table(spec, lowered_.max_rows(id), buffer.cols, placement_.stride[b],
                        reinterpret_cast<double*>(data_[b]));
      else
        fill_rope_table(spec, lowered_.max_rows(id), buffer.cols, placement_.stride[b],
                        reinterpret_cast<float*>(data_[b]));
    } else if (buffer.kind == BufferKind::state && options.states) {
      const auto& others = options.states->program().buffers;
      if (b >= others.size() || others[b].kind != buffer.kind || others[b].path != buffer.path ||
          others[b].role != buffer.role || options.states->state(id).size() != state(id).size())
        return Status(Code::invalid_argument,
                      "session: another has no state " + buffer.path + ":" + buffer.role);
      data_[b] = options.states->state(id).data();
    } else if (buffer.kind == BufferKind::state) {
      states_.push_back(aligned_zeros(buffer_bytes(lowered_, id)));
      if (!states_.back())
        return Status(Code::out_of_memory,
                      "session: no memory for the state " + buffer.path + ":" + buffer.role +
                          " of " + std::to_string(buffer_bytes(lowered_, id)) + " bytes");
      data_[b] = states_.back().get();
      state_bytes_ += buffer_bytes(lowered_, id);
    }
  }
  return {};
}

}  // namespace loom::cpu
