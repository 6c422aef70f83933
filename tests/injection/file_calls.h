// The C library's file calls of this program, counted, failing where a test says so, or written
// down. One program only: it defines open, write, rename and their like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loom::test {

enum class FileFailure {
  io,           // EIO
  full,         // ENOSPC of calls that take space, EIO of others
  interrupted,  // EINTR where a call may be interrupted; the call is done when it is made again
  brief,        // less is read or written than was asked for
  nothing,      // a write takes no byte, and says so
};

// Counting from now on as 0, call `first` fails, and with `following` all after it.
void fail_file_calls(FileFailure kind, std::int64_t first, bool following);
// None fails any more; returns how many there were since.
std::int64_t allow_file_calls();

// What changed files and folders, in order.
struct FileChange {
  enum Kind { create, write, flush, rename, unlink, mkdir, flush_folder } kind;
  std::string path, to;  // to: of rename
  int file = -1;         // a number for each file that was made
  std::string data;      // of write, at the end of the file
};
void record_file_calls(std::vector<FileChange>* into);  // nullptr: no more

}  // namespace loom::test
