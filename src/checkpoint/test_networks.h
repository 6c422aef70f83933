// Networks of every kind for the tests of this module, and files to put them into.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/bytes.h"
#include "checkpoint/entity.h"

namespace loom::test {

struct NamedTopology {
  std::string name, json;
};

inline std::string topology(std::string_view head, std::string_view cells) {
  return R"({"format":"loom-topology","version":1,)" + std::string(head) + R"(,"cells":[)" +
         std::string(cells) + "]}";
}

// Every layer type, links of every kind, merges, ties, nesting, an empty and a disabled cell.
inline const std::vector<NamedTopology>& topologies() {
  static const std::vector<NamedTopology> kAll = {
      {"dense",
       topology(
           R"("layers_per_cell":2,"input":{"width":5})",
           R"({"at":[0,0,0,0],"type":"dense","out":7,"activation":"relu"},{"at":[0,0,0,1],"type":"dense","out":3,"bias":false})")},
      {"decoder", topology(R"("layers_per_cell":4,"input":{"ids":11},"head":[0,0,0,2])",
                           R"({"at":[0,0,0,0],"type":"embedding","out":8},
      {"at":[0,0,0,1],"name":"block 0","type":"sequential","layers":[
        {"type":"sequential","layers":[{"type":"rms_norm","eps":1e-5},{"type":"attention","heads":2,"kv_heads":1,"head_dim":4}]},{"type":"residual"},
        {"type":"sequential","layers":[{"type":"layer_norm"},{"type":"swiglu","hidden":12}]},{"type":"residual"}]},
      {"at":[0,0,0,2],"type":"rms_norm"},
      {"at":[0,0,0,3],"type":"dense","out":11,"bias":false,"tie":"0.0.0.0:weight"})")},
      {"tied ahead",
       topology(
           R"("layers_per_cell":2,"input":{"width":4})",
           R"({"at":[0,0,0,0],"type":"dense","out":4,"bias":true,"tie":"0.0.0.1:weight"},{"at":[0,0,0,1],"type":"dense","out":4})")},
      {"links",
       topology(R"("depth":2,"rows":2,"cols":2,"layers_per_cell":1,"input":{"width":6})",
                R"({"at":[0,0,0,0],"type":"dense","out":6},{"at":[0,0,1,0],"type":"dense","out":4},
      {"at":[0,1,0,0],"links":[{"read":[0,0,0,0]},{"read":[0,0,1,0]}],"type":"dense","out":6,"merge":"concat"},
      {"at":[0,1,1,0],"links":[{"read":[0,0,0,0]}],"keep_previous":true,"merge":"add","type":"layer_norm"},
      {"at":[1,0,0,0],"type":"dense","out":6,"links":[{"send":[1,1,0,0]}]},
      {"at":[1,0,1,0],"links":[{"run":[0,0,0,0]}]},
      {"at":[1,1,0,0],"type":"dense","out":2,"merge":"avg"},
      {"at":[1,1,1,0],"type":"dense","out":9,"enabled":false})")},
  };
  return kAll;
}

inline Network network_of(const std::string& json, std::uint64_t seed = 1) {
  auto network = Network::from_json(std::string_view(json));
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  const Status status = network->initialize(seed);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return std::move(*network);
}

inline std::vector<double> values_of(const WeightStore& store) {
  WeightStore copy = store;
  std::vector<double> values(static_cast<std::size_t>(store.rows() * store.cols()));
  EXPECT_TRUE(copy.values(std::span<double>(values)).ok());
  return values;
}

// A folder that is gone after the test.
class TempFolder {
 public:
  TempFolder() {
    static int count = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("loom_checkpoint_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string file_text(const std::string& path) {
  auto text = read_text_file(path);
  EXPECT_TRUE(text.ok()) << text.status().to_string();
  return text.ok() ? *text : std::string();
}

inline Result<Entity> open_entity(const std::string& path) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  return Entity::open(std::move(source));
}

// The same bytes without a view: through a read callback.
inline SourcePtr callback_source(std::string bytes) {
  const std::uint64_t size = bytes.size();
  return source_from_callback(
      size,
      [bytes = std::move(bytes)](std::uint64_t offset, std::span<std::byte> out) {
        std::memcpy(out.data(), bytes.data() + offset, out.size());
        return Status();
      },
      "callback");
}

inline SourcePtr bytes_source(std::string_view bytes) {
  const auto span = as_bytes(bytes);
  return source_from_bytes({span.begin(), span.end()}, "bytes");
}

}  // namespace loom::test

// The result must be an error of this code whose message holds `part`.
#define LOOM_EXPECT_ERROR(expr, expected_code, part)                                 \
  do {                                                                               \
    const ::loom::Status loom_s = ::loom::test::status_of(expr);                     \
    ASSERT_FALSE(loom_s.ok()) << "expected an error with: " << (part);               \
    EXPECT_EQ(loom_s.code(), expected_code) << loom_s.to_string();                   \
    EXPECT_NE(loom_s.message().find(part), std::string::npos) << loom_s.to_string(); \
  } while (0)

namespace loom::test {
inline const Status& status_of(const Status& s) { return s; }
template <class T>
const Status& status_of(const Result<T>& r) {
  return r.status();
}
}  // namespace loom::test
