#include "ops/lowering/fuse_decoding.h"

#include <algorithm>
#include <optional>

#include "ops/products/decode/decode.h"

namespace loom {
namespace {

bool quantizes(const LoweredInstruction& i) {
  return i.op == LoweredOp::quantize || i.op == LoweredOp::quantize_i8;
}

class Finder {
 public:
  Finder(const LoweredProgram& program, const webgpu::MatrixLookup& weight,
         const gpu::Limits& limits)
      : p_(program), weight_(weight), limits_(limits), taken_(program.code.size()) {}

  std::vector<Fusion> run() {
    for (std::size_t n = 0; n < p_.code.size(); ++n) {
      if (taken_[n] || p_.code[n].segment != Segment::forward) continue;
      const LoweredOp op = p_.code[n].op;
      if (op == LoweredOp::rms_norm || quantizes(p_.code[n])) products(n);
      else if (op == LoweredOp::rope) rope(n);
    }
    return std::move(found_);
  }

 private:
  using Epilogue = DecodeProducts::Epilogue;
  const LoweredInstruction& at(std::size_t n) const { return p_.code[n]; }
  bool is_temp(BufferId id) const {
    return p_.buffers[static_cast<std::size_t>(id)].kind == BufferKind::temp;
  }

  // Instructions after n that read a buffer; writers count as readers of the whole, so that they
  // end a fusion.
  std::vector<std::size_t> users(BufferId id, std::size_t n) const {
    std::vector<std::size_t> list;
    for (std::size_t m = n + 1; m < p_.code.size(); ++m)
      if (std::any_of(at(m).operands.begin(), at(m).operands.end(),
                      [&](const View& v) { return v.valid() && v.buffer == id; }))
        list.push_back(m);
    return list;
  }
  // The one instruction that uses the temporary which n writes; npos where there are none or
  // several.
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t only_user(BufferId id, std::size_t n) const {
    if (!is_temp(id)) return npos;
    const auto list = users(id, n);
    return list.size() == 1 ? list[0] : npos;
  }

  // [rms_norm,] quantize, then its products, then what takes them up.
  void products(std::size_t n) {
    std::size_t quantize = n;
    const bool norm = at(n).op == LoweredOp::rms_norm;
    if (norm) {
      quantize = only_user(at(n).operands[2].buffer, n);
      if (quantize == npos || !quantizes(at(quantize)) ||
          at(quantize).operands[0] != at(n).operands[2] || at(n).ints[0] != at(n).operands[0].cols)
        return;
    }
    const BufferId planes = at(quantize).operands[1].buffer;
    if (!is_temp(planes)) return;
    const std::vector<std::size_t> matmuls = users(planes, quantize);
    if (matmuls.empty() || matmuls.size() > 3) return;
    std::vector<const LoweredInstruction*> list;
    for (std::size_t m : matmuls) {
      if (taken_[m] ||
          (at(m).op != LoweredOp::matmul_integer && at(m).op != LoweredOp::matmul_blocks))
        return;
      list.push_back(&at(m));
    }
    const webgpu::Matrix first = weight_(list[0]->operands[0].buffer);
    const bool bias = list[0]->operands[2].valid();
    const std::string constants = webgpu::weight_constants(*first.arg, bias);
    for (const LoweredInstruction* i : list) {
      const webgpu::Matrix w = weight_(i->operands[0].buffer);
      if (w.heap != first.heap || i->operands[2].valid() != bias ||
          w.arg->block != first.arg->block || webgpu::weight_constants(*w.arg, bias) != constants)
        return;
    }
    Fusion f;
    f.first = n;
    f.instructions = {n, quantize};
    f.instructions.insert(f.instructions.end(), matmuls.begin(), matmuls.end());
    auto& operands = f.fused.operands;
    DecodeProducts d;
    d.norm = norm;
    d.bias = bias;
    d.one_plane = at(quantize).op == LoweredOp::quantize_i8;
    operands[0] = at(n).operands[0];
    if (norm) {
      operands[1] = at(n).operands[1];
      d.eps = at(n).reals[0];
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      operands[2 + i] = list[i]->operands[3];
      operands[5 + i] = list[i]->operands[2];
      d.matrices[static_cast<std::size_t>(d.count++)] = list[i]->operands[0].buffer;
    }
    take_up(n, matmuls, f, d);
    if (list.size() == 3) heads(matmuls, f, d);
    if (!decode_geometry(p_, d, *first.arg, limits_)) return;
    f.fused.op = LoweredOp::decode_products;
    f.fused.attributes = std::move(d);
    take(std::move(f));
  }

  // The sum with a residual, or the gated activation, that the products go on to.
  void take_up(std::size_t n, const std::vector<std::size_t>& matmuls, Fusion& f,
               DecodeProducts& d) const {
    auto& operands = f.fused.operands;
    const View y = at(matmuls[0]).operands[3];
    const std::size_t next = only_user(y.buffer, matmuls[0]);
    if (next == npos) return;
    const LoweredInstruction& user = at(next);
    if (matmuls.size() == 1 && user.op == LoweredOp::add &&
        user.operands[0].buffer != user.operands[1].buffer) {
      const std::size_t other = user.operands[0] == y ? 1 : 0;
      if (user.operands[1 - other] != y || !written_before(user.operands[other].buffer, n)) return;
      d.epilogue = Epilogue::add;
      operands[8] = user.operands[other];
      operands[2] = user.operands[2];
      f.instructions.push_back(next);
    } else if (matmuls.size() == 2 && !d.bias && user.op == LoweredOp::silu_mul) {
      const View up = at(matmuls[1]).operands[3];
      if (user.operands[0] != y || user.operands[1] != up ||
          only_user(up.buffer, matmuls[1]) != next || y.cols != up.cols)
        return;
      d.epilogue = Epilogue::silu_mul;
      d.jobs = 2;
      operands[2] = user.operands[2];
      operands[3] = {};
      f.instructions.push_back(next);
    }
  }

  // q, k and v of a layer with positions go on to their ropes and the cache: a head is a unit then.
  void heads(const std::vector<std::size_t>& matmuls, Fusion& f, DecodeProducts& d) const {
    LoweredInstruction& l = f.fused;
    std::size_t next[3];
    for (std::size_t i = 0; i < 3; ++i)
      if ((next[i] = only_user(l.operands[2 + i].buffer, matmuls[i])) == npos) return;
    if (at(next[0]).op != LoweredOp::rope || at(next[0]).operands[0] != l.operands[2]) return;
    const std::optional<RopeAppend> r = rope_append(next[0]);
    if (!r || r->key != next[1] || r->append != next[2] ||
        at(r->key).operands[0] != l.operands[3] || at(r->append).operands[1] != l.operands[4])
      return;
    const LoweredInstruction &q = at(next[0]), &append = at(r->append);
    const std::int64_t hd = append.ints[1];
    if (hd % 16 != 0 || 16 * (hd / 16) > std::min<std::int64_t>(limits_.threads_per_group, 1024))
      return;
    for (const BufferId id :
         {append.operands[2].buffer, append.operands[3].buffer, q.operands[2].buffer})
      if (!written_before(id, f.first)) return;
    l.operands[2] = q.operands[3];
    l.operands[3] = q.operands[2];
    l.operands[4] = append.operands[4];
    l.operands[8] = append.operands[2];
    l.operands[9] = append.operands[3];
    d.row = {q.operands[0].cols / hd, append.ints[0], hd};
    f.instructions.insert(f.instructions.end(), {next[0], r->key, r->append});
    d.epilogue = Epilogue::heads;
    d.jobs = hd / 16;
  }

  struct RopeAppend {
    std::size_t key, append;
  };
  // The rope of k and the kv_append that a rope of q at n goes with.
  std::optional<RopeAppend> rope_append(std::size_t n) const {
    const LoweredInstruction& q = at(n);
    for (std::size_t a = n + 1; a < p_.code.size() && a < n + kFusionReach; ++a) {
      const LoweredInstruction& append = at(a);
      if (append.op != LoweredOp::kv_append_q15) continue;
      std::size_t k = n + 1;
      while (k < a && !(at(k).op == LoweredOp::rope && at(k).operands[3] == append.operands[0]))
        ++k;
      if (k == a || only_user(at(k).operands[3].buffer, k) != a) return {};
      const LoweredInstruction& key = at(k);
      const std::int64_t hd = append.ints[1];
      if (q.ints[0] != hd || key.ints[0] != hd || q.ints[1] != 0 || key.ints[1] != 0 ||
          hd > kMaxQ15HeadDim || q.operands[2].buffer != key.operands[2].buffer)
        return {};
      if (q.operands[1].buffer != append.operands[3].buffer ||
          key.operands[1].buffer != append.operands[3].buffer ||
          q.operands[0].buffer == q.operands[3].buffer)
        return {};
      // What it does stands where the append stands, or earlier: nobody reads the turned queries
      // before.
      for (std::size_t m = n + 1; m < a; ++m)
        for (const View& v : at(m).operands)
          if (v.valid() && v.buffer == q.operands[3].buffer) return {};
      return RopeAppend{k, a};
    }
    return {};
  }

  // rope of q, rope of k, kv_append.
  void rope(std::size_t n) {
    const std::optional<RopeAppend> r = rope_append(n);
    if (!r) return;
    const LoweredInstruction &q = at(n), &key = at(r->key), &append = at(r->append);
    Fusion f;
    f.first = r->append;  // what k and v come from is done by then
    f.instructions = {n, r->key, r->append};
    f.fused.op = LoweredOp::rope_append;
    f.fused.operands = {q.operands[0], q.operands[3],      key.operands[0],    append.operands[1],
                        q.operands[2], append.operands[2], append.operands[3], append.operands[4]};
    f.fused.attributes =
        HeadsOfRow{q.operands[0].cols / append.ints[1], append.ints[0], append.ints[1]};
    take(std::move(f));
  }

  // What an instruction in place n may read: written by an earlier one, or by the host.
  bool written_before(BufferId id, std::size_t n) const {
    const BufferKind kind = p_.buffers[static_cast<std::size_t>(id)].kind;
    if (kind == BufferKind::input || kind == BufferKind::constant) return true;
    for (std::size_t m = 0; m < n; ++m) {
      const auto& roles = loom::operands(at(m).op);
      for (std::size_t i = 0; i < roles.size(); ++i)
        if (at(m).operands[i].valid() && at(m).operands[i].buffer == id &&
            roles[i].role != Role::read)
          return true;
    }
    return false;
  }

  void take(Fusion f) {
    for (std::size_t m : f.instructions)
      if (taken_[m] || at(m).segment != Segment::forward || m + kFusionReach <= f.first ||
          m >= f.first + kFusionReach)
        return;
    for (std::size_t m : f.instructions) taken_[m] = true;
    f.fused.segment = at(f.first).segment;
    found_.push_back(std::move(f));
  }

  const LoweredProgram& p_;
  const webgpu::MatrixLookup& weight_;
  const gpu::Limits& limits_;
  std::vector<bool> taken_;
  std::vector<Fusion> found_;
};

}  // namespace

// Whether instruction n makes rows that only the next one reads, which quantizes them.
static bool made_to_quantize(const LoweredProgram& program, std::size_t n) {
  if (n + 1 >= program.code.size()) return false;
  const LoweredInstruction &i = program.code[n], &next = program.code[n + 1];
  const View& y = i.operands[2];
  if ((i.op != LoweredOp::silu_mul &&
       (i.op != LoweredOp::rms_norm || i.ints[0] != i.operands[0].cols)) ||
      !quantizes(next) || next.operands[0] != y || next.segment != i.segment ||
      program.buffers[static_cast<std::size_t>(y.buffer)].kind != BufferKind::temp)
    return false;
  std::size_t uses = 0;
  for (const LoweredInstruction& other : program.code)
    for (const View& v : other.operands) uses += v.valid() && v.buffer == y.buffer;
  return uses == 2;
}

std::size_t quantized_at_once(const LoweredProgram& program, std::size_t n) {
  if (made_to_quantize(program, n)) return 2;
  const LoweredInstruction& sum = program.code[n];
  if (sum.op != LoweredOp::add || !made_to_quantize(program, n + 1)) return 1;
  const LoweredInstruction& norm = program.code[n + 1];
  return norm.op == LoweredOp::rms_norm && norm.operands[0] == sum.operands[2] &&
                 norm.segment == sum.segment
             ? 3
             : 1;
}

std::vector<Fusion> find_fusions(const LoweredProgram& program,
                                 const webgpu::MatrixLookup& matrices, const gpu::Limits& limits) {
  return Finder(program, matrices, limits).run();
}

}  // namespace loom
