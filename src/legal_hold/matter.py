"""One matter at one scheduled run, read from structured inputs: a `Matter`, or BadData that says what is wanted.

    {"candidates": [{"id", "department", "systems": [{"name", "since", "until"}]}], "snapshot": "2025-11-05",
     "scope": {"departments": […], "systems": […], "period": [first day, last day], "named": [ids]},
     "events": [{"id", "on", "type": "notice" | "ack" | "reminder"}], "carried": {…},
     "matter", "run", "run_on", "release_memo": date, "scope_unsettled": "why"}

Names are compared folded and whole, ids as `fold_id` folds them; dates are ISO calendar dates. An id is spelt as the
roster spells it.
"""
import datetime
import functools
import re
from collections import namedtuple

from src.shared import values as v
from src.shared.fields import misspelt, near
from src.shared.files import BadData

# snapshot and run_on dates; unsettled: why the scope is not settled, or None; candidates and events in their order;
# release: date of the release memo or None; flags [(flag id, whom or what)] of what the rules never look at
Matter = namedtuple("Matter", "name run snapshot run_on scope unsettled candidates events release flags")
Scope = namedtuple("Scope", "departments systems start end named")
Candidate = namedtuple("Candidate", "id department accesses")
Access = namedtuple("Access", "system since until")
Event = namedtuple("Event", "on type id")

WANTED = ("candidates", "scope", "snapshot")
KNOWN = (*WANTED, "events", "carried", "matter", "run", "run_on", "release_memo", "scope_unsettled")
# What else a row of facts.jsonl holds, and the key of each part of a row.
BESIDE = ("id", "case", "runs", "run_name", "title", "opened", "previous", "next", "departments_on_file", "memos",
          "narrative", "synthetic", "remarks", "personal")
PARTS = {"scope": ("departments", "systems", "period", "named"), "events": ("id", "on", "type"),
         "candidates": ("id", "department", "systems", "confirmed_department"), "systems": ("name", "since", "until")}
BLANK = "the scope is blank and no narrative resolves it"


@functools.lru_cache(maxsize=4096)
def fold_id(name):
    """The one spelling by which ids are compared: case, blanks, hyphens and underscores do not matter.

    >>> fold_id("emp 4411"), fold_id("Emp4411"), fold_id("EMP_4411")
    ('EMP-4411', 'EMP-4411', 'EMP-4411')
    """
    return re.sub(r"^([^\W\d_]+)(\d+)$", r"\1-\2", v.fold_word(name).upper().replace(" ", "-"))


def read(words, inputs):
    """Inputs → Matter. `words` {event type: [spellings]}. BadData lists every value that cannot be read."""
    _refuse_foreign(inputs)
    problems, flags = [], []
    take = _taker(problems)
    candidates = _candidates(take, inputs.get("candidates"), flags)
    flags += [] if candidates else [("roster_is_empty", "")]
    spelt = {fold_id(candidate.id): candidate.id for candidate in candidates}
    scope, unsettled = _scope(take, inputs, spelt, flags)
    snapshot = take(v.read_date, inputs.get("snapshot"), "/snapshot")
    if snapshot is None and not problems:
        problems.append("/snapshot: is not stated; the clock runs to the date of the snapshot")
    events, release = _events(take, words, inputs, spelt)
    run = _run(take, inputs.get("run"))
    take(v.read_date, inputs.get("next"), "/next")
    found = Matter(take(v.read_name, inputs.get("matter"), "/matter"), run, snapshot,
                   take(v.read_date, inputs.get("run_on"), "/run_on"), scope, unsettled, candidates, events, release,
                   flags)
    if problems:
        raise BadData(*problems)
    return found


def slips(inputs):
    """A sentence for each key of a row or of a part of it that is none and near one that counts: it was not read."""
    found = misspelt(inputs, KNOWN, BESIDE)
    entries = [("scope", inputs.get("scope"))]
    entries += [(part, entry) for part in ("events", "candidates") for entry in _objects(inputs.get(part))]
    entries += [("systems", access) for person in _objects(inputs.get("candidates"))
                for access in _objects(person.get("systems"))]
    return list(dict.fromkeys([*found, *(f"{part}: {slip}" for part, entry in entries if isinstance(entry, dict)
                                         for slip in misspelt(entry, PARTS[part], ("kind", "name", "title")))]))


def _objects(raw):
    return [entry for entry in raw if isinstance(entry, dict)] if isinstance(raw, list) else []


def _taker(problems):
    """A reader that notes what it cannot read, with its place, and gives None for it."""
    def take(read, raw, place):
        try:
            return read(raw)
        except v.Finding as finding:
            problems.append(f"{place}: {finding}")
        except (AttributeError, TypeError, KeyError):
            problems.append(f"{place}: {v.shown(raw)} has not the form that is wanted")
    return take


def _refuse_foreign(inputs):
    if not any(key in inputs for key in WANTED[:2]):
        hints = [f"{key}{close}" for key in inputs if key not in KNOWN and (close := near(key, WANTED))]
        raise BadData(f"no candidates and no scope are given; got {', '.join(map(str, inputs)) or 'nothing'}; wanted: "
                      f"{', '.join(WANTED)}, and where there are any {', '.join(KNOWN[len(WANTED):])}"
                      + (f"; near: {', '.join(hints)}" if hints else ""))


def _candidates(take, raw, flags):
    if not isinstance(raw, list) or not all(isinstance(entry, dict) for entry in raw):
        raise BadData(f"/candidates: {v.shown(raw)}: a list of people is wanted, each with id, department and systems")
    found, seen = [], {}
    for i, entry in enumerate(raw):
        place = f"/candidates/{i}"
        name = take(_id, entry.get("id"), f"{place}/id")
        if name is None:
            continue
        if fold_id(name) in seen:
            raise BadData(f"{place}/id: {name} stands twice (also /candidates/{seen[fold_id(name)]}); one entry a "
                          f"person as of the snapshot: put all accesses into its systems, with that day's "
                          f"department")
        seen[fold_id(name)] = i
        # What counsel confirmed outside the roster outweighs the roster; the page does not show it.
        department = take(_department, entry.get("confirmed_department") or entry.get("department"),
                          f"{place}/department")
        if not entry.get("systems"):
            flags.append(("systems_not_stated", name))
        accesses = _accesses(take, entry.get("systems") or [], f"{place}/systems")
        if any(access.system is None for access in accesses):
            flags.append(("access_without_a_name", name))
        found.append(Candidate(name, department, accesses))
    return found


def _accesses(take, raw, place):
    if not isinstance(raw, list) or not all(isinstance(entry, dict) for entry in raw):
        raise BadData(f"{place}: {v.shown(raw)}: a list of systems is wanted, each with name, since and until")
    return [Access(take(v.read_known_name, entry.get("name"), f"{place}/{i}/name"),
                   take(v.read_date, entry.get("since"), f"{place}/{i}/since"),
                   take(v.read_date, entry.get("until"), f"{place}/{i}/until")) for i, entry in enumerate(raw)]


def _scope(take, inputs, spelt, flags):
    """(Scope, why it is not settled or None). Whatever of departments, systems and period is blank leaves it open."""
    raw = inputs.get("scope") or {}
    if not isinstance(raw, dict):
        raise BadData(f"/scope: {v.shown(raw)}: an object with departments, systems and period is wanted")
    departments, systems, named = (take(_names, raw.get(key), f"/scope/{key}")
                                   for key in ("departments", "systems", "named"))
    period = raw.get("period") or [None, None]
    if not isinstance(period, list) or len(period) != 2:
        raise BadData(f"/scope/period: {v.shown(period)}: two dates are wanted, the first day and the last")
    start, end = (take(v.read_date, day, f"/scope/period/{i}") for i, day in enumerate(period))
    open_ = [what for what, value in (("departments", departments), ("systems", systems), ("first day", start),
                                      ("last day", end)) if not value]
    why = inputs.get("scope_unsettled")
    if why is not None and not isinstance(why, bool) and (not isinstance(why, str) or len(why.split()) == 1):
        raise BadData(f"/scope_unsettled: {v.shown(why)}: a sentence that says why is wanted, or true, false or null")
    if why:
        unsettled = why if isinstance(why, str) else "the scope is said to be unsettled"
    else:
        unsettled = f"{BLANK}: no {', no '.join(open_)} stated" if open_ else None
    people = frozenset(spelt.get(fold_id(name), name) for name in named or ())
    flags += [("named_person_not_on_roster", name) for name in sorted(people - set(spelt.values()))]
    return Scope(departments or (), systems or (), start, end, people), unsettled


def _events(take, words, inputs, spelt):
    """(events sorted, so that their order on the page means nothing; date of the release memo or None)."""
    raw = inputs.get("events") or []
    if not isinstance(raw, list) or not all(isinstance(entry, dict) for entry in raw):
        raise BadData(f"/events: {v.shown(raw)}: a list of events is wanted, each with type, on and id")
    types = {v.fold_word(spelling): type_ for type_, spellings in words.items() for spelling in spellings}
    memos, found = [take(v.read_date, inputs.get("release_memo"), "/release_memo")], []
    for i, entry in enumerate(raw):
        place = f"/events/{i}"
        type_ = types.get(v.fold_word(str(entry.get("type"))))
        if type_ is None:
            raise BadData(f"{place}/type: {v.shown(entry.get('type'))} is not one of {', '.join(words)}")
        on = take(_day, entry.get("on"), f"{place}/on")
        if type_ == "release":
            memos.append(on)
        else:
            name = take(_id, entry.get("id"), f"{place}/id")
            found.append(Event(on, type_, name and spelt.get(fold_id(name), name)))
    stated = [day for day in memos if day is not None]
    return sorted(found, key=lambda event: (event.on or datetime.date.min, event.type, event.id or "")), \
        min(stated) if stated else None


def _run(take, raw):
    if raw is None or (type(raw) is int and raw > 0):
        return raw
    raise BadData(f"/run: {v.shown(raw)}: the number of the scheduled run is wanted, from 1")


def _id(raw):
    name = v.read_name(raw)
    if name is None:
        raise v.Unreadable(raw, "is no id; every person and every event about one carries an id")
    return name


def _day(raw):
    day = v.read_date(raw)
    if day is None:
        raise v.Unreadable(raw, "is no date; every event carries one")
    return day


def _department(raw):
    """A department as the roster has it; None where it says that it does not know, which is flagged like a blank."""
    name = v.read_name(raw)
    return None if name is not None and v.is_remark(name) else v.read_known_name(raw)


def _names(raw):
    """A list of names as a tuple, () where it is blank or says none; a JSON list may hold names with commas in them.

    A remark in the place of a name is refused: taken for the name of a department, it would put nobody on hold.
    """
    names = tuple(name for name in map(v.read_name, raw) if name) if isinstance(raw, list) else v.read_list(raw) or ()
    return () if [v.fold_name(name) for name in names] == ["none"] else tuple(map(v.read_known_name, names))
