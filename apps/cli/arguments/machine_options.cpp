#include "arguments/machine_options.h"

#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr int kMaxThreads = 1024;

// "" or why this machine has no such instruction set.
std::string isa_problem(const std::string& isa) {
  const Json info = parsed(loom::info());
  std::string names;
  for (const char* list : {"isas", "fast_isas"})
    for (const Json& name : member(info, list).as_array()) {
      const bool fast = std::string_view(list) == "fast_isas";
      if (name.as_string() == isa || (fast && isa == "fast")) return "";
      names += (names.empty() ? "" : ", ") + name.as_string();
    }
  return isa.empty()
             ? ""
             : "instruction set '" + isa + "' is not available here: this machine has " + names;
}

}  // namespace

std::string format_problem(const std::string& text) {
  try {
    format_info(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Option bind_device_option(CommandLine& c, std::string& device) {
  return c
      .add("--device", device,
           "cpu, gpu, or auto: the GPU where there is one; the answer is the same (cpu)")
      .one_of({"cpu", "gpu", "auto"});
}

void bind_machine_options(CommandLine& c, MachineOptions& o) {
  const Option named = bind_device_option(c, o.device);
  c.add("--mode", o.mode,
        "cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, or auto: what is faster here, as "
        "measured; the answer is the same")
      .one_of({"cpu-normal", "cpu-sc", "cpu-mc", "gpu-normal", "gpu-sc", "gpu-mc", "auto"})
      .excludes(named);
  c.add("--threads", o.threads, "threads (one per core); the answer is the same for any number")
      .between(1, kMaxThreads);
  c.add("--isa", o.isa,
        "the instruction set to use (the best here); fast: fused multiply-adds, other bits")
      .check("NAME", isa_problem);
}

Json machine_json(const MachineOptions& o) {
  Json json = Json::object();
  json.set("threads", o.threads);
  json.set("isa", o.isa);
  if (o.mode.empty()) json.set("device", o.device);
  else json.set("mode", o.mode);
  return json;
}

void say_note(const Json& info) {
  if (const std::string note = text_in(info, "note"); !note.empty()) say(note);
}

}  // namespace loom::cli
