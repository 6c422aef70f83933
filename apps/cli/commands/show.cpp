// loom show: what is in a file, without loading its weights: what it is, whether it would run, its
// topology, its tensors.
#include "models/show_onnx.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {

extern const char* const topology_schema;  // apps/cli/CMakeLists.txt
extern const char* const training_spec_schema;
extern const char* const options_schema;
extern const char* const loom_api;

namespace {

struct Args {
  std::string file, schema;
  std::int64_t context = 64, rows = 64;
  bool plan = false, json = false, no_hash = false, blueprint = false, api = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("FILE", a.file,
        "a model file or folder, a topology .json, or a name in the local HuggingFace cache");
  c.add("--schema", a.schema,
        "print the JSON Schema of a topology, of a training spec, or of the options of the C "
        "interface")
      .one_of({"topology", "training", "options"});
  const Option plan =
      c.flag("--plan", a.plan, "print the program that a session runs, and its hash");
  c.flag("--blueprint", a.blueprint,
         "print the layers of the grid with shapes and parameters, for displays, as JSON")
      .excludes(plan);
  c.flag("--api", a.api, "print what the C interface has: functions, parameters, types, as JSON");
  c.add("--ctx", a.context, "positions of the planned session (64)").positive();
  c.add("--rows", a.rows, "rows per run of the planned session (64)").positive();
  c.flag("--no-hash", a.no_hash, "do not read the tensors for their SHA-256");
  c.flag("--json", a.json, "one JSON object on stdout");
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

// Of a file that is not loaded, with parameters that take no memory.
Network planned(const Json& info) {
  const Json* topology = info.find("topology");
  if (!topology || topology->is_null()) throw Exit{text_in(info, "refused"), kRefused};
  return or_exit(kRefused, [&] { return Network::create(topology->dump()); });
}

int plan(const Args& a, const Json& info) {
  const Network network = planned(info);
  Json options = Json::object();
  options.set("max_rows", a.rows);
  options.set("max_head_rows", 1);
  options.set("max_positions", a.context);
  const std::string program = network.program(options.dump());
  return print(program + "sha256 " + network.program_sha256(options.dump()) + "\n") ? kOk : kFailed;
}

// Of a network that no language model is made of: its digest, as bindings print it; else "".
std::string digest_of(const Json& info) {
  const Json* sections = info.find("sections");
  if (!sections) return "";
  for (const Json& name : sections->as_array())
    if (name.as_string() == "generation") return "";
  try {
    return Network::load(text_in(info, "path")).digest();
  } catch (const Error&) {
    return "";
  }
}

// Gives the tensors that have none their SHA-256.
void hash(const File& file, const Json& info, Json& tensors) {
  Progress progress("hashing", static_cast<std::uint64_t>(integer_in(info, "bytes")),
                    Progress::Unit::bytes);
  std::uint64_t done = 0;
  for (Json& tensor : tensors.as_array()) {
    if (!tensor.find("sha256")) tensor.set("sha256", file.hash(text_in(tensor, "name")));
    progress.update(done += static_cast<std::uint64_t>(integer_in(tensor, "bytes")));
  }
  progress.finish();
}

int print_json(const Json& info, const Json& tensors, const std::string& digest) {
  Json out = Json::object();
  out.set("path", member(info, "path"));
  out.set("kind", member(info, "kind"));
  out.set("runs", flag_in(info, "runs"));
  if (const Json* refused = info.find("refused")) out.set("refused", *refused);
  if (const Json* none = info.find("no_tokenizer")) out.set("tokenizer", *none);
  const Json* topology = info.find("topology");
  out.set("topology", topology ? *topology : Json());
  if (!digest.empty()) out.set("digest", digest);
  out.set("tensors", tensors);
  return print(out.dump(1) + "\n") ? kOk : kFailed;
}

std::string shape_text(const Json& shape) {
  std::string text;
  for (const Json& d : shape.as_array())
    text += (text.empty() ? "" : ", ") + std::to_string(d.as_integer());
  return "[" + text + "]";
}

int print_text(const Json& info, const Json& tensors, const std::string& digest) {
  const auto& rows = tensors.as_array();
  std::string out = escaped(text_in(info, "path")) + "\n" + text_in(info, "kind");
  if (!rows.empty())
    out += ", " + std::to_string(rows.size()) + " tensors, " +
           count_text(number_in(info, "elements")) + " weights, " +
           bytes_text(static_cast<std::uint64_t>(integer_in(info, "bytes"))) + ", mostly " +
           text_in(info, "main_type");
  const std::string summary = text_in(info, "summary");
  out += "\n" + (summary.empty() ? "" : summary + "\n");
  if (!digest.empty()) out += "digest " + digest + "\n";
  out += flag_in(info, "runs") ? "runs\n"
                               : "does not run: " + escaped(text_in(info, "refused")) + "\n";
  if (text_in(info, "kind") != "topology")
    out += info.find("no_tokenizer")
               ? "no tokenizer: " + escaped(text_in(info, "no_tokenizer")) + "\n"
               : "has a tokenizer\n";
  if (const Json* topology = info.find("topology"); topology && !topology->is_null())
    out += "cells:\n" + cells_text(*topology);
  if (!rows.empty()) out += "tensors:\n";
  for (const Json& row : rows)
    out += "  " + escaped(text_in(row, "name")) + "  " + text_in(row, "dtype") + "  " +
           shape_text(member(row, "shape")) + "  " + std::to_string(integer_in(row, "bytes")) +
           (row.find("sha256") ? "  " + text_in(row, "sha256").substr(0, 16) : "") + "\n";
  return print(out) ? kOk : kFailed;
}

int run(const Args& a) {
  const char* schema = a.schema == "topology"   ? topology_schema
                       : a.schema == "training" ? training_spec_schema
                                                : options_schema;
  if (!a.schema.empty()) return print(schema) ? kOk : kFailed;
  if (a.api) return print(loom_api) ? kOk : kFailed;
  if (a.file.empty()) throw problem(LOOM_INVALID_ARGUMENT, "show: FILE is required", kUsage);
  const File file = or_exit(kRefused, [&] { return File(a.file); });
  if (is_onnx(file)) {
    if (!a.plan && !a.blueprint) return show_onnx(file, a.json);
    throw problem(LOOM_UNSUPPORTED,
                  text_in(parsed(file.info()), "path") +
                      ": is ONNX: convert it to an .entity file to see its " +
                      (a.plan ? "program" : "blueprint"),
                  kRefused);
  }
  const Json info =
      or_exit(kRefused, [&] { return parsed(file.info(R"({"tensors":true,"model":true})")); });
  if (a.plan) return plan(a, info);
  if (a.blueprint) {
    const Network network = planned(info);
    return print(parsed(network.blueprint(json_text(text_in(info, "path")))).dump(1) + "\n")
               ? kOk
               : kFailed;
  }
  Json tensors = member(info, "tensors");
  if (!a.no_hash) hash(file, info, tensors);
  const std::string digest = a.no_hash ? "" : digest_of(info);
  return a.json ? print_json(info, tensors, digest) : print_text(info, tensors, digest);
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "show", "what is in a file, without loading it", bind, run);
}

}  // namespace loom::cli
