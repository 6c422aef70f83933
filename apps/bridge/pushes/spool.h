// A push on disk, chunk by chunk: what arrived stays through a restart of the server. The folder
// has begin.json, the data, and a journal with a record for each chunk that is there. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/pushes/layout.h"
#include "checkpoint/checksum.h"

namespace loom::bridge {

class Spool {
 public:
  // Of a new push: the folder is made. Throws http::Refusal.
  static std::shared_ptr<Spool> create(const std::string& folder, Push push, SpoolLayout layout);
  // Of a folder that is there: chunks whose bytes are not those of the journal are missing.
  static std::shared_ptr<Spool> open(const std::string& folder, Push push, SpoolLayout layout);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  const Push& push() const { return push_; }
  const SpoolLayout& layout() const { return layout_; }
  std::string data_path() const { return folder_ + "/data"; }
  const std::string& folder() const { return folder_; }

  enum class Claim { taken, present, busy };
  // A chunk is written by one connection at a time.
  Claim claim(std::uint64_t index);
  void write(std::uint64_t stream_offset, std::string_view bytes);  // inside a claimed chunk
  // The chunk is there (after this a restart finds it); or its bytes were wrong.
  void commit(std::uint64_t index, std::uint32_t crc);
  void release(std::uint64_t index);
  // Of a chunk that is there: on its way while more arrives, so that flush() has less to wait for.
  void send_to_disk(std::uint64_t index) const;

  // Ranges of bytes that are missing, [begin, end), at most `max_ranges`; and how many bytes are
  // there.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> missing(std::size_t max_ranges) const;
  std::uint64_t received() const;
  bool complete() const { return received() == push_.bytes; }
  // No chunk is taken any more, for finish or the end of the push; false where one is being written
  // or this was called before. reopen() takes it back.
  bool close_to_chunks();
  void reopen();

  // Hashes the bytes that are there, from the first on; each call continues the last one, and
  // returns at the first gap.
  void hash_some();
  // Of a complete push. A tensor that is not the announced one is missing again, and is named by
  // the Refusal. `late`: SHA-256 of tensors that came without, by parameter.
  std::vector<TensorHash> checked_hashes(const Json& late);
  // Values of a tensor, as f64 where `as_f64`.
  void read(std::size_t tensor, std::vector<float>& values) const;
  void read(std::size_t tensor, std::vector<double>& values) const;
  // Writes at an offset of the data; flushes data to disk.
  void write_at(std::uint64_t offset, std::string_view bytes);
  void flush();
  void remove();  // the folder and all in it

 private:
  Spool(std::string folder, Push push, SpoolLayout layout);
  void open_files(bool fresh);
  void read_journal();
  void rewrite_journal();
  std::uint32_t crc_of(std::uint64_t index) const;
  std::size_t tensor_at(std::uint64_t stream_offset) const;
  // f(offset in the data, piece) of each tensor that a range of the stream lies in.
  template <class F>
  void each_extent(std::uint64_t begin, std::uint64_t bytes, F f) const;
  void read_at(std::uint64_t offset, char* bytes, std::size_t size) const;
  template <class T>
  void read_values(std::size_t tensor, std::vector<T>& values) const;
  std::uint64_t ready_end() const;
  void forget_from(std::size_t tensor);

  const std::string folder_;
  const Push push_;
  const SpoolLayout layout_;
  int data_ = -1, journal_ = -1;
  mutable std::mutex mutex_;
  std::vector<bool> present_;
  std::vector<std::uint32_t> crcs_;
  std::set<std::uint64_t> claimed_;
  std::uint64_t received_ = 0, ready_ = 0;  // bytes; chunks without a gap from the begin on
  bool closed_ = false;

  std::mutex hash_mutex_;
  std::uint64_t hashed_ = 0;  // bytes of the stream
  Sha256 sha_;
  Xxh64 xxh_;
  std::vector<TensorHash> hashes_;
};

}  // namespace loom::bridge
