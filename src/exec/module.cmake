# Statistics of observed passes: a loop over every value of every cell.
hot_sources(${PROJECT_SOURCE_DIR}/src/exec/observe/statistics.cpp)
