#include "models/loaded_model.h"

#include "support/console.h"

namespace loom::cli {

void bind_model_options(CommandLine& c, ModelOptions& o) {
  c.add("--dtype", o.dtype,
        "how weights are held and multiplied: f32, bf16, i8, i4, ternary, ... (as stored; f16 and "
        "bf16 of HuggingFace and GGUF files as f32, in 16 bits)")
      .check("DTYPE", format_problem);
  c.add("--adapter", o.adapter,
        "a LoRA adapter to run with: a folder, as loom train and PEFT write them")
      .type_name("FOLDER");
  c.add("--ctx", o.context,
        "positions of the context (what the model was trained for, at most 4096)")
      .positive();
  c.add("--activations", o.activations,
        "of products with integer weights: q15, 15 bits (q15), or i8, 8 bits: faster prompts on a "
        "CPU, other answers")
      .one_of({"q15", "i8"});
  bind_machine_options(c, o.machine);
}

LoadedModel load_model(const ModelOptions& o) {
  return or_exit(kRefused, [&] {
    LoadedModel loaded{Model::load(o.model, o.dtype), {}, {}, {}, ""};
    if (!o.adapter.empty()) loaded.model.network().load_adapter(o.adapter);
    loaded.info = parsed(loaded.model.info());
    loaded.network = parsed(loaded.model.network().info());
    try {
      loaded.tokenizer.emplace(loaded.model.tokenizer());
    } catch (const Error& error) {
      loaded.no_tokenizer = problem_text(error);
    }
    return loaded;
  });
}

void check_context(const LoadedModel& model, std::int64_t context) {
  const std::int64_t max = integer_in(model.info, "max_positions");
  if (context > max)
    throw problem(LOOM_OUT_OF_RANGE,
                  "--ctx: a context of " + std::to_string(context) +
                      " positions: the model was made for " + std::to_string(max) + " at most",
                  kUsage);
}

Json run_options(const ModelOptions& o) {
  Json options = machine_json(o.machine);
  options.set("context", o.context);
  options.set("activations", o.activations);
  return options;
}

Generator generator_of(const ModelOptions& o, const LoadedModel& model) {
  return made_of([&] { return Generator(model.model, run_options(o).dump()); });
}

Memory memory_of(const LoadedModel& model, const Json& runs) {
  const auto bytes = [](const Json& json, const char* key) {
    return static_cast<std::uint64_t>(integer_in(json, key));
  };
  Memory m;
  m.weights = bytes(model.network, "weight_bytes");
  m.prepared = bytes(runs, "weight_bytes");
  m.cache = bytes(runs, "state_bytes");
  m.arena = bytes(runs, "arena_bytes") + bytes(runs, "scratch_bytes");
  return m;
}

std::string status_line(const ModelOptions& o, const LoadedModel& model, const Json& runs,
                        bool buffers) {
  constexpr const char* kDot = "  \u00b7  ";
  std::string line = title_of(text_in(model.info, "name"));
  try {
    const Json file = parsed(File(o.model).info());
    std::string kind = text_in(file, "kind");
    kind = kind.substr(0, kind.find(" folder"));
    line = text_in(file, "title") + "  " + kind + ", " +
           bytes_text(static_cast<std::uint64_t>(integer_in(file, "bytes"))) + " " +
           text_in(file, "main_type");
  } catch (const Error&) {
    // It is loaded: the line does without.
  }
  if (!o.dtype.empty()) line += ", run as " + o.dtype;
  line += kDot + count_text(number_in(model.info, "parameters")) + " parameters";
  if (!o.adapter.empty())
    line += kDot + ("adapter " + title_of(o.adapter) + ", " +
                    count_text(number_in(model.network, "adapter_parameters")) + " parameters");
  const Memory memory = memory_of(model, runs);
  line += kDot + (buffers ? "needs " + bytes_text(memory.total())
                          : "weights " + bytes_text(memory.weights));
  if (const std::uint64_t all = machine_memory()) line += " of " + bytes_text(all);
  line += kDot + ("numerics: " + text_in(runs, "numerics") + " v" +
                  std::to_string(loom_numerics_version()));
  const Json* device = runs.find("device");
  return line + kDot + text_in(runs, device && device->is_string() ? "device" : "target");
}

std::vector<std::int32_t> prompt_ids(const LoadedModel& model, const std::string& prompt) {
  const auto begin = [](const Json& info) { return integer_in(info, "bos", -1); };
  if (prompt.empty()) {
    std::int64_t bos = begin(model.info);
    if (bos < 0 && model.tokenizer) bos = begin(parsed(model.tokenizer->info()));
    if (bos >= 0) return {static_cast<std::int32_t>(bos)};
    throw problem(
        LOOM_INVALID_ARGUMENT,
        "the prompt is empty and this model names no beginning-of-text token: give some text",
        kFailed);
  }
  if (!model.tokenizer) throw Exit{model.no_tokenizer, kFailed};
  return model.tokenizer->encode(prompt);
}

std::string title_of(const std::string& path) {
  if (const std::size_t at = path.rfind("/models--"); at != std::string::npos) {
    std::string name = path.substr(at + 9, path.find('/', at + 1) - at - 9);
    if (const std::size_t dashes = name.find("--"); dashes != std::string::npos)
      name.replace(dashes, 2, "/");
    return name;
  }
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::size_t slash = trimmed.rfind('/');
  return slash == std::string::npos || slash + 1 == trimmed.size() ? trimmed
                                                                   : trimmed.substr(slash + 1);
}

}  // namespace loom::cli
