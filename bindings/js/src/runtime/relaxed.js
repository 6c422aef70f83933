// Relaxed SIMD: whether this host has it, and multiplies codes of 7 bits by signed bytes exactly,
// which is all that the kernels ask of it (src/ops/cpu/vectors/dot_relaxed.h). There are versions
// of V8 where an accumulator is lost.

// words(x, codes, acc): a lane of i32x4.relaxed_dot_i8x16_i7x16_add_s over splats; shorts(x,
// codes): the last of i16x8.relaxed_dot_i8x16_i7x16_s.
const PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 14, 2, 96, 3, 127, 127, 127, 1, 127, 96, 2, 127, 127, 1, 127, 3,
    3, 2, 0, 1, 7, 9, 2, 1, 119, 0, 0, 1, 115, 0, 1,
  10, 39, 2, 20, 0, 32, 0, 253, 17, 32, 1, 253, 17, 32, 2, 253, 17, 253, 147, 2, 253, 27, 3, 11, 16,
    0, 32, 0, 253, 17, 32, 1, 253, 17, 253, 146, 2, 253, 24, 7, 11,
);
const BYTES = [[-127, 127, -127, -127], [127, 127, 127, 127], [-1, 2, -128, 5], [0, -3, 64, -64]];
const CODES = [[127, 127, 127, 127], [15, 0, 1, 14], [127, 1, 127, 0]];
const SUMS = [0, 1, -1000003, 2 ** 31 - 1];

function probe() {
  if (!WebAssembly.validate(PROBE)) return false;
  const { w: words, s: shorts } = new WebAssembly.Instance(new WebAssembly.Module(PROBE)).exports;
  const word = (bytes) => new Int32Array(Int8Array.from(bytes).buffer)[0];
  return BYTES.every((x) => CODES.every((codes) => {
    const products = x.map((v, i) => v * codes[i]), sum = products.reduce((a, b) => a + b);
    return shorts(word(x), word(codes)) === products[2] + products[3]
      && SUMS.every((acc) => words(word(x), word(codes), acc) === ((acc + sum) | 0));
  }));
}

let answer;
export const relaxedHere = () => (answer ??= probe());
