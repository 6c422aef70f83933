// The parts of server.h that need no network.
#include <algorithm>
#include <atomic>

#include "http/server.h"

namespace loom::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// Of all bodies that wait for their end or their answer, together.
constexpr std::uint64_t kMaxBuffered = std::uint64_t{256} << 20;
std::atomic<std::uint64_t> buffered_bytes{0};

class Buffered : public Exchange {
 public:
  Buffered(std::uint64_t max_bytes, std::function<Response(std::string)> answer)
      : max_bytes_(max_bytes), answer_(std::move(answer)) {}
  ~Buffered() override { buffered_bytes -= counted_; }
  void take(std::string_view piece) override {
    if (piece.size() > max_bytes_ - body_.size()) refuse(max_bytes_);
    counted_ += piece.size();
    if (buffered_bytes += piece.size(); buffered_bytes > kMaxBuffered)
      throw Refusal{
          {.status = 503, .body = R"({"error":{"code":"busy","message":"too many bodies wait"}})"}};
    body_ += piece;
  }
  Response finish() override { return answer_(std::move(body_)); }
  [[noreturn]] static void refuse(std::uint64_t max_bytes) {
    throw Refusal{{.status = 413,
                   .body = R"({"error":{"code":"too_large","message":"the body may have )" +
                           std::to_string(max_bytes) + R"( bytes"}})"}};
  }

 private:
  std::uint64_t max_bytes_;
  std::function<Response(std::string)> answer_;
  std::string body_;
  std::uint64_t counted_ = 0;
};

}  // namespace

std::string_view Head::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::optional<std::string> Head::parameter(std::string_view name) const {
  for (std::string_view rest = query; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equal = part.find('=');
    if (decoded(part.substr(0, equal)) == name)
      return equal == std::string_view::npos ? "" : decoded(part.substr(equal + 1));
  }
  return {};
}

std::unique_ptr<Exchange> buffered(const Head& head, std::uint64_t max_bytes,
                                   std::function<Response(std::string body)> answer) {
  if (head.length && *head.length > max_bytes) Buffered::refuse(max_bytes);
  return std::make_unique<Buffered>(max_bytes, std::move(answer));
}

bool same_secret(std::string_view a, std::string_view b) {
  // Volatile, so that no compiler ends the loop where the answer is known.
  volatile unsigned differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    differs = differs |
              static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^
                                    static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]));
  return differs == 0;
}

}  // namespace loom::http
