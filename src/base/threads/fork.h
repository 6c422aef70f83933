// A child of fork() has a copy of everything but its parent's threads: what they hold stays held,
// and what they were to do is not done. Whoever keeps threads, or a lock, learns here that the
// process is another one.
#pragma once

namespace loom {

// The number of forks between this process and the one that asked first. Whoever stores it beside
// threads sees by another number that they are gone. Cheap.
unsigned forks();

// Whether this system tells of forks. It is asked before threads are started; without it there must
// be none.
bool forks_are_seen();

}  // namespace loom
