#if !defined(__wasm__)

#include "gpu/dawn_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

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

}  // namespace

Result<DawnLibrary> load_dawn(const std::string& path) {
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
#define LOOM_WGPU_LOAD(name)                                                       \
  dawn.name = reinterpret_cast<decltype(dawn.name)>(dlsym(library, "wgpu" #name)); \
  if (!dawn.name) return Status(Code::unsupported, "gpu: " + tried + " has no function wgpu" #name);
  LOOM_WGPU_FUNCTIONS(LOOM_WGPU_LOAD)
#undef LOOM_WGPU_LOAD
  return dawn;
}

}  // namespace loom::gpu

#endif
