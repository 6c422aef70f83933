#include "text/pattern/pattern.h"

#include <algorithm>
#include <map>
#include <string>

#include "text/pattern/pattern_parser.h"
#include "text/unicode/utf8.h"

namespace loom::text {
namespace {

constexpr std::size_t kMaxInstructions = 4096, kMaxPositions = 512, kMaxChoices = 1 << 16,
                      kMaxConditions = 64;
constexpr std::size_t kMaxWalks = 1 << 20;  // through choices and lookahead, of all

Status too_large(std::string_view what) {
  return Status(Code::unsupported, "pattern: too large: " + std::string(what));
}

}  // namespace

// The tree as a program of a backtracking matcher; only its order of choices is used.
struct Pattern::Program {
  enum class Op : std::uint8_t { set, split, jump, look, accept };
  struct Instruction {
    Op op;
    bool accepts_end = false;
    std::int32_t set = -1;                // set, look
    std::uint32_t position = 0;           // set
    std::uint32_t first = 0, second = 0;  // split: tried in this order; the others go to `first`
  };
  std::vector<Instruction> code;
  std::vector<std::uint32_t> positions;                // position -> instruction
  std::vector<std::vector<std::uint8_t>> set_classes;  // set -> class -> member

  bool full() const { return code.size() > kMaxInstructions; }
  std::uint32_t here() const { return static_cast<std::uint32_t>(code.size()); }
  std::uint32_t emit(Instruction i) {
    code.push_back(i);
    return here() - 1;
  }

  void emit_split(bool greedy, std::uint32_t split, std::uint32_t into, std::uint32_t past) {
    code[split].first = greedy ? into : past;
    code[split].second = greedy ? past : into;
  }

  void emit_tree(const PatternTree& tree, std::int32_t index) {
    if (full()) return;
    const PatternNode& n = tree.nodes[static_cast<std::size_t>(index)];
    using Kind = PatternNode::Kind;
    switch (n.kind) {
      case Kind::set:
        positions.push_back(here());
        emit({.op = Op::set,
              .set = n.set,
              .position = static_cast<std::uint32_t>(positions.size() - 1),
              .first = here() + 1});
        return;
      case Kind::look:
        emit({.op = Op::look, .accepts_end = n.accepts_end, .set = n.set, .first = here() + 1});
        return;
      case Kind::sequence:
        for (const std::int32_t child : n.children) emit_tree(tree, child);
        return;
      case Kind::choice: {
        std::vector<std::uint32_t> jumps;
        for (std::size_t i = 0; i + 1 < n.children.size() && !full(); ++i) {
          const std::uint32_t split = emit({.op = Op::split});
          emit_tree(tree, n.children[i]);
          jumps.push_back(emit({.op = Op::jump}));
          emit_split(true, split, split + 1, here());
        }
        emit_tree(tree, n.children.back());
        for (const std::uint32_t jump : jumps) code[jump].first = here();
        return;
      }
      case Kind::repeat: {
        const std::int32_t body = n.children[0];
        for (std::uint32_t i = 0; i < n.min && !full(); ++i) {
          const std::uint32_t before = here();
          emit_tree(tree, body);
          if (here() == before) return;  // nothing, however often
        }
        if (n.max == kUnbounded) {
          const std::uint32_t split = emit({.op = Op::split});
          emit_tree(tree, body);
          emit({.op = Op::jump, .first = split});
          emit_split(n.greedy, split, split + 1, here());
          return;
        }
        std::vector<std::uint32_t> splits;
        for (std::uint32_t i = n.min; i < n.max && !full(); ++i) {
          splits.push_back(emit({.op = Op::split}));
          emit_tree(tree, body);
        }
        for (const std::uint32_t split : splits) emit_split(n.greedy, split, split + 1, here());
        return;
      }
    }
  }
};

Result<Pattern> Pattern::compile(std::string_view expression) {
  LOOM_ASSIGN(const PatternTree tree, parse_pattern(expression));
  Program program;
  program.emit_tree(tree, tree.root);
  program.emit({.op = Program::Op::accept});
  if (program.full() || program.positions.size() > kMaxPositions)
    return too_large("more than 512 character classes after repetition");
  Pattern pattern;
  LOOM_TRY(pattern.build_classes(tree.sets, &program.set_classes));
  LOOM_TRY(pattern.build_follow(program));
  return pattern;
}

// Where runs of code points begin that all sets treat alike.
static std::vector<char32_t> run_starts(const std::vector<CharSet>& sets) {
  std::vector<char32_t> starts{0};
  for (const CharSet& set : sets) {
    for (const auto& r : set.ranges()) {
      starts.push_back(r.first);
      if (r.last < kLastPoint) starts.push_back(r.last + 1);
    }
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

// Code points that all sets treat alike share a class.
Status Pattern::build_classes(const std::vector<CharSet>& sets,
                              std::vector<std::vector<std::uint8_t>>* members) {
  const std::vector<char32_t> starts = run_starts(sets);
  // Runs of code points between two starts; in[i]: whether the set at hand holds run i.
  std::vector<std::uint8_t> cls(starts.size(), 0), in(starts.size());
  const auto look_into = [&](const CharSet& set) {
    std::size_t i = 0;
    std::fill(in.begin(), in.end(), std::uint8_t{0});
    for (const auto& r : set.ranges()) {
      while (starts[i] < r.first) ++i;
      for (; i < starts.size() && starts[i] <= r.last; ++i) in[i] = 1;
    }
  };
  class_count_ = 1;
  for (const CharSet& set : sets) {
    look_into(set);
    std::vector<std::int32_t> split(2 * class_count_, -1);  // [class][in the set]
    std::int32_t count = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      std::int32_t& part = split[2u * cls[i] + in[i]];
      if (part < 0) part = count++;
      if (count > static_cast<std::int32_t>(kMaxClasses))
        return too_large("more than 255 kinds of characters");
      cls[i] = static_cast<std::uint8_t>(part);
    }
    class_count_ = static_cast<std::size_t>(count);
  }
  members->assign(sets.size(), std::vector<std::uint8_t>(class_count_, 0));
  for (std::size_t s = 0; s < sets.size(); ++s) {
    look_into(sets[s]);
    for (std::size_t i = 0; i < starts.size(); ++i)
      if (in[i]) (*members)[s][cls[i]] = 1;
  }
  build_pages(starts, cls);
  return {};
}

// The classes of all code points; pages with the same ones share a block. cls[i]: of the run that
// begins at starts[i].
void Pattern::build_pages(const std::vector<char32_t>& starts,
                          const std::vector<std::uint8_t>& cls) {
  page_.reserve((kLastPoint + 1) / 256);
  std::map<std::array<std::uint8_t, 256>, std::uint16_t> known;
  std::array<std::uint8_t, 256> block;
  const auto end = [&](std::size_t run) {
    return run + 1 < starts.size() ? starts[run + 1] : kLastPoint + 1;
  };
  std::size_t run = 0;
  for (char32_t base = 0; base <= kLastPoint; base += 256) {
    if (!page_.empty() && base > starts[run] + 255 &&
        base + 256 <= end(run)) {  // as the page before
      page_.push_back(page_.back());
      continue;
    }
    for (char32_t i = base; i < base + 256;) {
      const char32_t to = std::min(end(run), base + 256);
      std::fill(block.begin() + (i - base), block.begin() + (to - base), cls[run]);
      if ((i = to) == end(run) && run + 1 < starts.size()) ++run;
    }
    const auto [it, fresh] = known.try_emplace(block, static_cast<std::uint16_t>(known.size()));
    if (fresh) class_table_.insert(class_table_.end(), block.begin(), block.end());
    page_.push_back(it->second);
  }
}

// The walk over the program's instructions between two positions; its vectors serve all walks.
struct Pattern::Walk {
  std::vector<std::array<std::uint32_t, 2>> stack;  // instruction, condition
  std::vector<bool> seen;
  std::size_t steps = 0;  // of all walks
};

// The condition that also the next character is in the set.
Result<std::uint32_t> Pattern::condition_with(std::uint32_t condition, std::int32_t set,
                                              bool accepts_end, const Program& program) {
  Condition both;
  for (std::size_t c = 0; c < class_count_; ++c)
    both[c] = program.set_classes[static_cast<std::size_t>(set)][c] != 0;
  both[class_count_] = accepts_end;
  both &= conditions_[condition];
  const auto known = std::find(conditions_.begin(), conditions_.end(), both);
  const auto index = static_cast<std::uint32_t>(known - conditions_.begin());
  if (known == conditions_.end()) {
    if (conditions_.size() == kMaxConditions)
      return too_large("more than 64 combinations of lookahead");
    conditions_.push_back(both);
  }
  return index;
}

// Appends the choices that lie ahead of an instruction, in their order.
Status Pattern::walk_from(std::uint32_t start, const Program& program, Walk& walk) {
  auto& [stack, seen, steps] = walk;
  seen.assign(program.code.size() * kMaxConditions, false);
  stack = {{start, 0}};
  while (!stack.empty()) {
    const auto [at, condition] = stack.back();
    stack.pop_back();
    if (++steps > kMaxWalks) return too_large("more than 2^20 ways through choices and lookahead");
    // An earlier way here under no condition, or under the same one, has all that this way could
    // offer.
    if (seen[at * kMaxConditions] || seen[at * kMaxConditions + condition]) continue;
    seen[at * kMaxConditions + condition] = true;
    const auto& i = program.code[at];
    switch (i.op) {
      case Program::Op::set:
        choices_.push_back(
            {static_cast<std::uint16_t>(i.position), static_cast<std::uint16_t>(condition)});
        break;
      case Program::Op::accept:
        choices_.push_back(
            {static_cast<std::uint16_t>(position_count_), static_cast<std::uint16_t>(condition)});
        break;
      case Program::Op::jump: stack.push_back({i.first, condition}); break;
      case Program::Op::split:
        stack.push_back({i.second, condition});
        stack.push_back({i.first, condition});
        break;
      case Program::Op::look: {
        LOOM_ASSIGN(const std::uint32_t both,
                    condition_with(condition, i.set, i.accepts_end, program));
        stack.push_back({i.first, both});
      }
    }
    if (choices_.size() > kMaxChoices) return too_large("more than 65536 transitions");
  }
  return {};
}

// The masks of the choices of a position, one for each condition.
void Pattern::group_choices(Follow& follow) {
  follow.first_group = static_cast<std::uint32_t>(groups_.size());
  for (std::uint32_t c = follow.first; c < follow.last; ++c) {
    std::uint32_t g = follow.first_group;
    while (g < groups_.size() && groups_[g].condition != choices_[c].condition) ++g;
    if (g == groups_.size()) {
      groups_.push_back({choices_[c].condition, false, static_cast<std::uint32_t>(masks_.size())});
      masks_.resize(masks_.size() + words_, 0);
    }
    const std::size_t target = choices_[c].target;
    if (target == position_count_) groups_[g].accepts = true;
    else masks_[groups_[g].mask + target / 64] |= std::uint64_t{1} << (target % 64);
  }
  follow.last_group = static_cast<std::uint32_t>(groups_.size());
}

Status Pattern::build_follow(const Program& program) {
  position_count_ = program.positions.size();
  words_ = std::max<std::size_t>(1, (position_count_ + 63) / 64);
  in_class_.assign(class_count_ * words_, 0);
  for (std::size_t p = 0; p < position_count_; ++p) {
    const auto set = static_cast<std::size_t>(program.code[program.positions[p]].set);
    for (std::size_t c = 0; c < class_count_; ++c)
      if (program.set_classes[set][c])
        in_class_[c * words_ + p / 64] |= std::uint64_t{1} << (p % 64);
  }
  conditions_ = {Condition().set()};

  Walk walk;
  for (std::size_t p = 0; p <= position_count_; ++p) {
    Follow follow{};
    follow.first = static_cast<std::uint32_t>(choices_.size());
    LOOM_TRY(walk_from(p < position_count_ ? program.code[program.positions[p]].first : 0, program,
                       walk));
    follow.last = static_cast<std::uint32_t>(choices_.size());
    group_choices(follow);
    follow_.push_back(follow);
  }
  return {};
}

// The pass from the right: alive[i] holds the positions that can take character i and then complete
// a match.
void Pattern::mark(Scratch& scratch) const {
  const std::size_t count = scratch.classes.size() - 1;  // the last class is the end of the text
  scratch.alive.assign((count + 1) * words_, 0);
  for (std::size_t i = count; i-- > 0;) {
    const std::uint64_t* next = &scratch.alive[(i + 1) * words_];
    std::uint64_t* alive = &scratch.alive[i * words_];
    const std::uint8_t next_class = scratch.classes[i + 1];
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t rest = in_class_[scratch.classes[i] * words_ + w]; rest != 0;
           rest &= rest - 1) {
        const auto bit = static_cast<std::size_t>(__builtin_ctzll(rest));
        const Follow& follow = follow_[w * 64 + bit];
        for (std::uint32_t g = follow.first_group; g < follow.last_group; ++g) {
          const Group& group = groups_[g];
          bool lives = group.accepts;
          for (std::size_t v = 0; v < words_ && !lives; ++v)
            lives = (masks_[group.mask + v] & next[v]) != 0;
          if (lives && conditions_[group.condition][next_class]) {
            alive[w] |= std::uint64_t{1} << bit;
            break;
          }
        }
      }
    }
  }
}

bool Pattern::may_be_empty() const {
  if (follow_.empty()) return false;
  for (std::uint32_t c = follow_[position_count_].first; c < follow_[position_count_].last; ++c)
    if (choices_[c].target == position_count_) return true;
  return false;
}

void Pattern::find_all(std::string_view text, std::vector<Span>& matches, Scratch& scratch) const {
  scratch.classes.clear();
  for (std::size_t at = 0; at < text.size();)
    scratch.classes.push_back(class_of(utf8_next(text, at)));
  const std::size_t count = scratch.classes.size();
  scratch.classes.push_back(static_cast<std::uint8_t>(class_count_));
  mark(scratch);

  // The first choice after `from` that can be completed at character i, or nullptr.
  const auto choose = [&](std::size_t from, std::size_t i) -> const Choice* {
    for (std::uint32_t c = follow_[from].first; c < follow_[from].last; ++c) {
      const Choice& choice = choices_[c];
      const std::size_t p = choice.target;
      if ((p == position_count_ || (scratch.alive[i * words_ + p / 64] >> (p % 64) & 1) != 0) &&
          conditions_[choice.condition][scratch.classes[i]])
        return &choice;
    }
    return nullptr;
  };
  const auto step = [&](std::size_t& i, std::size_t& at) {
    (void)utf8_next(text, at);
    ++i;
  };

  std::size_t start = 0, start_byte = 0, last_end = SIZE_MAX;
  while (start <= count) {
    const Choice* choice = choose(position_count_, start);
    std::size_t i = start, at = start_byte;
    for (; choice && choice->target != position_count_; choice = choose(choice->target, i))
      step(i, at);
    if (!choice || (i == start && last_end == start_byte)) {
      if (start == count) break;
      step(start, start_byte);
      continue;
    }
    matches.push_back({start_byte, at});
    start = i;
    start_byte = last_end = at;
  }
}

}  // namespace loom::text
