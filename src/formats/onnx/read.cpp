// Protobuf messages to the structs of onnx.h. Field numbers are those of onnx.proto3.
#include <algorithm>

#include "base/files/paths.h"
#include "base/message.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/protobuf.h"
#include "formats/onnx/tensor_reader.h"
#include "formats/onnx/validate.h"
#include "formats/sniff.h"

namespace loom::onnx {
namespace {

constexpr std::uint64_t kLargestMessage = std::uint64_t{1} << 31;
constexpr std::int64_t kOldestIr = 3;  // before, attributes had no type and models no operator sets
constexpr int kDeepestGraph = 16;
constexpr int kDeepestType = 16;

template <class... Parts>
Status corrupt(const Parts&... what) {
  return Status(Code::corrupt, message(what...));
}

// Calls on_field(field) for each field of the message.
template <class OnField>
Status each_field(Cursor message, OnField on_field) {
  for (Field field;;) {
    LOOM_ASSIGN(const bool more, message.next(&field));
    if (!more) return {};
    LOOM_TRY(on_field(field));
  }
}

class Parser {
 public:
  Parser(SourcePtr source, OpenExternal external) : tensors_(source, std::move(external)) {}

  Status model(Cursor message, Model* out) {
    bool has_graph = false;
    LOOM_TRY(each_field(message, [&](const Field& f) -> Status {
      switch (f.number) {
        case 1: return f.get("ir_version", &out->ir_version);
        case 2: return f.get("producer_name", &out->producer);
        case 3: return f.get("producer_version", &out->producer_version);
        case 4: return f.get("domain", &out->domain);
        case 5: return f.get("model_version", &out->model_version);
        case 7:
          if (has_graph) return corrupt("offset ", f.offset, ": has a second graph");
          has_graph = true;
          return sub(f, "graph", [&](Cursor c) { return graph(c, &out->graph, 0); });
        case 8: return sub(f, "opset_import", [&](Cursor c) { return opset(c, &out->opsets); });
        case 14: return read_entry(f, "metadata_props", &out->metadata.emplace_back());
        case 20: out->has_training_info = true; return {};
        case 25:
          return sub(f, "functions",
                     [&](Cursor c) { return function(c, &out->functions.emplace_back()); });
        default: return {};
      }
    }));
    if (!has_graph) return corrupt("has no graph");
    if (out->ir_version < kOldestIr) {
      return Status(Code::unsupported,
                    text("IR version ", out->ir_version, ", expected ", kOldestIr,
                         " or later: convert it with onnx.version_converter"));
    }
    return {};
  }

  Status tensor(Cursor message, Tensor* out) { return tensors_.read(message, out); }

 private:
  template <class... Parts>
  static std::string text(const Parts&... parts) {
    return message(parts...);
  }

  // read(cursor over the message in the field).
  template <class Read>
  Status sub(const Field& field, std::string_view name, Read read) {
    LOOM_TRY(field.expect(name, Wire::bytes));
    return read(Cursor(field));
  }

  // Adds where an error is, once: the innermost node says it all, however deep the graphs lie in
  // each other.
  template <class Where>
  Status located(Status status, Where where) {
    if (status.ok() || located_) return status;
    located_ = true;
    return status.at(where());
  }

  Status opset(Cursor message, std::vector<std::pair<std::string, std::int64_t>>* out) {
    auto& [domain, version] = out->emplace_back();
    LOOM_TRY(each_field(message, [&](const Field& f) -> Status {
      if (f.number == 1) return f.get("domain", &domain);
      if (f.number == 2) return f.get("version", &version);
      return {};
    }));
    if (domain == "ai.onnx") domain.clear();
    for (std::size_t i = 0; i + 1 < out->size(); ++i) {
      if ((*out)[i].first == domain)
        return corrupt("opset_import names the domain ", quoted(domain), " twice");
    }
    if (version < 1)
      return corrupt("opset_import has version ", version, " for the domain ", quoted(domain),
                     ", expected 1 or more");
    return {};
  }

  Status graph(Cursor message, Graph* out, int depth) {
    if (depth > kDeepestGraph)
      return Status(Code::unsupported, text("graphs lie more than ", kDeepestGraph, " deep"));
    return each_field(message, [&](const Field& f) -> Status {
      switch (f.number) {
        case 1: return sub(f, "node", [&](Cursor c) { return node(c, &out->nodes, depth); });
        case 2: return f.get("name", &out->name);
        case 5:
          return sub(f, "initializer",
                     [&](Cursor c) { return tensor(c, &out->initializers.emplace_back()); });
        case 11:
          return sub(f, "input", [&](Cursor c) { return value(c, &out->inputs.emplace_back()); });
        case 12:
          return sub(f, "output", [&](Cursor c) { return value(c, &out->outputs.emplace_back()); });
        case 13:
          return sub(f, "value_info",
                     [&](Cursor c) { return value(c, &out->values.emplace_back()); });
        case 15: return sparse_initializer(f);
        default: return {};
      }
    });
  }

  // Refused; by its name, which is that of its values.
  Status sparse_initializer(const Field& field) {
    std::string name;
    LOOM_TRY(field.expect("sparse_initializer", Wire::bytes));
    LOOM_TRY(each_field(Cursor(field), [&](const Field& f) -> Status {
      if (f.number != 1) return {};
      return sub(f, "values", [&](Cursor c) {
        return each_field(
            c, [&](const Field& v) { return v.number == 8 ? v.get("name", &name) : Status(); });
      });
    }));
    return Status(Code::unsupported,
                  text("sparse initializer ", quoted(name), ": save it as a dense one"));
  }

  Status node(Cursor message, std::vector<Node>* nodes, int depth) {
    const std::size_t index = nodes->size();
    Node* out = &nodes->emplace_back();
    Status status = each_field(message, [&](const Field& f) -> Status {
      switch (f.number) {
        case 1: return f.append("input", &out->inputs);
        case 2: return f.append("output", &out->outputs);
        case 3: return f.get("name", &out->name);
        case 4: return f.get("op_type", &out->op);
        case 5:
          return sub(f, "attribute", [&](Cursor c) {
            return attribute(c, &out->attributes.emplace_back(), depth);
          });
        case 7: return f.get("domain", &out->domain);
        case 8: return f.get("overload", &out->overload);
        default: return {};
      }
    });
    if (out->domain == "ai.onnx") out->domain.clear();
    return located(std::move(status), [&] { return describe(*out, index); });
  }

  Status attribute(Cursor message, Attribute* out, int depth) {
    std::uint32_t found = 0;  // the field that holds the value
    std::int64_t type = 0;
    Status status = each_field(message, [&](const Field& f) -> Status {
      const auto holds = [&] {
        const bool first = found == 0 || found == f.number;
        found = f.number;
        return first ? Status() : corrupt("has values of two types");
      };
      switch (f.number) {
        case 1: return f.get("name", &out->name);
        case 20: return f.get("type", &type);
        case 21: return f.get("ref_attr_name", &out->reference);
        case 2: LOOM_TRY(holds()); return f.get("f", &out->f);
        case 3: LOOM_TRY(holds()); return f.get("i", &out->i);
        case 4: LOOM_TRY(holds()); return f.get("s", &out->s);
        case 7: LOOM_TRY(holds()); return f.append("floats", &out->floats);
        case 8: LOOM_TRY(holds()); return f.append("ints", &out->ints);
        case 9: LOOM_TRY(holds()); return f.append("strings", &out->strings);
        case 5:
        case 10:
          LOOM_TRY(holds());
          return sub(f, f.number == 5 ? "t" : "tensors",
                     [&](Cursor c) { return tensor(c, &out->tensors.emplace_back()); });
        case 6:
        case 11:
          LOOM_TRY(holds());
          return sub(f, f.number == 6 ? "g" : "graphs",
                     [&](Cursor c) { return graph(c, &out->graphs.emplace_back(), depth + 1); });
        case 14:
        case 15: return holds();
        case 22:
        case 23: return Status(Code::unsupported, "holds a sparse tensor");
        default: return {};
      }
    });
    if (status.ok()) status = check_type(*out, type, found);
    if (status.ok()) out->type = static_cast<AttributeType>(type);
    return status.ok() || located_ ? status : status.at("attribute " + quoted(out->name));
  }

  static Status check_type(const Attribute& a, std::int64_t type, std::uint32_t found) {
    // By AttributeType: the field that holds the value, and whether an absent one means an empty
    // list or zero.
    constexpr struct {
      std::uint32_t field;
      bool may_be_absent;
    } kFields[] = {{0, false}, {2, true},   {3, true},   {4, true},   {5, false},
                   {6, false}, {7, true},   {8, true},   {9, true},   {10, true},
                   {11, true}, {22, false}, {23, false}, {14, false}, {15, true}};
    if (a.name.empty()) return corrupt("has no name");
    if (type < 1 || type >= static_cast<std::int64_t>(std::size(kFields)))
      return corrupt("type is ", type, ", expected 1 to 14");
    if (!a.reference.empty())
      return found == 0 ? Status() : corrupt("has ref_attr_name and a value");
    const auto& row = kFields[type];
    const auto type_name = name(static_cast<AttributeType>(type));
    if (found == 0 && !row.may_be_absent) return corrupt("is ", type_name, " but has no value");
    if (found != 0 && found != row.field)
      return corrupt("is ", type_name, " but its value is in field ", found, ", expected ",
                     row.field);
    if (row.field == 5 && a.tensors.size() != 1)
      return corrupt("has ", a.tensors.size(), " tensors, expected 1");
    if (row.field == 6 && a.graphs.size() != 1)
      return corrupt("has ", a.graphs.size(), " graphs, expected 1");
    return {};
  }

  Status function(Cursor message, Function* out) {
    Status status = each_field(message, [&](const Field& f) -> Status {
      switch (f.number) {
        case 1: return f.get("name", &out->name);
        case 4: return f.append("input", &out->inputs);
        case 5: return f.append("output", &out->outputs);
        case 6: return f.append("attribute", &out->attributes);
        case 7: return sub(f, "node", [&](Cursor c) { return node(c, &out->nodes, 0); });
        case 9: return sub(f, "opset_import", [&](Cursor c) { return opset(c, &out->opsets); });
        case 10: return f.get("domain", &out->domain);
        case 11:
          return sub(f, "attribute_proto", [&](Cursor c) {
            return attribute(c, &out->attributes_with_default.emplace_back(), 0);
          });
        case 13: return f.get("overload", &out->overload);
        default: return {};
      }
    });
    if (out->domain == "ai.onnx") out->domain.clear();
    return status.ok() ? status : status.at("function " + quoted(out->name));
  }

  Status value(Cursor message, ValueInfo* out) {
    Status status = each_field(message, [&](const Field& f) -> Status {
      if (f.number == 1) return f.get("name", &out->name);
      if (f.number == 2) return sub(f, "type", [&](Cursor c) { return type(c, out, 0); });
      return {};
    });
    return status.ok() ? status : status.at("value " + quoted(out->name));
  }

  // TypeProto. The outermost kind counts; element type and shape come from the innermost.
  Status type(Cursor message, ValueInfo* out, int depth) {
    if (depth > kDeepestType)
      return Status(Code::unsupported, text("types lie more than ", kDeepestType, " deep"));
    return each_field(message, [&](const Field& f) -> Status {
      Kind kind;
      switch (f.number) {
        case 1: kind = Kind::tensor; break;
        case 4: kind = Kind::sequence; break;
        case 5: kind = Kind::map; break;
        case 7: kind = Kind::opaque; break;
        case 8: kind = Kind::sparse_tensor; break;
        case 9: kind = Kind::optional; break;
        default: return {};
      }
      if (depth == 0) out->kind = kind;
      if (kind == Kind::tensor || kind == Kind::sparse_tensor) {
        return sub(f, "tensor_type", [&](Cursor c) { return tensor_type(c, out); });
      }
      if (kind == Kind::map || kind == Kind::opaque) return f.expect("value", Wire::bytes);
      return sub(f, "elem_type", [&](Cursor c) {
        return each_field(c, [&](const Field& e) -> Status {
          return e.number == 1 ? sub(e, "elem_type",
                                     [&](Cursor inner) { return type(inner, out, depth + 1); })
                               : Status();
        });
      });
    });
  }

  Status tensor_type(Cursor message, ValueInfo* out) {
    return each_field(message, [&](const Field& f) -> Status {
      if (f.number == 1) {
        std::int64_t number;
        LOOM_TRY(f.get("elem_type", &number));
        if (number < 0 || number >= kTypeCount) {
          return Status(Code::unsupported,
                        text("elem_type is ", number, ", expected 1 to ", kTypeCount - 1));
        }
        out->type = static_cast<Type>(number);
        return {};
      }
      if (f.number != 2) return {};
      out->has_shape = true;
      return sub(f, "shape", [&](Cursor shape) {
        return each_field(shape, [&](const Field& d) -> Status {
          return d.number == 1
                     ? sub(d, "dim", [&](Cursor c) { return dim(c, &out->dims.emplace_back()); })
                     : Status();
        });
      });
    });
  }

  static Status dim(Cursor message, Dim* out) {
    return each_field(message, [&](const Field& f) -> Status {
      if (f.number == 2) return f.get("dim_param", &out->param);
      if (f.number != 1) return {};
      LOOM_TRY(f.get("dim_value", &out->value));
      out->value = std::max<std::int64_t>(
          out->value, -1);  // some exporters write a negative number for an unknown one
      return {};
    });
  }

  TensorReader tensors_;
  bool located_ = false;
};

// The bytes in memory: those of the source, or a copy.
Result<SourcePtr> in_memory(SourcePtr source) {
  if (!source->view().empty() || source->size() == 0) return source;
  LOOM_ASSIGN(std::vector<std::byte> bytes, read_all(*source, kLargestMessage));
  return source_from_bytes(std::move(bytes), source->name());
}

}  // namespace

Result<Model> read_model(SourcePtr source, const OpenExternal& external) {
  LOOM_TRY(expect_kind(*source, FileKind::onnx));
  LOOM_ASSIGN(source, in_memory(std::move(source)));
  Model model;
  model.file = source->name();
  const Status parsed =
      Parser(source, external).model(Cursor(source->view(), 0), &model).at(source->name());
  LOOM_TRY(source->intact());
  LOOM_TRY(parsed);
  LOOM_TRY(validate(model).at(source->name()));
  model.bytes = source->size();
  for (const Tensor& t : model.graph.initializers)
    if (t.source && t.source != source) model.bytes += std::min(t.size, t.source->size());
  return model;
}

Result<Model> open_model(const std::string& path) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
  return read_model(std::move(source), [folder](const std::string& location) {
    return open_within(folder, location);
  });
}

Result<Tensor> read_tensor(SourcePtr source) {
  LOOM_ASSIGN(source, in_memory(std::move(source)));
  Tensor tensor;
  LOOM_TRY(Parser(source, {}).tensor(Cursor(source->view(), 0), &tensor).at(source->name()));
  return tensor;
}

}  // namespace loom::onnx
