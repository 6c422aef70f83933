#include "files/values.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "files/files.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

Exit refused(const std::string& path, const std::string& what) {
  return problem(LOOM_CORRUPT, path + ": " + what, kRefused);
}

// The text behind a key of the header of .npy, which is a dictionary of Python's.
std::string_view behind(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  return at == std::string_view::npos ? std::string_view() : header.substr(at + key.size());
}

std::vector<std::int64_t> shape_of(std::string_view text) {
  std::vector<std::int64_t> shape;
  text = text.substr(0, text.find(')'));
  for (const char* at = text.data(); at < text.data() + text.size();) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), n);
    if (error == std::errc()) shape.push_back(n);
    at = error == std::errc() ? end : at + 1;
  }
  return shape;
}

template <class T>
void take(const char* from, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    to[i] = static_cast<double>(value);
  }
}

Values npy(const std::string& path, std::string_view file) {
  if (file.size() < 12) throw refused(path, "a .npy file that ends in its header");
  const bool long_header = file[6] > 1;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(file[i]));
  };
  const std::size_t size = byte(8) + (byte(9) << 8) +
                           (long_header ? (byte(10) << 16) + (byte(11) << 24) : 0),
                    begin = (long_header ? 12 : 10) + size;
  if (begin > file.size()) throw refused(path, "a .npy file that ends in its header");
  const std::string_view header = file.substr(0, begin);
  if (behind(header, "'fortran_order': ").starts_with("True"))
    throw refused(path, "an array in Fortran's order: save numpy.ascontiguousarray of it");
  Values out;
  out.shape = shape_of(behind(header, "'shape': ("));
  const std::string_view type = behind(header, "'descr': '").substr(0, 3);
  constexpr std::string_view kTypes[] = {"<f4", "<f8", "<i4", "<i8"};
  std::size_t kind = 0;
  while (kind < 4 && kTypes[kind] != type) ++kind;
  if (kind == 4)
    throw refused(path, "numbers of the type '" + std::string(type) +
                            "': expects float32, float64, int32 or int64 in little-endian");
  const std::size_t each = kind % 2 == 0 ? 4 : 8, room = (file.size() - begin) / each;
  std::size_t count = 1;
  for (const std::int64_t d : out.shape) {
    if (d < 0 || (d > 0 && count > room / static_cast<std::size_t>(d))) count = room + 1;
    if (count > room) break;
    count *= static_cast<std::size_t>(d);
  }
  if (count > room || file.size() != begin + count * each)
    throw refused(path, "the shape of the .npy file is not that of its values");
  out.values.resize(count);
  const char* from = file.data() + begin;
  if (kind == 0) take<float>(from, out.values);
  else if (kind == 1) take<double>(from, out.values);
  else if (kind == 2) take<std::int32_t>(from, out.values);
  else take<std::int64_t>(from, out.values);
  return out;
}

// The numbers of a line; an error names the first that is none.
std::vector<double> line_of(const std::string& path, std::string_view line, std::int64_t number) {
  std::vector<double> out;
  for (std::size_t at = 0; at <= line.size();) {
    std::size_t end = line.find(',', at);
    if (end == std::string_view::npos) end = line.size();
    std::string_view word = line.substr(at, end - at);
    while (!word.empty() && (word.front() == ' ' || word.front() == '\t')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == ' ' || word.back() == '\t')) word.remove_suffix(1);
    double value = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || read.ec != std::errc() || read.ptr != word.data() + word.size())
      throw refused(path, "line " + std::to_string(number) + ", column " +
                              std::to_string(out.size() + 1) + ": expects a number, got '" +
                              std::string(word.substr(0, 40)) + "'");
    out.push_back(value);
    at = end + 1;
  }
  return out;
}

Values csv(const std::string& path, std::string_view text) {
  Values out{.shape = {0, 0}, .values = {}};
  std::int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::vector<double> row = line_of(path, line, number);
    const auto width = static_cast<std::int64_t>(row.size());
    if (out.shape[0] > 0 && width != out.shape[1])
      throw refused(path, "line " + std::to_string(number) + " has " + std::to_string(width) +
                              " numbers, those before " + std::to_string(out.shape[1]));
    out.shape = {out.shape[0] + 1, width};
    out.values.insert(out.values.end(), row.begin(), row.end());
  }
  if (out.values.empty()) throw refused(path, "there are no numbers in it");
  return out;
}

}  // namespace

Values read_values(const std::string& path) {
  const std::string file = read_text(path);
  return file.starts_with("\x93NUMPY") ? npy(path, file) : csv(path, file);
}

}  // namespace loom::cli
