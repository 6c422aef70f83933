# All but the loops over logits.
file(GLOB_RECURSE loom_llm_cold ${PROJECT_SOURCE_DIR}/src/llm/*.cpp)
list(FILTER loom_llm_cold EXCLUDE REGEX "_test\\.cpp$|/generate/sampler")
cold_sources(${loom_llm_cold})
