#include <map>

#include "base/escape.h"
#include "base/files/sha256.h"
#include "base/json/json_text.h"
#include "base/message.h"
#include "checkpoint/network_json.h"
#include "convert/model_file.h"
#include "convert/onnx_file.h"
#include "grid/network.h"
#include "llm/config/architecture.h"
#include "llm/model.h"

namespace loom {
namespace {

std::string summary_of(const ModelConfig& c) {
  std::string text =
      std::string(c.architecture->name) + ": " + std::to_string(c.layers) + " layers, width " +
      std::to_string(c.hidden_size) + ", swiglu " + std::to_string(c.intermediate_size) + ", " +
      std::to_string(c.heads) + " heads of " + std::to_string(c.head_dim) + " over " +
      std::to_string(c.kv_heads) + " key heads, vocabulary " + std::to_string(c.vocab_size) +
      (c.tied ? " (tied)" : "") + ", " + std::to_string(c.max_positions) + " positions";
  for (const std::int64_t window : c.windows)
    if (window > 0) return text + ", windows of " + std::to_string(window);
  return text;
}

// Whether a language model or a network runs, and why not.
Status describe_model(const ModelFile& file, Json& out) {
  const auto config = load_config(file.path);
  Status runs = config.ok() ? check_model(file.path) : config.status();
  Json topology;
  std::string summary;
  if (file.entity) {
    LOOM_ASSIGN(topology, file.entity->json("topology"));
    // Of a network that is no language model, too: what a loader would say.
    if (const Status whole = plan_network(*file.entity).status(); !whole.ok()) runs = whole;
    summary = "identity " + Sha256::hex(file.entity->identity());
  } else if (config.ok()) {
    summary = summary_of(*config);
    topology = decoder_topology(*config);
  }
  const Status tokenizer = load_tokenizer(file.path).status();
  out.set("runs", runs.ok());
  if (!runs.ok()) out.set("refused", json_text(runs.to_string()));
  if (!tokenizer.ok()) out.set("no_tokenizer", json_text(tokenizer.to_string()));
  if (!summary.empty()) out.set("summary", json_text(summary));
  out.set("topology", std::move(topology));
  return {};
}

Result<Json> topology_of(const ModelFile& file) {
  LOOM_ASSIGN(const std::string text, read_text_file(file.path));
  LOOM_ASSIGN(Json topology, Json::parse(text, {.max_bytes = kMaxNetworkJson}));
  const Json* inside = is_network_json(topology) ? topology.find("topology") : nullptr;
  if (inside) topology = Json(*inside);
  const auto network = Network::from_json(topology);
  if (!network.ok()) return network.status().at(file.path);
  return topology;
}

Json tensors_of(const ModelFile& file) {
  Json tensors = Json::array();
  for (const TensorRow& row : file.rows) {
    Json tensor = Json::object();
    tensor.set("name", json_text(row.name));
    tensor.set("dtype", row.type);
    tensor.set("shape", Json(Json::Array(row.shape.begin(), row.shape.end())));
    tensor.set("bytes", row.bytes);
    if (!row.sha256.empty()) tensor.set("sha256", row.sha256);
    tensors.push(std::move(tensor));
  }
  return tensors;
}

}  // namespace

Result<Json> describe(const ModelFile& file, const DescribeOptions& options) {
  Json out = Json::object();
  out.set("path", json_text(file.path));
  out.set("title", json_text(file.title));
  if (!file.by_path && (options.model || file.kind == FileKind::json))
    return Status(
        Code::unsupported,
        message(file.path, ": what a loader says of it needs a path, not bytes or a callback"));
  if (file.kind == FileKind::onnx) {
    out.set("kind", std::string(name(file.kind)));
    LOOM_TRY(describe_onnx(file.path, options.tensors, out));
    return out;
  }
  if (file.kind == FileKind::json) {
    out.set("kind", "topology");
    out.set("runs", true);
    LOOM_ASSIGN(Json topology, topology_of(file));
    out.set("topology", std::move(topology));
    out.set("tensors", Json::array());
    return out;
  }
  out.set("kind", std::string(name(file.kind)) + (file.folder ? " folder" : ""));
  out.set("tensor_count", static_cast<std::uint64_t>(file.rows.size()));
  out.set("elements", file.elements());
  out.set("bytes", file.bytes());
  out.set("main_type", file.main_type());
  if (file.entity) {
    Json sections = Json::array();
    for (const EntityEntry& e : file.entity->sections()) sections.push(json_text(e.name));
    out.set("sections", std::move(sections));
  }
  if (options.model) LOOM_TRY(describe_model(file, out));
  if (options.tensors) out.set("tensors", tensors_of(file));
  return out;
}

Result<std::string> hash_tensor(const ModelFile& file, std::string_view tensor) {
  if (file.kind == FileKind::onnx)
    return Status(Code::unsupported, message(file.path, ": tensors of ONNX have no hash here"));
  for (const TensorRow& row : file.rows)
    if (row.name == tensor && !row.sha256.empty()) return row.sha256;
  for (const TensorInfo& t : file.tensors) {
    if (t.name != tensor) continue;
    Sha256 hash;
    std::vector<std::byte> part(static_cast<std::size_t>(std::min<std::uint64_t>(1 << 20, t.size)));
    for (std::uint64_t at = 0; at < t.size; at += part.size()) {
      part.resize(static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), t.size - at)));
      LOOM_TRY(t.source->read(t.offset + at, part));
      hash.update(part);
    }
    return Sha256::hex(hash.finish());
  }
  return Status(Code::not_found, message(file.path, ": has no tensor ", quoted(tensor)));
}

}  // namespace loom
