#include "ops/webgpu/probes/probes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "base/fields/fields.h"
#include "base/math/exact_math.h"
#include "base/math/fp_env.h"
#include "base/random.h"
#include "base/threads/locks.h"
#include "ops/cpu/kernel_args.h"
#include "ops/products/matmul/tile_shapes.h"
#include "ops/webgpu/kernels.h"

namespace loom::webgpu {
namespace {

constexpr std::uint32_t kCases = 4096;

// Cases a, b, c: magnitudes as values have, then every bit pattern.
struct Cases {
  std::vector<float> a, b, c;
};
Cases make_cases(bool any_bits) {
  Cases v;
  for (std::uint32_t i = 0; i < kCases; ++i) {
    auto draw = [&](std::uint64_t stream) {
      const RandomStream random(17, stream);
      if (any_bits && i % 4 == 3) return std::bit_cast<float>(random.below(2 * i, 0xFFFFFFFFu));
      return (2 * random.uniform(2 * i) - 1) *
             std::bit_cast<float>((127 + random.below(2 * i + 1, 24) - 12) << 23);
    };
    v.a.push_back(draw(1));
    v.b.push_back(draw(2));
    v.c.push_back(draw(3));
  }
  return v;
}

std::uint32_t bits(float x) { return x == x ? std::bit_cast<std::uint32_t>(x) : 0x7FC00000u; }

// What div() of kernels/parts/base.wgsl promises below the smallest normal number: 0, as subnormal
// operands count.
float flushed(float x) {
  return (std::bit_cast<std::uint32_t>(x) & 0x7F800000u) == 0
             ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x80000000u)
             : x;
}

struct Probe {
  const char* name;
  bool any_bits;
  std::uint32_t (*want)(const Cases& v, std::uint32_t i);
};

std::uint32_t tree(const Cases& v, std::uint32_t i) {
  float s[64];
  const std::uint32_t first = i / 64 * 64;
  for (std::uint32_t j = 0; j < 64; ++j) s[j] = v.a[first + j] * v.b[first + j];
  for (int half = 32; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) s[j] = s[j] + s[j + half];
  return bits(s[0]);
}

std::uint32_t chains(const Cases& v, std::uint32_t i) {
  float even = 0, odd = 0;
  for (std::uint32_t k = 0; k < 32; k += 2) {
    even = even + v.a[i] * v.b[(i + k) % kCases];
    odd = odd + v.c[i] * v.b[(i + k + 1) % kCases];
  }
  return bits(0.0f + (even + odd));
}

// The last one decides about limits().fma alone.
const Probe kProbes[] = {
    {"contraction", false,
     [](const Cases& v, std::uint32_t i) { return bits(v.a[i] * v.b[i] + v.c[i]); }},
    {"distribution", false,
     [](const Cases& v, std::uint32_t i) { return bits(v.a[i] * (1.0f + v.b[i])); }},
    {"distribution of a constant", false,
     [](const Cases& v, std::uint32_t i) {
       return bits(0x1.988454p-1f * (v.a[i] + v.b[i] * v.c[i]));
     }},
    {"reassociation", false,
     [](const Cases& v, std::uint32_t i) {
       const float s = v.a[i] + v.b[i];
       return bits(v.b[i] - (s - v.a[i]));
     }},
    {"rounding by a sum", false,
     [](const Cases& v, std::uint32_t i) { return bits((v.a[i] + 0x1.8p23f) - 0x1.8p23f); }},
    {"chains", false, chains},
    {"division", true,
     [](const Cases& v, std::uint32_t i) {
       return bits(flushed(flushed(v.a[i]) / flushed(v.b[i])));
     }},
    {"square root", true,
     [](const Cases& v, std::uint32_t i) { return bits(exact::sqrt(flushed(v.a[i]))); }},
    {"inverse root", true,
     [](const Cases& v, std::uint32_t i) { return bits(exact::rsqrt(flushed(v.a[i]))); }},
    {"exp of a difference", false,
     [](const Cases& v, std::uint32_t i) {
       return bits(exact::exp_difference(std::min(v.a[i], v.b[i]), std::max(v.a[i], v.b[i])));
     }},
    {"what a difference loses", false,
     [](const Cases& v, std::uint32_t i) {
       return bits(exact::detail::difference(v.a[i], v.b[i]).low);
     }},
    {"exp", true, [](const Cases& v, std::uint32_t i) { return bits(exact::exp(v.a[i])); }},
    {"log", false, [](const Cases& v, std::uint32_t i) { return bits(exact::log(v.a[i])); }},
    {"sigmoid", true, [](const Cases& v, std::uint32_t i) { return bits(exact::sigmoid(v.a[i])); }},
    {"tanh", false, [](const Cases& v, std::uint32_t i) { return bits(exact::tanh(v.a[i])); }},
    {"erf", false, [](const Cases& v, std::uint32_t i) { return bits(exact::erf(v.a[i])); }},
    {"softplus", true,
     [](const Cases& v, std::uint32_t i) { return bits(exact::softplus(v.a[i])); }},
    {"stored values", true,
     [](const Cases& v, std::uint32_t i) { return bits(cpu::stored(v.a[i])); }},
    {"dot4I8Packed", true,
     [](const Cases& v, std::uint32_t i) {
       signed char x[4], y[4];
       std::memcpy(x, &v.a[i], 4);
       std::memcpy(y, &v.b[i], 4);
       return static_cast<std::uint32_t>(x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3]);
     }},
    {"sum of a row", false, tree},
    {"largest of a row", false,
     [](const Cases& v, std::uint32_t i) {
       std::uint32_t max = 0;
       for (std::uint32_t j = i / 64 * 64; j < i / 64 * 64 + 64; ++j)
         max = std::max(max, std::bit_cast<std::uint32_t>(v.a[j]) & 0x7FFFFFFFu);
       return max;
     }},
    {"q15", false,
     [](const Cases& v, std::uint32_t i) {
       const std::uint32_t largest = std::bit_cast<std::uint32_t>(v.a[i]) & 0x7FFFFFFFu;
       if (largest < (27u << 23)) return std::uint32_t{0};
       const int e =
           static_cast<int>(largest >> 23) - 140 + ((largest & 0x7FFFFFu) > 0x7E0000u ? 1 : 0);
       const int q = std::bit_cast<int>(
                         v.a[i] * std::bit_cast<float>(static_cast<std::uint32_t>(127 - e) << 23) +
                         12582912.0f) -
                     0x4B400000;
       const int hi = (q + 64) >> 7, lo = q - 128 * hi;
       return (static_cast<std::uint32_t>(hi) << 16) ^ static_cast<std::uint32_t>(lo) ^
              (static_cast<std::uint32_t>(e + 127) << 23);
     }},
    {"fma", false, chains},
};

}  // namespace

std::string SelfTest::label() const {
  if (portable()) return "portable";
  std::string text = "device (differs: ";
  for (const std::string& name : failed) text += (&name == failed.data() ? "" : ", ") + name;
  return text + ")";
}

Result<SelfTest> self_test(gpu::Device& device) {
  [[maybe_unused]] const FpEnvGuard fp;
  // Cases of both kinds, then the results.
  const Cases cases[] = {make_cases(false), make_cases(true)};
  constexpr std::uint32_t kSlot = 128;
  const auto probes = static_cast<std::uint32_t>(std::size(kProbes));
  LOOM_ASSIGN(const gpu::Buffer arena,
              gpu::Buffer::create(device, std::uint64_t{4} * kCases * (6 + probes), "self test"));
  LOOM_ASSIGN(const gpu::Buffer parameters,
              gpu::Buffer::create(device, std::uint64_t{4} * kSlot * probes, "self test"));
  std::uint64_t at = 0;
  for (const Cases& c : cases)
    for (const auto* v : {&c.a, &c.b, &c.c}) {
      LOOM_TRY(device.write(arena.handle(), at, std::as_bytes(std::span(*v))));
      at += 4 * kCases;
    }
  std::vector<std::uint32_t> slots(std::size_t{kSlot} * probes);
  for (std::uint32_t n = 0; n < probes; ++n) {  // words as kernels/parts/base.wgsl reads them
    std::uint32_t* slot = slots.data() + std::size_t{kSlot} * n;
    const std::uint32_t first = kProbes[n].any_bits ? 3 * kCases : 0;
    slot[1] = kCases;
    slot[44] = n;
    for (std::uint32_t i = 0; i < 3; ++i) slot[80 + i] = first + i * kCases;
    slot[83] = (6 + n) * kCases;
  }
  LOOM_TRY(device.write(parameters.handle(), 0, std::as_bytes(std::span(slots))));
  LOOM_ASSIGN(const gpu::Handle pipeline,
              pipeline_of(device, {"arena exact reduce q15 probes", "probe", {}}));
  std::vector<gpu::Dispatch> list;
  for (std::uint32_t n = 0; n < probes; ++n) {
    const gpu::Binding bindings[] = {{parameters.handle(), std::uint64_t{4} * kSlot * n, 4 * kSlot},
                                     {arena.handle()}};
    LOOM_ASSIGN(const gpu::Handle group, device.bind(pipeline, bindings));
    list.push_back({pipeline, group, kCases / 64});
  }
  LOOM_TRY(device.submit(list));
  std::vector<std::uint32_t> results(std::size_t{kCases} * probes);
  const gpu::ReadRange range{arena.handle(), std::uint64_t{4} * kCases * 6,
                             std::as_writable_bytes(std::span(results))};
  const Status read = device.read({&range, 1});
  for (const gpu::Dispatch& d : list) device.destroy_bindings(d.bindings);
  LOOM_TRY(read);
  SelfTest test;
  test.probes = static_cast<int>(probes);
  test.fma = true;
  for (std::uint32_t n = 0; n < probes; ++n)
    for (std::uint32_t i = 0; i < kCases; ++i)
      if (results[std::size_t{kCases} * n + i] != kProbes[n].want(cases[kProbes[n].any_bits], i)) {
        if (n + 1 < probes) test.failed.emplace_back(kProbes[n].name);
        else test.fma = false;
        break;
      }
  if (device.has_matrix_units()) {
    LOOM_ASSIGN(test.matrix_units, exact_products(device, {64, 64, 4, 2, false, true}));
  }
  return test;
}

Result<SelfTest> known_self_test(gpu::Device& device) {
  static locks::mutex mutex;
  static std::map<std::string, SelfTest> known;
  const gpu::DeviceInfo& info = device.info();
  std::string key;
  for (const std::string* part : {&info.name, &info.vendor, &info.driver, &info.library})
    key += *part + '\0';
  const locks::unique_lock lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  LOOM_ASSIGN(const SelfTest test, self_test(device));
  known.emplace(std::move(key), test);
  return test;
}

Result<Choice> choose_device(std::string_view name) {
  Choice choice;
  if (name == "cpu") return choice;
  if (!has_name(kDeviceNames, name))
    return Status(Code::invalid_argument, "the device is one of " + std::string(kDeviceNames) +
                                              ", got \"" + std::string(name) + "\"");
  auto opened = gpu::open_device();
  if (name == "auto" && (!opened.ok() || (*opened)->info().software)) {
    choice.note = (opened.ok() ? "gpu: '" + (*opened)->info().name + "' is software"
                               : opened.status().message()) +
                  ": running on the CPU";
    return choice;
  }
  LOOM_TRY(opened.status());
  choice.device = std::move(*opened);
  LOOM_ASSIGN(const SelfTest test, known_self_test(*choice.device));
  choice.numerics = test.label();
  if (test.matrix_units) choice.device->allow_matrix_units();
  if (test.fma) choice.device->allow_fma();
  return choice;
}

}  // namespace loom::webgpu
