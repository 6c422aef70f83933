// Options of an online learner: keys of docs/reference/options.md.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields/fields.h"
#include "online/tracker.h"

namespace loom {

struct OnlineOptions {
  std::int64_t max_rows = 64;
  std::int64_t recent = 256, older = 0;
  double recent_share = 0.5;
  std::int64_t pending = 1024;
  std::int64_t publish_every = 1;
  std::string correct = "auto";
  double tolerance = 0.1;
  TrackerOptions tracker;
  std::string task = "0";
  std::string detector = "adwin";
  double detector_delta = 1e-4;
  bool forget = true;
  double boost = 1;
  std::int64_t boost_steps = 0;
};

template <class V>
void fields(V& v, OnlineOptions& o) {
  const auto count = [&v](std::string_view key, std::int64_t& value, FieldText doc, double min,
                          double max) { v(key, value, {.doc = doc, .min = min, .max = max}); };
  count("max_rows", o.max_rows, "rows of an answer", 1, 65536);
  count("recent", o.recent, "newest samples that batches are drawn from", 1, 1 << 24);
  count("older", o.older, "samples that are kept of those before them, a uniform choice", 0,
        1 << 24);
  v("recent_share", o.recent_share,
    {.doc = "share of a batch that comes from the newest; the rest comes from the older ones",
     .min = 0,
     .max = 1});
  count("pending", o.pending, "answers that wait for their feedback; older ones are forgotten", 1,
        1 << 20);
  count("publish_every", o.publish_every, "steps after which answers have new weights", 1, 1 << 30);
  v("correct", o.correct,
    {.doc =
         "when an output is correct: by its largest value (`argmax`), by the sign of each value, "
         "of bce (`sign`), or each within `tolerance`; `auto`: as the loss is, `argmax` for "
         "cross_entropy, `sign` for bce",
     .one_of = "auto, argmax, sign, tolerance"});
  v("tolerance", o.tolerance, {.doc = "of `correct`, for each value", .min = 0, .max = 1e30});
  count("window", o.tracker.window, "outputs of a window of the report", 1, 1 << 30);
  v("window_ms", o.tracker.window_ms,
    {.doc = "or its duration; 0: by outputs", .min = 0, .max = 1e9});
  count("rolling", o.tracker.rolling, "judged outputs that accuracies of recovery are taken over",
        1, static_cast<double>(Tracker::kMaxRolling));
  v("recover", o.tracker.recover,
    {.doc = "accuracy at which a task counts as recovered", .above = 0, .max = 1});
  v("deadline_ms", o.tracker.deadline_ms,
    {.doc = "after which an answer counts as late; 0: never", .min = 0, .max = 1e9});
  v("task", o.task, {.doc = "name of the first task; those that are detected are numbered"});
  v("detector", o.detector,
    {.doc = "of changes of the task: `adwin` (Bifet and Gavalda 2007) over the errors of outputs, "
            "or `none`",
     .one_of = "adwin, none"});
  v("detector_delta", o.detector_delta,
    {.doc = "of the detector, about the probability of a false alarm: a smaller one takes longer",
     .min = 1e-12,
     .max = 0.5});
  v("forget", o.forget, {.doc = "a change of the task forgets the samples before it"});
  v("boost", o.boost,
    {.doc = "a change of the task multiplies the learning rate", .above = 0, .max = 1000});
  count("boost_steps", o.boost_steps, "for as many steps", 0, 1 << 30);
}

}  // namespace loom
