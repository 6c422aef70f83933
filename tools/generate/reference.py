"""The reference of topologies: tables of keys, and a page of all layer types."""
import textwrap

from description import NOTE, condition_text, number, range_text, replaced

# Headings of the page, and the types under them in the order in which people look for them. A type
# that stands nowhere comes last.
SECTIONS = (
    ("Products", "dense embedding swiglu attention cross_attention positions"),
    ("Convolutions and pools", "conv1d conv2d conv3d conv_transpose1d "
     "conv_transpose2d conv_transpose3d max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d "
     "avg_pool3d"),
    ("Recurrent layers", "rnn gru lstm"),
    ("Norms and noise", "layer_norm rms_norm batch_norm group_norm instance_norm standardize "
     "dropout"),
    ("Containers and shapes", "sequential residual parallel part time_distributed "
     "metacognition flatten reshape"),
    ("Probabilities", "softmax log_softmax adaptive_softmax mixture_of_softmaxes kmeans"),
    ("Functions of whole rows",
     "activation unary binary select reduce permute index_select batched_matmul"),
)


def sections(described):
    """(heading, groups); a group are the types that take and say the same."""
    by_type = {layer["type"]: layer for layer in described["layers"]}
    placed = [(heading, [by_type.pop(t) for t in types.split() if t in by_type])
              for heading, types in SECTIONS]
    if by_type:
        placed.append(("Others", list(by_type.values())))
    for heading, layers in placed:
        groups = []
        for layer in layers:
            for group in groups:
                if (group[0]["about"], group[0]["fields"]) == (layer["about"], layer["fields"]):
                    group.append(layer)
                    break
            else:
                groups.append([layer])
        if groups:
            yield heading, groups


def default_text(field):
    value = field.get("default")
    if field.get("required") or value in ("", [], None):
        return "required" if field.get("required") else ""
    return "`%s`" % (value if isinstance(value, str) else number(value))


def meaning(field):
    words = field["doc"]
    of = condition_text(field)
    if of:
        words = "%s: %s" % (of, words)
    named = [n for n in field.get("names", []) if "`%s`" % n not in words]
    if named and field["type"] == "string":
        words += "; one of " + ", ".join("`%s`" % n for n in field["names"])
    return words.replace("|", "\\|")


def table(fields):
    rows = ["| key | default | range | meaning |", "|---|---|---|---|"]
    for f in fields:
        cells = ("`%s`" % f["key"], default_text(f), range_text(f), meaning(f))
        rows.append("| %s |" % " | ".join(cells))
    return "\n".join(rows) + "\n"


def functions(described):
    """The names of each enum of the layers, once."""
    out = []
    for layer in described["layers"]:
        for field in layer["fields"]:
            if field["type"] != "enum" or field["key"] == "activation" and layer["type"] != "dense":
                continue
            what = "activation" if field["key"] == "activation" else "`op` of `%s`" % layer["type"]
            names = ", ".join("`%s`" % n for n in field["names"])
            out += textwrap.wrap("* %s: %s" % (what, names), 100, subsequent_indent="  ")
    return "\n".join(out) + "\n"


def layers(described, old):
    out = ["# Layer types\n\n<!-- %s -->\n\n" % NOTE]
    out.append("The settings of a cell by its `type`, beside those that [every cell]"
               "(topology.md) has. A setting\nthat goes with another one only is refused where it "
               "would do nothing. A range is that of a\nnumber, or of each number of a list. "
               "`loom show --schema topology` prints all of it for editors.\n")
    for heading, groups in sections(described):
        out.append("\n## %s\n" % heading)
        for group in groups:
            out.append("\n### %s\n\n" % ", ".join(layer["type"] for layer in group))
            out.append("\n".join(textwrap.wrap(group[0]["about"], 100)) + "\n")
            if group[0]["container"]:
                out.append("\nIts layers are in `layers`.\n")
            if group[0]["fields"]:
                out.append("\n" + table(group[0]["fields"]))
    out.append("\n## Names of functions\n\n" + functions(described))
    return "".join(out)


def topology(described, old):
    for name in ("topology", "input", "cell", "rule"):
        fields = described[name]["fields"]
        if name == "input":  # it is one of its keys
            fields = [{**f, "default": None} for f in fields]
        old = replaced(old, name, table(fields))
    types = []
    for heading, groups in sections(described):
        names = [layer["type"] for group in groups for layer in group]
        types.append("| %s | %s |" % (heading, ", ".join("`%s`" % n for n in names)))
    return replaced(old, "types", "| | |\n|---|---|\n" + "\n".join(types) + "\n")
