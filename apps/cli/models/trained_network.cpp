#include "models/trained_network.h"

#include <algorithm>

#include "base/escape.h"
#include "base/files/source.h"
#include "console.h"
#include "decode_image.h"

namespace loom::cli {

Result<TrainedNetwork> open_trained(const std::string& path) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  LOOM_ASSIGN(Entity file, Entity::open(std::move(source)));
  LOOM_ASSIGN(Network network, load_network(file));
  if (!file.find_section("inputs"))
    return Status(Code::unsupported, path +
                                         ": says nothing of raw data: it has no section 'inputs', "
                                         "which loom train writes where it is given no SPEC");
  LOOM_ASSIGN(Json inputs, file.json("inputs"));
  if (!inputs.is_object() || network.input().ids > 0)
    return Status(Code::corrupt, path + ": its section 'inputs' is none");
  const Json* count = inputs.find("classes");
  const bool classes =
      inputs.find("labels") || (count && count->is_integer() && count->as_integer() > 0);
  return TrainedNetwork{std::move(file), std::move(network), std::move(inputs), {}, classes};
}

Status read_data(TrainedNetwork& trained, const std::string& data) {
  LOOM_ASSIGN(trained.data,
              read_rows(trained.inputs, trained.network.input().width, data, image_decoder()));
  for (const std::string& line : trained.data.decisions) say(escaped(line));
  return {};
}

Result<TrainedNetwork> open_trained(const std::string& path, const std::string& data) {
  LOOM_ASSIGN(TrainedNetwork trained, open_trained(path));
  LOOM_TRY(read_data(trained, data));
  return trained;
}

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

}  // namespace loom::cli
