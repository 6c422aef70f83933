// The functions of Dawn's webgpu.h that Loom calls, found at run time in a library or through the
// host. Nothing links against them.
#pragma once

#include <webgpu/webgpu.h>

#include <string>

#include "base/status.h"

// Names as in the header, without their "wgpu".
// clang-format off: a list
#define LOOM_WGPU_FUNCTIONS(X) \
  X(CreateInstance) X(InstanceRequestAdapter) X(InstanceProcessEvents) X(InstanceRelease) \
  X(AdapterRequestDevice) X(AdapterGetInfo) X(AdapterInfoFreeMembers) X(AdapterGetLimits) \
  X(AdapterHasFeature) X(AdapterPropertiesSubgroupMatrixConfigsFreeMembers) X(AdapterRelease) \
  X(DeviceGetQueue) X(DeviceCreateBuffer) \
  X(DeviceCreateShaderModule) X(DeviceCreateBindGroupLayout) X(DeviceCreatePipelineLayout) \
  X(DeviceCreateComputePipeline) X(DeviceCreateBindGroup) X(DeviceCreateCommandEncoder) \
  X(DevicePushErrorScope) X(DevicePopErrorScope) X(DeviceDestroy) X(DeviceForceLoss) \
  X(DeviceRelease) X(QueueSubmit) X(QueueWriteBuffer) X(QueueRelease) \
  X(CommandEncoderBeginComputePass) X(CommandEncoderCopyBufferToBuffer) X(CommandEncoderFinish) \
  X(CommandEncoderRelease) X(CommandBufferRelease) X(ComputePassEncoderSetPipeline) \
  X(ComputePassEncoderSetBindGroup) X(ComputePassEncoderDispatchWorkgroups) \
  X(ComputePassEncoderEnd) X(ComputePassEncoderRelease) X(BufferMapAsync) \
  X(BufferGetConstMappedRange) X(BufferUnmap) X(BufferDestroy) X(BufferRelease) \
  X(ShaderModuleRelease) X(BindGroupLayoutRelease) X(PipelineLayoutRelease) \
  X(ComputePipelineRelease) X(BindGroupRelease)
// clang-format on

namespace loom::gpu {

struct DawnFunctions {
#define LOOM_WGPU_MEMBER(name) decltype(&wgpu##name) name = nullptr;
  LOOM_WGPU_FUNCTIONS(LOOM_WGPU_MEMBER)
#undef LOOM_WGPU_MEMBER
};
struct DawnLibrary : DawnFunctions {
  std::string path;
};

// Loads the library `path`. Where that is empty: the host's (use_host), the one of
// LOOM_WEBGPU_LIBRARY, or the first of the well-known names beside the program and on the loader's
// path. It stays loaded. Error: unsupported, with everything that was tried.
Result<DawnLibrary> load_dawn(const std::string& path);

}  // namespace loom::gpu
