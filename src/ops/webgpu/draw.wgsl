// An id is drawn from a row of logits and becomes the next id of its sequence, on the device: as
// Sampler::pick (src/llm/generate/sampler.h) draws it, in integers, so that no order of additions
// shows. After pick_parts (pick.wgsl): draw_weigh sums the weights in bins, draw_gather lists the
// ids of the bins that count, draw_pick finds the id among them.
// Operands: 0 logits, 1 ids, 2 positions. extra(0): how many were picked, 11 settings, the ids that
// were; extra(1): the best of each part; extra(2): the bins; extra(3): pairs of depth and id;
// extra(4): the ids seen before.

// Of the bins workgroups add to; all that is shared between dispatches is atomic here.
@group(0) @binding(1) var<storage, read_write> A: array<atomic<u32>>;
fn word_at(at: u32) -> u32 { return atomicLoad(&A[at]); }

const NONE = 0xFFFFFFFFu;

// A weight is a whole number up to 2^40, of 24 bits and a power of two: a float. Its depth is how
// far the float's bits are below those of 2^40, so that depths ascend in the order of the sampler.
const TOP_BITS = 167u << 23u;
fn depth(x: f32, top: f32, temperature: f32) -> u32 {
  let e = bitcast<u32>(exp_exact(div(x - top, temperature)));
  if (e < FLOOR || e > 0x3F800000u) { return NONE; }  // below 1, or NaN
  let b = e + (40u << 23u);
  let exponent = (b >> 23u) - 127u;
  let fraction = select(0u, 23u - exponent, exponent < 23u);
  return TOP_BITS - ((b >> fraction) << fraction);
}
fn weight(depth: u32) -> vec3<u32> {
  let b = TOP_BITS - depth;
  let m = (b & 0x7FFFFFu) | 0x800000u;
  let exponent = (b >> 23u) - 127u;
  if (exponent <= 23u) { return vec3(m >> (23u - exponent), 0u, 1u); }
  return vec3(m << (exponent - 23u), m >> (55u - exponent), 1u);
}

// 321 bins of depths; what is at least as probable as min_p says is summed in one more.
const BINS = 384u;
const BIN_SHIFT = 20u;
var<workgroup> low: array<atomic<u32>, 385>;
var<workgroup> high: array<atomic<u32>, 385>;
var<workgroup> number: array<atomic<u32>, 385>;

fn clear_bins(lane: u32, lanes: u32) {
  for (var b = lane; b <= BINS; b += lanes) {
    atomicStore(&low[b], 0u);
    atomicStore(&high[b], 0u);
    atomicStore(&number[b], 0u);
  }
  workgroupBarrier();
}
fn add_to_bin(b: u32, w: vec3<u32>) {
  let old = atomicAdd(&low[b], w.x);
  let up = w.y + select(0u, 1u, old + w.x < old);
  if (up != 0u) { atomicAdd(&high[b], up); }
  atomicAdd(&number[b], w.z);
}
fn bin(b: u32) -> vec3<u32> {
  return vec3(atomicLoad(&low[b]), atomicLoad(&high[b]), atomicLoad(&number[b]));
}
fn bin_place(b: u32) -> u32 { return extra(2u) + 4u * b; }
fn load_bins(lane: u32, lanes: u32) {
  for (var b = lane; b <= BINS; b += lanes) {
    atomicStore(&low[b], word_at(bin_place(b)));
    atomicStore(&high[b], word_at(bin_place(b) + 1u));
    atomicStore(&number[b], word_at(bin_place(b) + 2u));
  }
  workgroupBarrier();
}

// Sums of the bins of this lane and those before it: of the first 64 lanes, where there are more.
var<workgroup> sums: array<vec3<u32>, 64>;
fn scan_bins(lane: u32, per_lane: u32) {
  var own = vec3(0u);
  if (lane < 64u) {
    for (var j = 0u; j < per_lane; j++) { own = plus(own, bin(lane * per_lane + j)); }
    sums[lane] = own;
  }
  workgroupBarrier();
  for (var step = 1u; step < 64u; step = 2u * step) {
    var other = vec3(0u);
    if (lane >= step && lane < 64u) { other = sums[lane - step]; }
    workgroupBarrier();
    own = plus(own, other);
    if (lane < 64u) { sums[lane] = own; }
    workgroupBarrier();
  }
}

// What is sought: the element before which there are at most `target`, by weight or by number, and
// with it more.
struct Sought {
  by_number: bool,
  rest: vec2<u32>,
}
fn rest_after(s: Sought, before: vec3<u32>) -> vec2<u32> {
  return minus(s.rest, select(before.xy, vec2(before.z, 0u), s.by_number));
}
fn is_sought(s: Sought, before: vec3<u32>, after: vec3<u32>) -> bool {
  if (s.by_number) { return before.z <= s.rest.x && s.rest.x < after.z; }
  return !less(s.rest, before.xy) && less(s.rest, after.xy);
}
struct Found {
  bin: u32,  // NONE: there is less than the target
  before: vec3<u32>,
  own: vec3<u32>,
}
var<workgroup> found: Found;
fn seek(lane: u32, per_lane: u32, s: Sought) {
  if (lane == 0u) { found.bin = NONE; }
  workgroupBarrier();
  var before = vec3(0u);
  if (lane > 0u && lane < 64u) { before = sums[lane - 1u]; }
  for (var j = 0u; j < per_lane && lane < 64u; j++) {
    let own = bin(lane * per_lane + j);
    let after = plus(before, own);
    if (is_sought(s, before, after)) { found = Found(lane * per_lane + j, before, own); }
    before = after;
  }
  workgroupBarrier();
}

// floor(total * bits / 2^32)
fn share(total: vec2<u32>, bits: u32) -> vec2<u32> {
  return plus(vec3(total.y * bits, mul_high(total.y, bits), 0u),
      vec3(mul_high(total.x, bits), 0u, 0u)).xy;
}
fn target_of(total: vec2<u32>) -> vec2<u32> {
  let position = word_at(place(2u, 0u)) + 1u;  // of the new id
  let bits = philox(vec4(position >> 2u, 0u, setting(2u), setting(3u)),
      vec2(setting(0u), setting(1u)));
  return share(total, bits[position & 3u]);
}

// The sum that top_p keeps at least: ceil of top_p * total as f64 rounds it. The factor is settings
// 7 and 8 over 2^(setting 9). `total` < 2^53.
fn mass(total: vec2<u32>) -> vec2<u32> {
  let p = product(total, vec2(setting(7u), setting(8u)));
  var length = 0u;
  for (var i = 0u; i < 4u; i++) {
    if (p[i] != 0u) { length = 32u * i + 32u - countLeadingZeros(p[i]); }
  }
  let drop = select(0u, length - 53u, length > 53u);
  var q = right(p, drop);
  if (drop > 0u && (right(p, drop - 1u).x & 1u) == 1u &&
      (any_below(p, drop - 1u) || (q.x & 1u) == 1u)) {
    q = vec4(plus(q.xyz, vec3(1u, 0u, 0u)).xy, 0u, 0u);
  }
  let shift = setting(9u) - drop;
  return plus(right(q, shift).xyz, vec3(select(0u, 1u, any_below(q, shift)), 0u, 0u)).xy;
}

// What the settings ask of a row whose bins sum to `total`.
fn cuts_number(total: vec3<u32>) -> bool { return setting(6u) != 0u && setting(6u) < total.z; }
fn cuts_mass() -> bool { return setting(9u) != 0u; }
fn cut_by_min(kept: vec2<u32>) -> vec2<u32> {
  let likely = bin(BINS).xy;
  return select(kept, likely, setting(5u) != NONE && less(likely, kept));
}
fn one_less(x: vec2<u32>) -> vec2<u32> { return minus(x, vec2(1u, 0u)); }

struct Best {
  key: u32,
  id: u32,
}
var<workgroup> bests: array<Best, 64>;
fn top_of_row(lane: u32) -> f32 {
  var own = Best(0u, 0u);
  for (var i = lane; i < parts() && lane < 64u; i += 64u) {
    let other = Best(word_at(extra(1u) + 2u * i), word_at(extra(1u) + 2u * i + 1u));
    if (other.key > own.key) { own = other; }
  }
  if (lane < 64u) { bests[lane] = own; }
  workgroupBarrier();
  for (var half = 32u; half > 0u; half = half / 2u) {
    if (lane < half && bests[lane + half].key > bests[lane].key) {
      bests[lane] = bests[lane + half];
    }
    workgroupBarrier();
  }
  return logit(bests[0].id);
}

const DRAWERS = 256u;  // threads of the two that read the row
@compute @workgroup_size(DRAWERS)
fn draw_weigh(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let top = top_of_row(lane);
  let temperature = bitcast<f32>(setting(4u));
  clear_bins(lane, DRAWERS);
  for (var i = u * DRAWERS + lane; i < cols(0u); i += parts() * DRAWERS) {
    let d = depth(logit(i), top, temperature);
    if (d == NONE) { continue; }
    add_to_bin(d >> BIN_SHIFT, weight(d));
    if (setting(5u) != NONE && d <= setting(5u)) { add_to_bin(BINS, weight(d)); }
  }
  workgroupBarrier();
  for (var b = lane; b <= BINS; b += DRAWERS) {
    let own = bin(b);
    if (own.z == 0u) { continue; }
    let old = atomicAdd(&A[bin_place(b)], own.x);
    atomicAdd(&A[bin_place(b) + 1u], own.y + select(0u, 1u, old + own.x < old));
    atomicAdd(&A[bin_place(b) + 2u], own.z);
  }
}

// Without cuts the bin of the draw is known, else those up to the cut.
var<workgroup> starts: array<u32, 384>;
@compute @workgroup_size(DRAWERS)
fn draw_gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let top = top_of_row(lane);
  let temperature = bitcast<f32>(setting(4u));
  load_bins(lane, DRAWERS);
  scan_bins(lane, 6u);
  var start = 0u;
  if (lane > 0u && lane < 64u) { start = sums[lane - 1u].z; }
  for (var j = 0u; j < 6u && lane < 64u; j++) {
    starts[6u * lane + j] = start;
    start += bin(6u * lane + j).z;
  }
  let total = sums[63];
  var s = Sought(cuts_number(total), target_of(cut_by_min(total.xy)));
  if (cuts_mass()) { s.rest = one_less(mass(total.xy)); }
  if (s.by_number) { s.rest = vec2(setting(6u) - 1u, 0u); }
  seek(lane, 6u, s);
  let last = min(found.bin, BINS - 1u);  // no depth lies beyond
  let first = select(last, 0u, s.by_number || cuts_mass());
  // Places are taken for all of a bin's ids here at once: many add to few bins.
  clear_bins(lane, DRAWERS);
  for (var i = u * DRAWERS + lane; i < cols(0u); i += parts() * DRAWERS) {
    let b = depth(logit(i), top, temperature) >> BIN_SHIFT;
    if (b >= first && b <= last) { atomicAdd(&number[b], 1u); }
  }
  workgroupBarrier();
  for (var b = lane; b < BINS; b += DRAWERS) {
    let own = atomicExchange(&number[b], 0u);
    if (own != 0u) { starts[b] += atomicAdd(&A[bin_place(b) + 3u], own); }
  }
  workgroupBarrier();
  for (var i = u * DRAWERS + lane; i < cols(0u); i += parts() * DRAWERS) {
    let d = depth(logit(i), top, temperature);
    let b = d >> BIN_SHIFT;
    if (b < first || b > last) { continue; }
    let at = extra(3u) + 2u * (starts[b] + atomicAdd(&number[b], 1u));
    atomicStore(&A[at], d);
    atomicStore(&A[at + 1u], i);
  }
}

// An element of the list by the order of depths, then of ids; `before`: the weights before it.
struct Element {
  depth: u32,
  id: u32,
  before: vec3<u32>,
}
// One digit more of an element of [first, last) of the list is found: all of it is known but the
// bits of the depth below `depth_bits` and those of the id below `id_bits`, then all but fewer.
struct Known {
  element: Element,
  sought: Sought,
  depth_bits: u32,
  id_bits: u32,
}
fn agrees(k: Known, depth: u32, id: u32) -> bool {
  return (((depth ^ k.element.depth) >> k.depth_bits) | ((id ^ k.element.id) >> k.id_bits)) == 0u;
}
fn next_digit(lane: u32, first: u32, last: u32, known: Known, depth_bits: u32,
    id_bits: u32) -> Known {
  var k = known;
  clear_bins(lane, PICKERS);
  for (var i = first + lane; i < last; i += PICKERS) {
    let d = word_at(extra(3u) + 2u * i);
    let id = word_at(extra(3u) + 2u * i + 1u);
    if (!agrees(k, d, id)) { continue; }
    add_to_bin(select((id >> id_bits) & 255u, (d >> depth_bits) & 255u, depth_bits < k.depth_bits),
        weight(d));
  }
  workgroupBarrier();
  scan_bins(lane, 4u);
  seek(lane, 4u, k.sought);
  let f = found;
  if (depth_bits < k.depth_bits) {
    k.element.depth |= (f.bin << depth_bits) & ((1u << k.depth_bits) - 1u);
  } else {
    k.element.id |= f.bin << id_bits;
  }
  k.element.before = plus(k.element.before, f.before);
  k.sought.rest = rest_after(k.sought, f.before);
  k.depth_bits = depth_bits;
  k.id_bits = id_bits;
  workgroupBarrier();
  return k;
}
// One of the n elements in `few`: `before` is before all of them.
const FEW = 64u;
var<workgroup> few: array<vec2<u32>, FEW>;
var<workgroup> chosen: Element;
fn find_among_few(lane: u32, n: u32, s: Sought, before_all: vec3<u32>) -> Element {
  workgroupBarrier();
  if (lane < n) {
    let own = few[lane];
    var before = before_all;
    for (var i = 0u; i < n; i++) {
      let x = few[i];
      if (less(x.yx, own.yx)) { before = plus(before, weight(x.x)); }
    }
    if (is_sought(s, before, plus(before, weight(own.x)))) {
      chosen = Element(own.x, own.y, before);
    }
  }
  workgroupBarrier();
  return chosen;
}
var<workgroup> few_found: atomic<u32>;
// The same of those that agree with what is known, which are few.
fn find_known(lane: u32, first: u32, last: u32, k: Known, s: Sought) -> Element {
  if (lane == 0u) { atomicStore(&few_found, 0u); }
  workgroupBarrier();
  for (var i = first + lane; i < last; i += PICKERS) {
    let d = word_at(extra(3u) + 2u * i);
    let id = word_at(extra(3u) + 2u * i + 1u);
    if (agrees(k, d, id)) { few[atomicAdd(&few_found, 1u)] = vec2(d, id); }
  }
  workgroupBarrier();
  return find_among_few(lane, atomicLoad(&few_found), s, k.element.before);
}
var<workgroup> is_none: bool;
var<workgroup> are_few: bool;
// No element: its id is NONE.
fn find_element(lane: u32, s: Sought) -> Element {
  load_bins(lane, PICKERS);
  scan_bins(lane, 6u);
  seek(lane, 6u, s);
  let f = found;
  if (lane == 0u) {
    is_none = f.bin == NONE;
    are_few = f.own.z <= FEW;
  }
  if (workgroupUniformLoad(&is_none)) { return Element(0u, NONE, vec3(0u)); }
  let first = f.before.z;
  let last = first + f.own.z;
  if (workgroupUniformLoad(&are_few)) {
    let at = extra(3u) + 2u * (first + lane);
    if (lane < f.own.z) { few[lane] = vec2(word_at(at), word_at(at + 1u)); }
    return find_among_few(lane, f.own.z, s, f.before);
  }
  var k = Known(Element(f.bin << BIN_SHIFT, 0u, f.before), s, BIN_SHIFT, 24u);
  k.sought.rest = rest_after(s, f.before);
  workgroupBarrier();
  const DEPTH_BITS = array<u32, 6>(12u, 4u, 0u, 0u, 0u, 0u);
  const ID_BITS = array<u32, 6>(24u, 24u, 24u, 16u, 8u, 0u);
  for (var digit = 0u; digit < 6u; digit++) {
    k = next_digit(lane, first, last, k, DEPTH_BITS[digit], ID_BITS[digit]);
    if (lane == 0u) { are_few = found.own.z <= FEW; }
    if (workgroupUniformLoad(&are_few)) { return find_known(lane, first, last, k, s); }
  }
  return k.element;
}
fn with_element(e: Element) -> vec2<u32> { return plus(e.before, weight(e.depth)).xy; }

var<workgroup> wanted: bool;
@compute @workgroup_size(PICKERS) fn draw_pick(@builtin(local_invocation_index) lane: u32) {
  Z = P[0];
  load_bins(lane, PICKERS);
  scan_bins(lane, 6u);
  let total = sums[63];
  var kept = total.xy;
  if (lane == 0u) { wanted = cuts_number(total); }
  if (workgroupUniformLoad(&wanted)) {
    kept = with_element(find_element(lane, Sought(true, vec2(setting(6u) - 1u, 0u))));
  }
  // The host has f64 where whole numbers here would be rounded.
  let exact = kept.y < 0x200000u || !cuts_mass();
  if (lane == 0u) { wanted = cuts_mass() && exact; }
  if (workgroupUniformLoad(&wanted)) {
    let e = find_element(lane, Sought(false, one_less(mass(kept))));
    if (e.id != NONE) { kept = with_element(e); }
  }
  load_bins(lane, PICKERS);
  let e = find_element(lane, Sought(false, target_of(cut_by_min(kept))));
  if (lane == 0u) {
    let id = select(NONE, e.id, exact && total.z != 0u);
    let count = word_at(extra(0u));
    atomicStore(&A[extra(0u) + 12u + count], id);
    atomicStore(&A[extra(0u)], count + 1u);
    let next = select(id, 0u, id == NONE);
    atomicStore(&A[place(1u, 0u)], next);
    atomicOr(&A[seen_word(next)], seen_bit(next));
    atomicStore(&A[place(2u, 0u)], word_at(place(2u, 0u)) + 1u);
  }
}
