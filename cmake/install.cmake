# cmake --install: the program, both libraries with the public headers, packages for
# find_package(Loom) and pkg-config. The targets of the package are Loom::loom (static) and
# Loom::shared.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Loom)
set_target_properties(loom_shared PROPERTIES EXPORT_NAME shared)
target_compile_features(loom_shared INTERFACE cxx_std_20)  # of loom.hpp
target_include_directories(loom_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS loom loom_shared loom_usage loom_options EXPORT LoomTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT LoomTargets NAMESPACE Loom:: DESTINATION ${package})
file(WRITE ${PROJECT_BINARY_DIR}/LoomConfig.cmake
  "include(CMakeFindDependencyMacro)\nfind_dependency(Threads)\n\
include(\${CMAKE_CURRENT_LIST_DIR}/LoomTargets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LoomConfigVersion.cmake COMPATIBILITY
  SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LoomConfig.cmake ${PROJECT_BINARY_DIR}/LoomConfigVersion.cmake
  DESTINATION ${package})
# The prefix is known when it is installed.
install(CODE
  "set(CMAKE_INSTALL_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})\n\
set(CMAKE_INSTALL_LIBDIR ${CMAKE_INSTALL_LIBDIR})\n\
set(PROJECT_VERSION ${PROJECT_VERSION})\n\
configure_file(${PROJECT_SOURCE_DIR}/cmake/loom.pc.in\
 ${PROJECT_BINARY_DIR}/loom.pc @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/loom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY include/loom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET loom_cli)
  install(TARGETS loom_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
