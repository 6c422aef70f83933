#include "bridge/pages/upload.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace loom::bridge {
namespace {

// Of the tensors that are hashed: larger files take longer than a page waits.
constexpr std::int64_t kMaxHashed = std::int64_t{4} << 30;

class Upload : public http::Exchange {
 public:
  Upload(const Store& store, std::string name, const std::string& ending, std::uint64_t max_bytes)
      : max_bytes_(max_bytes),
        name_(std::move(name)),
        path_(store.state_folder() + "/upload-XXXXXX" + ending) {
    file_ = ::mkstemps(path_.data(), static_cast<int>(ending.size()));
    if (file_ < 0) refuse(500, "io", "the file cannot be stored");
  }
  ~Upload() override {
    ::close(file_);
    ::unlink(path_.c_str());
  }

  void take(std::string_view piece) override {
    if (piece.size() > max_bytes_ - bytes_)
      refuse(413, "too_large",
             "a file may have " + std::to_string(max_bytes_) + " bytes (--max-bytes)");
    bytes_ += piece.size();
    while (!piece.empty()) {
      const ssize_t n = ::write(file_, piece.data(), piece.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0)
        refuse(errno == ENOSPC || errno == EFBIG ? 507 : 500, "disk_full",
               "the file: " + std::generic_category().message(errno));
      piece.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  Response finish() override {
    try {
      return renamed(or_refuse([&] {
        const File file(path_);
        Json about = cli::parsed(file.info(R"({"tensors":true,"model":true})"));
        if (cli::integer_in(about, "bytes") <= kMaxHashed) hash(file, about);
        return reply(about);
      }));
    } catch (http::Refusal& refusal) {
      refusal.response = renamed(std::move(refusal.response));
      throw;
    }
  }

 private:
  static void hash(const File& file, Json& about) {
    const Json* list = about.find("tensors");
    if (!list) return;
    Json tensors = *list;
    for (Json& one : tensors.as_array())
      if (!one.find("sha256") || one.find("sha256")->is_null())
        one.set("sha256", file.hash(cli::text_in(one, "name")));
    about.set("tensors", std::move(tensors));
  }

  // The file here is of the server, and gone: answers have the name that the file came with.
  Response renamed(Response response) const {
    const auto inside = [](const std::string& text) {  // of a text in JSON
      const std::string quoted = Json(text).dump();
      return quoted.substr(1, quoted.size() - 2);
    };
    const std::string to = inside(name_);
    for (const std::string& from : {inside(path_), path_.substr(path_.rfind('/') + 1)})
      for (std::size_t at = 0; (at = response.body.find(from, at)) != std::string::npos;
           at += to.size())
        response.body.replace(at, from.size(), to);
    return response;
  }

  const std::uint64_t max_bytes_;
  const std::string name_;
  std::string path_;
  int file_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<http::Exchange> upload(const Store& store, const http::Head& head,
                                       std::uint64_t max_bytes) {
  if (head.method != "POST") refuse(405, "method", "this route takes POST");
  const std::string name = head.parameter("name").value_or("");
  for (const char* ending : {".safetensors", ".gguf", ".onnx", ".entity"})
    if (name.ends_with(ending)) return std::make_unique<Upload>(store, name, ending, max_bytes);
  refuse(400, "invalid_argument", "name: must end in .safetensors, .gguf, .onnx or .entity");
}

}  // namespace loom::bridge
