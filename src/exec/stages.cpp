#include "exec/stages.h"

#include <algorithm>
#include <string>

namespace loom {
namespace {

bool overlap(const View& a, const View& b) {
  return a.buffer == b.buffer && a.col < b.col + b.cols && b.col < a.col + a.cols;
}

// What keeps columns as they are, and where it puts those of a view.
bool by_column(const Instruction& ins) { return ins.op == Op::copy || ins.op == Op::convert; }
View through(const Instruction& copy, const View& v) {
  const View &from = copy.operands[0], &to = copy.operands[1];
  const std::int32_t first = std::max(v.col, from.col),
                     end = std::min(v.col + v.cols, from.col + from.cols);
  return {to.buffer, to.col + first - from.col, end - first};
}

// What changes between runs of the second stage, and so is computed in it.
class Changes {
 public:
  Changes(const Program& program, View changing)
      : p_(program), late_(program.code.size()), views_(program.buffers.size()) {
    add(changing);
    for (std::size_t i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      const bool input = b.kind == BufferKind::input && static_cast<BufferId>(i) != changing.buffer;
      if (input || b.kind == BufferKind::state) add(whole(static_cast<BufferId>(i)));
    }
    while (spread()) {
    }
  }

  bool late(std::size_t n) const { return late_[n]; }
  // A copy of values some of which do not change: it runs in both stages.
  bool in_both(std::size_t n) const {
    const Instruction& ins = p_.code[n];
    if (!late_[n] || !by_column(ins)) return false;
    std::int64_t changed = 0;
    for (const View& v : of(ins.operands[0]))
      if (overlap(v, ins.operands[0])) changed += through(ins, v).cols;
    return changed < ins.operands[0].cols;
  }

 private:
  View whole(BufferId id) const {
    return {id, 0, static_cast<std::int32_t>(p_.buffers[static_cast<std::size_t>(id)].cols)};
  }
  bool changes(const View& v) const {
    return v.valid() && std::any_of(of(v).begin(), of(v).end(),
                                    [&](const View& own) { return overlap(own, v); });
  }
  const std::vector<View>& of(const View& v) const {
    return views_[static_cast<std::size_t>(v.buffer)];
  }
  // No two of a buffer's views overlap.
  bool add(View v) {
    for (const View own : of(v)) {
      if (!overlap(own, v)) continue;
      const std::int32_t end = v.col + v.cols, own_end = own.col + own.cols;
      bool more = false;
      if (v.col < own.col) more |= add({v.buffer, v.col, own.col - v.col});
      if (own_end < end) more |= add({v.buffer, own_end, end - own_end});
      return more;
    }
    views_[static_cast<std::size_t>(v.buffer)].push_back(v);
    return true;
  }
  bool spread() {
    bool more = false;
    for (std::size_t n = 0; n < p_.code.size(); ++n) {
      const Instruction& ins = p_.code[n];
      const OpInfo& op = info(ins.op);
      const auto any = [&](auto&& is) {
        for (std::size_t i = 0; i < op.operands.size(); ++i)
          if (is(op.operands[i].role) && changes(ins.operands[i])) return true;
        return false;
      };
      const bool written = any([](Role role) { return role != Role::read; });
      if (!late_[n] && !written && !any([](Role role) { return role != Role::write; })) continue;
      late_[n] = true;
      if (by_column(ins) && !written) {
        // Its place may be other columns of the same buffer, whose list then grows.
        for (const View& v : std::vector<View>(of(ins.operands[0])))
          if (overlap(v, ins.operands[0])) more |= add(through(ins, v));
        continue;
      }
      for (std::size_t i = 0; i < op.operands.size(); ++i)
        if (op.operands[i].role != Role::read && ins.operands[i].valid())
          more |= add(ins.operands[i]);
    }
    return more;
  }
  const Program& p_;
  std::vector<bool> late_;
  std::vector<std::vector<View>> views_;  // that change, by buffer
};

// What of the first stage the second one needs: buffers that it is handed, and what is cheaper, or
// only possible, to run again.
class Cut {
 public:
  Cut(const Program& program, const Changes& changes)
      : p_(program),
        again_(program.code.size()),
        carried_(program.buffers.size()),
        writers_(program.buffers.size()) {
    for (std::size_t n = 0; n < p_.code.size(); ++n) {
      again_[n] = changes.late(n);
      const OpInfo& op = info(p_.code[n].op);
      for (std::size_t i = 0; i < op.operands.size(); ++i)
        if (const View& v = p_.code[n].operands[i]; op.operands[i].role != Role::read && v.valid())
          writers_[static_cast<std::size_t>(v.buffer)].push_back({n, v});
    }
    std::vector<bool> done(p_.code.size());
    for (bool more = true; more;) {
      more = false;
      for (std::size_t n = p_.code.size(); n-- > 0;) {
        if (!again_[n] || done[n]) continue;
        done[n] = more = true;
        const OpInfo& op = info(p_.code[n].op);
        for (std::size_t i = 0; i < op.operands.size(); ++i)
          if (op.operands[i].role != Role::write && p_.code[n].operands[i].valid())
            reach(n, p_.code[n].operands[i], changes);
      }
    }
  }
  // Whether the stages have the order of the whole: nothing is read before the first stage has
  // overwritten it.
  bool in_order() const { return in_order_; }
  bool again(std::size_t n) const { return again_[n]; }
  bool carried(std::size_t buffer) const { return carried_[buffer]; }

 private:
  void reach(std::size_t reader, const View& v, const Changes& changes) {
    const auto id = static_cast<std::size_t>(v.buffer);
    if (p_.buffers[id].kind != BufferKind::temp) return;
    const auto& writers = writers_[id];
    const bool settled = std::none_of(writers.begin(), writers.end(),
                                      [&](const Writer& w) { return changes.late(w.instruction); });
    const ValueType type = p_.buffers[id].type;
    const bool rows = p_.dynamic_rows(v.buffer) == kNone;
    if (settled && rows && (type == ValueType::f32 || type == ValueType::f64)) {
      carried_[id] = true;
      for (const Writer& w : writers)
        if (w.instruction > reader && overlap(w.view, v)) in_order_ = false;
      return;
    }
    for (const Writer& w : writers)
      if (overlap(w.view, v)) again_[w.instruction] = true;
  }

  struct Writer {
    std::size_t instruction;
    View view;
  };
  const Program& p_;
  std::vector<bool> again_, carried_;
  bool in_order_ = true;
  std::vector<std::vector<Writer>> writers_;  // by buffer
};

// The program without buffers that nothing uses; gives where each of them went.
std::vector<BufferId> drop_unused(Program& program) {
  std::vector<BufferId> to(program.buffers.size(), kNone);
  const auto keep = [&](std::size_t id) {
    const Buffer& b = program.buffers[id];
    return b.kind == BufferKind::output || (b.kind == BufferKind::input && b.path.empty());
  };
  std::vector<Buffer> kept;
  std::vector<bool> used(program.buffers.size());
  for (const Instruction& ins : program.code)
    for (const View& v : ins.operands)
      if (v.valid()) used[static_cast<std::size_t>(v.buffer)] = true;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (!used[i] && !keep(i)) continue;
    to[i] = static_cast<BufferId>(kept.size());
    kept.push_back(std::move(program.buffers[i]));
  }
  program.buffers = std::move(kept);
  for (Instruction& ins : program.code)
    for (View& v : ins.operands)
      if (v.valid()) v.buffer = to[static_cast<std::size_t>(v.buffer)];
  return to;
}

}  // namespace

bool is_read(const Program& program, View value) {
  std::vector<View> places{value};
  for (std::size_t k = 0; k < places.size(); ++k) {
    const View at = places[k];
    if (program.buffers[static_cast<std::size_t>(at.buffer)].kind == BufferKind::output)
      return true;
    for (const Instruction& ins : program.code) {
      const OpInfo& op = info(ins.op);
      for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (op.operands[i].role == Role::write || !overlap(ins.operands[i], at)) continue;
        if (!by_column(ins)) return true;
        const View to = through(ins, at);
        if (std::find(places.begin(), places.end(), to) == places.end()) places.push_back(to);
      }
    }
  }
  return false;
}

Stages split(const Program& program, View changing) {
  const Changes changes(program, changing);
  const Cut cut(program, changes);
  Stages s{program, program, {}};
  s.once.code.clear();
  if (!cut.in_order()) return s;
  s.again.code.clear();
  for (std::size_t n = 0; n < program.code.size(); ++n) {
    if (!changes.late(n) || changes.in_both(n)) s.once.code.push_back(program.code[n]);
    if (cut.again(n)) s.again.code.push_back(program.code[n]);
  }
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].kind == BufferKind::output) s.once.buffers[i].kind = BufferKind::temp;
    if (!cut.carried(i)) continue;
    const std::string name = "carried" + std::to_string(s.carried.size());
    s.once.buffers[i].kind = BufferKind::output;
    s.again.buffers[i].kind = BufferKind::input;
    s.once.buffers[i].role = s.again.buffers[i].role = name;
    s.carried.push_back({static_cast<BufferId>(i), static_cast<BufferId>(i)});
  }
  remove_dead_code(s.once);
  remove_dead_code(s.again);
  const std::vector<BufferId> from = drop_unused(s.once), to = drop_unused(s.again);
  for (Stages::Carried& c : s.carried) {
    c.from = from[static_cast<std::size_t>(c.from)];
    c.to = to[static_cast<std::size_t>(c.to)];
  }
  return s;
}

}  // namespace loom
