#include "sinks/queue.h"

#include <algorithm>
#include <utility>

namespace loom::cli {

DeliveryQueue::DeliveryQueue(std::size_t batch, Deliver deliver)
    : batch_(batch), deliver_(std::move(deliver)), thread_([this] { work(); }) {}

DeliveryQueue::~DeliveryQueue() { finish(); }

void DeliveryQueue::put(std::string text) {
  {
    const std::lock_guard lock(mutex_);
    if (end_ || waiting_.size() >= kRoom) {
      ++counts_.dropped;
      return;
    }
    waiting_.push_back(std::move(text));
  }
  changed_.notify_one();
}

void DeliveryQueue::drain() {
  std::unique_lock lock(mutex_);
  delivered_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

void DeliveryQueue::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (end_) return;
    end_ = true;
    end_by_ = std::chrono::steady_clock::now() + kPatience;
  }
  changed_.notify_one();
  thread_.join();
}

Delivery DeliveryQueue::delivery() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void DeliveryQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return end_ || !waiting_.empty(); });
    if (end_ && std::chrono::steady_clock::now() > end_by_) {
      counts_.dropped += static_cast<std::int64_t>(waiting_.size());
      waiting_.clear();
    }
    if (waiting_.empty()) return;  // at the end
    std::vector<std::string> texts;
    while (!waiting_.empty() && texts.size() < batch_) {
      texts.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    busy_ = true;
    lock.unlock();
    std::string error = deliver_(texts);
    lock.lock();
    busy_ = false;
    (error.empty() ? counts_.sent : counts_.failed) += static_cast<std::int64_t>(texts.size());
    if (!error.empty()) counts_.error = std::move(error);
    if (waiting_.empty()) delivered_.notify_all();
  }
}

}  // namespace loom::cli
