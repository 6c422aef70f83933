# Encoders try many codes per weight.
file(GLOB loom_encoders ${PROJECT_SOURCE_DIR}/src/numeric/packed/*.cpp ${PROJECT_SOURCE_DIR}/src/numeric/q15.cpp)
# Shapes, parts and errors; the loops over values are in the other files.
list(REMOVE_ITEM loom_encoders ${PROJECT_SOURCE_DIR}/src/numeric/packed/packed_encode.cpp)
cold_sources(${PROJECT_SOURCE_DIR}/src/numeric/packed/packed_encode.cpp)
hot_sources(${loom_encoders})
