// Reductions over 64 lanes, one thread each; TEAMS of them side by side in a workgroup, where a kernel has several. Threads beyond hear the last team's.

var<workgroup> lane_values: array<f32, TEAMS * 64u>;
var<workgroup> eighths: array<f32, TEAMS * 8u>;

// 64 values are added by halves (rule 4): 32, 16, 8, 4, 2, 1. So eight that are eight apart, then what the eighths give.
fn halves(v: array<f32, 8>) -> f32 { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

// The sum over a team for all of its threads.
fn tree_sum(thread: u32, value: f32) -> f32 {
  let lane = thread % 64u;
  let team = thread / 64u;
  workgroupBarrier();
  if (team < TEAMS) { lane_values[thread] = value; }
  workgroupBarrier();
  if (lane < 8u && team < TEAMS) {
    var s: array<f32, 8>;
    for (var i = 0u; i < 8u; i++) { s[i] = lane_values[thread + 8u * i]; }
    eighths[team * 8u + lane] = halves(s);
  }
  workgroupBarrier();
  var u: array<f32, 8>;
  for (var i = 0u; i < 8u; i++) { u[i] = eighths[min(team, TEAMS - 1u) * 8u + i]; }
  return halves(u);
}

var<workgroup> lane_maxima: array<i32, TEAMS * 64u>;
var<workgroup> eighth_maxima: array<i32, TEAMS * 8u>;

// The largest value of a team, for all of its threads.
fn team_max(thread: u32, value: i32) -> i32 {
  let lane = thread % 64u;
  let team = thread / 64u;
  workgroupBarrier();
  lane_maxima[thread] = value;
  workgroupBarrier();
  if (lane < 8u) {
    var most = lane_maxima[thread];
    for (var i = 1u; i < 8u; i++) { most = max(most, lane_maxima[thread + 8u * i]); }
    eighth_maxima[team * 8u + lane] = most;
  }
  workgroupBarrier();
  var most = eighth_maxima[team * 8u];
  for (var i = 1u; i < 8u; i++) { most = max(most, eighth_maxima[team * 8u + i]); }
  return most;
}
// The largest value of the workgroup.
fn group_max(thread: u32, value: i32) -> i32 {
  var most = team_max(thread, value);
  for (var t = 0u; t < TEAMS; t++) {
    for (var i = 0u; i < 8u; i++) { most = max(most, eighth_maxima[t * 8u + i]); }
  }
  return most;
}
