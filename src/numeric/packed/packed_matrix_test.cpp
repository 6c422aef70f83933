#include "numeric/packed/packed_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/random.h"
#include "numeric/codec.h"
#include "numeric/gguf/gguf_blocks.h"
#include "numeric/packed/native4.h"
#include "numeric/packed/panel.h"

namespace loom {
namespace {

struct Shape {
  std::int64_t rows, cols;
};
constexpr Shape kShapes[] = {{1, 1}, {1, 70}, {33, 1}, {16, 64}, {17, 65}, {5, 300}};

WeightFormat format(const char* text) { return parse_weight_format(text).value(); }
bool writable(const WeightFormat& f) {
  return f.layout != Layout::q4_k && f.layout != Layout::q6_k;
}

// Near-Gaussian weights with uneven rows, all decided by the seed.
std::vector<float> weights(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  const RandomStream random(seed, 3);
  std::vector<float> w(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < w.size(); ++i) {
    float sum = 0;
    for (std::uint64_t j = 0; j < 4; ++j) sum += random.uniform(4 * i + j) - 0.5f;
    w[i] = sum * 0.05f * static_cast<float>(1 + i / static_cast<std::size_t>(cols) % 3);
  }
  return w;
}

PackedMatrix encode(const WeightFormat& f, Shape s, const std::vector<float>& w) {
  auto m = PackedMatrix::encode(f, s.rows, s.cols, std::span<const float>(w));
  EXPECT_TRUE(m.ok()) << to_string(f) << ": " << m.status().to_string();
  return std::move(m.value());
}

// Greatest error allowed for a weight x of a group with values in [low, high]
// (docs/reference/dtypes.md), and whether it holds for each weight or for their root mean square.
struct Bound {
  double each, rms;
};
Bound bound_of(const WeightFormat& f, double x, double low, double high, double rms) {
  const double peak = std::max(high, -low), range = std::max(high, 0.0) - std::min(low, 0.0),
               a = std::fabs(x);
  const double none = std::numeric_limits<double>::infinity();
  if (f.layout == Layout::a4 || f.layout == Layout::s4) return {none, 0.08 * peak};
  if (f.layout == Layout::q4_0) return {peak / 8 * 1.001, none};
  if (f.layout == Layout::q8_0) return {peak / 200, none};
  switch (f.dtype) {
    case DType::f64: return {0, none};
    case DType::f32: return {0x1p-40, none};
    case DType::f16: return {a * 0x1p-11 + 0x1p-25, none};
    case DType::bf16: return {a * 0x1p-8 + 0x1p-56, none};
    case DType::fp8e4m3: return {a * 0x1p-4 * 1.001 + peak / 448 * 0x1p-10 * 1.001, none};
    case DType::fp8e5m2: return {a * 0x1p-3 * 1.001 + peak / 57344 * 0x1p-17 * 1.001, none};
    case DType::i64:
    case DType::u64: return {range * 0x1p-61, none};
    case DType::i32:
    case DType::u32: return {range * 0x1p-30, none};
    case DType::i16: return {peak / 32767 * 0.501, none};
    case DType::i8: return {peak / 127 * 0.501, none};
    case DType::u16: return {range / 65535 * 1.001, none};
    case DType::u8: return {range / 255 * 1.001, none};
    case DType::i4: return {none, peak / 7 * 0.501};
    case DType::u4: return {none, range / 15 * 1.001};
    case DType::fp4: return {none, peak / 6 * 1.001};
    case DType::i2: return {none, peak * 0.501};
    case DType::u2: return {none, range / 3 * 1.001};
    default: return {none, rms * 1.001};  // ternary, binary: never worse than zeros
  }
}

// Rows that come in parts give the bytes of the whole; 9,000 columns make parts of one panel.
TEST(PackedMatrix, EncodesRowsAsTheyCome) {
  for (const WeightFormat& f : all_weight_formats()) {
    if (!writable(f)) continue;
    for (const Shape s : {Shape{17, 65}, Shape{33, 9000}}) {
      if (s.cols > 100 && f != format("i8") && f != format("i4") && f != format("i8:tensor"))
        continue;  // time
      const auto w = weights(s.rows, s.cols, 12);
      std::int64_t parts = 0, expected = 0;
      const auto read = [&](std::int64_t first, std::span<float> values) {
        EXPECT_EQ(first, expected);
        EXPECT_EQ(values.size() % static_cast<std::size_t>(s.cols), 0u);
        expected += static_cast<std::int64_t>(values.size()) / s.cols;
        ++parts;
        std::copy_n(w.begin() + first * s.cols, values.size(), values.begin());
        return Status();
      };
      const auto m = PackedMatrix::encode(f, s.rows, s.cols, read);
      ASSERT_TRUE(m.ok()) << to_string(f) << ": " << m.status().to_string();
      EXPECT_EQ(expected, s.rows);
      EXPECT_EQ(parts, s.cols > 100 && f.scale != ScaleKind::tensor ? 3 : 1) << to_string(f);
      const PackedMatrix whole = encode(f, s, w);
      EXPECT_TRUE(std::ranges::equal(m->bytes(), whole.bytes())) << to_string(f);
    }
  }
  const auto fails = PackedMatrix::encode(
      format("i4"), 5, 5, [](std::int64_t, std::span<float>) { return Status(Code::io, "gone"); });
  EXPECT_EQ(fails.status().message(), "gone");
  const auto nan = PackedMatrix::encode(format("i4"), 40, 65536,
                                        [](std::int64_t first, std::span<float> values) {
                                          std::fill(values.begin(), values.end(), 1.0f);
                                          if (first == 32)
                                            values[3] = std::numeric_limits<float>::quiet_NaN();
                                          return Status();
                                        });
  EXPECT_NE(nan.status().message().find("(row 32, column 3) is NaN"), std::string::npos)
      << nan.status().to_string();
}

TEST(PackedMatrix, EveryFormatAndShapeDecodesWithinItsBound) {
  for (const WeightFormat& f : all_weight_formats()) {
    if (!writable(f)) continue;
    for (const Shape s : kShapes) {
      const auto w = weights(s.rows, s.cols, 11);
      const PackedMatrix m = encode(f, s, w);
      ASSERT_TRUE(m.check().ok()) << to_string(f) << ": " << m.check().to_string();
      std::vector<double> back(w.size());
      m.decode(0, s.rows, back);
      const std::int64_t block = f.scale == ScaleKind::block    ? f.block
                                 : f.scale == ScaleKind::tensor ? s.rows * s.cols
                                                                : s.cols;
      const std::int64_t line = f.scale == ScaleKind::tensor ? s.rows * s.cols : s.cols;
      for (std::int64_t row = 0; row < s.rows * s.cols; row += line)
        for (std::int64_t k = row; k < row + line; k += block) {
          const std::int64_t end = std::min(k + block, row + line);
          double low = 0, high = 0, square = 0, error = 0;
          for (std::int64_t i = k; i < end; ++i) {
            const double x = w[static_cast<std::size_t>(i)],
                         d = back[static_cast<std::size_t>(i)] - x;
            low = std::min(low, x);
            high = std::max(high, x);
            square += x * x;
            error += d * d;
          }
          const double n = static_cast<double>(end - k), rms = std::sqrt(square / n);
          for (std::int64_t i = k; i < end; ++i) {
            const double x = w[static_cast<std::size_t>(i)];
            const Bound b = bound_of(f, x, low, high, rms);
            ASSERT_LE(std::fabs(back[static_cast<std::size_t>(i)] - x), b.each)
                << to_string(f) << " " << s.cols << " columns, at " << i;
            ASSERT_LE(std::sqrt(error / n), b.rms)
                << to_string(f) << " " << s.rows << "x" << s.cols << " group at " << k;
          }
        }
    }
  }
}

TEST(PackedMatrix, FloatDoubleCodesAndScalesAgree) {
  for (const WeightFormat& f : all_weight_formats()) {
    if (!writable(f)) continue;
    const Shape s{18, 70};
    const PackedMatrix m = encode(f, s, weights(s.rows, s.cols, 5));
    std::vector<float> single(static_cast<std::size_t>(s.rows * s.cols)),
        codes(static_cast<std::size_t>(s.cols));
    std::vector<double> wide(single.size()), codes64(codes.size());
    m.decode(0, s.rows, single);
    m.decode(0, s.rows, wide);
    for (std::int64_t row = 0; row < s.rows; ++row) {
      m.decode_codes(row, codes);
      m.decode_codes(row, codes64);
      for (std::int64_t k = 0; k < s.cols; ++k) {
        const std::size_t i = static_cast<std::size_t>(row * s.cols + k),
                          j = static_cast<std::size_t>(k);
        ASSERT_EQ(single[i], static_cast<float>(wide[i])) << to_string(f);
        ASSERT_EQ(wide[i], codes64[j] * m.row_scale64(row)) << to_string(f);
        ASSERT_EQ(codes[j], static_cast<float>(codes64[j])) << to_string(f);
        const double times = f.dtype == DType::fp4 ? 2 : 1;
        if (f.arith() == ArithClass::integer && f.scale != ScaleKind::block) {
          ASSERT_EQ(code_at(m, row, k), codes64[j] * times)
              << to_string(f) << " " << row << "," << k;
        }
      }
    }
    // Any run of rows is the same values.
    std::vector<float> part(static_cast<std::size_t>(3 * s.cols));
    m.decode(15, 3, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), single.begin() + 15 * s.cols)) << to_string(f);
  }
}

// The places of codes as the kernel prototypes pack them, byte by byte.
TEST(PackedMatrix, PanelsLieAsKernelsReadThem) {
  const Shape s{16, 640};
  const auto w = weights(s.rows, s.cols, 9);
  const auto byte = [](const PackedMatrix& m, std::int64_t at) {
    return static_cast<int>(m.bytes()[static_cast<std::size_t>(at)]);
  };
  const PackedMatrix i8 = encode(format("i8"), s, w), i4 = encode(format("i4:row"), s, w),
                     i2 = encode(format("i2"), s, w);
  const PackedMatrix t = encode(format("ternary"), s, w), b = encode(format("binary"), s, w),
                     a4 = encode(format("i4"), s, w);
  const PackedMatrix s4 = encode(format("i4:s4"), s, w), bf = encode(format("bf16"), s, w),
                     f32 = encode(format("f32"), s, w);
  for (std::int64_t n = 0; n < 16; ++n)
    for (std::int64_t k = 0; k < s.cols; ++k) {
      const std::int64_t i = k % 4;
      const float x = w[static_cast<std::size_t>(n * s.cols + k)];
      ASSERT_EQ(byte(i8, k / 4 * 64 + n * 4 + i) - 128, code_at(i8, n, k));
      ASSERT_EQ((byte(i4, k / 8 * 64 + n * 4 + i) >> (k % 8 / 4 * 4) & 15) - 8, code_at(i4, n, k));
      ASSERT_EQ((byte(i2, k / 16 * 64 + n * 4 + i) >> (k % 16 / 4 * 2) & 3) - 2, code_at(i2, n, k));
      ASSERT_EQ((byte(b, k / 32 * 64 + n * 4 + i) >> (k % 32 / 4) & 1) * 2 - 1, code_at(b, n, k));
      int y = byte(t, k / 20 * 64 + n * 4 + i);
      for (int p = 0; p < k % 20 / 4; ++p) y = 3 * y % 256;
      ASSERT_EQ((3 * y - 3 * y % 256) / 256 - 1, code_at(t, n, k));
      const int sm = byte(a4, k / 64 * 576 + 512 + n * 4 + k % 64 / 16);
      const int c4 = byte(a4, k / 64 * 576 + k % 64 / 8 * 64 + n * 4 + i) >> (k % 8 / 4 * 4) & 15;
      ASSERT_EQ(c4 * (sm & 15) - 8 * (sm >> 4), code_at(a4, n, k));
      // 640 = two superblocks of 256 (32 byte rows and their sub-scales) and one of 128 (16 rows).
      const std::int64_t super = k / 256 * 33 * 64, end = super + (k < 512 ? 32 : 16) * 64;
      const int sub = byte(s4, end + n * 4 + k % 256 / 32 % 4) >> (k % 256 / 32 / 4 * 4) & 15;
      const int cs = byte(s4, super + k % 256 / 8 * 64 + n * 4 + i) >> (k % 8 / 4 * 4) & 15;
      ASSERT_EQ((cs - 8) * sub, code_at(s4, n, k));
      ASSERT_EQ(load_le<std::uint16_t>(bf.bytes().data() + k / 2 * 64 + n * 4 + k % 2 * 2),
                f32_to_bf16(x));
      ASSERT_EQ(load_le<float>(f32.bytes().data() + k * 64 + n * 4), x);
    }
}

TEST(PackedMatrix, TritsSurviveInEveryByte) {
  for (int v = 0; v < 243; ++v) {
    const std::uint8_t byte = pack_trits(v);
    int rebuilt = 0;
    for (int i = 0; i < 5; ++i) rebuilt = rebuilt * 3 + trit(byte, i);
    EXPECT_EQ(rebuilt, v);
  }
}

// Sizes in bytes, worked out by hand: panels * rows of codes * 64, scales of 4 bytes for whole
// panels.
TEST(PackedMatrix, SizesAreTheBitsOfThePaddedPanels) {
  const struct {
    const char* name;
    std::int64_t rows, cols;
    std::uint64_t total;
  } cases[] = {{"i8", 576, 1536, 576 * 1536 + 576 * 4},
               {"i4", 576, 1536, 576 * 1536 / 2 + 576 * 1536 / 16 + 576 * 4},
               {"i4:s4", 576, 1536, 576 * 1536 / 2 + 576 * 1536 / 64 + 576 * 4},
               {"ternary", 16, 640, 32 * 64 + 64},
               {"binary", 17, 65, 2 * 4 * 64 + 128},
               {"f32", 1, 1, 32 * 64},
               {"f64", 1, 33, 64 * 128},
               {"bf16", 16, 32, 16 * 64},
               {"u8", 16, 64, 1024 + 64 + 64},
               {"u64", 1, 1, 32 * 128 + 128 + 128},
               {"i8:block32", 1, 64, 1024 + 2 * 64},
               {"q4_0", 3, 40, 3 * 2 * 18},
               {"q6_k", 2, 256, 2 * 210},
               {"i8:tensor", 20, 64, 2 * 1024 + 128}};
  for (const auto& c : cases) {
    const auto layout = packed_layout(format(c.name), c.rows, c.cols);
    ASSERT_TRUE(layout.ok());
    EXPECT_EQ(layout->total, c.total) << c.name;
  }
}

TEST(PackedMatrix, RefusesWhatIsNotANumberByName) {
  for (const WeightFormat& f : all_weight_formats()) {
    auto w = weights(3, 10, 1);
    w[17] = std::numeric_limits<float>::quiet_NaN();
    auto m = PackedMatrix::encode(f, 3, 10, std::span<const float>(w));
    EXPECT_EQ(m.status().code(), Code::invalid_argument) << to_string(f);
    EXPECT_NE(m.status().message().find("element 17 (row 1, column 7) is NaN"), std::string::npos)
        << m.status().message();
    w[17] = -std::numeric_limits<float>::infinity();
    m = PackedMatrix::encode(f, 3, 10, std::span<const float>(w));
    EXPECT_NE(m.status().message().find("-infinite"), std::string::npos) << m.status().message();
  }
  const std::vector<double> huge{1, 1e300};
  EXPECT_TRUE(PackedMatrix::encode(format("i32"), 1, 2, std::span<const double>(huge)).ok());
  EXPECT_EQ(PackedMatrix::encode(format("i8"), 1, 2, std::span<const double>(huge)).status().code(),
            Code::out_of_range);
  EXPECT_EQ(PackedMatrix::encode(format("i8"), 2, 2, std::span<const double>(huge)).status().code(),
            Code::invalid_argument);
  const std::vector<float> two{1, 2};
  EXPECT_EQ(PackedMatrix::encode(format("q4_k"), 1, 2, std::span<const float>(two)).status().code(),
            Code::unsupported);
}

TEST(PackedMatrix, RefusesBadShapesFormatsAndBytes) {
  EXPECT_EQ(packed_layout(format("i8"), 0, 4).status().code(), Code::out_of_range);
  EXPECT_EQ(packed_layout(format("i8"), 4, std::int64_t{1} << 31).status().code(),
            Code::out_of_range);
  EXPECT_EQ(packed_layout(format("f64"), 0x7FFFFFFF, 0x7FFFFFFF).status().code(),
            Code::out_of_range);
  EXPECT_EQ(packed_layout({DType::f32, Layout::a4, ScaleKind::row, 0}, 4, 4).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(packed_layout({static_cast<DType>(200), Layout::plain, ScaleKind::row, 0}, 4, 4)
                .status()
                .code(),
            Code::invalid_argument);
  const PackedMatrix m = encode(format("i4"), {16, 64}, weights(16, 64, 2));
  EXPECT_EQ(
      PackedMatrix::wrap(m.format(), 16, 64, m.bytes().subspan(0, 100), nullptr).status().code(),
      Code::truncated);
  EXPECT_EQ(PackedMatrix::wrap(m.format(), 16, 128, m.bytes(), nullptr).status().code(),
            Code::truncated);
  EXPECT_EQ(PackedMatrix::wrap(m.format(), 17, 1, m.bytes(), nullptr).status().code(),
            Code::truncated);
  EXPECT_TRUE(PackedMatrix::wrap(m.format(), 16, 64, m.bytes(), nullptr).ok());
}

TEST(PackedMatrix, CheckNamesHostileBytes) {
  const auto spoiled = [](const char* name, std::size_t at, std::uint8_t value) {
    const PackedMatrix m = encode(format(name), {16, 64}, weights(16, 64, 2));
    const std::shared_ptr<std::byte> bytes(
        static_cast<std::byte*>(::operator new[](m.bytes().size(), std::align_val_t{64})),
        [](std::byte* p) { ::operator delete[](p, std::align_val_t{64}); });
    std::copy(m.bytes().begin(), m.bytes().end(), bytes.get());
    bytes.get()[at] = static_cast<std::byte>(value);
    return PackedMatrix::wrap(m.format(), 16, 64, {bytes.get(), m.bytes().size()}, bytes)
        .value()
        .check();
  };
  EXPECT_NE(spoiled("i4", 512 + 8, 0x0F).message().find("row 2"), std::string::npos);  // s 15, m4 0
  EXPECT_NE(spoiled("u4", 512 + 64 + 4, 16).message().find("row 1: the zero point 16"),
            std::string::npos);
  const std::string nan_code = spoiled("f16", 2 * 64 + 3 * 4 + 1, 0x7E).message();
  EXPECT_NE(nan_code.find("row 3, column 4 is not a finite number"), std::string::npos) << nan_code;
}

// A byte changed anywhere: refused exactly where some value, scale or w8 that kernels could read is
// no longer one. The whole matrix is visible at this shape: nothing is padding.
TEST(PackedMatrix, CheckRefusesWhatKernelsCouldDifferOn) {
  constexpr std::int64_t kRows = 16, kCols = 1280;
  const RandomStream random(5, 1);
  for (const WeightFormat& f : all_weight_formats()) {
    if (!writable(f) || (f.scale == ScaleKind::block && f.layout == Layout::plain))
      continue;  // finite scales there may make infinite values
    const PackedMatrix m = encode(f, {kRows, kCols}, weights(kRows, kCols, 2));
    const std::shared_ptr<std::byte> bytes(
        static_cast<std::byte*>(::operator new[](m.bytes().size(), std::align_val_t{64})),
        [](std::byte* p) { ::operator delete[](p, std::align_val_t{64}); });
    std::copy(m.bytes().begin(), m.bytes().end(), bytes.get());
    const PackedMatrix spoiled =
        PackedMatrix::wrap(f, kRows, kCols, {bytes.get(), m.bytes().size()}, bytes).value();
    const std::size_t visible =
        m.layout().zeros_size > 0 ? static_cast<std::size_t>(m.layout().zeros) : m.bytes().size();
    int refused = 0;
    std::vector<double> codes(static_cast<std::size_t>(kCols));
    for (std::uint64_t i = 0; i < 60; ++i) {
      const std::size_t at =
          i % 3 == 0 ? visible - 1 - random.bits(2 * i) % 64 : random.bits(2 * i) % visible;
      bytes.get()[at] = static_cast<std::byte>(i % 2 ? 0x7F : random.bits(2 * i + 1) % 256);
      bool sound = true;
      for (std::int64_t row = 0; row < kRows; ++row) {
        sound = sound && std::isfinite(spoiled.row_scale64(row));
        spoiled.decode_codes(row, std::span<double>(codes));
        for (std::int64_t k = 0; k < kCols; ++k) {
          sound = sound && std::isfinite(codes[static_cast<std::size_t>(k)]);
          if (f.layout == Layout::a4)
            sound = sound && std::abs(codes[static_cast<std::size_t>(k)]) <= 127;
        }
      }
      const Status status = spoiled.check();
      EXPECT_EQ(status.ok(), sound) << to_string(f) << " byte " << at << ": " << status.to_string();
      refused += !sound;
      bytes.get()[at] = m.bytes()[at];
    }
    if (f.layout == Layout::a4 || f.dtype == DType::f16) {
      EXPECT_GT(refused, 5) << to_string(f);
    }
  }
}

TEST(PackedMatrix, ZerosStayZerosAndTinyWeightsBecomeZero) {
  for (const WeightFormat& f : all_weight_formats()) {
    if (!writable(f) || f.arith() == ArithClass::real) continue;
    const std::vector<float> w{0, -0.0f, 0x1p-101f, -0x1p-140f, 0, 0};
    std::vector<float> back(6, 1.0f);
    encode(f, {2, 3}, w).decode(0, 2, back);
    for (const float x : back) EXPECT_EQ(x, 0.0f) << to_string(f);
  }
  std::vector<float> back(2);
  encode(format("f32"), {1, 2}, {0x1p-41f, -0x1p-40f}).decode(0, 1, back);
  EXPECT_EQ(back[0], 0.0f);
  EXPECT_EQ(back[1], -0x1p-40f);
  encode(format("bf16"), {1, 2}, {0x1p-57f, 0x1p-56f}).decode(0, 1, back);
  EXPECT_EQ(back[0], 0.0f);
  EXPECT_EQ(back[1], 0x1p-56f);
  encode(format("bf16"), {1, 2}, {3.4e38f, -3.4e38f}).decode(0, 1, back);
  EXPECT_EQ(back[0], 0x1.FEp127f);
  EXPECT_EQ(back[1], -0x1.FEp127f);
  encode(format("f16"), {1, 2}, {1e6f, -1e6f}).decode(0, 1, back);
  EXPECT_EQ(back[0], 65504.0f);
  EXPECT_EQ(back[1], -65504.0f);
}

// An exhaustive search written plainly, in double, over the same row scales: ours must not be
// worse.
TEST(PackedMatrix, NativeFourBitsAreAsGoodAsAnExhaustiveSearch) {
  const std::int64_t cols = 96;
  const auto w = weights(6, cols, 21);
  for (const char* name : {"i4", "i4:s4"}) {
    const PackedMatrix m = encode(format(name), {6, cols}, w);
    const bool a4 = m.format().layout == Layout::a4;
    const std::int64_t block = a4 ? 16 : 32;
    std::vector<double> back(w.size());
    m.decode(0, 6, back);
    for (std::int64_t row = 0; row < 6; ++row) {
      double ours = 0, best = 1e300, peak = 0;
      for (std::int64_t i = row * cols; i < (row + 1) * cols; ++i) {
        const double x = w[static_cast<std::size_t>(i)];
        ours += (back[static_cast<std::size_t>(i)] - x) * (back[static_cast<std::size_t>(i)] - x);
        peak = std::max(peak, std::fabs(x));
      }
      for (const double divisor : {127.0, 115.0, 105.0, 95.0}) {
        double total = 0;
        for (std::int64_t b = row * cols; b < (row + 1) * cols; b += block) {
          double min = 1e300;
          for (int s = 1; s <= 15; ++s)
            for (int m4 = a4 ? 0 : s; m4 <= (a4 ? 15 : s); ++m4) {
              double e = 0;
              for (std::int64_t i = b; i < b + block; ++i) {
                const double t = w[static_cast<std::size_t>(i)] / peak * divisor;
                double nearest = 1e300;
                for (int code = 0; code < 16; ++code)
                  if (code * s - 8 * m4 <= 127)
                    nearest = std::min(nearest, std::fabs(code * s - 8 * m4 - t));
                e += nearest * nearest;
              }
              min = std::min(min, e);
            }
          total += min * peak / divisor * peak / divisor;
        }
        best = std::min(best, total);
      }
      EXPECT_LE(ours, best * 1.00001) << name << " row " << row;
      EXPECT_GE(ours, best * 0.9) << name << " row " << row;
    }
  }
}

// A block of each k-quant, its bytes and values from the definition in ggml-common.h worked out by
// hand.
TEST(GgufBlocks, KQuantsDecode) {
  std::byte q4[144]{};
  store_le(q4, f32_to_f16(0.5f));
  store_le(q4 + 2, f32_to_f16(0.25f));
  q4[4 + 0] = std::byte{0x03 | 0x80};  // sub-block 0: scale 3; upper bits of sub-block 4's scale: 2
  q4[4 + 4] = std::byte{0x05 | 0x40};  // sub-block 0: min 5; upper bits of sub-block 4's min: 1
  q4[4 + 8] = std::byte{0x71};         // sub-block 4: scale 1 | 2 << 4 = 33, min 7 | 1 << 4 = 23
  q4[16 + 3] = std::byte{0x0A};        // weight 3 of sub-block 0: 10
  q4[16 + 64 + 7] = std::byte{0x0C};   // weight 7 of sub-block 4: 12
  float out[256];
  decode_gguf_block(Layout::q4_k, q4, out);
  EXPECT_EQ(out[3], 1.5f * 10 - 1.25f);
  EXPECT_EQ(out[0], -1.25f);
  EXPECT_EQ(out[128 + 7], 16.5f * 12 - 5.75f);
  EXPECT_EQ(out[32], 0.0f);

  std::byte q6[210]{};
  store_le(q6 + 208, f32_to_f16(0.5f));
  q6[0] = std::byte{0x3F};        // weight 0: low 15; weight 64: low 3
  q6[128] = std::byte{0x21};      // weight 0: high 1 -> 31; weight 64: high 2 -> 35
  q6[192] = std::byte{2};         // scale of weights 0..15
  q6[192 + 4] = std::byte{0xFD};  // scale of weights 64..79: -3
  decode_gguf_block(Layout::q6_k, q6, out);
  EXPECT_EQ(out[0], -1.0f);
  EXPECT_EQ(out[64], 0.5f * -3 * 3);
  EXPECT_EQ(out[1], -32.0f);
  EXPECT_EQ(out[16], 0.0f);
}

// The packed bytes themselves: a target that rounds, sums or lays out anything differently has
// another hash.
TEST(PackedMatrix, BytesAreTheSameOnEveryTarget) {
  Sha256 hash;
  for (const WeightFormat& f : all_weight_formats()) {
    if (!writable(f)) continue;
    const Shape s{19, 150};
    const PackedMatrix m = encode(f, s, weights(s.rows, s.cols, 77));
    hash.update_text(to_string(f));
    hash.update(m.bytes());
    std::vector<double> values(static_cast<std::size_t>(s.rows * s.cols));
    m.decode(0, s.rows, values);
    hash.update_f64(values);
  }
  EXPECT_EQ(Sha256::hex(hash.finish()),
            "579fc93d30290344eadf64f65e66803cd39e081c8d660381e2b414799336b570");
}

}  // namespace
}  // namespace loom
