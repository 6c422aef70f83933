// The verifying program of targets that have no `loom` (./dev verify --all-targets): the table, then "all FINGERPRINT".
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verify/verify.h"

int main(int argc, char** argv) {
  loom::VerifyOptions options;
  int threads = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--isa") == 0) options.isa = argv[i + 1];
    if (std::strcmp(argv[i], "--threads") == 0) threads = std::atoi(argv[i + 1]);
  }
  options.on_row = [](const loom::VerifyRow& r) { std::printf("%s %s\n", r.name.c_str(), r.hash.c_str()); };
  loom::ThreadPool pool(threads);
  const auto rows = loom::run_verify(pool, options);
  if (!rows.ok()) {
    std::fprintf(stderr, "loom_verify: %s\n", rows.status().to_string().c_str());
    return 1;
  }
  std::printf("all %s\n", loom::fingerprint(*rows).c_str());
  return 0;
}
