#include "train/choose.h"

#include <algorithm>

#include "base/exact_math.h"
#include "base/source.h"
#include "formats/idx/idx.h"
#include "train/data/csv.h"

namespace loom {
namespace {

constexpr std::int64_t kMostMeasured = 20000;  // samples from which means and scales are taken
constexpr std::int64_t kMostHeldBack = 5000;
constexpr double kLargestClass = 10000;
constexpr double kDropout = 0.5;  // between the dense layers of pictures

Status bad(const std::string& file, const std::string& what) { return Status(Code::invalid_argument, file + ": " + what); }

// "x -> 32 -> 3", for pictures after convolutions, each halved.
struct Layers {
  std::vector<std::int64_t> hidden;
  std::string activation;
  std::vector<std::int64_t> dims{}, filters{};
};

// --- tables ----------------------------------------------------------------------------------------------------------

std::vector<std::int64_t> in_order(std::size_t n) {
  std::vector<std::int64_t> places(n);
  for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<std::int64_t>(i);
  return places;
}

// Rows without a target are left out.
Result<std::unique_ptr<DataSource>> samples_of(const TableForm& form, const std::vector<std::vector<std::string>>& rows, const std::vector<std::int64_t>& places, const std::string& name) {
  std::vector<float> x, y;
  std::vector<std::int32_t> classes;
  const std::int64_t target = places[static_cast<std::size_t>(form.target)];
  for (const auto& row : rows) {
    const std::string& cell = row[static_cast<std::size_t>(target)];
    if (is_missing(cell)) continue;
    if (form.classes) {
      classes.push_back(form.class_of(cell));
    } else {
      const float v = form.value_of(cell);
      if (v != v) return bad(name, "the target " + shown(cell) + " is no number");
      y.push_back(v);
    }
    form.encode(row, places, x);
  }
  if (x.empty()) return bad(name, "no row has a target");
  if (form.classes) {
    LOOM_ASSIGN(auto data, ArrayData::create(std::move(x), form.width(), std::move(classes)));
    return std::unique_ptr<DataSource>(std::move(data));
  }
  LOOM_ASSIGN(auto data, ArrayData::create(std::move(x), form.width(), std::move(y), 1));
  return std::unique_ptr<DataSource>(std::move(data));
}

// Where the form's columns stand in a table of another file: by name with a header, else in order, with the target or without it.
Result<std::vector<std::int64_t>> places_in(const TableForm& form, const Table& table, const std::string& name) {
  std::vector<std::int64_t> places(form.columns.size(), -1);
  const bool named = table.header && !form.columns.empty() && form.columns[0].name != "0";
  std::int64_t next = 0;
  const bool without = table.names.size() + 1 == form.columns.size();
  if (!named && table.names.size() != form.columns.size() && !without)
    return bad(name, "has " + std::to_string(table.names.size()) + " columns, expected " + std::to_string(form.columns.size()) + " with the target or one less");
  for (std::size_t c = 0; c < form.columns.size(); ++c) {
    const bool target = static_cast<std::int64_t>(c) == form.target;
    if (!named) {
      if (!(target && without)) places[c] = next++;
      continue;
    }
    const auto found = std::find(table.names.begin(), table.names.end(), form.columns[c].name);
    if (found != table.names.end()) places[c] = found - table.names.begin();
    else if (!target && form.columns[c].kind != Column::Kind::unused) return Status(Code::not_found, name + ": no column " + shown(form.columns[c].name));
  }
  return places;
}

Result<Table> open_table(const std::string& file) {
  LOOM_ASSIGN(const std::string text, read_text_file(file));
  if (text.find('\0') != std::string::npos) return bad(file, "is neither a table nor a folder of arrays (idx, .npy)");
  return read_cells(text, file);
}

// --- arrays ----------------------------------------------------------------------------------------------------------

struct Arrays {
  TensorInfo x, y;
};

Result<TensorInfo> open_one(const std::string& path) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  return open_array(std::move(source));
}

// The first pair of names that is there; not_found where none is.
Result<Arrays> open_pair(const std::string& folder, bool test) {
  struct Names {
    const char *x, *y;
  };
  static constexpr Names kTrain[] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}, {"train-images.idx3-ubyte", "train-labels.idx1-ubyte"}, {"x_train.npy", "y_train.npy"}, {"x.npy", "y.npy"}};
  static constexpr Names kTest[] = {{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}, {"t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"}, {"x_test.npy", "y_test.npy"}};
  for (const Names& n : test ? std::span<const Names>(kTest) : std::span<const Names>(kTrain))
    for (const char* end : {"", ".gz"}) {
      auto x = open_one(folder + "/" + n.x + end);
      if (!x.ok() && x.status().code() == Code::not_found) continue;
      if (!x.ok()) return x.status();
      auto y = open_one(folder + "/" + n.y + end);
      if (!y.ok()) return y.status();
      return Arrays{std::move(*x), std::move(*y)};
    }
  return Status(Code::not_found, folder + ": holds no arrays: expects train-images-idx3-ubyte and train-labels-idx1-ubyte (also .gz), x_train.npy and y_train.npy, or x.npy and y.npy");
}

// Classes are integers that are few beside the samples.
Result<bool> are_classes(const TensorInfo& y, const std::string& task) {
  if (!task.empty()) return task == "classes";
  if (y.type == StorageType::f32 || y.type == StorageType::f64 || y.type == StorageType::f16) return false;
  if (y.shape.empty() || static_cast<std::int64_t>(y.elements()) != y.shape[0]) return false;
  std::vector<double> values(y.elements());
  LOOM_TRY(read_f64(y, 0, values));
  return std::all_of(values.begin(), values.end(), [](double v) { return v >= -1 && v < kLargestClass; });
}

// --- both ------------------------------------------------------------------------------------------------------------

struct Spread {
  double n = 0, first = 0, sum = 0, squares = 0;
  void add(float v) {
    if (v != v) return;
    if (n == 0) first = static_cast<double>(v);
    const double d = static_cast<double>(v) - first;
    n += 1;
    sum += d;
    squares += d * d;
  }
  // Mean, and 1 / deviation: 1 where there is none.
  float mean() const { return n > 0 ? static_cast<float>(first + sum / n) : 0.0f; }
  double deviation() const {
    const double variance = n > 0 ? (squares - sum * sum / n) / n : 0;
    return variance > 1e-12 * (first * first + 1e-12) ? exact::sqrt(variance) : 1.0;
  }
};

// Means and scales of what is learned from. `measured`: which inputs; empty: all of them as one, as the brightness of pixels.
void measure(ChosenTraining& t, const std::vector<bool>& measured) {
  const DataSource::Form form = t.whole->form();
  const auto width = static_cast<std::size_t>(form.width), targets = static_cast<std::size_t>(form.targets);
  std::vector<Spread> inputs(measured.empty() ? 1 : width), values(targets);
  Batch batch;
  for (std::int64_t s = 0; s < std::min(t.split.learned->samples(), kMostMeasured); ++s) {
    batch.clear();
    t.split.learned->append(s, batch);
    for (std::size_t i = 0; i < width; ++i) inputs[measured.empty() ? 0 : i].add(batch.x[i]);
    for (std::size_t i = 0; i < targets; ++i) values[i].add(batch.values[i]);
  }
  for (std::size_t i = 0; i < width; ++i) {
    const Spread& spread = inputs[measured.empty() ? 0 : i];
    const bool plain = !measured.empty() && !measured[i];
    t.mean.push_back(plain ? 0.0f : spread.mean());
    t.scale.push_back(plain ? 1.0f : static_cast<float>(1 / spread.deviation()));
  }
  // Backwards: y = (x + mean / deviation) * deviation.
  for (const Spread& spread : values) {
    t.target_mean.push_back(static_cast<float>(-static_cast<double>(spread.mean()) / spread.deviation()));
    t.target_scale.push_back(static_cast<float>(spread.deviation()));
  }
}

Json cell(std::int64_t at, std::string_view type) {
  Json place = Json::array(), json = Json::object();
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, at}) place.push(v);
  json.set("at", std::move(place));
  json.set("type", type);
  return json;
}

Json numbers(std::initializer_list<std::int64_t> values) {
  Json list = Json::array();
  for (const std::int64_t v : values) list.push(v);
  return list;
}

Json topology(std::int64_t width, const Layers& layers, std::int64_t out, bool values) {
  Json cells = Json::array();
  std::int64_t at = 0;
  Json first = cell(at++, "standardize");
  first.set("missing", true);
  cells.push(std::move(first));
  for (const std::int64_t filters : layers.filters) {
    Json conv = cell(at++, "cnn2");
    conv.set("filters", filters);
    conv.set("kernel", numbers({3, 3}));
    conv.set("padding", numbers({1}));
    conv.set("activation", layers.activation);
    cells.push(std::move(conv));
    Json pool = cell(at++, "max_pool2");
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
  if (!layers.filters.empty()) {
    Json dropout = cell(at++, "dropout");
    dropout.set("rate", kDropout);
    cells.push(std::move(dropout));
  }
  Json last = cell(at++, "dense");
  last.set("out", out);
  cells.push(std::move(last));
  if (values) cells.push(cell(at++, "standardize"));
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

// Channels, height and width of samples that are pictures: height x width, or up to four channels of them; empty: they are not.
std::vector<std::int64_t> picture_of(std::span<const std::int64_t> sample) {
  std::vector<std::int64_t> dims(sample.begin(), sample.end());
  if (dims.size() == 2) dims.insert(dims.begin(), 1);
  return dims.size() == 3 && dims[0] <= 4 && dims[1] >= 8 && dims[2] >= 8 ? dims : std::vector<std::int64_t>();
}

std::string count_of(std::int64_t n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// Chooses the split, the network and how it learns, for data that is there.
Status complete(ChosenTraining& t, const ChooseOptions& options, bool classes, std::int64_t outputs, const std::vector<bool>& measured, std::vector<std::int64_t> picture = {}) {
  const std::int64_t n = t.whole->samples();
  const double share = std::min(n < 1000 ? 0.2 : 0.1, static_cast<double>(kMostHeldBack) / static_cast<double>(n));
  LOOM_ASSIGN(t.split, split(*t.whole, share, static_cast<std::uint64_t>(options.seed)));
  measure(t, measured);
  const std::int64_t learned = t.split.learned->samples(), width = t.whole->form().width;
  t.said.push_back("split: " + count_of(learned, "sample") + " to learn from, " + std::to_string(n - learned) + " held back to judge by (seed " + std::to_string(options.seed) + ")");

  const bool large = learned >= 20000;
  Layers layers = large ? Layers{{512, 128}, "relu"} : Layers{learned < 1000 ? std::vector<std::int64_t>{32, 32} : std::vector<std::int64_t>{64, 64}, "silu"};
  const bool convolutional = !picture.empty();
  if (convolutional) layers = {{128}, "relu", std::move(picture), {16, 32}};
  TrainingSpec& s = t.spec;
  s.network = topology(width, layers, outputs, !classes);
  s.loss = classes ? Loss::cross_entropy : Loss::mse;
  s.seed = options.seed;
  s.batch = std::min<std::int64_t>(convolutional ? 64 : large ? 128 : 32, learned);
  const std::int64_t an_epoch = (learned + s.batch - 1) / s.batch;
  const std::int64_t epochs = large ? (convolutional ? 8 : 10) : std::clamp<std::int64_t>(400000 / learned, 20, 300);
  s.steps = options.steps > 0 ? options.steps : epochs * an_epoch;
  s.optimizer = {.kind = OptimizerKind::adamw, .weight_decay = 0.01};
  if (convolutional) s.schedule = {.kind = ScheduleKind::one_cycle, .rate = 0.004, .steps = s.steps};
  else s.schedule = {.kind = ScheduleKind::cosine, .rate = large ? 0.001 : 0.003, .warmup = std::min<std::int64_t>(s.steps / 20, 200), .steps = s.steps};
  s.validation = {.share = share, .every = std::clamp<std::int64_t>(std::max(an_epoch, s.steps / 100), 1, s.steps), .patience = large ? 0 : 25};
  s.log_every = std::max<std::int64_t>(s.steps / 20, 1);
  if (!options.dtype.empty() && options.dtype != "f32") s.quantize.dtype = options.dtype;

  std::string chain = convolutional ? shape_text(layers.dims) : std::to_string(width);
  for (const std::int64_t filters : layers.filters) chain += " -> 3x3 convolution to " + std::to_string(filters) + " " + layers.activation + ", halved";
  for (const std::int64_t hidden : layers.hidden) chain += " -> " + std::to_string(hidden) + " " + layers.activation;
  LOOM_ASSIGN(Network network, t.network());
  t.said.push_back("network: " + chain + " -> " + std::to_string(outputs) + ", " + std::to_string(network.parameter_count()) + " parameters; inputs" + (classes ? "" : " and answers") + " are standardized by the network itself");
  t.said.push_back("training: adamw, " + std::string(classes ? "cross-entropy" : "mse") + ", rate " + format_double(s.schedule.rate) + (convolutional ? " reached and left in one cycle, " : " falling as a cosine, ") + count_of(s.steps, "step") + " of " + count_of(s.batch, "sample") +
                   (s.validation.patience > 0 ? ", fewer where " + std::to_string(s.validation.patience * s.validation.every) + " of them bring nothing better" : "") + "; the best network is kept");
  if (!s.quantize.dtype.empty()) t.said.push_back("weights: " + s.quantize.dtype + " in all layers from the first step on: what learns are f32 masters, by the gradients of what they are rounded to; the file runs as it was trained");
  LOOM_TRY(s.check());
  return {};
}

Status choose_table(ChosenTraining& t, const ChooseOptions& options) {
  if (options.network == "convolutional") return bad(options.data, "a convolutional network is for pictures, this is a table");
  LOOM_ASSIGN(const Table table, open_table(options.data));
  std::vector<std::string> notes;
  LOOM_ASSIGN(const TableForm form, look(table, options.target, options.task, options.data, notes));
  const std::vector<std::int64_t> places = in_order(table.names.size());
  LOOM_ASSIGN(t.whole, samples_of(form, table.rows, places, options.data));
  t.inputs = form.to_json();
  t.said.push_back("data: " + count_of(static_cast<std::int64_t>(table.rows.size()), "row") + " of " + count_of(static_cast<std::int64_t>(table.names.size()), "column") + (table.header ? ", named by a header" : ", no header: they are called 0, 1, ..."));
  const Column& target = form.columns[static_cast<std::size_t>(form.target)];
  std::string labels;
  for (std::size_t i = 0; i < std::min<std::size_t>(form.labels.size(), 6); ++i) labels += (i ? ", " : "") + shown(form.labels[i]);
  t.said.push_back("target: column " + shown(target.name) + (form.classes ? ", " + std::to_string(form.labels.size()) + " classes: " + labels + (form.labels.size() > 6 ? ", ..." : "") : ", a number"));
  std::int64_t numbers = 0, dates = 0, words = 0, values = 0;
  for (std::size_t c = 0; c < form.columns.size(); ++c) {
    if (static_cast<std::int64_t>(c) == form.target) continue;
    numbers += form.columns[c].kind == Column::Kind::number;
    dates += form.columns[c].kind == Column::Kind::date;
    words += form.columns[c].kind == Column::Kind::words;
    values += static_cast<std::int64_t>(form.columns[c].values.size());
  }
  std::int64_t holes = 0;
  for (const auto& row : table.rows) holes += std::count_if(row.begin(), row.end(), [](const std::string& cell) { return is_missing(cell); });
  std::string inputs = numbers > 0 ? count_of(numbers, "number") : "";
  if (dates > 0) inputs += (inputs.empty() ? "" : ", ") + count_of(dates, "date") + " as years";
  if (words > 0) inputs += (inputs.empty() ? "" : ", ") + count_of(words, "column") + " of words as " + std::to_string(values) + " zeros and ones";
  if (holes > 0) inputs += "; " + count_of(holes, "missing value") + " (the mean stands for them" + (static_cast<std::size_t>(t.whole->samples()) < table.rows.size() ? ", rows without a target are left out" : "") + ")";
  t.said.push_back("inputs: " + inputs);
  for (std::string& note : notes) t.said.push_back(std::move(note));
  if (!options.test.empty()) {
    LOOM_ASSIGN(const Table other, open_table(options.test));
    LOOM_ASSIGN(const std::vector<std::int64_t> there, places_in(form, other, options.test));
    if (there[static_cast<std::size_t>(form.target)] < 0) return bad(options.test, "has no target column");
    LOOM_ASSIGN(t.test, samples_of(form, other.rows, there, options.test));
  }
  return complete(t, options, form.classes, form.classes ? static_cast<std::int64_t>(form.labels.size()) : 1, form.measured());
}

Status choose_arrays(ChosenTraining& t, const ChooseOptions& options, Arrays arrays) {
  if (!options.target.empty()) return bad(options.data, "holds arrays, --target is for tables");
  LOOM_ASSIGN(const bool classes, are_classes(arrays.y, options.task));
  const std::vector<std::int64_t> shape = arrays.x.shape;
  const std::string type(name(arrays.x.type));
  LOOM_ASSIGN(std::unique_ptr<TensorData> data, TensorData::create(std::move(arrays.x), arrays.y, classes));
  const DataSource::Form form = data->form();
  const bool picture = shape.size() > 2;
  t.whole = std::move(data);
  t.inputs = Json::object();
  Json dimensions = Json::array();
  for (std::size_t d = 1; d < shape.size(); ++d) dimensions.push(shape[d]);
  t.inputs.set("shape", std::move(dimensions));
  t.inputs.set("classes", form.classes);
  t.said.push_back("data: " + count_of(shape[0], "sample") + " of shape " + shape_text(std::span(shape).subspan(1)) + ", " + type);
  t.said.push_back("target: " + (classes ? std::to_string(form.classes) + " classes" : count_of(form.targets, "number")));
  t.said.push_back(picture ? "inputs: " + std::to_string(form.width) + " values of one kind" : "inputs: " + count_of(form.width, "number"));
  auto test = open_pair(options.test.empty() ? options.data : options.test, true);
  if (!test.ok() && !options.test.empty() && test.status().code() == Code::not_found) test = open_pair(options.test, false);
  if (!test.ok() && (!options.test.empty() || test.status().code() != Code::not_found)) return test.status();
  if (test.ok()) {
    LOOM_ASSIGN(t.test, TensorData::create(std::move(test->x), test->y, classes));
    const DataSource::Form other = t.test->form();
    if (other.width != form.width || other.classes > form.classes || other.targets != form.targets) return bad(options.data, "the test files have other shapes or classes");
    t.said.push_back("test: " + count_of(t.test->samples(), "sample"));
  }
  std::vector<std::int64_t> dims = picture_of(std::span(shape).subspan(1));
  if (options.network == "convolutional" && dims.empty()) return bad(options.data, "samples of shape " + shape_text(std::span(shape).subspan(1)) + " are no pictures for a convolutional network: height x width, or up to 4 channels x height x width, of at least 8 x 8");
  if (options.network == "dense") dims.clear();
  return complete(t, options, classes, classes ? form.classes : form.targets, picture ? std::vector<bool>() : std::vector<bool>(static_cast<std::size_t>(form.width), true), std::move(dims));
}

}  // namespace

Result<Network> ChosenTraining::network() const {
  LOOM_ASSIGN(Network network, create_network(spec));
  auto set = [&](std::int64_t at, const char* role, const std::vector<float>& values) {
    WeightStore* store = network.find("0.0.0." + std::to_string(at), role);
    std::copy(values.begin(), values.end(), store->mutable_master().begin());
    store->touch();
  };
  set(0, "mean", mean);
  set(0, "scale", scale);
  if (!target_scale.empty()) {
    const auto last = static_cast<std::int64_t>(spec.network.find("cells")->as_array().size()) - 1;
    set(last, "mean", target_mean);
    set(last, "scale", target_scale);
  }
  return network;
}

Result<ChosenTraining> choose_training(const ChooseOptions& options) {
  ChosenTraining t;
  auto arrays = open_pair(options.data, false);
  if (arrays.ok()) {
    LOOM_TRY(choose_arrays(t, options, std::move(*arrays)));
    return t;
  }
  if (arrays.status().code() != Code::not_found) return arrays.status();
  auto opened = open_source(options.data);
  // A folder without arrays says which it looked for.
  if (!opened.ok()) return opened.status().code() == Code::not_found ? opened.status() : arrays.status();
  LOOM_TRY(choose_table(t, options));
  return t;
}

Result<RawRows> read_rows(const Json& inputs, std::int64_t width, const std::string& file) {
  RawRows raw;
  if (inputs.find("columns")) {
    LOOM_ASSIGN(const TableForm form, TableForm::from_json(inputs));
    if (form.width() != width) return Status(Code::corrupt, "inputs: the columns are " + std::to_string(form.width()) + " values, the network takes " + std::to_string(width));
    LOOM_ASSIGN(const Table table, open_table(file));
    LOOM_ASSIGN(const std::vector<std::int64_t> places, places_in(form, table, file));
    for (const auto& row : table.rows) form.encode(row, places, raw.x);
    raw.rows = static_cast<std::int64_t>(table.rows.size());
    const bool has_target = form.target >= 0 && static_cast<std::size_t>(form.target) < places.size() && places[static_cast<std::size_t>(form.target)] >= 0;
    if (has_target) {
      auto judged = samples_of(form, table.rows, places, file);
      if (judged.ok()) raw.judged = std::move(*judged);
    }
    return raw;
  }
  auto pair = open_pair(file, true);
  if (!pair.ok() && pair.status().code() == Code::not_found) pair = open_pair(file, false);
  TensorInfo x;
  if (pair.ok()) x = pair->x;
  else if (pair.status().code() != Code::not_found) return pair.status();
  else { LOOM_ASSIGN(x, open_one(file)); }
  if (x.shape.empty() || x.shape[0] < 1 || static_cast<std::int64_t>(x.elements()) / x.shape[0] != width)
    return bad(file, "has the shape " + shape_text(x.shape) + ", the network takes rows of " + std::to_string(width) + " values");
  raw.rows = x.shape[0];
  raw.x.resize(x.elements());
  LOOM_TRY(read_f32(x, 0, raw.x));
  if (pair.ok()) {
    LOOM_ASSIGN(const std::int64_t classes, inputs.get_integer("classes", 0));
    LOOM_ASSIGN(raw.judged, TensorData::create(std::move(x), pair->y, classes > 0));
  }
  return raw;
}

}  // namespace loom
