#include "ops/elementwise/activation.h"

#include <array>
#include <string>

#include "base/numbered.h"

namespace loom {
namespace {

constexpr std::array<std::string_view, kActivationCount> kNames = {
#define LOOM_ACTIVATION(id, name) #name,
#include "ops/elementwise/activations.def"
#undef LOOM_ACTIVATION
};

constexpr int kIds[] = {
#define LOOM_ACTIVATION(id, name) id,
#include "ops/elementwise/activations.def"
#undef LOOM_ACTIVATION
};
#define LOOM_ACTIVATION(id, name) \
  static_assert(in_order(kIds, id), "activations.def: row " #id " is not " #name);
#include "ops/elementwise/activations.def"
#undef LOOM_ACTIVATION

struct Synonym {
  std::string_view text;
  Activation activation;
};
constexpr Synonym kSynonyms[] = {
    {"none", Activation::linear},         {"identity", Activation::linear},
    {"swish", Activation::silu},          {"gelu", Activation::gelu_erf},
    {"gelu_new", Activation::gelu_tanh},  {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh}, {"leakyrelu", Activation::leaky_relu},
    {"relu_squared", Activation::relu2},  {"squared_relu", Activation::relu2}};

}  // namespace

std::string_view name(Activation activation) {
  return kNames[static_cast<std::size_t>(activation)];
}

Result<Activation> parse_activation(std::string_view text) {
  std::string lower;
  for (char c : text) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == lower) return static_cast<Activation>(i);
  for (const Synonym& s : kSynonyms)
    if (s.text == lower) return s.activation;
  std::string list;
  for (std::string_view n : kNames) list += (list.empty() ? "" : ", ") + std::string(n);
  return Status(Code::invalid_argument,
                "unknown activation '" + std::string(text) + "': one of " + list);
}

}  // namespace loom
