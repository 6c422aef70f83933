"""What is made of the lists of the C interface's options (src/c_api/options/options.h)."""
import re
import textwrap

import schema as json_schema
import typescript as types
from description import NOTE
from reference import table
from training import camel

# Function of the C interface: its type in JavaScript.
INTERFACES = {"session_create": "SessionOptions", "session_observe": "ObserveOptions",
              "session_forecast": "ForecastOptions",
              "seq2seq_create": "Seq2SeqOptions", "seq2seq_search": "SearchOptions",
              "step_mesh_create": "StepMeshOptions", "step_mesh_observe": "ObserveTicksOptions",
              "online_create": "OnlineOptions", "program_create": "ProgramOptions",
              "trainer_create": "TrainerOptions", "trainer_observe": "ObserveTrainerOptions",
              "generator_create": "GeneratorOptions", "generator_start": "SamplingOptions",
              "model_create": "ModelOptions", "sampling": "Sampling",
              "tokenizer_train": "TokenizerOptions", "training_open": "FileTrainingOptions",
              "file_convert": "ConvertOptions",
              "network_export": "ExportOptions", "file_info": "FileInfoOptions",
              "onnx_network": "GraphNetworkOptions",
              "evaluator_create": "EvaluatorOptions",
              "predictor_open": "PredictorOptions", "predictor_plan": "PlanOptions",
              "cluster_k_means": "KMeansOptions", "cluster_hierarchy": "HierarchyOptions",
              "cluster_cut": "CutOptions", "ensemble_matches": "MatchOptions",
              "verify": "VerifyOptions", "audit": "AuditOptions"}
SHAPES = {"id": "number | null", "ids": "number | number[] | null", "sampling": "Sampling",
          "device": "Device", "mode": "Mode", "seed": "number | bigint"}
# Keys whose type in JavaScript says more than their kind of value does.
NAMED = ("device", "mode", "seed")
ID = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}


def reference(described, old):
    out = ["# Options\n\n<!-- %s -->\n\n" % NOTE]
    out += [line + "\n" for line in textwrap.wrap(
        "The `options` of the [C interface](c-api.md), as JSON; most of them are "
        "[structs](c-api.md#structs-of-options) as well, and aggregates in C++. Python takes them "
        "as "
        "keyword arguments, JavaScript in camelCase. An unknown key is refused, with the nearest "
        "known one; so is a value out of its range. `null` is the default, but where a table says "
        "otherwise. `loom show --schema options` prints all of it for editors and other programs.",
        100, break_on_hyphens=False)]
    for one in described["options"]:
        out.append("\n## %s\n\n" % one["type"])
        out.append("\n".join(textwrap.wrap(one["about"], 100)) + "\n\n" + table(one["fields"]))
    return "".join(out)


def schema(described, old):
    defs = {one["type"]: json_schema.object_of(one) for one in described["options"]}
    one_of = [{"type": "null"}, ID]
    defs["id"] = {"description": "a token's id, or null for none",
                  "oneOf": one_of + [{"type": "array", "items": ID, "maxItems": 1}]}
    defs["ids"] = {"description": "ids of tokens, or null for none",
                   "oneOf": one_of + [{"type": "array", "items": ID}]}
    root = {"description": "The options of one function of the C interface: see $defs.",
            "anyOf": [{"$ref": "#/$defs/" + one["type"]} for one in described["options"]
                      if one["type"] != "sampling"]}
    return json_schema.text_of("Options of Loom's C interface", root, defs)


def plain(text):
    """Links of the reference, in a comment of code."""
    return re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1 (docs/reference/\2)", text)


def member(field):
    shaped = {k: v for k, v in field.items() if k not in ("names", "default")}
    shaped["doc"] = plain(field["doc"])
    if field["key"] in NAMED:
        shaped["type"] = field["key"]
    return types.member(shaped, camel)


def typescript(described, old):
    types.KINDS.update(SHAPES)
    fields = {f["key"]: f for one in described["options"] for f in one["fields"]}
    out = ["// %s\n// Options: docs/reference/options.md. Keys in camelCase, as the package takes "
           "them.\n" % NOTE]
    for key, name in (("device", "Device"), ("mode", "Mode")):
        names = " | ".join("'%s'" % n for n in fields[key]["names"])
        out.append("\n" + types.comment(plain(fields[key]["doc"])) + "export type %s =\n  %s;\n"
                   % (name, names))
    for one in described["options"]:
        out.append("\n" + types.comment(one["about"]))
        out.append("export interface %s {\n" % INTERFACES[one["type"]])
        out += [member(f) for f in one["fields"]] + ["}\n"]
    return "".join(out)
