#!/usr/bin/env python3
"""tools/check/docs.py BUILD_DIR [DOCUMENT...]: runs what the documents show, all of them where none
is named.

Commands of blocks without a language that begin with `loom` are run in a scratch folder, with the
placeholders below filled in; JSON blocks are shown or trained; blocks with a title are files of
that name; Python blocks run with the package of this tree; C blocks of the guides and C++ blocks
are compiled (syntax alone, but for whole programs, which run, and one that makes a network, whose
digest is compared), the CMake block is configured. Where a document shows a digest on a line of its
own, each of its programs prints it, and so do its commands that name one. JavaScript blocks are run
by bindings/js/test/docs/readme.test.js. Ends with 0 where all of it works.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build", type=pathlib.Path, nargs="?", default="build/release")
parser.add_argument("documents", nargs="*", metavar="document")
ARGS = parser.parse_args()
BUILD = ARGS.build.resolve()

# What stands for something of the reader's own, first match wins: in commands that begin so, this
# for that.
PLACEHOLDERS = [
    ("loom show", {"FILE": "model.entity", "disc.entity": "model.entity"}),
    ("loom train SPEC", {"SPEC.json": "spec.json", "FILE": "table.csv"}),
    ("loom eval", {"FILE": "text.txt"}),
    ("loom convert", {"IN": "model.safetensors.entity", "OUT": "out"}),
    ("", {}),
]
COMMON = {"MODEL": "embedded"}


def blocks(path):
    """(first line, language, text) of every fenced block; the language of a titled one is its
    title."""
    language, start, lines = None, 0, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = re.match(r'\s*```(\w*)(?: title="([\w.-]+)")?\s*$', line)
        if not fence:
            lines.append(line)
        elif language is None:
            language, start, lines = fence[2] or fence[1], number, []
        else:
            yield start, language, "\n".join(lines) + "\n"
            language = None


def commands(text):
    for line in text.splitlines():
        line = re.sub(r"\s+#.*$", "", line).strip()
        if not line.startswith("loom "):
            continue
        table = next(table for begin, table in PLACEHOLDERS if line.startswith(begin))
        for name, value in {**table, **COMMON}.items():
            line = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w])", value, line)
        yield line


def digest_of(what):
    """The digest that the programs of a document print: alone on a line of it; or None."""
    found = re.search(r"^ {4}([0-9a-f]{64})$", (ROOT / what.rpartition(":")[0]).read_text(), re.M)
    return found and found[1]


def run(what, arguments, folder, stdin="", prints=None):
    done = subprocess.run(arguments, cwd=folder, input=stdin, capture_output=True, text=True,
                          shell=isinstance(arguments, str), timeout=600)
    if done.returncode != 0:
        print(f"{what}: ends with {done.returncode}\n{done.stderr or done.stdout}")
    elif prints and prints not in done.stdout.split():
        print(f"{what}: does not print {prints}, but\n{done.stdout}")
        return False
    return done.returncode == 0


def compile_c(what, text, folder):
    (folder / "snippet.c").write_text(text)
    compiler = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT / "include"),
                "snippet.c"]
    if "int main(void) {" not in text:
        return run(what, [*compiler, "-fsyntax-only"], folder)
    library = [f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lloom", "-o", "snippet"]
    return run(what, [*compiler, *library], folder) and run(what, "./snippet", folder,
                                                            prints=digest_of(what))


def compile_cpp(what, text, folder):
    if not re.search(r"^\S.*\) \{$", text, re.M):  # statements: into a function
        includes = "".join(line + "\n" for line in text.splitlines() if line.startswith("#include"))
        body = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#include"))
        text = includes + "void snippet() {\n" + body + "}\n"
    compiler = ["c++", "-std=c++20", "-I", str(ROOT / "include"), "snippet.cpp"]
    library = [f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lloom", "-o", "snippet"]
    if "int main() {" in text:  # a whole program
        (folder / "snippet.cpp").write_text(text)
        return run(what, [*compiler, *library], folder) and run(what, "./snippet", folder,
                                                                prints=digest_of(what))
    if "loom::Network make() {" not in text:
        (folder / "snippet.cpp").write_text(text)
        return run(what, [*compiler, "-fsyntax-only"], folder)
    # A network that the document has in other languages, too: it prints its digest.
    (folder / "snippet.cpp").write_text(
        text + "#include <cstdio>\nint main() { std::puts(make().digest().c_str()); }\n")
    document = (ROOT / what.rpartition(":")[0]).read_text()
    digest = re.search(r'digest\(\)\.startswith\("(\w+)"\)', document)[1]
    return run(what, [*compiler, *library], folder) and run(what, f"./snippet | grep ^{digest}",
                                                            folder)


def show_json(what, text, folder):
    data = json.loads(text)
    if what.startswith("docs/reference/bridge.md"):
        return True  # requests and answers, which are JSON
    if data["format"] == "loom-topology":
        (folder / "topology.json").write_text(text)
        return run(what, "loom show topology.json", folder)
    if "network_file" in data:
        print(f"{what}: read as JSON, not run: it names files of the reader's")
        return True
    (folder / "spec.json").write_text(text)
    file, out = ("text.txt", "adapter") if "lora" in data else ("table.csv", "trained.entity")
    if "lora" in data:
        (folder / "lora.json").write_text(text)  # the commands after it name it
    return run(what, f"loom train spec.json --data {file} --out {out}", folder)


PLACES = ("*.md", "docs/*.md", "docs/guide/*.md", "docs/inside/*.md", "docs/reference/*.md")
# Modules that a document's Python needs beside NumPy. ./dev test runs it again where they are.
NEEDED = {"docs/guide/bridges-pytorch.md": "torch.export",
          "docs/guide/from-pytorch-to-a-phone.md": "torch.export, sklearn"}


def python_with(module):
    """An interpreter, or None; where CI runs there is one with NumPy."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import numpy, " + module],
                                                     capture_output=True).returncode == 0:
            return python
    return None


def run_python(what, texts, folder):
    """The snippets of a document, which go on from one another as their reader does."""
    needed = NEEDED.get(what, "numpy")
    python = python_with(needed)
    if not python:
        print(f"{what}: its Python is not run: needs {needed}")
        return what in NEEDED or "LOOM_CI" not in os.environ
    (folder / "snippet.py").write_text("\n".join(texts))
    return run(f"{what}: Python", [python, "snippet.py"], folder, prints=digest_of(f"{what}:"))


def configure(what, text, folder):
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(app CXX)\nfile(WRITE main.cpp \"int main() "
        "{}\")\nadd_executable(app main.cpp)\n" + text)
    (folder / "loom").symlink_to(ROOT)
    return run(what, ["cmake", "-S", ".", "-B", "configured"], folder)


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    program = folder / "bin"
    program.mkdir()
    (program / "loom").symlink_to(BUILD / "loom")
    os.environ["PATH"] = f"{program}:{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(ROOT / "bindings/python")
    os.environ["LOOM_LIBRARY"] = str(BUILD / "libloom.so")
    (folder / "series.csv").write_text(
        "month,y\n" + "".join(f"{2000 + i // 12}-{i % 12 + 1:02},{i + (i % 12) ** 2}\n"
                              for i in range(96)))
    (folder / "table.csv").write_text(
        "a,b,y\n" + "".join(f"{i % 7},{i % 5},{(i % 7) * 0.5 - (i % 5)}\n" for i in range(64)))
    for number, (photo, mail) in enumerate((("cat", "spam"), ("dog", "ham"))):
        for name in (photo, mail):
            (folder / ("photos" if name == photo else "mails") / name).mkdir(parents=True)
        for i in range(8):
            (folder / "photos" / photo / f"{i}.ppm").write_bytes(
                b"P6 16 16 255\n" + bytes((x * (7 + i) * (1 + 9 * number)) % 256
                                          for x in range(16 * 16 * 3)))
            (folder / "mails" / mail / f"{i}.txt").write_text(
                f"{'win a prize' if number == 0 else 'see you at noon'} on day {i}\n")
    (folder / "text.txt").write_text(
        "Once upon a time there was a little dog who lived in a small house.\n")
    documents = [p for place in PLACES for p in sorted(ROOT.glob(place))]
    if ARGS.documents:
        documents = [ROOT / name for name in ARGS.documents]
    found = [(f"{p.relative_to(ROOT)}:{line}", language, text) for p in documents for line,
             language, text in blocks(p)]
    good = run("loom convert",
               "loom convert embedded model.entity && loom convert embedded "
               "model.safetensors.entity", folder)
    # JSON first: commands train with the files.
    tried, snippets = 0, {}
    for what, language, text in sorted(found, key=lambda item: item[1] != "json"
                                       and "." not in item[1]):
        if language == "json":
            good &= show_json(what, text, folder)
        elif language == "c" and "guide" in what:
            good &= compile_c(what, text, folder)
        elif "." in language:  # a file that commands name
            (folder / language).write_text(text)
        elif language == "cpp":
            good &= compile_cpp(what, text, folder)
        elif language == "python":
            snippets.setdefault(what.rpartition(":")[0], []).append(text)
        elif language == "cmake":
            good &= configure(what, text, folder)
        elif language == "":
            for command in commands(text):
                tried += 1
                digest = digest_of(what) if "digest" in command else None
                good &= run(f"{what}: {command}", command, folder, prints=digest)
        tried += language != "" and "network_file" not in text
    for document, texts in snippets.items():
        good &= run_python(document, texts, folder)
    shutil.rmtree(folder)
    print(f"{tried} snippets of {len(documents)} documents")
    return 0 if good and tried >= (4 if ARGS.documents else 10) else 1


if __name__ == "__main__":
    sys.exit(main())
