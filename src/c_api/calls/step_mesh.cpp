// Networks that run by ticks.
#include <algorithm>

#include "c_api/call.h"
#include "c_api/options/options.h"
#include "c_api/options/structs.h"
#include "ops/calls/custom_layer.h"

using namespace loom;
using namespace loom::c_api;

namespace {

auto ready(StepMeshObject& s) {
  return c_api::ready(s, s.mesh, [&s]() -> Result<StepMesh> {
    LOOM_ASSIGN(StepMesh fresh, StepMesh::create(s.shared->network, s.pool, s.options));
    // Values of another size than a changed network has are no error: the mesh begins anew.
    if (!s.kept.empty()) (void)fresh.restore(s.kept);
    s.kept.clear();
    if (s.observing && s.observing->on)
      LOOM_TRY(fresh.observe(&s.observing->window, s.observing->options));
    return fresh;
  });
}

Status create(loom_network network, const Result<Json>& options, loom_step_mesh* step_mesh) {
  LOOM_TRY(want(step_mesh));
  LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
  StepMeshCreate o;
  LOOM_TRY(read_options(options, o));
  LOOM_ASSIGN(Machine machine, machine_of(o.machine));
  auto s = std::make_shared<StepMeshObject>(object->shared, machine.mode.threads);
  s->options = std::move(o.mesh);
  s->options.cancel = &s->cancel;
  place(s->options, o.machine, machine);
  s->device = std::move(machine.choice);
  LOOM_TRY(ready(*s).status());
  *step_mesh = add(std::move(s));
  return {};
}

// Runs body(mesh) on the mesh of a handle, made ready; `cancels`: as what cancel() ends.
Status with_mesh(loom_step_mesh handle, bool cancels, Status (*body)(StepMeshObject&, void*),
                 void* context) {
  LOOM_ASSIGN(const auto s, get<StepMeshObject>(handle));
  LOOM_ASSIGN(const auto inside, enter(*s));
  const auto work = [&]() -> Status {
    LOOM_ASSIGN(const auto held, ready(*s));
    s->mesh->pause_at(s->deadline());
    return body(*s, context);
  };
  return cancels ? cancellable(*s, work) : work();
}
template <class F>
std::int32_t on_mesh(loom_step_mesh handle, loom_error* error, F body, bool cancels = false) {
  return call(error, [&] {
    return with_mesh(
        handle, cancels,
        [](StepMeshObject& s, void* f) -> Status { return (*static_cast<F*>(f))(s); }, &body);
  });
}

// x and y: of floats, or of doubles.
Status run(StepMesh& mesh, std::int64_t ticks, const void* x, std::size_t x_count, void* y,
           std::size_t y_count, bool wide) {
  // A count that no memory has is refused, of either type.
  LOOM_TRY(c_api::span(static_cast<const double*>(x), x_count, "x").status());
  LOOM_TRY(c_api::span(static_cast<double*>(y), y_count, "y").status());
  const auto run_of = [&]<class T>(T) {
    return mesh.run(std::span(static_cast<const T*>(x), x_count), ticks,
                    std::span(static_cast<T*>(y), y_count));
  };
  return wide ? run_of(0.0) : run_of(0.0f);
}
std::int32_t run(loom_step_mesh handle, std::int64_t ticks, const void* x, std::size_t x_count,
                 void* y, std::size_t y_count, bool wide, loom_error* error) {
  return on_mesh(
      handle, error,
      [&](StepMeshObject& s) { return run(*s.mesh, ticks, x, x_count, y, y_count, wide); }, true);
}

Status run_ids(StepMesh& mesh, std::int64_t ticks, const std::int32_t* ids, std::size_t ids_count,
               float* y, std::size_t y_count) {
  LOOM_ASSIGN(const auto in, unsigned_values(ids, ids_count, "ids"));
  LOOM_ASSIGN(const std::span<float> out, c_api::span(y, y_count, "y"));
  return mesh.run(std::span<const std::uint32_t>(in), ticks, out);
}

Status value(StepMesh& mesh, std::string_view cell, std::int64_t stream, double* values,
             std::size_t count) {
  LOOM_ASSIGN(const std::span<double> out, c_api::span(values, count, "values"));
  LOOM_ASSIGN(const std::size_t index, parse_cell(mesh.network(), cell));
  LOOM_ASSIGN(const std::vector<double> found, mesh.value(index, stream));
  LOOM_TRY(expect_count("values", count, static_cast<std::int64_t>(found.size())));
  std::ranges::copy(found, out.begin());
  return {};
}

Status observe(StepMeshObject& s, const PassesObserve& o) {
  if (o.observe.every == 0) {
    LOOM_TRY(s.mesh->observe(nullptr));
    if (!s.observing || !s.observing->on) return {};
    s.count();
    s.observing->on = false;
    return s.observing->window.flush();
  }
  auto next = std::make_unique<Observing>(o.keep, o.window);
  next->options = o.observe;
  LOOM_TRY(s.mesh->observe(&next->window, next->options));
  s.observing = std::move(next);
  return {};
}

std::string_view dtype_of(bool f64) { return f64 ? "f64" : "f32"; }

Json info_of(StepMeshObject& s) {
  const StepMesh& mesh = *s.mesh;
  Json json = Json::object();
  json.set("streams", mesh.streams());
  json.set("tick", mesh.tick());
  json.set("cells", static_cast<std::int64_t>(mesh.network().size()));
  json.set("input_width", mesh.input_width());
  json.set("input_dtype", mesh.takes_ids() ? "ids" : dtype_of(mesh.takes_f64()));
  json.set("output_width", mesh.output_width());
  json.set("output_dtype", dtype_of(mesh.gives_f64()));
  json.set("target", mesh.target());
  set_device(json, s.device);
  json.set("numerics", custom_numerics(mesh.program().calls, s.device.numerics));
  json.set("threads", s.pool.size());
  return json;
}

}  // namespace

extern "C" {

int32_t loom_step_mesh_create(loom_network network, const char* options, size_t options_size,
                              loom_step_mesh* step_mesh, loom_error* error) {
  return call(error,
              [&] { return create(network, options_json(options, options_size), step_mesh); });
}

int32_t loom_step_mesh_create_with(loom_network network, const loom_step_mesh_options* options,
                                   loom_step_mesh* step_mesh, loom_error* error) {
  return call(error, [&] { return create(network, options_json(options), step_mesh); });
}

int32_t loom_step_mesh_run(loom_step_mesh step_mesh, int64_t ticks, const float* x, size_t x_count,
                           float* y, size_t y_count, loom_error* error) {
  return run(step_mesh, ticks, x, x_count, y, y_count, false, error);
}

int32_t loom_step_mesh_run_f64(loom_step_mesh step_mesh, int64_t ticks, const double* x,
                               size_t x_count, double* y, size_t y_count, loom_error* error) {
  return run(step_mesh, ticks, x, x_count, y, y_count, true, error);
}

int32_t loom_step_mesh_run_ids(loom_step_mesh step_mesh, int64_t ticks, const int32_t* ids,
                               size_t ids_count, float* y, size_t y_count, loom_error* error) {
  return on_mesh(
      step_mesh, error,
      [&](StepMeshObject& s) { return run_ids(*s.mesh, ticks, ids, ids_count, y, y_count); }, true);
}

int32_t loom_step_mesh_value(loom_step_mesh step_mesh, const char* cell, size_t cell_size,
                             int64_t stream, double* values, size_t values_count,
                             loom_error* error) {
  return on_mesh(step_mesh, error, [&](StepMeshObject& s) -> Status {
    LOOM_ASSIGN(const std::string_view c, text_argument(cell, cell_size, "cell"));
    return value(*s.mesh, c, stream, values, values_count);
  });
}

int32_t loom_step_mesh_cells(loom_step_mesh step_mesh, loom_bytes* cells, loom_error* error) {
  return on_mesh(step_mesh, error, [&](StepMeshObject& s) -> Status {
    LOOM_TRY(want(cells));
    const Network& network = s.mesh->network();
    Json list = Json::array();
    for (std::size_t i = 0; i < network.size(); ++i) {
      Json cell = Json::object();
      cell.set("path", network.path(i));
      cell.set("width", network.output(i).width);
      list.push(std::move(cell));
    }
    *cells = new_json(list);
    return {};
  });
}

int32_t loom_step_mesh_observe(loom_step_mesh step_mesh, const char* options, size_t options_size,
                               loom_error* error) {
  return on_mesh(step_mesh, error, [&](StepMeshObject& s) -> Status {
    PassesObserve o{.of = PassesObserve::Of::step_mesh};
    LOOM_TRY(read_options(options, options_size, o));
    return observe(s, o);
  });
}

int32_t loom_step_mesh_statistics(loom_step_mesh step_mesh, loom_bytes* statistics_json,
                                  loom_error* error) {
  return on_mesh(step_mesh, error, [&](StepMeshObject& s) -> Status {
    LOOM_TRY(want(statistics_json));
    s.count();
    const Observing* seen = s.observing.get();
    *statistics_json = new_json(statistics(s.observing.get(), seen ? seen->options.passed : 0,
                                           seen ? seen->options.observed : 0));
    return {};
  });
}

int32_t loom_step_mesh_reset(loom_step_mesh step_mesh, loom_error* error) {
  return on_mesh(step_mesh, error, [](StepMeshObject& s) { return s.mesh->reset(); });
}

int32_t loom_step_mesh_snapshot(loom_step_mesh step_mesh, loom_bytes* snapshot, loom_error* error) {
  return on_mesh(step_mesh, error, [&](StepMeshObject& s) -> Status {
    LOOM_TRY(want(snapshot));
    *snapshot = new_text(s.mesh->snapshot());
    return {};
  });
}

int32_t loom_step_mesh_restore(loom_step_mesh step_mesh, loom_bytes snapshot, loom_error* error) {
  return on_mesh(step_mesh, error, [&](StepMeshObject& s) -> Status {
    LOOM_ASSIGN(const auto bytes, get<Bytes>(snapshot));
    return s.mesh->restore({reinterpret_cast<const char*>(bytes->data), bytes->size});
  });
}

int32_t loom_step_mesh_save_program(loom_step_mesh step_mesh, int64_t ticks, loom_bytes* program,
                                    loom_error* error) {
  return on_mesh(step_mesh, error, [&](StepMeshObject& s) -> Status {
    LOOM_TRY(want(program));
    LOOM_ASSIGN(const Program p, s.mesh->portable_program(ticks));
    *program = new_text(p.encode());
    return {};
  });
}

int32_t loom_step_mesh_info(loom_step_mesh step_mesh, loom_bytes* info, loom_error* error) {
  return on_mesh(step_mesh, error, [&](StepMeshObject& s) -> Status {
    LOOM_TRY(want(info));
    *info = new_json(info_of(s));
    return {};
  });
}

}  // extern "C"
