#include "c_api/objects.h"

#include <unordered_map>

namespace loom::c_api {
namespace {

// Handles count up and are never reused, so one that was released is recognized for ever. Lookups by key only: no order leaks out.
struct Registry {
  locks::shared_mutex mutex;
  std::unordered_map<loom_handle, std::shared_ptr<Object>> objects;
  loom_handle last = 0;
};

// Never destroyed: threads may still call while the process ends.
Registry& registry() {
  static Registry* const r = new Registry;
  return *r;
}

}  // namespace

loom_handle add(std::shared_ptr<Object> object) {
  Registry& r = registry();
  const locks::unique_lock lock(r.mutex);
  r.objects.emplace(r.last + 1, std::move(object));
  return ++r.last;
}

std::shared_ptr<Object> find(loom_handle handle) {
  Registry& r = registry();
  const locks::shared_lock lock(r.mutex);
  const auto it = r.objects.find(handle);
  return it == r.objects.end() ? nullptr : it->second;
}

bool remove(loom_handle handle) {
  Registry& r = registry();
  std::shared_ptr<Object> last;  // dies after the lock is given back
  const locks::unique_lock lock(r.mutex);
  const auto it = r.objects.find(handle);
  if (it == r.objects.end()) return false;
  last = std::move(it->second);
  r.objects.erase(it);
  return true;
}

std::int64_t count() {
  Registry& r = registry();
  const locks::shared_lock lock(r.mutex);
  return static_cast<std::int64_t>(r.objects.size());
}

std::string_view kind_name(std::int32_t kind) {
  static constexpr std::string_view kNames[] = {"object", "bytes object", "network", "session", "data object", "trainer", "tokenizer", "decoder", "model", "generator", "onnx graph"};
  return kind > 0 && kind < static_cast<std::int32_t>(std::size(kNames)) ? kNames[kind] : kNames[0];
}

Status no_such_handle(loom_handle handle, std::int32_t expected) {
  const std::shared_ptr<Object> object = find(handle);
  const std::string wanted(kind_name(expected));
  if (object) return Status(Code::invalid_handle, "expects a " + wanted + ", got a " + std::string(kind_name(object->kind)));
  if (handle == 0) return Status(Code::invalid_handle, "expects a " + wanted + ", got 0");
  return Status(Code::invalid_handle, "expects a " + wanted + ", got the handle " + std::to_string(handle) + ", which was released or never made");
}

}  // namespace loom::c_api
