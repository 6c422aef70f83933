// Circular and hyperbolic functions and their inverses, of arithmetic, roots, exponentials and
// logarithms.

#include "onnx/graph.h"

namespace loom::onnx {
namespace {

constexpr double kLn2 = 0.69314718055994530942, kHalfPi = 1.57079632679489661923;

// A formula writes its cells as it is evaluated.
struct Term {
  GraphBuilder* graph;
  Ref value;

  Term unary(std::string_view kind) const { return {graph, graph->unary(value, kind)}; }
  Term with(const Term& other, std::string_view kind) const {
    return {graph, graph->binary(value, other.value, kind)};
  }
  Term number(double x) const { return {graph, GraphBuilder::number(x)}; }
  Term where(const Term& condition, const Term& otherwise) const {
    return {graph, graph->select(condition.value, value, otherwise.value)};
  }
};
Term operator+(const Term& a, const Term& b) { return a.with(b, "add"); }
Term operator-(const Term& a, const Term& b) { return a.with(b, "sub"); }
Term operator*(const Term& a, const Term& b) { return a.with(b, "mul"); }
Term operator/(const Term& a, const Term& b) { return a.with(b, "div"); }
Term operator>(const Term& a, const Term& b) { return a.with(b, "greater"); }
Term operator+(const Term& a, double b) { return a + a.number(b); }
Term operator-(const Term& a, double b) { return a - a.number(b); }
Term operator*(const Term& a, double b) { return a * a.number(b); }
Term operator>(const Term& a, double b) { return a > a.number(b); }
Term operator-(double a, const Term& b) { return b.number(a) - b; }
Term operator/(double a, const Term& b) { return b.number(a) / b; }
Term abs(const Term& x) { return x.unary("abs"); }
Term exp(const Term& x) { return x.unary("exp"); }
Term log(const Term& x) { return x.unary("log"); }
Term sqrt(const Term& x) { return x.unary("sqrt"); }
// The sum of c[i] x^i from the highest term down.
Term series(const Term& x, std::initializer_list<double> from_highest) {
  Term sum = x.number(*from_highest.begin());
  for (const double* c = from_highest.begin() + 1; c != from_highest.end(); ++c) sum = sum * x + *c;
  return sum;
}

// log(1 + u) of u >= 0. What 1 + u rounds off is made up for by u over what was added.
Term log1p(const Term& u) {
  const Term w = u + 1, added = w - 1, none = added.with(u.number(0), "equal");
  const Term near = u.where(none, log(w) * u / u.number(1).where(none, added));
  return log(u).where(u > 1e7, near);
}

Term tan(const Term& x) { return x.unary("sin") / x.unary("cos"); }
Term cosh(const Term& x) { return (exp(x) + exp(x.unary("neg"))) * 0.5; }
// Near 0, where the exponentials cancel, the first terms of the series.
Term sinh(const Term& x) {
  const Term near =
      series(x.unary("square"), {1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6, 1.0}) * x;
  return ((exp(x) - exp(x.unary("neg"))) * 0.5).where(abs(x) > 1, near);
}
// tan(y / 2) = t / (1 + sqrt(1 + t^2)) twice leaves at most tan(pi / 16), where five terms are
// enough.
Term atan(const Term& x) {
  const Term size = abs(x), beyond = size > 1;
  Term t = (1.0 / size).where(beyond, size);
  for (int halved = 0; halved < 2; ++halved) t = t / (sqrt(t.unary("square") + 1) + 1);
  const Term y = series(t.unary("square"), {1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3, 1.0}) * t * 4;
  return (kHalfPi - y).where(beyond, y) * x.unary("sign");
}
Term asin(const Term& x) { return atan(x / sqrt((1 - x) * (x + 1))); }
Term acos(const Term& x) { return atan(sqrt((1 - x) / (x + 1))) * 2; }
// Far from 0 the 1 below the root is lost, and squares would overflow.
Term asinh(const Term& x) {
  const Term size = abs(x), square = size.unary("square");
  const Term near = log1p(size + square / (sqrt(square + 1) + 1));
  return (log(size) + kLn2).where(size > 4096, near) * x.unary("sign");
}
Term acosh(const Term& x) {
  const Term t = (x - 1).where(x.with(x.number(1), "greater_equal"),
                               x.number(-0.5));  // below 1 the root is no number
  return (log(x) + kLn2).where(x > 4096, log1p(t + sqrt(t.unary("square") + t * 2)));
}
Term atanh(const Term& x) {
  const Term size = abs(x);
  return log1p(size * 2 / (1 - size)) * 0.5 * x.unary("sign");
}

template <Term F(const Term&)>
Status rule(StepCall& c) {
  c.set(F({&c.graph, c.graph.value(c.in())}).value);
  return {};
}

}  // namespace

std::span<const Operator> circular_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_circular(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
