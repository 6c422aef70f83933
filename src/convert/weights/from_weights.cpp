#include "convert/weights/from_weights.h"

#include <algorithm>
#include <set>

#include "base/json/json_text.h"
#include "base/message.h"
#include "convert/weights/assemble.h"
#include "convert/weights/fill.h"

namespace loom {
namespace {

Json list_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& t : texts) list.push(json_text(t));
  return list;
}

Json questions_json(const std::vector<Question>& questions) {
  Json list = Json::array();
  for (const Question& q : questions) {
    Json json = Json::object();
    json.set("key", q.key);
    json.set("text", json_text(q.text));
    json.set("choices", list_of(q.choices));
    list.push(std::move(json));
  }
  return list;
}

Json tensors_json(const WeightModule& module) {
  Json list = Json::array();
  for (const auto& part : module.parts) {
    Json json = Json::object();
    json.set("name", json_text(part.tensor->name));
    json.set("dtype", std::string(name(part.tensor->type)));
    json.set("shape", Json(Json::Array(part.tensor->shape.begin(), part.tensor->shape.end())));
    list.push(std::move(json));
  }
  return list;
}

class Reading {
 public:
  Reading(std::span<const TensorInfo> tensors, const Metadata& metadata)
      : tensors_(tensors), metadata_(metadata) {}

  Result<WeightsReport> run(const Json& settings) {
    LOOM_ASSIGN(s_, WeightSettings::parse(settings));
    if (tensors_.empty()) return Status(Code::invalid_argument, "the file has no tensors");
    out_.json = Json::object();
    LOOM_TRY(choose_left());
    LOOM_ASSIGN(const StrippedNames stripped,
                strip_prefixes(kept_, s_.strip ? &*s_.strip : nullptr));
    out_.json.set("strip", list_of(stripped.prefixes));
    names_ = stripped.names;
    if (s_.topology.is_null() && settings.as_object().empty()) LOOM_TRY(own_topology());
    if (out_.network) return std::move(out_);
    LOOM_TRY(s_.topology.is_null() ? by_shapes() : by_topology());
    return std::move(out_);
  }

 private:
  // Tensors that the caller leaves; a name that leaves none is a mistake.
  Status choose_left() {
    std::vector<std::string> left;
    for (const TensorInfo& t : tensors_) {
      if (s_.leaves(t.name)) left.push_back(t.name);
      else kept_.push_back(t);
    }
    for (const std::string& name : s_.leave) {
      WeightSettings one;
      one.leave = {name};
      if (std::none_of(left.begin(), left.end(),
                       [&](const std::string& t) { return one.leaves(t); }))
        return Status(Code::not_found,
                      message("settings: \"leave\": no tensor is called ", quoted(name)));
    }
    if (kept_.empty()) return Status(Code::invalid_argument, "\"leave\" leaves no tensor");
    out_.json.set("left", list_of(left));
    return {};
  }

  void finish(std::size_t open, Json questions) {
    out_.json.set("questions", std::move(questions));
    out_.json.set("open", static_cast<std::int64_t>(open));
  }

  // ---- a topology

  // That of a file written here ("path:role"), with whose names no prefix has to do.
  Status own_topology() {
    const auto topology = std::find_if(metadata_.begin(), metadata_.end(),
                                       [](const auto& m) { return m.first == "loom-topology"; });
    if (topology == metadata_.end()) return {};
    LOOM_ASSIGN(const Json json, Json::parse(topology->second));
    LOOM_ASSIGN(Network network, Network::from_json(json));
    std::set<const TensorInfo*> used;
    for (const Network::NamedParam& p : network.params()) {
      if (p.borrowed()) continue;
      const std::string where = p.path + ":" + p.param->spec.role;
      const auto t = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const TensorInfo& x) { return x.name == where; });
      if (t == kept_.end())
        return Status(Code::not_found, message("the file has no tensor for the parameter ", where));
      LOOM_TRY(fill_parameter(*p.param->store, {p.param->spec.role, &*t}, where));
      used.insert(&*t);
    }
    LOOM_TRY(nothing_left(used));
    out_.json.set("modules", Json::array());
    out_.json.set("topology", json);
    finish(0, Json::array());
    out_.network.emplace(std::move(network));
    return {};
  }

  Status nothing_left(const std::set<const TensorInfo*>& used) const {
    std::string names;
    std::size_t count = 0;
    for (const TensorInfo& t : kept_)
      if (!used.contains(&t) && ++count <= 20)
        names += (names.empty() ? "" : ", ") + quoted(t.name);
    if (count == 0) return {};
    return Status(Code::not_found,
                  message(count, " tensors that nothing takes: ", names,
                          (count > 20 ? ", ..." : ""), "; \"leave\" names those that may be left"));
  }

  // The module of a layer: as "map" says, else the one with the name of the cell.
  const WeightModule* module_for(const std::string& path, const Node& node) const {
    std::string_view wanted = node.name;
    if (const Json* to = s_.map.find(path); to && to->is_string()) wanted = to->as_string();
    for (const auto* list : {&joined_, &modules_})
      for (const WeightModule& m : *list)
        if (m.path == wanted && (!wanted.empty() || s_.map.find(path))) return &m;
    return nullptr;
  }

  void bind(const std::string& path, const Node& node, std::vector<BoundModule>& bound) const {
    if (const WeightModule* m = node.params.empty() ? nullptr : module_for(path, node)) {
      Json cell = Json::object();
      node.type->write(*node.config, cell);
      const Json* groups = cell.find("groups");
      bound.push_back({path, m, std::string(node.type->name()),
                       s_.layout == "in_out" ? MatrixLayout::in_out : MatrixLayout::out_in,
                       groups && groups->is_integer() ? groups->as_integer() : 1});
    }
    for (std::size_t i = 0; i < node.children.size(); ++i)
      bind(path + "/" + std::to_string(i), node.children[i], bound);
  }

  Status by_topology() {
    LOOM_ASSIGN(joined_, modules_of(kept_, names_, true));
    LOOM_ASSIGN(modules_, modules_of(kept_, names_, false));
    LOOM_ASSIGN(Network network, Network::from_json(s_.topology));
    for (const auto& [path, to] : s_.map.as_object()) {
      if (!to.is_string() || !network.find_node(path))
        return Status(Code::invalid_argument,
                      message("settings: \"map\": ", quoted(path), " is no layer of the topology"));
    }
    std::vector<BoundModule> bound;
    for (std::size_t i = 0; i < network.size(); ++i) bind(network.path(i), network.node(i), bound);
    std::set<const TensorInfo*> used;
    LOOM_TRY(fill_network(network, bound, used));
    LOOM_TRY(nothing_left(used));
    Json modules = Json::array();
    for (const BoundModule& b : bound) {
      Json json = Json::object();
      json.set("path", json_text(b.module->path));
      json.set("cell", b.path);
      json.set("tensors", tensors_json(*b.module));
      json.set("type", b.type);
      modules.push(std::move(json));
    }
    out_.json.set("modules", std::move(modules));
    out_.json.set("topology", network.to_json());
    finish(0, Json::array());
    out_.network.emplace(std::move(network));
    return {};
  }

  // ---- names and shapes

  Status by_shapes() {
    LOOM_ASSIGN(joined_, modules_of(kept_, names_, true));
    std::vector<FoundLayer> layers;
    std::vector<FoundLayer> refused;
    for (const WeightModule& m : joined_) {
      FoundLayer l = recognize(m);
      (l.refused.empty() ? layers : refused).push_back(std::move(l));
    }
    LOOM_TRY(settle_layouts(layers));
    for (FoundLayer& l : layers) {
      if (!layers.empty() && l.module->has("weight") && l.types.size() == 2 &&
          l.types[1] == "embedding" &&
          name_order(layers[0].module->path, l.module->path) == NameOrder::before) {
        l.types = {"dense"};
        l.certain.emplace_back("no embedding: numbers arrive from the module before it");
      }
      LOOM_TRY(describe_layer(l, s_));
    }
    LOOM_TRY(settle_by_neighbors(layers));
    Assembly assembly;
    if (!layers.empty()) {
      LOOM_ASSIGN(assembly, assemble(layers, s_));
    }
    std::size_t open = assembly.questions.size();
    Json modules = Json::array();
    for (const auto* list : {&layers, &refused})
      for (const FoundLayer& l : *list) {
        open += l.questions.size() + (l.refused.empty() ? 0 : 1);
        modules.push(module_json(l));
      }
    out_.json.set("modules", std::move(modules));
    out_.json.set("order", list_of(assembly.order));
    finish(open, questions_json(assembly.questions));
    out_.json.set("topology", open > 0 ? Json() : assembly.topology);
    if (open > 0) return {};
    LOOM_ASSIGN(Network network, Network::from_json(assembly.topology));
    std::set<const TensorInfo*> used;
    LOOM_TRY(fill_network(network, assembly.bound, used));
    LOOM_TRY(nothing_left(used));
    out_.network.emplace(std::move(network));
    return {};
  }

  static Json module_json(const FoundLayer& l) {
    Json json = Json::object();
    json.set("path", json_text(l.module->path));
    json.set("tensors", tensors_json(*l.module));
    json.set("type", l.type.empty() ? Json() : Json(l.type));
    json.set("certain", list_of(l.certain));
    json.set("assumed", list_of(l.assumed));
    json.set("questions", questions_json(l.questions));
    if (!l.refused.empty()) json.set("refused", json_text(l.refused));
    return json;
  }

  static bool is_open(const FoundLayer& l) {
    return l.layout == MatrixLayout::unknown && !l.types.empty() && l.types[0] == "dense";
  }

  // One file has one layout: what biases say of some matrices goes for all.
  Status settle_layouts(std::vector<FoundLayer>& layers) const {
    MatrixLayout all = MatrixLayout::unknown;
    bool both = false;
    for (const FoundLayer& l : layers) {
      if (l.layout == MatrixLayout::unknown) continue;
      both = both || (all != MatrixLayout::unknown && all != l.layout);
      all = l.layout;
    }
    const bool given = !s_.layout.empty();
    const MatrixLayout told = all;
    if (given) all = s_.layout == "in_out" ? MatrixLayout::in_out : MatrixLayout::out_in;
    if (all == MatrixLayout::unknown || (both && !given)) return {};
    if (given && told != MatrixLayout::unknown && told != all &&
        std::none_of(layers.begin(), layers.end(), is_open))
      return Status(Code::invalid_argument,
                    "settings: \"layout\": biases tell of every matrix that it is the other one");
    for (FoundLayer& l : layers) {
      if (!is_open(l)) continue;
      l.layout = all;
      if (!given)
        l.certain.emplace_back("[out, in] or [in, out] as the other matrices of the file");
    }
    return {};
  }

  // Where no bias tells, widths do if they follow one another one way alone.
  Status settle_by_neighbors(std::vector<FoundLayer>& layers) const {
    if (std::none_of(layers.begin(), layers.end(),
                     [](const FoundLayer& l) { return is_open(l) && l.type == "dense"; }))
      return {};
    std::vector<FoundLayer> as[2] = {layers, layers};
    bool possible[2];
    for (int i = 0; i < 2; ++i) {
      for (FoundLayer& l : as[i])
        if (is_open(l) && l.type == "dense") {
          l.layout = i == 0 ? MatrixLayout::out_in : MatrixLayout::in_out;
          l.questions.clear();
          LOOM_TRY(describe_layer(l, s_));
          l.certain.emplace_back(i == 0 ? "[out, in]: widths follow one another this way alone"
                                        : "[in, out]: widths follow one another this way alone");
        }
      possible[i] = layers.size() > 1 && !possible_orders(as[i]).found.empty();
    }
    if (possible[0] != possible[1]) layers = std::move(as[possible[0] ? 0 : 1]);
    return {};
  }

  std::span<const TensorInfo> tensors_;
  const Metadata& metadata_;
  WeightSettings s_;
  std::vector<TensorInfo> kept_;
  std::vector<std::string> names_;
  std::vector<WeightModule> joined_, modules_;
  WeightsReport out_;
};

void add_lines(const std::string& where, const Json& questions, std::string& text) {
  for (const Json& q : questions.as_array()) {
    text += "; " + where + ": " + q.find("key")->as_string() + ": " + q.find("text")->as_string();
    std::string choices;
    for (const Json& c : q.find("choices")->as_array())
      choices += (choices.empty() ? " (" : " | ") + c.as_string();
    if (!choices.empty()) text += choices + ")";
  }
}

}  // namespace

Result<WeightsReport> read_weights(std::span<const TensorInfo> tensors, const Metadata& metadata,
                                   const Json& settings) {
  return Reading(tensors, metadata).run(settings);
}

Result<WeightsReport> network_from_weights(std::span<const TensorInfo> tensors,
                                           const Metadata& metadata, const Json& settings) {
  LOOM_ASSIGN(WeightsReport report, read_weights(tensors, metadata, settings));
  if (report.network) return report;
  std::string text = "names and shapes leave " +
                     std::to_string(report.json.find("open")->as_integer()) +
                     " questions open, which settings answer";
  add_lines("the file", *report.json.find("questions"), text);
  for (const Json& m : report.json.find("modules")->as_array()) {
    const Json *type = m.find("type"), *refused = m.find("refused");
    const std::string where = quoted(m.find("path")->as_string()) +
                              (type->is_string() ? " (" + type->as_string() + ")" : "");
    add_lines(where, *m.find("questions"), text);
    if (refused) text += "; " + where + ": is no layer: " + refused->as_string();
  }
  return Status(Code::invalid_argument, std::move(text));
}

Result<WeightsReport> weights_of(const ModelFile& file, const Json& settings, OpenQuestions open) {
  if (file.tensors.empty())
    return Status(Code::unsupported, message(file.path, ": is ", name(file.kind),
                                             ", whose tensors are not read as weights of modules: "
                                             "safetensors, PyTorch and GGUF are"));
  auto made = open == OpenQuestions::report
                  ? read_weights(file.tensors, file.metadata, settings)
                  : network_from_weights(file.tensors, file.metadata, settings);
  if (!made.ok()) return made.status().at(file.path);
  return made;
}

}  // namespace loom
