#include "fit/rows.h"

#include <algorithm>

namespace loom {
namespace {

Status run(Session& session, std::span<const float> x, std::int64_t rows) {
  return session.run(x, rows).status();
}

Status run(Session& session, std::span<const double> x, std::int64_t rows) {
  if (session.takes_f64()) return session.run(x, rows);
  const std::vector<float> rounded(x.begin(), x.end());
  return session.run(rounded, rows).status();
}

template <class T>
Status run_parts(Session& session, std::span<const T> x, std::int64_t rows, std::vector<float>& y) {
  y.clear();
  if (rows == 0) return {};
  const std::size_t width = x.size() / static_cast<std::size_t>(rows);
  for (std::int64_t at = 0; at < rows;) {
    const std::int64_t n = std::min(session.options().max_rows, rows - at);
    const auto first = static_cast<std::size_t>(at) * width;
    LOOM_TRY(run(session, x.subspan(first, static_cast<std::size_t>(n) * width), n));
    for (std::int64_t r = 0; r < n; ++r) {
      const std::span<const float> out = session.output(r);
      y.insert(y.end(), out.begin(), out.end());
    }
    at += n;
  }
  return {};
}

}  // namespace

Status run_rows(Session& session, std::span<const float> x, std::int64_t rows,
                std::vector<float>& y) {
  return run_parts(session, x, rows, y);
}

Status run_rows(Session& session, std::span<const double> x, std::int64_t rows,
                std::vector<float>& y) {
  return run_parts(session, x, rows, y);
}

}  // namespace loom
