include(${CMAKE_CURRENT_LIST_DIR}/families.cmake)
set(kernels ${PROJECT_SOURCE_DIR}/src/ops/cpu/kernels)
# Kernel files are compiled for their instruction set; contraction stays off for all (rule 1).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # gcc copies a vector of several registers in pieces of 16 bytes unless told otherwise, and its
  # next load waits for all of them.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag("-mmove-max=256 -mstore-max=256" LOOM_MOVES_VECTORS)
  set(moves_256 "")
  set(moves_512 "")
  if(LOOM_MOVES_VECTORS)
    set(moves_256 ";-mmove-max=256;-mstore-max=256")
    set(moves_512 ";-mmove-max=512;-mstore-max=512")
  endif()
  set_source_files_properties(${kernels}/kernels_avx2.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx2${moves_256}")
  set_source_files_properties(${kernels}/kernels_avxvnni.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx2;-mavxvnni${moves_256}")
  set_source_files_properties(${kernels}/kernels_avx512.cpp PROPERTIES
    COMPILE_OPTIONS
    "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vnni;-mprefer-vector-width=512${moves_512}")
  set_source_files_properties(${kernels}/kernels_amx.cpp PROPERTIES
    COMPILE_OPTIONS
    "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vnni;-mamx-tile;-mamx-int8;\
-mprefer-vector-width=512${moves_512}")
  # Of the fast profile alone: contraction.
  set_source_files_properties(${kernels}/kernels_avx2_fast.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=fast${moves_256}")
  set_source_files_properties(${kernels}/kernels_avx512_fast.cpp PROPERTIES
    COMPILE_OPTIONS
    "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vnni;-mfma;-ffp-contract=fast;\
-mprefer-vector-width=512${moves_512}")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  set_source_files_properties(${kernels}/kernels_dotprod_fast.cpp PROPERTIES
    COMPILE_OPTIONS "-march=armv8.2-a+dotprod;-ffp-contract=fast")
  set_source_files_properties(${kernels}/kernels_dotprod.cpp PROPERTIES
    COMPILE_OPTIONS "-march=armv8.2-a+dotprod")
endif()
file(GLOB loom_kernels ${kernels}/kernels_*.cpp)
# Nothing that kernels call throws: without tables for that the library is smaller.
optimize_sources("-fno-exceptions;-fno-asynchronous-unwind-tables" ${loom_kernels})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What must be inlined says so (LOOM_FLATTEN): left alone gcc inlines until a file has grown by 40
  # %, and a change anywhere decides what comes after that.
  optimize_sources("--param=inline-unit-growth=20" ${loom_kernels})
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Few machines lack AVX2, and most of what the others take from the baseline is seldom run.
  list(REMOVE_ITEM loom_kernels ${kernels}/kernels_generic.cpp)
  optimize_sources("-O2;-ftree-vectorize" ${kernels}/kernels_generic.cpp)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Behind a loop of vectors gcc makes another of half as long ones, for what is left.
    optimize_sources("--param=vect-epilogues-nomask=0" ${kernels}/kernels_generic.cpp)
  endif()
endif()
hot_sources(${loom_kernels})
# A run's inputs pass through executor.cpp value by value.
optimize_sources("-O2;-ftree-vectorize" ${PROJECT_SOURCE_DIR}/src/ops/lowering/prepared_weights.cpp
  ${PROJECT_SOURCE_DIR}/src/ops/executor.cpp)
# What describes, checks and emits programs, and what records them for a device.
file(GLOB_RECURSE loom_descriptions ${PROJECT_SOURCE_DIR}/src/ops/*.cpp)
list(FILTER loom_descriptions EXCLUDE REGEX
  "_test\\.cpp$|/cpu/[^i]|src/ops/executor.cpp$|memory_planner.cpp$|prepared_weights.cpp$")
cold_sources(${loom_descriptions})
# The WGSL kernels, without comments and indentation, each behind its name; as bytes of gzip, a
# fifth of the text (webgpu/sources.cpp unpacks them).
file(GLOB_RECURSE wgsl_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.wgsl)
set(wgsl_all "")
foreach(file ${wgsl_files})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  # #kinds MACRO FILE PREFIX SUFFIX: a constant for each row MACRO(id, name, ...) of a list of
  # kinds; "" is no prefix.
  while(text MATCHES "\n#kinds ([A-Z_]+) ([a-z0-9_/.]+) ?([A-Z_\"]*) ?([A-Z_]*)\n")
    set(directive "${CMAKE_MATCH_0}")
    set(macro ${CMAKE_MATCH_1})
    string(REPLACE "\"" "" prefix "${CMAKE_MATCH_3}")
    set(suffix "${CMAKE_MATCH_4}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/src/${CMAKE_MATCH_2})
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${CMAKE_MATCH_2} rows REGEX
      "^${macro}\\([0-9]+, [A-Za-z0-9_]+")
    set(constants "\n")
    foreach(row ${rows})
      string(REGEX MATCH "^${macro}\\(([0-9]+), ([A-Za-z0-9_]+)" row "${row}")
      string(TOUPPER "${CMAKE_MATCH_2}" kind)
      string(APPEND constants "const ${prefix}${kind}${suffix} = ${CMAKE_MATCH_1}u;\n")
    endforeach()
    string(REPLACE "${directive}" "${constants}" text "${text}")
  endwhile()
  string(REGEX REPLACE "[ \t]*//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n[ \t\n]*" "\n" text "${text}")
  string(APPEND wgsl_all "//${name}\n${text}")
endforeach()
set(wgsl_folder ${PROJECT_BINARY_DIR}/generated)
file(WRITE ${wgsl_folder}/wgsl.txt "${wgsl_all}")
file(ARCHIVE_CREATE OUTPUT ${wgsl_folder}/wgsl.gz PATHS ${wgsl_folder}/wgsl.txt FORMAT raw
  COMPRESSION GZip COMPRESSION_LEVEL 9)
file(READ ${wgsl_folder}/wgsl.gz wgsl_hex HEX)
# The header tells the time; the same sources make the same library.
string(SUBSTRING ${wgsl_hex} 0 8 wgsl_start)
string(SUBSTRING ${wgsl_hex} 16 -1 wgsl_hex)
string(REGEX REPLACE "(..)" "0x\\1," wgsl_bytes "${wgsl_start}00000000${wgsl_hex}")
set(wgsl_source ${wgsl_folder}/wgsl_sources.cpp)
file(CONFIGURE OUTPUT ${wgsl_source} CONTENT "// Generated from src/ops/**/*.wgsl.
#include \"ops/webgpu/kernels.h\"

namespace loom::webgpu {

std::span<const std::byte> wgsl_gzip() {
  static constexpr unsigned char bytes[] = {@wgsl_bytes@};
  return std::as_bytes(std::span(bytes));
}

}  // namespace loom::webgpu
" @ONLY)
target_sources(loom_ops PRIVATE ${wgsl_source})
