// Layers write a convolution as unfold (im2col), a product and a reorder to channels. Where windows
// are large enough, kernels read the values under a window where they lie:
//
//   forward    unfold -> matmul -> reorder -> relu      pad_input -> conv
//   backward   reorder -> weight_grad (x of an unfold)    pad_input -> conv_weight_grad
//                      -> matmul_t -> fold              conv_input_grad
//                      -> bias_grad                       conv_bias_grad
#include <algorithm>

#include "base/files/bytes.h"
#include "ops/elementwise/activation_ids.h"
#include "ops/lowering/lowered.h"
#include "ops/windows/windows.h"

namespace loom {
namespace {

constexpr std::int64_t kMinPlaces = 16;  // they stand in the lanes

struct Uses {
  std::vector<std::size_t> writers, readers;
  bool whole = true;  // always the whole row
};

// rows is made of as many rows for each row of `of` as there are places.
bool rows_of(const Rows& rows, const Rows& of, std::int64_t places) {
  return rows.a == of.a && rows.b == of.b && rows.constant == of.constant * places;
}

std::int64_t reach(const Window& w, std::size_t d) {
  return (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
}

// Values of an item with its padding, as far as windows reach; 0: more than they are worth.
std::int64_t padded_values(const Window& w) {
  std::int64_t values = w.channels;
  for (std::size_t d = 0; d < 3; ++d) {
    if (reach(w, d) > INT32_MAX / values) return 0;
    values *= reach(w, d);
  }
  // Offsets in the items of a block of 1,024 rows are ints.
  const std::int64_t stride =
      static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(values), 16));
  if (stride > INT32_MAX / (1024 / w.positions() + 2)) return 0;
  return values <= w.positions() *
                       static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(w.taps()), 16))
             ? values
             : 0;
}

// Whether the instruction turns each item from `rows` times `cols` values to `cols` times `rows`.
bool turns(const LoweredInstruction& ins, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kLastTwo = 0x01243;
  return ins.op == LoweredOp::reorder && ins.ints[5] == kLastTwo &&
         ins.ints[0] * ins.ints[1] * ins.ints[2] == 1 && ins.ints[3] == rows && ins.ints[4] == cols;
}

class Fuser {
 public:
  explicit Fuser(LoweredProgram& program)
      : p_(program), uses_(program.buffers.size()), gone_(program.code.size()) {
    for (std::size_t n = 0; n < p_.code.size(); ++n) {
      const auto& roles = operands(p_.code[n].op);
      for (std::size_t i = 0; i < roles.size(); ++i) {
        const View& v = p_.code[n].operands[i];
        if (!v.valid()) continue;
        Uses& u = uses_[static_cast<std::size_t>(v.buffer)];
        (roles[i].role == Role::read ? u.readers : u.writers).push_back(n);
        u.whole &= v.cols == of(v).cols;
      }
    }
  }

  void run() {
    for (std::size_t n = 0; n < p_.code.size(); ++n) {
      if (p_.code[n].op == LoweredOp::unfold) forward(n);
      if (p_.code[n].op == LoweredOp::reorder) backward(n);
    }
    std::size_t left = 0;
    for (std::size_t n = 0; n < p_.code.size(); ++n)
      if (!gone_[n]) p_.code[left++] = p_.code[n];
    p_.code.resize(left);
  }

 private:
  Buffer& of(const View& v) { return p_.buffers[static_cast<std::size_t>(v.buffer)]; }
  const Uses& uses(const View& v) const { return uses_[static_cast<std::size_t>(v.buffer)]; }
  bool read_once(const View& v) const { return uses(v).readers.size() == 1; }
  // A temporary of floats that one instruction writes, and all of it is read.
  bool is_rows(const View& v) {
    const Buffer& b = of(v);
    return b.kind == BufferKind::temp && b.type == ValueType::f32 && uses(v).whole &&
           uses(v).writers.size() == 1;
  }

  // Whether unfold's result can become the padded input.
  bool pads(const LoweredInstruction& unfold) {
    const Window w = Window::from_ints(unfold.ints);
    const View &x = unfold.operands[0], &rows = unfold.operands[1];
    return w.positions() >= kMinPlaces && is_rows(rows) &&
           rows_of(of(rows).rows, of(x).rows, w.positions()) && padded_values(w) > 0;
  }
  // unfold pads now, for its reader.
  void pad(LoweredInstruction& unfold, LoweredInstruction& reader) {
    const Window w = Window::from_ints(unfold.ints);
    Buffer& rows = of(unfold.operands[1]);
    rows.rows = of(unfold.operands[0]).rows;
    rows.cols = padded_values(w);
    unfold.operands[1].cols = reader.operands[1].cols = static_cast<std::int32_t>(rows.cols);
    unfold.op = LoweredOp::pad_input;
    unfold.attributes = reader.attributes = conv_window(w);
  }

  // unfold, and the product and the reorder right after what reads it.
  void forward(std::size_t n) {
    LoweredInstruction& unfold = p_.code[n];
    if (!pads(unfold) || !read_once(unfold.operands[1])) return;
    const std::size_t at = uses(unfold.operands[1]).readers[0];
    LoweredInstruction& product = p_.code[at];
    if (product.op != LoweredOp::matmul || at + 1 == p_.code.size()) return;
    LoweredInstruction& reorder = p_.code[at + 1];
    if (of(product.operands[0]).type != ValueType::f32) return;
    const std::int64_t places = Window::from_ints(unfold.ints).positions();
    const View z = product.operands[3], y = reorder.operands[1];
    if (!turns(reorder, places, z.cols) || reorder.operands[0] != z ||
        reorder.segment != product.segment || !is_rows(z) || !read_once(z))
      return;
    if (!rows_of(of(z).rows, of(y).rows, places) || y.cols != places * z.cols) return;
    pad(unfold, product);
    product.op = LoweredOp::conv;
    product.operands[3] = y;
    gone_[at + 1] = true;
    activate(product);
  }
  // A relu of conv's result y becomes a part of it. The slope of one is as well found at its
  // result.
  void activate(LoweredInstruction& conv) {
    const View y = conv.operands[3];
    if (!is_rows(y)) return;
    const auto is_relu = [](const LoweredInstruction& ins, LoweredOp op) {
      return ins.op == op && ins.ints[0] == static_cast<int>(Activation::relu);
    };
    std::size_t at = p_.code.size();
    for (const std::size_t n : uses(y).readers) {
      const LoweredInstruction& reader = p_.code[n];
      if (is_relu(reader, LoweredOp::activation) && at == p_.code.size()) at = n;
      else if (!is_relu(reader, LoweredOp::activation_back) || reader.operands[1] == y) return;
    }
    if (at == p_.code.size() || p_.code[at].segment != conv.segment) return;
    const View to = p_.code[at].operands[1];
    const Uses& u = uses(to);
    const bool of_host = of(to).kind == BufferKind::output && uses(y).readers.size() == 1;
    if (u.writers.size() != 1 || !u.whole || !(of_host || is_rows(to))) return;
    for (const std::size_t n : uses(y).readers) p_.code[n].operands[0] = to;
    conv.operands[3] = to;
    std::get<ConvWindow>(conv.attributes).relu = true;
    gone_[at] = true;
  }

  LoweredInstruction& unfold_of(const LoweredInstruction& outer) {
    return p_.code[uses(outer.operands[1]).writers[0]];
  }

  // Whether a reader of the turned gradient gz can read it as it was.
  bool reads_unturned(std::size_t at, const View& from, const View& gz, std::int64_t places) {
    const LoweredInstruction& reader = p_.code[at];
    if (reader.op == LoweredOp::bias_grad) return true;
    if (reader.op == LoweredOp::weight_grad && reader.operands[0] == gz &&
        is_rows(reader.operands[1]) && read_once(reader.operands[1])) {
      const LoweredInstruction& unfold = unfold_of(reader);
      return unfold.op == LoweredOp::unfold && pads(unfold) &&
             Window::from_ints(unfold.ints).positions() == places;
    }
    if (reader.op != LoweredOp::matmul_t || at + 1 == p_.code.size()) return false;
    const LoweredInstruction& fold = p_.code[at + 1];
    const View& r = reader.operands[2];
    if (fold.op != LoweredOp::fold || fold.operands[0] != r || !is_rows(r) || !read_once(r) ||
        reader.segment != fold.segment)
      return false;
    if (fold.operands[1].buffer == from.buffer) return false;
    const Window w = Window::from_ints(fold.ints);
    return w.positions() == places && padded_values(w) > 0 &&
           rows_of(of(r).rows, of(fold.operands[1]).rows, places);
  }

  // The reorder of a gradient, and all that reads it: what becomes of filters, bias and input.
  void backward(std::size_t n) {
    const LoweredInstruction& reorder = p_.code[n];
    const View from = reorder.operands[0], gz = reorder.operands[1];
    const std::int64_t filters = gz.cols, places = filters > 0 ? from.cols / filters : 0;
    if (places < kMinPlaces || from.cols != filters * places || !turns(reorder, filters, places) ||
        !is_rows(gz))
      return;
    if (of(from).type != ValueType::f32 || !rows_of(of(gz).rows, of(from).rows, places)) return;
    for (const std::size_t writer : uses(from).writers)
      if (writer > n) return;  // the reorder keeps what will be overwritten
    for (const std::size_t at : uses(gz).readers)
      if (!reads_unturned(at, from, gz, places)) return;
    for (const std::size_t at : uses(gz).readers) {
      LoweredInstruction& reader = p_.code[at];
      if (reader.op == LoweredOp::bias_grad) {
        reader.op = LoweredOp::conv_bias_grad;
        reader.operands[0] = from;
        reader.attributes = PlacesOfRow{places};
      } else if (reader.op == LoweredOp::weight_grad) {
        reader.op = LoweredOp::conv_weight_grad;
        reader.operands[0] = from;
        pad(unfold_of(reader), reader);
      } else {
        const LoweredInstruction& fold = p_.code[at + 1];
        reader.op = LoweredOp::conv_input_grad;
        reader.operands[1] = from;
        reader.operands[2] = fold.operands[1];
        reader.attributes = conv_window(Window::from_ints(fold.ints));
        gone_[at + 1] = true;
      }
    }
    gone_[n] = true;
  }

  LoweredProgram& p_;
  std::vector<Uses> uses_;
  std::vector<bool> gone_;
};

}  // namespace

void fuse_convolutions(LoweredProgram& program) { Fuser(program).run(); }

}  // namespace loom
