// Every float through every function of base/math/exact_math.h against libm in double; prints the
// table of docs/reference/exact-math.md. Run by hand at a release (minutes):
//   c++ -std=c++20 -O2 -ffp-contract=off -Isrc tests/release/exact_math_all.cpp -o exact_math_all
//   && ./exact_math_all
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/math/exact_math.h"

namespace {

using namespace loom;

struct Worst {
  double ulp = 0;
  float at = 0;
  std::uint64_t tested = 0, correct = 0;
};

template <class F, class G>
void row(const char* name, F f, G g) {
  Worst worst;
  for (std::uint64_t u = 0; u < std::uint64_t{1} << 32; ++u) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(u));
    if (!(std::fabs(x) < std::numeric_limits<float>::infinity())) continue;
    const double r = g(static_cast<double>(x));
    if (!(std::fabs(r) >= 0x1p-126 && std::fabs(r) <= 0x1.fffffep127)) continue;
    const float y = f(x);
    ++worst.tested;
    if (y == static_cast<float>(r)) {
      ++worst.correct;
      continue;
    }
    int e;
    std::frexp(r, &e);
    const double ulp = std::ldexp(std::fabs(y - r), 24 - e);
    if (!(ulp <= worst.ulp)) {
      worst.ulp = ulp;
      worst.at = x;
    }
  }
  std::printf("| %s | %.3f | %a | %.2f %% | %llu |\n", name, worst.ulp,
              static_cast<double>(worst.at),
              100.0 * static_cast<double>(worst.correct) / static_cast<double>(worst.tested),
              static_cast<unsigned long long>(worst.tested));
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::puts(
      "| f32 function | largest error, ulp | at x | correctly rounded | inputs "
      "|\n|---|---|---|---|---|");
  row("exp", [](float x) { return exact::exp(x); }, [](double x) { return std::exp(x); });
  row("log", [](float x) { return exact::log(x); }, [](double x) { return std::log(x); });
  row(
      "sigmoid", [](float x) { return exact::sigmoid(x); },
      [](double x) { return 1 / (1 + std::exp(-x)); });
  row("tanh", [](float x) { return exact::tanh(x); }, [](double x) { return std::tanh(x); });
  row("erf", [](float x) { return exact::erf(x); }, [](double x) { return std::erf(x); });
  row(
      "softplus", [](float x) { return exact::softplus(x); },
      [](double x) { return std::log1p(std::exp(-std::fabs(x))) + (x > 0 ? x : 0); });
  row("sin", [](float x) { return exact::sin(x); }, [](double x) { return std::sin(x); });
  row("cos", [](float x) { return exact::cos(x); }, [](double x) { return std::cos(x); });
  row("rsqrt", [](float x) { return exact::rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); });
  row(
      "pow(x, 0.75)", [](float x) { return exact::pow(x, 0.75f); },
      [](double x) { return std::pow(x, 0.75); });
  row(
      "pow(x, -3.1)", [](float x) { return exact::pow(x, -3.1f); },
      [](double x) { return std::pow(x, static_cast<double>(-3.1f)); });
  row(
      "pow(10000, y)", [](float y) { return exact::pow(1e4f, y); },
      [](double y) { return std::pow(1e4, y); });
  row(
      "pow(500000, y)", [](float y) { return exact::pow(5e5f, y); },
      [](double y) { return std::pow(5e5, y); });
}
