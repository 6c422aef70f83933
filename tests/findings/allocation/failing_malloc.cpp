#include "findings/allocation/failing_malloc.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

std::atomic<std::int64_t> g_count{0}, g_first{std::numeric_limits<std::int64_t>::max()}, g_last{0},
    g_live{0};

bool fails() {
  const std::int64_t n = g_count.fetch_add(1, std::memory_order_relaxed);
  return n >= g_first.load(std::memory_order_relaxed) &&
         n <= g_last.load(std::memory_order_relaxed);
}
template <class Allocate>
void* counted(Allocate allocate) {
  void* p = fails() ? nullptr : allocate();
  if (p) g_live.fetch_add(1, std::memory_order_relaxed);
  else errno = ENOMEM;
  return p;
}

}  // namespace

namespace loom::test {

void fail_allocations(std::int64_t first, std::int64_t last) {
  g_last = last;
  g_count = 0;
  g_first = first;
}
std::int64_t allow_allocations() {
  g_first = std::numeric_limits<std::int64_t>::max();
  return g_count;
}
std::int64_t live_allocations() { return g_live; }

}  // namespace loom::test

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// All of the C library's, so that operator new is the real one, and exceptions come from memory set
// aside.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t n) {
  return counted([=] { return __libc_malloc(n); });
}
void* calloc(std::size_t n, std::size_t size) {
  return counted([=] { return __libc_calloc(n, size); });
}
void* memalign(std::size_t align, std::size_t n) {
  return counted([=] { return __libc_memalign(align, n); });
}
void* aligned_alloc(std::size_t align, std::size_t n) { return memalign(align, n); }
int posix_memalign(void** p, std::size_t align, std::size_t n) {
  void* made = memalign(align, n);
  if (!made) return ENOMEM;
  *p = made;
  return 0;
}
void* realloc(void* p, std::size_t n) {
  if (!p) return malloc(n);
  if (fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_realloc(p, n);
}
void free(void* p) {
  if (!p) return;
  g_live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(p);
}
}

#else

// Sanitizers have their own malloc: C++'s allocations alone.
namespace {
void* made(std::size_t size, std::size_t align) {
  void* p = counted([=] {
    void* q = nullptr;
    return posix_memalign(&q, align < sizeof(void*) ? sizeof(void*) : align, size) == 0 ? q
                                                                                        : nullptr;
  });
  if (!p) throw std::bad_alloc();
  return p;
}
void gone(void* p) {
  if (p) g_live.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}
}  // namespace

void* operator new(std::size_t size) { return made(size, 2 * sizeof(void*)); }
void* operator new(std::size_t size, std::align_val_t align) {
  return made(size, static_cast<std::size_t>(align));
}
void operator delete(void* p) noexcept { gone(p); }
void operator delete(void* p, std::size_t) noexcept { gone(p); }
void operator delete(void* p, std::align_val_t) noexcept { gone(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { gone(p); }

#endif
