// Language models with a cache: keys and values of the past are inputs, those of past and present
// outputs, under the names that transformers.js and Optimum give them.
#include <cmath>
#include <numbers>

#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

constexpr double kHidden = -2.2e38;  // the score of a key that is not seen
// Parts of a turn: positions up to 2^21 times them fit into 63 bits.
constexpr double kTurn = 4398046511104.0;  // 2^42

ValueInfo tensor_info_of(const std::string& name, Type type, std::vector<Dim> dims) {
  ValueInfo v;
  v.name = name;
  v.kind = Kind::tensor;
  v.type = type;
  v.has_shape = true;
  v.dims = std::move(dims);
  return v;
}
Dim open_dim(std::string_view name) { return {-1, std::string(name)}; }

}  // namespace

Edge GraphWriter::fixed(std::string_view op, const Inputs& in, Type type, Dims dims,
                        const Attributes& attributes) {
  Edge y;
  y.type = type;
  y.dims = std::move(dims);
  y = make(op, in, y, attributes);
  y.fixed = true;
  return y;
}

void GraphWriter::add_decoder_inputs(const Edge& ids) {
  DecoderInputs d;
  const auto input = [&](const char* name, const char* second) {
    Edge e;
    e.name = unique(name);
    e.type = Type::i64;
    model.graph.inputs.push_back(
        tensor_info_of(e.name, e.type, {open_dim("batch"), open_dim(second)}));
    return e;
  };
  d.mask = input("attention_mask", "total_sequence");
  d.positions = input("position_ids", "sequence");
  scope = "decoder";
  const auto size = [&](const Edge& x) {
    const Edge shape = fixed("Shape", {x}, Type::i64, {1},
                             {attr("start", std::int64_t{1}), attr("end", std::int64_t{2})});
    return fixed("Squeeze", {shape}, Type::i64, {});
  };
  const Edge total = size(d.mask), past = fixed("Sub", {total, size(ids)}, Type::i64, {});
  const Edge zero = constant(Type::i64, {}, {0}), one = constant(Type::i64, {}, {1});
  const Edge keys = fixed("Range", {zero, total, one}, Type::i64, {1});
  const Edge queries = fixed("Range", {past, total, one}, Type::i64, {1});
  const Edge column = fixed("Unsqueeze", {queries, index({1})}, Type::i64, {1, 1});
  d.behind = fixed("Sub", {column, keys}, Type::i64, {1, 1});
  decoder = std::move(d);
}

Edge GraphWriter::cached(const Edge& x, std::string_view kind) {
  const std::string of = std::to_string(decoder->layers) + "." + std::string(kind);
  Edge past = x;
  past.name = unique("past_key_values." + of);
  const auto info = [&](const std::string& name, std::string_view length) {
    return tensor_info_of(name, x.type,
                          {open_dim("batch"), {x.dims[0], {}}, open_dim(length), {x.dims[2], {}}});
  };
  model.graph.inputs.push_back(info(past.name, "past_sequence"));
  past.dims = {x.dims[1], x.dims[2]};
  Edge y = add("Concat", {past, x}, past.dims, {attr("axis", std::int64_t{2})});
  y.name = model.graph.nodes.back().outputs[0] = unique("present." + of);
  decoder->present.push_back(info(y.name, "total_sequence"));
  decoder->layers += kind == "value";
  return y;
}

Edge GraphWriter::cached_scores(std::int64_t window, const std::vector<double>& slopes) {
  Edge& made = decoder->made["scores " + std::to_string(window) + (slopes.empty() ? "" : " alibi")];
  if (!made.name.empty()) return made;
  const std::string before = scope;
  scope = "decoder";
  const Edge &behind = decoder->behind, zero = constant(Type::i64, {}, {0});
  Edge seen = fixed("GreaterOrEqual", {behind, zero}, Type::boolean, {1, 1});
  if (window > 0) {
    const Edge width = constant(Type::i64, {}, {static_cast<double>(window)});
    const Edge near = fixed("Less", {behind, width}, Type::boolean, {1, 1});
    seen = fixed("And", {seen, near}, Type::boolean, {1, 1});
  }
  const Edge given = fixed("Cast", {decoder->mask}, Type::boolean, {1, 1},
                           {attr("to", static_cast<std::int64_t>(Type::boolean))});
  const Edge keys = fixed("Unsqueeze", {given, index({1, 2})}, Type::boolean, {1, 1, 1, 1});
  seen = fixed("And", {seen, keys}, Type::boolean, {1, 1, 1, 1});
  Edge scores = number(0);
  if (!slopes.empty()) {
    const Edge size = fixed("Abs", {behind}, Type::i64, {1, 1});
    const Edge distance =
        fixed("Cast", {size}, real, {1, 1}, {attr("to", static_cast<std::int64_t>(real))});
    const Edge each = numbers({static_cast<std::int64_t>(slopes.size()), 1, 1}, slopes);
    scores = fixed("Mul", {distance, each}, real, {1, 1, 1});
  }
  made = fixed("Where", {seen, scores, number(kHidden)}, real, {1, 1});
  made.fixed = false;
  scope = before;
  return made;
}

// As exact as in double, without it: ONNX Runtime's build for WebGPU, which transformers.js runs
// on CPUs as well, has no kernels of doubles, and f32 loses digits at positions in the thousands.
// Whole positions times frequencies in parts of a turn are integers, whose turns fall away.
Edges GraphWriter::position_angles(const std::vector<double>& frequencies) {
  const auto half = static_cast<std::int64_t>(frequencies.size());
  const bool wide = real == Type::f64;
  std::vector<double> parts;
  for (const double f : frequencies) {
    const double turns = f / (2 * std::numbers::pi);
    parts.push_back(wide ? f : std::nearbyint((turns - std::floor(turns)) * kTurn));
  }
  const Edge factors = constant(wide ? Type::f64 : Type::i64, {half}, parts);
  Edge& made = decoder->made["angles " + factors.name];
  if (made.parts.empty()) {
    const std::string before = scope;
    scope = "decoder";
    const auto to_real = [&](const Edge& x, const Dims& dims) {
      return fixed("Cast", {x}, real, dims, {attr("to", static_cast<std::int64_t>(real))});
    };
    Edge angle = fixed("Unsqueeze", {decoder->positions, index({1, 3})}, Type::i64, {1, 1});
    if (wide) angle = to_real(angle, {1, 1});
    angle = fixed("Mul", {angle, factors}, factors.type, {1, half});
    if (!wide) {  // from minus half a turn to half a turn, where f32 is finest
      const Edge turn = constant(Type::i64, {}, {kTurn}),
                 middle = constant(Type::i64, {}, {kTurn / 2});
      const auto step = [&](const char* op, const Edge& by) {
        angle = fixed(op, {angle, by}, Type::i64, {1, half});
      };
      step("Add", middle), step("Mod", turn), step("Sub", middle);
      angle = fixed("Mul", {to_real(angle, {1, half}), number(2 * std::numbers::pi / kTurn)}, real,
                    {1, half});
    }
    for (const char* op : {"Cos", "Sin"}) {
      made.parts.push_back(fixed(op, {angle}, real, {1, half}));
      made.parts.back().fixed = false;
    }
    scope = before;
  }
  return made.parts;
}

}  // namespace loom::onnx
