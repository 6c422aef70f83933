#include "ops/calls/custom_layer.h"

#include <algorithm>
#include <initializer_list>
#include <new>

#include "base/fields/field_reader.h"
#include "base/threads/locks.h"
#include "ops/cpu/kernel_args.h"

namespace loom {
namespace {

// Of words, so that callers join no texts.
using Words = std::initializer_list<std::string_view>;
std::string joined(Words words) {
  std::string text;
  for (const std::string_view word : words) text += word;
  return text;
}
Status bad(Words words) { return Status(Code::invalid_argument, joined(words)); }

struct Registry {
  locks::mutex mutex;
  std::vector<CustomLayerPtr> layers;
  auto find(std::string_view name, std::int32_t version) {
    return std::find_if(layers.begin(), layers.end(), [&](const CustomLayerPtr& l) {
      return l->version == version && l->name == name;
    });
  }
};
// Never destroyed: what is registered may be of a language that ends before the library does.
Registry& registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

thread_local const CustomLayer* inside = nullptr;
class Inside {
 public:
  explicit Inside(const CustomLayer& layer) : before_(inside) { inside = &layer; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { inside = before_; }

 private:
  const CustomLayer* before_;
};

std::string title(const CustomLayer& layer) {
  return joined({"custom layer ", layer.name, "@", std::to_string(layer.version)});
}

bool is_name(std::string_view name, std::string_view also) {
  return !name.empty() && name.size() <= 200 && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           also.find(c) != std::string_view::npos;
  });
}

Status read_param(const Json& json, CallPlan& plan) {
  CallParam p;
  p.init = "zeros";
  FieldReader reader(json);
  reader("role", p.role, {.required = true});
  reader("rows", p.rows, {.min = 1, .max = 0x7fffffff});
  reader("cols", p.cols, {.min = 1, .max = 0x7fffffff, .required = true});
  reader("init", p.init, {.one_of = "zeros, ones, normal"});
  reader("std", p.std, {.min = 0});
  LOOM_TRY(reader.finish("a parameter has"));
  if (!is_name(p.role, "")) return bad({"a role is letters, digits and _, got \"", p.role, "\""});
  for (const CallParam& other : plan.params)
    if (other.role == p.role) return bad({"two parameters have the role \"", p.role, "\""});
  if (p.init == "normal" ? p.std == 0 : p.std != 0)
    return bad({"parameter ", p.role, ": \"std\" goes with \"init\": \"normal\", which needs it"});
  plan.params.push_back(std::move(p));
  return {};
}

Result<CallPlan> read_plan(const std::string& text) {
  LOOM_ASSIGN(const Json json, Json::parse(text));
  CallPlan plan;
  FieldReader reader(json);
  reader("out", plan.out, {.min = 1, .max = 0x7fffffff, .required = true});
  LOOM_TRY(reader.finish("a plan has", {"params"}));
  if (plan.out.empty() || plan.out.size() > 4)
    return bad({"\"out\" has one to four dimensions, got ", std::to_string(plan.out.size())});
  plan.width = 1;
  for (const std::int64_t d : plan.out) {
    if (d > INT32_MAX / plan.width) return bad({"\"out\": a row has at most 2^31-1 values"});
    plan.width *= d;
  }
  const Json* params = json.find("params");
  if (!params) return plan;
  if (!params->is_array()) return bad({"\"params\": expected a list"});
  if (params->as_array().size() > kMaxCallParams)
    return bad({"\"params\": at most 4, got ", std::to_string(params->as_array().size())});
  for (const Json& param : params->as_array()) LOOM_TRY(read_param(param, plan));
  return plan;
}

// As instructions store values.
template <class T>
void settle_rows(const CallArray& a) {
  for (std::int64_t r = 0; r < a.rows; ++r) {
    T* row = static_cast<T*>(a.data) + r * a.stride;
    for (std::int64_t c = 0; c < a.cols; ++c) row[c] = cpu::stored(row[c]);
  }
}

// What a function throws that is Loom's own, or a host's that was compiled with it.
template <class F>
auto guarded(const CustomLayer& layer, F body) -> decltype(body()) {
  const Inside in(layer);
#if defined(__cpp_exceptions)
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, "");
  } catch (...) {
    return Status(Code::internal, "threw an exception");
  }
#else
  return body();
#endif
}

}  // namespace

Status register_custom_layer(CustomLayerPtr layer) {
  LOOM_TRY(outside_of_calls());
  if (!is_name(layer->name, ".-"))
    return bad(
        {"the name of a custom layer is letters, digits, '_', '.' and '-', as acme.swirl; got \"",
         layer->name, "\""});
  if (layer->version < 1) return bad({title(*layer), ": versions count from 1"});
  if (!layer->f32 && !layer->f64)
    return bad({title(*layer), ": computes neither in f32 nor in f64"});
  Registry& r = registry();
  const locks::unique_lock lock(r.mutex);
  const auto at = r.find(layer->name, layer->version);
  if (at == r.layers.end()) r.layers.push_back(std::move(layer));
  else if (!(*at)->same(*layer))
    return bad({title(*layer),
                " is registered already, with other functions: give it the next "
                "version, or unregister the first"});
  return {};
}

Status unregister_custom_layer(std::string_view name, std::int32_t version) {
  LOOM_TRY(outside_of_calls());
  LOOM_ASSIGN(const CustomLayerPtr last,
              find_custom_layer(name, version));  // dies without the lock
  Registry& r = registry();
  const locks::unique_lock lock(r.mutex);
  if (last.use_count() > 2)  // the registry's and this one
    return Status(Code::busy,
                  title(*last) + " is part of a network or a session: release those first");
  std::erase(r.layers, last);
  return {};
}

Result<CustomLayerPtr> find_custom_layer(std::string_view name, std::int32_t version) {
  Registry& r = registry();
  const locks::unique_lock lock(r.mutex);
  if (const auto at = r.find(name, version); at != r.layers.end()) return *at;
  std::string known;
  for (const CustomLayerPtr& l : r.layers)
    known += joined({known.empty() ? "" : ", ", l->name, "@", std::to_string(l->version)});
  return Status(Code::not_found,
                joined({"no custom layer ", name, "@", std::to_string(version), " is registered: ",
#if defined(__wasm__)
                        "not in WebAssembly, where none can be"
#else
                        "register it with loom_layer_register (Python: welvet.register_layer) "
                        "before; registered are ",
                        known.empty() ? "none" : known
#endif
                }));
}

Result<CallPlan> plan_call(const CustomLayer& layer, const Call& call) {
  Json request = Json::object();
  LOOM_ASSIGN(Json config, Json::parse(call.config));
  request.set("config", std::move(config));
  request.set("dims", Json(Json::Array(call.dims.begin(), call.dims.end())));
  const auto text =
      guarded(layer, [&]() -> Result<std::string> { return layer.plan(request.dump()); });
  if (!text.ok()) return text.status().at(title(layer));
  auto plan = read_plan(*text);
  if (!plan.ok()) return plan.status().at(title(layer) + ": its plan");
  return plan;
}

Status run_call(const CustomLayer& layer, const CallArrays& arrays, bool backward) noexcept {
  const Status status = guarded(layer, [&]() -> Status {
    const Status run = backward ? layer.backward(arrays) : layer.forward(arrays);
    if (run.ok()) return run;
    return run.at(joined({title(layer), arrays.path.empty() ? "" : " at ", arrays.path,
                          backward ? ": backward" : ": forward"}));
  });
  const auto settle = arrays.f64 ? settle_rows<double> : settle_rows<float>;
  settle(backward ? arrays.gx : arrays.y);
  for (std::size_t i = 0; backward && i < arrays.param_count; ++i) settle(arrays.gparams[i]);
  return status;
}

std::string custom_numerics(const std::vector<Call>& calls, std::string_view otherwise) {
  std::vector<std::string> names;
  for (const Call& call : calls)
    if (std::ranges::find(names, call.to_string()) == names.end())
      names.push_back(call.to_string());
  if (names.empty()) return std::string(otherwise);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "custom(" : ", ") + name;
  return text + ")";
}

Status outside_of_calls() {
  if (!inside) return {};
  return Status(Code::busy, joined({"a function of the ", title(*inside),
                                    " calls back into the library, which waits for it: compute "
                                    "with what it was given alone"}));
}

}  // namespace loom
