// Every weight format runs: products of class I equal the readable reference (code_at,
// quantize_q15, join_q15) to the bit, the others stay within their class's bound of the decoded
// weights; all instruction sets, thread counts and batch cuts give the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/files/bytes.h"
#include "base/random.h"
#include "exec/session.h"
#include "numeric/codec.h"
#include "numeric/gguf/gguf_blocks.h"
#include "numeric/gguf/gguf_panels.h"
#include "numeric/q15.h"
#include "ops/cpu/isa.h"
#include "ops/lowering/lowered.h"
#include "ops/products/product_sizes.h"

namespace loom {
namespace {

constexpr std::int64_t kIn = 150, kOut = 37, kRows = 19;  // more than a tile

Network dense(const WeightFormat& format) {
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"input":{"width":150},"cells":[{"at":[0,0,0,0],"type":"dense","out":37}]})"));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(5).ok());
  auto bias = n->find("0.0.0.0", "bias");
  for (std::size_t i = 0; i < static_cast<std::size_t>(kOut); ++i)
    bias->mutable_master()[i] = 0.1f * static_cast<float>(i) - 1.7f;
  bias->touch();
  const Status s = n->morph(format);
  EXPECT_TRUE(s.ok()) << to_string(format) << ": " << s.to_string();
  return std::move(*n);
}

std::vector<float> inputs() {
  const RandomStream random(9, 9);
  std::vector<float> x;
  for (std::uint64_t i = 0; i < kRows * kIn; ++i)
    x.push_back((2 * random.uniform(i) - 1) * (i % 31 == 0 ? 20.0f : 1.0f));
  for (std::int64_t i = 0; i < kIn; ++i)
    x[static_cast<std::size_t>(2 * kIn + i)] = 0;  // a row of zeros
  return x;
}

std::vector<float> run(Network& n, const std::vector<float>& x, int threads, const std::string& isa,
                       std::int64_t rows_per_run) {
  ThreadPool pool(threads);
  auto s = Session::create(n, pool, {.max_rows = kRows, .isa = isa, .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  std::vector<float> y;
  for (std::int64_t r = 0; r < kRows; r += rows_per_run) {
    const std::int64_t count = std::min(rows_per_run, kRows - r);
    const auto out = s->run(std::span(x).subspan(static_cast<std::size_t>(r * kIn),
                                                 static_cast<std::size_t>(count * kIn)),
                            count);
    EXPECT_TRUE(out.ok()) << out.status().to_string();
    for (std::int64_t i = 0; i < count; ++i)
      for (float v : s->output(i)) y.push_back(v);
  }
  return y;
}

// A scale of the packed matrix for (output, block), and what is taken off the values there.
struct BlockScale {
  float scale, minimum;
};
BlockScale block_scale(const PackedMatrix& m, std::int64_t o, std::int64_t k) {
  const PackedLayout& l = m.layout();
  if (m.format().layout == Layout::plain) {
    const auto at =
        static_cast<std::uint64_t>((o / 16 * l.blocks + k / m.format().block) * 16 + o % 16);
    return {load_le<float>(m.bytes().data() + l.sub_scales + 4 * at) *
                (m.format().dtype == DType::fp4 ? 0.5f : 1.0f),
            0};
  }
  const GgufBlock block = gguf_block(m.format().layout);
  float scale[16] = {}, minimum[16] = {};
  gguf_block_scales(m.format().layout,
                    m.bytes().data() + static_cast<std::uint64_t>(o) * l.panel_bytes +
                        k / block.weights * block.bytes,
                    scale, minimum);
  const auto j = static_cast<std::size_t>(k % block.weights / gguf_panels(m.format().layout).block);
  return {scale[j], minimum[j]};
}

// Weights that no encoder here writes: random codes and scales.
PackedMatrix random_blocks(const WeightFormat& format) {
  const GgufBlock block = gguf_block(format.layout);
  const std::int64_t blocks = kOut * ((kIn + block.weights - 1) / block.weights);
  auto bytes =
      std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(blocks * block.bytes));
  const RandomStream random(4, 2);
  for (std::size_t i = 0; i < bytes->size(); ++i)
    (*bytes)[i] = static_cast<std::byte>(random.below(i, 256));
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::byte* p = bytes->data() + b * block.bytes;
    if (format.layout == Layout::q4_k) {
      store_le(
          p, static_cast<std::uint16_t>(0x1C00 + b % 512));  // about 0.004, as trained models have
      store_le(p + 2, static_cast<std::uint16_t>(0x1800 + b % 300));
    } else {
      store_le(p + 208, static_cast<std::uint16_t>(0x1000 + b % 700));
    }
  }
  auto m = PackedMatrix::wrap(format, kOut, kIn, *bytes, bytes);
  EXPECT_TRUE(m.ok()) << m.status().to_string();
  return std::move(*m);
}

// One row of the input in the codes that integer products take.
struct Q15Row {
  std::int8_t hi[kIn], lo[kIn];
  Q15Scale q;
  explicit Q15Row(std::span<const float> row) { q = quantize_q15(row, hi, lo); }
};

// The product of row o of the matrix by an input row as its blocks of scales define it; without the
// input's scale.
float product_by_blocks(const PackedMatrix& packed, const WeightFormat& format, std::int64_t o,
                        const Q15Row& row) {
  const std::int64_t block =
      format.layout == Layout::plain ? format.block : gguf_panels(format.layout).block;
  float sum = 0;
  for (std::int64_t first = 0; first < kIn; first += block) {
    std::int32_t t = 0, ones = 0;
    for (std::int64_t k = first; k < std::min(first + block, kIn); ++k) {
      const std::int32_t a = 128 * row.hi[k] + row.lo[k];
      t += code_at(packed, o, k) * a;
      ones += a;
    }
    const BlockScale s = block_scale(packed, o, first);
    float term = static_cast<float>(t) * s.scale;
    if (format.layout == Layout::q4_k) term = term - static_cast<float>(ones) * s.minimum;
    sum = sum + term;
  }
  return sum;
}

// The same by one scale of the row, with the input's.
float product_by_rows(const PackedMatrix& packed, const WeightFormat& format, std::int64_t o,
                      const Q15Row& row) {
  std::int32_t s_hi = 0, s_lo = 0;
  for (std::int64_t k = 0; k < kIn; ++k) {
    const std::int32_t code = code_at(packed, o, k);
    s_hi += code * row.hi[k];
    s_lo += code * row.lo[k];
  }
  const float scale = format.dtype == DType::fp4 ? 0.5f * packed.row_scale(o) : packed.row_scale(o);
  return join_q15(s_hi, s_lo, row.q.scale, scale);
}

TEST(Dtypes, EveryFormatEqualsItsReference) {
  const std::vector<float> x = inputs();
  for (const WeightFormat& format : all_weight_formats()) {
    SCOPED_TRACE(to_string(format));
    const bool read_only = format.layout == Layout::q4_k || format.layout == Layout::q6_k;
    Network n = dense(read_only ? WeightFormat{} : format);
    if (read_only) *n.find("0.0.0.0", "weight") = WeightStore::from_packed(random_blocks(format));
    const std::vector<float> y = run(n, x, 1, "generic", kRows);
    WeightStore& w = *n.find("0.0.0.0", "weight");
    std::vector<float> bias(kOut);
    ASSERT_TRUE(n.find("0.0.0.0", "bias")->values(std::span<float>(bias)).ok());
    std::vector<double> decoded(kIn * kOut);
    ASSERT_TRUE(w.values(std::span<double>(decoded)).ok());
    for (std::int64_t r = 0; r < kRows; ++r) {
      const std::span<const float> row(x.data() + r * kIn, kIn);
      const Q15Row codes(row);
      for (std::int64_t o = 0; o < kOut; ++o) {
        const float got = y[static_cast<std::size_t>(r * kOut + o)];
        double want = bias[static_cast<std::size_t>(o)], magnitude = std::fabs(want), weights = 0;
        for (std::int64_t k = 0; k < kIn; ++k) {
          const double product =
              decoded[static_cast<std::size_t>(o * kIn + k)] * row[static_cast<std::size_t>(k)];
          want += product;
          magnitude += std::fabs(product);
          weights += std::fabs(decoded[static_cast<std::size_t>(o * kIn + k)]);
        }
        if (product_class(format) == ArithClass::integer) {
          const auto packed = w.packed();
          ASSERT_TRUE(packed.ok());
          const float offset = bias[static_cast<std::size_t>(o)], step = codes.q.scale;
          if (format.scale == ScaleKind::block) {
            const float sum = product_by_blocks(*packed, format, o, codes);
            ASSERT_EQ(got, sum * step + offset) << r << "," << o;
            ASSERT_NEAR(got, want, weights * step / 2 + 2e-6 * magnitude + 1e-7);
            continue;
          }
          ASSERT_EQ(got, product_by_rows(*packed, format, o, codes) + offset) << r << "," << o;
          // An activation is off by half a step at most.
          ASSERT_NEAR(got, want, weights * step / 2 + 1e-6 * magnitude);
        } else {
          ASSERT_NEAR(got, want, 4e-6 * magnitude + 1e-7) << r << "," << o;
        }
      }
    }
    // L0 and L1 on this machine: threads, batch cuts, instruction sets.
    for (std::string_view isa : cpu::available_isas())
      EXPECT_EQ(run(n, x, 1, std::string(isa), kRows), y) << isa;
    for (int threads = 2; threads <= 5; ++threads)
      EXPECT_EQ(run(n, x, threads, "", kRows), y) << threads;
    for (std::int64_t cut : {1, 2, 3}) EXPECT_EQ(run(n, x, 2, "", cut), y) << cut;
  }
}

// A dense layer without a bias.
Network product(std::int64_t in, std::int64_t out) {
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"input":{"width":)" + std::to_string(in) +
      R"(},"cells":[{"at":[0,0,0,0],"type":"dense","bias":false,"out":)" + std::to_string(out) +
      "}]}"));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(5).ok());
  return std::move(*n);
}
// Its outputs of all rows of x, of `in` values, `rows` at a time.
std::vector<float> outputs(Network& n, std::span<const float> x, std::int64_t in,
                           std::string_view isa, std::int64_t rows) {
  ThreadPool pool(2);
  auto s = Session::create(n, pool, {.max_rows = rows, .isa = std::string(isa), .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  const auto width = static_cast<std::size_t>(in);
  std::vector<float> y;
  for (; !x.empty(); x = x.subspan(std::min(x.size(), width * static_cast<std::size_t>(rows)))) {
    const auto count = std::min(rows, static_cast<std::int64_t>(x.size() / width));
    const auto out = s->run(x.first(width * static_cast<std::size_t>(count)), count);
    EXPECT_TRUE(out.ok()) << out.status().to_string();
    for (std::int64_t i = 0; i < count; ++i)
      for (float v : s->output(i)) y.push_back(v);
  }
  return y;
}

// Infinities and NaN too, which no encoder writes: one output for each code, times 1.
TEST(Dtypes, EveryCodeOfAFloatIsItsValue) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::fp8e4m3, DType::fp8e5m2}) {
    SCOPED_TRACE(name(dtype));
    const SmallFloat& f = info(dtype).codec.small_float;
    const std::int64_t codes = std::int64_t{1} << f.bits();
    Network n = product(1, codes);
    ASSERT_TRUE(n.morph(default_format(dtype)).ok());
    const PackedMatrix made = n.find("0.0.0.0", "weight")->packed().value();
    struct alignas(64) Line {
      std::byte bytes[64];
    };
    auto lines = std::make_shared<std::vector<Line>>(made.bytes().size() / 64 + 1);
    const std::span<std::byte> bytes(lines->front().bytes, made.bytes().size());
    std::ranges::copy(made.bytes(), bytes.begin());
    const std::int64_t in_word = 32 / f.bits();
    for (std::int64_t o = 0; o < codes; ++o) {
      std::byte* p = bytes.data() + made.layout().codes +
                     static_cast<std::uint64_t>(o / 16) * made.layout().panel_bytes + o % 16 * 4;
      if (in_word == 2) store_le(p, static_cast<std::uint16_t>(o));
      else *p = static_cast<std::byte>(o);
    }
    auto wrapped = PackedMatrix::wrap(made.format(), codes, 1, bytes, lines);
    ASSERT_TRUE(wrapped.ok()) << wrapped.status().to_string();
    *n.find("0.0.0.0", "weight") = WeightStore::from_packed(std::move(*wrapped));
    for (const std::string_view isa : cpu::available_isas()) {
      const std::vector<float> y = outputs(n, std::vector<float>{1.0f}, 1, isa, 1);
      ASSERT_EQ(y.size(), static_cast<std::size_t>(codes));
      for (std::int64_t o = 0; o < codes; ++o) {
        float want = decode_small_float(static_cast<std::uint32_t>(o), f) *
                     (made.format().scale == ScaleKind::none ? 1.0f : made.row_scale(o));
        // The second part of the input is 0, whose product with an infinity is a NaN.
        if (info(dtype).arith == ArithClass::bfloat && std::isinf(want)) want = NAN;
        if (std::fabs(want) < 0x1p-40f) want = 0;
        const float got = y[static_cast<std::size_t>(o)];
        ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
            << isa << " code " << o << ": " << got << ", not " << want;
      }
    }
  }
}

// Few rows meet a panel in pieces, many the whole of it.
TEST(Dtypes, PiecesOfAPanelHaveItsBits) {
  constexpr std::int64_t kWide = 2 * cpu::kPieceOfPanel + 77;
  std::vector<float> x;
  const RandomStream random(3, 3);
  for (std::uint64_t i = 0; i < 9 * kWide; ++i) x.push_back(2 * random.uniform(i) - 1);
  for (const char* text : {"f16", "bf16", "fp8e4m3", "fp8e5m2", "i16", "u16"}) {
    Network n = product(kWide, 37);
    ASSERT_TRUE(n.morph(*parse_weight_format(text)).ok());
    const std::vector<float> whole = outputs(n, x, kWide, "generic", 9);
    ASSERT_EQ(whole.size(), 9u * 37u);
    for (const std::string_view isa : cpu::available_isas())
      for (const std::int64_t rows : {1, 3, 4, 9})
        EXPECT_EQ(outputs(n, x, kWide, isa, rows), whole) << text << " " << isa << " rows " << rows;
  }
}

// tools/check/kernels/integer_products.sh looks into these for the instructions of their sets.
TEST(Dtypes, InstructionSetsHaveIntegerProductsOfTheirOwn) {
  std::set<cpu::Kernel> products;
  for (std::string_view isa : cpu::available_isas()) {
    const auto table = cpu::select_kernels(isa);
    ASSERT_TRUE(table.ok());
    EXPECT_EQ((*table)->isa, isa);
    EXPECT_TRUE(
        products.insert((*table)->f32[static_cast<std::size_t>(LoweredOp::matmul_integer)]).second)
        << isa << " runs the integer products of another instruction set";
  }
}

TEST(Dtypes, ForcedInstructionSetRunsOrIsRefused) {
  ThreadPool pool(1);
  Network n = dense({});
  for (std::string_view isa : cpu::available_isas()) {
    auto s = Session::create(n, pool, {.isa = std::string(isa)});
    ASSERT_TRUE(s.ok());
    EXPECT_EQ(s->executor().target(), isa);
  }
  auto s = Session::create(n, pool, {.isa = "mmx"});
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.status().message().find("generic"), std::string::npos) << s.status().message();
}

}  // namespace
}  // namespace loom
