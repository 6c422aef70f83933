#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>

#include "base/files/bytes.h"
#include "base/message.h"
#include "checkpoint/checksum.h"
#include "checkpoint/entity.h"
#include "checkpoint/layout.h"
#include "formats/sniff.h"
#include "formats/tensor_file.h"

namespace loom {

using namespace entity_layout;

struct Entity::State {
  SourcePtr source;
  Header header;
  Sha256::Digest identity{};
  std::vector<EntityEntry> sections, tensors;
  std::vector<std::uint32_t> by_name[2];  // indices of sections, of tensors
  // One flag per section, then per tensor: the mapped bytes matched their checksum.
  std::unique_ptr<std::atomic<bool>[]> checked;

  Status error(Code code, const std::string& what) const {
    return Status(code, source->name() + ": " + what);
  }
};

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

// A buffer at a multiple of 64, or nothing where there is no memory for it.
std::shared_ptr<std::byte> aligned_buffer(std::size_t size) {
  constexpr std::align_val_t kAlign{kAlignment};
  auto* p =
      static_cast<std::byte*>(::operator new(std::max<std::size_t>(size, 1), kAlign, std::nothrow));
  if (!p) return nullptr;
  return std::shared_ptr<std::byte>(p, [](std::byte* q) { ::operator delete(q, kAlign); });
}

std::vector<std::uint32_t> order_by_name(const std::vector<EntityEntry>& entries) {
  std::vector<std::uint32_t> order(entries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return entries[a].name < entries[b].name; });
  return order;
}

const EntityEntry* find_by_name(const std::vector<EntityEntry>& entries,
                                const std::vector<std::uint32_t>& order, std::string_view name) {
  const auto at = std::lower_bound(
      order.begin(), order.end(), name,
      [&](std::uint32_t i, std::string_view wanted) { return entries[i].name < wanted; });
  return at != order.end() && entries[*at].name == name ? &entries[*at] : nullptr;
}

// Calls `use` with the bytes [offset, offset + size), in pieces where the source is read.
template <class Use>
Status for_bytes(const ByteSource& source, std::uint64_t offset, std::uint64_t size,
                 const Use& use) {
  if (const auto view = source.view(); !view.empty()) {
    use(view.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size)));
    return source.intact();
  }
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(size, kChunk)));
  while (size > 0) {
    const auto piece =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(size, kChunk)));
    LOOM_TRY(source.read(offset, piece));
    use(std::span<const std::byte>(piece));
    offset += piece.size();
    size -= piece.size();
  }
  return {};
}

template <class T>
Result<std::vector<T>> plain_values(const Entity& entity, std::string_view name, DType dtype) {
  const EntityEntry* entry = entity.find_tensor(name);
  if (entry && entry->type != TensorType::plain(dtype))
    return Status(Code::invalid_argument,
                  message(entity.name(), ": ", describe(*entry), ": is ", to_string(entry->type),
                          ", expected ", loom::name(dtype)));
  LOOM_ASSIGN(const EntityBytes raw, entity.tensor(name));
  std::vector<T> values(raw.bytes.size() / sizeof(T));
  if constexpr (std::endian::native == std::endian::little) {
    if (!values.empty()) std::memcpy(values.data(), raw.bytes.data(), raw.bytes.size());
  } else {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = load_le<T>(raw.bytes.data() + i * sizeof(T));
  }
  return values;
}

}  // namespace

Result<Entity> Entity::open(SourcePtr source) {
  std::array<std::byte, kHeader> first{};
  const auto present = std::span(first).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(kHeader, source->size())));
  LOOM_TRY(source->read(0, present));
  const auto refuse = [&](Code code, const std::string& what) {
    return Status(code, source->name() + ": " + what);
  };
  if (as_text(present).starts_with(kMagicV1))
    return refuse(Code::unsupported, "is an entity v1 file of the Go engine: unsupported");
  LOOM_TRY(expect_kind(*source, FileKind::entity));
  if (present.size() < kHeader)
    return refuse(Code::truncated, "the header of an .entity file takes 64 bytes, the file has " +
                                       std::to_string(source->size()));
  auto state = std::make_shared<State>();
  auto header = parse_header(first, source->size());
  if (!header.ok()) return header.status().at(source->name());
  state->header = *header;
  std::vector<std::byte> toc(static_cast<std::size_t>(header->toc_size));
  LOOM_TRY(source->read(header->toc_offset, toc));
  auto entries = parse_toc(toc, *header);
  if (!entries.ok()) return entries.status().at(source->name());
  std::copy_n(toc.end() - sizeof(Sha256::Digest), sizeof(Sha256::Digest),
              reinterpret_cast<std::byte*>(state->identity.data()));
  for (EntityEntry& e : *entries)
    (e.is_tensor ? state->tensors : state->sections).push_back(std::move(e));
  state->by_name[0] = order_by_name(state->sections);
  state->by_name[1] = order_by_name(state->tensors);
  state->checked = std::make_unique<std::atomic<bool>[]>(entries->size());
  state->source = std::move(source);
  Entity entity;
  entity.state_ = std::move(state);
  return entity;
}

const std::string& Entity::name() const { return state_->source->name(); }
std::uint64_t Entity::size() const { return state_->header.file_size; }
const std::vector<EntityEntry>& Entity::sections() const { return state_->sections; }
const std::vector<EntityEntry>& Entity::tensors() const { return state_->tensors; }
const EntityEntry* Entity::find_section(std::string_view name) const {
  return find_by_name(state_->sections, state_->by_name[0], name);
}
const EntityEntry* Entity::find_tensor(std::string_view name) const {
  return find_by_name(state_->tensors, state_->by_name[1], name);
}
const Sha256::Digest& Entity::identity() const { return state_->identity; }

Result<EntityBytes> Entity::bytes_of(std::size_t index, const EntityEntry& entry) const {
  EntityBytes out;
  std::atomic<bool>* checked = nullptr;
  const auto view = state_->source->view();
  const auto size = static_cast<std::size_t>(entry.size);
  if (!view.empty() &&
      (!entry.is_tensor || reinterpret_cast<std::uintptr_t>(view.data()) % kAlignment == 0)) {
    out = {view.subspan(static_cast<std::size_t>(entry.offset), size), state_->source};
    checked = &state_->checked[index];
    if (checked->load(std::memory_order_relaxed)) {
      LOOM_TRY(state_->source->intact());
      return out;
    }
  } else {
    const std::shared_ptr<std::byte> buffer = aligned_buffer(size);
    if (!buffer)
      return state_->error(Code::out_of_memory, describe(entry) + ": no memory for its " +
                                                    std::to_string(size) + " bytes");
    LOOM_TRY(state_->source->read(entry.offset, {buffer.get(), size}));
    out = {{buffer.get(), size}, buffer};
  }
  const bool same = Xxh64::of(out.bytes) == entry.checksum;
  LOOM_TRY(state_->source->intact());
  if (!same)
    return state_->error(Code::corrupt, describe(entry) + ": its " + std::to_string(entry.size) +
                                            " bytes at offset " + std::to_string(entry.offset) +
                                            " do not match their checksum");
  if (checked) checked->store(true, std::memory_order_relaxed);
  return out;
}

Result<EntityBytes> Entity::section(std::string_view name) const {
  const EntityEntry* entry = find_section(name);
  if (!entry) return state_->error(Code::not_found, "has no section " + quoted(name));
  return bytes_of(static_cast<std::size_t>(entry - sections().data()), *entry);
}

Result<EntityBytes> Entity::tensor(std::string_view name) const {
  const EntityEntry* entry = find_tensor(name);
  if (!entry) return state_->error(Code::not_found, "has no tensor " + quoted(name));
  return bytes_of(sections().size() + static_cast<std::size_t>(entry - tensors().data()), *entry);
}

Result<std::string> Entity::text(std::string_view name) const {
  LOOM_ASSIGN(const EntityBytes raw, section(name));
  return std::string(as_text(raw.bytes));
}

Result<Json> Entity::json(std::string_view name) const {
  LOOM_ASSIGN(const EntityBytes raw, section(name));
  auto json =
      Json::parse(as_text(raw.bytes),
                  {.max_depth = 128});  // layers nest up to 32 deep, two levels of JSON each
  if (!json.ok())
    return state_->error(Code::corrupt, "section " + quoted(name) + ": " + json.status().message());
  return json;
}

Result<std::vector<float>> Entity::f32(std::string_view name) const {
  return plain_values<float>(*this, name, DType::f32);
}
Result<std::vector<double>> Entity::f64(std::string_view name) const {
  return plain_values<double>(*this, name, DType::f64);
}

Status Entity::verify_all() const {
  std::vector<const EntityEntry*> order;
  for (const auto* entries : {&sections(), &tensors()})
    for (const EntityEntry& e : *entries) order.push_back(&e);
  std::sort(order.begin(), order.end(), [](const EntityEntry* a, const EntityEntry* b) {
    return a->offset != b->offset ? a->offset < b->offset : a->size < b->size;
  });
  for (const EntityEntry* e : order) {
    Xxh64 checksum;
    Sha256 sha;
    LOOM_TRY(for_bytes(*state_->source, e->offset, e->size, [&](std::span<const std::byte> bytes) {
      checksum.update(bytes);
      sha.update(bytes);
    }));
    if (checksum.finish() != e->checksum || sha.finish() != e->sha256)
      return state_->error(Code::corrupt, describe(*e) + ": its " + std::to_string(e->size) +
                                              " bytes at offset " + std::to_string(e->offset) +
                                              " do not match their hashes");
    const std::uint64_t end = e->offset + e->size;
    bool zero = true;
    LOOM_TRY(for_bytes(*state_->source, end, align_up(end, kAlignment) - end,
                       [&](std::span<const std::byte> bytes) {
                         zero = zero && std::all_of(bytes.begin(), bytes.end(),
                                                    [](std::byte b) { return b == std::byte{0}; });
                       }));
    if (!zero)
      return state_->error(Code::corrupt, "the padding behind " + describe(*e) + " at offset " +
                                              std::to_string(end) + " is not zero");
  }
  return {};
}

Result<EntitySections> read_sections(const Entity& entity) {
  EntitySections out;
  for (const EntityEntry& e : entity.sections()) {
    if (e.name == "topology") {
      LOOM_ASSIGN(out.topology, entity.json(e.name));
    } else {
      LOOM_ASSIGN(out.bytes[e.name], entity.text(e.name));
    }
  }
  return out;
}

Result<EntitySections> kept_sections(const Entity& entity) {
  LOOM_ASSIGN(EntitySections kept, read_sections(entity));
  kept.topology = Json();
  kept.bytes.erase("training");
  return kept;
}

}  // namespace loom
