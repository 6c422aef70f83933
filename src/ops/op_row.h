// What the rows of a <family>.def say of an op beyond its id, operands and attributes: names of the
// family's own rules, for the verifier, the lowering, the memory planner and the devices. README.md
// describes the columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ops/op.h"
#include "ops/program.h"

namespace loom {

class OpCheck;
struct LoweredInstruction;
struct ScratchQuery;
namespace webgpu {
class Launches;
}

// How the workers of a team share an instruction's operands, which decides where they must meet.
enum class Share : std::uint8_t {
  all,       // each may touch all of everything
  elements,  // rows, or columns where rows are fewer than workers (cpu/vectors/rows.h)
  rows,
  groups,               // rows of `group` columns
  columns,              // the result by columns
  columns_of_few_rows,  // the same up to kGemvRows rows
};
// How an op reads its first operand, where that is the matrix of a weight.
enum class WeightUse : std::uint8_t { none, panels, rows };

// Memory of one instruction at register maxima.
struct Scratch {
  std::int64_t worker_bytes = 0;  // of each worker of a CPU
  std::int64_t device_words = 0;  // of a device
};

struct OpTraits {
  bool (*shape)(OpCheck&) = nullptr;  // the verifier's rule; an op without one is refused
  LoweredOp (*lower)(const Program&, const Instruction&) = nullptr;  // null: itself
  Scratch (*scratch)(const ScratchQuery&) = nullptr;
  Share share = Share::all;
  bool in_place = false;  // the same element may be read and written
  bool repeated = false;  // cheap rows, which every worker may compute for itself
  WeightUse weight = WeightUse::none;
  int sequences = -1;  // the operand of positions that cuts the rows into sequences
  // On a device: pieces of WGSL, the entry point (the op's name where it is empty), an operand each
  // element of which is a thread, and constants. `gpu` says what these do not.
  const char* wgsl = nullptr;
  const char* entry = nullptr;
  int element = -1;
  std::string (*constants)(const LoweredInstruction&) = nullptr;
  Status (*gpu)(webgpu::Launches&) = nullptr;
};

// Takes the rows of a family's file one by one.
class RowSink {
 public:
  // text: "name|operands|ints|reals|registers"; id -1: what only executors know.
  virtual void add(int id, const char* text, const OpTraits& traits) = 0;

 protected:
  ~RowSink() = default;
};

// Each family defines one in <family>.cpp, by including op_rows.h.
using Family = void (*)(RowSink&);

const OpTraits& traits(Op op);
const OpTraits& traits(LoweredOp op);
std::string_view name(LoweredOp op);
const std::vector<OperandInfo>& operands(LoweredOp op);

}  // namespace loom
