// adamw with a master that kernels read as panels, which follow at once (masters.wgsl).

@compute @workgroup_size(64)
fn adamw_to_panels(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  let at = cell_of(u, cols(2u));
  if (u < units() && at.x < rows(2u) && at.y < cols(2u)) {
    put_panel(at.x, at.y, adamw_at(at.x, at.y));
  }
}
