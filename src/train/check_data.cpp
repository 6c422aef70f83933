#include "train/check_data.h"

#include <algorithm>

#include "base/json/json.h"
#include "base/message.h"
#include "grid/emit/emitter.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("training: ", std::move(what)));
}

// What the network takes must be what the data has.
Status check_form(const DataSource::Form& form, const Network& network, const TrainingSpec& spec) {
  const Shape &in = network.input(), &out = network.output();
  const Loss loss = spec.loss;
  const ClassAxis axis = network.class_axis();
  const std::string rows = form.ids == 0     ? "rows of " + std::to_string(form.width) + " values"
                           : form.steps == 0 ? "one id per row"
                                             : "rows of " + std::to_string(form.steps) + " ids";
  if ((in.ids > 0) != (form.ids > 0) ||
      (in.ids > 0 && (in.dims.empty() ? 0 : in.count()) != form.steps))
    return bad(message("the network takes ", in.to_string(), ", the data has ", rows));
  if (in.ids == 0 && form.width != in.width)
    return bad(message("the network takes ", in.to_string(), ", the data has ", rows));
  if (spec.random_translate > 0 && (in.ids > 0 || in.dims.size() < 2))
    return bad(message(
        "\"random_translate\" moves images: the network's input must be [..., height, width], it "
        "is ",
        in.to_string()));
  if (!spec.heads.empty()) {
    std::int64_t targets = 0;
    for (const HeadSpec& head : spec.heads) targets += head.targets();
    if (form.targets == targets) return {};
    return bad(message("the heads take ", targets, " target values per row, the data has ",
                       (form.targets > 0 ? std::to_string(form.targets) : "classes")));
  }
  if (!takes_classes(loss) && form.targets != out.width)
    return bad(message("the network gives ", out.width, " values per row, the data has ",
                       form.targets, " targets"));
  if (const std::size_t n = spec.weights_of_classes().size();
      n > 0 && static_cast<std::int64_t>(n) != axis.classes)
    return bad(message("\"class_weights\" has ", n, " weights, the network gives ", axis.classes,
                       " logits"));
  if (takes_classes(loss) && form.targets > 0)
    return bad("the loss cross_entropy needs classes, the data has target values");
  if (takes_classes(loss) && form.places != axis.places)
    return bad(message(
        "the network gives ", out.to_string(), ", logits for ", axis.places,
        " classes a row, the data has ", form.places,
        (axis.places > 1 && form.places == 1 ? ": end with one step, by \"output\": \"last\" of a "
                                               "recurrent layer or a pool, or flatten"
                                             : "")));
  return {};
}

// "row 3, column 1 (from 0)" of rows of `width` values, or a place in a sequence of tokens.
std::string place(const DataSource& data, std::int64_t sample, std::size_t at, std::int64_t width) {
  const DataSource::Form form = data.form();
  const bool tokens = form.ids > 0 && form.steps == 0;
  const std::string row = (tokens ? "sequence " : "row ") + std::to_string(data.row_of(sample));
  if (width == 1 && !tokens) return row;
  return row + (tokens ? ", position " : ", column ") + std::to_string(at) + " (from 0)";
}

// Columns of values of which f32 holds none: a network of f32 takes and gives 0 below kFloor.
class TinyColumns {
 public:
  static constexpr float kFloor = 0x1p-40f;
  void add(const std::vector<float>& row) {
    largest_.resize(row.size());
    for (std::size_t c = 0; c < row.size(); ++c)
      largest_[c] = std::max(largest_[c], row[c] < 0 ? -row[c] : row[c]);
  }
  Status check(const std::string& name, const std::string& cell,
               const std::vector<NamedPart>& parts) const {
    for (std::size_t c = 0; c < largest_.size(); ++c)
      if (largest_[c] > 0 && largest_[c] < kFloor)
        return bad(message(name, ", ", column_text(parts, c), " is nowhere above ",
                           format_double(static_cast<double>(largest_[c])),
                           ", and f32 is 0 below 2^-40, 9.1e-13: scale it, or ", cell,
                           " a \"standardize\" of the dtype f64"));
    return {};
  }

 private:
  std::vector<float> largest_;
};

// Ids and targets of a sample.
class SampleCheck {
 public:
  SampleCheck(const DataSource& data, const Network& network, const TrainingSpec& spec,
              const Learning& learning)
      : data_(data),
        spec_(spec),
        learning_(learning),
        input_(network.input()),
        ids_(network.input().ids),
        axis_(network.class_axis()),
        scales_inputs_(!data.all_finite() && input_type(network) == ValueType::f32),
        scales_targets_(!computes_in_f64(network.node(network.executed(network.size() - 1)))) {
    if (!spec.heads.empty()) heads_ = spec.heads;
    else if (!takes_classes(spec.loss))
      heads_.push_back({.name = "", .columns = data.form().targets, .loss = spec.loss});
    counted_.resize(heads_.size());
  }

  // Where the data's own account of itself leaves nothing to look for.
  bool needed() const {
    return ids_ > 0 || input_.has_id_parts() || heads_.empty() || !data_.all_finite() ||
           std::any_of(heads_.begin(), heads_.end(), [](const HeadSpec& h) {
             return h.loss == Loss::bce || takes_logits(h.loss);
           });
  }

  Status check(std::int64_t sample) {
    batch_.clear();
    data_.append(sample, batch_);
    if (Status ids = input_.check_ids(std::span<const float>(batch_.x), data_.row_of(sample));
        !ids.ok())
      return ids.at("training");
    const auto width = static_cast<std::int64_t>(batch_.ids.size());
    for (std::size_t i = 0; i < batch_.ids.size(); ++i)
      if (batch_.ids[i] >= ids_)
        return bad(message("ids, ", place(data_, sample, i, width), " is ", batch_.ids[i],
                           ": the network takes ids below ", ids_));
    const auto classes = static_cast<std::int64_t>(batch_.classes.size());
    for (std::size_t i = 0; i < batch_.classes.size() && heads_.empty(); ++i)
      if (!known(batch_.classes[i], axis_.classes))
        return bad(message("classes, ", place(data_, sample, i, classes),
                           class_refusal(batch_.classes[i], axis_.classes, spec_.ignore)));
    std::size_t column = 0;
    for (std::size_t h = 0; h < heads_.size(); ++h)
      for (std::int64_t i = 0; i < heads_[h].targets(); ++i, ++column) {
        LOOM_TRY(check_target(heads_[h], sample, column));
        if (batch_.values[column] != static_cast<float>(spec_.ignore)) counted_[h] = true;
      }
    if (scales_inputs_) inputs_.add(batch_.x);
    if (scales_targets_) targets_.add(batch_.values);
    return {};
  }
  Status finish(bool batch) const {
    for (std::size_t i = 0; i < heads_.size() && !batch; ++i)
      if (takes_classes(heads_[i].loss) && !counted_[i])
        return bad(
            message("head \"", name_of(heads_[i], i), "\": no row has a class that is counted"));
    LOOM_TRY(inputs_.check("x", "begin with", learning_.x_parts));
    return targets_.check("y", "end with", learning_.y_parts);
  }

 private:
  bool known(double value, std::int64_t classes) const {
    return value == static_cast<double>(spec_.ignore) ||
           (is_class(value) && value >= 0 && value < static_cast<double>(classes));
  }
  Status check_target(const HeadSpec& head, std::int64_t sample, std::size_t column) const {
    const double value = batch_.wide_values.empty() ? static_cast<double>(batch_.values[column])
                                                    : batch_.wide_values[column];
    const bool classes = takes_classes(head.loss);
    if (classes ? known(value, head.axis.classes) : takes_value(head.loss, value)) return {};
    return bad(message("y, row ", data_.row_of(sample), ", ",
                       column_text(learning_.y_parts, column),
                       (classes ? class_refusal(value, head.axis.classes, spec_.ignore)
                                : value_refusal(head.loss, value))));
  }

  const DataSource& data_;
  const TrainingSpec& spec_;
  const Learning& learning_;
  const Shape& input_;
  std::int64_t ids_;
  ClassAxis axis_;
  bool scales_inputs_, scales_targets_;  // f32 there: a column may be below what that holds
  std::vector<HeadSpec> heads_;
  std::vector<bool> counted_;  // of heads: whether a place has a target
  Batch batch_;
  TinyColumns inputs_, targets_;
};

}  // namespace

Json balanced_weights(const DataSource& data, const Network& network, std::int64_t ignore) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(network.class_axis().classes));
  Batch batch;
  for (std::int64_t i = 0; i < data.samples(); ++i) {
    batch.clear();
    data.append(i, batch);
    for (const std::int32_t c : batch.classes)
      if (c != ignore) ++counts[static_cast<std::size_t>(c)];
  }
  std::int64_t all = 0, occur = 0;
  for (const std::int64_t n : counts) all += n, occur += n > 0;
  Json list = Json::array();
  for (const std::int64_t n : counts)
    list.push(n == 0 ? 1.0
                     : static_cast<double>(all) /
                           (static_cast<double>(occur) * static_cast<double>(n)));
  return list;
}

Status check_data(const DataSource& data, const Network& network, const TrainingSpec& spec,
                  bool batch) {
  LOOM_TRY(check_form(data.form(), network, spec));
  const bool wide_x = input_type(network) == ValueType::f64,
             wide_y = computes_in_f64(network.node(network.executed(network.size() - 1)));
  Learning learning{network.takes_missing(), wide_x, wide_y};
  for (const Shape& part : network.input().parts)
    learning.x_parts.push_back({part.name, part.count()});
  for (std::size_t i = 0; i < spec.heads.size() && spec.heads.size() > 1; ++i)
    learning.y_parts.push_back({name_of(spec.heads[i], i), spec.heads[i].targets()});
  LOOM_TRY(check_values(data, learning));
  SampleCheck samples(data, network, spec, learning);
  if (!samples.needed()) return {};
  for (std::int64_t i = 0; i < data.samples(); ++i) LOOM_TRY(samples.check(i));
  return samples.finish(batch);
}

}  // namespace loom
