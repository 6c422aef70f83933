#include "ops/webgpu/kernels.h"

#include <algorithm>

#include "base/split.h"
#include "ops/webgpu/launches.h"

namespace loom::webgpu {

static std::int64_t panel_cells(std::int64_t rows, std::int64_t cols) {
  return (rows + 7) / 8 * ((cols + 7) / 8) * 64;
}
LaunchSpec master_to_panels(std::int64_t rows, std::int64_t cols) {
  LaunchSpec s;
  s.kernel = {"arena masters", "to_panels", {}, gpu::Access::read_write, true};
  s.factor = panel_cells(rows, cols);
  s.threads = 64;
  return s;
}
void adamw_to_panels(LaunchSpec& s, std::int64_t rows, std::int64_t cols, BufferId matrix) {
  s.kernel.pieces += " masters adamw_to_panels";
  s.kernel.entry = "adamw_to_panels";
  s.kernel.weights = gpu::Access::read_write;
  s.kernel.has_weights = true;
  s.operand = -1;
  s.factor = panel_cells(rows, cols);
  s.matrices[0] = matrix;
}
LaunchSpec master_to_vector(std::int64_t elements) {
  LaunchSpec s;
  s.kernel = {"arena masters", "to_vector"};
  s.factor = elements;
  s.threads = 64;
  return s;
}

std::int64_t pick_parts(std::int64_t cols) { return std::min<std::int64_t>((cols + 63) / 64, 128); }

static std::string pick_constants() {
  return constant("DRAW_WORDS", kDrawWords) + constant("SETTINGS", kDrawSettings);
}
// Threads of a workgroup of the two that read the row, and ids of a thread.
constexpr std::int64_t kDrawers = 256, kDrawerIds = 2;

std::array<LaunchSpec, 5> pick_launches(const View& logits, const View& ids,
                                        const View& positions) {
  std::array<LaunchSpec, 5> list;
  for (LaunchSpec& s : list) {
    s.kernel = {"arena logits pick", "pick", pick_constants()};
    s.operands = {logits, ids, positions};
    s.ints[0] = pick_parts(logits.cols);
  }
  list[0].kernel.entry = "pick_parts";
  list[0].factor = list[0].ints[0];
  constexpr std::int64_t kIds = kDrawers * kDrawerIds;
  for (const std::size_t n : {2, 3}) list[n].factor = (logits.cols + kIds - 1) / kIds;
  return list;
}

std::array<Kernel, 3> draw_kernels(const gpu::Limits& limits) {
  std::array<Kernel, 3> list;
  const std::string constants =
      pick_constants() + constant("DRAWERS", kDrawers) + constant("EACH", kDrawerIds) +
      constant("PICKERS", std::min<std::int64_t>(limits.threads_per_group, 1024));
  constexpr const char* kEntries[] = {"draw_weigh", "draw_gather", "draw_pick"};
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = {"exact noise logits wide draw", kEntries[i], constants};
  return list;
}

Result<gpu::Handle> pipeline_of(gpu::Device& device, const Kernel& kernel) {
  gpu::PipelineSource source;
  source.key = kernel.pieces + ":" + kernel.entry + "\n" + kernel.constants +
               (kernel.dynamic_rows ? "measured" : "");
  // Subgroups of 32 threads, all of which come to every matrix.
  if (kernel.pieces.ends_with("units"))
    source.wgsl =
        "enable subgroups;\nenable chromium_experimental_subgroup_matrix;\n"
        "diagnostic(off, chromium.subgroup_matrix_uniformity);\n";
  const bool together =
      device.limits().subgroups && kernel.pieces.find("lanes") != std::string::npos;
  if (together) source.wgsl = "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n";
  source.wgsl += wgsl_text("base");
  source.wgsl += wgsl_text(kernel.dynamic_rows ? "rows_dynamic" : "rows");
  source.wgsl += kernel.constants;
  for (const std::string_view name : split(kernel.pieces)) {
    const std::string_view text = wgsl_text(name != "lanes" ? name
                                            : together      ? "lanes_together"
                                                            : "lanes_apart");
    if (text.empty()) return Status(Code::internal, "gpu: no kernel file " + std::string(name));
    source.wgsl += text;
  }
  source.entry = kernel.entry;
  const gpu::Access bindings[] = {gpu::Access::read, gpu::Access::read_write, kernel.weights};
  source.bindings = std::span(bindings, kernel.has_weights ? 3 : 2);
  return device.pipeline(source);
}

}  // namespace loom::webgpu
