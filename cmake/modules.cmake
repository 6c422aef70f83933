# Builds one library per line of src/modules.txt, with exactly the dependencies that line allows. A
# module's sources are its folder's *.cpp files without *_test.cpp; kernels_<isa>.cpp files are
# compiled once per ISA (see loom_isa_sources).
file(STRINGS ${PROJECT_SOURCE_DIR}/src/modules.txt LOOM_MODULE_LINES REGEX "^[a-z_]+:")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/modules.txt)
set(LOOM_MODULES "")
foreach(line ${LOOM_MODULE_LINES})
  string(REGEX REPLACE "^([a-z_]+):.*" "\\1" module "${line}")
  string(REGEX REPLACE "^[a-z_]+:[ ]*" "" deps "${line}")
  string(REGEX MATCHALL "[a-z_]+" deps "${deps}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${module}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  if(NOT sources)
    continue()
  endif()
  # Training from files, and its networks over files, are no part of the WebAssembly module
  # (api/loom.json: native).
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "wasm32")
    if(module STREQUAL "fit")
      continue()
    endif()
    list(FILTER sources EXCLUDE REGEX "/c_api/calls/(fit|images|predictor)\\.cpp$")
  endif()
  add_library(loom_${module} OBJECT ${sources})
  target_link_libraries(loom_${module} PUBLIC loom_options)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "wasm32")
    set_target_properties(loom_${module} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  list(APPEND LOOM_MODULES ${module})
  set(LOOM_MODULES_OF_${module} ${module})  # with what those that it may include need
  foreach(dep ${deps})
    list(APPEND LOOM_MODULES_OF_${module} ${LOOM_MODULES_OF_${dep}})
  endforeach()
  list(REMOVE_DUPLICATES LOOM_MODULES_OF_${module})
  if(module IN_LIST cold_modules)
    cold_sources(${sources})
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/${module}/module.cmake)
    include(${PROJECT_SOURCE_DIR}/src/${module}/module.cmake)
  endif()
endforeach()

# The one static library users link.
set(objects "")
foreach(module ${LOOM_MODULES})
  list(APPEND objects $<TARGET_OBJECTS:loom_${module}>)
endforeach()
add_library(loom STATIC ${objects})
add_library(Loom::loom ALIAS loom)
target_link_libraries(loom PUBLIC loom_usage PRIVATE loom_options)

# The same behind the C interface alone: libloom.so with the functions of include/loom/loom.h and
# nothing else.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "wasm32")
  add_library(loom_shared SHARED ${objects})
  add_library(Loom::shared ALIAS loom_shared)
  target_link_libraries(loom_shared PRIVATE loom_options)
  target_link_options(loom_shared PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/c_api/exports.map -Wl,--no-undefined
    -Wl,--gc-sections)
  # gold folds functions of equal code (constructors, and others whose address nobody takes): 3 % of
  # the library. Where it is missing the system's linker does without.
  include(CheckLinkerFlag)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT LOOM_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    check_linker_flag(CXX "-fuse-ld=gold;-Wl,--icf=safe" LOOM_HAS_GOLD)
    if(LOOM_HAS_GOLD)
      target_link_options(loom_shared PRIVATE -fuse-ld=gold -Wl,--icf=safe)
    endif()
  endif()
  set_target_properties(loom_shared PROPERTIES OUTPUT_NAME loom VERSION ${PROJECT_VERSION} SOVERSION
    ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/c_api/exports.map)
endif()
