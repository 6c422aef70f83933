# The model's bytes go into the object file with .incbin, which no compiler reports as a dependency. Without the file: an empty model.
set(LOOM_EMBEDDED_FILE ${PROJECT_SOURCE_DIR}/models/embedded.entity)
if(EXISTS ${LOOM_EMBEDDED_FILE})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/embedded/embedded.cpp PROPERTIES
    COMPILE_DEFINITIONS "LOOM_EMBEDDED_FILE=\"${LOOM_EMBEDDED_FILE}\"" OBJECT_DEPENDS ${LOOM_EMBEDDED_FILE})
endif()
