// Convolutions on the CPU: unfolded rows hold each value once per tap, so they are never made. A program is rewritten for the kernels of kernels/conv.h:
//
//   unfold x -> r; matmul w, r; outer_add g, r     r becomes the padded input, a row per item, and the products read the taps in it
//   matmul_t w, g -> r; fold r -> y                one instruction, matmul_t with the result y; r is gone
//
// where nothing else reads r, and all is f32. The window lies in attributes that the ops do not have otherwise: a rewritten program never leaves its executor.
#pragma once

#include "ops/program.h"

namespace loom::cpu {

void rewrite_windows(Program& program);
// Whether an instruction is one of those.
bool in_window(const Instruction& instruction);

}  // namespace loom::cpu
