// Runs the program where the kernel ends a process that opens a socket.
#pragma once

#include <string>
#include <vector>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define LOOM_TEST_DENIES_SOCKETS 1
#endif

namespace loom::test {

#ifdef LOOM_TEST_DENIES_SOCKETS
// False where this kernel takes no filter. A socket that is opened under one is seen.
bool sockets_can_be_denied();
// The exit code of the program, or 128 and the signal that ended it: SIGSYS where it opened one.
int ends_without_sockets(std::vector<std::string> args);
#endif

}  // namespace loom::test
