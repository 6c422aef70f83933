// Language models for other programs.
#include "base/files/paths.h"
#include "convert/convert.h"
#include "convert/export.h"
#include "llm/adapter.h"
#include "llm/export/export.h"

namespace loom {

std::optional<ModelTarget> model_target(const std::string& out) {
  if (out.ends_with(".gguf")) return ModelTarget::gguf;
  const auto kind = kind_at(out);
  if (out.ends_with("/") || (kind.ok() && *kind == PathKind::folder)) return ModelTarget::folder;
  return std::nullopt;
}

Status export_model(const std::string& in, const std::string& out, const ConvertOptions& options,
                    Conversion& report) {
  const ModelTarget target = *model_target(out);
  const ModelExportOptions how{.dtype = options.dtype, .tokenizer = options.tokenizer};
  ModelExport done;
  if (options.adapter.empty()) {
    LOOM_ASSIGN(done, export_model(in, target, out, how));
  } else {
    LOOM_ASSIGN(Model model, load_model(in));
    LOOM_ASSIGN(Adapter adapter, load_adapter(options.adapter, model));
    LOOM_TRY(adapter.merge(model.network));
    LOOM_ASSIGN(done, export_model(model, target, out, how));
  }
  report.notes = std::move(done.notes);
  for (ExportedTensor& t : done.tensors)
    report.rows.push_back({std::move(t.name), shape_text(t.shape), std::move(t.from),
                           std::move(t.to), t.bytes_before, t.bytes_after, t.error});
  return {};
}

Status export_decoder(const std::string& in, const std::string& out, const ConvertOptions& options,
                      Conversion& report) {
  std::optional<WeightFormat> format;
  if (!options.dtype.empty()) {
    LOOM_ASSIGN(format, parse_weight_format(options.dtype));
  }
  const bool merges = !options.adapter.empty();
  LOOM_ASSIGN(Model model, load_model(in, merges ? std::nullopt : format));
  ExportOptions how{.decoder = true, .matmul_nbits = options.matmul_nbits};
  if (merges) {
    LOOM_ASSIGN(Adapter adapter, load_adapter(options.adapter, model));
    LOOM_TRY(adapter.merge(model.network));
    how.as = options.dtype;
  }
  LOOM_TRY(export_file(model.network, out, how).status().at(in));
  for (const Network::NamedParam& p : model.network.params()) {
    if (p.tied) continue;
    const Param& param = *p.param;
    const std::int64_t shape[] = {param.store->rows(), param.store->cols()};
    const std::string own = to_string(param.store->format());
    const std::uint64_t bytes = param.store->packed_bytes();
    report.rows.push_back({p.path + ":" + std::string(param.spec.role),
                           shape_text(shape),
                           own,
                           !how.as.empty() && param.spec.quantized ? how.as : own,
                           bytes,
                           bytes,
                           {}});
  }
  if (model.tokenizer.ok() && options.tokenizer)
    report.notes.push_back(
        "the tokenizer stays behind: a HuggingFace folder (OUT/) has it as tokenizer.json");
  return {};
}

Result<std::vector<std::byte>> export_bytes(Model& model, const std::string& name,
                                            const ConvertOptions& options) {
  const auto wrong = [](const char* what) { return Status(Code::invalid_argument, what); };
  if (!options.adapter.empty()) return wrong("adapter: add it to the weights first");
  if (!options.settings.json.is_object() || !options.settings.json.as_object().empty())
    return wrong("settings: go with a file of weights that is written as .entity");
  if (name == "onnx")
    return export_bytes(
        model.network, name,
        ExportOptions{.as = options.dtype, .decoder = true, .matmul_nbits = options.matmul_nbits});
  if (options.matmul_nbits) return wrong("matmul_nbits: is of onnx");
  return export_model_bytes(model, name, {.dtype = options.dtype, .tokenizer = options.tokenizer});
}

}  // namespace loom
