// The .entity reader and the loading of networks. Hashes would stop a fuzzer at once, so this one
// makes them right again behind each mutation. Three kinds of input: a whole file ("LOOMENT2...");
// a topology ("{..."), which becomes a file with the tensors it asks for, all zero; and anything
// else: patches of 12 bytes (u32 place, u8 width, 3 unused, u32 value) to the file of a small
// decoder.
#include <string>

#include "base/files/bytes.h"
#include "checkpoint/entity.h"
#include "checkpoint/layout.h"
#include "entity_repair.h"
#include "fuzz.h"
#include "mutate.h"

namespace {

using namespace loom;
using namespace loom::entity_layout;

constexpr std::uint64_t kLargest = 1 << 16;  // bytes of the tensors a topology may ask for here

constexpr std::string_view kDecoder =
    R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":11},"head":[0,0,0,2],"cells":[
{"at":[0,0,0,0],"type":"embedding","out":8,"dtype":"i8"},
{"at":[0,0,0,1],"type":"sequential","layers":[{"type":"sequential","layers":[{"type":"rms_norm","eps":1e-5},{"type":"attention","heads":2,"kv_heads":1,"head_dim":4}]},
{"type":"residual"},{"type":"swiglu","hidden":12,"dtype":"i4"},{"type":"layer_norm"},{"type":"dense","out":8,"dtype":"f64"}]},
{"at":[0,0,0,2],"type":"rms_norm"},{"at":[0,0,0,3],"type":"dense","out":11,"bias":false,"tie":"0.0.0.0:weight"}]})";

// A file in memory; what the writer would make, checksums aside.
std::string build(std::string_view topology, std::vector<EntityEntry> tensors) {
  EntityEntry section;
  section.name = "topology";
  section.size = topology.size();
  tensors.insert(tensors.begin(), section);
  Header header{0, kHeader, sizeof(Sha256::Digest)};
  std::vector<const EntityEntry*> entries;
  for (EntityEntry& e : tensors) {
    e.offset = header.toc_offset;
    header.toc_offset = align_up(e.offset + e.size, kAlignment);
    header.toc_size += entry_size(e);
    entries.push_back(&e);
  }
  header.file_size = header.toc_offset + header.toc_size;
  std::string file(static_cast<std::size_t>(header.toc_offset), '\0');
  std::memcpy(file.data(), header_bytes(header).data(), kHeader);
  file.replace(kHeader, topology.size(), topology);
  return file += as_text(toc_bytes(entries));
}

std::string build(std::string_view topology) {
  std::vector<EntityEntry> tensors;
  std::uint64_t total = 0;
  if (const auto json = Json::parse(topology); json.ok()) {
    if (auto network = Network::from_json(*json, kLargest); network.ok()) {
      for (const auto& p : network->params()) {
        if (p.borrowed()) continue;
        const ParamSpec& spec = p.param->spec;
        EntityEntry e;
        e.name = p.path + ":" + spec.role;
        e.is_tensor = true;
        const WeightFormat format = spec.quantized ? p.node->format : WeightFormat{};
        e.type = {format, format.dtype != DType::f32 && format.dtype != DType::f64};
        e.shape = {spec.rows, spec.cols};
        const auto size = tensor_size(e.type, e.shape);
        if (!size.ok() || *size > kLargest || (total += *size) > kLargest)
          return build(topology, {});
        e.size = *size;
        tensors.push_back(std::move(e));
      }
    }
  }
  return build(topology, std::move(tensors));
}

void check(const std::string& file) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
  const auto mapped = Entity::open(fuzz::view_source(data, file.size())),
             called = Entity::open(fuzz::callback_source(data, file.size()));
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (!mapped.ok()) return fuzz::check_refusal(mapped.status());
  FUZZ_CHECK(mapped->verify_all().to_string() == called->verify_all().to_string());
  std::uint64_t total = 0;
  for (const EntityEntry& e : mapped->tensors()) {
    FUZZ_CHECK(e.offset <= file.size() && e.size <= file.size() - e.offset &&
               tensor_size(e.type, e.shape).ok() && *tensor_size(e.type, e.shape) == e.size);
    FUZZ_CHECK(mapped->find_tensor(e.name) == &e);
    const auto a = mapped->tensor(e.name), b = called->tensor(e.name);
    FUZZ_CHECK(a.ok() == b.ok());
    FUZZ_CHECK(!a.ok() || std::ranges::equal(a->bytes, b->bytes));
    total += e.size;
  }
  FUZZ_CHECK(total <= file.size());  // no two tensors share bytes
  auto first = load_network(*mapped), second = load_network(*called);
  FUZZ_CHECK(first.status().to_string() == second.status().to_string());
  if (!first.ok()) {
    if (first.status().code() != Code::not_found)
      fuzz::check_refusal(first.status());  // not_found: no topology
    return;
  }
  const auto a = first->params(), b = second->params();
  FUZZ_CHECK(a.size() == b.size());
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    WeightStore &x = *a[i].param->store, &y = *b[i].param->store;
    if (!a[i].tied) kept += static_cast<std::uint64_t>(x.rows() * x.cols());
    std::vector<double> u(static_cast<std::size_t>(x.rows() * x.cols())), v(u.size());
    FUZZ_CHECK(x.values(std::span<double>(u)).ok() && y.values(std::span<double>(v)).ok());
    FUZZ_CHECK(std::memcmp(u.data(), v.data(), u.size() * sizeof(double)) == 0);
  }
  FUZZ_CHECK(kept <= 8 * file.size());  // no weight that the file does not hold
  FUZZ_CHECK(first->to_json().dump() == second->to_json().dump());
}

}  // namespace

FUZZ_TARGET(data, size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with('{')) {
    std::string file = build(input);
    fuzz::repair(file);
    check(file);
    return;
  }
  std::string file;
  if (input.starts_with(kMagic)) {
    file = input;
    check(file);  // as it is, too
  } else {
    static const std::string base = build(kDecoder);
    file = base;
    fuzz::patch(file, data, size);
  }
  fuzz::repair(file);
  check(file);
}

// Fields of the header and of the table become hostile numbers, what lies between them changes in
// place; the hashes of all are made right above.
FUZZ_MUTATOR(file, dice) {
  if (!file.starts_with(kMagic) || file.size() < kHeader + 64)
    return fuzz::mutate_part(file, 0, file.size());
  const auto toc = static_cast<std::size_t>(load_le<std::uint64_t>(file.data() + 24) % file.size());
  switch (dice.below(3)) {
    case 0: {
      const bool header = dice.one_in(4);
      const std::size_t begin = header ? 8 : toc, size = header ? 48 : file.size() - toc;
      const std::size_t width = dice.one_in(3) ? 4 : 8, at = begin + dice.below(size / 4) * 4;
      char bytes[8];
      store_le<std::uint64_t>(bytes, dice.number());
      if (at + width <= file.size()) std::memcpy(file.data() + at, bytes, width);
      break;
    }
    case 1:
      fuzz::mutate_in_place(file, kHeader, std::min<std::size_t>(1024, file.size() - kHeader));
      break;
    default: fuzz::mutate_in_place(file, toc, file.size() - toc);
  }
}
