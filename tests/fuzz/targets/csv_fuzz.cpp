// Tables: as the spec reads them, and as they are looked at where there is none.
#include "base/escape.h"
#include "train/data/tables/columns.h"
#include "train/data/tables/encoding.h"
#include "train/data/tables/series.h"
#include "train/data/tables/table.h"

#include "fuzz.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto refused = [](const Status& s) {
    FUZZ_CHECK(s.code() == Code::invalid_argument || s.code() == Code::not_found);
    FUZZ_CHECK(s.message().find("input") != std::string::npos && s.message().size() < 4000);
  };
  for (const bool header : {false, true}) {
    DataSpec spec;
    spec.kind = DataKind::table;
    spec.header = header;
    spec.targets = {header ? "y" : "0"};
    const auto read = read_table(text, spec, "input");
    if (!read.ok()) refused(read.status());
    else {
      Batch batch;
      for (std::int64_t i = 0; i < (*read)->samples(); ++i) (*read)->append(i, batch);
      FUZZ_CHECK(batch.rows == (*read)->samples() &&
                 batch.x.size() == static_cast<std::size_t>(batch.rows * (*read)->form().width));
    }
  }
  const auto decoded = table_text(std::string(text), "input");
  if (!decoded.ok()) refused(decoded.status());
  else FUZZ_CHECK(is_utf8(*decoded));
  const auto table = read_cells(text, "input");
  if (!table.ok()) {
    refused(table.status());
    return;
  }
  for (const std::string& date : table->names) {
    const auto series = read_series(*table, {date, table->names.back()}, "input");
    if (!series.ok()) refused(series.status());
    else FUZZ_CHECK(series->values.size() == series->filled.size());
  }
  std::vector<std::string> notes;
  const auto form = look(*table, "", "", "input", notes);
  if (!form.ok()) {
    refused(form.status());
    return;
  }
  std::vector<std::int64_t> places;
  for (std::size_t c = 0; c < form->columns.size(); ++c)
    places.push_back(static_cast<std::int64_t>(c));
  const auto again = TableForm::from_json(form->to_json());
  FUZZ_CHECK(again.ok() && again->width() == form->width());
  for (const auto& row : table->rows) {
    std::vector<double> a, b;
    form->encode(row, places, a);
    again->encode(row, places, b);
    FUZZ_CHECK(a.size() == static_cast<std::size_t>(form->width()) && b.size() == a.size());
    FUZZ_CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
    const std::string& cell = row[static_cast<std::size_t>(form->target)];
    FUZZ_CHECK(!form->classes || is_missing(cell) || form->class_of(cell) >= 0);
  }
}
