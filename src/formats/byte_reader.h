// Sequential little-endian reads from a ByteSource with a small window where the source has no
// view. Internal to this module. Every read is checked against the source's size; nothing is
// allocated for a length before it is known to fit.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "base/files/bytes.h"
#include "base/files/source.h"
#include "base/message.h"

namespace loom {

class ByteReader {
 public:
  ByteReader(const ByteSource& source, std::uint64_t at)
      : source_(source), view_(source.view()), at_(at) {}

  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return at_ < source_.size() ? source_.size() - at_ : 0; }

  // `what` names the field in the error.
  Status bytes(std::span<std::byte> out, std::string_view what) {
    if (out.size() > left()) return cut(out.size(), what);
    if (!view_.empty()) {
      std::copy_n(view_.begin() + static_cast<std::ptrdiff_t>(at_), out.size(), out.begin());
    } else if (out.size() > window_.size()) {
      LOOM_TRY(source_.read(at_, out));
    } else {
      if (at_ < window_at_ || at_ + out.size() > window_at_ + window_used_) LOOM_TRY(fill());
      std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(at_ - window_at_), out.size(),
                  out.begin());
    }
    at_ += out.size();
    return {};
  }

  template <class T>
  Result<T> value(std::string_view what) {
    std::array<std::byte, sizeof(T)> raw;
    LOOM_TRY(bytes(raw, what));
    return load_le<T>(raw.data());
  }

  // A u64 length, then that many bytes.
  Status text(std::string* out, std::string_view what) {
    LOOM_ASSIGN(const std::uint64_t size, text_size(what));
    out->resize(static_cast<std::size_t>(size));
    return bytes(std::as_writable_bytes(std::span(*out)), what);
  }

  Status skip_text(std::string_view what) {
    LOOM_ASSIGN(const std::uint64_t size, text_size(what));
    at_ += size;
    return {};
  }

  Status skip(std::uint64_t count, std::string_view what) {
    if (count > left()) return cut(count, what);
    at_ += count;
    return {};
  }

 private:
  Result<std::uint64_t> text_size(std::string_view what) {
    LOOM_ASSIGN(const std::uint64_t size, value<std::uint64_t>(what));
    if (size > left()) return cut(size, what);
    return size;
  }

  Status fill() {
    window_at_ = at_;
    window_used_ = 0;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(window_.size(), left()));
    LOOM_TRY(source_.read(at_, std::span(window_).first(size)));
    window_used_ = size;
    return {};
  }

  Status cut(std::uint64_t wanted, std::string_view what) const {
    return Status(Code::truncated,
                  message(source_.name(), ": ", what, " takes ", wanted, " bytes at offset ", at_,
                          ", the file has ", source_.size()));
  }

  const ByteSource& source_;
  std::span<const std::byte> view_;
  std::uint64_t at_;
  std::array<std::byte, 4096> window_;
  std::uint64_t window_at_ = 0;
  std::size_t window_used_ = 0;
};

}  // namespace loom
