"""Compare two runs of a kit over the same documents: guards first, then metric by metric, then the rows that changed.

    python -m evals.compare b001-label-restrict-note-tone b002-label-restrict-line-reader

A run is named by its id or by its record's path. Exit codes: 0 compared, 2 usage, 3 the two may not be compared.
"""
import sys
from pathlib import Path

from evals.shared import record, table
from src.shared import blame, comparing, console, records, wording
from src.shared import kit as kits
from src.shared.fields import near
from src.shared.files import BadData

SHOWN = 12


def main(argv=None):
    parser = console.parser("evals.compare", __doc__, "python -m evals.compare r001-{kit} r002-{kit}")
    parser.add_argument("first", metavar="A", help="the run before: an id or a record's path")
    parser.add_argument("second", metavar="B", help="the run after")
    parser.add_argument("--across", action="append", default=[], choices=comparing.ACROSS, metavar="GUARD",
                        help="compare although this guard, prefix or rules, differs: it is what the comparison is about")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    args = parser.parse_args(argv)
    return console.run(lambda: run(args))


def run(args):
    """Compare, print, and give the exit code."""
    first, second = (records.Record(locate(name)) for name in (args.first, args.second))
    found = comparing.compare(first, second, args.across)
    looks = _looks((first.path, second.path), second.said["guards"]["gold"])
    print(record.line({**found, "looks": looks}) if args.json else
          "\n".join(lines(first.said, second.said, found, looks)))
    return 3 if found["refused"] else 0


def locate(name):
    """The record that a run id or a path names. BadData lists near ids."""
    if Path(name).is_file():
        return Path(name)
    folders = ("results", "results/*", "results/*/*")
    known = {path.name.removeprefix("eval-").removesuffix(".json"): path for folder in folders
             for path in kits.ROOT.glob(f"{folder}/eval-*.json")}
    if name not in known:
        raise BadData(f"no run is called {name}{near(name, known)}; runs: {', '.join(sorted(known)) or 'none'}")
    return known[name]


def lines(first, second, found, looks):
    """The comparison as text. `first` and `second` are what the two records say of all documents."""
    names = first["run"]["id"], second["run"]["id"]
    out = [f"{names[0]} → {names[1]}", "", "guards: " + "; ".join(
        f"{guard['guard']} {'same' if guard['same'] else 'DIFFERS'}" for guard in found["guards"])]
    out += [f"  {item['setting']}: {item['first']} → {item['second']}" for item in found["settings"]]
    if found["refused"]:
        return out + ["", "These runs may not be compared:", *(f"  {reason}" for reason in found["refused"])]
    out += [f"  {sentence}" for sentence in comparing.floors(first, second)]
    out += ["", *table.grid([["", "", "before", "after", "won", "lost", "difference (95 %)", "p", "p of all"],
                             *map(_metric_row, (m for m in found["metrics"] if not m["id"].startswith("field.")))]),
            "", wording.P, wording.could(found["could"]), wording.looks(looks),
            *comparing.not_significant(found["metrics"])]
    out += ["", "named errors (a count, with none allowed to be new)"]
    for error in found["errors"]:
        counts = f"{error['first']} → {error['second']} of {error['opportunities']}"
        out.append(f"  {error['title']}, {error['column']}: {counts}"
                   + _listed("; new", error["new"]) + _listed("; gone", error["gone"]))
    out += ["", "the headline, document by document"]
    for column, kinds in found["changed"].items():
        out.append(f"  {column}: {len(kinds['still_right'])} still right, {len(kinds['still_wrong'])} still wrong"
                   + _listed(f"; {len(kinds['fixed'])} fixed", kinds["fixed"])
                   + _listed(f"; {len(kinds['broken'])} broken", kinds["broken"]))
        reasons = list(found["why"][column].items())[:SHOWN]
        out += [f"    {document}: {blame.in_words(why)}" for document, why in reasons]
    return out


def _looks(paths, gold):
    """How many model runs in the folders of these records were scored against one gold key."""
    folders = {folder for path in paths for folder in (path.parent, path.parent / "local")}
    found = (path for folder in folders for path in folder.glob("eval-[acrs]*.json") if ".shard-" not in path.name)
    return comparing.looks((records.Record(path).said for path in found), gold)


def _metric_row(metric):
    rates = [f"{rate['num']}/{rate['den']}" for rate in (metric["first"], metric["second"])]
    return [metric["title"], metric["column"], *rates, str(metric["won"]), str(metric["lost"]),
            wording.difference(metric), wording.chance(metric["p"]), wording.chance(metric["p_holm"])]


def _listed(word, ids):
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return f"{word}: {' '.join(ids[:SHOWN])}{more}" if ids else ""


if __name__ == "__main__":
    sys.exit(main())
