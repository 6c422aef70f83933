#include "grid/saved_network.h"

#include <bit>
#include <map>

#include "base/escape.h"
#include "base/files/base64.h"
#include "base/files/bytes.h"
#include "base/message.h"
#include "grid/builder.h"
#include "numeric/codec.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }
Status cannot(std::string what) { return Status(Code::unsupported, std::move(what)); }

// How that engine's files have a dtype.
struct Coding {
  int bits = 0;
  bool is_signed = false, scaled = false;
};
Result<Coding> code_of(std::string_view dtype) {
  if (dtype == "f64") return Coding{64};
  if (dtype == "f32") return Coding{32};
  if (dtype == "f16" || dtype == "bf16") return Coding{16};
  if (dtype == "i64") return Coding{64, true, true};
  if (dtype == "i32") return Coding{32, true, true};
  if (dtype == "i16") return Coding{16, true, true};
  if (dtype == "i8") return Coding{8, true, true};
  if (dtype == "i4") return Coding{4, true, true};
  if (dtype == "i2" || dtype == "ternary") return Coding{2, true, true};
  if (dtype == "u8") return Coding{8, false, true};
  if (dtype == "u4") return Coding{4, false, true};
  if (dtype == "u2") return Coding{2, false, true};
  if (dtype == "binary") return Coding{1, false, true};
  if (dtype[0] == 'u')
    return cannot("weights of the dtype " + std::string(dtype) + " are saved without their signs");
  return cannot("weights of the dtype " + std::string(dtype) +
                " are saved in codes of that "
                "engine's own, which are not those of " +
                std::string(dtype));
}

// The number of a code: little-endian where it has bytes, the first in the highest bits of a byte
// where it has not.
std::uint64_t code_at(std::span<const std::byte> bytes, std::size_t i, int bits) {
  if (bits >= 8) {
    const auto size = static_cast<std::size_t>(bits / 8);
    std::uint64_t code = 0;
    for (std::size_t b = size; b-- > 0;)
      code = code << 8 | static_cast<std::uint64_t>(bytes[i * size + b]);
    return code;
  }
  const std::size_t at = i * static_cast<std::size_t>(bits);
  const int shift = 8 - bits - static_cast<int>(at % 8);
  return static_cast<std::uint64_t>(bytes[at / 8]) >> shift & ((1u << bits) - 1);
}

double single(std::uint64_t code) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
}

// The values of a layer that has `count`.
class Values {
 public:
  static Result<Values> of(const SavedLayer& layer, std::uint64_t count) {
    Values v;
    const Json& json = *layer.json;
    LOOM_ASSIGN(const bool native, json.get_bool("native", false));
    v.dtype_ = native ? layer.dtype : "f32";
    if (native && layer.type.starts_with("conv_") && v.dtype_ != "f32" && v.dtype_ != "f64")
      return cannot(
          "native weights of a transposed convolution, which that engine has in f32 and f64 alone");
    LOOM_ASSIGN(v.code_, code_of(v.dtype_));
    if (v.code_.scaled) {
      LOOM_ASSIGN(v.scale_, json.get_number("scale", 0));
      if (!(v.scale_ > 0 && v.scale_ <= 0x1p127))
        return bad(
            message("\"scale\" must be above 0: codes of ", v.dtype_, " are multiplied by it"));
    }
    LOOM_ASSIGN(const std::string text, json.get_string("weights", ""));
    LOOM_ASSIGN(v.bytes_, from_base64(text, "weights"));
    const std::uint64_t wanted = (count * static_cast<std::uint64_t>(v.code_.bits) + 7) / 8;
    if (v.bytes_.size() != wanted)
      return bad(message("\"weights\": expects ", wanted, " bytes for ", count, " values of ",
                         v.dtype_, ", got ", v.bytes_.size()));
    for (std::size_t i = 0; i < count; ++i)
      if (const double x = v[i]; !(x - x == 0))
        return bad(message("\"weights\": value ", i, " is no finite number",
                           (v.dtype_ == "ternary" ? ", or its code none of -1, 0 and 1" : "")));
    return v;
  }

  double operator[](std::size_t i) const {
    const std::uint64_t code = code_at(bytes_, i, code_.bits);
    if (dtype_ == "f64") return std::bit_cast<double>(code);
    if (dtype_ == "f32") return single(code);
    if (dtype_ == "f16") return static_cast<double>(f16_to_f32(static_cast<std::uint16_t>(code)));
    if (dtype_ == "bf16") return single(code << 16);
    if (dtype_ == "binary") return code ? scale_ : -scale_;
    if (dtype_ == "ternary" && code == 2) return __builtin_nan("");
    const int rest = 64 - code_.bits;
    const double number = code_.is_signed
                              ? static_cast<double>(static_cast<std::int64_t>(code << rest) >> rest)
                              : static_cast<double>(code);
    return scale_ * number;
  }

 private:
  std::string dtype_;
  Coding code_;
  double scale_ = 1;
  std::vector<std::byte> bytes_;
};

// Where value (row, column) of a parameter, number `index` of its layer, stands among the values of
// its layer; `before`: those of the parameters before it.
std::size_t place_of(const SavedLayer& layer, const std::vector<Param*>& params, std::size_t index,
                     std::size_t row, std::size_t col, std::size_t before) {
  const auto rows = static_cast<std::size_t>(params[index]->spec.rows),
             cols = static_cast<std::size_t>(params[index]->spec.cols);
  if (layer.type == "lstm") {  // four times, one for each gate: of the step, of the state, bias
    const auto hidden = static_cast<std::size_t>(params[1]->spec.cols),
               in = static_cast<std::size_t>(params[0]->spec.cols),
               block = hidden * (in + hidden + 1);
    if (index == 2) row = col, col = 0;  // the bias is one row
    const std::size_t gate = row / hidden, unit = row % hidden;
    if (index == 0) return gate * block + unit * in + col;
    if (index == 1) return gate * block + hidden * in + unit * hidden + col;
    return gate * block + hidden * (in + hidden) + unit;
  }
  // [filters][channels][taps] there, [filters][taps][channels] here.
  if (layer.type.starts_with("conv_")) {
    const Json* filters = layer.json->find("filters");
    const std::size_t taps = rows / static_cast<std::size_t>(filters->as_integer());
    return (row / taps * cols + col) * taps + row % taps;
  }
  return before + row * cols + col;
}

Status fill(const SavedLayer& layer, const std::vector<Param*>& params) {
  std::uint64_t count = 0;
  // That engine's recurrent layers have one bias, ours two.
  for (const Param* p : params)
    if (p->spec.role != "bias_hh_l0")
      count += static_cast<std::uint64_t>(p->spec.rows * p->spec.cols);
  const Json* weights = layer.json->find("weights");
  const bool given = weights && !(weights->is_string() && weights->as_string().empty());
  if (count == 0) return given ? bad("\"weights\" of a layer that has none") : Status();
  if (!given) return bad("\"weights\" is missing: a network is loaded with all of them");
  LOOM_ASSIGN(const Values values, Values::of(layer, count));
  std::size_t before = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    WeightStore& store = *params[i]->store;
    const auto rows = static_cast<std::size_t>(params[i]->spec.rows),
               cols = static_cast<std::size_t>(params[i]->spec.cols);
    if (params[i]->spec.role == "bias_hh_l0") continue;
    const auto write = [&]<class T>(std::span<T> to) {
      for (std::size_t at = 0; at < to.size(); ++at)
        to[at] = static_cast<T>(values[place_of(layer, params, i, at / cols, at % cols, before)]);
    };
    if (store.master_is_f64()) write(store.mutable_master64());
    else write(store.mutable_master());
    store.touch();
    before += rows * cols;
  }
  return {};
}

}  // namespace

Result<Network> network_of_saved(const Json& json, std::int64_t max_values) {
  if (!json.is_object() || !is_builder_json(json))
    return bad(
        "a file of JSON: expects a network that the Go engine saved, with \"layers\"; a "
        "topology is for network_create");
  std::vector<SavedLayer> layers;
  LOOM_ASSIGN(const Json topology, topology_of_saved(json, layers));
  LOOM_ASSIGN(Network network, Network::from_json(topology, max_values));
  std::map<std::string, std::vector<Param*>> params;
  for (const Network::NamedParam& p : network.params()) params[p.path].push_back(p.param);
  for (const SavedLayer& layer : layers)
    LOOM_TRY(fill(layer, params[layer.path]).at("Go network: cell " + layer.path));
  return network;
}

}  // namespace loom
