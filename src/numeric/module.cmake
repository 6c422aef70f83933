# Encoders try many codes per weight.
file(GLOB loom_encoders ${PROJECT_SOURCE_DIR}/src/numeric/packed/*.cpp ${PROJECT_SOURCE_DIR}/src/numeric/q15.cpp)
hot_sources(${loom_encoders})
