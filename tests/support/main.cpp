#include <gtest/gtest.h>

#include "base/threads/thread_pool.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
#if defined(LOOM_TESTS_OF_THREADS) || defined(__SANITIZE_THREAD__)
  loom::ThreadPool::always_together(true);
#endif
  return RUN_ALL_TESTS();
}
