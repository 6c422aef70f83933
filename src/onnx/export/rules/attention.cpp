// Attention of steps to steps, of one sequence or two: products, a mask and a softmax, as the
// operators of opset 21 have them.
#include <cmath>

#include "onnx/export/graph.h"
#include "ops/attention/alibi.h"
#include "ops/attention/rope.h"

namespace loom::onnx {
namespace {

constexpr double kHidden = -2.2e38;  // the score of a key that is not seen

// Steps of a row are known; those of sequences whose positions are rows are open, and then have
// the size 1 here.
struct Heads {
  LayerVisit& v;
  std::int64_t heads, kv_heads, head_dim, steps, keys;
  bool open;  // steps are

  GraphWriter& g() const { return v.g; }
  // [steps, heads x head_dim] to [heads, steps, head_dim].
  Edge split(const Edge& x, std::int64_t count, std::int64_t rows) const {
    if (open) {  // [batch, sequence, ...] has no dimension of the row that steps are
      Edge y = g().shaped(x, {count, head_dim});
      return g().add("Transpose", {y}, {rows, head_dim}, {attr("perm", Dims{0, 2, 1, 3})});
    }
    return g().transposed(g().shaped(x, {rows, count, head_dim}), {1, 0, 2});
  }
  Edge together(const Edge& x) const {
    if (open) {
      const Edge y = g().add("Transpose", {x}, {heads, head_dim}, {attr("perm", Dims{0, 2, 1, 3})});
      return g().shaped(y, {heads * head_dim});
    }
    return g().shaped(g().transposed(x, {1, 0, 2}), {steps, heads * head_dim});
  }
  // Keys and values of a group of heads, once for each.
  Edge repeated(const Edge& x) const {
    if (heads == kv_heads) return x;
    Dims places, dims = x.dims;
    for (std::int64_t h = 0; h < heads; ++h) places.push_back(h / (heads / kv_heads));
    if (!open) dims[0] = heads;
    return g().add("Gather", {x, g().index(places)}, dims, {attr("axis", std::int64_t{1})});
  }
};

// 0, 1, ... of open steps, as int64 [sequence].
Edge open_steps(GraphWriter& g, const Edge& x) {
  const Edge shape = g.fixed("Shape", {x}, Type::i64, {1},
                             {attr("start", std::int64_t{1}), attr("end", std::int64_t{2})});
  const Edge count = g.fixed("Squeeze", {shape}, Type::i64, {});
  return g.fixed("Range", {g.constant(Type::i64, {}, {0}), count, g.constant(Type::i64, {}, {1})},
                 Type::i64, {1});
}

// Frequencies of rotary positions.
Result<std::vector<double>> frequencies(const LayerVisit& v, std::int64_t head_dim) {
  RopeSpec s;
  s.theta = v.number("rope_theta", 10000);
  const std::string scaling = v.text("rope_scaling", "none");
  if (scaling == "linear") s.scaling = RopeScaling::linear;
  if (scaling == "llama3") s.scaling = RopeScaling::llama3;
  s.factor = v.number("rope_factor", 1);
  s.low_freq_factor = v.number("rope_low_freq_factor", 1);
  s.high_freq_factor = v.number("rope_high_freq_factor", 4);
  s.original_max_positions = v.number("rope_original_positions", 8192);
  // The angles of position 1: below pi they are the frequencies.
  std::vector<double> table(static_cast<std::size_t>(2 * head_dim));
  fill_rope_table(s, 2, head_dim, head_dim, table.data());
  std::vector<double> out;
  for (std::int64_t i = 0; i < head_dim / 2; ++i)
    out.push_back(std::atan2(table[static_cast<std::size_t>(head_dim + head_dim / 2 + i)],
                             table[static_cast<std::size_t>(head_dim + i)]));
  return out;
}

// Cosines and sines [steps, head_dim / 2].
Result<Edges> rotary_table(const Heads& h, const Edge& x) {
  GraphWriter& g = h.g();
  const std::int64_t half = h.head_dim / 2;
  LOOM_ASSIGN(const std::vector<double> f, frequencies(h.v, h.head_dim));
  if (g.decoder) return g.position_angles(f);
  if (h.open) {
    const Edge steps = g.fixed("Cast", {open_steps(g, x)}, g.real, {1},
                               {attr("to", static_cast<std::int64_t>(g.real))});
    const Edge column = g.fixed("Unsqueeze", {steps, g.index({1})}, g.real, {1, 1});
    const Edge angle = g.fixed("Mul", {column, g.numbers({half}, f)}, g.real, {1, half});
    return Edges{g.fixed("Cos", {angle}, g.real, {1, half}),
                 g.fixed("Sin", {angle}, g.real, {1, half})};
  }
  std::vector<double> cos, sin;
  for (std::int64_t p = 0; p < h.steps; ++p)
    for (const double w : f) {
      cos.push_back(std::cos(static_cast<double>(p) * w));
      sin.push_back(std::sin(static_cast<double>(p) * w));
    }
  return Edges{g.numbers({h.steps, half}, cos), g.numbers({h.steps, half}, sin)};
}

Edge rotated(const Heads& h, const Edge& x, const Edges& table) {
  GraphWriter& g = h.g();
  const std::int64_t half = h.head_dim / 2;
  const auto at = static_cast<std::int64_t>(x.dims.size()) - 1;
  const Edge a = g.slice(x, at, 0, half), b = g.slice(x, at, half, half);
  const Edge first = g.pair("Sub", g.pair("Mul", a, table[0]), g.pair("Mul", b, table[1]));
  const Edge second = g.pair("Add", g.pair("Mul", b, table[0]), g.pair("Mul", a, table[1]));
  return g.joined({first, second}, at);
}

std::vector<double> negative_slopes(std::int64_t heads) {
  std::vector<double> slopes = alibi_slopes(heads);
  for (double& s : slopes) s = -s;
  return slopes;
}

// What is added to the scores of pairs [heads or 1, queries, keys]: of steps that are known.
std::vector<double> pair_scores(const Heads& h, bool causal, std::int64_t window, bool alibi) {
  const std::vector<double> slopes = alibi ? alibi_slopes(h.heads) : std::vector<double>{0};
  std::vector<double> all;
  for (const double slope : slopes)
    for (std::int64_t i = 0; i < h.steps; ++i)
      for (std::int64_t j = 0; j < h.keys; ++j) {
        const bool hidden = (causal && j > i) || (window > 0 && j <= i - window);
        all.push_back(hidden ? kHidden : -slope * static_cast<double>(std::abs(i - j)));
      }
  return all;
}

// The same of open steps, as nodes.
Edge open_scores(const Heads& h, const Edge& x, bool causal, std::int64_t window, bool alibi) {
  GraphWriter& g = h.g();
  const Edge steps = open_steps(g, x);
  const Edge query = g.fixed("Unsqueeze", {steps, g.index({1})}, Type::i64, {1, 1});
  const Edge behind = g.fixed("Sub", {query, steps}, Type::i64, {1, 1});  // how far a key is
  const Edge nothing = g.number(0), low = g.number(kHidden);
  Edge scores;
  const auto add = [&](const Edge& more) {
    scores = scores.name.empty() ? more : g.fixed("Add", {scores, more}, g.real, {1, 1, 1});
  };
  if (causal) {
    const Edge later =
        g.fixed("Less", {behind, g.constant(Type::i64, {}, {0})}, Type::boolean, {1, 1});
    add(g.fixed("Where", {later, low, nothing}, g.real, {1, 1}));
  }
  if (window > 0) {
    const Edge width = g.constant(Type::i64, {}, {static_cast<double>(window)});
    const Edge far = g.fixed("GreaterOrEqual", {behind, width}, Type::boolean, {1, 1});
    add(g.fixed("Where", {far, low, nothing}, g.real, {1, 1}));
  }
  if (alibi) {
    const Edge distance = g.fixed("Cast", {g.fixed("Abs", {behind}, Type::i64, {1, 1})}, g.real,
                                  {1, 1}, {attr("to", static_cast<std::int64_t>(g.real))});
    add(g.fixed("Mul", {distance, g.numbers({h.heads, 1, 1}, negative_slopes(h.heads))}, g.real,
                {1, 1, 1}));
  }
  return scores;
}

// Keys that lengths and a mask leave, as [1, 1, keys]; nothing: all.
Edge seen_keys(const LayerVisit& v, const Edge& x, std::size_t first, std::int64_t keys) {
  GraphWriter& g = v.g;
  Edge seen;
  const std::vector<std::string> takes = v.texts("takes");
  const Edge* mask = v.taken(x, "mask", first);
  if (takes.empty() && first == 2 && x.parts.size() == 3) mask = &x.parts[2];
  if (mask) {
    Edge zero = g.shaped(*mask, {keys});
    const Edge none = zero;
    zero.type = Type::boolean;
    zero = g.make("Equal", {none, g.number(0)}, zero);
    seen = g.cast(zero, g.real);
  }
  if (const Edge* lengths = v.taken(x, "lengths", first)) {
    const Edge within = g.seen_steps(*lengths, keys);
    seen = seen.name.empty() ? within : g.pair("Mul", seen, within);
  }
  return seen.name.empty() ? seen : g.shaped(seen, {1, 1, keys});
}

// softmax(q k^T + scores) v, of heads: [heads, steps, head_dim].
Edge attended(const Heads& h, const Edge& q, const Edge& k, const Edge& value, const Edge& scores,
              const Edge& seen) {
  GraphWriter& g = h.g();
  Dims dims = q.dims;
  dims.back() = h.keys;
  Edge transposed = h.open
                        ? g.add("Transpose", {k}, {h.head_dim, 1}, {attr("perm", Dims{0, 1, 3, 2})})
                        : g.transposed(k, {0, 2, 1});
  Edge s = g.add("MatMul", {q, transposed}, dims);
  if (!scores.name.empty()) s = g.add("Add", {s, scores}, s.dims);
  if (seen.name.empty()) return g.add("MatMul", {g.softmax(s), value}, q.dims);
  // Without the score, which is what nobody may see; the shares of those hidden are 0 where all
  // are.
  const Edge hidden = g.scale(g.pair("Sub", g.number(1), seen), kHidden);
  s = g.pair("Add", g.pair("Mul", s, seen), hidden);
  return g.add("MatMul", {g.pair("Mul", g.softmax(s), seen), value}, q.dims);
}

// Keys or values [batch, heads, sequence, dim] behind those of the past.
Edge of_cache(GraphWriter& g, const Edge& x, std::string_view kind, std::int64_t heads) {
  Edge own = x;
  own.dims.insert(own.dims.begin(), heads);
  return g.cached(own, kind);
}

Result<Edge> normed(const LayerVisit& v, const Edge& x, std::string_view role) {
  if (!v.flag("qk_norm")) return x;
  LOOM_ASSIGN(const Edge gain, v.weight(role));
  return v.g.rms_norm(x, gain, v.number("qk_norm_eps", 1e-6));
}

}  // namespace

Result<Edge> export_attention(LayerVisit& v, const Edge& row) {
  GraphWriter& g = v.g;
  const Edge& first = row.parts.empty() ? row : row.parts[0];
  const bool in_row = first.dims.size() == 2, qkv_bias = v.flag("qkv_bias");
  const std::int64_t width = first.dims.back(), steps = in_row ? first.dims[0] : 1;
  const std::int64_t heads = v.integer("heads", 1), kv = v.integer("kv_heads");
  const std::int64_t dim = v.integer("head_dim");
  const Heads h{v,     heads,  kv > 0 ? kv : heads, dim > 0 ? dim : width / heads, steps,
                steps, !in_row};
  const auto projected = [&](std::string_view role) {
    return v.linear(role, first, qkv_bias ? std::string(role) + "_bias" : "");
  };
  LOOM_ASSIGN(Edge q, projected("q"));
  LOOM_ASSIGN(Edge k, projected("k"));
  LOOM_ASSIGN(Edge value, projected("v"));
  LOOM_ASSIGN(q, normed(v, h.split(q, heads, steps), "q_norm"));
  LOOM_ASSIGN(k, normed(v, h.split(k, h.kv_heads, steps), "k_norm"));
  value = h.split(value, h.kv_heads, steps);
  if (v.flag("rope", true)) {
    LOOM_ASSIGN(const Edges table, rotary_table(h, first));
    q = rotated(h, q, table);
    k = rotated(h, k, table);
  }
  q = g.scale(q, 1 / std::sqrt(static_cast<double>(h.head_dim)));
  const bool causal = v.flag("causal", true), alibi = v.flag("alibi");
  const std::int64_t window = v.integer("window");
  if (g.decoder) {
    if (!causal || !h.open || !row.parts.empty())
      return v.refuse("a decoder's attention is causal and of the positions of sequences");
    k = of_cache(g, k, "key", h.kv_heads);
    value = of_cache(g, value, "value", h.kv_heads);
  }
  value = h.repeated(value);
  Edge scores, seen = seen_keys(v, row, 1, steps);
  if (g.decoder) {
    scores = g.cached_scores(window, alibi ? negative_slopes(heads) : std::vector<double>{});
  } else if (causal || window > 0 || alibi) {
    if (h.open) {
      scores = open_scores(h, first, causal, window, alibi);
    } else {
      std::vector<double> pairs = pair_scores(h, causal, window, alibi);
      scores = g.numbers({alibi ? heads : 1, steps, steps}, pairs);
      // A query may see no key at all: its shares are 0, not those of pairs that it must not see.
      for (double& s : pairs) s = s > kHidden / 2;
      if (!seen.name.empty()) seen = g.pair("Mul", seen, g.numbers(scores.dims, pairs));
    }
  }
  Edge y = h.together(attended(h, q, h.repeated(k), value, scores, seen));
  if (v.flag("sub_norm")) {
    LOOM_ASSIGN(const Edge gain, v.weight("sub_norm"));
    y = g.rms_norm(y, gain, v.number("sub_norm_eps", 1e-5));
  }
  LOOM_ASSIGN(const Edge out, v.linear("o", y, v.flag("out_bias") ? "o_bias" : ""));
  const Edge* lengths = v.taken(row, "lengths");
  if (!lengths) return out;
  return g.pair("Mul", out, g.shaped(g.seen_steps(*lengths, steps), {steps, 1}));
}

Result<Edge> export_cross_attention(LayerVisit& v, const Edge& row) {
  GraphWriter& g = v.g;
  const Edge &own = row.parts[0], &memory = row.parts[1];
  if (own.dims.size() != 2 || memory.dims.size() != 2)
    return v.refuse("rows are positions of sequences here: give it the steps of a row");
  const std::int64_t heads = v.integer("heads", 1), dim = v.integer("head_dim");
  const bool bias = v.flag("qkv_bias");
  const Heads h{v,           heads,          heads, dim > 0 ? dim : own.dims[1] / heads,
                own.dims[0], memory.dims[0], false};
  LOOM_ASSIGN(const Edge q, v.linear("q", own, bias ? "q_bias" : ""));
  LOOM_ASSIGN(const Edge k, v.linear("k", memory, bias ? "k_bias" : ""));
  LOOM_ASSIGN(const Edge value, v.linear("v", memory, bias ? "v_bias" : ""));
  const Edge scaled = g.scale(q, 1 / std::sqrt(static_cast<double>(h.head_dim)));
  const Edge y = attended(h, h.split(scaled, heads, h.steps), h.split(k, heads, h.keys),
                          h.split(value, heads, h.keys), {}, seen_keys(v, row, 2, h.keys));
  return v.linear("o", h.together(y), v.flag("out_bias") ? "o_bias" : "");
}

}  // namespace loom::onnx
