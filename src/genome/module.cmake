# The comparison of layers of a thousand units is a product of matrices.
hot_sources(${PROJECT_SOURCE_DIR}/src/genome/dot.cpp)
