# Part of ./dev: a WebGPU adapter in software, so that what runs on GPUs is tested anywhere.
# Sourced, not run.

# Dawn as the npm package bun-webgpu-linux-x64 has it: the file of this version and no other.
gpu_package=bun-webgpu-linux-x64@0.1.7
gpu_sha256=8badfecdad4e726ac12be4f29771f4cbd7ce7683b4418316a547c5bda94fb798
gpu_library=build/gpu/libwebgpu_wrapper.so

# Where Debian's Chromium keeps SwiftShader, a Vulkan driver that computes on the CPU.
gpu_driver() {
  local file
  for file in /usr/lib/chromium/vk_swiftshader_icd.json /usr/lib/*/vk_swiftshader_icd.json \
    /usr/share/vulkan/icd.d/*swiftshader*.json; do
    [ -e "$file" ] && { echo "$file"; return 0; }
  done
  return 1
}

# Prints why there can be no adapter here, or makes one.
gpu_missing() {
  [ "$(uname -sm)" = "Linux x86_64" ] ||
    { echo "the software adapter is for Linux on x86-64"; return 0; }
  gpu_driver >/dev/null || { echo "no SwiftShader: Debian's chromium-common has it"; return 0; }
  ldconfig -p 2>/dev/null | grep libvulkan.so.1 >/dev/null || [ -n "${LD_LIBRARY_PATH:-}" ] ||
    { echo "no Vulkan loader: Debian's libvulkan1"; return 0; }
  [ -e "$gpu_library" ] && return 1
  command -v npm >/dev/null || { echo "no npm, which brings Dawn"; return 0; }
  mkdir -p build/gpu
  (cd build/gpu && npm pack --silent "$gpu_package") >build/gpu/npm.log 2>&1 ||
    { echo "npm could not bring $gpu_package (build/gpu/npm.log)"; return 0; }
  local archive=build/gpu/${gpu_package/@/-}.tgz
  sha256sum --status -c <<<"$gpu_sha256  $archive" ||
    { echo "$archive is not the file that was pinned"; return 0; }
  tar -xzf "$archive" -C build/gpu --strip-components 1 package/libwebgpu_wrapper.so && return 1
  echo "$archive holds no libwebgpu_wrapper.so"
}

# gpu COMMAND...: runs it with the software adapter, from the root of the tree.
gpu() {
  [ $# -gt 0 ] || die "gpu COMMAND, for example: ./dev gpu build/release/loom verify --device gpu"
  local why
  if why=$(gpu_missing); then die "$why"; fi
  VK_ICD_FILENAMES=$(gpu_driver) LOOM_WEBGPU_LIBRARY=$PWD/$gpu_library exec "$@"
}
