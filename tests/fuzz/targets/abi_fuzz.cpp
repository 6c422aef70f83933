// Random call sequences over the whole C interface: right, wrong, released and made-up handles,
// NULL, negative and huge sizes, texts that are almost right. Nothing crashes or leaks; an error
// has its code and a message, and writes nothing through the pointers of results.
#include <loom/loom.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.h"
#include "support/places.h"

namespace {

constexpr std::uint64_t kUnwritten = 0x5a5a5a5a5a5a5a5a;
// Files of this process alone: campaigns run many of them.
const std::string& scratch() {
  static const std::string folder = "/tmp/loom_abi_fuzz." + std::to_string(::getpid());
  return folder;
}

// Small networks, alike in widths so that what fits one often fits another.
constexpr std::string_view kTopologies[] = {
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dense","out":4,"activation":"tanh"},{"at":[0,0,0,1],"type":"dense","out":2}]})",
    R"({"format":"loom-topology","version":1,"rows":2,"cols":2,"input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dense","out":3},{"at":[0,0,1,0],"type":"rms_norm","links":[{"read":[0,0,0,0]}]},{"at":[0,1,0,0],"run":1},{"at":[0,1,1,0],"type":"dense","out":2,"dtype":"i8"}]})",
    R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":20},"head":[0,0,0,2],"cells":[{"at":[0,0,0,0],"type":"embedding","out":8},{"at":[0,0,0,1],"type":"sequential","layers":[{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"attention","heads":2,"kv_heads":1,"head_dim":4}]},{"type":"residual"},{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":8}]},{"type":"residual"}]},{"at":[0,0,0,2],"type":"rms_norm"},{"at":[0,0,0,3],"type":"dense","out":20,"bias":false,"tie":"0.0.0.0:weight"}]})",
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dense","out":3,"links":[{"read":[0,0,0,1]}]},{"at":[0,0,0,1],"type":"dense","out":3}]})",
};
constexpr std::string_view kCells[] = {R"({"type":"dense","out":3})",
                                       R"({"type":"dense","out":2,"dtype":"i4"})",
                                       R"({"type":"layer_norm"})",
                                       R"({"type":"rms_norm","eps":0})",
                                       R"({})",
                                       R"({"type":"swiglu","hidden":4})",
                                       R"({"type":"dense","out":-1})",
                                       R"({"type":"dense","out":3,"links":[{"send":[0,0,0,0]}]})",
                                       R"({"type":"attention","heads":1,"head_dim":3})"};
constexpr std::string_view kSpecs[] = {
    R"({"loss":"mse","steps":5,"batch":2})",
    R"({"loss":"cross_entropy","steps":4,"batch":2,"optimizer":{"type":"sgd","momentum":0.9}})",
    R"({"epochs":1})",
    R"({"loss":"mse","steps":3,"batch":4,"micro_batches":2,"schedule":{"type":"cosine","lr":1e30,"warmup":1}})",
    R"({"steps":0})",
    R"({"loss":"mae","steps":1})"};
constexpr std::string_view kOptions[] = {"", R"({"threads":1})", R"({"isa":"abacus"})",
                                         R"({"isa":"generic","threads":2})", R"({"max_tokens":1})"};
constexpr std::string_view kSessions[] = {
    R"({"threads":1,"max_rows":4,"max_head_rows":2,"max_positions":8,"sequences":2})",
    R"({"threads":1,"max_rows":1,"max_positions":1})", R"({"threads":1})", R"({"max_rows":0})"};
constexpr std::string_view kEvaluators[] = {R"({"threads":1,"context":8,"chunk":2,"hash":true})",
                                            R"({"threads":1,"last_row":true})",
                                            R"({"threads":1,"chunk":0})"};
constexpr std::string_view kTrainings[] = {R"({"data":"/nowhere/table.csv"})", R"({"steps":-1})",
                                           R"({"data":"/nowhere","task":"guess"})"};
constexpr std::string_view kPlans[] = {R"({"bytes":100,"rows":2,"formats":["i8"]})",
                                       R"({"loss":1,"formats":["i4","nonsense"]})",
                                       R"({"bytes":1,"ms":1})", R"({"rows":0})"};
constexpr std::string_view kGenerators[] = {R"({"threads":1,"context":8,"sequences":2,"chunk":2})",
                                            R"({"threads":1})", R"({"context":-1})",
                                            R"({"threads":1,"chunk":1,"context":1})"};
constexpr std::string_view kStarts[] = {
    R"({"max_tokens":3,"temperature":0.8,"top_k":5,"seed":1,"stop":["e"]})",
    R"({"ignore_eos":true})",
    "",
    R"({"max_tokens":9,"ignore_eos":true,"repetition_penalty":1.5})",
    R"({"temperature":-1})",
    R"({"temperature":1e308,"top_p":0,"min_p":1})",
    R"({"stop":["",""]})"};
constexpr std::string_view kTables[] = {R"({"targets":["b"]})", R"({"class":"b"})",
                                        R"({"class":"1","header":false})", R"({"targets":[]})",
                                        R"({"type":"tokens"})"};
constexpr std::string_view kVocabularies[] = {
    R"({"vocab_size":260})",
    R"({"vocab_size":258,"special_tokens":["<s>"],"bos":"<s>","add_bos":true})",
    R"({"eos":"none"})", R"({"vocab_size":1})"};
constexpr std::string_view kMessages[] = {
    R"([{"role":"user","content":"hello"}])",
    R"([{"role":"system","content":""},{"role":"user","content":"<|im_end|>"}])",
    R"([{"role":"assistant","content":"x"}])", R"([])", R"([{}])"};
constexpr std::string_view kTexts[] = {R"(["a loom","a thread"])", R"([])", R"(["",""])", R"([1])"};
constexpr std::string_view kModels[] = {
    R"({"max_positions":8})",
    R"({"max_positions":64,"bos":null,"eos":[1,2],"sampling":{"top_k":3}})",
    R"({"max_positions":8,"vocab_size":20,"name":"a"})", R"({"max_positions":8,"eos":-1})",
    R"({"sampling":{"temperature":-1},"max_positions":1})"};
constexpr std::string_view kCellNames[] = {"0.0.0.0", "0.0.0.1", "0.1.1.0",         "0.0.0.9",
                                           "",        "0.0.0",   "0.0.0.1.layers.0"};
constexpr std::string_view kFiles[] = {"a", "b", "no/b",
                                       "."};  // in the scratch folder, or / or nothing
constexpr std::string_view kRoles[] = {"weight", "bias", "gain", ""};
constexpr std::string_view kFormats[] = {"f32",  "f64",     "bf16",     "f16",      "i8",
                                         "i4",   "ternary", "q4_0",     "u2",       "",
                                         "i8:t", "i4:s4",   "nonsense", "fp8_e4m3", "u64"};
constexpr std::string_view kPlain[] = {"Once upon a time", "", "a,b\n1,2\n3,4\n", "<|im_start|>",
                                       "\xff\xfe\xc3",     "e"};

template <class T>
struct Span {
  T* data;
  std::size_t size;
};

// Makes up arguments from the fuzzer's bytes, and looks at what came back.
class Caller {
 public:
  Caller(const std::uint8_t* data, std::size_t size, std::string_view model,
         std::string_view tokenizer)
      : data_(data), size_(size), model_(model), tokenizer_(tokenizer) {}
  bool done() const { return at_ >= size_; }
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }

  void begin(std::string_view function) {
    function_ = function;
    texts_.clear();
    outs_.clear();
    floats_.clear();
    fills_.clear();
    new_.clear();
    std::memset(&error_, 0x5a, sizeof error_);
  }
  loom_error* error() { return without_error_ ? nullptr : &error_; }

  loom_handle handle(std::string_view, std::int32_t kind) {
    const std::uint8_t how = byte();
    if (how >= 240) return how == 255 ? 0 : how == 254 ? ~std::uint64_t{0} : any("");
    std::vector<loom_handle> fitting;
    for (const auto& [h, k] : live_)
      if (k == kind) fitting.push_back(h);
    return fitting.empty() ? any("") : fitting[how % fitting.size()];
  }
  // Any handle, released ones among them.
  loom_handle any(std::string_view) {
    return last_ = ever_.empty() ? byte() : ever_[byte() % ever_.size()];
  }

  Span<const char> text(std::string_view name) {
    if (name == "cell" || function_ == "network_get_f32" || function_ == "network_get_f64" ||
        function_ == "network_set_f32" || function_ == "network_set_f64")
      return name == "role" ? pick(kRoles) : pick(kCellNames);
    if (name == "format") return pick(kFormats);
    // Files are written in the scratch folder alone.
    if (name == "path" || name == "name" || name == "in" || name == "out" || name == "network" ||
        name == "data") {  // files are written nowhere else
      const std::uint8_t how = byte();
      if (how == 255) return {nullptr, how};
      const std::size_t which = how % (std::size(kFiles) + 2);
      if (which < std::size(kFiles)) return text_of(scratch() + "/" + std::string(kFiles[which]));
      return text_of(which == std::size(kFiles) ? "/" : "");
    }
    if (name == "config" || function_ == "tokenizer_parse")
      return byte() % 2 ? Span<const char>{tokenizer_.data(), tokenizer_.size()} : pick(kPlain);
    return pick(kPlain);
  }
  Span<const char> json(std::string_view name) {
    if (function_ == "verify") return text_of(R"({"isa":"abacus"})");  // a whole run takes seconds
    if (name == "topology") return pick(kTopologies);
    if (name == "json") return pick(kCells);
    if (name == "spec") return pick(kSpecs);
    if (name == "messages") return pick(kMessages);
    if (name == "texts") return pick(kTexts);
    if (function_ == "session_create" || function_ == "network_program") return pick(kSessions);
    if (function_ == "model_create") return pick(kModels);
    if (function_ == "evaluator_create") return pick(kEvaluators);
    if (function_ == "training_open") return pick(kTrainings);
    if (function_ == "predictor_plan") return pick(kPlans);
    if (function_ == "generator_create") return pick(kGenerators);
    if (function_ == "generator_start") return pick(kStarts);
    if (function_ == "data_table") return pick(kTables);
    if (function_ == "tokenizer_train") return pick(kVocabularies);
    return pick(kOptions);
  }

  std::int64_t i64(std::string_view name) {
    const std::uint8_t how = byte();
    static constexpr std::int64_t kWrong[] = {-1, INT64_MIN, INT64_MAX, std::int64_t{1} << 40};
    if (how >= 248) return kWrong[how % 4];
    if (name == "width") return number_ = 3;
    if (name == "targets") return 2;
    if (name == "sequence") return how % 3;
    return number_ = how % 5;
  }
  std::int32_t i32(std::string_view) {
    const std::uint8_t how = byte();
    return how == 255 ? INT32_MIN : how == 254 ? INT32_MAX : how == 253 ? -1 : how;
  }
  std::int32_t boolean(std::string_view) { return byte() % 2; }
  std::uint64_t u64(std::string_view) {
    const std::uint8_t how = byte();
    // Between these a sanitizer stops the process for asking too much, where it would get an error.
    return how == 255 ? ~std::uint64_t{0} : how == 254 ? std::uint64_t{1} << 63 : how * 16;
  }

  Span<const float> read_f32(std::string_view name) { return read<float>(name); }
  Span<const double> read_f64(std::string_view name) { return read<double>(name); }
  Span<const std::int32_t> read_i32(std::string_view name) { return read<std::int32_t>(name); }
  Span<const std::int64_t> read_i64(std::string_view name) { return read<std::int64_t>(name); }
  Span<float> fill_f32(std::string_view name) { return fill<float>(name); }
  Span<double> fill_f64(std::string_view name) { return fill<double>(name); }
  Span<std::int32_t> fill_i32(std::string_view name) { return fill<std::int32_t>(name); }

  loom_handle* out_handle(std::string_view) { return new_.emplace_back(out<loom_handle>()); }
  std::int32_t* out_i32(std::string_view) { return out<std::int32_t>(); }
  std::int64_t* out_i64(std::string_view) { return out<std::int64_t>(); }
  std::uint64_t* out_u64(std::string_view) { return out<std::uint64_t>(); }
  double* out_f64(std::string_view) { return out<double>(); }
  void** out_pointer(std::string_view) { return out<void*>(); }

  void returned(std::int32_t code) {
    FUZZ_CHECK(code >= 0 && code <= LOOM_PAUSED && code != LOOM_INTERNAL && code != LOOM_BUSY);
    if (code != LOOM_OK) {
      if (!without_error_) {
        FUZZ_CHECK(error_.code == code);
        FUZZ_CHECK(std::memchr(error_.message, 0, sizeof error_.message) != nullptr);
        // A cancelled call needs no words.
        FUZZ_CHECK(error_.message[0] != 0 || code == LOOM_CANCELLED);
      }
      for (const std::uint64_t out : outs_) FUZZ_CHECK(out == kUnwritten);
      for (const auto& fill : fills_)
        for (const unsigned char b : fill) FUZZ_CHECK(b == 0x5a);
    } else if (!new_.empty()) {
      for (const loom_handle* made : new_)
        if (made) {  // else it was not wanted
          FUZZ_CHECK(*made != 0 && *made != kUnwritten);
          own(*made);
        }
    } else if (function_ == "release") {
      std::erase_if(live_, [&](const auto& l) { return l.first == last_; });
    }
    without_error_ = false;
    std::int64_t count = 0;
    FUZZ_CHECK(loom_live_handles(&count, nullptr) == LOOM_OK &&
               count == static_cast<std::int64_t>(live_.size()));
    // Not ever more of them.
    if (live_.size() > 40) release(live_.front().first);
  }
  void forget_the_error() { without_error_ = true; }

  // The model's file in memory, maybe with a wrong byte, maybe not all of it.
  void put_file() {
    const std::uint8_t how = byte();
    std::string file(model_.substr(0, how % 8 == 1 ? model_.size() * byte() / 256 : model_.size()));
    if (how % 8 == 0)
      file[(byte() * 256u + byte()) % file.size()] ^= static_cast<char>(1 + byte() % 255);
    put(file);
  }

  // Objects of all kinds, so that a sequence need not find its way to them first.
  void start(std::uint8_t which) {
    constexpr const char *kThreads = R"({"threads":1,"sequences":2})",
                         *kSpec = R"({"steps":9,"batch":2})";
    const std::array<float, 6> x = {1, 2, 3, 4, 5, 6};
    const std::array<float, 4> y = {1, 0, 0, 1};
    loom_handle h = 0, other = 0;
    for (const std::string_view topology : {kTopologies[0], kTopologies[2]}) {
      if (which & 1) {
        FUZZ_CHECK(loom_network_create(topology.data(), topology.size(), &h, nullptr) == LOOM_OK &&
                   loom_network_initialize(own(h), 1, nullptr) == LOOM_OK);
        FUZZ_CHECK(loom_session_create(h, kThreads, std::strlen(kThreads), &other, nullptr) ==
                       LOOM_OK &&
                   own(other));
        if (topology == kTopologies[2]) continue;
        FUZZ_CHECK(loom_data_values(x.data(), 6, 3, y.data(), 4, 2, &other, nullptr) == LOOM_OK &&
                   own(other));
        FUZZ_CHECK(loom_trainer_create(h, other, kSpec, std::strlen(kSpec), R"({"threads":1})", 13,
                                       &h, nullptr) == LOOM_OK &&
                   own(h));
      }
    }
    if (!(which & 2)) return;
    put(model_);
    FUZZ_CHECK(loom_model_load_bytes(live_.back().first, nullptr, 0, &h, nullptr) == LOOM_OK);
    FUZZ_CHECK(loom_generator_create(own(h), kThreads, std::strlen(kThreads), &other, nullptr) ==
                   LOOM_OK &&
               own(other));
    FUZZ_CHECK(loom_generator_feed_text(other, 0, "a", 1, nullptr) == LOOM_OK);
    FUZZ_CHECK(loom_model_tokenizer(h, &other, nullptr) == LOOM_OK &&
               loom_decoder_create(own(other), 0, &h, nullptr) == LOOM_OK && own(h));
  }

  void release_all() {
    while (!live_.empty()) release(live_.back().first);
    std::int64_t count = -1;
    FUZZ_CHECK(loom_live_handles(&count, nullptr) == LOOM_OK && count == 0);
  }

 private:
  loom_handle own(loom_handle h) {
    std::int32_t kind = 0;
    FUZZ_CHECK(loom_kind(h, &kind, nullptr) == LOOM_OK);
    live_.emplace_back(h, kind);
    ever_.push_back(h);
    return h;
  }
  void put(std::string_view file) {
    loom_bytes b = 0;
    void* to = nullptr;
    std::uint64_t size = 0;
    FUZZ_CHECK(loom_bytes_create(file.size(), &b, nullptr) == LOOM_OK &&
               loom_bytes_data(own(b), &to, &size, nullptr) == LOOM_OK && size == file.size());
    std::copy(file.begin(), file.end(), static_cast<char*>(to));
  }
  void release(loom_handle h) {
    FUZZ_CHECK(loom_release(h, nullptr) == LOOM_OK);
    std::erase_if(live_, [&](const auto& l) { return l.first == h; });
  }
  // Exactly so long, so that a look beyond the end is found.
  Span<const char> text_of(std::string_view s) {
    texts_.emplace_back(s.begin(), s.end());
    return {texts_.back().data(), s.size()};
  }
  template <std::size_t N>
  Span<const char> pick(const std::string_view (&list)[N]) {
    const std::uint8_t how = byte();
    if (how == 255) return {nullptr, 0};
    if (how == 254) return {nullptr, static_cast<std::size_t>(-1) >> byte() % 64};
    if (how < 232) return text_of(list[how % N]);
    if (how < 244) {  // almost right
      std::string s(list[byte() % N]);
      if (!s.empty()) s[byte() % s.size()] = static_cast<char>(byte());
      return text_of(s);
    }
    std::string s;
    for (std::size_t n = byte() % 32; n > 0; --n) s += static_cast<char>(byte());
    return text_of(s);
  }
  std::size_t count(std::string_view name) {
    static constexpr std::size_t kCounts[] = {0, 1, 2, 3, 4, 6, 8, 12, 20, 40, 320};
    const std::uint8_t how = byte();
    const auto rows = static_cast<std::size_t>(number_ > 0 && number_ < 5 ? number_ : 1);
    if (how < 160 && name == "x") return function_ == "session_run" ? rows * 3 : 12;
    if (how < 160 && name == "y")
      return function_ == "session_run" ? rows * 2 : function_ == "session_run_tokens" ? 20 : 8;
    if (how < 160 && name == "logits") return function_ == "evaluator_next" ? 0 : 320;
    if (how < 160 && (name == "ids" || name == "positions")) return 3;
    if (how < 200 && (name == "sequences" || name == "head" || name == "ends")) return 0;
    return kCounts[how % std::size(kCounts)];
  }
  template <class T>
  Span<const T> read(std::string_view name) {
    const std::uint8_t how = byte();
    if (how >= 250)
      return {nullptr, how == 255   ? std::size_t{1} << 62
                       : how == 254 ? ~std::size_t{0}
                                    : how - 250u};
    const std::size_t n = count(name);
    auto& memory = floats_.emplace_back(n * sizeof(T));  // at the end of its own block
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t b = byte();
      T value;
      if constexpr (std::is_integral_v<T>)
        value = b >= 252                         ? static_cast<T>(b % 2 ? -1 : INT32_MAX)
                : name == "positions" && b < 200 ? static_cast<T>(i)
                                                 : static_cast<T>(b % 20);
      else
        value = b == 255   ? static_cast<T>(__builtin_nan(""))
                : b == 254 ? static_cast<T>(__builtin_inf())
                : b == 253 ? static_cast<T>(3e38f)
                           : static_cast<T>((b - 100) / 16.0);
      std::memcpy(memory.data() + i * sizeof(T), &value, sizeof(T));
    }
    return {reinterpret_cast<const T*>(memory.data()), n};
  }
  template <class T>
  Span<T> fill(std::string_view name) {
    const std::uint8_t how = byte();
    if (how >= 250) return {nullptr, how == 255 ? std::size_t{1} << 62 : how - 250u};
    const std::size_t n = count(name);
    auto& memory = fills_.emplace_back(n * sizeof(T), 0x5a);
    return {reinterpret_cast<T*>(memory.data()), n};
  }
  template <class T>
  T* out() {
    if (byte() == 255) return nullptr;
    return reinterpret_cast<T*>(&outs_.emplace_back(kUnwritten));
  }

  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
  std::string_view model_, tokenizer_, function_;
  std::vector<std::pair<loom_handle, std::int32_t>> live_;  // and their kinds
  std::vector<loom_handle> ever_;
  loom_handle last_ = 0;
  std::vector<loom_handle*> new_;
  std::int64_t number_ = 1;
  bool without_error_ = false;
  loom_error error_{};
  std::deque<std::vector<char>> texts_;
  std::deque<std::vector<unsigned char>> floats_, fills_;
  std::deque<std::uint64_t> outs_;
};

struct Function {
  std::string_view name;
  std::int32_t (*call)(Caller& c);
};
constexpr Function kFunctions[] = {
#include "abi_table.inc"
};

std::string file(const char* name) {
  std::ifstream in(loom::test::source_dir() + "/tests/cases/data/" + name, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  FUZZ_CHECK(!content.empty());
  return content;
}

}  // namespace

FUZZ_TARGET(data, size) {
  static const std::string model = file("tiny.entity"), tokenizer = file("tiny.tokenizer.json");
  static const bool made =
      std::filesystem::create_directories(scratch()) || std::filesystem::is_directory(scratch());
  FUZZ_CHECK(made);
  Caller c(data, size, model, tokenizer);
  c.start(c.byte());
  for (int calls = 0; calls < 100 && !c.done(); ++calls) {
    const std::uint8_t which = c.byte();
    if (which >= 250) {
      c.put_file();
      continue;
    }
    if (which >= 240) c.forget_the_error();
    const Function& f = kFunctions[(which >= 240 ? c.byte() : which) % std::size(kFunctions)];
    c.begin(f.name);
    c.returned(f.call(c));
  }
  c.release_all();
}
