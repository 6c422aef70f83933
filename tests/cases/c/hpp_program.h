// Of hpp.h, which includes it: saved programs.
namespace hpp {

inline result network_save_program(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->save_program(sv(s, n)); });
}
inline result step_mesh_save_program(handle h, std::int64_t ticks, handle* o, err e) {
  return gives(o, e, [&] { return As<StepMesh>(h)->save_program(ticks); });
}
inline result program_create(handle h, handle b, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Program(*As<Network>(h), *As<Bytes>(b), sv(s, n)); });
}
inline result program_set(handle h, text s, size n, const double* v, size count, err e) {
  if (count != 1) return loom_program_set(h, s, n, v, count, e);
  return attempt(e, [&] { As<Program>(h)->set(sv(s, n), *v); });
}
inline result program_write(handle h, text s, size n, const float* v, size count, err e) {
  return attempt(e, [&] { As<Program>(h)->write(sv(s, n), sp(v, count)); });
}
inline result program_write_f64(handle h, text s, size n, const double* v, size count, err e) {
  return attempt(e, [&] { As<Program>(h)->write(sv(s, n), sp(v, count)); });
}
inline result program_write_ids(handle h, text s, size n, const std::int32_t* v, size count,
                                err e) {
  return attempt(e, [&] { As<Program>(h)->write_ids(sv(s, n), sp(v, count)); });
}
inline result program_run(handle h, err e) {
  return attempt(e, [&] { As<Program>(h)->run(); });
}
inline result program_read(handle h, text s, size n, float* v, size count, err e) {
  return attempt(e, [&] { As<Program>(h)->read(sv(s, n), sp(v, count)); });
}
inline result program_read_f64(handle h, text s, size n, double* v, size count, err e) {
  return attempt(e, [&] { As<Program>(h)->read(sv(s, n), sp(v, count)); });
}
inline result program_reset(handle h, err e) {
  return attempt(e, [&] { As<Program>(h)->reset(); });
}
inline result program_text(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Program>(h)->text(); });
}
inline result program_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Program>(h)->info(); });
}

}  // namespace hpp
