#include "convert/weights/assemble.h"

#include <algorithm>

#include "base/message.h"

namespace loom {
namespace {

Status wrong(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

bool has_activation(const FoundLayer& l) { return l.type == "dense" || l.type.starts_with("conv"); }
// A function behind it is a setting of the layer, or a cell.
bool may_activate(const FoundLayer& l) { return has_activation(l) || l.type.ends_with("norm"); }

void answer(FoundLayer& layer, std::string_view key, const char* why) {
  const auto gone = std::remove_if(layer.questions.begin(), layer.questions.end(),
                                   [&](const Question& q) { return q.key == key; });
  if (gone == layer.questions.end()) return;
  layer.questions.erase(gone, layer.questions.end());
  if (why) layer.certain.emplace_back(why);
}

// "layers.4" of "layers.3"; "" where the last part is no number.
std::string next_path(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  std::string last = dot == std::string::npos ? path : path.substr(dot + 1);
  std::int64_t n = 0;
  if (last.empty() || last.size() > 9) return "";
  for (const char c : last) {
    if (c < '0' || c > '9') return "";
    n = 10 * n + (c - '0');
  }
  return (dot == std::string::npos ? "" : path.substr(0, dot + 1)) + std::to_string(n + 1);
}

class Assembler {
 public:
  Assembler(std::vector<FoundLayer>& layers, const WeightSettings& settings)
      : layers_(layers), s_(settings) {}

  Result<Assembly> run() {
    LOOM_TRY(check_names());
    LOOM_TRY(s_.layers.is_null() ? in_order() : as_listed());
    ask_input();
    for (const FoundLayer& l : layers_)
      if (!l.questions.empty() || l.type.empty()) return std::move(out_);
    if (!out_.questions.empty()) return std::move(out_);
    LOOM_TRY(write());
    return std::move(out_);
  }

 private:
  FoundLayer* find(std::string_view path) {
    for (FoundLayer& l : layers_)
      if (l.module->path == path) return &l;
    return nullptr;
  }

  Status check_names() {
    for (const auto& [path, cell] : s_.cells.as_object())
      if (!find(path) && !cell.find("type"))
        return wrong(message("settings: \"cells\": no module is called ", quoted(path),
                             ", and a cell without tensors needs a \"type\""));
    for (const Json* values : {&s_.activation, &s_.heads})
      for (const auto& [path, value] : values->as_object())
        if (path != "*" && !find(path))
          return wrong(message("settings: no module is called ", quoted(path)));
    for (const auto& [type, value] : s_.types.as_object()) {
      const auto is = [&](const FoundLayer& l) {
        return std::find(l.types.begin(), l.types.end(), type) != l.types.end();
      };
      if (std::none_of(layers_.begin(), layers_.end(), is))
        return wrong(message("settings: \"types\": no module is a ", quoted(type)));
    }
    return {};
  }

  // ---- one after another

  Status in_order() {
    const Orders orders = possible_orders(layers_);
    std::vector<std::size_t> order(layers_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const bool one = orders.all && orders.found.size() == 1;
    if (!orders.by_names && one) order = orders.found[0];
    if (!s_.sequential) {
      out_.questions.push_back(
          {"layers",
           "whether modules run one after another and nothing else stands between them (sums, "
           "branches, functions) is not in the file: \"sequential\": true says so, \"layers\" "
           "lists "
           "what runs",
           texts(orders)});
    } else if (!orders.by_names && !one) {
      out_.questions.push_back({"layers",
                                orders.found.empty() && orders.all
                                    ? "in no order do their widths follow one another"
                                    : "names and widths allow several orders",
                                texts(orders)});
    }
    for (const std::size_t i : order) entries_.push_back({layers_[i].module->path, &layers_[i]});
    LOOM_TRY(add_cells(orders.by_names));
    for (const Entry& e : entries_) out_.order.push_back(e.path);
    ask_gaps();
    answer_by_place();
    return {};
  }

  std::vector<std::string> texts(const Orders& orders) const {
    std::vector<std::string> list;
    for (const auto& order : orders.found) {
      std::string text;
      for (const std::size_t i : order)
        text += (text.empty() ? "" : ", ") + layers_[i].module->path;
      list.push_back(std::move(text));
    }
    if (!orders.all && !list.empty()) list.emplace_back("...");
    return list;
  }

  // Cells without tensors, where their names say.
  Status add_cells(bool by_names) {
    for (const auto& [path, cell] : s_.cells.as_object()) {
      if (find(path)) continue;
      if (!by_names && layers_.size() > 1)
        return wrong(
            message("settings: \"cells\": ", quoted(path),
                    " has no tensors, and where names are not numbered \"layers\" alone says where "
                    "it stands"));
      entries_.push_back({path, nullptr});
    }
    if (by_names || layers_.size() < 2)
      std::stable_sort(entries_.begin(), entries_.end(),
                       [](const Entry& a, const Entry& b) { return natural_less(a.path, b.path); });
    return {};
  }

  bool present(const std::string& path) const {
    for (const Entry& e : entries_)
      if (e.path == path || (e.path.starts_with(path) && e.path[path.size()] == '.')) return true;
    return false;
  }

  // Numbers that no module has: modules without tensors.
  void ask_gaps() {
    std::set<std::string> asked;
    for (const Entry& e : entries_)
      for (std::size_t end = e.path.find('.');; end = e.path.find('.', end + 1)) {
        ask_gaps_before(e.path.substr(0, end), asked);
        if (end == std::string::npos) break;
      }
  }

  void ask_gaps_before(const std::string& path, std::set<std::string>& asked) {
    constexpr std::size_t kMaxGaps = 1000;
    if (next_path(path).empty()) return;
    std::string p = path.substr(0, path.rfind('.') + 1) + "0";
    for (; p != path && p.size() <= path.size() && asked.size() < kMaxGaps; p = next_path(p))
      if (!present(p) && asked.insert(p).second)
        out_.questions.push_back(
            {"cells",
             quoted(p) + " has no tensors: \"cells\" says what it is, as {\"" + p +
                 R"(": {"type": "activation", "activation": "relu"}})",
             {"activation", "flatten", "max_pool2d", "avg_pool2d", "dropout"}});
  }

  // What the place in the sequence tells.
  void answer_by_place() {
    const FoundLayer* before = nullptr;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      FoundLayer* l = entries_[i].layer;
      if (l && may_activate(*l) && s_.sequential) {
        const std::string next = next_path(l->module->path);
        if (!next.empty() && present(next))
          answer(*l, "activation", "the next of the sequence stands right behind it");
      }
      if (l && before && before->space > 0 && l->type == "dense" && s_.sequential)
        l->questions.push_back({"layers",
                                "between " + quoted(before->module->path) +
                                    " and this matrix the channels' places are flattened or pooled",
                                {"flatten", "avg_pool2d and flatten"}});
      before = l;
    }
  }

  // ---- as "layers" lists

  Status as_listed() {
    std::set<std::string> seen;
    for (const Json& item : s_.layers.as_array()) LOOM_TRY(mark(item, seen));
    for (FoundLayer& l : layers_) {
      if (!seen.contains(l.module->path))
        return wrong(message("settings: \"layers\" does not name the module ",
                             quoted(l.module->path), ": list it, or \"leave\" its tensors"));
      if (may_activate(l)) answer(l, "activation", "\"layers\" lists what stands behind it");
    }
    for (const auto& [path, cell] : s_.cells.as_object())
      if (!find(path))
        return wrong(message("settings: \"cells\": ", quoted(path),
                             " is no module of the file: with \"layers\" it stands in that list"));
    return {};
  }

  Status mark(const Json& item, std::set<std::string>& seen) {
    const Json* from = item.is_string() ? &item : item.find("from");
    if (!item.is_string() && !item.is_object())
      return wrong("settings: \"layers\" lists names of modules and cells");
    if (from) {
      FoundLayer* l = from->is_string() ? find(from->as_string()) : nullptr;
      if (!l)
        return Status(Code::not_found,
                      message("settings: \"layers\": no module of the file is called ",
                              quoted(from->is_string() ? from->as_string() : "?")));
      if (!seen.insert(l->module->path).second)
        return wrong(
            message("settings: \"layers\" names the module ", quoted(l->module->path),
                    " twice: the second time, a cell with a link {\"run\": cell} shares it"));
      if (item.is_object())
        for (const auto& [key, value] : item.as_object()) answer(*l, key, nullptr);
      out_.order.push_back(l->module->path);
    }
    const Json* nested = item.is_object() ? item.find("layers") : nullptr;
    if (nested && nested->is_array())
      for (const Json& inner : nested->as_array()) LOOM_TRY(mark(inner, seen));
    return {};
  }

  // ---- the input

  void ask_input() {
    if (!s_.input.is_null()) return;
    const FoundLayer* first = nullptr;
    if (!out_.order.empty()) first = find(out_.order[0]);
    const bool alone = first && (s_.layers.is_null() || s_.layers.as_array()[0].is_string() ||
                                 s_.layers.as_array()[0].find("from"));
    if (alone && first->in > 0 &&
        (first->type == "dense" || first->type == "swiglu" || first->type == "layer_norm" ||
         first->type == "rms_norm")) {
      width_ = first->in;
      return;
    }
    std::string text = "what a row of the input is, as in a topology";
    std::vector<std::string> choices;
    if (first && first->type == "embedding") {
      const std::string ids = std::to_string(first->module->find("weight")->shape[0]);
      choices = {"{\"ids\": " + ids + ", \"dims\": [steps]}", "{\"ids\": " + ids + "}"};
    } else if (first && first->space > 0) {
      choices = {"{\"dims\": [" + std::to_string(first->in) + ", ...]}"};
    } else if (first && first->in > 0) {
      choices = {"{\"dims\": [steps, " + std::to_string(first->in) + "]}"};
    }
    out_.questions.push_back({"input", std::move(text), std::move(choices)});
  }

  // ---- cells

  Status write() {
    Json input = s_.input;
    if (input.is_null()) {
      input = Json::object();
      input.set("width", width_);
    }
    if (const Json* dims = input.find("dims");
        dims && dims->is_array() && !dims->as_array().empty() && dims->as_array()[0].is_integer())
      channels_ = dims->as_array()[0].as_integer();
    Json cells = Json::array();
    if (s_.layers.is_null()) {
      for (const Entry& e : entries_) {
        Json cell = e.layer ? Json(e.path) : *s_.cells.find(e.path);
        if (!e.layer && !cell.find("name")) cell.set("name", e.path);
        LOOM_TRY(emit(cell, "", cells));
      }
    } else {
      for (const Json& item : s_.layers.as_array()) LOOM_TRY(emit(item, "", cells));
    }
    Json& t = out_.topology = Json::object();
    t.set("format", "loom-topology");
    t.set("version", Network::kVersion);
    t.set("layers_per_cell", static_cast<std::int64_t>(cells.as_array().size()));
    t.set("input", std::move(input));
    t.set("cells", std::move(cells));
    return {};
  }

  // Appends a cell to `list`; `parent`: the path of the cell that it is nested in.
  Status emit(const Json& item, const std::string& parent, Json& list) {
    const std::string number = std::to_string(list.as_array().size()),
                      path = parent.empty() ? "0.0.0." + number : parent + "/" + number;
    const Json* from = item.is_string() ? &item : item.find("from");
    FoundLayer* l = from ? find(from->as_string()) : nullptr;
    Json cell = Json::object();
    if (parent.empty()) {
      Json at = Json::array();
      for (int i = 0; i < 3; ++i) at.push(0);
      at.push(static_cast<std::int64_t>(list.as_array().size()));
      cell.set("at", std::move(at));
    }
    if (l) layer_cell(*l, cell);
    if (item.is_object() && item.find("at"))
      return wrong("settings: cells stand in their order: no \"at\"");
    if (item.is_object())
      for (const auto& [key, value] : item.as_object())
        if (key != "from" && key != "layers") cell.set(key, value);
    if (const Json* nested = item.is_object() ? item.find("layers") : nullptr) {
      Json inner = Json::array();
      if (!nested->is_array()) return wrong("settings: \"layers\" of a cell must be a list");
      for (const Json& n : nested->as_array()) LOOM_TRY(emit(n, path, inner));
      cell.set("layers", std::move(inner));
    }
    std::string activation;
    if (l && !has_activation(*l) && may_activate(*l)) activation = taken(cell, "activation");
    if (l) bind(*l, path, cell);
    list.push(std::move(cell));
    if (activation.empty() || activation == "linear") return {};
    Json behind = Json::object();
    behind.set("type", "activation");
    behind.set("activation", activation);
    return emit(behind, parent, list);
  }

  static std::string taken(Json& cell, std::string_view key) {
    Json::Object& members = cell.as_object();
    for (std::size_t i = 0; i < members.size(); ++i)
      if (members[i].first == key) {
        const std::string value =
            members[i].second.is_string() ? members[i].second.as_string() : "?";
        members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
        return value;
      }
    return "";
  }

  void layer_cell(FoundLayer& l, Json& cell) {
    cell.set("type", l.type);
    if (!l.module->path.empty()) cell.set("name", l.module->path);
    for (const auto& [key, value] : l.cell.as_object()) cell.set(key, value);
    if (l.space > 0) {
      const bool plain = !l.type.starts_with("conv_transpose");
      if (plain && !cell.find("groups") && channels_ > l.in && channels_ % l.in == 0) {
        cell.set("groups", channels_ / l.in);
        l.certain.push_back("groups " + std::to_string(channels_ / l.in) + ": " +
                            std::to_string(channels_) + " channels arrive");
      }
      channels_ = l.out;
    }
    for (const auto& p : l.module->parts)
      if (p.tensor->type == StorageType::f64 && !cell.find("dtype")) cell.set("dtype", "f64");
  }

  void bind(const FoundLayer& l, const std::string& path, const Json& cell) {
    const Json* groups = cell.find("groups");
    out_.bound.push_back({path, l.module, l.type, l.layout,
                          groups && groups->is_integer() ? groups->as_integer() : 1});
  }

  struct Entry {
    std::string path;
    FoundLayer* layer;  // null: a cell of the settings
  };
  std::vector<FoundLayer>& layers_;
  const WeightSettings& s_;
  std::vector<Entry> entries_;
  Assembly out_;
  std::int64_t width_ = 0, channels_ = 0;
};

}  // namespace

Result<Assembly> assemble(std::vector<FoundLayer>& layers, const WeightSettings& settings) {
  return Assembler(layers, settings).run();
}

}  // namespace loom
