#include "files/outputs.h"

#include <sys/stat.h>

#include <filesystem>

#include "support/client.h"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

// True if both names lead to one file or folder: the same device and inode.
bool same_file(const std::string& a, const std::string& b) {
  struct stat one{}, other{};
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

bool is_entity(const std::string& path) {
  try {
    return text_in(parsed(File(path).info()), "kind") == ".entity";
  } catch (const Error&) {
    return false;
  }
}

// A file of the folder that is `file` under another name; "": none. Links to files count, those to
// folders are not entered: they may lead in circles.
std::string found_in(const std::string& folder, const std::string& file, Depth depth) {
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end;
       at.increment(error)) {
    if (same_file(at->path().string(), file)) return at->path().string();
    if (depth == Depth::direct) at.disable_recursion_pending();
  }
  return {};
}

}  // namespace

void check_not_input(const std::string& what, const std::string& out,
                     const std::vector<std::string>& inputs, Depth depth) {
  if (!same_file(out, out)) return;  // nothing is there
  const auto refused = [&](const std::string& input) {
    return problem(
        LOOM_INVALID_ARGUMENT,
        what + ": " + out + ": is " + input + ", which this command reads: write to another file",
        kUsage);
  };
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    if (same_file(out, input)) throw refused(input);
    std::error_code unreadable;
    if (!fs::is_directory(input, unreadable) || is_entity(out)) continue;
    if (const std::string found = found_in(input, out, depth); !found.empty()) throw refused(found);
  }
}

void check_file_output(const std::string& what, const std::string& out,
                       const std::vector<std::string>& inputs) {
  check_not_input(what, out, inputs);
  or_exit(kUsage, [&] { Bytes::check_save(out); }, what);
}

std::string located(const std::string& model) {
  try {
    return text_in(parsed(File(model).info()), "path");
  } catch (const Error&) {
    return "";
  }
}

}  // namespace loom::cli
