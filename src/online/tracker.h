// What an online learner reports of its answers: windows of outputs with their accuracy, tasks with
// the time that it took to recover from their change, and how long answers took. Its memory is
// allocated once; only a task or a measurement takes more. Times are ns since the first answer.
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "online/clocks.h"

namespace loom {

struct TrackerOptions {
  std::int64_t window = 100;  // outputs
  double window_ms = 0;       // above 0: or as long
  std::int64_t rolling = 50;  // judged outputs that an accuracy is taken over
  double recover = 0.95;      // the accuracy that ends a recovery
  double deadline_ms = 0;     // 0: none
};

// How often something took how long, in steps of less than 1 %.
class LatencyHistogram {
 public:
  void add(std::int64_t ns);
  std::int64_t count() const { return count_; }
  // The value that a share of all do not exceed; 1: the largest, exactly.
  std::int64_t quantile(double share) const;
  Json json() const;  // p50, p99, p99_9, p100 in ms

 private:
  static constexpr int kBits = 7, kBuckets = (41 - kBits) << kBits;  // up to 36 minutes
  static int bucket(std::uint64_t ns);
  static std::int64_t upper(int bucket);
  std::vector<std::uint32_t> buckets_ = std::vector<std::uint32_t>(kBuckets);
  std::int64_t count_ = 0, max_ = 0;
};

class Tracker {
 public:
  static constexpr std::int64_t kMaxRolling = 1024, kMaxWindows = 1024;

  Tracker(const TrackerOptions& options, std::string task);

  // An answer of `rows` outputs that took so long, given at `now`. cpu: -1 where nothing tells it.
  void answered(std::int64_t rows, std::int64_t wall, std::int64_t cpu, std::int64_t now);
  // Whether an output was right, by its feedback.
  void judged(bool correct, std::int64_t now);
  // From the last `since` judged outputs on the task is another one.
  void change(std::string task, const char* source, std::int64_t since, std::int64_t now);
  // The accuracy of the published weights on samples of a task.
  void measured(std::string task, double accuracy, std::int64_t samples, std::int64_t now);

  const std::string& task() const { return segments_.back().task; }
  std::int64_t tasks() const { return std::ssize(segments_); }
  std::int64_t outputs() const { return outputs_; }
  std::int64_t judged_outputs() const { return judged_; }
  std::int64_t correct() const { return correct_; }
  // Over the last `rolling` judged outputs of the task; below 0 before the first.
  double accuracy() const;

  // Adds the keys of docs/reference/online.md.
  void report(Json& json) const;

 private:
  struct Place {
    std::int64_t output = -1,
                 time = -1;  // outputs, judged ones, that a task took; below 0: not yet
  };
  struct Segment {
    std::string task;
    const char* source;
    std::int64_t output = 0, begin = 0;  // outputs before it, and its time
    std::int64_t judged = 0, correct = 0;
    double before = -1, after = -1;
    Place recovered;
    std::array<Place, 10> milestones;  // accuracies of 10 % to 100 %
  };
  struct Window {
    std::int64_t first = 0, outputs = 0, judged = 0, correct = 0;
    std::int64_t begin = 0, end = 0, segment = 0;
  };
  struct Measurement {
    std::string task;
    double accuracy;
    std::int64_t samples, output, time;
  };
  double rolling(std::int64_t count, std::int64_t end) const;
  void progress(std::int64_t now);
  void close_window(std::int64_t now);
  Json segment_json(const Segment& s) const;
  Json window_json(const Window& w) const;
  Json latency_json() const;
  Json forgetting_json() const;

  TrackerOptions options_;
  std::int64_t outputs_ = 0, answers_ = 0, judged_ = 0, correct_ = 0;
  std::int64_t first_ = -1, last_ = 0;  // time of the first answer, of the last event since
  std::int64_t late_ = 0, preempted_ = 0;
  LatencyHistogram wall_, cpu_;
  // Of the last judged outputs, a ring.
  struct Outcome {
    std::int64_t time = 0;
    bool right = false;
  };
  Outcome& outcome(std::int64_t judged) {
    return outcomes_[static_cast<std::size_t>(judged % std::ssize(outcomes_))];
  }
  bool right(std::int64_t judged) const {
    return outcomes_[static_cast<std::size_t>(judged % std::ssize(outcomes_))].right;
  }
  std::vector<Outcome> outcomes_ = std::vector<Outcome>(static_cast<std::size_t>(2 * kMaxRolling));
  std::vector<Segment> segments_;
  std::vector<Window> windows_;  // a ring, the oldest at begin_
  std::int64_t begin_ = 0, dropped_ = 0;
  Window window_;
  std::vector<Measurement> measurements_;
};

}  // namespace loom
