// Where this checkout and its build lie: known to one source file, so that compilers' caches serve
// every other test in any folder.
#pragma once

#include <string>

namespace loom::test {

std::string source_dir();
std::string binary_dir();

}  // namespace loom::test
