// A HuggingFace folder: weights, tokenizer, and last config.json, without which it is no model.
#include <algorithm>
#include <cstdio>

#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "base/message.h"
#include "formats/safetensors/safetensors.h"
#include "llm/config/architecture.h"
#include "llm/export/outgoing.h"

namespace loom {
namespace {

constexpr std::string_view kTypes = "f32, f16 or bf16";
constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

bool is_plain(StorageType type) {
  return type == StorageType::f32 || type == StorageType::f16 || type == StorageType::bf16;
}

// Whether nothing is lost in the type. Reads the values: of vectors.
Result<bool> fits(const OutgoingTensor& t, StorageType type) {
  ErrorSum error;
  const TensorInfo made = encoded_tensor("", t.values.shape, type, values_of(t.values), &error);
  std::vector<std::byte> bytes(static_cast<std::size_t>(made.size));
  const Status read = made.source->read(0, bytes);
  if (read.code() == Code::out_of_range) return false;
  LOOM_TRY(read);
  return error.largest == 0;
}

// The type of the matrices where it is one and vectors lose nothing in it; else nothing, and
// vectors stay as they are.
Result<std::optional<StorageType>> common_type(const std::vector<OutgoingTensor>& tensors) {
  std::optional<StorageType> type;
  for (const OutgoingTensor& t : tensors) {
    if (!t.matrix) continue;
    if (!t.own_type || !is_plain(t.values.type)) return std::optional<StorageType>();
    if (type && *type != t.values.type) return std::optional<StorageType>();
    type = t.values.type;
  }
  for (const OutgoingTensor& t : tensors) {
    if (t.matrix || !type) continue;
    LOOM_ASSIGN(const bool whole, fits(t, *type));
    if (!whole) return std::optional<StorageType>();
  }
  return type;
}

class FolderWriter {
 public:
  FolderWriter(Outgoing& model, std::string out, const ModelExportOptions& options)
      : model_(model), out_(std::move(out)), options_(options) {
    while (out_.size() > 1 && out_.back() == '/') out_.pop_back();
  }

  Result<ModelExport> run() {
    report_.notes = model_.notes;
    LOOM_TRY(place());
    LOOM_TRY(make_tensors());
    LOOM_ASSIGN(const Json config, hf_config(model_.config, torch_dtype()));
    LOOM_TRY(make_folder(out_));
    Status done = write(config);
    if (done.ok()) return std::move(report_);
    for (const std::string& path : written_) std::remove(path.c_str());
    return done;
  }

  // One of the files.
  Result<std::vector<std::byte>> file(const std::string& name) {
    only_ = &name;
    LOOM_TRY(make_tensors());
    LOOM_ASSIGN(const Json config, hf_config(model_.config, torch_dtype()));
    LOOM_TRY(write(config));
    if (found_) return std::move(bytes_);
    return Status(Code::invalid_argument,
                  message("name: this model has gguf, onnx", known_, ", not ", quoted(name)));
  }

 private:
  Status place() const {
    LOOM_ASSIGN(const PathKind kind, kind_at(out_));
    if (kind != PathKind::nothing && kind != PathKind::folder)
      return Status(Code::invalid_argument, message(out_, ": is no folder"));
    LOOM_ASSIGN(const bool model, anything_at(out_ + "/config.json"));
    if (!model) return {};
    return Status(Code::invalid_argument,
                  message(out_, ": holds a model already (config.json): write to another folder"));
  }

  Status make_tensors() {
    if (!options_.dtype.empty()) {
      LOOM_ASSIGN(wanted_, wanted_type(options_.dtype, ModelTarget::folder));
    } else {
      LOOM_ASSIGN(wanted_, common_type(model_.tensors));
    }
    // Addresses of errors must stay.
    report_.tensors.resize(2 * model_.tensors.size());
    for (const OutgoingTensor& t : model_.tensors) LOOM_TRY(make_tensor(t));
    report_.tensors.resize(tensors_.size());
    return {};
  }

  Status make_tensor(const OutgoingTensor& t) {
    if (t.ternary || t.scale) return make_ternary(t);
    StorageType type = wanted_.value_or(t.values.type);
    if (!wanted_ && !t.matrix && !is_plain(type)) type = StorageType::f32;
    if (!wanted_ && (!t.own_type || !is_plain(type))) return needs_dtype(t, "transformers", kTypes);
    ExportedTensor& row = report_.tensors[tensors_.size()];
    add(target_tensor(t, {Naming::hf, false, model_.config.head_dim}, type, &row.error), t, row);
    return {};
  }

  // As they are: other types would not be the model, which is made ternary again when it is read.
  Status make_ternary(const OutgoingTensor& t) {
    if (!options_.dtype.empty())
      return Status(Code::invalid_argument, "dtype: a BitNet model is written as it is, ternary");
    if (model_.config.ternary == Ternary::none || t.ternary)
      model_.config.ternary = Ternary::multiplies;
    LOOM_ASSIGN(auto both, ternary_tensors(t));
    add(std::move(both.first), t, report_.tensors[tensors_.size()]);
    add(std::move(both.second), t, report_.tensors[tensors_.size()]);
    return {};
  }

  static void add_row(const TensorInfo& made, const OutgoingTensor& t, ExportedTensor& row) {
    row.name = made.name;
    row.shape = made.shape;
    row.from = t.from;
    row.to = name(made.type);
    row.bytes_before = t.bytes;
    row.bytes_after = made.size;
  }
  void add(TensorInfo made, const OutgoingTensor& t, ExportedTensor& row) {
    add_row(made, t, row);
    tensors_.push_back(std::move(made));
  }

  std::string_view torch_dtype() const {
    StorageType type = StorageType::u8;
    for (const TensorInfo& t : tensors_) {
      if (!is_plain(t.type)) continue;
      if (type != StorageType::u8 && type != t.type) return "float32";
      type = t.type;
    }
    return type == StorageType::f16    ? "float16"
           : type == StorageType::bf16 ? "bfloat16"
                                       : "float32";
  }

  // Whether a file is not the one that is asked for.
  bool other(const std::string& name) {
    known_ += ", " + name;
    found_ = found_ || *only_ == name;
    return *only_ != name;
  }

  Status put(const std::string& name, std::string_view text) {
    if (only_) {
      if (other(name)) return {};
      const auto bytes = as_bytes(text);
      bytes_.assign(bytes.begin(), bytes.end());
      return {};
    }
    written_.push_back(out_ + "/" + name);
    return write_file(written_.back(), as_bytes(text));
  }

  Status write(const Json& config) {
    LOOM_TRY(write_weights());
    LOOM_TRY(write_tokenizer());
    LOOM_TRY(put("generation_config.json", hf_generation(model_.config).dump(2) + "\n"));
    return put("config.json", config.dump(2) + "\n");
  }

  Status write_weights() {
    const Metadata metadata = {{"format", "pt"}};
    if (only_) return other(kWhole) ? Status() : write_safetensors(&bytes_, tensors_, metadata);
    std::vector<std::size_t> ends;  // of shards
    std::uint64_t size = 0, total = 0;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (size > 0 && size + tensors_[i].size > options_.shard_bytes) {
        ends.push_back(i);
        size = 0;
      }
      size += tensors_[i].size;
      total += tensors_[i].size;
    }
    ends.push_back(tensors_.size());
    // What an export that was killed left behind, which readers would prefer.
    std::remove((out_ + "/" + (ends.size() > 1 ? kWhole : kIndex)).c_str());
    if (ends.size() == 1) {
      written_.push_back(out_ + "/" + kWhole);
      return write_safetensors(written_.back(), tensors_, metadata);
    }
    Json map = Json::object(), sizes = Json::object(), index = Json::object();
    std::size_t begin = 0;
    for (std::size_t shard = 0; shard < ends.size(); ++shard) {
      char name[64];
      std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", shard + 1, ends.size());
      written_.push_back(out_ + "/" + name);
      const auto part = std::span(tensors_).subspan(begin, ends[shard] - begin);
      LOOM_TRY(write_safetensors(written_.back(), part, metadata));
      for (const TensorInfo& t : part) map.as_object().emplace_back(t.name, Json(name));
      begin = ends[shard];
    }
    sizes.set("total_size", total);
    index.set("metadata", std::move(sizes));
    index.set("weight_map", std::move(map));
    return put(kIndex, index.dump(2) + "\n");
  }

  Status write_tokenizer() {
    if (!options_.tokenizer) {
      report_.notes.push_back("without a tokenizer: it was left out");
      return {};
    }
    if (!model_.folder.empty()) return copy_tokenizer();
    if (model_.tokenizer.status().code() == Code::not_found) {
      report_.notes.push_back("without a tokenizer: " + model_.tokenizer.status().message());
      return {};
    }
    if (!model_.tokenizer.ok())
      return Status(model_.tokenizer.status().code(), model_.name + ": " +
                                                          model_.tokenizer.status().message() +
                                                          "; \"tokenizer\": false leaves it out");
    LOOM_TRY(put("tokenizer.json", model_.tokenizer->to_json()));
    return put("tokenizer_config.json", model_.tokenizer->config_json());
  }

  // Of a folder, as they are: transformers reads more kinds than Loom.
  Status copy_tokenizer() {
    bool any = false;
    for (const char* name :
         {"tokenizer.json", "tokenizer_config.json", "tokenizer.model", "special_tokens_map.json",
          "added_tokens.json", "vocab.json", "merges.txt", "chat_template.jinja"}) {
      LOOM_ASSIGN(const bool there, anything_at(model_.folder + "/" + name));
      if (!there) continue;
      any = true;
      LOOM_ASSIGN(const std::string text, read_text_within(model_.folder, name));
      LOOM_TRY(put(name, text));
    }
    if (!any) report_.notes.push_back("without a tokenizer: " + model_.folder + " holds none");
    return {};
  }

  Outgoing& model_;
  std::string out_;
  const ModelExportOptions& options_;
  std::optional<StorageType> wanted_;
  ModelExport report_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::string> written_;
  const std::string* only_ = nullptr;  // of one file in memory
  std::vector<std::byte> bytes_;
  std::string known_;
  bool found_ = false;
};

}  // namespace

Result<ModelExport> write_hf_folder(Outgoing& model, const std::string& out,
                                    const ModelExportOptions& options) {
  return FolderWriter(model, out, options).run();
}

Result<std::vector<std::byte>> hf_folder_file(Outgoing& model, const std::string& name,
                                              const ModelExportOptions& options) {
  return FolderWriter(model, "(memory)", options).file(name);
}

}  // namespace loom
