// The 128-bit product that clang calls for overflow checks of 64-bit products on wasm32. It belongs
// to clang's run-time library, which is often not installed for wasm32; weak, so that the library's
// own wins where it is linked.
#if defined(__wasm__)
#include <cstdint>

extern "C" __int128 __multi3(__int128 a, __int128 b);

extern "C" __attribute__((weak)) __int128 __multi3(__int128 a, __int128 b) {
  const auto x = static_cast<unsigned __int128>(a), y = static_cast<unsigned __int128>(b);
  const auto x_low = static_cast<std::uint64_t>(x), x_high = static_cast<std::uint64_t>(x >> 64);
  const auto y_low = static_cast<std::uint64_t>(y), y_high = static_cast<std::uint64_t>(y >> 64);
  // The low halves by schoolbook, in digits of 32 bits.
  constexpr std::uint64_t kDigit = 0xFFFFFFFF;
  const std::uint64_t x0 = x_low & kDigit, x1 = x_low >> 32, y0 = y_low & kDigit, y1 = y_low >> 32;
  const std::uint64_t p00 = x0 * y0, p01 = x0 * y1, p10 = x1 * y0;
  const std::uint64_t middle = (p00 >> 32) + (p01 & kDigit) + (p10 & kDigit);
  const std::uint64_t low = (middle << 32) | (p00 & kDigit);
  std::uint64_t high = x1 * y1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
  high += x_low * y_high + x_high * y_low;
  return static_cast<__int128>((static_cast<unsigned __int128>(high) << 64) | low);
}
#endif
