// Model files seen from outside.
#include "c_api/call.h"
#include "c_api/options/options.h"

using namespace loom;
using namespace loom::c_api;

extern "C" {

int32_t loom_file_open(const char* name, size_t name_size, loom_file* file, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(file));
    LOOM_ASSIGN(const std::string n, path_argument(name, name_size, "name"));
    LOOM_ASSIGN(ModelFile opened, open_model_file(n));
    *file = add(std::make_shared<FileObject>(std::move(opened)));
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
