// From the grammar's text to its graph. Nodes are made from the end of a story backwards, so that
// each knows what follows.
#include <map>
#include <utility>

#include "stories/grammar.h"

namespace loom::stories {
namespace {

struct Line {
  std::string_view text;
  int number = 0;
};

struct Block {
  std::vector<std::string_view> head;  // words of the first line
  std::vector<Line> body;
  int line = 0;
};

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Slot {
  std::string table;
  std::uint8_t index = 0, apart = 0;
};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// The parts between separators, trimmed.
std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = s.find(separator);
    parts.push_back(trim(s.substr(0, end)));
    if (end == s.npos) return parts;
    s.remove_prefix(end + 1);
  }
}

std::string lower_first(std::string_view s) {
  std::string out(s);
  if (!out.empty() && is_upper(out[0])) out[0] = static_cast<char>(out[0] + ('a' - 'A'));
  return out;
}

std::string upper_first(std::string s) {
  if (!s.empty() && is_lower(s[0])) s[0] = static_cast<char>(s[0] - ('a' - 'A'));
  return s;
}

class Compiler {
 public:
  Result<Graph> run(std::string_view text) {
    graph_.nodes.emplace_back();  // the end
    std::vector<Block> plots;
    for (Block& block : blocks(text)) {
      line_ = block.line;
      if (block.head[0] == "plot" && block.head.size() >= 2) {
        plots.push_back(std::move(block));
      } else if (block.head[0] == "rule" && block.head.size() == 2) {
        rules_[std::string(block.head[1])] = std::move(block);
      } else if (block.head[0] == "table" && block.head.size() >= 3) {
        add_table(block);
      } else {
        fail("expects 'table NAME COLUMN...', 'rule NAME' or 'plot NAME SLOT:TABLE...'");
      }
    }
    std::vector<std::uint32_t> starts;
    for (const Block& plot : plots) {
      declare_slots(plot);
      memo_.clear();
      starts.push_back(beats(plot, 0));
    }
    if (starts.empty()) fail("the grammar has no plot");
    LOOM_TRY(status_);
    graph_.start = fork(starts);
    return std::move(graph_);
  }

 private:
  void fail(const std::string& message) {
    if (status_.ok())
      status_ =
          Status(Code::invalid_argument, "grammar line " + std::to_string(line_) + ": " + message);
  }

  static std::vector<Block> blocks(std::string_view text) {
    std::vector<Block> out;
    bool open = false;
    int number = 0;
    for (std::string_view line : split(text, '\n')) {
      ++number;
      if (line.empty()) open = false;
      if (line.empty() || line[0] == '#') continue;
      if (!open) {
        out.push_back({split(line, ' '), {}, number});
      } else {
        out.back().body.push_back({line, number});
      }
      open = true;
    }
    return out;
  }

  void add_table(const Block& block) {
    Table table;
    table.columns.assign(block.head.begin() + 2, block.head.end());
    for (const Line& line : block.body) {
      line_ = line.number;
      const auto cells = split(line.text, '|');
      if (cells.size() != table.columns.size()) {
        fail("the row has " + std::to_string(cells.size()) + " cells, its table " +
             std::to_string(table.columns.size()) + " columns");
      }
      table.rows.emplace_back(cells.begin(), cells.end());
    }
    if (table.rows.empty() || table.rows.size() > kMaxRows)
      fail("a table has 1 to " + std::to_string(kMaxRows) + " rows");
    tables_[std::string(block.head[1])] = std::move(table);
  }

  void declare_slots(const Block& plot) {
    slots_.clear();
    line_ = plot.line;
    for (std::size_t i = 2; i < plot.head.size(); ++i) {
      const auto sides = split(plot.head[i], ':');
      const auto kind = split(sides.back(), '!');
      if (sides.size() != 2 || kind.size() > 2 || slots_.size() == kMaxSlots) {
        return fail("expects at most " + std::to_string(kMaxSlots) +
                    " slots, as SLOT:TABLE or SLOT:TABLE!OTHER");
      }
      Slot slot{std::string(kind[0]), static_cast<std::uint8_t>(slots_.size()), 0};
      if (tables_.count(slot.table) == 0) return fail("no table '" + slot.table + "'");
      if (kind.size() == 2) {
        const auto other = slots_.find(std::string(kind[1]));
        if (other == slots_.end() || other->second.table != slot.table)
          return fail("'!' expects an earlier slot of the same table");
        slot.apart = static_cast<std::uint8_t>(1u << other->second.index);
        other->second.apart = static_cast<std::uint8_t>(other->second.apart | 1u << slot.index);
      }
      slots_[std::string(sides[0])] = slot;
    }
  }

  std::uint32_t add(Node node) {
    graph_.nodes.push_back(node);
    return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  }

  std::uint32_t text(std::string_view s, std::uint32_t next) {
    const auto [at, fresh] =
        text_ids_.try_emplace(std::string(s), static_cast<std::uint32_t>(graph_.texts.size()));
    if (fresh) graph_.texts.emplace_back(s);
    Node node;
    node.kind = Node::Kind::text;
    node.index = at->second;
    node.next = next;
    return add(node);
  }

  std::uint32_t fork(const std::vector<std::uint32_t>& targets) {
    if (targets.size() == 1) return targets[0];
    Node node;
    node.kind = Node::Kind::fork;
    node.index = static_cast<std::uint32_t>(graph_.edges.size());
    node.count = static_cast<std::uint32_t>(targets.size());
    graph_.edges.insert(graph_.edges.end(), targets.begin(), targets.end());
    return add(node);
  }

  // Beats from the last to the first: wordings collect until the line that opens their beat.
  std::uint32_t beats(const Block& block, std::uint32_t next) {
    std::vector<std::uint32_t> wordings;
    for (std::size_t i = block.body.size(); i-- > 0;) {
      line_ = block.body[i].number;
      const std::string_view line = block.body[i].text;
      const char mark = line[0];
      if (line.size() < 3 || line[1] != ' ' || (mark != '*' && mark != '|' && mark != '?') ||
          (i == 0 && mark != '*')) {
        fail("a wording starts with '* ', '| ' or '? ', the first with '* '");
        return next;
      }
      wordings.insert(wordings.begin(), sequence(line.substr(2), next));
      if (mark == '|') continue;
      std::uint32_t beat = fork(wordings);
      wordings.clear();
      if (i != 0) beat = text(" ", beat);
      next = mark == '?' ? fork({beat, next}) : beat;
    }
    return next;
  }

  std::uint32_t rule(std::string_view name, std::uint32_t next) {
    const auto found = rules_.find(std::string(name));
    if (found == rules_.end() || depth_ > 8) {
      fail(found == rules_.end() ? "no rule '" + std::string(name) + "'" : "rules nest too deep");
      return next;
    }
    const auto key = std::make_pair(std::string(name), next);
    if (const auto known = memo_.find(key); known != memo_.end()) return known->second;
    ++depth_;
    const std::uint32_t start = beats(found->second, next);
    --depth_;
    memo_[key] = start;
    return start;
  }

  // A wording, or one side of a choice: its pieces compiled from the last to the first.
  std::uint32_t sequence(std::string_view s, std::uint32_t next) {
    std::vector<std::string_view> pieces;
    while (!s.empty()) {
      std::size_t size = s.find_first_of("{<(");
      if (size == 0) size = closed(s);
      if (size == 0) {
        fail("unclosed '" + std::string(1, s[0]) + "'");
        return next;
      }
      pieces.push_back(s.substr(0, size));
      s.remove_prefix(pieces.back().size());
    }
    for (std::size_t i = pieces.size(); i-- > 0;) {
      const std::string_view piece = pieces[i];
      const std::string_view inner = piece.size() < 2 ? piece : piece.substr(1, piece.size() - 2);
      switch (piece[0]) {
        case '{': next = reference(inner, next); break;
        case '<': next = rule(inner, next); break;
        case '(': next = choice(inner, next); break;
        default: next = text(piece, next);
      }
    }
    return next;
  }

  // The size of the bracketed piece that `s` starts with, 0 if it never closes.
  static std::size_t closed(std::string_view s) {
    int depth = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      depth += s[i] == '{' || s[i] == '<' || s[i] == '(';
      depth -= s[i] == '}' || s[i] == '>' || s[i] == ')';
      if (depth == 0) return i + 1;
    }
    return 0;
  }

  std::uint32_t choice(std::string_view s, std::uint32_t next) {
    std::vector<std::uint32_t> sides;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= s.size(); ++i) {
      if (i == s.size() || (s[i] == '|' && depth == 0)) {
        sides.push_back(sequence(s.substr(begin, i - begin), next));
        begin = i + 1;
      } else {
        depth += s[i] == '(';
        depth -= s[i] == ')';
      }
    }
    return fork(sides);
  }

  std::uint32_t reference(std::string_view s, std::uint32_t next) {
    const bool article = s.substr(0, 2) == "a ";
    if (article) s.remove_prefix(2);
    std::string slot_name, column;
    const auto dot = s.find('.');
    if (dot != s.npos) {
      slot_name = s.substr(0, dot);
      column = s.substr(dot + 1);
    } else if (slots_.count(lower_first(s)) != 0) {
      slot_name = s;
    } else {
      slot_name = "hero";
      column = s;
    }
    const bool capital = is_upper(s[0]) || (!column.empty() && is_upper(column[0]));
    const auto slot = slots_.find(lower_first(slot_name));
    if (slot == slots_.end()) {
      fail("no slot for '{" + std::string(s) + "}'");
      return next;
    }
    const Table& table = tables_[slot->second.table];
    std::size_t c = 0;
    while (!column.empty() && c < table.columns.size() && table.columns[c] != lower_first(column))
      ++c;
    if (c == table.columns.size()) {
      fail("table '" + slot->second.table + "' has no column '" + column + "'");
      return next;
    }
    Node node;
    node.kind = Node::Kind::slot;
    node.slot = slot->second.index;
    node.apart = slot->second.apart;
    node.index = form(slot->second.table, c, article, capital);
    node.next = next;
    return add(node);
  }

  std::uint32_t form(const std::string& table, std::size_t column, bool article, bool capital) {
    const std::string key =
        table + '.' + std::to_string(column) + (article ? "a" : "") + (capital ? "A" : "");
    const auto [at, fresh] =
        form_ids_.try_emplace(key, static_cast<std::uint32_t>(graph_.forms.size()));
    if (fresh) {
      auto& out = graph_.forms.emplace_back();
      for (const auto& row : tables_[table].rows) {
        std::string s = row[column];
        if (article)
          s = (std::string_view("aeiou").find(s.empty() ? ' ' : s[0]) != std::string_view::npos
                   ? "an "
                   : "a ") +
              s;
        out.push_back(capital ? upper_first(std::move(s)) : std::move(s));
      }
    }
    return at->second;
  }

  Graph graph_;
  Status status_;
  int line_ = 0, depth_ = 0;
  std::map<std::string, Table> tables_;
  std::map<std::string, Block> rules_;
  std::map<std::string, Slot> slots_;  // of the plot being compiled
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t>
      memo_;  // (rule, next) of the plot being compiled
  std::map<std::string, std::uint32_t> text_ids_, form_ids_;
};

}  // namespace

Result<Graph> compile(std::string_view grammar) { return Compiler().run(grammar); }

}  // namespace loom::stories
