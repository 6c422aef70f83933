#include "formats/safetensors/safetensors.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "base/json/json.h"
#include "base/message.h"
#include "formats/sniff.h"
#include "formats/stream.h"
#include "formats/torch/torch.h"

namespace loom {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::string_view kWhole[] = {"model.safetensors", "pytorch_model.bin"};
constexpr std::string_view kIndex[] = {"model.safetensors.index.json",
                                       "pytorch_model.bin.index.json"};

// Writers lay tensors out in the reverse of the reference implementation's order of types: rising
// alignment. bool is the first; dtypes.def has the others.
struct Dtype {
  std::string_view text;  // empty for types that safetensors does not have
  int rank = 0;
};
Dtype dtype_of_file(StorageType type) {
  if (type == StorageType::boolean) return {"BOOL", 0};
  const auto dtype = dtype_of(type);
  if (!dtype) return {};
  return {info(*dtype).safetensors, info(*dtype).safetensors_rank};
}

std::optional<StorageType> find_type(std::string_view text) {
  if (text == "BOOL") return StorageType::boolean;
  for (const DTypeInfo& row : kDTypes)
    if (!text.empty() && text == row.safetensors) return storage_type(row.id);
  return std::nullopt;
}

struct Header {
  std::vector<TensorInfo> tensors;
  Metadata metadata;
};

std::optional<std::uint64_t> as_size(const Json& value) {
  if (!value.is_integer() || value.as_integer() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value.as_integer());
}

// One member of the header; offsets stay relative to the data section.
Result<TensorInfo> parse_tensor(const std::string& name, const Json& entry) {
  const auto corrupt = [&](const auto&... what) {
    return Status(Code::corrupt, message("tensor ", quoted(name), ": ", what...));
  };
  if (!entry.is_object()) return corrupt("its header entry is no object");
  const Json *dtype = entry.find("dtype"), *shape = entry.find("shape"),
             *offsets = entry.find("data_offsets");
  if (!dtype || !dtype->is_string()) return corrupt("\"dtype\" must be a string");
  if (!shape || !shape->is_array()) return corrupt("\"shape\" must be an array");
  if (!offsets || !offsets->is_array() || offsets->as_array().size() != 2) {
    return corrupt("\"data_offsets\" must be an array of two integers");
  }

  const auto type = find_type(dtype->as_string());
  if (!type) {
    return Status(Code::unsupported, message("tensor ", quoted(name), ": has the unknown dtype ",
                                             quoted(dtype->as_string())));
  }
  TensorInfo tensor;
  tensor.name = name;
  tensor.type = *type;
  for (const Json& item : shape->as_array()) {
    const auto dimension = as_size(item);
    if (!dimension)
      return corrupt("\"shape\" holds ", quoted(item.dump()),
                     ", expected an integer from 0 to 2^63-1");
    tensor.shape.push_back(static_cast<std::int64_t>(*dimension));
  }
  const auto begin = as_size(offsets->as_array()[0]), end = as_size(offsets->as_array()[1]);
  if (!begin || !end || *begin > *end) {
    return corrupt("\"data_offsets\" is ", quoted(offsets->dump()),
                   ", expected two rising integers from 0 to 2^63-1");
  }
  const auto count = element_count(tensor.shape);
  const auto bytes = count ? storage_bytes(tensor.type, *count) : std::nullopt;
  if (!bytes)
    return corrupt("shape ", shape_text(tensor.shape), " of ", dtype->as_string(),
                   " is beyond 2^64 bytes or no whole number of bytes");
  if (*bytes != *end - *begin) {
    return corrupt("shape ", shape_text(tensor.shape), " of ", dtype->as_string(), " takes ",
                   *bytes, " bytes, data_offsets [", *begin, ", ", *end, "] give ", *end - *begin);
  }
  tensor.offset = *begin;
  tensor.size = *bytes;
  return tensor;
}

Status parse_metadata(const Json& value, Metadata* out) {
  if (!value.is_object())
    return Status(Code::corrupt, "\"__metadata__\" must be an object of strings");
  for (const Json::Member& member : value.as_object()) {
    if (!member.second.is_string())
      return Status(Code::corrupt,
                    message("\"__metadata__\": ", quoted(member.first), " must be a string"));
    out->emplace_back(member.first, member.second.as_string());
  }
  std::sort(out->begin(), out->end());  // keys are distinct
  return {};
}

// The data section has data_size bytes and starts at data_begin in the file. Tensors come back
// sorted by name with absolute offsets.
Result<Header> parse_header(std::string_view text, std::uint64_t data_begin,
                            std::uint64_t data_size) {
  if (!text.starts_with('{'))
    return Status(Code::corrupt, "header at offset 8: expected a JSON object");
  auto json = Json::parse(text, {.max_depth = 8, .max_bytes = Safetensors::kMaxHeader});
  if (!json.ok()) return json.status().at("header at offset 8");
  Header header;
  for (const Json::Member& member : json->as_object()) {
    if (member.first == kMetadataKey) {
      LOOM_TRY(parse_metadata(member.second, &header.metadata));
    } else {
      LOOM_ASSIGN(TensorInfo tensor, parse_tensor(member.first, member.second));
      header.tensors.push_back(std::move(tensor));
    }
  }
  // "The byte buffer needs to be entirely indexed, and cannot contain holes": in order of offset,
  // each tensor starts where the last ended.
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) {
              return a.offset != b.offset ? a.offset < b.offset
                     : a.size != b.size   ? a.size < b.size
                                          : a.name < b.name;
            });
  std::uint64_t at = 0;
  std::string first_cut;
  for (TensorInfo& tensor : header.tensors) {
    if (tensor.offset != at) {
      const std::string_view why = tensor.offset < at
                                       ? "inside the tensor before it, which ends at "
                                       : "after a hole that begins at ";
      return Status(Code::corrupt,
                    message("tensor ", quoted(tensor.name), ": starts at data offset ",
                            tensor.offset, ", ", why, at));
    }
    at += tensor.size;  // the end in data_offsets, below 2^63
    if (at > data_size && first_cut.empty()) first_cut = tensor.name;
    tensor.offset += data_begin;
  }
  if (at > data_size) {
    return Status(Code::truncated,
                  message("the header describes a file of ", data_begin + at,
                          " bytes, the file has ", data_begin + data_size, ": tensor ",
                          quoted(first_cut), " is the first that is not whole"));
  }
  if (at != data_size) {
    return Status(Code::corrupt, message("the last tensor ends at byte ", data_begin + at,
                                         ", the file has ", data_begin + data_size));
  }
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
  return header;
}

// File names of an index must name a file of the same folder.
bool plain_file_name(std::string_view file) {
  return !file.empty() && file != "." && file != ".." &&
         file.find_first_of(std::string_view("/\\:\0", 4)) == file.npos;
}

struct Promise {
  std::string tensor, shard;
};

Result<std::vector<Promise>> read_index(const std::string& folder, std::string_view name) {
  const std::string path = message(folder, "/", name);
  LOOM_ASSIGN(const std::string text,
              read_text_within(folder, std::string(name), Safetensors::kMaxHeader));
  auto json = Json::parse(text, {.max_depth = 8});
  if (!json.ok()) return json.status().at(path);
  const Json* map = json->find("weight_map");
  if (!map || !map->is_object())
    return Status(Code::corrupt, message(path, ": \"weight_map\" must be an object of file names"));
  std::vector<Promise> promises;
  for (const Json::Member& member : map->as_object()) {
    if (!member.second.is_string() || !plain_file_name(member.second.as_string())) {
      return Status(Code::corrupt, message(path, ": tensor ", quoted(member.first), ": ",
                                           quoted(member.second.dump()),
                                           " is not the name of a file in the same folder"));
    }
    promises.push_back({member.first, member.second.as_string()});
  }
  std::sort(promises.begin(), promises.end(), [](const Promise& a, const Promise& b) {
    return a.shard != b.shard ? a.shard < b.shard : a.tensor < b.tensor;
  });
  return promises;
}

// The JSON text with the spaces that bring the data to a multiple of 8.
std::string make_header(std::span<const TensorInfo* const> order, const Metadata& metadata) {
  std::string header = "{";
  if (!metadata.empty()) {
    Json::Object members;
    for (const auto& [key, value] : metadata) members.emplace_back(key, Json(value));
    header += Json(std::string(kMetadataKey)).dump() + ":" + Json(std::move(members)).dump();
  }
  std::uint64_t at = 0;
  for (const TensorInfo* tensor : order) {
    if (header.size() > 1) header += ',';
    header += message(Json(tensor->name).dump(), ":{\"dtype\":\"", dtype_of_file(tensor->type).text,
                      "\",\"shape\":[");
    for (std::size_t i = 0; i < tensor->shape.size(); ++i)
      header += message(i ? "," : "", tensor->shape[i]);
    header += message("],\"data_offsets\":[", at, ",", at + tensor->size, "]}");
    at += tensor->size;
  }
  header += '}';
  header.resize(align_up(header.size(), 8), ' ');
  return header;
}

}  // namespace

Result<std::uint64_t> Safetensors::header_size(const ByteSource& source) {
  std::array<std::byte, 8> bytes;
  LOOM_TRY(source.read(0, bytes));
  const auto size = load_le<std::uint64_t>(bytes.data());
  if (size > kMaxHeader) {
    return Status(Code::corrupt, message(source.name(), ": the first 8 bytes claim a header of ",
                                         size, " bytes, the limit is ", kMaxHeader));
  }
  if (size > source.size() - 8) {
    return Status(Code::truncated, message(source.name(), ": the header ends at byte ", 8 + size,
                                           ", the file has ", source.size()));
  }
  return size;
}

Result<Safetensors> Safetensors::open(SourcePtr source) {
  LOOM_TRY(expect_kind(*source, FileKind::safetensors));
  LOOM_ASSIGN(const std::uint64_t size, header_size(*source));
  std::string copy;
  std::string_view text;
  if (const auto view = source->view(); !view.empty()) {
    text = as_text(view.subspan(8, static_cast<std::size_t>(size)));
  } else {
    copy.resize(static_cast<std::size_t>(size));
    LOOM_TRY(source->read(8, std::as_writable_bytes(std::span(copy))));
    text = copy;
  }
  auto header = parse_header(text, 8 + size, source->size() - 8 - size);
  if (!header.ok()) return header.status().at(source->name());
  Safetensors file;
  file.tensors_ = std::move(header->tensors);
  file.metadata_ = std::move(header->metadata);
  for (TensorInfo& tensor : file.tensors_) tensor.source = source;
  return file;
}

Result<Safetensors> Safetensors::open_weights(SourcePtr source) {
  LOOM_ASSIGN(const FileKind kind, sniff(*source));
  if (kind != FileKind::torch) return open(std::move(source));
  LOOM_ASSIGN(TorchFile read, open_torch(std::move(source)));
  Safetensors file;
  file.tensors_ = std::move(read.tensors);
  file.metadata_ = std::move(read.metadata);
  return file;
}

Result<Safetensors> Safetensors::open_folder(const std::string& folder, MapMode mode) {
  for (std::size_t i = 0; i < std::size(kWhole); ++i) {
    LOOM_ASSIGN(const bool whole, anything_at(message(folder, "/", kWhole[i])));
    if (whole) {
      LOOM_ASSIGN(SourcePtr source, open_within(folder, std::string(kWhole[i]), mode));
      return i == 0 ? open(std::move(source)) : open_weights(std::move(source));
    }
    LOOM_ASSIGN(const bool shards, anything_at(message(folder, "/", kIndex[i])));
    if (shards) return open_shards(folder, kIndex[i], mode);
  }
  return Status(Code::not_found, message(folder, ": holds neither ", kWhole[0], " nor ", kIndex[0],
                                         ", nor ", kWhole[1], " or its index"));
}

Result<Safetensors> Safetensors::open_shards(const std::string& folder, std::string_view name,
                                             MapMode mode) {
  const std::string index = message(folder, "/", name);
  LOOM_ASSIGN(const std::vector<Promise> promises, read_index(folder, name));
  Safetensors whole;
  for (std::size_t at = 0; at < promises.size();) {
    const std::string& shard = promises[at].shard;
    auto source = open_within(folder, shard, mode);
    if (!source.ok()) return source.status().at(index);
    LOOM_ASSIGN(Safetensors part, open_weights(std::move(*source)));
    for (; at < promises.size() && promises[at].shard == shard; ++at) {
      if (!part.find(promises[at].tensor)) {
        return Status(Code::corrupt,
                      message(index, ": promises tensor ", quoted(promises[at].tensor), " in ",
                              quoted(shard), ", which does not hold it"));
      }
    }
    if (whole.tensors_.empty()) whole.metadata_ = std::move(part.metadata_);
    std::move(part.tensors_.begin(), part.tensors_.end(), std::back_inserter(whole.tensors_));
  }
  std::sort(whole.tensors_.begin(), whole.tensors_.end(),
            [](const TensorInfo& a, const TensorInfo& b) {
              return a.name != b.name ? a.name < b.name : a.source->name() < b.source->name();
            });
  const auto same_name = [](const TensorInfo& a, const TensorInfo& b) { return a.name == b.name; };
  const auto twice = std::adjacent_find(whole.tensors_.begin(), whole.tensors_.end(), same_name);
  if (twice != whole.tensors_.end()) {
    return Status(Code::corrupt,
                  message(index, ": tensor ", quoted(twice->name), " lies in two shards, ",
                          twice->source->name(), " and ", (twice + 1)->source->name()));
  }
  return whole;
}

const TensorInfo* Safetensors::find(std::string_view name) const {
  const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                   [](const auto& t, std::string_view n) { return t.name < n; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

namespace {

Status write_to(const Destination& to, std::span<const TensorInfo> tensors,
                const Metadata& metadata) {
  const std::string& path = to.path;
  std::vector<const TensorInfo*> order;
  std::uint64_t data_size = 0;
  for (const TensorInfo& tensor : tensors) {
    const auto refuse = [&](Code code, const auto&... what) {
      return Status(code, message(path, ": tensor ", quoted(tensor.name), ": ", what...));
    };
    if (dtype_of_file(tensor.type).text.empty())
      return refuse(Code::unsupported, "safetensors has no type ", loom::name(tensor.type));
    if (tensor.name == kMetadataKey) return refuse(Code::invalid_argument, "this name is reserved");
    if (!tensor.source) return refuse(Code::invalid_argument, "has no source");
    const auto total = checked_add(data_size, tensor.size);
    if (!total || *total > static_cast<std::uint64_t>(INT64_MAX))
      return refuse(Code::out_of_range, "the file would pass 2^63 bytes");
    data_size = *total;
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorInfo* a, const TensorInfo* b) {
    const int rank_a = dtype_of_file(a->type).rank, rank_b = dtype_of_file(b->type).rank;
    return rank_a != rank_b ? rank_a > rank_b : a->name < b->name;
  });
  Metadata sorted = metadata;
  std::sort(sorted.begin(), sorted.end());
  const std::string header = make_header(order, sorted);
  if (header.size() > Safetensors::kMaxHeader) {
    return Status(Code::out_of_range, message(path, ": the header takes ", header.size(),
                                              " bytes, the limit is ", Safetensors::kMaxHeader));
  }
  // The reader's own checks say whether the file could be read back: names twice, shapes against
  // sizes, text that is not UTF-8.
  if (const auto check = parse_header(header, 8 + header.size(), data_size); !check.ok()) {
    return Status(Code::invalid_argument, message(path, ": ", check.status().message()));
  }
  LOOM_ASSIGN(const std::unique_ptr<ByteSink> file, open_sink(to));
  std::array<std::byte, 8> length;
  store_le<std::uint64_t>(length.data(), header.size());
  LOOM_TRY(file->write(length));
  LOOM_TRY(file->write(as_bytes(header)));
  for (const TensorInfo* tensor : order) LOOM_TRY(stream_tensor(*tensor, *file));
  return file->commit();
}

}  // namespace

Status write_safetensors(const std::string& path, std::span<const TensorInfo> tensors,
                         const Metadata& metadata) {
  return write_to(path, tensors, metadata);
}

Status write_safetensors(std::vector<std::byte>* bytes, std::span<const TensorInfo> tensors,
                         const Metadata& metadata) {
  return write_to(bytes, tensors, metadata);
}

}  // namespace loom
