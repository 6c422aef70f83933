# What is read once when a tokenizer is opened, and templates of chats.
file(GLOB loom_text_forms ${PROJECT_SOURCE_DIR}/src/text/forms/*.cpp ${PROJECT_SOURCE_DIR}/src/text/pipeline/pipeline_json.cpp ${PROJECT_SOURCE_DIR}/src/text/pattern/pattern_parser.cpp ${PROJECT_SOURCE_DIR}/src/text/chat.cpp ${PROJECT_SOURCE_DIR}/src/text/bpe/bpe_trainer.cpp)
list(FILTER loom_text_forms EXCLUDE REGEX "_test\\.cpp$")
cold_sources(${loom_text_forms})
