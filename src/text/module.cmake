# What is read once when a tokenizer is opened, templates of chats, and what handles words whole;
# the loops over characters are in the other files.
file(GLOB loom_text_cold ${PROJECT_SOURCE_DIR}/src/text/forms/*.cpp
  ${PROJECT_SOURCE_DIR}/src/text/jinja/*.cpp)
list(FILTER loom_text_cold EXCLUDE REGEX "_test\\.cpp$")
set(loom_text_others chat.cpp tokenizer.cpp bpe/bpe_trainer.cpp pattern/pattern.cpp
  pattern/pattern_parser.cpp
  pipeline/added_tokens.cpp pipeline/decoder.cpp pipeline/growth.cpp pipeline/pipeline_json.cpp
    unicode/char_set.cpp)
list(TRANSFORM loom_text_others PREPEND ${PROJECT_SOURCE_DIR}/src/text/)
cold_sources(${loom_text_cold} ${loom_text_others})
