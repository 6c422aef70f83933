#include "grid/adapter.h"

#include <algorithm>

#include "base/fields/old_names.h"
#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "base/random.h"

namespace loom {
namespace {

constexpr std::string_view kA = ":lora_A", kB = ":lora_B";

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("adapter: ", std::move(what)));
}

std::string_view last_part(std::string_view module) { return module.substr(module.rfind('.') + 1); }

// The cell that a path begins with.
std::string_view cell_of(std::string_view path) { return path.substr(0, path.find('/')); }

bool computes_in_f64(Network& network, std::string_view path) {
  for (std::size_t i = 0; i < network.size(); ++i)
    if (network.path(i) == cell_of(path)) return loom::computes_in_f64(network.node(i));
  return false;
}

bool names(const AdapterPlace& place, std::string_view target) {
  return target == place.role || target == place.module || target == last_part(place.module) ||
         target == place.path + ":" + place.role;
}

Status set_type(WeightStore& store, bool f64) {
  return store.morph({.dtype = f64 ? DType::f64 : DType::f32});
}

// w += scale * B A
template <class T>
void add_product(std::span<T> w, std::span<const T> a, std::span<const T> b, std::int64_t rank,
                 T scale) {
  const auto r = static_cast<std::size_t>(rank), in = a.size() / r, out = b.size() / r;
  std::vector<T> sum(in);
  for (std::size_t o = 0; o < out; ++o) {
    std::fill(sum.begin(), sum.end(), T(0));
    for (std::size_t k = 0; k < r; ++k)
      for (std::size_t i = 0; i < in; ++i) sum[i] += b[o * r + k] * a[k * in + i];
    for (std::size_t i = 0; i < in; ++i) w[o * in + i] += scale * sum[i];
  }
}

template <class T>
Result<std::vector<T>> values(WeightStore& store) {
  std::vector<T> v(static_cast<std::size_t>(store.rows() * store.cols()));
  LOOM_TRY(store.values(std::span<T>(v)));
  return v;
}

// The values of a weight with its adapter, and that its format can hold them.
template <class T>
Result<std::vector<T>> merged(WeightStore& store, const Adapter::Target& t) {
  LOOM_ASSIGN(const std::vector<T> a, values<T>(*t.a));
  LOOM_ASSIGN(const std::vector<T> b, values<T>(*t.b));
  std::vector<T> w;
  if constexpr (sizeof(T) == 8) w.assign(store.master64().begin(), store.master64().end());
  else w.assign(store.master().begin(), store.master().end());
  if (w.empty()) {
    LOOM_ASSIGN(w, values<T>(store));
  }
  add_product<T>(w, a, b, t.a->rows(), static_cast<T>(t.scale));
  LOOM_TRY(PackedMatrix::encode(store.format(), store.rows(), store.cols(), std::span<const T>(w))
               .status());
  return w;
}

template <class T>
Status replace(WeightStore& store, const std::vector<T>& w) {
  const WeightFormat format = store.format();
  const bool packed = !store.has_master();
  if (packed) LOOM_TRY(store.morph({.dtype = sizeof(T) == 8 ? DType::f64 : DType::f32}));
  if constexpr (sizeof(T) == 8) std::copy(w.begin(), w.end(), store.mutable_master64().begin());
  else std::copy(w.begin(), w.end(), store.mutable_master().begin());
  store.touch();
  if (!packed) return {};
  LOOM_TRY(store.morph(format));
  return store.drop_master();
}

}  // namespace

std::vector<AdapterPlace> adapter_places(Network& network) {
  std::vector<AdapterPlace> places;
  for (const Network::NamedParam& p : network.params())
    if (p.param->spec.adapts)
      places.push_back({p.path, p.param->spec.role, p.path + "." + p.param->spec.role});
  return places;
}

Result<Adapter> Adapter::create(Network& network, std::span<const AdapterPlace> places,
                                const AdapterSpec& spec, std::uint64_t seed) {
  if (spec.rank < 1 || spec.rank > 65536)
    return bad(message("\"rank\" must be in 1..65536, got ", spec.rank));
  std::vector<bool> used(spec.targets.size(), false);
  Adapter adapter;
  adapter.rank = spec.rank;
  adapter.alpha = spec.alpha;
  const std::string last = network.path(network.executed(network.size() - 1));
  for (const AdapterPlace& place : places) {
    bool wanted = spec.targets.empty() && cell_of(place.path) != last;
    for (std::size_t i = 0; i < spec.targets.size(); ++i) {
      if (!names(place, spec.targets[i])) continue;
      used[i] = true;
      wanted = true;
    }
    if (!wanted) continue;
    const WeightStore& w = *network.find(place.path, place.role);
    Target t{place.path,
             place.role,
             place.module,
             std::make_shared<WeightStore>(spec.rank, w.cols()),
             std::make_shared<WeightStore>(w.rows(), spec.rank),
             spec.alpha / static_cast<double>(spec.rank)};
    const auto digest = Sha256::of(as_bytes(place.path + ":" + place.role + std::string(kA)));
    const RandomStream random(seed, load_le<std::uint64_t>(digest.data()));
    const float std = exact::sqrt(1.0f / static_cast<float>(w.cols()));
    std::size_t k = 0;
    for (float& x : t.a->mutable_master()) x = std * normal(random, k++);
    t.a->touch();
    adapter.targets.push_back(std::move(t));
  }
  if (places.empty())
    return bad(
        "the network has no weight of a product, beside which an adapter stands: "
        "the parameters of custom layers and norms are not adapted");
  std::string known;
  for (const AdapterPlace& place : places)
    if (const std::string name = "\"" + place.role + "\""; known.find(name) == std::string::npos)
      known += (known.empty() ? "" : ", ") + name;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      return bad(message("no weight is called \"", spec.targets[i], "\": known are ", known,
                         ", or a single one as \"", places[0].path, ":", places[0].role, "\""));
  if (adapter.targets.empty())
    return bad("there is no weight to adapt but the last cell's: name it in \"targets\"");
  LOOM_TRY(adapter.fit(network));
  return adapter;
}

Status Adapter::take(const Adapter& other) {
  const auto text = [](const Adapter& a) {
    std::string list;
    for (const Target& t : a.targets) list += (list.empty() ? "" : ", ") + t.path + ":" + t.role;
    return "rank " + std::to_string(a.rank) + ", alpha " + format_double(a.alpha) + " beside " +
           list;
  };
  const auto alike = [](const Target& a, const Target& b) {
    return a.path == b.path && a.role == b.role && a.scale == b.scale &&
           a.a->rows() == b.a->rows() && a.a->cols() == b.a->cols() && a.b->rows() == b.b->rows() &&
           a.a->master_is_f64() == b.a->master_is_f64();
  };
  if (!std::equal(targets.begin(), targets.end(), other.targets.begin(), other.targets.end(),
                  alike))
    return bad(message("the network runs with one of ", text(other), ", \"lora\" is one of ",
                       text(*this),
                       ": give the same, or take it away (unload_adapter) or add it to the weights "
                       "(merge_adapter) before"));
  for (std::size_t i = 0; i < targets.size(); ++i)
    for (const auto& [to, from] : {std::pair(targets[i].a, other.targets[i].a),
                                   std::pair(targets[i].b, other.targets[i].b)}) {
      std::ranges::copy(from->master(), to->mutable_master().begin());
      std::ranges::copy(from->master64(), to->mutable_master64().begin());
      to->touch();
    }
  return {};
}

const Adapter::Target* Adapter::find(std::string_view path, std::string_view role) const {
  for (const Target& t : targets)
    if (t.role == role && t.path == path) return &t;
  return nullptr;
}

WeightStore* Adapter::store(std::string_view path, std::string_view role) const {
  if (!role.ends_with(kA) && !role.ends_with(kB)) return nullptr;
  const Target* t = find(path, role.substr(0, role.size() - kA.size()));
  if (!t) return nullptr;
  return role.ends_with(kA) ? t->a.get() : t->b.get();
}

std::int64_t Adapter::parameter_count() const {
  std::int64_t n = 0;
  for (const Target& t : targets) n += t.a->rows() * t.a->cols() + t.b->rows() * t.b->cols();
  return n;
}

Status Adapter::fit(Network& network) {
  const std::vector<AdapterPlace> places = adapter_places(network);
  for (Target& t : targets) {
    const bool there = std::any_of(places.begin(), places.end(), [&](const AdapterPlace& p) {
      return p.path == t.path && p.role == t.role;
    });
    if (!there)
      return bad(message("the network has no weight ", t.path, ":", t.role, " (", t.module, ")"));
    const WeightStore& w = *network.find(t.path, t.role);
    if (t.a->cols() != w.cols() || t.b->rows() != w.rows() || t.a->rows() != t.b->cols())
      return bad(message(t.module, ": A is ", t.a->rows(), " x ", t.a->cols(), " and B ",
                         t.b->rows(), " x ", t.b->cols(), ", the weight ", w.rows(), " x ",
                         w.cols()));
    const bool f64 = computes_in_f64(network, t.path);
    LOOM_TRY(set_type(*t.a, f64));
    LOOM_TRY(set_type(*t.b, f64));
  }
  return {};
}

Status Adapter::merge(Network& network) {
  LOOM_TRY(fit(network));
  struct Sum {
    WeightStore* store;
    std::vector<float> f32;
    std::vector<double> f64;
  };
  std::vector<Sum> sums;  // all before the first weight changes
  for (const Target& t : targets) {
    WeightStore& w = *network.find(t.path, t.role);
    std::int64_t names = 0;
    for (const Network::NamedParam& p : network.params()) names += p.param->store.get() == &w;
    if (names > 1)
      return Status(Code::unsupported, message("adapter: ", t.path, ":", t.role,
                                               " is tied to another weight, which would change as "
                                               "well: run with the adapter instead"));
    Sum& sum = sums.emplace_back(Sum{&w, {}, {}});
    const bool f64 = w.has_master() ? w.master_is_f64() : w.format().arith() == ArithClass::real;
    if (f64) {
      LOOM_ASSIGN(sum.f64, merged<double>(w, t));
    } else {
      LOOM_ASSIGN(sum.f32, merged<float>(w, t));
    }
  }
  for (const Sum& sum : sums)
    LOOM_TRY(sum.f64.empty() ? replace(*sum.store, sum.f32) : replace(*sum.store, sum.f64));
  return {};
}

Result<std::string> digest(Network& network) {
  Sha256 sha;
  sha.update_text(topology_by_old_names(network.to_json()).dump());
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    if (p.param->store->format().arith() == ArithClass::real) {
      LOOM_ASSIGN(const std::vector<double> f64, values<double>(*p.param->store));
      const std::vector<float> f32(f64.begin(), f64.end());
      // Vectors that lose nothing count as f32, which they were before they followed their cell.
      if (!p.param->spec.quantized && std::ranges::equal(f32, f64)) sha.update_f32(f32);
      else sha.update_f64(f64);
    } else if (p.param->store->format().dtype == DType::f32) {
      LOOM_ASSIGN(const std::vector<float> f32, values<float>(*p.param->store));
      sha.update_f32(f32);
    } else {
      // Some rows at a time: decoded, all may take eight times what they take packed.
      constexpr std::int64_t kRows = 256;
      LOOM_ASSIGN(const PackedMatrix packed, p.param->store->packed());
      std::vector<float> f32;
      for (std::int64_t r = 0; r < packed.rows(); r += kRows) {
        const std::int64_t n = std::min(kRows, packed.rows() - r);
        f32.resize(static_cast<std::size_t>(n * packed.cols()));
        packed.decode(r, n, std::span(f32));
        sha.update_f32(f32);
      }
      LOOM_TRY(packed.intact());
    }
  }
  return Sha256::hex(sha.finish());
}

}  // namespace loom
