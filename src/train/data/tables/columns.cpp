#include "train/data/tables/columns.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/escape.h"
#include "base/message.h"
#include "train/data/rounding.h"
#include "train/data/tables/csv.h"

namespace loom {
namespace {

constexpr std::size_t kMaxWords = 100, kMaxLabels = 1000, kMaxIntegerClasses = 20;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kKinds[] = {"number", "date", "words", "unused"};

bool parse_value(std::string_view cell, char decimal, double* v) {
  return parse_written(cell, decimal, v) &&
         *v <= static_cast<double>(std::numeric_limits<float>::max()) &&
         *v >= static_cast<double>(std::numeric_limits<float>::lowest());
}

// Years of fewer than four digits are of codes like "3-12".
bool parse_date(std::string_view cell, DateOrder order, double* years) {
  Moment moment;
  if (!parse_moment(cell, order, &moment) || moment.year < 1000) return false;
  *years = moment.years();
  return true;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 20); ++i)
    list += (i ? ", " : "") + quoted(names[i]);
  return list;
}

Json texts(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& text : list) json.push(text);
  return json;
}

Result<std::vector<std::string>> texts_of(const Json& json, std::string_view key) {
  std::vector<std::string> list;
  const Json* found = json.find(key);
  if (!found) return list;
  const bool strings =
      found->is_array() && std::all_of(found->as_array().begin(), found->as_array().end(),
                                       [](const Json& j) { return j.is_string(); });
  if (!strings)
    return Status(Code::corrupt, message("inputs: \"", key, "\": expected a list of strings"));
  for (const Json& j : found->as_array()) list.push_back(j.as_string());
  return list;
}

// The classes' names, as texts where they are numbers, or true and false.
Result<std::vector<std::string>> labels_in(const Json& json) {
  std::vector<std::string> list;
  const Json* found = json.find("labels");
  if (!found) return list;
  if (!found->is_array()) return Status(Code::corrupt, "inputs: \"labels\": expected a list");
  for (const Json& j : found->as_array()) list.push_back(j.is_string() ? j.as_string() : j.dump());
  return list;
}

// How a column reads as numbers.
struct Numbers {
  char decimal = '.';
  std::size_t count = 0,
              others = 0;  // cells that are numbers; that are neither numbers nor missing
  std::size_t row = 0;     // the first of the others
  bool integers = true;
  // Up to one cell in fifty is a slip of the pen in a column of numbers.
  bool few_others() const { return others == 0 || 50 * others <= count; }
};

Numbers numbers_as(const Table& table, std::size_t column, char decimal) {
  Numbers n{decimal};
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    double v = 0;
    const std::string& cell = table.rows[r][column];
    if (is_missing(cell)) continue;
    if (parse_value(cell, decimal, &v)) {
      ++n.count;
      n.integers = n.integers && v >= -0x1p53 && v <= 0x1p53 &&
                   v == static_cast<double>(static_cast<std::int64_t>(v));
    } else if (n.others++ == 0) {
      n.row = r;
    }
  }
  n.integers = n.integers && n.others == 0;
  return n;
}

// With decimal points, or commas in a column that has some, of a table parted by semicolons; the
// other way where that reads more cells.
Numbers numbers_of(const Table& table, std::size_t column) {
  const bool commas = table.separator == ';' &&
                      std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
                        return row[column].find(',') != std::string::npos;
                      });
  const Numbers expected = numbers_as(table, column, commas ? ',' : '.');
  if (expected.others == 0) return expected;
  const Numbers other = numbers_as(table, column, commas ? '.' : ',');
  return other.others < expected.others ? other : expected;
}

// Sets the order of the column's dates. A note where that cannot be told.
bool are_dates(const Table& table, std::size_t column, Column& form,
               std::vector<std::string>& notes) {
  std::vector<std::string_view> cells;
  for (const auto& row : table.rows)
    if (!is_missing(row[column])) cells.push_back(row[column]);
  bool ambiguous = false;
  const auto order = order_of(cells, &ambiguous);
  double years = 0;
  const bool dates = order && std::all_of(cells.begin(), cells.end(), [&](std::string_view cell) {
                       return parse_date(cell, *order, &years);
                     });
  if (dates && ambiguous)
    notes.push_back("column " + quoted(form.name) +
                    ": its dates may be day/month or month/day, and are taken as texts: write "
                    "them as YYYY-MM-DD");
  if (dates) form.order = *order;
  return dates && !ambiguous;
}

// Cells that are no numbers and occur in no row below; some may be empty, not all.
bool is_header(const std::vector<std::vector<std::string>>& rows) {
  bool named = false;
  for (std::size_t c = 0; c < rows[0].size(); ++c) {
    const std::string& cell = rows[0][c];
    double v = 0;
    if (parse_written(cell, '.', &v) || parse_written(cell, ',', &v)) return false;
    if (trimmed(cell).empty()) continue;
    named = true;
    for (std::size_t r = 1; r < rows.size(); ++r)
      if (rows[r][c] == cell) return false;
  }
  return named;
}

// Why f32, in which targets are learned, makes numbers of a column the same; empty: it does not.
std::string merged(const Table& table, std::size_t column, char decimal) {
  Rounding rounding;
  double v = 0;
  for (const auto& row : table.rows)
    if (!is_missing(row[column]) && parse_value(row[column], decimal, &v)) rounding.add(v);
  return rounding.merged();
}

// 0, 1, 2, ... below no name: the numbers of the rows, as pandas writes them.
bool are_row_numbers(const Table& table, std::size_t column) {
  if (!table.names[column].starts_with("Unnamed: ")) return false;
  double first = 0, v = 0;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (!parse_number(table.rows[r][column], &v)) return false;
    if (r == 0) first = v;
    if (v != first + static_cast<double>(r)) return false;
  }
  return true;
}

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 32 : c);
  return lower;
}

// The classes: texts in their order, or numbers in theirs, each in the first way it is written.
std::vector<std::string> labels_of(const std::set<std::string>& words, bool numbers, char decimal) {
  std::vector<std::string> labels(words.begin(), words.end());
  if (!numbers) return labels;
  const auto value = [&](const std::string& text) {
    double v = 0;
    (void)parse_value(text, decimal, &v);
    return v;
  };
  std::stable_sort(labels.begin(), labels.end(),
                   [&](const std::string& a, const std::string& b) { return value(a) < value(b); });
  const auto same = [&](const std::string& a, const std::string& b) {
    return value(a) == value(b);
  };
  labels.erase(std::unique(labels.begin(), labels.end(), same), labels.end());
  return labels;
}

// A note where classes are told apart by the case of their letters alone.
void note_case(const Column& target, const std::vector<std::string>& labels,
               std::vector<std::string>& notes) {
  std::map<std::string, std::string> seen;
  for (const std::string& label : labels) {
    const auto [at, fresh] = seen.emplace(lower_case(label), label);
    if (fresh) continue;
    notes.push_back("column " + quoted(target.name) + ": " + quoted(at->second) + " and " +
                    quoted(label) + " are two classes: write them alike if they are one");
    return;
  }
}

// What the target is, of which `words` are the different texts.
Status look_at_target(TableForm& form, const Column& column, const Numbers& found,
                      const std::set<std::string>& words, const std::string& task,
                      std::vector<std::string>& notes) {
  const bool numbers = found.few_others();
  const std::string target = "the target " + quoted(column.name);
  const auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
  form.classes = task.empty() ? !numbers || (found.integers && words.size() <= kMaxIntegerClasses)
                              : task == "classes";
  if (!form.classes && !numbers) return bad(message(target, " holds texts, no numbers"));
  if (words.empty()) return bad(message(target, " is empty"));
  if (form.classes) form.labels = labels_of(words, numbers, column.decimal);
  if (words.size() < 2 || (form.classes && form.labels.size() < 2))
    return bad(message(target, " is the same in every row"));
  if (form.classes && words.size() > kMaxLabels)
    return bad(message(target, " has more than ", kMaxLabels,
                       " different texts: name another column with --target"));
  note_case(column, form.labels, notes);
  return {};
}

}  // namespace

std::optional<char> decimal_of(const Table& table, std::size_t column) {
  const Numbers numbers = numbers_of(table, column);
  if (numbers.others > 0 || numbers.count == 0) return {};
  return numbers.decimal;
}

bool is_missing(std::string_view cell) {
  const std::string_view t = trimmed(cell);
  constexpr std::string_view kWords[] = {"NA",   "N/A",  "n/a",  "NaN",  "nan", "-NaN", "-nan",
                                         "null", "NULL", "None", "<NA>", "#NA", "#N/A", "?"};
  return t.empty() || std::find(std::begin(kWords), std::end(kWords), t) != std::end(kWords);
}

bool Column::knows(std::string_view cell, double* value) const {
  if (kind == Kind::number) return parse_value(cell, decimal, value);
  if (kind == Kind::date) return parse_date(cell, order, value);
  return std::find(values.begin(), values.end(), trimmed(cell)) != values.end();
}

std::int64_t TableForm::width() const { return static_cast<std::int64_t>(measured().size()); }

std::vector<bool> TableForm::measured() const {
  std::vector<bool> list;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (static_cast<std::int64_t>(c) == target || columns[c].kind == Column::Kind::unused) continue;
    const bool words = columns[c].kind == Column::Kind::words;
    list.insert(list.end(), words ? columns[c].values.size() : 1, !words);
  }
  return list;
}

bool TableForm::only_numbers() const {
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].kind != Column::Kind::number && columns[c].kind != Column::Kind::unused &&
        static_cast<std::int64_t>(c) != target)
      return false;
  return true;
}

void TableForm::encode(const std::vector<std::string>& cells,
                       const std::vector<std::int64_t>& places, std::vector<double>& x) const {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    if (static_cast<std::int64_t>(c) == target || column.kind == Column::Kind::unused) continue;
    const bool there = places[c] >= 0 && static_cast<std::size_t>(places[c]) < cells.size() &&
                       !is_missing(cells[static_cast<std::size_t>(places[c])]);
    const std::string_view cell =
        there ? trimmed(cells[static_cast<std::size_t>(places[c])]) : std::string_view();
    if (column.kind == Column::Kind::words) {
      for (const std::string& value : column.values) x.push_back(there && cell == value ? 1 : 0);
      continue;
    }
    double v = 0;
    x.push_back(there && column.knows(cell, &v) ? v : kMissing);
  }
}

std::int32_t TableForm::class_of(std::string_view cell) const {
  auto found = std::find(labels.begin(), labels.end(), trimmed(cell));
  const Column* column = target < 0 ? nullptr : &columns[static_cast<std::size_t>(target)];
  double v = 0, w = 0;
  // Numbers are one class however they are written: 1, 1.0, 01.
  if (found == labels.end() && column && column->kind == Column::Kind::number &&
      parse_value(cell, column->decimal, &v))
    found = std::find_if(labels.begin(), labels.end(), [&](const std::string& label) {
      return parse_value(label, column->decimal, &w) && w == v;
    });
  return found == labels.end() ? -1 : static_cast<std::int32_t>(found - labels.begin());
}

float TableForm::value_of(std::string_view cell) const {
  double v = 0;
  const char decimal = target < 0 ? '.' : columns[static_cast<std::size_t>(target)].decimal;
  return static_cast<float>(!is_missing(cell) && parse_value(cell, decimal, &v) ? v : kMissing);
}

bool TableForm::knows_target(std::string_view cell) const {
  if (classes) return class_of(cell) >= 0;
  const float v = value_of(cell);
  return v == v;
}

Json TableForm::to_json() const {
  Json json = Json::object(), list = Json::array();
  for (const Column& column : columns) {
    Json one = Json::object();
    one.set("name", column.name);
    one.set("kind", kKinds[static_cast<std::size_t>(column.kind)]);
    if (column.kind == Column::Kind::words) one.set("values", texts(column.values));
    if (column.decimal != '.') one.set("decimal", std::string(1, column.decimal));
    if (column.order != DateOrder::ymd)
      one.set("order", kDateOrders[static_cast<std::size_t>(column.order)]);
    list.push(std::move(one));
  }
  json.set("columns", std::move(list));
  json.set("target", target);
  if (classes) json.set("labels", texts(labels));
  return json;
}

Result<TableForm> TableForm::from_json(const Json& json) {
  TableForm form;
  const Json* list = json.find("columns");
  if (!list || !list->is_array()) return Status(Code::corrupt, "inputs: no \"columns\"");
  for (const Json& one : list->as_array()) {
    Column column;
    LOOM_ASSIGN(column.name, one.get_string("name", ""));
    LOOM_ASSIGN(const std::string kind, one.get_string("kind", "number"));
    const auto found = std::find(std::begin(kKinds), std::end(kKinds), kind);
    if (found == std::end(kKinds))
      return Status(Code::corrupt, message("inputs: column ", quoted(column.name),
                                           " is of the unknown kind ", quoted(kind)));
    column.kind = static_cast<Column::Kind>(found - std::begin(kKinds));
    LOOM_ASSIGN(column.values, texts_of(one, "values"));
    LOOM_ASSIGN(const std::string decimal, one.get_string("decimal", "."));
    if (decimal != "." && decimal != ",")
      return Status(Code::corrupt,
                    message("inputs: column ", quoted(column.name),
                            ": \"decimal\" is \".\" or \",\", got ", quoted(decimal)));
    column.decimal = decimal[0];
    LOOM_ASSIGN(const std::string order, one.get_string("order", kDateOrders[0]));
    const auto known = std::find(std::begin(kDateOrders), std::end(kDateOrders), order);
    if (known == std::end(kDateOrders))
      return Status(Code::corrupt, message("inputs: column ", quoted(column.name),
                                           ": \"order\" is ymd, dmy or mdy, got ", quoted(order)));
    column.order = static_cast<DateOrder>(known - std::begin(kDateOrders));
    form.columns.push_back(std::move(column));
  }
  LOOM_ASSIGN(form.target, json.get_integer("target", -1));
  const auto count = static_cast<std::int64_t>(form.columns.size());
  if (form.target < -1 || form.target >= count)
    return Status(Code::corrupt,
                  message("inputs: \"target\" is column ", form.target, " of ", count));
  LOOM_ASSIGN(form.labels, labels_in(json));
  form.classes = !form.labels.empty();
  return form;
}

Result<Table> read_cells(std::string_view text, const std::string& name) {
  const std::string_view first = text.substr(0, text.find('\n'));
  char separator = ',';
  for (const char c : {';', '\t', '|'})
    if (std::count(first.begin(), first.end(), c) >
        std::count(first.begin(), first.end(), separator))
      separator = c;
  CsvReader reader(text, separator, name);
  Table table;
  table.separator = separator;
  std::vector<std::string> cells;
  for (;;) {
    LOOM_ASSIGN(const bool more, reader.next(cells));
    if (!more) break;
    if (!table.rows.empty() && cells.size() != table.rows[0].size())
      return reader.error(cells.size(), "a row of " + std::to_string(cells.size()) +
                                            " cells, expected " +
                                            std::to_string(table.rows[0].size()));
    table.rows.push_back(cells);
  }
  if (table.rows.empty()) return Status(Code::invalid_argument, message(name, ": no rows"));
  const std::vector<std::string>& top = table.rows[0];
  table.header = is_header(table.rows);
  for (std::size_t c = 0; c < top.size(); ++c) {
    std::string column(trimmed(top[c]));
    // As pandas calls a column without a name, which its own row numbers have.
    if (column.empty()) column = "Unnamed: " + std::to_string(c);
    table.names.push_back(table.header ? std::move(column) : std::to_string(c));
  }
  std::set<std::string_view> once;
  for (const std::string& column : table.names)
    if (!once.insert(column).second)
      return Status(Code::invalid_argument, message(name, ": two columns are called ",
                                                    quoted(column), ": rename one of them"));
  if (table.header) table.rows.erase(table.rows.begin());
  if (table.rows.empty())
    return Status(Code::invalid_argument, message(name, ": a header and no rows"));
  return table;
}

namespace {

Result<std::int64_t> target_column(const Table& table, const std::string& target,
                                   const std::string& name) {
  if (target.empty()) return static_cast<std::int64_t>(table.names.size()) - 1;
  const auto found = std::find(table.names.begin(), table.names.end(), target);
  if (found == table.names.end())
    return Status(Code::not_found, message(name, ": no column ", quoted(target), ": the first are ",
                                           list_of(table.names)));
  return found - table.names.begin();
}

// The different texts of a column, up to one more than are labels.
std::set<std::string> words_of(const Table& table, std::size_t c) {
  std::set<std::string> words;
  for (const auto& row : table.rows) {
    if (is_missing(row[c])) continue;
    if (words.size() <= kMaxLabels) words.insert(std::string(trimmed(row[c])));
  }
  return words;
}

// Of a column that is no target: whether it is used, and its texts where it holds some.
void choose_input(const Table& table, std::size_t c, const std::set<std::string>& words,
                  Column& column, std::vector<std::string>& notes) {
  std::string why;
  if (are_row_numbers(table, c)) {
    why = "the numbers of the rows";
  } else if (words.size() < 2) {
    why = "the same in every row";
  } else if (column.kind == Column::Kind::words) {
    if (words.size() > kMaxWords || 2 * words.size() > table.rows.size())
      why = (words.size() > kMaxLabels ? "more than " + std::to_string(kMaxLabels)
                                       : std::to_string(words.size())) +
            " different texts";
    else column.values.assign(words.begin(), words.end());
  }
  if (why.empty()) return;
  column.kind = Column::Kind::unused;
  notes.push_back("left out: " + quoted(column.name) + ", " + why);
}

}  // namespace

Result<TableForm> look(const Table& table, const std::string& target, const std::string& task,
                       const std::string& name, std::vector<std::string>& notes) {
  auto bad = [&](const std::string& what) {
    return Status(Code::invalid_argument, message(name, ": ", what));
  };
  if (!task.empty() && task != "classes" && task != "numbers")
    return bad(message("unknown task ", quoted(task), ": one of classes, numbers"));
  TableForm form;
  LOOM_ASSIGN(form.target, target_column(table, target, name));
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    Column column{table.names[c], Column::Kind::number, {}};
    const Numbers found = numbers_of(table, c);
    const bool numbers = found.few_others();
    if (numbers) column.decimal = found.decimal;
    const std::set<std::string> words = words_of(table, c);
    const bool is_target = static_cast<std::int64_t>(c) == form.target;
    const bool dates = !numbers && !is_target && are_dates(table, c, column, notes);
    if (numbers && found.others > 0) {
      const std::string cell = "column " + quoted(column.name) + ": row " +
                               std::to_string(found.row + 1) + " holds " +
                               quoted(table.rows[found.row][c]) + ", no number";
      if (is_target && task != "classes")
        return bad(message(
            cell, ": mend it, leave it empty, or take texts as classes with --task classes"));
      if (!is_target)
        notes.push_back(cell + ", as " + std::to_string(found.others) + " of " +
                        std::to_string(found.count + found.others) + " cells: counted as missing");
    }
    column.kind = numbers ? Column::Kind::number : dates ? Column::Kind::date : Column::Kind::words;
    if (is_target) {
      LOOM_TRY(look_at_target(form, column, found, words, task, notes).at(name));
      const std::string why = form.classes ? "" : merged(table, c, column.decimal);
      if (!why.empty()) return bad(message("the target ", quoted(column.name), " ", why));
    } else {
      choose_input(table, c, words, column, notes);
    }
    form.columns.push_back(std::move(column));
  }
  if (table.names.size() == 1)
    return bad(
        message("has one column, ", quoted(table.names[0]),
                ": a target and what it is learned from are two; cells are parted by a comma, a "
                "semicolon, a tab or |"));
  if (form.width() == 0)
    return bad(
        message("no column is left to learn from", (notes.empty() ? "" : "; " + notes.back())));
  return form;
}

}  // namespace loom
