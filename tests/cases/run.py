#!/usr/bin/env python3
"""tests/cases/run.py [--record] [HOST...]: runs the cases (README.md here) in the hosts python, c,
cpp, node; all that this machine has where none is named. One line per host. LOOM_LIBRARY names
libloom.so, else the one in build/release. Ends with 0 where nothing failed, with 77 where nothing
could run."""
import argparse
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE / "c"), str(ROOT / "bindings/python")]

TESTS = {"sha256", "contains", "has", "length", "near", "within", "above", "below", "not"}


def load_cases():
    """(file, its text, its cases), in the order of names."""
    out = []
    for path in sorted(HERE.glob("*.json")):
        text = path.read_text()
        out.append((path, text, json.loads(text)["cases"]))
    return out


def is_test(v):
    return isinstance(v, dict) and len(v) > 0 and set(v) <= TESTS


class Mismatch(Exception):
    pass


class PythonHost:
    """Runs cases through the marshaller of the Python binding; NULL pointers, which it has no words
    for, through ctypes itself."""

    def __init__(self):
        from welvet._core import call as _call, raw as _raw

        self.library, self.raw, self.module = _call.library(), _raw, _call
        self.api = {name: params for name, (_, params) in _raw.FUNCTIONS.items()}
        self.has = {"files", "training"}
        if self.library.call("info")["embedded_model"]:
            self.has.add("embedded")
        self.recorded = []

    def run(self, case):
        self.variables, self.handles, self.folder = {}, [], None
        before = self.library.call("live_handles")
        try:
            for number, step in enumerate(case["steps"], 1):
                try:
                    self.write(step) if "write" in step else self.call(step)
                except Mismatch as e:
                    raise Mismatch("step %d, %s: %s"
                                   % (number, step.get("call", "write"), e)) from None
        finally:
            for handle in reversed(self.handles):
                self.library.call("release", handle)
            if self.folder:
                shutil.rmtree(self.folder)
        if self.library.call("live_handles") != before:
            raise Mismatch("handles were lost")

    # ---- values

    def resolve(self, v):
        if isinstance(v, str) and v.startswith("$"):
            return v[1:] if v.startswith("$$") else self.variables[v[1:]]
        return v

    def content(self, handle):
        data, size = self.library.call("bytes_data", handle)
        return self.module.ctypes.string_at(data, size) if size else b""

    def data(self, d):
        if "hex" in d:
            return bytes.fromhex(d["hex"])
        if "file" in d:
            return (HERE / "data" / d["file"]).read_bytes()
        whole = self.content(self.resolve(d["of"]))
        begin = d.get("from", 0)
        return whole[begin:begin + d["size"]] if "size" in d else whole[begin:]

    def argument(self, kind, v):
        v = self.resolve(v)
        if isinstance(v, dict) and set(v) == {"null"}:
            return v
        if kind == "text" and isinstance(v, dict):
            if "path" in v:
                self.folder = self.folder or tempfile.mkdtemp()
                return os.path.join(self.folder, v["path"])
            return self.data(v)
        if kind == "json":
            return v["raw"] if isinstance(v, dict) and set(v) == {"raw"} else json.dumps(v)
        if kind.startswith("fill"):
            return self.module.np.zeros(v, self.module._DTYPES[kind[5:]])
        if kind.startswith("read"):
            if kind == "read i64":  # handles among them
                v = [self.resolve(x) for x in v]
            return self.module.np.array([float(x) if isinstance(x, str) else x for x in v],
                                        self.module._DTYPES[kind[5:]])
        return int(v) if not kind.startswith("text") else v

    # ---- steps

    def write(self, step):
        data, at = self.data(step["data"]), step.get("at", 0)
        pointer, size = self.library.call("bytes_data", self.resolve(step["write"]))
        if at + len(data) > size:
            raise Mismatch("%d bytes do not fit into %d at %d" % (len(data), size, at))
        self.module.ctypes.memmove(pointer + at, data, len(data))

    def call(self, step):
        name, args, wanted = step["call"], step.get("args", {}), step.get("error")
        params = self.api[name]
        unknown = set(args) - {p for p, _ in params}
        assert not unknown, "%s has no parameter %s" % (name, unknown)
        inputs, fills, nulls = [], {}, any(args.get(p) is None for p,
                                           k in params if p in args
                                           and k.split()[0] in ("out", "new"))
        for param, kind in params:
            if kind.split()[0] in ("out", "new"):
                continue
            value = self.argument(kind, args[param])
            nulls = nulls or isinstance(value, dict)
            inputs.append(value)
            if kind.startswith("fill"):
                fills[param] = value
        try:
            outputs = self.with_nulls(name, params, args,
                                      inputs) if nulls else self.library.call(name, *inputs)
        except self.module.LoomError as e:
            if not wanted:
                raise Mismatch("%s: %s" % (e.code, e)) from None
            if e.code != wanted["code"] or wanted.get("contains", "") not in str(e):
                raise Mismatch("expected %s, got %s: %s" % (wanted, e.code, e)) from None
            return
        if wanted:
            raise Mismatch("expected the error %s, it succeeded" % wanted)
        if name == "release":
            self.handles = [h for h in self.handles if h != inputs[0]]
        named = [(p, k) for p, k in params if k.split()[0] in ("out", "new")] or [("result", "")]
        results = dict(zip((p for p, _ in named), outputs if len(named) > 1 else (outputs,)))
        for param, kind in named:
            if kind.startswith("new ") and kind[4:] in self.raw.KINDS:
                self.handles.append(results[param])
        if name == "bytes_data":
            results["data"] = self.content(inputs[0])
        results.update(fills)
        for param, variable in step.get("save", {}).items():
            self.variables[variable] = results[param]
        for param, expected in step.get("expect", {}).items():
            self.expect(param, results[param], expected)

    def with_nulls(self, name, params, args, inputs):
        c, values, kept, inputs = self.module.ctypes, [], [], list(inputs)
        for param, kind in params:
            if kind.split()[0] in ("out", "new"):
                kept.append(c.c_uint64())
                values.append(None if param in args else c.addressof(kept[-1]))
                continue
            v = inputs.pop(0)
            if isinstance(v, dict):
                values += [None, int(v["null"])]
            elif kind in ("text", "json"):
                v = v.encode() if isinstance(v, str) else v
                values += [v, len(v)]
            elif hasattr(v, "ctypes"):
                values += [v.ctypes.data, v.size]
                kept.append(v)
            else:
                values.append(v)
        error = self.module.Error()
        if getattr(self.library.c, "loom_" + name)(*values, c.addressof(error)) != 0:
            raise self.module.BY_CODE[error.code](error.message.decode())

    # ---- expectations

    def expect(self, what, got, expected):
        if expected == "?":
            self.recorded.append(shown(got))
        elif not self.holds(got, expected):
            raise Mismatch("%s is %s, expected %s"
                           % (what, str(shown(got))[:2000], json.dumps(expected)[:2000]))

    def holds(self, got, expected):
        if not is_test(expected):
            expected = self.resolve(expected)
            if hasattr(expected, "dtype"):
                expected = expected.tolist()
            if hasattr(got, "dtype"):
                return got.tobytes() == self.module.np.array(expected, got.dtype).tobytes()
            return got == expected and isinstance(got, bool) == isinstance(expected, bool)
        return all(self.test(got, name, v, expected) for name, v in expected.items()
                   if name != "within")

    def test(self, got, name, v, whole):
        v = v if name in ("has", "not") or v == "?" else self.resolve(v)
        if name == "sha256":
            data = got.encode() if isinstance(got, str) else got if isinstance(got,
                    bytes) else got.tobytes()
            digest = hashlib.sha256(data).hexdigest()
            if v == "?":
                self.recorded.append(digest)
            return v in ("?", digest)
        if name == "contains":
            return v in got
        if name == "has":
            for key, expected in v.items():
                if key not in got:
                    raise Mismatch("has no key %s: %s" % (key, got))
                self.expect(key, got[key], expected)
            return True
        if name == "length":
            return len(got.encode() if isinstance(got, str) else got) == v
        if name == "near":
            pairs = zip(got, v) if isinstance(v, list) else ((x, v) for x in got) if hasattr(got,
                    "__len__") else [(got, v)]
            return all(abs(a - b) <= whole["within"] for a, b in pairs)
        if name == "above":
            return got > v
        return got < v if name == "below" else not self.holds(got, v)


def shown(got):
    """A result as JSON has it; float32 in the fewest digits."""
    if isinstance(got, bytes):
        return got.hex()
    if not hasattr(got, "dtype"):
        return got
    if got.dtype.kind == "f" and got.dtype.itemsize == 4:
        return [next(float(t) for t in ("%.*g" % (p, x) for p in range(6, 10))
                     if struct.pack("f", float(t)) == struct.pack("f", x)) for x in got.tolist()]
    return got.tolist()


def run_python(record):
    host = PythonHost()
    passed, failed, skipped = 0, 0, 0
    for path, text, cases in load_cases():
        host.recorded = []
        for case in cases:
            missing = set(case.get("needs", [])) - host.has
            if missing:
                skipped += 1
                continue
            try:
                host.run(case)
                passed += 1
            except Mismatch as e:
                failed += 1
                print("python: %s: %s: %s" % (path.name, case["name"], e))
        if record and host.recorded:
            values = iter(host.recorded)
            assert text.count('"?"') == len(
                host.recorded), "%s: a case with places to record has failed" % path.name
            path.write_text(re.sub(r'"\?"', lambda _: json.dumps(next(values), ensure_ascii=False),
                                   text))
            print("recorded %d values in %s" % (len(host.recorded), path.name))
        elif host.recorded:
            failed += 1
            print("python: %s has %d values to record: --record" % (path.name, len(host.recorded)))
    print("python %d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed == 0 and passed > 0


def run_c(language):
    """The cases as one program in C99, or C++20, over the installed header and libloom.so; and a
    program written by hand of what that language alone has."""
    from to_c import write_program

    compiler = {"c": os.environ.get("CC", "cc"), "cpp": os.environ.get("CXX", "c++")}[language]
    library = pathlib.Path(
        os.environ.get("LOOM_LIBRARY", ROOT / "build/release/libloom.so")).resolve()
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / ("cases." + language)
        source.write_text(write_program([(p, cases) for p, _, cases in load_cases()], language))
        flags = ["-std=c99"] if language == "c" else ["-std=c++20"]
        flags += ["-pedantic", "-Wall", "-Wextra", "-Werror", "-O0", "-I", str(ROOT / "include"),
                  "-I", str(HERE / "c")]
        good = True
        for program in (HERE / "c" / {"c": "structs.c", "cpp": "typed.cpp"}[language], source):
            made = folder + "/" + program.stem
            subprocess.run([compiler, *flags, str(program), "-o", made, str(library),
                            "-Wl,-rpath," + str(library.parent)], check=True)
            good &= subprocess.run([made, folder]).returncode == 0
        return good


def run_node():
    script = ROOT / "bindings/js/test/cases/node.mjs"
    return subprocess.run(["node", str(script)]).returncode == 0


HOSTS = {
    "python": (run_python, lambda: None if importlib.util.find_spec("numpy") else "no numpy"),
    "c": (lambda _: run_c("c"), lambda: None if shutil.which(os.environ.get("CC", "cc"))
          else "no C compiler"),
    "cpp": (lambda _: run_c("cpp"), lambda: None if shutil.which(os.environ.get("CXX", "c++"))
            else "no C++ compiler"),
    "node": (lambda _: run_node(), lambda: "no node" if not shutil.which("node") else None
             if (ROOT / "bindings/js/dist/loom.wasm").exists()
             else "bindings/js/dist/loom.wasm is not built"),
}


def check_coverage():
    """Every function of the ABI is called in some case."""
    api = json.loads((ROOT / "api/loom.json").read_text())
    # What takes functions of the host has tests of its own in each language. Structs of options are
    # another form of a call: to_c.py uses them.
    functions = {f["name"] for g in api["groups"] for f in g["functions"]
                 if all(kind not in ("layer", "image_decoder", "source", "function")
                        and not kind.startswith("options ")
                        for _, kind, _ in f.get("params", []))}
    called = {s["call"] for _, _, cases in load_cases() for c in cases for s in c["steps"]
              if "call" in s}
    for name in sorted(functions - called):
        print("no case calls " + name)
    for name in sorted(called - functions):
        print("a case calls %s, which is no function" % name)
    return functions == called


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("hosts", nargs="*", metavar="host")
    args = parser.parse_args()
    record, named = args.record, args.hosts
    if unknown := sorted({*named} - {*HOSTS}):
        parser.error("no host %s: %s" % (", ".join(unknown), ", ".join(HOSTS)))
    good, ran = check_coverage(), 0
    for name in named or ["python"] if record else named or HOSTS:
        run, missing = HOSTS[name]
        why = missing()
        if why:
            print("%s skipped: %s" % (name, why))
            continue
        sys.stdout.flush()
        good &= run(record)
        ran += 1
    return (0 if good else 1) if ran else 77


if __name__ == "__main__":
    sys.exit(main())
