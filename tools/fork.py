"""Take one kit out whole: a folder that runs, tests and forks by itself, its data directly under `data/`.

    python -m tools.fork label_restrict ../my-label-kit

The folder has the same top level and nothing of the other kits; its commands need no kit name. It must not exist yet,
or be empty.
"""
import importlib
import re
import shutil
import sys
from pathlib import Path

from src.shared import console
from src.shared import kit as kits
from src.shared.files import BadData, read_text, write_text
from src.shared.kit import ROOT
from tools import readme

TOP = ("LICENSE", ".env.example", "requirements.txt", ".gitignore", ".gitattributes")
SHARED = ("src", "src/shared", "evals", "evals/shared", "tools", "ui")
TEMPLATE = "fork_readme.md"
RULES = ("checks.json", "policy.json")
SWAP = "swap.md"        # what a kit says about putting other rules in, beside what holds for all
COMMAND = re.compile(r"\| `python -m (\w+)\.(\w+)[^|]*\|.*\n")
SKIPPED = shutil.ignore_patterns("__pycache__", "*.pyc", "local", ".*.lock", "ledger", ".DS_Store", "._*",
                                 "Thumbs.db", "desktop.ini")


def main(argv=None):
    parser = console.parser("tools.fork", __doc__, "python -m tools.fork {kit} ../my-kit")
    parser.add_argument("kit", nargs="?", help="name of the kit; not needed where there is only one")
    parser.add_argument("folder", help="where the new kit goes; a new or empty folder")
    args = parser.parse_args(argv)
    try:
        kit, folder = kits.load(args.kit), Path(args.folder)
        fork(kit, folder)
    except BadData as e:
        print(e, file=sys.stderr)
        return 2
    except OSError as e:
        print(f"{e.filename}: {e.strerror}", file=sys.stderr)
        return 2
    print(f"{kit.name} stands in {folder}. Go on with:\n  cd {folder}\n  python -m evals.run\n  python -m unittest")
    return 0


def fork(kit, folder):
    """Write the stand-alone kit. BadData for a folder that holds something; a fork that fails leaves nothing behind."""
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadData(f"{folder}: is not an empty folder; name a new one")
    if folder.resolve().is_relative_to(ROOT):
        raise BadData(f"{folder}: lies inside this checkout; name a folder outside {ROOT.name}")
    was_there = folder.exists()
    try:
        _copy(kit, folder)
        write_text(folder / "README.md", _readme(kit, folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if was_there:
            folder.mkdir()
        raise


def _copy(kit, folder):
    for name in TOP:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    others = {name for name in kits.names() if name != kit.name}
    for place in SHARED:
        for path in sorted((ROOT / place).iterdir()):
            if path.is_file() and not path.name.startswith(".") and path.suffix != ".pyc":
                (folder / place).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, folder / place / path.name)
    for path in sorted((ROOT / "src" / "shared").iterdir()):
        if path.is_dir() and path.name not in others | {"__pycache__"}:
            shutil.copytree(path, folder / "src" / "shared" / path.name, ignore=SKIPPED)
    for place in (f"src/{kit.name}", f"evals/{kit.name}"):
        shutil.copytree(ROOT / place, folder / place, ignore=SKIPPED)
    shutil.copytree(kit.data, folder / "data", ignore=SKIPPED)
    if not kit.alone:
        shutil.copyfile(ROOT / "data" / "rates.json", folder / "data" / "rates.json")
    shutil.copytree(kit.results, folder / "results", ignore=SKIPPED)
    for place in ("data", "results"):       # what they tell of lies a folder higher here
        for path in (folder / place).glob("*.md"):
            text = read_text(path)
            write_text(path, text.replace(f"data/{kit.name}/", "data/").replace(f"results/{kit.name}/", "results/"))


def _readme(kit, folder):
    """The fork's own README: the template with this kit's words, and outputs taken from the fork itself."""
    about, bench = kit.about, importlib.import_module(f"evals.{kit.name}.bench").BENCH
    text = read_text(Path(__file__).with_name(TEMPLATE))
    text = COMMAND.sub(lambda row: row[0] if _is_useful(kit, folder, *row.groups()) else "", text)
    swap = kit.data / SWAP
    runs = sorted(path.stem.removeprefix("eval-") for path in kit.results.glob("eval-b*.json"))
    documents = kit.documents()
    for word, value in (("title", about["title"]), ("decides", about["decides"]), ("kit", kit.name),
                        ("hyphened", kit.hyphened), ("documents", about["documents"]), ("first", next(documents)),
                        ("second", next(documents)), ("floor", next(iter(bench.floors))),
                        ("one", runs[0] if runs else f"b101-{kit.hyphened}"),
                        ("other", runs[1] if len(runs) > 1 else f"b102-{kit.hyphened}"),
                        ("rules", next(name for name in RULES if (kit.data / name).exists())),
                        ("swap", read_text(swap) if swap.exists() else "")):
        text = text.replace(f"{{{{{word}}}}}", value)
    return readme.filled(text, folder)


def _is_useful(kit, folder, package, module):
    """Whether a command of the template is in the fork and has something to do there."""
    return (folder / package / f"{module}.py").exists() and (module != "due" or kit.definition.schedule is not None)


if __name__ == "__main__":
    sys.exit(main())
