#!/usr/bin/env python3
"""tools/check/source/kinds.py: the numbers of kinds stand in lists (rows LOOM_...(id, name, ...) of
.def files), from which the host, kernels and WGSL (#kinds, src/ops/module.cmake) have them. A
number that WGSL or a kernel gives one of their names by hand is refused."""
import argparse
import pathlib
import re
import sys

ROW = re.compile(r"^LOOM_[A-Z]+\((\d+), (\w+)", re.M)
WGSL = re.compile(r"\bconst\s+(\w+)(?:\s*:\s*[iu]32)?\s*=\s*(\d+)[iu]?\s*;")
CONSTANT = re.compile(r"\b(?:constexpr|enum|#define)\b.*")  # in kernels, beside names as kRelu
KERNEL = re.compile(r"\bk?([A-Za-z]\w*)\s*=\s*(\d+)\s*[,;}]")
NAMED = re.compile(r"\bk([A-Z]\w*)\s*=\s*(\d+)\s*[,;}]")


def lists():
    """name: [(id, file)] of every list of kinds."""
    rows = {}
    for file in sorted(pathlib.Path("src").rglob("*.def")):
        if file.stem == file.parent.name and file.parent.parent.name == "ops":
            continue  # a family: its names are ops
        for number, name in ROW.findall(file.read_text()):
            rows.setdefault(name.lower(), []).append((int(number), file))
    return rows


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def by_hand(path, rows):
    wgsl = path.suffix == ".wgsl"
    for at, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("//")[0]
        form = WGSL if wgsl else KERNEL if CONSTANT.search(line) else NAMED
        for name, number in form.findall(line):
            # What #kinds may put around a name.
            bare = re.sub(r"^[A-Z]_|_[A-Z]+$", "", name) if wgsl else snake(name)
            for kind in {name.lower(), bare.lower()}:
                for row, file in rows.get(kind, []):
                    # Kernels have numbers of their own, too.
                    if wgsl or row == int(number):
                        yield "%s:%d: %s is numbered by hand: it is row %d of %s" % (
                            path, at, name, row, file)


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    ops = pathlib.Path("src/ops")
    # Of headers those that kernels include: the families' and the CPU's.
    files = list(ops.rglob("*.wgsl")) + [f for f in ops.glob("*/**/*.h")
                                         if f.parts[2] not in ("lowering", "webgpu")]
    rows = lists()
    wrong = sorted({text for path in files for text in by_hand(path, rows)})
    if wrong:
        sys.exit("\n".join(wrong))
    print("%d kinds, numbered nowhere else in %d files" % (len(rows), len(files)))


if __name__ == "__main__":
    main()
