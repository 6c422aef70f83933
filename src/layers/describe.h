// What base/fields/describe.h needs to know of the types that layers' fields have.
#pragma once

#include "base/fields/describe.h"
#include "layers/config.h"

namespace loom {

// Of names that stand for the same the usual other ones, too: the reader takes them.
inline Json::Array described_names(Activation) {
  Json::Array names = names_below(static_cast<Activation>(kActivationCount));
  for (const char* other : {"gelu", "gelu_new", "gelu_pytorch_tanh", "swish"})
    if (parse_activation(other).ok()) names.emplace_back(other);
  return names;
}
inline Json::Array described_names(Unary) { return names_below(static_cast<Unary>(kUnaryCount)); }
inline Json::Array described_names(Binary) {
  return names_below(static_cast<Binary>(kBinaryCount));
}
inline Json::Array described_names(Reduce) {
  return names_below(static_cast<Reduce>(kReduceCount));
}
inline const char* described_shape(const JsonPart& part) { return part.shape; }
inline const char* described_shape(const AnyJson&) { return "any"; }

}  // namespace loom
