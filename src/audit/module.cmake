# What waits for the system.
set(loom_audit_cold report.cpp linux_host.cpp macos_host.cpp windows_host.cpp other_host.cpp)
list(TRANSFORM loom_audit_cold PREPEND ${PROJECT_SOURCE_DIR}/src/audit/)
cold_sources(${loom_audit_cold})
# Its loop is as fast as memory.
hot_sources(${PROJECT_SOURCE_DIR}/src/audit/read_bandwidth.cpp)
