"""What a run leaves to the next one: a record per custodian and the release, as values, as JSON and in plain sentences.

    {"matter": "MTR-0001", "run": 1, "snapshot": "2025-10-06", "released": null, "release_memo": null,
     "custodians": {"EMP-0001": {"since_run": 1, "notice_sent": date, "acknowledged": date, "escalated": date,
                                 "why": {"department", "system", "since", "until", "rule"}}}}

Only `legalhold.step` makes a new one; no model's answer comes near it. `acknowledged` and `escalated` may also be true
or false where a log keeps no date.
"""
from collections import namedtuple

from src.legal_hold.matter import fold_id
from src.shared import shapes
from src.shared import values as v
from src.shared.fields import misspelt, unread
from src.shared.files import BadData

# matter name, run and snapshot of the run that left it (None where unknown); released: date, True or None; memo: date
# of a release memo that waits for the scope, or None; custodians {id: Record}
Carried = namedtuple("Carried", "matter run snapshot released memo custodians")
# notice: date of the first notice or None; acknowledged, escalated: date, True (no date known) or None; why: dict, None
Record = namedtuple("Record", "since_run notice acknowledged escalated why")

NOTHING = Carried(None, None, None, None, None, {})
KEYS = {"since_run": "since_run", "notice": "notice_sent", "acknowledged": "acknowledged", "escalated": "escalated",
        "why": "why"}
TOLD = shapes.Kind(lambda value: type(value) is str and bool(value.strip()), "a text that says something")
RUN = shapes.Kind(lambda value: type(value) is int and value > 0, "the number of a run, from 1")
STATE_OR_NULL = shapes.Kind(lambda value: value is None or type(value) is dict, "a state or null")
PLAIN = {"matter": TOLD, "run": RUN, "snapshot": TOLD, "released": shapes.ANY, "release_memo": shapes.TEXT_OR_NULL,
         "custodians": shapes.by_name(shapes.record(dict.fromkeys(KEYS.values(), shapes.ANY)))}
KEPT = {**PLAIN, "run_on": TOLD, "next": shapes.TEXT_OR_NULL, "row": TOLD, "before": STATE_OR_NULL}
BEFORE = {**dict.fromkeys(PLAIN, shapes.ANY), "custodians": PLAIN["custodians"]}
OUTDATED = ("the kept state is not as this version writes one, so nothing is decided: bring back the newest copy; or, "
            "where an older version wrote it, move the file away and give what it holds as `carried` in the row of the "
            "next run, which begins a new file")
NO_RECORD = "No record of earlier runs is at hand for this reading."
FIRST = "This is the first scheduled run: nobody is on hold, no notice has gone out, and nothing can be overdue."


def load(raw):
    """(Carried, the run's hash, the Carried before it) of a kept file, strictly as `keep` writes one.

    A key that is missing, misspelt or unknown would read as nobody on hold, so BadData refuses it.
    """
    problems = list(shapes.record(KEPT).inside(raw, "/state"))
    if not problems and raw["before"] is not None:
        problems += shapes.record(BEFORE).inside(raw["before"], "/state/before")
    for key in () if problems else ("run_on", "next"):
        _read(v.read_date, raw, key, problems, "/state")
    if problems:
        raise BadData(*problems, OUTDATED)
    return read({key: raw[key] for key in PLAIN}), raw["row"], read(raw["before"])


def keep(following, before, row, run_on, next_run):
    """The JSON value of a kept file: the next state, the hash of the row that led to it, and the state before it."""
    return {**plain(following), "run_on": run_on, "next": next_run, "row": row,
            "before": None if before == NOTHING else plain(before)}


def slips(raw):
    """A sentence for each key of a carried state that was not read; of what a custodian's record holds, for near ones.

    A state is this kit's own, so a key beside its keys is one under which somebody else keeps who is on hold.
    """
    people = raw.get("custodians") if isinstance(raw, dict) else None
    entries = [entry for entry in people.values() if isinstance(entry, dict)] if isinstance(people, dict) else []
    return [*(unread(raw, tuple(PLAIN), tuple(KEPT)) if isinstance(raw, dict) else ()),
            *(slip for entry in entries for slip in misspelt(entry, tuple(KEYS.values())))]


def read(raw):
    """Carried state as JSON → Carried; None is the state before the first run. BadData lists what cannot be read."""
    if raw is None:
        return NOTHING
    if not isinstance(raw, dict) or not isinstance(raw.get("custodians") or {}, dict):
        raise BadData(f"/carried: {v.shown(raw)}: an object with custodians, an object by id, is wanted")
    problems = []
    people = {str(name).strip(): _record(entry, f"/carried/custodians/{name}", problems)
              for name, entry in (raw.get("custodians") or {}).items()}
    folded = [fold_id(name) for name in people]
    problems += [f"/carried/custodians/{name}: stands twice, spelt differently; keep one record a person"
                 for name in people if folded.count(fold_id(name)) > 1]
    if len(people) < len(raw.get("custodians") or {}):
        problems.append("/carried/custodians: two ids differ in blanks alone; keep one record a person")
    run = raw.get("run")
    if run is not None and (type(run) is not int or run < 1):
        problems.append(f"/carried/run: {v.shown(run)}: the number of a run is wanted, from 1")
    found = Carried(_read(v.read_name, raw, "matter", problems), run, _read(v.read_date, raw, "snapshot", problems),
                    _read(_done, raw, "released", problems), _read(v.read_date, raw, "release_memo", problems), people)
    if problems:
        raise BadData(*problems)
    return found


def plain(carried):
    """Carried → the JSON value that `read` takes back."""
    people = {name: {key: _iso(value) for key, value in zip(KEYS.values(), record)}
              for name, record in carried.custodians.items()}
    return {"matter": carried.matter, "run": carried.run, "snapshot": _iso(carried.snapshot),
            "released": _iso(carried.released), "release_memo": _iso(carried.memo), "custodians": people}


def refuse_unless_next(carried, matter):
    """BadData where a state is not the one that this run has to follow: another matter's, or that of a later run."""
    if carried.matter and matter.name and v.fold_name(carried.matter) != v.fold_name(matter.name):
        raise BadData(f"the carried state is of {carried.matter}, the run is of {matter.name}; each matter has its own")
    if carried.run and matter.run and matter.run <= carried.run:
        again = ("; to take a run again with a row that was mended, go on from the state before it, which a kept file "
                 "holds as `before`") if matter.run == carried.run else ""
        raise BadData(f"run {matter.run} of {matter.name or 'this matter'} does not follow: the carried state has seen "
                      f"run {carried.run}; the next is run {carried.run + 1}{again}")
    if carried.snapshot and matter.snapshot < carried.snapshot:
        raise BadData(f"the snapshot of {matter.snapshot} is older than that of the run before, {carried.snapshot}")


def describe(carried, acknowledged=True):
    """The state in sentences, for the prompt. Without `acknowledged` the one line that says who has answered is left
    out: the wording of the system that this kit re-creates, kept so that the difference can be measured."""
    if carried == NOTHING:
        return FIRST
    if carried.released:
        day = "" if carried.released is True else f" on {carried.released}"
        return f"The matter was released{day}: nobody is on hold any more, and nobody is asked for anything."
    lines = [f"State after run {carried.run or '?'}, whose snapshot was taken on "
             f"{carried.snapshot or 'a day not kept'}."]
    people = carried.custodians
    if not people:
        lines.append("Nobody has been put on hold so far.")
    lines += [f"On hold since run {record.since_run or '?'}: {name}{_by(record.why)}."
              for name, record in people.items()]
    if people and acknowledged:
        lines.append(_listed("Have acknowledged their notice", people, lambda record: record.acknowledged,
                             lambda record: _on(record.acknowledged)))
    if people:
        lines.append(_listed("Have been sent a notice and not acknowledged it", people,
                             lambda record: record.notice and not record.acknowledged,
                             lambda record: f" (notice of {record.notice})"))
        lines.append(_listed("On hold with no notice on record", people,
                             lambda record: not record.notice and not record.acknowledged, lambda record: ""))
        lines.append(_listed("Have been put up for escalation before", people, lambda record: record.escalated,
                             lambda record: _on(record.escalated)))
    if carried.memo:
        lines.append(f"A release memo of {carried.memo} waits until the scope is settled.")
    lines.append("The matter has not been released.")
    return "\n".join(lines)


def matched(why):
    """How a custodian came to be one, in words, so that the list can be defended; "" where nobody kept it."""
    if not why:
        return ""
    until = f" to {why['until']}" if why.get("until") else ", still open then"
    reason = "their role in the narrative" if why.get("by_role") else f"department {why.get('department')}"
    return f"{reason} and {why.get('system')} (from {why.get('since')}{until})"


def _by(why):
    return f", matched by {matched(why)}" if why else ""


def _listed(what, people, which, how):
    found = [f"{name}{how(record)}" for name, record in people.items() if which(record)]
    return f"{what}: {', '.join(found) if found else 'nobody'}."


def _on(value):
    return "" if value is True else f" (on {value})"


def _record(entry, place, problems):
    if not isinstance(entry, dict):
        problems.append(f"{place}: {v.shown(entry)}: an object with {', '.join(KEYS.values())} is wanted")
        return None
    since, why = entry.get("since_run"), entry.get("why")
    if since is not None and type(since) is not int:
        problems.append(f"{place}/since_run: {v.shown(since)}: the number of a run is wanted")
    if why is not None and not isinstance(why, dict):
        problems.append(f"{place}/why: {v.shown(why)}: an object is wanted")
    return Record(since, _read(v.read_date, entry, "notice_sent", problems, place),
                  _read(_done, entry, "acknowledged", problems, place),
                  _read(_done, entry, "escalated", problems, place), why)


def _read(read_one, entry, key, problems, place="/carried"):
    try:
        return read_one(entry.get(key))
    except v.Finding as finding:
        problems.append(f"{place}/{key}: {finding}")


def _done(raw):
    """A date, True for done without a date, None for not done."""
    if raw is None or raw is False or raw == "":
        return None
    if raw is True:
        return True
    try:
        return v.read_date(raw)
    except v.Unreadable:
        raise v.Unreadable(raw, "is neither true, false nor a calendar date like 2026-09-01") from None


def _iso(value):
    return value.isoformat() if hasattr(value, "isoformat") else value
