#include "ops/lowering/weight_forms.h"

#include "base/files/bytes.h"
#include "ops/products/product_sizes.h"
#include "ops/program.h"

namespace loom {

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
    case kBlockForm: return (16 + cpu::kBlockRows * 4 / 16) * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 64));  // blocks are of 16 at least
    case kIntegerForm: return 32 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 64));
    case kFloatForm: return 0;
    default: return 64 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(cols), 4));
  }
}

}  // namespace loom
