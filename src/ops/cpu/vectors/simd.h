// Sixteen lanes of T: one source for AVX-512, AVX2, NEON, WASM SIMD and plain C++, made of vectors
// as wide as the registers (compilers spill wider ones). Included inside namespace
// loom::cpu::LOOM_ISA.
#pragma once

#include "ops/cpu/prelude.h"
#include "ops/cpu/vectors/transpose.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
struct V {
  typedef T Native __attribute__((vector_size(LOOM_VECTOR_BYTES)));
  static constexpr int kParts = 16 * static_cast<int>(sizeof(T)) / LOOM_VECTOR_BYTES;
  Native part[kParts];

  T& lane(i64 i) {
    return reinterpret_cast<T*>(part)[i];
  }  // a vector may be accessed as its elements
  V& operator+=(const V& o) {
    for (int i = 0; i < kParts; ++i) part[i] += o.part[i];
    return *this;
  }
  friend V operator+(V a, const V& b) { return a += b; }
  friend V operator-(V a, const V& b) {
    for (int i = 0; i < kParts; ++i) a.part[i] -= b.part[i];
    return a;
  }
  friend V operator*(V a, const V& b) {
    for (int i = 0; i < kParts; ++i) a.part[i] *= b.part[i];
    return a;
  }
  friend V operator*(T a, V b) {
    for (int i = 0; i < kParts; ++i) b.part[i] = a * b.part[i];
    return b;
  }
  friend V operator*(V a, T b) { return b * a; }
  friend V operator-(V a, T b) {
    for (int i = 0; i < kParts; ++i) a.part[i] = a.part[i] - b;
    return a;
  }
};

template <class T>
static inline V<T> load(const T* p) {
  V<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
static inline void store(T* p, const V<T>& v) {
  __builtin_memcpy(p, &v, sizeof v);
}
// The ends of rows that are no whole vector, by way of memory. Not inlined, for size: tiles of
// products have one for each of their vectors.
template <class T>
__attribute__((noinline)) static void load_end(const T* p, i64 n, T (&lanes)[16]) {
  for (i64 i = 0; i < 16; ++i) lanes[i] = i < n ? p[i] : T(0);
}
template <class T>
__attribute__((noinline)) static void put_end(T* p, const T (&lanes)[16], i64 n, bool add) {
  for (i64 i = 0; i < n; ++i) p[i] = stored(add ? p[i] + lanes[i] : lanes[i]);
}

// The first n lanes, zeros in the others.
template <class T>
static inline V<T> load_lanes(const T* p, i64 n) {
  if (n >= 16) return load(p);
  T lanes[16];
  load_end(p, n, lanes);
  return load(lanes);
}
template <class T>
static inline void store_lanes(T* p, V<T> v, i64 n) {
  if (n >= 16) return store(p, v);
  for (i64 i = 0; i < n; ++i) p[i] = v.lane(i);
}

// stored() of a register.
template <class T, class N>
__attribute__((always_inline)) static inline N stored_part(N x) {
  if constexpr (sizeof(T) == 4) {
    const auto small = (x < 0x1p-40f) & (x > -0x1p-40f);
    x = small ? N{} : x;
  }
  const auto number = x == x;
  return number ? x : (N{} + static_cast<T>(__builtin_nanf("")));
}
// The results of an instruction, added to what is there or not; inlined in tiles of products, which
// have few of them, and nowhere else, for size. Part by part: a vector of several registers goes
// through memory in pieces, and its next load waits for them.
template <class T>
__attribute__((always_inline)) static inline void store_tile(T* p, const V<T>& v, i64 n,
                                                             bool add = false) {
  using N = typename V<T>::Native;
  constexpr int kParts = V<T>::kParts, W = 16 / kParts;
  if (n >= 16) {
    LOOM_UNROLL for (int q = 0; q < kParts; ++q) {
      N x = v.part[q];
      if (add) {
        N old;
        __builtin_memcpy(&old, p + q * W, sizeof old);
        x = old + x;
      }
      x = stored_part<T>(x);
      __builtin_memcpy(p + q * W, &x, sizeof x);
    }
    return;
  }
  T lanes[16];
  LOOM_UNROLL for (int q = 0; q < kParts; ++q)
      __builtin_memcpy(lanes + q * W, &v.part[q], sizeof v.part[q]);
  put_end(p, lanes, n, add);
}
template <class T>
static inline void put_lanes(T* p, V<T> v, i64 n) {
  store_tile(p, v, n);
}

template <class T>
static inline T* row(const TensorArg& t, i64 r) {
  return reinterpret_cast<T*>(t.data) + r * t.stride;
}
static inline i64 min(i64 a, i64 b) { return a < b ? a : b; }

// The reduction order along a row (numerics rule 4): element i goes to lane i mod 64, lanes ascend,
// then halves are added.
template <class T>
struct RowReduce {
  V<T> lane[4] = {};
  // Adds 64 elements, given as four vectors; a tail passes zeros.
  void add(V<T> a, V<T> b, V<T> c, V<T> d) {
    lane[0] += a;
    lane[1] += b;
    lane[2] += c;
    lane[3] += d;
  }
  T total() const {
    const V<T> v = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    T s[16];
    store(s, v);
    for (int half = 8; half >= 1; half /= 2)
      for (int i = 0; i < half; ++i) s[i] = s[i] + s[i + half];
    return s[0];
  }
};

// Sum over i in [0, n) of f(first index, lanes): f returns the vector of elements i..i+15, with
// zeros past n.
template <class T, class F>
static inline T reduce_row(i64 n, F f) {
  RowReduce<T> r;
  for (i64 i = 0; i < n; i += 64) {
    V<T> v[4] = {};
    // In order, one by one: f may keep its place between calls, and arguments of a call have no
    // order.
    for (i64 p = 0; p < 4 && i + 16 * p < n; ++p) v[p] = f(i + 16 * p, min(16, n - i - 16 * p));
    r.add(v[0], v[1], v[2], v[3]);
  }
  return r.total();
}

// Blocks of a long sum combine like the digits of a binary counter (numerics rule 3): pairwise, in
// an order fixed by their index.
template <class Value>
struct BinaryCounter {
  Value stack[40];
  unsigned long long count = 0;
  int depth = 0;
  void push(Value v) {
    for (unsigned long long c = count; c & 1; c >>= 1) v = stack[--depth] + v;
    stack[depth++] = v;
    ++count;
  }
  Value total() {
    if (depth == 0) return Value{};
    Value v = stack[--depth];
    while (depth > 0) v = stack[--depth] + v;
    return v;
  }
};

// A sum over rows in the order of rule 3: chunks of 32, even rows in one chain and odd in another,
// blocks of 1,024 rows.
template <class Value>
struct RowSum {
  Value even = {}, odd = {}, block = {};
  BinaryCounter<Value> blocks;
  int n = 0;
  void push(Value v) {
    if (n & 1) odd = odd + v;
    else even = even + v;
    if ((++n & 31) == 0) fold();
    if (n == 1024) close();
  }
  void fold() {
    block = block + (even + odd);
    even = odd = Value{};
  }
  void close() {
    blocks.push(block);
    block = Value{};
    n = 0;
  }
  Value total() {
    if (n & 31) fold();
    if (n != 0) close();
    return blocks.total();
  }
};

}  // namespace loom::cpu::LOOM_ISA
