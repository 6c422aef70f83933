// Every thread for itself: lanes_together.wgsl is for devices with subgroups.

fn most_of_lanes(v: u32) -> u32 { return v; }
fn sum_of_lanes(v: vec2<i32>) -> vec2<i32> { return v; }
fn speaks_for_lanes() -> bool { return true; }
