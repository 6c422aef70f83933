#include "ops/lowering/prepared_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/files/bytes.h"
#include "numeric/codec.h"
#include "numeric/gguf/gguf_panels.h"
#include "ops/cpu/kernel_args.h"
#include "ops/lowering/weight_forms.h"

#define LOOM_ISA isa_of_the_host
#include "ops/cpu/vectors/transpose.h"

namespace loom {
namespace {

using cpu::i64, cpu::Range, cpu::share, cpu::stored;
using cpu::LOOM_ISA::flushed, cpu::LOOM_ISA::transpose;

// How kernels decode small floats; zeros for other types.
void set_float_codes(DType dtype, WeightArg& arg) {
  const DTypeInfo& i = info(dtype);
  if (i.codec.family != CodecFamily::small_float || i.arith == ArithClass::integer) return;
  const SmallFloat& f = i.codec.small_float;
  arg.shorter = 9 - (f.bits() - f.mantissa_bits);
  arg.factor = std::ldexp(1.0f, 127 - f.bias);
  arg.largest = f.max_code;
}

void stored_run(const float* __restrict from, i64 n, float* __restrict to) {
  for (i64 i = 0; i < n; ++i) to[i] = stored(from[i]);
}

}  // namespace

std::unique_ptr<std::byte[], void (*)(std::byte*)> aligned_zeros(std::int64_t bytes) {
  // calloc gives untouched zero pages for large blocks; the pointer is aligned by hand, its origin
  // kept just before it.
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
  std::int32_t& at = places_[static_cast<std::size_t>(id)];
  if (at == kNone) {
    at = static_cast<std::int32_t>(entries_.size());
    entries_.emplace_back();
  }
  Entry& e = entries_[static_cast<std::size_t>(at)];
  e.store = store;
  e.type = type;
  // Steps of a recurrent layer would copy the same panels again and again; what is computed twice,
  // forward and again in backward, copies them twice rather than keep them.
  e.panel_reads += use.panels;
  e.dense_reads += use.dense;
  e.copied &= use.copies && e.panel_reads <= 2 && e.dense_reads <= 1;
  e.use.panels |= use.panels;
  e.use.dense |= use.dense;
  e.use.vector |= use.vector;
  e.use.held |= use.held;
}

void PreparedWeights::updates(const WeightStore* store) {
  for (Entry& e : entries_) e.updated |= e.store == store;
}

// Each worker takes every n-th stale parameter; a store stands in one entry only, so workers never
// meet.
Status PreparedWeights::refresh_share(void* context, int worker, int workers) {
  auto* self = static_cast<PreparedWeights*>(context);
  for (std::size_t i = static_cast<std::size_t>(worker); i < self->stale_.size();
       i += static_cast<std::size_t>(workers)) {
    Entry& e = *self->stale_[i];
    LOOM_TRY(e.type == ValueType::f64 ? self->prepare<double>(e) : self->prepare<float>(e));
  }
  return {};
}
void PreparedWeights::pack_share(void* context, int worker, int workers) noexcept {
  auto* self = static_cast<PreparedWeights*>(context);
  for (const Entry* e : self->masters_)
    pack(*e, share((e->arg.rows + 15) / 16 * ((e->arg.cols + kPackColumns - 1) / kPackColumns), 1,
                   worker, workers));
}

bool PreparedWeights::is_plain_master(const Entry& e) {
  return e.type == ValueType::f32 && e.store->format().dtype == DType::f32 && !e.store->held() &&
         !e.store->master().empty();
}
const PackedMatrix* PreparedWeights::held(const Entry& e) {
  return e.use.held ? e.store->held() : nullptr;
}

Status PreparedWeights::refresh(ThreadPool& pool) { return refresh(pool, INT64_MAX).status(); }
Result<bool> PreparedWeights::refresh_one(ThreadPool& pool) { return refresh(pool, 1); }

// Of `count` stores that changed; whether no other has.
Result<bool> PreparedWeights::refresh(ThreadPool& pool, std::int64_t count) {
  stale_.clear();
  masters_.clear();
  std::size_t end = 0;
  for (; end < entries_.size(); ++end) {
    Entry& e = entries_[end];
    if (e.epoch == e.store->epoch()) continue;
    if (count-- == 0) break;
    e.arg.master = nullptr;
    e.packed = {};
    if (is_plain_master(e) && e.updated && e.copied) {
      e.arg.master = e.store->master().data();
      e.arg.rows = e.store->rows();
      e.arg.cols = e.store->cols();
    } else if (is_plain_master(e)) {
      LOOM_TRY(allocate_forms<float>(e, true));
      if (e.use.held) {  // something was written since
        e.arg.form = kDecodedForm;
        e.arg.bits = 32;
        e.arg.panel_bytes = e.arg.padded_cols * 64;
      }
      masters_.push_back(&e);
    } else {
      // Encoding is most of the work, and one matrix may be most of the weights: the whole team
      // takes each. f32 and f64 need none.
      const DType dtype = e.store->format().dtype;
      if (dtype != DType::f32 && dtype != DType::f64) LOOM_TRY(e.store->packed(&pool).status());
      stale_.push_back(&e);
    }
  }
  if (!stale_.empty()) LOOM_TRY(pool.run_allocating(&PreparedWeights::refresh_share, this));
  if (!masters_.empty()) pool.run(&PreparedWeights::pack_share, this);
  files_.clear();
  for (const Entry& e : entries_) {
    const Mapping* file = e.packed.file();
    if (file && std::find(files_.begin(), files_.end(), file) == files_.end())
      files_.push_back(file);
  }
  LOOM_TRY(intact());
  for (std::size_t i = 0; i < end; ++i) entries_[i].epoch = entries_[i].store->epoch();
  return end == entries_.size();
}

Status PreparedWeights::intact() const {
  for (const Mapping* file : files_) LOOM_TRY(file->intact());
  return {};
}

void PreparedWeights::pack(const Entry& e, Range blocks) {
  const i64 rows = e.arg.rows, cols = e.arg.cols, across = (cols + kPackColumns - 1) / kPackColumns;
  const float* master = e.store->master().data();
  for (i64 b = blocks.begin; b < blocks.end; ++b) {
    const i64 first = b / across * 16, count = std::min<i64>(16, rows - first),
              begin = b % across * kPackColumns, end = std::min(begin + kPackColumns, cols);
    for (i64 r = first; r < first + count; ++r) {
      const float* from = master + r * cols + begin;
      if (e.use.vector)
        stored_run(from, end - begin, reinterpret_cast<float*>(e.plain.get()) + r * cols + begin);
      if (e.use.dense)
        stored_run(from, end - begin,
                   reinterpret_cast<float*>(e.dense.get()) + r * e.arg.dense_stride + begin);
    }
    if (!e.use.panels) continue;
    float* to = reinterpret_cast<float*>(e.panels.get()) + first * e.arg.padded_cols;
    // A line of the cache of each row at a time: rows may lie a multiple of its period apart. Rows
    // that are not there are 0 from the start.
    const i64 whole_rows = count / 4 * 4;
    for (i64 c = begin; c < end; c += 16) {
      const i64 some = std::min<i64>(16, end - c), whole = some / 4 * 4;
      const float* from = master + first * cols + c;
      transpose(from, cols, whole_rows, whole, to + c * 16, 16,
                [](auto v) __attribute__((always_inline)) { return flushed(v); });
      for (i64 r = 0; r < count; ++r)
        for (i64 i = r < whole_rows ? whole : 0; i < some; ++i)
          to[(c + i) * 16 + r] = stored(from[r * cols + i]);
    }
  }
}

// The packed bytes run as they lie; only scales and zero points are brought into the host's order.
Status PreparedWeights::prepare_packed(Entry& e) {
  const PackedMatrix* const own = held(e);
  if (own) {
    e.packed = *own;
  } else {
    LOOM_ASSIGN(e.packed, e.store->packed());
  }
  const WeightFormat& format = e.packed.format();
  const PackedLayout& layout = e.packed.layout();
  e.arg.rows = e.packed.rows();
  e.arg.cols = e.packed.cols();
  e.arg.padded_cols = layout.padded_cols;
  e.arg.panel_bytes = static_cast<i64>(layout.panel_bytes);
  e.arg.panels = e.packed.bytes().data() + layout.codes;
  e.arg.dtype = static_cast<int>(format.dtype);
  e.arg.layout = static_cast<int>(format.layout);
  e.arg.form = own ? kDecodedForm : product_form(format);
  // An f32 weight counts as stored.
  e.arg.floor = own ? std::bit_cast<unsigned>(static_cast<float>(info(DType::f32).floor)) : 0;
  e.arg.bits = info(format.dtype).bits;
  set_float_codes(format.dtype, e.arg);
  e.arg.offset = code_offset(format.dtype, format.layout);
  e.scales.clear();
  e.zeros.clear();
  if (e.arg.form == kBlockForm) return prepare_blocks(e);
  if (format.scale != ScaleKind::none) {
    for (std::int64_t r = 0; r < e.packed.rows(); ++r) e.scales.push_back(e.packed.row_scale(r));
  }
  for (std::uint64_t at = 0;
       at < layout.zeros_size && e.zeros.size() < static_cast<std::size_t>(e.packed.rows());
       at += 4)
    e.zeros.push_back(load_le<std::uint32_t>(e.packed.bytes().data() + layout.zeros + at));
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
    for (std::uint64_t at = 0; at < layout.sub_scales_size; at += 4)
      e.scales.push_back(load_le<float>(bytes + layout.sub_scales + at));
    for (std::uint64_t at = 0; at < layout.zeros_size; at += 4)
      e.zeros.push_back(load_le<std::uint32_t>(bytes + layout.zeros + at));
  } else {
    const GgufPanels form = gguf_panels(format.layout);
    const std::int64_t panels = (e.packed.rows() + 15) / 16;
    e.arg.dtype = static_cast<int>(form.dtype);
    e.arg.layout = cpu::kPlain;
    e.arg.bits = info(form.dtype).bits;
    e.arg.offset = code_offset(form.dtype, Layout::plain);
    e.arg.block = form.block;
    e.arg.blocks = (e.packed.cols() + form.block - 1) / form.block;
    e.arg.padded_cols =
        static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(e.packed.cols()), 64));
    e.arg.panel_bytes = e.arg.padded_cols * (form.dtype == DType::i8 ? 16 : 8);
    if (!e.panels) e.panels = allocate(panels * e.arg.panel_bytes);
    if (!e.panels)
      return Status(Code::out_of_memory, "weights: no memory for the panels of " +
                                             std::to_string(e.packed.rows()) + " x " +
                                             std::to_string(e.packed.cols()) + " codes");
    std::memset(e.panels.get(), 0, static_cast<std::size_t>(panels * e.arg.panel_bytes));
    const auto scales = static_cast<std::size_t>(panels * e.arg.blocks * 16);
    e.scales.assign(scales, 0.0f);
    if (form.minima) e.minima.assign(scales, 0.0f);
    fill_gguf_panels(e.packed, e.panels.get(), e.scales.data(),
                     form.minima ? e.minima.data() : nullptr);
    e.arg.panels = e.panels.get();
  }
  e.arg.scales = e.scales.data();
  e.arg.minima = e.minima.empty() ? nullptr : e.minima.data();
  e.arg.zeros = e.zeros.empty() ? nullptr : e.zeros.data();
  return {};
}

template <class T>
Status PreparedWeights::allocate_forms(Entry& e, bool with_panels) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t rows = e.store->rows(), cols = e.store->cols();
  e.arg.rows = rows;
  e.arg.cols = cols;
  e.arg.dense_stride = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 16));
  if (with_panels)
    e.arg.padded_cols = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 32));
  if (e.use.vector && !e.plain) e.plain = allocate(rows * cols * kSize);
  if (e.use.dense && !e.dense) e.dense = allocate(rows * e.arg.dense_stride * kSize);
  if (e.use.panels && with_panels && !e.panels)
    e.panels = allocate((rows + 15) / 16 * e.arg.padded_cols * 16 * kSize);
  if ((e.use.vector && !e.plain) || (e.use.dense && !e.dense) ||
      (e.use.panels && with_panels && !e.panels))
    return Status(Code::out_of_memory, "weights: no memory for " + std::to_string(rows) + " x " +
                                           std::to_string(cols) + " values");
  if (e.use.dense) e.arg.dense = e.dense.get();
  if (e.use.panels && with_panels) e.arg.panels = e.panels.get();
  return {};
}

template <class T>
Status PreparedWeights::prepare(Entry& e) {
  const bool packed = sizeof(T) == 4 && (held(e) || product_form(e.store->format()) != kFloatForm);
  if (packed && e.use.panels) LOOM_TRY(prepare_packed(e));
  if (packed && !e.use.dense && !e.use.vector) return {};
  LOOM_TRY(allocate_forms<T>(e, !packed));
  const std::int64_t rows = e.arg.rows, cols = e.arg.cols;
  std::vector<T> values(static_cast<std::size_t>(rows * cols));
  LOOM_TRY(e.store->values(std::span<T>(values)));
  for (T& v : values) v = stored(v);
  if (e.use.vector) std::memcpy(e.plain.get(), values.data(), values.size() * sizeof(T));
  if (e.use.dense)
    for (std::int64_t r = 0; r < rows; ++r)
      std::memcpy(reinterpret_cast<T*>(e.dense.get()) + r * e.arg.dense_stride,
                  values.data() + r * cols, static_cast<std::size_t>(cols) * sizeof(T));
  if (e.use.panels && !packed) {
    T* to = reinterpret_cast<T*>(e.panels.get());
    for (std::int64_t r = 0; r < rows; ++r) {
      T* column = to + (r / 16) * e.arg.padded_cols * 16 + r % 16;
      const T* from = values.data() + r * cols;
      for (std::int64_t c = 0; c < cols; ++c) column[c * 16] = from[c];
    }
  }
  return {};
}

}  // namespace loom
