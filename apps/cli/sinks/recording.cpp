#include "sinks/recording.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/observe/recording.h"
#include "exec/observe/totals.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr std::int64_t kAtOnce = 512;  // less than queues have room for

class Nobody : public Observer {
 public:
  Status begin(const std::vector<ObservedCell>&) override { return {}; }
  Status on_forward(const CellEvent&) override { return {}; }
};

// Totals of the cells of one direction and role.
class CellTotals {
 public:
  void add(const ObservedCell& cell, CellEvent event) {
    const auto [at, is_new] = places_.emplace(cell.path, cells_.size());
    if (is_new) cells_.push_back(cell);
    if (is_new || cells_[at->second] != cell) {
      cells_[at->second] = cell;
      static_cast<void>(totals_.begin(cells_));  // Nobody refuses nothing
    }
    event.cell = at->second;
    static_cast<void>(totals_.on_forward(event));
  }
  Json to_json() const { return totals_.to_json(); }

 private:
  Nobody nobody_;
  TotalObserver totals_{nobody_};
  std::vector<ObservedCell> cells_;
  std::unordered_map<std::string, std::size_t> places_;
};

// Calls f(event, cell, statistics) for each line.
template <class F>
void for_lines(const std::string& path, F f) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw problem(LOOM_NOT_FOUND, path + ": cannot be read", kRefused);
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    const auto wrong = [&](const std::string& what) {
      return problem(LOOM_CORRUPT, path + ": line " + std::to_string(number) + ": " + what,
                     kRefused);
    };
    const auto json = Json::parse(line);
    if (!json.ok()) throw wrong(json.status().message());
    ObservedCell cell;
    CellEvent event;
    if (const Status read = read_event(*json, cell, event); !read.ok()) throw wrong(read.message());
    const Json* direction = json->find("direction");
    if (!direction || !direction->is_string()) throw wrong("direction: expects a text");
    for (const char* key : {"t0_ns", "t1_ns"})
      if (const Json* t = json->find(key); t && !(t->is_integer() && t->as_integer() >= 0))
        throw wrong(std::string(key) + ": expects a whole number, at least 0");
    if (!f(*json, cell, event)) return;
  }
  if (in.bad()) throw problem(LOOM_IO, path + ": cannot be read", kRefused);
}

// Waits until an event is due, in steps between which Ctrl-C is seen.
class Pace {
 public:
  explicit Pace(double speed) : speed_(speed) {}
  void wait_for(const Json& event) {
    const Json* time = event.find("t1_ns");
    if (speed_ <= 0 || !time) return;
    if (first_ < 0) first_ = time->as_integer();
    const double due = static_cast<double>(time->as_integer() - first_) / 1e9 / speed_;
    while (!Interrupt::pressed()) {
      const double left = due - watch_.seconds();
      if (left <= 0) return;
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.05)));
    }
  }

 private:
  const double speed_;
  std::int64_t first_ = -1;
  const Stopwatch watch_;
};

}  // namespace

void check_recording(const std::string& path) {
  // It is read twice, which pipes are not.
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw problem(LOOM_INVALID_ARGUMENT, path + ": is no file", kRefused);
  for_lines(path, [](const Json&, const ObservedCell&, const CellEvent&) { return true; });
}

Replayed replay_recording(const std::string& path, double speed, Sinks& sinks) {
  Replayed replayed;
  std::map<std::pair<std::string, std::string>, CellTotals> totals;  // by direction and role
  Pace pace(speed);
  for_lines(path, [&](const Json& json, const ObservedCell& cell, const CellEvent& event) {
    pace.wait_for(json);
    if (Interrupt::pressed()) {
      replayed.ended = false;
      return false;
    }
    sinks.add(json);
    totals[{text_in(json, "direction"), text_in(json, "role")}].add(cell, event);
    // Where nothing waits for its time, receivers set the pace.
    if (++replayed.events % kAtOnce == 0 && speed <= 0) sinks.drain();
    return true;
  });
  for (const auto& [of, cells] : totals) {
    const Json list = cells.to_json();
    for (Json cell : list.as_array()) {
      cell.set("direction", of.first);
      if (!of.second.empty()) cell.set("role", of.second);
      replayed.passes = std::max(replayed.passes, integer_in(cell, "passes"));
      replayed.cells.push(std::move(cell));
    }
  }
  return replayed;
}

}  // namespace loom::cli
