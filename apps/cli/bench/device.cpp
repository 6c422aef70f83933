#include "bench/device.h"

#include "console.h"

namespace loom::cli {

Result<webgpu::Choice> device_of(const std::string& device) {
  auto choice = webgpu::choose_device(device);
  if (choice.ok() && !choice->note.empty()) say(choice->note);
  return choice;
}

Result<Machine> open_machine(const MachineOptions& o) {
  auto m = machine_of(o.mode, o.threads, o.mode.empty() ? o.device : "", o.isa);
  if (m.ok() && !m->choice.note.empty()) say(m->choice.note);
  return m;
}

}  // namespace loom::cli
