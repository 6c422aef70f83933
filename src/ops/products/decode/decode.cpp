#include "ops/products/decode/decode.h"

#include <algorithm>

#include "base/numbered.h"
#include "numeric/packed/panel.h"

namespace loom {
namespace {

constexpr int kEpilogueIds[] = {
#define LOOM_EPILOGUE(id, name) id,
#include "ops/products/decode/epilogues.def"
};
#define LOOM_EPILOGUE(id, name) \
  static_assert(in_order(kEpilogueIds, id), "epilogues.def: row " #id " is not " #name);
#include "ops/products/decode/epilogues.def"

// Threads of these kernels that a large device runs at once: workgroups beyond would only quantize
// the row again.
constexpr std::int64_t kDeviceThreads = 132 * 1024;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t units_of(const LoweredProgram& p, const DecodeProducts& d) {
  if (d.epilogue == DecodeProducts::Epilogue::heads) return d.row.heads + 2 * d.row.kv_heads;
  std::int64_t units = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(d.count); ++i) {
    units += ceil_div(p.max_rows(d.matrices[i]), 16);
    if (d.epilogue == DecodeProducts::Epilogue::silu_mul) break;  // gate and value side by side
  }
  return units;
}

}  // namespace

std::optional<DecodeGeometry> decode_geometry(const LoweredProgram& p, const DecodeProducts& d,
                                              const WeightArg& w, const gpu::Limits& limits) {
  DecodeGeometry g;
  const bool heads = d.epilogue == DecodeProducts::Epilogue::heads;
  const std::int64_t byte_rows = w.panel_bytes / 64,
                     max = std::min<std::int64_t>(limits.threads_per_group, 1024);
  g.words = ceil_div(w.cols, 64) * 16;
  g.units = units_of(p, d);
  // Threads for every run of byte rows: few wide workgroups that go on from panel to panel keep
  // more of the memory busy than many narrow ones, each of which prepares the row.
  g.run = byte_rows >= 128 ? 8 : 4;
  if (w.form == kBlockForm) {  // whole blocks
    const std::int64_t values =
        4 * panel_geometry({static_cast<DType>(w.dtype), static_cast<Layout>(w.layout)}).planes;
    g.block_rows = w.block / values;
    g.run = std::max(g.run, g.block_rows);
    if (w.block % values != 0 || w.block % 8 != 0 || g.run > 8 || g.run % g.block_rows != 0)
      return {};
  }
  g.threads = std::max<std::int64_t>(128, 16 * d.jobs);
  while (2 * g.threads <= max && g.threads < 16 * d.jobs * ceil_div(byte_rows, g.run))
    g.threads *= 2;
  const std::int64_t head_dim = heads ? d.row.head_dim : 2;
  // Workgroup memory: the planes of the row, and its values where there is room or the norm needs
  // them; then sums for each turn.
  const std::int64_t planes_bytes = (std::max<std::int64_t>(g.words, w.padded_cols / 4) + 64) * 10 +
                                    8 * head_dim + (d.norm ? 512 : 64),
                     transpose_bytes = 128 * d.jobs;
  const std::int64_t terms_bytes = g.block_rows == 0 ? 0 : 4 * g.threads * (g.run / g.block_rows);
  const std::int64_t room =
      (limits.group_bytes - planes_bytes - terms_bytes - (d.norm ? g.words * 16 : 0)) /
      transpose_bytes;
  g.turns =
      std::max<std::int64_t>(1, std::min(room, ceil_div(g.units * g.threads, kDeviceThreads)));
  g.groups = ceil_div(g.units, g.turns);
  const std::int64_t bytes = planes_bytes + transpose_bytes * g.turns + terms_bytes;
  g.staged = bytes + g.words * 16 <= limits.group_bytes;
  if (g.threads > max || bytes > limits.group_bytes || (d.norm && !g.staged) ||
      (heads && g.turns > 1))
    return {};
  return g;
}

}  // namespace loom
