// Versions, what this build can do, and the proof of its numbers.
#include <algorithm>
#include <cstdlib>

#include "base/files/paths.h"
#include "base/files/source.h"
#include "base/message.h"
#include "base/numerics_version.h"
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "embedded/embedded.h"
#include "gpu/device.h"
#include "layers/layer.h"
#include "numeric/weight_store.h"
#include "ops/cpu/isa.h"
#include "verify/verify.h"

using namespace loom;
using namespace loom::c_api;

namespace {

// The rows that a device ran, in place of the CPU's; the others keep those, and say why.
void take_rows(std::vector<VerifyRow>& rows, const std::vector<VerifyRow>& ran) {
  for (VerifyRow& row : rows) {
    const auto found = std::find_if(ran.begin(), ran.end(),
                                    [&](const VerifyRow& r) { return r.name == row.name; });
    if (found == ran.end()) row.why = "not run: it is the host's work";
    else if (found->hash.empty()) row.why = "not run: " + found->why;
    else row.hash = found->hash;
  }
}

}  // namespace

extern "C" {

const char* loom_version(void) { return LOOM_VERSION; }
int32_t loom_abi_version(void) { return LOOM_ABI_VERSION; }
int32_t loom_numerics_version(void) { return LOOM_NUMERICS_VERSION; }

const char* loom_code_name(int32_t code) { return code_name(static_cast<Code>(code)).data(); }

int32_t loom_info(loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    Json json = Json::object(), isas = Json::array(), dtypes = Json::array(),
         formats = Json::array(), layers = Json::array();
    for (const std::string_view isa : cpu::available_isas()) isas.push(isa);
    Json fast = Json::array();
    for (const std::string_view isa : cpu::fast_isas()) fast.push(isa);
    for (int i = 0; i < kDTypeCount; ++i) dtypes.push(name(static_cast<DType>(i)));
    for (const WeightFormat& format : all_weight_formats()) formats.push(to_string(format));
    for (const LayerType* type : layer_types()) layers.push(type->name());
    json.set("version", LOOM_VERSION);
    json.set("abi_version", LOOM_ABI_VERSION);
    json.set("numerics_version", LOOM_NUMERICS_VERSION);
    json.set("isa", cpu::available_isas().front());
    json.set("isas", std::move(isas));
    json.set("fast_isas", std::move(fast));
    json.set("threads", ThreadPool::hardware_threads());
    json.set("dtypes", std::move(dtypes));
    json.set("formats", std::move(formats));
    json.set("layers", std::move(layers));
    json.set("embedded_model", has_embedded_model());
    *info = new_json(json);
    return {};
  });
}

int32_t loom_use_webgpu(loom_function get_proc_address, loom_error* error) {
  return call(error, [&] { return gpu::use_host(get_proc_address); });
}

int32_t loom_format_info(const char* format, size_t format_size, loom_bytes* info,
                         loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const std::string_view text, text_argument(format, format_size, "format"));
    LOOM_ASSIGN(const WeightFormat f, parse_weight_format(text));
    const DTypeInfo& dtype = loom::info(f.dtype);
    Json json = Json::object();
    json.set("format", to_string(f));
    json.set("dtype", dtype.name);
    json.set("bits", dtype.bits);
    json.set("is_float", dtype.is_float);
    json.set("is_signed", dtype.is_signed);
    json.set("scaled", dtype.scaled);
    json.set("plain", f.layout == Layout::plain);
    json.set("computes_f64", product_class(f) == ArithClass::real);
    *info = new_json(json);
    return {};
  });
}

int32_t loom_fake_quantize(const float* values, size_t values_count, const char* format,
                           size_t format_size, int64_t rows, float* rounded, size_t rounded_count,
                           loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::optional<WeightFormat> to, format_argument(format, format_size));
    LOOM_ASSIGN(const std::span<const float> in, c_api::span(values, values_count, "values"));
    LOOM_ASSIGN(const std::span<float> out, c_api::span(rounded, rounded_count, "rounded"));
    LOOM_TRY(expect_count("rounded", rounded_count, static_cast<std::int64_t>(values_count)));
    if (rows < 1 || in.empty() || values_count % static_cast<std::uint64_t>(rows) != 0)
      return Status(Code::invalid_argument,
                    message("values: ", values_count, " are not ", rows, " whole rows"));
    LOOM_ASSIGN(WeightStore store,
                WeightStore::from_f32(rows, static_cast<std::int64_t>(values_count) / rows,
                                      {in.begin(), in.end()}));
    LOOM_TRY(store.morph(to.value_or(WeightFormat{})));
    return store.values(out);
  });
}

int32_t loom_verify(const char* options, size_t options_size, loom_bytes* report,
                    loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    Verify o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const Machine machine, machine_of(o.machine));
    const webgpu::Choice& device = machine.choice;
    VerifyOptions verify;
    verify.isa = o.machine.isa;
    ThreadPool pool(machine.mode.threads);
    LOOM_ASSIGN(std::vector<VerifyRow> rows, run_verify(pool, verify));
    if (device.device) {
      verify.device = device.device.get();
      LOOM_ASSIGN(const std::vector<VerifyRow> ran, run_verify(pool, verify));
      take_rows(rows, ran);
    }
    Json json = Json::object(), table = Json::array();
    for (const VerifyRow& row : rows) {
      Json entry = Json::object();
      entry.set("name", row.name);
      entry.set("hash", row.hash);
      if (!row.why.empty()) entry.set("why", row.why);
      table.push(std::move(entry));
    }
    const std::string all = fingerprint(rows);
    json.set("numerics_version", LOOM_NUMERICS_VERSION);
    json.set("target", device.device        ? device.device->info().name
                       : verify.isa.empty() ? std::string(cpu::available_isas().front())
                                            : verify.isa);
    json.set("numerics",
             device.device ? device.numerics : std::string(cpu::numerics_of(verify.isa)));
    json.set("fingerprint", all);
    json.set("golden", golden_fingerprint());
    json.set("equal", all == golden_fingerprint());
    json.set("rows", std::move(table));
    *report = new_json(json);
    return {};
  });
}

int32_t loom_release(loom_handle handle, loom_error* error) {
  return call(error, [&]() -> Status {
    if (handle == 0 || c_api::remove(handle)) return {};
    return Status(Code::invalid_handle,
                  message("the handle ", handle, " was released before or never made"));
  });
}

// Neither locks nor allocates: a signal handler may call it.
int32_t loom_cancel(loom_handle handle, loom_error* error) { return cancel_call(handle, error); }

int32_t loom_pause_after(loom_handle handle, int64_t microseconds, loom_error* error) {
  return call(error, [&]() -> Status {
    const std::shared_ptr<Object> object = find(handle);
    if (!object) return no_such_handle(handle, 0);
    constexpr std::int64_t kMax = INT64_C(1000000) * 86400;
    if (microseconds < 0 || microseconds > kMax)
      return Status(Code::invalid_argument,
                    message("microseconds: expects 0 to ", kMax, " (a day), got ", microseconds));
    return object->pause_after(microseconds);
  });
}

int32_t loom_kind(loom_handle handle, int32_t* kind, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(kind));
    const std::shared_ptr<Object> object = find(handle);
    if (!object) return no_such_handle(handle, 0);
    *kind = object->kind;
    return {};
  });
}

int32_t loom_live_handles(int64_t* count, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(count));
    *count = c_api::count();
    return {};
  });
}

int32_t loom_bytes_create(uint64_t size, loom_bytes* bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    if (size > PTRDIFF_MAX - 64)
      return Status(Code::out_of_memory,
                    message("bytes: ", size, " bytes are more than this machine addresses"));
    // Fresh pages from calloc are zero without being touched; the rest is alignment.
    auto* raw = static_cast<std::byte*>(std::calloc(static_cast<std::size_t>(size) + 64, 1));
    if (!raw)
      return Status(Code::out_of_memory, message("bytes: ", size, " bytes could not be allocated"));
    const std::shared_ptr<void> owner(raw, [](void* p) { std::free(p); });
    auto* data = raw + (64 - reinterpret_cast<std::uintptr_t>(raw) % 64) % 64;
    *bytes = add(std::make_shared<Bytes>(owner, data, static_cast<std::size_t>(size)));
    return {};
  });
}

int32_t loom_bytes_load(const char* path, size_t path_size, loom_bytes* bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    LOOM_ASSIGN(const SourcePtr source, open_source(p, MapMode::read));
    LOOM_ASSIGN(std::vector<std::byte> content, read_all(*source, std::uint64_t{1} << 30));
    *bytes = new_bytes(std::move(content));
    return {};
  });
}

int32_t loom_bytes_save(loom_bytes bytes, const char* path, size_t path_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto object, get<Bytes>(bytes));
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    return write_file(p, object->span());
  });
}

int32_t loom_bytes_check_save(const char* path, size_t path_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    return check_output(p);
  });
}

int32_t loom_bytes_data(loom_bytes bytes, void** data, uint64_t* size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(data, size));
    LOOM_ASSIGN(const auto object, get<Bytes>(bytes));
    *data = object->data;
    *size = object->size;
    return {};
  });
}

}  // extern "C"
