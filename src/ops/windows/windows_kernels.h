// Ops that move values between places, and windows over them (windows.h). The ints of a window op
// are those of Window::to_ints.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"
#include "ops/windows/conv_window.h"

namespace loom::cpu::LOOM_ISA {

struct Spatial {
  i64 channels;
  const i64 *in, *kernel, *stride, *pad, *pad_end, *dilation, *out;
  explicit Spatial(const i64* ints)
      : channels(ints[0]),
        in(ints + 1),
        kernel(ints + 4),
        stride(ints + 7),
        pad(ints + 10),
        pad_end(ints + 13),
        dilation(ints + 16),
        out(ints + 19) {}
  explicit Spatial(const KernelArgs& k) : Spatial(k.ints) {}
  explicit Spatial(const ConvWindow& w)
      : channels(w.channels),
        in(w.in),
        kernel(w.kernel),
        stride(w.stride),
        pad(w.pad),
        pad_end(w.pad_end),
        dilation(w.dilation),
        out(w.out) {}
  i64 inputs() const { return in[0] * in[1] * in[2]; }
  i64 outputs() const { return out[0] * out[1] * out[2]; }
  i64 taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};
// Taps [begin, end) of one dimension that meet the input when the window stands at output o.
static inline Range inside(const Spatial& s, int d, i64 o) {
  const i64 first = o * s.stride[d] - s.pad[d], step = s.dilation[d];
  if (first >= 0 && first + (s.kernel[d] - 1) * step < s.in[d]) return {0, s.kernel[d]};
  const i64 begin = first >= 0 ? 0 : (step - 1 - first) / step,
            end = first >= s.in[d] ? 0 : (s.in[d] - first + step - 1) / step;
  return {begin, min(end, s.kernel[d])};
}
// f(tap, place in the channel) for each tap of the window at output o (row-major) that meets the
// input, taps ascending.
template <class F>
static inline void each_tap(const Spatial& s, i64 o, F f) {
  const i64 at[3] = {o / (s.out[2] * s.out[1]), o / s.out[2] % s.out[1], o % s.out[2]};
  Range r[3];
  i64 first[3];
  for (int d = 0; d < 3; ++d) {
    r[d] = inside(s, d, at[d]);
    first[d] = at[d] * s.stride[d] - s.pad[d];
  }
  for (i64 z = r[0].begin; z < r[0].end; ++z)
    for (i64 y = r[1].begin; y < r[1].end; ++y) {
      const i64 tap = (z * s.kernel[1] + y) * s.kernel[2],
                place = ((first[0] + z * s.dilation[0]) * s.in[1] + first[1] + y * s.dilation[1]) *
                            s.in[2] +
                        first[2];
      for (i64 x = r[2].begin; x < r[2].end; ++x) f(tap + x, place + x * s.dilation[2]);
    }
}

// A row of y per item and place of the window: the values under it, channels slowest; padding is 0.
template <class T>
static void unfold(const KernelArgs& k) {
  const Spatial s(k);
  const TensorArg &x = k.t[0], &y = k.t[1];
  const i64 places = s.outputs(), taps = s.taps(), inputs = s.inputs();
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const T* from = row<T>(x, i / places);
    T* to = row<T>(y, i);
    for (i64 c = 0; c < y.cols; ++c) to[c] = 0;
    for (i64 c = 0; c < s.channels; ++c)
      each_tap(s, i % places,
               [&](i64 tap, i64 place) { to[c * taps + tap] = from[c * inputs + place]; });
  }
}
// The adjoint of unfold: each value of y is the sum of what stands for it in x, places of the
// window ascending, from +0.
template <class T>
static void fold(const KernelArgs& k) {
  const Spatial s(k);
  const TensorArg &x = k.t[0], &y = k.t[1];
  const i64 places = s.outputs(), taps = s.taps(), inputs = s.inputs();
  const Range r = share(y.rows * s.channels, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 item = u / s.channels, c = u % s.channels;
    T* to = row<T>(y, item) + c * inputs;
    for (i64 i = 0; i < inputs; ++i) to[i] = 0;
    for (i64 o = 0; o < places; ++o) {
      const T* from = row<T>(x, item * places + o) + c * taps;
      each_tap(s, o, [&](i64 tap, i64 place) { to[place] += from[tap]; });
    }
    for (i64 i = 0; i < inputs; ++i) to[i] = stored(to[i]);
  }
}

// Outputs of a line of the window that are worked on together.
static constexpr i64 kLine = 64;
// f(place, begin, end) for each tap, taps ascending: those of the outputs o + i of one line, i in
// [begin, end) within [0, n), whose window has it in the input, have it at place + i * stride in
// the channel.
template <class F>
static inline void each_run(const Spatial& s, i64 o, i64 n, F f) {
  const i64 z0 = o / (s.out[2] * s.out[1]), y0 = o / s.out[2] % s.out[1], x0 = o % s.out[2],
            step = s.stride[2];
  const Range rz = inside(s, 0, z0), ry = inside(s, 1, y0);
  const bool all = x0 * step >= s.pad[2] &&
                   (x0 + n - 1) * step - s.pad[2] + (s.kernel[2] - 1) * s.dilation[2] < s.in[2];
  for (i64 z = rz.begin; z < rz.end; ++z)
    for (i64 y = ry.begin; y < ry.end; ++y) {
      const i64 line = ((z0 * s.stride[0] - s.pad[0] + z * s.dilation[0]) * s.in[1] +
                        y0 * s.stride[1] - s.pad[1] + y * s.dilation[1]) *
                       s.in[2];
      for (i64 x = 0; x < s.kernel[2]; ++x) {
        const i64 first = x0 * step - s.pad[2] + x * s.dilation[2];
        const i64 begin = all || first >= 0 ? 0 : (step - 1 - first) / step,
                  end = all                ? n
                        : first >= s.in[2] ? 0
                                           : (s.in[2] - first + step - 1) / step;
        f(line + first, begin, min(end, n));
      }
    }
}
// f(o, n) for the lines of the window, in parts of at most kLine.
template <class F>
static inline void each_line(const Spatial& s, F f) {
  for (i64 o = 0; o < s.outputs(); o += s.out[2])
    for (i64 x = 0; x < s.out[2]; x += kLine) f(o + x, min(kLine, s.out[2] - x));
}

// What a run does to its outputs. Step: 1 or 2, which compilers vectorize; 0: any other. Not
// inlined: gcc forgets __restrict then.
template <class T, int Step>
__attribute__((noinline)) static void take_greatest(const T* __restrict from, i64 step, i64 begin,
                                                    i64 end, T* __restrict best) {
  if (Step != 0) step = Step;
  for (i64 i = begin; i < end; ++i) {
    const T v = from[i * step], b = best[i];
    best[i] = ((v > b) | (v != v)) ? v : b;
  }
}
template <class T, int Step>
__attribute__((noinline)) static void find_greatest(const T* __restrict from, i64 step, i64 begin,
                                                    i64 end, const T* __restrict best, int place,
                                                    int* __restrict at) {
  if (Step != 0) step = Step;
  for (i64 i = begin; i < end; ++i) {
    const T v = from[i * step];
    const bool here = ((v == best[i]) | (v != v)) & (at[i] < 0);
    at[i] = here ? place + static_cast<int>(i) * static_cast<int>(step) : at[i];
  }
}
template <class T, int Step>
__attribute__((noinline)) static void add_run(const T* __restrict from, i64 step, i64 begin,
                                              i64 end, T* __restrict sums) {
  if (Step != 0) step = Step;
  for (i64 i = begin; i < end; ++i) sums[i] += from[i * step];
}
#define LOOM_STEPPED(function, step, from, ...)                \
  if (step == 1) function<T, 1>(from, step, __VA_ARGS__);      \
  else if (step == 2) function<T, 2>(from, step, __VA_ARGS__); \
  else function<T, 0>(from, step, __VA_ARGS__)

// The greatest value under each window of a line; a NaN is greater than all, -inf where nothing is.
template <class T>
static inline void greatest(const Spatial& s, const T* x, i64 o, i64 n, T* best) {
  for (i64 i = 0; i < n; ++i) best[i] = -static_cast<T>(__builtin_inff());
  const i64 step = s.stride[2];
  each_run(s, o, n, [&](i64 place, i64 begin, i64 end) {
    LOOM_STEPPED(take_greatest, step, x + place, begin, end, best);
  });
}
// Where it lies first; -1: nothing under the window.
template <class T>
static inline void place_of_greatest(const Spatial& s, const T* x, i64 o, i64 n, const T* best,
                                     int* at) {
  for (i64 i = 0; i < n; ++i) at[i] = -1;
  const i64 step = s.stride[2];
  each_run(s, o, n, [&](i64 place, i64 begin, i64 end) {
    LOOM_STEPPED(find_greatest, step, x + place, begin, end, best, static_cast<int>(place), at);
  });
}
// The window that pools mostly have: 2 x 2 values that no other window sees, all in the input.
static inline bool is_halving(const Spatial& s) {
  return s.kernel[0] == 1 && s.stride[0] == 1 && s.pad[0] == 0 && s.out[0] <= s.in[0] &&
         s.kernel[1] == 2 && s.kernel[2] == 2 && s.stride[1] == 2 && s.stride[2] == 2 &&
         s.dilation[1] == 1 && s.dilation[2] == 1 && s.pad[1] == 0 && s.pad[2] == 0 &&
         2 * s.out[1] <= s.in[1] && 2 * s.out[2] <= s.in[2];
}
template <class T>
static inline T greater(T b, T v) {
  return ((v > b) | (v != v)) ? v : b;
}
template <class T>
__attribute__((noinline)) static void halve_line(const T* __restrict a, const T* __restrict b,
                                                 i64 n, T* __restrict y) {
  for (i64 i = 0; i < n; ++i)
    y[i] = greater(greater(greater(a[2 * i], a[2 * i + 1]), b[2 * i]), b[2 * i + 1]);
}
template <class T>
__attribute__((noinline)) static void halve_line_back(const T* __restrict a, const T* __restrict b,
                                                      const T* __restrict gy, i64 n,
                                                      T* __restrict ga, T* __restrict gb) {
  for (i64 i = 0; i < n; ++i) {
    const T p = a[2 * i], q = a[2 * i + 1], r = b[2 * i], t = b[2 * i + 1],
            best = greater(greater(greater(p, q), r), t), g = T(0) + gy[i];
    const bool one = (p == best) | (p != p), two = (!one) & ((q == best) | (q != q)),
               three = (!(one | two)) & ((r == best) | (r != r));
    ga[2 * i] = one ? g : T(0);
    ga[2 * i + 1] = two ? g : T(0);
    gb[2 * i] = three ? g : T(0);
    gb[2 * i + 1] = !(one | two | three) ? g : T(0);
  }
}

// What a sum over the window is divided by: its taps that meet the input, or also those that meet
// the padding.
static inline i64 window_count(const Spatial& s, i64 o, bool with_padding) {
  const i64 at[3] = {o / (s.out[2] * s.out[1]), o / s.out[2] % s.out[1], o % s.out[2]};
  i64 count = 1;
  for (int d = 0; d < 3; ++d) {
    const Range r = inside(s, d, at[d]);
    const i64 first = at[d] * s.stride[d] - s.pad[d], room = s.in[d] + s.pad_end[d] - first;
    count *= with_padding ? min(s.kernel[d], (room + s.dilation[d] - 1) / s.dilation[d])
                          : r.end - r.begin;
  }
  return count;
}

// f(values of a channel going in, values coming out) for the worker's channels.
template <class T, class F>
static inline void each_channel(const KernelArgs& k, const Spatial& s, const TensorArg& in,
                                const TensorArg& out, F f) {
  const Range r = share(out.rows * s.channels, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u)
    f(u / s.channels, u % s.channels,
      row<T>(in, u / s.channels) + u % s.channels * (in.cols / s.channels),
      row<T>(out, u / s.channels) + u % s.channels * (out.cols / s.channels));
}
template <class T>
static void max_pool(const KernelArgs& k) {
  const Spatial s(k);
  const bool halving = is_halving(s);
  each_channel<T>(k, s, k.t[0], k.t[1], [&](i64, i64, const T* x, T* y) {
    if (halving) {
      for (i64 z = 0; z < s.out[0]; ++z)
        for (i64 line = 0; line < s.out[1]; ++line) {
          const T* from = x + (z * s.in[1] + 2 * line) * s.in[2];
          halve_line(from, from + s.in[2], s.out[2], y + (z * s.out[1] + line) * s.out[2]);
        }
      return;
    }
    each_line(s, [&](i64 o, i64 n) {
      T* best = y + o;
      greatest(s, x, o, n, best);
      for (i64 i = 0; i < n; ++i)
        if (best[i] == -static_cast<T>(__builtin_inff()) && window_count(s, o + i, false) <= 0)
          best[i] = T(0);
    });
  });
}
// The gradient goes to the value that was taken, places of the window ascending.
template <class T>
static void max_pool_back(const KernelArgs& k) {
  const Spatial s(k);
  const i64 places = s.outputs(), inputs = s.inputs();
  const bool halving = is_halving(s);
  T best[kLine];
  int at[kLine];
  each_channel<T>(k, s, k.t[0], k.t[2], [&](i64 item, i64 c, const T* x, T* gx) {
    const T* gy = row<T>(k.t[1], item) + c * places;
    for (i64 i = 0; i < inputs; ++i) gx[i] = 0;
    if (halving) {
      for (i64 z = 0; z < s.out[0]; ++z)
        for (i64 line = 0; line < s.out[1]; ++line) {
          const i64 at = (z * s.in[1] + 2 * line) * s.in[2];
          halve_line_back(x + at, x + at + s.in[2], gy + (z * s.out[1] + line) * s.out[2], s.out[2],
                          gx + at, gx + at + s.in[2]);
        }
      return;
    }
    each_line(s, [&](i64 o, i64 n) {
      greatest(s, x, o, n, best);
      place_of_greatest(s, x, o, n, best, at);
      for (i64 i = 0; i < n; ++i)
        if (at[i] >= 0) gx[at[i]] += gy[o + i];
    });
    for (i64 i = 0; i < inputs; ++i) gx[i] = stored(gx[i]);
  });
}
// Sums from +0, taps ascending, then divided.
template <class T>
static void avg_pool(const KernelArgs& k) {
  const Spatial s(k);
  const bool padding = k.ints[22] != 0;
  each_channel<T>(k, s, k.t[0], k.t[1], [&](i64, i64, const T* x, T* y) {
    each_line(s, [&](i64 o, i64 n) {
      T* sums = y + o;
      for (i64 i = 0; i < n; ++i) sums[i] = T(0);
      const i64 step = s.stride[2];
      each_run(s, o, n, [&](i64 place, i64 begin, i64 end) {
        LOOM_STEPPED(add_run, step, x + place, begin, end, sums);
      });
      for (i64 i = 0; i < n; ++i) {
        const i64 count = window_count(s, o + i, padding);
        sums[i] = count > 0 ? stored(sums[i] / static_cast<T>(count)) : T(0);
      }
    });
  });
}
template <class T>
static void avg_pool_back(const KernelArgs& k) {
  const Spatial s(k);
  const i64 places = s.outputs(), inputs = s.inputs();
  const bool padding = k.ints[22] != 0;
  each_channel<T>(k, s, k.t[0], k.t[1], [&](i64, i64, const T* gy, T* gx) {
    for (i64 i = 0; i < inputs; ++i) gx[i] = 0;
    for (i64 o = 0; o < places; ++o) {
      const i64 count = window_count(s, o, padding);
      if (count <= 0) continue;
      const T part = stored(gy[o] / static_cast<T>(count));
      each_tap(s, o, [&](i64, i64 place) { gx[place] += part; });
    }
    for (i64 i = 0; i < inputs; ++i) gx[i] = stored(gx[i]);
  });
}

}  // namespace loom::cpu::LOOM_ISA
