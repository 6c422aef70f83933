"""Writes the cases as one program, in C99 over loom.h ("c") or in C++20 over loom.hpp ("cpp");
run.py compiles and runs it."""
import json
import pathlib
import struct
import sys

CASES = pathlib.Path(__file__).resolve().parents[1]
ROOT = CASES.parent.parent
sys.path.insert(0, str(ROOT / "api"))
import option_structs  # noqa: E402

TESTS = {"sha256", "contains", "has", "length", "near", "within", "above", "below", "not"}
C_TYPES = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t", "u64": "uint64_t"}
FORMATS = {"f32": "<f", "f64": "<d", "i32": "<i", "i64": "<q"}


def string(data):
    """A C string literal of bytes, in pieces that a C99 compiler must take."""
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    safe = lambda b: chr(b) if 32 <= b < 127 and chr(
        b) not in '"\\?' else "\\%03o" % b  # noqa: E731
    return '"%s"' % "".join(map(safe, data))


def compact(v):
    return json.dumps(v, ensure_ascii=False, separators=(",", ":"))


def code_macro(name):
    return "LOOM_" + name.upper()


def fits(member, value):
    """Whether a JSON value is one that a struct's member can say, and not what stands there
    anyway."""
    if isinstance(value, bool):
        return member.kind == "flag" and str(int(value)) != member.initial
    if isinstance(value, (int, float)):
        exact = member.kind == "number" or member.kind == "integer" and isinstance(value, int)
        return exact and abs(value) < 2**63 and float(value) != float(member.initial)
    if isinstance(value, str):
        return member.kind == "text" and "\0" not in value and value != ""
    return isinstance(value, list) and (
        member.kind == "texts" and all(isinstance(v, str) and v and "\0" not in v for v in value)
        or member.kind == "ids" and len(value) > 0
        and all(type(v) is int and -2**31 <= v < 2**31 for v in value))


def taken(struct, given):
    """(members and their values, what no member says) of options as JSON, of a training's spec and
    options as {**spec, "options": options}."""
    members, rest = [], json.loads(json.dumps(given))
    for m in struct.members:
        outer, _, key = m.path.rpartition(".")
        place = rest.get(outer, {}) if outer else rest
        if isinstance(place, dict) and key in place and fits(m, place[key]):
            members.append((m, place.pop(key)))
            if outer and not place:
                del rest[outer]
    return members, rest


class Writer:
    def __init__(self, api, host):
        structs = {s.name: s for s in option_structs.load(api)}
        # Calls that have another form with a struct of options.
        self.structs = {f["name"][:-5]: structs[k[8:]] for g in api["groups"]
                        for f in g["functions"]
                        for _, k, _ in f.get("params", []) if k.startswith("options ")}
        self.params = {f["name"]: [(n, k) for n, k, _ in f.get("params", [])] for g in api["groups"]
                       for f in g["functions"]}
        self.returns = {f["name"]: f.get("returns", "code") for g in api["groups"]
                        for f in g["functions"]}
        self.kinds = {k for k, _, _ in api["kinds"]}
        self.host = host
        self.constants = []  # at the beginning of the program
        self.known = {}
        self.with_structs = 0  # calls in that form

    def constant(self, data, c_type="unsigned char", form=None):
        """The name of an array of these bytes, or of these values."""
        key = (bytes(data) if form is None else tuple(map(str, data)), c_type)
        if key not in self.known:
            name = self.known[key] = "k%d" % len(self.known)
            items = ["%d" % b for b in data] if form is None else [self.exact(x, c_type)
                                                                   for x in data]
            self.constants.append("static const %s %s[] = {%s};"
                                  % (c_type, name, ", ".join(items) or "0"))
        return self.known[key]

    @staticmethod
    def exact(x, c_type):
        if isinstance(x, str):
            return {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}[x]
        if c_type == "float":
            return "%.9gf" % x if "e" in "%.9g" % x or "." in "%.9g" % x else "%.9g.0f" % x
        return repr(float(x)) if c_type == "double" else "%d" % int(x)

    # ---- arguments

    def text(self, v, number):
        """(pointer, size) of a text argument."""
        if isinstance(v, str) and v.startswith("$") and not v.startswith("$$"):
            return "(const char*)v_%s.data" % v[1:], "v_%s.size" % v[1:]
        if isinstance(v, dict):
            if "null" in v:
                return "NULL", "(size_t)%sULL" % v["null"]
            if "path" in v:
                name = "path%d" % len(self.lines)  # a call may have several
                self.lines.append("    value %s = path_value(%s, %d);"
                                  % (name, string(v["path"]), number))
                return "(const char*)%s.data" % name, "%s.size" % name
            data = bytes.fromhex(v["hex"]) if "hex" in v else (
                CASES / "data" / v["file"]).read_bytes()
        else:
            data = (v[1:] if v.startswith("$$") else v).encode()
        if len(data) > 4000:
            return "(const char*)" + self.constant(data), str(len(data))
        return string(data), str(len(data))

    def argument(self, kind, v, number):
        head, _, what = kind.partition(" ")
        variable = "v_" + v[1:] if isinstance(v,
                                              str) and v.startswith("$") and not v.startswith(
                                              "$$") else None
        if kind == "text":
            return self.text(v, number)
        if kind == "json":
            if variable:
                return self.text(v, number)
            if isinstance(v, dict) and set(v) in ({"raw"}, {"null"}):
                return self.text(v["raw"] if "raw" in v else v, number)
            return self.text(compact(v), number)
        if head in ("read", "fill") and isinstance(v, dict):
            return "NULL", "(size_t)%sULL" % v["null"]
        if head == "read":
            if variable:
                return "(const %s*)(void*)%s.data" % (C_TYPES[what],
                                                      variable), "%s.size / sizeof(%s)" % (variable,
                                                      C_TYPES[what])
            if any(isinstance(x, str) and x.startswith("$") for x in v):  # handles
                name = "handles%d" % len(self.lines)
                self.lines.append("    const int64_t %s[] = {%s};" % (name, ", ".join(
                    "(int64_t)v_%s.handle" % x[1:] for x in v)))
                return name, str(len(v))
            return (self.constant(v, C_TYPES[what], what) if v else "NULL"), str(len(v))
        if kind in ("i32", "bool", "i64", "u64") or head in ("handle", "any"):
            if variable:
                return ["%s.handle" % variable if head in ("handle", "any")
                        else "(int64_t)%s.number" % variable]
            return [{"i32": "%d", "bool": "%d", "i64": "INT64_C(%d)"}.get(kind, "UINT64_C(%d)")
                    % int(v)]
        raise AssertionError(kind)

    # ---- steps

    def step(self, step, number, path_number):
        self.lines.append("  {")
        if "write" in step:
            self.write(step, number)
        else:
            self.call(step, number, path_number)
        self.lines.append("  }")

    def check(self, condition, number, call, what):
        self.lines.append("    if (!%s) return fail(%d, %s, %s);"
                          % (condition, number, string(call), string(what)))

    def with_struct(self, name, args):
        """The struct of a call's options as an argument, None where it can only be said as JSON."""
        struct, options = self.structs.get(name), args.get("options")
        if struct is None or any(isinstance(args.get(k, {}), str)
                                 or set(args.get(k) or ()) & {"raw", "null"}
                                 for k in ("options", "spec")):
            return None
        given = {**args["spec"], "options": options} if name == "trainer_create" else options
        members, rest = taken(struct, given)
        if name == "trainer_create":
            if rest.pop("options", None):
                return None
            if rest:
                spec = next(m for m in struct.members if m.name == "spec")
                members = [(m, v) for m, v in members] + [(spec, compact(rest))]
        elif rest:
            return None
        order = [m.name for m in struct.members]
        members.sort(key=lambda one: order.index(one[0].name))
        values = [(m, *self.member_value(m, v)) for m, v in members]
        if self.host == "cpp":
            return "loom::%s{%s}" % (struct.cpp,
                                     ", ".join(".%s = %s" % (m.name, text) for m, text,
                                               _ in values))
        self.lines.append("    %s options = %s;" % (struct.c, struct.macro()))
        for m, text, count in values:
            self.lines.append("    options.%s = %s;" % (m.name, text))
            if count is not None:
                self.lines.append("    options.%s_count = %d;" % (m.name, count))
        return "&options"

    def member_value(self, member, v):
        """(how the host's language says the value, how many a list has)."""
        if member.kind == "integer":
            return ("(-INT64_C(9223372036854775807) - 1)" if v == -2**63
                    else "INT64_C(%d)" % v), None
        if member.kind == "number":
            return repr(float(v)), None
        if member.kind == "flag":
            return (str(v).lower() if self.host == "cpp" else str(int(v))), None
        if member.kind == "text":
            return string(v), None
        if self.host == "cpp":
            return "{%s}" % ", ".join(string(s) if member.kind == "texts" else str(s)
                                      for s in v), len(v)
        if member.kind == "ids":
            return self.constant(v, "int32_t", "i32"), len(v)
        self.lines.append("    const char* const list[] = {%s};" % ", ".join(map(string, v)))
        return "list", len(v)

    def write(self, step, number):
        d, at = step["data"], step.get("at", 0)
        if "of" in d:
            self.lines.append("    value from = content(v_%s.handle);" % d["of"][1:])
            begin = d.get("from", 0)
            data, size = "from.data + %d" % begin, str(
                d["size"]) if "size" in d else "from.size - %d" % begin
        else:
            raw = bytes.fromhex(d["hex"]) if "hex" in d else (
                CASES / "data" / d["file"]).read_bytes()
            data, size = self.constant(raw), str(len(raw))
        self.check("write_bytes(v_%s.handle, %d, %s, %s)" % (step["write"][1:], at, data, size),
                   number, "write", "does not fit")

    def call(self, step, number, path_number):
        name, args, wanted = step["call"], step.get("args", {}), step.get("error")
        nulls = any(args.get(p) is None for p, k in self.params[name]
                    if p in args and k.split()[0] in ("out", "new"))
        nulls = nulls or any(isinstance(v, dict) and "null" in v for v in args.values())
        options = None if nulls else self.with_struct(name, args)
        self.with_structs += options is not None
        form = name + ("_with" if options else "")
        call_args, results = self.call_arguments(name, args, options, path_number)
        if self.returns[name] != "code":
            self.lines.append("    %s o_result = CALL(%s)(%s);"
                              % ("const char*" if self.returns[name] == "cstr" else "int32_t", name,
                                 ", ".join(call_args)))
            results = [("result", "out", self.returns[name])]
        else:
            function = "loom_" + name if nulls else "CALL(%s)" % form
            self.lines.append("    const int32_t code = %s(%s);"
                              % (function, ", ".join(call_args + ["&error"])))
            if wanted:
                self.check("failed_with(code, %s, %s)"
                           % (code_macro(wanted["code"]), string(wanted.get("contains", ""))),
                           number, name, "did not fail as it should")
                return
            self.check("succeeded(code)", number, name, "failed")
        if name == "release":
            self.lines.append("    forget_handle(%s);" % call_args[0])
        self.take_results(step, number, results, call_args)

    def call_arguments(self, name, args, options, path_number):
        """What stands between the parentheses, and what the call gives: (param, head, what)."""
        call_args, results = [], []
        for param, kind in self.params[name]:
            head, _, what = kind.partition(" ")
            if options and (param == "options" or (param == "spec" and name == "trainer_create")):
                call_args += [options] if param == "options" else []
                continue
            if head in ("out", "new"):
                if param in args and args[param] is None:
                    call_args.append("NULL")
                    continue
                c_type = {"pointer": "void*"}.get(what,
                                                  C_TYPES.get(
                                                      what)) if head == "out" else "loom_bytes"
                self.lines.append("    %s o_%s = 0;" % (c_type, param))
                call_args.append("&o_" + param)
                results.append((param, head, what))
            elif head == "fill" and not isinstance(args[param], dict):
                self.lines.append("    value r_%s = bytes_value(NULL, 0);" % param)
                self.lines.append("    r_%s.size = %d * sizeof(%s);"
                                  % (param, args[param], C_TYPES[what]))
                self.lines.append("    r_%s.data = (unsigned char*)keep_memory(r_%s.size);"
                                  % (param, param))
                call_args += ["(%s*)(void*)r_%s.data" % (C_TYPES[what], param), str(args[param])]
                results.append((param, head, what))
            else:
                call_args += self.argument(kind, args[param], path_number)
        return call_args, results

    def take_results(self, step, number, results, call_args):
        """Keeps and compares what a call gave."""
        name = step["call"]
        expects, saves = step.get("expect", {}), step.get("save", {})
        self.values = {}
        for param, head, what in results:
            if head == "new" and what in self.kinds:
                self.lines.append("    keep_handle(o_%s);" % param)
            source = {"cstr": "bytes_value(o_result, strlen(o_result))",
                      "pointer": "content(%s)" % "".join(call_args[:1])}.get(what)
            if head == "new":
                form = "handle_value(o_%s)" if what in self.kinds else "taken(o_%s)"
                source = form % param
            if head != "fill":
                self.lines.append("    value r_%s = %s;"
                                  % (param, source or "number_value((double)o_%s)" % param))
            self.values[param] = "cstr" if what == "cstr" else what
            if param in saves:
                self.lines.append("    v_%s = r_%s;" % (saves[param], param))
                self.types[saves[param]] = what
            if param in expects:
                self.expect("r_" + param, what, head, expects[param], number, name, param)
            else:
                self.lines.append("    (void)r_%s;" % param)

    # ---- expectations: one C condition each

    def expect(self, r, what, head, expected, number, call, param):
        for condition in self.conditions(r, what, head, expected):
            if condition.startswith("slice "):
                self.lines.append("    " + condition)
            else:
                self.check(condition, number, call, param + " is another")

    def conditions(self, r, what, head, e):
        if what == "json":
            self.slices = getattr(self, "slices", 0) + 1
            s = "s%d" % self.slices
            return ["slice %s = whole(&%s);" % (s, r)] + self.json_conditions(s, e)
        if not (isinstance(e, dict) and e and set(e) <= TESTS):
            return [self.equal(r, what, head, e)]
        out = []
        for name, v in e.items():
            if name == "sha256":
                out.append("has_sha256(&%s, %s)" % (r, string(v)))
            elif name == "contains":
                out.append("contains_text(%s.data, %s.size, %s, %d)"
                           % (r, r, string(v), len(v.encode())))
            elif name == "length":
                size = {"f32": 4, "i32s": 4, "i32": 4, "f64": 8}.get(what, 1)
                out.append("is_number((double)(%s.size / %d), %d)" % (r, size, v))
            elif name in ("above", "below"):
                other = "v_%s.number" % v[1:] if isinstance(v, str) else repr(float(v))
                out.append("(%s.number %s %s)" % (r, ">" if name == "above" else "<", other))
            elif name == "near":
                values = v if isinstance(v, list) else [v]
                numbers = self.constant(values, "double", "f64")
                if head == "fill":
                    out.append("all_near(&%s, sizeof(%s), %s, %d, %r)"
                               % (r, C_TYPES[what], numbers, len(values), e["within"]))
                else:
                    out.append("(fabs(%s.number - %s[0]) <= %r)" % (r, numbers, e["within"]))
            elif name == "not":
                inner = self.conditions(r, what, head, v)
                quiet = " && ".join(inner)  # what the checks print is of a failure
                for check in ("bytes", "number"):
                    quiet = quiet.replace("is_%s(" % check, "same_%s(" % check)
                out.append("(!(%s))" % quiet)
            elif name != "within":
                raise AssertionError("%s of a %s" % (name, what))
        return out

    def equal(self, r, what, head, e):
        if isinstance(e, str) and e.startswith("$") and not e.startswith("$$"):
            v = "v_" + e[1:]
            if what in self.kinds:
                return "(%s.handle == %s.handle)" % (r, v)
            return "is_number(%s.number, %s.number)" % (r,
                                                        v) if head == "out" and what not in (
                                                        "pointer",
                                                        "cstr") else ("is_bytes(&%s, %s.data, "
                                                                      "%s.size)") % (r, v, v)
        if what in ("text", "cstr"):
            data = e.encode("utf-8", "surrogatepass")
            return "is_bytes(&%s, %s, %d)" % (r, string(data), len(data))
        if what == "i32s":
            return ("is_bytes(&%s, %s, "
                    "%d)") % (r, self.constant(e, "int32_t", "i32") if e else '""', 4 * len(e))
        if head == "fill":
            size = struct.calcsize(FORMATS[what])
            return "is_bytes(&%s, %s, %d)" % (r, self.constant(e, C_TYPES[what], what)
                                              if e else '""', size * len(e))
        return "is_number(%s.number, %s)" % (r, repr(float(e)))

    def json_conditions(self, s, e):
        if isinstance(e, str) and e.startswith("$"):
            if self.types[e[1:]] == "json":
                return ["json_equal(%s, whole(&v_%s))" % (s, e[1:])]
            return ["is_number(json_number(%s), v_%s.number)" % (s, e[1:])]
        if not (isinstance(e, dict) and e and set(e) <= TESTS):
            return ["json_is(%s, %s)" % (s, string(compact(e)))]
        out = []
        for name, v in e.items():
            if name == "has":
                for key, inner in v.items():
                    self.slices += 1
                    child = "s%d" % self.slices
                    out.append("slice %s = {NULL, NULL};" % child)
                    out.append("member(%s, text_slice(%s), &%s)" % (s, string(compact(key)), child))
                    out += self.json_conditions(child, inner)
            elif name == "contains":
                out.append("json_contains(%s, %s)" % (s, string(compact(v))))
            elif name == "length":
                out.append("is_number((double)json_length(%s), %d)" % (s, v))
            elif name in ("above", "below"):
                out.append("(json_number(%s) %s %r)"
                           % (s, ">" if name == "above" else "<", float(v)))
            else:
                raise AssertionError("%s of JSON" % name)
        return out

    def case(self, case, index):
        self.lines, self.types = [], {}
        variables = sorted({v for s in case["steps"] for v in s.get("save", {}).values()})
        for number, step in enumerate(case["steps"], 1):
            self.step(step, number, index)
        head = ["static int case_%d(void) {" % index] + ["  value v_%s = {0, 0, NULL, 0};" % v
                                                         for v in variables]
        used = [v for v in variables
                if any("v_%s." % v in line or "&v_%s" % v in line for line in self.lines)]
        return head + self.lines + ["  (void)v_%s;" % v for v in variables
                                    if v not in used] + ["  return 1;", "}"]


def write_program(files, host):
    api = json.loads((ROOT / "api/loom.json").read_text())
    writer = Writer(api, host)
    bodies, table, index = [], [], 0
    for path, cases in files:
        for case in cases:
            bodies += writer.case(case, index) + [""]
            needs = case.get("needs", [])
            table.append("  {%s, case_%d, %d, %d},"
                         % (string(path.name + ": " + case["name"]), index, "files" in needs,
                            "embedded" in needs))
            index += 1
    assert writer.with_structs > 50, "few cases call functions with structs"
    out = ['#include "cases.h"'] + (['#include "hpp.h"', "#define CALL(name) hpp::name"]
                                    if host == "cpp" else ["#define CALL(name) loom_##name"]) + [""]
    out += writer.constants + [""] + bodies
    out += ["static const test_case cases[] = "
            "{"] + table + ["};", "", """int main(int count, char** arguments) {
  int passed = 0, failed = 0, skipped = 0, embedded;
  size_t i;
  loom_bytes info = 0;
  value v;
  slice s = {NULL, NULL};
  scratch = count > 1 ? arguments[1] : ".";
  if (loom_info(&info, &error) != LOOM_OK) return 1;
  v = taken(info);
  embedded = member(whole(&v), text_slice("\\"embedded_model\\""), &s) &&
             same_text(s, text_slice("true"));
  for (i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (cases[i].needs_embedded && !embedded) ++skipped;
    else if (run_case(&cases[i])) ++passed;
    else ++failed;
  }
  printf("%s %%d passed, %%d failed, %%d skipped\\n", passed, failed, skipped);
  return failed > 0;
}""" % host]
    return "\n".join(out) + "\n"
