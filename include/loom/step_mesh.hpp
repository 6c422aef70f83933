// Networks that run by ticks, a part of loom.hpp, which includes it.
#ifndef LOOM_STEP_MESH_HPP
#define LOOM_STEP_MESH_HPP

#include "loom.hpp"

namespace loom {
inline namespace api {

// A network that runs by ticks: docs/reference/step-mesh.md.
class StepMesh : public Object {
 public:
  using Object::Object;
  explicit StepMesh(const Network& network, const StepMeshOptions& options = {})
      : Object(detail::made_with(options, loom_step_mesh_create_with, network.handle())) {}
  template <detail::Text Json>
  StepMesh(const Network& network, const Json& json)
      : StepMesh(network, std::string_view(json), 0) {}

  // x: [streams, ticks, ...], whose answers are [streams, ticks, output width].
  Tensor<float> run(const TensorView<const float>& x) {
    Tensor<float> y(shape_of(x.shape()));
    run(y.shape()[1], x.values(), y.values());
    return y;
  }
  // Of a network that takes f64.
  Tensor<double> run(const TensorView<const double>& x) {
    Tensor<double> y(shape_of(x.shape()));
    run(y.shape()[1], x.values(), y.values());
    return y;
  }
  Tensor<float> run_ids(const TensorView<const std::int32_t>& ids) {
    Tensor<float> y(shape_of(ids.shape()));
    run_ids(y.shape()[1], ids.values(), y.values());
    return y;
  }
  // x: streams x ticks x input width, or streams x input width, held for all ticks. y: streams x
  // ticks x output width; streams x output width, after the last tick; or none.
  void run(std::int64_t ticks, std::span<const float> x, std::span<float> y) {
    check(loom_step_mesh_run, handle(), ticks, x.data(), x.size(), y.data(), y.size());
  }
  void run(std::int64_t ticks, std::span<const double> x, std::span<double> y) {
    check(loom_step_mesh_run_f64, handle(), ticks, x.data(), x.size(), y.data(), y.size());
  }
  void run_ids(std::int64_t ticks, std::span<const std::int32_t> ids, std::span<float> y) {
    check(loom_step_mesh_run_ids, handle(), ticks, ids.data(), ids.size(), y.data(), y.size());
  }
  // All cells as JSON: docs/reference/c-api.md.
  std::string cells() const { return detail::text(loom_step_mesh_cells, handle()); }
  // The values of a cell ("z.y.x.l") after the last tick, as many as its output has.
  void value(std::string_view cell, std::int64_t stream, std::span<double> values) const {
    check(loom_step_mesh_value, handle(), cell.data(), cell.size(), stream, values.data(),
          values.size());
  }
  // Statistics of the outputs of every cell, from the next tick on (docs/guide/observe.md): JSON
  // options every (0: none any more), passes, window, keep. statistics() takes the events so far:
  // JSON, docs/reference/c-api.md.
  void observe(std::string_view options = {}) {
    check(loom_step_mesh_observe, handle(), options.data(), options.size());
  }
  std::string statistics() { return detail::text(loom_step_mesh_statistics, handle()); }
  void reset() { check(loom_step_mesh_reset, handle()); }
  Bytes snapshot() const { return detail::made<Bytes>(loom_step_mesh_snapshot, handle()); }
  void restore(const Bytes& snapshot) {
    check(loom_step_mesh_restore, handle(), snapshot.handle());
  }
  // The program of a number of ticks, which Program takes. Its input "x" has a row of ticks x input
  // width for each stream, its output "y" likewise, and its states are the values of the cells.
  Bytes save_program(std::int64_t ticks) const {
    return detail::made<Bytes>(loom_step_mesh_save_program, handle(), ticks);
  }
  // From any thread: the run inside, or else the next one, throws Error{LOOM_CANCELLED}.
  void cancel() { check(loom_cancel, handle()); }
  // Runs throw Error{LOOM_PAUSED} after so long (0: not any more), and the same call again
  // continues: docs/guide/slices.md.
  void pause_after(std::chrono::microseconds time) {
    check(loom_pause_after, handle(), static_cast<std::int64_t>(time.count()));
  }
  std::string info() const { return detail::text(loom_step_mesh_info, handle()); }

 private:
  StepMesh(const Network& network, std::string_view json, int)
      : Object(detail::made<Object>(loom_step_mesh_create, network.handle(), json.data(),
                                    json.size())) {}
  // Of the answers to x.
  Shape shape_of(const Shape& x) const {
    const std::string about = info();
    const std::int64_t streams = detail::number(about, "streams"),
                       width = detail::number(about, "input_width");
    if (x.size() < 2 || x[0] != streams || detail::count(x, 2) != static_cast<std::size_t>(width))
      throw Error(LOOM_INVALID_ARGUMENT, "x has the shape " + detail::shown(x) +
                                             ", the mesh takes [" + std::to_string(streams) +
                                             ", ticks, " + std::to_string(width) + "]");
    return {streams, x[1], detail::number(about, "output_width")};
  }
};

}  // namespace api
}  // namespace loom

#endif
