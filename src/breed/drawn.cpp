// Layers that mutation may bring in, a row for each type.
#include <algorithm>

#include "breed/draft.h"
#include "layers/layer.h"

namespace loom::breed {
namespace {

// What arrives where a layer may stand; bits.
enum Place : unsigned {
  kNowhere = 0,
  kValues = 1,     // any values: works on the last dimension or on each value
  kSteps = 2,      // [steps, features]
  kChannels1 = 4,  // [channels, length]
  kChannels2 = 8,
  kChannels3 = 16,
  kIds = 32,
  kRow = 64,  // rows without dimensions
};

struct DrawnRow {
  const char* type;
  unsigned places;
  // $o: outputs, $h: hidden, $c: channels, $a: an activation, $d: a divisor of the width, $w: the
  // width that arrives.
  const char* text;
  // Where it is added, in place of that: what it changes little. Null: it is not added.
  const char* added;
};

constexpr char kConvAdded1[] =
    R"({"type":"conv1d","filters":$c,"kernel":3,"padding":1,"#init":"identity"})";
constexpr char kConvAdded2[] =
    R"({"type":"conv2d","filters":$c,"kernel":3,"padding":1,"#init":"identity"})";
constexpr char kConvAdded3[] =
    R"({"type":"conv3d","filters":$c,"kernel":3,"padding":1,"#init":"identity"})";

const DrawnRow kRows[] = {
    {"dense", kValues, R"({"type":"dense","out":$o,"activation":"$a"})",
     R"({"type":"dense","out":$w,"#init":"identity"})"},
    {"swiglu", kValues, R"({"type":"swiglu","hidden":$h})",
     R"({"type":"sequential","layers":[{"type":"swiglu","hidden":$h,"#init":"zero"},{"type":"residual"}]})"},
    {"residual", kValues,
     R"({"type":"sequential","layers":[{"type":"dense","out":$w,"activation":"$a"},{"type":"residual"}]})",
     R"({"type":"sequential","layers":[{"type":"dense","out":$w,"activation":"tanh","#init":"zero"},{"type":"residual"}]})"},
    {"sequential", kValues,
     R"({"type":"sequential","layers":[{"type":"dense","out":$h,"activation":"$a"},{"type":"dense","out":$o}]})",
     nullptr},
    {"parallel", kValues,
     R"({"type":"parallel","combine":"avg","layers":[{"type":"dense","out":$o,"activation":"$a"},{"type":"dense","out":$o}]})",
     nullptr},
    {"layer_norm", kValues, R"({"type":"layer_norm"})", R"({"type":"layer_norm"})"},
    {"rms_norm", kValues, R"({"type":"rms_norm"})", R"({"type":"rms_norm"})"},
    {"batch_norm", kRow | kChannels1 | kChannels2 | kChannels3, R"({"type":"batch_norm"})",
     R"({"type":"batch_norm"})"},
    {"group_norm", kChannels1 | kChannels2 | kChannels3, R"({"type":"group_norm"})",
     R"({"type":"group_norm"})"},
    {"instance_norm", kChannels1 | kChannels2 | kChannels3, R"({"type":"instance_norm"})",
     R"({"type":"instance_norm"})"},
    {"standardize", kValues, R"({"type":"standardize"})", nullptr},
    {"dropout", kValues | kChannels1 | kChannels2 | kChannels3, R"({"type":"dropout","rate":0.1})",
     R"({"type":"dropout","rate":0.1})"},
    {"activation", kValues | kChannels1 | kChannels2 | kChannels3,
     R"({"type":"activation","activation":"$a"})", R"({"type":"activation","activation":"$a"})"},
    {"unary", kValues | kChannels1 | kChannels2 | kChannels3, R"({"type":"unary","op":"sin"})",
     nullptr},
    {"binary", kRow, R"({"type":"binary","op":"mul","constant":[$w],"shapes":[[$w]]})", nullptr},
    {"softmax", kValues, R"({"type":"softmax"})", nullptr},
    {"log_softmax", kValues, R"({"type":"log_softmax"})", nullptr},
    {"adaptive_softmax", kRow, R"({"type":"adaptive_softmax","out":$o,"cutoffs":[1]})", nullptr},
    {"mixture_of_softmaxes", kRow, R"({"type":"mixture_of_softmaxes","out":$o,"mixtures":2})",
     nullptr},
    {"kmeans", kValues, R"({"type":"kmeans","clusters":$h,"output":"features"})", nullptr},
    {"rnn", kSteps | kRow, R"({"type":"rnn","hidden":$o})", nullptr},
    {"gru", kSteps | kRow, R"({"type":"gru","hidden":$o})", nullptr},
    {"lstm", kSteps | kRow, R"({"type":"lstm","hidden":$o})", nullptr},
    {"attention", kSteps, R"({"type":"attention","heads":$d,"rope":false,"causal":false})",
     R"({"type":"sequential","layers":[{"type":"attention","heads":$d,"rope":false,"#init":"zero"},{"type":"residual"}]})"},
    {"positions", kSteps, R"({"type":"positions","kind":"sinusoidal"})", nullptr},
    {"pool_steps", kSteps, R"({"type":"pool_steps"})", nullptr},
    {"time_distributed", kSteps,
     R"({"type":"time_distributed","layers":[{"type":"dense","out":$o,"activation":"$a"}]})",
     nullptr},
    {"conv1d", kChannels1,
     R"({"type":"conv1d","filters":$o,"kernel":3,"padding":1,"activation":"$a"})", kConvAdded1},
    {"conv2d", kChannels2,
     R"({"type":"conv2d","filters":$o,"kernel":3,"padding":1,"activation":"$a"})", kConvAdded2},
    {"conv3d", kChannels3,
     R"({"type":"conv3d","filters":$o,"kernel":3,"padding":1,"activation":"$a"})", kConvAdded3},
    {"conv_transpose1d", kChannels1,
     R"({"type":"conv_transpose1d","filters":$o,"kernel":3,"padding":1})", nullptr},
    {"conv_transpose2d", kChannels2,
     R"({"type":"conv_transpose2d","filters":$o,"kernel":3,"padding":1})", nullptr},
    {"conv_transpose3d", kChannels3,
     R"({"type":"conv_transpose3d","filters":$o,"kernel":3,"padding":1})", nullptr},
    {"max_pool1d", kChannels1, R"({"type":"max_pool1d","kernel":3,"stride":1,"padding":1})",
     nullptr},
    {"max_pool2d", kChannels2, R"({"type":"max_pool2d","kernel":3,"stride":1,"padding":1})",
     nullptr},
    {"max_pool3d", kChannels3, R"({"type":"max_pool3d","kernel":3,"stride":1,"padding":1})",
     nullptr},
    {"avg_pool1d", kChannels1, R"({"type":"avg_pool1d","kernel":3,"stride":1,"padding":1})",
     nullptr},
    {"avg_pool2d", kChannels2, R"({"type":"avg_pool2d","kernel":3,"stride":1,"padding":1})",
     nullptr},
    {"avg_pool3d", kChannels3, R"({"type":"avg_pool3d","kernel":3,"stride":1,"padding":1})",
     nullptr},
    {"reduce", kRow, R"({"type":"reduce","op":"mean"})", nullptr},
    {"permute", kChannels2, R"({"type":"permute","order":[0,2,1]})", nullptr},
    {"index_select", kRow, R"({"type":"index_select","runs":[[0,1,$w]]})", nullptr},
    {"flatten", kSteps | kChannels1 | kChannels2 | kChannels3, R"({"type":"flatten"})", nullptr},
    {"reshape", kRow, R"({"type":"reshape","dims":[$d,-1]})", nullptr},
    {"embedding", kIds, R"({"type":"embedding","out":$o})", nullptr},
};

// Activations that keep values small enough for chains of them.
constexpr const char* kActivations[] = {"linear", "relu",    "leaky_relu", "silu", "gelu_tanh",
                                        "tanh",   "sigmoid", "softplus",   "mish", "gelu_erf"};

unsigned places_of(const Node& node) {
  const Shape& in = node.in;
  if (in.ids > 0) return kIds;
  if (!in.parts.empty()) return kNowhere;
  if (node.parts > 1) return kValues | kSteps;
  const std::size_t dims = in.dims.size();
  if (dims < 2) return kValues | kRow;
  if (in.axis == Axis::channels || dims > 2)
    return dims == 2 ? kChannels1 : dims == 3 ? kChannels2 : dims == 4 ? kChannels3 : kNowhere;
  return in.axis == Axis::steps ? kValues | kSteps : kValues | kSteps | kChannels1;
}

std::int64_t channels_of(const Shape& in) { return in.dims.size() > 1 ? in.dims[0] : in.width; }

void replace(std::string& text, std::string_view key, const std::string& value) {
  for (std::size_t at; (at = text.find(key)) != std::string::npos;)
    text.replace(at, key.size(), value);
}

}  // namespace

bool is_drawn_type(std::string_view type) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const DrawnRow& row) { return row.type == type; });
}

std::string activation_other_than(const std::string& now, evolve::Draws& draws) {
  const std::size_t count = std::size(kActivations);
  std::size_t at = draws.below(count);
  if (kActivations[at] == now) at = (at + 1) % count;
  return kActivations[at];
}

std::optional<Json> drawn_layer(const Node& place, std::int64_t width, bool added,
                                const MutationRates& rates, evolve::Draws& draws) {
  const unsigned places = places_of(place);
  std::vector<const DrawnRow*> rows;
  for (const DrawnRow& row : kRows) {
    if (!(row.places & places) || (added && !row.added)) continue;
    if (!rates.types.empty() && std::ranges::find(rates.types, row.type) == rates.types.end())
      continue;
    rows.push_back(&row);
  }
  if (rows.empty()) return std::nullopt;
  const DrawnRow& row = *rows[draws.below(rows.size())];
  const Shape& in = place.in;
  const std::int64_t arrives =
      std::max<std::int64_t>(in.dims.empty() ? in.width : in.dims.back(), 1);
  const auto near = [&](std::int64_t size) {
    const std::int64_t limit = std::min(rates.max_width, 2 * std::max<std::int64_t>(size, 1));
    return 1 + static_cast<std::int64_t>(draws.below(static_cast<std::size_t>(limit)));
  };
  const std::int64_t divisors[] = {1, 2, 4, 8, 3};
  std::int64_t divisor = divisors[draws.below(std::size(divisors))];
  if (arrives % divisor != 0) divisor = 1;
  const std::int64_t out =
      draws.chance(0.5) ? std::min(std::max<std::int64_t>(width, 1), rates.max_width) : near(width);
  std::string text = added ? row.added : row.text;
  replace(text, "$o", std::to_string(out));
  replace(text, "$h", std::to_string(near(arrives)));
  replace(text, "$c", std::to_string(channels_of(in)));
  replace(text, "$w", std::to_string(arrives));
  replace(text, "$d", std::to_string(divisor));
  replace(text, "$a", activation_other_than("", draws));
  return parsed_layer(text);
}

}  // namespace loom::breed
