// Changing any bit of any portable result changes this number, the golden hashes and the CHANGELOG
// in the same commit.
#pragma once
#define LOOM_NUMERICS_VERSION 2
