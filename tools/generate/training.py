"""What is made of a training spec's field lists."""
import textwrap

import schema as json_schema
import typescript as types
from description import NOTE, replaced
from reference import default_text, meaning, range_text

KINDED = ("data", "method", "optimizer", "schedule")  # objects whose keys depend on their "type"
NAMED = ("method",)  # objects in whose place the name of a type may stand
PLAIN = ("lora", "quantize", "step_mesh", "validation")
UNNAMED = ("caller", "back_propagation", "adamw", "constant")  # what is meant without a "type"


def without_type(one):
    return [f for f in one["fields"] if f["key"] != "type"]


def variants(described, name):
    out = []
    for one in described[name]:
        fields = {"about": "", "fields": without_type(one)}
        if one["type"] == "one_cycle":  # it begins with a warm-up of its own
            fields["fields"] = [{**f, "max": 0} if f["key"] == "warmup" else f
                                for f in fields["fields"]]
        about = next(f["doc"] for f in one["fields"] if f["key"] == "type")
        made = json_schema.object_of(fields, type={"const": one["type"], "description": about})
        for key in ("targets", "milestones"):
            if key in made["properties"]:
                lists = made["properties"][key]
                lists.pop("oneOf", None)
                field = next(f for f in fields["fields"] if f["key"] == key)
                item = {"type": "string"} if field["type"] == "strings" else {
                    "type": "integer", **json_schema.limits(field)}
                lists.update({"type": "array", "items": item, "minItems": 1})
                lists.pop("default", None)
        if one["type"] in UNNAMED:
            made.pop("required", None)
        if "separator" in made["properties"]:
            made["properties"]["separator"].update(minLength=1, maxLength=1)
        out.append(made)
    return out


def schema(described, old):
    top = [f for f in described["training"]["fields"]]
    root = json_schema.object_of({"about": described["training"]["about"], "fields": top},
                                 format={"const": "loom-training"}, version={"const": 2},
                                 name={"type": "string", "description": "free text for people"})
    for field in top:
        made = root["properties"][field["key"]]
        made.pop("$ref", None)
        if field["type"] in KINDED:
            made["oneOf"] = variants(described, field["type"])
            if field["type"] in NAMED:
                made["oneOf"].append({"enum": [one["type"] for one in described[field["type"]]]})
        elif field["type"] in PLAIN:
            inner = json_schema.object_of(described[field["type"]])
            inner.pop("description", None)
            made.update(inner)
        elif field["type"] == "heads":
            made.update({"type": "array", "items": json_schema.object_of(described["head"])})
    # What no single field says.
    root["oneOf"] = [{"required": [key], "properties": {key: {"minimum": 1}}}
                     for key in ("steps", "epochs")]
    root["not"] = {"required": ["network", "network_file"]}
    whole = {"$schema": json_schema.DRAFT, "$comment": NOTE,
             "title": "Loom training spec", **root}
    return json_schema.dump(whole)


def merged(described, name):
    """The keys of all kinds of an object: field, {kind: default}."""
    rows = {}
    for one in described[name]:
        for field in without_type(one):
            rows.setdefault(field["key"], (field, {}))[1][one["type"]] = default_text(field)
    return rows.values()


def kind_table(described, name):
    every = [one["type"] for one in described[name]]
    out = ["| key | of | default | range | meaning |", "|---|---|---|---|---|"]
    kind = next(f for f in described[name][0]["fields"] if f["key"] == "type")
    usual = next(one for one in every if one in UNNAMED)
    out.append("| `type` |  | `%s` |  | %s |" % (usual, kind["doc"]))
    for field, defaults in merged(described, name):
        of = "" if len(defaults) == len(every) else ", ".join("`%s`" % k for k in defaults)
        usual = next(iter(defaults.values()))
        default = ", ".join([usual] + ["`%s`: %s" % (k, d) for k, d in defaults.items()
                                       if d != usual])
        cells = ("`%s`" % field["key"], of, default, range_text(field), meaning(field))
        out.append("| %s |" % " | ".join(cells))
    return "\n".join(out) + "\n"


def plain_table(fields):
    out = ["| key | default | range | meaning |", "|---|---|---|---|"]
    for field in fields:
        cells = ("`%s`" % field["key"], default_text(field), range_text(field), meaning(field))
        out.append("| %s |" % " | ".join(cells))
    return "\n".join(out) + "\n"


def reference(described, old):
    old = replaced(old, "training", plain_table(described["training"]["fields"]))
    old = replaced(old, "head", plain_table(described["head"]["fields"]))
    for name in PLAIN:
        old = replaced(old, name, plain_table(described[name]["fields"]))
    for name in KINDED:
        old = replaced(old, name, kind_table(described, name))
    return old


def camel(key):
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def typescript(described, old):
    names = {"data": "DataSpec", "method": "MethodSpec", "optimizer": "OptimizerSpec",
             "schedule": "ScheduleSpec",
             "lora": "LoraSpec", "quantize": "QuantizeSpec", "step_mesh": "StepMeshSpec",
             "validation": "ValidationSpec", "heads": "HeadSpec[]", "object": "Topology"}
    types.KINDS.update(names)
    out = ["// %s\n// Training specs: docs/reference/training-spec.md. Keys in camelCase, as the "
           "package takes them."
           "\n\nimport type { Topology } from './topology.js';\n" % NOTE]

    def interface(name, fields, extra=""):
        members = [types.member({**f, "default": f.get("default")}, camel) for f in fields]
        out.append("\nexport interface %s {\n%s%s}\n" % (name, extra, "".join(members)))

    for name in KINDED:
        made = []
        for one in described[name]:
            made.append("".join(w.capitalize() for w in one["type"].split("_"))
                        + name.capitalize())
            free = "?" if one["type"] in UNNAMED else ""
            interface(made[-1], without_type(one), "  type%s: '%s';\n" % (free, one["type"]))
        if name in NAMED:
            made += ["'%s'" % one["type"] for one in described[name]]
        joined = textwrap.wrap(" | ".join(made), 96)
        out.append("export type %s =\n  %s;\n" % (names[name], "\n  ".join(joined)))
    for name in PLAIN:
        interface(names[name], described[name]["fields"])
    interface("HeadSpec", described["head"]["fields"])
    interface("TrainingSpec", described["training"]["fields"],
              "  format?: 'loom-training';\n  version?: 2;\n  name?: string;\n")
    text = "".join(out)
    return text.replace("  seed?: number;", "  seed?: number | bigint;")
