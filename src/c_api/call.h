// What every function of the C interface does with its arguments and its errors. Internal.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <loom/loom.h>
#include "base/json/json.h"
#include "c_api/objects.h"
#include "checkpoint/adapter_file.h"
#include "exec/machine.h"
#include "numeric/weight_format.h"

namespace loom::c_api {

// Writes the error and returns its code. Allocates nothing.
std::int32_t report(const Status& status, loom_error* error);

// Runs body(context) and reports its status. Nothing is thrown across the border: what the standard
// library throws becomes a code.
std::int32_t call(loom_error* error, Status (*body)(void* context), void* context);
template <class F>
std::int32_t call(loom_error* error, F body) {
  return call(error, [](void* context) -> Status { return (*static_cast<F*>(context))(); }, &body);
}

// cancel() of objects.h, with an error that is written without an allocation too.
std::int32_t cancel_call(loom_handle handle, loom_error* error);

// A call that cancel() ends: before anything else where it came before, or inside of body(). The
// call that it ended has used it up.
template <class T, class F>
Status cancellable(T& object, F body) {
  Status status = object.cancel ? Status(Code::cancelled, "cancelled before it began") : body();
  if (status.code() == Code::cancelled) object.cancel = false;
  return status;
}

// Where a result goes; a null pointer is refused before anything is done.
Status want_all(bool given);
template <class... T>
Status want(T*... out) {
  return want_all(((out != nullptr) && ...));
}

// A text argument; `what` names it in errors.
Result<std::string_view> text_argument(const char* data, std::size_t size, std::string_view what);
// A path or name: not empty, without a zero.
Result<std::string> path_argument(const char* data, std::size_t size, std::string_view what);
// A JSON argument; an empty text is {}.
Result<Json> json_argument(const char* data, std::size_t size, std::string_view what);
// "" is none.
Result<std::optional<WeightFormat>> format_argument(const char* data, std::size_t size);

template <class T>
Result<std::span<T>> span(T* data, std::size_t count, std::string_view what) {
  if (data == nullptr && count > 0)
    return Status(Code::invalid_argument,
                  std::string(what) + ": NULL with a count of " + std::to_string(count));
  if (count > PTRDIFF_MAX / sizeof(T))
    return Status(Code::out_of_range,
                  std::string(what) + ": a count of " + std::to_string(count) + " is too large");
  return std::span<T>(data, count);
}
// Ids, positions and the like go in as int32; what is below 0 is an error.
Result<std::vector<std::uint32_t>> unsigned_values(const std::int32_t* data, std::size_t count,
                                                   std::string_view what);
Status expect_count(std::string_view what, std::size_t got, std::int64_t expected);
// The index of a cell by its name, "z.y.x.l".
Result<std::size_t> parse_cell(const Network& network, std::string_view text);
// count of a x b values; out_of_range where it overflows or is negative.
Result<std::int64_t> product(std::string_view what, std::int64_t a, std::int64_t b);

// Returns with the network held, and what works on it in `worker` made for it as it is now: where
// only values have changed it is refreshed, if it can be, else made anew.
template <class Worker, class T, class Make>
Result<locks::shared_lock<locks::fair_mutex>> ready(Worker& worker, std::optional<T>& made,
                                                    const Make& make) {
  SharedNetwork& n = *worker.shared;
  LOOM_ASSIGN(auto lock, n.hold_shared());
  const auto fits = [&] {
    return made && worker.forms == n.forms && worker.options.adapter == n.adapter;
  };
  if (fits() && worker.values == n.values) return lock;
  lock.unlock();
  LOOM_ASSIGN(auto alone, n.hold_alone());
  bool refreshed = false;
  if constexpr (requires { made->refresh(); }) {
    if (fits()) {
      LOOM_TRY(made->refresh());
      refreshed = true;
    }
  }
  if (!refreshed) {
    if constexpr (requires { worker.keep(); }) worker.keep();
    made.reset();
    worker.options.adapter = n.adapter;
    LOOM_ASSIGN(T fresh, make());
    made.emplace(std::move(fresh));
  }
  worker.values = n.values;
  worker.forms = n.forms;
  return locks::downgraded(std::move(alone));
}

// The options of session_create.
struct SessionSettings {
  SessionOptions options;
  bool ignore_rules = false;
  webgpu::Choice device;
  int threads = 0;
};
Result<SessionSettings> session_settings(const Result<Json>& options, const SharedNetwork& network);

// The device that an object runs on, for its info.
void set_device(Json& info, const webgpu::Choice& device);

// What files call the weights that an adapter can stand beside: as transformers does, where the
// network is a language model's.
std::vector<AdapterPlace> places_of(SharedNetwork& shared);
// What an adapter's file says of the network under it.
AdapterBase base_of(const SharedNetwork& shared);
// What lies beside the network in a file that is saved: of a language model its tokenizer and
// settings, else what the file of the network had. The caller holds the network alone.
Result<EntitySections> sections_of(SharedNetwork& shared);

// A handle that is released unless it is taken: what a call gives together, it gives whole.
class NewHandle {
 public:
  explicit NewHandle(loom_handle handle) : handle_(handle) {}
  NewHandle(const NewHandle&) = delete;
  NewHandle& operator=(const NewHandle&) = delete;
  ~NewHandle() {
    if (handle_ != 0) remove(handle_);
  }
  loom_handle take() { return std::exchange(handle_, 0); }

 private:
  loom_handle handle_;
};

// New bytes objects: made whole before the handle is given out.
loom_handle new_bytes(std::vector<std::byte> bytes);
loom_handle new_text(std::string_view text);
inline loom_handle new_json(const Json& json) { return new_text(json.dump()); }
loom_handle new_ids(std::span<const std::int32_t> ids);

// Null where there is none.
inline Json optional_id(const std::optional<std::int32_t>& id) {
  return id ? Json(static_cast<std::int64_t>(*id)) : Json();
}

}  // namespace loom::c_api
