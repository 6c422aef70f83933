// Writes protobuf messages for the tests: tiny models, with every field open to lies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/test_files.h"

namespace loom::test {

inline std::string pb_varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
inline std::string pb_int(std::uint32_t field, std::int64_t value) {
  return pb_varint(std::uint64_t{field} << 3) + pb_varint(static_cast<std::uint64_t>(value));
}
inline std::string pb_float(std::uint32_t field, float value) {
  return pb_varint(std::uint64_t{field} << 3 | 5) + le(value);
}
// A string, bytes, a message or a packed run.
inline std::string pb_bytes(std::uint32_t field, std::string_view value) {
  return pb_varint(std::uint64_t{field} << 3 | 2) + pb_varint(value.size()) + std::string(value);
}

inline std::string pb_tensor(std::string_view name, int type, const std::vector<std::int64_t>& dims,
                             std::string_view fields) {
  std::string out;
  for (const std::int64_t d : dims) out += pb_int(1, d);
  return out + pb_int(2, type) + pb_bytes(8, name) + std::string(fields);
}
inline std::string pb_value(std::string_view name, int type,
                            const std::vector<std::int64_t>& dims) {
  std::string shape;
  for (const std::int64_t d : dims) shape += pb_bytes(1, pb_int(1, d));
  return pb_bytes(1, name) + pb_bytes(2, pb_bytes(1, pb_int(1, type) + pb_bytes(2, shape)));
}
inline std::string pb_attribute(std::string_view name, int type, std::string_view fields) {
  return pb_bytes(1, name) + std::string(fields) + pb_int(20, type);
}
inline std::string pb_ints(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t v : values) packed += pb_varint(static_cast<std::uint64_t>(v));
  return pb_attribute(name, 7, pb_bytes(8, packed));
}
// `attributes`: messages.
inline std::string pb_node(std::string_view op, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs,
                           const std::vector<std::string>& attributes = {},
                           std::string_view name = {}) {
  std::string out;
  for (const std::string& i : inputs) out += pb_bytes(1, i);
  for (const std::string& o : outputs) out += pb_bytes(2, o);
  if (!name.empty()) out += pb_bytes(3, name);
  out += pb_bytes(4, op);
  for (const std::string& a : attributes) out += pb_bytes(5, a);
  return out;
}
// Joins messages into one: the fields of a graph.
inline std::string pb_graph(const std::vector<std::string>& nodes,
                            const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs,
                            const std::vector<std::string>& initializers = {}) {
  std::string out;
  for (const std::string& n : nodes) out += pb_bytes(1, n);
  out += pb_bytes(2, "g");
  for (const std::string& t : initializers) out += pb_bytes(5, t);
  for (const std::string& i : inputs) out += pb_bytes(11, i);
  for (const std::string& o : outputs) out += pb_bytes(12, o);
  return out;
}
inline std::string pb_model(std::string_view graph, int opset = 13, int ir = 8) {
  return pb_int(1, ir) + pb_bytes(2, "test") + pb_bytes(7, graph) + pb_bytes(8, pb_int(2, opset));
}

}  // namespace loom::test
