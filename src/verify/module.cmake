# The fingerprint that every build must have, from the golden table.
set(LOOM_GOLDEN_TABLE ${PROJECT_SOURCE_DIR}/tests/golden/numerics.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${LOOM_GOLDEN_TABLE})
file(STRINGS ${LOOM_GOLDEN_TABLE} loom_golden REGEX "^all ")
string(REGEX REPLACE "^all " "" loom_golden "${loom_golden}")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/verify/verify.cpp PROPERTIES
  COMPILE_DEFINITIONS "LOOM_GOLDEN_FINGERPRINT=\"${loom_golden}\"")
