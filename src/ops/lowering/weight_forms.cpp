#include "ops/lowering/weight_forms.h"

#include "base/files/bytes.h"
#include "base/numbered.h"
#include "ops/products/product_sizes.h"
#include "ops/program.h"

namespace loom {
namespace {

constexpr int kIds[] = {
#define LOOM_FORM(id, name) id,
#include "ops/lowering/weight_forms.def"
#undef LOOM_FORM
};
#define LOOM_FORM(id, name) \
  static_assert(in_order(kIds, id), "weight_forms.def: row " #id " is not " #name);
#include "ops/lowering/weight_forms.def"
#undef LOOM_FORM

// Of class I kernels know integers and signs of 8, 4, 2 and 1 bits, ternary, and one float, whose
// codes they take as twice the values.
constexpr bool has_kernels(DType dtype) {
  const DTypeInfo& i = info(dtype);
  if (i.arith != ArithClass::integer || dtype == DType::fp4) return true;
  return i.codec.family != CodecFamily::small_float && 8 % i.bits == 0;
}
#define LOOM_DTYPE(id, name, ...) \
  static_assert(has_kernels(DType::name), "dtypes.def: no kernel of class I knows " #name);
#include "numeric/dtypes.def"

}  // namespace

int product_form(const WeightFormat& format) {
  const bool per_block = format.scale == ScaleKind::block;
  const ArithClass arith = product_class(format);
  if (arith == ArithClass::integer) return per_block ? kBlockForm : kIntegerForm;
  if (format.dtype == DType::f32 || per_block)
    return kFloatForm;  // floats with scales per block are decoded at load
  if (arith == ArithClass::bfloat) return kSplitForm;
  return kDecodedForm;
}

int code_offset(DType dtype, Layout layout) {
  const DTypeInfo& i = info(dtype);
  if (i.arith != ArithClass::integer) return 0;
  if (layout != Layout::plain) return 128;
  if (dtype == DType::fp4) return 12;  // twice the largest value
  return i.codec.family == CodecFamily::sign ? 1 : static_cast<int>(i.codec.integer.bias);
}

std::int64_t panel_scratch(const WeightFormat& format, std::int64_t cols) {
  switch (product_form(format)) {
    case kBlockForm:
      return (16 + cpu::kBlockRows * 4 / 16) *
             static_cast<std::int64_t>(
                 align_up(static_cast<std::uint64_t>(cols), 64));  // blocks are of 16 at least
    case kIntegerForm:
      return 32 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 64));
    case kFloatForm: return 0;
    default: return 64 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 4));
  }
}

}  // namespace loom
