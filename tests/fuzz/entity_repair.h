// Hashes would stop a fuzzer of .entity files at once: these make them right again.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/files/bytes.h"
#include "checkpoint/checksum.h"
#include "checkpoint/entity.h"
#include "checkpoint/layout.h"

namespace loom::fuzz {

// Patches of 12 bytes: u32 place, u8 width, 3 unused, u32 value.
inline void patch(std::string& file, const std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 0; at + 12 <= size; at += 12) {
    // Places from 2^31 count from the end, where the table is.
    const auto place = load_le<std::uint32_t>(data + at),
               value = load_le<std::uint32_t>(data + at + 8);
    const std::size_t to =
        place >> 31 ? file.size() - 1 - place % 4096 % file.size() : place % file.size();
    std::array<std::byte, 4> bytes;
    store_le(bytes.data(), value);
    std::memcpy(file.data() + to, bytes.data(),
                std::min<std::size_t>(1 + data[at + 4] % 4, file.size() - to));
  }
}

// Gives header, table and everything the table can be made to name the hashes of what is there.
inline void repair(std::string& file) {
  using namespace entity_layout;
  if (file.size() < kHeader) return;
  store_le(file.data() + 56, Xxh64::of(as_bytes(std::string_view(file).substr(0, 56))));
  const auto header =
      parse_header(std::span<const std::byte, kHeader>(as_bytes(file).first(kHeader)), file.size());
  if (!header.ok()) return;
  const auto at = static_cast<std::size_t>(header->toc_offset),
             size = static_cast<std::size_t>(header->toc_size) - sizeof(Sha256::Digest);
  const auto sign = [&] {
    const auto digest = Sha256::of(as_bytes(std::string_view(file).substr(at, size)));
    std::memcpy(file.data() + at + size, digest.data(), digest.size());
  };
  sign();
  auto entries = parse_toc(as_bytes(std::string_view(file).substr(at)), *header);
  if (!entries.ok()) return;
  std::size_t row = at;
  for (const EntityEntry& e : *entries) {
    const auto bytes = as_bytes(std::string_view(file).substr(static_cast<std::size_t>(e.offset),
                                                              static_cast<std::size_t>(e.size)));
    store_le(file.data() + row + 32, Xxh64::of(bytes));
    const auto digest = Sha256::of(bytes);
    std::memcpy(file.data() + row + 40, digest.data(), digest.size());
    row += static_cast<std::size_t>(entry_size(e));
  }
  sign();
}

}  // namespace loom::fuzz
