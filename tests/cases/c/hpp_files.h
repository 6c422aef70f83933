// Of hpp.h, which includes it: files, and networks of them.
namespace hpp {

inline result file_open(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return File(sv(s, n)); });
}
inline result file_info(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<File>(h)->info(sv(s, n)); });
}
inline result file_convert(text i, size in, text q, size qn, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return loom::convert(sv(i, in), sv(q, qn), sv(s, n)); });
}
inline result file_hash(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<File>(h)->hash(sv(s, n)); });
}
inline result file_open_bytes(handle b, handle* o, err e) {
  return gives(o, e, [&] { return File(*As<Bytes>(b)); });
}
inline result file_weights(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<File>(h)->weights(sv(s, n)); });
}
inline result network_load_file(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<File>(h)->network(); });
}
inline result network_from_weights(handle h, text s, size n, handle* network, handle* report,
                                   err e) {
  return gives(network, e, [&] {
    loom::FromWeights made = loom::from_weights(*As<File>(h), sv(s, n));
    *report = kept(made.report);
    return std::move(made.network);
  });
}
inline result network_save_json(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->save_json(); });
}

}  // namespace hpp
