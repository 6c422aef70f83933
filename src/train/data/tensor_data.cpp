#include "train/data/tensor_data.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/json/json.h"
#include "base/message.h"

namespace loom {
namespace {

constexpr std::uint64_t kSplitEpoch = ~std::uint64_t{0};  // no epoch of a training has this number

Status update(Sha256& sha, const TensorInfo& t) {
  for (const std::int64_t d : t.shape) sha.update_u64(static_cast<std::uint64_t>(d));
  sha.update_text(name(t.type));
  std::vector<std::byte> part;
  for (std::uint64_t at = 0; at < t.size; at += part.size()) {
    part.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(t.size - at, std::uint64_t{1} << 20)));
    LOOM_TRY(t.source->read(t.offset + at, part));
    sha.update(part);
  }
  return {};
}

}  // namespace

Status check_whole(const TensorInfo& tensor, std::int64_t width) {
  constexpr std::size_t kPart = 8192;
  const bool negative = tensor.type == StorageType::i64;
  if (!negative && tensor.type != StorageType::u64) return {};
  std::vector<std::byte> part;
  for (std::uint64_t at = 0; at < tensor.elements(); at += part.size() / 8) {
    part.resize(8 *
                static_cast<std::size_t>(std::min<std::uint64_t>(tensor.elements() - at, kPart)));
    LOOM_TRY(tensor.source->read(tensor.offset + 8 * at, part));
    for (std::size_t i = 0; i < part.size(); i += 8) {
      const auto bits = load_le<std::uint64_t>(part.data() + i);
      const bool minus = negative && bits >> 63;
      const std::uint64_t size = minus ? ~bits + 1 : bits;
      // f64 holds what 53 bits are enough for, without the zeros below them.
      if (size < std::uint64_t{1} << 53 || std::bit_width(size) - std::countr_zero(size) <= 53)
        continue;
      const std::uint64_t place = at + i / 8, columns = static_cast<std::uint64_t>(width);
      return Status(Code::invalid_argument,
                    message(tensor.source->name(), ": row ", place / columns, ", column ",
                            place % columns, " (from 0) is ", (minus ? "-" : ""), size,
                            ", and f64 does not hold every whole number above 2^53: take an offset "
                            "off the column"));
    }
  }
  return {};
}

Result<std::unique_ptr<TensorData>> TensorData::create(TensorInfo x, const TensorInfo& y,
                                                       bool classes) {
  const std::string where = x.source->name(), answers = y.source->name();
  auto bad = [](const std::string& name, const std::string& what) {
    return Status(Code::invalid_argument, message(name, ": ", what));
  };
  if (x.shape.empty() || x.shape[0] < 1 || x.elements() == 0)
    return bad(where, "has no samples: its shape is " + shape_text(x.shape));
  if (y.shape.empty() || y.shape[0] != x.shape[0])
    return bad(answers, "has the shape " + shape_text(y.shape) + ", the inputs are " +
                            std::to_string(x.shape[0]) + " samples");
  auto data = std::unique_ptr<TensorData>(new TensorData);
  data->width_ = static_cast<std::int64_t>(x.elements()) / x.shape[0];
  LOOM_TRY(check_whole(x, data->width_));
  const std::int64_t targets = static_cast<std::int64_t>(y.elements()) / y.shape[0];
  if (targets < 1 || (classes && targets != 1))
    return bad(answers, "has " + std::to_string(targets) + " values per sample, expected " +
                            (classes ? "one class" : "at least one"));
  if (classes) {
    std::vector<double> values(y.elements());
    LOOM_TRY(read_f64(y, 0, values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_class(values[i]))
        return bad(answers, "sample " + std::to_string(i) + " is " + format_double(values[i]) +
                                ": a class is a whole number");
      data->classes_.push_back(static_cast<std::int32_t>(values[i]));
      data->limit_ = std::max<std::int64_t>(data->limit_, data->classes_.back() + 1);
    }
  } else {
    data->targets_ = targets;
    data->whole_y_ = is_whole(y.type);
    LOOM_TRY(check_whole(y, targets));
    data->y_.resize(y.elements());
    LOOM_TRY(read_f32(y, 0, data->y_));
    if (is_wide(y.type)) {
      data->wide_y_.resize(y.elements());
      LOOM_TRY(read_f64(y, 0, data->wide_y_));
    }
  }
  Sha256 sha;
  sha.update_text(classes ? "tensors, classes" : "tensors");
  LOOM_TRY(update(sha, x));
  LOOM_TRY(update(sha, y));
  data->hash_ = Sha256::hex(sha.finish());
  data->wide_x_ = is_wide(x.type);
  data->x_ = std::move(x);
  return data;
}

void TensorData::append(std::int64_t sample, Batch& batch) const {
  const auto width = static_cast<std::size_t>(width_), targets = static_cast<std::size_t>(targets_),
             i = static_cast<std::size_t>(sample), at = batch.x.size();
  batch.x.resize(at + width);
  // The whole of it was read once, for the hash.
  (void)read_f32(x_, i * width, std::span(batch.x).subspan(at));
  if (wide_x_) {
    batch.wide_x.resize(at + width);
    (void)read_f64(x_, i * width, std::span(batch.wide_x).subspan(at));
  }
  const auto add = [&](const auto& all, auto& to) {
    const auto row = std::span(all).subspan(i * targets, all.empty() ? 0 : targets);
    to.insert(to.end(), row.begin(), row.end());
  };
  add(y_, batch.values);
  if (!wide_y_.empty()) add(wide_y_, batch.wide_values);
  if (!classes_.empty()) batch.classes.push_back(classes_[i]);
  batch.rows += 1;
}

Subset::Subset(const DataSource& whole, std::int64_t begin, std::int64_t count, std::uint64_t seed)
    : whole_(whole) {
  const Permutation order(whole.samples(), seed, kSplitEpoch);
  samples_.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = begin; i < begin + count; ++i) samples_.push_back(order(i));
  Sha256 sha;
  sha.update_text("subset " + whole.hash());
  for (const std::uint64_t v :
       {static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(count), seed})
    sha.update_u64(v);
  hash_ = Sha256::hex(sha.finish());
}

Subset::Subset(const DataSource& whole, std::vector<std::int64_t> samples)
    : whole_(whole), samples_(std::move(samples)) {
  Sha256 sha;
  sha.update_text("selection " + whole.hash());
  for (const std::int64_t s : samples_) sha.update_u64(static_cast<std::uint64_t>(s));
  hash_ = Sha256::hex(sha.finish());
}

namespace {

// The class of each sample, -1 where it does not count; empty where samples have no class of their
// own.
std::vector<std::int32_t> sample_classes(const DataSource& data, std::int64_t ignore) {
  const DataSource::Form form = data.form();
  std::vector<std::int32_t> classes;
  // Ids without steps are texts, whose rows have classes.
  if (form.classes < 1 || form.places != 1 || (form.ids > 0 && form.steps == 0)) return classes;
  Batch batch;
  for (std::int64_t s = 0; s < data.samples(); ++s) {
    batch.clear();
    data.append(s, batch);
    classes.push_back(batch.classes[0] == ignore ? -1 : std::max(batch.classes[0], -1));
  }
  return classes;
}

// How many samples of each class are held back: its share of `held` by largest remainders (ties:
// the lower class), one at least and all but one at most. The last entry is of the samples that do
// not count.
std::vector<std::int64_t> held_of_class(const std::vector<std::int64_t>& counts, std::int64_t held,
                                        std::int64_t samples) {
  std::vector<std::int64_t> quota(counts.size());
  std::vector<std::pair<std::int64_t, std::size_t>> remainders;
  std::int64_t left = held;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    quota[c] = held * counts[c] / samples;
    left -= quota[c];
    remainders.emplace_back(-(held * counts[c] % samples), c);
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::int64_t i = 0; i < left; ++i) ++quota[remainders[static_cast<std::size_t>(i)].second];
  for (std::size_t c = 0; c + 1 < counts.size(); ++c)
    quota[c] = counts[c] < 2 ? 0 : std::clamp<std::int64_t>(quota[c], 1, counts[c] - 1);
  return quota;
}

Result<Split> stratified(const DataSource& whole, const std::vector<std::int32_t>& classes,
                         std::int64_t held, std::uint64_t seed) {
  const auto n = static_cast<std::int64_t>(classes.size());
  const auto limit = static_cast<std::size_t>(whole.form().classes);
  const auto place = [&](std::int64_t sample) {
    const std::int32_t c = classes[static_cast<std::size_t>(sample)];
    return c < 0 ? limit : static_cast<std::size_t>(c);
  };
  std::vector<std::int64_t> counts(limit + 1);
  for (std::int64_t s = 0; s < n; ++s) ++counts[place(s)];
  if (std::none_of(counts.begin(), counts.end() - 1, [](std::int64_t c) { return c > 1; }))
    return Status(Code::invalid_argument,
                  "data: no class has two samples, so that none can be held back to judge by");
  Split split;
  for (std::size_t c = 0; c < limit; ++c)
    if (counts[c] == 1) split.single.push_back(static_cast<std::int32_t>(c));
  std::vector<std::int64_t> quota = held_of_class(counts, held, n), learned, judged;
  const Permutation order(n, seed, kSplitEpoch);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t sample = order(i);
    (quota[place(sample)]-- > 0 ? judged : learned).push_back(sample);
  }
  split.learned = std::make_unique<Subset>(whole, std::move(learned));
  split.held_back = std::make_unique<Subset>(whole, std::move(judged));
  return split;
}

}  // namespace

// How many of n samples are held back.
static Result<std::int64_t> held_of(std::int64_t n, double share) {
  if (n < 2)
    return Status(Code::invalid_argument, "data: one sample is not enough to hold some back");
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(n) + 0.5),
                                  1, n - 1);
}

Result<Split> split_end(const DataSource& whole, double share) {
  const std::int64_t n = whole.samples();
  LOOM_ASSIGN(const std::int64_t held, held_of(n, share));
  std::vector<std::int64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(n - held);
  return Split{std::make_unique<Subset>(whole, std::vector<std::int64_t>(all.begin(), end)),
               std::make_unique<Subset>(whole, std::vector<std::int64_t>(end, all.end()))};
}

Result<Split> split(const DataSource& whole, double share, std::uint64_t seed,
                    std::int64_t ignore) {
  const std::int64_t n = whole.samples();
  LOOM_ASSIGN(const std::int64_t held, held_of(n, share));
  const std::vector<std::int32_t> classes = sample_classes(whole, ignore);
  if (!classes.empty()) return stratified(whole, classes, held, seed);
  return Split{std::make_unique<Subset>(whole, held, n - held, seed),
               std::make_unique<Subset>(whole, 0, held, seed)};
}

}  // namespace loom
