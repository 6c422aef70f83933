#include "exec/observe/totals.h"

namespace loom {

Status TotalObserver::begin(const std::vector<ObservedCell>& cells) {
  places_.clear();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    // Mostly the network is as it was.
    std::size_t at = i;
    if (at >= totals_.size() || totals_[at].cell.path != cells[i].path)
      for (at = 0; at < totals_.size() && totals_[at].cell.path != cells[i].path;) ++at;
    if (at == totals_.size()) {
      totals_.emplace_back();
      totals_[at].event.passes = 0;
    }
    totals_[at].cell = cells[i];
    places_.push_back(at);
  }
  return next_.begin(cells);
}

Status TotalObserver::on_forward(const CellEvent& event) {
  Total& total = totals_[places_[event.cell]];
  if (total.bad_pass < 0 && event.statistics.bad_row >= 0) total.bad_pass = event.pass;
  total.event.pass = event.pass;
  total.event.passes += event.passes;
  total.event.statistics.add(event.statistics);
  return next_.on_forward(event);
}

Json TotalObserver::to_json() const {
  Json list = Json::array();
  for (const Total& total : totals_) {
    if (total.event.passes == 0) continue;
    Json json = event_json(total.cell, total.event);
    json.set("first_bad_pass", total.bad_pass < 0 ? Json() : Json(total.bad_pass));
    list.push(std::move(json));
  }
  return list;
}

}  // namespace loom
