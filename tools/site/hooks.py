"""Hooks of mkdocs.yml.

The navigation is that of docs/README.md. A link from a page to a file of the repository leads to a
copy of it in the site: Markdown is a page, source a page with its highlighted text, a folder its
README, anything else the file itself. A link to what does not exist fails the build.
"""
import pathlib
import posixpath
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = "repository"  # of the site, for files outside docs/
FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1[ \t]*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"(\]\()([^()\s]+)(\))")
LANGUAGES = {".h": "cpp", ".hpp": "cpp", ".cpp": "cpp", ".def": "cpp", ".c": "c", ".py": "python",
             ".js": "js", ".mjs": "js", ".ts": "ts", ".sh": "bash", ".json": "json", ".txt": "text",
             ".wgsl": "wgsl", ".html": "html", ".css": "css", ".csv": "text", ".in": "text"}
LARGEST_PAGE = 200_000  # bytes of source shown as a page


def outside_code(text, change):
    """`change` applied to what is neither in a fence nor in a code span."""
    def spans(part):
        out, at = [], 0
        for span in CODE.finditer(part):
            out += [change(part[at:span.start()]), span.group()]
            at = span.end()
        return "".join(out) + change(part[at:])

    out, at = [], 0
    for fence in FENCE.finditer(text):
        out += [spans(text[at:fence.start()]), fence.group()]
        at = fence.end()
    return "".join(out) + spans(text[at:])


def links(text):
    found = []
    outside_code(text, lambda part: found.extend(m[2] for m in LINK.finditer(part)) or part)
    return found


def is_elsewhere(target):
    return re.match(r"[a-z]+:|#", target)


def place(path):
    """Where a file of the repository (a path from its root) is in the site's sources."""
    if path.startswith("docs/"):
        return path[len("docs/"):]
    if (ROOT / path).is_dir():
        path = posixpath.join(path, "README.md") if (ROOT / path / "README.md").exists() else path
    if is_source(path) or (ROOT / path).is_dir():
        return posixpath.join(FOLDER, path + ".md")
    return posixpath.join(FOLDER, path)


def is_source(path):
    file = ROOT / path
    known = file.suffix in LANGUAGES or not file.suffix
    return file.is_file() and known and file.stat().st_size <= LARGEST_PAGE


def origin(site_path):
    """The inverse of place() for pages: a path from the repository's root."""
    if site_path.startswith(FOLDER + "/"):
        return site_path[len(FOLDER) + 1:]
    return "docs/" + site_path


def resolve(page, target):
    """(path from the root, anchor) of a link that the Markdown file `page` has."""
    path, hash_, anchor = target.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)), hash_ + anchor


def rewritten(page, text, at):
    """The text of the Markdown file `page`, its links as they are from the site's page `at`."""
    def change(part):
        return LINK.sub(one, part)

    def one(match):
        if is_elsewhere(match[2]):
            return match[0]
        path, anchor = resolve(page, match[2])
        if path.startswith("..") or not (ROOT / path).exists():
            return match[0]  # MkDocs says that it leads nowhere
        to = posixpath.relpath(place(path), posixpath.dirname(at) or ".")
        return match[1] + to + anchor + match[3]

    return outside_code(text, change)


def shown(path):
    """The Markdown of a page for a source file, or for a folder without a README."""
    if (ROOT / path).is_dir():
        names = sorted(p.name + "/" * p.is_dir() for p in (ROOT / path).iterdir())
        return f"# {path}/\n\n" + "".join(f"* `{name}`\n" for name in names)
    text = (ROOT / path).read_text(encoding="utf-8")
    fence = "`" * (1 + max([3] + [len(run) for run in re.findall(r"`+", text)]))
    language = LANGUAGES.get((ROOT / path).suffix, "text")
    head = f"# {posixpath.basename(path)}\n\n`{path}`\n\n"
    return f"{head}{fence}{language}\n{text.rstrip()}\n{fence}\n"


def on_files(files, config):
    """Adds what pages link to outside docs/, and what those pages link to."""
    pages = [p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md")]
    seen = set(pages)
    while pages:
        page = pages.pop()
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in links(text):
            path, _ = resolve(page, target)
            if is_elsewhere(target) or path.startswith("..") or not (ROOT / path).exists():
                continue
            at = place(path)
            path = origin(at) if (ROOT / origin(at)).is_file() else path
            if path in seen or path.startswith("docs/"):
                continue
            seen.add(path)
            if path.endswith(".md"):
                pages.append(path)
                body = (ROOT / path).read_text(encoding="utf-8")
                files.append(File.generated(config, at, content=rewritten(path, body, at)))
            elif is_source(path) or (ROOT / path).is_dir():
                files.append(File.generated(config, at, content=shown(path)))
            else:
                files.append(File.generated(config, at, abs_src_path=str(ROOT / path)))
    style = pathlib.Path(__file__).with_name("loom.css")
    files.append(File.generated(config, "stylesheets/loom.css", abs_src_path=str(style)))
    return files


def on_page_markdown(markdown, page, config, files):
    at = page.file.src_uri
    return markdown if at.startswith(FOLDER + "/") else rewritten("docs/" + at, markdown, at)


def section(text):
    """The navigation of one section of docs/README.md: its links, or those of a table's columns."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in text.splitlines() if line.startswith("|")]
    if not rows:
        return [place(resolve("docs/README.md", t)[0]) for t in links(text)]
    return [{title[:1].upper()
             + title[1:]: [entry for row in rows[2:] for entry in section(row[i])]}
            for i, title in enumerate(rows[0])]


def on_config(config):
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", index, flags=re.M)
    nav = [{"Index": "README.md"}]
    for title, text in zip(parts[1::2], parts[2::2]):
        entries = section(text)
        if "|" in text:  # links below the table
            below = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
            entries += section(below)
        if "decisions/README.md" in entries:
            pages = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
            entries[entries.index("decisions/README.md")] = {
                "Decisions": ["decisions/README.md"] + [f"decisions/{p.name}" for p in pages]}
        nav.append({title: entries})
    if len(nav) < 3:
        raise PluginError("docs/README.md has no sections to make a navigation of")
    config.nav = nav
    return config
