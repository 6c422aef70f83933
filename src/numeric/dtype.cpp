#include "numeric/dtype.h"

#include <algorithm>

#include "base/numbered.h"

namespace loom {
namespace {

constexpr int kIds[] = {
#define LOOM_DTYPE(id, ...) id,
#include "numeric/dtypes.def"
};
#define LOOM_DTYPE(id, name, ...) \
  static_assert(in_order(kIds, id), "dtypes.def: row " #id " is not " #name);
#include "numeric/dtypes.def"

// Whether `word` is one of the words between spaces.
bool is_among(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

Result<DType> dtype_from_id(std::uint32_t id) {
  if (id < kDTypeCount) return static_cast<DType>(id);
  return Status(Code::corrupt, "there is no numeric type " + std::to_string(id) +
                                   "; ids are 0 to " + std::to_string(kDTypeCount - 1));
}

Result<DType> parse_dtype(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const DTypeInfo& row : kDTypes)
    if (row.name == lower || is_among(lower, row.synonyms)) return row.id;
  std::string names;
  for (const DTypeInfo& row : kDTypes) {
    names += names.empty() ? "" : ", ";
    names += row.name;
  }
  return Status(Code::invalid_argument,
                "'" + std::string(text) + "' is not a numeric type; the types are " + names);
}

}  // namespace loom
