"""Write a kit's report: static pages that open from disk, without a server, a network or a script.

    python -m tools.report label_restrict --out ../label-report       then open ../label-report/index.html
    python -m tools.report --out report --data ../mine                one kit, on another data folder

Committed runs alone are shown, so two builds of one checkout are the same to the byte. The folder may be new, empty, or
an earlier report, which is replaced as a whole. Exit codes: 0 written, 1 it would take more than it may (what is too
big is named, nothing is written), 2 usage or configuration.
"""
import argparse
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from evals import check_labels
from evals.shared import arms, injecting, record, scoring
from src.shared import console, follow
from src.shared import kit as kits
from src.shared.fields import near
from src.shared.files import BadData, read_json, read_text
from src.shared.view import chapters, listing, panels, runs, shelf
from src.shared.view.static import DOCUMENTS, ROWS, Markup, Pen, address, anchor, tag

LIMIT = 2_000_000       # bytes of a kit's report, pictures included
SPARE = 150_000         # of them kept for the page of rows and the list of files, which come last
ANSWERS = (2, 1, 0)     # how many answers stand beside the key on a document's page: as many as there is room for
DARK = "-dark."         # a picture that goes first where there is no room
UI, STYLES, STYLE = kits.ROOT / "ui", ("app.css", "report.css"), "style.css"
TOLD = Path(__file__).with_suffix(".json")
LIST = "files.txt"      # what a report consists of: whatever else lies in its folder is somebody's, and stays
GENERATOR = "python -m tools.report"
# `file:` lets a page on disk have its own stylesheet and pictures; there is no word for its own folder alone.
POLICY = "default-src 'none'; style-src 'self' file:; img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
DRAWN = {"business": chapters.business, "architecture": chapters.architecture, "app": chapters.app,
         "corpus": chapters.corpus, "rules": chapters.rulebook, "prompt": chapters.prompt, "evals": chapters.evals,
         "cost": chapters.unit_cost, "code": chapters.code, "scenarios": chapters.scenarios,
         "threats": chapters.threats, "guardrails": chapters.guardrails, "mapping": chapters.mapping,
         "telemetry": chapters.telemetry, "environment": chapters.environment}
NOT_TOLD = "board.json of this kit keeps no words for this chapter. What stands here is computed."


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.report", description=__doc__.split("\n\n")[0],
                                     epilog="example: python -m tools.report label_restrict --out ../label-report")
    parser.add_argument("kit", nargs="?", help="name of the kit; not needed where there is only one")
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="where the pages go: new, empty, or a report")
    parser.add_argument("--data", type=Path, metavar="DIR", help="data folder of the kit (default: its own in data/)")
    args = parser.parse_args(argv)
    return console.run(lambda: run(args))


def run(args):
    kit = kits.load(args.kit, args.data)
    _refuse_foreign(args.out)
    files = build(kit.name, shelf.Shelf(args.data, local=False))
    too_big = oversize(files)
    if too_big:
        print(too_big, file=sys.stderr)
        return 1
    write(args.out, files)
    print("\n".join(f"{len(data):>9,}  {name}" for name, data in files.items()))
    print(f"{sum(map(len, files.values())):>9,}  bytes of at most {LIMIT:,}; open {args.out / 'index.html'}")
    return 0


def build(name, shelf_):
    """The report of a kit as {path below its folder: bytes}, the front page first. BadData for what cannot be shown."""
    opened = shelf_.open(name)
    source = _source(opened)
    site = _Site(source, _prose(opened.kit, source.told))
    files = {"index.html": site.index()}
    files |= {f"{chapter['id']}.html": site.chapter(chapter) for chapter in source.told["chapters"]}
    files = {path: text.encode() for path, text in files.items()}
    files[STYLE] = "".join(read_text(UI / style) for style in STYLES).encode()
    room, pictures = LIMIT - SPARE - sum(map(len, files.values())), _pictures(opened.kit)
    room -= sum(len(data) for name, data in pictures.items() if DARK not in name)
    documents = site.documents(room)
    room -= sum(map(len, documents.values()))
    pictures = {name: data for name, data in pictures.items() if DARK not in name or len(data) <= room}
    files |= {**documents, f"{ROWS}.html": site.rows().encode(), "app.html": site.chapter(
        next(each for each in source.told["chapters"] if each["id"] == "app"), pictures).encode()}
    files |= {f"pictures/{name}": data for name, data in pictures.items()}
    listed = "".join(f"{len(data)} {path}\n" for path, data in sorted(files.items()))
    return {**files, LIST: listed.encode()}


def oversize(files):
    """The sentence that says what takes more bytes than a report may, or None where all is well."""
    total = sum(map(len, files.values()))
    if total <= LIMIT:
        return None
    largest = sorted(files, key=lambda name: (-len(files[name]), name))[:5]
    told = ", ".join(f"{name} {len(files[name]):,}" for name in largest)
    return f"the report would take {total:,} bytes, more than {LIMIT:,}; the largest are {told}; nothing was written"


def write(folder, files):
    """Put a report in place as a whole: written beside it, then renamed over what was there."""
    folder = Path(folder).resolve()
    _refuse_foreign(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, data in files.items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        made.chmod(0o755)
        before = made.with_name(made.name + ".before")
        if folder.exists():
            os.rename(folder, before)
        os.rename(made, folder)
        shutil.rmtree(before, ignore_errors=True)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _refuse_foreign(folder):
    """BadData for a folder that holds anything but a report of this tool."""
    folder = Path(folder).resolve()
    if not folder.exists():
        return
    if not folder.is_dir():
        raise BadData(f"{folder}: is no folder; name a new or empty one")
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}
    listed = folder / LIST
    own = {LIST, *(line.partition(" ")[2] for line in read_text(listed).splitlines())} if listed.is_file() else set()
    if found and f'name="generator" content="{GENERATOR}"' not in _begin(folder / "index.html"):
        raise BadData(f"{folder}: is neither empty nor a report; name a new or empty folder")
    if found - own:
        raise BadData(f"{folder}: {min(found - own)} is not of this report and would be lost; move it, or name another "
                      "folder")


def _begin(path):
    try:
        return path.read_bytes()[:2000].decode("utf-8", "replace")
    except OSError:
        return ""


def _source(opened):
    kit = opened.kit
    bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
    return chapters.Source(opened, chapters.shown(opened), read_json(TOLD), check_labels.gate(kit),
                           _attacked(opened, bench), chapters.inside.read(kit))


def _attacked(opened, bench):
    """{reader: what each planted sentence reached}: free floors, tried now; models by their records and a control."""
    if not bench.attacks or not opened.documents:
        return {}
    kit, found = opened.kit, {}
    twins = injecting.Twins(kit, bench.attacks)
    for name in bench.floors:
        sides = [_answered(each, bench, name) for each in (twins, kit)]
        found[f"{name} (free)"] = injecting.outcome(kit, bench, *sides)
    for run in opened.runs:
        control = run.id.startswith("x") and next((each for each in reversed(opened.runs) if _is_control(each, run)), None)
        if control:
            found[run.id] = injecting.outcome(kit, bench, record.read(run.path), record.read(control.path))
    return found


def _answered(kit, bench, name):
    """What a free floor answers on every page, as a record has it."""
    grading, call = scoring.Scoring(kit, bench), arms.free(kit, bench)[name].call
    entries = [grading.entry(row, follow.safely(kit, row["id"], call(row["id"], kit.text(row["id"])))) for row in kit.gold()]
    return {"documents": entries, "metrics": [{"id": metric.id} for metric in bench.metrics]}


def _is_control(run, planted):
    """Whether a run asked the same model about the clean pages, under the same labels, rules and prompt."""
    return shelf.is_headline(run) and run.about["model"] == planted.about["model"] and all(
        run.record["guards"][guard] == planted.record["guards"][guard] for guard in ("gold", "rules", "prefix"))


def _prose(kit, told):
    """{chapter: [{"title", "paragraphs"}]} of the kit's board.json; empty where it has none. BadData for what is wrong."""
    path, known = kit.data / "board.json", [chapter["id"] for chapter in told["chapters"]]
    board = read_json(path) if path.exists() else {}
    sections = board.get("report", []) if isinstance(board, dict) else None
    problems = [] if isinstance(sections, list) else [f"{path}: /report: a list of sections is wanted"]
    found = {}
    for place, section in enumerate(sections or ()):
        at = f"{path}: /report/{place}"
        if not isinstance(section, dict) or section.keys() != {"id", "title", "paragraphs"} or not all(
                isinstance(text, str) and text for text in [section["title"], *section["paragraphs"]]):
            problems.append(f'{at}: {{"id", "title", "paragraphs": [text]}} is wanted, nothing of it empty')
        elif section["id"] not in known:
            problems.append(f"{at}/id: {section['id']} is no chapter{near(section['id'], known)}; there are "
                            f"{', '.join(known)}")
        else:
            found.setdefault(section["id"], []).append(section)
    if problems:
        raise BadData(*problems)
    return found


def _pictures(kit):
    """{name: bytes} of the board's pictures of this kit."""
    return {path.name: path.read_bytes() for path in sorted(kit.results.glob("shots/*.png"))}


class _Site:
    """The pages of one report. The page of rows comes last: it holds what the others have linked."""

    def __init__(self, source, prose):
        self._source, self._prose, self._asked = source, prose, {}
        self._about = source.opened.kit.about

    def index(self):
        entries = [tag("li", tag("a", chapter["title"], href=f"{chapter['id']}.html"), tag("small", chapter["lead"]))
                   for chapter in self._source.told["chapters"]]
        contents = tag("section", tag("h2", "Chapters", id="chapters"), tag("ol", entries, class_="contents"),
                       aria_labelledby="chapters")
        return self._page(self._about["title"], self._about["decides"], [],
                          [*self._drawn(Pen("", self._asked), chapters.index(self._source)), contents])

    def chapter(self, chapter, pictures={}):
        told = [tag("section", tag("h2", section["title"]), *(tag("p", text) for text in section["paragraphs"]),
                    class_="prose") for section in self._prose.get(chapter["id"], ())]
        if chapter.get("told") and not told:
            told = self._drawn(Pen(), [panels.note(NOT_TOLD, "In words")])
        drawn = self._drawn(Pen("", self._asked), DRAWN[chapter["id"]](self._source))
        return self._page(chapter["title"], chapter["lead"], [(chapter["title"], f"{chapter['id']}.html")],
                          [self._chapters(chapter["id"]), *told, *drawn, *(self._figure(*each) for each in pictures.items())])

    def documents(self, room):
        """{path: bytes} of a page a document, with as many answers beside the key as fit into so many bytes."""
        for answers in ANSWERS:
            asked = dict(self._asked)
            found = {address(name): self.document(name, answers).encode() for name in self._source.opened.documents}
            if sum(map(len, found.values())) <= room or answers == ANSWERS[-1]:
                return found
            self._asked = asked

    def document(self, name, answers):
        """The page of one document with the answers of at most so many runs that went wrong on it by name."""
        view, pen = chapters.document(self._source, name, answers), Pen("../", self._asked, named=True)
        sheet = next(found for found in view["panels"] if found["kind"] == "document")
        pen.lead_to(sheet)
        kind = {True: "Hard case. ", False: "Clean case. "}.get(view["hard"], "")
        replays = [tag("li", tag("strong", f"Replay of {run['id']}"), f": {run['kind']}, arm {run['arm']}, "
                       + (f"model {run['model']}" if run["model"] else "no model")) for run in view["runs"]]
        others = [found for found in view["panels"] if found is not sheet]
        return self._page(name, f"{kind}{view['sentence'] or view['case'] or ''}",
                          [("Corpus", "corpus.html"), (name, address(name))],
                          [self._neighbours(view), replays and tag("ul", replays, class_="replays"), tag(
                              "div", tag("div", pen.panel(sheet), class_="left"),
                              tag("div", self._drawn(pen, others), class_="right"), class_="beside")], "../")

    def rows(self):
        """The documents behind every link to a list of them."""
        pen, parts = Pen("", self._asked), []
        for name, words, documents in chapters.asked(self._source.opened, dict(self._asked)):
            links = [tag("li", tag("a", document, href=pen.href({"document": document}))) for document in documents]
            parts.append(tag("section", tag("h2", f"{words} ({len(documents)})", id=f"{name}-words"),
                             tag("ul", links, class_="rows"), id=name, aria_labelledby=f"{name}-words", tabindex="-1"))
        return self._page("Rows behind the figures", "The documents that each linked figure counts.",
                          [("Rows", f"{ROWS}.html")], parts or [tag("p", "No figure of this report links to rows.")])

    def _drawn(self, pen, found):
        return [pen.panel(panel) for panel in found]

    def _figure(self, name, data):
        stem, _, theme = name.removesuffix(".png").rpartition("-")
        words = self._source.told["pictures"].get(stem, stem)
        width, height = (int.from_bytes(data[at:at + 4], "big") for at in (16, 20))
        return tag("figure", tag("img", src=f"pictures/{name}", alt=f"{words} ({theme} theme)", width=width,
                                 height=height), tag("figcaption", f"{words}. As it looks in the {theme} theme."))

    def _chapters(self, here):
        links = [tag("li", tag("a", chapter["title"], href=f"{chapter['id']}.html",
                               aria_current="page" if chapter["id"] == here else None))
                 for chapter in self._source.told["chapters"]]
        return tag("nav", tag("ol", links), class_="tabs", aria_label="Chapters")

    def _neighbours(self, view):
        def step(name, words):
            return tag("a", words, href=Pen("../").href({"document": name})) if name else tag("span", words, class_="quiet")
        return tag("nav", step(view["previous"], "← previous"), step(view["next"], "next →"),
                   tag("span", f"{view['place']} of {view['matching']}", class_="quiet"), class_="pager",
                   aria_label="Neighbours")

    def _page(self, title, lead, where, content, up=""):
        """One whole page. where [(words, path below the folder)] of the steps that lead to it from the front page."""
        steps = [("Report", "index.html"), *where]
        trail = [tag("li", tag("a", words, href=up + quote(path),
                               aria_current="page" if place == len(steps) - 1 else None))
                 for place, (words, path) in enumerate(steps)]
        head = tag("head", tag("meta", charset="utf-8"), tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
                   tag("meta", name="generator", content=GENERATOR),
                   tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
                   tag("meta", name="color-scheme", content="light dark"), tag("meta", name="referrer", content="no-referrer"),
                   tag("title", f"{title} · {self._about['title']}" if where else title),
                   tag("link", rel="icon", href="data:,"), tag("link", rel="stylesheet", href=f"{up}{STYLE}"))
        body = tag("body", tag("a", "Skip to the content", href="#main", class_="skip"),
                   tag("header", tag("nav", tag("ol", trail), id="where", aria_label="Where you are"), class_="top"),
                   tag("main", tag("h1", title), lead and tag("p", lead, class_="lead"), content, id="main", tabindex="-1"))
        return Markup(f"<!doctype html>\n{tag('html', head, body, lang='en')}\n")


if __name__ == "__main__":
    sys.exit(main())
