// loom audit: what this machine offers to Loom, as a table or as the library's JSON.
#include "arguments/machine_options.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string device = "auto";
  bool measure = false, json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("--device", a.device,
        "auto: the GPU where there is one; gpu: an error where there is none; cpu: no GPU is "
        "looked for (auto)")
      .one_of({"cpu", "gpu", "auto"});
  c.flag("--measure", a.measure, "with speeds of memory and products: a second or two");
  c.flag("--json", a.json, "one JSON object on stdout");
}

// A value of a section for people, "?" where it is null.
std::string text_of(const Json& section, const char* key) {
  const Json& value = member(section, key);
  if (value.is_null()) return "?";
  if (value.is_string()) return escaped(value.as_string());
  if (value.is_integer()) return std::to_string(value.as_integer());
  if (value.is_number()) return significant(value.as_number());
  if (!value.is_array()) return value.is_bool() && value.as_bool() ? "yes" : "no";
  std::string list;
  for (const Json& item : value.as_array()) list += (list.empty() ? "" : " ") + item.as_string();
  return list.empty() ? "none" : list;
}

// 49152 is "48 KiB": caches and memory come in powers of two.
std::string binary_bytes(const Json& section, const char* key) {
  const Json& value = member(section, key);
  if (value.is_null()) return "?";
  double bytes = value.as_number();
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = next;
  }
  return significant(bytes < 100 ? static_cast<double>(static_cast<int>(10 * bytes + 0.5)) / 10
                                 : static_cast<double>(static_cast<int>(bytes + 0.5))) +
         " " + unit;
}

std::string line(const char* label, const std::string& text) {
  std::string padded = label;
  padded.resize(14, ' ');
  return padded + text + "\n";
}

std::string machine_text(const Json& report) {
  const Json &os = member(report, "os"), &cpu = member(report, "cpu");
  std::string text =
      line("system", text_of(os, "name") + ", " + text_of(os, "version") + ", kernel " +
                         text_of(os, "kernel") + ", " + text_of(os, "architecture"));
  text += line("processor", text_of(cpu, "model") + ", " + text_of(cpu, "vendor"));
  text +=
      line("cores", text_of(cpu, "logical_cores") + " logical, " + text_of(cpu, "physical_cores") +
                        " physical, " + text_of(cpu, "usable_cores") + " usable by this process" +
                        (member(cpu, "quota_cores").is_null()
                             ? ""
                             : " (quota " + text_of(cpu, "quota_cores") + ")"));
  text += line("features", text_of(cpu, "features"));
  text += line("kernels", text_of(cpu, "isas") + "; here " + text_of(cpu, "isa"));
  if (member(report, "caches").is_null()) return text + line("caches", "?");
  for (const Json& c : member(report, "caches").as_array())
    text += line(("L" + text_of(c, "level") + " cache").c_str(),
                 text_of(c, "count") + " x " + binary_bytes(c, "bytes") + ", " +
                     text_of(c, "type") + ", lines of " + text_of(c, "line") +
                     " bytes, shared by " + text_of(c, "shared_by"));
  return text;
}

std::string memory_text(const Json& report) {
  const Json& memory = member(report, "memory");
  const bool limited = !member(memory, "limit").is_null();
  return line("memory", binary_bytes(memory, "total") + ", " + binary_bytes(memory, "available") +
                            " available, " +
                            (limited ? binary_bytes(memory, "limit") + " at most for this process, "
                                     : std::string()) +
                            "pages of " + binary_bytes(memory, "page_size")) +
         line("this process", binary_bytes(memory, "resident") + " in memory now");
}

std::string gpu_text(const Json& report) {
  const Json& gpus = member(report, "gpus");
  if (gpus.is_null())
    return line("GPU", "none: " + escaped(text_in(member(report, "unknown"), "gpus")));
  std::string text;
  for (const Json& g : gpus.as_array()) {
    const Json& limits = member(g, "limits");
    text += line("GPU", text_of(g, "name") + ", " + text_of(g, "backend") +
                            (flag_in(g, "software") ? ", software" : "") + ", numerics " +
                            text_of(g, "numerics"));
    text += line("", "buffers of " + binary_bytes(limits, "binding_bytes") + ", " +
                         text_of(limits, "threads_per_group") + " threads and " +
                         binary_bytes(limits, "group_bytes") + " a workgroup");
  }
  return text;
}

std::string loom_text(const Json& report) {
  const Json &own = member(report, "loom"), &speeds = member(report, "measured");
  std::string text =
      line("loom", text_of(own, "version") + ", numerics " + text_of(own, "numerics_version") +
                       ", " + text_of(own, "threads") + " threads, " + text_of(own, "dtypes") +
                       " dtypes" + (flag_in(own, "embedded_model") ? ", embedded model" : ""));
  if (speeds.is_null()) return text;
  text += line("memory reads", fixed(number_in(speeds, "read_bytes_per_second") / 1e9, 1) +
                                   " GB/s, " + text_of(speeds, "threads") + " threads");
  return text +
         line("products", fixed(number_in(speeds, "f32_flops") / 1e9, 1) + " GFLOP/s in f32, " +
                              fixed(number_in(speeds, "i8_ops") / 1e9, 1) +
                              " G operations/s in i8, one thread");
}

// Why a value above is "?".
std::string unknown_text(const Json& report) {
  std::string text;
  for (const auto& [key, why] : member(report, "unknown").as_object())
    if (key != "gpus" && key != "measured" && key != "cpu.quota_cores" && key != "memory.limit")
      text += "not known: " + key + ": " + escaped(why.as_string()) + "\n";
  return text;
}

int run(const Args& a) {
  Json options = Json::object();
  options.set("device", a.device);
  options.set("measure", a.measure);
  const Json report = parsed(
      or_exit(a.device == "gpu" ? kRefused : kFailed, [&] { return audit(options.dump()); }));
  if (a.json) return print(report.dump() + "\n") ? kOk : kFailed;
  return print(machine_text(report) + memory_text(report) + gpu_text(report) + loom_text(report) +
               unknown_text(report))
             ? kOk
             : kFailed;
}

}  // namespace

void add_audit(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "audit", "what this machine offers to Loom", bind, run);
}

}  // namespace loom::cli
