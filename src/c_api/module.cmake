# The version that the library says.
target_compile_definitions(loom_c_api PRIVATE LOOM_VERSION="${PROJECT_VERSION}")
