// Readers and writers of files that have no object in the C interface, and those that have.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>

#include "base/files/bytes.h"
#include "findings/allocation/scenario.h"
#include "formats/gguf/gguf.h"
#include "formats/npy/npy.h"
#include "formats/test_files.h"
#include "injection/savers.h"
#include "train/data/folder.h"
#include "train/spec/spec.h"

namespace loom::test {
namespace {

// Calls in C++, which throws where there is no memory; the C interface says it as a code.
class Guarded final : public Scenario {
 public:
  using Act = std::function<Status(const std::string& folder, Taken& taken)>;
  using Prepare = std::function<void(const std::string& folder)>;
  Guarded(Prepare prepare, Act act) : prepare_(std::move(prepare)), act_(std::move(act)) {}
  ~Guarded() override { std::filesystem::remove_all(folder_); }

 private:
  std::int32_t prepare(loom_error&) override {
    folder_ = (std::filesystem::temp_directory_path() / "loom_allocation_XXXXXX").string();
    if (!mkdtemp(folder_.data())) return LOOM_IO;
    prepare_(folder_);
    return LOOM_OK;
  }
  std::int32_t act(Taken& taken, loom_error& error) override {
    const auto failed = [&](std::int32_t code, const char* message) {
      error.code = code;
      std::snprintf(error.message, sizeof error.message, "%s", message);
      return code;
    };
    try {
      const Status done = act_(folder_, taken);
      if (done.ok()) return LOOM_OK;
      return failed(static_cast<std::int32_t>(done.code()), done.message().c_str());
    } catch (const std::bad_alloc&) {
      return failed(LOOM_OUT_OF_MEMORY, "no memory");
    }
  }
  const Prepare prepare_;
  const Act act_;
  std::string folder_;
};

void write(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

Scenario* gguf() {
  return new Guarded(
      [](const std::string& folder) {
        write(folder + "/x.gguf",
              gguf_bytes(
                  3, 1, 2,
                  gguf_entry("general.architecture", 8, gguf_text("none")) +
                      gguf_entry("tokens", 9, gguf_array(8, 2, gguf_text("<s>") + gguf_text("a"))) +
                      gguf_tensor("x", {32, 2}, 2, 0),
                  std::string(36, '\1')));
      },
      [](const std::string& folder, Taken& taken) -> Status {
        LOOM_ASSIGN(SourcePtr source, open_source(folder + "/x.gguf"));
        LOOM_ASSIGN(const Gguf file, Gguf::open(std::move(source)));
        double values[64];
        LOOM_TRY(read_f64(file.tensors()[0], 0, values));
        taken.add(values);
        LOOM_ASSIGN(const auto tokens, file.get_strings("tokens"));
        for (const auto& t : tokens) taken.add(t.data(), t.size());
        return {};
      });
}

// Arrays of two .npy files as the data of a training.
Scenario* npy() {
  return new Guarded(
      [](const std::string& folder) {
        const std::vector<float> values = {1, 2, 3, 4, 5, 6};
        (void)write_npy(folder + "/x.npy", std::vector<std::int64_t>{3, 2}, values);
        (void)write_npy(folder + "/y.npy", std::vector<std::int64_t>{6, 1}, values);
      },
      [](const std::string& folder, Taken& taken) -> Status {
        const std::vector<float> values = {1, 2, 3, 4, 5, 6};
        LOOM_TRY(write_npy(folder + "/x.npy", std::vector<std::int64_t>{6, 1}, values));
        TrainingSpec spec;
        spec.data.kind = DataKind::arrays;
        spec.data.file = folder + "/x.npy";
        spec.data.targets_file = folder + "/y.npy";
        LOOM_ASSIGN(const auto data, open_data(spec));
        Batch batch;
        for (std::int64_t i = 0; i < data->samples(); ++i) data->append(i, batch);
        taken.add(batch.x.data(), 4 * batch.x.size());
        return {};
      });
}

Scenario* folder() {
  return new Guarded(
      [](const std::string& folder) {
        for (const char* name : {"cat/1.txt", "cat/2.txt", "dog/a rather long name.txt"})
          write(folder + "/" + name, "a text");
      },
      [](const std::string& folder, Taken& taken) -> Status {
        LOOM_ASSIGN(const auto classes, read_classes(folder, {}));
        for (const auto& c : classes->classes) taken.add(c.name.data(), c.name.size());
        return {};
      });
}

Scenario* spec() {
  return new Guarded(
      [](const std::string&) {},
      [](const std::string&, Taken& taken) -> Status {
        LOOM_ASSIGN(
            const TrainingSpec spec,
            parse_training_spec(std::string_view(
                R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,"input":{"width":3},"cells":[
              {"at":[0,0,0,0],"type":"dense","out":2}]},"data":{"type":"table","file":"a.csv",
              "targets":["y"]},"loss":"mse","steps":5,"batch":2,"optimizer":{"type":"sgd",
              "momentum":0.9},"schedule":{"type":"cosine","lr":0.1,"warmup":2}})")));
        const std::string text = spec.to_json().dump();
        taken.add(text.data(), text.size());
        return {};
      });
}

// What is saved and loaded again, without a step between.
Scenario* saver(const char* kind) {
  auto shared = std::make_shared<std::unique_ptr<Saver>>();
  return new Guarded(
      [=](const std::string& folder) {
        *shared = make_saver(kind, folder);
        (void)(*shared)->advance();
      },
      [=](const std::string&, Taken& taken) -> Status {
        LOOM_TRY((*shared)->save());
        LOOM_ASSIGN(const std::string digest, (*shared)->load());
        taken.add(digest.data(), digest.size());
        return {};
      });
}

}  // namespace

const std::map<std::string, MakeScenario>& file_scenarios() {
  static const std::map<std::string, MakeScenario> kAll = {
      {"gguf", gguf},
      {"npy", npy},
      {"folder", folder},
      {"spec", spec},
      {"adapter", [] { return saver("adapter"); }},
      {"adapter_checkpoint", [] { return saver("adapter_checkpoint"); }},
      {"checkpoint", [] { return saver("checkpoint"); }},
  };
  return kAll;
}

}  // namespace loom::test
