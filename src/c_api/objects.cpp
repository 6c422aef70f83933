#include "c_api/objects.h"

#if !defined(__wasm__)
#include <pthread.h>
#endif

#include <new>
#include <unordered_map>

#include "base/message.h"

namespace loom::c_api {
namespace {

// Where cancel() finds the flag of a live object: a list that only grows, of which what is free is
// used again.
struct CancelSlot {
  std::atomic<loom_handle> handle{0};  // 0: free
  std::atomic<std::atomic<bool>*> flag{nullptr};
  CancelSlot* next = nullptr;       // of the list
  CancelSlot* next_free = nullptr;  // under the registry's lock
};
std::atomic<CancelSlot*> cancel_slots{nullptr};
std::atomic<int> cancelling{0};  // threads inside cancel(), whose flags stay until they leave

// Handles count up and are never reused, so one that was released is recognized for ever. Lookups
// by key only: no order leaks out.
struct Registry {
  locks::shared_mutex mutex;
  std::unordered_map<loom_handle, std::shared_ptr<Object>> objects;
  loom_handle last = 0;
  CancelSlot* free_slots = nullptr;

  // So that there is a free slot.
  void reserve_slot() {
    if (free_slots) return;
    auto* slot = new CancelSlot;
    slot->next = cancel_slots.load();
    cancel_slots.store(slot);
    free_slots = slot;
  }
  void take_slot(loom_handle handle, Object& object) {
    CancelSlot* slot = free_slots;
    free_slots = slot->next_free;
    slot->flag.store(object.cancel_flag());
    slot->handle.store(handle);
  }
  void free_slot(loom_handle handle) {
    CancelSlot* slot = cancel_slots.load();
    while (slot && slot->handle.load() != handle) slot = slot->next;
    if (!slot) return;
    slot->handle.store(0);
    while (cancelling.load() != 0) {
    }
    slot->next_free = free_slots;
    free_slots = slot;
  }
};

// Never destroyed: threads may still call while the process ends. A fork waits until no thread is
// inside the registry, and its child tells all objects, before it can call anything.
Registry& registry() {
  static Registry* const r = [] {
    static Registry* made = new Registry;
#if !defined(__wasm__)
    (void)pthread_atfork(
        [] { made->mutex.lock(); }, [] { made->mutex.unlock(); },
        [] {
          new (&made->mutex)
              locks::shared_mutex;  // to unlock it is only for the thread that has locked it
          cancelling.store(0);
          for (auto& [handle, object] : made->objects) object->forked();
        });
#endif
    return made;
  }();
  return *r;
}

Status torn_network() {
  return Status(
      Code::busy,
      "the process was forked while another thread changed this network: load or copy it again");
}

}  // namespace

loom_handle add(std::shared_ptr<Object> object) {
  Registry& r = registry();
  const locks::unique_lock lock(r.mutex);
  Object& added = *object;
  if (added.cancel_flag()) r.reserve_slot();
  r.objects.emplace(r.last + 1, std::move(object));
  if (added.cancel_flag()) r.take_slot(r.last + 1, added);
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
  if (last->cancel_flag()) r.free_slot(handle);
  return true;
}

bool cancel(loom_handle handle) {
  static_assert(std::atomic<bool>::is_always_lock_free &&
                std::atomic<loom_handle>::is_always_lock_free);
  if (handle == 0) return false;
  cancelling.fetch_add(1);
  CancelSlot* slot = cancel_slots.load();
  while (slot && slot->handle.load() != handle) slot = slot->next;
  if (slot) slot->flag.load()->store(true);
  cancelling.fetch_sub(1);
  return slot != nullptr;
}

std::int64_t count() {
  Registry& r = registry();
  const locks::shared_lock lock(r.mutex);
  return static_cast<std::int64_t>(r.objects.size());
}

Result<locks::unique_lock<locks::fair_mutex>> SharedNetwork::hold_alone(const Ahead* holder) {
  LOOM_TRY(outside_of_calls());
  if (torn) return torn_network();
  locks::unique_lock lock(mutex);
  if (Ahead* const other = ahead; other && other != holder) {
    lost = other->bring();
    ahead = nullptr;
  }
  LOOM_TRY(std::exchange(lost, Status())
               .at("the newest values of the network, which a trainer had on a device"));
  return lock;
}
Result<locks::shared_lock<locks::fair_mutex>> SharedNetwork::hold_shared() {
  LOOM_TRY(outside_of_calls());
  if (torn) return torn_network();
  while (true) {
    locks::shared_lock lock(mutex);
    if (!ahead && lost.ok()) return lock;
    lock.unlock();
    LOOM_TRY(hold_alone().status());
  }
}

// The network keeps what was learned. Without a lock where nothing is to be brought: the last
// handle may be released inside a call that holds it.
TrainerObject::~TrainerObject() {
  if (left || shared->torn || shared->ahead != this) return;
  const locks::unique_lock lock(shared->mutex);
  if (shared->ahead != this) return;
  shared->lost = bring();
  shared->ahead = nullptr;
}
void SharedNetwork::forked() {
#if !defined(__wasm__)
  torn |= mutex.forked();
#endif
}

Result<locks::unique_lock<locks::mutex>> enter(locks::mutex& mutex, const bool& left,
                                               std::int32_t kind) {
  LOOM_TRY(outside_of_calls());
  locks::unique_lock lock(mutex, locks::try_to_lock);
  if (left)
    return Status(Code::busy,
                  message("the process was forked while another thread was inside a call on this ",
                          kind_name(kind), ": make a new one"));
  if (!lock)
    return Status(Code::busy, message("another thread is inside a call on this ", kind_name(kind)));
  return lock;
}

Status Object::pause_after(std::int64_t) {
  return Status(Code::unsupported, message("handles of the kind \"", kind_name(kind),
                                           "\" do not pause: sessions and step meshes do"));
}

std::string_view kind_name(std::int32_t kind) {
  static constexpr std::string_view kNames[] = {
      "object",   "bytes object", "network",   "session",    "data object", "trainer", "tokenizer",
      "decoder",  "model",        "generator", "onnx graph", "seq2seq",     "file",    "evaluator",
      "training", "predictor",    "step mesh", "population", "online",      "program"};
  return kind > 0 && kind < static_cast<std::int32_t>(std::size(kNames)) ? kNames[kind] : kNames[0];
}

Status no_such_handle(loom_handle handle, std::int32_t expected) {
  const std::shared_ptr<Object> object = find(handle);
  const std::string wanted(kind_name(expected));
  if (object)
    return Status(Code::invalid_handle,
                  message("expects a ", wanted, ", got a ", kind_name(object->kind)));
  if (handle == 0) return Status(Code::invalid_handle, message("expects a ", wanted, ", got 0"));
  return Status(Code::invalid_handle, message("expects a ", wanted, ", got the handle ", handle,
                                              ", which was released or never made"));
}

Json statistics(Observing* observing, std::int64_t passes, std::int64_t observed) {
  Json json = Json::object();
  json.set("passes", passes);
  json.set("observed", observed);
  json.set("dropped", observing ? observing->recorder.dropped() : 0);
  json.set("events", observing ? observing->recorder.take() : Json::array());
  return json;
}

}  // namespace loom::c_api
