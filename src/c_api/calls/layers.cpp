// Layers that the host registers: its functions behind CustomLayer.
#include "c_api/call.h"
#include "ops/calls/custom_layer.h"

namespace loom::c_api {
namespace {

loom_layer_array array_of(const CallArray& a) { return {a.data, a.rows, a.cols, a.stride}; }

class HostLayer final : public CustomLayer {
 public:
  HostLayer(const loom_layer& host, std::string_view called) : host_(host) {
    name = called;
    version = host.version;
    f32 = (host.flags & LOOM_LAYER_F32) != 0;
    f64 = (host.flags & LOOM_LAYER_F64) != 0;
    row_dependent = (host.flags & LOOM_LAYER_ROW_DEPENDENT) != 0;
    differentiable = host.backward != nullptr;
    host_.name = nullptr;
  }
  HostLayer(const HostLayer&) = delete;
  HostLayer& operator=(const HostLayer&) = delete;
  ~HostLayer() override {
    if (host_.release && taken) host_.release(host_.user);
  }

  Result<std::string> plan(const std::string& request) const override {
    loom_error error{};
    loom_bytes bytes = 0;
    LOOM_TRY(
        status_of(host_.plan(host_.user, request.data(), request.size(), &bytes, &error), error));
    NewHandle owned(bytes);
    LOOM_ASSIGN(const auto text, get<Bytes>(bytes));
    return std::string(reinterpret_cast<const char*>(text->data), text->size);
  }
  Status forward(const CallArrays& arrays) const override { return run(host_.forward, arrays); }
  Status backward(const CallArrays& arrays) const override { return run(host_.backward, arrays); }
  bool same(const CustomLayer& other) const override {
    const loom_layer &a = host_, &b = static_cast<const HostLayer&>(other).host_;
    return a.flags == b.flags && a.user == b.user && a.plan == b.plan && a.forward == b.forward &&
           a.backward == b.backward && a.release == b.release;
  }
  bool taken = false;  // registered: `user` is the library's to release

 private:
  static Status status_of(std::int32_t code, loom_error& error) {
    if (code == LOOM_OK) return {};
    error.message[sizeof error.message - 1] = 0;
    const bool known = code > LOOM_OK && code <= LOOM_BUSY;
    return Status(known ? static_cast<Code>(code) : Code::internal,
                  error.message[0] != 0 ? error.message : "failed, without a message");
  }
  Status run(std::int32_t (*function)(void*, const loom_layer_call*, loom_error*),
             const CallArrays& a) const {
    loom_layer_call call{};
    call.config = a.config.data();
    call.config_size = a.config.size();
    call.f64 = a.f64;
    call.param_count = static_cast<std::int32_t>(a.param_count);
    call.x = array_of(a.x);
    call.y = array_of(a.y);
    call.gy = array_of(a.gy);
    call.gx = array_of(a.gx);
    for (std::size_t i = 0; i < a.param_count; ++i) {
      call.params[i] = array_of(a.params[i]);
      call.gparams[i] = array_of(a.gparams[i]);
    }
    loom_error error{};
    return status_of(function(host_.user, &call, &error), error);
  }

  loom_layer host_;
};

}  // namespace
}  // namespace loom::c_api

using namespace loom;
using namespace loom::c_api;

extern "C" {

int32_t loom_layer_register(const loom_layer* layer, loom_error* error) {
  return call(error, [&]() -> Status {
    const auto bad = [](const char* what) { return Status(Code::invalid_argument, what); };
    if (!layer) return bad("layer: NULL");
    if (layer->size != sizeof(loom_layer))
      return bad("layer: its size is not sizeof(loom_layer) of this library's header");
    if (!layer->name || !layer->plan || !layer->forward)
      return bad("layer: a name, plan and forward must be given");
    constexpr std::int32_t kFlags = LOOM_LAYER_F32 | LOOM_LAYER_F64 | LOOM_LAYER_ROW_DEPENDENT;
    if ((layer->flags & ~kFlags) != 0) return bad("layer: a flag that this version does not know");
    const auto host = std::make_shared<HostLayer>(*layer, layer->name);
    LOOM_TRY(register_custom_layer(host));
    // Of the same layer again, the first keeps `user`.
    LOOM_ASSIGN(const CustomLayerPtr kept, find_custom_layer(host->name, host->version));
    host->taken = kept == host;
    return {};
  });
}

int32_t loom_layer_unregister(const char* name, size_t name_size, int32_t version,
                              loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view called, text_argument(name, name_size, "name"));
    return unregister_custom_layer(called, version);
  });
}

}  // extern "C"
