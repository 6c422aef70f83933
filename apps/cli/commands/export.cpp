// loom export: a network for other programs, by the end of OUT.
#include "arguments/machine_options.h"
#include "files/outputs.h"
#include "models/network_file.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string in, out, as;
  std::int64_t opset = 21;
  std::uint64_t seed = 1;
  Option seed_given;
  bool external_data = false, decoder = false, matmul_nbits = false, json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORK", a.in, "an .entity file, or a topology (.json), whose weights are then random")
      .required();
  c.add("OUT", a.out, "what to write: a name that ends in .onnx").required();
  c.add("--as", a.as,
        "format of the matrices in OUT (each as it is stored): f32, f16, bf16, i8, q8_0, ...")
      .type_name("FORMAT");
  c.add("--opset", a.opset, "of ONNX: version of its operators in OUT").between(21, 26);
  c.flag("--external-data", a.external_data,
         "of ONNX: large tensors go into a second file, OUT.data");
  c.flag("--decoder", a.decoder,
         "of ONNX: a language model with its keys and values as inputs and outputs");
  c.flag("--matmul-nbits", a.matmul_nbits,
         "of ONNX: products of 4 and 8 bits by ONNX Runtime's own MatMulNBits");
  a.seed_given = c.add("--seed", a.seed, "of the weights of a topology (1)");
  c.flag("--json", a.json, "what was written as JSON");
}

int run(const Args& a) {
  if (!a.as.empty()) or_exit(kUsage, [&] { format_info(a.as); });
  check_file_output("OUT", a.out, {a.in});
  const Network network = load_network(a.in, a.seed, a.seed_given);
  Json options = Json::object();
  options.set("as", a.as);
  options.set("opset", a.opset);
  options.set("external_data", a.external_data);
  options.set("decoder", a.decoder);
  options.set("matmul_nbits", a.matmul_nbits);
  std::string text;
  try {
    text = network.export_to(a.out, options.dump());
  } catch (const Error& error) {
    const bool usage = error.code() == LOOM_INVALID_ARGUMENT;
    throw Exit{problem_text(error), usage ? kUsage : error.code() == LOOM_IO ? kFailed : kRefused};
  }
  if (a.json) return print(text + "\n") ? kOk : kFailed;
  const Json report = parsed(text);
  for (const std::string_view key : {"inputs", "outputs"})
    for (const Json& one : member(report, key).as_array())
      say(std::string(key == "inputs" ? "in   " : "out  ") + escaped(one.as_string()));
  std::string dtypes;
  for (const auto& [dtype, count] : member(report, "dtypes").as_object())
    dtypes += (dtypes.empty() ? "" : ", ") + std::to_string(count.as_integer()) + " in " + dtype;
  say(a.out + ": opset " + std::to_string(integer_in(report, "opset")) + ", " +
      std::to_string(integer_in(report, "nodes")) + " nodes, parameters: " + dtypes);
  return kOk;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "export", "write a network for other programs: ONNX", bind, run);
}

}  // namespace loom::cli
