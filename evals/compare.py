"""Compare two runs of a kit over the same documents: guards first, then metric by metric, then the rows that changed.

    python -m evals.compare b001-label-restrict-note-tone b002-label-restrict-line-reader

A run is named by its id or by its record's path. Exit codes: 0 compared, 2 usage, 3 the two may not be compared.
"""
import argparse
import sys
from pathlib import Path

from evals.shared import comparing, record, table
from src.shared import console
from src.shared import kit as kits
from src.shared.fields import near
from src.shared.files import BadData

SHOWN = 12


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m evals.compare", description=__doc__.split("\n\n")[0],
                                     epilog="example: python -m evals.compare r001-label-restrict r002-label-restrict")
    parser.add_argument("first", metavar="A", help="the run before: an id or a record's path")
    parser.add_argument("second", metavar="B", help="the run after")
    parser.add_argument("--across", action="append", default=[], choices=("prefix", "rules"), metavar="GUARD",
                        help="compare although this guard differs, since it is what the comparison is about: prefix or rules")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    args = parser.parse_args(argv)
    return console.run(lambda: run(args))


def run(args):
    """Compare, print, and give the exit code."""
    first, second = record.read(locate(args.first)), record.read(locate(args.second))
    found = comparing.compare(first, second, args.across)
    print(record.line(found) if args.json else "\n".join(lines(first, second, found)))
    return 3 if found["refused"] else 0


def locate(name):
    """The record that a run id or a path names. BadData lists near ids."""
    if Path(name).is_file():
        return Path(name)
    known = {path.name.removeprefix("eval-").removesuffix(".json"): path for folder in ("results", "results/*", "results/*/*")
             for path in kits.ROOT.glob(f"{folder}/eval-*.json")}
    if name not in known:
        raise BadData(f"no run is called {name}{near(name, known)}; runs: {', '.join(sorted(known)) or 'none'}")
    return known[name]


def lines(first, second, found):
    """The comparison as text."""
    names = first["run"]["id"], second["run"]["id"]
    out = [f"{names[0]} → {names[1]}", "", "guards: " + "; ".join(
        f"{guard['guard']} {'same' if guard['same'] else 'DIFFERS'}" for guard in found["guards"])]
    out += [f"  {item['setting']}: {item['first']} → {item['second']}" for item in found["settings"]]
    if found["refused"]:
        return out + ["", "These runs may not be compared:", *(f"  {reason}" for reason in found["refused"])]
    out += ["", *table.grid([["", "", "before", "after", "won", "lost", "difference (95 %)", "p", "p of all"],
                             *map(_metric_row, (m for m in found["metrics"] if not m["id"].startswith("field.")))]),
            "", "p: exact, two-sided; 'p of all' allows for all the metrics tested here (Holm).", _could(found["could"])]
    out += _notes(found["metrics"])
    out += ["", "named errors (a count, with none allowed to be new)"]
    for error in found["errors"]:
        out.append(f"  {error['title']}, {error['column']}: {error['first']} → {error['second']} of {error['opportunities']}"
                   + _listed("; new", error["new"]) + _listed("; gone", error["gone"]))
    out += ["", "the headline, document by document"]
    for column, kinds in found["changed"].items():
        out.append(f"  {column}: {len(kinds['still_right'])} still right, {len(kinds['still_wrong'])} still wrong"
                   + _listed(f"; {len(kinds['fixed'])} fixed", kinds["fixed"])
                   + _listed(f"; {len(kinds['broken'])} broken", kinds["broken"]))
    return out


def _metric_row(metric):
    between = f" ({100 * metric['low']:+.0f} to {100 * metric['high']:+.0f})" if metric["low"] is not None else ""
    return [metric["title"], metric["column"], *(f"{rate['num']}/{rate['den']}" for rate in (metric["first"], metric["second"])),
            str(metric["won"]), str(metric["lost"]), f"{100 * metric['difference']:+.1f} points{between}",
            f"{metric['p']:.3g}", f"{metric['p_holm']:.3g}"]


def _could(could):
    if could["gain"] is None:
        return f"With {could['documents']} documents no difference could be shown at all."
    more = could["gain_with_losses"]
    return (f"With {could['documents']} documents this set shows a true net gain of {100 * could['gain']:.0f} points in "
            f"{100 * could['power']:.0f} of 100 tries when nothing gets worse"
            + (f", of {100 * more:.0f} when {100 * could['losses']:.0f} % do." if more is not None else "."))


def _notes(metrics):
    """For differences that look like something and are not: how far the count is from significance."""
    for metric in metrics:
        apart = metric["won"] != metric["lost"]
        if apart and metric["p"] > comparing.ALPHA and min(metric["won"], metric["lost"]) == 0 and metric["test"] == "exact McNemar":
            yield (f"{metric['title']}, {metric['column']}: {metric['won']} better and {metric['lost']} worse is not significant "
                   f"(p = {metric['p']:.3g}).")


def _listed(word, ids):
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return f"{word}: {' '.join(ids[:SHOWN])}{more}" if ids else ""


if __name__ == "__main__":
    sys.exit(main())
