// Of the store: the networks that are there, and their answers.
#include <cmath>
#include <filesystem>

#include "bridge/compare.h"
#include "bridge/store.h"

namespace loom::bridge {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxServed = 8, kMaxComparisons = 64;

}  // namespace

// A network in memory, with its session: one run at a time.
struct Store::Served {
  explicit Served(const std::string& path) : network(Network::load(path)) {}
  Network network;
  std::mutex mutex;
};

std::shared_ptr<Store::Served> Store::served(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = networks_.find(name); found != networks_.end()) return found->second;
  }
  const auto made = or_refuse([&] { return std::make_shared<Served>(path_of(name)); });
  const std::lock_guard lock(mutex_);
  if (networks_.size() >= kMaxServed) networks_.erase(networks_.begin());
  return networks_[name] = made;
}

void Store::forget_network(const std::string& name) {
  const std::lock_guard lock(mutex_);
  networks_.erase(name);
}

Json Store::list() const {
  Json networks = Json::array();
  std::error_code ignored;
  for (const auto& one : fs::directory_iterator(options_.folder, ignored)) {
    const std::string name = one.path().stem().string();
    if (one.path().extension() != ".entity" || !is_name(name)) continue;
    Json json = Json::object();
    json.set("name", name);
    json.set("bytes", static_cast<std::int64_t>(fs::file_size(one.path(), ignored)));
    try {
      json.set("digest", checked_identity(one.path().string()));
    } catch (const http::Refusal& refusal) {
      json.set("refused",
               cli::text_in(cli::member(cli::parsed(refusal.response.body), "error"), "message"));
    }
    networks.push(std::move(json));
  }
  Json json = Json::object();
  json.set("networks", std::move(networks));
  return json;
}

Json Store::info(const std::string& name) const {
  return or_refuse(
      [&] { return cli::parsed(File(path_of(name)).info(R"({"tensors":true,"model":true})")); });
}

Json Store::run(std::string_view body) {
  const Json json = object_of(body);
  expect_keys(json, {"name", "inputs"});
  const auto served = this->served(text_of(json, "name"));
  const std::lock_guard lock(served->mutex);
  return outputs_json(outputs_of(served->network, inputs_of(array_of(json, "inputs"))));
}

// The outputs that a client has of its own network, beside those of the network here and of the
// same read anew from its file.
Json Store::compare(std::string_view body) {
  const Json json = object_of(body);
  expect_keys(json, {"name", "inputs", "outputs", "layers"});
  const std::string name = text_of(json, "name");
  const Rows inputs = inputs_of(array_of(json, "inputs"));
  const auto served = this->served(name);
  const Network reloaded = or_refuse([&] { return Network::load(path_of(name)); });
  const std::lock_guard lock(served->mutex);
  Json report = compared(json, served->network, reloaded, inputs);
  report.set("name", name);
  const std::lock_guard maps(mutex_);
  comparisons_[name] = report;
  if (comparisons_.size() > kMaxComparisons) comparisons_.erase(comparisons_.begin());
  return report;
}

Json Store::comparisons() const {
  const std::lock_guard lock(mutex_);
  Json list = Json::array();
  for (const auto& [name, report] : comparisons_) list.push(report);
  Json json = Json::object();
  json.set("comparisons", std::move(list));
  return json;
}

}  // namespace loom::bridge
