#!/usr/bin/env python3
"""C++ has the form of .clang-format, and no line over 100 columns but in raw strings.

    format.py [FILE...]     all files of the repository where none is given; 1 where one is wrong
    format.py --fix         gives them that form
    format.py --self-test   shows that a wrong one is seen

Needs Debian's clang-format-19, since others break lines at other places; without it lines alone are
looked at, and that is said. Generated headers are what their generator makes.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
WIDTH = 100
GENERATED = ("include/loom/loom.h", "include/loom/layer.h", "include/loom/training.h", "include/loom/file.h")
RAW = re.compile(r'R"([^(\s]*)\(.*?\)\1"', re.S)


def files(names):
    if not names:
        listed = ["git", "ls-files", "-co", "--exclude-standard", "*.cpp", "*.h", "*.hpp"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split()
    return [n for n in names if not n.startswith("third_party/") and (ROOT / n).is_file()]


def too_wide(name):
    """Lines over the width, as far as they are not of raw strings."""
    text = (ROOT / name).read_text(encoding="utf-8")
    kept = RAW.sub(lambda m: "\n" * m.group().count("\n"), text).split("\n")
    return [n + 1 for n, line in enumerate(kept) if len(line) > WIDTH]


def self_test():
    wide = "// " + "x" * WIDTH
    planted = {"int  f( ){return 0;}\n": "form", wide + "\n": "width",
               'auto s =\n    R"(%s)";\n' % wide: None, "int f() { return 0; }\n": None}
    with tempfile.NamedTemporaryFile("w", suffix=".cpp", dir=ROOT, delete=False) as file:
        path = pathlib.Path(file.name)
    try:
        for text, seen in planted.items():
            if seen == "form" and not shutil.which("clang-format-19"):
                continue
            path.write_text(text)
            ran = subprocess.run([sys.executable, __file__, path.name], capture_output=True)
            if (ran.returncode != 0) != (seen is not None):
                sys.exit("format.py says %d of %r" % (ran.returncode, text))
    finally:
        path.unlink()
    print("%d planted files are judged rightly" % len(planted))


def main():
    if "--self-test" in sys.argv:
        return self_test()
    fix = "--fix" in sys.argv
    names = files([a for a in sys.argv[1:] if a != "--fix"])
    tool = shutil.which("clang-format-19")
    wrong = []
    if tool:
        made = [n for n in names if n not in GENERATED]
        how = ["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=1"]
        for at in range(0, len(made), 50):
            ran = subprocess.run([tool, *how, *made[at:at + 50]], cwd=ROOT, capture_output=True,
                                 text=True)
            wrong += sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", ran.stderr, re.M)))
    for name in names:
        wrong += ["%s:%d is over %d columns" % (name, n, WIDTH) for n in too_wide(name)]
    if wrong:
        print("\n".join(wrong))
        sys.exit("%d places have another form: ./dev format" % len(wrong))
    print("%d files have the form of .clang-format" % len(names) if tool else
          "%d files have no line over %d columns; clang-format-19 is missing to say more"
          % (len(names), WIDTH))


if __name__ == "__main__":
    main()
