// The structs of onnx.h to protobuf messages. Field numbers are those of onnx.proto3.
#include "formats/onnx/write.h"

#include <algorithm>
#include <bit>

#include "base/files/bytes.h"
#include "base/message.h"

namespace loom::onnx {
namespace {

constexpr std::uint64_t kSmallTensor = 1024;  // stays in the message in any case
constexpr std::uint64_t kAlignment = 64;      // of a tensor in a second file
constexpr std::size_t kPiece = std::size_t{1} << 20;

// One message: fields in the order of the calls.
struct Message {
  std::string bytes;

  void varint(std::uint64_t v) {
    for (; v >= 128; v >>= 7) bytes.push_back(static_cast<char>(v | 128));
    bytes.push_back(static_cast<char>(v));
  }
  void tag(unsigned field, unsigned wire) { varint(field << 3 | wire); }
  void integer(unsigned field, std::int64_t v) {
    tag(field, 0);
    varint(static_cast<std::uint64_t>(v));
  }
  void real(unsigned field, float v) {
    tag(field, 5);
    std::byte le[4];
    store_le(le, v);
    bytes.append(reinterpret_cast<const char*>(le), 4);
  }
  void text(unsigned field, std::string_view v) {
    tag(field, 2);
    varint(v.size());
    bytes.append(v);
  }
  // Absent where it is empty, as proto3 has it.
  void text_if(unsigned field, std::string_view v) {
    if (!v.empty()) text(field, v);
  }
  void entry(unsigned field, std::string_view key, std::string_view value) {
    Message m;
    m.text(1, key);
    m.text(2, value);
    text(field, m.bytes);
  }
};

Status refuse(std::string what) { return Status(Code::unsupported, std::move(what)); }

// All fields of a tensor but its bytes, which stand behind the header.
Message header(const Tensor& t) {
  Message m;
  for (const std::int64_t d : t.dims) m.integer(1, d);
  m.integer(2, static_cast<std::int64_t>(t.type));
  for (const std::string& s : t.strings) m.text(6, s);
  m.text_if(8, t.name);
  return m;
}

// Calls write(piece) for the bytes of a tensor in order.
template <class Write>
Status each_piece(const Tensor& t, const Write& write) {
  if (t.size == 0) return {};
  if (!t.source) return refuse(message("tensor ", quoted(t.name), " has no bytes"));
  if (const std::span<const std::byte> view = t.view(); !view.empty()) {
    LOOM_TRY(write(view));
    return t.source->intact();
  }
  std::vector<std::byte> piece;
  for (std::uint64_t at = 0; at < t.size; at += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, t.size - at)));
    LOOM_TRY(t.source->read(t.offset + at, piece));
    LOOM_TRY(write(std::span<const std::byte>(piece)));
  }
  return {};
}

Status add_tensor(const Tensor& t, Message& m) {
  m = header(t);
  if (t.type == Type::string) return {};
  m.tag(9, 2);
  m.varint(t.size);
  return each_piece(t, [&](std::span<const std::byte> piece) -> Status {
    m.bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  });
}

Status add_attribute(const Attribute& a, Message& node) {
  if (!a.reference.empty() || !a.graphs.empty())
    return refuse(message("attribute ", quoted(a.name), " is a subgraph or a reference"));
  Message m;
  m.text(1, a.name);
  switch (a.type) {
    case AttributeType::f: m.real(2, a.f); break;
    case AttributeType::i: m.integer(3, a.i); break;
    case AttributeType::s: m.text(4, a.s); break;
    case AttributeType::floats:
      for (const float v : a.floats) m.real(7, v);
      break;
    case AttributeType::ints:
      for (const std::int64_t v : a.ints) m.integer(8, v);
      break;
    case AttributeType::strings:
      for (const std::string& v : a.strings) m.text(9, v);
      break;
    case AttributeType::tensor: {
      Message t;
      LOOM_TRY(add_tensor(a.tensors.at(0), t));
      m.text(5, t.bytes);
      break;
    }
    default: return refuse(message("attribute ", quoted(a.name), " of type ", name(a.type)));
  }
  m.integer(20, static_cast<std::int64_t>(a.type));
  node.text(5, m.bytes);
  return {};
}

Status add_node(const Node& n, Message& graph) {
  Message m;
  for (const std::string& s : n.inputs) m.text(1, s);
  for (const std::string& s : n.outputs) m.text(2, s);
  m.text_if(3, n.name);
  m.text(4, n.op);
  for (const Attribute& a : n.attributes) LOOM_TRY(add_attribute(a, m).at(quoted(n.name)));
  m.text_if(7, n.domain);
  m.text_if(8, n.overload);
  graph.text(1, m.bytes);
  return {};
}

Status add_value(unsigned field, const ValueInfo& v, Message& graph) {
  if (v.kind != Kind::tensor) return refuse(message("value ", quoted(v.name), " is no tensor"));
  Message shape, tensor, type, m;
  for (const Dim& d : v.dims) {
    Message dim;
    if (d.value >= 0) dim.integer(1, d.value);
    else dim.text_if(2, d.param);
    shape.text(1, dim.bytes);
  }
  tensor.integer(1, static_cast<std::int64_t>(v.type));
  if (v.has_shape) tensor.text(2, shape.bytes);
  type.text(1, tensor.bytes);
  m.text(1, v.name);
  m.text(2, type.bytes);
  graph.text(field, m.bytes);
  return {};
}

std::string file_name(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

class Writer {
 public:
  Writer(const Model& model, const Destination& to, const WriteOptions& options)
      : model_(model), to_(to), external_(options.external) {}

  Status write() {
    if (!model_.functions.empty())
      return refuse(message("function ", quoted(model_.functions[0].name)));
    const Graph& g = model_.graph;
    for (const Node& n : g.nodes) LOOM_TRY(add_node(n, before_));
    before_.text_if(2, g.name);
    for (const ValueInfo& v : g.inputs) LOOM_TRY(add_value(11, v, after_));
    for (const ValueInfo& v : g.outputs) LOOM_TRY(add_value(12, v, after_));
    for (const ValueInfo& v : g.values) LOOM_TRY(add_value(13, v, after_));
    std::uint64_t size = place();
    if (!external_ && size > kMaxModelBytes && !to_.bytes) {
      external_ = true;
      size = place();
    }
    if (size > kMaxModelBytes)
      return refuse(message(to_.path, " would have ", size,
                            " bytes, and a protobuf message has less than 2^31: write it to a file "
                            "with external data"));
    if (external_ && to_.bytes)
      return refuse("external data are a file beside the model: give a path");
    if (external_) LOOM_TRY(write_data());
    LOOM_ASSIGN(const std::unique_ptr<ByteSink> sink, open_sink(to_));
    LOOM_TRY(write_message(*sink));
    return sink->commit();
  }

 private:
  struct Placed {
    Message header;  // of a tensor that stays: up to the length of its bytes
    bool outside = false;
    std::uint64_t offset = 0, size = 0;  // in the second file; of the whole TensorProto
  };

  bool outside(const Tensor& t) const {
    return external_ && t.size >= kSmallTensor && t.type != Type::string;
  }
  std::string data_path() const { return to_.path + ".data"; }

  static std::uint64_t varint_size(std::uint64_t v) {
    std::uint64_t n = 1;
    for (; v >= 128; v >>= 7) ++n;
    return n;
  }

  // Where each tensor stands; returns the bytes of the graph and of what is around it.
  std::uint64_t place() {
    placed_.clear();
    graph_size_ = before_.bytes.size() + after_.bytes.size();
    std::uint64_t end = 0;
    for (const Tensor& t : model_.graph.initializers) {
      Placed p{header(t), outside(t), 0, 0};
      if (p.outside) {
        p.offset = (end + kAlignment - 1) / kAlignment * kAlignment;
        end = p.offset + t.size;
        p.header.entry(13, "location", file_name(data_path()));
        p.header.entry(13, "offset", std::to_string(p.offset));
        p.header.entry(13, "length", std::to_string(t.size));
        p.header.integer(14, 1);
      } else if (t.type != Type::string) {
        p.header.tag(9, 2);
        p.header.varint(t.size);
      }
      p.size = p.header.bytes.size() + (p.outside ? 0 : t.size);
      graph_size_ += 1 + varint_size(p.size) + p.size;
      placed_.push_back(std::move(p));
    }
    return graph_size_ + 65536;  // more than all that stands around it
  }

  Status write_data() {
    LOOM_ASSIGN(AtomicFile file, AtomicFile::create(data_path()));
    const std::vector<std::byte> zeros(kAlignment);
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      if (!placed_[i].outside) continue;
      const std::uint64_t gap = placed_[i].offset - file.written();
      LOOM_TRY(file.write(std::span(zeros).first(static_cast<std::size_t>(gap))));
      LOOM_TRY(each_piece(model_.graph.initializers[i],
                          [&](std::span<const std::byte> b) { return file.write(b); }));
    }
    return file.commit();
  }

  Status write_message(ByteSink& sink) {
    Message head, tail;
    head.integer(1, model_.ir_version);
    head.text_if(2, model_.producer);
    head.text_if(3, model_.producer_version);
    head.text_if(4, model_.domain);
    if (model_.model_version != 0) head.integer(5, model_.model_version);
    head.tag(7, 2);
    head.varint(graph_size_);
    head.bytes += before_.bytes;
    LOOM_TRY(sink.write(as_bytes(head.bytes)));
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      Message m;
      m.tag(5, 2);
      m.varint(placed_[i].size);
      m.bytes += placed_[i].header.bytes;
      LOOM_TRY(sink.write(as_bytes(m.bytes)));
      if (!placed_[i].outside)
        LOOM_TRY(each_piece(model_.graph.initializers[i],
                            [&](std::span<const std::byte> b) { return sink.write(b); }));
    }
    tail.bytes = after_.bytes;
    for (const auto& [domain, version] : model_.opsets) {
      Message m;
      m.text_if(1, domain);
      m.integer(2, version);
      tail.text(8, m.bytes);
    }
    for (const auto& [key, value] : model_.metadata) tail.entry(14, key, value);
    return sink.write(as_bytes(tail.bytes));
  }

  const Model& model_;
  const Destination& to_;
  bool external_;
  Message before_, after_;  // of the graph: what stands before its tensors, and behind them
  std::vector<Placed> placed_;
  std::uint64_t graph_size_ = 0;
};

}  // namespace

Status write_model(const Model& model, const Destination& to, const WriteOptions& options) {
  return Writer(model, to, options).write();
}

}  // namespace loom::onnx
