#include "ops/webgpu/device_weights.h"

#include "base/files/bytes.h"
#include "numeric/gguf/gguf_panels.h"
#include "ops/lowering/prepared_weights.h"
#include "ops/lowering/weight_forms.h"

namespace loom::webgpu {
namespace {

constexpr std::uint64_t kAlign = 64;
std::uint64_t aligned(std::int64_t bytes) {
  return align_up(static_cast<std::uint64_t>(bytes), kAlign);
}

}  // namespace

Result<std::uint64_t> matrix_bytes(const WeightStore& store) {
  const WeightFormat& format = store.format();
  const std::int64_t panels = (store.rows() + 15) / 16, cols = store.cols();
  if (product_form(format) == kFloatForm)
    return aligned(panels * 64 *
                   static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 32)));
  if (format.layout >= Layout::q4_0) {
    const GgufPanels form = gguf_panels(format.layout);
    const std::int64_t padded = static_cast<std::int64_t>(
                           align_up(static_cast<std::uint64_t>(cols), 64)),
                       factors = panels * ((cols + form.block - 1) / form.block) * 16;
    return aligned(panels * padded * (form.dtype == DType::i8 ? 16 : 8)) +
           (form.minima ? 2 : 1) * aligned(factors * 4);
  }
  LOOM_ASSIGN(const PackedLayout layout, packed_layout(format, store.rows(), cols));
  const std::int64_t factors =
      product_form(format) == kBlockForm ? panels * layout.blocks * 16 : store.rows();
  return aligned(panels * static_cast<std::int64_t>(layout.panel_bytes)) +
         (format.scale == ScaleKind::none ? 0 : aligned(factors * 4)) +
         (layout.zeros_size == 0 ? 0 : aligned(factors * 4));
}

Status upload_matrix(gpu::Device& device, gpu::Handle heap, WeightStore& store,
                     DeviceMatrix& into) {
  ThreadPool alone(1);
  PreparedWeights prepared(1);
  prepared.add(0, &store, ValueType::f32, {.panels = true});
  LOOM_TRY(prepared.refresh(alone));
  into.arg = *prepared.arg(0);
  into.format = store.format();
  WeightArg& w = into.arg;
  const std::int64_t panels = (w.rows + 15) / 16;
  if (w.form == kFloatForm) w.panel_bytes = w.padded_cols * 64;
  // Per row, or per block of every panel.
  const auto factors = w.form == kBlockForm ? panels * w.blocks * 16 : w.rows;
  struct Section {
    const void* data;
    std::int64_t bytes;
    std::uint32_t* word;
  };
  const Section sections[] = {{w.panels, panels * w.panel_bytes, nullptr},
                              {w.scales, factors * 4, &into.scales},
                              {w.minima, factors * 4, &into.minima},
                              {w.zeros, factors * 4, &into.zeros}};
  std::uint64_t at = into.at;
  for (const Section& s : sections) {
    if (!s.data) continue;
    if (at + static_cast<std::uint64_t>(s.bytes) > into.at + into.bytes)
      return Status(Code::internal,
                    "gpu: a matrix in " + to_string(into.format) + " is larger than was planned");
    if (s.word) *s.word = static_cast<std::uint32_t>(at / 4);
    LOOM_TRY(device.write(
        heap, at, {static_cast<const std::byte*>(s.data), static_cast<std::size_t>(s.bytes)}));
    at += aligned(s.bytes);
  }
  return prepared.intact();
}

Result<std::vector<float>> vector_values(WeightStore& store) {
  std::vector<float> values(static_cast<std::size_t>(store.rows() * store.cols()));
  LOOM_TRY(store.values(std::span<float>(values)));
  for (float& v : values) v = cpu::stored(v);
  return values;
}

}  // namespace loom::webgpu
