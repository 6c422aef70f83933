// Fitness by the built-in tasks and by tables (docs/reference/evolution.md).
#include <algorithm>
#include <array>
#include <cmath>

#include "base/math/exact_math.h"
#include "evolve/population.h"

namespace loom::evolve {
namespace {

constexpr std::array<float, 8> kXorX = {0, 0, 0, 1, 1, 0, 1, 1};
constexpr std::array<float, 4> kXorY = {0, 1, 1, 0};

double squared_error(std::span<const float> got, std::span<const float> want) {
  double sum = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double e = double{got[i]} - double{want[i]};
    sum += e * e;
  }
  return sum;
}

// The class of a row: its largest value; of one value, whether it is at least 0.5.
std::size_t class_of(std::span<const float> row) {
  if (row.size() == 1) return row[0] >= 0.5f;
  return static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
}

double accuracy(std::span<const float> got, std::span<const float> want, std::size_t width) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < got.size(); i += width)
    right += class_of(got.subspan(i, width)) == class_of(want.subspan(i, width));
  return static_cast<double>(right) / static_cast<double>(got.size() / width);
}

double table_fitness(Phenotype& net, const EvolutionSpec& spec) {
  const Table& t = spec.table;
  std::vector<float> got(t.y.size());
  net.run(t.x, spec.ticks, got);
  if (spec.score == "accuracy") return accuracy(got, t.y, net.outputs());
  const double error = squared_error(got, t.y);
  const auto count = static_cast<double>(got.size());
  return spec.score == "sse" ? count - error : -error / count;
}

double xor_fitness(Phenotype& net, const EvolutionSpec& spec) {
  std::array<float, 4> got;
  net.run(kXorX, spec.ticks, got);
  return 4 - squared_error(got, kXorY);
}

// A cart on a track with one or two poles (Wieland, "Evolving neural network controllers for
// unstable systems", IJCNN 1991). State: x, x', then angle and angular velocity of each pole.
struct Pole {
  double half_length, mass;
};
struct Cart {
  static constexpr double kGravity = -9.8, kCart = 1.0, kHinge = 2e-6, kStep = 0.01;
  static constexpr double kTrack = 2.4;
  using State = std::array<double, 6>;

  std::array<Pole, 2> poles;
  std::size_t count;
  double max_angle;

  State derivative(const State& s, double force) const {
    std::array<double, 2> sines{}, cosines{}, hinge{};
    double mass = kCart;
    for (std::size_t i = 0; i < count; ++i) {
      const Pole& p = poles[i];
      const double angle = s[2 + 2 * i], speed = s[3 + 2 * i];
      sines[i] = exact::sin(angle);
      cosines[i] = exact::cos(angle);
      hinge[i] = kHinge * speed / (p.mass * p.half_length);
      force += p.mass * p.half_length * speed * speed * sines[i] +
               0.75 * p.mass * cosines[i] * (hinge[i] + kGravity * sines[i]);
      mass += p.mass * (1 - 0.75 * cosines[i] * cosines[i]);
    }
    State d{};
    d[0] = s[1];
    d[1] = force / mass;
    for (std::size_t i = 0; i < count; ++i) {
      d[2 + 2 * i] = s[3 + 2 * i];
      d[3 + 2 * i] =
          -0.75 / poles[i].half_length * (d[1] * cosines[i] + kGravity * sines[i] + hinge[i]);
    }
    return d;
  }

  // The classical Runge-Kutta method of fourth order.
  void step(State& s, double force) const {
    const auto moved = [this](const State& from, const State& d, double h) {
      State to = from;
      for (std::size_t i = 0; i < 2 + 2 * count; ++i) to[i] += h * d[i];
      return to;
    };
    const State a = derivative(s, force);
    const State b = derivative(moved(s, a, kStep / 2), force);
    const State c = derivative(moved(s, b, kStep / 2), force);
    const State d = derivative(moved(s, c, kStep), force);
    for (std::size_t i = 0; i < 2 + 2 * count; ++i)
      s[i] += kStep / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }

  bool failed(const State& s) const {
    bool out = !(std::abs(s[0]) <= kTrack);
    for (std::size_t i = 0; i < count; ++i) out |= !(std::abs(s[2 + 2 * i]) <= max_angle);
    return out;
  }
};

constexpr double kDegree = 0.017453292519943295;
constexpr Cart kCartPole{{Pole{0.5, 0.1}, Pole{}}, 1, 12 * kDegree};
constexpr Cart kDoublePole{{Pole{0.5, 0.1}, Pole{0.05, 0.01}}, 2, 36 * kDegree};

// Decisions until it fails; each holds for two steps.
std::int64_t balance(Phenotype& net, const Cart& cart, Cart::State s, std::int64_t decisions) {
  static constexpr std::array<double, 6> kScale = {4.8, 2, 0.52, 2, 0.52, 2};
  net.reset();
  for (std::int64_t t = 0; t < decisions; ++t) {
    std::array<float, 6> x{};
    for (std::size_t i = 0; i < net.inputs(); ++i) x[i] = static_cast<float>(s[i] / kScale[i]);
    float y = 0;
    net.activate(std::span(x).first(net.inputs()), {&y, 1});
    // One pole: a push of 10 N to either side. Two: up to 10 N.
    const double push = cart.count == 1 ? (y > 0.5f ? 10.0 : -10.0)
                                        : 20 * (std::min(std::max(double{y}, 0.0), 1.0) - 0.5);
    for (int half = 0; half < 2; ++half) cart.step(s, push);
    if (cart.failed(s)) return t;
  }
  return decisions;
}

double cart_pole_fitness(Phenotype& net, const EvolutionSpec& spec) {
  constexpr Cart::State kStarts[] = {
      {0, 0, 0.05, 0}, {1, 0, -0.05, 0}, {-1, 0, 0.1, 0}, {0, 0.5, 0, -0.5}, {0, -0.5, 0, 0.5}};
  std::int64_t sum = 0;
  for (const Cart::State& start : kStarts)
    sum += balance(net, kCartPole, start, spec.episode_steps);
  return static_cast<double>(sum) / static_cast<double>(5 * spec.episode_steps);
}

double double_pole_fitness(Phenotype& net, const EvolutionSpec& spec) {
  const Cart::State start{0, 0, 4 * kDegree, 0, 0, 0};
  return static_cast<double>(balance(net, kDoublePole, start, spec.episode_steps)) /
         static_cast<double>(spec.episode_steps);
}

}  // namespace

double task_fitness(Phenotype& net, const EvolutionSpec& spec) {
  switch (spec.kind) {
    case Task::xor_gate: return xor_fitness(net, spec);
    case Task::cart_pole: return cart_pole_fitness(net, spec);
    case Task::double_pole: return double_pole_fitness(net, spec);
    case Task::table: return table_fitness(net, spec);
    case Task::host: break;
  }
  return 0;
}

}  // namespace loom::evolve
