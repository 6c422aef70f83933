#include "online/tracker.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace loom {
namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }
double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
Json share(std::int64_t part, std::int64_t of) {
  return of > 0 ? Json(static_cast<double>(part) / static_cast<double>(of)) : Json();
}
Json known(double value) { return value >= 0 ? Json(value) : Json(); }

}  // namespace

int LatencyHistogram::bucket(std::uint64_t ns) {
  const int bits = std::bit_width(ns);
  if (bits <= kBits) return static_cast<int>(ns);
  const int shift = bits - 1 - kBits;
  const int at = ((shift + 1) << kBits) + static_cast<int>((ns >> shift) & ((1u << kBits) - 1));
  return std::min(at, kBuckets - 1);
}

std::int64_t LatencyHistogram::upper(int bucket) {
  const int shift = (bucket >> kBits) - 1;
  if (shift < 0) return bucket;
  const std::int64_t base = (std::int64_t{1} << kBits) + (bucket & ((1 << kBits) - 1));
  return ((base + 1) << shift) - 1;
}

void LatencyHistogram::add(std::int64_t ns) {
  ns = std::max<std::int64_t>(ns, 0);
  ++buckets_[static_cast<std::size_t>(bucket(static_cast<std::uint64_t>(ns)))];
  ++count_;
  max_ = std::max(max_, ns);
}

std::int64_t LatencyHistogram::quantile(double share) const {
  if (count_ == 0 || share >= 1) return max_;
  const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (int b = 0; b < kBuckets; ++b) {
    seen += buckets_[static_cast<std::size_t>(b)];
    if (seen >= wanted) return std::min(upper(b), max_);
  }
  return max_;
}

Json LatencyHistogram::json() const {
  Json json = Json::object();
  json.set("p50", ms(quantile(0.5)));
  json.set("p99", ms(quantile(0.99)));
  json.set("p99_9", ms(quantile(0.999)));
  json.set("p100", ms(quantile(1)));
  return json;
}

Tracker::Tracker(const TrackerOptions& options, std::string task) : options_(options) {
  windows_.reserve(kMaxWindows);
  segments_.push_back({.task = std::move(task), .source = "start"});
}

void Tracker::answered(std::int64_t rows, std::int64_t wall, std::int64_t cpu, std::int64_t now) {
  if (first_ < 0) first_ = window_.begin = segments_.back().begin = last_ = now;
  // By time a window ends before the answer that is behind its end.
  const double length = options_.window_ms * 1e6;
  if (length > 0 && window_.outputs > 0 && static_cast<double>(now - window_.begin) >= length)
    close_window(now);
  outputs_ += rows;
  answers_ += 1;
  window_.outputs += rows;
  wall_.add(wall);
  if (cpu >= 0) cpu_.add(cpu);
  const double deadline = options_.deadline_ms * 1e6;
  if (deadline > 0 && static_cast<double>(wall) > deadline) {
    ++late_;
    preempted_ += cpu >= 0 && static_cast<double>(cpu) <= deadline;
  }
  last_ = now;
  if (!(length > 0) && window_.outputs >= options_.window) close_window(now);
}

void Tracker::close_window(std::int64_t now) {
  window_.end = now;
  window_.segment = std::ssize(segments_) - 1;
  if (std::ssize(windows_) < kMaxWindows) {
    windows_.push_back(window_);
  } else {
    windows_[static_cast<std::size_t>(begin_)] = window_;
    begin_ = (begin_ + 1) % kMaxWindows;
    ++dropped_;
  }
  window_ = {.first = outputs_, .begin = now};
}

// Of `count` judged outputs up to number `end`.
double Tracker::rolling(std::int64_t count, std::int64_t end) const {
  if (count < 1) return -1;
  std::int64_t right = 0;
  for (std::int64_t i = end - count; i < end; ++i) right += this->right(i);
  return static_cast<double>(right) / static_cast<double>(count);
}

double Tracker::accuracy() const {
  return rolling(std::min(options_.rolling, segments_.back().judged), judged_);
}

void Tracker::judged(bool correct, std::int64_t now) {
  outcome(judged_) = {now, correct};
  ++judged_;
  correct_ += correct;
  ++window_.judged;
  window_.correct += correct;
  Segment& s = segments_.back();
  ++s.judged;
  s.correct += correct;
  last_ = now;
  progress(now);
}

// What the accuracy of the task has reached by now.
void Tracker::progress(std::int64_t now) {
  Segment& s = segments_.back();
  if (s.judged < options_.rolling) return;
  const double reached = accuracy();
  if (s.after < 0) s.after = reached;
  const auto reach = [&](Place& place, double level) {
    if (place.output < 0 && reached >= level) place = {s.judged, now - s.begin};
  };
  reach(s.recovered, options_.recover);
  for (std::size_t i = 0; i < s.milestones.size(); ++i)
    reach(s.milestones[i], static_cast<double>(i + 1) / 10);
}

void Tracker::change(std::string task, const char* source, std::int64_t since, std::int64_t now) {
  if (window_.outputs > 0) close_window(now);
  Segment& old = segments_.back();
  since = std::min({std::max<std::int64_t>(since, 0), old.judged, kMaxRolling});
  const std::int64_t before = std::min(options_.rolling, old.judged - since);
  Segment next{.task = std::move(task), .source = source};
  next.before = rolling(before, judged_ - since);
  next.output = std::max<std::int64_t>(outputs_ - since, 0);
  next.begin = since > 0 ? outcome(judged_ - since).time : now;
  next.judged = since;
  for (std::int64_t i = judged_ - since; i < judged_; ++i) next.correct += right(i);
  old.judged -= since;
  old.correct -= next.correct;
  segments_.push_back(std::move(next));
  last_ = now;
  progress(now);
}

void Tracker::measured(std::string task, double accuracy, std::int64_t samples, std::int64_t now) {
  measurements_.push_back({std::move(task), accuracy, samples, outputs_, now});
}

Json Tracker::segment_json(const Segment& s) const {
  const auto place = [](const Place& p) {
    if (p.output < 0) return Json();
    Json json = Json::object();
    json.set("outputs", p.output);
    json.set("seconds", seconds(p.time));
    return json;
  };
  Json json = Json::object(), milestones = Json::object();
  json.set("task", s.task);
  json.set("source", s.source);
  json.set("output", s.output);
  json.set("seconds", first_ < 0 ? 0 : seconds(s.begin - first_));
  json.set("judged", s.judged);
  json.set("accuracy", share(s.correct, s.judged));
  json.set("accuracy_before", known(s.before));
  json.set("accuracy_after", known(s.after));
  json.set("recovered", place(s.recovered));
  for (std::size_t i = 0; i < s.milestones.size(); ++i)
    milestones.set(std::to_string(10 * (i + 1)), place(s.milestones[i]));
  json.set("milestones", std::move(milestones));
  return json;
}

Json Tracker::window_json(const Window& w) const {
  Json json = Json::object();
  json.set("output", w.first);
  json.set("outputs", w.outputs);
  json.set("judged", w.judged);
  json.set("correct", w.correct);
  json.set("accuracy", share(w.correct, w.judged));
  json.set("seconds", seconds(w.begin - first_));
  json.set("duration", seconds(w.end - w.begin));
  json.set(
      "outputs_per_second",
      w.end > w.begin ? Json(static_cast<double>(w.outputs) / seconds(w.end - w.begin)) : Json());
  json.set("task", segments_[static_cast<std::size_t>(w.segment)].task);
  return json;
}

Json Tracker::latency_json() const {
  const bool deadline = options_.deadline_ms > 0, cpu = cpu_.count() > 0;
  Json json = Json::object();
  json.set("answers", answers_);
  json.set("wall_ms", wall_.json());
  json.set("cpu_ms", cpu ? cpu_.json() : Json());
  json.set("deadline_ms", deadline ? Json(options_.deadline_ms) : Json());
  json.set("late", deadline ? Json(late_) : Json());
  json.set("preempted", deadline && cpu ? Json(preempted_) : Json());
  json.set("in_time", deadline ? share(answers_ - late_, answers_) : Json());
  return json;
}

// How far each task is below the best that was measured of it (Chaudhry et al., ECCV 2018,
// arXiv 1801.10112).
Json Tracker::forgetting_json() const {
  Json list = Json::array();
  for (auto m = measurements_.begin(); m != measurements_.end(); ++m) {
    const auto same = [&](const Measurement& other) { return other.task == m->task; };
    if (std::any_of(measurements_.begin(), m, same)) continue;
    double best = m->accuracy, last = m->accuracy;
    for (const Measurement& other : measurements_)
      if (same(other)) best = std::max(best, other.accuracy), last = other.accuracy;
    Json json = Json::object();
    json.set("task", m->task);
    json.set("best", best);
    json.set("last", last);
    json.set("forgetting", best - last);
    list.push(std::move(json));
  }
  return list;
}

void Tracker::report(Json& json) const {
  const std::int64_t spent = first_ < 0 ? 0 : last_ - first_;
  json.set("outputs", outputs_);
  json.set("judged", judged_);
  json.set("correct", correct_);
  json.set("accuracy", share(correct_, judged_));
  json.set("seconds", seconds(spent));
  json.set("outputs_per_second",
           spent > 0 ? Json(static_cast<double>(outputs_) / seconds(spent)) : Json());
  json.set("latency", latency_json());
  Json tasks = Json::array(), windows = Json::array(), measured = Json::array();
  for (const Segment& s : segments_) tasks.push(segment_json(s));
  for (std::int64_t i = 0; i < std::ssize(windows_); ++i)
    windows.push(
        window_json(windows_[static_cast<std::size_t>((begin_ + i) % std::ssize(windows_))]));
  if (window_.outputs > 0) {
    Window open = window_;
    open.end = last_;
    open.segment = std::ssize(segments_) - 1;
    windows.push(window_json(open));
  }
  for (const Measurement& m : measurements_) {
    Json one = Json::object();
    one.set("task", m.task);
    one.set("accuracy", m.accuracy);
    one.set("samples", m.samples);
    one.set("output", m.output);
    one.set("seconds", first_ < 0 ? 0 : seconds(m.time - first_));
    measured.push(std::move(one));
  }
  json.set("tasks", std::move(tasks));
  json.set("windows", std::move(windows));
  json.set("dropped_windows", dropped_);
  json.set("measurements", std::move(measured));
  json.set("forgetting", forgetting_json());
}

}  // namespace loom
