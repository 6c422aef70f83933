# wasm32 with WASI, from packages of Debian: clang-19, lld-19, wasi-libc, libc++-19-dev-wasm32.
# Without exceptions, threads and RTTI, as libc++ is built there. tools/verify/wasi_run.mjs runs the
# programs in Node.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_FLAGS_INIT -msimd128)
# The libraries are named because clang would also link its run-time library, which is in none of
# these packages.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nodefaultlibs -Wl,--stack-first -Wl,-z,stack-size=1048576")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "-lc++ -lc++abi -lc")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
