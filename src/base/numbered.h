// Checks of lists whose rows have numbers or names (.def files), for a static_assert in the one
// file that owns a list: a row that stands twice, a gap, a name that stands twice.
#pragma once

#include <cstddef>
#include <string_view>

namespace loom {

// Whether the ids count from 0 as far as this one says: it stands once, and below their number.
template <std::size_t N>
constexpr bool numbered(const int (&ids)[N], int id) {
  int count = 0;
  for (const int other : ids) count += other == id;
  return count == 1 && id >= 0 && id < static_cast<int>(N);
}
// The same, and rows stand in the order of their ids.
template <std::size_t N>
constexpr bool in_order(const int (&ids)[N], int id) {
  return numbered(ids, id) && ids[id] == id;
}
template <std::size_t N>
constexpr bool stands_once(const std::string_view (&names)[N], std::string_view name) {
  int count = 0;
  for (const std::string_view other : names) count += other == name;
  return count == 1;
}

}  // namespace loom
