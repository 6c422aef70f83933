#include "fit/outputs.h"

#include <filesystem>

#include "base/files/paths.h"
#include "base/message.h"
#include "formats/sniff.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

bool is_entity(const std::string& path) {
  const auto source = open_source(path, MapMode::read);
  const auto kind = source.ok() ? sniff(**source) : Result<FileKind>(source.status());
  return kind.ok() && *kind == FileKind::entity;
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

Status check_not_input(const std::string& out, const std::vector<std::string>& inputs,
                       Depth depth) {
  if (!same_file(out, out)) return {};  // nothing is there
  const auto refused = [&](const std::string& input) {
    return Status(
        Code::invalid_argument,
        message(out, ": is ", input, ", which this command reads: write to another file"));
  };
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    if (same_file(out, input)) return refused(input);
    std::error_code unreadable;
    if (!fs::is_directory(input, unreadable) || is_entity(out)) continue;
    if (const std::string found = found_in(input, out, depth); !found.empty())
      return refused(found);
  }
  return {};
}

}  // namespace loom
