"""Types of the JavaScript package."""
import textwrap

from description import NOTE, condition_text, number, range_text
from reference import sections

KINDS = {"integer": "number", "number": "number", "boolean": "boolean", "string": "string",
         "integers": "number | number[]", "integer lists": "number[][]", "strings": "string[]",
         "any": "unknown",
         "coordinate": "Coordinate", "input": "Input", "inputs": "Input[]", "links": "Link[]",
         "layers": "Cell[]", "layer": "Cell", "rules": "Rule[] | 'default'",
         "cells": "(Cell & { at: Coordinate })[]"}


def type_of(field):
    if "names" not in field:
        return KINDS[field["type"]]
    if field["key"] == "activation" and field["type"] == "enum" and len(field["names"]) > 2:
        return "Activation"
    names = " | ".join("'%s'" % n for n in field["names"])
    return "number[] | " + names if field["type"] == "object" else names


def comment(text, indent=""):
    lines = textwrap.wrap(text.replace("*/", "* /"), 92 - len(indent))
    if len(lines) == 1:
        return "%s/** %s */\n" % (indent, lines[0])
    return indent + "/** " + ("\n%s *  " % indent).join(lines) + " */\n"


def said(field):
    parts = [field["doc"], condition_text(field), range_text(field)]
    default = field.get("default")
    if not field.get("required") and default not in (None, "", []):
        parts.append("default " + (default if isinstance(default, str) else number(default)))
    return "; ".join(part for part in parts if part)


def member(field, spelled=lambda key: key):
    needed = field.get("required") and "only" not in field
    line = "  %s%s: %s;\n" % (spelled(field["key"]), "" if needed else "?", type_of(field))
    if len(line) > 100:
        names = type_of(field).split(" | ")
        joined = textwrap.wrap(" | ".join(names), 94)
        line = "  %s%s:\n    %s;\n" % (spelled(field["key"]), "" if needed else "?",
                                      "\n    ".join(joined))
    return comment(said(field), "  ") + line


def interface_name(group):
    names = [layer["type"] for layer in group]
    base = names[0].rstrip("123") if len(names) > 1 else names[0]
    return "".join(word.capitalize() for word in base.split("_")) + "Cell"


def topology(described, old):
    cell = [f for f in described["cell"]["fields"] if f["key"] not in ("type", "layers")]
    layers = next(f for f in described["cell"]["fields"] if f["key"] == "layers")
    dense = next(one for one in described["layers"] if one["type"] == "dense")
    activation = next(f for f in dense["fields"] if f["key"] == "activation")
    out = ["// %s\n// Topologies: docs/reference/topology.md, docs/reference/layers.md.\n\n" % NOTE]
    names = textwrap.wrap(" | ".join("'%s'" % n for n in activation["names"]), 96)
    out.append("export type Activation =\n  %s;\n\n" % "\n  ".join(names))
    out.append("/** A cell: [z, y, x, l]. */\n"
               "export type Coordinate = [number, number, number, number];\n"
               "export type Link = { read: Coordinate } | { send: Coordinate } | "
               "{ run: Coordinate };\n\n")
    out.append(comment(described["input"]["about"]))
    out.append("export interface Input {\n")
    out += [member(f) for f in described["input"]["fields"]]
    out.append("}\n\n")
    out.append("/** What every cell may have. */\nexport interface AnyCell {\n")
    out += [member(f) for f in cell]
    out.append("}\n")
    out.append("\n/** A rule of a metacognition. */\nexport interface Rule {\n")
    out += [member(f) for f in described["rule"]["fields"]]
    out.append("}\n")
    interfaces = ["EmptyCell"]
    out.append("\n/** An empty cell, which passes its input on, or one that runs another. */\n"
               "export interface EmptyCell extends AnyCell {\n  type?: undefined;\n}\n")
    for _, groups in sections(described):
        for group in groups:
            interfaces.append(interface_name(group))
            out.append("\n" + comment(group[0]["about"]))
            out.append("export interface %s extends AnyCell {\n" % interfaces[-1])
            out.append("  type: %s;\n" % " | ".join("'%s'" % one["type"] for one in group))
            out += [member(f) for f in group[0]["fields"]]
            if group[0]["container"]:
                out.append(member({**layers, "required": True}))
            out.append("}\n")
    out.append("\nexport type Cell =\n  | %s;\n" % "\n  | ".join(interfaces))
    out.append("\n" + comment(described["topology"]["about"]))
    out.append("export interface Topology {\n")
    out += [member(f) for f in described["topology"]["fields"]]
    out.append("}\n")
    return "".join(out)
