// Points in a disc, divided by a curve of two half circles into classes 1 and 0. Every number is
// exact: tools/page_golden.cpp makes the same points.
export function yinYang(count) {
  const x = [], classes = [];
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return ((state >>> 24) - 128) / 128;
  };
  while (classes.length < count) {
    const a = next(), b = next();
    if (a * a + b * b > 1) continue;
    const upper = a * a + (b - 0.5) * (b - 0.5) < 0.25,
      lower = a * a + (b + 0.5) * (b + 0.5) < 0.25;
    x.push(a, b);
    classes.push(upper || (!lower && a > 0) ? 1 : 0);
  }
  return { x: Float32Array.from(x), classes: Int32Array.from(classes) };
}
