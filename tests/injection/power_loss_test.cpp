// Power fails at any moment of three saves in a row: what was not flushed is lost, comes in another
// order or in part. The last save that was acknowledged is there with the same bits, or the one
// that was under way; before the first, nothing or a file that is refused. LOOM_STATES states of
// all kinds together (2,000; 50,000 with LOOM_SOAK=1), from LOOM_SEED (1).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/random.h"
#include "injection/file_calls.h"
#include "injection/savers.h"
#include "injection/settings.h"

namespace loom::test {
namespace {

constexpr std::size_t kSector = 512;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// What a disk holds for certain, and what it may hold.
class Disk {
 public:
  explicit Disk(std::string root) { folders_.insert(std::move(root)); }

  void apply(const FileChange& c) {
    switch (c.kind) {
      case FileChange::write: files_[c.file].waiting.push_back(c.data); break;
      case FileChange::flush: {
        File& f = files_[c.file];
        for (const std::string& part : f.waiting) f.bytes += part;
        f.waiting.clear();
        break;
      }
      case FileChange::flush_folder: {
        const auto done = [&](const FileChange& w) { return folder_of(w.path) == c.path; };
        for (const FileChange& w : waiting_)
          if (done(w)) change(w, names_, folders_);
        std::erase_if(waiting_, done);
        break;
      }
      default: waiting_.push_back(c);
    }
  }

  // One of the states after a loss of power, below `root`.
  template <class Dice>
  void write_state(Dice& dice) const {
    auto names = names_;
    auto folders = folders_;
    const std::uint32_t of_names = dice(5), of_data = dice(5);  // in quarters
    for (const FileChange& w : waiting_)
      if (dice(4) < of_names) change(w, names, folders);
    // A folder's files are gone with it.
    for (const std::string& folder : folders) std::filesystem::create_directory(folder);
    for (const auto& [path, file] : names) {
      if (!folders.contains(folder_of(path)) || !files_.contains(file)) continue;
      const File& f = files_.at(file);
      std::string bytes = f.bytes;
      std::size_t end = bytes.size();
      for (const std::string& part : f.waiting) {
        for (std::size_t at = 0; at < part.size();) {
          // Up to the end of a sector of the file.
          const std::size_t n = std::min(kSector - (end + at) % kSector, part.size() - at);
          if (dice(4) < of_data) {
            bytes.resize(std::max(bytes.size(), end + at + n), '\0');
            bytes.replace(end + at, n, part, at, n);
          }
          at += n;
        }
        end += part.size();
      }
      if (dice(2)) bytes.resize(std::max(bytes.size(), end), '\0');  // its size came first
      std::ofstream(path, std::ios::binary) << bytes;
    }
  }

 private:
  struct File {
    std::string bytes;
    std::vector<std::string> waiting;
  };
  static void change(const FileChange& c, std::map<std::string, int>& names,
                     std::set<std::string>& folders) {
    if (c.kind == FileChange::create) names[c.path] = c.file;
    if (c.kind == FileChange::unlink) names.erase(c.path);
    if (c.kind == FileChange::mkdir) folders.insert(c.path);
    if (c.kind == FileChange::rename) {
      names.erase(c.path);
      names[c.to] = c.file;
    }
  }
  std::map<int, File> files_;
  std::map<std::string, int> names_;
  std::set<std::string> folders_;
  std::vector<FileChange> waiting_;  // of folders
};

class PowerLoss : public testing::TestWithParam<std::string> {};

TEST_P(PowerLoss, LeavesWhatWasAcknowledged) {
  const std::string folder = scratch_folder("power");
  std::filesystem::create_directories(folder);
  const auto saver = make_saver(GetParam(), folder);
  std::vector<FileChange> changes;
  std::vector<std::string> digests = {""};
  std::vector<std::size_t> acknowledged;  // changes before it
  for (int version = 1; version <= 3; ++version) {
    ASSERT_TRUE(saver->advance().ok());
    record_file_calls(&changes);
    const Status saved = saver->save();
    record_file_calls(nullptr);
    ASSERT_TRUE(saved.ok()) << saved.to_string();
    acknowledged.push_back(changes.size());
    digests.push_back(saver->digest());
    ASSERT_EQ(*saver->load(), digests.back());
  }
  const std::uint64_t seed = number_of("LOOM_SEED", 1);
  const std::uint64_t states =
      number_of("LOOM_STATES", std::getenv("LOOM_SOAK") ? 50'000 : 2'000) / saver_kinds().size() +
      1;
  std::uint64_t old_ones = 0, new_ones = 0, none = 0;
  for (std::uint64_t state = 0; state < states; ++state) {
    const RandomStream random(seed, state);
    std::uint64_t drawn = 0;
    const auto dice = [&](std::uint32_t bound) { return random.below(drawn++, bound); };
    const std::size_t at = dice(static_cast<std::uint32_t>(changes.size() + 1));
    const auto version = static_cast<std::size_t>(
        std::upper_bound(acknowledged.begin(), acknowledged.end(), at) - acknowledged.begin());
    Disk disk(folder);
    for (std::size_t i = 0; i < at; ++i) disk.apply(changes[i]);
    std::filesystem::remove_all(folder);
    disk.write_state(dice);
    const auto found = saver->load();
    SCOPED_TRACE("state " + std::to_string(state) + " of seed " + std::to_string(seed) +
                 ": power fails after change " + std::to_string(at) + " of " +
                 std::to_string(changes.size()) + ", " + std::to_string(version) +
                 " saves acknowledged");
    if (!found.ok()) {
      ASSERT_EQ(version, 0u) << found.status().to_string();
      ASSERT_NE(found.status().code(), Code::internal) << found.status().to_string();
      ++none;
      continue;
    }
    const bool new_one = version < 3 && *found == digests[version + 1];
    ASSERT_TRUE(new_one || (version > 0 && *found == digests[version]));
    ++(new_one ? new_ones : old_ones);
  }
  EXPECT_GT(old_ones, 0u);
  EXPECT_TRUE(new_ones > 0 || states < 200) << "no loss of power hit a save in the middle";
  std::printf("%s: %llu states: %llu old, %llu new, %llu before the first\n", GetParam().c_str(),
              static_cast<unsigned long long>(states), static_cast<unsigned long long>(old_ones),
              static_cast<unsigned long long>(new_ones), static_cast<unsigned long long>(none));
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Injection, PowerLoss, testing::ValuesIn(saver_kinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace loom::test
