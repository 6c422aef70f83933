#include "ops/program.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "base/json/json.h"
#include "base/numerics_version.h"

namespace loom {
namespace {

// The canonical encoding: little-endian, strings length-prefixed, lists counted.
constexpr std::string_view kMagic = "LOOMPRG1";

class Writer {
 public:
  void raw(std::string_view text) { out_ += text; }
  template <class T>
  void value(T v) {
    char b[sizeof(T)];
    store_le(b, v);
    out_.append(b, sizeof b);
  }
  void text(std::string_view t) {
    value<std::uint32_t>(static_cast<std::uint32_t>(t.size()));
    out_ += t;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  std::size_t offset() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }
  template <class T>
  T value() {
    if (bytes_.size() - at_ < sizeof(T)) {
      ok_ = false;
      at_ = bytes_.size();
      return T{};
    }
    const T v = load_le<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return v;
  }
  std::string_view raw(std::size_t n) {
    if (bytes_.size() - at_ < n) {
      ok_ = false;
      at_ = bytes_.size();
      return {};
    }
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  std::string text() { return std::string(raw(value<std::uint32_t>())); }
  // A list's length; each element takes at least `least` bytes, so a count the rest cannot hold is
  // refused before anything is allocated.
  std::size_t count(std::size_t min) {
    const std::uint32_t n = value<std::uint32_t>();
    if (n > (bytes_.size() - at_) / min) {
      ok_ = false;
      return 0;
    }
    return n;
  }
  void fail() { ok_ = false; }
  // A value of an enumeration whose last one is `last`.
  template <class E>
  E enumerated(E last) {
    const auto v = value<std::uint8_t>();
    if (v > static_cast<std::uint8_t>(last)) fail();
    return static_cast<E>(v);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

std::string dims_text(const std::vector<std::int64_t>& dims) {
  std::string t;
  for (const std::int64_t d : dims) t += (t.empty() ? "" : ", ") + std::to_string(d);
  return t;
}

// Behind everything else, and only where there are calls: other programs keep their bytes.
void write_calls(Writer& w, const std::vector<Call>& calls) {
  if (calls.empty()) return;
  w.value<std::uint32_t>(static_cast<std::uint32_t>(calls.size()));
  for (const Call& call : calls) {
    w.text(call.name);
    w.value(call.version);
    w.text(call.config);
    w.value<std::uint32_t>(static_cast<std::uint32_t>(call.dims.size()));
    for (const std::int64_t d : call.dims) w.value(d);
  }
}
void read_calls(Reader& r, std::vector<Call>& calls) {
  calls.resize(r.count(16));
  if (calls.empty()) r.fail();
  for (Call& call : calls) {
    call.name = r.text();
    call.version = r.value<std::int32_t>();
    call.config = r.text();
    call.dims.resize(r.count(8));
    if (call.dims.empty() || call.dims.size() > 4) r.fail();
    std::int64_t width = 1;
    for (std::int64_t& d : call.dims) {
      d = r.value<std::int64_t>();
      if (d < 1 || d > INT32_MAX / width) r.fail();
      else width *= d;
    }
  }
}

std::string rows_text(const Program& p, const Rows& rows) {
  std::string t;
  if (rows.constant != 1 || rows.a == kNone) t = std::to_string(rows.constant);
  for (RegisterId reg : {rows.a, rows.b})
    if (reg != kNone) t += (t.empty() ? "" : "*") + p.registers[static_cast<std::size_t>(reg)].name;
  return t;
}

}  // namespace

BufferId ProgramFrame::find(BufferKind kind, std::string_view path, std::string_view role) const {
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].kind == kind && buffers[i].path == path && buffers[i].role == role)
      return static_cast<BufferId>(i);
  return kNone;
}

RegisterId ProgramFrame::find_register(std::string_view name) const {
  for (std::size_t i = 0; i < registers.size(); ++i)
    if (registers[i].name == name) return static_cast<RegisterId>(i);
  return kNone;
}

std::int64_t ProgramFrame::rows(BufferId id, std::span<const std::uint32_t> values) const {
  const Rows& r = buffers[static_cast<std::size_t>(id)].rows;
  std::int64_t n = r.constant;
  if (r.a != kNone) n *= values[static_cast<std::size_t>(r.a)];
  if (r.b != kNone) n *= values[static_cast<std::size_t>(r.b)];
  return n;
}

std::int64_t ProgramFrame::max_rows(BufferId id) const {
  const Rows& r = buffers[static_cast<std::size_t>(id)].rows;
  std::int64_t n = r.constant;
  if (r.a != kNone) n *= registers[static_cast<std::size_t>(r.a)].max;
  if (r.b != kNone) n *= registers[static_cast<std::size_t>(r.b)].max;
  return n;
}

RegisterId ProgramFrame::dynamic_rows(BufferId id) const {
  const Rows& r = buffers[static_cast<std::size_t>(id)].rows;
  for (const RegisterId reg : {r.a, r.b})
    if (reg != kNone && registers[static_cast<std::size_t>(reg)].type == RegisterType::dynamic_rows)
      return reg;
  return kNone;
}

std::string Program::to_text() const {
  std::string out;
  for (const Register& r : registers) {
    out += "register " + r.name +
           (r.type == RegisterType::f32
                ? " f32"
                : (r.type == RegisterType::u32 ? " u32 max " : " dynamic max ") +
                      std::to_string(r.max)) +
           "\n";
  }
  for (std::size_t i = 0; i < calls.size(); ++i)
    out += "call " + std::to_string(i) + " = " + calls[i].to_string() + " " + calls[i].config +
           " of [" + dims_text(calls[i].dims) + "]\n";
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& b = buffers[i];
    if (b.kind == BufferKind::temp) continue;  // their shape stands where they are written
    out += "%" + std::to_string(i) + " = " + std::string(name(b.kind)) + " " + b.path +
           (b.path.empty() ? "" : ":") + b.role + " " +
           (b.kind == BufferKind::weight ? to_string(b.format) : std::string(name(b.type))) + " [" +
           rows_text(*this, b.rows) + ", " + std::to_string(b.cols) + "]\n";
  }
  Segment segment = Segment::forward;
  for (std::size_t n = 0; n < code.size(); ++n) {
    const Instruction& ins = code[n];
    if (n == 0 || ins.segment != segment) out += std::string(name(ins.segment)) + ":\n";
    segment = ins.segment;
    const OpInfo& op = info(ins.op);
    std::string results, sources;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid()) continue;
      const Buffer& b = buffers[static_cast<std::size_t>(v.buffer)];
      std::string t = "%" + std::to_string(v.buffer);
      if (v.col != 0 || v.cols != b.cols)
        t += "[" + std::to_string(v.col) + ":" + std::to_string(v.col + v.cols) + "]";
      if (op.operands[i].role == Role::read) {
        sources += (sources.empty() ? "" : ", ") + t;
      } else {
        if (b.kind == BufferKind::temp)
          t += ":" + std::string(name(b.type)) + "[" + rows_text(*this, b.rows) + "," +
               std::to_string(b.cols) + "]";
        results += (results.empty() ? "" : ", ") + t;
      }
    }
    out += "  " + results + " = " + std::string(op.name) + " " + sources;
    for (std::size_t i = 0; i < op.ints.size(); ++i)
      out += " " + std::string(op.ints[i]) + "=" + std::to_string(ins.ints[i]);
    for (std::size_t i = 0; i < op.reals.size(); ++i)
      out += " " + std::string(op.reals[i]) + "=" + format_double(ins.reals[i]);
    for (std::size_t i = 0; i < op.registers.size(); ++i)
      out += " " + std::string(op.registers[i]) + "=" +
             registers[static_cast<std::size_t>(ins.registers[i])].name;
    out += "\n";
  }
  return out;
}

std::string Program::encode() const {
  Writer w;
  w.raw(kMagic);
  w.value<std::uint32_t>(LOOM_NUMERICS_VERSION);
  w.value<std::uint32_t>(static_cast<std::uint32_t>(registers.size()));
  for (const Register& r : registers) {
    w.text(r.name);
    w.value(static_cast<std::uint8_t>(r.type));
    w.value(r.max);
  }
  w.value<std::uint32_t>(static_cast<std::uint32_t>(buffers.size()));
  for (const Buffer& b : buffers) {
    w.value(static_cast<std::uint8_t>(b.type));
    w.value(static_cast<std::uint8_t>(b.kind));
    w.value(b.rows.constant);
    w.value(b.rows.a);
    w.value(b.rows.b);
    w.value(b.cols);
    w.text(b.path);
    w.text(b.role);
    w.value(static_cast<std::uint8_t>(b.format.dtype));
    w.value(static_cast<std::uint8_t>(b.format.layout));
    w.value(static_cast<std::uint8_t>(b.format.scale));
    w.value(b.format.block);
    w.value(static_cast<std::uint8_t>(b.constant.kind));
    w.value<std::uint32_t>(static_cast<std::uint32_t>(b.constant.reals.size()));
    for (double v : b.constant.reals) w.value(v);
    if (b.constant.kind != ConstantKind::trees) continue;
    static const std::vector<std::uint32_t> kEmpty;
    const std::vector<std::uint32_t>& words = b.constant.words ? *b.constant.words : kEmpty;
    w.value<std::uint32_t>(static_cast<std::uint32_t>(words.size()));
    for (const std::uint32_t word : words) w.value(word);
  }
  w.value<std::uint32_t>(static_cast<std::uint32_t>(code.size()));
  for (const Instruction& ins : code) {
    const OpInfo& op = info(ins.op);
    w.value(static_cast<std::uint16_t>(ins.op));
    w.value(static_cast<std::uint8_t>(ins.segment));
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      w.value(ins.operands[i].buffer);
      w.value(ins.operands[i].col);
      w.value(ins.operands[i].cols);
    }
    for (std::size_t i = 0; i < op.ints.size(); ++i) w.value(ins.ints[i]);
    for (std::size_t i = 0; i < op.reals.size(); ++i) w.value(ins.reals[i]);
    for (std::size_t i = 0; i < op.registers.size(); ++i) w.value(ins.registers[i]);
  }
  write_calls(w, calls);
  return w.take();
}

static void read_buffer(Reader& r, Buffer& b) {
  b.type = r.enumerated(ValueType::bf16x2);
  b.kind = r.enumerated(BufferKind::state);
  b.rows.constant = r.value<std::int64_t>();
  b.rows.a = r.value<RegisterId>();
  b.rows.b = r.value<RegisterId>();
  b.cols = r.value<std::int64_t>();
  b.path = r.text();
  b.role = r.text();
  b.format.dtype = r.enumerated(DType::binary);
  b.format.layout = r.enumerated(Layout::q6_k);
  b.format.scale = r.enumerated(ScaleKind::block);
  b.format.block = r.value<std::uint16_t>();
  b.constant.kind = r.enumerated(ConstantKind::trees);
  b.constant.reals.resize(r.count(8));
  for (double& v : b.constant.reals) v = r.value<double>();
  if (b.constant.kind != ConstantKind::trees) return;
  auto words = std::make_shared<std::vector<std::uint32_t>>(r.count(4));
  for (std::uint32_t& word : *words) word = r.value<std::uint32_t>();
  b.constant.words = std::move(words);
}

Result<Program> Program::decode(std::string_view bytes) {
  Reader r(bytes);
  if (r.raw(kMagic.size()) != kMagic)
    return Status(Code::corrupt, "program: does not start with LOOMPRG1");
  if (const auto version = r.value<std::uint32_t>(); version != LOOM_NUMERICS_VERSION) {
    return Status(Code::unsupported, "program: made for numerics version " +
                                         std::to_string(version) + ", this library has " +
                                         std::to_string(LOOM_NUMERICS_VERSION));
  }
  Program p;
  p.registers.resize(r.count(9));
  for (Register& reg : p.registers) {
    reg.name = r.text();
    reg.type = r.enumerated(RegisterType::dynamic_rows);
    reg.max = r.value<std::uint32_t>();
  }
  p.buffers.resize(r.count(40));
  for (Buffer& b : p.buffers) read_buffer(r, b);
  const std::size_t instructions = r.count(3);
  for (std::size_t n = 0; n < instructions && r.ok(); ++n) {
    Instruction ins;
    const auto op = r.value<std::uint16_t>();
    if (op >= kOpCount) {
      r.fail();
      break;
    }
    ins.op = static_cast<Op>(op);
    ins.segment = r.enumerated(Segment::update);
    const OpInfo& row = info(ins.op);
    for (std::size_t i = 0; i < row.operands.size(); ++i) {
      ins.operands[i].buffer = r.value<BufferId>();
      ins.operands[i].col = r.value<std::int32_t>();
      ins.operands[i].cols = r.value<std::int32_t>();
    }
    for (std::size_t i = 0; i < row.ints.size(); ++i) ins.ints[i] = r.value<std::int64_t>();
    for (std::size_t i = 0; i < row.reals.size(); ++i) ins.reals[i] = r.value<double>();
    for (std::size_t i = 0; i < row.registers.size(); ++i) ins.registers[i] = r.value<RegisterId>();
    p.code.push_back(ins);
  }
  if (r.ok() && !r.at_end()) read_calls(r, p.calls);
  if (!r.ok() || !r.at_end())
    return Status(Code::corrupt, "program: malformed at offset " + std::to_string(r.offset()) +
                                     " of " + std::to_string(bytes.size()));
  LOOM_TRY(verify(p));
  return p;
}

Sha256::Digest Program::hash() const { return Sha256::of(as_bytes(encode())); }

ArithClass product_class(const WeightFormat& format) {
  const bool decoded = format.scale == ScaleKind::block && format.arith() == ArithClass::bfloat;
  return decoded ? ArithClass::single : format.arith();
}

std::int64_t merge_levels(std::int64_t micro_batches) {
  std::int64_t levels = 0;
  while ((std::int64_t{1} << levels) < micro_batches) ++levels;
  return levels;
}

void remove_dead_code(Program& program) {
  std::vector<bool> needed(program.buffers.size(), false);
  std::vector<Instruction> kept;
  for (std::size_t n = program.code.size(); n-- > 0;) {
    const Instruction& ins = program.code[n];
    const OpInfo& op = info(ins.op);
    bool live = false;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid() || op.operands[i].role == Role::read) continue;
      const BufferKind kind = program.buffers[static_cast<std::size_t>(v.buffer)].kind;
      live |= kind != BufferKind::temp || needed[static_cast<std::size_t>(v.buffer)];
    }
    if (!live) continue;
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      if (ins.operands[i].valid() && op.operands[i].role != Role::write)
        needed[static_cast<std::size_t>(ins.operands[i].buffer)] = true;
    kept.push_back(ins);
  }
  std::reverse(kept.begin(), kept.end());
  program.code = std::move(kept);
}

}  // namespace loom
