// The error table of docs/reference/dtypes.md: bits per weight and relative root mean square error
// of every format on synthetic Gaussian weights, 256 x 2048, standard deviation 0.02 (and with
// every 16th block of 32 four times as large).
//   c++ -std=c++20 -O3 -ffp-contract=off -Isrc tests/release/weight_errors.cpp BUILD_DIR/libloom.a
//   -o weight_errors && ./weight_errors
// With arguments FORMAT ROWS COLS it reads f32 weights from stdin and writes their decoded f64
// values: what the format makes of them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/random.h"
#include "numeric/packed/packed_matrix.h"

namespace {

using namespace loom;
constexpr std::int64_t kRows = 256, kCols = 2048;

// Box and Muller with libm: this is a measuring program.
std::vector<float> gaussian(bool uneven) {
  const RandomStream random(1, 9);
  std::vector<float> w(kRows * kCols);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double u = 1 - static_cast<double>(random.uniform(2 * i)),
                 v = static_cast<double>(random.uniform(2 * i + 1));
    w[i] = static_cast<float>(0.02 * std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v));
    if (uneven && i / 32 % 16 == 0) w[i] *= 4;
  }
  return w;
}

struct Measured {
  double error, bits;
};
Measured measure(const WeightFormat& format, const std::vector<float>& w) {
  const auto m = PackedMatrix::encode(format, kRows, kCols, std::span<const float>(w));
  if (!m.ok()) return {-1, 0};
  std::vector<double> back(w.size());
  m->decode(0, kRows, back);
  double error = 0, power = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    error += (back[i] - static_cast<double>(w[i])) * (back[i] - static_cast<double>(w[i]));
    power += static_cast<double>(w[i]) * static_cast<double>(w[i]);
  }
  return {100 * std::sqrt(error / power),
          static_cast<double>(m->bytes().size()) * 8 / static_cast<double>(w.size())};
}

int simulate(char** argv) {
  const auto format = parse_weight_format(argv[1]);
  const std::int64_t rows = std::atoll(argv[2]), cols = std::atoll(argv[3]);
  std::vector<float> w(static_cast<std::size_t>(rows * cols));
  std::vector<double> back(w.size());
  if (!format.ok() || std::fread(w.data(), sizeof(float), w.size(), stdin) != w.size()) return 1;
  const auto m = PackedMatrix::encode(*format, rows, cols, std::span<const float>(w));
  if (!m.ok()) return std::fprintf(stderr, "%s\n", m.status().to_string().c_str()), 1;
  m->decode(0, rows, back);
  return std::fwrite(back.data(), sizeof(double), back.size(), stdout) == back.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) return simulate(argv);
  const auto even = gaussian(false), uneven = gaussian(true);
  std::puts(
      "| format | bits per weight | error, Gaussian | error, uneven blocks |\n|---|---|---|---|");
  for (const WeightFormat& format : all_weight_formats()) {
    const Measured a = measure(format, even), b = measure(format, uneven);
    if (a.error < 0) continue;
    std::printf("| %s | %.2f | %.3g %% | %.3g %% |\n", to_string(format).c_str(), a.bits, a.error,
                b.error);
  }
}
