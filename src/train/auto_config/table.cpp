#include <algorithm>

#include "base/escape.h"
#include "base/files/source.h"
#include "base/message.h"
#include "train/auto_config/parts.h"
#include "train/data/folder.h"
#include "train/data/tables/csv.h"
#include "train/data/tables/encoding.h"

namespace loom::choosing {
namespace {

std::vector<std::int64_t> in_order(std::size_t n) {
  std::vector<std::int64_t> places(n);
  for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<std::int64_t>(i);
  return places;
}

// Rows without a target are left out; `kept` gets the others, from 1.
Result<std::unique_ptr<DataSource>> samples_of(const TableForm& form,
                                               const std::vector<std::vector<std::string>>& rows,
                                               const std::vector<std::int64_t>& places,
                                               const std::string& name,
                                               std::vector<std::int64_t>* kept = nullptr) {
  std::vector<double> x, y;
  std::vector<std::int32_t> classes;
  const std::int64_t target = places[static_cast<std::size_t>(form.target)];
  std::int64_t number = 0;
  for (const auto& row : rows) {
    const std::string& cell = row[static_cast<std::size_t>(target)];
    ++number;
    if (is_missing(cell)) continue;
    if (kept) kept->push_back(number);
    if (form.classes) {
      const std::int32_t label = form.class_of(cell);
      classes.push_back(label < 0 ? kIgnoredClass : label);
    } else {
      const float v = form.value_of(cell);
      if (v != v) return bad(name, "the target " + quoted(cell) + " is no number");
      y.push_back(static_cast<double>(v));
    }
    form.encode(row, places, x);
  }
  if (x.empty()) return bad(name, "no row has a target");
  if (form.classes) {
    LOOM_ASSIGN(auto data, ArrayData::create(std::move(x), form.width(), std::move(classes)));
    return std::unique_ptr<DataSource>(std::move(data));
  }
  LOOM_ASSIGN(auto data, ArrayData::create(std::move(x), form.width(), std::move(y), 1));
  return std::unique_ptr<DataSource>(std::move(data));
}

// Where the form's columns stand in a table of another file: by name with a header, else in order,
// with the target or without it.
Result<std::vector<std::int64_t>> places_in(const TableForm& form, const Table& table,
                                            const std::string& name) {
  std::vector<std::int64_t> places(form.columns.size(), -1);
  const bool named = table.header && !form.columns.empty() && form.columns[0].name != "0";
  std::int64_t next = 0;
  const bool without = form.target >= 0 && table.names.size() + 1 == form.columns.size();
  if (!named && table.names.size() != form.columns.size() && !without)
    return bad(name, "has " + std::to_string(table.names.size()) + " columns, expected " +
                         std::to_string(form.columns.size()) +
                         (form.target >= 0 ? " with the target or one less" : ""));
  for (std::size_t c = 0; c < form.columns.size(); ++c) {
    const bool target = static_cast<std::int64_t>(c) == form.target;
    if (!named) {
      if (!(target && without)) places[c] = next++;
      continue;
    }
    const auto found = std::find(table.names.begin(), table.names.end(), form.columns[c].name);
    if (found != table.names.end()) places[c] = found - table.names.begin();
    else if (!target && form.columns[c].kind != Column::Kind::unused)
      return Status(Code::not_found, message(name, ": no column ", quoted(form.columns[c].name)));
  }
  return places;
}

// A line for each column with cells that training did not know and that count as missing; an error
// where there is nothing else.
Result<std::vector<std::string>> unknown_cells(const TableForm& form, const Table& table,
                                               const std::vector<std::int64_t>& places,
                                               const std::string& name) {
  std::vector<std::string> decisions;
  bool any = false;
  for (std::size_t c = 0; c < form.columns.size(); ++c) {
    if (places[c] < 0 || form.columns[c].kind == Column::Kind::unused) continue;
    const auto place = static_cast<std::size_t>(places[c]);
    const bool target = static_cast<std::int64_t>(c) == form.target;
    std::size_t unknown = 0, first = 0;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const std::string& cell = table.rows[r][place];
      if (is_missing(cell)) continue;
      double v = 0;
      if (target ? form.knows_target(cell) : form.columns[c].knows(cell, &v)) any = any || !target;
      else if (unknown++ == 0) first = r;
    }
    if (unknown > 0)
      decisions.push_back("column " + quoted(form.columns[c].name) + ": " +
                          count_of(static_cast<std::int64_t>(unknown), "cell") +
                          (unknown == 1 ? " is" : " are") + " nothing that was learned, and " +
                          (unknown == 1 ? "counts" : "count") + " as missing: row " +
                          std::to_string(first + 1) + " holds " + quoted(table.rows[first][place]));
  }
  if (!any && !decisions.empty())
    return bad(name,
               "no cell of it is anything that was learned: is it another table? " + decisions[0]);
  return decisions;
}

}  // namespace

Result<Table> open_table(const std::string& file, std::vector<std::string>& decisions) {
  LOOM_ASSIGN(std::string bytes, read_text_file(file));
  std::string note;
  LOOM_ASSIGN(const std::string text, table_text(std::move(bytes), file, &note));
  if (!note.empty()) decisions.push_back(std::move(note));
  if (text.find('\0') != std::string::npos)
    return bad(file, "is neither a table nor a folder of arrays (idx, .npy), images or texts");
  return read_cells(text, file);
}

Status choose_table(AutoConfig& t, const AutoConfigOptions& options) {
  if (options.network == "convolutional")
    return bad(options.data, "a convolutional network is for images, this is a table");
  LOOM_ASSIGN(const Table table, open_table(options.data, t.decisions));
  std::vector<std::string> notes;
  LOOM_ASSIGN(const bool series, choose_series(t, options, table, notes));
  if (series) return {};
  LOOM_ASSIGN(const TableForm form, look(table, options.target, options.task, options.data, notes));
  const std::vector<std::int64_t> places = in_order(table.names.size());
  LOOM_ASSIGN(t.whole, samples_of(form, table.rows, places, options.data, &t.rows));
  t.inputs = form.to_json();
  t.decisions.push_back(
      "data: " + count_of(static_cast<std::int64_t>(table.rows.size()), "row") + " of " +
      count_of(static_cast<std::int64_t>(table.names.size()), "column") +
      (table.header ? ", named by a header" : ", no header: they are called 0, 1, ..."));
  const Column& target = form.columns[static_cast<std::size_t>(form.target)];
  t.decisions.push_back("target: column " + quoted(target.name) +
                        (form.classes ? ", " + std::to_string(form.labels.size()) +
                                            " classes: " + first_of(form.labels)
                                      : ", a number"));
  std::int64_t numbers = 0, dates = 0, words = 0, values = 0;
  for (std::size_t c = 0; c < form.columns.size(); ++c) {
    if (static_cast<std::int64_t>(c) == form.target) continue;
    numbers += form.columns[c].kind == Column::Kind::number;
    dates += form.columns[c].kind == Column::Kind::date;
    words += form.columns[c].kind == Column::Kind::words;
    values += static_cast<std::int64_t>(form.columns[c].values.size());
  }
  std::int64_t holes = 0;
  for (const auto& row : table.rows)
    holes += std::count_if(row.begin(), row.end(),
                           [](const std::string& cell) { return is_missing(cell); });
  std::string inputs = numbers > 0 ? count_of(numbers, "number") : "";
  if (dates > 0) inputs += (inputs.empty() ? "" : ", ") + count_of(dates, "date") + " as years";
  if (words > 0)
    inputs += (inputs.empty() ? "" : ", ") + count_of(words, "column") + " of words as " +
              std::to_string(values) + " zeros and ones";
  if (holes > 0)
    inputs += "; " + count_of(holes, "missing value") + " (the mean stands for them" +
              (static_cast<std::size_t>(t.whole->samples()) < table.rows.size()
                   ? ", rows without a target are left out"
                   : "") +
              ")";
  t.decisions.push_back("inputs: " + inputs);
  for (std::string& note : notes) t.decisions.push_back(std::move(note));
  if (!options.test.empty()) {
    LOOM_ASSIGN(const Table other, open_table(options.test, t.decisions));
    LOOM_ASSIGN(const std::vector<std::int64_t> there, places_in(form, other, options.test));
    if (there[static_cast<std::size_t>(form.target)] < 0)
      return bad(options.test, "has no target column");
    LOOM_ASSIGN(t.test, samples_of(form, other.rows, there, options.test, &t.test_rows));
  }
  return complete(t, options,
                  {.classes = form.classes,
                   .outputs = form.classes ? static_cast<std::int64_t>(form.labels.size()) : 1,
                   .measured = form.measured()});
}

Result<RawRows> read_table_rows(const Json& inputs, std::int64_t width, const std::string& file) {
  RawRows raw;
  LOOM_ASSIGN(const TableForm form, TableForm::from_json(inputs));
  if (form.width() != width)
    return Status(Code::corrupt, message("inputs: the columns are ", form.width(),
                                         " values, the network takes ", width));
  if (form.only_numbers() && is_array(file)) return read_array_rows(Json::object(), width, file);
  LOOM_ASSIGN(const Table table, open_table(file, raw.decisions));
  LOOM_ASSIGN(const std::vector<std::int64_t> places, places_in(form, table, file));
  LOOM_ASSIGN(const std::vector<std::string> unknown, unknown_cells(form, table, places, file));
  raw.decisions.insert(raw.decisions.end(), unknown.begin(), unknown.end());
  for (const auto& row : table.rows) form.encode(row, places, raw.wide_x);
  raw.rows = static_cast<std::int64_t>(table.rows.size());
  const bool has_target = form.target >= 0 &&
                          static_cast<std::size_t>(form.target) < places.size() &&
                          places[static_cast<std::size_t>(form.target)] >= 0;
  if (has_target) {
    auto judged = samples_of(form, table.rows, places, file);
    if (judged.ok()) raw.judged = std::move(*judged);
    else raw.decisions.push_back("not measured: " + judged.status().message());
  }
  return raw;
}

}  // namespace loom::choosing

namespace loom {

Result<RawRows> read_plain_rows(std::int64_t width, const std::string& file) {
  auto arrays = choosing::read_array_rows(Json::object(), width, file);
  LOOM_ASSIGN(const bool folder, is_a_folder(file));
  if (arrays.ok() || folder) return arrays;
  RawRows raw;
  const auto table = choosing::open_table(file, raw.decisions);
  if (!table.ok()) return arrays.status();
  if (static_cast<std::int64_t>(table->names.size()) != width)
    return choosing::bad(
        file, "has " +
                  choosing::count_of(static_cast<std::int64_t>(table->names.size()), "column") +
                  ", the network takes rows of " + std::to_string(width) +
                  " values: leave out what is no input");
  for (std::size_t r = 0; r < table->rows.size(); ++r)
    for (std::size_t c = 0; c < table->names.size(); ++c) {
      double value = 0;
      if (!parse_number(table->rows[r][c], &value))
        return choosing::bad(file, "row " + std::to_string(r + 1) + ", column " +
                                       quoted(table->names[c]) + ": expects a number, got " +
                                       quoted(table->rows[r][c]));
      raw.wide_x.push_back(value);
    }
  raw.rows = static_cast<std::int64_t>(table->rows.size());
  return raw;
}

}  // namespace loom
