// loom convert: from any readable model file to another, or to what other programs take, with a
// table of sizes and errors.
#include <filesystem>
#include <sstream>

#include "arguments/machine_options.h"
#include "files/files.h"
#include "files/outputs.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string in, out, dtype, adapter, settings;
  std::vector<std::string> dims, max;
  bool no_tokenizer = false, matmul_nbits = false, json = false, report = false;
};

// "" where the text is NAME=SIZE.
std::string dim_problem(const std::string& text) {
  const std::size_t at = text.rfind('=');
  const bool right = at != text.npos && at > 0 && at + 1 < text.size() && text.size() - at < 12 &&
                     text.find_first_not_of("0123456789", at + 1) == text.npos;
  return right ? "" : "expects NAME=SIZE, got '" + text + "'";
}

void bind(CommandLine& c, Args& a) {
  c.add("IN", a.in,
        "a model: folder, .safetensors, .pt, .gguf, .onnx, .entity, .json, or a name in the local "
        "HuggingFace cache")
      .required();
  c.add("OUT", a.out,
        "what to write: a name that ends in .safetensors, .entity, .json, .gguf or .onnx, or in / "
        "for a HuggingFace folder")
      .required();
  c.add("--dtype", a.dtype,
        "of the weights (as they are); safetensors takes f64, f32, f16, bf16, a folder f32, f16, "
        "bf16, GGUF also q8_0, q4_0, ONNX what it has");
  c.add("--adapter", a.adapter,
        "a LoRA adapter to add to the weights: a folder; OUT is then no .safetensors file")
      .type_name("FOLDER");
  c.flag("--no-tokenizer", a.no_tokenizer,
         "leave the tokenizer of a language model out: it then runs by ids");
  c.flag("--matmul-nbits", a.matmul_nbits,
         "of .onnx: products of 4 and 8 bits by ONNX Runtime's own MatMulNBits");
  c.add("--settings", a.settings,
        "of a .safetensors or .pt file that becomes .entity: JSON with what names and shapes do "
        "not tell (docs/reference/weights.md)")
      .type_name("FILE");
  c.add("--dim", a.dims,
        "of an .onnx file that is read: the size of an open dimension, by its name or INPUT:AXIS; "
        "once for each; a first one that is left out is the batch")
      .type_name("NAME=SIZE")
      .one_value()
      .check("", dim_problem);
  c.add("--max", a.max,
        "of an .onnx file that is read: the largest length of one open dimension; rows of the "
        "network then end with their own lengths")
      .type_name("NAME=SIZE")
      .one_value()
      .check("", dim_problem);
  c.flag("--report", a.report,
         "write nothing: print which layers a file of weights has by names and shapes, and which "
         "questions are open");
  c.flag("--json", a.json, "the table, or the report, as JSON");
}

std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return value == 0 ? "0" : text;
}

bool is_onnx(const std::string& in) { return in.ends_with(".onnx"); }
bool is_json(const std::string& in) { return in.ends_with(".json"); }
bool is_float(const std::string& dtype) {
  return dtype == "f64" || dtype == "f32" || dtype == "f16" || dtype == "bf16";
}

bool is_exported(const std::string& dtype, bool folder) {
  return (is_float(dtype) && dtype != "f64") || (!folder && (dtype == "q8_0" || dtype == "q4_0"));
}

bool has_weights_ending(const std::string& in) {
  for (const char* ending : {".safetensors", ".pt", ".pth", ".bin"})
    if (in.ends_with(ending)) return true;
  return false;
}

// Ends the action where the command line is wrong, before IN is read.
void check_arguments(const Args& a) {
  const auto usage = [](const std::string& what) {
    return problem(LOOM_INVALID_ARGUMENT, what, kUsage);
  };
  const bool decoder = a.out.ends_with(".onnx"), text = a.out.ends_with(".json"),
             entity = a.out.ends_with(".entity") || text;
  const bool folder = a.out.ends_with("/") || std::filesystem::is_directory(a.out),
             exported = folder || a.out.ends_with(".gguf");
  if (!entity && !exported && !decoder && !a.out.ends_with(".safetensors"))
    throw Exit{
        "OUT must end in .safetensors, .entity, .json, .gguf or .onnx, or in / for a HuggingFace "
        "folder, "
        "got '" +
            a.out + "'",
        kUsage};
  if (!(a.dims.empty() && a.max.empty()) && !is_onnx(a.in))
    throw usage("--dim and --max go with an .onnx file that is read");
  if (a.matmul_nbits && !decoder) throw usage("--matmul-nbits goes with OUT of .onnx");
  if (is_onnx(a.in) && !entity)
    throw usage("an ONNX graph is written as .entity or .json, got '" + a.out + "'");
  if (is_json(a.in) && !entity)
    throw usage("a network of JSON is written as .entity or .json, got '" + a.out + "'");
  if (!a.adapter.empty() && ((!entity && !exported && !decoder) || is_onnx(a.in) || is_json(a.in)))
    throw usage("--adapter goes with a language model that is not written as .safetensors");
  if (!a.dtype.empty() && (entity || decoder)) or_exit(kUsage, [&] { format_info(a.dtype); });
  if (!a.dtype.empty() && exported && !is_exported(a.dtype, folder))
    throw usage(std::string(folder ? "a HuggingFace folder is written as f32, f16 or bf16"
                                   : "a GGUF file is written as f32, f16, bf16, q8_0 or q4_0") +
                ", not '" + a.dtype + "': --dtype");
  if (!a.dtype.empty() && !entity && !exported && !decoder && !is_float(a.dtype))
    throw usage("safetensors files are written as f64, f32, f16 or bf16, not '" + a.dtype +
                "': --dtype, or write .entity");
  if ((a.report || !a.settings.empty()) && (!entity || is_onnx(a.in) || is_json(a.in)))
    throw usage(
        "--settings and --report go with a .safetensors, .pt, .pth or .bin file that becomes "
        ".entity");
  if (a.report && (!a.dtype.empty() || !a.adapter.empty() || a.no_tokenizer))
    throw usage("--report writes nothing: it goes without --dtype, --adapter and --no-tokenizer");
  if (!folder) check_file_output("OUT", a.out, {located(a.in), a.adapter});
}

Json settings_of(const Args& a) {
  if (a.settings.empty()) return Json::object();
  auto json = Json::parse(read_text(a.settings));
  if (!json.ok()) throw Exit{a.settings + ": " + json.status().to_string(), kRefused};
  return std::move(*json);
}

std::string question_lines(const std::string& where, const Json& questions) {
  std::string text;
  for (const Json& q : questions.as_array()) {
    std::string choices;
    for (const Json& c : member(q, "choices").as_array())
      choices += (choices.empty() ? " (" : " | ") + c.as_string();
    text += escaped(where + text_in(q, "key") + ": " + text_in(q, "text") + choices +
                    (choices.empty() ? "" : ")")) +
            "\n";
  }
  return text;
}

// What a file of weights is, module by module, or only what is asked.
std::string report_text(const Json& report, bool questions_alone) {
  std::string text = question_lines("? ", member(report, "questions"));
  for (const Json& m : member(report, "modules").as_array()) {
    const std::string path = text_in(m, "path"), type = text_in(m, "type");
    if (!questions_alone) {
      text += escaped(path) + ": " + (type.empty() ? "?" : type);
      for (const Json& t : member(m, "tensors").as_array())
        text += " " + escaped(text_in(t, "name")) + " " + member(t, "shape").dump();
      text += "\n";
      for (const char* key : {"certain", "assumed"})
        if (const Json* lines = m.find(key))
          for (const Json& line : lines->as_array())
            text += std::string("  ") + key + ": " + escaped(line.as_string()) + "\n";
    }
    if (const Json* questions = m.find("questions"))
      text += question_lines(questions_alone ? "? " + path + ": " : "  ? ", *questions);
    if (m.find("refused")) text += "  no layer: " + escaped(text_in(m, "refused")) + "\n";
  }
  return text;
}

int print_report(const Args& a) {
  const Json settings = settings_of(a);
  const Json made =
      or_exit(kRefused, [&] { return parsed(File(a.in).weights(settings.dump())); }, a.in);
  say(std::to_string(integer_in(made, "open")) + " questions are open");
  return print(a.json ? made.dump() + "\n" : report_text(made, false)) ? kOk : kFailed;
}

// Where a file of weights was refused for open questions: says all of them, of which the error has
// the first alone, and throws.
void refuse_open_questions(const Args& a) {
  if (!has_weights_ending(a.in) || (!a.out.ends_with(".entity") && !a.out.ends_with(".json")))
    return;
  Json made;
  try {
    made = parsed(File(a.in).weights(settings_of(a).dump()));
  } catch (const Error&) {
    return;  // it is refused for what the conversion says
  }
  const std::int64_t open = integer_in(made, "open");
  if (open == 0) return;
  std::istringstream lines(report_text(made, true));
  for (std::string line; std::getline(lines, line);) say(line);
  throw Exit{a.in + ": names and shapes leave " + std::to_string(open) +
                 " questions open, which --settings answers",
             kRefused};
}

Json dims_of(const std::string& option, const std::vector<std::string>& list) {
  Json dims = Json::object();
  for (const std::string& one : list) {
    const std::size_t at = one.rfind('=');
    const std::string name = one.substr(0, at);
    if (dims.find(name))
      throw problem(LOOM_INVALID_ARGUMENT, option + " " + name + " is there twice", kUsage);
    dims.set(name, std::int64_t{std::stoll(one.substr(at + 1))});
  }
  return dims;
}

// The report of the conversion.
Json converted(const Args& a) {
  Json options = Json::object();
  options.set("settings", settings_of(a));
  options.set("dims", dims_of("--dim", a.dims));
  options.set("max", dims_of("--max", a.max));
  options.set("dtype", a.dtype);
  options.set("adapter", a.adapter);
  options.set("tokenizer", !a.no_tokenizer);
  options.set("matmul_nbits", a.matmul_nbits);
  try {
    return parsed(convert(a.in, a.out, options.dump()));
  } catch (const Error& error) {
    refuse_open_questions(a);
    std::string text = problem_text(error);
    const std::string option = R"("tokenizer": false leaves it out)";
    if (text.ends_with(option))
      text.replace(text.size() - option.size(), option.size(), "--no-tokenizer leaves it out");
    throw Exit{text, error.code() == LOOM_IO ? kFailed : kRefused};
  }
}

int run(const Args& a) {
  check_arguments(a);
  if (a.report) return print_report(a);
  const Json report = converted(a);
  for (const Json& note : member(report, "notes").as_array()) say(escaped(note.as_string()));
  std::string table = "tensor shape from to bytes bytes rms-error max-error\n";
  std::uint64_t before = 0, after = 0;
  const Json& rows = member(report, "tensors");
  for (const Json& row : rows.as_array()) {
    before += static_cast<std::uint64_t>(integer_in(row, "bytes_before"));
    after += static_cast<std::uint64_t>(integer_in(row, "bytes_after"));
    table += escaped(text_in(row, "name")) + " " + text_in(row, "shape") + " " +
             text_in(row, "from") + " " + text_in(row, "to") + " " +
             std::to_string(integer_in(row, "bytes_before")) + " " +
             std::to_string(integer_in(row, "bytes_after")) + " " +
             scientific(number_in(row, "rms_error")) + " " +
             scientific(number_in(row, "max_error")) + "\n";
  }
  say(a.out + ": " + std::to_string(rows.as_array().size()) + " tensors, " + bytes_text(before) +
      " became " + bytes_text(after));
  return print(a.json ? rows.dump() + "\n" : table) ? kOk : kFailed;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  add_command<Args>(
      app, action, "convert",
      "write a model as .entity, safetensors, GGUF, ONNX or a HuggingFace folder, with a table of "
      "errors",
      bind, run);
}

}  // namespace loom::cli
