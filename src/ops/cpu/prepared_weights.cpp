#include "ops/cpu/prepared_weights.h"

#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "numeric/codec.h"
#include "numeric/gguf/gguf_panels.h"

namespace loom::cpu {
namespace {

static_assert(static_cast<int>(DType::f16) == kF16 && static_cast<int>(DType::bf16) == kBf16 && static_cast<int>(DType::fp8e4m3) == kFp8e4m3 && static_cast<int>(DType::fp8e5m2) == kFp8e5m2 &&
              static_cast<int>(DType::i16) == kI16 && static_cast<int>(DType::i8) == kI8 && static_cast<int>(DType::u16) == kU16 && static_cast<int>(DType::u8) == kU8 &&
              static_cast<int>(DType::i4) == kI4 && static_cast<int>(DType::u4) == kU4 && static_cast<int>(DType::fp4) == kFp4 && static_cast<int>(DType::i2) == kI2 &&
              static_cast<int>(DType::u2) == kU2 && static_cast<int>(DType::ternary) == kTernary && static_cast<int>(DType::binary) == kBinary);
static_assert(static_cast<int>(Layout::plain) == kPlain && static_cast<int>(Layout::a4) == kA4 && static_cast<int>(Layout::s4) == kS4);

template <const SmallFloat& Format>
const float* code_table() {
  static const std::vector<float> table = [] {
    std::vector<float> t(std::size_t{1} << Format.bits());
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = decode_small_float(static_cast<std::uint32_t>(i), Format);
    return t;
  }();
  return table.data();
}

}  // namespace

int product_form(const WeightFormat& format) {
  const bool per_block = format.scale == ScaleKind::block;
  const ArithClass arith = product_class(format);
  if (arith == ArithClass::integer) return per_block ? kBlockForm : kIntegerForm;
  if (format.dtype == DType::f32 || per_block) return kFloatForm;  // floats with scales per block are decoded at load
  if (arith == ArithClass::bfloat) return kSplitForm;
  return kDecodedForm;
}

std::int64_t panel_scratch(const WeightFormat& format, std::int64_t cols) {
  switch (product_form(format)) {
    case kBlockForm: return (16 + kBlockRows * 4 / 16) * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 64));  // blocks are of 16 at least
    case kIntegerForm: return 32 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 64));
    case kFloatForm: return 0;
    default: return 64 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 4));
  }
}

std::unique_ptr<std::byte[], void (*)(std::byte*)> aligned_zeros(std::int64_t bytes) {
  // calloc gives untouched zero pages for large blocks; the pointer is aligned by hand, its origin kept just before it.
  const auto size = static_cast<std::size_t>(bytes);
  auto* raw = static_cast<std::byte*>(std::calloc(size + 64 + sizeof(void*), 1));
  if (!raw) return {nullptr, nullptr};
  const auto address = reinterpret_cast<std::uintptr_t>(raw) + sizeof(void*);
  auto* aligned = raw + sizeof(void*) + (64 - address % 64) % 64;
  std::memcpy(aligned - sizeof(void*), &raw, sizeof raw);
  return {aligned, [](std::byte* p) {
            void* origin;
            std::memcpy(&origin, p - sizeof(void*), sizeof origin);
            std::free(origin);
          }};
}

PreparedWeights::Block PreparedWeights::allocate(std::int64_t bytes) {
  bytes_ += bytes;
  return aligned_zeros(bytes + 128);
}

void PreparedWeights::add(BufferId id, WeightStore* store, ValueType type, Use use) {
  Entry& e = entries_[static_cast<std::size_t>(id)];
  e.store = store;
  e.type = type;
  e.use.panels |= use.panels;
  e.use.dense |= use.dense;
  e.use.vector |= use.vector;
}

// Each worker takes every n-th stale parameter; a store stands in one entry only, so workers never meet.
void PreparedWeights::refresh_share(void* context, int worker) {
  auto* self = static_cast<PreparedWeights*>(context);
  const auto workers = self->failures_.size();
  std::size_t stale = 0;
  for (Entry& e : self->entries_) {
    if (!e.store || e.epoch == e.store->epoch() || stale++ % workers != static_cast<std::size_t>(worker)) continue;
    const Status s = e.type == ValueType::f64 ? self->prepare<double>(e) : self->prepare<float>(e);
    if (!s.ok()) self->failures_[static_cast<std::size_t>(worker)] = s;
  }
}

Status PreparedWeights::refresh(ThreadPool& pool) {
  failures_.assign(static_cast<std::size_t>(pool.size()), Status());
  pool.run_allocating(&PreparedWeights::refresh_share, this);
  for (const Status& s : failures_) LOOM_TRY(s);
  for (Entry& e : entries_)
    if (e.store) e.epoch = e.store->epoch();
  return {};
}

// The packed bytes run as they lie; only scales and zero points are brought into the host's order.
Status PreparedWeights::prepare_packed(Entry& e) {
  LOOM_ASSIGN(e.packed, e.store->packed());
  const WeightFormat& format = e.packed.format();
  const PackedLayout& layout = e.packed.layout();
  e.arg.rows = e.packed.rows();
  e.arg.cols = e.packed.cols();
  e.arg.padded_cols = layout.padded_cols;
  e.arg.panel_bytes = static_cast<i64>(layout.panel_bytes);
  e.arg.panels = e.packed.bytes().data() + layout.codes;
  e.arg.dtype = static_cast<int>(format.dtype);
  e.arg.layout = static_cast<int>(format.layout);
  e.arg.form = product_form(format);
  e.arg.table = format.dtype == DType::f16 ? code_table<loom::kF16>() : format.dtype == DType::fp8e4m3 ? code_table<loom::kFp8e4m3>() : format.dtype == DType::fp8e5m2 ? code_table<loom::kFp8e5m2>() : nullptr;
  e.scales.clear();
  e.zeros.clear();
  if (e.arg.form == kBlockForm) return prepare_blocks(e);
  if (format.scale != ScaleKind::none) {
    for (std::int64_t r = 0; r < e.packed.rows(); ++r) e.scales.push_back(e.packed.row_scale(r));
  }
  for (std::uint64_t at = 0; at < layout.zeros_size && e.zeros.size() < static_cast<std::size_t>(e.packed.rows()); at += 4) e.zeros.push_back(load_le<std::uint32_t>(e.packed.bytes().data() + layout.zeros + at));
  e.arg.scales = e.scales.empty() ? nullptr : e.scales.data();
  e.arg.zeros = e.zeros.empty() ? nullptr : e.zeros.data();
  return {};
}

// Scales per block. GGUF rows become panels.
Status PreparedWeights::prepare_blocks(Entry& e) {
  const WeightFormat& format = e.packed.format();
  const PackedLayout& layout = e.packed.layout();
  e.minima.clear();
  if (format.layout == Layout::plain) {
    e.arg.block = format.block;
    e.arg.blocks = layout.blocks;
    const std::byte* bytes = e.packed.bytes().data();
    for (std::uint64_t at = 0; at < layout.sub_scales_size; at += 4) e.scales.push_back(load_le<float>(bytes + layout.sub_scales + at));
    for (std::uint64_t at = 0; at < layout.zeros_size; at += 4) e.zeros.push_back(load_le<std::uint32_t>(bytes + layout.zeros + at));
  } else {
    const GgufPanels form = gguf_panels(format.layout);
    const std::int64_t panels = (e.packed.rows() + 15) / 16;
    e.arg.dtype = static_cast<int>(form.dtype);
    e.arg.layout = kPlain;
    e.arg.block = form.block;
    e.arg.blocks = (e.packed.cols() + form.block - 1) / form.block;
    e.arg.padded_cols = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(e.packed.cols()), 64));
    e.arg.panel_bytes = e.arg.padded_cols * (form.dtype == DType::i8 ? 16 : 8);
    if (!e.panels) e.panels = allocate(panels * e.arg.panel_bytes);
    if (!e.panels) return Status(Code::out_of_memory, "weights: no memory for the panels of " + std::to_string(e.packed.rows()) + " x " + std::to_string(e.packed.cols()) + " codes");
    std::memset(e.panels.get(), 0, static_cast<std::size_t>(panels * e.arg.panel_bytes));
    const auto scales = static_cast<std::size_t>(panels * e.arg.blocks * 16);
    e.scales.assign(scales, 0.0f);
    if (form.minima) e.minima.assign(scales, 0.0f);
    fill_gguf_panels(e.packed, e.panels.get(), e.scales.data(), form.minima ? e.minima.data() : nullptr);
    e.arg.panels = e.panels.get();
  }
  e.arg.scales = e.scales.data();
  e.arg.minima = e.minima.empty() ? nullptr : e.minima.data();
  e.arg.zeros = e.zeros.empty() ? nullptr : e.zeros.data();
  return {};
}

template <class T>
Status PreparedWeights::prepare(Entry& e) {
  const bool packed = sizeof(T) == 4 && product_form(e.store->format()) != kFloatForm;
  if (packed && e.use.panels) LOOM_TRY(prepare_packed(e));
  if (packed && !e.use.dense && !e.use.vector) return {};
  const std::int64_t rows = e.store->rows(), cols = e.store->cols();
  const auto padded_cols = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 32));
  const auto stride = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 16));
  const std::int64_t panels = (rows + 15) / 16;
  e.arg.rows = rows;
  e.arg.cols = cols;
  if (!packed) e.arg.padded_cols = padded_cols;
  e.arg.dense_stride = stride;
  const Status out_of_memory(Code::out_of_memory, "weights: no memory for " + std::to_string(rows) + " x " + std::to_string(cols) + " values");

  std::vector<T> values(static_cast<std::size_t>(rows * cols));
  LOOM_TRY(e.store->values(std::span<T>(values)));
  for (T& v : values) v = stored(v);
  if (e.use.vector) {
    if (!e.plain) e.plain = allocate(rows * cols * static_cast<std::int64_t>(sizeof(T)));
    if (!e.plain) return out_of_memory;
    std::memcpy(e.plain.get(), values.data(), values.size() * sizeof(T));
  }
  if (e.use.dense) {
    if (!e.dense) e.dense = allocate(rows * stride * static_cast<std::int64_t>(sizeof(T)));
    if (!e.dense) return out_of_memory;
    for (std::int64_t r = 0; r < rows; ++r) std::memcpy(reinterpret_cast<T*>(e.dense.get()) + r * stride, values.data() + r * cols, static_cast<std::size_t>(cols) * sizeof(T));
    e.arg.dense = e.dense.get();
  }
  if (e.use.panels && !packed) {
    if (!e.panels) e.panels = allocate(panels * padded_cols * 16 * static_cast<std::int64_t>(sizeof(T)));
    if (!e.panels) return out_of_memory;
    T* to = reinterpret_cast<T*>(e.panels.get());
    for (std::int64_t r = 0; r < rows; ++r) {
      T* column = to + (r / 16) * padded_cols * 16 + r % 16;
      const T* from = values.data() + r * cols;
      for (std::int64_t c = 0; c < cols; ++c) column[c * 16] = from[c];
    }
    e.arg.panels = to;
  }
  return {};
}

}  // namespace loom::cpu
