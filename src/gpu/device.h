// A WebGPU device as the executor sees it: buffers, pipelines, bind groups, recorded dispatches,
// and reading back. Two hosts can stand behind it: Dawn's webgpu.h, loaded at run time
// (dawn_device.cpp), and a browser's navigator.gpu; so it is small, made of numbers, and only
// read() waits. One thread at a time uses a device and what was made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace loom::gpu {

struct DeviceInfo {
  std::string name;  // "NVIDIA H200", "SwiftShader Device (Subzero)"
  std::string vendor, driver;
  std::string library;  // the file that was loaded
  bool software = false;
  std::string backend;  // "vulkan", "metal", "d3d12"; in a browser "webgpu"
};

// The adapter's own limits, not the defaults of the standard.
struct Limits {
  std::uint64_t buffer_bytes = 0, binding_bytes = 0;
  std::uint32_t offset_alignment = 256;  // of a binding's offset
  std::uint32_t storage_buffers = 8;     // per pipeline
  std::uint32_t groups_per_dimension = 65535;
  std::uint32_t threads_per_group = 256, group_bytes = 16384;
  bool subgroups = false;
  bool matrix_units = false;  // allow_matrix_units() was called
  bool fma = false;           // allow_fma() was
};

struct DeviceOptions {
  std::string library;    // "": the host's, LOOM_WEBGPU_LIBRARY, then the well-known names
  bool software = false;  // ask for the fallback adapter
  bool checks = false;  // keep the device's own bounds checks and validation, which the executor's
                        // proofs make needless
};

// Numbers of a device's objects; 0 is none.
using Handle = std::uint32_t;

enum class Access : std::uint8_t { read, read_write };

// What a pipeline is made from. Bindings of group 0 are storage buffers, numbered from 0.
struct PipelineSource {
  std::string key;  // pipelines of one key are one pipeline
  std::string wgsl;
  std::string entry;
  std::span<const Access> bindings;
};

struct Binding {
  Handle buffer = 0;
  std::uint64_t offset = 0, bytes = 0;  // bytes 0: to the end
};

struct Dispatch {
  Handle pipeline = 0, bindings = 0;
  std::uint32_t x = 1, y = 1, z = 1;  // workgroups
};

struct ReadRange {
  Handle buffer = 0;
  std::uint64_t offset = 0;  // of 4 bytes' alignment, as is the size
  std::span<std::byte> out;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual const Limits& limits() const = 0;

  // Zeroed. Errors: out_of_memory, by the limits or by the device.
  virtual Result<Handle> create_buffer(std::uint64_t bytes, std::string_view what) = 0;
  virtual void destroy_buffer(Handle buffer) = 0;
  // In pieces, so that the staging memory stays small. Offset and size are multiples of 4.
  virtual Status write(Handle buffer, std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // Compiles, or finds what was compiled for the key. An error holds the compiler's message.
  virtual Result<Handle> pipeline(const PipelineSource& source) = 0;
  virtual Result<Handle> bind(Handle pipeline, std::span<const Binding> bindings) = 0;
  virtual void destroy_bindings(Handle bindings) = 0;
  // Runs in order, at the latest with the next write or read; each dispatch sees what those before
  // it wrote. Does not wait.
  virtual Status submit(std::span<const Dispatch> list) = 0;
  // Starts what was submitted, where nothing is written or read for a while.
  virtual Status flush() = 0;
  // Waits for everything submitted before. The first error of the device since the last call comes
  // out here at the latest: a device that was lost stays so (Code::unsupported), and a new one can
  // be opened.
  virtual Status read(std::span<const ReadRange> ranges) = 0;
  // For tests: the device is lost, as by a driver's reset. Error: unsupported, where the host
  // cannot do that.
  virtual Status force_loss() {
    return Status(Code::unsupported, "gpu: this host cannot lose its device at will");
  }
  // Whether kernels may use subgroup matrices of i8 with sums in i32 (16 x 16 x 32) in subgroups
  // of 32 threads. limits() has them once their sums are known to be exact and the caller allows
  // them.
  virtual bool has_matrix_units() const { return false; }
  virtual void allow_matrix_units() {}
  // Kernels may protect a product that is added by fma() with a zero: one instruction less.
  virtual void allow_fma() {}
  // Bytes in buffers now.
  virtual std::uint64_t allocated_bytes() const = 0;
};

// Opens the default adapter of a WebGPU library. Code::unsupported names what is missing: the
// library (and where it was looked for), the Vulkan loader or driver, an adapter.
Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options = {});

// Devices that are opened from now on are of the host's library, whose wgpuGetProcAddress this is;
// null: of a library that is looked for, as before. Any thread. Error: unsupported, naming the
// first function that it does not know, and then nothing changes.
using HostFunction = void (*)();
Status use_host(HostFunction get_proc_address);

// Owns a buffer of a device that outlives it.
class Buffer {
 public:
  Buffer() = default;
  static Result<Buffer> create(Device& device, std::uint64_t bytes, std::string_view what) {
    LOOM_ASSIGN(const Handle handle, device.create_buffer(bytes, what));
    return Buffer(device, handle, bytes);
  }
  Buffer(Buffer&& o) noexcept { swap(o); }
  Buffer& operator=(Buffer&& o) noexcept {
    Buffer taken(std::move(o));
    swap(taken);
    return *this;
  }
  ~Buffer() {
    if (handle_ != 0) device_->destroy_buffer(handle_);
  }
  Handle handle() const { return handle_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Buffer(Device& device, Handle handle, std::uint64_t bytes)
      : device_(&device), handle_(handle), bytes_(bytes) {}
  void swap(Buffer& o) {
    std::swap(device_, o.device_);
    std::swap(handle_, o.handle_);
    std::swap(bytes_, o.bytes_);
  }
  Device* device_ = nullptr;
  Handle handle_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace loom::gpu
