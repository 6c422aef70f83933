#!/usr/bin/env python3
"""tools/check/source/client.py: the program (apps/cli) is a client of the public interface.

Its files include loom/loom.hpp and their own headers. Those that include a header of src stand in
apps/cli/internals.txt with a reason; one that stands there and includes none is reported as well.
Headers that stand there are for files that do, except those whose reason begins with "for all".
--self-test plants both faults in a copy.
"""
import argparse
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.M)


def allowed(cli):
    """Path of a file, or of a folder with a slash at its end: the reason."""
    entries = {}
    for number, line in enumerate((cli / "internals.txt").read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        path, _, reason = line.partition(": ")
        if not reason.strip():
            sys.exit("apps/cli/internals.txt:%d: gives no reason" % number)
        entries[path] = reason
    return entries


def faults(root):
    cli, found, used = root / "apps/cli", [], set()
    entries = allowed(cli)

    def entry_of(name):
        return next((e for e in entries
                     if name == e or (e.endswith("/") and name.startswith(e))), "")

    for file in sorted(cli.rglob("*.h")) + sorted(cli.rglob("*.cpp")):
        name = file.relative_to(cli).as_posix()
        inside = []
        for path in INCLUDE.findall(file.read_text()):
            # A name that both folders have is the program's own: its folder is looked at first.
            if (cli / path).is_file():
                entry = entry_of(path)
                if entry and not entries[entry].startswith("for all"):
                    inside.append(path)
            elif (root / "src" / path).is_file():
                inside.append(path)
        if not inside:
            continue
        entry = entry_of(name)
        used.add(entry)
        if not entry:
            found += ["apps/cli/%s: includes %s: use support/client.h and the public interface"
                      % (name, path) for path in inside]
    found += ["apps/cli/internals.txt: %s includes no header of src: take its line out" % e
              for e in entries if e not in used]
    return found


def others(folder, names):
    """What a copy leaves out: files that include nothing and are no list."""
    return [n for n in names if not (pathlib.Path(folder) / n).is_dir()
            and not n.endswith((".h", ".cpp", ".txt"))]


def planted_fault(copy, part):
    return any(part in fault for fault in faults(copy))


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for part in ("apps/cli", "src"):
            shutil.copytree(ROOT / part, copy / part, ignore=others)
        assert not faults(copy), faults(copy)
        planted = copy / "apps/cli/commands/planted.cpp"
        planted.write_text('#include "exec/session.h"\n')
        assert planted_fault(copy, "planted.cpp: includes exec/session.h"), \
            "an include of src passes"
        planted.write_text('#include "support/internal.h"\n')
        assert planted_fault(copy, "planted.cpp: includes support/internal.h"), \
            "a header of the list passes"
        planted.write_text('#include "support/client.h"\n')
        assert not faults(copy), "a client is refused"
        with (copy / "apps/cli/internals.txt").open("a") as list_:
            list_.write("commands/planted.cpp: needs nothing\n")
        assert planted_fault(copy, "planted.cpp includes no header"), \
            "an entry for nothing passes"
    print("three planted faults are refused")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    if parser.parse_args().self_test:
        return self_test()
    found = faults(ROOT)
    print("\n".join(found) or "the program is a client of the public interface")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
