// Convolutions on the CPU: unfolded rows hold each value once per tap, and rows of places must be turned into channels with places, so neither are made. A
// program is rewritten for the kernels of kernels/products/conv.h:
//
//   unfold x -> r; matmul w, r -> z; reorder z -> y         r becomes the padded input, a row per item, and the product reads the taps in it and writes y
//   reorder g -> gz; unfold x -> r; outer_add gz, r;        r likewise; the sums read g
//   col_sum gz; matmul_t w, gz -> s; fold s -> gx           one instruction for the last two, matmul_t with the result gx
//
// where nothing else reads r, z, gz and s, and all is f32. The window lies in attributes that the ops do not have otherwise: a rewritten program never leaves
// its executor.
#pragma once

#include "ops/program.h"
#include "ops/window.h"

namespace loom::cpu {

void rewrite_windows(Program& program);
// Whether an instruction is one of those.
bool in_window(const Instruction& instruction);
// Of such an instruction.
Window window_of(const Instruction& instruction);
// Values of a channel with its padding, as far as windows reach.
std::int64_t padded_plane(const Window& window);

}  // namespace loom::cpu
