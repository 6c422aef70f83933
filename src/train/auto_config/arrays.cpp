#include <algorithm>

#include "base/files/source.h"
#include "base/message.h"
#include "formats/idx/idx.h"
#include "train/auto_config/parts.h"

namespace loom::choosing {
namespace {

constexpr double kLargestClass = 10000;

Result<TensorInfo> open_one(const std::string& path) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  return open_array(std::move(source));
}

// Classes are small integers, none of them negative. Labels -1 and +1 are neither that nor numbers
// to learn: they are refused.
Result<bool> are_classes(const std::string& file, const TensorInfo& y, const std::string& task) {
  if (!task.empty()) return task == "classes";
  if (y.type == StorageType::f32 || y.type == StorageType::f64 || y.type == StorageType::f16)
    return false;
  if (y.shape.empty() || static_cast<std::int64_t>(y.elements()) != y.shape[0]) return false;
  std::vector<double> values(y.elements());
  LOOM_TRY(read_f64(y, 0, values));
  std::size_t label = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == kIgnoredClass || (values[i] >= 0 && values[i] < kLargestClass)) continue;
    if (values[i] != -1) return false;
    label = std::min(label, i);
  }
  if (label == values.size()) return true;
  return bad(file, "the target of sample " + std::to_string(label) + " is -1: classes are whole " +
                       "numbers from 0, and " + std::to_string(kIgnoredClass) +
                       " is not counted: make labels -1 and +1 the classes 0 and 1, or have " +
                       "numbers learned with --task numbers");
}

}  // namespace

Result<Arrays> open_pair(const std::string& folder, bool test) {
  struct Names {
    const char *x, *y;
  };
  static constexpr Names kTrain[] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
                                     {"train-images.idx3-ubyte", "train-labels.idx1-ubyte"},
                                     {"x_train.npy", "y_train.npy"},
                                     {"x.npy", "y.npy"}};
  static constexpr Names kTest[] = {{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"},
                                    {"t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"},
                                    {"x_test.npy", "y_test.npy"}};
  for (const Names& n : test ? std::span<const Names>(kTest) : std::span<const Names>(kTrain))
    for (const char* end : {"", ".gz"}) {
      auto x = open_one(folder + "/" + n.x + end);
      if (!x.ok() && x.status().code() == Code::not_found) continue;
      if (!x.ok()) return x.status();
      auto y = open_one(folder + "/" + n.y + end);
      if (!y.ok()) return y.status();
      return Arrays{std::move(*x), std::move(*y)};
    }
  return Status(
      Code::not_found,
      message(
          folder,
          ": holds no arrays: expects train-images-idx3-ubyte and train-labels-idx1-ubyte (also "
          ".gz), x_train.npy and y_train.npy, or x.npy and y.npy"));
}

Status choose_arrays(AutoConfig& t, const AutoConfigOptions& options, Arrays arrays) {
  if (!options.target.empty()) return bad(options.data, "holds arrays, --target is for tables");
  LOOM_ASSIGN(const bool classes, are_classes(options.data, arrays.y, options.task));
  const std::vector<std::int64_t> shape = arrays.x.shape;
  const std::string type(name(arrays.x.type));
  LOOM_ASSIGN(std::unique_ptr<TensorData> data,
              TensorData::create(std::move(arrays.x), arrays.y, classes));
  const DataSource::Form form = data->form();
  const bool image = shape.size() > 2;
  t.whole = std::move(data);
  t.inputs = Json::object();
  Json dimensions = Json::array();
  for (std::size_t d = 1; d < shape.size(); ++d) dimensions.push(shape[d]);
  t.inputs.set("shape", std::move(dimensions));
  t.inputs.set("classes", form.classes);
  t.decisions.push_back("data: " + count_of(shape[0], "sample") + " of shape " +
                        shape_text(std::span(shape).subspan(1)) + ", " + type);
  t.decisions.push_back("target: " + (classes ? std::to_string(form.classes) + " classes"
                                              : count_of(form.targets, "number")));
  t.decisions.push_back(image ? "inputs: " + std::to_string(form.width) + " values of one kind"
                              : "inputs: " + count_of(form.width, "number"));
  auto test = open_pair(options.test.empty() ? options.data : options.test, true);
  if (!test.ok() && !options.test.empty() && test.status().code() == Code::not_found)
    test = open_pair(options.test, false);
  if (!test.ok() && (!options.test.empty() || test.status().code() != Code::not_found))
    return test.status();
  if (test.ok()) {
    LOOM_ASSIGN(t.test, TensorData::create(std::move(test->x), test->y, classes));
    const DataSource::Form other = t.test->form();
    if (other.width != form.width || other.classes > form.classes || other.targets != form.targets)
      return bad(options.data, "the test files have other shapes or classes");
    t.decisions.push_back("test: " + count_of(t.test->samples(), "sample"));
  }
  std::vector<std::int64_t> dims = image_of(std::span(shape).subspan(1));
  if (options.network == "convolutional" && dims.empty())
    return bad(options.data, "samples of shape " + shape_text(std::span(shape).subspan(1)) +
                                 " are no images for a convolutional network: height x width, or "
                                 "up to 4 channels x height x width, of at least 8 x 8");
  if (options.network == "dense") dims.clear();
  return complete(
      t, options,
      {.classes = classes,
       .outputs = classes ? form.classes : form.targets,
       .measured = image ? std::vector<bool>()
                         : std::vector<bool>(static_cast<std::size_t>(form.width), true),
       .image = std::move(dims)});
}

bool is_array(const std::string& file) { return open_one(file).ok(); }

Result<RawRows> read_array_rows(const Json& inputs, std::int64_t width, const std::string& file) {
  RawRows raw;
  auto pair = open_pair(file, true);
  if (!pair.ok() && pair.status().code() == Code::not_found) pair = open_pair(file, false);
  TensorInfo x;
  if (pair.ok()) x = pair->x;
  else if (pair.status().code() != Code::not_found) return pair.status();
  else {
    LOOM_ASSIGN(x, open_one(file));
  }
  if (x.shape.empty() || x.shape[0] < 1 ||
      static_cast<std::int64_t>(x.elements()) / x.shape[0] != width)
    return bad(file, "has the shape " + shape_text(x.shape) + ", the network takes rows of " +
                         std::to_string(width) + " values");
  raw.rows = x.shape[0];
  LOOM_TRY(check_whole(x, width));
  if (is_wide(x.type)) {
    raw.wide_x.resize(x.elements());
    LOOM_TRY(read_f64(x, 0, raw.wide_x));
  } else {
    raw.x.resize(x.elements());
    LOOM_TRY(read_f32(x, 0, raw.x));
  }
  if (pair.ok()) {
    LOOM_ASSIGN(const std::int64_t classes, inputs.get_integer("classes", 0));
    LOOM_ASSIGN(raw.judged, TensorData::create(std::move(x), pair->y, classes > 0));
  }
  return raw;
}

}  // namespace loom::choosing
