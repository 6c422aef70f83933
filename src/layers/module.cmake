# Lists the layer folders: each defines register_<folder>(LayerList&), and may have samples for the
# tests' matrices, <folder>_samples.def. A new folder is found at the next configure.
file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/src/layers/*)
set(declarations "")
set(calls "")
set(samples "// Generated from src/layers/*/*_samples.def.\n")
foreach(folder ${folders})
  if(IS_DIRECTORY ${folder})
    get_filename_component(name ${folder} NAME)
    string(APPEND declarations "void register_${name}(LayerList&);\n")
    string(APPEND calls "  register_${name}(layers);\n")
    if(EXISTS ${folder}/${name}_samples.def)
      string(APPEND samples "#include \"layers/${name}/${name}_samples.def\"\n")
    endif()
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/layer_list.cpp CONTENT
"// Generated from the folders of src/layers.
#include \"layers/layer.h\"

namespace loom {

${declarations}
void register_all_layers(LayerList& layers);
void register_all_layers(LayerList& layers) {
${calls}}

}  // namespace loom
")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/layers/samples.def CONTENT "${samples}" @ONLY)
target_sources(loom_layers PRIVATE ${PROJECT_BINARY_DIR}/generated/layer_list.cpp)
