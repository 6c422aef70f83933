// loom show: what is in a file, without loading its weights: what it is, whether it would run, its
// topology, its tensors.
#include "base/escape.h"
#include "base/files/sha256.h"
#include "base/json/json.h"
#include "checkpoint/entity.h"
#include "console.h"
#include "exec/session.h"
#include "grid/adapter.h"
#include "internal.h"
#include "llm/config/architecture.h"
#include "llm/embedded_model.h"
#include "llm/import/locate.h"
#include "llm/model.h"
#include "models/model_file.h"
#include "models/show_onnx.h"

namespace loom::cli {

extern const char* const topology_schema;  // apps/cli/CMakeLists.txt
extern const char* const training_spec_schema;
extern const char* const options_schema;

namespace {

struct Args {
  std::string file, schema;
  std::int64_t context = 64, rows = 64;
  bool plan = false, json = false, no_hash = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("FILE", a.file,
        "a model file or folder, a topology .json, or a name in the local HuggingFace cache");
  c.add("--schema", a.schema,
        "print the JSON Schema of a topology, of a training spec, or of the options of the C "
        "interface")
      .one_of({"topology", "training", "options"});
  c.flag("--plan", a.plan, "print the program that a session runs, and its hash");
  c.add("--ctx", a.context, "positions of the planned session (64)").positive();
  c.add("--rows", a.rows, "rows per run of the planned session (64)").positive();
  c.flag("--no-hash", a.no_hash, "do not read the tensors for their SHA-256");
  c.flag("--json", a.json, "one JSON object on stdout");
}

// What a file is before anyone tries to run it.
struct Found {
  std::string kind;
  ModelFile file;
  Json topology;     // null where there is none
  Status runs;       // why it would not run
  Status tokenizer;  // why there is none
  std::string summary;
};

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

Result<Found> look_at(const std::string& name_or_path) {
  Found found;
  std::string path = name_or_path;
  const bool embedded = path == kEmbeddedModel;
  bool folder = false;
  if (!embedded) {
    LOOM_ASSIGN(path, locate_model(name_or_path));
    LOOM_ASSIGN(folder, is_folder(path));
  }
  if (!embedded && !folder) {
    LOOM_ASSIGN(const SourcePtr source, open_source(path));
    LOOM_ASSIGN(const FileKind kind, sniff(*source));
    if (kind == FileKind::json) {
      LOOM_ASSIGN(const std::string text, read_text_file(path));
      LOOM_ASSIGN(found.topology, Json::parse(text));
      const auto network = Network::from_json(found.topology);
      if (!network.ok()) return network.status().at(path);
      found.file.path = path;
      found.kind = "topology";
      return found;
    }
  }
  LOOM_ASSIGN(found.file, open_model_file(path));
  found.kind = std::string(name(found.file.kind)) + (folder ? " folder" : "");
  const auto config = load_config(path);
  found.runs = config.ok() ? check_model(path) : config.status();
  if (found.file.entity) {
    LOOM_ASSIGN(found.topology, found.file.entity->json("topology"));
    // Of a network that is no language model, too: what a loader would say.
    if (const Status whole = plan_network(*found.file.entity).status(); !whole.ok())
      found.runs = whole;
    found.summary = "identity " + Sha256::hex(found.file.entity->identity());
  } else if (config.ok()) {
    found.summary = summary_of(*config);
    found.topology = decoder_topology(*config);
  }
  found.tokenizer = load_tokenizer(path).status();
  return found;
}

Result<std::string> hash_of(const TensorInfo& tensor, Progress& progress, std::uint64_t* done) {
  Sha256 hash;
  std::vector<std::byte> part(
      static_cast<std::size_t>(std::min<std::uint64_t>(1 << 20, tensor.size)));
  for (std::uint64_t at = 0; at < tensor.size; at += part.size()) {
    part.resize(std::min<std::uint64_t>(part.size(), tensor.size - at));
    LOOM_TRY(tensor.source->read(tensor.offset + at, part));
    hash.update(part);
    progress.update(*done += part.size());
  }
  return Sha256::hex(hash.finish());
}

// "sequential[rms_norm, attention]"; a nested layer that runs a cell by its link
std::string layer_text(const Json& cell) {
  const Json* type = cell.find("type");
  std::string text = type && type->is_string() ? escaped(type->as_string()) : "(empty)";
  if (const Json* layers = cell.find("layers")) {
    text += "[";
    for (std::size_t i = 0; i < layers->as_array().size(); ++i) {
      const Json& layer = layers->as_array()[i];
      const Json* links = layer.find("links");
      text += (i ? ", " : "") + (links ? escaped(links->dump()) : layer_text(layer));
    }
    text += "]";
  }
  return text;
}

// A line per cell; neighbors of the same layer share one.
std::string cells_text(const Json& topology) {
  const Json* cells = topology.find("cells");
  if (!cells || !cells->is_array()) return "";
  std::string out, first, last, layer;
  auto flush = [&] {
    if (!layer.empty())
      out += "  " + (first == last ? first : first + " .. " + last) + "  " + layer + "\n";
  };
  for (const Json& cell : cells->as_array()) {
    const Json* at = cell.find("at");
    const std::string place = at ? escaped(at->dump()) : "?", text = layer_text(cell);
    if (text != layer) {
      flush();
      first = place;
      layer = text;
    }
    last = place;
  }
  flush();
  return out;
}

int plan(const Found& found, const Args& a) {
  if (found.topology.is_null()) return fail(found.runs, kRefused);
  LOOM_OR_EXIT(Network network, Network::from_json(found.topology), kRefused);
  SessionOptions options;
  options.max_rows = a.rows;
  options.max_positions = a.context;
  LOOM_OR_EXIT(const Program program, emit_program(network, options), kFailed);
  return print(program.to_text() + "sha256 " + Sha256::hex(program.hash()) + "\n") ? kOk : kFailed;
}

// Of an ONNX file, its path.
std::optional<std::string> onnx_file(const std::string& name) {
  const auto path = locate_model(name);
  if (!path.ok()) return {};
  const auto source = open_source(*path);
  if (!source.ok()) return {};
  const auto kind = sniff(**source);
  return kind.ok() && *kind == FileKind::onnx ? std::optional(*path) : std::nullopt;
}

// Of a network that no language model is made of: its digest, as bindings print it; else "".
Result<std::string> digest_of(const Found& found) {
  if (!found.file.entity || found.file.entity->find_section("generation")) return std::string();
  auto network = load_network(*found.file.entity);
  return network.ok() ? digest(*network) : Result<std::string>(std::string());
}

int run(const Args& a) {
  const char* schema = a.schema == "topology"   ? topology_schema
                       : a.schema == "training" ? training_spec_schema
                                                : options_schema;
  if (!a.schema.empty()) return print(schema) ? kOk : kFailed;
  if (a.file.empty()) return fail(Status(Code::invalid_argument, "show: FILE is required"), kUsage);
  if (const auto onnx = onnx_file(a.file)) {
    if (a.plan)
      return fail(Status(Code::unsupported,
                         *onnx + ": is ONNX: convert it to an .entity file to see a program"),
                  kRefused);
    return show_onnx(*onnx, a.json);
  }
  LOOM_OR_EXIT(const Found found, look_at(a.file), kRefused);
  if (a.plan) return plan(found, a);
  const ModelFile& file = found.file;
  std::vector<TensorRow> rows = file.rows;
  if (!a.no_hash && !file.tensors.empty()) {
    Progress progress("hashing", file.bytes(), Progress::Unit::bytes);
    std::uint64_t done = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      LOOM_OR_EXIT(rows[i].sha256, hash_of(file.tensors[i], progress, &done), kFailed);
    }
    progress.finish();
  }
  std::string sha256;
  if (!a.no_hash) {
    LOOM_OR_EXIT(sha256, digest_of(found), kFailed);
  }
  if (a.json) {
    Json out = Json::object(), tensors = Json::array();
    out.set("path", json_text(file.path));
    out.set("kind", found.kind);
    out.set("runs", found.runs.ok());
    if (!found.runs.ok()) out.set("refused", json_text(found.runs.to_string()));
    if (!found.tokenizer.ok()) out.set("tokenizer", json_text(found.tokenizer.to_string()));
    out.set("topology", found.topology);
    if (!sha256.empty()) out.set("digest", sha256);
    for (const TensorRow& row : rows) {
      Json tensor = Json::object(), shape = Json::array();
      for (const std::int64_t d : row.shape) shape.push(d);
      tensor.set("name", json_text(row.name));
      tensor.set("dtype", row.type);
      tensor.set("shape", std::move(shape));
      tensor.set("bytes", row.bytes);
      if (!row.sha256.empty()) tensor.set("sha256", row.sha256);
      tensors.push(std::move(tensor));
    }
    out.set("tensors", std::move(tensors));
    return print(out.dump(1) + "\n") ? kOk : kFailed;
  }
  std::string out = escaped(file.path) + "\n" + found.kind;
  if (!rows.empty())
    out += ", " + std::to_string(rows.size()) + " tensors, " +
           count_text(static_cast<double>(file.elements())) + " weights, " +
           bytes_text(file.bytes()) + ", mostly " + file.main_type();
  out += "\n" + (found.summary.empty() ? "" : found.summary + "\n");
  if (!sha256.empty()) out += "digest " + sha256 + "\n";
  out += found.runs.ok() ? "runs\n" : "does not run: " + escaped(found.runs.to_string()) + "\n";
  if (found.kind != "topology")
    out += found.tokenizer.ok() ? "has a tokenizer\n"
                                : "no tokenizer: " + escaped(found.tokenizer.to_string()) + "\n";
  if (!found.topology.is_null()) out += "cells:\n" + cells_text(found.topology);
  if (!rows.empty()) out += "tensors:\n";
  for (const TensorRow& row : rows)
    out += "  " + escaped(row.name) + "  " + row.type + "  " + shape_text(row.shape) + "  " +
           std::to_string(row.bytes) + (row.sha256.empty() ? "" : "  " + row.sha256.substr(0, 16)) +
           "\n";
  return print(out) ? kOk : kFailed;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "show", "what is in a file, without loading it", bind, run);
}

}  // namespace loom::cli
