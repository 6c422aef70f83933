// Attention of training in tiles: a workgroup of 256 takes 16 rows of a head, which share the keys
// and values that pass through workgroup memory. The results, and what they mean, are those of
// attention.wgsl and attention_back.wgsl. Of a block of 64 positions thread x of a row has those at
// x, x + 16, x + 32 and x + 48.

var<workgroup> chunk: array<vec4<f32>, 512>;    // 32 lines of 64 words: of keys turned, or values
var<workgroup> lefts: array<vec4<f32>, 144>;    // [row][element of the chunk / 4]
var<workgroup> weights: array<vec4<f32>, 272>;  // [row][position of the block / 4]
var<workgroup> parts: array<f32, 256>;
var<workgroup> maxima: array<i32, 256>;

const KEPT_BLOCKS = 8u;

// Rows of a tile that are of one sequence, and a thread's row and place in it.
struct Stretch {
  begin_row: u32,  // of the sequence
  length: u32,
  first: u32,      // row of this stretch, and one behind its last
  last: u32,
}
struct Spot {
  row: u32,
  p: u32,      // position of the row
  begin: u32,  // first and last position that it sees
  end: u32,
  x: u32,
  y: u32,
  here: bool,  // the row is of the stretch
}
fn stretch_at(thread: u32, row: u32, tile_end: u32) -> Stretch {
  let begin = uniform_word(thread, A[extra(0u) + 2u * row]);
  let length = uniform_word(thread, A[extra(0u) + 2u * row + 1u]);
  return Stretch(begin, length, row, min(begin + length, tile_end));
}
// Neighbors are of two rows and read the same four words of the chunk, as in parts/tiles.wgsl.
fn woven(t: u32) -> u32 { return t / 32u * 32u + t % 2u * 16u + t / 2u % 16u; }
fn last_seen(p: u32, length: u32) -> u32 { return select(length - 1u, p, int_at(4u) != 0u); }
fn spot_of(thread: u32, row0: u32, s: Stretch) -> Spot {
  let row = row0 + thread / 16u;
  let here = row >= s.first && row < s.last;
  let p = select(s.first, row, here) - s.begin_row;
  return Spot(s.begin_row + p, p, first_seen(p), last_seen(p, s.length), thread % 16u,
      thread / 16u, here);
}

// Four elements of a row's sums, from line `line` of the chunk on, `turned` as dots() has them.
alias Chains = array<vec4<f32>, 2>;
fn add_four(chains: ptr<function, Chains>, left: vec4<f32>, line: u32, x: u32, turned: bool) {
  for (var i = 0u; i < 4u; i++) {
    let at = (line + i) * 16u + (x ^ select(0u, (line + i) % 16u, turned));
    (*chains)[i % 2u] += times(left[i], chunk[at]);
  }
}

// Of four positions of block b: sums over head_dim of the row's left times the position's right,
// which begin at those columns of those operands.
fn dots(at: Spot, s: Stretch, row0: u32, b: u32, left: vec2<u32>, right: vec2<u32>) -> vec4<f32> {
  let thread = at.y * 16u + at.x;
  let hd = int_at(2u);
  var c = vec4<f32>(zero());
  for (var d0 = 0u; d0 < hd; d0 += 32u) {
    workgroupBarrier();
    for (var i = thread; i < 512u; i += 256u) {
      let d = i % 32u;
      let y = i / 32u;
      let word = y * 9u + d / 4u;
      lefts[word][d % 4u] = zero();
      if (d0 + d < hd) {
        lefts[word][d % 4u] =
            load(place(left.x, min(row0 + y, rows(0u) - 1u)) + left.y + d0 + d);
      }
      var v = vec4<f32>(zero());
      for (var j = 0u; j < 4u; j++) {
        let position = b * 64u + y + 16u * j;
        if (d0 + d < hd && position < s.length) {
          v[j] = load(place(right.x, s.begin_row + position) + right.y + d0 + d);
        }
      }
      chunk[d * 16u + (y ^ (d % 16u))] = v;
    }
    workgroupBarrier();
    var chains = Chains(vec4<f32>(zero()), vec4<f32>(zero()));
    for (var d = 0u; d < 32u; d += 4u) {
      add_four(&chains, lefts[at.y * 9u + d / 4u], d, at.x, true);
    }
    c += chains[0] + chains[1];
  }
  return c;
}

// The scores of four positions, of those that the row sees.
fn scores(at: Spot, s: Stretch, row0: u32, b: u32, head: u32, slope: f32) -> vec4<f32> {
  let hd = int_at(2u);
  let key_col = head / (int_at(0u) / int_at(1u)) * hd;
  var v = dots(at, s, row0, b, vec2<u32>(0u, head * hd), vec2<u32>(1u, key_col));
  for (var i = 0u; i < 4u; i++) {
    let j = b * 64u + at.x + 16u * i;
    var one = mul(v[i], real_at(0u));
    if (magnitude_bits(one) >= INF_BITS && j < s.length) {
      one = far_score(place(0u, at.row) + head * hd, place(1u, s.begin_row + j) + key_col, 1u, one);
    }
    v[i] = nearer(one, slope, at.p, j);
  }
  return v;
}
fn sees(at: Spot, j: u32) -> bool { return at.here && j >= at.begin && j <= at.end; }

// A chunk of 32 rows of `operand` from column `col` on, `width` of up to 64 words, becomes `chunk`.
fn stage_rows(thread: u32, operand: u32, first_row: u32, col: u32, count: u32, width: u32) {
  for (var i = thread; i < 512u; i += 256u) {
    let line = i / 16u;
    let c = i % 16u * 4u;
    var v = vec4<f32>(zero());
    if (line < count) {
      let source = place(operand, first_row + line) + col + c;
      for (var j = 0u; j < 4u && c + j < width; j++) { v[j] = load(source + j); }
    }
    chunk[i] = v;
  }
}
fn store_words(at: u32, width: u32, x: u32, v: vec4<f32>) {
  for (var j = 0u; j < 4u && x * 4u + j < width; j++) { store(at + x * 4u + j, v[j]); }
}
fn tile_width(t: u32) -> u32 { return min(int_at(2u) - t * 64u, 64u); }

@compute @workgroup_size(256)
fn attention_rows_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let thread = woven(index);
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let head = u % int_at(0u);
  let kv_col = head / (int_at(0u) / int_at(1u)) * int_at(2u);
  let row0 = u / int_at(0u) * 16u;
  let tile_end = min(row0 + 16u, rows(0u));
  let slope = slope_of(head);
  var row = row0;
  while (row < tile_end) {
    let s = stretch_at(thread, row, tile_end);
    row = s.last;
    let at = spot_of(thread, row0, s);
    let block = first_seen(s.first - s.begin_row) / 64u;
    let last_block = last_seen(s.last - 1u - s.begin_row, s.length) / 64u;
    // Scores of a few blocks are kept until the maximum is known; those of more are made again.
    let all_kept = last_block - block < KEPT_BLOCKS;
    var kept: array<vec4<f32>, KEPT_BLOCKS>;
    var key = NO_KEY;
    for (var b = block; b <= last_block; b++) {
      let v = scores(at, s, row0, b, head, slope);
      if (all_kept) { kept[b - block] = v; }
      for (var i = 0u; i < 4u; i++) {
        if (sees(at, b * 64u + at.x + 16u * i)) { key = max(key, key_of(v[i])); }
      }
    }
    maxima[thread] = key;
    workgroupBarrier();
    for (var i = 0u; i < 16u; i++) { key = max(key, maxima[at.y * 16u + i]); }
    let top = of_key(key);
    var num: array<vec4<f32>, TILES>;
    for (var t = 0u; t < TILES; t++) { num[t] = vec4<f32>(zero()); }
    var den = zero();
    for (var b = block; b <= last_block; b++) {
      var v: vec4<f32>;
      if (all_kept) { v = kept[b - block]; } else { v = scores(at, s, row0, b, head, slope); }
      workgroupBarrier();  // of `parts` and `weights`, which all are done with
      var e = vec4<f32>(zero());
      for (var i = 0u; i < 4u; i++) {
        if (sees(at, b * 64u + at.x + 16u * i)) { e[i] = exp_difference(v[i], top); }
        weights[at.y * 17u + at.x / 4u + 4u * i][at.x % 4u] = e[i];
      }
      parts[thread] = (e.x + e.z) + (e.y + e.w);
      workgroupBarrier();
      // What the row sees nothing of adds nothing.
      let seen = b >= at.begin / 64u && b <= at.end / 64u;
      var eight: array<f32, 8>;
      for (var i = 0u; i < 8u; i++) {
        eight[i] = parts[at.y * 16u + i] + parts[at.y * 16u + i + 8u];
      }
      den = select(den, den + halves(eight), seen);
      for (var t = 0u; t < TILES; t++) {
        var c = vec4<f32>(zero());
        for (var j0 = 0u; j0 < 64u; j0 += 32u) {
          let first = b * 64u + j0;
          workgroupBarrier();
          stage_rows(thread, 2u, s.begin_row + first, kv_col + t * 64u,
              max(s.length, first) - first, tile_width(t));
          workgroupBarrier();
          var chains = Chains(vec4<f32>(zero()), vec4<f32>(zero()));
          for (var j = 0u; j < 32u; j += 4u) {
            add_four(&chains, weights[at.y * 17u + (j0 + j) / 4u], j, at.x, false);
          }
          c += chains[0] + chains[1];
        }
        num[t] = select(num[t], num[t] + c, seen);
      }
    }
    if (at.here) {
      let inverse = div(1.0, den);
      for (var t = 0u; t < TILES; t++) {
        store_words(place(RESULT, at.row) + head * int_at(2u) + t * 64u, tile_width(t), at.x,
            num[t] * inverse);
      }
      if (at.x == 0u) {
        let stats = place(RESULT + 1u, at.row) + STATS * head;
        store(stats, select(top, den, is_nan(den)));
        store(stats + 1u, inverse);
        if (ALIBI) { store(stats + 2u, slope); }
      }
    }
  }
}
