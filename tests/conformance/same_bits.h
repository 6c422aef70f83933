// One topology, run in every way there is: all must give the same bits.
#pragma once

#include <cstring>

#include "conformance/support.h"
#include "exec/session.h"
#include "ops/cpu/isa.h"

namespace loom::test {

// Random f32 parameters that are neither zeros nor ones, morphed to `dtype`.
inline Network random_network(const std::string& topology, const std::string& dtype) {
  auto n = Network::from_json(std::string_view(topology));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(7).ok());
  std::uint64_t stream = 100;
  for (auto& p : n->params()) {
    const RandomStream random(3, stream++);
    auto m = p.param->store->mutable_master();
    for (std::size_t i = 0; i < m.size(); ++i) m[i] += 0.3f * (random.uniform(i) - 0.5f);
    p.param->store->touch();
  }
  const Status s = n->morph(*parse_weight_format(dtype));
  EXPECT_TRUE(s.ok()) << dtype << ": " << s.to_string();
  return std::move(*n);
}

// The outputs of `rows` rows of random values, so many per run.
inline std::vector<float> outputs_of(Network& n, std::int64_t rows, int threads,
                                     std::int64_t rows_per_run, const std::string& isa) {
  ThreadPool pool(threads);
  auto s = Session::create(n, pool, {.max_rows = rows, .isa = isa, .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  if (!s.ok()) return {};
  const RandomStream random(11, 1);
  std::vector<float> x(static_cast<std::size_t>(rows * n.input().width)), y;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * random.uniform(i) - 1;
  for (std::int64_t at = 0; at < rows; at += rows_per_run) {
    const std::int64_t count = std::min(rows_per_run, rows - at);
    const auto result =
        s->run(std::span<const float>(x).subspan(static_cast<std::size_t>(at * n.input().width),
                                                 static_cast<std::size_t>(count * n.input().width)),
               count);
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    for (std::int64_t r = 0; r < count; ++r)
      y.insert(y.end(), s->output(r).begin(), s->output(r).end());
  }
  for (const float v : y) EXPECT_TRUE(v - v == 0) << "not finite";
  return y;
}

// Every instruction set, 1 to 3 threads, and rows cut into runs in several ways.
inline void check_same_bits(const std::string& topology,
                            std::initializer_list<const char*> dtypes = {"f32", "f64", "bf16", "i8",
                                                                         "ternary"}) {
  constexpr std::int64_t kRows = 6;
  for (const char* dtype : dtypes) {
    SCOPED_TRACE(dtype);
    Network n = random_network(topology, dtype);
    const std::vector<float> want = outputs_of(n, kRows, 1, kRows, "generic");
    auto same = [&](const std::vector<float>& got) {
      return got.size() == want.size() && !got.empty() &&
             std::memcmp(got.data(), want.data(), got.size() * sizeof(float)) == 0;
    };
    for (const std::string_view isa : cpu::available_isas())
      EXPECT_TRUE(same(outputs_of(n, kRows, 1, kRows, std::string(isa)))) << isa;
    for (const int threads : {2, 3})
      EXPECT_TRUE(same(outputs_of(n, kRows, threads, kRows, ""))) << threads << " threads";
    for (const std::int64_t cut : {1, 4})
      EXPECT_TRUE(same(outputs_of(n, kRows, 2, cut, ""))) << cut << " rows per run";
  }
}

}  // namespace loom::test
