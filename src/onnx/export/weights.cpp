// Parameters as initializers: plain ones as they are, those of small dtypes as codes and scales.
#include <algorithm>
#include <cmath>

#include "base/files/bytes.h"
#include "numeric/codec.h"
#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

// Dtypes whose codes ONNX has since opset 21.
struct CodeType {
  DType dtype;
  Type type;
};
constexpr CodeType kCodeTypes[] = {{DType::i8, Type::i8},
                                   {DType::u8, Type::u8},
                                   {DType::i16, Type::i16},
                                   {DType::u16, Type::u16},
                                   {DType::i4, Type::i4},
                                   {DType::u4, Type::u4},
                                   {DType::fp8e4m3, Type::f8_e4m3fn},
                                   {DType::fp8e5m2, Type::f8_e5m2}};
constexpr std::string_view kExported =
    "f32, f64, f16, bf16, i8, u8, i16, u16, i4:s4, i4:row, u4:row, q4_0, q8_0, fp8e4m3, fp8e5m2";

Type code_type(const WeightFormat& f) {
  if (f.layout == Layout::q8_0) return Type::i8;
  if (f.layout == Layout::q4_0) return Type::i4;
  if (f.layout == Layout::a4 || f.layout == Layout::q4_k || f.layout == Layout::q6_k)
    return Type::undefined;
  for (const CodeType& c : kCodeTypes)
    if (c.dtype == f.dtype) return c.type;
  return Type::undefined;
}

bool is_plain(DType t) {
  return t == DType::f32 || t == DType::f64 || t == DType::f16 || t == DType::bf16;
}

// Codes one behind the other, two in a byte where they have four bits.
class Codes {
 public:
  Codes(Type type, std::int64_t count)
      : type_(type),
        bytes_(std::make_shared<std::vector<std::byte>>(
            (static_cast<std::size_t>(count) * bits(type) + 7) / 8)) {}
  void put(std::int64_t at, double value) {
    const auto i = static_cast<std::size_t>(at);
    std::byte* to = bytes_->data();
    if (bits(type_) == 16) {
      const auto code = static_cast<std::uint16_t>(static_cast<std::int32_t>(value));
      store_le<std::uint16_t>(to + 2 * i, code);
    } else if (type_ == Type::i8 || type_ == Type::u8) {
      to[i] = static_cast<std::byte>(static_cast<std::int32_t>(value));
    } else {
      const bool small = bits(type_) == 8;  // float8
      const auto code = small ? encode_small_float(value, info(*dtype_of(type_)).codec.small_float)
                              : static_cast<unsigned>(static_cast<std::int32_t>(value)) & 15;
      if (small) to[i] = static_cast<std::byte>(code);
      else to[i / 2] |= static_cast<std::byte>(code << (i % 2 * 4));
    }
  }
  // MatMulNBits counts from the middle of unsigned codes.
  void make_unsigned() {
    const std::byte flip{static_cast<unsigned char>(bits(type_) == 8 ? 0x80 : 0x88)};
    for (std::byte& b : *bytes_) b ^= flip;
    type_ = Type::u8;
  }
  Tensor tensor(std::string name, Dims dims) const {
    Tensor t;
    t.name = std::move(name);
    t.type = type_;
    t.dims = std::move(dims);
    t.size = bytes_->size();
    t.source = source_from_view(*bytes_, t.name, bytes_);
    return t;
  }

 private:
  Type type_;
  std::shared_ptr<std::vector<std::byte>> bytes_;
};

template <class T>
Tensor owned(std::string name, Type type, Dims dims, std::vector<T> values) {
  auto all = std::make_shared<std::vector<T>>(std::move(values));
  Tensor t;
  t.name = std::move(name);
  t.type = type;
  t.dims = std::move(dims);
  t.size = all->size() * sizeof(T);
  t.source = source_from_view(std::as_bytes(std::span(*all)), t.name, all);
  return t;
}

void put_real(Type type, std::byte* to, std::size_t i, double value) {
  if (type == Type::f64) return store_le(to + 8 * i, value);
  if (type == Type::f32) return store_le(to + 4 * i, static_cast<float>(value));
  const SmallFloat& f = info(*dtype_of(type)).codec.small_float;
  store_le(to + 2 * i, static_cast<std::uint16_t>(encode_small_float(value, f)));
}

// Bytes [at, at + out.size()) of the values, as many rows at a time as they lie in.
Status read_rows(const PackedMatrix& m, Type type, std::uint64_t at, std::span<std::byte> out) {
  if (out.empty()) return {};
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(m.cols()) * bits(type) / 8;
  const std::uint64_t first = at / row_bytes, end = (at + out.size() - 1) / row_bytes + 1;
  std::vector<double> values(static_cast<std::size_t>(end - first) *
                             static_cast<std::size_t>(m.cols()));
  m.decode(static_cast<std::int64_t>(first), static_cast<std::int64_t>(end - first),
           std::span<double>(values));
  std::vector<std::byte> rows(values.size() * bits(type) / 8);
  for (std::size_t i = 0; i < values.size(); ++i) put_real(type, rows.data(), i, values[i]);
  const auto from = rows.begin() + static_cast<std::ptrdiff_t>(at - first * row_bytes);
  std::copy_n(from, out.size(), out.begin());
  return m.intact();
}

// A matrix as codes and what they are multiplied with.
struct Quantized {
  Codes codes;
  std::vector<float> scales;
  std::vector<double> zeros;
  std::int64_t block = 0;   // codes of a row with one scale; 0: all
  std::int64_t stride = 0;  // codes of a row
};

// What scales of blocks are: of S4 a small integer times the row's, else as they are stored.
float block_scale(const PackedMatrix& m, std::int64_t row, std::int64_t block,
                  std::span<const float> values, std::span<const std::int32_t> codes) {
  if (m.format().layout == Layout::plain) {
    const std::int64_t at = (row / kPanel * m.layout().blocks + block) * kPanel + row % kPanel;
    return load_le<float>(m.bytes().data() + m.layout().sub_scales + 4 * at);
  }
  // The code of largest magnitude: its value is that times the scale, rounded once.
  std::size_t best = 0;
  for (std::size_t i = 1; i < codes.size(); ++i)
    if (std::abs(codes[i]) > std::abs(codes[best])) best = i;
  return codes[best] == 0 ? 0 : values[best] / static_cast<float>(codes[best]);
}

// Of a row in blocks: S4's products of code and sub-scale are taken apart again.
void add_blocks(const PackedMatrix& m, std::int64_t row, std::span<const float> values,
                Quantized& q) {
  const std::int64_t cols = m.cols();
  std::vector<std::int32_t> codes;
  for (std::int64_t first = 0; first < cols; first += q.block) {
    const std::int64_t n = std::min(q.block, cols - first);
    codes.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      codes[static_cast<std::size_t>(i)] = code_at(m, row, first + i);
    if (m.format().layout == Layout::s4) {
      std::int32_t sub = 15;
      const auto fits = [&](std::int32_t c) {
        return c % sub == 0 && c / sub >= -8 && c / sub <= 7;
      };
      while (sub > 1 && !std::all_of(codes.begin(), codes.end(), fits)) --sub;
      for (std::int32_t& c : codes) c /= sub;
    }
    q.scales.push_back(block_scale(
        m, row, first / q.block,
        values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n)), codes));
    for (std::int64_t i = 0; i < n; ++i)
      q.codes.put(row * q.stride + first + i, codes[static_cast<std::size_t>(i)]);
  }
}

// Codes of unsigned types count from a zero point: the smallest value of a group.
void add_row(const PackedMatrix& m, std::int64_t row, std::vector<float>& values, Quantized& q) {
  m.decode_codes(row, std::span<float>(values));
  q.scales.push_back(m.row_scale(row));
  double zero = 0;
  if (!info(m.format().dtype).is_signed) {
    for (const float v : values) zero = std::max(zero, -static_cast<double>(v));
    q.zeros.push_back(zero);
  }
  for (std::int64_t i = 0; i < m.cols(); ++i)
    q.codes.put(row * q.stride + i, values[static_cast<std::size_t>(i)] + zero);
}

// Whether there are scales of blocks.
bool in_blocks(const WeightFormat& f) {
  return f.scale == ScaleKind::block || f.layout != Layout::plain;
}

// `nbits`: rows are filled up to whole blocks, and those with one scale are cut into blocks.
Result<Quantized> quantized(const PackedMatrix& m, Type type, bool nbits) {
  const WeightFormat& f = m.format();
  const std::int64_t rows = m.rows(), cols = m.cols();
  const bool blocks = in_blocks(f);
  const std::int64_t block = blocks && f.layout == Layout::plain ? f.block : 32;
  const std::int64_t count = (cols + block - 1) / block, stride = nbits ? count * block : cols;
  Quantized q{Codes(type, rows * stride), {}, {}, blocks || nbits ? block : 0, stride};
  std::vector<float> values(static_cast<std::size_t>(cols));
  for (std::int64_t r = 0; r < rows; ++r) {
    if (blocks) {
      m.decode(r, 1, std::span<float>(values));
      add_blocks(m, r, values, q);
      continue;
    }
    add_row(m, r, values, q);
    if (nbits)
      q.scales.resize(q.scales.size() + static_cast<std::size_t>(count) - 1, m.row_scale(r));
  }
  LOOM_TRY(m.intact());
  return q;
}

}  // namespace

// The parameter as MatMulNBits takes it: codes and scales are parts, dimensions are K, N, bits and
// the block. Without parts: it does not hold such codes.
Result<Edge> GraphWriter::nbits_weight(const std::string& name, const Param& param) {
  LOOM_ASSIGN(const std::shared_ptr<WeightStore> store, stored(param));
  if (is_plain(store->format().dtype)) return Edge();
  LOOM_ASSIGN(const PackedMatrix m, store->packed());
  const WeightFormat& f = m.format();
  const Type type = code_type(f);
  const bool power = !in_blocks(f) || f.layout != Layout::plain ||
                     (f.block >= 16 && (f.block & (f.block - 1)) == 0);
  if ((type != Type::i8 && type != Type::i4) || !power) return Edge();
  LOOM_ASSIGN(Quantized q, quantized(m, type, true));
  q.codes.make_unsigned();
  const std::int64_t count = q.stride / q.block;
  Edge codes, scales, made;
  codes.name = unique(name + ".codes"), codes.type = Type::u8, codes.fixed = true;
  codes.dims = {m.rows(), count, q.block * bits(type) / 8};
  initializer(q.codes.tensor(codes.name, codes.dims));
  scales.name = unique(name + ".codes.scale"), scales.fixed = true;
  scales.dims = {m.rows(), count};
  initializer(owned(scales.name, Type::f32, scales.dims, std::move(q.scales)));
  made.parts = {codes, scales};
  made.dims = {m.cols(), m.rows(), bits(type), q.block};
  ++dtypes[to_string(f)];
  return made;
}

Result<Edge> GraphWriter::nbits(const std::string& name, const Param& param, const Edge& x) {
  if (real != Type::f32) return Edge();
  const std::pair<const WeightStore*, Type> key{param.store.get(), Type::u8};
  auto known = weights_.find(key);
  if (known == weights_.end()) {
    LOOM_ASSIGN(Edge made, nbits_weight(name, param));
    known = weights_.emplace(key, std::move(made)).first;
  }
  const Edge& w = known->second;
  if (w.parts.empty()) return Edge();
  Dims out = x.dims;
  out.back() = w.dims[1];
  return add("com.microsoft.MatMulNBits", {x, w.parts[0], w.parts[1]}, std::move(out),
             {attr("K", w.dims[0]), attr("N", w.dims[1]), attr("bits", w.dims[2]),
              attr("block_size", w.dims[3])});
}

Result<Edge> GraphWriter::dequantized(const std::string& name, const WeightStore& from) {
  WeightStore store = from;
  LOOM_ASSIGN(const PackedMatrix m, store.packed());
  const WeightFormat& f = m.format();
  const Type type = code_type(f);
  const std::int64_t rows = m.rows(), cols = m.cols();
  const bool blocks = in_blocks(f);
  const bool is_unsigned = !info(f.dtype).is_signed && f.layout == Layout::plain;
  // Blocks of i8 and of 4 bits alone are written: those of others would be other numbers.
  const bool other_blocks =
      f.scale == ScaleKind::block && f.layout == Layout::plain &&
      (f.dtype == DType::i16 || f.dtype == DType::fp8e4m3 || f.dtype == DType::fp8e5m2);
  if (type == Type::undefined || (blocks && is_unsigned) || other_blocks)
    return Status(Code::unsupported,
                  "ONNX has no dtype " + to_string(f) +
                      ": ask for one that it has (\"as\", \"dtype\", --as, --dtype): " +
                      std::string(kExported));
  LOOM_ASSIGN(const Quantized q, quantized(m, type, false));
  Edge codes, scales, zeros;
  codes.name = unique(name), codes.type = type, codes.dims = {rows, cols}, codes.fixed = true;
  initializer(q.codes.tensor(codes.name, codes.dims));
  scales.name = unique(name + ".scale"), scales.fixed = true;
  scales.dims = blocks ? Dims{rows, (cols + q.block - 1) / q.block} : Dims{rows};
  initializer(owned(scales.name, Type::f32, scales.dims, q.scales));
  Edges in{codes, scales};
  if (!q.zeros.empty()) {
    zeros.name = unique(name + ".zero"), zeros.type = type, zeros.fixed = true;
    LOOM_ASSIGN(Tensor t, make_tensor(zeros.name, type, {rows}, q.zeros));
    initializer(std::move(t));
    in.push_back(zeros);
  }
  Attributes attributes{attr("axis", std::int64_t{blocks})};
  if (blocks) attributes.push_back(attr("block_size", q.block));
  Edge y = scales;
  y.dims = codes.dims;
  return make("DequantizeLinear", in, y, attributes);
}

// f32 and f64 as they lie in memory where they do; else, and f16 and bf16, what the network sees.
Result<Edge> GraphWriter::plain(const std::string& name, const std::shared_ptr<WeightStore>& store,
                                Type type, const Dims& dims) {
  Edge e;
  e.name = unique(name), e.type = type, e.fixed = true;
  e.dims = dims.empty() ? Dims{store->rows(), store->cols()} : dims;
  const auto count = static_cast<std::size_t>(store->rows() * store->cols());
  Tensor t;
  t.name = e.name;
  t.type = type;
  t.dims = e.dims;
  t.size = count * bits(type) / 8;
  const bool held = store->held() != nullptr;
  const std::span<const float> f32 = held ? std::span<const float>() : store->master();
  const std::span<const double> f64 = held ? std::span<const double>() : store->master64();
  const bool single = type == Type::f32 && store->format().dtype == DType::f32 && !f32.empty();
  const bool real64 = type == Type::f64 && store->format().dtype == DType::f64 && !f64.empty();
  if (single || real64) {
    t.source = source_from_view(single ? std::as_bytes(f32) : std::as_bytes(f64), t.name, store);
  } else if (!held &&
             (store->format().dtype == DType::f32 || store->format().dtype == DType::f64)) {
    std::vector<double> values(count);
    LOOM_TRY(store->values(std::span<double>(values)));
    auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(t.size));
    for (std::size_t i = 0; i < count; ++i) put_real(type, bytes->data(), i, values[i]);
    t.source = source_from_view(*bytes, t.name, bytes);
  } else {
    LOOM_ASSIGN(const PackedMatrix m, held ? *store->held() : store->packed());
    t.source = source_from_callback(
        t.size,
        [m, type](std::uint64_t at, std::span<std::byte> out) {
          return read_rows(m, type, at, out);
        },
        t.name);
  }
  initializer(std::move(t));
  return e;
}

// As the file has it: in the dtype that is asked for.
Result<std::shared_ptr<WeightStore>> GraphWriter::stored(const Param& param) const {
  std::shared_ptr<WeightStore> store = param.store;
  if (options.as.empty() || !param.spec.quantized) return store;
  LOOM_ASSIGN(const WeightFormat format, parse_weight_format(options.as));
  if (format == store->format()) return store;
  std::vector<float> values(static_cast<std::size_t>(store->rows() * store->cols()));
  LOOM_TRY(store->values(std::span<float>(values)));
  LOOM_ASSIGN(WeightStore made,
              WeightStore::from_f32(store->rows(), store->cols(), std::move(values)));
  LOOM_TRY(made.morph(format).at("\"as\""));
  return std::make_shared<WeightStore>(std::move(made));
}

Result<Edge> GraphWriter::weight(const std::string& name, const Param& param, Dims dims) {
  const std::pair<const WeightStore*, Type> key{param.store.get(), real};
  auto known = weights_.find(key);
  if (known == weights_.end()) {
    LOOM_ASSIGN(const std::shared_ptr<WeightStore> store, stored(param));
    const DType dtype = store->format().dtype;
    const std::string own = scope;
    scope = name;
    Edge e;
    if (!is_plain(dtype)) {
      auto made = dequantized(name, *store);
      if (!made.ok()) return made.status().at(name);
      e = std::move(*made);
    } else {
      const bool small = dtype == DType::f16 || dtype == DType::bf16;
      LOOM_ASSIGN(e, plain(name, store,
                           dtype == DType::f16 ? Type::f16
                           : small             ? Type::bf16
                                               : real,
                           dims));
      e = cast(e, real);
    }
    scope = own;
    ++dtypes[is_plain(dtype) && dtype != DType::f16 && dtype != DType::bf16
                 ? std::string(real == Type::f64 ? "f64" : "f32")
                 : to_string(store->format())];
    known = weights_.emplace(key, std::move(e)).first;
  }
  return dims.empty() ? known->second : shaped(known->second, dims);
}

}  // namespace loom::onnx
