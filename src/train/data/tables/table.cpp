#include "train/data/tables/table.h"

#include <algorithm>
#include <limits>

#include "base/escape.h"
#include "base/message.h"
#include "train/data/tables/csv.h"
#include "train/data/tables/encoding.h"

namespace loom {
namespace {

Result<double> number(const CsvReader& reader, std::size_t column, std::string_view cell) {
  double v = 0;
  if (!parse_number(cell, &v))
    return reader.error(column, "expected a number, got " + quoted(cell));
  if (v > std::numeric_limits<float>::max() || v < std::numeric_limits<float>::lowest())
    return reader.error(column, quoted(cell) + " is too large for f32");
  return v;
}

// For each column its place among the targets `wanted`, or -1 for an input.
Result<std::vector<std::int64_t>> target_places(const std::vector<std::string>& names,
                                                const std::vector<std::string>& wanted,
                                                const std::string& file) {
  std::vector<std::int64_t> target(names.size(), -1);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), wanted[i]);
    if (found == names.end()) {
      std::string list;
      for (std::size_t c = 0; c < std::min<std::size_t>(names.size(), 20); ++c)
        list += (c ? ", " : "") + quoted(names[c]);
      return Status(Code::not_found,
                    message(file, ": no column ", quoted(wanted[i]), ": the first are ", list));
    }
    if (std::find(found + 1, names.end(), wanted[i]) != names.end())
      return Status(Code::invalid_argument,
                    message(file, ": two columns are called ", quoted(wanted[i])));
    auto& place = target[static_cast<std::size_t>(found - names.begin())];
    if (place >= 0)
      return Status(Code::invalid_argument,
                    message(file, ": the target ", quoted(wanted[i]), " stands twice"));
    place = static_cast<std::int64_t>(i);
  }
  if (wanted.size() >= names.size())
    return Status(Code::invalid_argument,
                  message(file, ": all ", names.size(), " columns are targets, none is an input"));
  return target;
}

Result<std::unique_ptr<DataSource>> read_utf8(std::string_view text, const DataSpec& spec,
                                              const std::string& name) {
  CsvReader reader(text, spec.separator.empty() ? ',' : spec.separator[0], name);
  std::vector<std::string> cells, names;
  LOOM_ASSIGN(bool more, reader.next(cells));
  if (!more) return Status(Code::invalid_argument, message(name, ": no rows"));
  for (std::size_t c = 0; c < cells.size(); ++c)
    names.push_back(spec.header ? std::string(trimmed(cells[c])) : std::to_string(c));
  if (spec.header) {
    LOOM_ASSIGN(more, reader.next(cells));
  }

  const std::vector<std::string> wanted =
      spec.class_column.empty() ? spec.targets : std::vector<std::string>{spec.class_column};
  LOOM_ASSIGN(const std::vector<std::int64_t> target, target_places(names, wanted, name));

  std::vector<double> x, y;
  std::vector<std::int32_t> classes;
  while (more) {
    if (cells.size() != names.size())
      return reader.error(cells.size(), "a row of " + std::to_string(cells.size()) +
                                            " cells, expected " + std::to_string(names.size()));
    std::vector<double> row_targets(wanted.size());
    for (std::size_t c = 0; c < cells.size(); ++c) {
      LOOM_ASSIGN(const double v, number(reader, c + 1, cells[c]));
      if (target[c] < 0) {
        x.push_back(v);
      } else if (spec.class_column.empty()) {
        row_targets[static_cast<std::size_t>(target[c])] = v;
      } else {
        if (!is_class(v))
          return reader.error(c + 1, "a class is a whole number, got " + quoted(cells[c]));
        classes.push_back(static_cast<std::int32_t>(v));
      }
    }
    if (spec.class_column.empty()) y.insert(y.end(), row_targets.begin(), row_targets.end());
    LOOM_ASSIGN(more, reader.next(cells));
  }
  if (x.empty()) return Status(Code::invalid_argument, message(name, ": a header and no rows"));
  const auto width = static_cast<std::int64_t>(names.size() - wanted.size());
  if (spec.class_column.empty()) {
    LOOM_ASSIGN(auto data, ArrayData::create(std::move(x), width, std::move(y),
                                             static_cast<std::int64_t>(wanted.size())));
    return std::unique_ptr<DataSource>(std::move(data));
  }
  LOOM_ASSIGN(auto data, ArrayData::create(std::move(x), width, std::move(classes)));
  return std::unique_ptr<DataSource>(std::move(data));
}

}  // namespace

Result<std::unique_ptr<DataSource>> read_table(std::string_view bytes, const DataSpec& spec,
                                               const std::string& name) {
  if (is_utf8(bytes)) return read_utf8(bytes, spec, name);
  LOOM_ASSIGN(const std::string text, table_text(std::string(bytes), name));
  return read_utf8(text, spec, name);
}

}  // namespace loom
