#include "telemetry/event_file.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/files/bytes.h"

namespace loom {
namespace {

constexpr auto kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0x82F63B78u : 0);
    table[i] = c;
  }
  return table;
}();

// The mask keeps a CRC over data that hold CRCs from being trivial.
std::uint32_t masked_crc(std::string_view data) {
  const std::uint32_t crc = crc32c(as_bytes(data));
  return std::rotr(crc, 15) + 0xA282EAD8u;
}

template <class T>
void put(std::string& to, T value) {
  char bytes[sizeof(T)];
  store_le(bytes, value);
  to.append(bytes, sizeof bytes);
}

// Protocol buffers wire format: a tag is field number and wire type.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to += static_cast<char>(value | 128);
  to += static_cast<char>(value);
}
void put_tag(std::string& to, unsigned field, Wire wire) {
  put_varint(to, field << 3 | static_cast<unsigned>(wire));
}
void put_bytes(std::string& to, unsigned field, std::string_view bytes) {
  put_tag(to, field, Wire::bytes);
  put_varint(to, bytes.size());
  to += bytes;
}

std::string event(double wall_time, std::int64_t step) {
  std::string e;
  put_tag(e, 1, Wire::fixed64);
  put(e, wall_time);
  put_tag(e, 2, Wire::varint);
  put_varint(e, static_cast<std::uint64_t>(step));
  return e;
}

Status system_error(const std::string& path, const std::string& what) {
  return Status(Code::io, path + ": " + what + ": " + std::strerror(errno));
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> data) {
  std::uint32_t c = ~0u;
  for (const std::byte b : data)
    c = kCrcTable[(c ^ std::to_integer<std::uint32_t>(b)) & 255] ^ c >> 8;
  return ~c;
}

std::string tf_record(std::string_view data) {
  std::string record;
  put(record, static_cast<std::uint64_t>(data.size()));
  put(record, masked_crc(record));
  record += data;
  put(record, masked_crc(data));
  return record;
}

std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, float value) {
  std::string scalar, summary;
  put_bytes(scalar, 1, tag);
  put_tag(scalar, 2, Wire::fixed32);
  put(scalar, value);
  put_bytes(summary, 1, scalar);
  std::string e = event(wall_time, step);
  put_bytes(e, 5, summary);
  return e;
}

std::string event_file_name(double wall_time) {
  std::string seconds =
      std::to_string(wall_time > 0 && wall_time < 1e15 ? static_cast<std::int64_t>(wall_time) : 0);
  // As wide as TensorFlow's, so that names sort by time.
  if (seconds.size() < 10) seconds.insert(0, 10 - seconds.size(), '0');
  return "events.out.tfevents." + seconds + ".loom";
}

Result<EventFile> EventFile::open(const std::string& path, double wall_time) {
  std::FILE* handle = std::fopen(path.c_str(), "ab");
  if (!handle) return system_error(path, "cannot open");
  EventFile file(path, handle);
  if (std::fseek(handle, 0, SEEK_END) != 0) return system_error(path, "cannot seek");
  if (std::ftell(handle) == 0) {
    std::string version = event(wall_time, 0);
    put_bytes(version, 3, "brain.Event:2");
    LOOM_TRY(file.write(version));
  }
  return file;
}

Status EventFile::write(std::string_view event) {
  const std::string record = tf_record(event);
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size())
    return system_error(path_, "cannot write");
  return {};
}

Status EventFile::scalar(std::string_view tag, std::int64_t step, float value, double wall_time) {
  return write(scalar_event(wall_time, step, tag, value));
}

Status EventFile::flush() {
  if (std::fflush(file_.get()) != 0) return system_error(path_, "cannot write");
  return {};
}

}  // namespace loom
