// Programs are untrusted input: what decodes and verifies must be canonical, plan, and run on zero
// inputs without a bad access. Two kinds of input: a program ("LOOMPRG1..."); anything else: a byte
// that picks a real program, then patches to it of 8 bytes (u16 place, u8 width, 1 unused, u32
// value).
#include <map>
#include <memory>
#include <string>

#include "base/files/bytes.h"
#include "exec/session.h"
#include "fuzz.h"
#include "ops/cpu/executor.h"
#include "train/learner/learner.h"

namespace {

using namespace loom;

constexpr std::int64_t kLargest = 1 << 20;  // values of all buffers together that are worth running
constexpr std::uint32_t kRegister = 3;      // largest value of a register here

// A parameter of whatever shape and format the program asks for, all zero.
class Parameters {
 public:
  explicit Parameters(const Program& program) : program_(program) {}
  WeightStore* find(std::string_view path, std::string_view role) {
    const auto [it, added] = stores_.try_emplace(std::string(path) + '\0' + std::string(role));
    if (!added) return it->second.get();
    for (const Buffer& b : program_.buffers) {
      if ((b.kind != BufferKind::weight && b.kind != BufferKind::master) || b.path != path ||
          b.role != role)
        continue;
      it->second = std::make_unique<WeightStore>(b.rows.constant, b.cols);
      (void)it->second->morph(b.type == ValueType::f64
                                  ? default_format(DType::f64)
                                  : b.format);  // a format that is none leaves f32
      break;
    }
    return it->second.get();
  }

 private:
  const Program& program_;
  std::map<std::string, std::unique_ptr<WeightStore>> stores_;
};

// A decoder that generates, the same in small integers, what learns it, and rows that are routed.
std::vector<std::string> real_programs() {
  std::vector<std::string> list;
  for (const char* dtype : {"f32", "i4", "routed"}) {
    const bool routed = std::string_view(dtype) == "routed";
    const std::string f = std::string(R"(,"dtype":")") + (routed ? "f32" : dtype) + "\"";
    auto network = Network::from_json(
        routed
            ? std::string_view(
                  R"({"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"ids":5},"cells":[{"at":[0,0,0,0],"type":"embedding","out":6},
{"at":[0,0,0,1],"type":"parallel","combine":"gated","top_k":1,"layers":[{"type":"dense","out":6},{"type":"sequential","layers":[{"type":"layer_norm"},{"type":"dense","out":6,"dtype":"i8"}]},
{"type":"parallel","combine":"gated","top_k":1,"layers":[{"type":"dense","out":6},{"type":"rms_norm"}]}]},{"at":[0,0,0,2],"type":"dense","out":5}]})")
            : std::string_view(
                  R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":11},"head":[0,0,0,2],"cells":[
{"at":[0,0,0,0],"type":"embedding","out":8)" +
                  f + R"(},{"at":[0,0,0,1],"type":"sequential")" + f +
                  R"(,"layers":[{"type":"sequential","layers":[{"type":"rms_norm"},
{"type":"attention","heads":2,"kv_heads":1,"qk_norm":true}]},{"type":"residual"},{"type":"swiglu","hidden":12},{"type":"layer_norm"}]},
{"at":[0,0,0,2],"type":"rms_norm"},{"at":[0,0,0,3],"type":"dense","out":11)" +
                  f + "}]}"));
    FUZZ_CHECK(network.ok());
    const auto program = emit_program(*network, {.max_rows = 3, .max_positions = 64});
    FUZZ_CHECK(program.ok());
    list.push_back(program->encode());
    ThreadPool pool(1);
    auto learner = Learner::create(
        *network, pool,
        {.loss = Loss::cross_entropy, .max_rows = 3, .max_positions = 64, .micro_batches = 2});
    FUZZ_CHECK(learner.ok());
    list.push_back(learner->executor().program().encode());
  }
  return list;
}

std::string patched(std::string program, const std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 0; at + 8 <= size; at += 8) {
    const std::size_t to = load_le<std::uint16_t>(data + at) % program.size();
    std::memcpy(program.data() + to, data + at + 4,
                std::min<std::size_t>(1 + data[at + 2] % 4, program.size() - to));
  }
  return program;
}

}  // namespace

FUZZ_TARGET(data, size) {
  static const std::vector<std::string> real = real_programs();
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.starts_with("LOOMPRG1") && size > 0)
    bytes = patched(real[data[0] % real.size()], data + 1, size - 1);
  auto program = Program::decode(bytes);
  if (!program.ok()) {
    const Code code = program.status().code();
    FUZZ_CHECK(
        (code == Code::corrupt || code == Code::unsupported || code == Code::invalid_argument) &&
        program.status().message().size() < 2000);
    return;
  }
  FUZZ_CHECK(program->encode() == bytes);
  (void)program->to_text();
  // Smaller maxima keep what was verified.
  for (Register& r : program->registers) r.max = std::min(r.max, kRegister);
  if (!verify(*program).ok()) return;
  std::int64_t values = 0;
  for (std::size_t b = 0; b < program->buffers.size(); ++b) {
    const std::int64_t rows = program->max_rows(static_cast<BufferId>(b));
    const Buffer& buffer = program->buffers[b];
    if (rows > kLargest || buffer.cols > kLargest || buffer.rows.constant > kLargest ||
        (values += std::max(rows, buffer.rows.constant) * (buffer.cols + 64)) > kLargest)
      return;
  }
  for (const Instruction& ins : program->code)
    if ((ins.op == Op::attention_rows || ins.op == Op::attention_back) &&
        program->max_rows(ins.operands[0].buffer) > 256)
      return;
  Parameters parameters(*program);
  ThreadPool pool(1);
  const Program copy = *program;
  auto executor = cpu::Executor::create(
      std::move(*program),
      [&](std::string_view path, std::string_view role) { return parameters.find(path, role); },
      pool);
  if (!executor.ok()) return;
  for (const std::uint32_t value : {kRegister, std::uint32_t{0}, std::uint32_t{1}}) {
    for (std::size_t r = 0; r < copy.registers.size(); ++r)
      if (copy.registers[r].type == RegisterType::u32)
        (void)(*executor)->set(static_cast<RegisterId>(r), std::min(value, copy.registers[r].max));
    (void)(*executor)->run();
  }
}
