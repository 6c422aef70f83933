#include "numeric/weight_store.h"
namespace loom {
WeightStore::WeightStore(std::int64_t r, std::int64_t c) : rows_(r), cols_(c), master_(static_cast<std::size_t>(r * c)) {}
Result<WeightStore> WeightStore::from_f32(std::int64_t r, std::int64_t c, std::vector<float> v) { WeightStore s; s.rows_ = r; s.cols_ = c; s.master_ = std::move(v); return s; }
std::span<float> WeightStore::mutable_master() { return master_; }
std::span<double> WeightStore::mutable_master64() { return master64_; }
void WeightStore::touch() { ++epoch_; }
Status WeightStore::morph(const WeightFormat& f) {
  if (f.dtype == DType::f64 && format_.dtype != DType::f64) { master64_.assign(master_.begin(), master_.end()); master_.clear(); }
  format_ = f; ++epoch_; return {};
}
Status WeightStore::values(std::span<float> o) { for (std::size_t i = 0; i < o.size(); ++i) o[i] = master64_.empty() ? master_[i] : static_cast<float>(master64_[i]); return {}; }
Status WeightStore::values(std::span<double> o) { for (std::size_t i = 0; i < o.size(); ++i) o[i] = master64_.empty() ? master_[i] : master64_[i]; return {}; }
}
