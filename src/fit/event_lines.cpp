#include "fit/event_lines.h"

#include <cerrno>
#include <cstring>

#include "base/message.h"

namespace loom {

Result<std::unique_ptr<EventLines>> EventLines::open(const std::string& path, bool append) {
  auto lines = std::make_unique<EventLines>();
  lines->path_ = path;
  lines->file_.reset(std::fopen(path.c_str(), append ? "ab" : "wb"));
  if (!lines->file_) return Status(Code::io, message(path, ": ", std::strerror(errno)));
  return lines;
}

Status EventLines::begin(const std::vector<ObservedCell>& cells) {
  cells_ = cells;
  return {};
}

Status EventLines::on_forward(const CellEvent& event) {
  const std::string line = event_json(cells_[event.cell], event).dump() + "\n";
  std::fwrite(line.data(), 1, line.size(), file_.get());
  return {};
}

Status EventLines::flush() {
  if (std::fflush(file_.get()) == 0 && !std::ferror(file_.get())) return {};
  return Status(Code::io, message(path_, ": cannot be written"));
}

}  // namespace loom
