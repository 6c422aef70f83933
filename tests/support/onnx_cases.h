// The backend cases of onnx/onnx (../shared/data/onnx_backend_tests), unpacked once into the build
// folder.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "data.h"
#include "support/places.h"

namespace loom::test {

// A model and the files of its test_data_set_0: input_0.pb, output_0.pb, ...; no files where a case
// has no data.
struct OnnxCase {
  std::string name;   // "node/test_add"
  std::string model;  // path
  std::vector<std::string> inputs, outputs;
};

// All cases sorted by name; none where the archive is absent or tar is.
inline std::vector<OnnxCase> onnx_cases() {
  namespace fs = std::filesystem;
  const std::string archive = data_dir() + "/onnx_backend_tests/onnx_cases.tar.gz";
  if (data_dir().empty() || !fs::exists(archive)) return {};
  const fs::path folder = fs::path(binary_dir()) / "onnx_cases";
  if (!fs::exists(folder)) {
    const fs::path part =
        folder.string() + ".part" + std::to_string(fs::hash_value(fs::current_path()) % 1000);
    fs::create_directories(part);
    if (std::system(("tar xzf '" + archive + "' -C '" + part.string() + "'").c_str()) != 0)
      return {};
    std::error_code other_was_first;
    fs::rename(part, folder, other_was_first);
    if (other_was_first) fs::remove_all(part);
  }
  std::vector<OnnxCase> cases;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    OnnxCase c;
    const bool alone = entry.path().filename() != "model.onnx";  // light/*.onnx have no data
    c.name = fs::relative(alone ? entry.path() : entry.path().parent_path(), folder).string();
    c.model = entry.path().string();
    const fs::path data = entry.path().parent_path() / "test_data_set_0";
    const auto collect = [&](const std::string& prefix, std::vector<std::string>* out) {
      for (int i = 0; !alone && fs::exists(data / (prefix + std::to_string(i) + ".pb")); ++i) {
        out->push_back((data / (prefix + std::to_string(i) + ".pb")).string());
      }
    };
    collect("input_", &c.inputs);
    collect("output_", &c.outputs);
    cases.push_back(std::move(c));
  }
  std::sort(cases.begin(), cases.end(),
            [](const OnnxCase& a, const OnnxCase& b) { return a.name < b.name; });
  return cases;
}

}  // namespace loom::test
