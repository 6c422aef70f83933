#include "llm/import/import.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <new>
#include <optional>
#include <set>

#include "base/files/bytes.h"
#include "base/message.h"
#include "base/threads/thread_pool.h"
#include "llm/config/architecture.h"
#include "numeric/packed/exact.h"
#include "numeric/packed/quantize.h"

namespace loom {
namespace {

// Buffers that old checkpoints saved although they are computed, and what the configuration already
// took.
bool is_leftover(std::string_view name, Naming naming) {
  if (naming == Naming::gguf) return name == "rope_freqs.weight";
  for (const std::string_view end :
       {".rotary_emb.inv_freq", ".rotary_emb.cos_cached", ".rotary_emb.sin_cached"})
    if (name.ends_with(end)) return true;
  return false;
}

bool holds_weights(StorageType type) {
  switch (type) {
    case StorageType::f64:
    case StorageType::f32:
    case StorageType::f16:
    case StorageType::bf16:
    case StorageType::q4_0:
    case StorageType::q8_0:
    case StorageType::q4_k:
    case StorageType::q6_k: return true;
    default: return false;  // integers and fp8 have scales in other tensors
  }
}

// The format in which blocks of a GGUF tensor run as they lie.
std::optional<WeightFormat> blocks_format(StorageType type) {
  switch (type) {
    case StorageType::q4_0:
    case StorageType::q8_0:
    case StorageType::q4_k:
    case StorageType::q6_k: return *parse_weight_format(name(type));
    default: return {};
  }
}

// Row r = h*d + s*d/2 + i is row h*d + 2i + s of the file: rotary pairs (2i, 2i+1) become (i, i +
// d/2).
std::int64_t interleaved_row(std::int64_t r, std::int64_t d) {
  return r - r % d + 2 * (r % d % (d / 2)) + r % d / (d / 2);
}
// Puts all rows in this order.
template <class T>
void deinterleave(std::span<T> values, std::int64_t rows, std::int64_t head_dim) {
  const auto width = values.size() / static_cast<std::size_t>(rows),
             d = static_cast<std::size_t>(head_dim);
  std::vector<T> head(d * width);
  for (std::size_t at = 0; at < values.size(); at += head.size()) {
    std::copy_n(values.data() + at, head.size(), head.data());
    for (std::size_t r = 0; r < d; ++r)
      std::copy_n(head.data() + static_cast<std::size_t>(
                                    interleaved_row(static_cast<std::int64_t>(r), head_dim)) *
                                    width,
                  width, values.data() + at + r * width);
  }
}

}  // namespace

std::string NamedPlace::spelled(Naming naming) const {
  const std::string own(naming == Naming::hf ? name->hf : name->gguf);
  if (block < 0) return own;
  return (naming == Naming::hf ? "model.layers." : "blk.") + std::to_string(block) + "." + own;
}

// The cells of decoder_topology: 0, blocks, norm, output.
NamedPlace place_of(const ModelConfig& config, std::string_view path, std::string_view role) {
  const std::size_t slash = path.find('/');
  std::int64_t cell = 0;
  for (const char c : path.substr(0, slash)) cell = c == '.' ? 0 : cell * 10 + (c - '0');
  const bool block = slash != std::string_view::npos && cell >= 1 && cell <= config.layers;
  const std::string_view place = block                       ? path.substr(slash)
                                 : cell == 0                 ? "embedding"
                                 : cell == config.layers + 1 ? "norm"
                                                             : "output";
  for (const TensorName& name : block ? block_tensors() : model_tensors())
    if (name.place == place && name.role == role) return {&name, block ? cell - 1 : -1};
  return {};
}

Result<bool> same_values(const TensorInfo& a, const TensorInfo& b) {
  bool same = a.shape == b.shape;
  std::vector<float> x(65536), y(65536);
  for (std::uint64_t at = 0; same && at < a.elements(); at += x.size()) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(x.size(), a.elements() - at));
    LOOM_TRY(read_f32(a, at, std::span(x).first(n)));
    LOOM_TRY(read_f32(b, at, std::span(y).first(n)));
    same = std::equal(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n), y.begin());
  }
  return same;
}

namespace {

// The values of a tensor, which a team reads; packing looks for itself whether all are finite.
struct Reading {
  static constexpr std::size_t kWorthATeam = 1 << 16;
  const TensorInfo& tensor;
  std::span<float> values;
  std::atomic<bool> finite = true;

  static Status share(void* context, int worker, int workers) {
    auto* self = static_cast<Reading*>(context);
    constexpr std::size_t kPart = 1 << 14;  // looked at while they are in the cache
    const auto w = static_cast<std::size_t>(worker), of = static_cast<std::size_t>(workers);
    for (std::size_t at = w * kPart; at < self->values.size(); at += of * kPart) {
      const std::span<float> part =
          self->values.subspan(at, std::min(kPart, self->values.size() - at));
      LOOM_TRY(read_f32(self->tensor, at, part));
      if (!within<float>(part, std::numeric_limits<float>::max())) self->finite = false;
    }
    return {};
  }
};

class Importer {
 public:
  Importer(const ModelConfig& config, std::span<const TensorInfo> tensors, Naming naming,
           const WeightFormat& format, GgufBlocks blocks, PackWatch* watch)
      : config_(config),
        tensors_(tensors),
        naming_(naming),
        format_(format),
        blocks_(blocks),
        watch_(watch) {}

  // `values`: read them; otherwise everything but them is looked at.
  Result<Network> run(bool values) {
    values_ = values;
    LOOM_TRY(check_size());
    LOOM_ASSIGN(Network network, Network::from_json(decoder_topology(config_)));
    LOOM_TRY(network.morph(format_));  // no parameter has values yet, so this is its plan alone
    for (const Network::NamedParam& p : network.params())
      if (!p.tied) LOOM_TRY(fill(p));
    if (config_.tied) LOOM_TRY(check_tied());
    for (const TensorInfo& t : tensors_) {
      if (used_.contains(t.name) || is_leftover(t.name, naming_)) continue;
      return Status(Code::unsupported,
                    message("tensor ", quoted(t.name), " ", shape_text(t.shape),
                            " belongs to no parameter of a '", config_.architecture->name, "'"));
    }
    return network;
  }

 private:
  // A configuration that promises more than the file holds is refused before memory is taken for
  // it.
  Status check_size() const {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const double hidden = real(config_.hidden_size), head_dim = real(config_.head_dim);
    const double attention = 2 * head_dim * (real(config_.heads) + real(config_.kv_heads)),
                 mlp = 3 * real(config_.intermediate_size);
    const double expected = hidden * (real(config_.vocab_size) * (config_.tied ? 1 : 2) +
                                      real(config_.layers) * (attention + mlp));
    double held = 0;
    for (const TensorInfo& t : tensors_)
      held += static_cast<double>(t.elements()) * (packed(t) ? 4 : 1);
    if (expected <= held) return {};
    return Status(Code::corrupt,
                  message("the configuration describes at least ", format_double(expected),
                          " weights, the file holds ", format_double(held)));
  }

  // Four ternary values to a byte.
  bool packed(const TensorInfo& t) const {
    return t.type == StorageType::u8 &&
           (config_.ternary == Ternary::multiplies || config_.ternary == Ternary::divides);
  }

  const TensorInfo* find(std::string_view name) const {
    const auto before = [](const TensorInfo& t, std::string_view n) { return t.name < n; };
    const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name, before);
    return at != tensors_.end() && at->name == name ? &*at : nullptr;
  }

  Status fill(const Network::NamedParam& p) {
    const NamedPlace place = place_of(config_, p.path, p.param->spec.role);
    if (place.name) {
      LOOM_TRY(fill(*p.param, *place.name, place.spelled(naming_)));
      // A cell has the format of its first matrix, as in a file.
      const auto& of_node = p.node->params;
      const auto first = std::find_if(of_node.begin(), of_node.end(),
                                      [](const Param& q) { return q.spec.quantized; });
      if (values_ && blocks_ == GgufBlocks::keep && first != of_node.end() && &*first == p.param)
        p.node->format = p.param->store->format();
      return {};
    }
    return Status(Code::internal, message("parameter ", p.path, ":", p.param->spec.role,
                                          " has no name in model files"));
  }

  Status fill(const Param& param, const TensorName& name, const std::string& spelling) {
    const TensorInfo* t = find(spelling);
    if (!t) return Status(Code::not_found, message("tensor ", quoted(spelling), " is missing"));
    const ParamSpec& spec = param.spec;
    std::vector<std::int64_t> expected = {spec.rows, spec.cols};
    if (!spec.quantized) expected = {spec.cols};  // a vector
    const bool ternary = spec.quantized && config_.ternary != Ternary::none &&
                         spelling.find(".layers.") != std::string::npos;
    if (ternary && config_.ternary != Ternary::on_load) {
      if (t->type != StorageType::u8)
        return Status(Code::unsupported,
                      message("tensor ", quoted(spelling), " is stored as ", loom::name(t->type),
                              ", the configuration promises ternary values, four to a byte (u8)"));
      if (spec.rows % 4 != 0)
        return Status(Code::unsupported, message("tensor ", quoted(spelling), ": ", spec.rows,
                                                 " rows are not whole bytes of four"));
      expected[0] /= 4;
    }
    if (t->shape != expected) {
      return Status(Code::corrupt,
                    message("tensor ", quoted(spelling), ": the configuration expects ",
                            shape_text(expected), ", the file has ", shape_text(t->shape)));
    }
    if (ternary && packed(*t)) {
      used_.insert(t->name);
      return ternary_of(*t, spec, param.store.get()).at("tensor " + quoted(spelling));
    }
    if (!holds_weights(t->type)) {
      return Status(Code::unsupported,
                    message("tensor ", quoted(spelling), " is stored as ", loom::name(t->type),
                            ", which holds no weights without scales"));
    }
    used_.insert(t->name);
    return values_ ? load(*t, name.order, spec, param.store.get(), ternary) : Status();
  }

  // Rows r, r + rows/4, r + 2 rows/4 and r + 3 rows/4 share a row of bytes, from the low bits up;
  // 0, 1, 2 are -1, 0, 1. They stay ternary where nothing else was asked for, and no f32 of the
  // whole is ever made.
  Status ternary_of(const TensorInfo& t, const ParamSpec& spec, WeightStore* store) {
    const std::string name = t.name + "_scale";
    const TensorInfo* s = find(name);
    if (!s) return Status(Code::not_found, message("its scale ", quoted(name), " is missing"));
    if (s->elements() != 1 || !holds_weights(s->type))
      return Status(Code::corrupt, message(quoted(name), " must be one number"));
    used_.insert(s->name);
    if (!values_) return {};
    float scale = 0;
    LOOM_TRY(read_f32(*s, 0, {&scale, 1}));
    if (config_.ternary == Ternary::divides)
      scale = static_cast<float>(1 / static_cast<double>(scale));
    if (!(scale >= 0x1p-100f && scale <= 0x1p100f))
      return Status(Code::corrupt,
                    message(quoted(name), " is ", format_double(static_cast<double>(scale)),
                            ", which is no scale"));
    WeightFormat format = store->format();
    const bool stays = format == WeightFormat{} || format == default_format(DType::ternary);
    if (stays) format = default_format(DType::ternary);
    const auto cols = static_cast<std::size_t>(spec.cols);
    const std::int64_t quarter = spec.rows / 4;
    const auto read = [&](std::int64_t first, std::span<float> rows) -> Status {
      for (std::size_t at = 0; at < rows.size(); at += cols, ++first) {
        LOOM_TRY(read_f32(t, static_cast<std::uint64_t>(first % quarter) * cols,
                          rows.subspan(at, cols)));
        const unsigned shift = 2 * static_cast<unsigned>(first / quarter);
        for (float& v : rows.subspan(at, cols)) {
          const unsigned code = static_cast<unsigned>(v) >> shift & 3;
          if (code == 3)
            return Status(Code::corrupt,
                          message("row ", first, " has the bits 11, which are no ternary value"));
          v = static_cast<float>(static_cast<int>(code) - 1) * (stays ? 1.0f : scale);
        }
      }
      return {};
    };
    if (format.dtype == DType::f64) {
      std::vector<float> values(static_cast<std::size_t>(spec.rows) * cols);
      LOOM_TRY(read(0, values));
      LOOM_ASSIGN(*store, WeightStore::from_f32(spec.rows, spec.cols, std::move(values)));
      return store->morph(format);
    }
    LOOM_ASSIGN(PackedMatrix matrix,
                PackedMatrix::encode(format, spec.rows, spec.cols, read, team()));
    if (stays) {
      LOOM_ASSIGN(matrix, with_scale(matrix, scale));
    }
    *store = WeightStore::from_packed(std::move(matrix));
    return {};
  }

  // The encoder takes a row's mean magnitude for its scale, which of codes alone is the share of
  // those that are not 0; rows without any keep their 0.
  static Result<PackedMatrix> with_scale(const PackedMatrix& matrix, float scale) {
    constexpr std::align_val_t kAlign{64};
    const std::span<const std::byte> from = matrix.bytes();
    const std::shared_ptr<std::byte> bytes(
        static_cast<std::byte*>(::operator new[](from.size(), kAlign)),
        [](std::byte* p) { ::operator delete[](p, kAlign); });
    std::copy(from.begin(), from.end(), bytes.get());
    for (std::int64_t r = 0; r < matrix.rows(); ++r)
      if (matrix.row_scale(r) != 0)
        store_le(bytes.get() + matrix.layout().scales + static_cast<std::size_t>(r) * sizeof(float),
                 scale);
    return PackedMatrix::wrap(matrix.format(), matrix.rows(), matrix.cols(),
                              {bytes.get(), from.size()}, bytes);
  }

  // The one place where stored elements become a parameter. Formats that run as they are stored
  // replace *store here.
  Status load(const TensorInfo& tensor, RowOrder order, const ParamSpec& spec, WeightStore* store,
              bool ternary) const {
    const auto status = [&]() -> Status {
      WeightFormat format = store->format();
      if (ternary && format == WeightFormat{}) {
        LOOM_ASSIGN(format, parse_weight_format("ternary:tensor"));
      }
      LOOM_TRY(fill_values(tensor, order, spec, format, *store));
      return {};
    }();
    return status.at("tensor " + quoted(tensor.name));
  }

  // The blocks as they lie in the file, where rows are not in another order there.
  Result<WeightStore> blocks_of(const TensorInfo& tensor, const WeightFormat& format,
                                bool interleaved, const ParamSpec& spec) const {
    std::span<const std::byte> bytes = tensor.view();
    std::shared_ptr<const void> owner = tensor.source;
    if (interleaved || bytes.empty()) {
      const auto own = std::make_shared<std::vector<std::byte>>(tensor.size);
      LOOM_TRY(tensor.source->read(tensor.offset, *own));
      if (interleaved) deinterleave(std::span(*own), spec.rows, config_.head_dim);
      bytes = *own;
      owner = own;
    }
    LOOM_ASSIGN(PackedMatrix matrix,
                PackedMatrix::wrap(format, spec.rows, spec.cols, bytes, std::move(owner)));
    LOOM_TRY(matrix.check());
    return WeightStore::from_packed(std::move(matrix));
  }

  Status fill_values(const TensorInfo& tensor, RowOrder order, const ParamSpec& spec,
                     const WeightFormat& format, WeightStore& store) const {
    const bool packs = format.dtype != DType::f32 && format.dtype != DType::f64;
    const bool interleaved = naming_ == Naming::gguf && config_.architecture->gguf_interleaves_qk &&
                             order != RowOrder::plain;
    if (const auto stays = blocks_format(tensor.type);
        stays && spec.quantized && blocks_ == GgufBlocks::keep) {
      LOOM_ASSIGN(store, blocks_of(tensor, *stays, interleaved, spec));
      return {};
    }
    // Rows go through in parts: the tensor is never in memory in f32, but where f32 alone holds it.
    const PackedMatrix::ReadRows read = [&](std::int64_t first, std::span<float> rows) -> Status {
      const auto from = [&](std::int64_t row) {
        return static_cast<std::uint64_t>(row * spec.cols);
      };
      if (!interleaved) return read_f32(tensor, from(first), rows);
      const auto cols = static_cast<std::size_t>(spec.cols);
      for (std::size_t at = 0; at < rows.size(); at += cols)
        LOOM_TRY(read_f32(tensor, from(interleaved_row(first++, config_.head_dim)),
                          rows.subspan(at, cols)));
      return {};
    };
    if (packs) {
      LOOM_ASSIGN(PackedMatrix packed,
                  PackedMatrix::encode(format, spec.rows, spec.cols, read, team()));
      store = WeightStore::from_packed(std::move(packed));
      return watch_ ? watch_->packed(store, read, *team()) : Status();
    }
    if (spec.quantized && format == WeightFormat{}) {
      LOOM_ASSIGN(auto held, pack_exactly(spec.rows, spec.cols, read, team()));
      if (held) {
        store = WeightStore::from_held(std::move(*held));
        return {};
      }
    }
    std::vector<float> values(static_cast<std::size_t>(spec.rows) *
                              static_cast<std::size_t>(spec.cols));
    Reading reading{tensor, values};
    if (values.size() < Reading::kWorthATeam) LOOM_TRY(Reading::share(&reading, 0, 1));
    else LOOM_TRY(team()->run_allocating(&Reading::share, &reading));
    const auto lost = std::find_if(reading.finite ? values.end() : values.begin(), values.end(),
                                   [](float v) { return !(v - v == 0); });
    if (lost != values.end())
      return Status(Code::invalid_argument, message("value ", lost - values.begin(), " is ",
                                                    (*lost != *lost ? "NaN"
                                                     : *lost > 0    ? "infinite"
                                                                    : "-infinite"),
                                                    "; weights are finite numbers"));
    if (interleaved)
      deinterleave(std::span(values), spec.quantized ? spec.rows : spec.cols, config_.head_dim);
    LOOM_ASSIGN(store, WeightStore::from_f32(spec.rows, spec.cols, std::move(values)));
    return store.morph(format, team());
  }

  // A tied model may store its output projection as well, as long as it is the same.
  Status check_tied() {
    const TensorName& table = model_tensors()[0];
    const TensorName& output = model_tensors()[2];
    const TensorInfo *a = find(NamedPlace{&table}.spelled(naming_)),
                     *b = find(NamedPlace{&output}.spelled(naming_));
    if (!b) return {};
    bool same = a->shape == b->shape;
    if (same && values_) {
      LOOM_ASSIGN(same, same_values(*a, *b));
    }
    if (!same) {
      return Status(
          Code::corrupt,
          message(
              "the configuration ties the output projection to the embedding table, but tensor ",
              quoted(b->name), " differs from ", quoted(a->name)));
    }
    used_.insert(b->name);
    return {};
  }

  // Who encode, from the first matrix on that is packed.
  ThreadPool* team() const { return team_ ? &*team_ : &team_.emplace(); }

  const ModelConfig& config_;
  std::span<const TensorInfo> tensors_;
  Naming naming_;
  WeightFormat format_;
  GgufBlocks blocks_;
  PackWatch* watch_;
  bool values_ = true;
  std::set<std::string_view> used_;
  mutable std::optional<ThreadPool> team_;
};

}  // namespace

Result<Network> import_network(const ModelConfig& config, std::span<const TensorInfo> tensors,
                               Naming naming, std::string_view where, const WeightFormat& format,
                               GgufBlocks blocks, PackWatch* watch) {
  const bool leave = watch && config.ternary != Ternary::none;
  auto network =
      Importer(config, tensors, naming, leave ? WeightFormat{} : format, blocks, watch).run(true);
  if (!network.ok()) return network.status().at(where);
  return network;
}

Status check_import(const ModelConfig& config, std::span<const TensorInfo> tensors, Naming naming,
                    std::string_view where) {
  return Importer(config, tensors, naming, {}, GgufBlocks::decode, nullptr)
      .run(false)
      .status()
      .at(where);
}

}  // namespace loom
