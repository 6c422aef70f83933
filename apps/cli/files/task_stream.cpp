#include "files/task_stream.h"

#include <algorithm>
#include <cmath>

#include "files/values.h"
#include "support/client.h"

namespace loom::cli {
namespace {

constexpr std::int64_t kPatterns = 12, kHeld = 240;

// The same on every machine, unlike std::uniform_real_distribution.
float uniform(std::mt19937_64& random) { return static_cast<float>(random() >> 40) * 0x1p-24f; }
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) { return random() % bound; }

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw problem(LOOM_INVALID_ARGUMENT, path + ": " + why, kRefused);
}

}  // namespace

TaskStream::TaskStream(std::int64_t tasks, bool fresh, std::uint64_t seed)
    : tasks_(tasks), fresh_(fresh), random_(seed) {
  std::mt19937_64 held(seed + 1);
  tables_.resize(static_cast<std::size_t>(tasks));
  for (std::int64_t t = 0; t < tasks; ++t)
    for (std::int64_t i = 0; i < kHeld; ++i)
      tables_[static_cast<std::size_t>(t)].held.push_back(made(t, held));
}

TaskStream::TaskStream(const std::vector<std::string>& tables, std::int64_t tasks,
                       std::uint64_t seed)
    : tasks_(tasks), classes_(0), random_(seed) {
  width_ = -1;
  for (const std::string& path : tables) {
    const Values file = read_values(path);
    if (file.shape.size() != 2 || file.shape[0] < 5 || file.shape[1] < 2)
      refuse(path, "has the shape " + shape_text(file.shape) +
                       ": expects 5 rows or more of inputs and a class");
    const std::int64_t columns = file.shape[1];
    if (width_ >= 0 && columns != width_ + 1)
      refuse(path, "has " + std::to_string(columns) + " columns, " + tables[0] + " has " +
                       std::to_string(width_ + 1));
    width_ = columns - 1;
    Table& table = tables_.emplace_back();
    for (std::int64_t r = 0; r < file.shape[0]; ++r) {
      const double* row = file.values.data() + r * columns;
      const double number = row[width_];
      if (!(number >= 0 && number < 65536 && number == std::floor(number)))
        refuse(path, "row " + std::to_string(r) + ": the last column is a class, from 0 on");
      TaskSample sample{{row, row + width_}, static_cast<std::int32_t>(number)};
      classes_ = std::max(classes_, std::int64_t{sample.target} + 1);
      (r % 5 == 4 ? table.held : table.rows).push_back(std::move(sample));
    }
  }
}

std::int64_t TaskStream::different() const {
  return std::min(tasks_, static_cast<std::int64_t>(tables_.size()));
}

std::string TaskStream::name(std::int64_t task) const {
  const std::int64_t n = task % different();
  return n < 26 ? std::string(1, static_cast<char>('A' + n)) : std::to_string(n);
}

// Words of the extended Hamming code, which differ in 4 places or more.
TaskSample TaskStream::made(std::int64_t task, std::mt19937_64& random) const {
  constexpr std::uint64_t kRows[] = {0xB1, 0xD2, 0xE4, 0x78};
  const auto t = static_cast<std::uint64_t>(task);
  const std::uint64_t pattern = fresh_ ? 4 * t % 16 + below(random, 4) : below(random, kPatterns);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word ^= (pattern >> i & 1) * kRows[i];
  TaskSample sample;
  for (int i = 0; i < 8; ++i)
    sample.x.push_back((word >> i & 1 ? 1.0f : -1.0f) + uniform(random) - 0.5f);
  sample.target = static_cast<std::int32_t>((pattern + (fresh_ ? 0 : t)) % 4);
  return sample;
}

TaskSample TaskStream::next(std::int64_t task) {
  const auto& rows = tables_[static_cast<std::size_t>(task % different())].rows;
  return rows.empty() ? made(task, random_) : rows[below(random_, rows.size())];
}

const std::vector<TaskSample>& TaskStream::held(std::int64_t task) const {
  return tables_[static_cast<std::size_t>(task % different())].held;
}

}  // namespace loom::cli
