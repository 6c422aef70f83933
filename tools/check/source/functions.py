#!/usr/bin/env python3
"""tools/check/source/functions.py: no function that is written by hand has more than 60 lines.

The exceptions are in EXCEPTIONS, each with its reason; there are at most ten. Files whose first
lines say "Made by" are generated, and none of this.

C++ and JavaScript go by indentation, which the whole tree keeps: a function begins at column 0, 2
or 4 with a line that has a parenthesis and ends, there or after the rest of its head, in "{"; it
ends at the first "}" of the same indentation. Python goes by its own syntax tree.
`--self-test` shows that long functions are seen, short ones are not, and unneeded exceptions are.
"""
import argparse
import ast
import pathlib
import re
import subprocess
import sys

LIMIT = 60
MOST_EXCEPTIONS = 10
ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDERS = ("api", "apps", "bindings", "examples", "include", "src", "tests", "tools")
EXCEPTIONS = {  # "path:name": reason
    "tests/conformance/layer_samples.h:layer_samples":
        "a table with one row for each layer, which is read as a whole",
}

# The first line of what may be a function's head: no statement, type, comment or continuation.
HEAD = re.compile(r"^( {0,4})(?! |[{}()\[\]:,?&|+*/#<>=.\"'-]|(?:if|for|while|switch|else|do|try|"
                  r"catch|case|return|namespace|struct|class|enum|union)\b).*\(")
MAX_HEAD = 20  # lines


def head_end(lines, start, indent):
    """Returns the last line of the head that begins at line `start`, or None if it is none."""
    depth = 0
    for n in range(start, min(start + MAX_HEAD, len(lines))):
        if n > start and not re.match(indent + r"(\s|\) )", lines[n]):
            return None
        code = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)'|//.*", "", lines[n]).rstrip("\\ ")
        depth += code.count("(") - code.count(")")
        if code.endswith("{"):
            return n if depth == 0 or code.endswith("=> {") else None
        if code.endswith(("}", ";")):
            return None
    return None


def braced_functions(text):
    """Yields (line number, lines, name) of each function of C++ or JavaScript."""
    lines = text.split("\n")
    for start, line in enumerate(lines):
        match = HEAD.match(line)
        end = match and head_end(lines, start, match.group(1))
        if end is None:
            continue
        while end < len(lines) and not lines[end].startswith(match.group(1) + "}"):
            end += 1
        if end < len(lines):
            name = re.search(r"([A-Za-z_~]\w*)\s*\(", line)
            yield start + 1, end - start + 1, name.group(1) if name else "?"


def python_functions(text):
    """Yields (line number, lines, name) of each function of Python."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1, node.name


LANGUAGES = {".h": braced_functions, ".hpp": braced_functions, ".c": braced_functions,
             ".cpp": braced_functions, ".js": braced_functions, ".mjs": braced_functions,
             ".py": python_functions}


def too_long(path, text, used):
    """Yields the problems of a file; the exceptions that it needs go into `used`."""
    for line, count, name in LANGUAGES[pathlib.PurePath(path).suffix](text):
        if count <= LIMIT:
            continue
        key = "%s:%s" % (path, name)
        if key in EXCEPTIONS:
            used.add(key)
        else:
            yield "%s:%d: %s has %d lines, %d are the limit" % (path, line, name, count, LIMIT)


def files():
    """Paths of the files that are looked at."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *FOLDERS], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted(n for n in set(listed)
                  if pathlib.PurePath(n).suffix in LANGUAGES and (ROOT / n).is_file())


def generated(text):
    return "Made by" in "\n".join(text.split("\n")[:5])


def unneeded(used):
    return ["%s: an exception that nothing needs" % key for key in EXCEPTIONS if key not in used]


def self_test():
    line, statements = "  a = a + 1;\n", LIMIT - 2
    planted = {  # form: (path, head, end)
        "C++": ("planted.cpp", "void grow(int a) {\n", "}\n"),
        "C++ with a long head": ("planted.h", "Result<int> Big::grow(int a,\n" + " " * 21 +
                                 "int b) const {\n", "}\n"),
        "C++, a member": ("planted.h", "struct Big {\n  void grow(int a) {\n", "  }\n};\n"),
        "Python": ("planted.py", "def grow(a):\n", ""),
        "JavaScript": ("planted.js", "function grow(a) {\n", "}\n"),
        "JavaScript, a method": ("planted.mjs", "class Big {\n  grow(a) {\n", "  }\n}\n"),
        "JavaScript, an arrow": ("planted.js", "test('grows', async () => {\n", "});\n"),
        "JavaScript, an arrow in a list": ("planted.js", "add(['grows', () => {\n", "}]);\n"),
        "JavaScript, an arrow with options": ("planted.js", "test('grows', () => {\n",
                                              "}, {timeout: 5});\n"),
    }
    for form, (path, head, end) in planted.items():
        body = line.replace(";", "") if path.endswith(".py") else line
        found = list(too_long(path, head + body * LIMIT + end, set()))
        assert len(found) == 1 and ("Big" in head or ":1:" in found[0]), "not seen: %s" % form
        short = head + body * (statements - head.count("\n") + 1) + end
        assert not list(too_long(path, short, set())), "a short one is seen: %s" % form
    constructor = "Big::Big(int a)\n    : a_(a) {\n  b_ = a;\n}\n\n"
    assert not list(too_long("planted.cpp", constructor * LIMIT, set())), "initializers are seen"
    assert generated("// x\n// Made by api/generate.py\n") and not generated("// x\n")
    EXCEPTIONS["planted.cpp:grow"] = "planted"
    used, (path, head, end) = set(), planted["C++"]
    assert not list(too_long(path, head + line * LIMIT + end, used)), "an exception is not kept"
    assert not [u for u in unneeded(used) if "planted" in u], "a needed exception is refused"
    assert [u for u in unneeded(set()) if "planted" in u], "an unneeded exception is not seen"
    print("long functions of C++, Python and JavaScript are seen, and unneeded exceptions")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    if parser.parse_args().self_test:
        self_test()
        return 0
    used, found = set(), []
    names = files()
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        if not generated(text):
            found += too_long(name, text, used)
    found += unneeded(used)
    if len(EXCEPTIONS) > MOST_EXCEPTIONS:
        found.append("%d exceptions, at most %d" % (len(EXCEPTIONS), MOST_EXCEPTIONS))
    print("\n".join(found) or "no function of %d files is over %d lines, but for %d exceptions" % (
        len(names), LIMIT, len(EXCEPTIONS)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
