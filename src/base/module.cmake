# The one file that needs atomic operations where they are not part of every target.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "wasm32")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/threads/thread_pool.cpp PROPERTIES COMPILE_OPTIONS "-matomics;-mbulk-memory")
endif()
cold_sources(${PROJECT_SOURCE_DIR}/src/base/fields.cpp ${PROJECT_SOURCE_DIR}/src/base/field_reader.cpp)  # texts of errors
