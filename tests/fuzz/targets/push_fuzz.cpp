// What begins a push to `loom bridge` is untrusted input: any text is a push that is kept in words
// which begin the same session again, or a refusal that names the key.
#include "bridge/pushes/push.h"
#include "fuzz.h"
#include "http/server.h"
#include "mutate.h"

FUZZ_TARGET(data, size) {
  using namespace loom;
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 34;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  bridge::Push push;
  try {
    push = bridge::parse_push(text, kMaxBytes);
  } catch (const http::Refusal& refusal) {
    const int status = refusal.response.status;
    FUZZ_CHECK(status == 400 || status == 413);
    FUZZ_CHECK(!refusal.response.body.empty() && refusal.response.body.size() < 5000);
    return;
  }
  FUZZ_CHECK(!push.tensors.empty() && push.bytes <= kMaxBytes);
  std::uint64_t begin = 0;
  for (const bridge::PushTensor& t : push.tensors) {
    FUZZ_CHECK(t.begin == begin && t.bytes > 0 && t.bytes % t.values == 0);
    begin += t.bytes;
  }
  FUZZ_CHECK(begin == push.bytes);
  const bridge::Push again = bridge::parse_push(bridge::push_text(push), kMaxBytes);
  FUZZ_CHECK(again.id() == push.id() && again.bytes == push.bytes);
}

FUZZ_MUTATOR(file, dice) {
  if (dice.one_in(2)) loom::fuzz::mutate_number(file, dice);
  else loom::fuzz::mutate_part(file, 0, file.size());
}
