// The rows of a family, one after the other. Included at the end of <family>.cpp, inside namespace
// loom and after the rules that the rows name, with LOOM_FAMILY (its name) and LOOM_FAMILY_ROWS
// (its file) defined. Code rather than a table: each pointer of a table in a shared library takes
// 32 bytes.
namespace families {
void LOOM_FAMILY(RowSink& sink) {
#define LOOM_OP(id, name, kernel, operands, ints, reals, registers, ...) \
  sink.add(id, #name "|" operands "|" ints "|" reals "|" registers, {__VA_ARGS__});
#define LOOM_LOWERED(name, kernel, operands, ...) \
  sink.add(-1, #name "|" operands "|||", {__VA_ARGS__});
#define LOOM_CALL(...)
#include LOOM_FAMILY_ROWS
#undef LOOM_OP
#undef LOOM_LOWERED
#undef LOOM_CALL
}
}  // namespace families
