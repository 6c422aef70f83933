// Places a program's buffers in one arena by their lifetimes: a linear scan with a free list, at
// register maxima.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/lowering/lowered.h"

namespace loom {

struct Placement {
  std::vector<std::int64_t> offset;  // per buffer, bytes into the arena; -1: not in the arena
                                     // (weights, states, masters, constants) or unused
  std::vector<std::int64_t> stride;  // per buffer, elements between rows (bytes for packed types)
  std::int64_t arena_bytes = 0;
};

// Bytes of one element; 1 for the packed types, whose stride is in bytes.
std::int64_t element_size(ValueType type);
// Elements between rows: padded to 16 for buffers in the arena, so that kernels may load whole
// vectors; exact for the others.
std::int64_t row_stride(const Buffer& buffer);
// Bytes a buffer takes at register maxima, slack for whole-vector loads included.
std::int64_t buffer_bytes(const ProgramFrame& program, BufferId id);
// The same for at most `rows` rows.
std::int64_t buffer_bytes(const ProgramFrame& program, BufferId id, std::int64_t rows);

// The arena of all buffers. A place stays taken for `linger` instructions after its last reader, so
// that those which follow can start while that reader still runs (cpu/schedule.h).
Placement place_buffers(const LoweredProgram& program, int linger = 0);
// Of the buffers with a size.
Placement place_buffers(const LoweredProgram& program, std::span<const std::int64_t> bytes,
                        int linger);

}  // namespace loom
