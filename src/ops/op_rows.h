// The rows of a family as data. Included at the end of <family>.cpp, inside namespace loom and after the
// rules that the rows name, with LOOM_FAMILY (its name) and LOOM_FAMILY_ROWS (its file) defined.
static constexpr OpRow kRows[] = {
#define LOOM_OP(id, name, kernel, operands, ints, reals, registers, ...) \
  {id, #name "|" operands "|" ints "|" reals "|" registers, {__VA_ARGS__}},
#define LOOM_LOWERED(name, kernel, operands, ...) {-1, #name "|" operands "|||", {__VA_ARGS__}},
#define LOOM_CALL(...)
#include LOOM_FAMILY_ROWS
#undef LOOM_OP
#undef LOOM_LOWERED
#undef LOOM_CALL
};
namespace families {
Family LOOM_FAMILY() { return kRows; }
}  // namespace families
