// Steps of decoding that follow each other on the device.
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/math/fp_env.h"
#include "base/random.h"
#include "ops/draw.h"
#include "ops/webgpu/executor.h"

namespace loom::webgpu {
namespace {

constexpr std::size_t kIdsPicked = 1 + kDrawSettings;  // words before them

// Where the words of pick.wgsl are, by the number of ids, and how many they are: the ids that were
// picked, the best of each part, the bins, list and depths of draw.wgsl, the ids that were seen.
std::array<std::int64_t, 6> pick_places(std::int64_t cols) {
  std::array<std::int64_t, 6> places{0,
                                     kIdsPicked + loom::Executor::kMaxPicked,
                                     2 * pick_parts(cols),
                                     kDrawWords,
                                     3 * cols,
                                     (cols + 31) / 32};
  std::partial_sum(places.begin(), places.end(), places.begin());
  return places;
}

}  // namespace

// What run_ahead keeps in the arena; 0 where this program is not resident.
std::int64_t Executor::pick_words() const {
  const BufferId output = program_.find(BufferKind::output, "", "y");
  if (output == kNone || program_.find(BufferKind::input, "", "ids") == kNone ||
      program_.find(BufferKind::input, "", "positions") == kNone ||
      buffer(output).type != ValueType::f32 || buffer(output).cols > kDrawIds)
    return 0;
  return pick_places(buffer(output).cols).back();
}

void Executor::plan_index_select(std::vector<LaunchSpec>& specs) {
  if (pick_words() == 0) return;
  auto view = [&](BufferKind kind, const char* role) {
    const BufferId id = program_.find(kind, "", role);
    return View{id, 0, static_cast<std::int32_t>(buffer(id).cols)};
  };
  for (LaunchSpec& s : pick_launches(view(BufferKind::output, "y"), view(BufferKind::input, "ids"),
                                     view(BufferKind::input, "positions"))) {
    pick_.push_back(specs.size());
    specs.push_back(std::move(s));
  }
}

// The words after the operands of a dispatch that picks.
void Executor::fill_pick(std::uint32_t* extra) const {
  const auto places = pick_places(launches_[pick_[0]].spec.operands[0].cols);
  for (std::size_t i = 0; i + 1 < places.size(); ++i)
    extra[i] = picked_at_ + static_cast<std::uint32_t>(places[i]);
}

using DrawWords = std::array<std::uint32_t, kIdsPicked + loom::Executor::kMaxPicked>;
// The count of ids that were picked, what draw.wgsl reads as settings, and n draws.
static DrawWords draw_words(const Draw& draw, std::uint64_t position, std::size_t n) {
  DrawWords w{};
  const auto two = [&](std::size_t at, std::uint64_t value) {
    w[at] = static_cast<std::uint32_t>(value);
    w[at + 1] = static_cast<std::uint32_t>(value >> 32);
  };
  w[1] = std::bit_cast<std::uint32_t>(draw.temperature);
  // Weights are floats, and 2^40 is the largest: the depth of the smallest that is enough.
  constexpr double kOne = 0x1p40;
  float min = static_cast<float>(draw.min_p * kOne);
  if (min < draw.min_p * kOne) min = std::nextafter(min, 0x1p41f);
  w[2] = min < 1 ? ~std::uint32_t{0}
                 : std::bit_cast<std::uint32_t>(0x1p40f) - std::bit_cast<std::uint32_t>(min);
  w[3] = static_cast<std::uint32_t>(
      std::min<std::int64_t>(draw.top_k, std::numeric_limits<std::uint32_t>::max()));
  if (draw.top_p < 1) {
    int exponent = 0;
    two(4, static_cast<std::uint64_t>(std::frexp(draw.top_p, &exponent) * 0x1p53));
    w[6] = static_cast<std::uint32_t>(std::min(53 - exponent, 120));  // 0 as any larger one
  }
  w[7] = std::bit_cast<std::uint32_t>(draw.penalty);
  const RandomStream random(draw.seed, draw.stream);
  for (std::size_t i = 0; i < n; ++i) w[kIdsPicked + i] = random.bits(position + 1 + i);
  return w;
}

// Kernels that draw, at the first time.
Status Executor::prepare_draw(const Draw& draw) {
  if (draw.temperature == 0 || draws_) return {};
  const auto kernels = draw_kernels(device_.limits());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::size_t n = pick_[2 + i];
    LOOM_ASSIGN(launches_[n].pipeline, pipeline_of(device_, kernels[i]));
    list_[n].pipeline = launches_[n].pipeline;
  }
  draws_ = true;
  return {};
}

// The device adds what it picks: a text that goes on sends nothing.
Status Executor::upload_seen(const Draw& draw) {
  if (draw.penalty == 1) return {};
  const auto ids = static_cast<std::uint32_t>(launches_[pick_[0]].spec.operands[0].cols);
  wanted_seen_.assign((ids + 31) / 32, 0);
  const auto see = [&](std::uint32_t id) {
    if (id < ids) wanted_seen_[id / 32] |= std::uint32_t{1} << id % 32;
  };
  for (const std::int32_t id : draw.history) see(static_cast<std::uint32_t>(id));
  see(row<std::uint32_t>(program_.find(BufferKind::input, "", "ids"), 0)[0]);
  if (wanted_seen_ == seen_) return {};
  seen_ = wanted_seen_;
  const std::int64_t at = picked_at_ + pick_places(ids)[4];
  return device_.write(arena_.handle(), static_cast<std::uint64_t>(at) * 4,
                       std::as_bytes(std::span(seen_)));
}

Status Executor::run_ahead(const Draw& draw, std::span<std::uint32_t> picked) {
  [[maybe_unused]] const FpEnvGuard fp;
  if (pick_.empty() || picked.size() > kMaxPicked) return loom::Executor::run_ahead(draw, picked);
  LOOM_TRY(prepare(Segment::forward));
  LOOM_TRY(prepare_draw(draw));
  began_ = true;
  const std::uint32_t position =
      row<std::uint32_t>(program_.find(BufferKind::input, "", "positions"), 0)[0];
  const DrawWords words = draw_words(draw, position, picked.size());
  LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{picked_at_} * 4,
                         std::as_bytes(std::span(words).first(kIdsPicked + picked.size()))));
  LOOM_TRY(upload_seen(draw));
  std::vector<std::uint32_t> seen = std::exchange(seen_, {});  // unknown, should a step fail
  const std::span<const std::size_t> all(pick_),
      pick = draw.temperature == 0 ? all.subspan(1, 1) : all.subspan(2);
  for (std::size_t i = 0; i < picked.size(); ++i) {
    if (cancelled(Segment::forward)) return cancelled_run();
    collect(single_rows_ ? fused_ : in_order_, Segment::forward, Segment::forward);
    submitted_.push_back(list_[pick_[0]]);
    for (const std::size_t n : pick) submitted_.push_back(list_[n]);
    LOOM_TRY(device_.submit(submitted_));
    // It computes as many steps as are recorded meanwhile: 1, 1, 2, 4, ... in a submit.
    if (std::has_single_bit(i + 1)) LOOM_TRY(device_.flush());
  }
  outputs_behind_ = true;
  const gpu::ReadRange range{arena_.handle(), (std::uint64_t{picked_at_} + kIdsPicked) * 4,
                             std::as_writable_bytes(picked)};
  LOOM_TRY(device_.read({&range, 1}));
  for (const std::uint32_t id : picked) {
    if (id / 32 >= seen.size()) return {};  // none was picked, or no run has wanted them
    seen[id / 32] |= std::uint32_t{1} << id % 32;
  }
  seen_ = std::move(seen);
  return {};
}

}  // namespace loom::webgpu
