# Genomes are evaluated here.
hot_sources(${PROJECT_SOURCE_DIR}/src/evolve/phenotype.cpp
  ${PROJECT_SOURCE_DIR}/src/evolve/genome.cpp)
# What reads, writes and checks.
set(loom_evolve_cold spec.cpp genome_json.cpp population.cpp population_file.cpp)
list(TRANSFORM loom_evolve_cold PREPEND ${PROJECT_SOURCE_DIR}/src/evolve/)
cold_sources(${loom_evolve_cold})
