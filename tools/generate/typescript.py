"""Types of the JavaScript package: topology.d.ts, and a file of layers/ for each section of the
reference."""
import re
import textwrap

from description import NOTE, condition_text, number, range_text
from reference import SECTIONS, sections

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


def file_of(heading):
    return heading.split()[0].lower()


FILES = [file_of(heading) for heading, _ in SECTIONS] + ["others"]


def by_file(described):
    return {file_of(heading): groups for heading, groups in sections(described)}


def names_of(names, wrapped_in):
    """An import of names, in lines."""
    line = wrapped_in % (" " + ", ".join(names) + " ")
    if len(line) <= 100:
        return line + "\n"
    lines = textwrap.wrap(", ".join(names), 98)
    return wrapped_in % ("\n  " + "\n  ".join(lines) + ",\n") + "\n"


def layers(file):
    """What makes layers/FILE.d.ts."""
    def made(described, old):
        inner = next(f for f in described["cell"]["fields"] if f["key"] == "layers")
        out = []
        for group in by_file(described).get(file, ()):
            out.append("\n" + comment(group[0]["about"]))
            out.append("export interface %s extends AnyCell {\n" % interface_name(group))
            out.append("  type: %s;\n" % " | ".join("'%s'" % one["type"] for one in group))
            out += [member(f) for f in group[0]["fields"]]
            if group[0]["container"]:
                out.append(member({**inner, "required": True}))
            out.append("}\n")
        body = "".join(out)
        if not body:
            return ""
        code = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        used = [name for name in ("Activation", "AnyCell", "Cell", "Coordinate", "Input", "Link",
                                  "Rule") if re.search(r"\b%s\b" % name, code)]
        return ("// %s\n// Layers: docs/reference/layers.md.\n\n" % NOTE
                + names_of(used, "import type {%s} from '../topology.js';") + body)
    return made


def topology(described, old):
    cell = [f for f in described["cell"]["fields"] if f["key"] not in ("type", "layers")]
    dense = next(one for one in described["layers"] if one["type"] == "dense")
    activation = next(f for f in dense["fields"] if f["key"] == "activation")
    named = {file: [interface_name(group) for group in groups]
             for file, groups in by_file(described).items()}
    out = ["// %s\n// Topologies: docs/reference/topology.md; layers are in layers/.\n\n" % NOTE]
    for file, names in named.items():
        out.append(names_of(names, "import type {%%s} from './layers/%s.js';" % file))
    out.append("".join("export type * from './layers/%s.js';\n" % file for file in named) + "\n")
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
    interfaces = ["EmptyCell"] + [name for names in named.values() for name in names]
    out.append("\n/** An empty cell, which passes its input on, or one that runs another. */\n"
               "export interface EmptyCell extends AnyCell {\n  type?: undefined;\n}\n")
    out.append("\nexport type Cell =\n  | %s;\n" % "\n  | ".join(interfaces))
    out.append("\n" + comment(described["topology"]["about"]))
    out.append("export interface Topology {\n")
    out += [member(f) for f in described["topology"]["fields"]]
    out.append("}\n")
    return "".join(out)
