// Operators that move elements.
#include <algorithm>
#include <numeric>

#include "formats/onnx/infer/rule.h"

namespace loom::onnx {
namespace {

// out[index] = in[base + sum of index * strides], for the indices of `dims` in order.
Result<bool> gather_strided(Call& call, std::int64_t base, const Dims& dims, const Dims& strides) {
  Cells out;
  for (const std::size_t from : offsets(dims, strides, base)) out.push_back((*call.cells[0])[from]);
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

Dims strides_of(const Dims& dims) {
  Dims out(dims.size());
  std::int64_t stride = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    out[d] = stride;
    stride *= dims[d];
  }
  return out;
}

Status transpose(Call& call) {
  LOOM_TRY(call.need(1));
  Dims perm(call.rank());
  for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = int_of(perm.size() - 1 - i);
  LOOM_ASSIGN(perm, call.node.get_ints("perm", std::move(perm)));
  LOOM_ASSIGN(const auto axes, axes_of(perm, call.rank()));
  if (axes.size() != call.rank()) return wrong("perm ", perm, " of a tensor of rank ", call.rank());
  Dims out;
  for (const std::int64_t p : perm) out.push_back(call.dims()[*axis_of(p, call.rank())]);
  call.set(0, call.x().type, std::move(out));
  return {};
}
Result<bool> fold_transpose(Call& call) {
  Dims perm(call.rank());
  for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = int_of(perm.size() - 1 - i);
  LOOM_ASSIGN(perm, call.node.get_ints("perm", std::move(perm)));
  const Dims strides = strides_of(call.dims());
  Dims moved;
  for (const std::int64_t p : perm) moved.push_back(strides[*axis_of(p, call.rank())]);
  return gather_strided(call, 0, call.out[0].dims, moved);
}

Status reshape(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(Dims shape, call.ints_or(1, "shape"));
  LOOM_ASSIGN(const std::int64_t allow_zero, call.node.get_int("allowzero", 0));
  std::size_t open = shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && allow_zero == 0) {
      if (i >= call.rank()) return wrong("shape[", i, "] is 0, the input has rank ", call.rank());
      shape[i] = call.dims()[i];
    } else if (shape[i] == -1 && open == shape.size()) {
      open = i;
    } else if (shape[i] < 0) {
      return wrong("shape[", i, "] is ", shape[i], " in ", shape);
    }
  }
  const std::int64_t elements = product(call.dims());
  if (open < shape.size()) {
    shape[open] = 1;
    const auto rest = element_count(shape);
    if (!rest || *rest == 0 || static_cast<std::uint64_t>(elements) % *rest != 0) {
      return wrong("shape ", call.dims(), " does not divide into the rest of ", shape);
    }
    shape[open] = elements / static_cast<std::int64_t>(*rest);
  }
  const auto count = element_count(shape);
  if (!count || *count != static_cast<std::uint64_t>(elements)) {
    return wrong("shape ", call.dims(), " does not become ", shape);
  }
  call.set(0, call.x().type, std::move(shape));
  return {};
}

Status flatten(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(std::int64_t axis, call.node.get_int("axis", 1));
  const std::int64_t rank = int_of(call.rank());
  if (axis < -rank || axis > rank) return wrong("axis ", axis, " of a tensor of rank ", rank);
  if (axis < 0) axis += rank;
  const auto dims = std::span(call.dims());
  call.set(0, call.x().type,
           {product(dims.first(static_cast<std::size_t>(axis))),
            product(dims.subspan(static_cast<std::size_t>(axis)))});
  return {};
}

Status squeeze(Call& call) {
  LOOM_TRY(call.need(1));
  Dims ones;
  for (std::size_t i = 0; i < call.rank(); ++i) {
    if (call.dims()[i] == 1) ones.push_back(int_of(i));
  }
  LOOM_ASSIGN(const Dims axes, call.ints_or(1, "axes", std::move(ones)));
  LOOM_ASSIGN(const auto gone, axes_of(axes, call.rank()));
  Dims out;
  for (std::size_t i = 0; i < call.rank(); ++i) {
    if (!std::binary_search(gone.begin(), gone.end(), i)) out.push_back(call.dims()[i]);
    else if (call.dims()[i] != 1) return wrong("axis ", i, " of ", call.dims(), " is not 1");
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status unsqueeze(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const Dims axes, call.ints_or(1, "axes"));
  LOOM_ASSIGN(const auto added, axes_of(axes, call.rank() + axes.size()));
  Dims out = call.dims();
  for (const std::size_t axis : added)
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status concat(Call& call) {
  LOOM_TRY(call.need(std::max<std::size_t>(call.in.size(), 1)));
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", 1));
  LOOM_ASSIGN(const std::size_t axis, axis_of(given, call.rank()));
  Dims out = call.dims();
  for (std::size_t i = 1; i < call.in.size(); ++i) {
    Dims other = call.dims(i);
    if (other.size() == out.size()) {
      out[axis] += other[axis];
      other[axis] = out[axis];
    }
    if (other != out || call.x(i).type != call.x().type) {
      return wrong("input ", i, " is ", name(call.x(i).type), call.dims(i), ", the first is ",
                   name(call.x().type), call.dims());
    }
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}
Result<bool> fold_concat(Call& call) {
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", 1));
  const std::size_t axis = *axis_of(given, call.rank());
  const std::int64_t outer = product(std::span(call.dims()).first(axis));
  Cells out;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < call.in.size(); ++i) {
      const std::int64_t run = product(std::span(call.dims(i)).subspan(axis));
      const auto from = call.cells[i]->begin() + o * run;
      out.insert(out.end(), from, from + run);
    }
  }
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

// The size of each part of Split.
Result<Dims> split_sizes(const Call& call, std::int64_t length) {
  LOOM_ASSIGN(Dims sizes, call.ints_or(1, "split"));
  if (sizes.empty()) {
    LOOM_ASSIGN(const std::int64_t parts,
                call.node.get_int("num_outputs", int_of(call.out.size())));
    if (parts < 1 || parts > int_of(call.out.size()))
      return wrong("num_outputs is ", parts, " with ", call.out.size(), " outputs");
    const std::int64_t each = (length + parts - 1) / parts;
    for (std::int64_t i = 0, left = length; i < parts; ++i) {
      sizes.push_back(std::min(each, left));
      left -= sizes.back();
    }
  }
  std::int64_t sum = 0;
  for (const std::int64_t s : sizes) {
    if (s < 0 || s > length) return wrong("split ", sizes, " of ", length);
    sum += s;
  }
  if (sum != length || sizes.size() != call.out.size()) {
    return wrong("split ", sizes, " of ", length, " into ", call.out.size(), " outputs");
  }
  return sizes;
}
Status split(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", 0));
  LOOM_ASSIGN(const std::size_t axis, axis_of(given, call.rank()));
  LOOM_ASSIGN(const Dims sizes, split_sizes(call, call.dims()[axis]));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Dims out = call.dims();
    out[axis] = sizes[i];
    call.set(i, call.x().type, std::move(out));
  }
  return {};
}
Result<bool> fold_split(Call& call) {
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", 0));
  const std::size_t axis = *axis_of(given, call.rank());
  const std::int64_t outer = product(std::span(call.dims()).first(axis)),
                     row = product(std::span(call.dims()).subspan(axis));
  std::int64_t start = 0;
  for (std::size_t i = 0; i < call.out.size(); ++i) {
    const std::int64_t run = product(std::span(call.out[i].dims).subspan(axis));
    Cells out;
    for (std::int64_t o = 0; o < outer; ++o) {
      const auto from = call.cells[0]->begin() + o * row + start;
      out.insert(out.end(), from, from + run);
    }
    start += run;
    LOOM_TRY(keep(call, std::move(out), i));
  }
  return true;
}

// Where Slice starts and how it steps in every dimension, and the shape that comes out.
struct Slices {
  Dims start, step, dims;
};
Result<Slices> slices(const Call& call) {
  LOOM_ASSIGN(const Dims starts, call.ints_or(1, "starts"));
  LOOM_ASSIGN(const Dims ends, call.ints_or(2, "ends"));
  Dims all(starts.size());
  std::iota(all.begin(), all.end(), 0);
  LOOM_ASSIGN(const Dims axes, call.ints_or(3, "axes", std::move(all)));
  LOOM_ASSIGN(const Dims steps, call.ints_or(4, "steps", Dims(starts.size(), 1)));
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return wrong("has ", starts.size(), " starts, ", ends.size(), " ends, ", axes.size(),
                 " axes and ", steps.size(), " steps");
  }
  LOOM_TRY(axes_of(axes, call.rank()).status());
  Slices out{Dims(call.rank(), 0), Dims(call.rank(), 1), call.dims()};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = *axis_of(axes[i], call.rank());
    const std::int64_t length = call.dims()[axis];
    // A step longer than the axis takes one element, as the axis' own length does.
    const std::int64_t step =
        std::clamp(steps[i], -std::max<std::int64_t>(length, 1), std::max<std::int64_t>(length, 1));
    if (step == 0) return wrong("steps[", i, "] is 0");
    const auto clamped = [&](std::int64_t at) {
      if (at < 0) at = at < -length ? -1 : at + length;
      return step > 0 ? std::clamp<std::int64_t>(at, 0, length)
                      : std::clamp<std::int64_t>(at, -1, length - 1);
    };
    // Going backward an end before the first element takes it; a start before it takes nothing but
    // the first.
    std::int64_t start = clamped(starts[i]);
    const std::int64_t end = clamped(ends[i]);
    if (step < 0 && starts[i] < -length) start = std::min<std::int64_t>(0, length - 1);
    const std::int64_t distance = step > 0 ? end - start : start - end,
                       stride = step > 0 ? step : -step;
    out.start[axis] = start;
    out.step[axis] = step;
    out.dims[axis] = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  }
  return out;
}
Status slice(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(Slices s, slices(call));
  call.set(0, call.x().type, std::move(s.dims));
  return {};
}
Result<bool> fold_slice(Call& call) {
  LOOM_ASSIGN(Slices s, slices(call));
  const Dims strides = strides_of(call.dims());
  std::int64_t base = 0;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    base += s.start[d] * strides[d];
    s.step[d] *= strides[d];
  }
  return gather_strided(call, base, s.dims, s.step);
}

Status pad(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const Dims pads, call.ints_or(1, call.opset < 2 ? "paddings" : "pads"));
  Dims all(call.rank());
  std::iota(all.begin(), all.end(), 0);
  if (call.has(3)) {
    LOOM_ASSIGN(all, call.ints(3, "axes"));
  }
  LOOM_TRY(axes_of(all, call.rank()).status());
  if (pads.size() != 2 * all.size())
    return wrong("has ", pads.size(), " pads for ", all.size(), " axes");
  Dims out = call.dims();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t axis = *axis_of(all[i], call.rank());
    for (const std::int64_t p : {pads[i], pads[i + all.size()]}) {
      if (p > kMaxDim || p < -kMaxDim) return wrong("pads ", pads);
      out[axis] += p;
    }
    if (out[axis] < 0) return wrong("pads ", pads, " take more than shape ", call.dims(), " has");
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status gather(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", 0));
  LOOM_ASSIGN(const std::size_t axis, axis_of(given, call.rank()));
  const auto at = static_cast<std::ptrdiff_t>(axis);
  Dims out(call.dims().begin(), call.dims().begin() + at);
  out.insert(out.end(), call.dims(1).begin(), call.dims(1).end());
  out.insert(out.end(), call.dims().begin() + at + 1, call.dims().end());
  call.set(0, call.x().type, std::move(out));
  return {};
}
Result<bool> fold_gather(Call& call) {
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", 0));
  const std::size_t axis = *axis_of(given, call.rank());
  const auto dims = std::span(call.dims());
  const std::int64_t outer = product(dims.first(axis)), inner = product(dims.subspan(axis + 1)),
                     length = dims[axis];
  Cells out;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const Cell& cell : *call.cells[1]) {
      if (cell.i < -length || cell.i >= length)
        return wrong("index ", cell.i, " of an axis of ", length);
      const auto from =
          call.cells[0]->begin() + (o * length + (cell.i < 0 ? cell.i + length : cell.i)) * inner;
      out.insert(out.end(), from, from + inner);
    }
  }
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

Status gather_elements(Call& call) {
  LOOM_TRY(call.need(2));
  if (call.rank() != call.rank(1))
    return wrong("data has rank ", call.rank(), ", indices have ", call.rank(1));
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", 0));
  LOOM_ASSIGN(const std::size_t axis, axis_of(given, call.rank()));
  for (std::size_t d = 0; d < call.rank(); ++d) {
    if (d != axis && call.dims(1)[d] > call.dims()[d])
      return wrong("indices ", call.dims(1), " reach beyond data ", call.dims());
  }
  call.set(0, call.x().type, call.dims(1));
  return {};
}

Status gather_nd(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const std::int64_t batch, call.node.get_int("batch_dims", 0));
  const std::int64_t q = int_of(call.rank(1)), r = int_of(call.rank());
  if (q < 1 || batch < 0 || batch >= q || batch >= r)
    return wrong("batch_dims ", batch, " for ranks ", r, " and ", q);
  const std::int64_t last = call.dims(1).back();
  if (last < 1 || batch + last > r)
    return wrong("indices ", call.dims(1), " reach beyond rank ", r);
  Dims out(call.dims(1).begin(), call.dims(1).end() - 1);
  out.insert(out.end(), call.dims().begin() + (batch + last), call.dims().end());
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status expand(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const Dims shape, call.ints(1, "shape"));
  if (!element_count(shape)) return wrong("shape ", shape);
  LOOM_ASSIGN(Dims out, broadcast(call.dims(), shape));
  call.set(0, call.x().type, std::move(out));
  return {};
}
Result<bool> fold_expand(Call& call) {
  const Dims& to = call.out[0].dims;
  return gather_strided(call, 0, to, broadcast_strides(call.dims(), to));
}

Status tile(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const Dims repeats, call.ints(1, "repeats"));
  if (repeats.size() != call.rank())
    return wrong("has ", repeats.size(), " repeats for rank ", call.rank());
  Dims out = call.dims();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (repeats[i] < 0 || repeats[i] > kMaxDim) return wrong("repeats ", repeats);
    out[i] *= repeats[i];
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}
// A dimension that repeats is two: one that counts the copies and moves nothing, and its own.
Result<bool> fold_tile(Call& call) {
  const Dims from = call.dims(), own = strides_of(from);
  Dims dims, strides;
  for (std::size_t d = 0; d < from.size(); ++d) {
    dims.insert(dims.end(), {from[d] ? call.out[0].dims[d] / from[d] : 0, from[d]});
    strides.insert(strides.end(), {0, own[d]});
  }
  return gather_strided(call, 0, dims, strides);
}

Status depth_space(Call& call, bool forward) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const std::int64_t block, call.node.get_int("blocksize", 0));
  if (call.rank() != 4 || block < 1 || block > 32768)
    return wrong("blocksize ", block, " for shape ", call.dims());
  const Dims& x = call.dims();
  const std::int64_t area = block * block;
  if (forward ? x[1] % area != 0 : x[2] % block != 0 || x[3] % block != 0)
    return wrong("blocksize ", block, " for shape ", x);
  if (forward) call.set(0, call.x().type, {x[0], x[1] / area, x[2] * block, x[3] * block});
  else call.set(0, call.x().type, {x[0], x[1] * area, x[2] / block, x[3] / block});
  return {};
}

// The middle of what is too long, in the middle of zeros what is too short.
Status center_crop_pad(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const Dims shape, call.ints(1, "shape"));
  Dims all(call.rank());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  LOOM_ASSIGN(const Dims axes, call.node.get_ints("axes", std::move(all)));
  LOOM_TRY(axes_of(axes, call.rank()).status());
  if (shape.size() != axes.size()) return wrong("shape ", shape, " for axes ", axes);
  Dims out = call.dims();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (shape[i] < 0 || shape[i] > kMaxDim) return wrong("shape ", shape);
    out[*axis_of(axes[i], call.rank())] = shape[i];
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status depth_to_space(Call& call) { return depth_space(call, true); }
Status space_to_depth(Call& call) { return depth_space(call, false); }

constexpr RuleRow kRows[] = {
#define LOOM_SHAPE_layout(op, attributes, shape, fold, traits) \
  {op, shape, fold, attributes, traits},
#include "formats/onnx/operators.def"
};

}  // namespace

std::span<const RuleRow> layout_rules() { return kRows; }

}  // namespace loom::onnx
