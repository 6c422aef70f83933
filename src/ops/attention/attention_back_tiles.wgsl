// Gradients of attention in tiles: attention_back.wgsl, which see, with attention_tiles.wgsl.

@compute @workgroup_size(256)
fn attention_slopes_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let thread = woven(index);
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let hd = int_at(2u);
  let head = u % int_at(0u);
  let kv_col = head / (int_at(0u) / int_at(1u)) * hd;
  let row0 = u / int_at(0u) * 16u;
  let tile_end = min(row0 + 16u, rows(0u));
  var row = row0;
  while (row < tile_end) {
    let s = stretch_at(thread, row, tile_end);
    row = s.last;
    let at = spot_of(thread, row0, s);
    if (at.x == 0u) {
      parts[at.y] = dot_chains(place(6u, at.row) + head * hd, place(4u, at.row) + head * hd, 1u);
    }
    workgroupBarrier();
    let inner = parts[at.y];
    let stats = place(5u, at.row) + STATS * head;
    let top = load(stats);
    let inverse = load(stats + 1u);
    var slope = zero();
    if (ALIBI) { slope = load(stats + 2u); }
    let last_block = last_seen(s.last - 1u - s.begin_row, s.length) / 64u;
    for (var b = 0u; b <= last_block; b++) {
      var w = vec4<f32>(0.0);
      var rise = vec4<f32>(0.0);
      if (b >= first_seen(s.first - s.begin_row) / 64u) {
        let v = scores(at, s, row0, b, head, slope);
        let g = dots(at, s, row0, b, vec2<u32>(6u, head * hd), vec2<u32>(2u, kv_col));
        for (var i = 0u; i < 4u; i++) {
          if (sees(at, b * 64u + at.x + 16u * i)) {
            w[i] = settled(exp_difference(v[i], top) * inverse);
            rise[i] = settled(w[i] * opaque(g[i] - inner));
          }
        }
      }
      if (at.here && b <= at.end / 64u) {
        for (var i = 0u; i < 4u; i++) {
          let j = b * 64u + at.x + 16u * i;
          A[part_at(1u, head, at.row) + j] = bitcast<u32>(w[i]);
          A[part_at(2u, head, at.row) + j] = bitcast<u32>(rise[i]);
        }
      }
    }
    workgroupBarrier();
  }
}

// gq = scale * dS k, of 64 columns of a head.
@compute @workgroup_size(256)
fn attention_back_q_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let thread = woven(index);
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let hd = int_at(2u);
  let head = u / TILES % int_at(0u);
  let t = u % TILES;
  let row0 = u / TILES / int_at(0u) * 16u;
  let tile_end = min(row0 + 16u, rows(0u));
  var row = row0;
  while (row < tile_end) {
    let s = stretch_at(thread, row, tile_end);
    row = s.last;
    let at = spot_of(thread, row0, s);
    let last = last_seen(s.last - 1u - s.begin_row, s.length);
    var total = vec4<f32>(zero());
    for (var j0 = 0u; j0 <= last; j0 += 32u) {
      workgroupBarrier();
      for (var i = thread; i < 512u; i += 256u) {
        let to = row0 + i / 32u;
        let k = i % 32u;
        let word = i / 32u * 17u + k / 4u;
        weights[word][k % 4u] = zero();
        if (to >= s.first && to < s.last && j0 + k <= last_seen(to - s.begin_row, s.length)) {
          weights[word][k % 4u] = load(part_at(2u, head, to) + j0 + k);
        }
      }
      stage_rows(thread, 1u, s.begin_row + j0, head / (int_at(0u) / int_at(1u)) * hd + t * 64u,
          s.length - j0, tile_width(t));
      workgroupBarrier();
      var chains = Chains(vec4<f32>(zero()), vec4<f32>(zero()));
      if (j0 + 31u <= at.end) {
        for (var j = 0u; j < 32u; j += 4u) {
          add_four(&chains, weights[at.y * 17u + j / 4u], j, at.x, false);
        }
      } else {  // a key that the row does not see may not be finite
        for (var j = 0u; j0 + j <= at.end; j++) {
          chains[j % 2u] += times(weights[at.y * 17u + j / 4u][j % 4u], chunk[j * 16u + at.x]);
        }
      }
      total += chains[0] + chains[1];
    }
    if (at.here) {
      store_words(place(7u, at.row) + head * hd + t * 64u, tile_width(t), at.x,
          total * real_at(0u));
    }
  }
}

// Of 32 queries of a sequence from p0 on: adds part[p][j] * x[p] to the sum of position j.
fn add_queries(sum: vec4<f32>, at: Spot, s: Stretch, row0: u32, section: u32, operand: u32,
    head: u32, t: u32, p0: u32) -> vec4<f32> {
  let thread = at.y * 16u + at.x;
  workgroupBarrier();
  for (var i = thread; i < 512u; i += 256u) {
    let row = row0 + i % 16u;
    let p = i / 16u;
    let word = i % 16u * 17u + p / 4u;
    weights[word][p % 4u] = zero();
    if (p0 + p < s.length && row >= s.first && row < s.last) {
      weights[word][p % 4u] = load(part_at(section, head, s.begin_row + p0 + p) + row -
          s.begin_row);
    }
  }
  stage_rows(thread, operand, s.begin_row + p0, head * int_at(2u) + t * 64u, s.length - p0,
      tile_width(t));
  workgroupBarrier();
  var chains = Chains(vec4<f32>(zero()), vec4<f32>(zero()));
  for (var j = 0u; j < 32u; j += 4u) {
    add_four(&chains, weights[at.y * 17u + j / 4u], j, at.x, false);
  }
  return sum + (chains[0] + chains[1]);
}

// gk = scale * dS^T q or gv = P^T gy, of 64 columns of a KV head.
@compute @workgroup_size(256)
fn attention_back_kv_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let thread = woven(index);
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let of_values = u % 2u == 0u;
  let t = u / 2u % TILES;
  let kv_head = u / (2u * TILES) % int_at(1u);
  let row0 = u / (2u * TILES) / int_at(1u) * 16u;
  let share = int_at(0u) / int_at(1u);
  let tile_end = min(row0 + 16u, rows(0u));
  var row = row0;
  while (row < tile_end) {
    let s = stretch_at(thread, row, tile_end);
    row = s.last;
    let at = spot_of(thread, row0, s);
    let causal = int_at(4u) != 0u;
    let own_first = select(0u, at.p / 32u * 32u, causal);
    var sum = vec4<f32>(zero());
    for (var i = 0u; i < share; i++) {
      let head = kv_head * share + i;
      for (var p0 = select(0u, (s.first - s.begin_row) / 32u * 32u, causal); p0 < s.length;
           p0 += 32u) {
        let more = add_queries(sum, at, s, row0, select(2u, 1u, of_values),
            select(0u, 6u, of_values), head, t, p0);
        if (p0 >= own_first) { sum = more; }
      }
    }
    if (at.here) {
      let col = kv_head * int_at(2u) + t * 64u;
      if (of_values) { store_words(place(9u, at.row) + col, tile_width(t), at.x, sum); }
      else { store_words(place(8u, at.row) + col, tile_width(t), at.x, sum * real_at(0u)); }
    }
  }
}
