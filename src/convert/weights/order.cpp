#include "convert/weights/order.h"

#include <algorithm>

namespace loom {
namespace {

bool of_channels(const FoundLayer& layer) {
  return layer.space > 0 || layer.type == "batch_norm" || layer.type == "group_norm" ||
         layer.type == "instance_norm";
}

class Search {
 public:
  explicit Search(const std::vector<FoundLayer>& layers)
      : layers_(layers), n_(layers.size()), before_(n_ * n_), used_(n_) {
    orders_.by_names = true;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = i + 1; j < n_; ++j) {
        const NameOrder order = name_order(layers[i].module->path, layers[j].module->path);
        before_[i * n_ + j] = order == NameOrder::before;
        before_[j * n_ + i] = order == NameOrder::after;
        if (order == NameOrder::unknown) orders_.by_names = false;
      }
  }

  Orders run() {
    extend();
    return std::move(orders_);
  }

 private:
  static constexpr std::size_t kMaxFound = 4, kMaxSteps = 20'000;

  bool free(std::size_t j) const {
    if (used_[j]) return false;
    for (std::size_t i = 0; i < n_; ++i)
      if (!used_[i] && before_[i * n_ + j]) return false;
    return path_.empty() || can_follow(layers_[path_.back()], layers_[j]);
  }

  // As deep as there are modules, which kMaxModules limits.
  void extend() {
    if (path_.size() == n_) {
      if (orders_.found.size() == kMaxFound) orders_.all = false;
      else orders_.found.push_back(path_);
      return;
    }
    for (std::size_t j = 0; j < n_ && orders_.all; ++j) {
      if (!free(j)) continue;
      if (++steps_ > kMaxSteps) {
        orders_.all = false;
        return;
      }
      used_[j] = 1;
      path_.push_back(j);
      extend();
      path_.pop_back();
      used_[j] = 0;
    }
  }

  const std::vector<FoundLayer>& layers_;
  std::size_t n_, steps_ = 0;
  std::vector<char> before_, used_;
  std::vector<std::size_t> path_;
  Orders orders_;
};

}  // namespace

bool can_follow(const FoundLayer& a, const FoundLayer& b) {
  if (b.type == "embedding") return false;
  if (a.out == 0 || b.in == 0) return true;
  if (b.space > 0) {
    if (!of_channels(a) || (a.space > 0 && a.space != b.space)) return false;
    return b.type.starts_with("conv_transpose") ? a.out == b.in : a.out % b.in == 0;
  }
  if (a.space > 0 && (b.type == "layer_norm" || b.type == "rms_norm" || b.type.empty()))
    return true;
  if (of_channels(a) && !of_channels(b)) return b.in % a.out == 0;
  return a.out == b.in;
}

Orders possible_orders(const std::vector<FoundLayer>& layers) {
  constexpr std::size_t kMaxModules = 2000;
  if (layers.size() > kMaxModules) return {false, false, {}};
  return Search(layers).run();
}

}  // namespace loom
