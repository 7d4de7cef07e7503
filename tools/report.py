"""Write a kit's report: static pages that open from disk, without a server, a network or a script.

    python -m tools.report label_restrict --out ../label-report       then open ../label-report/index.html
    python -m tools.report --out report --data ../mine                one kit, on another data folder

Kept runs alone are shown and none of `local/`, so two builds of one checkout are the same to the byte. The folder may
be new, empty, or an earlier report, which is replaced as a whole. Exit codes: 0 written, 1 it would take more than it
may (what is too big is named, nothing is written), 2 usage or configuration.
"""
import html
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from evals import check_labels
from evals.shared import arms, injecting, record, scoring
from src.shared import console, follow
from src.shared import kit as kits
from src.shared.files import BadData, read_json, read_text
from src.shared.view import chapters, inside, shelf
from src.shared.view.site import GENERATOR, STYLE, Site, size
from src.shared.view.static import ROWS

LIMIT = 2_000_000       # bytes of a kit's report, pictures included
SPARE = 10_000          # of them kept for what comes last, such as the list of files
DARK = "-dark."         # pictures that are left out where there is no room
LARGEST = 5             # files named where a report is too big
UI, STYLES = kits.ROOT / "ui", ("app.css", "report.css")
TOLD = Path(__file__).with_suffix(".json")
LIST = "files.txt"      # what a report consists of: whatever else lies in its folder is somebody's, and stays


class TooBig(Exception):
    """A report that takes more bytes than it may; the message says what is big."""


def main(argv=None):
    parser = console.parser("tools.report", __doc__, "python -m tools.report {kit} --out ../report")
    parser.add_argument("kit", nargs="?", help="name of the kit; not needed where there is only one")
    parser.add_argument("--out", type=Path, metavar="DIR", required=True,
                        help="where the pages go: a new or empty folder, or an earlier report")
    parser.add_argument("--data", type=Path, metavar="DIR", help="data folder of the kit (default: its own in data/)")
    args = parser.parse_args(argv)
    return console.run(lambda: run(args))


def run(args):
    kit = kits.load(args.kit, args.data)
    _refuse_foreign(args.out)
    try:
        files = build(kit.name, shelf.Shelf(args.data, local=False))
    except TooBig as e:
        print(e, file=sys.stderr)
        return 1
    write(args.out, files)
    print("\n".join(f"{len(data):>9,}  {name}" for name, data in files.items()))
    print(f"{sum(map(len, files.values())):>9,}  bytes of at most {LIMIT:,}; open {args.out / 'index.html'}")
    return 0


def build(name, shelf_):
    """The report of a kit as {path below its folder: bytes}, the front page first.

    BadData for data that cannot be read, TooBig where it would take more than LIMIT.
    """
    opened = shelf_.open(name)
    if not opened.documents:
        empty = f"{opened.kit.data / 'gold.jsonl'}: holds no document, so there is nothing to report"
        raise BadData(*opened.problems or [empty])
    texts = sum(path.stat().st_size for path in opened.kit.data.glob("corpus/[!.]*.txt"))
    if texts > LIMIT:
        raise TooBig(f"the {len(opened.documents):,} pages of the corpus have {texts:,} bytes alone, more than the "
                     f"{LIMIT:,} that a report may take; nothing was written")
    source = _source(opened)
    site = Site(source)
    files = {"index.html": site.index()}
    files |= {f"{chapter['id']}.html": site.chapter(chapter) for chapter in source.told["chapters"]}
    files |= {f"{ROWS}.html": site.rows(), STYLE: "".join(read_text(UI / style) for style in STYLES)}
    pictures = {path.name: path.read_bytes() for path in sorted(opened.kit.results.glob("shots/*.png"))}
    light = sum(len(data) for name, data in pictures.items() if DARK not in name)
    files |= site.documents(LIMIT - SPARE - size(files.values()) - light)
    if size(files.values()) + sum(map(len, pictures.values())) > LIMIT - SPARE:
        pictures = {name: data for name, data in pictures.items() if DARK not in name}
    files |= {f"{ROWS}.html": site.rows(), "app.html": site.chapter(_chapter(source, "app"), pictures)}
    files = {path: _nowhere(text, opened.kit).encode() for path, text in files.items()}
    files |= {f"pictures/{name}": data for name, data in pictures.items()}
    files[LIST] = "".join(f"{len(data)} {path}\n" for path, data in sorted(files.items())).encode()
    _refuse_oversize(files)
    return files


def _chapter(source, name):
    return next(chapter for chapter in source.told["chapters"] if chapter["id"] == name)


def _nowhere(text, kit):
    """A page without the folders of this machine, which sentences about broken files name."""
    for folder, name in ((kits.ROOT, ""), (kit.data, "data/"), (kit.results, "results/")):
        text = text.replace(f"{html.escape(str(folder))}{os.sep}", name)
    return text


def _refuse_oversize(files):
    total = sum(map(len, files.values()))
    if total > LIMIT:
        largest = sorted(files, key=lambda name: (-len(files[name]), name))[:LARGEST]
        told = ", ".join(f"{name} {len(files[name]):,}" for name in largest)
        raise TooBig(f"the report would take {total:,} bytes, more than {LIMIT:,}; the largest are {told}; nothing was "
                     "written")


def write(folder, files):
    """Put a report in place as a whole: written beside it, then renamed over what was there."""
    folder = Path(folder).resolve()
    _refuse_foreign(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    before = made.with_name(f"{made.name}.before")
    try:
        for name, data in files.items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        made.chmod(0o755)
        if folder.exists():
            os.rename(folder, before)
        os.rename(made, folder)
    except BaseException:
        if before.exists() and not folder.exists():
            os.rename(before, folder)
        shutil.rmtree(made, ignore_errors=True)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _refuse_foreign(folder):
    """BadData for a folder that holds anything but a report of this tool."""
    folder = Path(folder).resolve()
    if not folder.exists():
        return
    if not folder.is_dir():
        raise BadData(f"{folder}: is no folder; name a new or empty one")
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*")
             if not path.is_dir() or path.is_symlink()}
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
                           _attacked(opened, bench), inside.read(kit))


def _attacked(opened, bench):
    """{reader: what each planted sentence reached}: free floors, tried now; models by their records and a control."""
    kit, found = opened.kit, {}
    twins = injecting.Twins(kit, bench.attacks)
    for name in bench.floors if bench.attacks else ():
        sides = [_answered(each, bench, name) for each in (twins, kit)]
        found[f"{name} (free)"] = injecting.outcome(kit, bench, *sides)
    for run in opened.runs:
        controls = [each for each in opened.runs if run.id.startswith("x") and _is_control(each, run)]
        if controls:
            found[run.id] = injecting.outcome(kit, bench, record.read(run.path), record.read(controls[-1].path))
    return found


def _answered(kit, bench, name):
    """What a free floor answers on every page, as a record has it."""
    grading, call = scoring.Scoring(kit, bench), arms.free(kit, bench)[name].call
    entries = [grading.entry(row, follow.safely(kit, row["id"], call(row["id"], kit.text(row["id"]))))
               for row in kit.gold()]
    return {"documents": entries, "metrics": [{"id": metric.id} for metric in bench.metrics]}


def _is_control(run, planted):
    """Whether a run asked the same model about the clean pages, under the same labels, rules and prompt."""
    return shelf.is_headline(run) and run.about["model"] == planted.about["model"] and all(
        run.record["guards"][guard] == planted.record["guards"][guard] for guard in ("gold", "rules", "prefix"))


if __name__ == "__main__":
    sys.exit(main())
