# Statistics of observed passes: a loop over every value of every cell. As fast as with -O3.
optimize_sources(-O2 ${PROJECT_SOURCE_DIR}/src/exec/observe/statistics.cpp)
