// The stream of base/random.h in kernels: a draw is a function of (seed, stream, run, element),
// where `run` counts micro-batches and an element is its row times columns plus column. ints 0 to
// 3: seed and stream, low words first; u32s[0]: run.
#pragma once

#include "ops/cpu/vectors/rows.h"

namespace loom::cpu::LOOM_ISA {

struct Noise {
  unsigned key[2], stream[2], run;
  i64 block = -1;
  unsigned out[4];

  explicit Noise(const KernelArgs& k)
      : key{static_cast<unsigned>(k.ints[0]), static_cast<unsigned>(k.ints[1])},
        stream{static_cast<unsigned>(k.ints[2]), static_cast<unsigned>(k.ints[3])},
        run(k.u32s[0]) {}

  // 24 bits: RandomStream(seed, stream).bits(run * 2^32 + element) >> 8.
  unsigned bits(i64 element) {
    const i64 wanted = (element & 0xFFFFFFFFll) >> 2;
    if (wanted != block) draw(wanted);
    return out[element & 3] >> 8;
  }
  // Philox4x32-10.
  void draw(i64 wanted) {
    block = wanted;
    unsigned c[4] = {static_cast<unsigned>(wanted) | run << 30, run >> 2, stream[0], stream[1]},
             k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const unsigned long long p = 0xD2511F53ull * c[0], q = 0xCD9E8D57ull * c[2];
      const unsigned next[4] = {
          static_cast<unsigned>(q >> 32) ^ c[1] ^ k0, static_cast<unsigned>(q),
          static_cast<unsigned>(p >> 32) ^ c[3] ^ k1, static_cast<unsigned>(p)};
      for (int i = 0; i < 4; ++i) c[i] = next[i];
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; ++i) out[i] = c[i];
  }
};

// y = x * factor, or 0 where the draw is below int 4.
template <class T>
static void dropout(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const T factor = static_cast<T>(k.reals[0]);
  const unsigned drop = static_cast<unsigned>(k.ints[4]);
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    Noise noise(k);
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c)
      o[c] = noise.bits(r * y.cols + c) < drop ? T(0) : stored(a[c] * factor);
  });
}

// y = x - log(-log(u)), u in (0, 1) of 23 bits.
template <class T>
static void gumbel(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    Noise noise(k);
    for (i64 c = c0; c < c1; ++c) {
      const T u =
          (static_cast<T>(noise.bits(r * y.cols + c) >> 1) + T(0.5)) * static_cast<T>(0x1p-23);
      row<T>(y, r)[c] = stored(row<T>(x, r)[c] - exact::log(-exact::log(u)));
    }
  });
}

}  // namespace loom::cpu::LOOM_ISA
