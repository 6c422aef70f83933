// What base/fields/describe.h needs to know of the types that a training spec's fields have.
#pragma once

#include "base/fields/describe.h"
#include "train/spec/spec.h"

namespace loom {

template <std::size_t N>
Json::Array names_in(const std::string_view (&names)[N]) {
  return Json::Array(std::begin(names), std::end(names));
}
inline Json::Array described_names(Loss) { return names_in(kLossNames); }
inline Json::Array described_names(MethodKind) { return names_in(kMethodNames); }
inline Json::Array described_names(TargetMode) { return names_in(kTargetModeNames); }
inline Json::Array described_names(Feedback) { return names_in(kFeedbackNames); }
inline Json::Array described_names(OptimizerKind) { return names_in(kOptimizerNames); }
inline Json::Array described_names(ScheduleKind) { return names_in(kScheduleNames); }
inline Json::Array described_names(DataKind) { return names_in(kDataNames); }
inline const char* described_shape(const Json&) { return "object"; }
inline const char* described_shape(const DataSpec&) { return "data"; }
inline const char* described_shape(const MethodSpec&) { return "method"; }
inline const char* described_shape(const OptimizerSpec&) { return "optimizer"; }
inline const char* described_shape(const Schedule&) { return "schedule"; }
inline const char* described_shape(const AdapterSpec&) { return "lora"; }
inline const char* described_shape(const QuantizeSpec&) { return "quantize"; }
inline const char* described_shape(const TicksSpec&) { return "step_mesh"; }
inline const char* described_shape(const ValidationSpec&) { return "validation"; }
inline const char* described_shape(const std::vector<HeadSpec>&) { return "heads"; }

}  // namespace loom
