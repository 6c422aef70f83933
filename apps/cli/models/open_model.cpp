#include "models/open_model.h"

#include "base/numerics_version.h"
#include "console.h"
#include "llm/adapter.h"
#include "models/model_file.h"
#include "ops/cpu/isa.h"

namespace loom::cli {
namespace {

// What is wrong with a word, by the function that reads it.
template <class Parse>
std::function<std::string(const std::string&)> problem_of(Parse parse) {
  return [parse](const std::string& text) {
    const auto result = parse(text);
    return result.ok() ? std::string() : result.status().message();
  };
}

}  // namespace

void bind_model_options(CommandLine& c, ModelOptions& o) {
  c.add("--dtype", o.dtype,
        "how weights are held and multiplied: f32, bf16, i8, i4, ternary, ... (as stored)")
      .check("DTYPE",
             problem_of([](const std::string& text) { return parse_weight_format(text); }));
  c.add("--adapter", o.adapter,
        "a LoRA adapter to run with: a folder, as loom train and PEFT write them")
      .type_name("FOLDER");
  c.add("--ctx", o.context,
        "positions of the context (what the model was trained for, at most 4096)")
      .positive();
  bind_machine_options(c, o.threads, o.isa, o.device, o.mode);
}

Option bind_device_option(CommandLine& c, std::string& device) {
  return c
      .add("--device", device,
           "cpu, gpu, or auto: the GPU where there is one; the answer is the same (cpu)")
      .one_of({"cpu", "gpu", "auto"});
}

Result<webgpu::Choice> device_of(const std::string& device) {
  auto choice = webgpu::choose_device(device);
  if (choice.ok() && !choice->note.empty()) say(choice->note);
  return choice;
}

Result<Machine> open_machine(const std::string& mode, int threads, const std::string& device,
                             const std::string& isa) {
  auto m = machine_of(mode, threads, mode.empty() ? device : "", isa);
  if (m.ok() && !m->choice.note.empty()) say(m->choice.note);
  return m;
}

void bind_machine_options(CommandLine& c, int& threads, std::string& isa, std::string& device,
                          std::string& mode) {
  const Option named = bind_device_option(c, device);
  const auto modes = mode_names();
  c.add("--mode", mode,
        "cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, or auto: what is faster here, as "
        "measured; the answer is the same")
      .one_of(std::vector<std::string>(modes.begin(), modes.end()))
      .excludes(named);
  c.add("--threads", threads, "threads (one per core); the answer is the same for any number")
      .between(1, ThreadPool::kMaxThreads);
  c.add("--isa", isa,
        "the instruction set to use (the best here); fast: fused multiply-adds, other bits")
      .check("NAME", problem_of([](const std::string& text) { return cpu::select_kernels(text); }));
}

Result<OpenModel> open_model(const ModelOptions& options) {
  std::optional<WeightFormat> format;
  if (!options.dtype.empty()) {
    LOOM_ASSIGN(format, parse_weight_format(options.dtype));
  }
  auto model = load_model(options.model, format);
  if (!model.ok()) return model.status();
  std::shared_ptr<Adapter> adapter;
  if (!options.adapter.empty()) {
    LOOM_ASSIGN(Adapter read, load_adapter(options.adapter, *model));
    adapter = std::make_shared<Adapter>(std::move(read));
  }
  LOOM_ASSIGN(Machine m, open_machine(options.mode, options.threads, options.device, options.isa));
  return OpenModel{
      std::move(*model),          std::move(adapter), std::make_unique<ThreadPool>(m.mode.threads),
      std::move(m.choice.device), std::move(m.mode),  std::move(m.choice.numerics)};
}

Memory memory_of(Model& model, Session* session) {
  Memory m;
  for (const Network::NamedParam& p : model.network.params()) {
    if (p.tied) continue;
    const WeightStore& store = *p.param->store;
    // f32 and f64 are their masters; a packed matrix has one only where someone learns.
    m.weights += store.master_bytes();
    if (store.format().dtype != DType::f32 && store.format().dtype != DType::f64)
      m.weights += store.packed_bytes();
  }
  if (!session) return m;
  const Executor& executor = session->executor();
  m.prepared = static_cast<std::uint64_t>(executor.weight_bytes());
  m.cache = static_cast<std::uint64_t>(executor.state_bytes());
  m.arena = static_cast<std::uint64_t>(executor.arena_bytes() + executor.scratch_bytes());
  return m;
}

std::string status_line(const ModelOptions& options, OpenModel& opened, Session* session) {
  const Memory memory = memory_of(opened.model, session);
  constexpr const char* kDot = "  \u00b7  ";
  std::string line = title_of(opened.model.name);
  if (const auto file = open_model_file(options.model); file.ok())
    line = file->title + "  " + std::string(name(file->kind)) + ", " + bytes_text(file->bytes()) +
           " " + file->main_type();
  if (!options.dtype.empty()) line += ", run as " + options.dtype;
  line += kDot + count_text(static_cast<double>(opened.model.network.parameter_count())) +
          " parameters";
  if (opened.adapter)
    line +=
        kDot + ("adapter " + title_of(options.adapter) + ", " +
                count_text(static_cast<double>(opened.adapter->parameter_count())) + " parameters");
  line += kDot + ((session ? "needs " : "weights ") + bytes_text(memory.total()));
  if (const std::uint64_t all = machine_memory()) line += " of " + bytes_text(all);
  line += kDot + ("numerics: " + opened.numerics + " v" + std::to_string(LOOM_NUMERICS_VERSION));
  if (opened.device) return line + kDot + opened.device->info().name;
  const auto kernels = cpu::select_kernels(options.isa);
  return line + kDot + (kernels.ok() ? std::string((*kernels)->isa) : options.isa);
}

Result<std::vector<std::int32_t>> prompt_ids(const Model& model, const std::string& prompt) {
  if (prompt.empty()) {
    if (model.config.bos) return std::vector<std::int32_t>{*model.config.bos};
    if (model.tokenizer.ok() && model.tokenizer->bos())
      return std::vector<std::int32_t>{*model.tokenizer->bos()};
    return Status(
        Code::invalid_argument,
        "the prompt is empty and this model names no beginning-of-text token: give some text");
  }
  if (!model.tokenizer.ok()) return model.tokenizer.status();
  return model.tokenizer->encode(prompt);
}

}  // namespace loom::cli
