#!/usr/bin/env python3
"""tools/check/examples.py BUILD_DIR [--self-test]: runs every program of examples/.

Prints a line per example: `passed NAME seconds`, `failed NAME: why` or `skipped NAME: why`. An
example passes where it ends with 0 within LIMIT seconds and prints what examples/README.md shows of
it, but for the numbers; the README lists every example. One in Python that reads its arguments has
to answer --help with its usage. Ends with 1 where one failed. --self-test runs examples that are
wrong in a scratch folder, each of which has to fail.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT = 300  # of a slow machine that does other things, too
HELPERS = {"digits.py"}  # modules that examples import
# Arguments, where there is more than none.
FORMS = {"python/mnist.py": [(), ("--drawn",)], "python/metacognition.py": [(), ("--drawn",)]}


def python_with_numpy():
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import numpy"],
                                                     capture_output=True).returncode == 0:
            return python
    return None


def masked(line):
    """A line without its numbers and spaces."""
    return re.sub(r"\s+", "", re.sub(r"-?\d+", "#", line))


def shown(readme):
    """What the README shows of each example: its name, and the lines printed."""
    blocks = {}
    for part in re.split(r"^### ", readme, flags=re.M)[1:]:
        name, _, text = part.partition("\n")
        lines = text.split("\n## ")[0].splitlines()
        blocks[name.strip()] = [line.strip() for line in lines if line.startswith("    ")]
    return blocks


def command_of(path, build, folder):
    """What runs an example, compiled in `folder` where it has to be."""
    if path.suffix == ".py":
        return [python_with_numpy(), str(path)], ""
    compiler = ["cc", "-std=c99", "-pedantic"] if path.suffix == ".c" else ["c++", "-std=c++20"]
    made = subprocess.run(
        [*compiler, "-Wall", "-Wextra", "-Werror", "-I%s" % (ROOT / "include"), str(path),
         "-L%s" % build, "-Wl,-rpath,%s" % build, "-lloom", "-o", str(folder / "example")],
        capture_output=True, text=True)
    return [str(folder / "example")], made.stderr if made.returncode != 0 else ""


def failure(path, arguments, lines, build):
    """Why an example fails; "" where it does not."""
    if not lines:
        return "examples/README.md does not show what it prints"
    with tempfile.TemporaryDirectory() as folder:
        command, wrong = command_of(path, build, pathlib.Path(folder))
        if wrong:
            return wrong
        try:
            done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True,
                                  text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "did not end within %d s" % LIMIT
    if done.returncode != 0:
        return "ends with %d: %s" % (done.returncode, (done.stdout + done.stderr).strip())
    printed = [masked(line) for line in done.stdout.splitlines()]
    for line in lines:
        if not any(masked(line) in other for other in printed):
            return "does not print what examples/README.md shows: %s" % line
    return ""


def help_failure(path):
    """Why an example in Python does not say how to call it; "" where it does, or takes nothing."""
    if path.suffix != ".py" or not re.search(r"sys\.argv|argparse", path.read_text()):
        return ""
    try:
        done = subprocess.run([python_with_numpy(), str(path), "--help"], capture_output=True,
                              text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "--help runs longer than %d s" % LIMIT
    good = done.returncode == 0 and done.stdout.startswith("usage: " + path.name)
    return "" if good else "--help does not show its usage: " + (done.stdout + done.stderr).strip()


def run_all(folder, build):
    """Runs the examples of a folder; how many failed."""
    readme = (folder / "README.md").read_text()
    blocks, failed = shown(readme), 0
    for path in sorted(p for p in folder.glob("*/*") if p.suffix in (".py", ".c", ".cpp")):
        name = str(path.relative_to(folder))
        if path.name in HELPERS or path.parent.name == "data":
            continue
        for arguments in FORMS.get(name, [()]):
            called, begin = " ".join((name, *arguments)), time.monotonic()
            if path.suffix == ".py" and python_with_numpy() is None:
                print("skipped %s: needs Python 3 with NumPy" % called)
                continue
            why = failure(path, arguments, blocks.get(name), build) or help_failure(path)
            if not why and "(%s)" % name not in readme:
                why = "the table of examples/README.md does not list it"
            failed += why != ""
            print("failed %s: %s" % (called, why) if why
                  else "passed %s %.1f s" % (called, time.monotonic() - begin), flush=True)
    return failed


def self_test(build):
    """Wrong examples, one of each kind; whether each of them fails."""
    wrong = {
        "ends.c": "int main(void) { return 1; }\n",
        "prints.c": '#include <stdio.h>\nint main(void) { return puts("right 7") < 0; }\n',
        "compiles.c": "int main(void) { return }\n",
        "listed.c": '#include <stdio.h>\nint main(void) { return puts("right 7") < 0; }\n',
        "good.c": '#include <stdio.h>\nint main(void) { return puts("right 7") < 0; }\n',
    }
    if python_with_numpy():
        wrong["helps.py"] = "import sys\nprint('right 7' if sys.argv[1:] else 'right 8')\n"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "c").mkdir()
        readme = ""
        for name, text in wrong.items():
            (folder / "c" / name).write_text(text)
            link = "(c/%s)\n" % name if name != "listed.c" else ""
            said = "wrong 8" if name == "prints.c" else "right 8"
            readme += "%s\n### c/%s\n\n    %s\n\n" % (link, name, said)
        (folder / "README.md").write_text(readme)
        failed = run_all(folder, build)
    print("%d of %d wrong examples fail" % (failed, len(wrong) - 1))
    return failed == len(wrong) - 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?", default="build/release")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    build = args.build.resolve()
    os.environ["PYTHONPATH"] = str(ROOT / "bindings/python")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["LOOM_LIBRARY"] = str(build / "libloom.so")
    if args.self_test:
        return 0 if self_test(build) else 1
    return 1 if run_all(ROOT / "examples", build) else 0


if __name__ == "__main__":
    sys.exit(main())
