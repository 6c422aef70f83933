#include "ops/webgpu/device_weights.h"

#include <cstring>

#include "base/bytes.h"
#include "ops/cpu/prepared_weights.h"

namespace loom::webgpu {

Status upload_matrix(gpu::Device& device, WeightStore& store, const std::string& name, DeviceMatrix& into) {
  ThreadPool alone(1);
  cpu::PreparedWeights prepared(1);
  prepared.add(0, &store, ValueType::f32, {.panels = true});
  LOOM_TRY(prepared.refresh(alone));
  into.arg = *prepared.arg(0);
  cpu::WeightArg& w = into.arg;
  const std::int64_t panels = (w.rows + 15) / 16;
  if (w.form == cpu::kFloatForm) w.panel_bytes = w.padded_cols * 64;
  // Per row, or per block of every panel.
  const auto factors = static_cast<std::uint64_t>(w.form == cpu::kBlockForm ? panels * w.blocks * 16 : w.rows);
  struct Section {
    const void* data;
    std::uint64_t bytes, at;
  };
  Section sections[] = {{w.panels, static_cast<std::uint64_t>(panels * w.panel_bytes), 0}, {w.scales, factors * 4, 0}, {w.minima, factors * 4, 0}, {w.zeros, factors * 4, 0}};
  std::uint64_t total = 0;
  for (Section& s : sections) {
    s.at = total;
    if (s.data) total = align_up(total + s.bytes, 64);
  }
  if (into.buffer.bytes() != total) {
    into.buffer = {};
    LOOM_ASSIGN(into.buffer, gpu::Buffer::create(device, total, "weight " + name));
  }
  for (const Section& s : sections)
    if (s.data) LOOM_TRY(device.write(into.buffer.handle(), s.at, {static_cast<const std::byte*>(s.data), static_cast<std::size_t>(s.bytes)}));
  into.scales = static_cast<std::uint32_t>(sections[1].at / 4);
  into.minima = static_cast<std::uint32_t>(sections[2].at / 4);
  into.zeros = static_cast<std::uint32_t>(sections[3].at / 4);
  return {};
}

Result<std::vector<float>> vector_values(WeightStore& store) {
  std::vector<float> values(static_cast<std::size_t>(store.rows() * store.cols()));
  LOOM_TRY(store.values(std::span<float>(values)));
  for (float& v : values) v = cpu::stored(v);
  return values;
}

}  // namespace loom::webgpu
