#include "base/files/mapping.h"

#if defined(__wasm__)

namespace loom {
std::unique_ptr<Mapping> map_file(int, std::size_t, const std::string&) { return nullptr; }
const Mapping* mapping_of(const void*) { return nullptr; }
}  // namespace loom

#else

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace loom {
namespace {

class FileMapping;

// Where files lie, for a signal handler: a fixed table without locks. A slot is taken while its end
// is not 0.
struct Slot {
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<const FileMapping*> file{nullptr};
};
constexpr int kSlots = 4096;
Slot slots[kSlots];
std::atomic<int> used{0};  // no slot beyond this one has ever been taken

struct sigaction earlier;  // who had the signal before
std::uintptr_t page_size = 0;

const Slot* slot_of(std::uintptr_t address) {
  const int n = used.load();
  for (int i = 0; i < n; ++i)
    if (address >= slots[i].begin.load() && address < slots[i].end.load()) return &slots[i];
  return nullptr;
}

class FileMapping final : public Mapping {
 public:
  FileMapping(std::string name, std::size_t size) : name_(std::move(name)), size_(size) {}
  ~FileMapping() override {
    if (slot_) slot_->end.store(0);
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
    if (slot_) slot_->file.store(nullptr);
    if (fd_ >= 0) ::close(fd_);
  }
  // False: not mapped, and the descriptor is still the caller's.
  bool open(int fd) {
    struct stat info{};
    if (::fstat(fd, &info) != 0) return false;
    changed_at_ = time_of(info);
    const FileMapping* none = nullptr;
    int i = 0;
    while (i < kSlots && !slots[i].file.compare_exchange_strong(none, this)) none = nullptr, ++i;
    if (i == kSlots) return false;
    slot_ = &slots[i];
    for (int n = used.load(); n <= i && !used.compare_exchange_weak(n, i + 1);) {
    }
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data_ == MAP_FAILED) return false;
    const auto at = reinterpret_cast<std::uintptr_t>(data_);
    slot_->begin.store(at);
    slot_->end.store((at + size_ + page_size - 1) / page_size * page_size);
    fd_ = fd;
    return true;
  }
  std::span<const std::byte> bytes() const override {
    return {static_cast<const std::byte*>(data_), size_};
  }
  void lose() const { lost_.store(true); }

  Status intact() const override {
    struct stat info{};
    const bool known = ::fstat(fd_, &info) == 0;
    // Less than a page that is cut off is zeros without a signal.
    if (known && static_cast<std::uint64_t>(info.st_size) < size_) {
      lose();
      return Status(Code::truncated, name_ + ": was cut from " + std::to_string(size_) + " to " +
                                         std::to_string(info.st_size) +
                                         " bytes while it was in use: load it again");
    }
    if (known && time_of(info) != changed_at_) lose();
    if (!lost_.load()) return {};
    return Status(
        Code::io,
        name_ + ": was changed, or could not be read, while it was in use: load it again");
  }

 private:
  static std::int64_t time_of(const struct stat& info) {
#if defined(__APPLE__)
    const timespec& t = info.st_mtimespec;
#else
    const timespec& t = info.st_mtim;
#endif
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
                                     static_cast<std::uint64_t>(t.tv_nsec));
  }

  const std::string name_;
  const std::size_t size_;
  void* data_ = MAP_FAILED;
  Slot* slot_ = nullptr;
  int fd_ = -1;
  std::int64_t changed_at_ = 0;
  mutable std::atomic<bool> lost_{false};
};

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

// An access to a page that the file no longer has, or that could not be read: it and those after it
// become zeros, and the access is tried again. What is not ours goes to whoever had the signal
// before.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (const Slot* slot = info->si_code > 0 ? slot_of(address) : nullptr) {
    const int error = errno;
    const std::uintptr_t page = address / page_size * page_size;
    const std::uintptr_t end = slot->end.load();
    const FileMapping* file = slot->file.load();
    if (file && page < end) {
      file->lose();
      void* const zeros = ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      errno = error;
      if (zeros != MAP_FAILED) return;
    }
  }
  if ((earlier.sa_flags & SA_SIGINFO) != 0) return earlier.sa_sigaction(signal, info, context);
  if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
    return earlier.sa_handler(signal);
  // As without us: the access is tried again, or the signal sent again, and ends the process.
  ::sigaction(signal, &earlier, nullptr);
  if (info->si_code <= 0) ::raise(signal);
}

bool watching() {
  static const bool installed = [] {
    page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, nullptr, &earlier) == 0 &&
           ::sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  return installed;
}

}  // namespace

std::unique_ptr<Mapping> map_file(int fd, std::size_t size, const std::string& name) {
  if (size == 0 || !watching()) return nullptr;
  auto file = std::make_unique<FileMapping>(name, size);
  if (!file->open(fd)) return nullptr;
  return file;
}

const Mapping* mapping_of(const void* bytes) {
  const Slot* slot = slot_of(reinterpret_cast<std::uintptr_t>(bytes));
  return slot ? slot->file.load() : nullptr;
}

}  // namespace loom

#endif
