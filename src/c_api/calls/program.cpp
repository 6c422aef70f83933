// Saved programs, which run by themselves with the weights of a network.
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "ops/calls/custom_layer.h"

using namespace loom;
using namespace loom::c_api;

namespace {

auto ready(ProgramObject& p) {
  return c_api::ready(p, p.runner, [&p]() -> Result<ProgramRunner> {
    LOOM_ASSIGN(ProgramRunner fresh,
                ProgramRunner::create(p.program, p.shared->network, p.pool, p.options));
    if (!p.kept.empty()) fresh.restore(p.kept);
    p.kept.clear();
    return fresh;
  });
}

template <class F>
std::int32_t on_program(loom_program handle, loom_error* error, F body, bool cancels = false) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto p, get<ProgramObject>(handle));
    LOOM_ASSIGN(const auto inside, enter(*p));
    const auto work = [&]() -> Status {
      LOOM_ASSIGN(const auto held, ready(*p));
      return body(*p);
    };
    return cancels ? cancellable(*p, work) : work();
  });
}

template <class T>
std::int32_t write(loom_program program, const char* name, size_t name_size, const T* values,
                   size_t count, loom_error* error) {
  return on_program(program, error, [&](ProgramObject& p) -> Status {
    LOOM_ASSIGN(const std::string_view of, text_argument(name, name_size, "name"));
    LOOM_ASSIGN(const std::span<const T> in, c_api::span(values, count, "values"));
    return p.runner->write(of, in);
  });
}

template <class T>
std::int32_t read(loom_program program, const char* name, size_t name_size, T* values, size_t count,
                  loom_error* error) {
  return on_program(program, error, [&](ProgramObject& p) -> Status {
    LOOM_ASSIGN(const std::string_view of, text_argument(name, name_size, "name"));
    LOOM_ASSIGN(const std::span<T> out, c_api::span(values, count, "values"));
    return p.runner->read(of, out);
  });
}

std::string_view kind_of(RegisterType type) {
  return type == RegisterType::u32 ? "u32" : type == RegisterType::f32 ? "f32" : "measured";
}

Json registers_of(const ProgramRunner& runner) {
  Json list = Json::array();
  for (std::size_t i = 0; i < runner.program().registers.size(); ++i) {
    const Register& r = runner.program().registers[i];
    Json one = Json::object();
    one.set("name", r.name);
    one.set("type", kind_of(r.type));
    if (r.type != RegisterType::f32) one.set("max", static_cast<std::int64_t>(r.max));
    const std::optional<double> value = runner.value(static_cast<RegisterId>(i));
    one.set("value", value ? Json(*value) : Json());
    list.push(std::move(one));
  }
  return list;
}

Json buffers_of(const ProgramRunner& runner) {
  Json list = Json::array();
  for (std::size_t i = 0; i < runner.program().buffers.size(); ++i) {
    const Buffer& b = runner.program().buffers[i];
    const bool weight = b.kind == BufferKind::weight;
    if (!weight && b.kind != BufferKind::input && b.kind != BufferKind::output &&
        b.kind != BufferKind::state)
      continue;
    Json one = Json::object();
    one.set("name", ProgramRunner::name_of(b));
    one.set("kind", name(b.kind));
    one.set("type", weight ? std::string_view(to_string(b.format)) : name(b.type));
    one.set("rows", runner.rows(static_cast<BufferId>(i)));
    one.set("max_rows", runner.program().max_rows(static_cast<BufferId>(i)));
    one.set("cols", b.cols);
    one.set("of_row", runner.of_row(static_cast<BufferId>(i)));
    list.push(std::move(one));
  }
  return list;
}

Json info_of(ProgramObject& p) {
  const ProgramRunner& runner = *p.runner;
  Json json = Json::object();
  json.set("sha256", Sha256::hex(runner.program().hash()));
  json.set("instructions", static_cast<std::int64_t>(runner.program().code.size()));
  json.set("registers", registers_of(runner));
  json.set("buffers", buffers_of(runner));
  json.set("target", runner.target());
  set_device(json, p.device);
  json.set("numerics", custom_numerics(runner.program().calls, p.device.numerics));
  json.set("threads", p.pool.size());
  return json;
}

}  // namespace

extern "C" {

int32_t loom_program_create(loom_network network, loom_bytes bytes, const char* options,
                            size_t options_size, loom_program* program, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(program));
    LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
    LOOM_ASSIGN(const auto saved, get<Bytes>(bytes));
    ProgramCreate o;
    LOOM_TRY(read_options(options_json(options, options_size), o));
    LOOM_ASSIGN(Machine machine, machine_of(o.machine));
    auto p = std::make_shared<ProgramObject>(object->shared, machine.mode.threads);
    LOOM_ASSIGN(p->program,
                Program::decode({reinterpret_cast<const char*>(saved->data), saved->size}));
    p->options.sequences = o.sequences;
    p->options.cancel = &p->cancel;
    place(p->options, o.machine, machine);
    p->device = std::move(machine.choice);
    LOOM_TRY(ready(*p).status());
    *program = add(std::move(p));
    return {};
  });
}

int32_t loom_program_set(loom_program program, const char* name, size_t name_size,
                         const double* value, size_t value_count, loom_error* error) {
  return on_program(
      program, error,
      [&](ProgramObject& p) -> Status {
        LOOM_ASSIGN(const std::string_view of, text_argument(name, name_size, "name"));
        LOOM_ASSIGN(const std::span<const double> one, c_api::span(value, value_count, "value"));
        LOOM_TRY(expect_count("value", one.size(), 1));
        return p.runner->set(of, one[0]);
      },
      true);
}

int32_t loom_program_write(loom_program program, const char* name, size_t name_size,
                           const float* values, size_t values_count, loom_error* error) {
  return write(program, name, name_size, values, values_count, error);
}

int32_t loom_program_write_f64(loom_program program, const char* name, size_t name_size,
                               const double* values, size_t values_count, loom_error* error) {
  return write(program, name, name_size, values, values_count, error);
}

int32_t loom_program_write_ids(loom_program program, const char* name, size_t name_size,
                               const int32_t* values, size_t values_count, loom_error* error) {
  return write(program, name, name_size, values, values_count, error);
}

int32_t loom_program_read(loom_program program, const char* name, size_t name_size, float* values,
                          size_t values_count, loom_error* error) {
  return read(program, name, name_size, values, values_count, error);
}

int32_t loom_program_read_f64(loom_program program, const char* name, size_t name_size,
                              double* values, size_t values_count, loom_error* error) {
  return read(program, name, name_size, values, values_count, error);
}

int32_t loom_program_run(loom_program program, loom_error* error) {
  return on_program(program, error, [](ProgramObject& p) { return p.runner->run(); }, true);
}

int32_t loom_program_reset(loom_program program, loom_error* error) {
  return on_program(program, error, [](ProgramObject& p) -> Status {
    p.runner->reset();
    return {};
  });
}

int32_t loom_program_text(loom_program program, loom_bytes* text, loom_error* error) {
  return on_program(program, error, [&](ProgramObject& p) -> Status {
    LOOM_TRY(want(text));
    *text = new_text(p.program.to_text());
    return {};
  });
}

int32_t loom_program_info(loom_program program, loom_bytes* info, loom_error* error) {
  return on_program(program, error, [&](ProgramObject& p) -> Status {
    LOOM_TRY(want(info));
    *info = new_json(info_of(p));
    return {};
  });
}

}  // extern "C"
