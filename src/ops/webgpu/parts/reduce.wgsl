// Reductions over the first 64 threads of a workgroup, its lanes, for all of its threads.

var<workgroup> lane_values: array<f32, 64>;
var<workgroup> eighths: array<f32, 8>;

// 64 values are added by halves (rule 4): 32, 16, 8, 4, 2, 1. So eight that are eight apart, then
// what the eighths give.
fn halves(v: array<f32, 8>) -> f32 {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

fn tree_sum(thread: u32, value: f32) -> f32 {
  workgroupBarrier();
  if (thread < 64u) { lane_values[thread] = value; }
  workgroupBarrier();
  if (thread < 8u) {
    var s: array<f32, 8>;
    for (var i = 0u; i < 8u; i++) { s[i] = lane_values[thread + 8u * i]; }
    eighths[thread] = halves(s);
  }
  workgroupBarrier();
  var u: array<f32, 8>;
  for (var i = 0u; i < 8u; i++) { u[i] = eighths[i]; }
  return halves(u);
}

var<workgroup> lane_maxima: array<i32, 64>;
var<workgroup> eighth_maxima: array<i32, 8>;

fn lane_max(thread: u32, value: i32) -> i32 {
  workgroupBarrier();
  if (thread < 64u) { lane_maxima[thread] = value; }
  workgroupBarrier();
  if (thread < 8u) {
    var most = lane_maxima[thread];
    for (var i = 1u; i < 8u; i++) { most = max(most, lane_maxima[thread + 8u * i]); }
    eighth_maxima[thread] = most;
  }
  workgroupBarrier();
  var most = eighth_maxima[0];
  for (var i = 1u; i < 8u; i++) { most = max(most, eighth_maxima[i]); }
  return most;
}

// Floats in the order of integers, NaN above all. of_key: back.
fn key_of(x: f32) -> i32 {
  let b = bitcast<i32>(x);
  return b ^ ((b >> 31u) & 0x7FFFFFFF);
}
fn of_key(key: i32) -> f32 { return bitcast<f32>(key ^ ((key >> 31u) & 0x7FFFFFFF)); }
const NO_KEY = -0x7FFFFFFF;
