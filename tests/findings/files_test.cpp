// Lines C1, C3, G9, G10 and G15 of the findings, at the library: outputs, links, sections.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "checkpoint/adapter_file.h"
#include "checkpoint/entity.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/test_protobuf.h"
#include "formats/safetensors/safetensors.h"
#include "formats/test_files.h"
#include "llm/embedded_model.h"
#include "llm/import/entity_model.h"
#include "loom/loom.h"
#include "support/data.h"
#include "support/devices.h"

namespace {
thread_local bool folders_do_not_flush = false;
}

// In place of the C library's, so that a folder's flush can fail as it does on a dying disk.
extern "C" int fsync(int fd) {
  struct stat info{};
  if (folders_do_not_flush && ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace loom {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

std::string text_of(const std::string& path) { return test::file_text(path); }
void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}
Status save(const std::string& path) { return write_file(path, as_bytes("new")); }
mode_t node_of(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode : 0;
}
std::size_t entries_of(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

Network small_network() {
  auto network = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"input":{"width":3},
          "cells":[{"at":[0,0,0,0],"type":"dense","out":2}]})"));
  EXPECT_TRUE(network.ok() && network->initialize(1).ok());
  return std::move(*network);
}

TEST(Findings, C1_OutputsAreRefusedBeforeTheWork) {
  const TempFolder folder;
  const std::string there = folder.path() + "/file";
  put(there, "old");
  struct Case {
    std::string path, part;
  };
  for (const Case& c : {Case{folder.path() + "/missing/x.entity", "missing does not exist"},
                        {folder.path(), "it is a folder"},
                        {folder.path() + "/", "names a folder"},
                        {there + "/x.entity", "file is not a folder"},
                        {"", "empty"},
                        {folder.path() + "/" + std::string(300, 'x'), "File name too long"}}) {
    const Status status = check_output(c.path);
    EXPECT_FALSE(status.ok()) << c.path;
    EXPECT_NE(status.message().find(c.part), std::string::npos) << status.to_string();
    EXPECT_EQ(status.to_string(),
              save(c.path).to_string());  // what the save would say, but before it
  }
  EXPECT_TRUE(check_output(folder.path() + "/new").ok());
  EXPECT_TRUE(check_output(there).ok());
  EXPECT_EQ(text_of(there), "old");
  EXPECT_EQ(entries_of(folder.path()), 1u);  // a check leaves nothing
  // Adapters are folders, made when they are saved.
  EXPECT_TRUE(check_adapter_output(folder.path() + "/adapter").ok());
  EXPECT_TRUE(check_adapter_output(folder.path() + "/adapter/").ok());
  EXPECT_NE(check_adapter_output(there).message().find("expected a folder"), std::string::npos);
  EXPECT_NE(check_adapter_output(folder.path() + "/no/adapter").message().find("no does not exist"),
            std::string::npos);
}

TEST(Findings, C3_OnlyRegularFilesAreReplaced) {
  const TempFolder folder;
  const std::string fifo = folder.path() + "/fifo", socket = folder.path() + "/socket";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socket.size(), sizeof address.sun_path);
  socket.copy(address.sun_path, socket.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  fs::create_symlink(fifo, folder.path() + "/to-fifo");
  Network network = small_network();
  const float value = 1;
  const TensorInfo tensor = tensor_from_f32("w", {1}, {&value, 1});
  struct Case {
    std::string path, part;
  };
  std::vector<Case> cases = {
      {fifo, "a FIFO"}, {socket, "a socket"}, {folder.path() + "/to-fifo", "a FIFO"}};
  if (const std::string device = test::full_device(folder.path()); !device.empty())
    cases.push_back({device, "a device"});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.path);
    const mode_t before = node_of(c.path);
    for (const Status& status : {save(c.path), save_network(c.path, network),
                                 write_safetensors(c.path, {&tensor, 1}, {})}) {
      EXPECT_EQ(status.code(), Code::invalid_argument);
      EXPECT_NE(status.message().find(c.part), std::string::npos) << status.to_string();
      EXPECT_TRUE(status.message().starts_with(c.path)) << status.to_string();
    }
    EXPECT_EQ(node_of(c.path), before);
  }
  // Streams, wherever they lead: here to a regular file, whose name is not theirs to replace.
  const std::string target = folder.path() + "/target";
  put(target, "old");
  const int stream = ::open(target.c_str(), O_RDWR);
  for (const std::string& path :
       {"/dev/fd/" + std::to_string(stream), "/proc/self/fd/" + std::to_string(stream),
        test::stdout_link(folder.path())})
    EXPECT_NE(save(path).message().find("open stream"), std::string::npos)
        << save(path).to_string();
  ::close(stream);
  EXPECT_EQ(text_of(target), "old");
}

TEST(Findings, C3_LinksStayAndTheirTargetsAreReplaced) {
  const TempFolder folder;
  const std::string a = folder.path() + "/a", b = folder.path() + "/b";
  fs::create_directories(a);
  fs::create_directories(b);
  put(b + "/file", "old");
  fs::create_symlink("../b/file", a + "/relative");
  fs::create_symlink(b + "/file", a + "/absolute");
  fs::create_symlink("relative", a + "/chain");
  fs::create_symlink("../b/fresh", a + "/dangling");
  fs::create_symlink(b, folder.path() + "/through");
  for (const std::string& name :
       {a + "/relative", a + "/absolute", a + "/chain", folder.path() + "/through/file"}) {
    put(b + "/file", "old");
    const std::string link = fs::is_symlink(name) ? fs::read_symlink(name).string() : "";
    ASSERT_TRUE(save(name).ok()) << save(name).to_string();
    EXPECT_EQ(text_of(b + "/file"), "new") << name;
    if (!link.empty()) {
      EXPECT_EQ(fs::read_symlink(name).string(), link);
    }
  }
  ASSERT_TRUE(save(a + "/dangling").ok());
  EXPECT_TRUE(fs::is_symlink(a + "/dangling"));
  EXPECT_EQ(text_of(b + "/fresh"), "new");
  EXPECT_EQ(entries_of(a), 4u);  // no temporary file, neither here
  EXPECT_EQ(entries_of(b), 2u);  // nor there

  fs::create_symlink("nowhere/file", a + "/lost");
  EXPECT_NE(save(a + "/lost").message().find("nowhere does not exist"), std::string::npos);
  fs::create_symlink("circle", a + "/circle");
  EXPECT_NE(save(a + "/circle").message().find("more than 40 links"), std::string::npos);
  EXPECT_TRUE(fs::is_symlink(a + "/lost") && fs::is_symlink(a + "/circle"));
}

// A killed writer's temporary file lies beside the target, and the next save removes it there.
TEST(Findings, C3_StaleFilesOfALinkAreRemoved) {
  const TempFolder folder;
  fs::create_directories(folder.path() + "/real");
  fs::create_symlink("real/x.entity", folder.path() + "/x.entity");
  put(folder.path() + "/real/x.entity.tmp0-999999999", "half");
  Network network = small_network();
  ASSERT_TRUE(save_network(folder.path() + "/x.entity", network).ok());
  EXPECT_TRUE(fs::exists(folder.path() + "/real/x.entity"));
  EXPECT_EQ(entries_of(folder.path() + "/real"), 1u);
}

TEST(Findings, C3_ModeAndOwnerStay) {
  const TempFolder folder;
  const std::string path = folder.path() + "/file";
  for (const mode_t mode : {0600, 0640, 0666, 0755}) {
    put(path, "old");
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_TRUE(save(path).ok());
    EXPECT_EQ(node_of(path) & 07777, mode);
  }
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path.c_str(), 12345, 23456), 0);
  ASSERT_TRUE(save(path).ok());
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 12345u);
  EXPECT_EQ(info.st_gid, 23456u);
}

// For root too, who may write to any file.
TEST(Findings, C3_ReadOnlyFilesAreRefused) {
  const TempFolder folder;
  const std::string path = folder.path() + "/file";
  put(path, "old");
  for (const mode_t mode : {0444, 0400, 0000, 0555}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const Status status = save(path);
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_NE(status.message().find("read-only (mode 0"), std::string::npos) << status.to_string();
  }
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(entries_of(folder.path()), 1u);
}

TEST(Findings, G15_AFolderThatDoesNotFlushIsReported) {
  const TempFolder folder;
  const std::string path = folder.path() + "/file";
  folders_do_not_flush = true;
  const Status status = save(path);
  folders_do_not_flush = false;
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_NE(
      status.message().find("is written, but its folder cannot be flushed: Input/output error"),
      std::string::npos)
      << status.to_string();
  EXPECT_EQ(text_of(path), "new");
  EXPECT_TRUE(save(path).ok());
}

// The embedded model's file with one bit of its tokenizer turned over.
std::vector<std::byte> damaged_model() {
  const SourcePtr source = *embedded_source();
  std::vector<std::byte> bytes = *read_all(*source);
  const Entity file = *Entity::open(source);
  const EntityEntry* section = file.find_section("tokenizer");
  bytes[static_cast<std::size_t>(section->offset + section->size / 2)] ^= std::byte{4};
  return bytes;
}

TEST(Findings, G9_ADamagedTokenizerIsNotDropped) {
  const TempFolder folder;
  const std::string path = folder.path() + "/out.entity";
  put(path, "old");
  auto model = load_model(source_from_bytes(damaged_model(), "damaged.entity"));
  ASSERT_TRUE(model.ok()) << model.status().to_string();  // it runs by ids
  const Status status = save_model(path, *model);
  EXPECT_EQ(status.code(), Code::corrupt);
  EXPECT_NE(status.message().find("its tokenizer cannot be saved"), std::string::npos)
      << status.to_string();
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(entries_of(folder.path()), 1u);
  // A model without one is another thing.
  model->tokenizer = Status(Code::not_found, "made without one");
  EXPECT_TRUE(save_model(path, *model).ok());
}

TEST(Findings, G9_ATokenizerThatIsThereIsReadOrRefused) {
  LOOM_TEST_FILE(stories, "tales/hf");
  const TempFolder folder;
  const std::string hf = folder.path() + "/hf", out = folder.path() + "/out.entity";
  fs::create_directories(hf);
  for (const char* name : {"config.json", "model.safetensors"})
    fs::copy(stories + std::string("/") + name, hf);
  const auto saved = [&] {
    auto model = load_model(hf);
    return model.ok() ? save_model(out, *model) : model.status();
  };
  EXPECT_TRUE(saved().ok());  // none: the model runs by ids
  fs::remove(out);
  const std::string tokenizer = hf + "/tokenizer.json";
  put(tokenizer, "{\"model\": {");
  EXPECT_EQ(saved().code(), Code::corrupt) << saved().to_string();
  put(tokenizer, R"({"model":{"type":"Unigram","vocab":[]}})");
  EXPECT_EQ(saved().code(), Code::unsupported) << saved().to_string();
  fs::remove(tokenizer);
  fs::create_directories(tokenizer);
  EXPECT_FALSE(saved().ok());
  fs::remove(tokenizer);
  fs::create_symlink("not-downloaded", tokenizer);
  EXPECT_EQ(saved().code(), Code::io) << saved().to_string();
  fs::remove(tokenizer);
  put(hf + "/tokenizer.model", "sentencepiece");
  EXPECT_EQ(saved().code(), Code::unsupported) << saved().to_string();
  EXPECT_FALSE(fs::exists(out));
}

// A file's own sections go where its network goes: without "inputs", loom predict would not know
// it.
TEST(Findings, G9_SectionsThatNobodyReadsStay) {
  const TempFolder folder;
  const std::string in = folder.path() + "/in.entity", out = folder.path() + "/out.entity";
  Network network = small_network();
  EntitySections sections;
  sections.bytes["inputs"] = "{\"labels\":[\"a\",\"b\"]}";
  sections.bytes["of others"] = std::string("\0\1\2", 3);
  ASSERT_TRUE(save_network(in, network, sections).ok());
  loom_network handle = 0, copy = 0;
  ASSERT_EQ(loom_network_load(in.data(), in.size(), &handle, nullptr), LOOM_OK);
  ASSERT_EQ(loom_network_copy(handle, &copy, nullptr), LOOM_OK);
  for (const loom_network one : {handle, copy}) {
    ASSERT_EQ(loom_network_save(one, out.data(), out.size(), nullptr), LOOM_OK);
    EXPECT_EQ(text_of(out), text_of(in));
    EXPECT_EQ(loom_release(one, nullptr), LOOM_OK);
  }
  // The same of a language model.
  std::vector<std::byte> file, again;
  auto model = load_model("embedded");
  ASSERT_TRUE(model.ok());
  EntitySections with = *model_sections(*model);
  with.bytes["of others"] = "kept";
  ASSERT_TRUE(save_network(&file, model->network, with).ok());
  auto loaded = load_model(source_from_bytes(file, "model.entity"));
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  ASSERT_TRUE(save_model(&again, *loaded).ok());
  EXPECT_EQ(again, file);
}

// Figures are those of the weights that they were measured with.
TEST(Findings, G9_FiguresOfOtherWeightsAreNotKept) {
  const TempFolder folder;
  const std::string in = folder.path() + "/in.entity", out = folder.path() + "/out.entity";
  Network network = small_network();
  EntitySections sections;
  sections.bytes["report"] = "{\"loss\":1}";
  sections.bytes["inputs"] = "{}";
  ASSERT_TRUE(save_network(in, network, sections).ok());
  loom_network handle = 0;
  ASSERT_EQ(loom_network_load(in.data(), in.size(), &handle, nullptr), LOOM_OK);
  for (const bool report : {true, false}) {
    ASSERT_EQ(loom_network_save(handle, out.data(), out.size(), nullptr), LOOM_OK);
    const auto file = Entity::open(*open_source(out));
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file->find_section("report") != nullptr, report);
    EXPECT_NE(file->find_section("inputs"), nullptr);
    ASSERT_EQ(loom_network_initialize(handle, 2, nullptr), LOOM_OK);
  }
  EXPECT_EQ(loom_release(handle, nullptr), LOOM_OK);
}

// A model's weights are also saved through its network and through its trainer.
TEST(Findings, G9_ATrainedModelHasItsTokenizer) {
  const TempFolder folder;
  const std::string path = folder.path() + "/out.entity", name = "embedded", format = "f32";
  loom_model model = 0;
  loom_network network = 0;
  loom_data data = 0;
  loom_trainer trainer = 0;
  ASSERT_EQ(
      loom_model_load(name.data(), name.size(), format.data(), format.size(), &model, nullptr),
      LOOM_OK);
  ASSERT_EQ(loom_model_network(model, &network, nullptr), LOOM_OK);
  const std::vector<std::int32_t> ids = {5, 6, 7, 8, 9, 10, 11, 12, 13};
  ASSERT_EQ(loom_data_tokens(ids.data(), ids.size(), nullptr, 0, 4, &data, nullptr), LOOM_OK);
  const std::string spec = R"({"loss":"cross_entropy","steps":1,"batch":1})",
                    options = R"({"threads":1})";
  ASSERT_EQ(loom_trainer_create(network, data, spec.data(), spec.size(), options.data(),
                                options.size(), &trainer, nullptr),
            LOOM_OK);
  const std::string whole = load_model(name)->tokenizer->serialize();
  ASSERT_EQ(loom_network_save(network, path.data(), path.size(), nullptr), LOOM_OK);
  auto saved = load_model(path);
  ASSERT_TRUE(saved.ok() && saved->tokenizer.ok()) << saved.status().to_string();
  EXPECT_EQ(saved->tokenizer->serialize(), whole);
  ASSERT_EQ(loom_trainer_save(trainer, path.data(), path.size(), nullptr), LOOM_OK);
  saved = load_model(path);
  ASSERT_TRUE(saved.ok() && saved->tokenizer.ok()) << saved.status().to_string();
  EXPECT_EQ(saved->tokenizer->serialize(), whole);
  for (const loom_handle handle : {trainer, data, network, model})
    EXPECT_EQ(loom_release(handle, nullptr), LOOM_OK);
}

// org/name in a HuggingFace cache, whose files are links to blobs.
struct Cache {
  explicit Cache(const std::string& root)
      : model(root + "/models--org--name"),
        snapshot(model + "/snapshots/abc"),
        blobs(model + "/blobs") {
    fs::create_directories(snapshot);
    fs::create_directories(blobs);
  }
  void add(const std::string& name, const std::string& bytes) const {
    put(blobs + "/" + name + "-blob", bytes);
    fs::create_symlink("../../blobs/" + name + "-blob", snapshot + "/" + name);
  }
  std::string model, snapshot, blobs;
};

std::string safetensors_bytes(const std::string& folder) {
  const float value = 7;
  const TensorInfo tensor = tensor_from_f32("w", {1}, {&value, 1});
  EXPECT_TRUE(write_safetensors(folder + "/made", {&tensor, 1}, {}).ok());
  const std::string bytes = text_of(folder + "/made");
  fs::remove(folder + "/made");
  return bytes;
}

void expect_outside(const Status& status, const std::string& path, const std::string& target) {
  EXPECT_EQ(status.code(), Code::unsupported) << status.to_string();
  EXPECT_NE(status.message().find(path), std::string::npos) << status.to_string();
  EXPECT_NE(status.message().find(target), std::string::npos) << status.to_string();
}

TEST(Findings, G10_WeightsDoNotLeaveTheirFolder) {
  const TempFolder folder;
  const std::string bytes = safetensors_bytes(folder.path()),
                    secret = folder.path() + "/secret.safetensors",
                    model = folder.path() + "/model";
  put(secret, bytes);
  fs::create_directories(model + "/parts");
  const std::string single = model + "/model.safetensors";
  // Inside: a link within the folder, the folder itself by a link.
  put(model + "/parts/weights", bytes);
  fs::create_symlink("parts/weights", single);
  EXPECT_TRUE(Safetensors::open_folder(model).ok());
  fs::create_symlink(model, folder.path() + "/linked");
  EXPECT_TRUE(Safetensors::open_folder(folder.path() + "/linked").ok());
  EXPECT_TRUE(Safetensors::open_folder(model + "/../model/.").ok());
  // Outside: absolute, relative, by a chain, by a folder on the way.
  fs::create_symlink(folder.path(), model + "/up");
  fs::create_symlink("../secret.safetensors", model + "/chain");
  for (const std::string& to : {secret, std::string("../secret.safetensors"), std::string("chain"),
                                std::string("up/secret.safetensors")}) {
    fs::remove(single);
    fs::create_symlink(to, single);
    expect_outside(Safetensors::open_folder(model).status(), single, secret);
  }
  // A shard by its name in the index.
  fs::remove(single);
  put(model + "/model.safetensors.index.json", R"({"weight_map":{"w":"shard.safetensors"}})");
  fs::create_symlink(secret, model + "/shard.safetensors");
  expect_outside(Safetensors::open_folder(model).status(), model + "/shard.safetensors", secret);
  fs::remove(model + "/shard.safetensors");
  put(model + "/shard.safetensors", bytes);
  EXPECT_TRUE(Safetensors::open_folder(model).ok());
}

TEST(Findings, G10_ACacheMayLinkToItsOwnBlobs) {
  const TempFolder folder;
  const std::string bytes = safetensors_bytes(folder.path());
  const Cache cache(folder.path());
  cache.add("model.safetensors", bytes);
  EXPECT_TRUE(Safetensors::open_folder(cache.snapshot).ok());
  // The blobs of another model are outside, and so are those beside a folder that is no snapshot.
  const std::string other = folder.path() + "/models--org--other/blobs/weights";
  fs::create_directories(fs::path(other).parent_path());
  put(other, bytes);
  fs::remove(cache.snapshot + "/model.safetensors");
  fs::create_symlink(other, cache.snapshot + "/model.safetensors");
  expect_outside(Safetensors::open_folder(cache.snapshot).status(), "model.safetensors", other);
  const std::string plain = folder.path() + "/plain/snapshots/abc";
  fs::create_directories(plain);
  fs::create_directories(folder.path() + "/plain/blobs");
  put(folder.path() + "/plain/blobs/w", bytes);
  fs::create_symlink("../../blobs/w", plain + "/model.safetensors");
  expect_outside(Safetensors::open_folder(plain).status(), plain, folder.path() + "/plain/blobs/w");
}

TEST(Findings, G10_ExternalDataDoesNotLeaveTheFolder) {
  const auto model = [](const std::string& location) {
    const auto entry = [](std::string_view k, std::string_view v) {
      return test::pb_bytes(13, test::pb_bytes(1, k) + test::pb_bytes(2, v));
    };
    const std::string t =
        test::pb_tensor("w", 1, {1}, entry("location", location) + test::pb_int(14, 1));
    return test::pb_model(test::pb_graph({test::pb_node("Add", {"x", "w"}, {"y"})},
                                         {test::pb_value("x", 1, {1})},
                                         {test::pb_value("y", 1, {1})}, {t}));
  };
  const TempFolder folder;
  const std::string secret = folder.path() + "/secret", inside = folder.path() + "/model";
  fs::create_directories(inside);
  put(secret, "1234");
  put(inside + "/m.onnx", model("w.bin"));
  put(inside + "/w.bin", "1234");
  EXPECT_TRUE(onnx::open_model(inside + "/m.onnx").ok());
  fs::remove(inside + "/w.bin");
  fs::create_symlink(secret, inside + "/w.bin");
  expect_outside(onnx::open_model(inside + "/m.onnx").status(), inside + "/w.bin", secret);
  // As optimum exports lie in a cache: two folders below the blobs.
  const Cache cache(folder.path());
  fs::create_directories(cache.snapshot + "/onnx");
  put(cache.blobs + "/1", model("w.bin"));
  put(cache.blobs + "/2", "1234");
  fs::create_symlink("../../../blobs/1", cache.snapshot + "/onnx/m.onnx");
  fs::create_symlink("../../../blobs/2", cache.snapshot + "/onnx/w.bin");
  EXPECT_TRUE(onnx::open_model(cache.snapshot + "/onnx/m.onnx").ok());
}

TEST(Findings, G10_ConfigTokenizerAndAdapterDoNotLeaveTheFolder) {
  LOOM_TEST_FILE(stories, "tales/hf");
  const TempFolder folder;
  const Cache cache(folder.path());
  const std::string hf = folder.path() + "/hf", elsewhere = folder.path() + "/elsewhere";
  fs::create_directories(hf);
  fs::create_directories(elsewhere);
  for (const std::string name : {"config.json", "tokenizer.json", "model.safetensors"}) {
    cache.add(name, text_of(stories + "/" + name));
    fs::copy(stories + "/" + name, hf);
    fs::copy(stories + "/" + name, elsewhere);
  }
  auto cached = load_model(cache.snapshot);
  ASSERT_TRUE(cached.ok()) << cached.status().to_string();
  EXPECT_TRUE(cached->tokenizer.ok()) << cached->tokenizer.status().to_string();
  const auto linked = [&](const std::string& name) {
    fs::remove(hf + "/" + name);
    fs::create_symlink(elsewhere + "/" + name, hf + "/" + name);
  };
  const auto unlinked = [&](const std::string& name) {
    fs::remove(hf + "/" + name);
    if (fs::exists(stories + "/" + name)) fs::copy(stories + "/" + name, hf);
  };
  put(elsewhere + "/generation_config.json", "{}");
  for (const std::string name : {"config.json", "generation_config.json"}) {
    linked(name);
    expect_outside(load_model(hf).status(), hf + "/" + name, elsewhere + "/" + name);
    unlinked(name);
  }
  put(elsewhere + "/tokenizer_config.json", "{}");
  put(elsewhere + "/chat_template.jinja", "x");
  for (const std::string name :
       {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}) {
    linked(name);
    auto model = load_model(hf);
    ASSERT_TRUE(model.ok());
    expect_outside(model->tokenizer.status(), name, elsewhere + "/" + name);
    unlinked(name);
  }
  put(elsewhere + "/adapter_config.json", "{}");
  linked("adapter_config.json");
  expect_outside(load_adapter(hf, {}).status(), hf + "/adapter_config.json",
                 elsewhere + "/adapter_config.json");
}

}  // namespace
}  // namespace loom
