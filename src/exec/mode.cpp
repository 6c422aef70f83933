#include "exec/mode.h"

#include "base/fields/fields.h"
#include "base/split.h"

namespace loom {

std::vector<std::string_view> mode_names() { return split(kModeNames, ", "); }

Result<Mode> mode_of(std::string_view name, int threads, std::string_view device) {
  const auto bad = [](std::string what) { return Status(Code::invalid_argument, std::move(what)); };
  Mode m{.device = std::string(device.empty() ? "cpu" : device), .threads = threads};
  if (name.empty()) return m;
  if (!has_name(kModeNames, name))
    return bad("mode: there is no '" + std::string(name) + "', known are " + kModeNames);
  if (!device.empty())
    return bad("mode: '" + std::string(name) + "' says the device, leave out '" +
               std::string(device) + "'");
  m.name = name == "gpu-sc" ? "gpu-mc" : name;  // no part of a device can be asked for
  m.auto_device = name == "auto";
  m.device = m.auto_device ? "auto" : name.substr(0, 3);
  m.fuse = !name.ends_with("-normal");
  if (name == "cpu-normal" || name == "cpu-sc") {
    if (threads > 1)
      return bad("mode: '" + std::string(name) + "' is one thread, not " + std::to_string(threads));
    m.threads = 1;
  }
  return m;
}

}  // namespace loom
