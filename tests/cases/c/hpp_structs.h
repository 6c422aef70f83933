// Of hpp.h, which includes it: the calls with structs of options, which are aggregates in C++.
namespace hpp {

inline result session_create_with(handle h, const loom::SessionOptions& p, handle* o, err e) {
  return gives(o, e, [&] { return Session(*As<Network>(h), p); });
}
inline result seq2seq_create_with(handle h, const loom::Seq2SeqOptions& p, handle* o, err e) {
  return gives(o, e, [&] { return Seq2Seq(*As<Network>(h), p); });
}
inline result step_mesh_create_with(handle h, const loom::StepMeshOptions& p, handle* o, err e) {
  return gives(o, e, [&] { return StepMesh(*As<Network>(h), p); });
}
inline result online_create_with(handle h, text s, size n, const loom::OnlineOptions& p, handle* o,
                                 err e) {
  return gives(o, e, [&] { return Online(*As<Network>(h), sv(s, n), p); });
}
inline result seq2seq_search_with(handle h, std::int64_t rows, const double* x, size n,
                                  const loom::SearchOptions& p, handle* o, err e) {
  return gives(o, e, [&] { return As<Seq2Seq>(h)->search(rows, sp(x, n), p); });
}
inline result trainer_create_with(handle h, handle d, const loom::TrainingOptions& p, handle* o,
                                  err e) {
  return gives(o, e, [&] { return Trainer(*As<Network>(h), *As<Data>(d), p); });
}
inline result generator_create_with(handle h, const loom::GeneratorOptions& p, handle* o, err e) {
  return gives(o, e, [&] { return Generator(*As<Model>(h), p); });
}
inline result generator_start_with(handle h, std::int64_t q, const loom::SamplingOptions& p,
                                   err e) {
  return attempt(e, [&] { As<Generator>(h)->start(p, q); });
}

}  // namespace hpp
