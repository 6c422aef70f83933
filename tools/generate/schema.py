"""JSON Schema (draft 2020-12) of field lists."""
import json

from description import NOTE

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SCALARS = {"integer": "integer", "number": "number", "boolean": "boolean", "string": "string"}
LIMITS = (("min", "minimum"), ("above", "exclusiveMinimum"), ("max", "maximum"),
          ("below", "exclusiveMaximum"))


def limits(field):
    return {name: field[key] for key, name in LIMITS if key in field}


def kind(field):
    """The type of a field's value, without its range."""
    if field["type"] in SCALARS:
        return {"type": SCALARS[field["type"]]}
    if field["type"] == "enum":
        return {"type": "string"}
    if field["type"] in ("integers", "integer lists", "strings", "any"):
        return {}
    if field["type"] == "object":
        return {} if "names" in field else {"type": "object"}
    return {"$ref": "#/$defs/" + field["type"]}


def allowed(field):
    """What its value may be, beside its type."""
    if "names" in field and field["type"] == "object":  # a name, or numbers
        return {"oneOf": [{"enum": field["names"]},
                          {"type": "array", "items": {"type": "number", "minimum": 0}}]}
    if "names" in field:
        none = [""] if field.get("default") == "" and not field.get("required") else []
        return {"enum": field["names"] + none}
    one = {"type": "integer", **limits(field)}
    if field["type"] == "integers":
        return {"oneOf": [one, {"type": "array", "items": one}]}
    if field["type"] == "integer lists":
        return {"type": "array", "items": {"type": "array", "items": one}}
    if field["type"] == "strings":
        return {"type": "array", "items": {"type": "string"}}
    return limits(field)


def property_of(field):
    out = {"description": field["doc"], **kind(field)}
    if "only" not in field:
        out.update(allowed(field))
    if "default" in field and not field.get("required") and field["default"] != "":
        out["default"] = field["default"]
    return out


def conditions(fields):
    """if/then/else for each field that goes with another one only."""
    out = []
    by_key = {f["key"]: f for f in fields}
    for field in fields:
        if "only" not in field:
            continue
        key, values = field["only"]["key"], field["only"]["values"]
        holds = {"properties": {key: {"enum": values}}}
        if by_key[key]["default"] not in values:
            holds["required"] = [key]
        then = {"properties": {field["key"]: allowed(field)}}
        if field.get("required"):
            then["required"] = [field["key"]]
        other = ({"properties": {field["key"]: {"const": field["default"]}}}
                 if "default" in field else {"not": {"required": [field["key"]]}})
        out.append({"if": holds, "then": then, "else": other})
    return out


def object_of(one, **more):
    """An object with exactly the keys of a field list; `more`: properties in front of them."""
    fields = one["fields"]
    required = [k for k, v in more.items() if "const" in v]
    required += [f["key"] for f in fields if f.get("required") and "only" not in f]
    out = {"type": "object", "additionalProperties": False}
    if one.get("about"):
        out["description"] = one["about"]
    if required:
        out["required"] = required
    out["properties"] = {**more, **{f["key"]: property_of(f) for f in fields}}
    if conditions(fields):
        out["allOf"] = conditions(fields)
    return out


def coordinate():
    return {"description": "a cell: [z, y, x, l]", "type": "array",
            "items": {"type": "integer", "minimum": 0}, "minItems": 4, "maxItems": 4}


def link(kinds):
    return {"oneOf": [{"type": "object", "additionalProperties": False, "required": [name],
                       "properties": {name: {"$ref": "#/$defs/coordinate"}}} for name in kinds]}


def cell_of(described, layer):
    common = [f for f in described["cell"]["fields"] if f["key"] != "type"]
    if not layer["container"]:
        common = [f for f in common if f["key"] != "layers"]
    shared = {f["key"]: {"$ref": "#/$defs/any_cell/properties/" + f["key"]} for f in common}
    whole = object_of(layer, type={"const": layer["type"]})
    whole["properties"].update(shared)
    if layer["container"]:
        whole["required"].append("layers")
    return whole


def topology(described, old):
    cell = described["cell"]["fields"]
    untyped = object_of({"about": "An empty cell, which passes its input on, or one that runs "
                                  "another.", "fields": []})
    untyped["properties"] = {f["key"]: {"$ref": "#/$defs/any_cell/properties/" + f["key"]}
                             for f in cell if f["key"] not in ("type", "layers")}
    names = [layer["type"] for layer in described["layers"]]
    inputs = {**object_of(described["input"]), "minProperties": 1}
    cells = {"type": "array", "items": {"allOf": [{"required": ["at"]}, {"$ref": "#/$defs/cell"}]}}
    defs = {
        "coordinate": coordinate(),
        "input": inputs,
        "inputs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/input"}},
        "links": {"type": "array", "items": link(["read", "send", "run"])},
        "layers": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/cell"}},
        "layer": {"$ref": "#/$defs/cell"},
        "rule": object_of(described["rule"]),
        "rules": {"oneOf": [{"const": "default"},
                            {"type": "array", "items": {"$ref": "#/$defs/rule"}}]},
        "cells": cells,
        "cell": {"oneOf": [{"$ref": "#/$defs/" + name} for name in names + ["empty_cell"]]},
        "any_cell": {"properties": {f["key"]: property_of(f) for f in cell}},
        "empty_cell": untyped,
    }
    defs.update({layer["type"]: cell_of(described, layer) for layer in described["layers"]})
    return text_of("Loom topology, version 1", object_of(described["topology"]), defs)


def text_of(title, root, defs):
    whole = {"$schema": DRAFT, "$comment": NOTE, "title": title, **root, "$defs": defs}
    return dump(whole)


def dump(whole):
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
