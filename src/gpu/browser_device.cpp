// The browser's host: navigator.gpu behind functions that the WASM module imports from "loom_gpu"
// (bindings/js/src/runtime/gpu.js). Numbers, and ranges of this module's memory, go across. Only
// open and read wait: the module is suspended there (JavaScript Promise Integration).
#include "gpu/device.h"

#if defined(__wasm__)

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/json/json.h"

#define LOOM_GPU_IMPORT(name) \
  __attribute__((import_module("loom_gpu"), import_name(#name))) extern "C"

namespace loom::gpu {
namespace {

// What fails returns 0, and last_error() says why. Sizes and offsets are doubles, which hold them
// exactly.
LOOM_GPU_IMPORT(missing)
std::uint32_t gpu_missing(
    char* text,
    std::uint32_t size);  // what a call that waits lacks now; its length, 0 for nothing
LOOM_GPU_IMPORT(last_error)
std::uint32_t gpu_last_error(std::uint32_t* code, char* text, std::uint32_t size);
LOOM_GPU_IMPORT(open) std::uint32_t gpu_open(std::uint32_t software);  // waits
LOOM_GPU_IMPORT(close) void gpu_close(std::uint32_t device);
LOOM_GPU_IMPORT(describe)
std::uint32_t gpu_describe(std::uint32_t device, char* json, std::uint32_t size);
LOOM_GPU_IMPORT(create_buffer)
Handle gpu_create_buffer(std::uint32_t device, double bytes, const char* what, std::uint32_t size);
LOOM_GPU_IMPORT(destroy_buffer) void gpu_destroy_buffer(std::uint32_t device, Handle buffer);
LOOM_GPU_IMPORT(write)
std::uint32_t gpu_write(std::uint32_t device, Handle buffer, double offset, const std::byte* bytes,
                        std::uint32_t size);
LOOM_GPU_IMPORT(pipeline)
Handle gpu_pipeline(std::uint32_t device, const char* key, std::uint32_t key_size, const char* wgsl,
                    std::uint32_t wgsl_size, const char* entry, std::uint32_t entry_size,
                    const Access* bindings, std::uint32_t count);
LOOM_GPU_IMPORT(bind)
Handle gpu_bind(std::uint32_t device, Handle pipeline, const Binding* bindings,
                std::uint32_t count);
LOOM_GPU_IMPORT(destroy_bindings) void gpu_destroy_bindings(std::uint32_t device, Handle bindings);
LOOM_GPU_IMPORT(submit)
std::uint32_t gpu_submit(std::uint32_t device, const Dispatch* list, std::uint32_t count);
LOOM_GPU_IMPORT(flush) std::uint32_t gpu_flush(std::uint32_t device);
LOOM_GPU_IMPORT(read)
std::uint32_t gpu_read(std::uint32_t device, const ReadRange* ranges,
                       std::uint32_t count);  // waits

// gpu.js reads these by their offsets.
static_assert(sizeof(Binding) == 24 && offsetof(Binding, offset) == 8 &&
              offsetof(Binding, bytes) == 16);
static_assert(sizeof(Dispatch) == 20 && offsetof(Dispatch, bindings) == 4 &&
              offsetof(Dispatch, x) == 8);
static_assert(sizeof(ReadRange) == 24 && offsetof(ReadRange, offset) == 8 &&
              offsetof(ReadRange, out) == 16 && sizeof(std::span<std::byte>) == 8);
static_assert(sizeof(Access) == 1 && sizeof(std::size_t) == 4);

std::uint32_t size32(std::size_t n) { return static_cast<std::uint32_t>(n); }

Status last_error() {
  std::string text(4096, '\0');
  std::uint32_t code = 0;
  text.resize(gpu_last_error(&code, text.data(), size32(text.size())));
  return Status(static_cast<Code>(code), "gpu: " + text);
}
Status status_of(std::uint32_t done) { return done != 0 ? Status() : last_error(); }
Result<Handle> handle_of(Handle handle) {
  return handle != 0 ? Result<Handle>(handle) : Result<Handle>(last_error());
}

Status check_waiting() {
  std::string text(1024, '\0');
  text.resize(gpu_missing(text.data(), size32(text.size())));
  return text.empty() ? Status() : Status(Code::unsupported, "gpu: " + text);
}

class BrowserDevice final : public Device {
 public:
  explicit BrowserDevice(std::uint32_t id) : id_(id) {}
  ~BrowserDevice() override { gpu_close(id_); }
  Status describe();

  const DeviceInfo& info() const override { return info_; }
  const Limits& limits() const override { return limits_; }
  void allow_fma() override { limits_.fma = true; }

  Result<Handle> create_buffer(std::uint64_t bytes, std::string_view what) override {
    bytes = std::max<std::uint64_t>((bytes + 15) / 16 * 16, 256);
    const std::uint64_t limit = std::min(limits_.buffer_bytes, limits_.binding_bytes);
    if (bytes > limit)
      return Status(Code::out_of_memory,
                    "gpu: " + std::string(what) + " takes " + std::to_string(bytes) +
                        " bytes, a buffer of this adapter holds " + std::to_string(limit));
    LOOM_ASSIGN(const Handle handle,
                handle_of(gpu_create_buffer(id_, static_cast<double>(bytes), what.data(),
                                            size32(what.size()))));
    if (sizes_.size() < handle) sizes_.resize(handle);
    sizes_[handle - 1] = bytes;
    allocated_ += bytes;
    return handle;
  }
  void destroy_buffer(Handle buffer) override {
    allocated_ -= sizes_[buffer - 1];
    gpu_destroy_buffer(id_, buffer);
  }
  Status write(Handle buffer, std::uint64_t offset, std::span<const std::byte> bytes) override {
    return status_of(
        gpu_write(id_, buffer, static_cast<double>(offset), bytes.data(), size32(bytes.size())));
  }
  Result<Handle> pipeline(const PipelineSource& s) override {
    return handle_of(gpu_pipeline(id_, s.key.data(), size32(s.key.size()), s.wgsl.data(),
                                  size32(s.wgsl.size()), s.entry.data(), size32(s.entry.size()),
                                  s.bindings.data(), size32(s.bindings.size())));
  }
  Result<Handle> bind(Handle pipeline, std::span<const Binding> bindings) override {
    return handle_of(gpu_bind(id_, pipeline, bindings.data(), size32(bindings.size())));
  }
  void destroy_bindings(Handle bindings) override { gpu_destroy_bindings(id_, bindings); }
  Status submit(std::span<const Dispatch> list) override {
    return status_of(gpu_submit(id_, list.data(), size32(list.size())));
  }
  Status flush() override { return status_of(gpu_flush(id_)); }
  Status read(std::span<const ReadRange> ranges) override {
    LOOM_TRY(check_waiting());
    return status_of(gpu_read(id_, ranges.data(), size32(ranges.size())));
  }
  std::uint64_t allocated_bytes() const override { return allocated_; }

 private:
  const std::uint32_t id_;
  DeviceInfo info_;
  Limits limits_;
  std::vector<std::uint64_t> sizes_;  // of buffers, by handle
  std::uint64_t allocated_ = 0;
};

Status BrowserDevice::describe() {
  std::string text(4096, '\0');
  text.resize(gpu_describe(id_, text.data(), size32(text.size())));
  LOOM_ASSIGN(const Json json, Json::parse(text));
  LOOM_ASSIGN(info_.name, json.get_string("name", ""));
  LOOM_ASSIGN(info_.vendor, json.get_string("vendor", ""));
  LOOM_ASSIGN(info_.driver, json.get_string("driver", ""));
  LOOM_ASSIGN(info_.software, json.get_bool("software", false));
  info_.library = "navigator.gpu";
  info_.backend = "webgpu";
  LOOM_ASSIGN(limits_.subgroups, json.get_bool("subgroups", false));
  const auto limit = [&]<class T>(const char* key, T& out) -> Status {
    LOOM_ASSIGN(const double value, json.get_number(key, 0));
    out = static_cast<T>(value);
    return {};
  };
  LOOM_TRY(limit("buffer_bytes", limits_.buffer_bytes));
  LOOM_TRY(limit("binding_bytes", limits_.binding_bytes));
  LOOM_TRY(limit("offset_alignment", limits_.offset_alignment));
  LOOM_TRY(limit("storage_buffers", limits_.storage_buffers));
  LOOM_TRY(limit("groups_per_dimension", limits_.groups_per_dimension));
  LOOM_TRY(limit("threads_per_group", limits_.threads_per_group));
  return limit("group_bytes", limits_.group_bytes);
}

}  // namespace

Status use_host(HostFunction) {
  return Status(Code::unsupported, "gpu: in WebAssembly the host is navigator.gpu");
}

Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options) {
  LOOM_TRY(check_waiting());
  LOOM_ASSIGN(const std::uint32_t id, handle_of(gpu_open(options.software ? 1 : 0)));
  auto device = std::make_unique<BrowserDevice>(id);
  LOOM_TRY(device->describe());
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace loom::gpu

#endif
