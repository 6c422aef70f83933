// Runs with a deadline: what continues, and what becomes of a run that does not.
#include <algorithm>

#include "exec/session.h"

namespace loom {

Status Session::pause_at(std::int64_t deadline) {
  if (!slices_ && deadline == Executor::kNoDeadline) return {};
  const auto whole = [](const char* why) {
    return Status(Code::unsupported, std::string("session: ") + why);
  };
  if (deadline != Executor::kNoDeadline) {
    if (cpu_fallback_)
      return whole(
          "a session that chooses its device by itself measures whole runs, which do not "
          "pause: name the device");
    if (options_.device) return whole("a run on a device is one piece of work, and does not pause");
    if (observation_ && observation_->observer)
      return whole(
          "observed runs are read while they are warm, and do not pause: end the "
          "observation first");
    if (options_.watch)
      return whole(
          "rules of metacognitions watch whole runs, which do not pause: create the "
          "session with \"ignore_rules\"");
  }
  if (!slices_) slices_ = std::make_unique<Slices>();
  slices_->deadline = deadline;
  return {};
}

bool Session::continues(std::span<const std::byte> x, const Tokens& tokens) {
  if (!slices_ || (!slices_->paused && slices_->deadline == Executor::kNoDeadline)) return false;
  slices_->asked.clear();
  for (const auto& part : {x, std::as_bytes(tokens.sequences), std::as_bytes(tokens.positions),
                           std::as_bytes(tokens.head)}) {
    const std::size_t size = part.size();
    const auto bytes = std::as_bytes(std::span(&size, 1));
    slices_->asked.insert(slices_->asked.end(), bytes.begin(), bytes.end());
    slices_->asked.insert(slices_->asked.end(), part.begin(), part.end());
  }
  if (slices_->paused && slices_->asked == slices_->begun) return true;
  drop_slices();
  slices_->begun.swap(slices_->asked);
  slices_->sequences.assign(tokens.sequences.begin(), tokens.sequences.end());
  slices_->positions.assign(tokens.positions.begin(), tokens.positions.end());
  return false;
}

// Its rows may be in the states in part.
void Session::drop_slices() {
  if (slices_ && std::exchange(slices_->paused, false))
    forget({slices_->sequences, slices_->positions, {}});
}

Status Session::run_slice() {
  LOOM_ASSIGN(const bool done,
              std::exchange(slices_->paused, false)
                  ? executor_->resume(slices_->deadline)
                  : executor_->run_until(Segment::forward, Segment::update, slices_->deadline));
  if (done) return {};
  slices_->paused = true;
  return Status(Code::paused,
                "session: the run paused at its deadline: the same call continues it");
}

}  // namespace loom
