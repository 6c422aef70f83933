// Model files seen from outside.
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "convert/weights/from_weights.h"

using namespace loom;
using namespace loom::c_api;

namespace {

// A file of the host's; shared by all that reads from it.
class HostSource {
 public:
  explicit HostSource(const loom_source& host) : host_(host) {}
  HostSource(const HostSource&) = delete;
  HostSource& operator=(const HostSource&) = delete;
  ~HostSource() {
    if (host_.release) host_.release(host_.user);
  }
  Status read(std::uint64_t offset, std::span<std::byte> out) const {
    const locks::unique_lock lock(mutex_);
    loom_error error{};
    std::size_t got = 0;
    const std::int32_t code = host_.read(host_.user, offset, out.data(), out.size(), &got, &error);
    error.message[sizeof error.message - 1] = 0;
    if (code != LOOM_OK)
      return Status(code > LOOM_OK && code <= LOOM_BUSY ? static_cast<Code>(code) : Code::internal,
                    error.message[0] != 0 ? error.message : "the read callback failed");
    if (got == out.size()) return {};
    return Status(got < out.size() ? Code::truncated : Code::internal,
                  "the read callback read " + std::to_string(got) + " of " +
                      std::to_string(out.size()) + " bytes from " + std::to_string(offset));
  }

 private:
  loom_source host_;
  mutable locks::mutex mutex_;
};

Result<SourcePtr> source_argument(const loom_source* source) {
  if (!source || source->size != sizeof(loom_source) || !source->read)
    return Status(Code::invalid_argument,
                  "source: expects a loom_source with its size and a function `read`");
  auto host = std::make_shared<const HostSource>(*source);
  const std::string name = source->name && source->name[0] != 0 ? source->name : "(source)";
  return source_from_callback(
      source->bytes,
      [host, name](std::uint64_t offset, std::span<std::byte> out) {
        return host->read(offset, out).at(name);
      },
      name);
}

Status opened(Result<ModelFile> file, loom_file* out) {
  LOOM_TRY(file.status());
  *out = add(std::make_shared<FileObject>(std::move(*file)));
  return {};
}

}  // namespace

extern "C" {

int32_t loom_file_open(const char* name, size_t name_size, loom_file* file, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(file));
    LOOM_ASSIGN(const std::string n, path_argument(name, name_size, "name"));
    return opened(open_model_file(n), file);
  });
}

int32_t loom_file_open_bytes(loom_bytes bytes, loom_file* file, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(file));
    LOOM_ASSIGN(const auto b, get<Bytes>(bytes));
    return opened(open_model_source(b->source()), file);
  });
}

int32_t loom_file_open_source(const loom_source* source, loom_file* file, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(file));
    LOOM_ASSIGN(SourcePtr made, source_argument(source));
    return opened(open_model_source(std::move(made)), file);
  });
}

int32_t loom_file_weights(loom_file file, const char* settings, size_t settings_size,
                          loom_bytes* report, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    LOOM_ASSIGN(const auto f, get<FileObject>(file));
    LOOM_ASSIGN(const Json given, json_argument(settings, settings_size, "settings"));
    LOOM_ASSIGN(const WeightsReport made, weights_of(f->file, given, OpenQuestions::report));
    *report = new_json(made.json);
    return {};
  });
}

int32_t loom_file_info(loom_file file, const char* options, size_t options_size, loom_bytes* info,
                       loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto f, get<FileObject>(file));
    DescribeOptions o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const Json json, describe(f->file, o));
    *info = new_json(json);
    return {};
  });
}

int32_t loom_file_convert(const char* in, size_t in_size, const char* out, size_t out_size,
                          const char* options, size_t options_size, loom_bytes* report,
                          loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    LOOM_ASSIGN(const std::string from, path_argument(in, in_size, "in"));
    LOOM_ASSIGN(const std::string to, path_argument(out, out_size, "out"));
    ConvertOptions o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const Conversion done, convert(from, to, o));
    *report = new_json(done.to_json());
    return {};
  });
}

int32_t loom_file_hash(loom_file file, const char* tensor, size_t tensor_size, loom_bytes* sha256,
                       loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(sha256));
    LOOM_ASSIGN(const auto f, get<FileObject>(file));
    LOOM_ASSIGN(const std::string_view name, text_argument(tensor, tensor_size, "tensor"));
    LOOM_ASSIGN(const std::string hex, hash_tensor(f->file, name));
    *sha256 = new_text(hex);
    return {};
  });
}

}  // extern "C"
