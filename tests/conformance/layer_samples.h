// A small network, or several, for each layer type: what the matrices of the CPU (matrix_test.cpp)
// and of a device (gpu/layers_test.cpp) run. A type without one fails both. Folders of layers bring
// their own: <folder>_samples.def, rows LOOM_SAMPLE(type, width, dims, cell, refusal).
#pragma once

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "exec/session.h"
#include "train/learner/learner.h"

namespace loom::test {

// The cell stands between dense layers, behind one of `width` values that are arranged as `dims`
// (behind an embedding where `width` is 0: the rows are then a sequence of ids; below 0 it is
// alone, and its input are parts: `x`, three values, and `n`, an id below 4). `refusal`: why a
// device cannot run it; empty where it can.
struct LayerSample {
  std::string_view type;
  int width;
  std::string_view dims, cell, refusal;
  int version = 1;  // of the topology
};

inline const std::vector<LayerSample>& layer_samples() {
  static const std::vector<LayerSample> kAll = {
      {"dense", 8, "", R"("type":"dense","out":7,"activation":"gelu_tanh")", ""},
      {"embedding", 0, "",
       R"("type":"sequential","layers":[{"type":"dense","out":8},{"type":"rms_norm"}])", ""},
      {"attention", 0, "",
       R"("type":"attention","heads":4,"kv_heads":2,"head_dim":4,"window":4,"qkv_bias":true,"out_bias":true,"qk_norm":true)",
       ""},
      {"attention", 0, "",
       R"("type":"attention","heads":2,"kv_heads":1,"head_dim":4,"sub_norm":true,"sub_norm_eps":0.001)",
       ""},
      {"attention", 20, "5,4", R"("type":"attention","heads":2,"causal":false,"qkv_bias":true)", "",
       2},
      {"attention", 24, "3,8", R"("type":"attention","heads":4,"kv_heads":2,"window":2)", "", 2},
      {"layer_norm", 8, "", R"("type":"layer_norm","eps":0.001)", ""},
      {"rms_norm", 8, "", R"("type":"rms_norm","eps":0.001)", ""},
      {"standardize", 8, "", R"("type":"standardize","missing":true)", ""},
      {"batch_norm", 12, "3,4", R"("type":"batch_norm","eps":0.01)", ""},
      {"instance_norm", 12, "3,4", R"("type":"instance_norm","eps":0.01,"affine":true)", ""},
      {"group_norm", 24, "4,3,2", R"("type":"group_norm","eps":0.01,"groups":2)", ""},
      {"swiglu", 8, "", R"("type":"swiglu","hidden":6,"bias":true)", ""},
      {"swiglu", 8, "",
       R"("type":"swiglu","hidden":16,"activation":"relu2","sub_norm":true,"sub_norm_eps":0.1)",
       ""},
      {"conv1d", 16, "2,8",
       R"("type":"conv1d","filters":4,"groups":2,"stride":2,"padding":[1,0],"activation":"silu")",
       ""},
      {"conv2d", 40, "2,5,4",
       R"("type":"conv2d","filters":3,"kernel":[3,2],"dilation":[2,1],"padding":1)", ""},
      {"conv3d", 36, "2,3,3,2", R"("type":"conv3d","filters":2,"kernel":2,"stride":2,"padding":1)",
       ""},
      {"conv_transpose1d", 16, "4,4",
       R"("type":"conv_transpose1d","filters":4,"groups":2,"stride":2,"padding":1,"output_padding":1,"activation":"tanh")",
       ""},
      {"conv_transpose2d", 18, "2,3,3",
       R"("type":"conv_transpose2d","filters":3,"kernel":[3,2],"stride":[2,1])", ""},
      {"conv_transpose3d", 24, "2,2,2,3",
       R"("type":"conv_transpose3d","filters":2,"kernel":2,"dilation":[1,2,1])", ""},
      {"max_pool1d", 18, "2,9", R"("type":"max_pool1d","kernel":3,"stride":2,"padding":1)", ""},
      {"max_pool2d", 40, "2,5,4", R"("type":"max_pool2d","ceil_mode":true)", ""},
      {"max_pool3d", 64, "1,4,4,4", R"("type":"max_pool3d")", ""},
      {"avg_pool1d", 18, "2,9",
       R"("type":"avg_pool1d","kernel":3,"stride":2,"padding":1,"count_include_pad":false)", ""},
      {"avg_pool2d", 40, "2,5,4", R"("type":"avg_pool2d","padding":1,"ceil_mode":true)", ""},
      {"avg_pool3d", 64, "1,4,4,4", R"("type":"avg_pool3d")", ""},
      {"rnn", 12, "3,4", R"("type":"rnn","hidden":4,"bidirectional":true)", ""},
      {"gru", 12, "3,4", R"("type":"gru","hidden":4,"bidirectional":true)", ""},
      {"gru", 9, "3,3", R"("type":"gru","hidden":4,"linear_before_reset":false,"output":"last")",
       ""},
      {"lstm", 12, "3,4", R"("type":"lstm","hidden":4,"num_layers":2)", ""},
      {"lstm", 12, "3,4",
       R"("type":"sequential","layers":[{"type":"layer_norm"},{"type":"lstm","hidden":4},{"type":"residual"},
          {"type":"swiglu","hidden":6},{"type":"residual"},{"type":"dropout","rate":0.5}])",
       "", 2},
      {"softmax", 12, "",
       R"("type":"parallel","layers":[{"type":"softmax","kind":"temperature","temperature":0.5},{"type":"softmax","kind":"grid","rows":3,"cols":4},
          {"type":"softmax","kind":"hierarchical","levels":[3,3]},{"type":"softmax","kind":"gumbel"},{"type":"softmax","kind":"masked","mask":[1,0,1,1,1,0,0,1,1,0,1,1]},
          {"type":"softmax","kind":"sparsemax"},{"type":"softmax","kind":"entmax"},{"type":"softmax","kind":"entmax","alpha":1.3},{"type":"softmax","log":true}])",
       ""},
      {"log_softmax", 12, "3,4", R"("type":"log_softmax")", ""},
      {"adaptive_softmax", 16, "",
       R"("type":"adaptive_softmax","out":10,"cutoffs":[3,6],"divide":2,"bias":true)", ""},
      {"mixture_of_softmaxes", 6, "",
       R"("type":"mixture_of_softmaxes","out":7,"mixtures":3,"hidden":4)", ""},
      {"kmeans", 4, "",
       R"("type":"parallel","layers":[{"type":"kmeans","clusters":5},{"type":"kmeans","clusters":3,"output":"features"}])",
       ""},
      {"dropout", 8, "", R"("type":"dropout","rate":0.3)", ""},
      {"activation", 8, "",
       R"("type":"parallel","layers":[{"type":"activation","activation":"relu"},{"type":"activation","activation":"relu2"},{"type":"activation","activation":"leaky_relu"},
          {"type":"activation","activation":"silu"},{"type":"activation","activation":"gelu_tanh"},{"type":"activation","activation":"gelu_erf"},{"type":"activation","activation":"tanh"},
          {"type":"activation","activation":"sigmoid"},{"type":"activation","activation":"softplus"},{"type":"activation","activation":"mish"}])",
       ""},
      // Of values in 0.5..0.73, where every function is defined and none of them jumps.
      {"unary", 6, "",
       R"("type":"sequential","layers":[{"type":"activation","activation":"sigmoid"},{"type":"activation","activation":"sigmoid"},{"type":"parallel","layers":[
          {"type":"unary","op":"abs"},{"type":"unary","op":"neg"},{"type":"unary","op":"sqrt"},{"type":"unary","op":"reciprocal"},{"type":"unary","op":"exp"},{"type":"unary","op":"log"},
          {"type":"unary","op":"floor"},{"type":"unary","op":"ceil"},{"type":"unary","op":"round"},{"type":"unary","op":"sign"},{"type":"unary","op":"erf"},{"type":"unary","op":"trunc"},
          {"type":"unary","op":"hard_sigmoid","a":0.2,"b":0.5},{"type":"unary","op":"hard_swish"},{"type":"unary","op":"softsign"},{"type":"unary","op":"thresholded_relu","a":0.2},
          {"type":"unary","op":"clip","a":0.1,"b":0.9},{"type":"unary","op":"not"},{"type":"unary","op":"is_nan"},{"type":"unary","op":"is_inf","a":1,"b":1},
          {"type":"unary","op":"shrink","a":0.3,"b":0.1},{"type":"unary","op":"swish","a":1.5},{"type":"unary","op":"square"}]}])",
       ""},
      {"unary", 6, "",
       R"("type":"parallel","layers":[{"type":"unary","op":"elu","a":0.7},{"type":"unary","op":"selu","a":1.6,"b":1.1},{"type":"unary","op":"celu","a":0.8},
          {"type":"unary","op":"leaky_relu","a":0.1},{"type":"unary","op":"abs"}])",
       ""},
      {"unary", 6, "", R"("type":"unary","op":"sin")", "sin runs on the CPU only"},
      {"unary", 6, "", R"("type":"unary","op":"cos")", "cos runs on the CPU only"},
      {"binary", 10, "",
       R"("type":"sequential","layers":[{"type":"activation","activation":"sigmoid"},{"type":"parallel","layers":[
          {"type":"binary","op":"add","shapes":[[2,3],[2,2,1]]},{"type":"binary","op":"sub","shapes":[[5],[5]]},{"type":"binary","op":"mul","shapes":[[5],[5]]},
          {"type":"binary","op":"div","shapes":[[5],[5]]},{"type":"binary","op":"max","shapes":[[5],[5]]},{"type":"binary","op":"min","shapes":[[5],[5]]},
          {"type":"binary","op":"prelu","shapes":[[5],[5]]},{"type":"binary","op":"less","shapes":[[10]],"constant":[1]},{"type":"binary","op":"less_equal","shapes":[[10]],"constant":[1]},
          {"type":"binary","op":"greater","shapes":[[10]],"constant":[1]},{"type":"binary","op":"greater_equal","shapes":[[10]],"constant":[1]},
          {"type":"binary","op":"equal","shapes":[[10]],"constant":[1]},{"type":"binary","op":"and","shapes":[[5],[5]]},{"type":"binary","op":"or","shapes":[[5],[5]]},
          {"type":"binary","op":"xor","shapes":[[5],[5]]},{"type":"binary","op":"mul","shapes":[[2,5]],"constant":[5]},
          {"type":"binary","op":"sub","shapes":[[10]],"constant":[3,10],"constant_first":true}]}])",
       ""},
      {"binary", 10, "",
       R"("type":"sequential","layers":[{"type":"activation","activation":"sigmoid"},{"type":"binary","op":"pow","shapes":[[5],[5]]}])",
       "pow runs on the CPU only"},
      {"select", 10, "",
       R"("type":"sequential","layers":[{"type":"parallel","layers":[{"type":"index_select","runs":[0,1,2,-1,0,2]},{"type":"index_select","runs":[2,1,8]}]},{"type":"select","shapes":[[4,1],[4],[4]]}])",
       ""},
      {"reduce", 12, "2,3,2",
       R"("type":"sequential","layers":[{"type":"activation","activation":"sigmoid"},{"type":"reshape","dims":[2,3,2]},{"type":"parallel","layers":[
          {"type":"reduce","op":"sum","axes":[1]},{"type":"reduce","op":"mean","axes":[0,2]},{"type":"reduce","op":"max","axes":[2]},{"type":"reduce","op":"min","axes":[1]},
          {"type":"reduce","op":"prod","axes":[1]},{"type":"reduce","op":"l1","axes":[0],"keep":false},{"type":"reduce","op":"l2","axes":[1]},{"type":"reduce","op":"sum_square"},
          {"type":"reduce","op":"log_sum","axes":[1]},{"type":"reduce","op":"log_sum_exp","axes":[1]},{"type":"reduce","op":"argmax","axes":[1]},{"type":"reduce","op":"argmin","axes":[1]}]}])",
       ""},
      {"permute", 24, "2,3,4", R"("type":"permute","order":[2,0,1])", ""},
      {"index_select", 7, "", R"("type":"index_select","runs":[6,-2,4,-1,0,2,3,0,5],"fill":0.5)",
       ""},
      {"batched_matmul", 18, "", R"("type":"batched_matmul","shapes":[[2,3],[2,3,2]])", ""},
      {"reshape", 12, "",
       R"("type":"sequential","layers":[{"type":"reshape","dims":[3,-1]},{"type":"log_softmax"}])",
       ""},
      {"flatten", 12, "3,4",
       R"("type":"sequential","layers":[{"type":"flatten"},{"type":"log_softmax"}])", ""},
      {"residual", 8, "",
       R"("type":"sequential","layers":[{"type":"dense","out":8,"activation":"tanh"},{"type":"residual"},{"type":"residual"}])",
       ""},
      {"sequential", 8, "",
       R"("type":"sequential","layers":[{"type":"sequential","layers":[{"type":"dense","out":6,"activation":"silu"}]},{"type":"dense","out":4}])",
       ""},
      {"time_distributed", 12, "",
       R"("type":"time_distributed","count":3,"layers":[{"type":"dense","out":2,"activation":"tanh"}])",
       ""},
      {"parallel", 8, "",
       R"("type":"sequential","layers":[{"type":"parallel","layers":[{"type":"dense","out":3},{"type":"dense","out":5}]},
          {"type":"parallel","combine":"gated","stitch":true,"temperature":0.5,"layers":[{"type":"dense","out":4},{"type":"dense","out":3,"activation":"tanh"}]},
          {"type":"parallel","combine":"add","input":"split","layers":[{"type":"dense","out":4},{"type":"dense","out":4,"activation":"silu"}]},
          {"type":"parallel","combine":"grid_scatter","grid":[2,2],"places":[1,1,0,0],"layers":[{"type":"dense","out":2},{"type":"dense","out":2}]},
          {"type":"parallel","combine":"avg","layers":[{"type":"dense","out":6},{"type":"dense","out":6,"activation":"tanh"}]}])",
       ""},
      {"parallel", 8, "",
       R"("type":"parallel","combine":"gated","top_k":2,"stitch":true,"temperature":0.7,"layers":[{"type":"dense","out":6,"activation":"tanh"},{"type":"swiglu","hidden":5},
          {"type":"sequential","layers":[{"type":"layer_norm"},{"type":"dense","out":8},{"type":"residual"},
            {"type":"parallel","combine":"gated","top_k":1,"input":"split","layers":[{"type":"dense","out":6},{"type":"rms_norm"}],"stitch":true}]},
          {"type":"dense","out":3,"activation":"sigmoid"}])",
       ""},
      // Branches that run the cell after this one, one of them where it is routed to.
      {"parallel", 8, "",
       R"("type":"parallel","layers":[{"links":[{"run":[0,0,0,2]}]},{"type":"sequential","layers":[{"type":"dense","out":8,"activation":"tanh"},
          {"type":"parallel","combine":"gated","top_k":1,"layers":[{"links":[{"run":[0,0,0,2]}]},{"type":"dense","out":5}]},{"type":"dense","out":3}]}])",
       ""},
#define LOOM_SAMPLE(...) {__VA_ARGS__},
#include "layers/samples.def"
#undef LOOM_SAMPLE
  };
  return kAll;
}

// Types with samples: a custom layer is what a test registers (custom_layers_test.cpp).
inline LayerList sampled_types() {
  LayerList list = layer_types();
  std::erase_if(list, [](const LayerType* type) { return type->name() == "custom"; });
  return list;
}
inline std::vector<LayerSample> samples_of(const LayerType& type) {
  std::vector<LayerSample> list;
  for (const LayerSample& s : layer_samples())
    if (s.type == type.name()) list.push_back(s);
  return list;
}

inline std::string topology_of(const LayerSample& s, std::string_view dtype) {
  const std::string f = R"(,"dtype":")" + std::string(dtype) + "\"", cell = std::string(s.cell) + f;
  std::vector<std::string> cells = {s.width > 0 ? R"("type":"dense","activation":"tanh","out":)" +
                                                      std::to_string(s.width) + f
                                                : R"("type":"embedding","out":16,"std":0.5)" + f};
  if (s.width < 0) cells.clear();
  else if (!s.dims.empty())
    cells.push_back(R"("type":"reshape","dims":[)" + std::string(s.dims) + "]" + f);
  cells.push_back(cell);
  if (s.version > 1) cells.push_back(R"("type":"flatten")" + f);
  cells.push_back(R"("type":"dense","out":5)" + f);
  std::string t = R"({"format":"loom-topology","version":)" + std::to_string(s.version) +
                  R"(,"layers_per_cell":)" + std::to_string(cells.size()) + R"(,"input":)" +
                  (s.width > 0    ? R"({"width":4})"
                   : s.width == 0 ? R"({"ids":5})"
                                  : R"({"parts":[{"name":"x","width":3},{"name":"n","ids":4}]})") +
                  R"(,"cells":[)";
  for (std::size_t l = 0; l < cells.size(); ++l)
    t += (l > 0 ? "," : "") + std::string(R"({"at":[0,0,0,)") + std::to_string(l) + "]," +
         cells[l] + "}";
  return t + "]}";
}

// Random parameters that are neither zeros nor ones, as `format` stores them; their masters stay.
inline Result<Network> network_of(const LayerSample& s, const WeightFormat& format) {
  LOOM_ASSIGN(Network n, Network::from_json(std::string_view(topology_of(s, "f32"))));
  LOOM_TRY(n.initialize(7));
  std::uint64_t stream = 100;
  for (auto& p : n.params()) {
    const RandomStream random(3, stream++);
    auto m = p.param->store->mutable_master();
    for (std::size_t i = 0; i < m.size(); ++i) m[i] += 0.3f * (random.uniform(i) - 0.5f);
    p.param->store->touch();
  }
  LOOM_TRY(n.morph(format));
  return n;
}

inline constexpr std::int64_t kSampleRows = 6;

struct How {
  int threads = 1;
  std::string isa;
  gpu::Device* device = nullptr;
  std::int64_t rows_per_run = kSampleRows;
  bool fuse = device == nullptr;
};

// What everything is run on: rows of values in -1..1, ids and classes below 5.
struct SampleRows {
  std::vector<float> x, parts,
      y;  // parts: the same with an id below 4 as the last of a row's values
  std::vector<std::uint32_t> ids, positions, sequences;
  std::vector<std::int32_t> classes;

  SampleRows() : sequences(kSampleRows, 0) {
    const RandomStream random(11, 1);
    for (std::uint32_t r = 0; r < kSampleRows; ++r) {
      for (std::uint32_t c = 0; c < 4; ++c) x.push_back(2 * random.uniform(r * 9 + c) - 1);
      for (std::uint32_t c = 4; c < 9; ++c) y.push_back(2 * random.uniform(r * 9 + c) - 1);
      parts.insert(parts.end(), x.end() - 4, x.end());
      parts.back() = static_cast<float>(r % 4);
      ids.push_back(r * 3 % 5);
      classes.push_back(static_cast<std::int32_t>((r * 7 + 2) % 5));
      positions.push_back(r);
    }
  }
};

inline std::span<const float> values_of(const SampleRows& rows, const Network& n) {
  return n.input().has_id_parts() ? rows.parts : rows.x;
}

inline ThreadPool& pool_of(int threads) {
  static ThreadPool one(1), two(2), three(3);
  return threads == 1 ? one : threads == 2 ? two : three;
}

// The outputs of all rows, of one sequence, with unwritten memory poisoned. Not fused: a device
// makes each fused kernel for its shapes, while these networks share the kernels of ops
// (fusion_test.cpp has the others).
inline Result<std::vector<float>> outputs_of(Network& n, const How& how) {
  static const SampleRows kRows;
  LOOM_ASSIGN(Session s, Session::create(n, pool_of(how.threads),
                                         {.max_rows = kSampleRows,
                                          .max_head_rows = kSampleRows,
                                          .max_positions = 16,
                                          .device = how.device,
                                          .isa = how.isa,
                                          .fuse = how.fuse,
                                          .poison = true}));
  std::vector<float> y;
  for (std::int64_t at = 0; at < kSampleRows; at += how.rows_per_run) {
    const auto count = static_cast<std::size_t>(std::min(how.rows_per_run, kSampleRows - at)),
               first = static_cast<std::size_t>(at);
    const auto sequences = std::span(kRows.sequences).subspan(first, count),
               positions = std::span(kRows.positions).subspan(first, count);
    if (n.input().ids > 0) {
      LOOM_TRY(s.run_tokens(std::span(kRows.ids).subspan(first, count), sequences, positions,
                            std::span(kRows.positions).first(count)));
    } else {
      LOOM_TRY(
          s.run(values_of(kRows, n).subspan(4 * first, 4 * count), static_cast<std::int64_t>(count))
              .status());
    }
    for (std::size_t r = 0; r < count; ++r)
      y.insert(y.end(), s.output(static_cast<std::int64_t>(r)).begin(),
               s.output(static_cast<std::int64_t>(r)).end());
  }
  return y;
}

// A parameter's gradient; f32 values are kept in doubles, which loses nothing.
struct Slope {
  std::string name;
  std::vector<double> values;
  friend bool operator==(const Slope& a, const Slope& b) {
    return a.name == b.name && a.values.size() == b.values.size() &&
           std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0;
  }
};

// The loss of all rows, then the gradients of every parameter that has one.
inline Result<std::vector<Slope>> slopes_of(Network& n, const How& how) {
  static const SampleRows kRows;
  const bool ids = n.input().ids > 0;
  LOOM_ASSIGN(Learner learner, Learner::create(n, pool_of(how.threads),
                                               {.loss = ids ? Loss::cross_entropy : Loss::mse,
                                                .max_rows = kSampleRows,
                                                .max_positions = 16,
                                                .update = false,
                                                .device = how.device,
                                                .isa = how.isa,
                                                .fuse = how.fuse,
                                                .poison = true}));
  if (ids) {
    LOOM_TRY(
        learner.batch(std::span<const std::uint32_t>(kRows.ids), kRows.positions, kRows.classes));
  } else {
    LOOM_TRY(learner.batch(values_of(kRows, n), std::span<const float>(kRows.y)));
  }
  LOOM_TRY(learner.accumulate());
  std::vector<Slope> list = {{"loss", {learner.loss_sum()}}};
  for (const auto& g : learner.gradients()) {
    Slope s{g.path + ":" + g.role, {}};
    for (std::int64_t r = 0; r < g.rows; ++r) {
      if (g.type == ValueType::f64) {
        for (const double v : learner.executor().row<double>(g.value.buffer, r))
          s.values.push_back(v);
      } else {
        for (const float v : learner.executor().row<float>(g.value.buffer, r))
          s.values.push_back(static_cast<double>(v));
      }
    }
    list.push_back(std::move(s));
  }
  return list;
}

}  // namespace loom::test
