#if !defined(__wasm__)

#include "gpu/dawn_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/message.h"
#include "gpu/device.h"

namespace loom::gpu {
namespace {

constexpr const char* kNames[] = {"libwebgpu_dawn.so", "libwebgpu_wrapper.so", "libwebgpu.so",
                                  "libwebgpu_dawn.dylib"};

std::string program_folder() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0) return {};
  const std::string_view whole(path, static_cast<std::size_t>(n));
  return std::string(whole.substr(0, whole.rfind('/') + 1));
}

struct Name {
  const char* text;
  std::size_t at;  // in DawnFunctions
};
constexpr Name kFunctions[] = {
#define LOOM_WGPU_NAME(name) {"wgpu" #name, offsetof(DawnFunctions, name)},
    LOOM_WGPU_FUNCTIONS(LOOM_WGPU_NAME)
#undef LOOM_WGPU_NAME
};

// Every function that `find` knows; a missing one is an error that names it, but for the one that
// only tests call.
template <class Find>
Status fill(DawnLibrary& dawn, Find find) {
  for (const Name& name : kFunctions) {
    const auto found = find(name.text);
    if (!found && name.at != offsetof(DawnFunctions, DeviceForceLoss))
      return Status(Code::unsupported, message("gpu: ", dawn.path, " has no function ", name.text));
    std::memcpy(reinterpret_cast<std::byte*>(static_cast<DawnFunctions*>(&dawn)) + name.at, &found,
                sizeof found);
  }
  return {};
}

std::atomic<HostFunction> of_host{nullptr};

Result<DawnLibrary> dawn_of(HostFunction get_proc_address) {
  DawnLibrary dawn;
  dawn.path = "the host's wgpuGetProcAddress";
  const auto get = reinterpret_cast<decltype(&wgpuGetProcAddress)>(get_proc_address);
  LOOM_TRY(fill(dawn, [&](const char* name) { return get({name, std::strlen(name)}); }));
  return dawn;
}

}  // namespace

Status use_host(HostFunction get_proc_address) {
  if (get_proc_address) LOOM_TRY(dawn_of(get_proc_address).status());
  of_host = get_proc_address;
  return {};
}

Result<DawnLibrary> load_dawn(const std::string& path) {
  if (const HostFunction host = of_host; host && path.empty()) return dawn_of(host);
  std::vector<std::string> candidates;
  const char* named = std::getenv("LOOM_WEBGPU_LIBRARY");
  if (!path.empty()) candidates.push_back(path);
  else if (named && *named) candidates.emplace_back(named);
  else {
    for (const char* name : kNames) candidates.push_back(program_folder() + name);
    for (const char* name : kNames) candidates.emplace_back(name);
  }
  void* library = nullptr;
  std::string tried;
  for (const std::string& candidate : candidates) {
    library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) {
      tried = candidate;
      break;
    }
    const char* why = dlerror();
    // The loader's own words where one file was asked for; of a search only the names.
    tried += (tried.empty() ? "" : ", ") +
             (candidates.size() == 1 && why ? std::string(why) : candidate);
  }
  if (!library)
    return Status(
        Code::unsupported,
        "gpu: no WebGPU library: set LOOM_WEBGPU_LIBRARY to one with Dawn's webgpu.h (tried " +
            tried + ")");
  DawnLibrary dawn;
  dawn.path = tried;
  LOOM_TRY(fill(dawn, [&](const char* name) { return dlsym(library, name); }));
  return dawn;
}

}  // namespace loom::gpu

#endif
