// Class I with a scale per block of k (i8:block32 and its like, the GGUF formats). Sums inside a
// block are exact integers; blocks are added in ascending order from +0. y = (sum over b of (f(T_b)
// * d_b - f(X_b) * m_b)) * 2^e + bias. T_b = sum of (code - zero) * q and X_b = sum of q over the
// block, q = 128 * hi + lo. Formats without minima have no second term.
#pragma once

#include "ops/products/integers/integer_kernels.h"

namespace loom::cpu::LOOM_ISA {

// X_b of a row, block by block.
static inline void activation_sums(const Q15Row& q, i64 padded, i64 block, i64 blocks, int* sums) {
  for (i64 b = 0; b < blocks; ++b) {
    int hi = 0, lo = 0;
    for (i64 k = b * block; k < min((b + 1) * block, padded); ++k) {
      hi += q.plane[0][k];
      lo += q.plane[1][k];
    }
    sums[b] = 128 * hi + lo;
  }
}

// The factors of one block of a panel: every code holds its value and `offset`, scale and minimum
// are per output.
struct BlockFactors {
  V<float> scale, minimum;
  Ints offset[kParts];
};
static inline BlockFactors block_factors(const WeightArg& w, i64 panel, i64 b, i64 bias_of_codes) {
  const i64 at = (panel * w.blocks + b) * 16;
  BlockFactors f;
  f.scale = load(w.scales + at);
  if (w.dtype == kFp4) f.scale = 0.5f * f.scale;  // the codes are twice the values
  f.minimum = w.minima ? load(w.minima + at) : V<float>{};
  for (Ints& part : f.offset) part = Ints{} + (w.offset - static_cast<int>(bias_of_codes));
  if (!w.zeros) return f;
  int offsets[16];
  for (i64 n = 0; n < 16; ++n)
    offsets[n] = block_offset(w, panel, b, n) - static_cast<int>(bias_of_codes);
  __builtin_memcpy(f.offset, offsets, 64);
  return f;
}

// acc + the term of one block: high and low hold the sums of its codes with both planes, `ones` is
// X_b.
static inline void add_block(V<float>& acc, const BlockFactors& f, bool minima,
                             const Ints (&high)[kParts], const Ints (&low)[kParts], int ones) {
  using F = V<float>::Native;
  V<float> term;
  for (i64 p = 0; p < kParts; ++p) {
    // T_b fits 32 bits; what leads to it may wrap.
    const Dwords t = (reinterpret_cast<const Dwords&>(high[p]) << 7) +
                     reinterpret_cast<const Dwords&>(low[p]) -
                     reinterpret_cast<const Dwords&>(f.offset[p]) * static_cast<unsigned>(ones);
    term.part[p] = __builtin_convertvector(reinterpret_cast<const Ints&>(t), F) * f.scale.part[p];
  }
  if (minima) term = term - static_cast<float>(ones) * f.minimum;
  acc += term;
}

// Calls sum_rows(codes, sums, first, rows, panel, acc) for up to kBlockRows rows and each of this
// worker's panels, whose codes are unpacked: it adds their blocks to acc. scratch: codes of a panel
// (16 * padded bytes), then block sums of kBlockRows rows.
template <class F>
static inline void blocks_product(const KernelArgs& k, F sum_rows) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  const i64 padded = (w.cols + 63) / 64 * 64, blocks = (w.cols + w.block - 1) / w.block;
  unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
  int* sums = reinterpret_cast<int*>(codes + 16 * padded);
  const float* bias = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  for (i64 first = 0; first < y.rows; first += kBlockRows) {
    const i64 rows = min(kBlockRows, y.rows - first);
    for (i64 i = 0; i < rows; ++i)
      activation_sums(q15_row(x, first + i, padded), padded, w.block, blocks, sums + i * blocks);
    for (i64 panel = r.begin; panel < r.end; ++panel) {
      const i64 lanes = min(16, w.rows - panel * 16);
      unpack_codes(w, static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes, padded,
                   codes);
      V<float> acc[kBlockRows] = {};
      sum_rows(codes, sums, first, rows, panel, acc);
      for (i64 i = 0; i < rows; ++i) {
        const V<float> v = q15_row(x, first + i, padded).scale * acc[i];
        put_lanes(row<float>(y, first + i) + panel * 16,
                  bias ? v + load_lanes(bias + panel * 16, lanes) : v, lanes);
      }
    }
  }
}

// Sums of one block of a panel with both planes of a row, straight from the packed bytes.
template <Plain P>
static inline void packed_block(const unsigned char* bytes, const Q15Row& q, i64 begin, i64 end,
                                Ints (&high)[kParts], Ints (&low)[kParts]) {
  for (i64 k = begin; k < end; k += 4 * layers<P>(), bytes += 64)
    for (i64 p = 0; p < kParts; ++p) {
      fetch_ahead(bytes + p * LOOM_VECTOR_BYTES);
      Bytes row = load_bytes(bytes + p * LOOM_VECTOR_BYTES);
      for (int n = 0; n < layers<P>(); ++n) {
        const Bytes codes = layer_codes<P>(row, n);
        high[p] = dot < P != Plain::byte > (high[p], codes, repeat_four(q.plane[0] + k + 4 * n));
        low[p] = dot < P != Plain::byte > (low[p], codes, repeat_four(q.plane[1] + k + 4 * n));
      }
    }
}

// One row, which decoding has: memory is the limit (integer_gemv.h), so that panels far apart are
// read at once and nothing is unpacked in between.
template <Plain P>
static void block_gemv(const KernelArgs& k) {
  constexpr int S = kStreams<2>;
  const WeightArg& w = *k.weight;
  const i64 padded = (w.cols + 63) / 64 * 64, blocks = (w.cols + w.block - 1) / w.block;
  const Q15Row q = q15_row(k.t[1], 0, padded);
  int* ones = reinterpret_cast<int*>(k.scratch);
  activation_sums(q, padded, w.block, blocks, ones);
  const float* bias = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  const i64 length = (r.end - r.begin + S - 1) / S;
  for (i64 n = 0; n < length; ++n) {
    i64 panel[S];
    V<float> acc[S] = {};
    for (int s = 0; s < S; ++s) panel[s] = min(r.begin + s * length + n, r.end - 1);
    for (i64 b = 0; b < blocks; ++b) LOOM_UNROLL for (int s = 0; s < S; ++s) {
        const i64 begin = b * w.block;
        Ints high[kParts] = {}, low[kParts] = {};
        packed_block<P>(static_cast<const unsigned char*>(w.panels) + panel[s] * w.panel_bytes +
                            begin / (4 * layers<P>()) * 64,
                        q, begin, min(begin + w.block, padded), high, low);
        add_block(acc[s], block_factors(w, panel[s], b, kCodeBias < P != Plain::byte >),
                  w.minima != nullptr, high, low, ones[b]);
      }
    for (int s = 0; s < S; ++s) {
      const i64 first = panel[s] * 16, lanes = min(16, w.rows - first);
      const V<float> v = q.scale * acc[s];
      put_lanes(row<float>(k.t[3], 0) + first, bias ? v + load_lanes(bias + first, lanes) : v,
                lanes);
    }
  }
}

// A block of G groups of four k, whose codes stay in registers while all rows pass. `ones`: of the
// block, a row `blocks` after the other. X: planes.
template <bool Small, int G, int X>
static inline void block_rows(const TensorArg& x, i64 at, i64 padded, i64 rows,
                              const unsigned char* codes, const BlockFactors& f, bool minima,
                              const int* ones, i64 blocks, V<float>* acc) {
  Bytes c[G];
  LOOM_UNROLL for (int g = 0; g < G; ++g) c[g] = load_bytes(codes + g * 64);
  const signed char* hi = reinterpret_cast<const signed char*>(x.data) + at;
  for (i64 i = 0; i < rows; ++i, hi += x.stride) {
    Ints high[kParts] = {}, low[kParts] = {};
    LOOM_UNROLL for (int g = 0; g < G; ++g) {
      high[0] = dot<Small>(high[0], c[g], repeat_four(hi + 4 * g));
      if constexpr (X == 2) low[0] = dot<Small>(low[0], c[g], repeat_four(hi + padded + 4 * g));
    }
    add_block(acc[i], f, minima, high, low, ones[i * blocks]);
  }
}

static void matmul_blocks(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg& x = k.t[1];
  const i64 padded = (w.cols + 63) / 64 * 64, blocks = (w.cols + w.block - 1) / w.block;
  if (k.t[3].rows == 1 && w.dtype != kFp4 && w.block % 8 == 0) {
    if (w.bits == 8) return block_gemv<Plain::byte>(k);
    if (w.bits == 4) return block_gemv<Plain::nibbles>(k);
  }
  const bool one_plane = q15_row(x, 0, padded).high_only;
  with_small(w, [&]<bool Small>() {
    blocks_product(k, [&](const unsigned char* codes, const int* sums, i64 first, i64 rows,
                          i64 panel, V<float>* acc) {
      for (i64 b = 0; b < blocks; ++b) {
        const BlockFactors f = block_factors(w, panel, b, kCodeBias<Small>);
        const i64 begin = b * w.block / 4, end = min((b + 1) * w.block, padded) / 4;
        if constexpr (kParts == 1) {  // of plain vectors, a block takes more than there are
          const auto in_registers = [&]<int G>() {
            (one_plane ? block_rows<Small, G, 1>
                       : block_rows<Small, G, 2>)(x, first * x.stride + 4 * begin, padded, rows,
                                                  codes + begin * 64, f, w.minima != nullptr,
                                                  sums + b, blocks, acc);
          };
          if (end - begin == 8) {
            in_registers.template operator()<8>();
            continue;
          }
          if (end - begin == 4) {
            in_registers.template operator()<4>();
            continue;
          }
        }
        for (i64 i = 0; i < rows; ++i) {
          const signed char* hi =
              reinterpret_cast<const signed char*>(x.data) + (first + i) * x.stride;
          Sums16<Small> high, low;
          for (i64 g = begin; g < end; ++g) {
            high.add(codes + g * 64, repeat_four(hi + 4 * g));
            low.add(codes + g * 64, repeat_four(hi + padded + 4 * g));
          }
          add_block(acc[i], f, w.minima != nullptr, high.s, low.s, sums[i * blocks + b]);
        }
      }
    });
  });
}

// y[r] = value of row ids[r]: (code - zero) * d rounded once, less the minimum. scratch: codes of a
// panel.
static void gather_blocks(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &ids = k.t[1], &y = k.t[2];
  const i64 padded = (w.cols + 63) / 64 * 64;
  unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    i64 id = *row<unsigned>(ids, i);
    if (id >= w.rows) id = w.rows - 1;
    const i64 panel = id / 16, n = id % 16;
    unpack_codes(w, static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes, padded,
                 codes);
    float* out = row<float>(y, i);
    for (i64 c = 0; c < w.cols; ++c) {
      const i64 b = c / w.block, at = (panel * w.blocks + b) * 16 + n;
      const float d = w.dtype == kFp4 ? 0.5f * w.scales[at] : w.scales[at];
      const float v = static_cast<float>(static_cast<int>(codes[c / 4 * 64 + n * 4 + c % 4]) -
                                         block_offset(w, panel, b, n)) *
                      d;
      out[c] = stored(w.minima ? v - w.minima[at] : v);
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
