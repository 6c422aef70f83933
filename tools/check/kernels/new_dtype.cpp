// Of new_dtype.sh: what the rows that it adds to dtypes.def must do. The answers are worked out
// here from exponents and mantissas, not by the library.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "formats/npy/npy.h"
#include "formats/safetensors/safetensors.h"
#include "formats/tensor_file.h"
#include "numeric/codec.h"
#include "numeric/dtype_ids.h"
#include "numeric/weight_store.h"

using namespace loom;

namespace {

int checked = 0;
void expect(bool holds, const std::string& what) {
  ++checked;
  if (holds) return;
  std::printf("does not hold: %s\n", what.c_str());
  std::exit(1);
}

// The value of a code of a float with these bits.
double value_of(int code, int exponent_bits, int mantissa_bits, int bias) {
  const int sign = code >> (exponent_bits + mantissa_bits);
  const int field = code >> mantissa_bits & ((1 << exponent_bits) - 1);
  const int fraction = code & ((1 << mantissa_bits) - 1);
  const double v = field == 0
                       ? std::ldexp(fraction, 1 - bias - mantissa_bits)
                       : std::ldexp((1 << mantissa_bits) + fraction, field - bias - mantissa_bits);
  return sign ? -v : v;
}

std::vector<float> weights(int count) {
  std::vector<float> x(static_cast<std::size_t>(count));
  std::uint32_t state = 7;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int>(state >> 8) - (1 << 23)) * 0x1p-22f;
  }
  return x;
}

void names() {
  const DType type = DType::fp8e3m4;
  expect(static_cast<int>(type) == 21 && kDTypeCount == 24, "its id is 21, there are 24");
  expect(static_cast<int>(dtype_ids::kFp8e3m4) == 21, "kernels know the id");
  expect(name(type) == "fp8e3m4", "it prints");
  for (const char* text : {"fp8e3m4", "FP8E3M4", "e3m4", "Float8_E3M4"})
    expect(parse_dtype(text).ok() && *parse_dtype(text) == type, std::string("it parses: ") + text);
  expect(!parse_dtype("e3m5").ok(), "e3m5 is refused");
  expect(*dtype_from_id(21) == type && !dtype_from_id(24).ok(), "ids are read");
  const auto format = parse_weight_format("e3m4:block16");
  expect(format.ok() && to_string(*format) == "fp8e3m4:block16", "formats parse and print");
}

void codes() {
  const SmallFloat& f = info(DType::fp8e3m4).codec.small_float;
  for (int code = 0; code < 256; ++code) {
    const float got = decode_small_float(static_cast<std::uint32_t>(code), f);
    if ((code & 0x7F) > 0x70) {
      expect(got != got, "NaN");
      continue;
    }
    if ((code & 0x7F) == 0x70) {
      expect(std::isinf(got), "infinite");
      continue;
    }
    const double want = value_of(code, 3, 4, 3);
    expect(static_cast<double>(got) == want, "code " + std::to_string(code));
    expect(encode_small_float(got, f) == static_cast<std::uint32_t>(code), "it round-trips");
    // Half way to the next: the even one of both.
    const int next = code + 1;
    if ((next & 0x7F) > 0x6F || (code & 0x80)) continue;
    const double middle = (want + value_of(next, 3, 4, 3)) / 2;
    expect(encode_small_float(middle, f) == static_cast<std::uint32_t>(code % 2 ? next : code),
           "ties to even at " + std::to_string(code));
  }
  expect(decode_small_float(encode_small_float(1e9f, f), f) == 15.5f, "it saturates at 15.5");
}

// The values of a store after a morph are the nearest of the grid scale * value_of(code).
void morph(const char* text, int exponent_bits, int mantissa_bits, int bias, int codes_count,
           int last) {
  const std::vector<float> x = weights(24 * 70);
  auto store = WeightStore::from_f32(24, 70, x);
  const auto format = parse_weight_format(text);
  expect(format.ok() && store->morph(*format).ok(), std::string(text) + " is morphed to");
  auto packed = store->packed();
  expect(packed.ok() && packed->check().ok(), "the packed form is sound");
  std::vector<float> y(x.size());
  expect(store->values(y).ok(), "it has values");
  for (std::size_t row = 0; row < 24; ++row) {
    const double scale = static_cast<double>(packed->row_scale(static_cast<std::int64_t>(row)));
    double peak = 0;
    for (std::size_t k = row * 70; k < row * 70 + 70; ++k)
      peak = std::max(peak, std::fabs(static_cast<double>(x[k])));
    expect(scale > 0 && scale <= peak, "the scale of a row");
    for (std::size_t k = row * 70; k < row * 70 + 70; ++k) {
      double min = 1e9;
      for (int code = 0; code < codes_count; ++code) {
        if ((code & (codes_count / 2 - 1)) > last) continue;
        const double v = value_of(code, exponent_bits, mantissa_bits, bias) * scale;
        min = std::min(min, std::fabs(v - static_cast<double>(x[k])));
      }
      const double error = std::fabs(static_cast<double>(y[k]) - static_cast<double>(x[k]));
      expect(error <= min * (1 + 1e-5) + peak * 1e-6, std::string("the nearest of ") + text);
    }
  }
  expect(store->morph(default_format(DType::f32)).ok() && store->values(y).ok(), "and back");
  expect(y == x, "the master was the truth");
}

// Infinity in a packed matrix is found.
void faults() {
  const std::vector<float> x = weights(16 * 32);
  auto packed = PackedMatrix::encode(default_format(DType::fp8e3m4), 16, 32, std::span(x));
  auto* bytes = const_cast<std::byte*>(packed->bytes().data());
  bytes[5] = std::byte{0x70};
  expect(!packed->check().ok(), "an infinite code is a fault");
  bytes[5] = std::byte{0x6F};
  expect(packed->check().ok(), "the largest is none");
}

void integers() {
  const std::vector<float> x = weights(16 * 32);
  auto packed = PackedMatrix::encode(default_format(DType::s8), 16, 32, std::span(x));
  std::vector<float> y(x.size());
  packed->decode(0, 16, std::span(y));
  int largest = 0;
  for (std::int64_t row = 0; row < 16; ++row)
    for (std::int64_t k = 0; k < 32; ++k) {
      const int code = code_at(*packed, row, k);
      largest = std::max(largest, std::abs(code));
      const auto at = static_cast<std::size_t>(row * 32 + k);
      const double step = static_cast<double>(packed->row_scale(row));
      expect(std::fabs(static_cast<double>(y[at] - x[at])) <= step * 0.501, "half a step of s8");
      const double steps = std::nearbyint(static_cast<double>(x[at]) / step);
      expect(code == static_cast<int>(steps), "its code");
    }
  expect(largest == 100, "s8 ends at 100");
}

// A safetensors file of the type, read.
void file() {
  const std::string json = R"({"x":{"dtype":"F8_E3M4","shape":[4],"data_offsets":[0,4]}})";
  std::vector<std::byte> bytes(8);
  bytes[0] = static_cast<std::byte>(json.size());
  for (const char c : json) bytes.push_back(static_cast<std::byte>(c));
  for (const int code : {0x30, 0xB8, 0x01, 0x6F}) bytes.push_back(static_cast<std::byte>(code));
  const auto read = Safetensors::open(source_from_bytes(std::move(bytes), "made"));
  expect(read.ok() && read->find("x") != nullptr, "the file opens");
  expect(loom::name(read->find("x")->type) == "fp8e3m4", "its type is named");
  std::vector<float> y(4);
  expect(read_f32(*read->find("x"), 0, y).ok(), "it is read");
  expect(y == std::vector<float>{1, -1.5f, 0x1p-6f, 15.5f}, "its values are right");
}

}  // namespace

int main() {
  names();
  codes();
  morph("fp8e3m4", 3, 4, 3, 256, 0x6F);
  morph("fp8e3m4:tensor", 3, 4, 3, 256, 0x6F);
  morph("fp4e1m2", 1, 2, 1, 16, 7);
  faults();
  integers();
  file();
  std::printf("three new dtypes by a row each: %d checks hold\n", checked);
}
