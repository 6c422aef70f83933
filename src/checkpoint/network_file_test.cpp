// Networks through the file: what comes back, bit for bit, and what a file that contradicts itself
// is told.
#include <gtest/gtest.h>

#include <cstdlib>

#include "checkpoint/test_networks.h"
#include "support/places.h"

namespace loom {
namespace {

using namespace test;

// Saves, loads from a mapping, compares everything, saves again: the same bytes.
void round_trip(Network& network, const TempFolder& folder, const SaveOptions& options = {}) {
  EntitySections extra;
  extra.bytes = {{"chat_template", "{{ text }}"},
                 {"tokenizer", std::string("\0\1\2", 3)},
                 {"x-unknown", "kept"}};
  const std::string first = folder / "first.entity", second = folder / "second.entity";
  Status status = save_network(first, network, extra, options);
  ASSERT_TRUE(status.ok()) << status.to_string();
  auto entity = open_entity(first);
  ASSERT_TRUE(entity.ok()) << entity.status().to_string();
  status = entity->verify_all();
  EXPECT_TRUE(status.ok()) << status.to_string();
  auto loaded = load_network(*entity);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(loaded->to_json().dump(), network.to_json().dump());
  const auto before = network.params(), after = loaded->params();
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::string name = before[i].path + ":" + before[i].param->spec.role;
    EXPECT_EQ(before[i].path, after[i].path);
    EXPECT_EQ(before[i].tied, after[i].tied) << name;
    const WeightStore &a = *before[i].param->store, &b = *after[i].param->store;
    EXPECT_EQ(to_string(a.format()), to_string(b.format())) << name;
    EXPECT_EQ(values_of(a), values_of(b)) << name;
    if (options.keep_master && a.has_master()) {
      EXPECT_TRUE(std::ranges::equal(a.master(), b.master())) << name;
      EXPECT_TRUE(std::ranges::equal(a.master64(), b.master64())) << name;
    }
  }
  auto sections = read_sections(*entity);
  ASSERT_TRUE(sections.ok());
  EXPECT_EQ(sections->bytes, extra.bytes);
  status = save_network(second, *loaded, *sections, options);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_TRUE(file_text(first) == file_text(second)) << "saving again changes the file";
}

TEST(NetworkFile, RoundTripsOfEveryTopology) {
  const TempFolder folder;
  for (const NamedTopology& t : topologies()) {
    SCOPED_TRACE(t.name);
    Network network = network_of(t.json);
    round_trip(network, folder);
    ASSERT_TRUE(network.morph(default_format(DType::f64)).ok());
    round_trip(network, folder);
  }
}

TEST(NetworkFile, RoundTripsOfEveryFormat) {
  const TempFolder folder;
  for (const WeightFormat& format : all_weight_formats()) {
    if (format.layout == Layout::q4_k || format.layout == Layout::q6_k) continue;  // read only
    SCOPED_TRACE(to_string(format));
    Network network = network_of(topologies()[1].json);
    const Status status = network.morph(format);
    ASSERT_TRUE(status.ok()) << status.to_string();
    round_trip(network, folder);
    if (format.layout != Layout::plain || format.scale != ScaleKind::block)
      round_trip(network, folder, {.keep_master = true});
  }
}

// tools/readers/read_entity.py knows docs/reference/entity.md and packing.md and no code of ours.
// The file carries what each tensor must decode to.
TEST(NetworkFile, AnIndependentReaderGetsTheSameValues) {
  // The first python3 may be a user's own; the system's has what a package manager installed.
  std::string python;
  for (const char* program : {"python3", "/usr/bin/python3"})
    if (python.empty() &&
        std::system((std::string(program) + " -c 'import numpy' 2>/dev/null").c_str()) == 0)
      python = program;
  if (python.empty()) GTEST_SKIP() << "python3 with numpy is absent";
  const TempFolder folder;
  const std::string tools = loom::test::source_dir() + "/tools/readers",
                    script = folder / "check.py";
  ASSERT_TRUE(write_file(script, as_bytes(R"(import sys
sys.path.insert(0, sys.argv[1])
import read_entity, numpy
for path in sys.argv[2:]:
    e = read_entity.Entity(path)
    names = [n for n in e.tensors if not n.startswith("training/")]
    assert len(names) > 10 and e.sections["tokenizer"] == bytes(range(256))
    for n in names:
        numpy.testing.assert_array_equal(e.tensor(n).astype("f8"), e.tensor("training/" + n), n)
)"))
                  .ok());
  std::string command = python + " -B '" + script + "' '" + tools + "'";
  for (const char* format : {"f32", "f64", "f16", "i64", "u8", "i4", "i4:s4", "i4:row",
                             "i8:block32", "q4_0", "ternary", "binary"}) {
    Network network = network_of(topologies()[1].json);
    ASSERT_TRUE(network.morph(*parse_weight_format(format)).ok());
    EntitySections extra;
    for (int i = 0; i < 256; ++i) extra.bytes["tokenizer"] += static_cast<char>(i);
    SaveOptions options;
    std::vector<std::vector<double>> values;
    for (const auto& p : network.params()) {
      if (p.tied) continue;
      values.push_back(values_of(*p.param->store));
      options.state.push_back({p.path + ":" + p.param->spec.role,
                               {p.param->spec.rows, p.param->spec.cols},
                               {},
                               values.back()});
    }
    const std::string path = folder / (std::string(format) + ".entity");
    ASSERT_TRUE(save_network(path, network, extra, options).ok());
    command += " '" + path + "'";
  }
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(NetworkFile, TiedTensorsLieOnceUnderTheirOwner) {
  const TempFolder folder;
  for (const auto& [t, owner, other] : {std::tuple(1, "0.0.0.0:weight", "0.0.0.3:weight"),
                                        std::tuple(2, "0.0.0.1:weight", "0.0.0.0:weight")}) {
    Network network = network_of(topologies()[static_cast<std::size_t>(t)].json);
    ASSERT_TRUE(save_network(folder / "tied.entity", network).ok());
    auto entity = open_entity(folder / "tied.entity");
    ASSERT_TRUE(entity.ok());
    EXPECT_TRUE(entity->find_tensor(owner));
    EXPECT_FALSE(entity->find_tensor(other));
  }
}

TEST(NetworkFile, PackedWeightsStayInTheMapping) {
  const TempFolder folder;
  Network network = network_of(topologies()[1].json);
  ASSERT_TRUE(network.morph(default_format(DType::i4)).ok());
  ASSERT_TRUE(save_network(folder / "i4.entity", network).ok());
  auto source = open_source(folder / "i4.entity");
  ASSERT_TRUE(source.ok());
  auto loaded = load_network(*Entity::open(*source));
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  int mapped = 0;
  for (const auto& p : loaded->params()) {
    if (!p.param->spec.quantized) continue;
    EXPECT_FALSE(p.param->store->has_master());
    const auto bytes = p.param->store->packed()->bytes(), all = (*source)->view();
    EXPECT_TRUE(bytes.data() >= all.data() &&
                bytes.data() + bytes.size() <= all.data() + all.size());
    ++mapped;
  }
  EXPECT_GT(mapped, 5);
  source = Status(Code::internal, "");  // the network keeps the mapping
  EXPECT_EQ(values_of(*loaded->find("0.0.0.0", "weight")),
            values_of(*network.find("0.0.0.0", "weight")));
}

TEST(NetworkFile, CallbackSourceGivesTheSameNetwork) {
  const TempFolder folder;
  Network network = network_of(topologies()[1].json);
  ASSERT_TRUE(network.morph(default_format(DType::i8)).ok());
  ASSERT_TRUE(save_network(folder / "a.entity", network).ok());
  const std::string bytes = file_text(folder / "a.entity");
  for (const SourcePtr& source : {callback_source(bytes), bytes_source(bytes)}) {
    auto loaded = load_network(*Entity::open(source));
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    ASSERT_TRUE(save_network(folder / "b.entity", *loaded).ok());
    EXPECT_TRUE(file_text(folder / "b.entity") == bytes);
  }
}

TEST(NetworkFile, MastersAndTrainingState) {
  const TempFolder folder;
  Network network = network_of(topologies()[0].json);
  ASSERT_TRUE(network.morph(default_format(DType::i4)).ok());
  const std::vector<float> moment = {1, 2, 3};
  const std::vector<double> wide = {0.1, 0.2};
  const SaveOptions options{.keep_master = true,
                            .state = {{"adam.m/0.0.0.0:weight", {3}, moment, {}},
                                      {"loss", {1, 2}, {}, wide},
                                      {"none", {0}, {}, {}}}};
  ASSERT_TRUE(save_network(folder / "t.entity", network, {}, options).ok());
  auto entity = open_entity(folder / "t.entity");
  ASSERT_TRUE(entity.ok());
  EXPECT_EQ(*entity->f32("training/adam.m/0.0.0.0:weight"), moment);
  EXPECT_EQ(*entity->f64("training/loss"), wide);
  auto trained = load_network(*entity), run = load_network(*entity, {.masters = false});
  ASSERT_TRUE(trained.ok() && run.ok());
  const WeightStore &a = *network.find("0.0.0.0", "weight"),
                    &b = *trained->find("0.0.0.0", "weight"), &c = *run->find("0.0.0.0", "weight");
  EXPECT_TRUE(std::ranges::equal(a.master(), b.master()));
  EXPECT_FALSE(c.has_master());
  EXPECT_EQ(values_of(a), values_of(b));
  EXPECT_EQ(values_of(a), values_of(c));
}

// A file with a topology and tensors of any names and shapes.
using Tensors = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;
Result<Network> load_made(const TempFolder& folder, const std::string& json,
                          const Tensors& tensors) {
  const std::vector<float> values(1000);
  LOOM_ASSIGN(EntityWriter writer, EntityWriter::create(folder / "made.entity"));
  LOOM_TRY(writer.section("topology", as_bytes(json)));
  for (const auto& [name, shape] : tensors) {
    std::size_t count = 1;
    for (const std::int64_t n : shape) count *= static_cast<std::size_t>(n);
    LOOM_TRY(writer.tensor(name, TensorType::plain(DType::f32), shape,
                           std::as_bytes(std::span(values).first(count))));
  }
  LOOM_TRY(writer.finish());
  LOOM_ASSIGN(const Entity entity, open_entity(folder / "made.entity"));
  return load_network(entity);
}

TEST(NetworkFile, TensorsMustBeThoseOfTheTopology) {
  const TempFolder folder;
  const std::string json = topologies()[0].json;
  const Tensors good = {
      {"0.0.0.0:weight", {7, 5}}, {"0.0.0.0:bias", {1, 7}}, {"0.0.0.1:weight", {3, 7}}};
  EXPECT_TRUE(load_made(folder, json, good).ok());
  Tensors bad = good;
  bad[0].second = {5, 7};
  LOOM_EXPECT_ERROR(
      load_made(folder, json, bad), Code::corrupt,
      "tensor '0.0.0.0:weight': has shape [5, 7], the parameter of the topology has [7, 5]");
  bad = good;
  bad[2].first = "0.0.0.1:weights";
  LOOM_EXPECT_ERROR(load_made(folder, json, bad), Code::corrupt,
                    "asks for: '0.0.0.1:weight'; holds tensors that its topology does not know: "
                    "'0.0.0.1:weights'");
  bad = good;
  bad.push_back({"0.0.0.0:bias:master", {7, 1}});
  LOOM_EXPECT_ERROR(load_made(folder, json, bad), Code::corrupt,
                    "'0.0.0.0:bias:master': has shape [7, 1]");
  std::string i8 = json;
  i8.replace(i8.find("\"out\""), 0, "\"dtype\":\"i8\",");
  LOOM_EXPECT_ERROR(load_made(folder, i8, good), Code::corrupt,
                    "tensor '0.0.0.0:weight': is f32, the topology says i8");
}

TEST(NetworkFile, TopologyErrorsNameTheCell) {
  const TempFolder folder;
  const auto cell = [](const std::string& text) {
    return topology(R"("input":{"width":5})", R"({"at":[0,0,0,0],)" + text + "}");
  };
  LOOM_EXPECT_ERROR(load_made(folder, cell(R"("type":"dense")"), {}), Code::corrupt,
                    "cell (0,0,0,0): dense: \"out\" must be at least 1, and is missing");
  LOOM_EXPECT_ERROR(load_made(folder, cell(R"("type":"nonsense")"), {}), Code::corrupt,
                    "cell (0,0,0,0): unknown type \"nonsense\"");
  LOOM_EXPECT_ERROR(load_made(folder, cell(R"("links":[{"read":[0,0,0,0]}])"), {}), Code::corrupt,
                    "cycle");
  LOOM_EXPECT_ERROR(load_made(folder, cell(R"("links":[{"read":[0,0,9,0]}])"), {}), Code::corrupt,
                    "(0,0,0,0): links to (0,0,9,0)");
  LOOM_EXPECT_ERROR(load_made(folder, "{\"cells\":[", {}), Code::corrupt, "section 'topology': ");
  LOOM_EXPECT_ERROR(
      load_made(folder, topology(R"("depth":100,"rows":100,"input":{"width":1})", ""), {}),
      Code::corrupt, "cells listed");
  // Sizes that no machine has are refused before anything is allocated for them.
  LOOM_EXPECT_ERROR(load_made(folder,
                              topology(R"("input":{"ids":2147483647})",
                                       R"({"at":[0,0,0,0],"type":"embedding","out":500})"),
                              {}),
                    Code::corrupt, "asks for: '0.0.0.0:weight'");
}

TEST(NetworkFile, ADamagedTensorGivesNoModel) {
  const TempFolder folder;
  Network network = network_of(topologies()[1].json);
  ASSERT_TRUE(save_network(folder / "a.entity", network).ok());
  std::string bytes = file_text(folder / "a.entity");
  const Entity entity = *open_entity(folder / "a.entity");
  for (const EntityEntry& e : entity.tensors()) {
    char& byte = bytes[static_cast<std::size_t>(e.offset + e.size / 2)];
    byte ^= 4;
    LOOM_EXPECT_ERROR(load_network(*Entity::open(bytes_source(bytes))), Code::corrupt,
                      "tensor '" + e.name + "'");
    byte ^= 4;
  }
}

}  // namespace
}  // namespace loom
