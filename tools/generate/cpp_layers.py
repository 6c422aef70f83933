"""The layers of loom.hpp's layers.hpp: an aggregate of settings and a function for each type."""
import textwrap

from description import NOTE, number

WIDTH = 100
BY_HAND = ("sequential", "residual")  # layer.hpp
TYPES = {"integer": "std::int64_t", "number": "double", "boolean": "bool", "string": "std::string",
         "enum": "std::string", "strings": "std::vector<std::string>", "integer lists": "Sizes",
         "any": "Json", "rules": "Json"}
# Of C++, which no setting may be called.
KEYWORDS = {"class", "default", "new", "operator", "register", "switch", "this", "union", "using"}

HEAD = """// %s
// Layers in the field's terms: what makes a network's topology, to be included beside loom.hpp.
//
//   namespace layers = loom::layers;
//   loom::Network network(layers::sequential({layers::input(784),
//                                             layers::dense({.out = 128, .activation = "relu"}),
//                                             layers::dense({.out = 10})}), 1);
//
// Settings have the names, the defaults and the order of docs/reference/layers.md, which says what
// each one is; widths follow from what arrives. Common to all are dtype, name, enabled, tie and
// fixed: layers::dense({.out = 10}).name("head"). The library refuses a wrong value by its name.
#ifndef LOOM_LAYERS_HPP
#define LOOM_LAYERS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "layer.hpp"

namespace loom {
inline namespace api {
namespace layers {
"""
END = """
}  // namespace layers
}  // namespace api
}  // namespace loom

#endif
"""


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def type_of(field):
    return "Size" if field["type"] == "integers" else TYPES[field["type"]]


def must_be_given(field):
    return field.get("required") and "only" not in field


def initial(field):
    """Its default; of one that must be given, what the library refuses."""
    value, kind = field.get("default"), type_of(field)
    if kind == "std::int64_t":
        return " = %d" % value
    if kind == "double":
        return " = " + number(value)
    if kind == "bool":
        return " = " + str(value).lower()
    if kind == "std::string" and value and not must_be_given(field):
        return ' = "%s"' % value
    if kind == "Size" and isinstance(value, int):
        return " = %d" % value
    return "{}"


def wrapped(text):
    lines = textwrap.wrap(text, WIDTH - 3, break_on_hyphens=False)
    return "".join("// %s\n" % line for line in lines)


def struct(name, fields):
    for field in fields:
        assert field["key"] not in KEYWORDS, field["key"] + " is a word of C++"
    members = ["  %s %s%s;\n" % (type_of(f), f["key"], initial(f)) for f in fields]
    return "struct %s {\n%s};\n" % (name, "".join(members))


def function(layer, settings):
    kind = layer["type"]
    parameters, chain = [], ['Layer("%s")' % kind]
    if layer["container"]:
        parameters.append("std::vector<Layer> layers")
        chain.append(".inside(std::move(layers))")
    if layer["fields"]:
        needed = any(must_be_given(f) for f in layer["fields"])
        parameters.append("const %s& s%s" % (settings, "" if needed else " = {}"))
    for f in layer["fields"]:
        key = f["key"]
        chain.append('.set("%s", s.%s)' % (key, key) if must_be_given(f)
                     else '.set("%s", s.%s, usual.%s)' % (key, key, key))
    head = "inline Layer %s(%s) {" % (kind, ", ".join(parameters))
    if any("usual" in part for part in chain):
        head += "\n  const %s usual{};" % settings
    lines, line = [], "  return "
    for part in chain:
        if len(line) + len(part) > WIDTH - 1:
            lines.append(line)
            line = "      "
        line += part
    return head + "\n" + "\n".join(lines + [line]) + ";\n}\n"


def header(described, old):
    out, known = [HEAD % NOTE], {}
    for layer in described["layers"]:
        if layer["type"] in BY_HAND:
            continue
        fields, name = layer["fields"], camel(layer["type"])
        out.append("\n" + wrapped(layer["about"].replace("`", "")))
        form = str([(f["key"], type_of(f), initial(f)) for f in fields])
        if fields and form in known:
            out.append("using %s = %s;\n" % (name, known[form]))
        elif fields:
            known[form] = name
            out.append(struct(name, fields))
        out.append(function(layer, name))
    return "".join(out) + END
