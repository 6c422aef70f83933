#include "convert/export.h"

#include "base/message.h"
#include "formats/onnx/write.h"
#include "onnx/export/export.h"

namespace loom {
namespace {

using Write = Result<Json> (*)(const Network& network, const Destination& to,
                               const ExportOptions& options);
struct ExportFormat {
  std::string_view name, extension;
  Write write;
};

Result<Json> write_onnx(const Network& network, const Destination& to, const ExportOptions& o) {
  LOOM_ASSIGN(onnx::ExportedGraph graph,
              onnx::export_network(network, {o.opset, o.as, o.decoder, o.matmul_nbits}));
  if (!o.inputs.empty())
    graph.model.metadata.emplace_back(std::string(onnx::kInputsMetadata), o.inputs);
  LOOM_TRY(onnx::write_model(graph.model, to, {o.external_data}));
  return std::move(graph.report);
}

constexpr ExportFormat kFormats[] = {{"onnx", ".onnx", write_onnx}};

Status unknown(std::string_view key, std::string_view got, bool extension) {
  std::string known;
  for (const ExportFormat& f : kFormats)
    known += (known.empty() ? "" : ", ") + std::string(extension ? f.extension : f.name);
  return Status(Code::invalid_argument,
                message(key, ": expected ", (extension ? "a name that ends in " : "one of "), known,
                        ", got '", got, "'"));
}

}  // namespace

Result<Json> export_file(const Network& network, const std::string& path,
                         const ExportOptions& options) {
  for (const ExportFormat& f : kFormats)
    if (path.ends_with(f.extension)) return f.write(network, Destination(path), options);
  return unknown("path", path, true);
}

Result<std::vector<std::byte>> export_bytes(const Network& network, const std::string& format,
                                            const ExportOptions& options) {
  for (const ExportFormat& f : kFormats) {
    if (format != f.name) continue;
    std::vector<std::byte> bytes;
    LOOM_TRY(f.write(network, Destination(&bytes), options).status());
    return bytes;
  }
  return unknown("format", format, false);
}

}  // namespace loom
