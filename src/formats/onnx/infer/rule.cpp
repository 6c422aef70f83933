#include "formats/onnx/infer/rule.h"

#include <algorithm>

#include "numeric/codec.h"

namespace loom::onnx {

Status say(Code code, std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& p : parts)
    out += p.length == Part::kShape    ? shape_text(*p.shape)
           : p.length == Part::kNumber ? std::to_string(p.number)
                                       : std::string(p.text, p.length);
  return Status(code, std::move(out));
}

Status Call::need(std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (!has(i)) return wrong("has no input ", i, ", expected ", count);
  }
  return {};
}

Status Call::no_more_than(std::size_t count) const {
  return in.size() <= count ? Status() : wrong("has ", in.size(), " inputs, expected ", count);
}

Status Call::shaped(std::size_t i, std::span<const std::int64_t> expected,
                    std::string_view what) const {
  if (!has(i) || std::equal(dims(i).begin(), dims(i).end(), expected.begin(), expected.end()))
    return {};
  return wrong("input ", i, " (", what, ") is ", dims(i), ", expected ", shape_text(expected));
}

Status Call::spreads(std::size_t i, const Dims& to, std::string_view what) const {
  if (!has(i)) return {};
  const auto both = broadcast(dims(i), to);
  if (both.ok() && *both == to) return {};
  return wrong("input ", i, " (", what, ") ", dims(i), " does not broadcast to ", to);
}

Status Call::single(std::size_t i, std::string_view what) const {
  if (!has(i) || product(dims(i)) == 1) return {};
  return wrong("input ", i, " (", what, ") is ", dims(i), ", expected one number");
}

Result<Dims> Call::ints(std::size_t i, std::string_view what) const {
  if (!is_integer(x(i).type))
    return wrong("input ", i, " (", what, ") is ", name(x(i).type), ", expected integers");
  if (!cells[i])
    return not_supported("input ", i, " (", what, ") ", quoted(x(i).name),
                         " is no constant: the shape depends on data");
  Dims out;
  for (const Cell& c : *cells[i]) out.push_back(c.i);
  return out;
}

Result<Dims> Call::ints_or(std::size_t i, std::string_view attribute, Dims fallback) const {
  if (has(i)) return ints(i, attribute);
  return node.get_ints(attribute, std::move(fallback));
}

void Call::set(std::size_t i, Type type, Dims dims) {
  if (i >= out.size()) return;
  out[i].type = type;
  out[i].dims = std::move(dims);
}

Status keep(Call& call, Cells cells, std::size_t output) {
  call.out[output].cells = std::make_shared<const Cells>(std::move(cells));
  return {};
}

Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return wrong("axis ", axis, " of a tensor of rank ", rank);
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

Result<std::vector<std::size_t>> axes_of(const Dims& axes, std::size_t rank) {
  std::vector<std::size_t> out;
  for (const std::int64_t axis : axes) {
    LOOM_ASSIGN(const std::size_t at, axis_of(axis, rank));
    out.push_back(at);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    return wrong("axes ", axes, " name an axis twice");
  return out;
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {  // from the last dimension on
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
                       y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return wrong("shapes ", a, " and ", b, " do not broadcast");
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

std::int64_t product(std::span<const std::int64_t> dims) {
  return static_cast<std::int64_t>(element_count(dims).value_or(0));
}

Dims broadcast_strides(const Dims& dims, const Dims& to) {
  Dims out(to.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t d = dims[dims.size() - 1 - i];
    out[out.size() - 1 - i] = d == 1 ? 0 : stride;
    stride *= d;
  }
  return out;
}

std::vector<std::size_t> offsets(const Dims& dims, const Dims& strides, std::int64_t base) {
  std::vector<std::size_t> out(static_cast<std::size_t>(product(dims)));
  Dims index(dims.size(), 0);
  for (std::size_t& at : out) {
    at = static_cast<std::size_t>(base);
    for (std::size_t d = dims.size(); d-- > 0;) {
      base += strides[d];
      if (++index[d] < dims[d]) break;
      base -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
  return out;
}

double round_to(Type type, double value) {
  switch (type) {
    case Type::f32: return static_cast<double>(static_cast<float>(value));
    case Type::f16:
      return static_cast<double>(decode_small_float(encode_small_float(value, kF16), kF16));
    case Type::bf16:
      return static_cast<double>(decode_small_float(encode_small_float(value, kBf16), kBf16));
    default: return value;
  }
}

std::int64_t wrap_to(Type type, std::int64_t value) {
  if (type == Type::boolean) return value != 0;
  const std::uint32_t width = bits(type);
  if (width == 64) return value;
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1,
                      low = static_cast<std::uint64_t>(value) & mask;
  const auto dtype = dtype_of(type);
  const bool is_signed = dtype && loom::info(*dtype).is_signed;
  return static_cast<std::int64_t>(is_signed && low >> (width - 1) ? low | ~mask : low);
}

Status same_as_input(Call& call) {
  LOOM_TRY(call.need(1));
  call.set(0, call.x().type, call.dims());
  return {};
}

Result<bool> fold_copy(Call& call) {
  call.out[0].cells = std::make_shared<const Cells>(*call.cells[0]);
  return true;
}

}  // namespace loom::onnx
