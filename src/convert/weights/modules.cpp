#include "convert/weights/modules.h"

#include <algorithm>

#include "base/message.h"

namespace loom {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The next run of digits, or of others, of `text`, which loses it.
std::string_view take_run(std::string_view& text) {
  std::size_t n = 1;
  while (n < text.size() && is_digit(text[n]) == is_digit(text[0])) ++n;
  const std::string_view run = text.substr(0, n);
  text.remove_prefix(n);
  return run;
}

// Below, equal to or above 0: as numbers of any length.
int compare_numbers(std::string_view a, std::string_view b) {
  while (a.size() > 1 && a[0] == '0') a.remove_prefix(1);
  while (b.size() > 1 && b[0] == '0') b.remove_prefix(1);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

std::string_view take_component(std::string_view& text) {
  const std::size_t dot = text.find('.');
  const std::string_view part = text.substr(0, dot);
  text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
  return part;
}

std::string erased(std::string name, std::string_view infix) {
  for (std::size_t at = name.find(infix); at != std::string::npos; at = name.find(infix, at))
    if (at == 0 || name[at - 1] == '.') name.erase(at, infix.size());
    else ++at;
  return name;
}

bool is_head(std::string_view name) {
  for (const std::string_view head :
       {"lm_head.", "output.", "score.", "classifier.", "embed_out.", "qa_outputs."})
    if (name.starts_with(head)) return true;
  return false;
}

class Stripping {
 public:
  explicit Stripping(StrippedNames& s) : s_(s) {}

  bool drop(std::string_view prefix, bool beside_heads) {
    bool any = false;
    for (const std::string& n : s_.names) {
      if (n.starts_with(prefix) && n.size() > prefix.size()) any = true;
      else if (!beside_heads || !is_head(n)) return false;
    }
    if (!any) return false;
    for (std::string& n : s_.names)
      if (n.starts_with(prefix)) n.erase(0, prefix.size());
    s_.prefixes.emplace_back(prefix);
    return true;
  }

  Status drop_given(const std::string& prefix) {
    bool any = false;
    for (std::string& n : s_.names) {
      if (prefix.empty() || !n.starts_with(prefix) || n.size() == prefix.size()) continue;
      n.erase(0, prefix.size());
      any = true;
    }
    if (!any)
      return Status(Code::invalid_argument,
                    message("\"strip\": no tensor has a name that begins with ", quoted(prefix)));
    s_.prefixes.push_back(prefix);
    return {};
  }

  void drop_known() {
    for (std::string& n : s_.names) {
      std::string shorter = erased(n, "_orig_mod.");
      if (shorter != n && (s_.prefixes.empty() || s_.prefixes[0] != "_orig_mod."))
        s_.prefixes.insert(s_.prefixes.begin(), "_orig_mod.");
      n = std::move(shorter);
    }
    for (int round = 0; round < 3; ++round) {
      bool any = false;
      for (const std::string_view prefix :
           {"model_state_dict.", "state_dict.", "module.", "base_model.model."})
        any = drop(prefix, false) || any;
      if (!any) break;
    }
    for (const std::string_view prefix : {"model.", "transformer."}) drop(prefix, true);
  }

 private:
  StrippedNames& s_;
};

constexpr std::string_view kAttention[][4] = {{"q_proj", "k_proj", "v_proj", "o_proj"},
                                              {"q_proj", "k_proj", "v_proj", "out_proj"},
                                              {"q", "k", "v", "o"},
                                              {"wq", "wk", "wv", "wo"}};
constexpr std::string_view kSwiglu[][3] = {{"gate_proj", "up_proj", "down_proj"},
                                           {"w1", "w3", "w2"}};

class Groups {
 public:
  std::vector<WeightModule> list;

  WeightModule* find(const std::string& path) {
    for (WeightModule& m : list)
      if (m.path == path) return &m;
    return nullptr;
  }

  void add(const std::string& name, const TensorInfo& tensor) {
    const std::size_t dot = name.rfind('.');
    const std::string path = dot == std::string::npos ? "" : name.substr(0, dot);
    const std::string role = dot == std::string::npos ? name : name.substr(dot + 1);
    // Sorted names bring a module's tensors one after another, but for those of its children.
    WeightModule* group = !list.empty() && list.back().path == path ? &list.back() : nullptr;
    if (!group) list.push_back({path, {}, ""}), group = &list.back();
    group->parts.push_back({role, &tensor});
  }

  // The children `names` of `parent` become parts of it, with what they were called.
  void join(const std::string& parent, std::span<const std::string_view> names, const char* kind) {
    WeightModule made{parent, {}, kind};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto at = std::find_if(list.begin(), list.end(), [&](const WeightModule& m) {
        return m.path == child(parent, names[i]);
      });
      if (at == list.end()) continue;
      const std::string as(kRoles[kind[0] == 'a' ? 0 : 1][i]);
      for (const auto& p : at->parts) made.parts.push_back({as + "." + p.role, p.tensor});
      list.erase(at);
    }
    if (WeightModule* own = find(parent)) {
      own->kind = kind;
      own->parts.insert(own->parts.end(), made.parts.begin(), made.parts.end());
    } else {
      list.push_back(std::move(made));
    }
  }

  static std::string child(const std::string& parent, std::string_view name) {
    return (parent.empty() ? "" : parent + ".") + std::string(name);
  }
  bool all(const std::string& parent, std::span<const std::string_view> names) {
    for (const std::string_view n : names) {
      const WeightModule* m = find(child(parent, n));
      if (!m || !m->has("weight")) return false;
    }
    return true;
  }

 private:
  static constexpr std::string_view kRoles[2][6] = {{"q", "k", "v", "o", "q_norm", "k_norm"},
                                                    {"gate", "up", "down"}};
};

void join_layers(Groups& g) {
  std::vector<std::string> parents;
  for (const WeightModule& m : g.list) {
    const std::size_t dot = m.path.rfind('.');
    parents.push_back(dot == std::string::npos ? "" : m.path.substr(0, dot));
    if (m.has("in_proj_weight")) parents.push_back(m.path);
  }
  std::sort(parents.begin(), parents.end());
  parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
  for (const std::string& parent : parents) {
    const WeightModule* own = g.find(parent);
    if (own && own->has("in_proj_weight")) {
      const std::string_view names[] = {"", "", "", "out_proj"};
      g.join(parent, names, "attention");
    }
    for (const auto& names : kAttention)
      if (g.all(parent, names)) {
        const std::string_view all[] = {names[0], names[1], names[2], names[3], "q_norm", "k_norm"};
        g.join(parent, all, "attention");
      }
    for (const auto& names : kSwiglu)
      if (g.all(parent, names)) g.join(parent, names, "swiglu");
  }
}

}  // namespace

const TensorInfo* WeightModule::find(std::string_view role) const {
  for (const Part& p : parts)
    if (p.role == role) return p.tensor;
  return nullptr;
}

bool natural_less(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const std::string_view x = take_run(a), y = take_run(b);
    const int order = is_digit(x[0]) && is_digit(y[0]) ? compare_numbers(x, y) : x.compare(y);
    if (order != 0) return order < 0;
  }
  return a.empty() && !b.empty();
}

NameOrder name_order(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    std::string_view x = take_component(a), y = take_component(b);
    if (x == y) continue;
    while (!x.empty() && !y.empty()) {
      const std::string_view p = take_run(x), q = take_run(y);
      if (p == q) continue;
      if (!is_digit(p[0]) || !is_digit(q[0]) || !x.empty() || !y.empty()) break;
      return compare_numbers(p, q) < 0 ? NameOrder::before : NameOrder::after;
    }
    break;
  }
  return NameOrder::unknown;
}

Result<StrippedNames> strip_prefixes(std::span<const TensorInfo> tensors,
                                     const std::vector<std::string>* given) {
  StrippedNames s;
  for (const TensorInfo& t : tensors) s.names.push_back(t.name);
  Stripping strip(s);
  if (given) {
    for (const std::string& prefix : *given) LOOM_TRY(strip.drop_given(prefix));
  } else {
    strip.drop_known();
  }
  std::vector<std::string> sorted = s.names;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return Status(Code::invalid_argument,
                  message("without their prefixes two tensors are called ", quoted(*twice),
                          ": \"strip\" says which prefixes go, [] none"));
  return s;
}

Result<std::vector<WeightModule>> modules_of(std::span<const TensorInfo> tensors,
                                             const std::vector<std::string>& names, bool join) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::string &x = names[a], &y = names[b];
    const std::string_view p = std::string_view(x).substr(0, x.rfind('.') + 1),
                           q = std::string_view(y).substr(0, y.rfind('.') + 1);
    return p != q ? natural_less(p, q) : natural_less(x, y);
  });
  Groups groups;
  for (const std::size_t i : order) {
    if (names[i].find(".lora_A.") != std::string::npos ||
        names[i].find(".lora_B.") != std::string::npos)
      return Status(
          Code::unsupported,
          message("tensor ", quoted(names[i]),
                  " is of a LoRA adapter, which is no network: load it beside its network, "
                  "or merge it first"));
    groups.add(names[i], tensors[i]);
  }
  if (join) join_layers(groups);
  std::stable_sort(
      groups.list.begin(), groups.list.end(),
      [](const WeightModule& a, const WeightModule& b) { return natural_less(a.path, b.path); });
  return std::move(groups.list);
}

}  // namespace loom
