// The .entity file, version 2: a network, its weights in the layout that runs, and what belongs to
// it (tokenizer, chat template, training state) in one file. docs/reference/entity.md has every
// byte.
//
// EntityWriter and Entity know the file; save_network and load_network know what a network puts
// into it. An Entity is immutable and shared: copies are cheap, any thread may read. A writer
// belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/sha256.h"
#include "base/files/source.h"
#include "base/json/json.h"
#include "base/status.h"
#include "grid/network.h"
#include "numeric/weight_format.h"

namespace loom {

// How a tensor's bytes are to be read: little-endian elements, row-major, of a dtype of at least 8
// bits; or a matrix in its packed layout.
struct TensorType {
  WeightFormat format;
  bool packed = false;
  static TensorType plain(DType dtype) {
    return {{dtype, Layout::plain, ScaleKind::none, 0}, false};
  }
  static TensorType matrix(const WeightFormat& format) { return {format, true}; }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};
// "f32", "packed i4"
std::string to_string(const TensorType& type);
// Bytes of a tensor. Errors: invalid_argument for a type or shape that a file cannot hold,
// out_of_range where the size overflows.
Result<std::uint64_t> tensor_size(const TensorType& type, std::span<const std::int64_t> shape);

// One row of the table of contents.
struct EntityEntry {
  std::string name;
  bool is_tensor = false;           // false: a section
  TensorType type;                  // of tensors
  std::vector<std::int64_t> shape;  // of tensors, outermost first
  std::uint64_t offset = 0, size = 0;
  std::uint64_t checksum = 0;  // XXH64: checked when the bytes are first touched
  Sha256::Digest sha256{};     // identity: checked by verify_all
};

// Bytes of a section or tensor. `owner` keeps them alive: the file's mapping where there is one,
// else a separate buffer.
struct EntityBytes {
  std::span<const std::byte> bytes;  // of a tensor: at a multiple of 64 in memory
  std::shared_ptr<const void> owner;
};

class EntityWriter {
 public:
  using Sink = std::function<Status(std::span<const std::byte>)>;
  using Producer = std::function<Status(const Sink& sink)>;

  // The file appears, or changes, when finish() succeeds and not before. A writer given up leaves
  // nothing behind; a killed one leaves its temporary file, which the next create() for the same
  // path removes.
  static Result<EntityWriter> create(const Destination& to);

  // Entries lie in the file in the order of these calls. Bytes are borrowed until finish(). Errors:
  // invalid_argument for a name that stands twice or is not one, for a size that contradicts the
  // shape.
  Status section(std::string name, std::span<const std::byte> bytes);
  Status tensor(std::string name, const TensorType& type, std::vector<std::int64_t> shape,
                std::span<const std::byte> bytes);
  // Bytes made when their turn comes, within finish(), in any number of pieces.
  Status tensor(std::string name, const TensorType& type, std::vector<std::int64_t> shape,
                Producer produce);

  // Writes everything, once through. The writer is spent afterwards.
  Status finish();

 private:
  struct Pending {
    EntityEntry entry;
    Producer produce;
  };
  EntityWriter(std::string name, std::unique_ptr<ByteSink> file)
      : name_(std::move(name)), file_(std::move(file)) {}
  Result<EntityEntry> tensor_entry(std::string name, const TensorType& type,
                                   std::vector<std::int64_t> shape) const;
  Status add(Pending pending);
  Status refuse(const EntityEntry& entry, std::string_view why) const;

  std::string name_;
  std::unique_ptr<ByteSink> file_;
  std::vector<Pending> pending_;
  std::set<std::pair<bool, std::string>> names_;  // tensor or section, and its name
};

class Entity {
 public:
  // Reads header and table of contents alone: checked completely, or refused. Errors: truncated
  // with both sizes, corrupt, unsupported for another version and for what is no .entity file.
  static Result<Entity> open(SourcePtr source);

  const std::string& name() const;                   // of the source
  std::uint64_t size() const;                        // bytes of the file
  const std::vector<EntityEntry>& sections() const;  // in file order
  const std::vector<EntityEntry>& tensors() const;
  const EntityEntry* find_section(std::string_view name) const;  // nullptr where absent
  const EntityEntry* find_tensor(std::string_view name) const;
  // SHA-256 of the table of contents, which holds the SHA-256 of everything else: names the whole
  // content without reading it.
  const Sha256::Digest& identity() const;

  // Checked against their checksum: once where the source is mapped, at each call where it is read.
  // Errors: not_found, corrupt.
  Result<EntityBytes> section(std::string_view name) const;
  Result<EntityBytes> tensor(std::string_view name) const;
  // A section as text or JSON.
  Result<std::string> text(std::string_view section) const;
  Result<Json> json(std::string_view section) const;
  // Values of a plain tensor of this very type.
  Result<std::vector<float>> f32(std::string_view tensor) const;
  Result<std::vector<double>> f64(std::string_view tensor) const;

  // Reads the whole file: every checksum, every SHA-256, and that what lies between is zero.
  Status verify_all() const;

 private:
  struct State;
  Result<EntityBytes> bytes_of(std::size_t index, const EntityEntry& entry) const;
  std::shared_ptr<const State> state_;
};

// What a file holds beside weights. Names the house uses: "tokenizer" (binary), "generation"
// (JSON), "chat_template" (text), "provenance" (JSON), "training" (JSON). Others are kept.
struct EntitySections {
  Json topology;  // as read; save_network writes the network's own
  std::map<std::string, std::string, std::less<>> bytes;  // by name; any bytes
};
// All sections of a file. Give them to save_network to keep those that nobody here knows.
Result<EntitySections> read_sections(const Entity& entity);
// Those that go with its network into another file: all but the topology, which is the network's
// own, and "training", which says nothing without the moments that lie beside it.
Result<EntitySections> kept_sections(const Entity& entity);

// A tensor of training state, for example a moment of an optimizer. Borrowed while saving; one of
// the two is empty.
struct StateTensor {
  std::string name;  // in the file: "training/" and this
  std::vector<std::int64_t> shape;
  std::span<const float> f32;
  std::span<const double> f64;
};

struct SaveOptions {
  bool keep_master = false;  // beside packed matrices their master values, as "path:role:master"
  std::vector<StateTensor> state;
};
// Topology, sections by name, parameters as "path:role" in network order (tied ones once, under
// their owner's name), training state. f32 and f64 parameters lie as they are, others packed. The
// bytes depend on these alone. Errors: invalid_argument, io; then all is as it was.
Status save_network(const Destination& to, Network& network, const EntitySections& extra = {},
                    const SaveOptions& options = {});

struct LoadOptions {
  bool masters = true;  // where the file has them: for training on. false: only what runs
};
// The network of the file without its weights: topology and table of contents, held against each
// other. Errors: those that load_network has before it reads a weight.
Result<Network> plan_network(const Entity& entity);
// The network, complete or refused. Packed matrices stay in the mapped file; parameters of f32 and
// f64 are copied. Errors name the cell or the tensor: corrupt for damage, for what no encoder
// writes (PackedMatrix::check) and for tensors that contradict the topology.
Result<Network> load_network(const Entity& entity, const LoadOptions& options = {});
// An independent network with the same topology and values, masters included, by way of a file in
// memory.
Result<Network> copy_network(Network& network);

}  // namespace loom
