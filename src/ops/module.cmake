# Kernel files are compiled for their instruction set; contraction stays off for all (rule 1).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/ops/cpu/kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/ops/cpu/kernels_avxvnni.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mavxvnni")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/ops/cpu/kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vnni;-mprefer-vector-width=512")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/ops/cpu/kernels_dotprod.cpp PROPERTIES COMPILE_OPTIONS "-march=armv8.2-a+dotprod")
endif()
file(GLOB loom_kernels ${PROJECT_SOURCE_DIR}/src/ops/cpu/kernels_*.cpp)
hot_sources(${loom_kernels})
# The WGSL kernels, as text in the library.
file(GLOB_RECURSE wgsl_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/webgpu/kernels/*.wgsl)
set(wgsl_rows "")
foreach(file ${wgsl_files})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND wgsl_rows "    {\"${name}\", R\"wgsl(${text})wgsl\"},\n")
endforeach()
set(wgsl_source ${PROJECT_BINARY_DIR}/generated/wgsl_sources.cpp)
file(CONFIGURE OUTPUT ${wgsl_source} CONTENT "// Generated from src/ops/webgpu/kernels.
#include \"ops/webgpu/kernels.h\"

namespace loom::webgpu {

std::span<const WgslSource> wgsl_sources() {
  static constexpr WgslSource sources[] = {
@wgsl_rows@  };
  return sources;
}

}  // namespace loom::webgpu
" @ONLY)
target_sources(loom_ops PRIVATE ${wgsl_source})
