#include "llm/export/outgoing.h"

#include <algorithm>

#include "base/message.h"
#include "numeric/gguf/gguf_blocks.h"

namespace loom {
namespace {

std::string_view target_name(ModelTarget target) {
  return target == ModelTarget::gguf ? "a GGUF file" : "a HuggingFace folder";
}

// Of a file: the tensors that its parameters are filled from.
Status take_tensors(const FoundModel& found, Outgoing& out) {
  LOOM_ASSIGN(Network network, Network::from_json(decoder_topology(found.config)));
  const bool interleaved =
      found.naming == Naming::gguf && found.config.architecture->gguf_interleaves_qk;
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    const ParamSpec& spec = p.param->spec;
    OutgoingTensor t;
    t.place = place_of(found.config, p.path, spec.role);
    const std::string name = t.place.spelled(found.naming);
    const auto at = std::find_if(found.tensors.begin(), found.tensors.end(),
                                 [&](const TensorInfo& info) { return info.name == name; });
    if (at == found.tensors.end())
      return Status(Code::internal, message("no tensor ", quoted(name)));
    t.values = *at;
    t.rows = spec.rows;
    t.cols = spec.cols;
    t.matrix = spec.quantized;
    t.from = loom::name(at->type);
    t.bytes = at->size;
    t.interleaved = interleaved && t.place.name->order != RowOrder::plain;
    if (at->type == StorageType::u8) {
      // Four values to a byte, and their scale beside them.
      t.own_type = false;
      const auto scale =
          std::find_if(found.tensors.begin(), found.tensors.end(),
                       [&](const TensorInfo& info) { return info.name == name + "_scale"; });
      if (scale != found.tensors.end()) t.scale = *scale;
    }
    out.tensors.push_back(std::move(t));
  }
  return {};
}

// The type of a file that a packed format is, bit for bit. `raw`: the packed bytes are the file's.
std::optional<StorageType> file_type(const WeightFormat& format, std::int64_t cols, bool* raw) {
  *raw = false;
  for (const StorageType type :
       {StorageType::f32, StorageType::f16, StorageType::bf16, StorageType::f64})
    if (format == WeightFormat{*dtype_of(type)}) return type;
  constexpr std::pair<Layout, StorageType> kBlocks[] = {{Layout::q4_0, StorageType::q4_0},
                                                        {Layout::q8_0, StorageType::q8_0},
                                                        {Layout::q4_k, StorageType::q4_k},
                                                        {Layout::q6_k, StorageType::q6_k}};
  for (const auto& [layout, type] : kBlocks)
    if (format.layout == layout && cols % info(type).block == 0) {
      *raw = true;
      return type;
    }
  return std::nullopt;
}

Status take_store(const Network::NamedParam& p, OutgoingTensor& t) {
  const ParamSpec& spec = p.param->spec;
  LOOM_ASSIGN(const PackedMatrix matrix, p.param->store->packed());
  const WeightFormat& format = matrix.format();
  bool raw = false;
  const std::optional<StorageType> type = file_type(format, spec.cols, &raw);
  t.own_type = type.has_value();
  if (format.dtype == DType::ternary) t.ternary = matrix;
  t.from = to_string(format);
  std::vector<std::int64_t> shape{spec.rows, spec.cols};
  if (!spec.quantized) shape = {spec.rows * spec.cols};
  const std::string name = p.path + ":" + spec.role;
  if (raw) {
    const PackedLayout& layout = matrix.layout();
    const auto bytes = matrix.bytes().subspan(static_cast<std::size_t>(layout.codes),
                                              static_cast<std::size_t>(layout.codes_size));
    const std::uint64_t size = *storage_bytes(*type, *element_count(shape));
    t.values = {name,
                *type,
                shape,
                0,
                size,
                source_from_view(bytes.first(static_cast<std::size_t>(size)), name,
                                 std::make_shared<PackedMatrix>(matrix))};
  } else {
    // What the network computes with; class D holds more than f32 does.
    const StorageType plain =
        type.value_or(format.arith() == ArithClass::real ? StorageType::f64 : StorageType::f32);
    t.values = encoded_tensor(name, shape, plain, values_of(matrix), nullptr);
  }
  t.bytes = t.own_type ? t.values.size : p.param->store->packed_bytes();
  return {};
}

// Row i of a head as the target has it, among those of the source.
std::vector<std::int64_t> row_order(std::int64_t head_dim, bool interleaves) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(head_dim));
  const std::int64_t half = head_dim / 2;
  for (std::int64_t i = 0; i < head_dim; ++i)
    order[static_cast<std::size_t>(i)] =
        interleaves ? i % 2 * half + i / 2 : i % half * 2 + i / half;
  return order;
}

}  // namespace

Result<Outgoing> outgoing_of(const FoundModel& found) {
  LOOM_TRY(check_import(found.config, found.tensors, found.naming, found.name));
  Outgoing out;
  out.name = found.name;
  out.config = found.config;
  LOOM_TRY(take_tensors(found, out));
  out.tokenizer = found.gguf ? tokenizer_from_gguf(*found.gguf) : tokenizer_of_folder(found.folder);
  out.folder = found.gguf ? "" : found.folder;
  return out;
}

Result<Outgoing> outgoing_of(Model& model) {
  Outgoing out;
  out.name = model.name;
  auto config = config_of_network(model.network, model.config);
  if (!config.ok()) return config.status().at(model.name);
  out.config = std::move(*config);
  for (const Network::NamedParam& p : model.network.params()) {
    if (p.tied || p.borrowed()) continue;
    OutgoingTensor t;
    t.place = place_of(out.config, p.path, p.param->spec.role);
    if (!t.place.name)
      return Status(Code::internal, message("parameter ", p.path, " has no name in model files"));
    t.rows = p.param->spec.rows;
    t.cols = p.param->spec.cols;
    t.matrix = p.param->spec.quantized;
    LOOM_TRY(take_store(p, t));
    out.tensors.push_back(std::move(t));
  }
  out.tokenizer = model.tokenizer;
  return out;
}

TensorInfo target_tensor(const OutgoingTensor& from, const Target& target, StorageType type,
                         ErrorSum* error) {
  TensorInfo values = from.values;
  const bool interleaves = target.interleaves && from.place.name->order != RowOrder::plain;
  if (interleaves != from.interleaved)
    values = reordered_rows(values, row_order(target.head_dim, interleaves));
  std::vector<std::int64_t> shape{from.rows, from.cols};
  if (!from.matrix) shape = {from.rows * from.cols};
  std::string name = from.place.spelled(target.naming);
  if (from.own_type && values.type == type) {
    values.name = std::move(name);
    values.shape = std::move(shape);
    return values;
  }
  return encoded_tensor(std::move(name), std::move(shape), type, values_of(values), error);
}

Result<StorageType> wanted_type(const std::string& dtype, ModelTarget target) {
  constexpr StorageType kTypes[] = {StorageType::f32, StorageType::f16, StorageType::bf16,
                                    StorageType::q8_0, StorageType::q4_0};
  std::string known;
  for (const StorageType type : std::span(kTypes).first(target == ModelTarget::gguf ? 5 : 3)) {
    if (name(type) == dtype) return type;
    known += (known.empty() ? "" : ", ") + std::string(name(type));
  }
  return Status(Code::invalid_argument, message("dtype: ", target_name(target), " is written as ",
                                                known, ", not '", dtype, "'"));
}

Status needs_dtype(const OutgoingTensor& tensor, std::string_view target, std::string_view types) {
  return Status(Code::unsupported,
                message("tensor ", quoted(tensor.values.name), " is stored as ", tensor.from, " ",
                        shape_text(std::vector<std::int64_t>{tensor.rows, tensor.cols}), ", which ",
                        target, " has not: choose a dtype: ", types));
}

Result<ModelExport> export_model(Model& model, ModelTarget target, const std::string& out,
                                 const ModelExportOptions& options) {
  LOOM_ASSIGN(Outgoing outgoing, outgoing_of(model));
  return target == ModelTarget::gguf ? write_gguf_model(outgoing, out, options)
                                     : write_hf_folder(outgoing, out, options);
}

Result<std::vector<std::byte>> export_model_bytes(Model& model, const std::string& name,
                                                  const ModelExportOptions& options) {
  LOOM_ASSIGN(Outgoing outgoing, outgoing_of(model));
  if (name != "gguf") return hf_folder_file(outgoing, name, options);
  std::vector<std::byte> bytes;
  LOOM_TRY(write_gguf_model(outgoing, &bytes, options).status());
  return bytes;
}

Result<ModelExport> export_model(const std::string& model, ModelTarget target,
                                 const std::string& out, const ModelExportOptions& options) {
  LOOM_ASSIGN(FoundModel found, find_model(model));
  if (found.entity) {
    LOOM_ASSIGN(Model loaded, load_model(model));
    return export_model(loaded, target, out, options);
  }
  LOOM_ASSIGN(Outgoing outgoing, outgoing_of(found));
  return target == ModelTarget::gguf ? write_gguf_model(outgoing, out, options)
                                     : write_hf_folder(outgoing, out, options);
}

}  // namespace loom
