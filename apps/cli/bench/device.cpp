#include "bench/device.h"

#include "support/console.h"

namespace loom::cli {

Result<webgpu::Choice> device_of(const std::string& device) {
  auto choice = webgpu::choose_device(device);
  if (choice.ok() && !choice->note.empty()) say(choice->note);
  return choice;
}

}  // namespace loom::cli
