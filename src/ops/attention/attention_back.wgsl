// Gradients of attention_rows (attention_kernels.h): first weights P and slopes dS of every row,
// head and position, then the sums over them. With attention.wgsl. extra: 0 the sequences of the
// rows, 1 P as [head][row][position], 2 dS likewise, 3 positions of a row of them.

fn part_at(section: u32, head: u32, row: u32) -> u32 {
  return extra(section) + (head * rows(0u) + row) * extra(3u);
}

@compute @workgroup_size(64)
fn attention_slopes(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let at = head_of(u);
  let hd = int_at(2u);
  let begin_row = A[extra(0u) + 2u * at.row];
  let p = at.row - begin_row;
  let end = select(A[extra(0u) + 2u * at.row + 1u] - 1u, p, int_at(4u) != 0u);
  let q = place(0u, at.row) + at.head * hd;
  let gy = place(6u, at.row) + at.head * hd;
  let stats = place(5u, at.row) + STATS * at.head;
  let top = load(stats);
  let inverse = load(stats + 1u);
  var slope = zero();
  if (ALIBI) { slope = load(stats + 2u); }
  let inner = dot_chains(gy, place(4u, at.row) + at.head * hd, 1u);
  let begin = first_seen(p);
  for (var j = lane; j < (end / 64u + 1u) * 64u; j += 64u) {
    var w = 0.0;
    var rise = 0.0;
    if (j >= begin && j <= end) {
      w = settled(exp_difference(score_of(q, place(1u, begin_row + j) + at.kv_head * hd, 1u, slope,
          p, j), top)
          * inverse);
      rise = settled(w * opaque(dot_chains(gy, place(2u, begin_row + j) + at.kv_head * hd, 1u) -
          inner));
    }
    A[part_at(1u, at.head, at.row) + j] = bitcast<u32>(w);
    A[part_at(2u, at.head, at.row) + j] = bitcast<u32>(rise);
  }
}

// gq = scale * dS k: a thread per element of gq.
@compute @workgroup_size(64)
fn attention_back_q(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(7u);
  let c = u % cols(7u);
  let head = c / int_at(2u);
  let begin_row = A[extra(0u) + 2u * row];
  let count = select(A[extra(0u) + 2u * row + 1u], row - begin_row + 1u, int_at(4u) != 0u);
  let key = place(1u, begin_row) + head / (int_at(0u) / int_at(1u)) * int_at(2u) + c % int_at(2u);
  let slopes = part_at(2u, head, row);
  var total = zero();
  for (var j0 = 0u; j0 < count; j0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(j0 + 32u, count);
    for (var j = j0; j < end; j += 2u) {
      even = even + mul(load(slopes + j), load(key + j * row_step(1u)));
      if (j + 1u < end) {
        odd = odd + mul(load(slopes + j + 1u), load(key + (j + 1u) * row_step(1u)));
      }
    }
    total = total + (even + odd);
  }
  store(place(7u, row) + c, total * real_at(0u));
}

// c + sum over query rows p of a sequence, from `first` on, of part[p][j] * x[p].
fn over_queries(start: f32, part: u32, x: u32, step: u32, first: u32, length: u32) -> f32 {
  var c = start;
  for (var p0 = first; p0 < length; p0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(p0 + 32u, length);
    for (var p = p0; p < end; p += 2u) {
      even = even + mul(load(part + p * extra(3u)), load(x + p * step));
      if (p + 1u < end) {
        odd = odd + mul(load(part + (p + 1u) * extra(3u)), load(x + (p + 1u) * step));
      }
    }
    c = c + (even + odd);
  }
  return c;
}

// gk = scale * dS^T q and gv = P^T gy, per KV head one chain through its query heads: a thread per
// element of gk.
@compute @workgroup_size(64)
fn attention_back_kv(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(8u);
  let c = u % cols(8u);
  let hd = int_at(2u);
  let group = int_at(0u) / int_at(1u);
  let begin_row = A[extra(0u) + 2u * row];
  let length = A[extra(0u) + 2u * row + 1u];
  let j = row - begin_row;
  let first = select(0u, j / 32u * 32u, int_at(4u) != 0u);
  var gk = zero();
  var gv = zero();
  for (var i = 0u; i < group; i++) {
    let head = c / hd * group + i;
    let col = head * hd + c % hd;
    gv = over_queries(gv, part_at(1u, head, begin_row) + j, place(6u, begin_row) + col,
        row_step(6u), first, length);
    gk = over_queries(gk, part_at(2u, head, begin_row) + j, place(0u, begin_row) + col,
        row_step(0u), first, length);
  }
  store(place(8u, row) + c, gk * real_at(0u));
  store(place(9u, row) + c, gv);
}
