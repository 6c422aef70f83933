#include "train/data/streams.h"

#include <algorithm>

#include "base/files/sha256.h"
#include "base/message.h"

namespace loom {
namespace {

// Of rows of one or several values.
template <class T>
void add_rows(const std::vector<T>& from, std::int64_t rows, std::int64_t first, std::int64_t count,
              std::vector<T>& to) {
  const auto width = static_cast<std::ptrdiff_t>(from.size()) / rows;
  const auto at = from.begin() + first * width;
  to.insert(to.end(), at, at + count * width);
}

}  // namespace

Result<std::unique_ptr<Streams>> Streams::create(const DataSource& whole, std::int64_t lanes) {
  auto data = std::unique_ptr<Streams>(new Streams(whole, lanes));
  Batch batch;
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < whole.samples(); ++i) {
    batch.clear();
    whole.append(i, batch);
    data->begin_.push_back(i > 0 && whole.continues(i) ? data->begin_.back() : rows);
    data->first_.push_back(rows);
    rows += batch.rows;
  }
  data->first_.push_back(rows);
  if (rows < lanes)
    return Status(
        Code::invalid_argument,
        message("training: ", lanes, " \"streams\" need as many rows, ", "the data has ", rows));
  data->rows_ = rows / lanes;
  data->window_ = std::min(whole.window(), data->rows_);
  Sha256 sha;
  sha.update_text("streams " + whole.hash());
  sha.update_u64(static_cast<std::uint64_t>(lanes));
  sha.update_u64(static_cast<std::uint64_t>(data->window_));
  data->hash_ = Sha256::hex(sha.finish());
  return data;
}

std::size_t Streams::sample_at(std::int64_t row) const {
  return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), row) -
                                  first_.begin()) -
         1;
}

void Streams::append(std::int64_t sample, Batch& batch) const {
  const std::int64_t lane = sample % lanes_ * rows_;
  std::int64_t row = first_row(sample);
  const std::int64_t end = std::min(row + window_, lane + rows_);
  Batch one;
  for (std::size_t s = sample_at(row); row < end; ++s) {
    one.clear();
    whole_.append(static_cast<std::int64_t>(s), one);
    const std::int64_t from = row - first_[s], count = std::min(first_[s + 1], end) - row;
    add_rows(one.ids, one.rows, from, count, batch.ids);
    add_rows(one.x, one.rows, from, count, batch.x);
    add_rows(one.values, one.rows, from, count, batch.values);
    add_rows(one.wide_x, one.rows, from, count, batch.wide_x);
    add_rows(one.wide_values, one.rows, from, count, batch.wide_values);
    add_rows(one.classes, one.rows, from, count, batch.classes);
    add_rows(one.weights, one.rows, from, count, batch.weights);
    const std::int64_t begin = std::max(lane, begin_[s]);
    for (const std::int64_t stop = row + count; row < stop; ++row)
      batch.positions.push_back(static_cast<std::uint32_t>(row - begin));
    batch.rows += count;
  }
}

}  // namespace loom
