#include "ops/webgpu/fusion.h"

#include <algorithm>
#include <optional>

namespace loom::webgpu {
namespace {

// Threads of these kernels that a large device runs at once: workgroups beyond would only quantize the row again.
constexpr std::int64_t kDeviceThreads = 132 * 1024;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class Finder {
 public:
  Finder(const Program& program, const std::function<FusedMatrix(BufferId)>& weight, const gpu::Limits& limits) : p_(program), weight_(weight), limits_(limits), taken_(program.code.size()) {}

  std::vector<Fusion> run() {
    for (std::size_t n = 0; n < p_.code.size(); ++n) {
      if (taken_[n] || p_.code[n].segment != Segment::forward) continue;
      const Op op = p_.code[n].op;
      if (op == Op::rms_norm || op == Op::quantize) products(n);
      else if (op == Op::rope) rope(n);
    }
    return std::move(found_);
  }

 private:
  enum Epilogue : std::int64_t { kStore, kAdd, kSiluMul, kHeads };  // kernels/decode/gemv.wgsl
  const Instruction& at(std::size_t n) const { return p_.code[n]; }
  bool is_temp(BufferId id) const { return p_.buffers[static_cast<std::size_t>(id)].kind == BufferKind::temp; }

  // Instructions after n that read a buffer; writers count as readers of the whole, so that they end a fusion.
  std::vector<std::size_t> users(BufferId id, std::size_t n) const {
    std::vector<std::size_t> list;
    for (std::size_t m = n + 1; m < p_.code.size(); ++m)
      if (std::any_of(at(m).operands.begin(), at(m).operands.end(), [&](const View& v) { return v.valid() && v.buffer == id; })) list.push_back(m);
    return list;
  }
  // The one instruction that uses the temporary which n writes; npos where there are none or several.
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t only_user(BufferId id, std::size_t n) const {
    if (!is_temp(id)) return npos;
    const auto list = users(id, n);
    return list.size() == 1 ? list[0] : npos;
  }

  // [rms_norm,] quantize, then its products, then what takes them up.
  void products(std::size_t n) {
    std::size_t quantize = n;
    const bool norm = at(n).op == Op::rms_norm;
    if (norm) {
      quantize = only_user(at(n).operands[2].buffer, n);
      if (quantize == npos || at(quantize).op != Op::quantize || at(quantize).operands[0] != at(n).operands[2] || at(n).ints[0] != at(n).operands[0].cols) return;
    }
    const BufferId planes = at(quantize).operands[1].buffer;
    if (!is_temp(planes)) return;
    const std::vector<std::size_t> matmuls = users(planes, quantize);
    if (matmuls.empty() || matmuls.size() > 3) return;
    std::vector<const Instruction*> list;
    for (std::size_t m : matmuls) {
      if (at(m).op != Op::matmul || taken_[m]) return;
      list.push_back(&at(m));
    }
    const FusedMatrix first = weight_(list[0]->operands[0].buffer);
    if (first.arg->form != cpu::kIntegerForm) return;
    const bool bias = list[0]->operands[2].valid();
    const std::string constants = weight_constants(*first.arg, bias);
    for (const Instruction* i : list) {
      const FusedMatrix w = weight_(i->operands[0].buffer);
      if (w.heap != first.heap || i->operands[2].valid() != bias || weight_constants(*w.arg, bias) != constants) return;
    }
    Fusion f;
    f.first = n;
    f.instructions = {n, quantize};
    f.instructions.insert(f.instructions.end(), matmuls.begin(), matmuls.end());
    LaunchSpec& l = f.launch;
    l.operands[0] = at(n).operands[0];
    if (norm) {
      l.operands[1] = at(n).operands[1];
      l.reals[0] = at(n).reals[0];
    }
    Epilogue epilogue = kStore;
    std::int64_t jobs = 1;
    for (std::size_t i = 0; i < list.size(); ++i) {
      l.operands[2 + i] = list[i]->operands[3];
      l.operands[5 + i] = list[i]->operands[2];
      l.matrices[i] = list[i]->operands[0].buffer;
      l.factor = (i == 0 ? 0 : l.factor) + (list[i]->operands[3].cols + 15) / 16;
    }
    const std::size_t next = only_user(list[0]->operands[3].buffer, matmuls[0]);
    if (next != npos && list.size() == 1 && at(next).op == Op::add && at(next).operands[0].buffer != at(next).operands[1].buffer) {
      const std::size_t other = at(next).operands[0] == list[0]->operands[3] ? 1 : 0;
      if (at(next).operands[1 - other] == list[0]->operands[3] && written_before(at(next).operands[other].buffer, n)) {
        epilogue = kAdd;
        l.operands[8] = at(next).operands[other];
        l.operands[2] = at(next).operands[2];
        f.instructions.push_back(next);
      }
    } else if (next != npos && list.size() == 2 && !bias && at(next).op == Op::silu_mul && at(next).operands[0] == list[0]->operands[3] && at(next).operands[1] == list[1]->operands[3] &&
               only_user(list[1]->operands[3].buffer, matmuls[1]) == next && list[0]->operands[3].cols == list[1]->operands[3].cols) {
      epilogue = kSiluMul;
      jobs = 2;
      l.operands[2] = at(next).operands[2];
      l.operands[3] = {};
      l.factor = (list[0]->operands[3].cols + 15) / 16;
      f.instructions.push_back(next);
    }
    if (list.size() == 3 && epilogue == kStore) heads(matmuls, f, epilogue, jobs);
    const cpu::WeightArg& w = *first.arg;
    const std::int64_t words = ceil_div(w.cols, 64) * 16, byte_rows = w.panel_bytes / 64;
    const std::int64_t units = epilogue == kHeads ? l.ints[0] + 2 * l.ints[1] : epilogue == kSiluMul ? ceil_div(list[0]->operands[3].cols, 16) : l.factor;
    // Threads for every run of byte rows: few wide workgroups that go on from panel to panel keep more of the memory busy than many narrow ones, each of which prepares the row.
    const std::int64_t run = byte_rows >= 128 ? 8 : 4, most = std::min<std::int64_t>(limits_.threads_per_group, 1024);
    std::int64_t threads = std::max<std::int64_t>(128, 16 * jobs);
    while (2 * threads <= most && threads < 16 * jobs * ceil_div(byte_rows, run)) threads *= 2;
    const std::int64_t head_dim = epilogue == kHeads ? l.ints[2] : 2;
    // Workgroup memory: the planes of the row, and its values where there is room or the norm needs them; then sums for each turn.
    const std::int64_t planes_bytes = (std::max<std::int64_t>(words, w.padded_cols / 4) + 64) * 10 + 8 * head_dim + (norm ? 512 : 64), turn_bytes = 128 * jobs;
    const std::int64_t room = (limits_.group_bytes - planes_bytes - (norm ? words * 16 : 0)) / turn_bytes;
    const std::int64_t turns = std::max<std::int64_t>(1, std::min(room, ceil_div(units * threads, kDeviceThreads))), groups = ceil_div(units, turns);
    const std::int64_t bytes = planes_bytes + turn_bytes * turns;
    const bool staged = bytes + words * 16 <= limits_.group_bytes;
    if (threads > most || bytes > limits_.group_bytes || (norm && !staged) || (epilogue == kHeads && turns > 1)) return;
    l.kernel = {"arena exact reduce q15 weights join append lanes gemv", "gemv",
                constants + flag("NORM", norm) + constant("EPILOGUE", epilogue) + constant("MATRICES", static_cast<std::int64_t>(list.size())) + constant("COLS", w.cols) +
                    constant("WORDS", words) + constant("PADDED", w.padded_cols) + constant("RUN", run) + constant("TURNS", turns) + flag("STAGED", staged) + constant("JOBS", jobs) + constant("THREADS", threads) + constant("HEAD_DIM", head_dim),
                gpu::Access::read, true};
    l.operand = 0;
    l.factor = units;
    l.most = groups;
    take(std::move(f));
  }

  // q, k and v of a layer with positions go on to their ropes and the cache: a head is a unit then.
  void heads(const std::vector<std::size_t>& matmuls, Fusion& f, Epilogue& epilogue, std::int64_t& jobs) const {
    LaunchSpec& l = f.launch;
    std::size_t next[3];
    for (std::size_t i = 0; i < 3; ++i)
      if ((next[i] = only_user(l.operands[2 + i].buffer, matmuls[i])) == npos) return;
    if (at(next[0]).op != Op::rope || at(next[0]).operands[0] != l.operands[2]) return;
    const std::optional<RopeAppend> r = rope_append(next[0]);
    if (!r || r->key != next[1] || r->append != next[2] || at(r->key).operands[0] != l.operands[3] || at(r->append).operands[1] != l.operands[4]) return;
    const Instruction &q = at(next[0]), &append = at(r->append);
    const std::int64_t hd = append.ints[1];
    if (hd % 16 != 0 || 16 * (hd / 16) > std::min<std::int64_t>(limits_.threads_per_group, 1024)) return;
    for (const BufferId id : {append.operands[2].buffer, append.operands[3].buffer, q.operands[2].buffer})
      if (!written_before(id, f.first)) return;
    l.operands[2] = q.operands[3];
    l.operands[3] = q.operands[2];
    l.operands[4] = append.operands[4];
    l.operands[8] = append.operands[2];
    l.operands[9] = append.operands[3];
    l.ints = {q.operands[0].cols / hd, append.ints[0], hd};
    f.instructions.insert(f.instructions.end(), {next[0], r->key, r->append});
    epilogue = kHeads;
    jobs = hd / 16;
  }

  struct RopeAppend {
    std::size_t key, append;
  };
  // The rope of k and the kv_append that a rope of q at n goes with.
  std::optional<RopeAppend> rope_append(std::size_t n) const {
    const Instruction& q = at(n);
    for (std::size_t a = n + 1; a < p_.code.size() && a < n + kFusionReach; ++a) {
      const Instruction& append = at(a);
      if (append.op != Op::kv_append || p_.buffers[static_cast<std::size_t>(append.operands[4].buffer)].type != ValueType::q15) continue;
      std::size_t k = n + 1;
      while (k < a && !(at(k).op == Op::rope && at(k).operands[3] == append.operands[0])) ++k;
      if (k == a || only_user(at(k).operands[3].buffer, k) != a) return {};
      const Instruction& key = at(k);
      const std::int64_t hd = append.ints[1];
      if (q.ints[0] != hd || key.ints[0] != hd || q.ints[1] != 0 || key.ints[1] != 0 || hd > kMaxQ15HeadDim || q.operands[2].buffer != key.operands[2].buffer) return {};
      if (q.operands[1].buffer != append.operands[3].buffer || key.operands[1].buffer != append.operands[3].buffer || q.operands[0].buffer == q.operands[3].buffer) return {};
      // What it does stands where the append stands, or earlier: nobody reads the turned queries before.
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
    const Instruction &q = at(n), &key = at(r->key), &append = at(r->append);
    Fusion f;
    f.first = r->append;  // what k and v come from is done by then
    f.instructions = {n, r->key, r->append};
    LaunchSpec& l = f.launch;
    l.operands = {q.operands[0], q.operands[3], key.operands[0], append.operands[1], q.operands[2], append.operands[2], append.operands[3], append.operands[4]};
    l.ints = {q.operands[0].cols / append.ints[1], append.ints[0], append.ints[1]};
    l.factor = l.ints[0] + 2 * l.ints[1];
    l.operand = 0;
    l.kernel = {"arena q15 append rope_append", "rope_append", constant("THREADS", 64) + constant("HEAD_DIM", append.ints[1])};
    take(std::move(f));
  }

  // What an instruction in place n may read: written by an earlier one, or by the host.
  bool written_before(BufferId id, std::size_t n) const {
    const BufferKind kind = p_.buffers[static_cast<std::size_t>(id)].kind;
    if (kind == BufferKind::input || kind == BufferKind::constant) return true;
    for (std::size_t m = 0; m < n; ++m) {
      const OpInfo& op = info(at(m).op);
      for (std::size_t i = 0; i < op.operands.size(); ++i)
        if (at(m).operands[i].valid() && at(m).operands[i].buffer == id && op.operands[i].role != Role::read) return true;
    }
    return false;
  }

  void take(Fusion f) {
    for (std::size_t m : f.instructions)
      if (taken_[m] || at(m).segment != Segment::forward || m + kFusionReach <= f.first || m >= f.first + kFusionReach) return;
    for (std::size_t m : f.instructions) taken_[m] = true;
    f.launch.instruction = &at(f.first);
    found_.push_back(std::move(f));
  }

  const Program& p_;
  const std::function<FusedMatrix(BufferId)>& weight_;
  const gpu::Limits& limits_;
  std::vector<bool> taken_;
  std::vector<Fusion> found_;
};

}  // namespace

std::vector<Fusion> find_fusions(const Program& program, const std::function<FusedMatrix(BufferId)>& weight, const gpu::Limits& limits) { return Finder(program, weight, limits).run(); }

}  // namespace loom::webgpu
