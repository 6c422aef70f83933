#include "support/event_scalars.h"

#include <ctime>
#include <filesystem>

#include "command.h"
#include "support/client.h"
#include "telemetry/event_file.h"

namespace loom::cli {
namespace {

void or_fail(const Status& status) {
  if (!status.ok()) throw problem(LOOM_IO, status.message(), kFailed);
}

}  // namespace

struct EventScalars::File {
  EventFile file;
  double time;
};

EventScalars::EventScalars(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw problem(LOOM_IO, folder + ": " + error.message(), kFailed);
  const auto now = static_cast<double>(std::time(nullptr));
  auto file = EventFile::open((std::filesystem::path(folder) / event_file_name(now)).string(), now);
  or_fail(file.status());
  file_ = std::make_unique<File>(File{std::move(*file), now});
}
EventScalars::~EventScalars() = default;

void EventScalars::add(const Json& event) {
  std::string tag = text_in(event, "path");
  if (event.find("role")) tag += ":" + text_in(event, "role");
  if (text_in(event, "direction") != "forward") tag += "/" + text_in(event, "direction");
  for (const char* key : {"mean", "std", "min", "max", "active_share", "nan_count"}) {
    const Json& value = member(event, key);
    if (value.is_null()) continue;
    or_fail(file_->file.scalar(tag + "/" + key, integer_in(event, "pass"),
                               static_cast<float>(value.as_number()), file_->time));
  }
}

void EventScalars::flush() { or_fail(file_->file.flush()); }

}  // namespace loom::cli
