// Decimal to double and back, correctly rounded, with integer arithmetic only.
// std::from_chars(double) is missing from some targets (wasi-libc++), and a number in a model's
// config must be the same number everywhere.
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"

namespace loom {
namespace {

// A non-negative integer of any size, least significant limb first.
class Big {
 public:
  explicit Big(std::uint64_t v = 0) {
    for (; v != 0; v >>= 32) limbs_.push_back(static_cast<std::uint32_t>(v));
  }
  bool zero() const { return limbs_.empty(); }
  void mul_add(std::uint32_t factor, std::uint32_t add) {
    std::uint64_t carry = add;
    for (auto& limb : limbs_) {
      carry += std::uint64_t{limb} * factor;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  }
  void mul_pow10(int n) {
    for (; n >= 9; n -= 9) mul_add(1000000000u, 0);
    for (; n > 0; --n) mul_add(10, 0);
  }
  void shift_left(int n) {
    if (zero()) return;
    limbs_.insert(limbs_.begin(), static_cast<std::size_t>(n / 32), 0u);
    if (n % 32 != 0) mul_add(1u << (n % 32), 0);
  }
  int bits() const {
    return zero() ? 0 : static_cast<int>(limbs_.size() * 32) - std::countl_zero(limbs_.back());
  }
  // -1, 0, 1
  int compare(const Big& b) const {
    if (limbs_.size() != b.limbs_.size()) return limbs_.size() < b.limbs_.size() ? -1 : 1;
    for (std::size_t i = limbs_.size(); i-- > 0;)
      if (limbs_[i] != b.limbs_[i]) return limbs_[i] < b.limbs_[i] ? -1 : 1;
    return 0;
  }
  void subtract(const Big& b) {
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      std::int64_t d = std::int64_t{limbs_[i]} - (i < b.limbs_.size() ? b.limbs_[i] : 0) + borrow;
      borrow = d < 0 ? -1 : 0;
      limbs_[i] = static_cast<std::uint32_t>(d);
    }
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }

 private:
  std::vector<std::uint32_t> limbs_;
};

// digits * 10^exponent as the nearest double, ties to even; false on overflow.
bool round_decimal(const Big& digits, int exponent, double* out) {
  if (digits.zero()) {
    *out = 0;
    return true;
  }
  // value = num / den, both integers.
  Big num = digits, den(1);
  if (exponent >= 0) num.mul_pow10(exponent);
  else den.mul_pow10(-exponent);
  // Scale so that the quotient has exactly 53 bits (fewer for subnormals): value = q * 2^shift.
  int shift = num.bits() - den.bits() - 53;
  if (shift < -1074) shift = -1074;
  for (;; ++shift) {
    Big n = num, d = den;
    if (shift < 0) n.shift_left(-shift);
    else d.shift_left(shift);
    // Long division, bit by bit: at most 54 quotient bits.
    std::uint64_t q = 0;
    int top = n.bits() - d.bits();
    if (top > 54) continue;
    for (int i = top < 0 ? 0 : top; i >= 0; --i) {
      Big t = d;
      t.shift_left(i);
      if (n.compare(t) >= 0) {
        n.subtract(t);
        q |= std::uint64_t{1} << i;
      }
    }
    if (q >= std::uint64_t{1} << 53) continue;
    // Round half to even by the remainder n / d.
    n.mul_add(2, 0);
    const int half = n.compare(d);
    if (half > 0 || (half == 0 && (q & 1) != 0)) ++q;
    if (q == std::uint64_t{1} << 53) {
      q >>= 1;
      ++shift;
    }
    if (shift + 52 > 1023 && q >= std::uint64_t{1} << 52) return false;
    const std::uint64_t bits = q < std::uint64_t{1} << 52
                                   ? q
                                   : (static_cast<std::uint64_t>(shift + 52 + 1023) << 52) |
                                         (q & ((std::uint64_t{1} << 52) - 1));
    *out = std::bit_cast<double>(bits);
    return true;
  }
}

// What the text of a number says: digits * 10^exponent.
struct Decimal {
  Big digits;
  std::uint64_t small = 0;  // the digits while they fit 19
  int exponent = 0;
  int kept = 0;  // digits, less the zeros at the front
};

// Reads digits with at most one point from `i` on and moves behind them; false where there are
// none.
bool read_digits(std::string_view text, std::size_t& i, Decimal& d) {
  bool any = false, dot = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      if (dot) return false;
      dot = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    any = true;
    // 800 digits decide every double; digits beyond only matter by being non-zero, which a final 1
    // keeps.
    if (d.kept < 800) {
      if (d.kept < 19) d.small = d.small * 10 + static_cast<std::uint64_t>(c - '0');
      d.digits.mul_add(10, static_cast<std::uint32_t>(c - '0'));
      if (d.kept > 0 || c != '0') ++d.kept;
      if (dot) --d.exponent;
    } else {
      if (c != '0' && d.kept == 800) {
        d.digits.mul_add(10, 1);
        ++d.kept;
        --d.exponent;
      }
      if (!dot) ++d.exponent;
    }
  }
  return any;
}

// Reads "e-12" from `i` to the end of the text, and adds it to the exponent.
bool read_exponent(std::string_view text, std::size_t i, int& exponent) {
  if (text[i] != 'e' && text[i] != 'E') return false;
  ++i;
  const bool minus = i < text.size() && text[i] == '-';
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  if (i == text.size()) return false;
  int e = 0;
  for (; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    if (e < 100000) e = e * 10 + (text[i] - '0');
  }
  exponent += minus ? -e : e;
  return true;
}

// The nearest double, ties to even; false on overflow.
bool to_double(const Decimal& d, double* out) {
  *out = 0;
  if (d.digits.zero()) return true;
  if (d.exponent + d.kept > 310) return false;
  if (d.exponent + d.kept < -330) return true;
  if (d.kept > 15 || d.exponent < -22 || d.exponent > 22)
    return round_decimal(d.digits, d.exponent, out);
  // Both factors are exact in a double, so one correctly rounded operation gives the answer
  // (Clinger 1990).
  static constexpr double kPow10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  *out = d.exponent < 0 ? static_cast<double>(d.small) / kPow10[-d.exponent]
                        : static_cast<double>(d.small) * kPow10[d.exponent];
  return true;
}

}  // namespace

bool parse_double(std::string_view text, double* out) {
  const bool negative = !text.empty() && text[0] == '-';
  std::size_t i = negative ? 1 : 0;
  Decimal decimal;
  if (!read_digits(text, i, decimal)) return false;
  if (i < text.size() && !read_exponent(text, i, decimal.exponent)) return false;
  double value;
  if (!to_double(decimal, &value)) return false;
  *out = negative ? -value : value;
  return true;
}

namespace {

// The first n decimal digits of value (positive, finite), correctly rounded, and the exponent of
// the first.
std::string decimal_digits(double value, int n, int* exponent10) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const int biased = static_cast<int>(bits >> 52 & 0x7FF);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const int e2 = biased == 0 ? -1074 : biased - 1075;
  const Big mantissa(biased == 0 ? fraction : fraction | std::uint64_t{1} << 52);
  // At most floor(log10(value)); the loop walks up to it.
  int e10 = (mantissa.bits() + e2) * 1233 / 4096 - 2;
  for (;; ++e10) {
    Big num = mantissa, den(1);
    if (e2 >= 0) num.shift_left(e2);
    else den.shift_left(-e2);
    if (e10 - n + 1 >= 0) den.mul_pow10(e10 - n + 1);
    else num.mul_pow10(n - 1 - e10);
    // num / den has n integer digits when e10 is right.
    std::uint64_t q = 0;
    const int top = num.bits() - den.bits();
    if (top > 63) continue;
    for (int i = top < 0 ? 0 : top; i >= 0; --i) {
      Big t = den;
      t.shift_left(i);
      if (num.compare(t) >= 0) {
        num.subtract(t);
        q |= std::uint64_t{1} << i;
      }
    }
    num.mul_add(2, 0);
    const int half = num.compare(den);
    if (half > 0 || (half == 0 && (q & 1) != 0)) ++q;
    std::string text = std::to_string(q);
    if (static_cast<int>(text.size()) > n) continue;
    *exponent10 = e10;
    return text;
  }
}

}  // namespace

#if defined(__cpp_lib_to_chars)
// Where std::to_chars gives other digits than the portable code: a power of two has neighbors at
// two distances, so that the shortest digits within them need not be the nearest of their length,
// which are wanted here. Subnormals with few digits are left to it, too.
static bool is_plain(double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  return (bits & ((std::uint64_t{1} << 52) - 1)) != 0 && (bits >> 52 & 0x7FF) != 0;
}
#endif

// The least number of digits that read back, each as near to the value as its length allows; no
// zeros at the end.
static std::string shortest_digits(double value, int* exponent10) {
  // Fifteen digits or fewer survive the way through a normal double: what is shorter shows as zeros
  // at the end of fifteen.
  const bool subnormal = (std::bit_cast<std::uint64_t>(value) >> 52 & 0x7FF) == 0;
  std::string digits;
  for (int n = subnormal ? 1 : 15; n <= 17; ++n) {
    digits = decimal_digits(value, n, exponent10);
    double back;
    const std::string candidate =
        digits + "e" + std::to_string(*exponent10 - static_cast<int>(digits.size()) + 1);
    if (parse_double(candidate, &back) && back == value) break;
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  return digits;
}

// `digits` stand for d.ddd * 10^e10.
static std::string laid_out(bool negative, const std::string& digits, int e10) {
  const int size = static_cast<int>(digits.size());
  std::string text;
  if (e10 >= -5 && e10 < 16) {
    if (e10 < 0) text = "0." + std::string(static_cast<std::size_t>(-e10 - 1), '0') + digits;
    else if (size <= e10 + 1)
      text = digits + std::string(static_cast<std::size_t>(e10 + 1 - size), '0') + ".0";
    else
      text = digits.substr(0, static_cast<std::size_t>(e10 + 1)) + "." +
             digits.substr(static_cast<std::size_t>(e10 + 1));
  } else {
    text =
        digits.substr(0, 1) + (size > 1 ? "." + digits.substr(1) : "") + "e" + std::to_string(e10);
  }
  return negative ? "-" + text : text;
}

std::string format_double_portable(double value) {
  if (value == 0) return std::bit_cast<std::uint64_t>(value) != 0 ? "-0.0" : "0.0";
  int e10 = 0;
  const std::string digits = shortest_digits(value < 0 ? -value : value, &e10);
  return laid_out(value < 0, digits, e10);
}

std::string format_double(double value) {
  // Messages show what a user gave, whatever it is; neither text is JSON.
  if (!(value - value == 0)) return value != value ? "nan" : value < 0 ? "-inf" : "inf";
#if defined(__cpp_lib_to_chars)
  if (is_plain(value)) {
    // "d.ddde-05": thirty times as fast as the code above.
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value < 0 ? -value : value,
                                   std::chars_format::scientific)
                         .ptr;
    char* e = text;
    std::string digits;
    for (; *e != 'e'; ++e)
      if (*e != '.') digits.push_back(*e);
    int e10 = 0;
    std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, e10);
    return laid_out(value < 0, digits, e10);
  }
#endif
  return format_double_portable(value);
}

}  // namespace loom
