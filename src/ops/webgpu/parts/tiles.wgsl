// Products in f32 for many rows: a workgroup makes a tile of TILE_ROWS x TILE_OUTPUTS results, a
// thread ROW_FOURS times four rows of OUT_FOURS times four outputs. Both sides pass through
// workgroup memory STEP elements at a time, and what the next step needs is on its way while this
// one computes. A chunk of rule 3 is 32 / STEP steps, its even and odd elements in chains of their
// own. Beyond the end both sides are 0, which leaves a sum from +0 as it is.
//
// A side comes in blocks of four lines by four words: left_line() and right_line() of the kernel
// return such a line. LEFT_TURNED, RIGHT_TURNED: lines are results, and their words elements;
// otherwise lines are elements, and their words results.

const LEFT = TILE_ROWS / 4u;
const RIGHT = TILE_OUTPUTS / 4u;
const ACROSS = RIGHT / OUT_FOURS;  // threads
const DOWN = LEFT / ROW_FOURS;
const THREADS = ACROSS * DOWN;
const STEP_FOURS = STEP / 4u;
const PITCH = LEFT + RIGHT;
const BLOCKS = PITCH * STEP_FOURS;
const PARTS = (BLOCKS + THREADS - 1u) / THREADS;
// What is written and read together lies in different banks: columns are shuffled in eights.
const SHUFFLE = 8u / STEP_FOURS;
const SLOTS = ROW_FOURS * OUT_FOURS;

var<workgroup> staged: array<vec4<f32>, BUFFERS * STEP * PITCH>;  // [element][left, right]

alias Tile = array<vec4<f32>, 4>;   // of four result rows: four columns
alias Tiles = array<Tile, SLOTS>;   // [four of rows][four of outputs]
alias Fetched = array<Tile, PARTS>;

// Where a workgroup's tile begins, and which results of it are a thread's.
struct Place {
  m0: u32,
  n0: u32,
  down: u32,
  across: u32,
}
// Threads of 32 neighbors make four by eight blocks where there are that many.
fn place_of(u: u32, outputs: u32, thread: u32) -> Place {
  let tiles = (outputs + TILE_OUTPUTS - 1u) / TILE_OUTPUTS;
  let warp = thread / 32u;
  var down = thread / ACROSS;
  var across = thread % ACROSS;
  if (ACROSS % 8u == 0u && DOWN % 4u == 0u) {
    down = warp / (ACROSS / 8u) * 4u + thread % 32u / 8u;
    across = warp % max(ACROSS / 8u, 1u) * 8u + thread % 8u;
  }
  return Place(u / tiles * TILE_ROWS, u % tiles * TILE_OUTPUTS, down, across);
}

// Element four and column four of a block of a side.
fn block_of(b: u32, turned: bool, width: u32) -> vec2<u32> {
  if (turned) { return vec2<u32>(b % STEP_FOURS, b / STEP_FOURS); }
  return vec2<u32>(b / width, b % width);
}
fn fetch_step(at: Place, e0: u32, count: u32, thread: u32) -> Fetched {
  var f: Fetched;
  for (var p = 0u; p < PARTS; p++) {
    let b = thread + p * THREADS;
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
fn put_block(t: Tile, turned: bool, block: vec2<u32>, first: u32, buffer: u32) {
  let to = (buffer * STEP + block.x * 4u) * PITCH + ((first + block.y) ^ (block.x * SHUFFLE));
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
fn put_step(f: ptr<function, Fetched>, buffer: u32, thread: u32) {
  for (var p = 0u; p < PARTS; p++) {
    let b = thread + p * THREADS;
    if (b < LEFT * STEP_FOURS) {
      put_block((*f)[p], LEFT_TURNED, block_of(b, LEFT_TURNED, LEFT), 0u, buffer);
    } else if (b < BLOCKS) {
      put_block((*f)[p], RIGHT_TURNED, block_of(b - LEFT * STEP_FOURS, RIGHT_TURNED, RIGHT), LEFT,
          buffer);
    }
  }
}

fn add_element(sum: ptr<function, Tiles>, line: u32, at: Place, shuffle: u32) {
  var b: array<vec4<f32>, OUT_FOURS>;
  for (var j = 0u; j < OUT_FOURS; j++) {
    b[j] = staged[line + ((LEFT + at.across + j * ACROSS) ^ shuffle)];
  }
  for (var i = 0u; i < ROW_FOURS; i++) {
    let a = staged[line + ((at.down + i * DOWN) ^ shuffle)];
    for (var j = 0u; j < OUT_FOURS; j++) {
      (*sum)[i * OUT_FOURS + j][0] += times(a.x, b[j]);
      (*sum)[i * OUT_FOURS + j][1] += times(a.y, b[j]);
      (*sum)[i * OUT_FOURS + j][2] += times(a.z, b[j]);
      (*sum)[i * OUT_FOURS + j][3] += times(a.w, b[j]);
    }
  }
}
fn add_step(even: ptr<function, Tiles>, odd: ptr<function, Tiles>, buffer: u32, at: Place) {
  for (var four = 0u; four < STEP_FOURS; four++) {
    let line = (buffer * STEP + four * 4u) * PITCH;
    let shuffle = four * SHUFFLE;
    add_element(even, line, at, shuffle);
    add_element(odd, line + PITCH, at, shuffle);
    add_element(even, line + 2u * PITCH, at, shuffle);
    add_element(odd, line + 3u * PITCH, at, shuffle);
  }
}
fn clear(t: ptr<function, Tiles>) {
  for (var s = 0u; s < SLOTS; s++) {
    for (var i = 0u; i < 4u; i++) { (*t)[s][i] = vec4<f32>(zero()); }
  }
}
// The chunk that begins at element e0, the first step of which is `fetched`; afterwards that of the
// next chunk is.
fn add_chunk(sum: ptr<function, Tiles>, fetched: ptr<function, Fetched>, at: Place, e0: u32,
    count: u32, thread: u32) {
  var even: Tiles;
  var odd: Tiles;
  clear(&even);
  clear(&odd);
  for (var s = 0u; s < 32u / STEP; s++) {
    let buffer = s % BUFFERS;
    put_step(fetched, buffer, thread);
    workgroupBarrier();
    if (e0 + (s + 1u) * STEP < (count + 31u) / 32u * 32u) {
      *fetched = fetch_step(at, e0 + (s + 1u) * STEP, count, thread);
    }
    add_step(&even, &odd, buffer, at);
    if (BUFFERS == 1u || 32u / STEP == 1u) { workgroupBarrier(); }
  }
  for (var s = 0u; s < SLOTS; s++) {
    for (var i = 0u; i < 4u; i++) { (*sum)[s][i] += even[s][i] + odd[s][i]; }
  }
}
