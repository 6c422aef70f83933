#include "exec/observe/observer.h"

#include <cmath>

namespace loom {

Json event_json(const ObservedCell& cell, const CellEvent& event) {
  const CellStatistics& s = event.statistics;
  const auto number = [&](double v) {
    return s.finite() > 0 && std::isfinite(v) ? Json(v) : Json();
  };
  Json at = Json::array();
  for (const std::int64_t v : {cell.at.z, cell.at.y, cell.at.x, cell.at.l}) at.push(v);
  Json bad;
  if (s.bad_row >= 0) {
    bad = Json::array();
    bad.push(s.bad_row);
    bad.push(s.bad_column);
  }
  Json json = Json::object();
  json.set("direction", std::string(cell.direction));
  json.set("pass", event.pass);
  if (event.step > 0) json.set("step", event.step);
  json.set("passes", event.passes);
  json.set("path", cell.path);
  if (!cell.role.empty()) json.set("role", cell.role);
  json.set("at", std::move(at));
  json.set("type", cell.type);
  json.set("enabled", cell.enabled);
  json.set("mean", number(s.mean));
  json.set("std", number(s.std()));
  json.set("min", number(s.min));
  json.set("max", number(s.max));
  json.set("active_share", s.active_share());
  json.set("nan_count", s.nan_count);
  json.set("inf_count", s.inf_count);
  json.set("count", s.count);
  json.set("first_bad", std::move(bad));
  return json;
}

Status check_observe(const ObserveOptions& options) {
  if (options.every < 1)
    return Status(Code::invalid_argument,
                  "observe: every must be at least 1, got " + std::to_string(options.every));
  if (options.passes < 0)
    return Status(Code::invalid_argument, "observe: passes must be at least 0 (all), got " +
                                              std::to_string(options.passes));
  return {};
}

Status WindowObserver::begin(const std::vector<ObservedCell>& cells) {
  LOOM_TRY(flush());
  CellEvent none;
  none.passes = 0;
  open_.assign(cells.size(), none);
  return next_.begin(cells);
}

Status WindowObserver::on_forward(const CellEvent& event) {
  CellEvent& open = open_[event.cell];
  if (open.passes == 0) {
    open = event;
  } else {
    open.pass = event.pass, open.step = event.step;
    open.passes += event.passes;
    open.statistics.add(event.statistics);
  }
  if (open.passes < window_) return {};
  const CellEvent full = open;
  open.passes = 0;
  return next_.on_forward(full);
}

Status WindowObserver::flush() {
  for (CellEvent& open : open_) {
    if (open.passes == 0) continue;
    const CellEvent part = open;
    open.passes = 0;
    LOOM_TRY(next_.on_forward(part));
  }
  return {};
}

Status Recorder::begin(const std::vector<ObservedCell>& cells) {
  if (keep_ < 1 || keep_ > kMaxKept)
    return Status(Code::invalid_argument, "observe: keep must be in 1.." +
                                              std::to_string(kMaxKept) + " passes, got " +
                                              std::to_string(keep_));
  const std::size_t room = cells.size() * static_cast<std::size_t>(keep_);
  if (count_ == 0) cells_.clear();
  if (cells_.empty() || cells_.back() != cells) cells_.push_back(cells);
  if (ring_.size() == room) return {};
  dropped_ += static_cast<std::int64_t>(count_);
  first_ = count_ = 0;
  ring_.assign(room, Kept());
  return {};
}

Status Recorder::on_forward(const CellEvent& event) {
  if (count_ == ring_.size()) {
    first_ = (first_ + 1) % ring_.size();
    --count_, ++dropped_;
  }
  ring_[(first_ + count_++) % ring_.size()] = {event, cells_.size() - 1};
  return {};
}

Json Recorder::take() {
  Json events = Json::array();
  for (; count_ > 0; --count_, first_ = (first_ + 1) % ring_.size()) {
    const Kept& kept = ring_[first_];
    events.push(event_json(cells_[kept.cells][kept.event.cell], kept.event));
  }
  if (cells_.size() > 1) cells_.erase(cells_.begin(), cells_.end() - 1);
  return events;
}

}  // namespace loom
