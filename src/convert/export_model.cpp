// Language models for other programs.
#include "base/files/paths.h"
#include "convert/convert.h"
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

}  // namespace loom
