"""Join the shards of a run into the record that the run would have been on one machine.

    python -m evals.merge r001-label-restrict results/label_restrict/eval-r001-label-restrict.shard-*-of-4.json

Every document of the key has to be in exactly one shard, and all shards have to be of one run: the same labels, rules,
prompt, code and settings. The joined record is written beside them. Exit codes: 0 joined, 2 they do not fit.
"""
import argparse
import importlib
import json
import sys
from pathlib import Path

from evals.shared import record, scoring
from evals.shared.cache import Cache
from src.shared import cost
from src.shared import kit as kits
from src.shared.files import BadData

SAME_RUN = ("id", "kit", "arm", "command", "code")
SAME_GUARDS = ("gold", "rules", "prefix")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m evals.merge", description=__doc__.split("\n\n")[0],
                                     epilog="example: python -m evals.merge r001-label-restrict results/*/eval-*.shard-*")
    parser.add_argument("run_id", help="the run's id")
    parser.add_argument("shards", nargs="+", metavar="SHARD-FILE", help="eval-ID.shard-I-of-N.json, all of them")
    parser.add_argument("--data", metavar="DIR", help="data folder of the run (default: the kit's)")
    args = parser.parse_args(argv)
    try:
        path = merge(args.run_id, [Path(shard) for shard in args.shards], args.data)
    except BadData as e:
        print(e, file=sys.stderr)
        return 2
    print(f"{len(args.shards)} shards joined: {path}")
    return 0


def merge(run_id, paths, data=None):
    """Write `eval-ID.json` beside the shards and return its path. BadData lists everything in which they do not fit."""
    found = {path: record.read(path) for path in paths}
    first = next(iter(found.values()))
    problems = [problem for path, each in found.items() for problem in _differs(run_id, path, each, first)]
    if problems:
        raise BadData(*problems)
    kit = kits.load(first["run"]["kit"], data)
    entries, problems = _entries(found, kit)
    target = record.path_of(paths[0].parent, run_id)
    if target.exists():
        problems.append(f"{target}: is there already; a kept run is not overwritten")
    if problems:
        raise BadData(*problems)
    bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
    settings = first["settings"] or {"model": None, "provider": None}
    grading = scoring.Scoring(kit, bench, cost.pricer(settings["model"], settings["provider"]) if first["settings"] else None)

    def counted():
        for row in kit.gold():
            if row["id"] in entries:
                grading.count(row, entries[row["id"]])
                yield entries[row["id"]]
    record.write(target, counted(), lambda: {**grading.closing(), "run": first["run"], "settings": first["settings"]})
    _join_caches([record.cache_of(path) for path in paths], record.cache_of(target))
    return target


def _join_caches(paths, target):
    """The shards' replies in one file, so that the joined run is re-scored like any other; nothing where there are none."""
    if not all(path.exists() for path in paths):
        return
    with Cache(target) as joined:
        for path in paths:
            with Cache(path) as cache:
                for document in cache.documents():
                    if joined.get(document) is None:
                        joined.put(cache.get(document))


def _differs(run_id, path, each, first):
    if each["run"]["id"] != run_id:
        yield f"{path}: is a shard of {each['run']['id']}, not of {run_id}"
    for name in SAME_RUN:
        if each["run"][name] != first["run"][name]:
            yield f"{path}: {name} is {each['run'][name]}, in the first shard {first['run'][name]}"
    for name in SAME_GUARDS:
        if each["guards"][name] != first["guards"][name]:
            yield f"{path}: {name} is {each['guards'][name]}, in the first shard {first['guards'][name]}"
    if each["settings"] != first["settings"]:
        yield f"{path}: settings differ: {json.dumps(each['settings'])} here, {json.dumps(first['settings'])} in the first"


def _entries(found, kit):
    """({document: entry}, problems) over all shards."""
    entries, problems = {}, []
    for path, each in found.items():
        for entry in each["documents"]:
            if entry["id"] in entries:
                problems.append(f"{path}: {entry['id']} is in another shard too; each document belongs to one")
            entries[entry["id"]] = entry
    missing = [document for document in kit.documents() if document not in entries]
    if missing:
        problems.append(f"{len(missing)} documents of the key are in no shard, first {missing[0]}; name all shard files")
    return entries, problems


if __name__ == "__main__":
    sys.exit(main())
