#!/usr/bin/env python3
"""Prose has the form that prose_rules.txt asks for: documents, and comments of headers.

    prose.py [FILE...]      all of the repository where none is named; 1 where one is wrong
    prose.py --self-test    shows that what is wrong is seen
    prose.py --count        how often each rule is broken

Code, links' targets and quoted lines are no prose. Generated parts are prose too: change the text
of src or api that they come from. A file may break a rule where `except` lines of the rules say so,
with a reason.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
RULES = pathlib.Path(__file__).with_name("prose_rules.txt")
HEADERS = ("include/", "src/", "apps/")
THIRD = ("third_party/", "tests/data/", "build/")


class Rules:
    """The lines of prose_rules.txt: "scope | pattern | instead", "words | N", "except | ..."."""

    def __init__(self, path):
        self.patterns, self.excepted, self.longest = [], [], 0
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = [cell.strip() for cell in line.split(" | ")]
            if cells[0] == "words" and len(cells) == 2:
                self.longest = int(cells[1])
            elif cells[0] == "except" and len(cells) == 4:
                self.excepted.append((re.compile(cells[1]), cells[2], cells[3]))
            elif cells[0] in ("text", "heading", "document") and len(cells) == 3:
                self.patterns.append((cells[0], re.compile(cells[1], re.I), cells[2]))
            else:
                sys.exit(f"{path.name}:{number}: expects scope | pattern | instead")

    def broken(self, name, kind, text):
        """(rule, what is wrong) of one sentence or heading of a file."""
        found = []
        for scope, pattern, instead in self.patterns:
            if scope == "heading" and kind != "heading":
                continue
            if scope == "document" and name.endswith((".h", ".hpp")):
                continue
            match = pattern.search(text)
            if match:
                found.append((pattern.pattern, f"'{match[0]}': {instead}"))
        words = len(re.findall(r"[\w'`-]+", text))
        if self.longest and words > self.longest:
            found.append(("words", f"a sentence of {words} words, {self.longest} at most: "
                                   f"'{text[:60]}...'"))
        return [(rule, what) for rule, what in found
                if not any(file.search(name) and only in (rule, "all")
                           for file, only, _ in self.excepted)]


def plain(text):
    """Markdown without its marks: code is a word, a link its text."""
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?", r"\1", text)
    text = re.sub(r"<[^>]*>", " ", text)
    return re.sub(r"[*_]{1,2}(\S.*?\S|\S)[*_]{1,2}", r"\1", text)


def sentences(lines):
    """(line, sentence) of a paragraph's (line, text)."""
    text, starts = "", []
    for number, line in lines:
        starts.append((len(text), number))
        text += line.strip() + " "
    at = 0
    for end in re.finditer(r"(?<!\be\.g)(?<!\bi\.e)[.!?][)\"'*]*\s+|$", text):
        sentence = text[at:end.end()].strip()
        if sentence:
            yield max(n for start, n in starts if start <= at), plain(sentence)
        at = end.end()


def of_markdown(text):
    """(line, kind, sentence) of a document."""
    fence, paragraph, before = False, [], ""
    for number, line in enumerate(text.splitlines() + [""], 1):
        code = fence or line.lstrip().startswith("```")
        fence = code and not (fence and line.lstrip().startswith("```"))
        indented = re.match(r" {4}", line) and (not before.strip() or before.startswith("    "))
        item = re.match(r"\s*([*-]|\d+\.) |\s*>", line)
        if code or indented or not line.strip() or line[0] in "#|" or item:
            yield from ((n, "text", s) for n, s in sentences(paragraph))
            paragraph = []
        if code or indented or line.startswith("<!--"):
            pass
        elif line.startswith("#"):
            yield number, "heading", plain(line.lstrip("# "))
        elif line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", "`c`", line)):
                yield from ((n, "text", s) for n, s in sentences([(number, cell)]))
        elif line.strip() and not line.lstrip().startswith(">"):
            paragraph.append((number, re.sub(r"^\s*([*-]|\d+\.) ", "", line)))
        before = line


def of_header(text):
    """The same of comments on separate lines; indented ones and those with gaps are diagrams."""
    paragraph = []
    for number, line in enumerate(text.splitlines() + [""], 1):
        comment = re.match(r"\s*// ?(\S.*)", line)
        if comment and not re.search(r"\S  +\S", comment[1]):
            paragraph.append((number, comment[1]))
            continue
        yield from ((n, "text", s) for n, s in sentences(paragraph))
        paragraph = []


def files(names):
    if names:
        return names
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md", "*.h", "*.hpp"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [n for n in listed if not n.startswith(THIRD) and (ROOT / n).is_file()
            and (n.endswith(".md") or n.startswith(HEADERS))]


def check(rules, name, text):
    units = of_markdown(text) if name.endswith(".md") else of_header(text)
    return [(rule, f"{name}:{line}: {what}") for line, kind, unit in units
            for rule, what in rules.broken(name, kind, unit)]


def self_test(rules):
    """Every rule is broken by its example, and plain text by none."""
    examples = [line.split(" | ")[-1] for line in RULES.read_text(encoding="utf-8").splitlines()
                if line.startswith("# wrong | ")]
    for example in examples:
        if not check(rules, "docs/planted.md", example.replace("\\n", "\n")):
            sys.exit(f"prose.py passes: {example}")
    long = "It is " + "very " * rules.longest + "long."
    if not check(rules, "src/planted.h", f"// {long}") or check(rules, "a.md", f"    {long}"):
        sys.exit("prose.py counts no words, or those of code")
    if check(rules, "a.md", "# Support\n\nThe pool falls back to one thread, and retries.\n"):
        sys.exit("prose.py refuses plain text")
    unseen = [p.pattern for scope, p, _ in rules.patterns
              if not any(p.search(plain(e.lstrip("# "))) for e in examples)]
    if unseen:
        sys.exit("prose_rules.txt has no '# wrong' line that breaks: " + ", ".join(unseen))
    print(f"{len(examples)} planted lines are seen")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="file")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--count", action="store_true")
    args, rules = parser.parse_args(), Rules(RULES)
    if args.self_test:
        return self_test(rules)
    names = files(args.files)
    found = [w for n in names for w in check(rules, n, (ROOT / n).read_text(encoding="utf-8"))]
    if args.count:
        for rule, count in collections.Counter(rule for rule, _ in found).most_common():
            print(f"{count:6} {rule}")
        return 0
    if found:
        print("\n".join(what for _, what in found))
        sys.exit(f"{len(found)} places: tools/check/source/prose_rules.txt says what is right")
    print(f"{len(names)} files keep {len(rules.patterns)} rules of prose_rules.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
