// Samples that an online learner draws its batches from: a window of the newest, and of those that
// have left it a uniform choice (reservoir sampling, Vitter 1985, algorithm R). Its memory is
// allocated once. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "train/data/data.h"

namespace loom {

// One sample: values or ids, and target values or classes; the others are empty.
struct Sample {
  std::span<const float> x;
  std::span<const std::uint32_t> ids;
  std::span<const float> y;
  std::span<const std::int32_t> classes;
};

struct SampleForm {
  std::int64_t width = 0, steps = 0;     // values, or ids of a row
  std::int64_t targets = 0, places = 0;  // values, or classes of a row
  std::int64_t ids = 0, classes = 0;     // below which they are
};

class SampleMemory {
 public:
  SampleMemory() = default;
  // `recent` >= 1, `older` >= 0 samples.
  SampleMemory(const SampleForm& form, std::int64_t recent, std::int64_t older, std::uint64_t seed);

  void add(const Sample& sample);
  // Forgets all but the newest `count`.
  void keep_newest(std::int64_t count);
  std::int64_t recent() const { return recent_; }
  std::int64_t older() const { return older_; }
  const SampleForm& form() const { return form_; }

  // Appends `count` samples, drawn with replacement: round(count * share) of the window and the
  // others of the older ones, where there are some. Not of an empty memory.
  void draw(std::int64_t count, double share, Batch& batch);

 private:
  void put(std::int64_t slot, const Sample& sample);
  void move(std::int64_t from, std::int64_t to);
  void take(std::int64_t slot, Batch& batch) const;
  std::int64_t below(std::int64_t bound);
  SampleForm form_;
  std::int64_t max_recent_ = 1, max_older_ = 0;
  std::int64_t recent_ = 0, older_ = 0, next_ = 0;  // slots; where the newest goes
  std::int64_t left_ = 0;                           // samples that have left the window
  RandomStream random_{0, 0};
  std::uint64_t draws_ = 0;
  // Slots of the window, then those of the older ones.
  std::vector<float> x_, y_;
  std::vector<std::uint32_t> ids_;
  std::vector<std::int32_t> classes_;
};

// Rows that were drawn, as a data source: finite and checked when they came.
class DrawnSamples : public DataSource {
 public:
  DrawnSamples() = default;
  void set_form(const SampleForm& form) { form_ = form; }
  std::int64_t samples() const override { return batch.rows; }
  Form form() const override;
  void append(std::int64_t sample, Batch& to) const override;
  bool all_finite() const override { return true; }
  Batch batch;

 private:
  SampleForm form_;
};

}  // namespace loom
