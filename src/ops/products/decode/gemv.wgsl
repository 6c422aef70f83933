// One row through up to three matrices of class I in one dispatch (decoding): [rms_norm and]
// quantization of x in every workgroup, exact integer sums, then what EPILOGUE says. Each step
// gives the bits of its own instruction. With a scale per block (BLOCK words of k, BLOCKS a row)
// sums are exact in a block, and one thread adds an output's blocks in their order. Operands: 0 x,
// 1 gain, 2.. results, 5.. biases, then 8 residual (ADD), or 3 table, 4 kv, 8 seq, 9 pos (HEADS,
// where 2 is the turned queries). A workgroup makes JOBS panels of 16 outputs at a time, TURNS
// times. Its threads are 16 lanes, one per output of a panel, times JOBS * SHARE: those of a job
// share out the panel's byte rows, RUN at a time. COLS of the matrices, PADDED as packed, WORDS of
// a plane of x, NORM, MATRICES. Of one of PLANES lo is 0, as quantize_i8 has it.

#kinds LOOM_EPILOGUE ops/products/decode/epilogues.def

const SHARE = THREADS / (16u * JOBS);
const FINISHED = 16u * select(JOBS, 1u, EPILOGUE == SILU_MUL);  // outputs of a unit
const BYTE_ROWS = PADDED / (4u * LAYERS);
const RUNS = (BYTE_ROWS + RUN - 1u) / RUN;
const ALL_WORDS = max(WORDS, RUNS * RUN * LAYERS);  // byte rows beyond the last meet zeros

const BY_BLOCKS = FORM == BLOCK_FORM;
const BLOCK_ROWS = select(RUN, max(BLOCK / LAYERS, 1u), BY_BLOCKS);  // byte rows
const RUN_BLOCKS = RUN / BLOCK_ROWS;
const TERMS = SHARE * RUN_BLOCKS;  // of an output, made at a time

// hi, lo of a word, hi, lo of the next
var<workgroup> x_planes: array<vec4<u32>, (ALL_WORDS + 1u) / 2u>;
// of both planes, by runs of 8 values: 16 bits each
var<workgroup> x_sums: array<u32, (ALL_WORDS + 1u) / 2u>;
var<workgroup> x_values: array<f32, select(1u, WORDS * 4u, STAGED)>;  // where there is room
var<workgroup> inverse_rms: f32;
var<workgroup> x_most: atomic<u32>;
var<workgroup> x_totals: array<atomic<i32>, 2>;
// [turn][job][output][plane]; by blocks, the bits of their sum and a word that is not used
var<workgroup> job_sums: array<atomic<i32>, TURNS * JOBS * 32u>;
var<workgroup> terms: array<f32, select(1u, JOBS * TERMS * 16u, BY_BLOCKS)>;  // [job][term][output]

fn x_value(c: u32) -> f32 {
  if (STAGED) { return x_values[c]; }
  if (c < COLS) { return load(place(0u, 0u) + c); }
  return zero();
}

// The byte rows that a thread fetches at a time, of one column, with what they share.
struct Run {
  row: array<u32, RUN>,
  sub: u32,
  scale: array<f32, RUN_BLOCKS>,  // by blocks, with their minima and zero points
  minimum: array<f32, RUN_BLOCKS>,
  offset: array<i32, RUN_BLOCKS>,
}
// `output`: the first one of the panel.
fn fetch(panel: u32, output: u32, lane: u32, index: u32) -> Run {
  var run: Run;
  let first = min(index, RUNS - 1u) * RUN;
  if (BY_BLOCKS) {
    for (var b = 0u; b < RUN_BLOCKS; b++) {
      let at = w_place(output + lane, min(first / BLOCK_ROWS + b, BLOCKS - 1u));
      run.scale[b] = own_scale(at);
      if (HAS_MINIMA) { run.minimum[b] = w_minimum(at); }
      run.offset[b] = code_offset(at);
    }
  }
  if (LAYOUT == A4) {  // super-blocks of 8 byte rows and a word of scales
    let start = panel + first / 8u * 144u + lane;
    for (var i = 0u; i < RUN; i++) { run.row[i] = W[start + (first % 8u + i) * 16u]; }
    run.sub = W[start + 128u];
    return run;
  }
  for (var i = 0u; i < RUN; i++) {
    run.row[i] = byte_row(panel, lane, min(first + i, BYTE_ROWS - 1u));
  }
  run.sub = sub_word(panel, lane, first);
  return run;
}
fn dots(codes: u32, x: vec2<u32>) -> vec2<i32> {
  if (PLANES == 1u) { return vec2<i32>(dot4I8Packed(codes, x.x), 0); }
  return vec2<i32>(dot4I8Packed(codes, x.x), dot4I8Packed(codes, x.y));
}
fn planes_of(x: f32, inverse: f32) -> vec2<i32> {
  if (PLANES == 1u) { return vec2<i32>(q15_high(x, inverse), 0); }
  return q15_planes(x, inverse);
}
fn two_sums(word: u32) -> vec2<i32> {
  return vec2<i32>(bitcast<i32>(word << 16u) >> 16u, bitcast<i32>(word) >> 16u);
}
fn run_sums(run: Run, index: u32) -> vec2<i32> {
  var sum = vec2<i32>(0, 0);
  let first = index * RUN;
  // two byte rows share a scale and a zero point: of their 16 codes' sum, so that the codes stay as
  // they are
  if (LAYOUT == A4) {
    for (var b = 0u; b < RUN; b += 2u) {
      let low = x_planes[first + b];
      let high = x_planes[first + b + 1u];
      let codes = vec2<u32>(run.row[b], run.row[b + 1u]);
      let d = dots(codes.x & 0x0F0F0F0Fu, low.xy) + dots((codes.x >> 4u) & 0x0F0F0F0Fu, low.zw) +
          dots(codes.y & 0x0F0F0F0Fu, high.xy) + dots((codes.y >> 4u) & 0x0F0F0F0Fu, high.zw);
      let both = run.sub >> (8u * ((first + b) % 8u / 2u));
      sum = sum + i32(both & 15u) * d - i32((both >> 1u) & 0x78u) *
          (two_sums(x_sums[first + b]) + two_sums(x_sums[first + b + 1u]));
    }
    return sum;
  }
  for (var i = 0u; i < RUN; i++) {
    let sub = sub_of(run.sub, first + i);
    for (var p = 0u; p < LAYERS; p++) {
      let both = x_planes[((first + i) * LAYERS + p) / 2u];
      sum = sum + dots(layer_codes(run.row[i], p, sub),
          select(both.xy, both.zw, ((first + i) * LAYERS + p) % 2u == 1u));
    }
  }
  return sum;
}

// What the blocks of a run add to an output.
fn put_terms(run: Run, index: u32, at: u32) {
  for (var b = 0u; b < RUN_BLOCKS; b++) {
    let first = index * RUN + b * BLOCK_ROWS;
    var d = vec2<i32>(0, 0);
    for (var i = 0u; i < BLOCK_ROWS; i++) {
      for (var p = 0u; p < LAYERS; p++) {
        let word = (first + i) * LAYERS + p;
        let both = x_planes[word / 2u];
        d = d + dots(layer_codes(run.row[b * BLOCK_ROWS + i], p, vec2<u32>(1u, 0u)),
            select(both.xy, both.zw, word % 2u == 1u));
      }
    }
    var ones = vec2<i32>(0, 0);
    for (var e = 0u; e < BLOCK / 2u; e++) {
      ones = ones + two_sums(x_sums[first * LAYERS / 2u + e]);
    }
    let all = ones.x * 128 + ones.y;
    var term = mul(f32(d.x * 128 + d.y - run.offset[b] * all), run.scale[b]);
    if (HAS_MINIMA) { term = term - mul(f32(all), run.minimum[b]); }
    terms[at + b * 16u] = term;
  }
}

// Which matrix, and which of its panels, a job of a unit is.
struct Panel {
  matrix: u32,
  first: u32,  // output
}
fn panel_of(unit: u32, job: u32) -> Panel {
  if (EPILOGUE == SILU_MUL) { return Panel(job, unit * 16u); }
  var at = Panel(0u, unit * JOBS);
  for (; at.matrix + 1u < MATRICES; at.matrix++) {
    let count = ((P[FIRST_MATRIX + 20u * at.matrix] + 15u) / 16u + JOBS - 1u) / JOBS * JOBS;
    if (at.first < count) { break; }
    at.first = at.first - count;
  }
  return Panel(at.matrix, (at.first + job) * 16u);
}

// What the thread that finishes an output needs beside the sums, fetched before they are known.
struct Finish {
  n: u32,
  real: bool,  // not the padding of the last panel
  matrix: u32,
  scale: f32,
  bias: f32,
  residual: f32,
}
fn finish_of(unit: u32, thread: u32) -> Finish {
  let at = panel_of(unit, thread / 16u);
  M = FIRST_MATRIX + 20u * at.matrix;
  let n = at.first + thread % 16u;
  var f = Finish(min(n, w_rows() - 1u), n < w_rows(), at.matrix, 0.0, 0.0, 0.0);
  if (!BY_BLOCKS) { f.scale = own_scale(f.n); }
  if (HAS_BIAS) { f.bias = load(place(5u + at.matrix, 0u) + f.n); }
  if (EPILOGUE == ADD) { f.residual = load(place(8u, 0u) + f.n); }
  return f;
}
// The product of an output: sums are numbered by turn, job and output.
fn finished(f: Finish, sums_at: u32, row_scale: f32) -> f32 {
  M = FIRST_MATRIX + 20u * f.matrix;
  let sums = vec2<i32>(atomicLoad(&job_sums[2u * sums_at]),
      atomicLoad(&job_sums[2u * sums_at + 1u]));
  var y = mul(row_scale, bitcast<f32>(sums.x));
  if (!BY_BLOCKS) {
    y = join_sums(f.n, sums, vec2<i32>(atomicLoad(&x_totals[0]), atomicLoad(&x_totals[1])),
        row_scale, f.scale);
  }
  if (HAS_BIAS) { return y + f.bias; }
  return y;
}

@compute @workgroup_size(THREADS)
fn gemv(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  Z = P[0];
  let job = thread / (16u * SHARE);
  let lane = thread % 16u;
  // where threads are left over, they have no part
  let share = select(thread / 16u % SHARE, RUNS, job >= JOBS);
  let x = place(0u, 0u);
  let gain = place(1u, 0u);
  var position: Position;
  if (EPILOGUE == HEADS) { position = position_of(thread, 8u, 9u, 3u); }
  var unit = group.x;
  var at = panel_of(min(unit, units() - 1u), job);
  M = FIRST_MATRIX + 20u * at.matrix;
  var panel = w_panel(at.first);
  var run = fetch(panel, at.first, lane, share);

  // What this thread will finish.
  var finish: Finish;
  var finish_up: Finish;
  if (thread < TURNS * FINISHED) {
    finish = finish_of(min(group.x + thread / FINISHED * groups.x, units() - 1u),
        thread % FINISHED);
    if (EPILOGUE == SILU_MUL) {
      finish_up = finish_of(min(group.x + thread / FINISHED * groups.x, units() - 1u),
          thread % FINISHED + 16u);
    }
  }

  M = FIRST_MATRIX + 20u * at.matrix;  // finish_of() has left that of another turn

  const OWN = (COLS + THREADS - 1u) / THREADS;
  var gains: array<f32, OWN>;
  if (STAGED) {
    for (var i = 0u; i < OWN; i++) {
      let c = thread + i * THREADS;
      if (c < COLS) {
        if (NORM) { gains[i] = load(gain + c); }
        x_values[c] = load(x + c);
      }
    }
    workgroupBarrier();
  }
  if (NORM) {
    var squares = zero();
    if (thread < 64u) {
      for (var c = thread; c < COLS; c += 64u) {
        squares = squares + mul(x_values[c], x_values[c]);
      }
    }
    squares = tree_sum(thread, squares);
    if (thread == 0u) { inverse_rms = rsqrt_exact(div(squares, f32(COLS)) + real_at(0u)); }
    workgroupBarrier();
  }
  var own_most = 0u;
  for (var i = 0u; i < OWN; i++) {
    let c = thread + i * THREADS;
    if (c < COLS) {
      let value = x_value(c);
      if (NORM) {
        let normed = settled(mul(mul(value, inverse_rms), gains[i]));
        x_values[c] = normed;
        own_most = max(own_most, magnitude_bits(normed));
      } else {
        own_most = max(own_most, magnitude_bits(value));
      }
    }
  }
  own_most = most_of_lanes(own_most);
  if (speaks_for_lanes()) { atomicMax(&x_most, own_most); }
  workgroupBarrier();
  let most = atomicLoad(&x_most);
  let inverse_scale = q15_inverse(most);
  var totals = vec2<i32>(0, 0);
  for (var eight = thread; eight < WORDS / 2u && !q15_lost(most); eight += THREADS) {
    var own = vec2<i32>(0, 0);
    var planes = vec4<u32>(0u, 0u, 0u, 0u);
    for (var k = 0u; k < 4u; k++) {
      let a = planes_of(x_value(eight * 8u + k), inverse_scale);
      let b = planes_of(x_value(eight * 8u + 4u + k), inverse_scale);
      own = own + a + b;
      planes = planes | vec4<u32>(byte_of(a.x, k), byte_of(a.y, k), byte_of(b.x, k),
          byte_of(b.y, k));
    }
    x_planes[eight] = planes;
    x_sums[eight] = (bitcast<u32>(own.x) & 0xFFFFu) | (bitcast<u32>(own.y) << 16u);
    totals = totals + own;
  }
  totals = sum_of_lanes(totals);
  if (speaks_for_lanes()) {
    atomicAdd(&x_totals[0], totals.x);
    atomicAdd(&x_totals[1], totals.y);
  }
  workgroupBarrier();
  let row_scale = bitcast<f32>(q15_scale(most));

  for (var turn = 0u; unit < units(); turn++) {
    var sum = vec2<i32>(0, 0);
    var in_order = zero();
    let next = unit + groups.x;
    for (var step = 0u; step < (RUNS + SHARE - 1u) / SHARE; step++) {
      let r = step * SHARE + share;
      if (r < RUNS) {
        let now = run;
        if (r + SHARE < RUNS) { run = fetch(panel, at.first, lane, r + SHARE); }
        else if (next < units()) {
          at = panel_of(next, job);
          M = FIRST_MATRIX + 20u * at.matrix;
          panel = w_panel(at.first);
          run = fetch(panel, at.first, lane, share);
        }
        if (BY_BLOCKS) { put_terms(now, r, (job * TERMS + share * RUN_BLOCKS) * 16u + lane); }
        else { sum = sum + run_sums(now, r); }
      }
      if (BY_BLOCKS) {
        workgroupBarrier();
        if (share == 0u) {
          for (var i = 0u; i < min(TERMS, BLOCKS - step * TERMS); i++) {
            in_order = in_order + terms[(job * TERMS + i) * 16u + lane];
          }
        }
        workgroupBarrier();
      }
    }
    let sums_at = ((turn * JOBS + min(job, JOBS - 1u)) * 16u + lane) * 2u;
    if (BY_BLOCKS) {
      if (share == 0u) { atomicStore(&job_sums[sums_at], bitcast<i32>(in_order)); }
    } else {
      atomicAdd(&job_sums[sums_at], sum.x);
      atomicAdd(&job_sums[sums_at + 1u], sum.y);
    }
    unit = next;
  }
  workgroupBarrier();
  for (var i = thread; i < TURNS * FINISHED; i += THREADS) {
    unit = group.x + i / FINISHED * groups.x;
    if (unit >= units()) { break; }
    if (i != thread) {
      finish = finish_of(unit, i % FINISHED);
      if (EPILOGUE == SILU_MUL) { finish_up = finish_of(unit, i % FINISHED + 16u); }
    }
    let sums_at = i / FINISHED * JOBS * 16u + i % FINISHED;
    var y = finished(finish, sums_at, row_scale);
    if (EPILOGUE == ADD) { y = settled(y) + finish.residual; }
    if (EPILOGUE == SILU_MUL) {
      let gate = settled(y);
      y = mul(gate, sigmoid_exact(gate)) * settled(finished(finish_up, sums_at + 16u, row_scale));
    }
    if (EPILOGUE == HEADS) { head_values[i] = settled(y); }
    else if (finish.real) { store(place(2u + finish.matrix, 0u) + finish.n, y); }
  }
  if (EPILOGUE == HEADS) {
    workgroupBarrier();
    let own = panel_of(group.x, 0u);
    let head = own.first / HEAD_DIM;
    finish_head(thread, own.matrix, position, select(place(4u, 0u) + head * HEAD_WORDS,
        place(2u, 0u) + head * HEAD_DIM, own.matrix == QUERY), int_at(1u));
  }
}
