#!/usr/bin/env python3
"""Makes of loom.json everything that must agree about the C ABI: the header, the list of exported
symbols, the reference page and the tables that the bindings call through. `generate.py` writes
them, `generate.py --check` fails where one differs. The keys of options come from the schema that
tools/generate makes of src/c_api/options/options.h."""
import argparse
import json
import pathlib
import re
import sys
import textwrap

import option_structs

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTE = "Made by api/generate.py from api/loom.json: edit those."

# What a parameter's kind looks like in C: (type, suffix of the name) of each C parameter it takes.
C_PARAMETERS = {
    "text": [("const char*", ""), ("size_t", "_size")],
    "json": [("const char*", ""), ("size_t", "_size")],
    "any": [("loom_handle", "")],
    "i32": [("int32_t", "")],
    "i64": [("int64_t", "")],
    "u64": [("uint64_t", "")],
    "bool": [("int32_t", "")],
    "out i32": [("int32_t*", "")],
    "out i64": [("int64_t*", "")],
    "out u64": [("uint64_t*", "")],
    "out f64": [("double*", "")],
    "out pointer": [("void**", "")],
}
for name, c in (("f32", "float"), ("f64", "double"), ("i32", "int32_t"), ("i64", "int64_t")):
    C_PARAMETERS["read " + name] = [("const %s*" % c, ""), ("size_t", "_count")]
    C_PARAMETERS["fill " + name] = [(c + "*", ""), ("size_t", "_count")]
# Functions of the host: bindings call it by hand.
C_PARAMETERS["layer"] = [("const loom_layer*", "")]
C_PARAMETERS["image_decoder"] = [("const loom_image_decoder*", "")]
C_PARAMETERS["source"] = [("const loom_source*", "")]
C_PARAMETERS["function"] = [("loom_function", "")]
RESULTS = {"text": "UTF-8", "json": "JSON", "i32s": "int32 values"}  # new things that come as bytes
RETURNS = {"cstr": "const char*", "i32": "int32_t"}


def load():
    api = json.loads((ROOT / "api/loom.json").read_text())
    for kind, _, _ in api["kinds"]:
        C_PARAMETERS["handle " + kind] = [("loom_" + kind, "")]
        C_PARAMETERS["new " + kind] = [("loom_%s*" % kind, "")]
    for result in RESULTS:
        C_PARAMETERS["new " + result] = [("loom_bytes*", "")]
    for struct in api["structs"]:
        C_PARAMETERS["options " + struct["name"]] = [("const loom_%s*" % struct["name"], "")]
    seen = set()
    for function in functions(api):
        assert function["name"] not in seen, function["name"] + " stands twice"
        seen.add(function["name"])
        for parameter in function.get("params", []):
            if parameter[2].startswith("@"):
                parameter[2] = options_text(api, parameter[2][1:])
            kind = parameter[1]
            assert kind in C_PARAMETERS, "%s: no kind of parameter %r" % (function["name"], kind)
    return api


def options_text(api, name):
    """The keys of an object of options, with their defaults, and where the rest stands."""
    struct = next((s["name"] for s in api["structs"] if s["options"] == name), None)
    if struct:
        return "the keys of loom_%s: docs/reference/options.md, %s" % (struct, name)
    schema = json.loads((ROOT / "docs/reference/options.schema.json").read_text())
    keys = []
    for key, field in schema["$defs"][name]["properties"].items():
        needed = key in schema["$defs"][name].get("required", [])
        value = field.get("default")
        text = "%g" % value if isinstance(value, float) else json.dumps(value)
        default = " (must be given)" if needed else " (%s)" % text if "default" in field else ""
        keys.append(key + default)
    return ", ".join(keys) + ": docs/reference/options.md, " + name


def functions(api):
    return [f for group in api["groups"] for f in group["functions"]]


def c_parameters(function):
    out = [(c, name + suffix) for name, kind, _ in function.get("params", []) for c,
           suffix in C_PARAMETERS[kind]]
    return out if "returns" in function else out + [("loom_error*", "error")]


def declaration(function):
    result = RETURNS[function["returns"]] if "returns" in function else "int32_t"
    parameters = ", ".join(c + " " + name for c, name in c_parameters(function)) or "void"
    return "%s loom_%s(%s)" % (result, function["name"], parameters)


WIDTH = 100


def fitted(text):
    """A declaration in lines of the header's width, parameters below one another's first."""
    if len(text) <= WIDTH:
        return text
    indent = text.index("(") + 1
    lines, line = [], text[:indent]
    parameters = text[indent:-2].split(", ")
    for i, one in enumerate(parameters):
        one += ");" if i + 1 == len(parameters) else ","
        if len(line) > indent and len(line) + 1 + len(one) > WIDTH:
            lines.append(line)
            line = " " * indent
        line += one if len(line) == indent else " " + one
    return "\n".join(lines + [line])


def comment(text, indent=""):
    # A line alone ends with its "*/".
    lines = textwrap.wrap(text, WIDTH - 6 - len(indent))
    if len(lines) == 1:
        return "%s/* %s */\n" % (indent, lines[0])
    return indent + "/* " + ("\n" + indent + " * ").join(lines) + " */\n"


def described(function):
    """What a function does, then a line per parameter that says more than its name."""
    text = comment(function["doc"])
    notes = ["%s: %s" % (name, ("JSON: " if kind in ("json", "new json") else "") + doc) for name,
             kind, doc in function.get("params", []) if doc]
    if notes:
        wrapped = [line for note in notes
                   for line in textwrap.wrap(note, WIDTH - 8, subsequent_indent="  ")]
        text = text.rstrip()[:-3].rstrip() + "\n *   " + "\n *   ".join(wrapped) + " */\n"
    return text


LAYER = """
/* A layer of the host's own (loom_layer_register). Rows of values lie one behind the other: row r
 * of an array begins at element r * stride. In forward x and params are read, and all of y is
 * written; in backward x, y, gy and params are read, and all of gx and gparams is written, gparams
 * being sums over the rows. Values are double where f64 is not 0, else float. */
typedef struct loom_layer_array {
  void* data;
  int64_t rows, cols, stride;
} loom_layer_array;

typedef struct loom_layer_call {
  const char* config; /* JSON, as the topology has it */
  size_t config_size;
  int32_t f64;
  int32_t param_count;
  loom_layer_array x, y, gy, gx;
  loom_layer_array params[4], gparams[4];
} loom_layer_call;

enum {
  LOOM_LAYER_F32 = 1, /* computes in float */
  LOOM_LAYER_F64 = 2, /* computes in double; both may be set */
  LOOM_LAYER_ROW_DEPENDENT = 4, /* a row of y depends on other rows of x */
};

/* Functions return LOOM_OK, or a code with error->message filled, which ends the call that runs the
 * network.
 *   plan: gets {"config": ..., "dims": [...]}, the row that arrives, and makes a bytes object of
 *     its answer, which the library releases: {"out": [...], "params": [{"role": "weight",
 *     "rows": 3, "cols": 8, "init": "normal", "std": 0.1}]}, at most 4 params; init is zeros (where
 *     it is left out), ones or normal
 *   backward: NULL where the layer has no gradient; then it and what comes before it cannot be
 *     trained
 *   release: NULL, or called once with user, when the layer is unregistered */
typedef struct loom_layer {
  size_t size; /* sizeof(loom_layer) */
  const char* name; /* "acme.swirl" */
  int32_t version; /* from 1 */
  int32_t flags;
  void* user;
  int32_t (*plan)(void* user, const char* request, size_t request_size, loom_bytes* plan,
                  loom_error* error);
  int32_t (*forward)(void* user, const loom_layer_call* call, loom_error* error);
  int32_t (*backward)(void* user, const loom_layer_call* call, loom_error* error);
  void (*release)(void* user);
} loom_layer;
"""


IMAGE_DECODER = """
/* A decoder of images of the host's own (image_decoder_register). Both functions take the bytes of
 * a file, and return LOOM_OK, or a code with error->message filled: what is wrong, without a name.
 * Any thread calls them.
 *   measure: height and width, without decoding it
 *   decode: makes a bytes object of the pixels, which the library releases: rows from the top, the
 *     channels of a pixel together: 1 grey, 2 grey and alpha, 3 red, green, blue, 4 those and alpha
 *   release: NULL, or called once with user, when it is unregistered or replaced */
typedef struct loom_image_decoder {
  size_t size; /* sizeof(loom_image_decoder) */
  void* user;
  int32_t (*measure)(void* user, const void* file, size_t file_size, int64_t* height,
                     int64_t* width, loom_error* error);
  int32_t (*decode)(void* user, const void* file, size_t file_size, int64_t* height,
                    int64_t* width, int64_t* channels, loom_bytes* pixels, loom_error* error);
  void (*release)(void* user);
} loom_image_decoder;
"""


SOURCE = """
/* A file that the host reads (file_open_source). One thread at a time calls it; any may.
 *   bytes: how many the file has, which do not change
 *   name: what messages call it; UTF-8, ends with a zero, copied; NULL: "(source)"
 *   read: fills `out` with `count` bytes from `offset` on, a range inside of the file. Returns
 *     LOOM_OK with the number that it wrote in *got, where fewer are an error (truncated), or a
 *     code with error->message filled
 *   release: NULL, or called once with user, when nothing reads from it any more; also where
 *     file_open_source fails behind its checks of these arguments */
typedef struct loom_source {
  size_t size; /* sizeof(loom_source) */
  void* user;
  uint64_t bytes;
  const char* name;
  int32_t (*read)(void* user, uint64_t offset, void* out, size_t count, size_t* got,
                  loom_error* error);
  void (*release)(void* user);
} loom_source;
"""


FUNCTION = """
/* A function of the host's, cast to this type. */
typedef void (*loom_function)(void);
"""


def with_struct(function):
    """Whether it takes a struct of options: a function of C and C++ alone."""
    return any(kind.startswith("options ") for _, kind, _ in function.get("params", []))


def by_hand(function):
    return with_struct(function) or any(
        kind in ("layer", "image_decoder", "source", "function")
        for _, kind, _ in function.get("params", []))


def prototypes(groups):
    out = []
    for group in groups:
        # Calls with structs of options are declared in options.h.
        group = {**group, "functions": [f for f in group["functions"] if not with_struct(f)]}
        one = "/* ---- %s: %s */" % (group["name"], group["doc"])
        if len(one) > WIDTH:
            lines = textwrap.wrap(group["doc"], WIDTH - 6)
            one = "/* ---- %s\n * %s */" % (group["name"], "\n * ".join(lines))
        out.append("\n" + one + "\n")
        for function in group["functions"]:
            prototype = fitted("LOOM_API " + declaration(function) + ";")
            out.append("\n" + described(function) + prototype + "\n")
    return "".join(out)


def layer_header(api):
    """What layers of the host's own are, and how they are registered."""
    return ("/* %s */\n/* Layers of the host's own: a part of loom/loom.h, which includes it. */\n"
            "#ifndef LOOM_LAYER_H\n#define LOOM_LAYER_H\n\n#include <loom/loom.h>\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n" % NOTE
            + LAYER + prototypes(g for g in api["groups"] if g["name"] == "layer")
            + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n")


# Parts of loom.h that are headers of their own: their groups, and what they are about.
PARTS = {
    "training": (("data", "trainer", "training", "inputs", "predictor", "evaluator"),
                 "data, training, and measures"),
    "file": (("file",), "model files"),
    "seq2seq": (("seq2seq",), "encoder-decoders"),
    "step_mesh": (("step mesh",), "networks that run by ticks"),
    "program": (("program",), "saved programs"),
    "onnx": (("onnx",), "graphs of ONNX files"),
    "population": (("population",), "neuroevolution"),
    "cluster": (("cluster", "ensemble", "measure"),
                "groups of rows, ensembles, and figures"),
    "online": (("online",), "learning beside answers"),
    "webgpu": (("webgpu",), "the WebGPU of a host"),
}


def part_header(name):
    def make(api):
        groups, about = PARTS[name]
        return ("/* %s */\n/* A part of loom/loom.h, which includes it: %s. */\n"
                "#ifndef LOOM_%s_H\n#define LOOM_%s_H\n\n#include <loom/loom.h>\n\n"
                "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
                % (NOTE, about, name.upper(), name.upper())
                + {"training": IMAGE_DECODER, "file": SOURCE, "webgpu": FUNCTION}.get(name, "")
                + prototypes(g for g in api["groups"] if g["name"] in groups)
                + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n")
    return make


def options_header(api):
    declared = ["\n" + described(f) + fitted("LOOM_API " + declaration(f) + ";") + "\n"
                for f in functions(api) if with_struct(f)]
    return option_structs.c_header(option_structs.load(api), NOTE, "".join(declared))


def options_table(api):
    return option_structs.table(option_structs.load(api), NOTE)


def cpp_options(api):
    return option_structs.cpp_header(option_structs.load(api), NOTE)


HEADER_TOP = """/* The C interface of Loom, the embeddable neural engine.
 *
 * Every function that can fail returns a code (0 is LOOM_OK) and, where `error` is not NULL, fills
 * the caller's loom_error. No function throws, prints or aborts. What a function writes through its
 * pointers is written on success only.
 *
 * Objects are handles: numbers, 0 is none. loom_release gives one back; a released or wrong one is
 * LOOM_INVALID_HANDLE, never a crash. Texts go in as pointer and size, without a terminating zero,
 * and come out as bytes objects: loom_bytes_data, then loom_release. Objects take JSON for their
 * options, or structs (loom/options.h). Unknown keys are refused by name. An empty text is {}.
 *
 * Threads: every function may be called from any thread. Which objects take several calls at a time
 * stands with the kinds below; the others answer LOOM_BUSY to a second one. A child of fork() may
 * go on with its parent's objects; what another thread was changing or running at that moment is
 * LOOM_BUSY there for ever, and devices of a GPU are to be opened again. */
#ifndef LOOM_LOOM_H
#define LOOM_LOOM_H

#include <stddef.h>
#include <stdint.h>

#if defined(LOOM_STATIC) || !defined(_WIN32)
#define LOOM_API
#else
#define LOOM_API __declspec(dllimport)
#endif

#ifdef __cplusplus
extern "C" {
#endif

"""


def header(api):
    out = ["/* %s */\n" % NOTE, HEADER_TOP]
    out.append("#define LOOM_ABI_VERSION %d\n\n" % api["abi_version"])

    def enum(prefix, rows):
        out.append("enum {\n")
        for name, value, doc in rows:
            line = "  LOOM_%s%s = %d," % (prefix, name.upper(), value)
            one = "%s /* %s */\n" % (line, doc)
            out.append(one if len(one) <= WIDTH + 1 else comment(doc, "  ") + line + "\n")
        out.append("};\n\n")

    out.append("/* Results of functions. */\n")
    enum("", api["codes"])
    out.append("/* Kinds of objects, and how many calls at a time they take. */\n")
    enum("KIND_", api["kinds"])
    out.append("/* Finish reasons. */\n")
    enum("FINISH_", api["finish"])
    out.append("typedef uint64_t loom_handle;\n")
    for kind, _, _ in api["kinds"]:
        out.append("typedef loom_handle loom_%s;\n" % kind)
    out.append("""
/* The caller's: it says what, where, and what would be right. */
typedef struct loom_error {
  int32_t code;
  char message[1020]; /* UTF-8, ends with a zero, cut between characters where it is too long */
} loom_error;
""")
    elsewhere = {group for groups, _ in PARTS.values() for group in groups} | {"layer"}
    out.append(prototypes(g for g in api["groups"] if g["name"] not in elsewhere))
    out.append("\n#ifdef __cplusplus\n}\n#endif\n\n")
    parts = sorted([*PARTS, "layer", "options"])
    out += ["#include <loom/%s.h>\n" % part for part in parts]
    out.append("\n#endif\n")
    return "".join(out)


def exports(api):
    return "# %s\n{\n  global:\n%s  local: *;\n};\n" % (NOTE,
                                                        "".join("    loom_%s;\n" % f["name"]
                                                                for f in functions(api)))


def reference(api):
    out = ["# The C interface\n\n<!-- %s -->\n\n" % NOTE,
           "`#include <loom/loom.h>`. Functions return a code and fill the caller's `loom_error`; "
           "handles are numbers, 0 is none; texts go in as pointer and\n"
           "size and come out as bytes objects. [Options](options.md) are JSON, unknown keys are "
           "refused, or [structs](#structs-of-options). The header says the rest; "
           "`include/loom/loom.hpp` wraps it for C++.\n"]
    for title, rows, prefix in (("Results", api["codes"], "LOOM_"),
                                ("Kinds of objects", api["kinds"], "LOOM_KIND_"),
                                ("Finish reasons", api["finish"], "LOOM_FINISH_")):
        out.append("\n## %s\n\n| | | |\n|---|---|---|\n" % title)
        out += ["| `%s%s` | %d | %s |\n" % (prefix, name.upper(), value, doc) for name, value,
                doc in rows]
    for group in api["groups"]:
        out.append("\n## %s\n\n%s\n" % (group["name"].capitalize(), group["doc"]))
        for function in group["functions"]:
            out.append("\n### loom_%s\n\n```c\n%s;\n```\n\n%s\n"
                       % (function["name"], declaration(function), function["doc"]))
            notes = ["* `%s`: %s\n" % (name, doc) for name, _, doc in function.get("params", [])
                     if doc]
            out += ["\n"] + notes if notes else []
    return "".join(out) + option_structs.reference(option_structs.load(api))


def browser(api):
    """What the WebAssembly module has: all but the groups that need files of a system."""
    return {**api, "groups": [g for g in api["groups"] if not g.get("native")]}


def table(api):
    """Name, what it returns, parameters as (name, kind): all that a binding needs to call a
    function."""
    return [(f["name"], f.get("returns", "code"),
             [(name, kind) for name, kind, _ in f.get("params", [])])
            for f in functions(api) if not by_hand(f)]


def narrow(line):
    """A line of a table, over several where it is too long for one."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    pair = re.compile(r'[(\[]"[^"]*", "[^"]*"[)\]]')
    kept = pair.sub(lambda found: found.group().replace(" ", "\0"), line)  # stays together
    lines = textwrap.wrap(kept, 100, subsequent_indent=indent, break_long_words=False,
                          break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ") + "\n"


def python_raw(api):
    out = ['"""The C ABI as data. %s"""\n\nABI_VERSION = %d\n' % (NOTE, api["abi_version"])]
    for title, key in (("CODES", "codes"), ("KINDS", "kinds"), ("FINISH", "finish")):
        out.append("\n%s = {\n%s}\n"
                   % (title,
                      "".join('    "%s": %d,\n' % (name, value) for name, value, _ in api[key])))
    out.append("\n# name: (what it returns, ((parameter, kind), ...))\nFUNCTIONS = {\n")
    for name, returns, params in table(api):
        inner = "".join('("%s", "%s"), ' % p for p in params).rstrip()
        out.append(narrow('    "%s": ("%s", (%s)),' % (name, returns, inner)))
    return "".join(out) + "}\n"


def js_raw(api):
    api = browser(api)
    out = ["// The C ABI as data. %s\nexport const ABI_VERSION = %d;\n"
           % (NOTE, api["abi_version"])]
    for title, key in (("CODES", "codes"), ("KINDS", "kinds"), ("FINISH", "finish")):
        pairs = ", ".join("%s: %d" % (name, value) for name, value, _ in api[key])
        out.append(narrow("export const %s = { %s };" % (title, pairs)))
    out.append("// name: [what it returns, [[parameter, kind], ...]]\nexport const FUNCTIONS = {\n")
    for name, returns, params in table(api):
        out.append(narrow("  %s: [\"%s\", [%s]],"
                          % (name, returns, ", ".join('["%s", "%s"]' % p for p in params))))
    return "".join(out) + "};\n"


def fuzz_table(api):
    """A call of every function whose arguments a Caller (tests/fuzz/targets/abi_fuzz.cpp) makes
    up."""
    out = ["// %s\n" % NOTE]
    for f in functions(api):
        if "returns" in f or by_hand(f):
            continue
        lines, arguments = [], []
        for name, kind, _ in f.get("params", []):
            head, _, what = kind.partition(" ")
            maker = {"new": "out_handle", "out": "out_" + what, "handle": "handle",
                     "read": "read_" + what, "fill": "fill_" + what, "bool": "boolean"}.get(head,
                     head)
            given = '"%s"' % name + (", LOOM_KIND_" + what.upper() if head == "handle" else "")
            lines.append("     const auto %s = c.%s(%s);\n" % (name, maker, given))
            counted = head in ("read", "fill", "text", "json")
            arguments += [name + ".data", name + ".size"] if counted else [name]
        out.append('    {"%s", [](Caller& c) {\n%s     return loom_%s(%s);\n   }},\n'
                   % (f["name"], "".join(lines), f["name"], ", ".join(arguments + ["c.error()"])))
    return "".join(out)


OUTPUTS = {
    "include/loom/loom.h": header,
    "include/loom/layer.h": layer_header,
    "include/loom/training.h": part_header("training"),
    "include/loom/file.h": part_header("file"),
    "include/loom/seq2seq.h": part_header("seq2seq"),
    "include/loom/step_mesh.h": part_header("step_mesh"),
    "include/loom/webgpu.h": part_header("webgpu"),
    "include/loom/onnx.h": part_header("onnx"),
    "include/loom/program.h": part_header("program"),
    "include/loom/population.h": part_header("population"),
    "include/loom/cluster.h": part_header("cluster"),
    "include/loom/online.h": part_header("online"),
    "include/loom/options.h": options_header,
    "include/loom/options.hpp": cpp_options,
    "src/c_api/options/structs.inc": options_table,
    "src/c_api/exports.map": exports,
    "docs/reference/c-api.md": reference,
    "bindings/python/welvet/_core/raw.py": python_raw,
    "bindings/js/src/runtime/raw.js": js_raw,
    "tests/fuzz/targets/abi_table.inc": fuzz_table,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    checked, api = parser.parse_args().check, load()
    stale = []
    for path, make in OUTPUTS.items():
        text, file = make(api), ROOT / path
        if checked:
            if not file.exists() or file.read_text() != text:
                stale.append(path)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if stale:
        sys.exit("differ from api/loom.json, run api/generate.py: " + ", ".join(stale))


if __name__ == "__main__":
    main()
