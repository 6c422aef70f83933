#include "models/show_onnx.h"

#include "support/console.h"

namespace loom::cli {
namespace {

std::string opset_text(const Json& info) {
  std::string text;
  for (const auto& [domain, version] : member(info, "opsets").as_object())
    text += (text.empty() ? "" : ", ") + (domain == "ai.onnx" ? "" : escaped(domain) + " ") +
            std::to_string(version.as_integer());
  return text;
}

std::string values_text(const Json& info, const char* key) {
  std::string text = std::string(key) + ":\n";
  for (const Json& v : member(info, key).as_array())
    text += "  " + escaped(text_in(v, "name")) + "  " + text_in(v, "type") + "\n";
  return text;
}

std::string shape_text(const Json& shape) {
  std::string text;
  for (const Json& d : shape.as_array())
    text += (text.empty() ? "" : ", ") + std::to_string(d.as_integer());
  return "[" + text + "]";
}

}  // namespace

bool is_onnx(const File& file) {
  try {
    return text_in(parsed(file.info()), "kind") == "ONNX";
  } catch (const Error&) {
    return false;  // whatever it is, it is shown as that
  }
}

int show_onnx(const File& file, bool json) {
  const Json info = or_exit(kRefused, [&] { return parsed(file.info(R"({"tensors":true})")); });
  if (json) {
    Json out = Json::object();
    for (const char* key : {"path", "kind", "ir_version", "producer", "producer_version", "opsets",
                            "inputs", "outputs", "operators", "tensors"})
      out.set(key, member(info, key));
    return print(out.dump(1) + "\n") ? kOk : kFailed;
  }
  const std::string producer = text_in(info, "producer"),
                    version = text_in(info, "producer_version");
  std::string out = escaped(text_in(info, "path")) + "\nONNX, IR " +
                    std::to_string(integer_in(info, "ir_version")) + ", opset " + opset_text(info);
  if (!producer.empty())
    out += ", by " + escaped(producer) + (version.empty() ? "" : " " + escaped(version));
  out += "\n" + std::to_string(integer_in(info, "nodes")) + " nodes, " +
         std::to_string(integer_in(info, "tensor_count")) + " initializers, " +
         count_text(number_in(info, "elements")) + " elements, " +
         bytes_text(static_cast<std::uint64_t>(integer_in(info, "bytes"))) + "\n";
  out += values_text(info, "inputs") + values_text(info, "outputs");
  if (const std::int64_t functions = integer_in(info, "functions"); functions > 0)
    out += "functions: " + std::to_string(functions) + "\n";
  out += "operators:\n";
  for (const auto& [op, count] : member(info, "operators").as_object())
    out += "  " + escaped(op) + "  " + std::to_string(count.as_integer()) + "\n";
  const auto& tensors = member(info, "tensors").as_array();
  if (!tensors.empty()) out += "initializers:\n";
  for (const Json& t : tensors)
    out += "  " + escaped(text_in(t, "name")) + "  " + text_in(t, "dtype") + "  " +
           shape_text(member(t, "shape")) + "  " + std::to_string(integer_in(t, "bytes")) + "\n";
  return print(out) ? kOk : kFailed;
}

}  // namespace loom::cli
