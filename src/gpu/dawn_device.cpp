// The native host: Dawn through webgpu.h.
#include "gpu/device.h"

#if !defined(__wasm__)  // browser_device.cpp

#include <time.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "base/message.h"
#include "base/threads/fork.h"
#include "gpu/dawn_library.h"

namespace loom::gpu {
namespace {

std::string text(WGPUStringView v) {
  if (!v.data) return {};
  return v.length == WGPU_STRLEN ? std::string(v.data) : std::string(v.data, v.length);
}
WGPUStringView view(std::string_view s) { return {s.data(), s.size()}; }

constexpr std::uint64_t kUploadPiece = std::uint64_t{16} << 20;
constexpr std::uint64_t kStagingPiece = std::uint64_t{64} << 20;

class DawnDevice final : public Device {
 public:
  explicit DawnDevice(const DawnLibrary& w) : w_(w) {}
  ~DawnDevice() override;
  Status open(const DeviceOptions& options);

  const DeviceInfo& info() const override { return info_; }
  const Limits& limits() const override { return limits_; }
  Result<Handle> create_buffer(std::uint64_t bytes, std::string_view what) override;
  void destroy_buffer(Handle buffer) override;
  Status write(Handle buffer, std::uint64_t offset, std::span<const std::byte> bytes) override;
  Result<Handle> pipeline(const PipelineSource& source) override;
  Result<Handle> bind(Handle pipeline, std::span<const Binding> bindings) override;
  void destroy_bindings(Handle bindings) override;
  Status submit(std::span<const Dispatch> list) override;
  Status flush() override;
  Status read(std::span<const ReadRange> ranges) override;
  Status force_loss() override;
  bool has_matrix_units() const override { return units_; }
  void allow_matrix_units() override { limits_.matrix_units = units_; }
  void allow_fma() override { limits_.fma = true; }
  std::uint64_t allocated_bytes() const override { return allocated_; }

 private:
  struct Pipeline {
    WGPUComputePipeline pipeline = nullptr;
    WGPUBindGroupLayout layout = nullptr;
  };
  struct OwnBuffer {
    WGPUBuffer buffer = nullptr;
    std::uint64_t bytes = 0;
  };

  // What the library answers to a request for an adapter or a device.
  struct Answer {
    bool done = false;
    WGPUAdapter adapter = nullptr;
    WGPUDevice device = nullptr;
    std::string message;
  };

  // With room for members that another version of the library adds at the end.
  struct AdapterLimits {
    WGPULimits limits;
    std::uint64_t more[16];
  };

  // The steps of open().
  Status request_adapter(bool software, bool for_units);
  bool lists_units();
  Status describe_adapter(AdapterLimits& own);  // sets info_ and limits_, too
  void set_callbacks(WGPUDeviceDescriptor& descriptor);
  Status request_device(const AdapterLimits& own, bool checks);

  Status record(std::span<const Dispatch> list);
  // Runs the callbacks that are due until `done`; they come from here and nowhere else.
  void wait(const bool& done);
  // The error that `make` causes, if any.
  template <class F>
  Status scoped(std::string_view what, F make);
  WGPUCommandEncoder recording();
  // The steps of read(): room for so many bytes, the bytes for the CPU to see, and both for ranges
  // of `total` bytes together.
  Status reserve_staging(std::uint64_t bytes);
  Status map_staging(std::uint64_t bytes);
  Status read_together(std::span<const ReadRange> ranges, std::uint64_t total);
  Result<WGPUShaderModule> module(std::string_view wgsl, const std::string& name);
  bool compiles(std::string_view wgsl);
  Result<WGPUBindGroupLayout> bind_layout(std::span<const Access> bindings);
  void fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  // A child of fork() has a copy of the device's memory and none of its threads: nothing of it may
  // be called.
  bool inherited() const { return born_ != forks(); }
  Status usable() const {
    if (inherited())
      return Status(Code::unsupported,
                    "gpu: the process was forked after it opened the device: open a new one");
    return lost_ ? status_ : Status();
  }
  Status take_status() {
    if (lost_ || status_.ok()) return status_;
    return std::exchange(status_, Status());
  }
  template <class T>
  static Handle keep(std::vector<T>& list, std::vector<Handle>& free, T value) {
    if (!free.empty()) {
      const Handle h = free.back();
      free.pop_back();
      list[h - 1] = value;
      return h;
    }
    list.push_back(value);
    return static_cast<Handle>(list.size());
  }

  DawnLibrary w_;
  const unsigned born_ = forks();
  WGPUInstance instance_ = nullptr;
  WGPUAdapter adapter_ = nullptr;
  WGPUDevice device_ = nullptr;
  WGPUQueue queue_ = nullptr;
  WGPUCommandEncoder recording_ =
      nullptr;  // dispatches and copies that the queue does not have yet
  WGPUBuffer staging_ = nullptr;
  std::uint64_t staging_bytes_ = 0;
  DeviceInfo info_;
  Limits limits_;
  Status status_;  // the first error nobody has seen yet; of a lost device for good
  bool lost_ = false, closing_ = false;
  bool units_ = false;  // of matrices, as has_matrix_units() says
  std::vector<OwnBuffer> buffers_;
  std::vector<WGPUBindGroup> groups_;
  std::vector<Handle> free_buffers_, free_groups_;
  std::vector<Pipeline> pipelines_;
  std::map<std::string, Handle> by_key_;
  std::map<std::vector<Access>, WGPUBindGroupLayout> layouts_;
  std::uint64_t allocated_ = 0;
};

Code code_of(WGPUErrorType type) {
  return type == WGPUErrorType_OutOfMemory  ? Code::out_of_memory
         : type == WGPUErrorType_Validation ? Code::internal
                                            : Code::unsupported;
}

void DawnDevice::wait(const bool& done) {
  for (int turns = 0; !done && !lost_; ++turns) {
    w_.InstanceProcessEvents(instance_);
    if (turns > 4000) {  // what takes longer than a few milliseconds need not spin
      const timespec moment{0, 50000};
      nanosleep(&moment, nullptr);
    }
  }
}

Status DawnDevice::open(const DeviceOptions& options) {
  if (!forks_are_seen())
    return Status(Code::unsupported, "gpu: this system does not say when it forks");
  instance_ = w_.CreateInstance(nullptr);
  if (!instance_) return Status(Code::unsupported, "gpu: " + w_.path + " makes no instance");
  LOOM_TRY(request_adapter(options.software, true));
  units_ = lists_units();
  if (!units_) {  // without what is needed for them alone
    w_.AdapterRelease(adapter_);
    LOOM_TRY(request_adapter(options.software, false));
  }
  AdapterLimits own{};
  LOOM_TRY(describe_adapter(own));
  LOOM_TRY(request_device(own, options.checks));
  queue_ = w_.DeviceGetQueue(device_);
  limits_.subgroups =
      compiles("enable subgroups; @compute @workgroup_size(1) fn f() { _ = subgroupElect(); }");
  units_ = units_ && limits_.subgroups;
  return {};
}

// Settings of an adapter and a device. Matrices need the first two.
struct Toggles {
  static constexpr const char* kNames[] = {"allow_unsafe_apis", "use_vulkan_memory_model",
                                           "skip_validation", "disable_robustness"};
  WGPUDawnTogglesDescriptor list{};
  Toggles(bool for_units, bool fast) {
    list.chain.sType = WGPUSType_DawnTogglesDescriptor;
    list.enabledToggles = kNames + (for_units ? 0 : 2);
    list.enabledToggleCount = (for_units ? 2 : 0) + (fast ? 2 : 0);
  }
};

Status DawnDevice::request_adapter(bool software, bool for_units) {
  Answer answer;
  WGPURequestAdapterOptions wanted{};
  Toggles toggles(for_units, false);
  if (for_units) wanted.nextInChain = &toggles.list.chain;
  wanted.featureLevel = WGPUFeatureLevel_Core;
  wanted.powerPreference = WGPUPowerPreference_HighPerformance;
  wanted.forceFallbackAdapter = software;
  WGPURequestAdapterCallbackInfo on_adapter{};
  on_adapter.mode = WGPUCallbackMode_AllowProcessEvents;
  on_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView message,
                           void* context, void*) {
    auto* a = static_cast<Answer*>(context);
    *a = {true, adapter, nullptr, text(message)};
  };
  on_adapter.userdata1 = &answer;
  w_.InstanceRequestAdapter(instance_, &wanted, on_adapter);
  wait(answer.done);
  adapter_ = answer.adapter;
  if (!adapter_) {
    return Status(
        Code::unsupported,
        "gpu: " + w_.path +
            " finds no adapter: a Vulkan loader (libvulkan.so.1) and a driver are needed" +
            (answer.message.empty() ? "" : " (" + answer.message + ")"));
  }
  return {};
}

const char* backend_name(WGPUBackendType type) {
  switch (type) {
    case WGPUBackendType_Vulkan: return "vulkan";
    case WGPUBackendType_Metal: return "metal";
    case WGPUBackendType_D3D12: return "d3d12";
    case WGPUBackendType_D3D11: return "d3d11";
    case WGPUBackendType_OpenGL: return "opengl";
    case WGPUBackendType_OpenGLES: return "opengles";
    default: return "other";
  }
}

// Older libraries list matrices of other types, and end the process where a kernel uses them.
bool DawnDevice::lists_units() {
  if (!w_.AdapterHasFeature(adapter_, WGPUFeatureName_ChromiumExperimentalSubgroupMatrix))
    return false;
  WGPUAdapterPropertiesSubgroupMatrixConfigs list{};
  list.chain.sType = WGPUSType_AdapterPropertiesSubgroupMatrixConfigs;
  WGPUAdapterInfo info{};
  info.nextInChain = &list.chain;
  w_.AdapterGetInfo(adapter_, &info);
  const bool threads = info.subgroupMinSize == 32 && info.subgroupMaxSize == 32;
  // Two types, then M, N and K. Newer libraries have two numbers more, which are no types.
  const auto* words = reinterpret_cast<const std::uint32_t*>(list.configs);
  const bool longer = list.configCount > 1 && words[5] > WGPUSubgroupMatrixComponentType_I8;
  constexpr std::uint32_t kWanted[] = {WGPUSubgroupMatrixComponentType_I8,
                                       WGPUSubgroupMatrixComponentType_I32, 16, 16, 32};
  bool found = false;
  for (std::size_t i = 0; i < list.configCount; ++i)
    found = found || std::equal(kWanted, kWanted + 5, words + i * (longer ? 7 : 5));
  w_.AdapterInfoFreeMembers(info);
  w_.AdapterPropertiesSubgroupMatrixConfigsFreeMembers(list);
  return found && threads;
}

// Every adapter has what WebGPU guarantees. One that seems not to describes itself in a structure
// of another version.
bool plausible(const WGPULimits& l) {
  const std::uint32_t alignment = l.minStorageBufferOffsetAlignment;
  return l.maxBufferSize >= std::uint64_t{1} << 28 &&
         l.maxStorageBufferBindingSize >= std::uint64_t{1} << 27 && alignment >= 4 &&
         alignment <= 256 && (alignment & (alignment - 1)) == 0 &&
         l.maxStorageBuffersPerShaderStage >= 8 && l.maxComputeWorkgroupStorageSize >= 16384 &&
         l.maxComputeInvocationsPerWorkgroup >= 256 && l.maxComputeWorkgroupsPerDimension >= 65535;
}

Status DawnDevice::describe_adapter(AdapterLimits& own) {
  WGPUAdapterInfo info{};
  w_.AdapterGetInfo(adapter_, &info);
  info_ = {text(info.device),
           text(info.vendor),
           text(info.description),
           w_.path,
           info.adapterType == WGPUAdapterType_CPU,
           backend_name(info.backendType)};
  w_.AdapterInfoFreeMembers(info);
  // Dawn's last resort computes nothing.
  if (info.backendType == WGPUBackendType_Null)
    return Status(Code::unsupported, "gpu: " + w_.path +
                                         " finds no adapter: the Vulkan loader (libvulkan.so.1) or "
                                         "a driver that it knows is missing");
  w_.AdapterGetLimits(adapter_, &own.limits);
  if (!plausible(own.limits))
    return Status(Code::unsupported,
                  message("gpu: ", w_.path,
                          " is of another version of webgpu.h: its limits are none that WebGPU "
                          "allows; a Dawn of 2026 is needed"));
  limits_.buffer_bytes = own.limits.maxBufferSize;
  limits_.binding_bytes = own.limits.maxStorageBufferBindingSize;
  limits_.offset_alignment = own.limits.minStorageBufferOffsetAlignment;
  limits_.storage_buffers = own.limits.maxStorageBuffersPerShaderStage;
  limits_.groups_per_dimension = own.limits.maxComputeWorkgroupsPerDimension;
  limits_.threads_per_group = own.limits.maxComputeInvocationsPerWorkgroup;
  limits_.group_bytes = own.limits.maxComputeWorkgroupStorageSize;
  return {};
}

void DawnDevice::set_callbacks(WGPUDeviceDescriptor& descriptor) {
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowProcessEvents;
  descriptor.deviceLostCallbackInfo.callback = [](WGPUDevice const*, WGPUDeviceLostReason,
                                                  WGPUStringView message, void* context, void*) {
    auto* self = static_cast<DawnDevice*>(context);
    if (self->closing_) return;
    self->status_ = Status(Code::unsupported,
                           "gpu: the device was lost: " + text(message) + "; open a new one");
    self->lost_ = true;
  };
  descriptor.deviceLostCallbackInfo.userdata1 = this;
  descriptor.uncapturedErrorCallbackInfo.callback =
      [](WGPUDevice const*, WGPUErrorType type, WGPUStringView message, void* context, void*) {
        static_cast<DawnDevice*>(context)->fail(Status(code_of(type), "gpu: " + text(message)));
      };
  descriptor.uncapturedErrorCallbackInfo.userdata1 = this;
}

Status DawnDevice::request_device(const AdapterLimits& own, bool checks) {
  Toggles toggles(units_, !checks);
  WGPUDeviceDescriptor descriptor{};
  descriptor.nextInChain = toggles.list.enabledToggleCount == 0 ? nullptr : &toggles.list.chain;
  descriptor.requiredLimits = &own.limits;
  // Dawn's number of "subgroups" has changed once; what the other number means does no harm.
  std::vector<WGPUFeatureName> features;
  for (const auto feature :
       {WGPUFeatureName_Subgroups, static_cast<WGPUFeatureName>(WGPUFeatureName_Subgroups - 1)})
    if (w_.AdapterHasFeature(adapter_, feature)) features.push_back(feature);
  if (units_) features.push_back(WGPUFeatureName_ChromiumExperimentalSubgroupMatrix);
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredFeatures = features.data();
  set_callbacks(descriptor);
  Answer answer;
  WGPURequestDeviceCallbackInfo on_device{};
  on_device.mode = WGPUCallbackMode_AllowProcessEvents;
  on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message,
                          void* context, void*) {
    auto* a = static_cast<Answer*>(context);
    *a = {true, nullptr, device, text(message)};
  };
  on_device.userdata1 = &answer;
  w_.AdapterRequestDevice(adapter_, &descriptor, on_device);
  wait(answer.done);
  device_ = answer.device;
  if (!device_)
    return Status(Code::unsupported,
                  "gpu: the adapter '" + info_.name + "' gives no device: " + answer.message);
  return {};
}

DawnDevice::~DawnDevice() {
  if (inherited()) return;
  closing_ = true;
  if (recording_) w_.CommandEncoderRelease(recording_);
  for (WGPUBindGroup g : groups_)
    if (g) w_.BindGroupRelease(g);
  for (const Pipeline& p : pipelines_)
    if (p.pipeline) w_.ComputePipelineRelease(p.pipeline);
  for (const auto& [bindings, layout] : layouts_) w_.BindGroupLayoutRelease(layout);
  for (const OwnBuffer& b : buffers_)
    if (b.buffer) w_.BufferRelease(b.buffer);
  if (staging_) w_.BufferRelease(staging_);
  if (queue_) w_.QueueRelease(queue_);
  if (device_) {
    w_.DeviceDestroy(device_);
    w_.DeviceRelease(device_);
  }
  if (adapter_) w_.AdapterRelease(adapter_);
  if (instance_) {
    w_.InstanceProcessEvents(instance_);
    w_.InstanceRelease(instance_);
  }
}

template <class F>
Status DawnDevice::scoped(std::string_view what, F make) {
  LOOM_TRY(usable());
  struct Answer {
    bool done = false;
    Status status;
  } answer;
  w_.DevicePushErrorScope(device_, WGPUErrorFilter_Validation);
  w_.DevicePushErrorScope(device_, WGPUErrorFilter_OutOfMemory);
  make();
  for (int i = 0; i < 2; ++i) {
    answer.done = false;
    WGPUPopErrorScopeCallbackInfo on_error{};
    on_error.mode = WGPUCallbackMode_AllowProcessEvents;
    on_error.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message,
                           void* context, void*) {
      auto* a = static_cast<Answer*>(context);
      a->done = true;
      if (type != WGPUErrorType_NoError && a->status.ok())
        a->status = Status(code_of(type), text(message));
    };
    on_error.userdata1 = &answer;
    w_.DevicePopErrorScope(device_, on_error);
    wait(answer.done);
  }
  if (lost_) return status_;
  return answer.status.at("gpu: " + std::string(what));
}

Result<Handle> DawnDevice::create_buffer(std::uint64_t bytes, std::string_view what) {
  bytes = std::max<std::uint64_t>((bytes + 15) / 16 * 16, 256);
  const std::uint64_t limit = std::min(limits_.buffer_bytes, limits_.binding_bytes);
  if (bytes > limit)
    return Status(Code::out_of_memory,
                  "gpu: " + std::string(what) + " takes " + std::to_string(bytes) +
                      " bytes, a buffer of this adapter holds " + std::to_string(limit));
  WGPUBufferDescriptor d{};
  d.label = view(what);
  d.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  d.size = bytes;
  WGPUBuffer buffer = nullptr;
  LOOM_TRY(scoped(what, [&] { buffer = w_.DeviceCreateBuffer(device_, &d); }));
  if (!buffer)
    return Status(Code::out_of_memory, "gpu: no memory for " + std::string(what) + " of " +
                                           std::to_string(bytes) + " bytes");
  allocated_ += bytes;
  return keep(buffers_, free_buffers_, OwnBuffer{buffer, bytes});
}

void DawnDevice::destroy_buffer(Handle handle) {
  if (inherited()) return;
  if (Status s = flush(); !s.ok()) fail(std::move(s));
  OwnBuffer& b = buffers_[handle - 1];
  allocated_ -= b.bytes;
  w_.BufferDestroy(b.buffer);
  w_.BufferRelease(b.buffer);
  b = {};
  free_buffers_.push_back(handle);
}

Status DawnDevice::write(Handle buffer, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (inherited()) return usable();
  LOOM_TRY(flush());
  for (std::uint64_t at = 0; at < bytes.size(); at += kUploadPiece) {
    const std::uint64_t n = std::min<std::uint64_t>(kUploadPiece, bytes.size() - at);
    w_.QueueWriteBuffer(queue_, buffers_[buffer - 1].buffer, offset + at, bytes.data() + at, n);
    if (n == kUploadPiece)
      w_.QueueSubmit(queue_, 0, nullptr),
          w_.InstanceProcessEvents(instance_);  // lets go of staging memory
  }
  return take_status();
}

Result<WGPUBindGroupLayout> DawnDevice::bind_layout(std::span<const Access> bindings) {
  std::vector<Access> key(bindings.begin(), bindings.end());
  if (auto found = layouts_.find(key); found != layouts_.end()) return found->second;
  std::vector<WGPUBindGroupLayoutEntry> entries(bindings.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].binding = static_cast<std::uint32_t>(i);
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = bindings[i] == Access::read ? WGPUBufferBindingType_ReadOnlyStorage
                                                         : WGPUBufferBindingType_Storage;
  }
  WGPUBindGroupLayoutDescriptor d{};
  d.entryCount = entries.size();
  d.entries = entries.data();
  WGPUBindGroupLayout layout = nullptr;
  LOOM_TRY(
      scoped("bind group layout", [&] { layout = w_.DeviceCreateBindGroupLayout(device_, &d); }));
  layouts_[std::move(key)] = layout;
  return layout;
}

Result<WGPUShaderModule> DawnDevice::module(std::string_view wgsl, const std::string& name) {
  WGPUShaderSourceWGSL code{};
  code.chain.sType = WGPUSType_ShaderSourceWGSL;
  code.code = view(wgsl);
  WGPUShaderModuleDescriptor d{};
  d.nextInChain = &code.chain;
  d.label = view(name);
  WGPUShaderModule shader = nullptr;
  Status status =
      scoped("kernel " + name, [&] { shader = w_.DeviceCreateShaderModule(device_, &d); });
  if (status.ok()) return shader;
  if (shader) w_.ShaderModuleRelease(shader);
  return status;
}

bool DawnDevice::compiles(std::string_view wgsl) {
  const auto shader = module(wgsl, "probe");
  if (shader.ok()) w_.ShaderModuleRelease(*shader);
  return shader.ok();
}

Result<Handle> DawnDevice::pipeline(const PipelineSource& source) {
  if (inherited()) return usable();
  if (auto found = by_key_.find(source.key); found != by_key_.end()) return found->second;
  Pipeline p;
  LOOM_ASSIGN(p.layout, bind_layout(source.bindings));
  // The module by itself: without validation, a pipeline of a module with an error is no error but
  // the end.
  LOOM_ASSIGN(WGPUShaderModule shader, module(source.wgsl, source.key));
  LOOM_TRY(scoped("kernel " + source.key, [&] {
    WGPUPipelineLayoutDescriptor ld{};
    ld.bindGroupLayoutCount = 1;
    ld.bindGroupLayouts = &p.layout;
    WGPUPipelineLayout layout = w_.DeviceCreatePipelineLayout(device_, &ld);
    WGPUComputePipelineDescriptor d{};
    d.label = view(source.key);
    d.layout = layout;
    d.compute.module = shader;
    d.compute.entryPoint = view(source.entry);
    p.pipeline = w_.DeviceCreateComputePipeline(device_, &d);
    w_.PipelineLayoutRelease(layout);
    w_.ShaderModuleRelease(shader);
  }));
  pipelines_.push_back(p);
  return by_key_[source.key] = static_cast<Handle>(pipelines_.size());
}

Result<Handle> DawnDevice::bind(Handle pipeline, std::span<const Binding> bindings) {
  if (inherited()) return usable();
  std::vector<WGPUBindGroupEntry> entries(bindings.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const OwnBuffer& b = buffers_[bindings[i].buffer - 1];
    entries[i].binding = static_cast<std::uint32_t>(i);
    entries[i].buffer = b.buffer;
    entries[i].offset = bindings[i].offset;
    entries[i].size = bindings[i].bytes == 0 ? b.bytes - bindings[i].offset : bindings[i].bytes;
  }
  WGPUBindGroupDescriptor d{};
  d.layout = pipelines_[pipeline - 1].layout;
  d.entryCount = entries.size();
  d.entries = entries.data();
  WGPUBindGroup group = w_.DeviceCreateBindGroup(device_, &d);
  LOOM_TRY(take_status());
  return keep(groups_, free_groups_, group);
}

void DawnDevice::destroy_bindings(Handle bindings) {
  if (inherited()) return;
  w_.BindGroupRelease(std::exchange(groups_[bindings - 1], nullptr));
  free_groups_.push_back(bindings);
}

// What is recorded goes to the queue before anything else does.
Status DawnDevice::flush() {
  if (inherited()) return usable();
  if (!recording_) return {};
  WGPUCommandBuffer commands = w_.CommandEncoderFinish(recording_, nullptr);
  w_.QueueSubmit(queue_, 1, &commands);
  w_.CommandBufferRelease(commands);
  w_.CommandEncoderRelease(std::exchange(recording_, nullptr));
  return take_status();
}

WGPUCommandEncoder DawnDevice::recording() {
  if (!recording_) recording_ = w_.DeviceCreateCommandEncoder(device_, nullptr);
  return recording_;
}

// Waits in the recording for what follows: a read shares its way to the queue. Of a long list the
// device begins with the first part while the others are recorded.
Status DawnDevice::submit(std::span<const Dispatch> list) {
  constexpr std::size_t kLong = 160, kPart = 64;
  LOOM_TRY(usable());
  while (list.size() > kLong) {
    LOOM_TRY(record(list.first(kPart)));
    LOOM_TRY(flush());
    list = list.subspan(kPart);
  }
  return record(list);
}

Status DawnDevice::record(std::span<const Dispatch> list) {
  WGPUComputePassEncoder pass = w_.CommandEncoderBeginComputePass(recording(), nullptr);
  Handle pipeline = 0;
  for (const Dispatch& d : list) {
    if (d.pipeline != pipeline)
      w_.ComputePassEncoderSetPipeline(pass, pipelines_[(pipeline = d.pipeline) - 1].pipeline);
    w_.ComputePassEncoderSetBindGroup(pass, 0, groups_[d.bindings - 1], 0, nullptr);
    w_.ComputePassEncoderDispatchWorkgroups(pass, d.x, d.y, d.z);
  }
  w_.ComputePassEncoderEnd(pass);
  w_.ComputePassEncoderRelease(pass);
  return take_status();
}

Status DawnDevice::reserve_staging(std::uint64_t bytes) {
  if (staging_bytes_ >= bytes) return {};
  if (staging_) w_.BufferRelease(staging_);
  staging_ = nullptr;
  WGPUBufferDescriptor d{};
  d.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
  d.size = staging_bytes_ = std::max<std::uint64_t>((bytes + 15) / 16 * 16, 4096);
  return scoped("staging memory", [&] { staging_ = w_.DeviceCreateBuffer(device_, &d); });
}

Status DawnDevice::map_staging(std::uint64_t bytes) {
  struct Mapping {
    bool done = false;
    WGPUMapAsyncStatus status = WGPUMapAsyncStatus_Error;
    std::string message;
  } answer;
  WGPUBufferMapCallbackInfo on_map{};
  on_map.mode = WGPUCallbackMode_AllowProcessEvents;
  on_map.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* context, void*) {
    *static_cast<Mapping*>(context) = {true, status, text(message)};
  };
  on_map.userdata1 = &answer;
  w_.BufferMapAsync(staging_, WGPUMapMode_Read, 0, bytes, on_map);
  wait(answer.done);
  LOOM_TRY(take_status());
  if (answer.status != WGPUMapAsyncStatus_Success)
    return Status(Code::unsupported, "gpu: reading back failed: " + answer.message);
  return {};
}

// Ranges that fit into the staging buffer together.
Status DawnDevice::read_together(std::span<const ReadRange> ranges, std::uint64_t total) {
  LOOM_TRY(usable());
  LOOM_TRY(reserve_staging(total));
  std::uint64_t at = 0;
  for (const ReadRange& range : ranges) {
    w_.CommandEncoderCopyBufferToBuffer(recording(), buffers_[range.buffer - 1].buffer,
                                        range.offset, staging_, at, range.out.size());
    at += range.out.size();
  }
  LOOM_TRY(flush());
  LOOM_TRY(map_staging(total));
  const auto* mapped =
      static_cast<const std::byte*>(w_.BufferGetConstMappedRange(staging_, 0, total));
  for (const ReadRange& range : ranges) {
    std::memcpy(range.out.data(), mapped, range.out.size());
    mapped += range.out.size();
  }
  w_.BufferUnmap(staging_);
  return {};
}

Status DawnDevice::read(std::span<const ReadRange> ranges) {
  // Ranges that fit share one trip; a range larger than the staging buffer is read in pieces.
  std::size_t first = 0;
  while (first < ranges.size()) {
    std::uint64_t total = 0;
    std::size_t last = first;
    while (last < ranges.size() &&
           (last == first || total + ranges[last].out.size() <= kStagingPiece))
      total += ranges[last++].out.size();
    if (total > kStagingPiece) {  // a single large one
      for (std::uint64_t at = 0; at < total; at += kStagingPiece) {
        const ReadRange piece{ranges[first].buffer, ranges[first].offset + at,
                              ranges[first].out.subspan(at, std::min(kStagingPiece, total - at))};
        LOOM_TRY(read({&piece, 1}));
      }
    } else {
      LOOM_TRY(read_together(ranges.subspan(first, last - first), total));
    }
    first = last;
  }
  return take_status();
}

Status DawnDevice::force_loss() {
  if (!w_.DeviceForceLoss) return Device::force_loss();
  w_.DeviceForceLoss(device_, WGPUDeviceLostReason_Unknown, view("by request"));
  wait(lost_);
  return {};
}

}  // namespace

Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options) {
  LOOM_ASSIGN(const DawnLibrary library, load_dawn(options.library));
  auto device = std::make_unique<DawnDevice>(library);
  LOOM_TRY(device->open(options));
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace loom::gpu

#endif
