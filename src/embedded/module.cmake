# The model's bytes go into the object file with .incbin, as gzip, which is five sixths of them; no
# compiler reports that as a dependency. Without the file: an empty model. A model that changed is
# packed anew when CMake configures.
set(LOOM_EMBEDDED_MODEL ${PROJECT_SOURCE_DIR}/models/embedded.entity)
if(EXISTS ${LOOM_EMBEDDED_MODEL})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${LOOM_EMBEDDED_MODEL})
  set(LOOM_EMBEDDED_FILE ${PROJECT_BINARY_DIR}/generated/embedded.entity.gz)
  if(${LOOM_EMBEDDED_MODEL} IS_NEWER_THAN ${LOOM_EMBEDDED_FILE})
    file(ARCHIVE_CREATE OUTPUT ${LOOM_EMBEDDED_FILE} PATHS ${LOOM_EMBEDDED_MODEL} FORMAT raw
      COMPRESSION GZip COMPRESSION_LEVEL 9)
  endif()
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/embedded/embedded.cpp PROPERTIES
    COMPILE_DEFINITIONS "LOOM_EMBEDDED_FILE=\"${LOOM_EMBEDDED_FILE}\"" OBJECT_DEPENDS
      ${LOOM_EMBEDDED_FILE})
endif()
