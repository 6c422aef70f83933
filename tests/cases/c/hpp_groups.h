// Of hpp.h, which includes it: groups of rows, ensembles and figures.
namespace hpp {

template <class T>
void into(const std::vector<T>& from, T* to, size n) {
  if (from.size() == n) std::copy(from.begin(), from.end(), to);
}
inline result cluster_k_means(const double* x, size xn, std::int64_t width, std::int64_t clusters,
                              const double* start, size startn, text s, size n,
                              std::int32_t* labels, size labelsn, double* centers, size centersn,
                              handle* o, err e) {
  return gives(o, e, [&] {
    const auto k = loom::cluster::k_means(sp(x, xn), width, clusters, sp(start, startn), sv(s, n));
    into(k.labels, labels, labelsn);
    into(k.centers, centers, centersn);
    return k.info;
  });
}
inline result cluster_silhouettes(const double* x, size xn, std::int64_t width,
                                  const std::int32_t* labels, size labelsn, text s, size n,
                                  double* out, size outn, err e) {
  return attempt(e, [&] {
    into(loom::cluster::silhouettes(sp(x, xn), width, sp(labels, labelsn), sv(s, n)), out, outn);
  });
}
inline result cluster_hierarchy(const double* x, size xn, std::int64_t width, text s, size n,
                                double* out, size outn, err e) {
  return attempt(e, [&] { into(loom::cluster::hierarchy(sp(x, xn), width, sv(s, n)), out, outn); });
}
inline result cluster_cut(const double* merges, size mergesn, text s, size n, std::int32_t* out,
                          size outn, err e) {
  return attempt(e, [&] { into(loom::cluster::cut(sp(merges, mergesn), sv(s, n)), out, outn); });
}
inline result ensemble_matches(const std::int32_t* correct, size correctn, std::int64_t samples,
                               text s, size n, handle* o, err e) {
  return gives(o, e,
               [&] { return loom::ensemble::matches(sp(correct, correctn), samples, sv(s, n)); });
}
inline result ensemble_vote(const float* scores, size scoresn, std::int64_t members,
                            std::int64_t width, const double* weights, size weightsn, text s,
                            size n, float* out, size outn, err e) {
  return attempt(e, [&] {
    into(loom::ensemble::vote(sp(scores, scoresn), members, width, sp(weights, weightsn), sv(s, n)),
         out, outn);
  });
}
inline result ensemble_select(const float* scores, size scoresn, std::int64_t members,
                              std::int64_t width, const std::int32_t* classes, size classesn,
                              std::int64_t steps, handle* o, err e) {
  return gives(o, e, [&] {
    return loom::ensemble::select(sp(scores, scoresn), members, width, sp(classes, classesn),
                                  steps);
  });
}
inline result measure_deviation(const double* actual, size actualn, const double* expected,
                                size expectedn, std::int64_t width, std::int64_t keep, handle* o,
                                err e) {
  return gives(o, e, [&] {
    return loom::measure::deviation(sp(actual, actualn), sp(expected, expectedn), width, keep);
  });
}
inline result measure_correlation(const double* x, size xn, std::int64_t width, text s, size n,
                                  double* out, size outn, err e) {
  return attempt(e,
                 [&] { into(loom::measure::correlation(sp(x, xn), width, sv(s, n)), out, outn); });
}

}  // namespace hpp
