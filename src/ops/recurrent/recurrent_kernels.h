// What recurrent layers do between their products. x and s are the products of the step's input and
// of the state before it, gate after gate, each `units` wide, in PyTorch's order.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

// Sixteen units at once, in arrays of their own: nothing else lies there, so that compilers make
// vectors of the loops.
template <class T>
struct Units {
  T v[16];
};
template <class T>
static inline Units<T> take(const T* p, i64 n) {
  Units<T> u = {};
  if (n == 16) __builtin_memcpy(u.v, p, sizeof u.v);
  else
    for (i64 l = 0; l < n; ++l) u.v[l] = p[l];
  return u;
}
template <class T>
static inline void give(const Units<T>& u, T* p, i64 n) {
  if (n == 16) __builtin_memcpy(p, u.v, sizeof u.v);
  else
    for (i64 l = 0; l < n; ++l) p[l] = u.v[l];
}
// f(lane) of all lanes.
template <class T, class F>
static inline Units<T> of_units(F f) {
  Units<T> u;
  for (int l = 0; l < 16; ++l) u.v[l] = f(l);
  return u;
}

template <class T>
struct LstmGates {
  Units<T> i, f, g, o;
};
// Of n units from j on. Not inlined, for size.
template <class T>
LOOM_FLATTEN __attribute__((noinline)) static LstmGates<T> lstm_gates(const T* x, const T* s,
                                                                      i64 units, i64 j, i64 n) {
  Units<T> gate[4];
  for (i64 which = 0; which < 4; ++which) {
    const Units<T> a = take(x + which * units + j, n), b = take(s + which * units + j, n);
    gate[which] = of_units<T>([&](int l) { return a.v[l] + b.v[l]; });
    if (which != 2)
      gate[which] = of_units<T>([&](int l) { return exact::sigmoid(gate[which].v[l]); });
  }
  return {gate[0], gate[1], of_units<T>([&](int l) { return exact::tanh(gate[2].v[l]); }), gate[3]};
}

// Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000: c' = f c + i g, h = o
// tanh(c').
template <class T>
LOOM_FLATTEN static void lstm_cell(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &s = k.t[1], &c = k.t[2], &h = k.t[3], &next = k.t[4];
  each_element<T>(k, h, [&](i64 r, i64 j0, i64 j1) {
    for (i64 j = j0; j < j1; j += 16) {
      const i64 n = min(16, j1 - j);
      const LstmGates<T> a = lstm_gates(row<T>(x, r), row<T>(s, r), h.cols, j, n);
      const Units<T> before = take(row<T>(c, r) + j, n);
      const Units<T> cell =
          of_units<T>([&](int l) { return stored(a.f.v[l] * before.v[l] + a.i.v[l] * a.g.v[l]); });
      give(cell, row<T>(next, r) + j, n);
      give(of_units<T>([&](int l) { return stored(a.o.v[l] * exact::tanh(cell.v[l])); }),
           row<T>(h, r) + j, n);
    }
  });
}
template <class T>
LOOM_FLATTEN static void lstm_cell_back(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &s = k.t[1], &c = k.t[2], &next = k.t[3], &gh = k.t[4],
                  &gnext = k.t[5], &gz = k.t[6], &gc = k.t[7];
  const i64 units = gc.cols;
  each_element<T>(k, gc, [&](i64 r, i64 j0, i64 j1) {
    for (i64 j = j0; j < j1; j += 16) {
      const i64 n = min(16, j1 - j);
      const LstmGates<T> a = lstm_gates(row<T>(x, r), row<T>(s, r), units, j, n);
      const Units<T> after = take(row<T>(next, r) + j, n), before = take(row<T>(c, r) + j, n),
                     g = take(row<T>(gh, r) + j, n);
      const Units<T> t = of_units<T>([&](int l) { return exact::tanh(after.v[l]); });
      Units<T> cell =
          of_units<T>([&](int l) { return (g.v[l] * a.o.v[l]) * (T(1) - t.v[l] * t.v[l]); });
      if (k.has[5]) {
        const Units<T> later = take(row<T>(gnext, r) + j, n);
        cell = of_units<T>([&](int l) { return cell.v[l] + later.v[l]; });
      }
      T* z = row<T>(gz, r) + j;
      give(of_units<T>([&](int l) {
             return stored((cell.v[l] * a.g.v[l]) * (a.i.v[l] * (T(1) - a.i.v[l])));
           }),
           z, n);
      give(of_units<T>([&](int l) {
             return stored((cell.v[l] * before.v[l]) * (a.f.v[l] * (T(1) - a.f.v[l])));
           }),
           z + units, n);
      give(of_units<T>([&](int l) {
             return stored((cell.v[l] * a.i.v[l]) * (T(1) - a.g.v[l] * a.g.v[l]));
           }),
           z + 2 * units, n);
      give(of_units<T>(
               [&](int l) { return stored((g.v[l] * t.v[l]) * (a.o.v[l] * (T(1) - a.o.v[l]))); }),
           z + 3 * units, n);
      give(of_units<T>([&](int l) { return stored(cell.v[l] * a.f.v[l]); }), row<T>(gc, r) + j, n);
    }
  });
}

template <class T>
struct GruGates {
  T r, z, n;
};
template <class T>
static inline GruGates<T> gru_gates(const T* x, const T* s, i64 units, i64 j) {
  const T r = exact::sigmoid(x[j] + s[j]), z = exact::sigmoid(x[units + j] + s[units + j]);
  return {r, z, exact::tanh(x[2 * units + j] + r * s[2 * units + j])};
}

// Cho et al. 2014 as cuDNN and PyTorch have it: the reset gate acts on the product. h' = (1 - z) n
// + z h.
template <class T>
static void gru_cell(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &s = k.t[1], &h = k.t[2], &next = k.t[3];
  each_element<T>(k, next, [&](i64 r, i64 j0, i64 j1) {
    for (i64 j = j0; j < j1; ++j) {
      const GruGates<T> a = gru_gates(row<T>(x, r), row<T>(s, r), next.cols, j);
      row<T>(next, r)[j] = stored((T(1) - a.z) * a.n + a.z * row<T>(h, r)[j]);
    }
  });
}
template <class T>
static void gru_cell_back(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &s = k.t[1], &h = k.t[2], &gnext = k.t[3], &gx = k.t[4],
                  &gs = k.t[5], &gh = k.t[6];
  const i64 n = gh.cols;
  each_element<T>(k, gh, [&](i64 r, i64 j0, i64 j1) {
    for (i64 j = j0; j < j1; ++j) {
      const GruGates<T> a = gru_gates(row<T>(x, r), row<T>(s, r), n, j);
      const T g = row<T>(gnext, r)[j];
      const T reset = (g * (T(1) - a.z)) * (T(1) - a.n * a.n);  // at the candidate's sum
      T *to_x = row<T>(gx, r), *to_s = row<T>(gs, r);
      to_x[j] = to_s[j] = stored((reset * row<T>(s, r)[2 * n + j]) * (a.r * (T(1) - a.r)));
      to_x[n + j] = to_s[n + j] = stored((g * (row<T>(h, r)[j] - a.n)) * (a.z * (T(1) - a.z)));
      to_x[2 * n + j] = stored(reset);
      to_s[2 * n + j] = stored(reset * a.r);
      row<T>(gh, r)[j] = stored(g * a.z);
    }
  });
}

// The state of a row's sequence; nothing where the sequence begins.
template <class T>
static void state_read(const KernelArgs& k) {
  const TensorArg &state = k.t[0], &seq = k.t[1], &pos = k.t[2], &y = k.t[3];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const bool begins = *row<unsigned>(pos, r) == 0;
    const T* a = row<T>(state, min(*row<unsigned>(seq, r), state.rows - 1));
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = begins ? T(0) : a[c];
  });
}
// By columns, so that the last row of a sequence is the one that stays.
template <class T>
static void state_write(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &seq = k.t[1], &state = k.t[2];
  const Range c = share(x.cols, 16, k.worker, k.workers);
  for (i64 r = 0; r < x.rows; ++r) {
    T* o = row<T>(state, min(*row<unsigned>(seq, r), state.rows - 1));
    for (i64 i = c.begin; i < c.end; ++i) o[i] = row<T>(x, r)[i];
  }
}

}  // namespace loom::cpu::LOOM_ISA
