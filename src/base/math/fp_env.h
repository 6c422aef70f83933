// The host's floating-point environment must not leak into results (numerics rule 11): while one of
// these lives, the thread rounds to nearest even and keeps subnormals; the host's settings come
// back afterwards. Game engines change both.
#pragma once

#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace loom {

class FpEnvGuard {
 public:
#if defined(__x86_64__) || defined(__i386__)
  FpEnvGuard() : saved_(_mm_getcsr()) {
    _mm_setcsr(0x1F80);
  }  // all exceptions masked, round to nearest, no FTZ, no DAZ
  ~FpEnvGuard() { _mm_setcsr(static_cast<unsigned>(saved_)); }
#elif defined(__aarch64__)
  FpEnvGuard() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    const std::uint64_t clean = 0;
    asm volatile("msr fpcr, %0" ::"r"(clean));
  }
  ~FpEnvGuard() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }
#else
  FpEnvGuard() = default;
#endif
  FpEnvGuard(const FpEnvGuard&) = delete;
  FpEnvGuard& operator=(const FpEnvGuard&) = delete;

 private:
  [[maybe_unused]] std::uint64_t saved_ = 0;
};

}  // namespace loom
