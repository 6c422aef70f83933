# The one file that needs atomic operations where they are not part of every target.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "wasm32")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/threads/thread_pool.cpp PROPERTIES
    COMPILE_OPTIONS "-matomics;-mbulk-memory")
endif()
# Texts of errors, and what waits for the system.
set(loom_base_cold json/json.cpp fields/old_names.cpp fields/fields.cpp fields/field_reader.cpp
  escape.cpp message.cpp
  status.cpp files/base64.cpp files/paths.cpp files/source.cpp files/mapping.cpp
  files/stale_files.cpp)
list(TRANSFORM loom_base_cold PREPEND ${PROJECT_SOURCE_DIR}/src/base/)
cold_sources(${loom_base_cold})
