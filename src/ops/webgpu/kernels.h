// Which kernels an instruction takes, and their WGSL: pieces of WGSL put together behind a few
// constants.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device.h"
#include "ops/lowering/lowered.h"

namespace loom::webgpu {

// The text of NAME.wgsl, without comments; empty where there is none.
std::string_view wgsl_text(std::string_view name);
// All of them as the library holds them: gzip of "//NAME\n" and the text, one behind the other.
std::span<const std::byte> wgsl_gzip();

struct Kernel {
  std::string pieces;  // files, separated by spaces; base is always first, "lanes" the one of two
                       // that the device can
  std::string entry;
  std::string constants;  // in front of the pieces
  gpu::Access weights = gpu::Access::read;
  bool has_weights = false;
  bool dynamic_rows = false;  // an operand has rows that the run measures
};

// What runs in place of a launch's kernel where its operand has at least `rows` rows.
struct WideKernel {
  Kernel kernel;
  std::int64_t rows = 2, tile = 1, factor = 1;  // a unit is a workgroup
};

// One dispatch of an instruction. Its units of work are ceil(rows of an operand / tile) * factor.
struct LaunchSpec {
  Kernel kernel;
  int operand = -1;  // -1: `factor` units
  std::int64_t factor = 1;
  std::int64_t tile = 1;
  std::int64_t threads = 1;  // units per workgroup
  std::int64_t max = 0;  // workgroups; 0: any number. Those of a kernel that loops over its units
  std::vector<WideKernel> wide{};  // rows ascending
  // What its parameters say; no instruction: of a parameter made from its master.
  const LoweredInstruction* instruction = nullptr;
  std::array<View, kMaxOperands> operands{};
  std::array<std::int64_t, kMaxInts> ints{};
  std::array<double, kMaxReals> reals{};
  std::array<BufferId, 3> matrices{kNone, kNone, kNone};  // that lie in one buffer
};

// After an update: a master (operand 0) becomes float panels, or a vector.
LaunchSpec master_to_panels(std::int64_t rows, std::int64_t cols);
LaunchSpec master_to_vector(std::int64_t elements);
// An update by adamw makes the panels of `matrix` as well.
void adamw_to_panels(LaunchSpec& update, std::int64_t rows, std::int64_t cols, BufferId matrix);

// An id of a row (operand 0) becomes the id (1) of the next position (2): the most probable one by
// the first two dispatches, one that is drawn by the first and the last three. The kernels of those
// are compiled when first wanted, with the bindings of the others.
std::int64_t pick_parts(std::int64_t cols);  // that a row is looked at in
constexpr std::int64_t kDrawSettings = 7;
constexpr std::int64_t kDrawWords = 4 * 513;              // the bins of draw.wgsl
constexpr std::int64_t kDrawIds = std::int64_t{1} << 24;  // ids of more bits are not drawn
std::array<LaunchSpec, 5> pick_launches(const View& logits, const View& ids, const View& positions);
std::array<Kernel, 3> draw_kernels(const gpu::Limits& limits);

Result<gpu::Handle> pipeline_of(gpu::Device& device, const Kernel& kernel);

}  // namespace loom::webgpu
