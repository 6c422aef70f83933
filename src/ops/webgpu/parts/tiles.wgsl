// Products in f32 for many rows: a workgroup makes a tile of TILE_ROWS x TILE_OUTPUTS results, a
// thread ROW_FOURS times four rows of OUT_FOURS times four outputs. Both sides pass through
// workgroup memory STEP elements at a time, and what the next step needs is on its way while this
// one computes. A chunk of rule 3 is 32 / STEP steps, its even and odd elements in chains of their
// own. LANES chunks are computed side by side, each by threads of its own, and added in order.
// Beyond the end both sides are 0, which leaves a sum from +0 as it is.
//
// A side comes in blocks of four lines by four words: left_line() and right_line() of the kernel
// return such a line. LEFT_TURNED, RIGHT_TURNED: lines are results, and their words elements;
// otherwise lines are elements, and their words results.

const LEFT = TILE_ROWS / 4u;
const RIGHT = TILE_OUTPUTS / 4u;
const ACROSS = RIGHT / OUT_FOURS;  // threads
const DOWN = LEFT / ROW_FOURS;
const TEAM = ACROSS * DOWN;  // threads of a chunk
const THREADS = TEAM * LANES;
const STEP_FOURS = STEP / 4u;
const PITCH = LEFT + RIGHT;
const BLOCKS = PITCH * STEP_FOURS;
const PARTS = (BLOCKS + TEAM - 1u) / TEAM;
// What is written together lies in different banks: every four elements begin so much later.
const SKEW = 8u / STEP_FOURS;
const WARP_ACROSS = select(4u, 8u, ACROSS % 8u == 0u && DOWN % 4u == 0u);
const WARP_DOWN = 32u / WARP_ACROSS;
const SLOTS = ROW_FOURS * OUT_FOURS;
const CHUNKS = 32u * LANES;  // elements

const STAGE = STEP * PITCH + 8u;
const STAGED = BUFFERS * STAGE;

const PARTS_AT = LANES * STAGED;

// Of each lane [element][left, right]; then, of all lanes but the first, [sums of four][thread].
var<workgroup> staged: array<vec4<f32>, PARTS_AT + (LANES - 1u) * 4u * SLOTS * TEAM>;

alias Tile = array<vec4<f32>, 4>;   // of four result rows: four columns
alias Tiles = array<Tile, SLOTS>;   // [four of rows][four of outputs]
alias Fetched = array<Tile, PARTS>;

// Where a workgroup's tile begins, and which results of it are a thread's.
struct Place {
  m0: u32,
  n0: u32,
  down: u32,
  across: u32,
  lane: u32,  // which of the chunks side by side
  mate: u32,  // which thread of it
}
// Threads of 32 neighbors make a block of 4 by 8 or 8 by 4 where there are as many. Two neighbors
// read the same words of the right, and every other two the same of the left: a device with 32
// banks then reads four words for each of 16 threads at once.
fn place_of(u: u32, outputs: u32, thread: u32) -> Place {
  let tiles = (outputs + TILE_OUTPUTS - 1u) / TILE_OUTPUTS;
  let mate = thread % TEAM;
  var down = mate / ACROSS;
  var across = mate % ACROSS;
  if (ACROSS % WARP_ACROSS == 0u && DOWN % WARP_DOWN == 0u) {
    let warp = mate / 32u;
    let warps = max(ACROSS / WARP_ACROSS, 1u);
    let t = mate % 32u;
    down = warp / warps * WARP_DOWN + t / (2u * WARP_ACROSS) * 2u + t % 2u;
    across = warp % warps * WARP_ACROSS + t / 2u % WARP_ACROSS;
  }
  return Place(u / tiles * TILE_ROWS, u % tiles * TILE_OUTPUTS, down, across,
      thread / TEAM, mate);
}

// Element four and column four of a block of a side.
fn block_of(b: u32, turned: bool, width: u32) -> vec2<u32> {
  if (turned) { return vec2<u32>(b % STEP_FOURS, b / STEP_FOURS); }
  return vec2<u32>(b / width, b % width);
}
// Of the chunk of this thread's lane, where the first one's step begins at element `begin`.
fn fetch_step(at: Place, begin: u32, count: u32) -> Fetched {
  let e0 = begin + at.lane * 32u;
  var f: Fetched;
  for (var p = 0u; p < PARTS; p++) {
    let b = at.mate + p * TEAM;
    if (b < LEFT * STEP_FOURS) {
      let block = block_of(b, LEFT_TURNED, LEFT);
      let e = e0 + block.x * 4u;
      let m = at.m0 + block.y * 4u;
      for (var j = 0u; j < 4u; j++) {
        if (LEFT_TURNED) { f[p][j] = left_line(m + j, e, count); }
        else { f[p][j] = left_line(e + j, m, count); }
      }
    } else if (b < BLOCKS) {
      let block = block_of(b - LEFT * STEP_FOURS, RIGHT_TURNED, RIGHT);
      let e = e0 + block.x * 4u;
      let n = at.n0 + block.y * 4u;
      for (var j = 0u; j < 4u; j++) {
        if (RIGHT_TURNED) { f[p][j] = right_line(n + j, e, count); }
        else { f[p][j] = right_line(e + j, n, count); }
      }
    }
  }
  return f;
}
fn put_block(t: Tile, turned: bool, block: vec2<u32>, first: u32, origin: u32) {
  let to = origin + block.x * (4u * PITCH + SKEW) + first + block.y;
  if (turned) {
    staged[to] = vec4<f32>(t[0].x, t[1].x, t[2].x, t[3].x);
    staged[to + PITCH] = vec4<f32>(t[0].y, t[1].y, t[2].y, t[3].y);
    staged[to + 2u * PITCH] = vec4<f32>(t[0].z, t[1].z, t[2].z, t[3].z);
    staged[to + 3u * PITCH] = vec4<f32>(t[0].w, t[1].w, t[2].w, t[3].w);
  } else {
    staged[to] = t[0];
    staged[to + PITCH] = t[1];
    staged[to + 2u * PITCH] = t[2];
    staged[to + 3u * PITCH] = t[3];
  }
}
fn put_step(f: ptr<function, Fetched>, at: Place, origin: u32) {
  for (var p = 0u; p < PARTS; p++) {
    let b = at.mate + p * TEAM;
    if (b < LEFT * STEP_FOURS) {
      put_block((*f)[p], LEFT_TURNED, block_of(b, LEFT_TURNED, LEFT), 0u, origin);
    } else if (b < BLOCKS) {
      put_block((*f)[p], RIGHT_TURNED, block_of(b - LEFT * STEP_FOURS, RIGHT_TURNED, RIGHT), LEFT,
          origin);
    }
  }
}

fn add_element(sum: ptr<function, Tiles>, left: u32, right: u32) {
  var b: array<vec4<f32>, OUT_FOURS>;
  for (var j = 0u; j < OUT_FOURS; j++) { b[j] = staged[right + j * ACROSS]; }
  for (var i = 0u; i < ROW_FOURS; i++) {
    let a = staged[left + i * DOWN];
    for (var j = 0u; j < OUT_FOURS; j++) {
      (*sum)[i * OUT_FOURS + j][0] += times(a.x, b[j]);
      (*sum)[i * OUT_FOURS + j][1] += times(a.y, b[j]);
      (*sum)[i * OUT_FOURS + j][2] += times(a.z, b[j]);
      (*sum)[i * OUT_FOURS + j][3] += times(a.w, b[j]);
    }
  }
}
fn add_step(even: ptr<function, Tiles>, odd: ptr<function, Tiles>, origin: u32, at: Place) {
  var left = origin + at.down;
  var right = origin + LEFT + at.across;
  for (var four = 0u; four < STEP_FOURS; four++) {
    add_element(even, left, right);
    add_element(odd, left + PITCH, right + PITCH);
    add_element(even, left + 2u * PITCH, right + 2u * PITCH);
    add_element(odd, left + 3u * PITCH, right + 3u * PITCH);
    left += 4u * PITCH + SKEW;
    right += 4u * PITCH + SKEW;
  }
}
fn clear(t: ptr<function, Tiles>) {
  for (var s = 0u; s < SLOTS; s++) {
    for (var i = 0u; i < 4u; i++) { (*t)[s][i] = vec4<f32>(zero()); }
  }
}
// The chunks from element e0 on, the first step of which is `fetched`; afterwards that of the next
// ones is. Sums are those of the first lane's threads.
fn add_chunk(sum: ptr<function, Tiles>, fetched: ptr<function, Fetched>, at: Place, e0: u32,
    count: u32) {
  var even: Tiles;
  var odd: Tiles;
  clear(&even);
  clear(&odd);
  for (var s = 0u; s < 32u / STEP; s++) {
    let origin = at.lane * STAGED + s % BUFFERS * STAGE;
    put_step(fetched, at, origin);
    workgroupBarrier();
    if (s + 1u < 32u / STEP) { *fetched = fetch_step(at, e0 + (s + 1u) * STEP, count); }
    else if (e0 + CHUNKS < count) { *fetched = fetch_step(at, e0 + CHUNKS, count); }
    add_step(&even, &odd, origin, at);
    if (BUFFERS == 1u && (LANES == 1u || s + 1u < 32u / STEP)) { workgroupBarrier(); }
  }
  if (LANES > 1u) {
    if (at.lane > 0u) {
      for (var s = 0u; s < 4u * SLOTS; s++) {
        staged[PARTS_AT + ((at.lane - 1u) * 4u * SLOTS + s) * TEAM + at.mate] =
            even[s / 4u][s % 4u] + odd[s / 4u][s % 4u];
      }
    }
    workgroupBarrier();
    if (at.lane > 0u) { return; }
  }
  for (var s = 0u; s < 4u * SLOTS; s++) {
    var total = (*sum)[s / 4u][s % 4u] + (even[s / 4u][s % 4u] + odd[s / 4u][s % 4u]);
    for (var l = 0u; l + 1u < LANES; l++) {
      total += staged[PARTS_AT + (l * 4u * SLOTS + s) * TEAM + at.mate];
    }
    (*sum)[s / 4u][s % 4u] = total;
  }
}
