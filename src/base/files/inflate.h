// Reads gzip (RFC 1952) and the deflate streams in it (RFC 1951): data sets come so. Pure functions
// over bytes in memory; hostile input is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace loom {

// CRC-32 of gzip, zip and PNG (polynomial 0xEDB88320), of `bytes` behind those that gave `crc`.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t crc = 0);

bool is_gzip(std::span<const std::byte> bytes);

// All members of a gzip file, one after another. Errors name `name`: corrupt (damage, a checksum or
// length that does not agree, bytes behind the last member), truncated, out_of_range where it holds
// more than `limit` bytes; memory grows with what was decoded, not with what a header claims.
Result<std::vector<std::byte>> gunzip(std::span<const std::byte> bytes, std::uint64_t limit,
                                      const std::string& name);
// The beginning of the same, to read a header: at least `wanted` bytes where it is that long, and
// at most 64 KiB more. Nothing behind it is decoded, so no checksum is checked.
Result<std::vector<std::byte>> gunzip_start(std::span<const std::byte> bytes, std::uint64_t wanted,
                                            const std::string& name);

}  // namespace loom
