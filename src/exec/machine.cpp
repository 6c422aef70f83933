#include "exec/machine.h"

#include "ops/cpu/isa.h"

namespace loom {

Result<Machine> machine_of(std::string_view mode, int threads, std::string_view device,
                           std::string_view isa) {
  Machine m;
  LOOM_ASSIGN(m.mode, mode_of(mode, threads, device));
  LOOM_ASSIGN(m.choice, webgpu::choose_device(m.mode.device));
  const std::string_view here = cpu::numerics_of(isa);
  // What is measured may change sides: only where both give the same bits.
  if (m.mode.auto_device && (m.choice.numerics != "portable" || here != "portable"))
    m.choice.device = nullptr;
  if (!m.choice.device) m.choice.numerics = here;
  return m;
}

}  // namespace loom
