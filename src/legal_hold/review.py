"""The kit's rules read from its data folder, one review of one run, and the chains of runs that facts.jsonl holds.

    python -m src.decide legal_hold reviews.jsonl
    python -m src.decide legal_hold this_week.jsonl --state mtr-0001.json
"""
import datetime
import functools
from collections import namedtuple
from pathlib import Path

from src.legal_hold import legalhold, matter, state
from src.shared import fields as field_list
from src.shared import shapes
from src.shared import values as v
from src.shared import walk
from src.shared.files import BadData, parse_json

# data folder, legalhold.Rules, Fields of the three tables, the prompt's Template, Chains of the folder's facts
Book = namedtuple("Book", "data rules fields template chains")
UNDECIDED, OVERDUE = "undecided", "overdue"     # what rationales say beside the stages
TOLD = ("unsettled", "new", "late")             # what is filled into them
FLAGS = """held_custodian_reported_not_custodian release_memo_waits_for_scope release_memo_after_snapshot
    blank_department roster_is_empty systems_not_stated access_without_a_name named_person_not_on_roster key_not_read
    carried_date_after_snapshot access_start_not_stated access_ends_before_it_begins period_ends_before_it_begins
    custodian_not_on_roster notice_not_recorded notice_after_snapshot ack_after_snapshot ack_before_notice
    event_for_no_custodian run_before_its_snapshot snapshot_is_stale run_before_is_missing carried_state_not_given
    """.split()


# What policy.json holds; all of it is wanted.
SENTENCE = shapes.template(*TOLD)
DAYS = shapes.Kind(lambda value: type(value) is int and 0 <= value < 100_000, "a whole number of days")
THRESHOLD = shapes.record({"value": DAYS, **dict.fromkeys(("unit", "from", "source", "why"), shapes.TEXT)},
                          ("unit", "from", "source", "why"))
CADENCE = shapes.list_of(shapes.record({"run": shapes.FROM_1, "name": shapes.TEXT, "day": DAYS}))
POLICY = {
    **dict.fromkeys(("title", "authority"), shapes.TEXT), "articles": shapes.TEXTS_BY_NAME,
    "thresholds": shapes.record(dict.fromkeys(("escalation_days", "stale_after_days"), THRESHOLD)),
    "cadence": shapes.some(CADENCE),
    "statuses": shapes.record(dict.fromkeys((legalhold.CUSTODIAN, legalhold.NOT_CUSTODIAN), shapes.TEXT)),
    "events": shapes.record(dict.fromkeys(("notice", "ack", "reminder", "release"),
                                          shapes.some(shapes.list_of(shapes.SAID)))),
    "sections": shapes.record(dict.fromkeys(("sent", "withheld", "never_sent_words"), shapes.list_of(shapes.SAID))),
    **dict.fromkeys(legalhold.GIVEN, shapes.OBJECT),
    "flags": shapes.record(dict.fromkeys(FLAGS, shapes.TEXT)), "rationales": shapes.by_name(SENTENCE)}


def load_rules(data, problems):
    """(Fields, legalhold.Rules or None) of a data folder, validated; what is wrong is put into `problems`."""
    path = Path(data) / "policy.json"
    policy = shapes.read(path, POLICY, problems)
    asked = {name: type_ for given in legalhold.GIVEN.values() for name, type_ in given.items()}
    fields = field_list.load(Path(data) / "fields.json", {}, problems, asked)
    tables, outlines = [], {part: walk.outline(f"{path}: /{part}", policy[part], problems) for part in legalhold.GIVEN}
    for part, given in legalhold.GIVEN.items():
        tables.append(walk.load(f"{path}: /{part}", outlines[part], fields, problems, given))
        words = legalhold.WORDS[part]
        problems += (f"{path}: /{part}/decisions: {word} is missing; code asks for this word" for word in words
                     if word not in (outlines[part]["decisions"] or words))
    if policy["rationales"] is not None:
        problems += (f"{path}: /rationales: {name} is missing; {SENTENCE.words} is wanted"
                     for name in (*(outlines["stage"]["decisions"] or ()), UNDECIDED, OVERDUE)
                     if name not in policy["rationales"])
    if None in (*policy.values(), *tables):
        return fields, None
    days = {name: entry["value"] for name, entry in policy["thresholds"].items()}
    return fields, legalhold.Rules(policy, *tables, days)


def decide(book, inputs):
    """One review: {matter_stage, hold_status, escalate, candidates, rationale, notices, on_hold, carried, trace, flags,
    notes}; `carried` is what the next run has to be given.

    `inputs` as in matter.py. Without `carried` a row of the folder's own facts.jsonl follows the runs before it there;
    any other row starts with nobody on hold.
    """
    given = state.read(inputs["carried"]) if "carried" in inputs else book.chains.before(inputs)
    answers, following = review(book, inputs, given, state.slips(inputs.get("carried")))
    return {**answers, "carried": state.plain(following)}


def step(book, inputs, kept):
    """One review that follows a kept state: ({as `decide` gives}, the state to keep). `kept`: its JSON, None at first.

    BadData for a run without matter or number, with a state of its own beside a kept one, with a key that nobody reads
    and that is near one that counts, or that is not the very next run. The row that led to the kept state gives its
    decision again, and the kept state stays. A run that decides nothing leaves it as it was. Where nothing is kept yet,
    a row may bring the state that its matter comes with.
    """
    for part in ("matter", "run"):
        if inputs.get(part) is None or isinstance(inputs[part], str) and not inputs[part].strip():
            raise BadData(f"/{part}: is not stated; a kept state belongs to one matter and follows its runs one by one")
    slips = matter.slips(inputs)
    if slips:
        raise BadData(*(f"{slip}; mend the row, since the state would move on without it" for slip in slips))
    given, last, before = state.load(kept) if kept is not None else (_brought(inputs), None, state.NOTHING)
    row = _hash(inputs)
    if row == last:
        answers, following = review(book, inputs, before)
        if following != given:
            raise BadData(f"run {given.run} of {given.matter} was decided by other rules than these; its state stands")
        return {**answers, "carried": state.plain(following)}, kept
    if kept is not None and inputs.get("carried") is not None:
        raise BadData("/carried: the state is kept in its file; take it out of the row, or decide without a kept state")
    _refuse_unless_very_next(given, inputs)
    answers, following = review(book, inputs, given)
    if answers["matter_stage"] is None:
        return {**answers, "carried": state.plain(following)}, kept
    return {**answers, "carried": state.plain(following)}, state.keep(
        following, given, row, _iso(inputs.get("run_on")) or _iso(inputs["snapshot"]), _next(book, inputs))


def review(book, inputs, carried, slips=()):
    """(answers, the next Carried) of one run. BadData where it cannot be read or does not follow `carried`."""
    run = matter.read(book.rules.policy["events"], inputs)
    state.refuse_unless_next(carried, run)
    outcome, following = legalhold.step(run, carried, book.rules)
    flags = outcome.flags + list(_flags_of_the_run(book, run, carried))
    flags += [("key_not_read", slip) for slip in (*matter.slips(inputs), *slips)]
    said = book.rules.policy["flags"]
    names = {flag: [who for other, who in flags if other == flag and who] for flag, _ in flags}
    statuses = outcome.hold_status
    return {"matter_stage": outcome.stage, "hold_status": statuses, "escalate": outcome.escalate,
            "candidates": statuses and [{"id": name, "hold_status": word} for name, word in statuses.items()],
            "rationale": _rationale(book.rules.policy["rationales"], run, outcome), "notices": outcome.notices,
            "on_hold": outcome.on_hold, "trace": outcome.trace, "flags": list(names),
            "notes": [": ".join(filter(None, [", ".join(who), said[flag]])) for flag, who in names.items()]}, following


class Chains:
    """The runs of facts.jsonl as chains, one a matter. Only where each row stands is kept, never the rows."""

    def __init__(self, data, rules):
        self.path, self.rules = Path(data) / "facts.jsonl", rules
        self._replayed = functools.lru_cache(64)(self._replay)
        self.run = functools.lru_cache(128)(self._read)

    def row(self, document):
        """The facts of one document. BadData where there is no row."""
        if document not in self._places:
            raise BadData(f"{self.path}: no row of {document}; its roster, its events and its chain stand there")
        with self.path.open("rb") as handle:
            handle.seek(self._places[document][2])
            return parse_json(handle.readline().decode("utf-8"), f"{self.path}: {document}")

    def carried(self, document):
        """What the runs before a document have left behind, replayed from their facts."""
        name, run, _ = self._places.get(document) or self.row(document)
        return self._replayed(name)[run]

    def before(self, inputs):
        """The carried state of a row that is one of this folder's own; else the state before the first run."""
        document = inputs.get("id")
        known = isinstance(document, str) and self.path.exists() and document in self._places
        return self.carried(document) if known and self.row(document) == inputs else state.NOTHING

    def up_to(self, document):
        """The documents of a matter from its first run to this one."""
        name, run, _ = self._places.get(document) or self.row(document)
        return [other for _, number, other in self._by_matter[name] if number <= run]

    def positions(self):
        """The documents in the order of their matters and runs: [(matter, run, document)]."""
        return sorted((name, run, document) for document, (name, run, _) in self._places.items())

    @functools.cached_property
    def _places(self):
        """{document: (matter, run, where its line begins)}."""
        places, start = {}, 0
        try:
            with self.path.open("rb") as handle:
                for number, line in enumerate(handle, 1):
                    row = parse_json(line.decode("utf-8"), f"{self.path}: line {number}")
                    if not isinstance(row, dict) or not all(isinstance(row.get(key), kind) for key, kind in (
                            ("id", str), ("matter", str), ("run", int))):
                        raise BadData(f"{self.path}: line {number}: a row with id, matter and run is wanted")
                    places[row["id"]] = row["matter"], row["run"], start
                    start += len(line)
        except FileNotFoundError:
            raise BadData(f"{self.path}: no such file") from None
        return places

    def _read(self, document):
        """The Matter of one document, kept for the next question about it."""
        return matter.read(self.rules.policy["events"], self.row(document))

    def _replay(self, name):
        """{run: the Carried state before it} of one matter."""
        found, carried = {}, state.NOTHING
        for _, run, document in self._by_matter[name]:
            found[run] = carried
            taken = self.run(document)
            state.refuse_unless_next(carried, taken)
            carried = legalhold.step(taken, carried, self.rules)[1]
        return found

    @functools.cached_property
    def _by_matter(self):
        """{matter: its part of `positions`}."""
        found = {}
        for place in self.positions():
            found.setdefault(place[0], []).append(place)
        return found


def _brought(inputs):
    """The state that a row brings for a matter of which nothing is kept. BadData where it does not say whose it is."""
    brought = state.read(inputs.get("carried"))
    slips = state.slips(inputs.get("carried"))
    problems = [f"/carried/{part}: is not stated; a state to begin a file with says whose it is and which run left it"
                for part in ("matter", "run") if brought != state.NOTHING and getattr(brought, part) is None]
    if problems or slips:
        raise BadData(*problems, *(f"/carried: {slip}; mend it, since it was not read" for slip in slips))
    return brought


def _refuse_unless_very_next(given, inputs):
    """BadData where runs are left out between the kept state and this one: what their windows logged would be lost."""
    run, due = inputs["run"], (given.run or 0) + 1
    if type(run) is int and run > due and (given == state.NOTHING or v.fold_name(given.matter) == v.fold_name(
            str(inputs["matter"]))):
        missing = f"run {due} is" if run == due + 1 else f"runs {due} to {run - 1} are"
        where = f"the state is that of run {given.run}" if given.run else "there is no kept state yet"
        raise BadData(f"/run: run {run} of {inputs['matter']}: {missing} missing, since {where}; take the runs one by "
                      f"one, or bring back the newest copy of the state")


def _next(book, inputs):
    """The day of the next run: as the row says, else by the cadence; None after the last."""
    if "next" in inputs:
        return _iso(inputs["next"])
    days = {entry["run"]: entry["day"] for entry in book.rules.policy["cadence"]}
    now, then = days.get(inputs["run"]), days.get(inputs["run"] + 1)
    if now is None or then is None:
        return None
    return (v.read_date(inputs["snapshot"]) + datetime.timedelta(then - now)).isoformat()


def _iso(raw):
    """A date as a kept state has it, whatever blanks stand around it in the row."""
    day = v.read_date(raw)
    return day and day.isoformat()


def _hash(inputs):
    """A hash of a row that its layout does not change."""
    import hashlib
    import json
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode()).hexdigest()


def _flags_of_the_run(book, run, carried):
    if run.run_on and (run.run_on - run.snapshot).days > book.rules.days["stale_after_days"]:
        yield "snapshot_is_stale", f"{(run.run_on - run.snapshot).days} days"
    if run.run_on and run.run_on < run.snapshot:
        yield "run_before_its_snapshot", f"{run.run_on} and {run.snapshot}"
    if run.run and run.run > 1 and carried == state.NOTHING:
        yield "carried_state_not_given", ""
    if run.run and carried.run and run.run > carried.run + 1:
        yield "run_before_is_missing", f"run {carried.run + 1}"


def _rationale(says, run, outcome):
    """Why the matter stands where it stands, in the words of the policy."""
    told = dict(zip(TOLD, (run.unsettled, ", ".join(outcome.notices or ()), ", ".join(outcome.escalate or ()))))
    parts = [outcome.stage or UNDECIDED] + [OVERDUE] * bool(outcome.escalate)
    return " ".join(says[part].format(**told) for part in parts)
