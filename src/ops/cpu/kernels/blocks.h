// Class I with a scale per block of k (i8:block32 and its like, the GGUF formats): exact integer sums inside a block, blocks added in
// ascending order from +0: y = (sum over b of (f(T_b) * d_b - f(X_b) * m_b)) * 2^e + bias, with T_b = sum of (code - zero) * q and
// X_b = sum of q over the block, q = 128 * hi + lo; formats without minima have no second term.

// scratch: codes of a panel, [padded / block] sums of the activations.
static void matmul_blocks(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  const i64 padded = (w.cols + 63) / 64 * 64, blocks = (w.cols + w.block - 1) / w.block;
  unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
  const float* bias = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  for (i64 panel = r.begin; panel < r.end; ++panel) {
    const i64 lanes = least(16, w.rows - panel * 16);
    unpack_codes(w, static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes, padded, codes);
    const V<float> start = bias ? load_lanes(bias + panel * 16, lanes) : V<float>{};
    for (i64 i = 0; i < y.rows; ++i) {
      const Q15Row q = q15_row(x, i, padded);
      V<float> acc = {};
      for (i64 b = 0; b < blocks; ++b) {
        Sums16 hi, lo;
        int ones = 0;  // X_b
        for (i64 g = b * w.block / 4; g < least((b + 1) * w.block, padded) / 4; ++g) {
          hi.add(codes + g * 64, repeat_four(q.plane[0] + 4 * g));
          lo.add(codes + g * 64, repeat_four(q.plane[1] + 4 * g));
          for (int j = 0; j < 4; ++j) ones += 128 * q.plane[0][4 * g + j] + q.plane[1][4 * g + j];
        }
        int h[16], l[16];
        hi.get(h);
        lo.get(l);
        V<float> sum;
        for (i64 n = 0; n < 16; ++n) {
          const unsigned offset = static_cast<unsigned>(block_offset(w, panel, b, n) - static_cast<int>(kFullBias));
          sum.lane(n) = static_cast<float>(static_cast<int>(static_cast<unsigned>(h[n]) * 128u + static_cast<unsigned>(l[n]) - offset * static_cast<unsigned>(ones)));
        }
        const i64 at = (panel * w.blocks + b) * 16;
        V<float> term = sum * (w.dtype == kFp4 ? 0.5f * load(w.scales + at) : load(w.scales + at));  // fp4 codes are twice the values
        if (w.minima) term = term - static_cast<float>(ones) * load(w.minima + at);
        acc += term;
      }
      const V<float> v = q.scale * acc;
      put_lanes(row<float>(y, i) + panel * 16, bias ? v + start : v, lanes);
    }
  }
}

// y[r] = value of row ids[r]: (code - zero) * d rounded once, less the minimum. scratch: codes of a panel.
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
    unpack_codes(w, static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes, padded, codes);
    float* out = row<float>(y, i);
    for (i64 c = 0; c < w.cols; ++c) {
      const i64 b = c / w.block, at = (panel * w.blocks + b) * 16 + n;
      const float d = w.dtype == kFp4 ? 0.5f * w.scales[at] : w.scales[at];
      const float v = static_cast<float>(static_cast<int>(codes[c / 4 * 64 + n * 4 + c % 4]) - block_offset(w, panel, b, n)) * d;
      out[c] = stored(w.minima ? v - w.minima[at] : v);
    }
  }
}
