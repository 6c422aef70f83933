// What a trainer learns from: numbered samples, read in batches, in an order that is a pure
// function of the seed and the step. Sources are immutable after creation and own their values; any
// thread may read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace loom {

// The class of samples that are not counted, unless a training says another ("ignore"), as in
// PyTorch.
inline constexpr std::int32_t kIgnoredClass = -100;

// Rows of one micro-batch. Exactly one form of input and one of target is filled; the vectors keep
// their memory between batches.
struct Batch {
  std::vector<std::uint32_t> ids,
      positions;              // tokens: one id per row; without positions: Form::steps
  std::vector<float> x;       // rows x input width
  std::vector<float> values;  // rows x target width
  // The same x and values before they were rounded, of a source that has more than f32 holds.
  std::vector<double> wide_x, wide_values;
  std::vector<std::int32_t> classes;  // Form::places per row, as they were given
  std::vector<float> weights;         // one per row, of a source that has them
  std::int64_t rows = 0;

  void clear();
};

// Whether a number can be that of a class: above 2^24 an f32 no longer holds every integer.
constexpr bool is_class(double v) {
  return v > -0x1p24 && v < 0x1p24 && v == static_cast<double>(static_cast<std::int32_t>(v));
}

class DataSource {
 public:
  virtual ~DataSource() = default;
  DataSource() = default;
  DataSource(const DataSource&) = delete;
  DataSource& operator=(const DataSource&) = delete;

  virtual std::int64_t samples() const = 0;
  // Rows of the longest sample, which are its positions too.
  virtual std::int64_t max_rows() const { return 1; }
  // What a network for this source has: values per row and targets per row, or ids below `ids` and
  // classes below `classes`.
  struct Form {
    std::int64_t ids = 0, width = 0;        // one of them
    std::int64_t classes = 0, targets = 0;  // one of them
    std::int64_t steps = 0;                 // > 0: ids of a row, which is a sequence of its own
    std::int64_t places = 1;                // classes of a row: one for each step or pixel
    bool weighted = false;                  // samples have weights
    // Values that are stored as whole numbers: a network of f32 takes none that it does not hold.
    bool whole_x = false, whole_y = false;
  };
  virtual Form form() const = 0;
  // Appends a sample's rows to the batch. 0 <= sample < samples().
  virtual void append(std::int64_t sample, Batch& batch) const = 0;
  // Values come from ids or integers: none is NaN or infinite.
  virtual bool all_finite() const {
    const Form f = form();
    return f.ids > 0 && f.targets == 0;
  }
  // A stream (streams.h): whether a sample continues the one before it, and the rows that one
  // window takes.
  virtual bool continues(std::int64_t sample) const { return sample > 0; }
  virtual std::int64_t window() const { return max_rows(); }
  // Where a sample stands in what the caller gave.
  virtual std::int64_t row_of(std::int64_t sample) const { return sample; }
  // SHA-256 of all values and their cut into samples, in hex: a checkpoint refuses other data.
  const std::string& hash() const { return hash_; }

 protected:
  std::string hash_;
};

// Nothing is learned from a value that is NaN or infinite: the error names its row and column.
// `missing`: inputs may be NaN, which the network takes for values that are not there
// (takes_missing of grid/network.h). `wide_x`, `wide_y`: they are learned in f64; otherwise a
// column that f32 does not tell apart is refused.
// Inputs and targets by name and their columns, where there are several: errors name the part.
struct NamedPart {
  std::string name;
  std::int64_t columns = 0;
};
struct Learning {
  bool missing = false, wide_x = false, wide_y = false;
  std::vector<NamedPart> x_parts{}, y_parts{};
};
// "column 5 (from 0)"; with parts "column 1 of 'right' (from 0)".
std::string column_text(const std::vector<NamedPart>& parts, std::size_t column);
Status check_values(const DataSource& data, const Learning& learning);

// A stream of ids, or documents of ids, cut into sequences of at most `length` rows, positions from
// 0 in each. A row's target is the id after it; a document's last id is a target only, so every row
// counts. A document of n ids thus has n - 1 rows.
class TokenData : public DataSource {
 public:
  // `document_ends`: the end (index after the last id) of each document, ascending; empty: all ids
  // are one stream. Documents of fewer than two ids have no row. Errors: no row at all, length < 1,
  // ends that do not ascend or pass the end.
  static Result<std::unique_ptr<TokenData>> create(std::vector<std::uint32_t> ids,
                                                   std::span<const std::uint64_t> document_ends,
                                                   std::int64_t length);

  std::int64_t samples() const override { return static_cast<std::int64_t>(pieces_.size()); }
  std::int64_t max_rows() const override { return longest_; }
  Form form() const override;
  void append(std::int64_t sample, Batch& batch) const override;
  // Unless another document begins.
  bool continues(std::int64_t sample) const override;
  std::int64_t window() const override { return length_; }

 private:
  struct Piece {
    std::uint64_t begin;
    std::uint32_t rows;
  };
  std::vector<std::uint32_t> ids_;
  std::vector<Piece> pieces_;
  std::int64_t longest_ = 0, length_ = 0;
  std::uint32_t limit_ = 0;  // above every id
};

// The index after each occurrence of `id`, and the end of the stream: documents that end with a
// special id.
std::vector<std::uint64_t> document_ends(std::span<const std::uint32_t> ids, std::uint32_t id);

// Arrays in memory; a sample is a row.
class ArrayData : public DataSource {
 public:
  // x: rows x width, y: rows x targets. Doubles that f32 holds are kept as f32, the others as they
  // are.
  static Result<std::unique_ptr<ArrayData>> create(std::vector<float> x, std::int64_t width,
                                                   std::vector<float> y, std::int64_t targets);
  // One class per row, or as many for each (a class for every step or pixel). A training checks
  // them (check_data.h): it knows the network's classes, and which number is not counted.
  static Result<std::unique_ptr<ArrayData>> create(std::vector<float> x, std::int64_t width,
                                                   std::vector<std::int32_t> classes);
  static Result<std::unique_ptr<ArrayData>> create(std::vector<double> x, std::int64_t width,
                                                   std::vector<double> y, std::int64_t targets);
  static Result<std::unique_ptr<ArrayData>> create(std::vector<double> x, std::int64_t width,
                                                   std::vector<std::int32_t> classes);
  // The same of rows of `steps` ids.
  static Result<std::unique_ptr<ArrayData>> create(std::vector<std::uint32_t> ids,
                                                   std::int64_t steps, std::vector<float> y,
                                                   std::int64_t targets);
  static Result<std::unique_ptr<ArrayData>> create(std::vector<std::uint32_t> ids,
                                                   std::int64_t steps, std::vector<double> y,
                                                   std::int64_t targets);
  static Result<std::unique_ptr<ArrayData>> create(std::vector<std::uint32_t> ids,
                                                   std::int64_t steps,
                                                   std::vector<std::int32_t> classes);

  std::int64_t samples() const override {
    return static_cast<std::int64_t>(x_.size() + wide_x_.size() + ids_.size()) / width_;
  }
  Form form() const override;
  void append(std::int64_t sample, Batch& batch) const override;

 private:
  struct Arrays {
    std::vector<float> x;
    std::vector<std::uint32_t> ids;  // one of them
    std::vector<float> y;
    std::vector<std::int32_t> classes;       // one of them
    std::vector<double> wide_x{}, wide_y{};  // in place of x and y
  };
  static Result<std::unique_ptr<ArrayData>> make(Arrays arrays, std::int64_t width,
                                                 std::int64_t targets);
  std::vector<float> x_, y_;
  std::vector<double> wide_x_, wide_y_;
  std::vector<std::uint32_t> ids_;
  std::vector<std::int32_t> classes_;
  std::int64_t width_ = 1, targets_ = 0, places_ = 1;
};

// Samples of another source, each with a weight of its loss.
class WeightedData : public DataSource {
 public:
  // Errors: not one weight for each sample, one that is negative or not finite, none above 0.
  static Result<std::unique_ptr<WeightedData>> create(std::shared_ptr<const DataSource> samples,
                                                      std::vector<float> weights);
  std::int64_t samples() const override { return of_->samples(); }
  std::int64_t max_rows() const override { return of_->max_rows(); }
  Form form() const override;
  void append(std::int64_t sample, Batch& batch) const override;
  bool all_finite() const override { return of_->all_finite(); }
  bool continues(std::int64_t sample) const override { return of_->continues(sample); }
  std::int64_t window() const override { return of_->window(); }
  std::int64_t row_of(std::int64_t sample) const override { return of_->row_of(sample); }

 private:
  std::shared_ptr<const DataSource> of_;
  std::vector<float> weights_;
};

// A permutation of 0..count-1 that needs no memory: a Feistel network over Philox, walked until it
// lands inside (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). A pure
// function of (count, seed, epoch).
class Permutation {
 public:
  Permutation(std::int64_t count, std::uint64_t seed, std::uint64_t epoch);
  // 0 <= i < count.
  std::int64_t operator()(std::int64_t i) const;

 private:
  std::uint64_t count_, seed_, epoch_;
  int half_bits_;
};

}  // namespace loom
