#include "support/memory_history.h"

#include <cstdlib>

#include "drawings/memory.h"
#include "files/files.h"
#include "files/outputs.h"
#include "support/client.h"

namespace loom::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::int64_t resident_bytes() {
  const Json report = parsed(audit(R"({"device":"cpu"})"));
  return integer_in(member(report, "memory"), "resident", -1);
}

Json known(std::int64_t bytes) { return bytes < 0 ? Json() : Json(bytes); }

}  // namespace

void bind_memory(CommandLine& c, std::string& path) {
  c.add("--memory", path,
        "write what this process holds in memory over time: a chart (.svg), or a JSON object a "
        "line")
      .type_name("FILE");
}

std::string memory_path(const std::string& option) {
  if (!option.empty() || variable("LOOM_MEMORY_HISTORY") != "1") return option;
  const std::string path = variable("LOOM_MEMORY_HISTORY_JSON");
  if (path.empty())
    throw problem(LOOM_INVALID_ARGUMENT,
                  "LOOM_MEMORY_HISTORY: LOOM_MEMORY_HISTORY_JSON names its file", kUsage);
  return path;
}

Json memory_json(const MemoryHistory::Sample& s) {
  Json json = Json::object();
  json.set("elapsed_sec", s.elapsed);
  json.set("label", s.label);
  json.set("host_weights_bytes", known(s.host_weights));
  json.set("gpu_weights_bytes", known(s.device_weights));
  json.set("gpu_kv_bytes", known(s.device_cache));
  json.set("accelerator_bytes", Json());  // WebGPU does not tell
  json.set("resident_bytes", known(s.resident));
  return json;
}

MemoryHistory::MemoryHistory(const std::string& option, const std::vector<std::string>& inputs)
    : path_(memory_path(option)) {
  if (path_.empty()) return;
  check_file_output("--memory", path_, inputs);
  now_.label = "begin";
  sample(true);
  thread_ = std::thread([this] { work(); });
}

MemoryHistory::~MemoryHistory() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void MemoryHistory::step(std::string_view label) {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  now_.label = label;
  sample(true);
}

void MemoryHistory::weights(std::int64_t host, const Json& info) {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  now_.host_weights = host;
  const Json* device = info.find("device");
  if (!device || !device->is_string()) return;
  now_.device_weights = integer_in(info, "weight_bytes", -1);
  now_.device_cache = integer_in(info, "state_bytes", -1);
}

void MemoryHistory::sample(bool named) {
  if (samples_.size() >= kMaxSamples) {
    // Every second one that has no name goes.
    std::vector<Sample> rest;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      if (samples_[i].named || i % 2 == 0) rest.push_back(std::move(samples_[i]));
    samples_ = std::move(rest);
    between_ *= 2;
  }
  now_.elapsed = watch_.seconds();
  now_.resident = resident_bytes();
  now_.named = named;
  samples_.push_back(now_);
}

void MemoryHistory::work() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, between_, [this] { return end_; })) sample(false);
}

void MemoryHistory::finish(const std::string& title) {
  if (path_.empty()) return;
  step("end");
  const std::lock_guard lock(mutex_);
  if (path_.ends_with(".svg")) return write_text(path_, memory_svg(title, samples_));
  std::string text;
  for (const Sample& s : samples_) text += memory_json(s).dump() + "\n";
  write_text(path_, text);
}

}  // namespace loom::cli
