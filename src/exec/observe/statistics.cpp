#include "exec/observe/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace loom {
namespace {

constexpr std::size_t kLanes = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Vectors of `count` numbers.
template <class T, std::size_t count>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * count)));
};
template <class T, std::size_t count>
using Vector = typename VectorOf<T, count>::type;

// The sums of values that are all finite; `x` has whole lanes, at least one. `kWide` doubles are a
// vector: lanes do not meet before the end, so that each width has the same bits.
template <std::size_t kWide, class T>
[[gnu::always_inline]] inline void sum_lanes(const T* x, std::size_t count, T limit, BlockSums& s) {
  // As many bytes of T as a vector of doubles has, but not more than a step's values.
  constexpr std::size_t kPer = std::min(kWide * sizeof(double) / sizeof(T), kLanes);
  constexpr std::size_t kParts = kLanes / kPer, kDoubles = kLanes / kWide;
  using Doubles = Vector<double, kWide>;
  using Values = Vector<T, kPer>;
  using Counts = Vector<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>, kPer>;
  const Doubles pivot = Doubles{} + s.pivot;
  Doubles sum[kDoubles]{}, squares[kDoubles]{};
  Values min[kParts], max[kParts];
  Counts active[kParts]{};
  std::memcpy(min, x, sizeof min);
  std::memcpy(max, x, sizeof max);
  for (std::size_t i = 0; i < count; i += kLanes) {
    for (std::size_t k = 0; k < kDoubles; ++k) {
      Vector<T, kWide> v;
      std::memcpy(&v, x + i + k * kWide, sizeof v);
      const Doubles d = __builtin_convertvector(v, Doubles) - pivot;
      sum[k] += d;
      squares[k] += d * d;
    }
    for (std::size_t p = 0; p < kParts; ++p) {
      Values v;
      std::memcpy(&v, x + i + p * kPer, sizeof v);
      min[p] = v < min[p] ? v : min[p];
      max[p] = v > max[p] ? v : max[p];
      active[p] -= (v > limit) | (v < -limit);
    }
  }
  s.sum = s.squares = 0;
  s.active = 0;
  T low = min[0][0], high = max[0][0];
  for (std::size_t k = 0; k < kLanes; ++k) {
    s.sum += sum[k / kWide][k % kWide];
    s.squares += squares[k / kWide][k % kWide];
    low = std::min(low, static_cast<T>(min[k / kPer][k % kPer]));
    high = std::max(high, static_cast<T>(max[k / kPer][k % kPer]));
    s.active += static_cast<std::int32_t>(active[k / kPer][k % kPer]);
  }
  s.min = static_cast<double>(low) + 0.0;  // of -0: 0
  s.max = static_cast<double>(high) + 0.0;
}

// Two doubles are the vectors that every target has.
template <class T>
void sum_narrow(const T* x, std::size_t count, T limit, BlockSums& s) {
  sum_lanes<2>(x, count, limit, s);
}
#ifdef __x86_64__
template <class T>
[[gnu::target("avx2")]] void sum_avx2(const T* x, std::size_t count, T limit, BlockSums& s) {
  sum_lanes<4>(x, count, limit, s);
}
template <class T>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void sum_avx512(const T* x, std::size_t count,
                                                                      T limit, BlockSums& s) {
  sum_lanes<8>(x, count, limit, s);
}
#endif

template <class T>
using Sum = void (*)(const T*, std::size_t, T, BlockSums&);

template <class T>
Sum<T> best_sum() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return sum_avx512<T>;
  if (__builtin_cpu_supports("avx2")) return sum_avx2<T>;
#endif
  return sum_narrow<T>;
}

template <class T>
void sum_finite(const T* x, std::size_t count, double active, BlockSums& s) {
  static const Sum<T> sum = best_sum<T>();
  // The largest T that is not above it: no other lies between.
  T limit = static_cast<T>(active);
  if (static_cast<double>(limit) > active) limit = std::nextafter(limit, T{0});
  sum(x, count, limit, s);
}

template <class T>
void sum_padded(const T* x, std::size_t count, T pivot, double limit, BlockSums& s) {
  s.pivot = static_cast<double>(pivot);
  const std::size_t whole = count / kLanes * kLanes;
  if (whole == count) {
    sum_finite(x, count, limit, s);
    return;
  }
  // The pivot once more in the lanes that are left: it adds zeros.
  T padded[BlockSums::kBlock];
  std::copy_n(x, count, padded);
  const std::size_t end = whole + kLanes;
  std::fill(padded + count, padded + end, pivot);
  sum_finite(padded, end, limit, s);
  if (std::fabs(static_cast<double>(pivot)) > limit)
    s.active -= static_cast<std::int32_t>(end - count);
}

// With values that are not finite, in whose place the pivot stands.
void sum_others(const double* x, std::size_t count, double limit, BlockSums& s) {
  double finite[BlockSums::kBlock];
  const double* first = std::find_if(x, x + count, [](double v) { return std::isfinite(v); });
  const double pivot = first == x + count ? 0.0 : *first;
  const bool pivot_active = std::fabs(pivot) > limit;
  std::int32_t active = 0;
  for (std::size_t i = 0; i < count; ++i) {
    finite[i] = std::isfinite(x[i]) ? x[i] : pivot;
    if (std::isfinite(x[i])) continue;
    if (s.first_bad < 0) s.first_bad = static_cast<std::int32_t>(i);
    if (std::isnan(x[i])) ++s.nan_count;
    else ++s.inf_count, ++active;
    if (pivot_active) --active;
  }
  sum_padded(finite, count, pivot, limit, s);
  s.active += active;
}

}  // namespace

template <class T>
BlockSums block_sums(const T* x, std::size_t count, double limit) {
  BlockSums s;
  s.count = static_cast<std::int32_t>(count);
  if (count == 0) return s;
  sum_padded(x, count, x[0], limit, s);
  // Anything that is not finite makes the sum of squares so.
  if (!std::isfinite(s.squares)) {
    double wide[BlockSums::kBlock];
    std::copy_n(x, count, wide);
    sum_others(wide, count, limit, s);
  }
  return s;
}
template BlockSums block_sums(const float*, std::size_t, double);
template BlockSums block_sums(const double*, std::size_t, double);

CellStatistics::CellStatistics() : min(kInfinity), max(-kInfinity) {}

double CellStatistics::std() const {
  return finite() == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite()));
}
double CellStatistics::active_share() const {
  return count == 0 ? 0 : static_cast<double>(active) / static_cast<double>(count);
}

void CellStatistics::add(const CellStatistics& o) {
  const auto a = static_cast<double>(finite()), b = static_cast<double>(o.finite());
  if (b > 0 && a == 0) mean = o.mean, squares = o.squares;
  else if (b > 0) {
    const double apart = o.mean - mean;
    mean += apart * (b / (a + b));
    squares += o.squares + apart * apart * (a * b / (a + b));
  }
  min = std::min(min, o.min);
  max = std::max(max, o.max);
  if (bad_row < 0) bad_row = o.bad_row, bad_column = o.bad_column;
  count += o.count, nan_count += o.nan_count, inf_count += o.inf_count, active += o.active;
}

void CellStatistics::scale(double factor) {
  mean *= factor, squares *= factor * factor, min *= factor, max *= factor;
}

CellStatistics combine(std::span<const BlockSums> blocks, std::int64_t width) {
  CellStatistics s;
  const BlockSums* first = nullptr;  // with a finite value
  double total = 0, from_first = 0;  // sums of x, and of x - its pivot
  for (const BlockSums& b : blocks) {
    const std::int32_t finite = b.count - b.nan_count - b.inf_count;
    if (s.bad_row < 0 && b.first_bad >= 0) {
      const std::int64_t at = s.count + b.first_bad;
      s.bad_row = at / width, s.bad_column = at % width;
    }
    s.count += b.count, s.nan_count += b.nan_count, s.inf_count += b.inf_count;
    s.active += b.active;
    if (finite == 0) continue;
    if (!first) first = &b;
    total += b.pivot * finite + b.sum;
    from_first += (b.pivot - first->pivot) * finite + b.sum;
    s.min = std::min(s.min, b.min);
    s.max = std::max(s.max, b.max);
  }
  if (s.finite() == 0) return s;
  s.mean = total / static_cast<double>(s.finite());
  // Deviations are from the mean before it is rounded to the size of the values.
  const double mean = from_first / static_cast<double>(s.finite());
  for (const BlockSums& b : blocks) {
    const auto finite = static_cast<double>(b.count - b.nan_count - b.inf_count);
    if (finite == 0) continue;
    const double apart = (b.pivot - first->pivot) - mean + b.sum / finite;
    s.squares += std::max(b.squares - b.sum * (b.sum / finite), 0.0) + finite * (apart * apart);
  }
  return s;
}

}  // namespace loom
