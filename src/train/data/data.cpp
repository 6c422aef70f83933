#include "train/data/data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <type_traits>
#include <utility>

#include "base/escape.h"
#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/json/json.h"
#include "base/message.h"
#include "base/random.h"
#include "train/data/rounding.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("data: ", std::move(what)));
}

// Hashes 32-bit values as their little-endian bytes.
template <class T>
void update_u32(Sha256& sha, std::span<const T> values) {
  sha.update_u64(values.size());
  std::array<std::byte, 4096> buffer;
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t n = std::min(values.size() - i, buffer.size() / 4);
    for (std::size_t j = 0; j < n; ++j) store_le(buffer.data() + 4 * j, values[i + j]);
    sha.update(std::span(buffer).first(4 * n));
    i += n;
  }
}

}  // namespace

void Batch::clear() {
  ids.clear();
  positions.clear();
  x.clear();
  values.clear();
  wide_x.clear();
  wide_values.clear();
  classes.clear();
  weights.clear();
  rows = 0;
}

Result<std::unique_ptr<TokenData>> TokenData::create(std::vector<std::uint32_t> ids,
                                                     std::span<const std::uint64_t> document_ends,
                                                     std::int64_t length) {
  if (length < 1 || length > INT32_MAX)
    return bad(message("a sequence has 1..2^31-1 rows, got \"length\" ", length));
  auto data = std::unique_ptr<TokenData>(new TokenData);
  data->length_ = length;
  const std::uint64_t whole = ids.size();
  if (document_ends.empty()) document_ends = {&whole, 1};
  std::uint64_t begin = 0;
  for (const std::uint64_t end : document_ends) {
    if (end < begin || end > ids.size())
      return bad(message("document ends must ascend up to ", ids.size(), " ids, got ", end,
                         " after ", begin));
    for (; end - begin > 1; begin += data->pieces_.back().rows) {
      const auto rows =
          std::min<std::uint64_t>(end - begin - 1, static_cast<std::uint64_t>(length));
      data->pieces_.push_back({begin, static_cast<std::uint32_t>(rows)});
      data->longest_ = std::max(data->longest_, static_cast<std::int64_t>(rows));
    }
    begin = end;
  }
  if (data->pieces_.empty())
    return bad(message("no sequence of two ids or more in ", ids.size(), " ids"));
  for (const std::uint32_t id : ids) {
    if (id > INT32_MAX) return bad(message("id ", id, " is above 2^31-1"));
    data->limit_ = std::max(data->limit_, id + 1);
  }
  Sha256 sha;
  sha.update_text("tokens");
  update_u32(sha, std::span<const std::uint32_t>(ids));
  for (const Piece& p : data->pieces_) {
    sha.update_u64(p.begin);
    sha.update_u64(p.rows);
  }
  data->hash_ = Sha256::hex(sha.finish());
  data->ids_ = std::move(ids);
  return data;
}

bool TokenData::continues(std::int64_t sample) const {
  if (sample == 0) return false;
  const Piece& before = pieces_[static_cast<std::size_t>(sample) - 1];
  return pieces_[static_cast<std::size_t>(sample)].begin == before.begin + before.rows;
}

DataSource::Form TokenData::form() const { return {.ids = limit_, .classes = limit_}; }

void TokenData::append(std::int64_t sample, Batch& batch) const {
  const Piece& p = pieces_[static_cast<std::size_t>(sample)];
  for (std::uint32_t r = 0; r < p.rows; ++r) {
    batch.ids.push_back(ids_[p.begin + r]);
    batch.positions.push_back(r);
    batch.classes.push_back(static_cast<std::int32_t>(ids_[p.begin + r + 1]));
  }
  batch.rows += p.rows;
}

std::vector<std::uint64_t> document_ends(std::span<const std::uint32_t> ids, std::uint32_t id) {
  std::vector<std::uint64_t> ends;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == id) ends.push_back(i + 1);
  if (!ids.empty() && (ends.empty() || ends.back() != ids.size())) ends.push_back(ids.size());
  return ends;
}

namespace {

// Doubles that f32 holds, NaN and infinity among them, become what they are there.
void narrow(std::vector<double>& wide, std::vector<float>& to) {
  for (const double v : wide)
    if (v == v && static_cast<double>(static_cast<float>(v)) != v) return;
  for (const double v : wide) to.push_back(static_cast<float>(v));
  wide = {};
}

}  // namespace

Result<std::unique_ptr<ArrayData>> ArrayData::make(Arrays a, std::int64_t width,
                                                   std::int64_t targets) {
  narrow(a.wide_x, a.x);
  narrow(a.wide_y, a.y);
  const std::size_t values = a.x.size() + a.wide_x.size() + a.ids.size();
  const std::string_view what = a.ids.empty() ? " values" : " ids";
  if (width >= 1 && values == 0) return bad("got 0 rows: give at least one sample");
  if (width < 1 || values % static_cast<std::size_t>(width) != 0)
    return bad(message("expects rows of ", width, what, ", got ", values, what));
  const std::size_t rows = values / static_cast<std::size_t>(width);
  const std::size_t given = a.y.size() + a.wide_y.size();
  if (targets > 0 && given != rows * static_cast<std::size_t>(targets))
    return bad(message("expects ", rows, " rows of ", targets, " targets, got ", given, " values"));
  if (targets == 0 && (a.classes.empty() || a.classes.size() % rows != 0))
    return bad(message("expects ", rows, " classes, one per row, or as many for each, got ",
                       a.classes.size()));
  for (std::size_t i = 0; i < a.ids.size(); ++i)
    if (a.ids[i] > INT32_MAX)
      return bad(message("id ", a.ids[i], " of row ", i / static_cast<std::size_t>(width),
                         " is above 2^31-1"));
  auto data = std::unique_ptr<ArrayData>(new ArrayData);
  data->width_ = width;
  data->targets_ = targets;
  data->places_ = targets > 0 ? 1 : static_cast<std::int64_t>(a.classes.size() / rows);
  Sha256 sha;
  sha.update_text(a.ids.empty() ? "arrays" : "ids");
  sha.update_u64(static_cast<std::uint64_t>(width));
  sha.update_u64(static_cast<std::uint64_t>(targets));
  if (a.ids.empty()) sha.update_f32(a.x);
  else update_u32(sha, std::span<const std::uint32_t>(a.ids));
  sha.update_f32(a.y);
  update_u32(sha, std::span<const std::int32_t>(a.classes));
  for (const std::vector<double>* wide : {&a.wide_x, &a.wide_y})
    if (!wide->empty()) sha.update_f64(*wide);
  data->hash_ = Sha256::hex(sha.finish());
  data->wide_x_ = std::move(a.wide_x);
  data->wide_y_ = std::move(a.wide_y);
  data->x_ = std::move(a.x);
  data->ids_ = std::move(a.ids);
  data->y_ = std::move(a.y);
  data->classes_ = std::move(a.classes);
  return data;
}

Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<float> x, std::int64_t width,
                                                     std::vector<float> y, std::int64_t targets) {
  if (targets < 1) return bad("expects targets, at least one per row");
  return make({.x = std::move(x), .ids = {}, .y = std::move(y), .classes = {}}, width, targets);
}
Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<float> x, std::int64_t width,
                                                     std::vector<std::int32_t> classes) {
  return make({.x = std::move(x), .ids = {}, .y = {}, .classes = std::move(classes)}, width, 0);
}
Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<std::uint32_t> ids,
                                                     std::int64_t steps, std::vector<float> y,
                                                     std::int64_t targets) {
  if (targets < 1) return bad("expects targets, at least one per row");
  return make({.x = {}, .ids = std::move(ids), .y = std::move(y), .classes = {}}, steps, targets);
}
Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<std::uint32_t> ids,
                                                     std::int64_t steps,
                                                     std::vector<std::int32_t> classes) {
  return make({.x = {}, .ids = std::move(ids), .y = {}, .classes = std::move(classes)}, steps, 0);
}

Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<double> x, std::int64_t width,
                                                     std::vector<double> y, std::int64_t targets) {
  if (targets < 1) return bad("expects targets, at least one per row");
  return make({{}, {}, {}, {}, std::move(x), std::move(y)}, width, targets);
}
Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<double> x, std::int64_t width,
                                                     std::vector<std::int32_t> classes) {
  return make({{}, {}, {}, std::move(classes), std::move(x), {}}, width, 0);
}
Result<std::unique_ptr<ArrayData>> ArrayData::create(std::vector<std::uint32_t> ids,
                                                     std::int64_t steps, std::vector<double> y,
                                                     std::int64_t targets) {
  if (targets < 1) return bad("expects targets, at least one per row");
  return make({{}, std::move(ids), {}, {}, {}, std::move(y)}, steps, targets);
}

DataSource::Form ArrayData::form() const {
  std::int64_t limit = 0, known = 0;
  for (const std::int32_t c : classes_) limit = std::max<std::int64_t>(limit, std::int64_t{c} + 1);
  for (const std::uint32_t id : ids_) known = std::max<std::int64_t>(known, std::int64_t{id} + 1);
  Form form{.classes = limit, .targets = targets_, .places = places_};
  if (ids_.empty()) form.width = width_;
  else form.ids = known, form.steps = width_;
  return form;
}

void ArrayData::append(std::int64_t sample, Batch& batch) const {
  const auto add = [sample]<class From, class To>(const std::vector<From>& all, std::int64_t count,
                                                  std::vector<To>& to) {
    if (all.empty()) return;
    const auto begin = all.begin() + sample * count;
    if constexpr (std::is_same_v<From, To>)
      to.insert(to.end(), begin, begin + count);  // at once: a step waits for all of its rows
    else
      std::transform(begin, begin + count, std::back_inserter(to),
                     [](From v) { return static_cast<To>(v); });
  };
  add(x_, width_, batch.x);
  add(wide_x_, width_, batch.x);
  add(wide_x_, width_, batch.wide_x);
  add(wide_y_, targets_, batch.values);
  add(wide_y_, targets_, batch.wide_values);
  add(ids_, width_, batch.ids);
  add(y_, targets_, batch.values);
  add(classes_, places_, batch.classes);
  batch.rows += 1;
}

Result<std::unique_ptr<WeightedData>> WeightedData::create(
    std::shared_ptr<const DataSource> samples, std::vector<float> weights) {
  if (static_cast<std::int64_t>(weights.size()) != samples->samples())
    return bad(message("expects a weight for each of ", samples->samples(), " samples, got ",
                       weights.size()));
  if (samples->form().weighted) return bad("these samples have weights");
  bool any = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0 && weights[i] <= 0x1p40f))
      return bad(message("weights, sample ", samples->row_of(static_cast<std::int64_t>(i)), " has ",
                         format_double(static_cast<double>(weights[i])),
                         ": a weight is in 0..2^40"));
    any = any || weights[i] > 0;
  }
  if (!any) return bad("the weights of all samples are 0");
  auto data = std::unique_ptr<WeightedData>(new WeightedData);
  Sha256 sha;
  sha.update_text("weighted " + samples->hash());
  sha.update_f32(weights);
  data->hash_ = Sha256::hex(sha.finish());
  data->of_ = std::move(samples);
  data->weights_ = std::move(weights);
  return data;
}

DataSource::Form WeightedData::form() const {
  Form form = of_->form();
  form.weighted = true;
  return form;
}

void WeightedData::append(std::int64_t sample, Batch& batch) const {
  of_->append(sample, batch);
  batch.weights.resize(static_cast<std::size_t>(batch.rows),
                       weights_[static_cast<std::size_t>(sample)]);
}

namespace {

// Looks at the values of one side, sample by sample.
class ValueCheck {
 public:
  ValueCheck(const DataSource& data, std::string name, bool missing, bool wide, bool whole,
             const std::vector<NamedPart>& parts)
      : data_(data),
        name_(std::move(name)),
        missing_(missing),
        wide_(wide),
        whole_(whole),
        parts_(parts) {}

  Status add(std::int64_t sample, std::span<const float> values, std::span<const double> before) {
    for (std::size_t c = 0; c < values.size(); ++c) {
      const auto v = static_cast<double>(values[c]), given = before.empty() ? v : before[c];
      if (!(given - given == 0) && !(missing_ && given != given))
        return bad(not_finite(sample, c, given));
      if (before.empty() || wide_) continue;
      if (given == given && (!(v - v == 0) || (whole_ && v != given)))
        return bad(message(name_, ", row ", data_.row_of(sample), ", ", column_text(parts_, c),
                           " is ", format_double(given), ", which f32 does not hold: scale it, or ",
                           with_f64()));
      columns_.resize(values.size());
      columns_[c].add(given);
    }
    return {};
  }

  Status finish() const {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string why = columns_[c].merged();
      if (!why.empty())
        return bad(message(name_, ": ", column_text(parts_, c), " ", why, ", or ", with_f64()));
    }
    return {};
  }

 private:
  std::string with_f64() const {
    return std::string(name_ == "x" ? "begin" : "end") + " with cells of the dtype f64";
  }
  std::string not_finite(std::int64_t sample, std::size_t c, double v) const {
    std::string text = name_ + ", row " + std::to_string(data_.row_of(sample)) + ", " +
                       column_text(parts_, c) + " is ";
    text += v != v ? "NaN" : v > 0 ? "infinity" : "-infinity";
    text += ": a network learns from finite values; leave the row out";
    if (name_ == "x" && v != v)
      text += ", or begin with a \"standardize\" that has \"missing\": NaN is no value to it";
    return text;
  }

  const DataSource& data_;
  std::string name_;
  bool missing_, wide_, whole_;
  const std::vector<NamedPart>& parts_;
  std::vector<Rounding> columns_;
};

}  // namespace

std::string column_text(const std::vector<NamedPart>& parts, std::size_t column) {
  auto left = static_cast<std::int64_t>(column);
  for (const NamedPart& part : parts) {
    if (left < part.columns)
      return "column " + std::to_string(left) + " of " + quoted(part.name) + " (from 0)";
    left -= part.columns;
  }
  return "column " + std::to_string(column) + " (from 0)";
}

Status check_values(const DataSource& data, const Learning& learning) {
  if (data.all_finite()) return {};
  const DataSource::Form form = data.form();
  ValueCheck x(data, "x", learning.missing, learning.wide_x, form.whole_x, learning.x_parts),
      y(data, "y", false, learning.wide_y, form.whole_y, learning.y_parts);
  Batch batch;
  for (std::int64_t i = 0; i < data.samples(); ++i) {
    batch.clear();
    data.append(i, batch);
    LOOM_TRY(x.add(i, batch.x, batch.wide_x));
    LOOM_TRY(y.add(i, batch.values, batch.wide_values));
  }
  LOOM_TRY(x.finish());
  return y.finish();
}

Permutation::Permutation(std::int64_t count, std::uint64_t seed, std::uint64_t epoch)
    : count_(static_cast<std::uint64_t>(count)), seed_(seed), epoch_(epoch) {
  // At least 2^8 positions: a Feistel network on fewer bits reaches few permutations.
  half_bits_ = std::max(4, (static_cast<int>(std::bit_width(count_)) + 1) / 2);
}

std::int64_t Permutation::operator()(std::int64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed_),
                                            static_cast<std::uint32_t>(seed_ >> 32)};
  auto v = static_cast<std::uint64_t>(i);
  // The counter's top bit keeps these draws apart from those of RandomStream with the same seed.
  do {
    std::uint64_t left = v >> half_bits_, right = v & mask;
    for (std::uint32_t round = 0; round < 6; ++round) {
      const auto r =
          philox4x32({static_cast<std::uint32_t>(right), 0x80000000u | round,
                      static_cast<std::uint32_t>(epoch_), static_cast<std::uint32_t>(epoch_ >> 32)},
                     key);
      left = std::exchange(right, (left ^ r[0]) & mask);
    }
    v = left << half_bits_ | right;
  } while (v >= count_);
  return static_cast<std::int64_t>(v);
}

}  // namespace loom
