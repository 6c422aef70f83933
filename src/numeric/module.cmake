# Encoders try many codes per weight.
file(GLOB loom_encoders ${PROJECT_SOURCE_DIR}/src/numeric/packed/*.cpp
  ${PROJECT_SOURCE_DIR}/src/numeric/q15.cpp)
# Shapes, parts, names and errors; the loops over values are in the other files.
set(loom_numeric_cold packed/packed_encode.cpp weight_store.cpp weight_format.cpp dtype.cpp)
list(TRANSFORM loom_numeric_cold PREPEND ${PROJECT_SOURCE_DIR}/src/numeric/)
list(REMOVE_ITEM loom_encoders ${loom_numeric_cold})
cold_sources(${loom_numeric_cold})
hot_sources(${loom_encoders})
# Searches for codes of several instruction sets; contraction stays off as for kernels.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/numeric/packed/native4_avx2.cpp
    APPEND PROPERTY COMPILE_OPTIONS -mavx2)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/numeric/packed/native4_avx512.cpp
    APPEND PROPERTY COMPILE_OPTIONS -mavx512f -mavx512bw -mavx512vl -mavx512dq)
endif()
