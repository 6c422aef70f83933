// The program's allocations, counted, and failing where a test says so. One program only: it
// defines malloc.
#pragma once

#include <cstdint>

namespace loom::test {

// Counting from now on as 0, those with a number in first..last fail, of any thread.
void fail_allocations(std::int64_t first, std::int64_t last);
// None fails any more; returns how many there were since.
std::int64_t allow_allocations();
// Blocks that are allocated now.
std::int64_t live_allocations();

}  // namespace loom::test
