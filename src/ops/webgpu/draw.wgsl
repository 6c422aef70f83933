// An id is drawn from a row of logits and becomes the next id of its sequence, on the device: as
// Sampler::pick (src/llm/generate/sampler.h) draws it, in integers, so that no order of additions
// shows. After pick_parts (pick.wgsl): draw_weigh sums the weights in bins, draw_gather lists the
// ids of the bins that count, draw_pick finds the id among them.
// Operands: 0 logits, 1 ids, 2 positions. extra(0): how many were picked, the settings, the ids
// that were, and random bits for those that will be; extra(1): the best of each part; extra(2): the
// bins; extra(3): pairs of depth and id, then the depth of each id; extra(4): the ids seen before.

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

// 489 bins of depths: 64 for each of 6 octaves, 8 for each of 10, then one. What is at least as
// probable as min_p says is summed in one more.
const BINS = 512u;
fn bin_bits(depth: u32) -> u32 {
  return select(select(23u, 20u, depth < 16u << 23u), 17u, depth < 6u << 23u);
}
fn bin_of(depth: u32) -> u32 {
  let bits = bin_bits(depth);
  return (depth >> bits) + select(select(448u, 336u, bits == 20u), 0u, bits == 17u);
}
fn bin_start(b: u32) -> u32 {
  return select(select((b - 448u) << 23u, (b - 336u) << 20u, b < 464u), b << 17u, b < 384u);
}
var<workgroup> low: array<atomic<u32>, 513>;
var<workgroup> high: array<atomic<u32>, 513>;
var<workgroup> number: array<atomic<u32>, 513>;

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

// Sums of 8 bins each, then of 8 of those each.
var<workgroup> eights: array<vec3<u32>, 72>;
fn sum_bins(lane: u32) {
  var sum = vec3(0u);
  if (lane < 64u) {
    for (var i = 0u; i < 8u; i++) { sum = plus(sum, bin(8u * lane + i)); }
    eights[lane] = sum;
  }
  workgroupBarrier();
  sum = vec3(0u);
  if (lane < 8u) {
    for (var i = 0u; i < 8u; i++) { sum = plus(sum, eights[8u * lane + i]); }
    eights[64u + lane] = sum;
  }
  workgroupBarrier();
}
fn before_bin(b: u32) -> vec3<u32> {
  var sum = vec3(0u);
  for (var i = 0u; i < b / 64u; i++) { sum = plus(sum, eights[64u + i]); }
  for (var i = b / 64u * 8u; i < b / 8u; i++) { sum = plus(sum, eights[i]); }
  for (var i = b & ~7u; i < b; i++) { sum = plus(sum, bin(i)); }
  return sum;
}
fn load_bins(lane: u32, lanes: u32) {
  for (var b = lane; b <= BINS; b += lanes) {
    atomicStore(&low[b], word_at(bin_place(b)));
    atomicStore(&high[b], word_at(bin_place(b) + 1u));
    atomicStore(&number[b], word_at(bin_place(b) + 2u));
  }
  workgroupBarrier();
  sum_bins(lane);
}

// What is sought: the element before which there are at most `aim`, by weight or by number, and
// with it more.
struct Sought {
  by_number: bool,
  aim: vec2<u32>,
}
fn is_sought(s: Sought, before: vec3<u32>, after: vec3<u32>) -> bool {
  if (s.by_number) { return before.z <= s.aim.x && s.aim.x < after.z; }
  return !less(s.aim, before.xy) && less(s.aim, after.xy);
}
struct Found {
  bin: u32,  // NONE: there is less than the aim
  before: vec3<u32>,
  own: vec3<u32>,
}
var<workgroup> found: Found;
// `first`: what is before the bins.
fn seek(lane: u32, lanes: u32, first: vec3<u32>, s: Sought) {
  if (lane == 0u) { found = Found(NONE, vec3(0u), vec3(0u)); }
  workgroupBarrier();
  for (var b = lane; b < BINS; b += lanes) {
    let own = bin(b);
    if (own.z == 0u) { continue; }
    let before = plus(first, before_bin(b));
    if (is_sought(s, before, plus(before, own))) { found = Found(b, before, own); }
  }
  workgroupBarrier();
}

// floor(total * bits / 2^32)
fn share(total: vec2<u32>, bits: u32) -> vec2<u32> {
  return plus(vec3(total.y * bits, mul_high(total.y, bits), 0u),
      vec3(mul_high(total.x, bits), 0u, 0u)).xy;
}
fn picked_at() -> u32 { return extra(0u) + SETTINGS + 1u + word_at(extra(0u)); }
fn target_of(total: vec2<u32>) -> vec2<u32> { return share(total, word_at(picked_at())); }

// As f64 rounds a whole number: 53 bits, and how many are dropped.
struct Rounded {
  bits: vec2<u32>,
  dropped: u32,
}
fn rounded(x: vec4<u32>) -> Rounded {
  var length = 0u;
  for (var i = 0u; i < 4u; i++) {
    if (x[i] != 0u) { length = 32u * i + 32u - countLeadingZeros(x[i]); }
  }
  let drop = select(0u, length - 53u, length > 53u);
  var q = right(x, drop).xy;
  if (drop > 0u && (right(x, drop - 1u).x & 1u) == 1u &&
      (any_below(x, drop - 1u) || (q.x & 1u) == 1u)) {
    q = plus(vec3(q, 0u), vec3(1u, 0u, 0u)).xy;
  }
  return Rounded(q, drop);
}
// The smallest sum that is enough for top_p: as f64 it is not below top_p * total as
// rounded. The factor is settings 3 and 4 over 2^(setting 5).
fn mass(total: vec2<u32>) -> vec2<u32> {
  let t = rounded(vec4(total, 0u, 0u));
  let p = rounded(product(t.bits, vec2(setting(3u), setting(4u))));
  let drop = t.dropped + p.dropped;
  if (drop <= setting(5u)) {
    let q = vec4(p.bits, 0u, 0u);
    let shift = setting(5u) - drop;
    return plus(right(q, shift).xyz, vec3(select(0u, 1u, any_below(q, shift)), 0u, 0u)).xy;
  }
  // Beyond 2^53 a sum is rounded too: half a step below is enough, where ties go up.
  let k = drop - setting(5u);
  let is_power = p.bits.x == 0u && p.bits.y == 0x100000u;  // below it steps are half as large
  let half = select(1u << (k - 1u), (1u << k) >> 2u, is_power);
  let m = vec2(p.bits.x << k, (p.bits.y << k) | (p.bits.x >> (32u - k)));
  return plus(vec3(minus(m, vec2(half, 0u)), 0u), vec3(p.bits.x & 1u, 0u, 0u)).xy;
}

// What the settings ask of a row whose bins sum to `total`.
fn cuts_number(total: vec3<u32>) -> bool { return setting(2u) != 0u && setting(2u) < total.z; }
fn cuts_mass() -> bool { return setting(5u) != 0u; }
fn cut_by_min(kept: vec2<u32>, likely: vec2<u32>) -> vec2<u32> {
  return select(kept, likely, setting(1u) != NONE && less(likely, kept));
}
fn one_less(x: vec2<u32>) -> vec2<u32> { return minus(x, vec2(1u, 0u)); }

var<workgroup> top_key: atomic<u32>;
fn top_of_row(lane: u32) -> f32 {
  for (var i = lane; i < parts(); i += DRAWERS) {
    atomicMax(&top_key, word_at(extra(1u) + 2u * i));
  }
  workgroupBarrier();
  let key = atomicLoad(&top_key);
  return from_bits(select(~key, key ^ 0x80000000u, key >= 0x80000000u));
}

fn depth_at(id: u32) -> u32 { return extra(3u) + 2u * cols(0u) + id; }
// The ids of a thread of workgroup u: it reads what belongs to them before anything else.
fn id_of(u: u32, lane: u32, i: u32) -> u32 { return (u * EACH + i) * DRAWERS + lane; }
@compute @workgroup_size(DRAWERS)
fn draw_weigh(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  var x: array<f32, EACH>;
  for (var i = 0u; i < EACH; i++) { x[i] = logit(min(id_of(u, lane, i), cols(0u) - 1u)); }
  let temperature = bitcast<f32>(setting(0u));
  let top = top_of_row(lane);
  for (var i = 0u; i < EACH; i++) {
    if (id_of(u, lane, i) >= cols(0u)) { break; }
    let d = depth(x[i], top, temperature);
    atomicStore(&A[depth_at(id_of(u, lane, i))], d);
    if (d == NONE) { continue; }
    add_to_bin(bin_of(d), weight(d));
    if (setting(1u) != NONE && d <= setting(1u)) { add_to_bin(BINS, weight(d)); }
  }
  workgroupBarrier();
  for (var b = lane; b <= BINS; b += DRAWERS) {
    let own = bin(b);
    if (own.z == 0u) { continue; }
    let old = atomicAdd(&A[bin_place(b)], own.x);
    let up = own.y + select(0u, 1u, old + own.x < old);
    if (up != 0u) { atomicAdd(&A[bin_place(b) + 1u], up); }
    atomicAdd(&A[bin_place(b) + 2u], own.z);
  }
}

// Without cuts the bin of the draw is known, else those up to the cut. Places are taken for all of
// a bin's ids here at once: many add to few bins.
var<workgroup> places: array<atomic<u32>, 512>;
@compute @workgroup_size(DRAWERS)
fn draw_gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  var depths: array<u32, EACH>;
  for (var i = 0u; i < EACH; i++) {
    depths[i] = NONE;
    let id = id_of(u, lane, i);
    if (id < cols(0u)) { depths[i] = word_at(depth_at(id)); }
  }
  load_bins(lane, DRAWERS);
  let total = before_bin(BINS);
  var s = Sought(cuts_number(total), vec2(setting(2u) - 1u, 0u));
  if (!s.by_number) {
    if (cuts_mass()) { s.aim = one_less(mass(total.xy)); }
    else { s.aim = target_of(cut_by_min(total.xy, bin(BINS).xy)); }
  }
  seek(lane, DRAWERS, vec3(0u), s);
  let last = min(found.bin, BINS - 1u);  // no depth lies beyond
  let first = select(last, 0u, s.by_number || cuts_mass());
  for (var i = 0u; i < EACH; i++) {
    let b = bin_of(depths[i]);
    if (b >= first && b <= last) { atomicAdd(&places[b], 1u); }
  }
  workgroupBarrier();
  for (var b = first + lane; b <= last; b += DRAWERS) {
    let own = atomicLoad(&places[b]);
    if (own == 0u) { continue; }
    atomicStore(&places[b], before_bin(b).z + atomicAdd(&A[bin_place(b) + 3u], own));
  }
  workgroupBarrier();
  for (var i = 0u; i < EACH; i++) {
    let b = bin_of(depths[i]);
    if (b < first || b > last) { continue; }
    let at = extra(3u) + 2u * atomicAdd(&places[b], 1u);
    atomicStore(&A[at], depths[i]);
    atomicStore(&A[at + 1u], id_of(u, lane, i));
  }
}

// An element of the list by the order of depths, then of ids; `before`: the weights before it.
struct Element {
  depth: u32,
  id: u32,
  before: vec3<u32>,
}
// Of an element of the list all is known but the bits of the depth below `depth_bits` and those of
// the id below `id_bits`.
struct Known {
  element: Element,
  depth_bits: u32,
  id_bits: u32,
}
fn listed(i: u32) -> vec2<u32> {
  return vec2(word_at(extra(3u) + 2u * i), word_at(extra(3u) + 2u * i + 1u));
}
fn agrees(k: Known, x: vec2<u32>) -> bool {
  return (((x.x ^ k.element.depth) >> k.depth_bits) | ((x.y ^ k.element.id) >> k.id_bits)) == 0u;
}
// One digit more of an element of [first, last) of the list: up to 8 bits.
fn next_digit(lane: u32, first: u32, last: u32, known: Known, s: Sought) -> Known {
  var k = known;
  let of_depth = k.depth_bits != 0u;
  let bits = select(k.id_bits, k.depth_bits, of_depth);
  let rest = bits - min(bits, 8u);
  clear_bins(lane, PICKERS);
  for (var i = first + lane; i < last; i += PICKERS) {
    let x = listed(i);
    if (!agrees(k, x)) { continue; }
    add_to_bin((select(x.y, x.x, of_depth) & ((1u << bits) - 1u)) >> rest, weight(x.x));
  }
  workgroupBarrier();
  sum_bins(lane);
  seek(lane, PICKERS, k.element.before, s);
  k.element.before = found.before;
  if (of_depth) {
    k.element.depth |= found.bin << rest;
    k.depth_bits = rest;
  } else {
    k.element.id |= found.bin << rest;
    k.id_bits = rest;
  }
  return k;
}
// The elements that agree with what is known, when they are few: depth, id and weight.
const FEW = 128u;
var<workgroup> few: array<vec4<u32>, FEW>;
var<workgroup> few_found: atomic<u32>;
var<workgroup> chosen: Element;
fn find_known(lane: u32, first: u32, last: u32, k: Known, s: Sought) -> Element {
  if (lane == 0u) {
    atomicStore(&few_found, 0u);
    chosen = Element(0u, NONE, vec3(0u));
  }
  workgroupBarrier();
  for (var i = first + lane; i < last; i += PICKERS) {
    let x = listed(i);
    if (agrees(k, x)) { few[atomicAdd(&few_found, 1u)] = vec4(x, weight(x.x).xy); }
  }
  workgroupBarrier();
  let n = atomicLoad(&few_found);
  if (lane < n) {
    let own = few[lane];
    var before = k.element.before;
    for (var i = 0u; i < n; i++) {
      let x = few[i];
      if (less(x.yx, own.yx)) { before = plus(before, vec3(x.zw, 1u)); }
    }
    if (is_sought(s, before, plus(before, vec3(own.zw, 1u)))) {
      chosen = Element(own.x, own.y, before);
    }
  }
  workgroupBarrier();
  return chosen;
}
var<workgroup> are_few: bool;
// Of the list, whose bins are here. No element: its id is NONE.
fn find_element(lane: u32, s: Sought) -> Element {
  seek(lane, PICKERS, vec3(0u), s);
  let first = found.before.z;
  let last = first + found.own.z;
  let start = bin_start(found.bin);
  var k = Known(Element(start, 0u, found.before), bin_bits(start), 24u);
  for (var digit = 0u; digit < 6u; digit++) {
    if (lane == 0u) { are_few = found.own.z <= FEW; }
    if (workgroupUniformLoad(&are_few)) { break; }
    k = next_digit(lane, first, last, k, s);
  }
  return find_known(lane, first, last, k, s);
}

var<workgroup> steps: u32;  // the cut by number, that by mass, the draw
@compute @workgroup_size(PICKERS) fn draw_pick(@builtin(local_invocation_index) lane: u32) {
  Z = P[0];
  load_bins(lane, PICKERS);
  let total = before_bin(BINS);
  let likely = bin(BINS).xy;
  if (lane == 0u) {
    steps = select(0u, 1u, cuts_number(total)) | select(0u, 2u, cuts_mass()) | 4u;
  }
  let wanted = workgroupUniformLoad(&steps);
  var kept = total.xy;
  var e = Element(0u, NONE, vec3(0u));
  for (var step = 0u; step < 3u; step++) {
    if (((wanted >> step) & 1u) == 0u) { continue; }
    if ((wanted & ((1u << step) - 1u)) != 0u) { load_bins(lane, PICKERS); }
    var s = Sought(step == 0u, vec2(setting(2u) - 1u, 0u));
    if (step == 1u) { s.aim = one_less(mass(kept)); }
    if (step == 2u) { s.aim = target_of(cut_by_min(kept, likely)); }
    e = find_element(lane, s);
    if (e.id != NONE) { kept = plus(e.before, weight(e.depth)).xy; }
  }
  if (lane == 0u) {
    let id = select(NONE, e.id, total.z != 0u);
    let next = select(id, 0u, id == NONE);
    atomicStore(&A[picked_at()], id);
    atomicAdd(&A[extra(0u)], 1u);
    atomicStore(&A[place(1u, 0u)], next);
    atomicOr(&A[seen_word(next)], seen_bit(next));
    atomicAdd(&A[place(2u, 0u)], 1u);
  }
}
