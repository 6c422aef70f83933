// Scalars for TensorBoard: an event file is a sequence of TFRecords, each holding one serialized
// tensorflow.Event. Times (seconds since 1970) come from the caller. One writer per file; not
// thread-safe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace loom {

// CRC-32C (Castagnoli; RFC 3720, B.4).
std::uint32_t crc32c(std::span<const std::byte> data);
// u64 length, masked CRC of it, data, masked CRC of them (tensorflow/core/lib/io/record_writer.h),
// little-endian.
std::string tf_record(std::string_view data);
// tensorflow.Event (tensorflow/core/util/event.proto) with a summary of one simple_value.
std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, float value);
// "events.out.tfevents.0001700000000.loom": TensorBoard reads files with "tfevents" in their name.
std::string event_file_name(double wall_time);

class EventFile {
 public:
  // Opens for appending, so a resumed training continues its file; a new file starts with the
  // version event.
  static Result<EventFile> open(const std::string& path, double wall_time);
  Status scalar(std::string_view tag, std::int64_t step, float value, double wall_time);
  // Hands what was written to the system; TensorBoard then sees it.
  Status flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  EventFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  Status write(std::string_view event);
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace loom
