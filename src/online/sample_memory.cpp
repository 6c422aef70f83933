#include "online/sample_memory.h"

#include <algorithm>

namespace loom {
namespace {

constexpr std::uint64_t kDraws = 0x6f6e6c696e65;  // "online"

// Calls f(values, values of a sample) for what the form has.
template <class F, class X, class Ids, class Y, class Classes>
void each(const SampleForm& form, F f, X& x, Ids& ids, Y& y, Classes& classes) {
  if (form.width > 0) f(x, form.width);
  if (form.steps > 0) f(ids, form.steps);
  if (form.targets > 0) f(y, form.targets);
  if (form.places > 0) f(classes, form.places);
}

}  // namespace

SampleMemory::SampleMemory(const SampleForm& form, std::int64_t recent, std::int64_t older,
                           std::uint64_t seed)
    : form_(form), max_recent_(recent), max_older_(older), random_(seed, kDraws) {
  each(
      form_,
      [&](auto& all, std::int64_t width) {
        all.resize(static_cast<std::size_t>((recent + older) * width));
      },
      x_, ids_, y_, classes_);
}

std::int64_t SampleMemory::below(std::int64_t bound) {
  const auto max = static_cast<std::uint32_t>(std::min<std::int64_t>(bound, UINT32_MAX));
  return static_cast<std::int64_t>(random_.below(draws_++, max));
}

void SampleMemory::put(std::int64_t slot, const Sample& sample) {
  const auto copy = [slot](const auto& from, auto& to) {
    std::copy(from.begin(), from.end(), to.begin() + slot * std::ssize(from));
  };
  copy(sample.x, x_);
  copy(sample.ids, ids_);
  copy(sample.y, y_);
  copy(sample.classes, classes_);
}

void SampleMemory::move(std::int64_t from, std::int64_t to) {
  each(
      form_,
      [&](auto& all, std::int64_t width) {
        std::copy_n(all.begin() + from * width, width, all.begin() + to * width);
      },
      x_, ids_, y_, classes_);
}

void SampleMemory::add(const Sample& sample) {
  if (recent_ == max_recent_) {
    // The oldest of the window leaves it.
    ++left_;
    const std::int64_t place = older_ < max_older_ ? older_ : max_older_ > 0 ? below(left_) : 0;
    if (place < max_older_) {
      move(next_, max_recent_ + place);
      older_ = std::max(older_, place + 1);
    }
  }
  put(next_, sample);
  next_ = (next_ + 1) % max_recent_;
  recent_ = std::min(recent_ + 1, max_recent_);
}

void SampleMemory::keep_newest(std::int64_t count) {
  recent_ = std::min(std::max<std::int64_t>(count, 0), recent_);
  older_ = left_ = 0;
}

void SampleMemory::take(std::int64_t slot, Batch& batch) const {
  const auto append = [slot](const auto& all, std::int64_t width, auto& to) {
    const auto begin = all.begin() + slot * width;
    to.insert(to.end(), begin, begin + width);
  };
  append(x_, form_.width, batch.x);
  append(ids_, form_.steps, batch.ids);
  append(y_, form_.targets, batch.values);
  append(classes_, form_.places, batch.classes);
  batch.rows += 1;
}

void SampleMemory::draw(std::int64_t count, double share, Batch& batch) {
  const auto wanted = static_cast<std::int64_t>(static_cast<double>(count) * share + 0.5);
  const std::int64_t of_recent = older_ > 0 ? std::min(wanted, count) : count;
  for (std::int64_t i = 0; i < of_recent; ++i) {
    const std::int64_t age = below(recent_);  // 0: the newest
    take((next_ - 1 - age + 2 * max_recent_) % max_recent_, batch);
  }
  for (std::int64_t i = of_recent; i < count; ++i) take(max_recent_ + below(older_), batch);
}

DataSource::Form DrawnSamples::form() const {
  Form form;
  form.ids = form_.ids;
  form.width = form_.width;
  form.steps = form_.steps;
  form.targets = form_.targets;
  form.classes = form_.classes;
  form.places = std::max<std::int64_t>(form_.places, 1);
  return form;
}

void DrawnSamples::append(std::int64_t sample, Batch& to) const {
  const auto add = [sample](const auto& all, std::int64_t width, auto& list) {
    const auto begin = all.begin() + sample * width;
    list.insert(list.end(), begin, begin + width);
  };
  add(batch.x, form_.width, to.x);
  add(batch.ids, form_.steps, to.ids);
  add(batch.values, form_.targets, to.values);
  add(batch.classes, form_.places, to.classes);
  to.rows += 1;
}

}  // namespace loom
