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
