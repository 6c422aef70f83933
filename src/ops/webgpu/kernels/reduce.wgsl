// Reductions over 64 lanes, one thread each; TEAMS of them side by side in a workgroup, where a kernel has several.

var<workgroup> lane_values: array<f32, TEAMS * 64u>;
var<workgroup> eighths: array<f32, TEAMS * 8u>;

// The sum over a team for all of its threads, in the order of rule 4: halves are added, 32, 16, 8, 4, 2, 1.
fn tree_sum(thread: u32, value: f32) -> f32 {
  let lane = thread % 64u;
  let team = thread / 64u;
  workgroupBarrier();
  lane_values[thread] = value;
  workgroupBarrier();
  if (lane < 8u) {
    var s: array<f32, 8>;
    for (var i = 0u; i < 8u; i++) { s[i] = lane_values[thread + 8u * i]; }
    eighths[team * 8u + lane] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }
  workgroupBarrier();
  var u: array<f32, 8>;
  for (var i = 0u; i < 8u; i++) { u[i] = eighths[team * 8u + i]; }
  return ((u[0] + u[4]) + (u[2] + u[6])) + ((u[1] + u[5]) + (u[3] + u[7]));
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
