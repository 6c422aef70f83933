#include "convert/convert.h"

#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "base/json/json_text.h"
#include "base/message.h"
#include "checkpoint/network_json.h"
#include "convert/model_file.h"
#include "convert/weights/from_weights.h"
#include "grid/network.h"
#include "grid/saved_network.h"
#include "llm/config/config.h"
#include "llm/import/locate.h"
#include "llm/model.h"
#include "onnx/import.h"

namespace loom {
namespace {

bool is_float(StorageType type) {
  switch (type) {
    case StorageType::f64:
    case StorageType::f32:
    case StorageType::f16:
    case StorageType::bf16:
    case StorageType::q4_0:
    case StorageType::q8_0:
    case StorageType::q4_k:
    case StorageType::q6_k: return true;
    default: return false;
  }
}

struct Given {
  const std::string &in, &out, &dtype;
};

struct Outgoing {
  std::vector<TensorInfo> tensors;
  Metadata metadata;
  Conversion report;  // a row per tensor, its error still to come
};

// What a network's file holds as values, by the names of its parameters. The topology goes along as
// metadata; other sections have no place.
Status from_entity(const Entity& entity, std::optional<StorageType> wanted, Outgoing& out) {
  LOOM_ASSIGN(Network network, load_network(entity, {.masters = false}));
  LOOM_ASSIGN(const Json topology, entity.json("topology"));
  out.metadata.emplace_back("loom-topology", topology.dump());
  std::string lost;
  for (const EntityEntry& e : entity.sections())
    if (e.name != "topology") lost += (lost.empty() ? "" : ", ") + e.name;
  if (!lost.empty())
    out.report.notes.push_back("left out, since safetensors holds tensors alone: " + lost);
  const auto params = network.params();
  out.report.rows.resize(params.size());
  std::size_t row = 0;
  for (const auto& p : params) {
    if (p.borrowed()) continue;
    LOOM_ASSIGN(const PackedMatrix matrix, p.param->store->packed());
    const WeightFormat& format = matrix.format();
    // Class D holds more than f32 does.
    const StorageType type =
        wanted.value_or(format.arith() == ArithClass::real ? StorageType::f64 : StorageType::f32);
    Conversion::Row& r = out.report.rows[row++];
    const std::string name = p.path + ":" + p.param->spec.role;
    out.tensors.push_back(
        encoded_tensor(name, {matrix.rows(), matrix.cols()}, type, values_of(matrix), &r.error));
    r.name = name;
    r.from = to_string(entity.find_tensor(name)->type);
    r.bytes_before = entity.find_tensor(name)->size;
  }
  out.report.rows.resize(row);
  return {};
}

Status from_tensors(const ModelFile& in, std::optional<StorageType> wanted, Outgoing& out) {
  out.metadata = in.metadata;
  out.report.rows.resize(in.tensors.size());
  for (std::size_t i = 0; i < in.tensors.size(); ++i) {
    const TensorInfo& from = in.tensors[i];
    // Blocks have no type in safetensors: they become f32, which holds their values exactly but for
    // the k types.
    const bool blocks = info(from.type).block > 1;
    const StorageType type = is_float(from.type) && wanted ? *wanted
                             : blocks                      ? StorageType::f32
                                                           : from.type;
    Conversion::Row& r = out.report.rows[i];
    out.tensors.push_back(
        type == from.type ? from
                          : encoded_tensor(from.name, from.shape, type, values_of(from), &r.error));
    r.name = from.name;
    r.from = name(from.type);
    r.bytes_before = from.size;
  }
  return {};
}

std::optional<StorageType> float_type(const std::string& dtype) {
  for (const StorageType type :
       {StorageType::f64, StorageType::f32, StorageType::f16, StorageType::bf16})
    if (name(type) == dtype) return type;
  return {};
}

Status to_safetensors(const Given& a, Conversion& report) {
  LOOM_ASSIGN(const ModelFile in, open_model_file(a.in));
  const std::optional<StorageType> wanted = float_type(a.dtype);
  if (!in.entity && in.tensors.empty())
    return Status(Code::unsupported, message(in.path, ": is ", name(in.kind),
                                             ", which convert cannot write as safetensors"));
  // What safetensors has no place for stays where it is.
  LOOM_ASSIGN(const bool folder, is_folder(in.path));
  Outgoing out;
  if (in.gguf)
    out.report.notes.push_back(
        "left out, since safetensors holds tensors alone: the metadata of the GGUF file, with "
        "configuration and tokenizer");
  else if (!in.entity && folder)
    out.report.notes.push_back(
        "left out, since safetensors holds tensors alone: config.json, tokenizer.json and the "
        "other files of the folder");
  LOOM_TRY(in.entity ? from_entity(*in.entity, wanted, out) : from_tensors(in, wanted, out));
  LOOM_TRY(write_safetensors(a.out, out.tensors, out.metadata));
  report = std::move(out.report);
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    report.rows[i].shape = shape_text(out.tensors[i].shape);
    report.rows[i].to = name(out.tensors[i].type);
    report.rows[i].bytes_after = out.tensors[i].size;
  }
  return {};
}

// The network with what lies beside it, as .entity or .json.
Status save_as(const std::string& out, Network& network, const EntitySections& sections) {
  if (!out.ends_with(".json")) return save_network(out, network, sections);
  LOOM_ASSIGN(const std::string text, network_to_json(network, sections));
  return write_file(out, std::as_bytes(std::span(text)));
}

// A network that was read from something else.
Status from_network(const Given& a, Network network, Conversion& report,
                    const EntitySections& sections = {}) {
  std::optional<WeightFormat> format;
  if (!a.dtype.empty()) {
    LOOM_ASSIGN(format, parse_weight_format(a.dtype));
  }
  LOOM_TRY(rewrite_weights(network, format, report.rows));
  return save_as(a.out, network, sections);
}

// An ONNX graph; what each of its nodes became goes to stderr.
Status from_onnx(const Given& a, const onnx::OpenDims& open, Conversion& report) {
  LOOM_ASSIGN(const onnx::Model model, onnx::open_model(a.in));
  LOOM_ASSIGN(onnx::ImportedGraph graph, onnx::import_graph(model, {}, nullptr, open));
  report.notes = graph.report;
  return from_network(a, std::move(graph.network), report);
}

// A network with its weights, written here or saved by the Go engine.
Status from_json(const Given& a, Conversion& report) {
  LOOM_ASSIGN(const std::string text, read_text_file(a.in));
  auto json = Json::parse(text, {.max_bytes = std::size_t{1} << 30});
  if (!json.ok()) return json.status().at(a.in);
  if (is_network_json(*json)) {
    auto bytes = entity_of_json(*json);
    if (!bytes.ok()) return bytes.status().at(a.in);
    LOOM_ASSIGN(const Entity entity, Entity::open(source_from_bytes(std::move(*bytes), a.in)));
    LOOM_ASSIGN(Network made, load_network(entity));
    LOOM_ASSIGN(const EntitySections sections, kept_sections(entity));
    return from_network(a, std::move(made), report, sections);
  }
  auto network = network_of_saved(*json);
  if (!network.ok()) return network.status().at(a.in);
  return from_network(a, std::move(*network), report);
}

// As .json.
Status from_entity(const Given& a, Conversion& report) {
  LOOM_ASSIGN(SourcePtr source, open_source(a.in));
  LOOM_ASSIGN(const Entity entity, Entity::open(std::move(source)));
  LOOM_ASSIGN(Network network, load_network(entity));
  LOOM_ASSIGN(const EntitySections sections, kept_sections(entity));
  note_training(entity, a.in, report);
  return from_network(a, std::move(network), report, sections);
}

bool given(const AnyJson& o) { return !o.json.is_object() || !o.json.as_object().empty(); }

bool has_weights_ending(const std::string& in) {
  for (const char* ending : {".safetensors", ".pt", ".pth", ".bin"})
    if (in.ends_with(ending)) return true;
  return false;
}

// Whether a file of tensors is no language model's, but a network by names and shapes.
bool is_weights(const std::string& in, const ConvertOptions& o) {
  return has_weights_ending(in) && (given(o.settings) || !load_config(in).ok());
}

Status from_weights(const Given& a, const Json& settings, Conversion& report) {
  LOOM_ASSIGN(const ModelFile file, open_model_file(a.in));
  LOOM_ASSIGN(WeightsReport made, weights_of(file, settings, OpenQuestions::refuse));
  for (const Json& m : made.json.find("modules")->as_array())
    if (const Json* assumed = m.find("assumed"))
      for (const Json& line : assumed->as_array())
        report.notes.push_back(m.find("path")->as_string() + ": assumed: " + line.as_string());
  return from_network(a, std::move(*made.network), report);
}

Status check(const std::string& in, const std::string& out, const ConvertOptions& o) {
  const auto wrong = [](const std::string& what) { return Status(Code::invalid_argument, what); };
  const bool text = out.ends_with(".json"), entity = out.ends_with(".entity") || text,
             graph = in.ends_with(".onnx"), json = in.ends_with(".json");
  const std::optional<ModelTarget> target = model_target(out);
  const bool decoder = out.ends_with(".onnx");
  if (!entity && !target && !decoder && !out.ends_with(".safetensors"))
    return wrong(message(
        "out: must end in .safetensors, .entity, .json, .gguf or .onnx, or in / for a HuggingFace "
        "folder, got '",
        out, "'"));
  if (o.matmul_nbits && !decoder)
    return wrong(message("matmul_nbits: is of .onnx, got '", out, "'"));
  if ((graph || json) && !entity)
    return wrong(message(
        "out: ONNX graphs and networks of JSON are written as .entity or .json, got '", out, "'"));
  if (text && !graph && !json && !in.ends_with(".entity") && !has_weights_ending(in))
    return wrong(
        "out: .json is written of .entity, .onnx, .json and files of weights: write .entity first");
  if (text && (!o.adapter.empty() || !o.tokenizer))
    return wrong("adapter and tokenizer: do not go with .json: write .entity first");
  if (!o.adapter.empty() && ((!entity && !target && !decoder) || graph || json))
    return wrong("adapter: goes with a language model that is not written as .safetensors");
  if ((given(o.dims) || given(o.max)) && !graph)
    return wrong("dims and max: go with an ONNX graph that is read");
  if (given(o.settings) && (!entity || !has_weights_ending(in)))
    return wrong(
        "settings: go with a .safetensors, .pt, .pth or .bin file that is written as .entity or "
        ".json");
  if (!o.tokenizer && entity && is_weights(in, o))
    return wrong("tokenizer: goes with a language model, and a file of weights has none");
  if (!o.adapter.empty() && entity && is_weights(in, o))
    return wrong("adapter: goes with a language model that is not written as .safetensors");
  if (!o.dtype.empty() && (entity || decoder))
    LOOM_TRY(parse_weight_format(o.dtype).status().at("dtype"));
  if (!o.dtype.empty() && !entity && !target && !decoder && !float_type(o.dtype))
    return wrong(message("dtype: safetensors files are written as f64, f32, f16 or bf16, not '",
                         o.dtype, "'"));
  const auto path = locate_model(in);
  if (path.ok() && same_file(out, *path))
    return wrong(message("out: ", out, ": is the file that is read: write to another"));
  return {};
}

}  // namespace

Json Conversion::to_json() const {
  Json json = Json::object(), tensors = Json::array(), lines = Json::array();
  for (const Row& row : rows) {
    Json r = Json::object();
    r.set("name", json_text(row.name));
    r.set("shape", row.shape);
    r.set("from", row.from);
    r.set("to", row.to);
    r.set("bytes_before", row.bytes_before);
    r.set("bytes_after", row.bytes_after);
    r.set("rms_error", row.error.relative());
    r.set("max_error", row.error.largest);
    tensors.push(std::move(r));
  }
  for (const std::string& note : notes) lines.push(json_text(note));
  json.set("tensors", std::move(tensors));
  json.set("notes", std::move(lines));
  return json;
}

Result<Conversion> convert(const std::string& in, const std::string& out,
                           const ConvertOptions& options) {
  LOOM_TRY(check(in, out, options));
  Conversion report;
  const Given given{in, out, options.dtype};
  if (in.ends_with(".onnx"))
    LOOM_TRY(from_onnx(given, {options.dims.json, options.max.json}, report));
  else if (in.ends_with(".json")) LOOM_TRY(from_json(given, report));
  else if (out.ends_with(".json") && in.ends_with(".entity")) LOOM_TRY(from_entity(given, report));
  else if ((out.ends_with(".entity") || out.ends_with(".json")) && has_weights_ending(in) &&
           (out.ends_with(".json") || is_weights(in, options)))
    LOOM_TRY(from_weights(given, options.settings.json, report));
  else if (out.ends_with(".entity")) LOOM_TRY(convert_to_entity(in, out, options, report));
  else if (out.ends_with(".onnx")) LOOM_TRY(export_decoder(in, out, options, report));
  else if (model_target(out)) LOOM_TRY(export_model(in, out, options, report));
  else LOOM_TRY(to_safetensors(given, report));
  return report;
}

}  // namespace loom
