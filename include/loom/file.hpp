// Model files from a path, from memory or from what the program reads itself, and networks from any
// file of weights (docs/reference/weights.md). A part of loom.hpp, which includes it.
#ifndef LOOM_FILE_HPP
#define LOOM_FILE_HPP

#include "loom.hpp"

namespace loom {
inline namespace api {

// A file that the program reads itself: derive. One thread at a time calls it; what it throws comes
// out of the call that read, as an Error with its text.
class Source {
 public:
  virtual ~Source() = default;
  // Bytes of the file, which do not change.
  virtual std::uint64_t size() const = 0;
  // Fills `out` from `offset` on, a range inside of the file; returns how many bytes it wrote,
  // where fewer are an error (LOOM_TRUNCATED).
  virtual std::size_t read(std::uint64_t offset, std::span<std::byte> out) = 0;
  virtual std::string name() const { return {}; }  // in messages
};

class File : public Object {
 public:
  using Object::Object;
  explicit File(std::string_view name)
      : Object(detail::made<Object>(loom_file_open, name.data(), name.size())) {}
  // Safetensors, GGUF, .entity or JSON.
  explicit File(const Bytes& bytes)
      : Object(detail::made<Object>(loom_file_open_bytes, bytes.handle())) {}
  // The source lives as long as the library reads from it.
  explicit File(std::shared_ptr<Source> source) : Object(opened(std::move(source))) {}
  // JSON: docs/reference/c-api.md.
  std::string info(std::string_view options = {}) const {
    return detail::text(loom_file_info, handle(), options.data(), options.size());
  }
  std::string hash(std::string_view tensor) const {
    return detail::text(loom_file_hash, handle(), tensor.data(), tensor.size());
  }
  // Of .entity, and JSON with weights.
  Network network() const { return detail::made<Network>(loom_network_load_file, handle()); }
  // JSON: what from_weights would decide; settings as JSON.
  std::string weights(std::string_view settings = {}) const {
    return detail::text(loom_file_weights, handle(), settings.data(), settings.size());
  }

 private:
  static Object opened(std::shared_ptr<Source> source) {
    using Owner = std::shared_ptr<Source>;
    const std::string name = source->name();
    loom_source c{};
    c.size = sizeof c;
    c.bytes = source->size();
    c.name = name.c_str();
    c.read = [](void* user, std::uint64_t offset, void* out, std::size_t count, std::size_t* got,
                loom_error* error) {
      return detail::caught(error, [&] {
        *got = (*static_cast<Owner*>(user))->read(offset, {static_cast<std::byte*>(out), count});
      });
    };
    c.release = [](void* user) { delete static_cast<Owner*>(user); };
    c.user = new Owner(std::move(source));  // released by the library, whether it opens or not
    return detail::made<Object>(loom_file_open_source, static_cast<const loom_source*>(&c));
  }
};

struct FromWeights {
  Network network;
  std::string report;  // JSON: docs/reference/weights.md
};
// A network from any file of weights, by names, shapes and settings (JSON); open questions are an
// Error that lists them.
inline FromWeights from_weights(const File& file, std::string_view settings = {}) {
  loom_network network = 0;
  loom_bytes report = 0;
  check(loom_network_from_weights, file.handle(), settings.data(), settings.size(), &network,
        &report);
  Network made(network);
  return {std::move(made), Bytes(report).text()};
}

}  // namespace api
}  // namespace loom

#endif
