// The functions of loom.h once more, each through the classes of loom.hpp: what the C++ program of
// the cases calls.
#include <concepts>

#include <loom/loom.hpp>

namespace hpp {

using loom::Bytes, loom::Program, loom::Data, loom::Decoder, loom::Error, loom::Evaluator,
    loom::File, loom::Generator, loom::Model, loom::Network, loom::Object, loom::Online, loom::Onnx,
    loom::Population, loom::Predictor, loom::Seq2Seq, loom::Session, loom::StepMesh,
    loom::Tokenizer, loom::Trainer, loom::Training;
using text = const char*;
using size = std::size_t;
using result = std::int32_t;
using handle = loom_handle;
using err = loom_error*;

// An object that does not give its handle back: here handles belong to the case.
template <class T>
union As {
  T object;
  explicit As(handle h) : object(h) {}
  explicit As(T&& t) : object(std::move(t)) {}
  ~As() {}
  T* operator->() { return &object; }
  T& operator*() { return object; }
};

template <std::derived_from<Object> T>
handle kept(T&& object) {
  return As<T>(std::move(object))->handle();
}
inline handle kept(const std::string& s) {
  Bytes b = Bytes::create(s.size());
  std::memcpy(b.span().data(), s.data(), s.size());
  return kept(std::move(b));
}
inline handle kept(const std::vector<std::int32_t>& ids) {
  return kept(std::string(reinterpret_cast<const char*>(ids.data()), ids.size() * 4));
}

template <class F>
result attempt(err e, F f) {
  try {
    f();
    return LOOM_OK;
  } catch (const Error& x) {
    e->code = x.code();
    std::snprintf(e->message, sizeof e->message, "%s", x.what());
    return x.code();
  }
}
// What gives a new object, text or ids.
template <class F>
result gives(handle* out, err e, F f) {
  return attempt(e, [&] { *out = kept(f()); });
}

inline std::string_view sv(text s, size n) { return {s, n}; }
template <class T>
std::span<T> sp(T* p, size n) {
  return {p, n};
}

inline std::string version_text;
inline text version() { return (version_text = loom::version()).c_str(); }
inline result abi_version() { return loom_abi_version(); }
inline result numerics_version() { return loom_numerics_version(); }
inline text code_name(result code) { return loom_code_name(code); }
inline result info(handle* o, err e) {
  return gives(o, e, [] { return loom::info(); });
}
inline result audit(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return loom::audit(sv(s, n)); });
}
inline result fake_quantize(const float* v, size n, text f, size fn, std::int64_t rows, float* o,
                            size on, err e) {
  return attempt(e, [&] { loom::fake_quantize(sp(v, n), sv(f, fn), sp(o, on), rows); });
}
inline result verify(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return loom::verify(sv(s, n)); });
}
inline result release(handle h, err e) { return loom_release(h, e); }
inline result cancel(handle h, err e) {
  return attempt(e, [&] { As<Session>(h)->cancel(); });
}
inline result kind(handle h, std::int32_t* o, err e) { return loom_kind(h, o, e); }
inline result live_handles(std::int64_t* o, err e) { return loom_live_handles(o, e); }
inline result layer_unregister(text s, size n, std::int32_t version, err e) {
  return attempt(e, [&] { loom::unregister_layer(sv(s, n), version); });
}
inline result bytes_create(std::uint64_t n, handle* o, err e) {
  return gives(o, e, [&] { return Bytes::create(n); });
}
inline result bytes_data(handle h, void** data, std::uint64_t* n, err e) {
  return attempt(e, [&] {
    const auto s = As<Bytes>(h)->span();
    *data = s.data();
    *n = s.size();
  });
}

inline result network_create(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Network::create(sv(s, n)); });
}
inline result network_initialize(handle h, std::uint64_t seed, err e) {
  return attempt(e, [&] { As<Network>(h)->initialize(seed); });
}
inline result network_load(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Network::load(sv(s, n)); });
}
inline result network_load_bytes(handle b, handle* o, err e) {
  return gives(o, e, [&] { return Network::load(*As<Bytes>(b)); });
}
inline result network_save(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Network>(h)->save(sv(s, n)); });
}
inline result network_save_bytes(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->save(); });
}
inline result network_copy(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->copy(); });
}
inline result network_topology(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->topology(); });
}
inline result network_inputs(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->inputs(); });
}
inline result network_set_inputs(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Network>(h)->set_inputs(sv(s, n)); });
}
inline result network_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->info(); });
}
inline result network_revision(handle h, std::uint64_t* revision, err e) {
  return attempt(e, [&] { *revision = As<Network>(h)->revision(); });
}
inline result network_parameters(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->parameters(); });
}
inline result network_blueprint(handle h, text id, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->blueprint(sv(id, n)); });
}
inline result network_digest(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->digest(); });
}
inline result network_dna(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->dna(); });
}
inline result network_compare_dna(handle a, handle b, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(a)->compare_dna(*As<Network>(b)); });
}
inline result network_get_f32(handle h, text p, size pn, text r, size rn, float* v, size n, err e) {
  return attempt(e, [&] { As<Network>(h)->get(sv(p, pn), sv(r, rn), sp(v, n)); });
}
inline result network_get_f64(handle h, text p, size pn, text r, size rn, double* v, size n,
                              err e) {
  return attempt(e, [&] { As<Network>(h)->get(sv(p, pn), sv(r, rn), sp(v, n)); });
}
inline result network_set_f32(handle h, text p, size pn, text r, size rn, const float* v, size n,
                              err e) {
  return attempt(e, [&] { As<Network>(h)->set(sv(p, pn), sv(r, rn), sp(v, n)); });
}
inline result network_set_f64(handle h, text p, size pn, text r, size rn, const double* v, size n,
                              err e) {
  return attempt(e, [&] { As<Network>(h)->set(sv(p, pn), sv(r, rn), sp(v, n)); });
}
inline result network_cell(handle h, text c, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->cell(sv(c, n)); });
}
inline result network_set_cell(handle h, text c, size n, text j, size jn, err e) {
  return attempt(e, [&] { As<Network>(h)->set_cell(sv(c, n), sv(j, jn)); });
}
inline result network_set_links(handle h, text c, size n, text j, size jn, err e) {
  return attempt(e, [&] { As<Network>(h)->set_links(sv(c, n), sv(j, jn)); });
}
inline result network_enable(handle h, text c, size n, std::int32_t on, err e) {
  return attempt(e, [&] { As<Network>(h)->enable(sv(c, n), on != 0); });
}
inline result network_morph(handle h, text f, size fn, text c, size n, err e) {
  return attempt(e, [&] { As<Network>(h)->morph(sv(f, fn), sv(c, n)); });
}
inline result network_load_adapter(handle h, text p, size n, err e) {
  return attempt(e, [&] { As<Network>(h)->load_adapter(sv(p, n)); });
}
inline result network_save_adapter(handle h, text p, size n, err e) {
  return attempt(e, [&] { As<Network>(h)->save_adapter(sv(p, n)); });
}
inline result network_unload_adapter(handle h, err e) {
  return attempt(e, [&] { As<Network>(h)->unload_adapter(); });
}
inline result network_merge_adapter(handle h, err e) {
  return attempt(e, [&] { As<Network>(h)->merge_adapter(); });
}
inline result network_pack(handle h, text f, size n, err e) {
  return attempt(e, [&] { As<Network>(h)->pack(sv(f, n)); });
}
inline result network_program(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->program(sv(s, n)); });
}

inline result session_create(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Session(*As<Network>(h), sv(s, n)); });
}
inline result session_run_f64(handle h, std::int64_t rows, const double* x, size xn, double* y,
                              size yn, err e) {
  return attempt(e, [&] { As<Session>(h)->run(rows, sp(x, xn), sp(y, yn)); });
}
inline result session_run(handle h, std::int64_t rows, const float* x, size xn, float* y, size yn,
                          err e) {
  return attempt(e, [&] { As<Session>(h)->run(rows, sp(x, xn), sp(y, yn)); });
}
inline result session_run_ids(handle h, const std::int32_t* i, size in, float* y, size yn, err e) {
  return attempt(e, [&] { As<Session>(h)->run_ids(sp(i, in), sp(y, yn)); });
}
inline result session_run_tokens(handle h, const std::int32_t* i, size in, const std::int32_t* p,
                                 size pn, const std::int32_t* q, size qn, const std::int32_t* r,
                                 size rn, float* y, size yn, err e) {
  return attempt(e, [&] {
    As<Session>(h)->run_tokens(sp(i, in), sp(p, pn), sp(q, qn), sp(r, rn), sp(y, yn));
  });
}
inline result session_forecast(handle h, text s, size n, const double* x, size xn, handle* o,
                               err e) {
  return gives(o, e, [&] { return As<Session>(h)->forecast(sv(s, n), sp(x, xn)); });
}
inline result session_observe(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Session>(h)->observe(sv(s, n)); });
}
inline result session_statistics(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Session>(h)->statistics(); });
}
inline result session_trace(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Session>(h)->trace(); });
}
inline result session_replay(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Session>(h)->replay(sv(s, n)); });
}
inline result session_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Session>(h)->info(); });
}

inline result seq2seq_create(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Seq2Seq(*As<Network>(h), sv(s, n)); });
}
inline result seq2seq_encode(handle h, std::int64_t rows, const double* x, size n, err e) {
  return attempt(e, [&] { As<Seq2Seq>(h)->encode(rows, sp(x, n)); });
}
inline result seq2seq_step(handle h, const double* x, size n, double* y, size yn, err e) {
  return attempt(e, [&] { As<Seq2Seq>(h)->step(sp(x, n), sp(y, yn)); });
}
inline result seq2seq_reorder(handle h, const std::int32_t* from, size n, err e) {
  return attempt(e, [&] { As<Seq2Seq>(h)->reorder(sp(from, n)); });
}
inline result seq2seq_search(handle h, std::int64_t rows, const double* x, size n, text s, size sn,
                             handle* o, err e) {
  return gives(o, e, [&] { return As<Seq2Seq>(h)->search(rows, sp(x, n), sv(s, sn)); });
}
inline result seq2seq_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Seq2Seq>(h)->info(); });
}
inline result step_mesh_create(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return StepMesh(*As<Network>(h), sv(s, n)); });
}
inline result step_mesh_run(handle h, std::int64_t ticks, const float* x, size xn, float* y,
                            size yn, err e) {
  return attempt(e, [&] { As<StepMesh>(h)->run(ticks, sp(x, xn), sp(y, yn)); });
}
inline result step_mesh_run_f64(handle h, std::int64_t ticks, const double* x, size xn, double* y,
                                size yn, err e) {
  return attempt(e, [&] { As<StepMesh>(h)->run(ticks, sp(x, xn), sp(y, yn)); });
}
inline result step_mesh_run_ids(handle h, std::int64_t ticks, const std::int32_t* x, size xn,
                                float* y, size yn, err e) {
  return attempt(e, [&] { As<StepMesh>(h)->run_ids(ticks, sp(x, xn), sp(y, yn)); });
}
inline result step_mesh_cells(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<StepMesh>(h)->cells(); });
}
inline result step_mesh_value(handle h, text c, size n, std::int64_t stream, double* v, size vn,
                              err e) {
  return attempt(e, [&] { As<StepMesh>(h)->value(sv(c, n), stream, sp(v, vn)); });
}
inline result step_mesh_reset(handle h, err e) {
  return attempt(e, [&] { As<StepMesh>(h)->reset(); });
}
inline result step_mesh_observe(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<StepMesh>(h)->observe(sv(s, n)); });
}
inline result step_mesh_statistics(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<StepMesh>(h)->statistics(); });
}
inline result step_mesh_snapshot(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<StepMesh>(h)->snapshot(); });
}
inline result step_mesh_restore(handle h, handle b, err e) {
  return attempt(e, [&] { As<StepMesh>(h)->restore(*As<Bytes>(b)); });
}
inline result step_mesh_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<StepMesh>(h)->info(); });
}

inline result population_create(text s, size n, std::int64_t threads, handle* o, err e) {
  return gives(o, e, [&] { return Population(sv(s, n), threads); });
}
inline result population_load(handle b, std::int64_t threads, handle* o, err e) {
  return gives(o, e, [&] { return Population::load(*As<Bytes>(b), threads); });
}
inline result population_save(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Population>(h)->save(); });
}
inline result population_evaluate(handle h, err e) {
  return attempt(e, [&] { As<Population>(h)->evaluate(); });
}
inline result population_set_fitness(handle h, const double* v, size n, err e) {
  return attempt(e, [&] { As<Population>(h)->set_fitness(sp(v, n)); });
}
inline result population_step(handle h, err e) {
  return attempt(e, [&] { As<Population>(h)->step(); });
}
inline result population_run(handle h, std::int64_t generations, err e) {
  return attempt(e, [&] { As<Population>(h)->run(generations); });
}
inline result population_activate(handle h, std::int64_t index, const float* x, size xn, float* y,
                                  size yn, err e) {
  return attempt(e, [&] { As<Population>(h)->activate(index, sp(x, xn), sp(y, yn)); });
}
inline result population_reset(handle h, err e) {
  return attempt(e, [&] { As<Population>(h)->reset(); });
}
inline result population_genome(handle h, std::int64_t index, handle* o, err e) {
  return gives(o, e, [&] { return As<Population>(h)->genome(index); });
}
inline result population_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Population>(h)->info(); });
}

inline result population_create_from(handle h, text s, size n, std::int64_t threads, handle* o,
                                     err e) {
  return gives(o, e, [&] { return Population(*As<Network>(h), sv(s, n), threads); });
}
inline result population_network(handle h, std::int64_t index, handle* o, err e) {
  return gives(o, e, [&] { return As<Population>(h)->network(index); });
}
inline result population_set_network(handle h, std::int64_t index, handle network, err e) {
  return attempt(e, [&] { As<Population>(h)->set_network(index, *As<Network>(network)); });
}
inline result network_export(handle h, text s, size n, text p, size pn, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->export_to(sv(s, n), sv(p, pn)); });
}
inline result network_export_bytes(handle h, text s, size n, text p, size pn, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->export_as(sv(s, n), sv(p, pn)); });
}
inline result network_splice(handle a, handle b, text s, size n, handle* child, handle* report,
                             err e) {
  return gives(child, e, [&] {
    std::string done;
    Network made = As<Network>(a)->splice(*As<Network>(b), sv(s, n), &done);
    *report = kept(done);
    return made;
  });
}
inline result network_mutate(handle h, text s, size n, std::uint64_t seed, handle* child,
                             handle* report, err e) {
  return gives(child, e, [&] {
    std::string done;
    Network made = As<Network>(h)->mutate(sv(s, n), seed, &done);
    *report = kept(done);
    return made;
  });
}
inline result network_graft(const std::int64_t* networks, size count, text s, size n, handle* o,
                            err e) {
  return gives(o, e, [&] {
    std::vector<std::unique_ptr<As<Network>>> held;
    std::vector<const Network*> parents;
    for (const std::int64_t one : sp(networks, count)) {
      held.push_back(std::make_unique<As<Network>>(static_cast<handle>(one)));
      parents.push_back(&**held.back());
    }
    return Network::graft(parents, sv(s, n));
  });
}

inline result pause_after(handle h, std::int64_t microseconds, err e) {
  return attempt(e, [&] { As<Session>(h)->pause_after(std::chrono::microseconds(microseconds)); });
}
inline result online_create(handle h, text s, size n, text p, size pn, handle* o, err e) {
  return gives(o, e, [&] { return Online(*As<Network>(h), sv(s, n), sv(p, pn)); });
}
inline result online_answer(handle h, const float* x, size xn, float* y, size yn,
                            std::int64_t* first, err e) {
  return attempt(e, [&] { *first = As<Online>(h)->answer(sp(x, xn), sp(y, yn)); });
}
inline result online_answer_ids(handle h, const std::int32_t* i, size n, float* y, size yn,
                                std::int64_t* first, err e) {
  return attempt(e, [&] { *first = As<Online>(h)->answer_ids(sp(i, n), sp(y, yn)); });
}
inline result online_feedback(handle h, std::int64_t first, const float* y, size n, err e) {
  return attempt(e, [&] { As<Online>(h)->feedback(first, sp(y, n)); });
}
inline result online_feedback_classes(handle h, std::int64_t first, const std::int32_t* c, size n,
                                      err e) {
  return attempt(e, [&] { As<Online>(h)->feedback_classes(first, sp(c, n)); });
}
inline result online_add(handle h, handle d, err e) {
  return attempt(e, [&] { As<Online>(h)->add(*As<Data>(d)); });
}
inline result online_task(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Online>(h)->task(sv(s, n)); });
}
inline result online_learn(handle h, std::int64_t microseconds, std::int64_t steps,
                           std::int64_t* done, err e) {
  return attempt(e, [&] { *done = As<Online>(h)->learn(microseconds, steps); });
}
inline result online_publish(handle h, err e) {
  return attempt(e, [&] { As<Online>(h)->publish(); });
}
inline result online_measure(handle h, handle d, text s, size n, double* accuracy, err e) {
  return attempt(e, [&] { *accuracy = As<Online>(h)->measure(*As<Data>(d), sv(s, n)); });
}
inline result online_commit(handle h, err e) {
  return attempt(e, [&] { As<Online>(h)->commit(); });
}
inline result online_report(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Online>(h)->report(); });
}
inline result online_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Online>(h)->info(); });
}

inline result data_values(const float* x, size n, std::int64_t w, const float* y, size yn,
                          std::int64_t t, handle* o, err e) {
  return gives(o, e, [&] { return Data::values(sp(x, n), w, sp(y, yn), t); });
}
inline result data_id_values(const std::int32_t* i, size n, std::int64_t s, const float* y, size yn,
                             std::int64_t t, handle* o, err e) {
  return gives(o, e, [&] { return Data::id_values(sp(i, n), s, sp(y, yn), t); });
}
inline result data_id_classes(const std::int32_t* i, size n, std::int64_t s, const std::int32_t* c,
                              size cn, handle* o, err e) {
  return gives(o, e, [&] { return Data::id_classes(sp(i, n), s, sp(c, cn)); });
}
inline result data_classes(const float* x, size n, std::int64_t w, const std::int32_t* c, size cn,
                           handle* o, err e) {
  return gives(o, e, [&] { return Data::classes(sp(x, n), w, sp(c, cn)); });
}
inline result data_values_f64(const double* x, size n, std::int64_t w, const double* y, size yn,
                              std::int64_t t, handle* o, err e) {
  return gives(o, e, [&] { return Data::values(sp(x, n), w, sp(y, yn), t); });
}
inline result data_id_values_f64(const std::int32_t* i, size n, std::int64_t s, const double* y,
                                 size yn, std::int64_t t, handle* o, err e) {
  return gives(o, e, [&] { return Data::id_values(sp(i, n), s, sp(y, yn), t); });
}
inline result data_classes_f64(const double* x, size n, std::int64_t w, const std::int32_t* c,
                               size cn, handle* o, err e) {
  return gives(o, e, [&] { return Data::classes(sp(x, n), w, sp(c, cn)); });
}
inline result data_tokens(const std::int32_t* i, size n, const std::int64_t* d, size dn,
                          std::int64_t l, handle* o, err e) {
  return gives(o, e, [&] { return Data::tokens(sp(i, n), sp(d, dn), l); });
}
inline result data_table(text c, size n, text s, size sn, handle* o, err e) {
  return gives(o, e, [&] { return Data::table(sv(c, n), sv(s, sn)); });
}
inline result onnx_load(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Onnx::load(sv(s, n)); });
}
inline result onnx_load_bytes(handle b, handle* o, err e) {
  return gives(o, e, [&] { return Onnx::load(*As<Bytes>(b)); });
}
inline result onnx_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Onnx>(h)->info(); });
}
inline result onnx_run(handle h, text s, size n, const double* v, size vn, handle* outputs,
                       handle* results, err e) {
  return attempt(e, [&] {
    const Onnx::Results r = As<Onnx>(h)->run(sv(s, n), sp(v, vn));
    *outputs = kept(r.outputs);
    *results = kept(std::string(reinterpret_cast<const char*>(r.values.data()),
                                r.values.size() * sizeof(double)));
  });
}
inline result onnx_network(handle h, text s, size n, handle* network, handle* ports, err e) {
  return attempt(e, [&] {
    Onnx::Taken t = As<Onnx>(h)->network(sv(s, n));
    *network = kept(std::move(t.network));
    *ports = kept(t.ports);
  });
}
inline result data_weighted(handle h, const float* w, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Data>(h)->weighted(sp(w, n)); });
}
inline result data_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Data>(h)->info(); });
}

inline result trainer_create(handle h, handle d, text s, size n, text p, size pn, handle* o,
                             err e) {
  return gives(o, e, [&] { return Trainer(*As<Network>(h), *As<Data>(d), sv(s, n), sv(p, pn)); });
}
inline result trainer_step(handle h, std::int64_t steps, std::int64_t* step, double* loss,
                           double* lr, std::int64_t* rows, err e) {
  return attempt(e, [&] {
    const Trainer::Report r = As<Trainer>(h)->step(steps);
    *step = r.step, *loss = r.loss, *lr = r.lr, *rows = r.rows;
  });
}
inline result trainer_step_on(handle h, handle d, std::int64_t* step, double* loss, double* lr,
                              std::int64_t* rows, err e) {
  return attempt(e, [&] {
    const Trainer::Report r = As<Trainer>(h)->step_on(*As<Data>(d));
    *step = r.step, *loss = r.loss, *lr = r.lr, *rows = r.rows;
  });
}
inline result trainer_shard(handle h, std::int64_t n, handle* o, err e) {
  return gives(o, e, [&] { return As<Trainer>(h)->shard(n); });
}
inline result trainer_shard_on(handle h, std::int64_t n, handle d, handle* o, err e) {
  return gives(o, e, [&] { return As<Trainer>(h)->shard(n, *As<Data>(d)); });
}
inline result trainer_apply(handle h, const std::int64_t* shards, size count, std::int64_t* step,
                            double* loss, double* lr, std::int64_t* rows, err e) {
  return attempt(e, [&] {
    std::vector<std::unique_ptr<As<Bytes>>> held;
    std::vector<const Bytes*> list;
    for (const std::int64_t one : sp(shards, count)) {
      held.push_back(std::make_unique<As<Bytes>>(static_cast<handle>(one)));
      list.push_back(&**held.back());
    }
    const Trainer::Report r = As<Trainer>(h)->apply(list);
    *step = r.step, *loss = r.loss, *lr = r.lr, *rows = r.rows;
  });
}
inline result trainer_moments(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Trainer>(h)->moments(); });
}
inline result trainer_get_moment(handle h, text s, size n, double* v, size count, err e) {
  return attempt(e, [&] { As<Trainer>(h)->get_moment(sv(s, n), sp(v, count)); });
}
inline result trainer_set_moment(handle h, text s, size n, const double* v, size count, err e) {
  return attempt(e, [&] { As<Trainer>(h)->set_moment(sv(s, n), sp(v, count)); });
}
inline result trainer_set_step(handle h, std::int64_t step, err e) {
  return attempt(e, [&] { As<Trainer>(h)->set_step(step); });
}
inline result trainer_extend(handle h, std::int64_t steps, std::int64_t epochs, std::int64_t* total,
                             err e) {
  return attempt(e, [&] { *total = As<Trainer>(h)->extend(steps, epochs); });
}
inline result trainer_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Trainer>(h)->info(); });
}
inline result trainer_observe(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Trainer>(h)->observe(sv(s, n)); });
}
inline result trainer_statistics(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Trainer>(h)->statistics(); });
}
inline result trainer_digest(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Trainer>(h)->digest(); });
}
inline result trainer_save(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Trainer>(h)->save(sv(s, n)); });
}
inline result trainer_save_bytes(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Trainer>(h)->save(); });
}
inline result trainer_resume(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Trainer>(h)->resume(sv(s, n)); });
}
inline result trainer_resume_bytes(handle h, handle b, err e) {
  return attempt(e, [&] { As<Trainer>(h)->resume(*As<Bytes>(b)); });
}

inline result tokenizer_load(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Tokenizer::load(sv(s, n)); });
}
inline result tokenizer_parse(text j, size n, text c, size cn, handle* o, err e) {
  return gives(o, e, [&] { return Tokenizer::parse(sv(j, n), sv(c, cn)); });
}
inline result tokenizer_train(text t, size n, text s, size sn, handle* o, err e) {
  return gives(o, e, [&] { return Tokenizer::train(sv(t, n), sv(s, sn)); });
}
inline result tokenizer_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Tokenizer>(h)->info(); });
}
inline result tokenizer_encode(handle h, text s, size n, std::int32_t special, handle* o, err e) {
  return gives(o, e, [&] { return As<Tokenizer>(h)->encode(sv(s, n), special != 0); });
}
inline result tokenizer_encode_plain(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Tokenizer>(h)->encode_plain(sv(s, n)); });
}
inline result tokenizer_decode(handle h, const std::int32_t* i, size n, std::int32_t skip,
                               handle* o, err e) {
  return gives(o, e, [&] { return As<Tokenizer>(h)->decode(sp(i, n), skip != 0); });
}
inline result tokenizer_token(handle h, std::int32_t id, handle* o, err e) {
  return gives(o, e, [&] { return As<Tokenizer>(h)->token(id); });
}
inline result tokenizer_id(handle h, text s, size n, std::int32_t* o, err e) {
  return attempt(e, [&] { *o = As<Tokenizer>(h)->id(sv(s, n)); });
}
inline result tokenizer_chat(handle h, text m, size n, std::int32_t prompt, handle* o, err e) {
  return gives(o, e, [&] { return As<Tokenizer>(h)->chat(sv(m, n), prompt != 0); });
}
inline result decoder_create(handle h, std::int32_t skip, handle* o, err e) {
  return gives(o, e, [&] { return Decoder(*As<Tokenizer>(h), skip != 0); });
}
inline result decoder_push(handle h, std::int32_t id, handle* o, err e) {
  return gives(o, e, [&] { return As<Decoder>(h)->push(id); });
}
inline result decoder_finish(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Decoder>(h)->finish(); });
}

inline result model_load(text s, size n, text f, size fn, handle* o, err e) {
  return gives(o, e, [&] { return Model::load(sv(s, n), sv(f, fn)); });
}
inline result model_load_bytes(handle b, text f, size n, handle* o, err e) {
  return gives(o, e, [&] { return Model::load(*As<Bytes>(b), sv(f, n)); });
}
inline result model_create(handle n, handle t, text s, size z, handle* o, err e) {
  return gives(o, e, [&] {
    return t ? Model::create(*As<Network>(n), *As<Tokenizer>(t), sv(s, z))
             : Model::create(*As<Network>(n), sv(s, z));
  });
}
inline result model_check(text s, size n, err e) {
  return attempt(e, [&] { Model::check(sv(s, n)); });
}
inline result model_save(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Model>(h)->save(sv(s, n)); });
}
inline result model_save_bytes(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Model>(h)->save(); });
}
inline result model_export_bytes(handle h, text s, size n, text p, size pn, handle* o, err e) {
  return gives(o, e, [&] { return As<Model>(h)->export_as(sv(s, n), sv(p, pn)); });
}
inline result model_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Model>(h)->info(); });
}
inline result model_network(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Model>(h)->network(); });
}
inline result model_tokenizer(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Model>(h)->tokenizer(); });
}

inline result generator_create(handle m, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Generator(*As<Model>(m), sv(s, n)); });
}
inline result generator_feed(handle h, std::int64_t q, const std::int32_t* i, size n, err e) {
  return attempt(e, [&] { As<Generator>(h)->feed(sp(i, n), q); });
}
inline result generator_feed_text(handle h, std::int64_t q, text s, size n, err e) {
  return attempt(e, [&] { As<Generator>(h)->feed_text(sv(s, n), q); });
}
inline result generator_feed_chat(handle h, std::int64_t q, text s, size n, err e) {
  return attempt(e, [&] { As<Generator>(h)->feed_chat(sv(s, n), q); });
}
inline result generator_logits(handle h, std::int64_t q, float* v, size n, err e) {
  return attempt(e, [&] { As<Generator>(h)->logits(sp(v, n), q); });
}
inline result generator_start(handle h, std::int64_t q, text s, size n, err e) {
  return attempt(e, [&] { As<Generator>(h)->start(sv(s, n), q); });
}
inline result generator_next(handle h, std::int32_t* finish, std::int32_t* id, handle* o, err e) {
  return gives(o, e, [&] {
    const Generator::Piece p = As<Generator>(h)->next();
    *finish = p.finish, *id = p.id;
    return p.text;
  });
}
inline result generator_ids(handle h, std::int64_t q, handle* o, err e) {
  return gives(o, e, [&] { return As<Generator>(h)->ids(q); });
}
inline result generator_fingerprint(handle h, std::int64_t q, handle* o, err e) {
  return gives(o, e, [&] { return As<Generator>(h)->fingerprint(q); });
}
inline result generator_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Generator>(h)->info(); });
}

inline result format_info(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return loom::format_info(sv(s, n)); });
}
inline result bytes_load(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Bytes::load(sv(s, n)); });
}
inline result bytes_save(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Bytes>(h)->save(sv(s, n)); });
}
inline result bytes_check_save(text s, size n, err e) {
  return attempt(e, [&] { Bytes::check_save(sv(s, n)); });
}
inline result network_program_sha256(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Network>(h)->program_sha256(sv(s, n)); });
}

inline result evaluator_create(handle h, handle reference, const std::int32_t* ids, size n, text s,
                               size sn, handle* o, err e) {
  return gives(o, e, [&] {
    return reference ? Evaluator(*As<Model>(h), *As<Model>(reference), sp(ids, n), sv(s, sn))
                     : Evaluator(*As<Model>(h), sp(ids, n), sv(s, sn));
  });
}
inline result evaluator_next(handle h, float* y, size n, std::int64_t* rows, err e) {
  return attempt(e, [&] { *rows = As<Evaluator>(h)->next(sp(y, n)); });
}
inline result evaluator_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Evaluator>(h)->info(); });
}

inline result training_open(text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return Training::open(sv(s, n)); });
}
inline result training_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Training>(h)->info(); });
}
inline result training_step(handle h, std::int64_t steps, handle* o, err e) {
  return gives(o, e, [&] { return As<Training>(h)->step(steps); });
}
inline result training_judge(handle h, handle* figures, handle* words, err e) {
  return attempt(e, [&] {
    const Training::Judged j = As<Training>(h)->judge();
    *figures = kept(j.figures);
    *words = kept(j.text);
  });
}
inline result training_report(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Training>(h)->report(sv(s, n)); });
}
inline result training_digest(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Training>(h)->digest(); });
}
inline result training_save(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Training>(h)->save(sv(s, n)); });
}
inline result training_save_bytes(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Training>(h)->save(); });
}
inline result predictor_open(text s, size n, text p, size pn, handle* o, err e) {
  return gives(o, e, [&] { return Predictor::open(sv(s, n), sv(p, pn)); });
}
inline result predictor_info(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Predictor>(h)->info(); });
}
inline result predictor_read(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Predictor>(h)->read(sv(s, n)); });
}
inline result predictor_next(handle h, std::int64_t rows, handle* o, err e) {
  return gives(o, e, [&] { return As<Predictor>(h)->next(rows); });
}
inline result predictor_forecast(handle h, text s, size n, std::int64_t horizon, handle* o, err e) {
  return gives(o, e, [&] { return As<Predictor>(h)->forecast(sv(s, n), horizon); });
}
inline result predictor_measure(handle h, handle* o, err e) {
  return gives(o, e, [&] { return As<Predictor>(h)->measure(); });
}
inline result predictor_morph(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Predictor>(h)->morph(sv(s, n)); });
}
inline result predictor_plan(handle h, text s, size n, handle* o, err e) {
  return gives(o, e, [&] { return As<Predictor>(h)->plan(sv(s, n)); });
}
inline result predictor_save(handle h, text s, size n, err e) {
  return attempt(e, [&] { As<Predictor>(h)->save(sv(s, n)); });
}
inline result image_decoder_unregister(err e) {
  return attempt(e, [&] { loom::unregister_image_decoder(); });
}

}  // namespace hpp

#include "hpp_files.h"
#include "hpp_groups.h"
#include "hpp_program.h"
#include "hpp_structs.h"
