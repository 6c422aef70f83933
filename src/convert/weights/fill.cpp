#include "convert/weights/fill.h"

#include <algorithm>

#include "base/message.h"

namespace loom {
namespace {

bool is_real(StorageType type) {
  const std::optional<DType> dtype = dtype_of(type);
  if (!dtype) return type != StorageType::boolean;
  const std::string_view n = name(type);
  return n[0] == 'f' || n[0] == 'b';
}

std::int64_t dim(const TensorInfo& t, std::size_t i) { return i < t.shape.size() ? t.shape[i] : 1; }

// The tensor's own sizes against those of the parameter, row-major [rows, cols].
bool fits(const WeightStore& store, const ParameterSource& s) {
  const TensorInfo& t = *s.tensor;
  const std::int64_t rows = store.rows(), cols = store.cols();
  if (static_cast<std::uint64_t>(rows * cols * s.parts) != t.elements()) return false;
  switch (s.arrange) {
    case ParameterSource::Arrange::transposed:
      return t.shape.size() == 2 && dim(t, 0) == cols && dim(t, 1) == rows;
    case ParameterSource::Arrange::conv_transposed:
      return t.shape.size() > 2 && s.groups > 0 && dim(t, 0) == cols * s.groups;
    default: return rows == 1 || dim(t, 0) == rows * s.parts;
  }
}

// Where the value number i of the parameter lies in the tensor.
std::size_t place(const ParameterSource& s, std::size_t row, std::size_t col, std::size_t rows,
                  std::size_t cols) {
  if (s.arrange == ParameterSource::Arrange::transposed) return col * rows + row;
  // [groups x out x taps, in] of [groups x in, out x taps].
  const std::size_t per_group = rows / static_cast<std::size_t>(s.groups);
  return (row / per_group * cols + col) * per_group + row % per_group;
}

template <class T>
Status read_into(std::span<T> out, const ParameterSource& s, std::size_t rows, std::size_t cols) {
  const auto read = [&](std::uint64_t first, std::span<T> to) {
    if constexpr (std::is_same_v<T, float>) return read_f32(*s.tensor, first, to);
    else return read_f64(*s.tensor, first, to);
  };
  if (s.arrange == ParameterSource::Arrange::plain)
    return read(static_cast<std::uint64_t>(s.part) * out.size(), out);
  std::vector<T> values(out.size());
  LOOM_TRY(read(0, values));
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) out[r * cols + c] = values[place(s, r, c, rows, cols)];
  return {};
}

const BoundModule* find(const std::vector<BoundModule>& bound, const std::string& path) {
  for (const BoundModule& b : bound)
    if (b.path == path) return &b;
  return nullptr;
}

// A bias that a module lacks and a layer always has is 0, and its cell fixes it.
bool stays_zero(const BoundModule& b, const Network::NamedParam& p) {
  return b.type == "layer_norm" && p.param->spec.role == "bias" && p.node->fixes("bias");
}

}  // namespace

Status fill_parameter(WeightStore& store, const ParameterSource& s, const std::string& where) {
  const TensorInfo& t = *s.tensor;
  if (!is_real(t.type))
    return Status(Code::unsupported,
                  message("tensor ", quoted(t.name), " is stored as ", name(t.type),
                          ": weights are read from floating-point tensors"));
  if (!fits(store, s)) {
    const std::int64_t shape[] = {store.rows(), store.cols()};
    return Status(
        Code::invalid_argument,
        message("tensor ", quoted(t.name), " is ", shape_text(t.shape), ", the parameter ", where,
                " is ", shape_text(shape), ": are input, groups and layers those of the model?"));
  }
  const auto rows = static_cast<std::size_t>(store.rows()),
             cols = static_cast<std::size_t>(store.cols());
  LOOM_TRY(store.master_is_f64() ? read_into(store.mutable_master64(), s, rows, cols)
                                 : read_into(store.mutable_master(), s, rows, cols));
  store.touch();
  return {};
}

Status fill_network(Network& network, const std::vector<BoundModule>& bound,
                    std::set<const TensorInfo*>& used) {
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    const std::string where = p.path + ":" + p.param->spec.role;
    const BoundModule* b = find(bound, p.path);
    if (!b)
      return Status(Code::not_found,
                    message("no module of the file fills the parameter ", where,
                            (p.node->name.empty() ? "" : " of " + quoted(p.node->name))));
    const auto sources = sources_of(*b->module, b->type, b->layout, b->groups);
    const auto s = std::find_if(sources.begin(), sources.end(), [&](const ParameterSource& x) {
      return x.role == p.param->spec.role;
    });
    if (s == sources.end()) {
      if (stays_zero(*b, p)) continue;
      return Status(Code::not_found, message("module ", quoted(b->module->path),
                                             " has no tensor for the parameter ", where));
    }
    LOOM_TRY(fill_parameter(*p.param->store, *s, where));
    used.insert(s->tensor);
  }
  for (const BoundModule& b : bound)
    for (const auto& part : b.module->parts)
      if (is_bookkeeping(part.role)) used.insert(part.tensor);
  return {};
}

}  // namespace loom
