#include "formats/torch/pickle.h"

#include <algorithm>
#include <bit>

#include "base/files/bytes.h"
#include "base/message.h"

namespace loom {
namespace {

using Kind = PickleValue::Kind;

// What a name stands for: these, and types from kFirstType on.
enum Known : std::int64_t {
  kDict,
  kTensor,
  kTensorOfType,
  kParameter,
  kSize,
  kUntyped,
  kFirstType
};

struct KnownName {
  std::string_view name;
  Known known;
};
constexpr KnownName kNames[] = {
    {"collections.OrderedDict", kDict},
    {"torch._utils._rebuild_tensor_v2", kTensor},
    {"torch._utils._rebuild_tensor_v3", kTensorOfType},
    {"torch._utils._rebuild_parameter", kParameter},
    {"torch._utils._rebuild_parameter_with_state", kParameter},
    {"torch.Size", kSize},
    {"torch.storage.UntypedStorage", kUntyped},
    {"torch.UntypedStorage", kUntyped},
};

struct KnownType {
  std::string_view dtype, storage;  // behind "torch."
  StorageType type;
};
constexpr KnownType kTorchTypes[] = {
    {"float32", "FloatStorage", StorageType::f32},
    {"float64", "DoubleStorage", StorageType::f64},
    {"float16", "HalfStorage", StorageType::f16},
    {"bfloat16", "BFloat16Storage", StorageType::bf16},
    {"int8", "CharStorage", StorageType::i8},
    {"int16", "ShortStorage", StorageType::i16},
    {"int32", "IntStorage", StorageType::i32},
    {"int64", "LongStorage", StorageType::i64},
    {"uint8", "ByteStorage", StorageType::u8},
    {"bool", "BoolStorage", StorageType::boolean},
    {"uint16", "", StorageType::u16},
    {"uint32", "", StorageType::u32},
    {"uint64", "", StorageType::u64},
    {"float8_e4m3fn", "", StorageType::fp8e4m3},
    {"float8_e5m2", "", StorageType::fp8e5m2},
};

constexpr std::size_t kMaxDimensions = 64;  // as PyTorch
// A tensor takes some twenty; a value of one byte takes 80 in memory.
constexpr std::size_t kMaxValues = 4'000'000;

class Machine {
 public:
  explicit Machine(std::string_view bytes) : bytes_(bytes) {}

  Result<Pickle> run() {
    while (!done_) {
      LOOM_TRY(need(1));
      LOOM_TRY(step(static_cast<unsigned char>(bytes_[at_++])));
      if (std::max(out_.values.size(), stack_.size()) > kMaxValues)
        return Status(Code::unsupported, message("pickle: has more than ", kMaxValues, " values"));
    }
    if (stack_.size() != 1 || !marks_.empty()) return corrupt("ends with more than one value");
    out_.root = stack_[0];
    return std::move(out_);
  }

 private:
  Status corrupt(std::string_view what) const {
    return Status(Code::corrupt, message("pickle at byte ", at_, ": ", what));
  }
  Status need(std::uint64_t count) const {
    return count <= bytes_.size() - at_ ? Status() : corrupt("is cut");
  }
  template <class T>
  Result<T> number() {
    LOOM_TRY(need(sizeof(T)));
    at_ += sizeof(T);
    return load_le<T>(bytes_.data() + at_ - sizeof(T));
  }

  PickleValue& value(std::uint32_t id) { return out_.values[id]; }
  void push(PickleValue made) {
    stack_.push_back(static_cast<std::uint32_t>(out_.values.size()));
    out_.values.push_back(std::move(made));
  }
  void push(Kind kind, std::int64_t integer = 0) {
    PickleValue made;
    made.kind = kind;
    made.integer = integer;
    push(std::move(made));
  }
  Result<std::uint32_t> pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
      return corrupt("has no value to take");
    const std::uint32_t id = stack_.back();
    stack_.pop_back();
    return id;
  }

  Status step(unsigned char op) {
    switch (op) {
      case 0x80: return number<std::uint8_t>().status();   // PROTO
      case 0x95: return number<std::uint64_t>().status();  // FRAME
      case '.': done_ = true; return {};
      case '(': marks_.push_back(stack_.size()); return {};
      case 'N': push(Kind::none); return {};
      case 0x88: push(Kind::boolean, 1); return {};
      case 0x89: push(Kind::boolean, 0); return {};
      case '}': push(Kind::dict); return {};
      case ']': push(Kind::list); return {};
      case ')': push(Kind::tuple); return {};
      case 't': return close(Kind::tuple);
      case 0x85: return tuple(1);
      case 0x86: return tuple(2);
      case 0x87: return tuple(3);
      case 'a':
      case 's': return add(op == 'a' ? 1 : 2);
      case 'e':
      case 'u': return add_marked(op == 'e' ? Kind::list : Kind::dict);
      case '0': return pop().status();
      default: return step_with_argument(op);
    }
  }

  Status step_with_argument(unsigned char op) {
    switch (op) {
      case 'J': return integer<std::int32_t>();
      case 'K': return integer<std::uint8_t>();
      case 'M': return integer<std::uint16_t>();
      case 0x8a: return long_integer();
      case 'G': return real();
      case 'X': return text<std::uint32_t>();
      case 0x8c: return text<std::uint8_t>();
      case 0x8d: return text<std::uint64_t>();
      case 'q': return memorize<std::uint8_t>();
      case 'r': return memorize<std::uint32_t>();
      case 0x94: return memorize(memo_.size());
      case 'h': return recall<std::uint8_t>();
      case 'j': return recall<std::uint32_t>();
      case 'c': return name_lines();
      case 0x93: return name_of_stack();
      case 'Q': return storage();
      case 'R': return call();
      case 'b': return build();
      default:
        return Status(Code::unsupported,
                      message("pickle at byte ", at_ - 1, ": the operation ", op,
                              " is none that torch.save writes for tensors, numbers, texts, dicts, "
                              "lists and tuples: save model.state_dict()"));
    }
  }

  template <class T>
  Status integer() {
    LOOM_ASSIGN(const T n, number<T>());
    push(Kind::integer, n);
    return {};
  }
  Status long_integer() {
    LOOM_ASSIGN(const std::uint8_t size, number<std::uint8_t>());
    if (size > 8) return Status(Code::unsupported, "pickle: an integer of more than 64 bits");
    LOOM_TRY(need(size));
    std::uint64_t n = 0;
    for (unsigned i = 0; i < size; ++i)
      n |= std::uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << 8 * i;
    if (size > 0 && size < 8 && n >> (8 * size - 1) != 0) n |= ~std::uint64_t{0} << 8 * size;
    at_ += size;
    push(Kind::integer, static_cast<std::int64_t>(n));
    return {};
  }
  Status real() {
    LOOM_TRY(need(8));
    std::uint64_t n = 0;  // the first byte is the highest
    for (int i = 0; i < 8; ++i) n = n << 8 | static_cast<unsigned char>(bytes_[at_++]);
    push(Kind::real);
    out_.values.back().real = std::bit_cast<double>(n);
    return {};
  }
  template <class T>
  Status text() {
    LOOM_ASSIGN(const T size, number<T>());
    LOOM_TRY(need(size));
    push(Kind::text);
    out_.values.back().text = bytes_.substr(at_, static_cast<std::size_t>(size));
    if (!is_utf8(out_.values.back().text)) return corrupt("a text is no UTF-8");
    at_ += static_cast<std::size_t>(size);
    return {};
  }

  // Picklers count from 0, so that a place beyond the next one is damage.
  Status memorize(std::size_t place) {
    if (stack_.empty() || place > memo_.size()) return corrupt("keeps a value in no place");
    if (place == memo_.size()) memo_.push_back(stack_.back());
    memo_[place] = stack_.back();
    return {};
  }
  template <class T>
  Status memorize() {
    LOOM_ASSIGN(const T place, number<T>());
    return memorize(place);
  }
  template <class T>
  Status recall() {
    LOOM_ASSIGN(const T place, number<T>());
    if (place >= memo_.size()) return corrupt("recalls a value that it has not kept");
    stack_.push_back(memo_[place]);
    return {};
  }

  // The values above the last mark, as items of a new value.
  Status close(Kind kind) {
    if (marks_.empty()) return corrupt("has no mark");
    PickleValue made;
    made.kind = kind;
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    made.items.assign(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    push(std::move(made));
    return {};
  }
  Status tuple(std::size_t count) {
    PickleValue made;
    made.kind = Kind::tuple;
    for (std::size_t i = 0; i < count; ++i) {
      LOOM_ASSIGN(const std::uint32_t id, pop());
      made.items.insert(made.items.begin(), id);
    }
    push(std::move(made));
    return {};
  }
  Status extend(Kind kind, std::span<const std::uint32_t> items) {
    LOOM_ASSIGN(const std::uint32_t to, pop());
    if (value(to).kind != kind || (kind == Kind::dict && items.size() % 2 != 0))
      return corrupt("adds to what is no such container");
    value(to).items.insert(value(to).items.end(), items.begin(), items.end());
    stack_.push_back(to);
    return {};
  }
  Status add(std::size_t count) {
    std::uint32_t items[2];
    for (std::size_t i = count; i-- > 0;) {
      LOOM_ASSIGN(items[i], pop());
    }
    return extend(count == 1 ? Kind::list : Kind::dict, std::span(items, count));
  }
  Status add_marked(Kind kind) {
    LOOM_TRY(close(Kind::tuple));
    stack_.pop_back();
    const std::vector<std::uint32_t> items = std::move(out_.values.back().items);
    out_.values.pop_back();
    return extend(kind, items);
  }

  // ---- names

  Status name(std::string_view module, std::string_view text) {
    const std::string whole = message(module, ".", text);
    for (const KnownName& k : kNames)
      if (k.name == whole) {
        push(Kind::name, k.known);
        out_.values.back().text = k.name;
        return {};
      }
    for (std::size_t i = 0; i < std::size(kTorchTypes) && module == "torch"; ++i)
      if (text == kTorchTypes[i].dtype || (!text.empty() && text == kTorchTypes[i].storage)) {
        push(Kind::name, kFirstType + static_cast<std::int64_t>(i));
        out_.values.back().text = kTorchTypes[i].dtype;
        return {};
      }
    return Status(Code::unsupported,
                  message("pickle: names ", quoted(whole),
                          ", which Loom does not run: tensors, numbers and texts in dicts and "
                          "lists are read; of a whole module save model.state_dict()"));
  }
  Result<std::string_view> line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) return corrupt("is cut");
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }
  Status name_lines() {
    LOOM_ASSIGN(const std::string_view module, line());
    LOOM_ASSIGN(const std::string_view text, line());
    return name(module, text);
  }
  Status name_of_stack() {
    LOOM_ASSIGN(const std::uint32_t text, pop());
    LOOM_ASSIGN(const std::uint32_t module, pop());
    return name(value(module).text, value(text).text);
  }

  // ---- storages and tensors

  static const KnownType* type_of(const PickleValue& v) {
    return v.kind == Kind::name && v.integer >= kFirstType ? &kTorchTypes[v.integer - kFirstType]
                                                           : nullptr;
  }
  bool are(const PickleValue& tuple, std::initializer_list<Kind> kinds) {
    if (tuple.kind != Kind::tuple || tuple.items.size() < kinds.size()) return false;
    std::size_t i = 0;
    for (const Kind k : kinds)
      if (value(tuple.items[i++]).kind != k) return false;
    return true;
  }
  const PickleValue& item(const PickleValue& of, std::size_t i) { return value(of.items[i]); }

  // ("storage", its type, its key, the device, its size)
  Status storage() {
    LOOM_ASSIGN(const std::uint32_t id, pop());
    const PickleValue& v = value(id);
    if (!are(v, {Kind::text, Kind::name, Kind::text, Kind::text, Kind::integer}) ||
        item(v, 0).text != "storage" || item(v, 4).integer < 0)
      return corrupt("refers to what is no storage");
    const KnownType* type = type_of(item(v, 1));
    if (!type && item(v, 1).integer != kUntyped) return corrupt("has a storage of no type");
    const std::string_view key = item(v, 2).text;
    const auto count = static_cast<std::uint64_t>(item(v, 4).integer);
    push(Kind::storage, static_cast<std::int64_t>(out_.storages.size()));
    out_.storages.push_back({type ? type->type : StorageType::u8, type != nullptr, key, count});
    return {};
  }

  Result<std::vector<std::int64_t>> sizes(const PickleValue& v) {
    std::vector<std::int64_t> out;
    for (const std::uint32_t id : v.items) {
      if (value(id).kind != Kind::integer || value(id).integer < 0)
        return corrupt("has a tensor whose sizes are no integers from 0 on");
      out.push_back(value(id).integer);
    }
    return out;
  }

  // (storage, offset, size, stride, requires_grad, hooks), then the dtype, then flags
  Status tensor(const PickleValue& v, bool with_type) {
    if (!are(v,
             {Kind::storage, Kind::integer, Kind::tuple, Kind::tuple, Kind::boolean, Kind::dict}) ||
        item(v, 1).integer < 0 || item(v, 2).items.size() > kMaxDimensions ||
        item(v, 3).items.size() != item(v, 2).items.size() || v.items.size() > 8)
      return corrupt("rebuilds what is no tensor");
    const std::size_t flags = with_type ? 7 : 6;
    for (std::size_t i = flags; i < v.items.size(); ++i)
      if (item(v, i).kind != Kind::none && !item(v, i).items.empty())
        return Status(Code::unsupported,
                      "pickle: a tensor that is negated or conjugated when it is read: save "
                      "tensor.resolve_neg().resolve_conj()");
    PickleTensor made;
    made.storage = static_cast<std::uint32_t>(item(v, 0).integer);
    const PickleStorage& storage = out_.storages[made.storage];
    const KnownType* type = with_type && v.items.size() > 6 ? type_of(item(v, 6)) : nullptr;
    if (with_type ? type == nullptr : !storage.typed) return corrupt("has a tensor of no type");
    made.type = type ? type->type : storage.type;
    made.offset = static_cast<std::uint64_t>(item(v, 1).integer);
    LOOM_ASSIGN(made.shape, sizes(item(v, 2)));
    LOOM_ASSIGN(made.strides, sizes(item(v, 3)));
    push(Kind::tensor, static_cast<std::int64_t>(out_.tensors.size()));
    out_.tensors.push_back(std::move(made));
    return {};
  }

  Status call() {
    LOOM_ASSIGN(const std::uint32_t given, pop());
    LOOM_ASSIGN(const std::uint32_t called, pop());
    if (value(called).kind != Kind::name || value(given).kind != Kind::tuple)
      return corrupt("calls what is no function");
    const PickleValue& v = value(given);
    const auto known = static_cast<Known>(value(called).integer);
    if (known == kTensor || known == kTensorOfType) return tensor(v, known == kTensorOfType);
    if (known == kParameter && are(v, {Kind::tensor, Kind::boolean})) {
      stack_.push_back(v.items[0]);
    } else if (known == kSize && are(v, {Kind::tuple}) && v.items.size() == 1) {
      stack_.push_back(v.items[0]);
    } else if (known == kDict && v.items.empty()) {
      push(Kind::dict);
    } else {
      return corrupt("calls a function with other arguments than torch.save writes");
    }
    return {};
  }

  // state_dict() keeps the versions of its modules as an attribute, which no tensor needs.
  Status build() {
    LOOM_ASSIGN(const std::uint32_t state, pop());
    LOOM_ASSIGN(const std::uint32_t of, pop());
    const PickleValue& v = value(state);
    if (value(of).kind != Kind::dict || v.kind != Kind::dict || v.items.size() != 2 ||
        item(v, 0).text != "_metadata")
      return Status(Code::unsupported,
                    "pickle: sets attributes of an object: save its state_dict()");
    stack_.push_back(of);
    return {};
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool done_ = false;
  Pickle out_;
  std::vector<std::uint32_t> stack_, memo_;
  std::vector<std::size_t> marks_;
};

}  // namespace

Result<Pickle> read_pickle(std::string_view bytes) { return Machine(bytes).run(); }

}  // namespace loom
