// What a network puts into its file, and back.
#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "base/files/bytes.h"
#include "base/message.h"
#include "checkpoint/entity.h"
#include "checkpoint/layout.h"
#include "formats/tensor_file.h"

namespace loom {
namespace {

using namespace entity_layout;

constexpr std::string_view kTopology = "topology", kState = "training/", kMaster = ":master";
constexpr std::int64_t kMaxValues = std::int64_t{1} << 62;

// Values as little-endian bytes, borrowed where they are so already.
template <class T>
EntityWriter::Producer elements(std::span<const T> values) {
  return [values](const EntityWriter::Sink& sink) -> Status {
    if constexpr (std::endian::native == std::endian::little) return sink(std::as_bytes(values));
    std::array<std::byte, 4096> buffer;
    constexpr std::size_t kPiece = buffer.size() / sizeof(T);
    for (std::size_t at = 0; at < values.size(); at += kPiece) {
      const auto piece = values.subspan(at, std::min(kPiece, values.size() - at));
      for (std::size_t i = 0; i < piece.size(); ++i)
        store_le(buffer.data() + i * sizeof(T), piece[i]);
      LOOM_TRY(sink(std::span(buffer).first(piece.size_bytes())));
    }
    return {};
  };
}

// Without a master of that type, the values the network sees.
template <class T>
EntityWriter::Producer seen_values(WeightStore& store) {
  return [&store](const EntityWriter::Sink& sink) -> Status {
    std::vector<T> values(static_cast<std::size_t>(store.rows() * store.cols()));
    LOOM_TRY(store.values(std::span<T>(values)));
    return elements(std::span<const T>(values))(sink);
  };
}

// Of one that is f32, which is not made for it.
EntityWriter::Producer master(const WeightStore& store) {
  return [&store](const EntityWriter::Sink& sink) -> Status {
    const std::int64_t rows = store.held() ? std::max<std::int64_t>(65536 / store.cols(), 1) : 0;
    if (rows == 0) return elements(store.master())(sink);
    std::vector<float> some;
    for (std::int64_t first = 0; first < store.rows(); first += rows) {
      some.resize(static_cast<std::size_t>(std::min(rows, store.rows() - first) * store.cols()));
      store.read_master(first, some);
      LOOM_TRY(elements(std::span<const float>(some))(sink));
    }
    return {};
  };
}

bool is_plain(const WeightFormat& format) {
  return format.dtype == DType::f32 || format.dtype == DType::f64;
}

Status add_parameter(EntityWriter& writer, const std::string& name, WeightStore& store,
                     bool keep_master) {
  const std::vector<std::int64_t> shape = {store.rows(), store.cols()};
  const TensorType f32 = TensorType::plain(DType::f32), f64 = TensorType::plain(DType::f64);
  const bool in_f64 = store.master_is_f64();
  if (store.format().dtype == DType::f64) {
    LOOM_TRY(writer.tensor(name, f64, shape,
                           in_f64 ? elements(store.master64()) : seen_values<double>(store)));
    return {};
  }
  if (store.format().dtype == DType::f32) {
    LOOM_TRY(
        writer.tensor(name, f32, shape,
                      !store.has_master() || in_f64 ? seen_values<float>(store) : master(store)));
    keep_master = keep_master && in_f64;
  } else {
    LOOM_TRY(writer.tensor(name, TensorType::matrix(store.format()), shape,
                           [&store](const EntityWriter::Sink& sink) -> Status {
                             LOOM_ASSIGN(const PackedMatrix packed, store.packed());
                             LOOM_TRY(sink(packed.bytes()));
                             return packed.intact();
                           }));
  }
  if (!keep_master || !store.has_master()) return {};
  return writer.tensor(name + std::string(kMaster), in_f64 ? f64 : f32, shape,
                       in_f64 ? elements(store.master64()) : elements(store.master()));
}

Status add_parameters(EntityWriter& writer, const std::string& path, Network& network,
                      bool keep_masters) {
  const auto params = network.params();
  std::set<const WeightStore*> owned;
  for (const auto& p : params)
    if (!p.borrowed()) owned.insert(p.param->store.get());
  for (const auto& p : params) {
    const std::string name = p.path + ":" + p.param->spec.role;
    if (!p.param->store)
      return Status(Code::invalid_argument,
                    message(path, ": parameter ", name, " has no values: plan the network first"));
    if (!p.borrowed()) LOOM_TRY(add_parameter(writer, name, *p.param->store, keep_masters));
    else if (!owned.contains(p.param->store.get()))
      return Status(
          Code::invalid_argument,
          message(path, ": parameter ", name, " is tied to \"", p.node->tie,
                  "\", which does not own it: plan the network first, and tie to the owner"));
  }
  return {};
}

// Names in quotes, the first three of them.
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < 3; ++i) out += (i ? ", " : "") + quoted(names[i]);
  return out + (names.size() > 3 ? " and " + std::to_string(names.size() - 3) + " more" : "");
}

class Loader {
 public:
  Loader(const Entity& entity, const LoadOptions& options) : entity_(entity), options_(options) {}

  // Everything is held against the table of contents before the first weight is read.
  Result<Network> plan() {
    LOOM_ASSIGN(const Json topology, entity_.json(kTopology));
    // Parameters take no memory before they are filled, and the file must hold each of them.
    auto planned = Network::from_json(topology, kMaxValues);
    // The file is as it was written: this process lacks a layer that is registered.
    if (planned.status().code() == Code::not_found) return planned.status().at(entity_.name());
    if (!planned.ok()) return corrupt(message("section 'topology': ", planned.status().message()));
    Network network = std::move(*planned);
    for (std::size_t i = 0; i < network.size(); ++i) {
      const std::string path = network.path(i);
      if (!network.node(i).enabled && !any_in_file(network.node(i), path))
        drop_params(network.node(i));
    }
    std::vector<Network::NamedParam> owners = network.params();
    std::erase_if(owners, [](const Network::NamedParam& p) { return p.borrowed(); });
    LOOM_TRY(check_ties(network, owners));
    LOOM_TRY(check_names(owners));
    for (const auto& p : owners) LOOM_TRY(check_tensor(p));
    return network;
  }

  Result<Network> load() {
    LOOM_ASSIGN(Network network, plan());
    for (const auto& p : network.params())
      if (!p.borrowed()) {
        // In place: tied cells share the store.
        LOOM_ASSIGN(*p.param->store, store_of(p));
        if (p.param->spec.quantized) LOOM_TRY(p.param->store->hold());
      }
    return network;
  }

 private:
  // A tie to a cell that is switched off needs that cell's tensor.
  Status check_ties(Network& network, const std::vector<Network::NamedParam>& owners) const {
    std::set<const WeightStore*> owned;
    for (const auto& p : owners) owned.insert(p.param->store.get());
    for (const auto& p : network.params())
      if (!owned.contains(p.param->store.get()))
        return corrupt(message("parameter ", name_of(p), " is tied to \"", p.node->tie,
                               "\", which the file does not hold"));
    return {};
  }

  // A cell that is switched off has its parameters where the file has any of them.
  bool any_in_file(const Node& node, const std::string& path) const {
    for (const Param& p : node.params)
      if (entity_.find_tensor(path + ":" + p.spec.role)) return true;
    for (std::size_t i = 0; i < node.children.size(); ++i)
      if (any_in_file(node.children[i], path + "/" + std::to_string(i))) return true;
    return false;
  }
  static void drop_params(Node& node) {
    node.params.clear();
    for (Node& child : node.children) drop_params(child);
  }

  static std::string name_of(const Network::NamedParam& p) {
    return p.path + ":" + p.param->spec.role;
  }
  Status corrupt(const std::string& what) const {
    return Status(Code::corrupt, message(entity_.name(), ": ", what));
  }

  Status check_names(const std::vector<Network::NamedParam>& owners) const {
    std::set<std::string, std::less<>> wanted;
    for (const auto& p : owners) wanted.insert(name_of(p));
    std::vector<std::string> missing, extra;
    for (const auto& p : owners)
      if (!entity_.find_tensor(name_of(p))) missing.push_back(name_of(p));
    for (const EntityEntry& e : entity_.tensors()) {
      std::string_view parameter = e.name;
      if (parameter.starts_with(kState)) continue;
      if (parameter.ends_with(kMaster)) parameter.remove_suffix(kMaster.size());
      if (!wanted.contains(parameter)) extra.push_back(e.name);
    }
    if (missing.empty() && extra.empty()) return {};
    std::string what;
    if (!missing.empty()) what = "lacks tensors that its topology asks for: " + listed(missing);
    if (!extra.empty())
      what += (what.empty() ? "" : "; ") +
              std::string("holds tensors that its topology does not know: ") + listed(extra);
    return corrupt(what);
  }

  Status check_tensor(const Network::NamedParam& p) const {
    const ParamSpec& spec = p.param->spec;
    const EntityEntry& e = *entity_.find_tensor(name_of(p));
    const std::vector<std::int64_t> shape = {spec.rows, spec.cols};
    const auto check_shape = [&](const EntityEntry& entry) {
      if (entry.shape == shape) return Status();
      return corrupt(message(describe(entry), ": has shape ", shape_text(entry.shape),
                             ", the parameter of the topology has ", shape_text(shape)));
    };
    LOOM_TRY(check_shape(e));
    if (e.type.packed ? is_plain(e.type.format) || !spec.quantized : !is_plain(e.type.format))
      return corrupt(message(describe(e), ": is ", to_string(e.type), ", expected ",
                             (spec.quantized ? "a packed matrix, f32 or f64" : "f32 or f64")));
    if (const EntityEntry* master = entity_.find_tensor(e.name + std::string(kMaster))) {
      LOOM_TRY(check_shape(*master));
      if (master->type.packed || !is_plain(master->type.format))
        return corrupt(
            message(describe(*master), ": is ", to_string(master->type), ", expected f32 or f64"));
    }
    // The dtype of a layer in the topology is that of its first matrix.
    const auto& params = p.node->params;
    const auto first =
        std::find_if(params.begin(), params.end(), [](const Param& q) { return q.spec.quantized; });
    if (first != params.end() && &*first == p.param && e.type.format != p.node->format)
      return corrupt(message(describe(e), ": is ", to_string(e.type), ", the topology says ",
                             to_string(p.node->format)));
    return {};
  }

  Result<WeightStore> plain_store(const EntityEntry& e) const {
    auto store = [&]() -> Result<WeightStore> {
      if (e.type.format.dtype == DType::f32) {
        LOOM_ASSIGN(std::vector<float> values, entity_.f32(e.name));
        return WeightStore::from_f32(e.shape[0], e.shape[1], std::move(values));
      }
      LOOM_ASSIGN(std::vector<double> values, entity_.f64(e.name));
      return WeightStore::from_f64(e.shape[0], e.shape[1], std::move(values));
    }();
    return store;
  }

  Result<WeightStore> store_of(const Network::NamedParam& p) const {
    const EntityEntry& e = *entity_.find_tensor(name_of(p));
    const EntityEntry* master =
        options_.masters ? entity_.find_tensor(e.name + std::string(kMaster)) : nullptr;
    if (!e.type.packed && !master) return plain_store(e);
    LOOM_ASSIGN(const EntityBytes raw, entity_.tensor(e.name));
    if (!master) {
      auto packed = PackedMatrix::wrap(e.type.format, e.shape[0], e.shape[1], raw.bytes, raw.owner);
      const Status status = packed.ok() ? packed->check() : packed.status();
      if (!status.ok()) return corrupt(message(describe(e), ": ", status.message()));
      return WeightStore::from_packed(std::move(*packed));
    }
    LOOM_ASSIGN(WeightStore store, plain_store(*master));
    if (const Status status = store.morph(e.type.format); !status.ok())
      return corrupt(message(describe(*master), ": ", status.message()));
    if (!e.type.packed) return store;
    LOOM_ASSIGN(const PackedMatrix packed, store.packed());
    if (!std::ranges::equal(packed.bytes(), raw.bytes))
      return corrupt(message(describe(e), ": is not what its master values give when packed"));
    return store;
  }

  const Entity& entity_;
  LoadOptions options_;
};

}  // namespace

Status save_network(const Destination& to, Network& network, const EntitySections& extra,
                    const SaveOptions& options) {
  LOOM_ASSIGN(EntityWriter writer, EntityWriter::create(to));
  const std::string topology = network.to_json().dump();
  LOOM_TRY(writer.section(std::string(kTopology), as_bytes(topology)));
  for (const auto& [name, bytes] : extra.bytes) LOOM_TRY(writer.section(name, as_bytes(bytes)));
  LOOM_TRY(add_parameters(writer, to.path, network, options.keep_master));
  for (const StateTensor& t : options.state) {
    const std::string name = std::string(kState) + t.name;
    if (!t.f32.empty() && !t.f64.empty())
      return Status(Code::invalid_argument,
                    message(to.path, ": tensor ", quoted(name), ": has f32 and f64 values"));
    LOOM_TRY(t.f64.empty()
                 ? writer.tensor(name, TensorType::plain(DType::f32), t.shape, elements(t.f32))
                 : writer.tensor(name, TensorType::plain(DType::f64), t.shape, elements(t.f64)));
  }
  return writer.finish();
}

Result<Network> plan_network(const Entity& entity) { return Loader(entity, {}).plan(); }
Result<Network> load_network(const Entity& entity, const LoadOptions& options) {
  return Loader(entity, options).load();
}

Result<Network> copy_network(Network& network) {
  std::vector<std::byte> file;
  SaveOptions options;
  options.keep_master = true;
  LOOM_TRY(save_network(&file, network, {}, options));
  LOOM_ASSIGN(const Entity entity, Entity::open(source_from_bytes(std::move(file), "(copy)")));
  return load_network(entity);
}

}  // namespace loom
