#include "formats/onnx/onnx.h"

#include <array>

#include "base/message.h"

namespace loom::onnx {
namespace {

Status wrong_type(const Attribute& attribute, AttributeType wanted) {
  return Status(Code::invalid_argument, message("attribute ", quoted(attribute.name), " is ",
                                                name(attribute.type), ", expected ", name(wanted)));
}

// The attribute of the wanted type, nullptr where it is absent.
Result<const Attribute*> typed(const Node& node, std::string_view attribute, AttributeType wanted) {
  const Attribute* found = node.find(attribute);
  if (found && found->type != wanted) return wrong_type(*found, wanted);
  if (found && !found->reference.empty()) {
    return Status(Code::invalid_argument,
                  message("attribute ", quoted(attribute), " refers to the function's ",
                          quoted(found->reference)));
  }
  return found;
}

}  // namespace

std::string_view name(AttributeType type) {
  constexpr std::array<std::string_view, 15> kNames = {
      "undefined", "a float",         "an int",         "a string", "a tensor",
      "a graph",   "floats",          "ints",           "strings",  "tensors",
      "graphs",    "a sparse tensor", "sparse tensors", "a type",   "types"};
  return kNames[static_cast<std::size_t>(type)];
}

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& a : attributes) {
    if (a.name == attribute) return &a;
  }
  return nullptr;
}

Result<std::int64_t> Node::get_int(std::string_view attribute, std::int64_t fallback) const {
  LOOM_ASSIGN(const Attribute* found, typed(*this, attribute, AttributeType::i));
  return found ? found->i : fallback;
}

Result<float> Node::get_float(std::string_view attribute, float fallback) const {
  LOOM_ASSIGN(const Attribute* found, typed(*this, attribute, AttributeType::f));
  return found ? found->f : fallback;
}

Result<std::string> Node::get_string(std::string_view attribute, std::string_view fallback) const {
  LOOM_ASSIGN(const Attribute* found, typed(*this, attribute, AttributeType::s));
  return found ? found->s : std::string(fallback);
}

Result<std::vector<std::int64_t>> Node::get_ints(std::string_view attribute,
                                                 std::vector<std::int64_t> fallback) const {
  LOOM_ASSIGN(const Attribute* found, typed(*this, attribute, AttributeType::ints));
  return found ? found->ints : std::move(fallback);
}

Result<std::vector<float>> Node::get_floats(std::string_view attribute,
                                            std::vector<float> fallback) const {
  LOOM_ASSIGN(const Attribute* found, typed(*this, attribute, AttributeType::floats));
  return found ? found->floats : std::move(fallback);
}

Result<const Tensor*> Node::get_tensor(std::string_view attribute) const {
  LOOM_ASSIGN(const Attribute* found, typed(*this, attribute, AttributeType::tensor));
  return found ? &found->tensors.front() : nullptr;
}

Result<const Graph*> Node::get_graph(std::string_view attribute) const {
  LOOM_ASSIGN(const Attribute* found, typed(*this, attribute, AttributeType::graph));
  return found ? &found->graphs.front() : nullptr;
}

std::string describe(const Node& node, std::size_t index) {
  std::string op = quoted(node.domain.empty() ? node.op : node.domain + "." + node.op);
  op = op.substr(1, op.size() - 2);
  return message("node ", index, node.name.empty() ? "" : " " + quoted(node.name), " (",
                 op.empty() ? "?" : op, ")");
}

std::string type_text(const ValueInfo& info) {
  constexpr std::array<std::string_view, 7> kPrefix = {
      "unknown", "", "sequence of ", "map", "optional ", "sparse ", "opaque"};
  std::string text(kPrefix[static_cast<std::size_t>(info.kind)]);
  if (info.kind == Kind::unknown || info.kind == Kind::map || info.kind == Kind::opaque)
    return text;
  text += name(info.type);
  if (!info.has_shape) return text + "[...]";
  text += "[";
  for (std::size_t i = 0; i < info.dims.size(); ++i) {
    const Dim& d = info.dims[i];
    if (i) text += ", ";
    const std::string param = quoted(d.param);
    text += d.value >= 0      ? std::to_string(d.value)
            : d.param.empty() ? "?"
                              : param.substr(1, param.size() - 2);
  }
  return text + "]";
}

std::string dim_name(const ValueInfo& input, std::size_t axis) {
  const std::string& own = input.dims[axis].param;
  return own.empty() ? message(input.name, ":", axis) : own;
}

std::int64_t Model::opset(std::string_view wanted) const {
  for (const auto& [domain, version] : opsets) {
    if (domain == wanted) return version;
  }
  return 0;
}

}  // namespace loom::onnx
