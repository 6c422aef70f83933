// Saved programs, a part of loom.hpp, which includes it.
#ifndef LOOM_PROGRAM_HPP
#define LOOM_PROGRAM_HPP

#include "loom.hpp"

namespace loom {
inline namespace api {

// A saved program with the weights of a network: docs/reference/program.md.
class Program : public Object {
 public:
  using Object::Object;
  // bytes: of Network::save_program or StepMesh::save_program. The network has every weight that
  // the program names, in its format.
  Program(const Network& network, const Bytes& bytes, std::string_view options = {})
      : Object(detail::made<Object>(loom_program_create, network.handle(), bytes.handle(),
                                    options.data(), options.size())) {}

  // A register, such as "R", the number of rows.
  void set(std::string_view name, double value) {
    check(loom_program_set, handle(), name.data(), name.size(), &value, 1);
  }
  // All values of an input or state, row by row. An input whose rows one register counts sets that
  // register.
  void write(std::string_view name, std::span<const float> values) {
    check(loom_program_write, handle(), name.data(), name.size(), values.data(), values.size());
  }
  void write(std::string_view name, std::span<const double> values) {  // of f64
    check(loom_program_write_f64, handle(), name.data(), name.size(), values.data(), values.size());
  }
  void write_ids(std::string_view name, std::span<const std::int32_t> values) {  // of u32 and i32
    check(loom_program_write_ids, handle(), name.data(), name.size(), values.data(), values.size());
  }
  void run() { check(loom_program_run, handle()); }
  // All values of an output or state.
  void read(std::string_view name, std::span<float> values) {
    check(loom_program_read, handle(), name.data(), name.size(), values.data(), values.size());
  }
  void read(std::string_view name, std::span<double> values) {
    check(loom_program_read_f64, handle(), name.data(), name.size(), values.data(), values.size());
  }
  // All states are 0 again.
  void reset() { check(loom_program_reset, handle()); }
  // From any thread: the run inside, or else the next one or the next set(), throws
  // Error{LOOM_CANCELLED}.
  void cancel() { check(loom_cancel, handle()); }
  // A line per register, buffer and instruction.
  std::string text() const { return detail::text(loom_program_text, handle()); }
  std::string info() const { return detail::text(loom_program_info, handle()); }
};

}  // namespace api
}  // namespace loom

#endif
