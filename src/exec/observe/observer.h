// Who looks at the cells of a network while it runs or learns: an event per cell and observed pass,
// with statistics of the cell's output; of a trainer also of gradients.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "exec/observe/statistics.h"
#include "grid/network.h"

namespace loom {

struct ObserveOptions {
  std::int64_t every = 1;   // passes 0, every, 2 * every, ... are observed; at least 1
  std::int64_t passes = 0;  // of them the first ones alone; 0: all
  // Passes before, and those of them that were observed: a session made anew continues.
  std::int64_t passed = 0, observed = 0;
  bool nested = false;   // layers inside cells have events, too
  bool weights = false;  // of a trainer: so have the gradients of parameters
};

struct ObservedCell {
  std::string path, type;  // "0.0.0.0"; of a cell that runs another's layer that layer's type
  Coordinate at;
  bool enabled = true;
  // "forward": what it gives; "backward": the gradient of that; "weights": that of the parameter
  // `role`, whose path is this one.
  std::string_view direction = "forward";
  std::string role;
  friend bool operator==(const ObservedCell&, const ObservedCell&) = default;
};

struct CellEvent {
  std::int64_t pass = 0;    // since observation began; of a window its last
  std::int64_t step = 0;    // of a training, from 1; 0: it is none
  std::int64_t passes = 1;  // that it stands for
  std::size_t cell = 0;     // index in the list of begin()
  CellStatistics statistics;
};

// Called by the thread that runs the network, between passes. An error of one ends the run with it:
// the pass is done then, and its outputs stand.
class Observer {
 public:
  virtual ~Observer() = default;
  // Before the first event, and again where the network has changed. May allocate.
  virtual Status begin(const std::vector<ObservedCell>& cells) = 0;
  // An event of any direction; cells in the order of the list.
  virtual Status on_forward(const CellEvent& event) = 0;
};

// {"direction", "pass", "step" (of a training), "passes", "path", "role" (of weights), "at",
// "type", "enabled", "mean", "std", "min", "max" (null where no value is finite), "active_share",
// "nan_count", "inf_count", "count", "first_bad": [row, column] or null}
Json event_json(const ObservedCell& cell, const CellEvent& event);

// invalid_argument: options out of range.
Status check_observe(const ObserveOptions& options);

// Hands on one event per cell for `window` observed passes: all their values together. Passes of a
// window that is not full when observation ends are handed on by flush().
class WindowObserver : public Observer {
 public:
  WindowObserver(std::int64_t window, Observer& next) : window_(window), next_(next) {}
  Status begin(const std::vector<ObservedCell>& cells) override;
  Status on_forward(const CellEvent& event) override;
  Status flush();

 private:
  std::int64_t window_;
  Observer& next_;
  std::vector<CellEvent> open_;  // by cell; passes == 0: none
};

// Keeps the events of the last passes (or windows) until they are taken. Room for all of them is
// made by begin().
class Recorder : public Observer {
 public:
  static constexpr std::int64_t kMaxKept = 65536;
  explicit Recorder(std::int64_t keep) : keep_(keep) {}
  Status begin(const std::vector<ObservedCell>& cells) override;
  Status on_forward(const CellEvent& event) override;

  std::int64_t dropped() const { return dropped_; }  // events without room, the oldest
  // The events, oldest first, each as event_json; none are left then.
  Json take();

 private:
  std::int64_t keep_, dropped_ = 0;
  struct Kept {
    CellEvent event;
    std::size_t cells = 0;  // which of the lists describes its cell
  };
  std::vector<std::vector<ObservedCell>> cells_;  // before and after a change of the network
  std::vector<Kept> ring_;
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace loom
