// After updates: the forms of parameters that kernels read, made again from the masters.
#include <algorithm>

#include "base/math/fp_env.h"
#include "ops/lowering/weight_forms.h"
#include "ops/webgpu/executor.h"

namespace loom::webgpu {

// The update that makes the panels of a matrix beside its master; null: none. Other instructions of
// its segment may not read what the matrix was before, nor the master be another's.
LaunchSpec* Executor::update_of(std::vector<LaunchSpec>& specs, BufferId master, BufferId matrix) {
  LaunchSpec* found = nullptr;
  for (LaunchSpec& s : specs) {
    const auto has = [&s](BufferId id) {
      return std::ranges::any_of(s.operands, [id](const View& v) { return v.buffer == id; });
    };
    if (!s.instruction) break;  // repacks follow
    if (s.instruction->segment == Segment::update && has(matrix)) return nullptr;
    if (!has(master)) continue;
    if (found || s.kernel.entry != "adamw") return nullptr;
    found = &s;
  }
  return found;
}

void Executor::plan_repacks(std::vector<LaunchSpec>& specs) {
  for (const Master& m : masters_)
    for (const Parameter& p : parameters_read_) {
      if (p.store != m.store || (p.matrix && p.store->format().dtype != DType::f32)) continue;
      const std::int64_t rows = m.store->rows(), cols = m.store->cols();
      LaunchSpec* const update = p.matrix ? update_of(specs, m.buffer, p.buffer) : nullptr;
      if (update) {
        adamw_to_panels(*update, rows, cols, p.buffer);
        continue;
      }
      LaunchSpec s = p.matrix ? master_to_panels(rows, cols) : master_to_vector(rows * cols);
      s.operands = {View{m.buffer, 0, static_cast<std::int32_t>(m.store->cols())},
                    View{p.buffer, 0, static_cast<std::int32_t>(m.store->cols())}};
      if (p.matrix) s.matrices[0] = p.buffer;
      repacks_.push_back(specs.size());
      specs.push_back(std::move(s));
    }
}

Status Executor::repack_on_device() {
  host_behind_ = true;
  device_ahead_ = false;
  bool encode = false;  // formats other than f32 are encoded by the host
  for (Parameter& p : parameters_read_)
    encode = encode || (p.matrix && p.device.arg.form != kFloatForm) ||
             (p.matrix && p.store->format().dtype != DType::f32);
  if (encode) {
    LOOM_TRY(sync());
    for (const Master& m : masters_) m.store->touch();
    return refresh();
  }
  for (Parameter& p : parameters_read_) p.epoch = p.store->epoch();
  LOOM_TRY(bind_registers());
  return submit(repacks_, Segment::forward, Segment::update);
}

}  // namespace loom::webgpu
