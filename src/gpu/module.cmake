# webgpu.h, for the file that loads Dawn.
target_include_directories(loom_gpu SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/third_party)
if(CMAKE_DL_LIBS)
  target_link_libraries(loom_usage INTERFACE ${CMAKE_DL_LIBS})
endif()
