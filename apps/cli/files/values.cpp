#include "files/values.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>

#include "files/files.h"
#include "formats/npy/npy.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

Exit refused(const std::string& what) { return problem(LOOM_CORRUPT, what, kRefused); }

Values npy(const std::string& path, std::string_view file) {
  const auto bytes = std::as_bytes(std::span(file.data(), file.size()));
  const auto array = open_npy(source_from_view(bytes, path, nullptr));
  if (!array.ok()) throw refused(array.status().message());
  Values out{array->shape, std::vector<double>(static_cast<std::size_t>(array->elements()))};
  if (out.shape.empty()) out.shape = {1};  // a single number
  if (const Status read = read_f64(*array, 0, out.values); !read.ok())
    throw refused(read.message());
  return out;
}

std::vector<std::string_view> words_of(std::string_view line, char separator) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    std::string_view word = line.substr(at, end - at);
    while (!word.empty() && (word.front() == ' ' || word.front() == '\t')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == ' ' || word.back() == '\t')) word.remove_suffix(1);
    words.push_back(word);
    at = end + 1;
  }
  return words;
}

bool is_number(std::string_view word, double& value) {
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  return !word.empty() && read.ec == std::errc() && read.ptr == word.data() + word.size();
}

// How a table is written: a header has names alone.
struct Form {
  char separator = ',';
  bool header = false;
};
Form form_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  Form form;
  for (const char c : {';', '\t'})
    if (std::ranges::count(line, c) > std::ranges::count(line, form.separator)) form.separator = c;
  double value;
  form.header = std::ranges::none_of(words_of(line, form.separator), [&](std::string_view word) {
    return word.empty() || is_number(word, value);
  });
  return form;
}

// The numbers of a line; an error names the first that is none.
std::vector<double> line_of(const std::string& path, std::string_view line, char separator,
                            std::int64_t number) {
  std::vector<double> out;
  for (const std::string_view word : words_of(line, separator)) {
    double value = 0;
    if (!is_number(word, value))
      throw refused(path + ": line " + std::to_string(number) + ", column " +
                    std::to_string(out.size() + 1) + ": expects a number, got '" +
                    std::string(word.substr(0, 40)) + "'");
    out.push_back(value);
  }
  return out;
}

Values csv(const std::string& path, std::string_view text, Form form) {
  Values out{.shape = {0, 0}, .values = {}};
  std::int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (number == 1 && form.header)) continue;
    const std::vector<double> row = line_of(path, line, form.separator, number);
    const auto width = static_cast<std::int64_t>(row.size());
    if (out.shape[0] > 0 && width != out.shape[1])
      throw refused(path + ": line " + std::to_string(number) + " has " + std::to_string(width) +
                    " numbers, those before " + std::to_string(out.shape[1]));
    out.shape = {out.shape[0] + 1, width};
    out.values.insert(out.values.end(), row.begin(), row.end());
  }
  if (out.values.empty()) throw refused(path + ": there are no numbers in it");
  return out;
}

}  // namespace

Values read_values(const std::string& path) {
  const std::string file = read_text(path);
  return file.starts_with("\x93NUMPY") ? npy(path, file) : csv(path, file, {});
}

Values read_table(const std::string& path) {
  const std::string file = read_text(path);
  return file.starts_with("\x93NUMPY") ? npy(path, file) : csv(path, file, form_of(file));
}

std::optional<std::vector<std::int64_t>> sizes_before(const Values& file, std::int64_t width) {
  std::vector<std::int64_t> before = file.shape;
  if (width == 1 && before.size() < 2) return before;
  std::int64_t row = 1;
  do {
    if (before.empty() || before.back() < 1 || before.back() > width) return std::nullopt;
    row *= before.back();
    before.pop_back();
  } while (row < width);
  if (row != width) return std::nullopt;
  return before;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace loom::cli
