#!/usr/bin/env python3
"""C and C++ have the form of .clang-format, and no hand-written file of any language has a line
over 100 columns, but in what is text of another kind: C++'s raw strings, Python's texts of several
lines that are no docstrings, here-documents of the shell.

    format.py [FILE...]     all files of the repository where none is given; 1 where one is wrong
    format.py --fix         gives C and C++ that form
    format.py --self-test   shows that a wrong one is seen

Needs Debian's clang-format-19, since others break lines at other places; without it lines alone are
looked at, and that is said. Generated headers are what their generator makes.
"""
import argparse
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[3]
WIDTH = 100
GENERATED = ("include/loom/loom.h", "include/loom/layer.h", "include/loom/options.h",
             "include/loom/options.hpp", "include/loom/layers.hpp",
             "include/loom/training.h", "include/loom/file.h", "include/loom/step_mesh.h",
             "include/loom/webgpu.h", "include/loom/population.h", "include/loom/online.h")
RAW = re.compile(r'R"([^(\s]*)\(.*?\)\1"', re.S)
HERE = re.compile(r"<<-?[\"']?(\w+)[\"']?[^\n]*\n(.*?)\n\1$", re.S | re.M)
FORMED = ("*.cpp", "*.h", "*.hpp", "*.c")
# Whose lines are counted beside: all that people write, but documents, whose form is prose.py's.
WRITTEN = ("*.py", "*.js", "*.mjs", "*.ts", "*.sh", "dev", "*.cmake", "CMakeLists.txt",
           "*/CMakeLists.txt", "*.css", "*.html", "*.awk", "*.in", "*.toml", "*.yml",
           "*.wgsl", "*.def")
MERGING = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.M)


def files(names):
    if not names:
        listed = ["git", "ls-files", "-co", "--exclude-standard", *FORMED, *WRITTEN]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split()
    return [n for n in names if not n.startswith("third_party/") and (ROOT / n).is_file()]


def formed(name):
    return name.endswith(tuple(pattern[1:] for pattern in FORMED))


def texts_of_python(text):
    """The numbers of lines in texts of several lines which are no docstrings."""
    inside, opened, before = set(), [], tokenize.NEWLINE
    statement = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_START":
            opened.append(token.start[0])
        elif kind == "FSTRING_END":
            first = opened.pop()
            if first < token.end[0]:
                inside.update(range(first, token.end[0] + 1))
        elif kind == "STRING" and token.start[0] < token.end[0] and before not in statement:
            inside.update(range(token.start[0], token.end[0] + 1))
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type
    return inside


def too_wide(name):
    """Lines over the width, as far as they are not of texts of another kind."""
    text = (ROOT / name).read_text(encoding="utf-8")
    inside = texts_of_python(text) if name.endswith(".py") else ()

    def hidden(found):
        return "\n" * found.group().count("\n")

    kept = text
    if formed(name) or name.endswith(".def"):
        kept = RAW.sub(hidden, text)
    elif name.endswith(".sh"):
        kept = HERE.sub(hidden, text)
    return [n + 1 for n, line in enumerate(kept.split("\n"))
            if len(line) > WIDTH and n + 1 not in inside]


def unmerged(text):
    """The first line that has a marker of a merge; 0: none."""
    found = MERGING.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def documents():
    """The files that people read, which have no other form to be looked at here."""
    listed = ["git", "ls-files", "-co", "--exclude-standard", "*.md", "*.json", "*.txt"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    return [n for n in names.stdout.split() if not n.startswith(("third_party/", "tests/golden/"))
            and (ROOT / n).is_file()]


def self_test():
    x = "x" * (WIDTH + 1)
    wide = "// " + x
    planted = [
        (".cpp", "int  f( ){return 0;}\n", "form"), (".cpp", wide + "\n", "width"),
        (".cpp", 'auto s =\n    R"(%s)";\n' % wide, None),
        (".def", 'LOOM_ROW(1, R"(%s)")\n' % wide, None),
        (".def", "LOOM_ROW(1, %s)\n" % x, "width"), (".wgsl", wide + "\n", "width"),
        (".cpp", "int f() { return 0; }\n", None),
        (".py", "y = '%s'\n" % x, "width"), (".py", "# %s\n" % x, "width"),
        (".py", '"""%s"""\n' % x, "width"), (".py", 'def f():\n    """A\n    %s"""\n' % x, "width"),
        (".py", 'y = """\n%s\n"""\n' % x, None), (".py", "y = 1\n", None),
        (".sh", "echo %s\n" % x, "width"), (".sh", "cat <<'A'\n%s\nA\n" % x, None),
    ]
    planted += [(suffix, "%s\n" % x, "width") for suffix in (
        ".js", ".mjs", ".ts", ".cmake", ".css", ".html", ".awk", ".in", ".toml", ".yml", ".c")]
    for suffix, text, seen in planted:
        if seen == "form" and not shutil.which("clang-format-19"):
            continue
        with tempfile.NamedTemporaryFile("w", suffix=suffix, dir=ROOT, delete=False) as file:
            file.write(text)
        path = pathlib.Path(file.name)
        try:
            ran = subprocess.run([sys.executable, __file__, path.name], capture_output=True)
            if (ran.returncode != 0) != (seen is not None):
                sys.exit("format.py says %d of %r in a file %s" % (ran.returncode, text, suffix))
        finally:
            path.unlink()
    if not unmerged("A\n%s HEAD\nB\n" % ("<" * 7)) or unmerged("a <<<<<<< b\n"):
        sys.exit("format.py does not know the markers of a merge")
    listed = {pathlib.PurePath(name).suffix for name in files([])}
    missing = {suffix for suffix, _, _ in planted} - listed
    if missing:
        sys.exit("format.py looks at no file of " + ", ".join(sorted(missing)))
    print("%d planted files are judged rightly" % len(planted))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="file")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    fix = args.fix
    names = files(args.files)
    tool = shutil.which("clang-format-19")
    wrong = []
    if tool:
        made = [n for n in names if formed(n) and n not in GENERATED]
        how = ["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=1"]
        for at in range(0, len(made), 50):
            ran = subprocess.run([tool, *how, *made[at:at + 50]], cwd=ROOT, capture_output=True,
                                 text=True)
            wrong += sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", ran.stderr, re.M)))
    for name in names:
        wrong += ["%s:%d is over %d columns" % (name, n, WIDTH) for n in too_wide(name)]
    for name in names + ([] if args.files else documents()):
        line = unmerged((ROOT / name).read_text(encoding="utf-8", errors="replace"))
        wrong += ["%s:%d has a marker of a merge" % (name, line)] if line else []
    if wrong:
        print("\n".join(wrong))
        sys.exit("%d places have another form: ./dev format" % len(wrong))
    print("%d files have no line over %d columns, %s" % (
        len(names), WIDTH, "C and C++ has the form of .clang-format" if tool
        else "clang-format-19 is missing to say more"))


if __name__ == "__main__":
    main()
