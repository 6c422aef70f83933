#include "train/learner/loss.h"

#include <algorithm>

#include "base/json/json.h"
#include "base/message.h"
#include "train/data/data.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("training: ", std::move(what)));
}

std::string listed(const std::vector<Shape>& outputs) {
  std::string names;
  for (const Shape& out : outputs) names += (names.empty() ? "" : ", ") + out.name;
  return names;
}

// The columns of the head before.
Status resolve_same(std::vector<HeadSpec>& heads, std::size_t i) {
  HeadSpec& head = heads[i];
  if (i == 0)
    return bad(message("head \"", name_of(head, i), "\": \"same_columns\" has no head before it"));
  const HeadSpec& before = heads[i - 1];
  if (head.columns > 0 && head.columns != before.columns)
    return bad(message("head \"", name_of(head, i), "\" has ", head.columns,
                       " columns, and by \"same_columns\" the ", before.columns,
                       " of the head before"));
  head.columns = before.columns;
  head.column = before.column;
  head.axis = before.axis;
  return {};
}

// Heads of an output that consists of several, each of one.
Status resolve_named(const std::vector<Shape>& outputs, std::vector<HeadSpec>& heads) {
  std::size_t at = 0;
  std::int64_t column = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    HeadSpec& head = heads[i];
    if (head.same_columns) {
      LOOM_TRY(resolve_same(heads, i));
      continue;
    }
    if (at == outputs.size() || head.name != outputs[at].name) {
      at = outputs.size() + 1;
      break;
    }
    const Shape& out = outputs[at++];
    if (head.columns > 0 && head.columns != out.width)
      return bad(message("head \"", head.name, "\" has ", head.columns,
                         " columns, the output of this name ", out.width));
    head.columns = out.width;
    head.axis = class_axis(out);
    head.column = column;
    column += out.width;
  }
  if (at == outputs.size()) return {};
  return bad(message("the network has the outputs ", listed(outputs),
                     ": give \"heads\" with a loss for each, by their \"name\" and in this order"));
}

}  // namespace

Result<Loss> parse_loss(std::string_view text) {
  const auto found = std::find(std::begin(kLossNames), std::end(kLossNames), text);
  if (found != std::end(kLossNames)) return static_cast<Loss>(found - std::begin(kLossNames));
  return bad(message("unknown loss \"", text,
                     "\": one of mse, cross_entropy, mae, huber, bce, soft_cross_entropy"));
}

bool takes_value(Loss loss, double value) {
  if (loss == Loss::bce) return value >= 0 && value <= 1;
  return loss != Loss::soft_cross_entropy || (value >= 0 && value - value == 0);
}

std::string value_refusal(Loss loss, double value) {
  return " is " + format_double(value) + ": \"" + std::string(name(loss)) +
         (loss == Loss::bce ? "\" takes probabilities, from 0 to 1"
                            : "\" takes probabilities of classes, from 0 on");
}

std::string class_refusal(double value, std::int64_t classes, std::int64_t ignored) {
  std::string text = " is " + (is_class(value) ? std::to_string(static_cast<std::int64_t>(value))
                                               : format_double(value));
  text += ": a class is a whole number from 0 to ";
  text += std::to_string(classes - 1) + ", or " + std::to_string(ignored);
  text += ", which is not counted (\"ignore\")";
  if (value == -1) text += "; make labels -1 and +1 the classes 0 and 1, or give \"ignore\": -1";
  return text;
}

std::string name_of(const HeadSpec& head, std::size_t i) {
  return head.name.empty() ? std::to_string(i) : head.name;
}

Status resolve_heads(const Network& network, std::vector<HeadSpec>& heads) {
  const Shape& out = network.output();
  if (!out.parts.empty()) return resolve_named(out.parts, heads);
  if (heads.empty()) return {};
  std::int64_t columns = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    HeadSpec& head = heads[i];
    if (head.same_columns) {
      LOOM_TRY(resolve_same(heads, i));
      continue;
    }
    if (head.columns == 0)
      return bad(message("head \"", name_of(head, i),
                         "\": give its \"columns\": the network has one output, ",
                         out.to_string()));
    head.column = columns;
    columns += head.columns;
    head.axis = {1, head.columns, false};
  }
  if (columns != out.width)
    return bad(message("the heads have ", columns, " columns, the network gives ", out.width));
  if (network.version() >= 2 && out.dims.size() > 1)
    return bad(message("heads are parts of a row of values, the network gives ", out.to_string(),
                       ": end with a flatten, or give the network several \"outputs\""));
  return {};
}

}  // namespace loom
