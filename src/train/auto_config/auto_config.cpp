#include "train/auto_config/auto_config.h"

#include <algorithm>

#include "base/escape.h"
#include "base/files/source.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "train/auto_config/parts.h"
#include "train/data/folder.h"
#include "train/data/rounding.h"

namespace loom {
namespace choosing {
namespace {

constexpr std::int64_t kMaxMeasured = 20000;  // samples from which means and scales are taken
constexpr std::int64_t kMaxHeldBack = 5000;
// f32 gives 0 below 2^-40, squared errors among it (numerics rule 8): what has such deviations is
// standardized in f64.
constexpr double kTinyInput = 0x1p-30, kTinyTarget = 0x1p-16;
constexpr double kDropout = 0.5;  // before the last layer of images and texts
// Samples to learn from, all epochs together, where there are few: of images of this many pixels,
// and fewer of larger ones, which take longer.
constexpr std::int64_t kSamplesSeen = 400000, kPixels = 28 * 28;
// Of time series, whose networks are a line: they learn fast, and to the end.
constexpr std::int64_t kSeriesSteps = 3000;
constexpr double kSeriesRate = 0.01;
constexpr std::int64_t kTextsSeen =
    20000;  // and of texts, whose networks know a few thousand by heart after some epochs

// "x -> 32 -> 3", for images after convolutions, each halved.
struct Layers {
  std::vector<std::int64_t> hidden;
  std::string activation;
  std::vector<std::int64_t> dims{}, filters{};
  bool dropout = false;
};

struct Spread {
  double n = 0, first = 0, sum = 0, squares = 0;
  void add(double v) {
    if (v != v) return;
    if (n == 0) first = v;
    const double d = v - first;
    n += 1;
    sum += d;
    squares += d * d;
  }
  // Mean, and 1 / deviation: 1 where there is none.
  double mean() const { return n > 0 ? first + sum / n : 0; }
  double deviation() const {
    const double variance = n > 0 ? (squares - sum * sum / n) / n : 0;
    // Differences to the first value are exact: a constant has none, at any size. Its inverse is an
    // f32.
    return variance > 1e-12 * squares / n ? std::max(exact::sqrt(variance), 1e-37) : 1.0;
  }
};

// f32 makes numbers of a column the same, or does not hold a whole number that is stored as one.
bool merges_inputs(const DataSource& data) {
  const DataSource::Form form = data.form();
  std::vector<Rounding> columns(static_cast<std::size_t>(form.width));
  Batch batch;
  for (std::int64_t s = 0; s < data.samples(); ++s) {
    batch.clear();
    data.append(s, batch);
    if (batch.wide_x.empty()) return false;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (form.whole_x && static_cast<double>(batch.x[c]) != batch.wide_x[c]) return true;
      columns[c].add(batch.wide_x[c]);
    }
  }
  return std::any_of(columns.begin(), columns.end(),
                     [](const Rounding& column) { return !column.merged().empty(); });
}

// Means and scales of what is learned from. `measured`: which inputs; empty: all of them as one, as
// the brightness of pixels.
void measure(AutoConfig& t, const std::vector<bool>& measured) {
  const DataSource::Form form = t.whole->form();
  const auto width = static_cast<std::size_t>(form.width),
             targets = static_cast<std::size_t>(form.targets);
  std::vector<Spread> inputs(measured.empty() ? 1 : width), values(targets);
  const auto as_held = [&](double v) {
    return t.merged_inputs ? v : static_cast<double>(static_cast<float>(v));
  };
  Batch batch;
  for (std::int64_t s = 0; s < std::min(t.split.learned->samples(), kMaxMeasured); ++s) {
    batch.clear();
    t.split.learned->append(s, batch);
    for (std::size_t i = 0; i < width; ++i)
      inputs[measured.empty() ? 0 : i].add(t.merged_inputs ? batch.wide_x[i]
                                                           : static_cast<double>(batch.x[i]));
    for (std::size_t i = 0; i < targets; ++i) values[i].add(static_cast<double>(batch.values[i]));
  }
  for (std::size_t i = 0; i < width; ++i) {
    const Spread& spread = inputs[measured.empty() ? 0 : i];
    const bool plain = !measured.empty() && !measured[i];
    t.tiny_inputs = t.tiny_inputs || (!plain && spread.deviation() < kTinyInput);
    t.mean.push_back(plain ? 0 : as_held(spread.mean()));
    t.scale.push_back(plain ? 1 : as_held(1 / spread.deviation()));
  }
  // Backwards: y = (x + mean / deviation) * deviation.
  double smallest = 1;
  for (const Spread& spread : values) {
    smallest = std::min(smallest, spread.deviation());
    t.target_mean.push_back(static_cast<float>(
        -static_cast<double>(static_cast<float>(spread.mean())) / spread.deviation()));
    t.target_scale.push_back(static_cast<float>(spread.deviation()));
  }
  // The slope of the loss is as small as the square of the deviation: as large again, as a power of
  // two.
  if (smallest >= kTinyTarget) return;
  int exponent = 0;
  (void)__builtin_frexp(smallest, &exponent);
  t.spec.loss_weight = __builtin_ldexp(1.0, -2 * exponent);
}

Json cell(std::int64_t at, std::string_view type) {
  Json place = Json::array(), json = Json::object();
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, at})
    place.push(v);
  json.set("at", std::move(place));
  json.set("type", type);
  return json;
}

Json numbers(std::initializer_list<std::int64_t> values) {
  Json list = Json::array();
  for (const std::int64_t v : values) list.push(v);
  return list;
}

Json topology(std::int64_t width, const Layers& layers, std::int64_t out, bool values,
              const AutoConfig& t) {
  Json cells = Json::array();
  std::int64_t at = 0;
  Json first = cell(at++, "standardize");
  first.set("missing", true);
  if (t.tiny_inputs || t.merged_inputs) first.set("dtype", "f64");
  cells.push(std::move(first));
  for (const std::int64_t filters : layers.filters) {
    Json conv = cell(at++, "conv2d");
    conv.set("filters", filters);
    conv.set("kernel", numbers({3, 3}));
    conv.set("padding", numbers({1}));
    conv.set("activation", layers.activation);
    cells.push(std::move(conv));
    Json pool = cell(at++, "max_pool2d");
    pool.set("kernel", numbers({2}));
    cells.push(std::move(pool));
  }
  if (!layers.filters.empty()) cells.push(cell(at++, "flatten"));
  for (const std::int64_t hidden : layers.hidden) {
    Json dense = cell(at++, "dense");
    dense.set("out", hidden);
    dense.set("activation", layers.activation);
    cells.push(std::move(dense));
  }
  if (layers.dropout) {
    Json dropout = cell(at++, "dropout");
    dropout.set("rate", kDropout);
    cells.push(std::move(dropout));
  }
  Json last = cell(at++, "dense");
  last.set("out", out);
  cells.push(std::move(last));
  if (values) {
    Json back = cell(at++, "standardize");
    if (t.spec.loss_weight != 1) back.set("dtype", "f64");
    cells.push(std::move(back));
  }
  Json json = Json::object(), input = Json::object();
  json.set("format", "loom-topology");
  json.set("version", 1);
  json.set("layers_per_cell", at);
  if (layers.dims.empty()) {
    input.set("width", width);
  } else {
    Json dims = Json::array();
    for (const std::int64_t d : layers.dims) dims.push(d);
    input.set("dims", std::move(dims));
  }
  json.set("input", std::move(input));
  json.set("cells", std::move(cells));
  return json;
}

}  // namespace

Status bad(const std::string& file, const std::string& what) {
  return Status(Code::invalid_argument, message(file, ": ", what));
}

std::string count_of(std::int64_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string first_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 6); ++i)
    text += (i ? ", " : "") + quoted(names[i]);
  return text + (names.size() > 6 ? ", ..." : "");
}

std::vector<std::int64_t> image_of(std::span<const std::int64_t> sample) {
  std::vector<std::int64_t> dims(sample.begin(), sample.end());
  if (dims.size() == 2) dims.insert(dims.begin(), 1);
  return dims.size() == 3 && dims[0] <= 4 && dims[1] >= 8 && dims[2] >= 8
             ? dims
             : std::vector<std::int64_t>();
}

namespace {

// Holds samples back, where a series has not yet, and says so.
Status hold_back(AutoConfig& t, const AutoConfigOptions& options, double share) {
  const std::int64_t n = t.whole->samples();
  LOOM_ASSIGN(t.split, split(*t.whole, share, static_cast<std::uint64_t>(options.seed)));
  const std::int64_t learned = t.split.learned->samples();
  t.decisions.push_back("split: " + count_of(learned, "sample") + " to learn from, " +
                        std::to_string(n - learned) + " held back to judge by (seed " +
                        std::to_string(options.seed) + ")");
  const std::string single = single_text(t.split, t.inputs);
  if (!single.empty()) t.decisions.push_back(single);
  return {};
}

// What was chosen, in lines.
Status tell(AutoConfig& t, const Layers& layers, std::int64_t outputs) {
  const TrainingSpec& s = t.spec;
  const bool convolutional = !layers.dims.empty(), classes = s.loss == Loss::cross_entropy;
  std::string chain =
      convolutional ? shape_text(layers.dims) : std::to_string(t.whole->form().width);
  for (const std::int64_t filters : layers.filters)
    chain +=
        " -> 3x3 convolution to " + std::to_string(filters) + " " + layers.activation + ", halved";
  for (const std::int64_t hidden : layers.hidden)
    chain += " -> " + std::to_string(hidden) + " " + layers.activation;
  LOOM_ASSIGN(Network network, t.network());
  t.decisions.push_back("network: " + chain + " -> " + std::to_string(outputs) + ", " +
                        std::to_string(network.parameter_count()) + " parameters; inputs" +
                        (classes ? "" : " and answers") +
                        " are standardized by the network itself");
  t.decisions.push_back(
      "training: adamw, " + std::string(classes ? "cross-entropy" : "mse") + ", lr " +
      format_double(s.schedule.lr) +
      (convolutional ? " reached and left in one cycle, " : " falling as a cosine, ") +
      count_of(s.steps, "step") + " of " + count_of(s.batch, "sample") +
      (s.random_translate > 0 ? ", images moved by up to " + count_of(s.random_translate, "pixel")
                              : "") +
      (s.validation.patience > 0
           ? ", fewer where " + std::to_string(s.validation.patience * s.validation.every) +
                 " of them bring nothing better"
           : "") +
      "; the best network is kept");
  if (t.tiny_inputs || s.loss_weight != 1)
    t.decisions.push_back("tiny " +
                          std::string(s.loss_weight == 1 ? "inputs"
                                      : t.tiny_inputs    ? "inputs and answers"
                                                         : "answers") +
                          ", which f32 would take for 0, are standardized in f64");
  if (t.merged_inputs && !t.tiny_inputs)
    t.decisions.push_back(
        "inputs that f32 would take for one another are standardized in f64, as they are");
  if (!s.quantize.dtype.empty())
    t.decisions.push_back(
        "weights: " + s.quantize.dtype +
        " in all layers from the first step on: what learns are f32 masters, by the "
        "gradients of what they are rounded to; the file runs as it was trained");
  return {};
}

}  // namespace

Status complete(AutoConfig& t, const AutoConfigOptions& options, Answers answers) {
  const bool classes = answers.classes;
  const std::int64_t outputs = answers.outputs;
  const std::int64_t n = t.whole->samples();
  const double share = answers.series
                           ? kSeriesHeldBack
                           : std::min(n < 1000 ? 0.2 : 0.1,
                                      static_cast<double>(kMaxHeldBack) / static_cast<double>(n));
  if (!answers.series) LOOM_TRY(hold_back(t, options, share));
  t.merged_inputs = merges_inputs(*t.whole) || (t.test && merges_inputs(*t.test));
  measure(t, answers.measured);
  const std::int64_t learned = t.split.learned->samples(), width = t.whole->form().width;
  const bool large = learned >= 20000;
  Layers layers = large ? Layers{{512, 128}, "relu"}
                        : Layers{learned < 1000 ? std::vector<std::int64_t>{32, 32}
                                                : std::vector<std::int64_t>{64, 64},
                                 "silu"};
  const bool convolutional = !answers.image.empty();
  if (convolutional) layers = {{128}, "relu", std::move(answers.image), {16, 32}, true};
  else if (answers.series && options.network.empty()) layers.hidden.clear();
  else if (answers.words) layers = {{64}, "relu", {}, {}, true};
  TrainingSpec& s = t.spec;
  s.network = topology(width, layers, outputs, !classes, t);
  s.loss = classes ? Loss::cross_entropy : Loss::mse;
  s.seed = options.seed;
  s.batch = std::min<std::int64_t>(convolutional ? 64 : large ? 128 : 32, learned);
  const std::int64_t an_epoch = (learned + s.batch - 1) / s.batch;
  const std::int64_t seen =
      convolutional ? kSamplesSeen * kPixels / (layers.dims[1] * layers.dims[2]) : kSamplesSeen;
  const std::int64_t epochs = large ? (convolutional ? 8 : 10)
                              : answers.words
                                  ? std::clamp<std::int64_t>(kTextsSeen / learned, 20, 100)
                                  : std::clamp<std::int64_t>(seen / learned, 20, 300);
  const std::int64_t chosen_steps = answers.series ? kSeriesSteps : epochs * an_epoch;
  s.steps = options.steps > 0 ? options.steps : chosen_steps;
  s.optimizer = {.kind = OptimizerKind::adamw, .weight_decay = 0.01};
  if (convolutional) s.schedule = {.kind = ScheduleKind::one_cycle, .lr = 0.004, .steps = s.steps};
  else
    s.schedule = {.kind = ScheduleKind::cosine,
                  .lr = answers.series           ? kSeriesRate
                        : large || answers.words ? 0.001
                                                 : 0.003,
                  .warmup = std::min<std::int64_t>(s.steps / 20, 200),
                  .steps = s.steps};
  s.validation = {.share = share,
                  .every = std::clamp<std::int64_t>(std::max(an_epoch, s.steps / 100), 1, s.steps),
                  .patience = large || answers.series ? 0 : 25};
  s.log_every = std::max<std::int64_t>(s.steps / 20, 1);
  // Moved so little, an image shows the same.
  if (convolutional) s.random_translate = std::max<std::int64_t>(layers.dims[1] / 30, 1);
  if (!options.dtype.empty() && options.dtype != "f32") s.quantize.dtype = options.dtype;

  LOOM_TRY(tell(t, layers, outputs));
  return s.check();
}

}  // namespace choosing

std::string single_text(const Split& split, const Json& inputs) {
  if (split.single.empty()) return "";
  std::vector<std::string> names;
  for (const std::int32_t c : split.single) names.push_back(label_of(inputs, c));
  const bool one = names.size() == 1;
  return (one ? "the class " : "the classes ") + choosing::first_of(names) +
         (one ? " has" : " have") + " one sample" + (one ? "" : " each") +
         ", which is learned: nothing judges it";
}

Result<Network> AutoConfig::network() const {
  LOOM_ASSIGN(Network network, create_network(spec));
  auto set = [&](std::int64_t at, const char* role, const auto& values) {
    WeightStore* store = network.find("0.0.0." + std::to_string(at), role);
    if (store->master_is_f64()) std::ranges::copy(values, store->mutable_master64().begin());
    else
      std::ranges::transform(values, store->mutable_master().begin(),
                             [](auto v) { return static_cast<float>(v); });
    store->touch();
  };
  set(0, "mean", mean);
  set(0, "scale", scale);
  if (!target_scale.empty()) {
    const auto last = static_cast<std::int64_t>(spec.network.find("cells")->as_array().size()) - 1;
    set(last, "mean", target_mean);
    set(last, "scale", target_scale);
  }
  if (line.empty()) return network;
  // Between inputs and target as the standardize cells make them.
  const auto deviation = static_cast<double>(target_scale[0]);
  std::vector<double> weights(line.begin(), line.end() - 1);
  double bias = line.back() / deviation + static_cast<double>(target_mean[0]);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    bias += weights[i] * mean[i] / deviation;
    weights[i] /= scale[i] * deviation;
  }
  set(1, "weight", weights);
  set(1, "bias", std::vector<double>{bias});
  return network;
}

Result<AutoConfig> auto_config(const AutoConfigOptions& options) {
  AutoConfig t;
  auto arrays = choosing::open_pair(options.data, false);
  if (arrays.ok()) {
    LOOM_TRY(choosing::choose_arrays(t, options, std::move(*arrays)));
    return t;
  }
  if (arrays.status().code() != Code::not_found) return arrays.status();
  LOOM_ASSIGN(const bool folder, is_a_folder(options.data));
  if (folder) {
    LOOM_ASSIGN(const bool chosen, choosing::choose_folder(t, options));
    if (chosen) return t;
    return Status(Code::not_found,
                  message(arrays.status().message(), "; or a folder of images (",
                          endings(SampleKind::images), ") or of .txt files for each class"));
  }
  LOOM_TRY(open_source(options.data).status());
  LOOM_TRY(choosing::choose_table(t, options));
  return t;
}

Result<RawRows> read_rows(const Json& inputs, std::int64_t width, const std::string& file,
                          const ImageDecoder& decoder) {
  if (inputs.find("series")) return choosing::read_series_rows(inputs, width, file);
  if (inputs.find("columns")) return choosing::read_table_rows(inputs, width, file);
  if (inputs.find("images") || inputs.find("words"))
    return choosing::read_folder_rows(inputs, width, file, decoder);
  if (inputs.find("shape")) return choosing::read_array_rows(inputs, width, file);
  LOOM_ASSIGN(RawRows raw, read_plain_rows(width, file));
  if (raw.judged) raw.decisions.push_back("not measured: the targets may be of other classes");
  raw.judged = nullptr;
  return raw;
}

Status RawRows::read(std::int64_t at, std::int64_t n, std::int64_t width,
                     std::vector<double>& out) const {
  if (at < 0 || n < 0 || n > rows - at)
    return Status(Code::out_of_range, message("rows ", at, " to ", at + n, " of ", rows));
  if (!source) {
    const auto take = [&](const auto& all) {
      const auto rows_of = all.begin() + static_cast<std::ptrdiff_t>(at * width);
      out.assign(rows_of, rows_of + static_cast<std::ptrdiff_t>(n * width));
    };
    if (wide_x.empty()) take(x);
    else take(wide_x);
    return {};
  }
  Batch batch;
  for (std::int64_t i = at; i < at + n; ++i) source->append(i, batch);
  out = batch.wide_x;
  if (out.empty()) out.assign(batch.x.begin(), batch.x.end());
  return {};
}

}  // namespace loom
