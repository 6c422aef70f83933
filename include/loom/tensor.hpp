// Values with a shape, a part of loom.hpp: views of the caller's memory go in, tensors come out.
#ifndef LOOM_TENSOR_HPP
#define LOOM_TENSOR_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "error.hpp"

namespace loom {
inline namespace api {

using Shape = std::vector<std::int64_t>;

namespace detail {

inline std::string shown(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}
// How many values a shape has, from its dimension `first` on; negative ones, and counts that no
// memory holds, are refused.
inline std::size_t count(const Shape& shape, std::size_t first = 0) {
  bool none = false;
  for (std::size_t i = first; i < shape.size(); ++i) {
    if (shape[i] < 0)
      throw Error(LOOM_INVALID_ARGUMENT, "shape " + shown(shape) + ": a size is below 0");
    none = none || shape[i] == 0;
  }
  std::size_t n = none ? 0 : 1;
  for (std::size_t i = first; i < shape.size() && !none; ++i) {
    const auto size = static_cast<std::uint64_t>(shape[i]);
    if (n > PTRDIFF_MAX / size)
      throw Error(LOOM_OUT_OF_RANGE, "shape " + shown(shape) + ": too many values");
    n *= static_cast<std::size_t>(size);
  }
  return n;
}

}  // namespace detail

// Values of the caller's, which stay there: a vector, an array, a span, or a pointer, and their
// shape, row-major. Throws where they are not as many as the shape says.
//   loom::TensorView x(values, {4, 2});
template <class T>
class TensorView {
 public:
  TensorView(std::span<T> values, Shape shape) : values_(values), shape_(std::move(shape)) {
    if (const std::size_t n = detail::count(shape_); n != values.size())
      throw Error(LOOM_INVALID_ARGUMENT, "shape " + detail::shown(shape_) + ": has " +
                                             std::to_string(n) + " values, got " +
                                             std::to_string(values.size()));
  }
  // As many values as the shape says lie behind the pointer. (Arrays are no pointers here: their
  // size is checked.)
  template <class P>
    requires(std::is_pointer_v<P> && std::is_convertible_v<P, T*>)
  TensorView(const P& values, Shape shape) : shape_(std::move(shape)) {
    const std::size_t n = detail::count(shape_);
    if (values == nullptr && n > 0)
      throw Error(LOOM_INVALID_ARGUMENT, "shape " + detail::shown(shape_) + ": NULL");
    values_ = std::span<T>(values, n);
  }
  // Views that do not write, of those that do.
  template <class U>
    requires(std::is_same_v<T, const U>)
  TensorView(const TensorView<U>& other) : values_(other.values()), shape_(other.shape()) {}

  std::span<T> values() const { return values_; }
  const Shape& shape() const { return shape_; }
  // Of the first dimension, and values of each of its rows. A shape without one has neither.
  std::int64_t rows() const {
    if (shape_.empty()) throw Error(LOOM_INVALID_ARGUMENT, "shape []: has no rows");
    return shape_[0];
  }
  std::int64_t width() const {
    return rows() < 0 ? 0 : static_cast<std::int64_t>(detail::count(shape_, 1));
  }

 private:
  std::span<T> values_;
  Shape shape_;
};
template <class P>
  requires(std::is_pointer_v<P>)
TensorView(const P&, Shape) -> TensorView<std::remove_pointer_t<P>>;
template <std::ranges::contiguous_range R>
TensorView(R&&, Shape) -> TensorView<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// Values that are its own, and their shape.
template <class T>
class Tensor {
 public:
  explicit Tensor(Shape shape) : values_(detail::count(shape)), shape_(std::move(shape)) {}
  std::span<T> values() { return values_; }
  std::span<const T> values() const { return values_; }
  const Shape& shape() const { return shape_; }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::size_t size() const { return values_.size(); }
  operator TensorView<const T>() const { return {std::span<const T>(values_), shape_}; }

 private:
  std::vector<T> values_;
  Shape shape_;
};

}  // namespace api
}  // namespace loom

#endif
