"""Say which matters are due: runs that are past their date, left out or out of order, and rosters that were stale.

    python -m tools.due                       every kit that keeps a schedule, as of today
    python -m tools.due legal_hold --data ../mine --today 2026-01-12

Two lines of a crontab that look every working day and take what came in:

    0 6 * * 1-5   cd ~/holds && python -m src.decide legal_hold today.jsonl --state mtr-0001.json >> decisions.jsonl
    30 6 * * 1-5  cd ~/holds && python -m tools.due legal_hold || mail -s "reviews due" desk@example.com

Exit codes: 0 nothing is due, 1 something is, 2 usage or data that cannot be read. A stale roster is flagged and makes
nothing due: see the policy of the kit for how old is too old.
"""
import argparse
import datetime
import sys

from src.shared import kit as kits
from src.shared.files import BadData
from src.shared.values import Unreadable, read_date


def main(argv=None):
    args = _arguments().parse_args(argv)
    try:
        names = args.kit or kits.names()
        if args.data is not None and len(names) != 1:
            raise BadData(f"--data is the folder of one kit; name it: {', '.join(kits.names())}")
        today = _today(args.today)
        found = [_report(kits.load(name, args.data), today, args.quiet) for name in names]
    except BadData as e:
        print(e, file=sys.stderr)
        return 2
    lines = [line for report in found if report for line in report[0]]
    if not any(found):
        print("no kit here keeps a schedule")
        return 0
    print("\n".join(lines))
    return 1 if any(report[1] for report in found if report) else 0


def findings(schedule, today):
    """Every way in which a schedule is not kept as of a day, as sentences, chain by chain.

    `schedule` as a kit's `schedule(book)` gives it; `today` a date. Runs taken after that day are not looked at.
    """
    chains = {}
    for position in schedule["positions"]:
        if position["run_on"] <= today.isoformat():
            chains.setdefault(position["chain"], []).append(position)
    found = list(schedule["problems"])
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
             days > schedule["stale_after_days"]) for chain, position in sorted(latest.items())]


def _order(positions):
    """What is wrong between the runs of one chain."""
    numbers = [position["run"] for position in positions]
    for number in sorted(set(numbers)):
        if numbers.count(number) > 1:
            yield f"run {number} was taken {numbers.count(number)} times"
    missing = sorted(set(range(1, max(numbers) + 1)) - set(numbers))
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


def _report(kit, today, quiet):
    """(lines to print, whether anything is due) of one kit; None for a kit that keeps no schedule."""
    if kit.definition.schedule is None:
        return None
    schedule = kit.definition.schedule(kit.book)
    _refuse_unreadable(kit, schedule)
    due, fresh = findings(schedule, today), freshness(schedule, today)
    lines = [f"{kit.name}: {len(fresh)} chains looked at as of {today}, {len(due)} findings",
             *(f"  due: {line}" for line in due)]
    lines += [f"  {'stale' if is_stale else 'fresh'}: {chain} run {run}: the roster was {days} days old"
              for chain, run, days, is_stale in sorted(fresh, key=lambda entry: not entry[3]) if is_stale or not quiet]
    return lines, bool(due)


def _refuse_unreadable(kit, schedule):
    problems = []
    for position in schedule["positions"]:
        for part in ("snapshot", "run_on", "previous", "next"):
            try:
                missing = read_date(position[part]) is None and part in ("snapshot", "run_on")
                why = "is not stated" if missing else None
            except Unreadable as finding:
                why = str(finding)
            if why:
                problems.append(f"{kit.name}: {position['document']}: {part}: {why}")
    if problems:
        raise BadData(*problems)


def _days(first, last):
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days


def _today(text):
    try:
        return (text and read_date(text)) or datetime.date.today()
    except Unreadable as e:
        raise BadData(f"--today: {e}") from None


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tools.due", description=__doc__.split("\n\n")[0],
                                     epilog="example: python -m tools.due legal_hold --today 2026-01-12")
    parser.add_argument("kit", nargs="*", help="kits to look at (default: every kit that keeps a schedule)")
    parser.add_argument("--today", metavar="DATE", help="the day to judge by, like 2026-01-12 (default: today)")
    parser.add_argument("--data", metavar="DIR", help="data folder to look at (default: the kit's own)")
    parser.add_argument("--quiet", action="store_true", help="leave out the lines about rosters that are fresh")
    return parser


if __name__ == "__main__":
    sys.exit(main())
