// Samples of tasks that change, for loom adapt: made here, or rows of tables.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace loom::cli {

struct TaskSample {
  std::vector<float> x;
  std::int32_t target = 0;  // a class
};

class TaskStream {
 public:
  // Patterns of 8 values with noise, in 4 classes. In the next task each pattern is of the next
  // class, or with `fresh` the patterns are others.
  TaskStream(std::int64_t tasks, bool fresh, std::uint64_t seed);
  // Tables whose last column is a class, one for each task, again from the first where there are
  // more tasks. Every fifth row is held for measures. What is no such table ends the action as
  // kRefused.
  TaskStream(const std::vector<std::string>& tables, std::int64_t tasks, std::uint64_t seed);

  std::int64_t tasks() const { return tasks_; }
  std::int64_t width() const { return width_; }
  std::int64_t classes() const { return classes_; }
  // "A", "B", ...: tasks of the same table share a name.
  std::string name(std::int64_t task) const;
  // How many tasks have different names.
  std::int64_t different() const;
  TaskSample next(std::int64_t task);
  const std::vector<TaskSample>& held(std::int64_t task) const;

 private:
  struct Table {
    std::vector<TaskSample> rows, held;
  };
  TaskSample made(std::int64_t task, std::mt19937_64& random) const;
  std::int64_t tasks_, width_ = 8, classes_ = 4;
  bool fresh_ = false;
  std::mt19937_64 random_;
  std::vector<Table> tables_;  // of made tasks only what is held
};

}  // namespace loom::cli
