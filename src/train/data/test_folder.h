// A folder of a test's own, removed at the end.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace loom::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "loom-folder-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // With the folders above it.
  void write(const std::string& name, const std::string& bytes = "x") const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
  }
  void make(const std::string& name) const {
    std::filesystem::create_directories(path_ + "/" + name);
  }
  void link(const std::string& to, const std::string& name) const {
    std::filesystem::create_symlink(to, path_ + "/" + name);
  }

 private:
  std::string path_;
};

}  // namespace loom::test
