"""Join the shards of a run into the record that the run would have been on one machine.

    python -m evals.merge r001-label-restrict $(find results -name "eval-r001-label-restrict.shard-*-of-4.json")

Every document of the key has to be in exactly one shard, and all shards have to be of one run: the same labels, rules,
prompt, code and settings. The joined record is written beside them. Exit codes: 0 joined, 2 they do not
fit, 3 joined, but documents are owed a reply.
"""
import importlib
import sys
from pathlib import Path

from evals.shared import record, scoring
from evals.shared.cache import Cache
from src.shared import comparing, console, cost
from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.follow import OWED

SAME_RUN = ("id", "kit", "arm", "command", "select", "code")
SAME_GUARDS = ("gold", "rules", "prefix")
# Settings that say how fast a run was, not what it is.
PACE = ("workers", "eval_workers", "retries", "first_output_seconds", "between_output_seconds", "total_seconds", "port",
        "max_calls_per_day", "max_cost_usd")


def main(argv=None):
    parser = console.parser("evals.merge", __doc__, "python -m evals.merge r001-{kit} results/*/eval-*shard*")
    parser.add_argument("run_id", help="the run's id")
    parser.add_argument("shards", nargs="+", metavar="SHARD-FILE", help="eval-ID.shard-I-of-N.json, all of them")
    parser.add_argument("--data", metavar="DIR", help="data folder of the run (default: the kit's)")
    args = parser.parse_args(argv)
    return console.run(lambda: run(args))


def run(args):
    """Join, and say what came of it; returns the exit code."""
    path, owed = merge(args.run_id, [Path(shard) for shard in args.shards], args.data)
    print(f"{len(args.shards)} shards joined: {path}")
    if owed:
        print(f"{owed} documents have no reply and count as misses; resume the shards that owe them and join again",
              file=sys.stderr)
    return 3 if owed else 0


def merge(run_id, paths, data=None):
    """Write `eval-ID.json` beside the shards, also over one that owes replies; returns (its path, how many documents
    are owed a reply).

    BadData lists everything in which the shards do not fit.
    """
    found = {path: record.read(path) for path in paths}
    first = next(iter(found.values()))
    problems = [problem for path, each in found.items() for problem in _differs(run_id, path, each, first)]
    if problems:
        raise BadData(*problems)
    kit = kits.load(first["run"]["kit"], data)
    _, prompt = (kit.definition.variants or {}).get(first["run"]["arm"], (None, kit.definition.prompt))
    kit.definition = kit.definition._replace(prompt=prompt)
    wanted = lambda: scoring.wanted(kit, **first["run"]["select"])
    entries, problems = _entries(found, wanted)
    target = record.path_of(paths[0].parent, run_id)
    caches = [record.cache_of(path) for path in paths]
    problems += _kept(target, caches)
    if problems:
        raise BadData(*problems)
    bench = importlib.import_module(f"evals.{kit.name}.bench").BENCH
    grading = scoring.Scoring(kit, bench, first["totals"]["cost"]["label"], sends=first.get("prompt") is not None)

    def counted():
        for row in wanted():
            grading.count(row, entries[row["id"]])
            yield entries[row["id"]]

    def closing():
        joined = {**grading.closing(), "run": first["run"], "settings": first["settings"]}
        paid = [each["totals"]["paid"] for each in found.values() if "paid" in each["totals"]]
        if paid:
            joined["totals"]["paid"] = cost.joined(paid)
        return joined
    _join_caches(caches, record.cache_of(target))
    record.write(target, counted(), closing)
    return target, sum(grading.tally.outcomes.get(outcome, 0) for outcome in OWED)


def _kept(target, caches):
    """Why a joined record that is there already may not be made anew: it is whole, or replies of its own would go."""
    if not target.exists():
        return
    brought = {name for path in caches for name in _replies(path)}
    there = _replies(record.cache_of(target))
    own = sorted({document for name, document in there.items() if name not in brought})
    if own:
        yield (f"{target}: was resumed after its shards were joined, and would lose {len(own)} documents' replies, first "
               f"{own[0]}; go on with evals.run --run-id {record.read(target)['run']['id']} --resume")
    elif brought <= there.keys() and not comparing.owed(record.read(target)):
        yield f"{target}: is there already, and complete; a kept run is not overwritten"


def _replies(path):
    """{what tells one line of a cache from every other: its document}; nothing where there is no cache."""
    if not path.exists():
        return {}
    with Cache(path) as cache:
        return {record.sha(record.line(line)): line["id"] for line in cache.lines()}


def _join_caches(paths, target):
    """The shards' replies in one file, so that the joined run is re-scored like any other; none where there are none.

    What an earlier joining brought there already is not brought again: no call was paid twice.
    """
    if not all(path.exists() for path in paths):
        return
    known = _replies(target)
    with Cache(target) as joined:
        for path in paths:
            with Cache(path) as cache:
                if joined.get("") is None:
                    joined.put(cache.get(""))
                for line in cache.lines():
                    if record.sha(record.line(line)) not in known:
                        joined.put(line)


def _differs(run_id, path, each, first):
    if each["run"]["id"] != run_id:
        yield f"{path}: is a shard of {each['run']['id']}, not of {run_id}"
    for name in SAME_RUN:
        if each["run"][name] != first["run"][name]:
            yield f"{path}: {name} is {each['run'][name]}, in the first shard {first['run'][name]}"
    for name in SAME_GUARDS:
        if each["guards"][name] != first["guards"][name]:
            yield f"{path}: {name} is {each['guards'][name]}, in the first shard {first['guards'][name]}"
    mine, others = each["settings"] or {}, first["settings"] or {}
    for name in sorted(mine.keys() | others.keys()):
        if name not in PACE and mine.get(name) != others.get(name):
            yield f"{path}: setting {name} is {mine.get(name)}, in the first shard {others.get(name)}"


def _entries(found, wanted):
    """({document: entry}, problems) over all shards."""
    entries, problems = {}, []
    for path, each in found.items():
        for entry in each["documents"]:
            if entry["id"] in entries:
                problems.append(f"{path}: {entry['id']} is in another shard too; each document belongs to one")
            entries[entry["id"]] = entry
    missing = [row["id"] for row in wanted() if row["id"] not in entries]
    if missing:
        problems.append(f"{len(missing)} documents of the run are in no shard, first {missing[0]}; name all shard "
                        "files")
    return entries, problems


if __name__ == "__main__":
    sys.exit(main())
