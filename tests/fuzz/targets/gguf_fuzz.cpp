#include "formats/gguf/gguf.h"

#include "fuzz.h"
#include "mutate.h"

// Every typed reader on every key: a value or an error, and the same one from both sources.
static void check_values(const loom::Gguf& a, const loom::Gguf& b) {
  FUZZ_CHECK(a.metadata().size() == b.metadata().size());
  for (const loom::Gguf::Entry& entry : a.metadata()) {
    FUZZ_CHECK(a.find_key(entry.key) == &entry);
    FUZZ_CHECK(*a.describe(entry) == *b.describe(entry));
    const auto same = [](const auto& x, const auto& y) {
      FUZZ_CHECK(x.ok() == y.ok() && x.status().to_string() == y.status().to_string());
    };
    same(a.get_u32(entry.key), b.get_u32(entry.key));
    same(a.get_u64(entry.key), b.get_u64(entry.key));
    same(a.get_f32(entry.key), b.get_f32(entry.key));
    same(a.get_bool(entry.key), b.get_bool(entry.key));
    same(a.get_string(entry.key), b.get_string(entry.key));
    same(a.get_strings(entry.key), b.get_strings(entry.key));
    same(a.get_integers(entry.key), b.get_integers(entry.key));
    same(a.get_floats(entry.key), b.get_floats(entry.key));
  }
}

FUZZ_TARGET(data, size) {
  using namespace loom;
  const auto mapped = Gguf::open(fuzz::view_source(data, size)),
             called = Gguf::open(fuzz::callback_source(data, size));
  FUZZ_CHECK(mapped.status().to_string() == called.status().to_string());
  if (!mapped.ok()) {
    fuzz::check_refusal(mapped.status());
    return;
  }
  fuzz::check_tensors(mapped->tensors(), called->tensors(), size);
  check_values(*mapped, *called);
  for (const TensorInfo& tensor : mapped->tensors())
    FUZZ_CHECK(mapped->find(tensor.name) == &tensor);
}

namespace {

// Where the integers and the texts of a file lie, as far as it can be read.
struct Places {
  struct Field {
    std::size_t at, size;
  };
  std::vector<Field> integers, texts;  // before each text its length, 8 bytes
  std::size_t first_entry = 0, second_entry = 0;
};

class Walk {
 public:
  Walk(const std::string& file, Places& places) : file_(file), places_(places) {}
  void all() {
    at_ = 4;
    integer(4);
    const std::uint64_t tensors = integer(8), entries = integer(8);
    for (std::uint64_t i = 0; i < entries && good_; ++i) {
      if (i == 0) places_.first_entry = at_;
      text();
      value(integer(4), 0);
      if (i == 0) places_.second_entry = good_ ? at_ : 0;
    }
    for (std::uint64_t i = 0; i < tensors && good_; ++i) {
      text();
      const std::uint64_t dims = integer(4);
      for (std::uint64_t d = 0; d < dims && good_; ++d) integer(8);
      integer(4);
      integer(8);
    }
  }

 private:
  std::uint64_t integer(std::size_t size) {
    if (!good_ || size > file_.size() - at_) return good_ = false, 0;
    places_.integers.push_back({at_, size});
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;)
      value = value << 8 | static_cast<std::uint8_t>(file_[at_ + i]);
    at_ += size;
    return value;
  }
  void text() {
    const std::uint64_t size = integer(8);
    if (!good_ || size > file_.size() - at_) return void(good_ = false);
    places_.texts.push_back({at_, static_cast<std::size_t>(size)});
    at_ += static_cast<std::size_t>(size);
  }
  void value(std::uint64_t type, int depth) {
    static constexpr std::size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) return text();
    if (type == 9 && depth < 3) {
      const std::uint64_t element = integer(4), count = integer(8);
      for (std::uint64_t i = 0; i < count && good_; ++i) value(element, depth + 1);
      return;
    }
    if (type >= std::size(kSizes) || kSizes[type] == 0) return void(good_ = false);
    integer(kSizes[type]);
  }
  const std::string& file_;
  Places& places_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace

// Integers become hostile ones, texts keep right lengths, entries are repeated and counted.
FUZZ_MUTATOR(file, dice) {
  using namespace loom;
  if (file.size() < 24) file = "GGUF" + std::string("\3\0\0\0", 4) + std::string(16, '\0');
  Places places;
  Walk(file, places).all();
  const auto integer = [&] { return places.integers[dice.below(places.integers.size())]; };
  switch (dice.below(5)) {
    case 0:
    case 1: {
      char bytes[8];
      store_le<std::uint64_t>(bytes, dice.number());
      const Places::Field field = integer();
      std::memcpy(file.data() + field.at, bytes, field.size);
      break;
    }
    case 2: {
      if (places.texts.empty()) break;
      const Places::Field text = places.texts[dice.below(places.texts.size())];
      const std::size_t before = file.size();
      fuzz::mutate_part(file, text.at, text.size);
      store_le<std::uint64_t>(file.data() + text.at - 8, text.size + file.size() - before);
      break;
    }
    case 3: {
      if (places.second_entry == 0) break;
      file.insert(places.second_entry,
                  file.substr(places.first_entry, places.second_entry - places.first_entry));
      store_le<std::uint64_t>(file.data() + 16, load_le<std::uint64_t>(file.data() + 16) + 1);
      break;
    }
    default:
      if (dice.one_in(2)) file.resize(std::min<std::size_t>(file.size() + dice.below(600), 8192));
      else fuzz::mutate_in_place(file, file.size() / 2, file.size() - file.size() / 2);
  }
}
