// The pieces of kernels/*.wgsl, unpacked when the first one is asked for.
#include <map>

#include "base/files/inflate.h"
#include "ops/webgpu/kernels.h"

namespace loom::webgpu {
namespace {

constexpr std::uint64_t kMaxText = std::uint64_t{1} << 24;

std::map<std::string_view, std::string_view> unpacked() {
  static const std::vector<std::byte> bytes = [] {
    auto all = gunzip(wgsl_gzip(), kMaxText, "the WGSL kernels");
    return all.ok() ? std::move(*all) : std::vector<std::byte>();
  }();
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::map<std::string_view, std::string_view> pieces;
  while (rest.starts_with("//")) {
    const std::size_t line = rest.find('\n'), end = std::min(rest.find("//", line), rest.size());
    pieces[rest.substr(2, line - 2)] = rest.substr(line + 1, end - line - 1);
    rest.remove_prefix(end);
  }
  return pieces;
}

}  // namespace

std::string_view wgsl_text(std::string_view name) {
  static const std::map<std::string_view, std::string_view> pieces = unpacked();
  const auto found = pieces.find(name);
  return found == pieces.end() ? std::string_view() : found->second;
}

}  // namespace loom::webgpu
