#include "formats/sniff.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/files/bytes.h"
#include "base/message.h"
#include "formats/safetensors/safetensors.h"
#include "formats/tensor_file.h"

namespace loom {
namespace {

using namespace std::string_view_literals;

// Enough for a whole Git LFS pointer and for the "ustar" of a tar header.
constexpr std::size_t kPrefix = 512;

struct Foreign {
  std::size_t offset;
  std::string_view magic;
  std::string_view what;
};
constexpr Foreign kForeign[] = {
    {0, "\x1f\x8b\x08"sv, "is gzip data: unpack it first (gunzip)"},
    {0, "\x28\xb5\x2f\xfd"sv, "is Zstandard data: unpack it first"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "is xz data: unpack it first"},
    {0, "BZh"sv, "is bzip2 data: unpack it first"},
    {257, "ustar"sv, "is a tar archive: unpack it first"},
    {0, "\x89HDF\r\n\x1a\n"sv, "is an HDF5 file (Keras .h5): save the model as safetensors"},
    {4, "TFL3"sv, "is a TensorFlow Lite model: not read; convert it to safetensors"},
    {0, "lmgg"sv, "is an old GGML file, before GGUF: convert it with a current llama.cpp"},
    {0, "fmgg"sv, "is an old GGMF file, before GGUF: convert it with a current llama.cpp"},
    {0, "tjgg"sv, "is an old GGJT file, before GGUF: convert it with a current llama.cpp"},
    {0, "FUGG"sv, "is a GGUF file with swapped bytes: not read; convert it to little-endian"},
};

bool has(std::string_view head, std::size_t offset, std::string_view magic) {
  return head.size() >= offset && head.substr(offset).starts_with(magic);
}

// The number behind "\nsize " of a Git LFS pointer, "" where there is none.
std::string_view lfs_size(std::string_view head) {
  const std::size_t at = head.find("\nsize ");
  if (at == head.npos) return {};
  const std::string_view rest = head.substr(at + 6);
  return rest.substr(
      0, std::min<std::size_t>(20, std::min(rest.find_first_not_of("0123456789"), rest.size())));
}

// The first text a person would see: no byte order mark, no white space.
std::string_view trimmed(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t at = head.find_first_not_of(" \t\r\n");
  return at == head.npos ? std::string_view() : head.substr(at);
}

// NumPy's zip holds *.npy.
bool has_arrays(std::string_view head) {
  return head.size() >= 30 &&
         head.substr(30, load_le<std::uint16_t>(head.data() + 26)).ends_with(".npy");
}

// ModelProto starts with field 1, ir_version (1 to 31), and goes on with a producer, domain,
// version, doc string, graph or operator set.
bool like_onnx(std::string_view head) {
  constexpr std::string_view kNext = "\x12\x1a\x22\x28\x32\x3a\x42"sv;
  return head.size() >= 3 && head[0] == 8 && head[1] >= 1 && head[1] < 32 &&
         kNext.find(head[2]) != kNext.npos;
}

std::string first_bytes(std::string_view head) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : head.substr(0, 8)) {
    const auto byte = static_cast<unsigned char>(c);
    out += out.empty() ? "" : " ";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

}  // namespace

std::string_view name(FileKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {"safetensors", "GGUF", ".entity", "JSON",
                                                      "NumPy .npy",  "ONNX", "PyTorch"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<FileKind> sniff(const ByteSource& source) {
  const auto refuse = [&](Code code, const auto&... what) {
    return Status(code, message(source.name(), ": ", what...));
  };
  if (source.size() == 0)
    return refuse(Code::truncated, "is empty (0 bytes), expected a model file");
  std::array<std::byte, kPrefix> prefix;
  const std::span<std::byte> filled(
      prefix.data(), static_cast<std::size_t>(std::min<std::uint64_t>(kPrefix, source.size())));
  LOOM_TRY(source.read(0, filled));
  const std::string_view head = as_text(filled);

  if (head.starts_with("GGUF")) return FileKind::gguf;
  if (head.starts_with("LOOMENT2")) return FileKind::entity;
  if (head.starts_with("\x93NUMPY")) return FileKind::npy;
  // A header length of 640 starts like a pickle, so this comes before the foreign formats.
  const bool brace = head.size() > 8 && head[8] == '{';
  if (brace && load_le<std::uint64_t>(head.data()) <= Safetensors::kMaxHeader) {
    LOOM_TRY(Safetensors::header_size(source).status());
    return FileKind::safetensors;
  }
  for (const Foreign& foreign : kForeign) {
    if (has(head, foreign.offset, foreign.magic)) return refuse(Code::unsupported, foreign.what);
  }
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    const std::string_view size = lfs_size(head);
    return refuse(Code::unsupported, "is a Git LFS pointer of ", source.size(),
                  " bytes, not the file itself (", size.empty() ? "its size is not stated" : size,
                  size.empty() ? "" : " bytes", "): run `git lfs pull` in its folder");
  }
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
    if (!has_arrays(head)) return FileKind::torch;
    return refuse(Code::unsupported,
                  "is a zip archive of NumPy arrays (.npz): unpack it, or save as safetensors");
  }
  if (head[0] == '\x80' && head.size() > 1 && head[1] >= 2 && head[1] <= 5) {
    return refuse(
        Code::unsupported,
        "is a Python pickle: Loom never runs one; of PyTorch before 1.6, save it again with "
        "torch.save(torch.load(...), ...), or as safetensors");
  }
  const std::string_view text = trimmed(head);
  if (text.starts_with('<')) {
    return refuse(
        Code::unsupported,
        "is an HTML or XML page, not a model: the download gave a web page; fetch the file itself");
  }
  if (text.starts_with('{') || text.starts_with('[')) return FileKind::json;
  if (like_onnx(head)) return FileKind::onnx;
  if (brace) {  // a length beyond the limit: says so
    LOOM_TRY(Safetensors::header_size(source).status());
  }
  if (source.size() < 9) {
    return refuse(Code::truncated, "has ", source.size(), " bytes, the smallest model file has 9");
  }
  return refuse(Code::unsupported, "is no model file: it starts with ", first_bytes(head),
                "; expected safetensors, GGUF, .entity, PyTorch, JSON, .npy or ONNX");
}

Status expect_kind(const ByteSource& source, FileKind wanted) {
  LOOM_ASSIGN(const FileKind kind, sniff(source));
  if (kind == wanted) return {};
  return Status(Code::unsupported,
                message(source.name(), ": is ", name(kind), ", expected ", name(wanted)));
}

}  // namespace loom
