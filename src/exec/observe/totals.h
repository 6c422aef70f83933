// Statistics of all observed passes together, beside what another observer makes of each.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "exec/observe/observer.h"

namespace loom {

// Joins the events of each cell and hands them on. Cells are told apart by their paths: one that
// has gone keeps what it had.
class TotalObserver : public Observer {
 public:
  explicit TotalObserver(Observer& next) : next_(next) {}
  Status begin(const std::vector<ObservedCell>& cells) override;
  Status on_forward(const CellEvent& event) override;
  // An event_json for each observed cell, of all values so far, with the members
  // "first_bad_pass" (of first_bad, null without one). Nothing is taken.
  Json to_json() const;

 private:
  struct Total {
    ObservedCell cell;
    CellEvent event;
    std::int64_t bad_pass = -1;
  };
  Observer& next_;
  std::vector<Total> totals_;
  std::vector<std::size_t> places_;  // of the present cells in totals_
};

}  // namespace loom
