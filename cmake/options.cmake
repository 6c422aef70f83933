# What a program that uses Loom gets: headers and threads.
add_library(loom_usage INTERFACE)
target_compile_features(loom_usage INTERFACE cxx_std_20)
target_include_directories(loom_usage INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated> $<INSTALL_INTERFACE:include>)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "wasm32")
  find_package(Threads REQUIRED)
  target_link_libraries(loom_usage INTERFACE Threads::Threads)
endif()

# Flags every target of Loom's own gets. The numerics contract (docs/reference/numerics.md, rule 1)
# forbids contraction and fast math in every file and compiler, so these are not options. Nothing
# here reads floating-point exceptions: without -fno-trapping-math gcc does not vectorize loops over
# the exact functions.
add_library(loom_options INTERFACE)
target_link_libraries(loom_options INTERFACE loom_usage)
target_compile_options(loom_options INTERFACE
  -ffp-contract=off -fno-fast-math -fno-math-errno -fno-trapping-math -Wall -Wextra
    -Wno-missing-field-initializers -Wno-psabi)
# -O3 where time is spent (hot_sources), -Oz or -Os where none is (the modules of cold_modules), -O2
# elsewhere: as fast, and the library is a third smaller. For WebAssembly nothing is gained beyond
# -O2: decoding is a fifth slower.
set(LOOM_HOT -O3)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "wasm32")
  set(LOOM_HOT -O2)
endif()
set(LOOM_OPTIMIZE "" CACHE STRING
  "Optimization of every file of a release, for example -O0; empty: as Loom chooses")
target_compile_options(loom_options INTERFACE
  $<$<CONFIG:Release>:$<IF:$<BOOL:${LOOM_OPTIMIZE}>,${LOOM_OPTIMIZE},-O2>>)
function(optimize_sources option)
  if(NOT LOOM_OPTIMIZE)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:${option}>)
  endif()
endfunction()
set(LOOM_COLD -Os)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
  set(LOOM_COLD -Oz)
endif()
macro(cold_sources)
  optimize_sources(${LOOM_COLD} ${ARGN})
endmacro()
macro(hot_sources)
  optimize_sources(${LOOM_HOT} ${ARGN})
endmacro()
set(cold_modules c_api convert fit stories verify checkpoint grid layers onnx train formats
  telemetry exec gpu genome breed populations online)
target_compile_options(loom_options INTERFACE -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # No padding before functions and jumps: a few percent of the library, and loops keep theirs.
  target_compile_options(loom_options INTERFACE $<$<CONFIG:Release>:-falign-functions=1>
    $<$<CONFIG:Release>:-falign-jumps=1> $<$<CONFIG:Release>:-falign-labels=1>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # false positives of gcc 12 in <string> and <vector>
  target_compile_options(loom_options INTERFACE -Wno-restrict -Wno-stringop-overread
    -Wno-maybe-uninitialized)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "wasm32")
  target_compile_options(loom_options INTERFACE -fno-exceptions -fno-rtti)
endif()
if(LOOM_SANITIZE)
  target_compile_options(loom_options INTERFACE -fsanitize=${LOOM_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(loom_options INTERFACE -fsanitize=${LOOM_SANITIZE})
endif()
if(LOOM_FUZZ)
  target_compile_options(loom_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
# ccache where it is installed: the second build of a tree is minutes shorter.
find_program(LOOM_CCACHE ccache)
if(LOOM_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LOOM_CCACHE})
endif()
