// Loom for C++20: classes over loom.h, header only. Objects own their handle, are moved, not
// copied, and give it back when they die; the order does not matter. What goes wrong is thrown as
// loom::Error. Options are aggregates (options.hpp), values are views with a shape (tensor.hpp),
// networks are built of layers (layers.hpp, to be included for itself), or all of these are JSON
// text and plain spans, as loom.h documents them. Threads: as loom.h says for each kind of object.
#ifndef LOOM_LOOM_HPP
#define LOOM_LOOM_HPP

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error.hpp"
#include "loom.h"
#include "options.hpp"
#include "tensor.hpp"

namespace loom {
inline namespace api {

// A handle and its end.
class Object {
 public:
  Object() = default;
  explicit Object(loom_handle handle) : handle_(handle) {}
  Object(Object&& other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
  Object& operator=(Object&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, 0);
    }
    return *this;
  }
  ~Object() { reset(); }
  void reset() {
    if (handle_ != 0) loom_release(std::exchange(handle_, 0), nullptr);
  }
  loom_handle handle() const { return handle_; }
  explicit operator bool() const { return handle_ != 0; }

 private:
  loom_handle handle_ = 0;
};

class Bytes : public Object {
 public:
  using Object::Object;
  static Bytes create(std::uint64_t size) {
    loom_bytes bytes = 0;
    check(loom_bytes_create, size, &bytes);
    return Bytes(bytes);
  }
  static Bytes load(std::string_view path) {
    loom_bytes bytes = 0;
    check(loom_bytes_load, path.data(), path.size(), &bytes);
    return Bytes(bytes);
  }
  void save(std::string_view path) const {
    check(loom_bytes_save, handle(), path.data(), path.size());
  }
  // What a save to this path would be refused for.
  static void check_save(std::string_view path) {
    check(loom_bytes_check_save, path.data(), path.size());
  }
  std::span<std::byte> span() const {
    void* data = nullptr;
    std::uint64_t size = 0;
    check(loom_bytes_data, handle(), &data, &size);
    return {static_cast<std::byte*>(data), static_cast<std::size_t>(size)};
  }
  std::string text() const {
    const auto s = span();
    return {reinterpret_cast<const char*>(s.data()), s.size()};
  }
  std::vector<std::int32_t> ids() const {
    const auto s = span();
    std::vector<std::int32_t> out(s.size() / sizeof(std::int32_t));
    if (!out.empty()) std::memcpy(out.data(), s.data(), s.size());
    return out;
  }
};

namespace detail {

// The new object that f(..., &handle, &error) makes.
template <class T, class F, class... Args>
T made(F f, Args... args) {
  loom_handle handle = 0;
  check(f, args..., &handle);
  return T(handle);
}
template <class F, class... Args>
std::string text(F f, Args... args) {
  return made<Bytes>(f, args...).text();
}
// The object that f(..., options, &handle, &error) makes of options of C++.
template <class O, class F, class... Args>
loom_handle made_with(const O& options, F f, Args... args) {
  std::vector<const char*> texts;
  const auto c = to_c(options, texts);
  loom_handle handle = 0;
  check(f, args..., &c, &handle);
  return handle;
}
// The list of numbers under a key of the JSON that the library writes, which has no blanks.
inline Shape numbers(std::string_view json, std::string_view key) {
  Shape found;
  const std::size_t at = json.find("\"" + std::string(key) + "\":[");
  if (at == std::string_view::npos) return found;
  const char *p = json.data() + at + key.size() + 4, *end = json.data() + json.size();
  for (std::int64_t n = 0; p < end && *p != ']'; p += p < end && *p == ',' ? 1 : 0) {
    const auto read = std::from_chars(p, end, n);
    if (read.ec != std::errc()) break;
    found.push_back(n);
    p = read.ptr;
  }
  return found;
}
// The number under a key of it; 0 where there is none.
inline std::int64_t number(std::string_view json, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\":";
  const std::size_t at = json.find(quoted);
  std::int64_t n = 0;
  if (at != std::string_view::npos)
    std::from_chars(json.data() + at + quoted.size(), json.data() + json.size(), n);
  return n;
}
inline void same_rows(const char* x, const Shape& xs, const char* y, const Shape& ys) {
  if (xs.empty() || ys.empty() || xs[0] != ys[0])
    throw Error(LOOM_INVALID_ARGUMENT, std::string(x) + " has the shape " + shown(xs) + ", " + y +
                                           " " + shown(ys) + ": as many rows are needed in both");
}
// JSON text, where options may be of C++, too.
template <class T>
concept Text = std::convertible_to<const T&, std::string_view>;

}  // namespace detail

// A custom layer: derive, and pass the class to register_layer. Its functions are called by the
// thread that runs the network; what they throw comes out of the call that ran it, as an Error with
// its text.
class Layer {
 public:
  virtual ~Layer() = default;
  // JSON {"config": ..., "dims": [...]} -> JSON {"out": [...], "params": [...]}, as loom.h says.
  virtual std::string plan(std::string_view request) = 0;
  virtual void forward(const loom_layer_call& call) = 0;
  virtual void backward(const loom_layer_call&) { throw std::runtime_error("has no backward"); }
};

namespace detail {

// What body() throws becomes a code and a message.
template <class F>
std::int32_t caught(loom_error* error, F body) noexcept {
  const auto fail = [error](std::int32_t code, const char* text) {
    error->code = code;
    std::strncpy(error->message, text, sizeof error->message - 1);
    return code;
  };
  try {
    body();
    return LOOM_OK;
  } catch (const Error& e) {
    return fail(e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(LOOM_OUT_OF_MEMORY, "an allocation failed");
  } catch (const std::exception& e) {
    return fail(LOOM_INVALID_ARGUMENT, e.what());
  } catch (...) {
    return fail(LOOM_INTERNAL, "threw what is no std::exception");
  }
}

}  // namespace detail

// `flags`: LOOM_LAYER_...; `differentiable`: it has a backward. The layer lives until it is
// unregistered.
inline void register_layer(const std::string& name, std::int32_t version,
                           std::shared_ptr<Layer> layer, bool differentiable = true,
                           std::int32_t flags = LOOM_LAYER_F32) {
  using Owner = std::shared_ptr<Layer>;
  loom_layer c{};
  c.size = sizeof c;
  c.name = name.c_str();
  c.version = version;
  c.flags = flags;
  c.plan = [](void* user, const char* request, std::size_t size, loom_bytes* plan,
              loom_error* error) {
    return detail::caught(error, [&] {
      const std::string text = (*static_cast<Owner*>(user))->plan({request, size});
      loom_bytes bytes = 0;
      check(loom_bytes_create, static_cast<std::uint64_t>(text.size()), &bytes);
      void* data = nullptr;
      std::uint64_t count = 0;
      check(loom_bytes_data, bytes, &data, &count);
      std::memcpy(data, text.data(), text.size());
      *plan = bytes;
    });
  };
  c.forward = [](void* user, const loom_layer_call* call, loom_error* error) {
    return detail::caught(error, [&] { (*static_cast<Owner*>(user))->forward(*call); });
  };
  if (differentiable)
    c.backward = [](void* user, const loom_layer_call* call, loom_error* error) {
      return detail::caught(error, [&] { (*static_cast<Owner*>(user))->backward(*call); });
    };
  c.release = [](void* user) { delete static_cast<Owner*>(user); };
  auto owner = std::make_unique<Owner>(std::move(layer));
  c.user = owner.get();
  check(loom_layer_register, static_cast<const loom_layer*>(&c));
  owner.release();
}
inline void unregister_layer(std::string_view name, std::int32_t version) {
  check(loom_layer_unregister, name.data(), name.size(), version);
}

inline std::string version() { return loom_version(); }
// JSON.
inline std::string info() { return detail::text(loom_info); }
// JSON: what this machine offers to Loom (docs/reference/audit.md). Options as JSON: device
// ("auto"; "cpu": no GPU is looked for; "gpu": an error where there is none), measure (false).
inline std::string audit(std::string_view options = {}) {
  return detail::text(loom_audit, options.data(), options.size());
}
// Devices that are opened from now on run through the host's WebGPU, whose wgpuGetProcAddress this
// is: use_webgpu(reinterpret_cast<loom_function>(wgpuGetProcAddress)). nullptr: not any more.
inline void use_webgpu(loom_function get_proc_address) { check(loom_use_webgpu, get_proc_address); }
// JSON: what a format of weights is.
inline std::string format_info(std::string_view format) {
  return detail::text(loom_format_info, format.data(), format.size());
}
// The values of a matrix of `rows` rows after rounding to a format: "i8", "i4:row", "ternary".
// `rounded` has as many values, or is `values` itself.
inline void fake_quantize(std::span<const float> values, std::string_view format,
                          std::span<float> rounded, std::int64_t rows = 1) {
  check(loom_fake_quantize, values.data(), values.size(), format.data(), format.size(), rows,
        rounded.data(), rounded.size());
}
inline std::vector<float> fake_quantize(std::span<const float> values, std::string_view format,
                                        std::int64_t rows = 1) {
  std::vector<float> rounded(values.size());
  fake_quantize(values, format, rounded, rows);
  return rounded;
}
inline std::string verify(std::string_view options = {}) {
  return detail::text(loom_verify, options.data(), options.size());
}

// A topology as JSON; layers.hpp makes it of layers.
struct Topology {
  std::string json;
};

class Network : public Object {
 public:
  using Object::Object;
  // With random parameters, each of which depends on seed, cell and index alone.
  Network(const Topology& topology, std::uint64_t seed)
      : Object(
            detail::made<Object>(loom_network_create, topology.json.data(), topology.json.size())) {
    initialize(seed);
  }
  static Network create(std::string_view topology) {
    return detail::made<Network>(loom_network_create, topology.data(), topology.size());
  }
  static Network load(std::string_view path) {
    return detail::made<Network>(loom_network_load, path.data(), path.size());
  }
  static Network load(const Bytes& bytes) {
    return detail::made<Network>(loom_network_load_bytes, bytes.handle());
  }

  void initialize(std::uint64_t seed) { check(loom_network_initialize, handle(), seed); }
  void save(std::string_view path) const {
    check(loom_network_save, handle(), path.data(), path.size());
  }
  Bytes save() const { return detail::made<Bytes>(loom_network_save_bytes, handle()); }
  std::string save_json() const { return detail::text(loom_network_save_json, handle()); }
  // For other programs, by the end of the path: .onnx; options and the report as JSON
  // (docs/guide/export.md).
  std::string export_to(std::string_view path, std::string_view options = "{}") const {
    return detail::text(loom_network_export, handle(), path.data(), path.size(), options.data(),
                        options.size());
  }
  Bytes export_as(std::string_view format, std::string_view options = "{}") const {
    return detail::made<Bytes>(loom_network_export_bytes, handle(), format.data(), format.size(),
                               options.data(), options.size());
  }
  Network copy() const { return detail::made<Network>(loom_network_copy, handle()); }
  std::string topology() const { return detail::text(loom_network_topology, handle()); }
  std::string info() const { return detail::text(loom_network_info, handle()); }
  // How raw data become rows, and the names of answers: docs/reference/entity.md; or "null".
  std::string inputs() const { return detail::text(loom_network_inputs, handle()); }
  void set_inputs(std::string_view json) {
    check(loom_network_set_inputs, handle(), json.data(), json.size());
  }
  // Another one where what info() says may have changed.
  std::uint64_t revision() const {
    std::uint64_t revision = 0;
    check(loom_network_revision, handle(), &revision);
    return revision;
  }
  std::string parameters() const { return detail::text(loom_network_parameters, handle()); }
  // The layers of the grid with shapes and parameters, as JSON (docs/guide/telemetry.md).
  std::string blueprint(std::string_view id = "network") const {
    return detail::text(loom_network_blueprint, handle(), id.data(), id.size());
  }
  std::string digest() const { return detail::text(loom_network_digest, handle()); }
  // Both as JSON (docs/reference/dna.md).
  std::string dna() const { return detail::text(loom_network_dna, handle()); }
  std::string compare_dna(const Network& other) const {
    return detail::text(loom_network_compare_dna, handle(), other.handle());
  }
  // A child of two networks, a mutant, and whole networks as branches of one: options and rates are
  // JSON (docs/reference/evolution.md), `report` takes what was done.
  Network splice(const Network& other, std::string_view options = {},
                 std::string* report = nullptr) const {
    loom_network child = 0;
    loom_bytes done = 0;
    check(loom_network_splice, handle(), other.handle(), options.data(), options.size(), &child,
          &done);
    return with_report(child, done, report);
  }
  Network mutate(std::string_view rates, std::uint64_t seed, std::string* report = nullptr) const {
    loom_network child = 0;
    loom_bytes done = 0;
    check(loom_network_mutate, handle(), rates.data(), rates.size(), seed, &child, &done);
    return with_report(child, done, report);
  }
  static Network graft(const std::vector<const Network*>& networks, std::string_view options = {}) {
    std::vector<std::int64_t> handles;
    for (const Network* one : networks) handles.push_back(static_cast<std::int64_t>(one->handle()));
    return detail::made<Network>(loom_network_graft, handles.data(), handles.size(), options.data(),
                                 options.size());
  }
  void get(std::string_view path, std::string_view role, std::span<float> values) const {
    check(loom_network_get_f32, handle(), path.data(), path.size(), role.data(), role.size(),
          values.data(), values.size());
  }
  void get(std::string_view path, std::string_view role, std::span<double> values) const {
    check(loom_network_get_f64, handle(), path.data(), path.size(), role.data(), role.size(),
          values.data(), values.size());
  }
  void set(std::string_view path, std::string_view role, std::span<const float> values) {
    check(loom_network_set_f32, handle(), path.data(), path.size(), role.data(), role.size(),
          values.data(), values.size());
  }
  void set(std::string_view path, std::string_view role, std::span<const double> values) {
    check(loom_network_set_f64, handle(), path.data(), path.size(), role.data(), role.size(),
          values.data(), values.size());
  }
  std::string cell(std::string_view at) const {
    return detail::text(loom_network_cell, handle(), at.data(), at.size());
  }
  void set_cell(std::string_view at, std::string_view json) {
    check(loom_network_set_cell, handle(), at.data(), at.size(), json.data(), json.size());
  }
  // All weights stay; links with which one would need another size are refused.
  void set_links(std::string_view at, std::string_view json) {
    check(loom_network_set_links, handle(), at.data(), at.size(), json.data(), json.size());
  }
  void enable(std::string_view at, bool enabled) {
    check(loom_network_enable, handle(), at.data(), at.size(), std::int32_t{enabled});
  }
  void morph(std::string_view format, std::string_view cell = {}) {
    check(loom_network_morph, handle(), format.data(), format.size(), cell.data(), cell.size());
  }
  void pack(std::string_view format) {
    check(loom_network_pack, handle(), format.data(), format.size());
  }
  // LoRA adapters, folders as PEFT has them: beside the weights, gone again, or added to them.
  void load_adapter(std::string_view folder) {
    check(loom_network_load_adapter, handle(), folder.data(), folder.size());
  }
  void save_adapter(std::string_view folder) const {
    check(loom_network_save_adapter, handle(), folder.data(), folder.size());
  }
  void unload_adapter() { check(loom_network_unload_adapter, handle()); }
  void merge_adapter() { check(loom_network_merge_adapter, handle()); }
  std::string program(std::string_view options = {}) const {
    return detail::text(loom_network_program, handle(), options.data(), options.size());
  }
  // The same as bytes, which Program takes.
  Bytes save_program(std::string_view options = {}) const {
    return detail::made<Bytes>(loom_network_save_program, handle(), options.data(), options.size());
  }
  std::string program_sha256(std::string_view options = {}) const {
    return detail::text(loom_network_program_sha256, handle(), options.data(), options.size());
  }

 private:
  static Network with_report(loom_network child, loom_bytes done, std::string* report) {
    const Bytes text(done);
    if (report) *report = text.text();
    return Network(child);
  }
};

class Session : public Object {
 public:
  using Object::Object;
  explicit Session(const Network& network, const SessionOptions& options = {})
      : Object(detail::made_with(options, loom_session_create_with, network.handle())) {}
  template <detail::Text Json>
  Session(const Network& network, const Json& json) : Session(network, std::string_view(json), 0) {}

  // Rows of values, [rows, ...], become [rows, ...] as the output of the network has them. The run
  // of spans below allocates nothing.
  Tensor<float> run(const TensorView<const float>& x) {
    Tensor<float> y(shape_of(x.shape()));
    run(x.rows(), x.values(), y.values());
    return y;
  }
  // Of a network that computes in f64.
  Tensor<double> run(const TensorView<const double>& x) {
    Tensor<double> y(shape_of(x.shape()));
    run(x.rows(), x.values(), y.values());
    return y;
  }
  // Rows of ids, [rows] or [rows, steps], each a separate sequence.
  Tensor<float> run_ids(const TensorView<const std::int32_t>& ids) {
    Tensor<float> y(shape_of(ids.shape()));
    run_ids(ids.values(), y.values());
    return y;
  }
  void run(std::int64_t rows, std::span<const float> x, std::span<float> y) {
    check(loom_session_run, handle(), rows, x.data(), x.size(), y.data(), y.size());
  }
  // Of a network that computes in f64.
  void run(std::int64_t rows, std::span<const double> x, std::span<double> y) {
    check(loom_session_run_f64, handle(), rows, x.data(), x.size(), y.data(), y.size());
  }
  // Rows of ids, each a separate sequence.
  void run_ids(std::span<const std::int32_t> ids, std::span<float> y) {
    check(loom_session_run_ids, handle(), ids.data(), ids.size(), y.data(), y.size());
  }
  // One sequence; y: the last row's output.
  void run_tokens(std::span<const std::int32_t> ids, std::span<const std::int32_t> positions,
                  std::span<float> y) {
    run_tokens(ids, positions, {}, {}, y);
  }
  void run_tokens(std::span<const std::int32_t> ids, std::span<const std::int32_t> positions,
                  std::span<const std::int32_t> sequences, std::span<const std::int32_t> head,
                  std::span<float> y) {
    check(loom_session_run_tokens, handle(), ids.data(), ids.size(), positions.data(),
          positions.size(), sequences.data(), sequences.size(), head.data(), head.size(), y.data(),
          y.size());
  }
  // Statistics of the outputs of every cell, from the next run on (docs/guide/observe.md): JSON
  // options every (0: none any more), passes, window, keep, nested. statistics() takes the events
  // so far: JSON, docs/reference/c-api.md.
  void observe(std::string_view options = {}) {
    check(loom_session_observe, handle(), options.data(), options.size());
  }
  std::string statistics() { return detail::text(loom_session_statistics, handle()); }
  // What rules of metacognitions have done after runs of this session: lines of JSON. replay(),
  // before the first run: does what such lines say, and evaluates no rules
  // (docs/guide/metacognition.md).
  std::string trace() { return detail::text(loom_session_trace, handle()); }
  void replay(std::string_view trace) {
    check(loom_session_replay, handle(), trace.data(), trace.size());
  }
  // Of a network that loom train learned from a time series: JSON, docs/reference/c-api.md.
  std::string forecast(std::string_view options = {}, std::span<const double> history = {}) {
    return detail::text(loom_session_forecast, handle(), options.data(), options.size(),
                        history.data(), history.size());
  }
  // From any thread: the call inside, or else the next one, throws Error{LOOM_CANCELLED}.
  void cancel() { check(loom_cancel, handle()); }
  // Runs throw Error{LOOM_PAUSED} after so long (0: not any more), and the same call again
  // continues: docs/guide/slices.md.
  void pause_after(std::chrono::microseconds time) {
    check(loom_pause_after, handle(), static_cast<std::int64_t>(time.count()));
  }
  std::string info() const { return detail::text(loom_session_info, handle()); }

 private:
  Session(const Network& network, std::string_view json, int)
      : Object(detail::made<Object>(loom_session_create, network.handle(), json.data(),
                                    json.size())) {}
  // Of the output for rows of this shape.
  Shape shape_of(const Shape& x) const {
    const std::string about = info();
    Shape takes = detail::numbers(about, "input_dims"), y = detail::numbers(about, "output_dims");
    if (x.empty() || detail::count(x, 1) != detail::count(takes))
      throw Error(LOOM_INVALID_ARGUMENT, "x has the shape " + detail::shown(x) +
                                             ", the network takes rows of " + detail::shown(takes));
    y.insert(y.begin(), x[0]);
    return y;
  }
};

// An ONNX graph. Texts are JSON as docs/reference/c-api.md has them.
class Onnx : public Object {
 public:
  struct Results {
    std::string outputs;         // name, type, dims of each
    std::vector<double> values;  // one after another
  };
  struct Taken {
    Network network;
    std::string ports;
  };
  using Object::Object;
  static Onnx load(std::string_view path) {
    return detail::made<Onnx>(loom_onnx_load, path.data(), path.size());
  }
  static Onnx load(const Bytes& bytes) {
    return detail::made<Onnx>(loom_onnx_load_bytes, bytes.handle());
  }
  std::string info() const { return detail::text(loom_onnx_info, handle()); }
  // From any thread: the run inside, or else the next one, throws Error{LOOM_CANCELLED}.
  void cancel() const { check(loom_cancel, handle()); }
  Results run(std::string_view inputs, std::span<const double> values) const {
    loom_bytes outputs = 0, results = 0;
    check(loom_onnx_run, handle(), inputs.data(), inputs.size(), values.data(), values.size(),
          &outputs, &results);
    const Bytes names(outputs), data(results);
    Results r{names.text(), std::vector<double>(data.span().size() / sizeof(double))};
    if (!r.values.empty()) std::memcpy(r.values.data(), data.span().data(), data.span().size());
    return r;
  }
  // Options as JSON: {"dims": {"seq": 128}}
  Taken network(std::string_view options = {}) const {
    loom_network network = 0;
    loom_bytes ports = 0;
    check(loom_onnx_network, handle(), options.data(), options.size(), &network, &ports);
    Network taken(network);
    return {std::move(taken), Bytes(ports).text()};
  }
};

class Tokenizer : public Object {
 public:
  using Object::Object;
  static Tokenizer load(std::string_view path) {
    return detail::made<Tokenizer>(loom_tokenizer_load, path.data(), path.size());
  }
  static Tokenizer parse(std::string_view json, std::string_view config = {}) {
    return detail::made<Tokenizer>(loom_tokenizer_parse, json.data(), json.size(), config.data(),
                                   config.size());
  }
  static Tokenizer train(std::string_view texts, std::string_view options) {
    return detail::made<Tokenizer>(loom_tokenizer_train, texts.data(), texts.size(), options.data(),
                                   options.size());
  }
  std::string info() const { return detail::text(loom_tokenizer_info, handle()); }
  std::vector<std::int32_t> encode(std::string_view text, bool add_special = true) const {
    return detail::made<Bytes>(loom_tokenizer_encode, handle(), text.data(), text.size(),
                               std::int32_t{add_special})
        .ids();
  }
  std::vector<std::int32_t> encode_plain(std::string_view text) const {
    return detail::made<Bytes>(loom_tokenizer_encode_plain, handle(), text.data(), text.size())
        .ids();
  }
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const {
    return detail::text(loom_tokenizer_decode, handle(), ids.data(), ids.size(),
                        std::int32_t{skip_special});
  }
  std::string token(std::int32_t id) const {
    return detail::text(loom_tokenizer_token, handle(), id);
  }
  // -1 where there is none.
  std::int32_t id(std::string_view token) const {
    std::int32_t id = -1;
    check(loom_tokenizer_id, handle(), token.data(), token.size(), &id);
    return id;
  }
  std::vector<std::int32_t> chat(std::string_view messages,
                                 bool add_generation_prompt = true) const {
    return detail::made<Bytes>(loom_tokenizer_chat, handle(), messages.data(), messages.size(),
                               std::int32_t{add_generation_prompt})
        .ids();
  }
};

// Encoder-decoders, step by step (docs/guide/sequences.md).
class Seq2Seq : public Object {
 public:
  using Object::Object;
  Seq2Seq(const Network& network, const Seq2SeqOptions& options)
      : Object(detail::made_with(options, loom_seq2seq_create_with, network.handle())) {}
  template <detail::Text Json>
  Seq2Seq(const Network& network, const Json& json) : Seq2Seq(network, std::string_view(json), 0) {}
  void encode(const TensorView<const double>& x) { encode(x.rows(), x.values()); }
  void encode(std::int64_t rows, std::span<const double> x) {
    check(loom_seq2seq_encode, handle(), rows, x.data(), x.size());
  }
  // The next step of all rows: their ids, [rows], or features, [rows, features]. The answers are
  // [rows, answer_width]. The step of spans below allocates nothing.
  Tensor<double> step(const TensorView<const double>& target) {
    const std::string about = info();
    const std::int64_t rows = detail::number(about, "rows");
    if (rows > 0 && (target.shape().empty() || target.shape()[0] != rows))
      throw Error(LOOM_INVALID_ARGUMENT, "target has the shape " + detail::shown(target.shape()) +
                                             ", " + std::to_string(rows) + " rows are encoded");
    Tensor<double> y({rows, detail::number(about, "answer_width")});
    step(target.values(), y.values());
    return y;
  }
  void step(std::span<const double> target, std::span<double> y) {
    check(loom_seq2seq_step, handle(), target.data(), target.size(), y.data(), y.size());
  }
  void reorder(std::span<const std::int32_t> from) {
    check(loom_seq2seq_reorder, handle(), from.data(), from.size());
  }
  // What was found, as JSON: docs/reference/c-api.md.
  std::string search(std::int64_t rows, std::span<const double> x, const SearchOptions& options) {
    return Bytes(detail::made_with(options, loom_seq2seq_search_with, handle(), rows, x.data(),
                                   x.size()))
        .text();
  }
  std::string search(const TensorView<const double>& x, const SearchOptions& options) {
    return search(x.rows(), x.values(), options);
  }
  template <detail::Text Json>
  std::string search(std::int64_t rows, std::span<const double> x, const Json& json) {
    const std::string_view options(json);
    return detail::text(loom_seq2seq_search, handle(), rows, x.data(), x.size(), options.data(),
                        options.size());
  }
  // From any thread: the call inside, or else the next one, throws Error{LOOM_CANCELLED}.
  void cancel() { check(loom_cancel, handle()); }
  std::string info() const { return detail::text(loom_seq2seq_info, handle()); }

 private:
  Seq2Seq(const Network& network, std::string_view json, int)
      : Object(detail::made<Object>(loom_seq2seq_create, network.handle(), json.data(),
                                    json.size())) {}
};

class Decoder : public Object {
 public:
  using Object::Object;
  explicit Decoder(const Tokenizer& tokenizer, bool skip_special = false)
      : Object(detail::made<Object>(loom_decoder_create, tokenizer.handle(),
                                    std::int32_t{skip_special})) {}
  std::string push(std::int32_t id) { return detail::text(loom_decoder_push, handle(), id); }
  std::string finish() { return detail::text(loom_decoder_finish, handle()); }
};

// A model file or folder seen from outside.
// Writes a model in another format; JSON: docs/reference/c-api.md.
inline std::string convert(std::string_view in, std::string_view out,
                           std::string_view options = {}) {
  return detail::text(loom_file_convert, in.data(), in.size(), out.data(), out.size(),
                      options.data(), options.size());
}

class Model : public Object {
 public:
  using Object::Object;
  // `format`: how the matrices run; empty: as the file has them.
  static Model load(std::string_view name, std::string_view format = {}) {
    return detail::made<Model>(loom_model_load, name.data(), name.size(), format.data(),
                               format.size());
  }
  static Model load(const Bytes& bytes, std::string_view format = {}) {
    return detail::made<Model>(loom_model_load_bytes, bytes.handle(), format.data(), format.size());
  }
  // Of a network trained here, which is copied; options as info() says them, max_positions among
  // them.
  static Model create(const Network& network, const Tokenizer& tokenizer,
                      std::string_view options) {
    return detail::made<Model>(loom_model_create, network.handle(), tokenizer.handle(),
                               options.data(), options.size());
  }
  // Without a tokenizer: it runs by ids.
  static Model create(const Network& network, std::string_view options) {
    return detail::made<Model>(loom_model_create, network.handle(), loom_handle{0}, options.data(),
                               options.size());
  }
  // The refusals of load, without reading a weight.
  static void check(std::string_view name) {
    api::check(loom_model_check, name.data(), name.size());
  }

  void save(std::string_view path) const {
    api::check(loom_model_save, handle(), path.data(), path.size());
  }
  Bytes save() const { return detail::made<Bytes>(loom_model_save_bytes, handle()); }
  // For other programs: "gguf", "onnx", or a file of a HuggingFace folder ("config.json").
  Bytes export_as(std::string_view name, std::string_view options = "{}") const {
    return detail::made<Bytes>(loom_model_export_bytes, handle(), name.data(), name.size(),
                               options.data(), options.size());
  }
  std::string info() const { return detail::text(loom_model_info, handle()); }
  Network network() const { return detail::made<Network>(loom_model_network, handle()); }
  Tokenizer tokenizer() const { return detail::made<Tokenizer>(loom_model_tokenizer, handle()); }
};

class Generator : public Object {
 public:
  struct Piece {
    std::int32_t finish = LOOM_FINISH_MORE;
    std::int32_t id = -1;
    std::string text;
  };
  using Object::Object;
  explicit Generator(const Model& model, const GeneratorOptions& options = {})
      : Object(detail::made_with(options, loom_generator_create_with, model.handle())) {}
  template <detail::Text Json>
  Generator(const Model& model, const Json& json) : Generator(model, std::string_view(json), 0) {}

  void feed(std::span<const std::int32_t> ids, std::int64_t sequence = 0) {
    check(loom_generator_feed, handle(), sequence, ids.data(), ids.size());
  }
  void feed_text(std::string_view text, std::int64_t sequence = 0) {
    check(loom_generator_feed_text, handle(), sequence, text.data(), text.size());
  }
  void feed_chat(std::string_view messages, std::int64_t sequence = 0) {
    check(loom_generator_feed_chat, handle(), sequence, messages.data(), messages.size());
  }
  void logits(std::span<float> out, std::int64_t sequence = 0) const {
    check(loom_generator_logits, handle(), sequence, out.data(), out.size());
  }
  void start(const SamplingOptions& options = {}, std::int64_t sequence = 0) {
    std::vector<const char*> texts;
    const loom_sampling_options c = detail::to_c(options, texts);
    check(loom_generator_start_with, handle(), sequence, &c);
  }
  template <detail::Text Json>
  void start(const Json& json, std::int64_t sequence = 0) {
    const std::string_view options(json);
    check(loom_generator_start, handle(), sequence, options.data(), options.size());
  }
  Piece next() {
    Piece piece;
    piece.text = detail::text(loom_generator_next, handle(), &piece.finish, &piece.id);
    return piece;
  }
  void cancel() { check(loom_cancel, handle()); }
  std::vector<std::int32_t> ids(std::int64_t sequence = 0) const {
    return detail::made<Bytes>(loom_generator_ids, handle(), sequence).ids();
  }
  std::string fingerprint(std::int64_t sequence = 0) const {
    return detail::text(loom_generator_fingerprint, handle(), sequence);
  }
  std::string info() const { return detail::text(loom_generator_info, handle()); }

  // The whole text after a prompt; on_text sees it as it comes and says with false that it is
  // enough.
  std::string generate(std::string_view prompt, const SamplingOptions& options = {},
                       const std::function<bool(std::string_view)>& on_text = {}) {
    feed_text(prompt);
    start(options);
    return rest(on_text);
  }
  template <detail::Text Json>
  std::string generate(std::string_view prompt, const Json& json,
                       const std::function<bool(std::string_view)>& on_text = {}) {
    feed_text(prompt);
    start(json);
    return rest(on_text);
  }

 private:
  Generator(const Model& model, std::string_view json, int)
      : Object(detail::made<Object>(loom_generator_create, model.handle(), json.data(),
                                    json.size())) {}
  std::string rest(const std::function<bool(std::string_view)>& on_text) {
    std::string text;
    for (Piece piece; piece.finish == LOOM_FINISH_MORE;) {
      piece = next();
      text += piece.text;
      if (on_text && !on_text(piece.text)) break;
    }
    return text;
  }
};

}  // namespace api
}  // namespace loom

#include "cluster.hpp"
#include "file.hpp"
#include "online.hpp"
#include "population.hpp"
#include "program.hpp"
#include "step_mesh.hpp"
#include "training.hpp"

#endif
