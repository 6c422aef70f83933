#include "train/learner/method.h"

#include <algorithm>
#include <span>

#include "base/fields/fields.h"
#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "base/random.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("training: ", std::move(what)));
}

struct MatrixSizes {
  std::string role;
  std::int64_t rows, cols;
  double deviation;
};

// Of the matrix of hidden part `i`; no rows: it has none.
MatrixSizes sizes_of(MethodKind kind, const std::vector<ChainPart>& parts, std::size_t i,
                     std::int64_t outputs) {
  const std::int64_t width = parts[i].width;
  switch (kind) {
    case MethodKind::mono_forward:
      return {"projection", outputs, width, exact::sqrt(1.0 / static_cast<double>(width))};
    case MethodKind::direct_feedback_alignment:
      return {"feedback", width, outputs, exact::sqrt(2.0 / static_cast<double>(width))};
    case MethodKind::difference_target_propagation: {
      if (i + 2 >= parts.size()) break;
      const std::int64_t next = parts[i + 1].width;
      return {"feedback", width, next, exact::sqrt(1.0 / static_cast<double>(next))};
    }
    case MethodKind::target_propagation:
    case MethodKind::back_propagation: break;
  }
  return {"", 0, 0, 0};
}

Status fill(MethodMatrix& matrix, ValueType type, double deviation, std::uint64_t seed) {
  const auto digest = Sha256::of(as_bytes(matrix.path + ":" + matrix.role));
  const RandomStream random(seed, load_le<std::uint64_t>(digest.data()));
  WeightStore& store = *matrix.store;
  if (type == ValueType::f64) LOOM_TRY(store.morph({.dtype = DType::f64}));
  const auto draw = [&]<class T>(std::span<T> values) {
    std::uint64_t k = 0;
    for (T& v : values) v = static_cast<T>(deviation) * static_cast<T>(normal(random, k++));
  };
  draw(store.mutable_master());
  draw(store.mutable_master64());
  store.touch();
  return {};
}

Result<std::size_t> index_of(const char* kind, std::string_view text,
                             std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string list;
  for (const std::string_view known : names)
    list += (list.empty() ? "" : ", ") + std::string(known);
  return Status(Code::invalid_argument, message("unknown ", kind, " \"", text, "\": one of ", list,
                                                nearest(text, {names.begin(), names.end()})));
}

}  // namespace

Result<MethodKind> parse_method(std::string_view text) {
  if (text == "tween") return MethodKind::target_propagation;
  LOOM_ASSIGN(const std::size_t i, index_of("method", text, kMethodNames));
  return static_cast<MethodKind>(i);
}
Result<TargetMode> parse_target_mode(std::string_view text) {
  LOOM_ASSIGN(const std::size_t i, index_of("mode", text, kTargetModeNames));
  return static_cast<TargetMode>(i);
}

Result<Feedback> parse_feedback(std::string_view text) {
  LOOM_ASSIGN(const std::size_t i, index_of("feedback", text, kFeedbackNames));
  return static_cast<Feedback>(i);
}

Result<std::shared_ptr<MethodMatrices>> MethodMatrices::create(Network& network, MethodKind kind,
                                                               std::uint64_t seed) {
  const std::string method = "\"method\": " + std::string(name(kind));
  auto parts = chain_parts(network);
  if (!parts.ok()) return parts.status().at("training: " + method);
  if (parts->size() < 2)
    return bad(
        message(method, ": the network has ", (parts->empty() ? "no cell" : "one cell"),
                " with matrices, and a method learns between cells: give each layer a cell, or "
                "learn by back_propagation"));
  auto matrices = std::make_shared<MethodMatrices>();
  std::int64_t values = 0;
  for (std::size_t i = 0; i + 1 < parts->size(); ++i) {
    const MatrixSizes s = sizes_of(kind, *parts, i, network.output().width);
    if (s.rows == 0) continue;
    if (s.rows > (Network::kMaxValues - values) / s.cols)
      return bad(message(method, ": the matrix of cell ", (*parts)[i].path, " is ", s.rows, " x ",
                         s.cols, ", with which there are more than 2^33 values"));
    values += s.rows * s.cols;
    MethodMatrix matrix{"method/" + (*parts)[i].path, s.role,
                        std::make_unique<WeightStore>(s.rows, s.cols)};
    LOOM_TRY(fill(matrix, (*parts)[i].type, s.deviation, seed));
    matrices->all_.push_back(std::move(matrix));
  }
  return matrices;
}

WeightStore* MethodMatrices::find(std::string_view path, std::string_view role) const {
  for (const MethodMatrix& m : all_)
    if (m.path == path && m.role == role) return m.store.get();
  return nullptr;
}

View MethodMatrices::weight(ProgramBuilder& emit, const MethodMatrix& m, ValueType type) {
  return emit.weight(m.path, m.role, m.store->rows(), m.store->cols(), m.store->format(), type);
}

}  // namespace loom
