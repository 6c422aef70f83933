// loom convert: from any readable model file to another, with a table of sizes and errors.
#include "base/bytes.h"
#include "base/json.h"
#include "command.h"
#include "console.h"
#include "convert_report.h"
#include "model_file.h"
#include "numeric/codec.h"

namespace loom::cli {
namespace {

struct Args {
  std::string in, out, dtype;
  bool json = false;
};

void bind(CLI::App& c, Args& a) {
  c.add_option("IN", a.in, "a model: folder, .safetensors, .gguf, .entity, or a name in the local HuggingFace cache")->required();
  c.add_option("OUT", a.out, "what to write: a name that ends in .safetensors or .entity")->required();
  c.add_option("--dtype", a.dtype, "of the weights (as they are); safetensors takes f64, f32, f16, bf16");
  c.add_flag("--json", a.json, "the table as JSON");
}

// Writes a value and gives back what a reader will see.
double stored(double value, StorageType type, std::byte* out) {
  switch (type) {
    case StorageType::f64: store_le<double>(out, value); return value;
    case StorageType::f32: store_le<float>(out, static_cast<float>(value)); return static_cast<float>(value);
    case StorageType::f16: {
      const auto code = static_cast<std::uint16_t>(encode_small_float(value, kF16));
      store_le<std::uint16_t>(out, code);
      return f16_to_f32(code);
    }
    default: {
      const auto code = static_cast<std::uint16_t>(encode_small_float(value, kBf16));
      store_le<std::uint16_t>(out, code);
      return bf16_to_f32(code);
    }
  }
}

// `error` learns what is lost when the tensor is read: it must stay where it is until the tensor was read.
TensorInfo recode(const TensorInfo& from, StorageType type, ErrorSum* error) {
  TensorInfo to = from;
  const std::uint32_t width = info(type).block_bytes;
  to.type = type;
  to.offset = 0;
  to.size = from.elements() * width;
  to.source = source_from_callback(
      to.size,
      [from, type, width, error](std::uint64_t offset, std::span<std::byte> out) -> Status {
        if (offset % width != 0 || out.size() % width != 0) return Status(Code::internal, "a tensor is read in parts of an element");
        std::vector<double> values(out.size() / width);
        LOOM_TRY(read_f64(from, offset / width, values));
        for (std::size_t i = 0; i < values.size(); ++i) error->add(values[i], stored(values[i], type, out.data() + i * width));
        return {};
      },
      from.name);
  return to;
}

bool is_float(StorageType type) {
  switch (type) {
    case StorageType::f64: case StorageType::f32: case StorageType::f16: case StorageType::bf16:
    case StorageType::q4_0: case StorageType::q8_0: case StorageType::q4_k: case StorageType::q6_k: return true;
    default: return false;
  }
}

Status to_safetensors(const Args& a, Report& report) {
  LOOM_ASSIGN(const ModelFile in, open_model_file(a.in));
  if (in.tensors.empty()) return Status(Code::unsupported, in.path + ": is " + std::string(name(in.kind)) + ", which convert cannot write as safetensors");
  std::optional<StorageType> wanted;
  for (const StorageType type : {StorageType::f64, StorageType::f32, StorageType::f16, StorageType::bf16})
    if (name(type) == a.dtype) wanted = type;
  if (!a.dtype.empty() && !wanted) return Status(Code::invalid_argument, "safetensors files are written as f64, f32, f16 or bf16, not '" + a.dtype + "': --dtype, or write .entity");
  std::vector<ErrorSum> errors(in.tensors.size());
  std::vector<TensorInfo> out;
  for (std::size_t i = 0; i < in.tensors.size(); ++i) {
    const TensorInfo& from = in.tensors[i];
    // Blocks have no type in safetensors: they become f32, which holds their values exactly but for the k types.
    const bool blocks = info(from.type).block > 1;
    const StorageType type = is_float(from.type) && wanted ? *wanted : blocks ? StorageType::f32 : from.type;
    out.push_back(type == from.type ? from : recode(from, type, &errors[i]));
  }
  LOOM_TRY(write_safetensors(a.out, out, in.metadata));
  for (std::size_t i = 0; i < out.size(); ++i)
    report.rows.push_back({out[i].name, shape_text(out[i].shape), std::string(name(in.tensors[i].type)), std::string(name(out[i].type)), in.tensors[i].size, out[i].size, errors[i]});
  return {};
}

std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return value == 0 ? "0" : text;
}

int run(const Args& a) {
  Report report;
  const bool entity = a.out.ends_with(".entity");
  if (!entity && !a.out.ends_with(".safetensors")) {
    say("loom: OUT must end in .safetensors or .entity, got '" + a.out + "'");
    return kUsage;
  }
  const Status status = entity ? convert_to_entity(a.in, a.out, a.dtype, report) : to_safetensors(a, report);
  if (!status.ok()) return fail(status, status.code() == Code::invalid_argument ? kUsage : status.code() == Code::io ? kFailed : kRefused);
  Json rows = Json::array();
  std::string table = "tensor shape from to bytes bytes rms-error max-error\n";
  std::uint64_t before = 0, after = 0;
  for (const Report::Row& row : report.rows) {
    before += row.bytes_before;
    after += row.bytes_after;
    table += row.name + " " + row.shape + " " + row.from + " " + row.to + " " + std::to_string(row.bytes_before) + " " + std::to_string(row.bytes_after) + " " + scientific(row.error.relative()) + " " +
             scientific(row.error.largest) + "\n";
    Json r = Json::object();
    r.set("name", row.name);
    r.set("shape", row.shape);
    r.set("from", row.from);
    r.set("to", row.to);
    r.set("bytes_before", row.bytes_before);
    r.set("bytes_after", row.bytes_after);
    r.set("rms_error", row.error.relative());
    r.set("max_error", row.error.largest);
    rows.push(std::move(r));
  }
  say(a.out + ": " + std::to_string(report.rows.size()) + " tensors, " + bytes_text(before) + " became " + bytes_text(after));
  return print(a.json ? rows.dump() + "\n" : table) ? kOk : kFailed;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) { add_command<Args>(app, action, "convert", "write a model as safetensors or .entity, with a table of sizes and errors", bind, run); }

}  // namespace loom::cli
