#include "formats/torch/torch.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "base/json/json.h"
#include "base/message.h"
#include "formats/sniff.h"
#include "formats/torch/archive.h"
#include "formats/torch/pickle.h"

namespace loom {
namespace {

constexpr std::uint64_t kMaxPickle = std::uint64_t{16} << 20;  // bytes: 100,000 tensors take 10 MB
constexpr std::size_t kMaxDepth = 32, kMaxNames = 200'000;
// Bytes of all tensors in terms of the file's: layers with the same weights are saved once.
constexpr std::uint64_t kMaxShared = 64;
constexpr std::size_t kMaxName = 4096;                            // bytes
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{64} << 20;  // names and texts together

// The elements of a storage that strides choose, one after another.
class StridedSource final : public ByteSource {
 public:
  StridedSource(const PickleTensor& t, SourcePtr source, std::uint64_t first, std::uint64_t size)
      : t_(t), source_(std::move(source)), first_(first), width_(info(t.type).block_bytes) {
    name_ = source_->name();
    size_ = size;
  }
  Status intact() const override { return source_->intact(); }

 protected:
  Status read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::size_t rank = t_.shape.size();
    std::vector<std::uint64_t> at(rank);
    std::uint64_t rest = offset / width_, skip = offset % width_, from = first_;
    for (std::size_t d = rank; d-- > 0;) {
      at[d] = rest % size(d);
      rest /= size(d);
      from += at[d] * stride(d);
    }
    while (!out.empty()) {
      const auto n = std::min<std::size_t>(out.size(), static_cast<std::size_t>(width_ - skip));
      LOOM_TRY(source_->read(from + skip, out.first(n)));
      out = out.subspan(n);
      skip = 0;
      for (std::size_t d = rank; d-- > 0;) {
        from += stride(d);
        if (++at[d] < size(d)) break;
        from -= size(d) * stride(d);
        at[d] = 0;
      }
    }
    return {};
  }

 private:
  std::uint64_t size(std::size_t d) const { return static_cast<std::uint64_t>(t_.shape[d]); }
  std::uint64_t stride(std::size_t d) const {
    return static_cast<std::uint64_t>(t_.strides[d]) * width_;
  }

  PickleTensor t_;
  SourcePtr source_;
  std::uint64_t first_, width_;
};

bool contiguous(const PickleTensor& t) {
  std::int64_t step = 1;
  for (std::size_t d = t.shape.size(); d-- > 0;) {
    if (t.shape[d] != 1 && t.strides[d] != step) return false;
    step *= t.shape[d];  // their product is known to fit
  }
  return true;
}

// Bytes of a storage up to the last element that strides reach; nothing beyond 2^64.
std::optional<std::uint64_t> reach(const PickleTensor& t) {
  std::optional<std::uint64_t> last = t.offset;
  for (std::size_t d = 0; d < t.shape.size() && last; ++d) {
    const auto step = checked_mul(static_cast<std::uint64_t>(t.shape[d] - 1),
                                  static_cast<std::uint64_t>(t.strides[d]));
    last = step ? checked_add(*last, *step) : step;
  }
  if (last) last = checked_add(*last, 1);
  return last ? checked_mul(*last, info(t.type).block_bytes) : last;
}

class Reading {
 public:
  explicit Reading(SourcePtr source) : source_(std::move(source)) {}

  Result<TorchFile> run() {
    LOOM_ASSIGN(zip_, open_zip(*source_));
    LOOM_TRY(find_root());
    LOOM_ASSIGN(const std::string order, text_of("byteorder", 16));
    if (!order.empty() && order != "little")
      return refuse(Code::unsupported, "its bytes are in the order ", quoted(order),
                    ": save it on a little-endian machine");
    LOOM_ASSIGN(const std::string bytes, text_of("data.pkl", kMaxPickle));
    auto pickle = read_pickle(bytes);
    if (!pickle.ok()) return pickle.status().at(source_->name());
    pickle_ = std::move(*pickle);
    begins_.resize(pickle_.storages.size());
    LOOM_TRY(walk(pickle_.root, "", 0));
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::sort(out_.tensors.begin(), out_.tensors.end(), by_name);
    std::sort(out_.metadata.begin(), out_.metadata.end());
    for (std::size_t i = 1; i < out_.tensors.size(); ++i)
      if (out_.tensors[i].name == out_.tensors[i - 1].name)
        return refuse(Code::corrupt, "two tensors are called ", quoted(out_.tensors[i].name));
    return std::move(out_);
  }

 private:
  template <class... Parts>
  Status refuse(Code code, const Parts&... parts) const {
    return Status(code, message(source_->name(), ": ", parts...));
  }

  // All records lie in one folder, whose name is the file's.
  Status find_root() {
    const ZipRecord* found = nullptr;
    for (const ZipRecord& r : zip_.records) {
      const std::size_t slash = r.name.find('/');
      if (slash != r.name.npos && r.name.compare(slash, r.name.npos, "/data.pkl") == 0) found = &r;
    }
    if (!found)
      return refuse(Code::unsupported,
                    "is a zip archive without <name>/data.pkl, so none of torch.save: unpack it, "
                    "or save the tensors with torch.save(model.state_dict(), ...)");
    root_ = found->name.substr(0, found->name.size() - 8);
    if (zip_.find(root_ + "constants.pkl"))
      return refuse(Code::unsupported,
                    "is a TorchScript program (torch.jit.save), which Loom does not run: save "
                    "torch.jit.load(...).state_dict() with torch.save");
    return {};
  }

  // "" where there is no such record.
  Result<std::string> text_of(const char* name, std::uint64_t limit) const {
    std::string out;
    const ZipRecord* r = zip_.find(root_ + name);
    if (!r) return out;
    if (r->size > limit)
      return refuse(Code::out_of_range, name, " has ", r->size, " bytes, the limit is ", limit);
    LOOM_ASSIGN(const std::uint64_t begin, zip_.begin(*source_, *r));
    out.resize(static_cast<std::size_t>(r->size));
    LOOM_TRY(source_->read(begin, std::as_writable_bytes(std::span(out))));
    return out;
  }

  // Where a storage begins in the file.
  Result<std::uint64_t> begin(std::uint32_t storage) {
    if (begins_[storage] > 0) return begins_[storage];
    const PickleStorage& s = pickle_.storages[storage];
    const ZipRecord* r = zip_.find(message(root_, "data/", s.key));
    if (!r) return refuse(Code::corrupt, "has no record data/", quoted(s.key));
    const auto bytes = checked_mul(s.count, info(s.type).block_bytes);
    if (!bytes || *bytes != r->size)
      return refuse(Code::corrupt, "record data/", quoted(s.key), " has ", r->size,
                    " bytes, the pickle says ", s.count, " elements of ", name(s.type));
    LOOM_ASSIGN(begins_[storage], zip_.begin(*source_, *r));
    return begins_[storage];
  }

  Status tensor(const PickleTensor& t, std::string name) {
    const PickleStorage& s = pickle_.storages[t.storage];
    LOOM_ASSIGN(const std::uint64_t first, begin(t.storage));
    const std::uint64_t whole = s.count * info(s.type).block_bytes;
    const auto count = element_count(t.shape);
    const auto bytes = count ? storage_bytes(t.type, *count) : std::nullopt;
    const auto end = count && *count == 0 ? 0 : reach(t);
    if (!bytes || !end || *end > whole)
      return refuse(Code::corrupt, "tensor ", quoted(name), " of ", shape_text(t.shape),
                    " reaches behind its storage of ", whole, " bytes");
    TensorInfo made{std::move(name), t.type, t.shape, 0, *bytes, source_};
    if (*count == 0 || contiguous(t)) {
      made.offset = first + (*count == 0 ? 0 : t.offset * info(t.type).block_bytes);
    } else if (*bytes > whole) {
      return refuse(Code::unsupported, "tensor ", quoted(made.name),
                    " is an expanded view, larger than its storage: save tensor.contiguous()");
    } else {
      made.source = std::make_shared<StridedSource>(
          t, source_, first + t.offset * info(t.type).block_bytes, *bytes);
    }
    if (const auto sum = checked_add(sum_, *bytes); !sum || *sum / kMaxShared > source_->size())
      return refuse(Code::out_of_range, "its tensors share storages more than ", kMaxShared,
                    " times over");
    sum_ += *bytes;
    out_.tensors.push_back(std::move(made));
    return {};
  }

  static std::string scalar(const PickleValue& v) {
    using Kind = PickleValue::Kind;
    if (v.kind == Kind::boolean) return v.integer ? "True" : "False";
    if (v.kind == Kind::integer) return std::to_string(v.integer);
    if (v.kind == Kind::real) return Json(v.real).dump();
    return v.kind == Kind::none ? "None" : std::string(v.text);
  }

  Status walk(std::uint32_t id, const std::string& name, std::size_t depth) {
    using Kind = PickleValue::Kind;
    const PickleValue& v = pickle_.values[id];
    text_bytes_ += name.size() + v.text.size();  // a text may be recalled again and again
    if (depth > kMaxDepth || ++names_ > kMaxNames || name.size() > kMaxName ||
        text_bytes_ > kMaxTextBytes)
      return refuse(Code::out_of_range, quoted(name), ": more than ", kMaxDepth, " levels, ",
                    kMaxNames, " values, ", kMaxName, " bytes of a name or ", kMaxTextBytes,
                    " of names and texts");
    if (v.kind == Kind::tensor)
      return tensor(pickle_.tensors[static_cast<std::size_t>(v.integer)],
                    name.empty() ? "tensor" : name);
    const bool dict = v.kind == Kind::dict;
    if (!dict && v.kind != Kind::list && v.kind != Kind::tuple) {
      if (v.kind == Kind::storage)
        return refuse(Code::unsupported, quoted(name), " is a storage, not a tensor");
      out_.metadata.emplace_back(name, scalar(v));
      return {};
    }
    for (std::size_t i = 0; i < v.items.size(); i += dict ? 2 : 1) {
      const PickleValue& key = pickle_.values[v.items[i]];
      if (dict && key.kind != Kind::text && key.kind != Kind::integer)
        return refuse(Code::unsupported, quoted(name), " has a key that is no text or integer");
      const std::string part = dict ? scalar(key) : std::to_string(i);
      LOOM_TRY(walk(v.items[dict ? i + 1 : i], name.empty() ? part : message(name, ".", part),
                    depth + 1));
    }
    return {};
  }

  SourcePtr source_;
  ZipArchive zip_;
  std::string root_;
  Pickle pickle_;
  std::vector<std::uint64_t> begins_;
  TorchFile out_;
  std::size_t names_ = 0;
  std::uint64_t text_bytes_ = 0, sum_ = 0;  // of all tensors
};

}  // namespace

Result<TorchFile> open_torch(SourcePtr source) {
  LOOM_TRY(expect_kind(*source, FileKind::torch));
  return Reading(std::move(source)).run();
}

}  // namespace loom
