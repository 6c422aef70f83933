// The section "inputs" of a network: whether it is one, and what it says of the answers.
#include <algorithm>

#include "base/escape.h"
#include "base/message.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/write.h"
#include "train/auto_config/parts.h"

namespace loom {
namespace {

constexpr std::string_view kForms[] = {"columns", "series", "images", "words", "shape"};
constexpr std::string_view kAnswers[] = {"logits", "probabilities", "scores"};

Status wrong(const std::string& what) {
  return Status(Code::invalid_argument, message("inputs: ", what));
}

// `known`: the same as this version writes it.
Status expect_known(const Json& given, const Json& known, const std::string& where) {
  if (given.is_object())
    for (const auto& [key, value] : given.as_object()) {
      const Json* const found = known.find(key);
      if (!found) return wrong(message(where, quoted(key), " is unknown here, or has no effect"));
      LOOM_TRY(expect_known(value, *found, message(where, quoted(key), ": ")));
    }
  if (!given.is_array() || !known.is_array()) return {};
  const std::size_t n = std::min(given.as_array().size(), known.as_array().size());
  for (std::size_t i = 0; i < n; ++i)
    LOOM_TRY(expect_known(given.as_array()[i], known.as_array()[i], where));
  return {};
}

Status expect_different(std::vector<std::string> names, std::string_view key) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return wrong(message("\"", key, "\": ", quoted(*twice), " stands twice"));
}

Status table_part(const Json& inputs, std::int64_t width, Json& part) {
  LOOM_ASSIGN(const TableForm form, TableForm::from_json(inputs));
  if (form.width() != width)
    return wrong(message("\"columns\" are ", form.width(), " values, the network takes ", width));
  std::vector<std::string> names;
  for (const Column& column : form.columns) names.push_back(column.name);
  part = form.to_json();
  return expect_different(std::move(names), "columns");
}

Status series_part(const Json& inputs, std::int64_t width, std::int64_t outputs, Json& part) {
  LOOM_ASSIGN(const SeriesForm form, SeriesForm::from_json(inputs));
  if (form.width() != width || outputs != 1)
    return wrong(message("\"series\" has rows of ", form.width(),
                         " values and one answer, the network takes ", width, " and returns ",
                         outputs));
  part = form.to_json();
  return {};
}

Status array_part(const Json& inputs, std::int64_t width, std::int64_t outputs, Json& part) {
  const Json& shape = *inputs.find("shape");
  std::int64_t values = 1;
  const auto size = [&](const Json& d) {
    if (!d.is_integer() || d.as_integer() < 1 || d.as_integer() > width) return false;
    values = std::min(values * d.as_integer(), width + 1);
    return true;
  };
  if (!shape.is_array() || !std::all_of(shape.as_array().begin(), shape.as_array().end(), size) ||
      values != width)
    return wrong(message("\"shape\": expected the sizes of a sample, which are ", width,
                         " values together, got ", shape.dump().substr(0, 100)));
  LOOM_ASSIGN(const std::int64_t classes, inputs.get_integer("classes", 0));
  if (classes != 0 && classes != outputs)
    return wrong(message("\"classes\": the network returns ", outputs, " values, got ", classes));
  part.set("shape", Json());
  part.set("classes", Json());
  return {};
}

// Puts into `part` what describes the data, as this version writes it.
Status data_part(const Json& inputs, std::int64_t width, std::int64_t outputs, Json& part) {
  std::string_view form;
  for (const std::string_view key : kForms) {
    if (!inputs.find(key)) continue;
    if (!form.empty()) return wrong(message("has both \"", form, "\" and \"", key, "\""));
    form = key;
  }
  if (form == "columns") return table_part(inputs, width, part);
  if (form == "series") return series_part(inputs, width, outputs, part);
  if (form == "shape") return array_part(inputs, width, outputs, part);
  return form.empty() ? Status() : choosing::folder_part(inputs, width, part);
}

Status check_labels(const Json& labels, std::int64_t outputs) {
  if (!labels.is_array()) return wrong("\"labels\": expected a list of the names of classes");
  const Json::Array& list = labels.as_array();
  const bool pair = list.size() == 2 && outputs == 1;
  if (static_cast<std::int64_t>(list.size()) != outputs && !pair)
    return wrong(message("\"labels\" has ", list.size(), " names, the network returns ", outputs,
                         " values"));
  std::vector<std::string> texts;
  for (const Json& label : list) {
    const bool alike = label.is_string() ? list[0].is_string()
                       : label.is_bool() ? list[0].is_bool()
                                         : label.is_number() && list[0].is_number();
    if (!alike)
      return wrong("\"labels\": expected texts, or numbers, or true and false, got " +
                   label.dump().substr(0, 100) + (&label == &list[0] ? "" : " beside another"));
    texts.push_back(label.dump());
  }
  return expect_different(std::move(texts), "labels");
}

}  // namespace

Status check_inputs(const Json& inputs, const Network& network) {
  const Shape &in = network.input(), &out = network.output();
  if (!inputs.is_object()) return wrong("expected an object, got " + inputs.dump().substr(0, 100));
  if (inputs.as_object().empty()) return wrong("says nothing: null takes it away");
  if (in.ids > 0)
    return Status(Code::unsupported, "inputs: the network takes ids, not rows of values");
  Json known = Json::object();
  const Status described = data_part(inputs, in.width, out.width, known);
  if (!described.ok()) return Status(Code::invalid_argument, described.message());
  const Json* const labels = inputs.find("labels");
  const Json* const classes = inputs.find("classes");
  if (labels && !inputs.find("series")) known.set("labels", Json());
  if (known.find("labels") || (classes && classes->as_integer() > 0)) known.set("answers", Json());
  LOOM_TRY(expect_known(inputs, known, ""));
  const Status answers = answer_kind(inputs).status();
  if (!answers.ok()) return Status(Code::invalid_argument, answers.message());
  return labels ? check_labels(*labels, out.width) : Status();
}

Result<Json> inputs_in(const onnx::Model& model, const Network& network) {
  for (const auto& [key, text] : model.metadata) {
    if (key != onnx::kInputsMetadata) continue;
    auto inputs = Json::parse(text);
    const Status status = inputs.ok() ? check_inputs(*inputs, network) : inputs.status();
    if (!status.ok()) return status.at(message("metadata '", key, "'"));
    return inputs;
  }
  return Json();
}

Result<AnswerKind> answer_kind(const Json& inputs) {
  LOOM_ASSIGN(const std::string kind, inputs.get_string("answers", kAnswers[0]));
  const auto found = std::find(std::begin(kAnswers), std::end(kAnswers), kind);
  if (found == std::end(kAnswers))
    return Status(Code::corrupt,
                  message("inputs: \"answers\": expected logits, probabilities or scores, got ",
                          quoted(kind)));
  return static_cast<AnswerKind>(found - std::begin(kAnswers));
}

Json label_at(const Json& inputs, std::int64_t number) {
  const Json* labels = inputs.find("labels");
  const auto i = static_cast<std::size_t>(number);
  if (labels && labels->is_array() && i < labels->as_array().size()) return labels->as_array()[i];
  return std::to_string(number);
}

std::string label_of(const Json& inputs, std::int64_t number) {
  const Json label = label_at(inputs, number);
  return label.is_string() ? label.as_string() : label.dump();
}

}  // namespace loom
