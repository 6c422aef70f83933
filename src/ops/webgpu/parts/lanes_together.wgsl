// What the threads of a subgroup find out together before one of them tells the workgroup.
// lanes_apart.wgsl is for devices without subgroups.

fn most_of_lanes(v: u32) -> u32 { return subgroupMax(v); }
fn sum_of_lanes(v: vec2<i32>) -> vec2<i32> { return subgroupAdd(v); }
fn speaks_for_lanes() -> bool { return subgroupElect(); }
