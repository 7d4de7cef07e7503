"""Say which matters are due: runs that are past their date, left out or out of order, and rosters that were stale.

    python -m tools.due                                    every kit that keeps a schedule, as of today
    python -m tools.due legal_hold --state ~/holds/kept    the states that reviews have kept, one file a matter
    python -m tools.due legal_hold --data ../mine --today 2026-01-12

Two lines of a crontab: every working day each matter goes on from its state, and half an hour later somebody hears what
is due. The row of a matter's open run lies in in/MATTER.json until it is taken out; its state is kept/MATTER.json.

    0 6 * * 1-5   cd ~/holds; ls in | xargs -I{} python -m src.decide legal_hold in/{} --state kept/{} >>out
    30 6 * * 1-5  cd ~/holds; python -m tools.due legal_hold --state kept >due 2>&1 || mail -s due me@example.com <due

Exit codes: 0 nothing is due, 1 something is, or no chain of runs was found, or a file or row cannot be read (it is
named and the others go on), 2 usage or configuration. A stale roster is flagged and makes nothing due: the kit's policy
says how old is too old.
"""
import argparse
import datetime
import sys
from pathlib import Path

from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.values import Unreadable, read_date


def main(argv=None):
    args = _arguments().parse_args(argv)
    try:
        names = args.kit or kits.names()
        opened = [kits.load(name, None if _is_facts(args.data) else args.data) for name in names] if len(
            names) == 1 or args.data is None else []
        if not opened or args.state and sum(kit.definition.schedule is not None for kit in opened) != 1:
            raise BadData(f"--data and --state are of one kit; name it: {', '.join(kits.names())}")
        today, states = _today(args.today), [path for place in args.state for path in _state_files(Path(place))]
        found = [_report(kit, _schedule(kit, args, states), today, args.quiet) for kit in opened
                 if kit.definition.schedule]
    except BadData as e:
        print(e, file=sys.stderr)
        return 2
    if not found:
        print("no kit here keeps a schedule")
        return 0
    print("\n".join(line for lines, _ in found for line in lines))
    return 1 if any(is_due for _, is_due in found) else 0


def findings(schedule, today):
    """Every way in which a schedule is not kept as of a day, as sentences, chain by chain.

    `schedule` as a kit's `schedule(book)` gives it; `today` a date. Runs taken after that day are not looked at. Where
    no run is left there is nothing that could be in order, so that is a finding too.
    """
    chains = {}
    for position in schedule["positions"]:
        if position["run_on"] <= today.isoformat():
            chains.setdefault(position["chain"], []).append(position)
    found = list(schedule["problems"])
    # A state is kept when its run is taken, so a later day is a slip, and its matter would be missed here.
    found += [f"{position['chain']}: run {position['run']} is said to have been taken on {position['run_on']}, after "
              f"{today}; mend that day in {position['document']}"
              for position in schedule["positions"] if schedule["is_kept"] and position["run_on"] > today.isoformat()]
    if not chains:
        found.append(f"no run of any chain was found as of {today}; name the folder or the files that hold them")
    for chain, positions in sorted(chains.items()):
        positions.sort(key=lambda position: position["run"])
        found += [f"{chain}: {sentence}" for sentence in (*_order(positions), *_past_due(positions[-1], today))]
    return found


def freshness(schedule, today):
    """[(chain, run, days between snapshot and run, whether that is stale)] of each chain's latest run as of a day."""
    latest = {}
    for position in schedule["positions"]:
        known = latest.get(position["chain"], position)
        if position["run_on"] <= today.isoformat() and position["run"] >= known["run"]:
            latest[position["chain"]] = position
    return [(chain, position["run"], days := _days(position["snapshot"], position["run_on"]),
             not 0 <= days <= schedule["stale_after_days"]) for chain, position in sorted(latest.items())]


def _order(positions):
    """What is wrong between the runs of one chain."""
    numbers = [position["run"] for position in positions]
    for number in sorted(set(numbers)):
        if numbers.count(number) > 1:
            where = ", ".join(position["document"] for position in positions if position["run"] == number)
            yield f"run {number} was taken {numbers.count(number)} times: {where}"
    vouched = max(position["follows"] for position in positions)
    missing = sorted(set(range(vouched + 1, max(numbers) + 1)) - set(numbers))
    if missing:
        yield f"run {', '.join(map(str, missing))} is missing, though run {max(numbers)} was taken"
    for before, after in zip(positions, positions[1:]):
        if after["snapshot"] < before["snapshot"] or after["run_on"] < before["run_on"]:
            yield f"run {after['run']} is out of order: its snapshot or its day lies before that of run {before['run']}"
        elif after["run"] == before["run"] + 1 and after["previous"] != before["snapshot"]:
            yield (f"run {after['run']} follows a snapshot of {after['previous']}, and the one of run {before['run']} "
                   f"is of {before['snapshot']}")
    for position in positions:
        if position["run"] < position["runs"] and not position["next"]:
            yield f"run {position['run']} of {position['runs']} names no next run"


def _past_due(latest, today):
    if latest["next"] and latest["next"] < today.isoformat():
        days = _days(latest["next"], today.isoformat())
        yield (f"run {latest['run'] + 1} was due on {latest['next']}, {days} day{'s' * (days > 1)} ago, and has not "
               f"been taken")


def _report(kit, schedule, today, quiet):
    """(lines to print, whether anything is due) of one kit."""
    due, fresh = findings(schedule, today), freshness(schedule, today)
    lines = [f"{kit.name}: {len(fresh)} chains looked at as of {today}, {len(due)} findings",
             *(f"  due: {line}" for line in due)]
    lines += [f"  {'stale' if is_stale else 'fresh'}: {chain} run {run}: " + (
        f"the roster was {days} days old" if days >= 0 else f"the roster is dated {-days} days after the run")
              for chain, run, days, is_stale in sorted(fresh, key=lambda entry: not entry[3]) if is_stale or not quiet]
    return lines, bool(due)


def _schedule(kit, args, states):
    """The schedule of what the arguments name: kept states, a facts file, or the data folder."""
    if args.state and not states:
        return {"positions": [], "problems": [f"{', '.join(args.state)}: holds no state file"], "stale_after_days": 0,
                "is_kept": True}
    more = {"states": states} if states else {"facts": args.data} if _is_facts(args.data) else {}
    return kit.definition.schedule(kit.book, **more)


def _state_files(place):
    """The state files at a path: itself, or every .json file of a folder. BadData where nothing is there."""
    if not place.exists():
        raise BadData(f"--state {place}: there is no such file or folder")
    return sorted(path for path in place.glob("*.json") if not path.name.startswith(".")) if place.is_dir() else [place]


def _is_facts(data):
    return data is not None and data.endswith(".jsonl")


def _days(first, last):
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days


def _today(text):
    try:
        return (text and read_date(text)) or datetime.date.today()
    except Unreadable as e:
        raise BadData(f"--today: {e}") from None


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tools.due", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kit", nargs="*", help="kits to look at (default: every kit that keeps a schedule)")
    parser.add_argument("--state", metavar="FILE", nargs="+", default=[],
                        help="look at kept states, as `python -m src.decide KIT --state FILE` writes them; a folder "
                             "stands for its .json files")
    parser.add_argument("--data", metavar="DIR", help="data folder to look at, or a facts.jsonl (default: the kit's)")
    parser.add_argument("--today", metavar="DATE", help="the day to judge by, like 2026-01-12 (default: today)")
    parser.add_argument("--quiet", action="store_true", help="leave out the lines about rosters that are fresh")
    return parser


if __name__ == "__main__":
    sys.exit(main())
