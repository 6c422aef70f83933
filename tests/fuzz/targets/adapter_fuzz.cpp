// Adapters of PEFT: a two-byte little-endian length, that many bytes of adapter_config.json, then
// adapter_model.safetensors. An adapter that fits its network, or a refusal that names the folder.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files/bytes.h"
#include "checkpoint/adapter_file.h"
#include "fuzz.h"
#include "mutate.h"

namespace {

using namespace loom;

void write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

FUZZ_TARGET(data, size) {
  static Network network = std::move(*Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
    {"at":[0,0,0,0],"type":"dense","out":4},{"at":[0,0,0,1],"type":"dense","out":2}]})")));
  static const std::vector<AdapterPlace> places = adapter_places(network);
  static const std::string folder = [] {
    const bool memory = ::access("/dev/shm", W_OK) == 0;
    const std::string made =
        (memory ? "/dev/shm/" : "/tmp/") + ("loom_adapter_fuzz." + std::to_string(::getpid()));
    std::filesystem::create_directories(made);
    return made;
  }();
  if (size < 2) return;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t length = std::min<std::size_t>(load_le<std::uint16_t>(data), size - 2);
  write(folder + "/adapter_config.json", input.substr(2, length));
  write(folder + "/adapter_model.safetensors", input.substr(2 + length));
  auto adapter = load_adapter(folder, places);
  if (!adapter.ok()) {
    FUZZ_CHECK(adapter.status().code() != Code::internal && adapter.status().code() != Code::io);
    FUZZ_CHECK(adapter.status().message().find(folder) != std::string::npos);
    return;
  }
  const Status fits = adapter->fit(network);
  FUZZ_CHECK(fits.ok() || !fits.message().empty());
}

FUZZ_MUTATOR(file, dice) {
  if (file.size() < 2) return fuzz::mutate_part(file, 0, file.size());
  const std::size_t length =
      std::min<std::size_t>(load_le<std::uint16_t>(file.data()), file.size() - 2);
  std::string config = file.substr(2, length), rest = file.substr(2 + length);
  std::string& part = dice.one_in(2) ? config : rest;
  if (dice.one_in(2)) fuzz::mutate_number(part, dice);
  else fuzz::mutate_in_place(part, 0, part.size());
  std::string head(2, '\0');
  store_le<std::uint16_t>(head.data(),
                          static_cast<std::uint16_t>(std::min<std::size_t>(config.size(), 65535)));
  file = head + config + rest;
}
