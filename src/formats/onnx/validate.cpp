#include "formats/onnx/validate.h"

#include <set>

#include "base/message.h"

namespace loom::onnx {
namespace {

template <class... Parts>
Status corrupt(const Parts&... what) {
  return Status(Code::corrupt, message(what...));
}

// The names of a graph, and those around it.
struct Scope {
  const Scope* outer = nullptr;
  std::set<std::string_view> names;

  bool knows(std::string_view name) const {
    for (const Scope* s = this; s; s = s->outer) {
      if (s->names.contains(name)) return true;
    }
    return false;
  }
};

using Opsets = std::vector<std::pair<std::string, std::int64_t>>;

class Validator {
 public:
  Status run(const Model& model) {
    if (model.opsets.empty()) return corrupt("has no opset_import");
    LOOM_TRY(graph(model.graph, nullptr, model.opsets));
    std::set<std::string> names;
    for (const Function& f : model.functions) {
      if (f.name.empty()) return corrupt("a function has no name");
      if (!names.insert(f.domain + ":" + f.name + ":" + f.overload).second)
        return corrupt("function ", quoted(f.name), " is there twice");
      LOOM_TRY(function(f).at("function " + quoted(f.name)));
    }
    return {};
  }

 private:
  Status graph(const Graph& g, const Scope* outer, const Opsets& opsets) {
    Scope scope{outer, {}};
    for (const ValueInfo& input : g.inputs) LOOM_TRY(define(scope, input.name, "an input"));
    std::set<std::string_view> initializers;
    for (const Tensor& t : g.initializers) {
      if (t.name.empty()) return corrupt("an initializer has no name");
      if (!initializers.insert(t.name).second)
        return corrupt("initializer ", quoted(t.name), " is there twice");
      scope.names.insert(t.name);  // one that is an input as well is its default
    }
    LOOM_TRY(nodes(g.nodes, scope, opsets));
    for (const ValueInfo& output : g.outputs) {
      if (!scope.knows(output.name))
        return corrupt("output ", quoted(output.name), " of the graph is made by no node");
    }
    return {};
  }

  Status function(const Function& f) {
    Scope scope;
    for (const std::string& input : f.inputs) LOOM_TRY(define(scope, input, "an input"));
    in_function_ = true;
    const Status status = nodes(f.nodes, scope, f.opsets);
    in_function_ = false;
    LOOM_TRY(status);
    for (const std::string& output : f.outputs) {
      if (!scope.knows(output)) return corrupt("output ", quoted(output), " is made by no node");
    }
    return {};
  }

  Status nodes(const std::vector<Node>& list, Scope& scope, const Opsets& opsets) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      Status status = node(list, i, scope, opsets);
      if (status.ok() || located_) {
        LOOM_TRY(status);
        continue;
      }
      located_ = true;  // the innermost node says it all
      return status.at(describe(list[i], i));
    }
    return {};
  }

  Status node(const std::vector<Node>& list, std::size_t index, Scope& scope,
              const Opsets& opsets) {
    const Node& n = list[index];
    if (n.op.empty()) return corrupt("has no op_type");
    bool imported = false;
    for (const auto& [domain, version] : opsets) imported |= domain == n.domain;
    if (!imported) return corrupt("its domain ", quoted(n.domain), " is not in opset_import");
    for (const std::string& input : n.inputs) {
      if (!input.empty() && !scope.knows(input)) return undefined(list, index, input);
    }
    std::set<std::string_view> names;
    for (const Attribute& a : n.attributes) {
      if (!names.insert(a.name).second)
        return corrupt("attribute ", quoted(a.name), " is there twice");
      if (!a.reference.empty() && !in_function_)
        return corrupt("attribute ", quoted(a.name), " has ref_attr_name outside of a function");
      for (const Graph& g : a.graphs) LOOM_TRY(graph(g, &scope, opsets));
    }
    for (const std::string& output : n.outputs) {
      if (!output.empty()) LOOM_TRY(define(scope, output, "an output"));
    }
    return {};
  }

  static Status undefined(const std::vector<Node>& list, std::size_t index,
                          const std::string& name) {
    for (std::size_t i = index; i < list.size(); ++i) {
      for (const std::string& output : list[i].outputs) {
        if (output == name)
          return corrupt("reads ", quoted(name), " before ", describe(list[i], i), " makes it");
      }
    }
    return corrupt("reads ", quoted(name), ", which nothing makes");
  }

  static Status define(Scope& scope, const std::string& name, std::string_view what) {
    if (name.empty()) return corrupt(what, " has no name");
    if (!scope.names.insert(name).second)
      return corrupt(what, " is named ", quoted(name), " like a value before");
    return {};
  }

  bool in_function_ = false;
  bool located_ = false;
};

}  // namespace

Status validate(const Model& model) { return Validator().run(model); }

}  // namespace loom::onnx
