// Every file call of two dozen saves and loads fails, alone and with all that follow, is
// interrupted or does less than it was asked for: what it does is done, or a typed error; every
// file is the old one or the new one, no other is left, and the next call succeeds with the same
// bits.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>

#include "formats/gguf/gguf.h"
#include "formats/onnx/onnx.h"
#include "formats/safetensors/safetensors.h"
#include "formats/test_files.h"
#include "grid/adapter.h"
#include "injection/file_calls.h"
#include "injection/savers.h"
#include "injection/settings.h"
#include "llm/model.h"
#include "support/places.h"
#include "support/tiny_llama.h"
#include "train/data/folder.h"
#include "train/spec/spec.h"

namespace loom::test {
namespace {

using Act = std::function<Result<std::string>()>;  // what it gives: the same each time

void write(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

// All values of a file of tensors, or the error that one of them has.
Result<std::string> values_of(const std::vector<TensorInfo>& tensors) {
  std::string all;
  for (const TensorInfo& t : tensors) {
    std::vector<double> values(static_cast<std::size_t>(t.elements()));
    LOOM_TRY(read_f64(t, 0, values));
    all += t.name;
    all += as_text(std::as_bytes(std::span(values)));
  }
  return all;
}

Result<std::string> samples_of(const TrainingSpec& spec) {
  LOOM_ASSIGN(const auto data, open_data(spec));
  Batch batch;
  for (std::int64_t i = 0; i < data->samples(); ++i) data->append(i, batch);
  return std::string(as_text(std::as_bytes(std::span(batch.x)))) +
         std::string(as_text(std::as_bytes(std::span(batch.values))));
}

// A model of a folder, with its tokenizer and the settings beside it.
Result<std::string> model_text(const std::string& path) {
  LOOM_ASSIGN(Model model, load_model(path));
  LOOM_TRY(model.tokenizer.status());
  LOOM_ASSIGN(const std::string sha, digest(model.network));
  return sha + model.tokenizer->serialize() + std::to_string(model.config.eos.size());
}

Act read_gguf(const std::string& folder) {
  const std::string path = folder + "/x.gguf";
  write(path, gguf_bytes(3, 1, 1,
                         gguf_entry("general.architecture", 8, gguf_text("none")) +
                             gguf_tensor("x", {4, 2}, 0, 0),
                         std::string(32, '\1')));
  return [=]() -> Result<std::string> {
    LOOM_ASSIGN(SourcePtr source, open_source(path, MapMode::read));
    LOOM_ASSIGN(const Gguf file, Gguf::open(std::move(source)));
    return values_of(file.tensors());
  };
}

// What a person has: two shards and an index.
Act read_shards(const std::string& folder) {
  for (const char* name : {"a", "b"})
    write(folder + "/" + name + ".safetensors",
          safetensors_bytes(std::string(R"({")") + name +
                                R"(":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})",
                            std::string(16, name[0])));
  write(folder + "/model.safetensors.index.json",
        R"({"weight_map":{"a":"a.safetensors","b":"b.safetensors"}})");
  return [=]() -> Result<std::string> {
    LOOM_ASSIGN(const Safetensors file, Safetensors::open_folder(folder));
    return values_of(file.tensors());
  };
}

Act read_csv(const std::string& folder) {
  write(folder + "/t.csv", "a,b,y\n1,2,3\n4,5,6\n7,8,9\n");
  TrainingSpec spec;
  spec.data.kind = DataKind::table;
  spec.data.file = folder + "/t.csv";
  spec.data.targets = {"y"};
  return [=] { return samples_of(spec); };
}

Act read_arrays(const std::string& folder) {
  const auto array = [](int columns) {
    return npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (3, " +
                         std::to_string(columns) + "), }\n",
                     std::string(static_cast<std::size_t>(12 * columns), '\2'));
  };
  write(folder + "/x.npy", array(2));
  write(folder + "/y.npy", array(1));
  TrainingSpec spec;
  spec.data.kind = DataKind::arrays;
  spec.data.file = folder + "/x.npy";
  spec.data.targets_file = folder + "/y.npy";
  return [=] { return samples_of(spec); };
}

Act read_tokenizer(const std::string& folder) {
  write_tiny_llama(folder);
  write(folder + "/chat_template.jinja", "{{ messages[0].content }}");
  return [=]() -> Result<std::string> {
    LOOM_ASSIGN(const Tokenizer tokenizer, Tokenizer::load(folder));
    return tokenizer.serialize();
  };
}

Act read_model_folder(const std::string& folder) {
  write_tiny_llama(folder);
  write(folder + "/generation_config.json", R"({"eos_token_id":[2,3],"temperature":0.5})");
  return [=] { return model_text(folder); };
}

Act read_model_cache(const std::string& folder) {
  const std::string model = folder + "/models--loom--tiny";
  write(model + "/refs/main", "abc\n");
  std::filesystem::create_directories(model + "/snapshots/abc");
  write_tiny_llama(model + "/snapshots/abc");
  return [=] {
    ::setenv("HF_HUB_CACHE", folder.c_str(), 1);
    return model_text("loom/tiny");
  };
}

Act read_onnx(const std::string& folder) {
  std::filesystem::copy(source_dir() + "/tests/golden/onnx/mlp.onnx", folder + "/m.onnx");
  return [=]() -> Result<std::string> {
    LOOM_ASSIGN(const onnx::Model model, onnx::open_model(folder + "/m.onnx"));
    std::string all;
    for (const onnx::Tensor& t : model.graph.initializers) {
      LOOM_ASSIGN(const std::vector<double> values, onnx::read_f64(t));
      all += as_text(std::as_bytes(std::span(values)));
    }
    return all;
  };
}

// Classes in folders, as the program finds them.
Act read_folder(const std::string& folder) {
  for (const char* name : {"cat/1.txt", "cat/2.txt", "dog/1.txt"})
    write(folder + "/" + name, std::string("a ") + name);
  return [=]() -> Result<std::string> {
    LOOM_ASSIGN(const auto classes, read_classes(folder, {}));
    std::string all;
    if (classes)
      for (const auto& c : classes->classes) {
        all += c.name;
        for (const std::string& file : c.files) all += " " + file;
      }
    return all;
  };
}

Act read_spec(const std::string& folder) {
  write(folder + "/net.json",
        R"({"format":"loom-topology","version":1,"layers_per_cell":1,"input":{"width":3},"cells":[
          {"at":[0,0,0,0],"type":"dense","out":2}]})");
  TrainingSpec spec;
  spec.network_file = "net.json";
  return [=]() -> Result<std::string> {
    LOOM_ASSIGN(const Network network, create_network(spec, folder));
    return network.to_json().dump();
  };
}

const std::map<std::string, std::function<Act(const std::string&)>>& readers() {
  static const std::map<std::string, std::function<Act(const std::string&)>> kAll = {
      {"gguf", read_gguf},
      {"shards", read_shards},
      {"csv", read_csv},
      {"arrays", read_arrays},
      {"tokenizer", read_tokenizer},
      {"folder_model", read_model_folder},
      {"cached_model", read_model_cache},
      {"onnx", read_onnx},
      {"folder", read_folder},
      {"spec", read_spec}};
  return kAll;
}

using Files = std::map<std::string, std::string>;

Files files_of(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) {
      std::ifstream in(entry.path(), std::ios::binary);
      files[entry.path().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
  return files;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

class FileErrors : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The act itself, with the folder as it was before each.
  Act make(const std::string& name) {
    if (const auto reader = readers().find(name); reader != readers().end())
      return reader->second(folder_);
    const std::size_t dot = name.find("__");
    saver_ = make_saver(name.substr(0, dot), folder_);
    const auto worked = [](const Status& s) { ASSERT_TRUE(s.ok()) << s.to_string(); };
    worked(saver_->advance());
    worked(saver_->save());
    old_ = saver_->digest();
    if (name.substr(dot) == "__load") return [this] { return saver_->load(); };
    worked(saver_->advance());
    return [this]() -> Result<std::string> {
      LOOM_TRY(saver_->save());
      return saver_->digest();
    };
  }
  // What an act gave while something failed, and what it left.
  void check(const Result<std::string>& got, const std::string& expected, const Files& before,
             const Files& after) const {
    const Files now = files_of(folder_);
    if (got.ok()) {
      ASSERT_TRUE(*got == expected) << "another result";
      ASSERT_TRUE(now == after) << "it says that it is done";
      return;
    }
    ASSERT_EQ(got.status().code(), Code::io) << got.status().to_string();
    const std::string& message = got.status().message();
    ASSERT_TRUE(message.find(folder_) != message.npos || message.find("loom/tiny") != message.npos)
        << message;
    const auto has = [](const Files& files, const auto& file) {
      const auto at = files.find(file.first);
      return at != files.end() && at->second == file.second;
    };
    for (const auto& file : now)
      ASSERT_TRUE(has(before, file) || has(after, file) ||
                  file.first.ends_with("/adapter_save.json"))
          << file.first << " is neither the old file nor the new one";
    if (!saver_) return;
    const auto loaded = saver_->load();  // of several files, too
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    ASSERT_TRUE(*loaded == expected || *loaded == old_) << "neither what was saved before nor now";
  }
  void restore(const Files& files) const {
    if (files_of(folder_) == files) return;
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    for (const auto& [path, bytes] : files) write(path, bytes);
  }

  const std::string folder_ = scratch_folder("io");
  std::unique_ptr<Saver> saver_;
  std::string old_;  // what it saved first
};

TEST_P(FileErrors, AreTypedErrorsThatLeaveOldOrNewFiles) {
  const Act act = make(GetParam());
  ASSERT_FALSE(HasFatalFailure());
  const Files before = files_of(folder_);
  fail_file_calls(FileFailure::io, std::numeric_limits<std::int64_t>::max(), false);
  const auto expected = act();
  const std::int64_t calls = allow_file_calls();
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  ASSERT_GT(calls, 0);
  const Files after = files_of(folder_);
  const std::size_t descriptors = open_descriptors();
  std::int64_t runs = 0, refused = 0;
  for (const auto kind : {FileFailure::io, FileFailure::full, FileFailure::interrupted,
                          FileFailure::brief, FileFailure::nothing}) {
    const bool harmless = kind == FileFailure::interrupted || kind == FileFailure::brief;
    for (const bool following : {false, true}) {
      // What is interrupted for ever is tried for ever.
      if (kind == FileFailure::interrupted && following) continue;
      for (std::int64_t n = 0; n < calls; ++n) {
        SCOPED_TRACE("call " + std::to_string(n) + " of " + std::to_string(calls) + ", kind " +
                     std::to_string(static_cast<int>(kind)) + (following ? ", all after it" : ""));
        restore(before);
        fail_file_calls(kind, n, following);
        const auto got = act();
        allow_file_calls();
        ++runs;
        refused += !got.ok();
        check(got, *expected, before, after);
        if (HasFatalFailure()) return;
        ASSERT_FALSE(harmless && !got.ok()) << got.status().to_string();
        ASSERT_EQ(open_descriptors(), descriptors);
        const auto again = act();
        ASSERT_TRUE(again.ok()) << again.status().to_string();
        ASSERT_TRUE(*again == *expected);
        ASSERT_TRUE(files_of(folder_) == after);
      }
    }
  }
  EXPECT_GE(refused, 10) << "hardly anything failed";
  std::printf("%s: %lld calls, %lld runs, %lld refused\n", GetParam().c_str(),
              static_cast<long long>(calls), static_cast<long long>(runs),
              static_cast<long long>(refused));
}

std::vector<std::string> scenarios() {
  std::vector<std::string> all;
  for (const std::string& kind : saver_kinds()) {
    all.push_back(kind + "__save");
    all.push_back(kind + "__load");
  }
  for (const auto& [name, make] : readers()) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Injection, FileErrors, testing::ValuesIn(scenarios()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace loom::test
