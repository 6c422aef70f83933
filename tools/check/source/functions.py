#!/usr/bin/env python3
"""tools/check/source/functions.py: no function of src/ops is longer than 60 lines, but for
EXCEPTIONS, each with its reason.

Goes by indentation, which the whole tree keeps: a function begins at column 0, 2 or 4 with a line
that has a parenthesis and ends in "{", and ends at the first "}" of the same indentation.
`--self-test` shows that a long one is seen."""
import pathlib
import re
import sys

LIMIT = 60
ROOT = pathlib.Path(__file__).resolve().parents[3]
EXCEPTIONS = {  # "path:name": reason
}
START = re.compile(
    r"^( {0,4})(?! |\{|if\b|for\b|while\b|switch\b|else\b|do\b|case\b|return\b|namespace\b|"
    r"struct\b|class\b|enum\b|union\b|#|//|\}).*\(.*\{$")


def functions(text):
    """Yields (line number, lines, first line) of each function."""
    lines = text.split("\n")
    n = 0
    while n < len(lines):
        match = START.match(lines[n])
        if not match:
            n += 1
            continue
        end = n
        while end < len(lines) and not re.match(match.group(1) + r"\}[;,)]*( \\)?$", lines[end]):
            end += 1
        if end < len(lines):
            yield n + 1, end - n + 1, lines[n].strip()
        n += 1


def too_long(path, text, used):
    """Problems of a file; the exceptions that it needs go into `used`."""
    for line, count, first in functions(text):
        if count <= LIMIT:
            continue
        name = re.search(r"([A-Za-z_~]\w*)\s*\(", first)
        key = "%s:%s" % (path, name.group(1) if name else "?")
        if key in EXCEPTIONS:
            used.add(key)
        else:
            yield "%s:%d: %d lines, %d are the limit: %s" % (path, line, count, LIMIT, first)


def unneeded(used):
    return ["%s: an exception that nothing needs" % key for key in EXCEPTIONS if key not in used]


def main():
    if "--self-test" in sys.argv:
        planted = "void long_one(int a) {\n" + "  a = a + 1;\n" * LIMIT + "}\n"
        assert len(list(too_long("planted.cpp", planted, set()))) == 1, ("a long function is not "
                                                                         "seen")
        assert not list(too_long("planted.cpp", planted.replace("  a = a + 1;\n", "", 2),
                                 set())), "a short one is"
        EXCEPTIONS["planted.cpp:short_one"] = "planted"
        assert len(unneeded(set())) == len(
            EXCEPTIONS), "an exception that nothing needs is not seen"
        print("a long function is seen, and an exception that nothing needs")
        return 0
    used = set()
    found = [problem for pattern in ("*.h", "*.cpp")
             for path in sorted((ROOT / "src/ops").rglob(pattern))
             if not path.name.endswith("_test.cpp")
             for problem in too_long(path.relative_to(ROOT), path.read_text(), used)]
    found += unneeded(used)
    print("\n".join(found) or "no function of src/ops is over %d lines" % LIMIT)
    return 1 if found else 0


sys.exit(main())
