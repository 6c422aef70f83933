#include "bridge/pushes/layout.h"

#include <map>
#include <span>

#include "base/files/source.h"
#include "bridge/replies/reply.h"
#include "checkpoint/checksum.h"
#include "checkpoint/entity.h"
#include "checkpoint/layout.h"

namespace loom::bridge {
namespace {

using namespace entity_layout;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
void check(const Status& status) {
  if (!status.ok())
    refuse(status_of(static_cast<std::int32_t>(status.code())), code_name(status.code()),
           status.message());
}

// The table of contents of the file that a push makes, and which tensor each entry is of.
struct Contents {
  std::vector<EntityEntry> entries;
  std::vector<std::size_t> tensors;  // of each entry: of the push; npos of sections
  Header header;
};
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

void place(Contents& c) {
  c.header = {0, kHeader, sizeof(Sha256::Digest)};
  for (EntityEntry& e : c.entries) {
    e.offset = c.header.toc_offset;
    c.header.toc_offset = (e.offset + e.size + kAlignment - 1) / kAlignment * kAlignment;
    c.header.toc_size += entry_size(e);
  }
  c.header.file_size = c.header.toc_offset + c.header.toc_size;
}

Contents contents_of(const Push& push, const std::string& topology, const Json& parameters) {
  Contents c;
  const auto section = [&](const char* name, const std::string& text) {
    EntityEntry e;
    e.name = name;
    e.size = text.size();
    e.checksum = Xxh64::of(bytes_of(text));
    e.sha256 = Sha256::of(bytes_of(text));
    c.entries.push_back(std::move(e));
    c.tensors.push_back(kNone);
  };
  section("topology", topology);
  if (!push.inputs.empty()) section("inputs", push.inputs);
  if (!push.metadata.empty()) section("provenance", push.metadata);
  std::map<std::string_view, std::size_t> sent;
  for (std::size_t i = 0; i < push.tensors.size(); ++i) sent[push.tensors[i].parameter] = i;
  for (const Json& p : parameters.as_array()) {
    if (cli::flag_in(p, "tied")) continue;
    EntityEntry e;
    e.name = cli::text_in(p, "path") + ":" + cli::text_in(p, "role");
    e.is_tensor = true;
    e.shape = {cli::integer_in(p, "rows"), cli::integer_in(p, "cols")};
    const std::size_t tensor = sent.at(e.name);
    e.type = TensorType::plain(push.tensors[tensor].dtype == "f64" ? DType::f64 : DType::f32);
    e.size = push.tensors[tensor].bytes;
    c.entries.push_back(std::move(e));
    c.tensors.push_back(tensor);
  }
  place(c);
  return c;
}

// The network keeps what comes, to the bit and in its order.
bool is_direct(const Push& push, const Json& parameters) {
  if (push.topology.empty()) return false;
  std::map<std::string, std::string> formats;
  for (const Json& p : parameters.as_array())
    formats[cli::text_in(p, "path") + ":" + cli::text_in(p, "role")] = cli::text_in(p, "format");
  for (const PushTensor& t : push.tensors)
    if ((t.dtype != "f32" && t.dtype != "f64") || formats[t.parameter] != t.dtype) return false;
  return true;
}

}  // namespace

SpoolLayout layout_of(const Push& push, const std::string& topology, const Json& parameters) {
  SpoolLayout layout;
  layout.offsets.resize(push.tensors.size());
  layout.direct = is_direct(push, parameters);
  if (!layout.direct) {
    for (std::size_t i = 0; i < push.tensors.size(); ++i) layout.offsets[i] = push.tensors[i].begin;
    layout.size = push.bytes;
    return layout;
  }
  const Contents c = contents_of(push, topology, parameters);
  for (std::size_t i = 0; i < c.entries.size(); ++i)
    if (c.tensors[i] != kNone) layout.offsets[c.tensors[i]] = c.entries[i].offset;
  layout.size = c.header.file_size;
  return layout;
}

std::vector<std::pair<std::uint64_t, std::string>> frame_of(const Push& push,
                                                            const std::string& topology,
                                                            const Json& parameters,
                                                            const std::vector<TensorHash>& hashes) {
  Contents c = contents_of(push, topology, parameters);
  std::vector<std::pair<std::uint64_t, std::string>> frame;
  frame.emplace_back(0, text_of(header_bytes(c.header)));
  std::vector<const EntityEntry*> entries;
  for (std::size_t i = 0; i < c.entries.size(); ++i) {
    EntityEntry& e = c.entries[i];
    if (c.tensors[i] != kNone) {
      e.checksum = hashes[c.tensors[i]].xxh64;
      e.sha256 = hashes[c.tensors[i]].sha256;
    } else {
      frame.emplace_back(e.offset, e.name == "topology" ? topology
                                   : e.name == "inputs" ? push.inputs
                                                        : push.metadata);
    }
    entries.push_back(&e);
  }
  frame.emplace_back(c.header.toc_offset, text_of(toc_bytes(entries)));
  return frame;
}

std::string checked_identity(const std::string& path) {
  const auto source = open_source(path);
  check(source.status());
  const auto entity = Entity::open(*source);
  check(entity.status());
  check(plan_network(*entity).status());
  return Sha256::hex(entity->identity());
}

void copy_with_section(const std::string& from, const std::string& to, const std::string& name,
                       const std::string& bytes) {
  const auto source = open_source(from);
  check(source.status());
  const auto entity = Entity::open(*source);
  check(entity.status());
  auto writer = EntityWriter::create(to);
  check(writer.status());
  std::map<std::string, std::string> sections;
  for (const EntityEntry& e : entity->sections())
    if (e.name != "topology") {
      const auto text = entity->text(e.name);
      check(text.status());
      sections[e.name] = *text;
    }
  sections[name] = bytes;
  const auto topology = entity->text("topology");
  check(topology.status());
  check(writer->section("topology", bytes_of(*topology)));
  for (const auto& [key, text] : sections) check(writer->section(key, bytes_of(text)));
  for (const EntityEntry& e : entity->tensors())
    check(writer->tensor(e.name, e.type, e.shape, [&](const EntityWriter::Sink& sink) -> Status {
      const auto tensor = entity->tensor(e.name);
      return tensor.ok() ? sink(tensor->bytes) : tensor.status();
    }));
  check(writer->finish());
}

}  // namespace loom::bridge
