// Windows, filter banks and Fourier transforms.
#include <algorithm>

#include "base/math/exact_math.h"
#include "formats/onnx/infer/rule.h"

namespace loom::onnx {
namespace {

// Of mel scales in use 128 is much; each edge takes an exact exponential.
constexpr std::int64_t kMaxBands = 4096;
constexpr double kTurn = 6.283185307179586476925;

// A setting that is one positive number.
Result<std::int64_t> length_of(const Call& call, std::size_t i, std::string_view what,
                               std::int64_t max = kMaxWindow) {
  LOOM_ASSIGN(const Dims list, call.ints(i, what));
  if (list.size() != 1 || list[0] < 1 || list[0] > max)
    return wrong(what, " is ", list, ", expected a number from 1 to ", max);
  return list[0];
}
Result<Type> asked_type(const Call& call) {
  LOOM_ASSIGN(const std::int64_t type,
              call.node.get_int("output_datatype", static_cast<std::int64_t>(Type::f32)));
  if (type < 1 || type >= kTypeCount) return wrong("output_datatype is ", type);
  if (!is_float(static_cast<Type>(type)))
    return not_supported("output_datatype ", name(static_cast<Type>(type)));
  return static_cast<Type>(type);
}

Status window(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const std::int64_t n, length_of(call, 0, "size"));
  LOOM_ASSIGN(const std::int64_t periodic, call.node.get_int("periodic", 1));
  if (n == 1 && !periodic) return not_supported("a symmetric window of one value");
  LOOM_ASSIGN(const Type type, asked_type(call));
  call.set(0, type, {n});
  return {};
}
// a - b cos(2 pi i / n) + c cos(4 pi i / n); n counts one less where both ends belong to the
// window.
Result<bool> fold_window(Call& call) {
  LOOM_ASSIGN(const std::int64_t periodic, call.node.get_int("periodic", 1));
  double a = 0.5, b = 0.5, c = 0;
  if (call.node.op == "HammingWindow") {
    a = 25.0 / 46;
    b = 21.0 / 46;
  } else if (call.node.op == "BlackmanWindow") {
    a = 0.42;
    c = 0.08;
  }
  Cells out(static_cast<std::size_t>(call.out[0].dims[0]));
  const double n = static_cast<double>(periodic ? out.size() : out.size() - 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double angle = kTurn * static_cast<double>(i) / n;
    out[i].r = round_to(call.out[0].type, a - b * exact::cos(angle) + c * exact::cos(2 * angle));
  }
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

struct MelBank {
  std::int64_t bands = 0, bins = 0, length = 0, rate = 0;
  double mel[2];  // the lowest and the highest edge
};
Result<MelBank> mel_bank(const Call& call) {
  MelBank bank;
  LOOM_ASSIGN(bank.bands, length_of(call, 0, "num_mel_bins", kMaxBands));
  LOOM_ASSIGN(bank.length, length_of(call, 1, "dft_length"));
  LOOM_ASSIGN(bank.rate, length_of(call, 2, "sample_rate"));
  for (std::size_t i = 0; i < 2; ++i) {
    const Cells* cells = call.cells[3 + i];
    if (!cells || cells->size() != 1 || !is_float(call.x(3 + i).type))
      return not_supported("its edges depend on data");
    if (!((*cells)[0].r >= 0 && (*cells)[0].r <= static_cast<double>(bank.rate)))
      return wrong("an edge is no frequency up to the sample rate");
    bank.mel[i] = exact::log(1 + (*cells)[0].r / 700);
  }
  bank.bins = bank.length / 2 + 1;
  return bank;
}
// The edges of triangles: bins where one begins, peaks and ends. They lie at equal distances on the
// scale of 2595 log10(1 + f / 700).
Result<std::vector<std::int64_t>> edges_of(const MelBank& bank) {
  std::vector<std::int64_t> edges;
  const double step = (bank.mel[1] - bank.mel[0]) / static_cast<double>(bank.bands + 2);
  for (std::int64_t i = 0; i < bank.bands + 2; ++i) {
    const double hertz = 700 * (exact::exp(bank.mel[0] + step * static_cast<double>(i)) - 1);
    const auto bin = static_cast<std::int64_t>(static_cast<double>(bank.length + 1) * hertz /
                                               static_cast<double>(bank.rate));
    if (bin >= bank.bins || (!edges.empty() && bin < edges.back()))
      return wrong("edge ", i, " of its bands is at bin ", bin, " of ", bank.bins);
    edges.push_back(bin);
  }
  return edges;
}
Status mel_weight_matrix(Call& call) {
  LOOM_TRY(call.need(5));
  LOOM_ASSIGN(const MelBank bank, mel_bank(call));
  LOOM_ASSIGN(const Type type, asked_type(call));
  call.set(0, type, {bank.bins, bank.bands});
  return {};
}
Result<bool> fold_mel_weight_matrix(Call& call) {
  LOOM_ASSIGN(const MelBank bank, mel_bank(call));
  LOOM_ASSIGN(const std::vector<std::int64_t> edges, edges_of(bank));
  Cells out(static_cast<std::size_t>(bank.bins * bank.bands));
  for (Cell& c : out) c.r = 0;
  for (std::int64_t band = 0; band < bank.bands; ++band) {
    const auto at = [&](std::int64_t bin) -> double& {
      return out[static_cast<std::size_t>(bin * bank.bands + band)].r;
    };
    const std::int64_t* edge = &edges[static_cast<std::size_t>(band)];
    const std::int64_t low = edge[0], peak = edge[1], high = edge[2];
    for (std::int64_t bin = low; bin < peak; ++bin)
      at(bin) = static_cast<double>(bin - low) / static_cast<double>(peak - low);
    for (std::int64_t bin = peak; bin < high; ++bin)
      at(bin) = static_cast<double>(high - bin) / static_cast<double>(high - peak);
    at(peak) = 1;
  }
  for (Cell& c : out) c.r = round_to(call.out[0].type, c.r);
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

// Numbers of one part, reals, or two.
Status check_parts(const Call& call) {
  if (!is_float(call.x().type))
    return wrong("input 0 is ", name(call.x().type), ", expected floats");
  return call.rank() >= 2 && (call.dims().back() == 1 || call.dims().back() == 2)
             ? Status()
             : wrong("input ", call.dims(),
                     " holds no real or complex numbers: its last dimension is 1 or 2");
}

Status dft(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_TRY(check_parts(call));
  LOOM_ASSIGN(const std::int64_t inverse, call.node.get_int("inverse", 0));
  LOOM_ASSIGN(const std::int64_t onesided, call.node.get_int("onesided", 0));
  Dims given{-2};
  if (call.opset < 20) {
    LOOM_ASSIGN(given[0], call.node.get_int("axis", 1));
  } else if (call.has(2)) {
    LOOM_ASSIGN(given, call.ints(2, "axis"));
    if (given.size() != 1) return wrong("axis is ", given);
  }
  LOOM_ASSIGN(const std::size_t axis, axis_of(given[0], call.rank()));
  if (axis + 1 == call.rank()) return wrong("axis ", axis, " is that of real and imaginary parts");
  Dims out = call.dims();
  std::int64_t n = inverse && onesided ? 2 * (out[axis] - 1) : out[axis];
  if (call.has(1)) {
    LOOM_ASSIGN(n, length_of(call, 1, "dft_length"));
  }
  if (n < 1) return wrong("a transform of ", out, " along axis ", axis);
  if (onesided && !inverse && out.back() != 1)
    return wrong("onesided is for real numbers, input is ", out);
  out[axis] = onesided && !inverse ? n / 2 + 1 : n;
  out.back() = onesided && inverse ? 1 : 2;
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status stft(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_TRY(check_parts(call));
  if (call.rank() != 3) return wrong("input ", call.dims(), ", expected [batch, length, 1 or 2]");
  LOOM_ASSIGN(const std::int64_t step, length_of(call, 1, "frame_step"));
  LOOM_ASSIGN(const std::int64_t onesided, call.node.get_int("onesided", 1));
  std::int64_t n = 0;
  if (call.has(3)) {
    LOOM_ASSIGN(n, length_of(call, 3, "frame_length"));
  }
  if (call.has(2)) {
    if (call.rank(2) != 1 || !is_float(call.x(2).type) || (n > 0 && call.dims(2)[0] != n))
      return wrong("window ", call.dims(2), " for frames of ", n);
    n = call.dims(2)[0];
  }
  if (n == 0) return not_supported("frames of no stated length");
  const Dims& x = call.dims();
  if (n > x[1]) return wrong("frames of ", n, " in a signal of ", x[1]);
  if (onesided && x[2] != 1) return wrong("onesided is for real numbers, input is ", x);
  call.set(0, call.x().type, {x[0], 1 + (x[1] - n) / step, onesided ? n / 2 + 1 : n, 2});
  return {};
}

constexpr RuleRow kRows[] = {
#define LOOM_SHAPE_signal(op, attributes, shape, fold, traits) \
  {op, shape, fold, attributes, traits},
#include "formats/onnx/operators.def"
};

}  // namespace

std::span<const RuleRow> signal_rules() { return kRows; }

}  // namespace loom::onnx
